"""All cases; the order here is the order in which they run."""
from . import (bulk, texts, spread, policy, extenders, starvation, churn, kill, devices, failover, faults, gangs,  # noqa: F401
               gang_status, plugins, serving, serving_tls, serving_flood, preflight, manifests, trace, gang_reading, watcher,  # noqa: F401
               queue, fail, closed, while, their, od, roups, are, not, read)  # noqa: F401
