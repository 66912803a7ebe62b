"""All groups of cases, in the order in which they run."""
from groups import (affinity, topology_spread, taints, ports, nodes, wakes, requeue,  # noqa: F401
                    queueing, scoring, preemption, preemption_more, nominated_node, volumes,
                    volumes_more, devices, devices_given, limits, walkthrough, kills, extender)
