"""The figures as a table for people."""
import backlog


def rows(title, head, lines):
    widths = [max(len(str(line[i])) for line in [head] + lines) for i in range(len(head))]
    text = ["", title]
    for line in [head] + lines:
        text.append("  " + "  ".join(str(cell).ljust(width) if i == 0 else str(cell).rjust(width)
                                     for i, (cell, width) in enumerate(zip(line, widths))))
    return text


def cold(starts):
    hops = [hop for hop in starts[-1]["hops_s"]] if starts else []
    names = ["%d / %d" % (one["nodes"], one["pods"]) for one in starts]
    lines = [["filling the stand-in, s"] + [one["filled_s"] for one in starts]]
    lines += [[hop + ", s"] + [one["hops_s"].get(hop, "-") for one in starts] for hop in hops]
    lines += [["first bind, s"] + [one["first_bind_s"] for one in starts]]
    for name in sorted({name for one in starts for name in one["cpu_s"]}):
        lines.append(["CPU %s, s" % name] + [one["cpu_s"].get(name, "-") for one in starts])
    lines.append(["CPU stand-in, s"] + [one["server_cpu_s"] for one in starts])
    return rows("Cold start, since `berth run`", ["nodes / pods"] + names, lines)


def placed(title, figures):
    return rows(title, ["", "pods/s", "first bind, s", "berth, CPU ms a pod", "stand-in, CPU ms a pod", "bound"], [
        [name, one["pods_per_s"], one["first_bind_s"], one["cpu_ms_per_pod"], one["server_cpu_ms_per_pod"],
         "%d of %d" % (one["bound"], one["pods"])] for name, one in figures])


def memory(title, figures):
    return rows(title, ["MiB", "PSS", "peak RSS"],
                [[name, one["pss_mib"], one["peak_mib"]] for name, one in figures.items()])


def in_time(one):
    if one["how"] != "killed":
        return "-"
    return "yes" if one["accepted"] else "NO"


def table(result):
    text = ["%(nodes)d nodes, %(pods)d bound pods; %(commit)s, %(processor)s, %(cores)d cores; load before %(load)s, after "
            % result["about"] + result.get("load_after", "?"), "the stand-in alone: %s binds with their events a second" % result.get("ceiling", "?")]
    text += cold(result["cold"])
    text += placed("Backlogs, from their creation to the last bind",
                   [(backlog.KINDS[kind][0], one) for kind, one in result["kinds"].items()])
    text += placed("Pods each unlike all before, by number of workers",
                   [("%s workers" % count if count != "0" else "no worker process", one)
                    for count, one in result["workers"].items()])
    text += rows("Take-over, since the leader ended", [
        "the leader was", "lease, s", "renewed before, s", "lease taken, s", "and first bind, s", "of it reading, s",
        "together, s", "in time", "all bound, s", "pending then"], [
            [one["how"], one["lease_duration_s"], one["renewed_before_s"], one["lease_taken_s"], one["rest_s"],
             one["view_waited_s"], one["first_bind_s"], in_time(one), one["all_bound_s"], one["pending_then"]] for one in result["take_over"]])
    if result.get("waiting"):
        text += rows("A standby that waits", ["", ""], [[name.replace("_", " "), figure] for name, figure in
                                                        result["waiting"].items() if name != "standby_memory"])
        text += memory("Its memory", result["waiting"]["standby_memory"])
    text += memory("Memory at the full cluster", result["memory"])
    text += memory("Memory of the stand-in", result["server_memory"])
    return "\n".join(text)
