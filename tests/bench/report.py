"""Runs as lines, medians and ratios. A ratio is taken inside a pair, and its median, least and most told."""
import statistics

# Figure, its column in the table (none: only in the JSON), and how many digits.
FIGURES = {
    "pods_per_s": ("pods/s", 0), "groups_per_s": ("groups/s", 0), "pods_per_s_from_start": ("all in", 0),
    "pods_per_core_s": ("/core s", 0), "others_cores": ("others", 1), "start_seconds": ("start s", 2), "cpu_ms_per_pod": ("CPU ms", 2),
    "server_cpu_ms_per_pod": ("server ms", 2), "harness_cpu_ms_per_pod": ("harness ms", 2), "peak_pss_mib": ("PSS MiB", 0), "peak_rss_mib": ("RSS MiB", 0),
    "p50": ("p50 ms", 1), "p99": ("p99 ms", 1), "p999": ("p999 ms", 1), "decision_p50_us": ("dec p50 us", 0),
    "decision_p99_us": ("dec p99 us", 0), "cpu_window_ms_per_pod": (None, 2),
    "server_window_ms_per_pod": (None, 2), "run_delay_ms_per_pod": ("wait ms", 2), "turns_per_pod": ("turns", 1), "upstream_average": (None, 0),
    "paced_seconds": ("paced s", 1), "pods_per_s_beyond_pace": ("beyond", 0)}
# Columns that only some cases have.
ONLY_SOME = ("groups_per_s", "paced_seconds", "pods_per_s_beyond_pace")
# Ours divided by the other's: figure, the other's figure, and what the ratio is called. Memory is our
# share against all that the other holds.
RATIOS = (("pods_per_s", "pods_per_s", "pods/s"), ("groups_per_s", "groups_per_s", "groups/s"),
          ("pods_per_s_from_start", "pods_per_s_from_start", "all in"),
          ("pods_per_s_beyond_pace", "pods_per_s_beyond_pace", "beyond the pace"),
          ("pods_per_core_s", "pods_per_core_s", "/core s"), ("cpu_ms_per_pod", "cpu_ms_per_pod", "CPU"),
          ("peak_pss_mib", "peak_rss_mib", "PSS/RSS"), ("p99", "p99", "p99"))
OURS = "berth"
# In a backlog a pod waits for its turn, in stages for what lets it in: no latency of the scheduler's.
WAITING = ("backlog", "stages")
# Of a decision's way, in its order, as berth status tells it: what is part of the line before is set in, and
# the last one comes when the decision is over.
HOPS = (("to_scheduler", "queue to scheduler"), ("line", "in line there"), ("worker", "asked, until the worker answers"),
        ("evaluating", "  of this filters and scores"), ("back", "worker to scheduler"), ("telling", "until the bind is sent"),
        ("to_binder", "(scheduler to binder)"))
HOP_FIGURES = ("p50_us", "p99_us", "p999_us", "tail_us")


def line(run):
    """One line a run, as it ends."""
    print("\n".join(["  %-48s %-20s %s" % (run["asked"], run["candidate"], words(run))] + hops(run)), flush=True)
    for text in run.get("log", []) if run.get("failure") else []:
        print("    | " + text)


def words(run):
    if "pods_per_s" not in run:
        return "FAILED: " + run["failure"]
    text = "%d/%d pods, %.0f/s in %.1f s, CPU %.2f ms/pod in %.0f turns, server %.2f, PSS %.0f MiB, others %.1f cores" % (
        run["bound"], run["pods"], run["pods_per_s"], run["seconds"], run["cpu_ms_per_pod"], run["turns_per_pod"],
        run["server_cpu_ms_per_pod"], run["peak_pss_mib"], run["others_cores"])
    if run.get("groups_per_s"):
        text += ", %.0f groups/s" % run["groups_per_s"]
    if run["mode"] not in WAITING and run["latency_ms"]:
        text += ", p50 %.1f p99 %.1f ms" % (run["latency_ms"]["p50"], run["latency_ms"]["p99"])
        if run.get("own"):
            text += ", decision p50 %d p99 %d us" % (run["own"]["decision_p50_us"], run["own"]["decision_p99_us"])
    return text + (", FAILED: " + run["failure"] if run.get("failure") else "")


