"""What must be true of a cluster after any case; each check gives a list of complaints, or asserts."""
import collections
import time

import kube
import objects
import quantity

EVENTS = "/api/v1/namespaces/default/events"


class Failed(Exception):
    """The case has failed, and this is why."""


def expect(condition, why, *values):
    if not condition:
        raise Failed(why % values if values else why)


def wait_until(seconds, condition, why):
    """Poll a condition of the outside world that has no event to wait for."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        expect(time.monotonic() < deadline, "%s within %g s", why, seconds)
        time.sleep(0.1)


def some(items, limit=3):
    """A few of many, for a message."""
    items = list(items)
    return "%s%s" % ("; ".join(map(str, items[:limit])),
                     " and %d more" % (len(items) - limit) if len(items) > limit else "")


def overcommitted(nodes, pods):
    """Complaints about nodes whose pods request more than the node has."""
    used = collections.defaultdict(dict)
    for pod in pods:
        finished = pod.get("status", {}).get("phase") in ("Succeeded", "Failed")
        if pod["spec"].get("nodeName") and not finished:
            quantity.add(used[pod["spec"]["nodeName"]], quantity.of_pod(pod))
    known = {node["metadata"]["name"]: node["status"]["allocatable"] for node in nodes}
    complaints = ["pods are bound to %s, which does not exist" % name for name in used
                  if name not in known]
    for name in set(used) & set(known):
        for resource, amount in used[name].items():
            room = quantity.parse(known[name].get(resource, "0"))
            if amount > room:
                complaints.append("%s: %s of %s requested, %s allocatable"
                                  % (name, float(amount), resource, float(room)))
    return sorted(complaints)


def no_overcommit(client):
    complaints = overcommitted(client.list(kube.NODES)[0], client.list(kube.PODS)[0])
    expect(not complaints, "overcommitted: %s", some(complaints))


def bound_once_at_most(log):
    """No pod was bound by two granted requests; the UIDs that were bound by one."""
    counts = collections.Counter(request.uid for request in log.bound())
    twice = [uid for uid, count in counts.items() if count > 1]
    expect(not twice, "bound more than once: %s", some(twice))
    return set(counts)


def one_binding_each(log, uids, names=None, seconds=10):
    """Every pod was bound by one granted request and no more.

    The log's line of a request is written behind its answer, so a pod may be seen bound before; `seconds` are given
    to it. Where a scheduler was killed while its request was under way, the API server calls it a timeout although
    it was carried out, and may log it without its body; names (by UID) then tell whose it was.
    """
    names, deadline = names or {}, time.monotonic() + seconds

    def look():
        unsure = log.uncertain()
        known = {request.uid for request in unsure} | bound_once_at_most(log)
        unnamed = {request.name for request in unsure if request.uid is None}
        return [uid for uid in uids if uid not in known and names.get(uid) not in unnamed]

    missing = look()
    while missing and time.monotonic() < deadline:
        time.sleep(0.2)
        missing = look()
    others = [request for request in log.bindings() if request.code != 201]
    expect(not missing, "%d pods without a granted Binding of their UID: %s; not granted: %s; codes: %s",
           len(missing), some("%s %s" % (names.get(uid, ""), uid) for uid in missing), some(others),
           dict(collections.Counter(request.code for request in others)))


def events(client, reason):
    return [e for e in client.list(EVENTS)[0] if e.get("reason") == reason]


def one_event_each(client, uids, reason, seconds=60):
    """Every pod has one event of this reason, and that one counts once.  Events may come late."""
    def complete():
        found = events(client, reason)
        return found if len({e["involvedObject"]["uid"] for e in found} & set(uids)) == len(uids) else None

    found = wait_until(seconds, complete, "not every pod had its %s event" % reason)
    counts = collections.Counter()
    for event in found:
        counts[event["involvedObject"]["uid"]] += (event.get("series") or {}).get("count", 1)
    wrong = ["%s: %d" % pair for pair in counts.items() if pair[1] != 1]
    expect(not wrong, "other than one %s event: %s", reason, some(wrong))
    return found


def all_bound(mirror, count, seconds):
    if not mirror.wait(seconds, lambda items: objects.bound(items) >= count):
        left = [name for name, (_, node, _) in mirror.items.items() if not node]
        reasons = {mirror.items[name][2] for name in left}
        raise Failed("%d of %d pods bound within %g s; not: %s (%s)"
                     % (objects.bound(mirror.items), count, seconds, some(left), some(reasons)))
