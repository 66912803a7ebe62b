"""The API server's audit log: who wrote what, when, and whether it was granted.

It is the witness for what must not happen: a second Binding of a pod, or a write by a scheduler
that has lost its lease.
"""
import collections
import datetime
import json

READS = ("get", "list", "watch")

# One request: `at` in seconds since 1970, `uid` that of the pod for a Binding.
Request = collections.namedtuple("Request", "user verb resource subresource name code at uid")


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def parse(line):
    """A finished request of the log, None for another stage or half a line."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    what = record.get("objectRef") or {}
    if record.get("stage") not in ("ResponseComplete", "Panic") or not what:
        return None
    body = record.get("requestObject") or {}
    return Request(record["user"]["username"], record["verb"], what.get("resource", ""),
                   what.get("subresource", ""), what.get("name") or "",
                   (record.get("responseStatus") or {}).get("code", 0),
                   seconds(record["requestReceivedTimestamp"]),
                   (body.get("metadata") or {}).get("uid"))


class Log:
    """The log so far; read() takes in what was added since."""

    def __init__(self, path):
        self.path, self.offset, self.requests = path, 0, []

    def read(self):
        with open(self.path, "rb") as file:
            file.seek(self.offset)
            data = file.read()
        complete = data[:data.rfind(b"\n") + 1]
        self.offset += len(complete)
        for line in complete.splitlines():
            request = parse(line)
            if request:
                self.requests.append(request)
        return self.requests

    def writes(self, user=None):
        return [r for r in self.read() if r.verb not in READS and user in (None, r.user)]

    def bindings(self, user=None):
        """Requests that bind a pod, the granted and the refused."""
        return [r for r in self.writes(user)
                if (r.resource, r.subresource) == ("pods", "binding") and r.verb == "create"]

    def bound(self, user=None):
        return [r for r in self.bindings(user) if r.code == 201]

    def uncertain(self):
        """Requests to bind that may have been granted: their client went away before the answer, or
        the handler did (stage Panic, 500), or the server speaks of itself."""
        return [r for r in self.bindings() if r.code in (0, 499) or r.code >= 500]

    def leases(self, user=None):
        """Granted writes of a Lease."""
        return [r for r in self.writes(user) if r.resource == "leases" and r.code in (200, 201)]
