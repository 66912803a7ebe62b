"""Runs as lines, medians and ratios. A ratio is taken inside a pair, and its median, least and most told."""
import statistics

FIGURES = ("pods_per_s", "pods_per_core_s", "others_cores", "upstream_average", "start_seconds", "cpu_ms_per_pod", "cpu_window_ms_per_pod",
           "server_cpu_ms_per_pod", "peak_pss_mib", "peak_rss_mib", "p50", "p99", "p999")
# Ours divided by the other's, figure by figure; memory as our share against all that it holds.
RATIOS = {"pods_per_s": "pods_per_s", "pods_per_core_s": "pods_per_core_s", "cpu_ms_per_pod": "cpu_ms_per_pod", "peak_pss_mib": "peak_rss_mib",
          "p99": "p99"}
OURS = "berth"


def line(run):
    """One line a run, as it ends."""
    print("  %-48s %-20s %s" % (run["asked"], run["candidate"], words(run)), flush=True)
    for text in run.get("log", []) if run.get("failure") else []:
        print("    | " + text)


def words(run):
    if "pods_per_s" not in run:
        return "FAILED: " + run["failure"]
    text = "%d/%d pods, %.0f/s in %.1f s, CPU %.2f ms/pod, server %.2f, PSS %.0f MiB, others %.1f cores" % (
        run["bound"], run["pods"], run["pods_per_s"], run["seconds"], run["cpu_ms_per_pod"],
        run["server_cpu_ms_per_pod"], run["peak_pss_mib"], run["others_cores"])
    if run["mode"] != "backlog" and run["latency_ms"]:
        text += ", p50 %.1f p99 %.1f ms" % (run["latency_ms"]["p50"], run["latency_ms"]["p99"])
    return text + (", FAILED: " + run["failure"] if run.get("failure") else "")


def value(run, figure):
    """A figure of a run, None where it says nothing."""
    if figure in ("p50", "p99", "p999"):
        # In a backlog a pod waits for its turn, which is throughput and no latency.
        return run["latency_ms"].get(figure) if run["mode"] != "backlog" else None
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
    for figure, divisor in RATIOS.items():
        values = [value(ours[pair], figure) / value(other[pair], divisor) for pair in ours
                  if pair in other and value(ours[pair], figure) is not None and value(other[pair], divisor)]
        if values:
            found[figure] = {"median": statistics.median(values), "least": min(values), "most": max(values),
                             "pairs": len(values)}
    return found


def number(figure, digits=0):
    return "-" if figure is None else "%.*f" % (digits, figure)


def table(document):
    rows = []
    for case, found in document["summary"].items():
        rows += ["", case, "  %-20s %8s %8s %7s %8s %10s %10s %8s %8s %7s %7s  %s" % (
            "median", "pods/s", "/core s", "others", "start s", "CPU ms/pod", "server ms", "PSS MiB", "RSS MiB", "p50 ms", "p99 ms",
            "requests a pod")]
        for name, medians_ in found["medians"].items():
            rows.append("  %-20s %8s %8s %7s %8s %10s %10s %8s %8s %7s %7s  %s" % (
                name, number(medians_["pods_per_s"]), number(medians_["pods_per_core_s"]),
                number(medians_["others_cores"], 1), number(medians_["start_seconds"], 2),
                number(medians_["cpu_ms_per_pod"], 2), number(medians_["server_cpu_ms_per_pod"], 2),
                number(medians_["peak_pss_mib"]), number(medians_["peak_rss_mib"]), number(medians_["p50"], 1),
                number(medians_["p99"], 1), busiest(medians_["requests_per_pod"])))
        for name, against in found["ratios"].items():
            rows.append("  %s / %-20s %s" % (OURS, name, "   ".join(
                "%s ×%.2f (%.2f to %.2f)" % (label, against[figure]["median"], against[figure]["least"],
                                             against[figure]["most"])
                for figure, label in (("pods_per_s", "pods/s"), ("pods_per_core_s", "/core s"), ("cpu_ms_per_pod", "CPU"),
                                      ("peak_pss_mib", "PSS/RSS"), ("p99", "p99")) if figure in against)))
    return "\n".join(rows)


def busiest(requests):
    """The kinds of request that are made more often than once in twenty pods."""
    often = sorted(((count, what) for what, count in requests.items() if count >= 0.05), reverse=True)
    return ", ".join("%s %.2f" % (what, count) for count, what in often[:5])