def hops(run):
    """Where the decisions of one run spent their time: lines, none where the candidate does not say."""
    own = run.get("own") or {}
    if run.get("mode") in WAITING or not all("hop_%s_p50_us" % name in own for name, _ in HOPS):
        return []
    rows = ["    %-34s" % "us of a decision" + "".join("%9s" % title for title in ("p50", "p99", "p999")) + "  in the slowest 1%"]
    for name, title in HOPS:
        rows.append("    %-34s" % title + "".join("%9d" % own["hop_%s_%s" % (name, figure)] for figure in HOP_FIGURES))
    return rows


def value(run, figure):
    """A figure of a run, None where it says nothing."""
    if figure in ("p50", "p99", "p999"):
        return run["latency_ms"].get(figure) if run["mode"] not in WAITING else None
    if figure.startswith("decision_"):
        return (run.get("own") or {}).get(figure) if run["mode"] not in WAITING else None
    return run.get(figure)


def summary(runs):
    """For every case: medians of every candidate, and ratios of ours to each other one."""
    cases = {}
    for run in runs:
        if "pods_per_s" in run and not run.get("failure"):
            cases.setdefault(run["asked"], {}).setdefault(run["candidate"], {})[run["pair"]] = run
    return {case: {"medians": {name: medians(by_pair) for name, by_pair in by_name.items()},
                   "ratios": {name: ratios(by_name[OURS], by_pair) for name, by_pair in by_name.items()
                              if OURS in by_name and name != OURS}}
            for case, by_name in cases.items()}


def medians(by_pair):
    found = {"runs": len(by_pair)}
    for figure in FIGURES:
        values = [value(run, figure) for run in by_pair.values()]
        found[figure] = statistics.median(values) if None not in values else None
    requests = {}
    for run in by_pair.values():
        for what, count in (run.get("requests") or {}).items():
            requests.setdefault(what, []).append(count / run["pods"])
    found["requests_per_pod"] = {what: round(statistics.median(counts), 4) for what, counts in requests.items()}
    return found


def ratios(ours, other):
    found = {}
    for figure, divisor, _ in RATIOS:
        values = [value(ours[pair], figure) / value(other[pair], divisor) for pair in ours
                  if pair in other and value(ours[pair], figure) is not None and value(other[pair], divisor)]
        if values:
            found[figure] = {"median": statistics.median(values), "least": min(values), "most": max(values),
                             "pairs": len(values)}
    return found


def cell(figure, digits):
    return "%11s" % ("-" if figure is None else "%.*f" % (digits, figure))


def table(document):
    rows = []
    for case, found in document["summary"].items():
        columns = [(figure, *shown) for figure, shown in FIGURES.items() if shown[0] and (
            figure not in ONLY_SOME or any(each[figure] is not None for each in found["medians"].values()))]
        rows += ["", case, "  %-20s" % "median" + "".join("%11s" % title for _, title, _ in columns) + "  requests a pod"]
        for name, medians_ in found["medians"].items():
            rows.append("  %-20s" % name + "".join(cell(medians_[figure], digits) for figure, _, digits in columns)
                        + "  " + busiest(medians_["requests_per_pod"]))
        rows += bounds(found["medians"], document["about"]["cores"])
        for name, against in found["ratios"].items():
            rows.append("  %s / %-20s %s" % (OURS, name, "   ".join(
                "%s ×%.2f (%.2f to %.2f)" % (title, against[figure]["median"], against[figure]["least"],
                                             against[figure]["most"])
                for figure, _, title in RATIOS if figure in against)))
    return "\n".join(rows)


def bounds(by_name, cores):
    """Whether the processors are what a candidate waits for, and what one that costs nothing itself and makes the
    same requests could reach at most."""
    rows = []
    for name, found in by_name.items():
        if found["harness_cpu_ms_per_pod"] is None:  # of a file that is older than the figure
            continue
        around = found["server_cpu_ms_per_pod"] + found["harness_cpu_ms_per_pod"]
        if around <= 0:  # of a run that is shorter than the clock's tick
            continue
        busy = found["pods_per_s_from_start"] * (found["cpu_ms_per_pod"] + around) / 1000
        rows.append("  %-20s %.1f of %d cores busy; with its requests and no CPU of its own: %.0f pods/s, of which it has %.2f" % (
            name, busy, cores, cores * 1000 / around, found["pods_per_s_from_start"] * around / cores / 1000))
    return rows


def busiest(requests):
    """The kinds of request that are made more often than once in twenty pods."""
    often = sorted(((count, what) for what, count in requests.items() if count >= 0.05), reverse=True)
    return ", ".join("%s %.2f" % (what, count) for count, what in often[:5])
