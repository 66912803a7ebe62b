"""All cases; the order here is the order in which they run."""
from . import (bulk, texts, explain, explain_followed, whatif, releases, spread, policy, extenders, starvation, churn, kill, recorded, devices, failover, faults, gangs, gang_status, gang_reading, plugins, lists, pages, readme, held, hostile, hang,  # noqa: F401
               serving, serving_tls, serving_flood, upgrade, preflight, manifests, trace)  # noqa: F401
