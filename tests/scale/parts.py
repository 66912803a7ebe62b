"""What is measured, part by part; each returns its figures, and fails when something did not come about in time."""
import time

import backlog
import checks
import instance
import standin

LATE = 20  # pods that come just after a leader was killed, so that somebody certainly waits


def place(there, berth, kind, tag, count, patience, others=()):
    """Figures of one backlog: from the first request that creates it to the last bind."""
    pods = backlog.Backlog(kind, tag, count)
    watch = standin.binds(there)
    try:
        cpu, server = berth.total_cpu(), instance.cpu_of(there.pid)
        idle = [other.total_cpu() for other in others]
        begun = time.time()
        pods.send(there)
        sent = time.time()
        seen = watch.wait(patience, lambda seen: len(seen) >= count and list(seen))
    finally:
        watch.stop()
    seconds = seen[-1][0] - begun
    berth.wait_quiet(patience)
    return {"pods": count, "bound": len({name for _, _, name in pods.bound(seen)}), "seconds": round(seconds, 3),
            "create_seconds": round(sent - begun, 3), "pods_per_s": round(count / seconds, 1),
            "first_bind_s": round(seen[0][0] - begun, 3),
            "cpu_ms_per_pod": round((berth.total_cpu() - cpu) * 1000 / count, 3),
            "server_cpu_ms_per_pod": round((instance.cpu_of(there.pid) - server) * 1000 / count, 3),
            "others_cpu_ms_per_pod": [round((other.total_cpu() - before) * 1000 / count, 3)
                                      for other, before in zip(others, idle)]}


def cold_start(there, start, patience):
    """From the start of berth to the first bind of pods that wait already."""
    pods = backlog.Backlog("plain", "first", 10)
    watch = standin.binds(there)
    server = instance.cpu_of(there.pid)
    try:
        pods.send(there)
        berth = start()
        try:
            first = watch.wait(patience, lambda seen: seen and seen[0])
            figures = {"first_bind_s": round(first[0] - berth.started, 2), "cpu_s": rounded(berth.cpu()),
                       "server_cpu_s": round(instance.cpu_of(there.pid) - server, 2)}
            watch.wait(patience, lambda seen: len(seen) == pods.count)
            figures["hops_s"] = berth.hops()
        except BaseException:
            berth.stop()
            raise
    finally:
        watch.stop()
    return berth, figures


def rounded(figures):
    return {name: round(figure, 2) for name, figure in sorted(figures.items())}


def memory(berth):
    figures = {name: {"pss_mib": round(pss, 1), "peak_mib": round(peak, 1)}
               for name, (pss, peak) in sorted(berth.memory().items())}
    figures["all"] = {"pss_mib": round(sum(one["pss_mib"] for one in figures.values()), 1),
                      "peak_mib": round(sum(one["peak_mib"] for one in figures.values()), 1)}
    return figures


def waiting(there, leader, standby, options):
    """What a standby costs: while nothing happens, and while the leader binds."""
    before, begun = (leader.total_cpu(), standby.total_cpu()), time.monotonic()
    checks.wait_until(options.quiet + 5, lambda: time.monotonic() - begun >= options.quiet, "time stands still")
    seconds = time.monotonic() - begun
    quiet = [(now - then) * 1000 / seconds for now, then in zip((leader.total_cpu(), standby.total_cpu()), before)]
    busy = place(there, leader, "unlike", "while-%d" % standby.workers, options.backlog, options.patience, [standby])
    return {"quiet_leader_ms_per_s": round(quiet[0], 2), "quiet_standby_ms_per_s": round(quiet[1], 2),
            "busy_standby_ms_per_pod": busy["others_cpu_ms_per_pod"][0],
            "busy_standby_ms_per_s": round(busy["others_cpu_ms_per_pod"][0] * busy["pods"] / busy["seconds"], 1),
            "busy_leader_ms_per_pod": busy["cpu_ms_per_pod"], "pods_per_s": busy["pods_per_s"],
            "standby_memory": memory(standby)}


def take_over(there, leader, standby, how, options):
    """The leader ends while pods wait; figures of what the standby does then."""
    tag = "%s-%d" % (how, standby.workers)
    pods, late = backlog.Backlog("unlike", tag, options.backlog), backlog.Backlog("plain", "late-" + tag, LATE)
    all_pods = pods.count + late.count
    watch, lease = standin.binds(there), standin.leases(there)
    try:
        pods.send(there)
        watch.wait(options.patience, lambda seen: len(seen) >= pods.count // 8)
        renewed = [one[0] for one in lease.seen]
        ended, waited = time.time(), all_pods - len(watch.seen)
        if how == "killed":
            leader.kill()
        else:
            leader.subject.process.terminate()
        late.send(there)
        former = leader.identity()
        taken = lease.wait(options.patience, lambda seen: next(
            (one for one in seen if one[0] >= ended and one[2] not in ("", former)), None))
        first = watch.wait(options.patience, lambda seen: next((one for one in seen if one[1] > taken[1]), None))
        last = watch.wait(options.patience, lambda seen: len(seen) >= all_pods and seen[-1])
    finally:
        watch.stop()
        lease.stop()
    leader.stop()
    return {"how": how, "pending_then": waited, "lease_duration_s": options.lease,
            "renewed_before_s": round(ended - renewed[-1], 2) if renewed else None,
            "lease_taken_s": round(taken[0] - ended, 3), "rest_s": round(first[0] - taken[0], 3),
            "view_waited_s": standby.view_waited(),
            "first_bind_s": round(first[0] - ended, 3), "all_bound_s": round(last[0] - ended, 3),
            "bound": len({name for _, _, name in watch.seen}), "pods": all_pods,
            "accepted": how != "killed" or first[0] - ended <= options.lease + 2}
