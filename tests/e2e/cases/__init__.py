"""All cases; the order here is the order in which they run."""
from . import bulk, texts, spread, kill, failover, faults, trace  # noqa: F401
