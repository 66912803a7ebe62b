#!/usr/bin/env python3
"""Compares berth's decisions with the real kube-scheduler's, scenario by scenario.

    differ.py [--count N] [--seed S] [--mode MODE] [--index K] [--shards 1,2,3,7,16] [--keep DIR]
              [--gates LIST] [--scenarios FILE …] [--expected DIR] [--shrink] [--show N] [--release R] [--oracle PATH] [--berth PATH]

Scenarios come from gen.py, or from files: one JSON document each, or one a line in *.ndjson. The oracle
fills in what the API server would have (-defaults-only); then both decide the same stream. With
--expected, DIR/NAME.json is what the oracle said of NAME.json, and it is not asked again.
A scenario where they differ is kept in DIR as it was made (default build/fidelity/failed), with
--shrink also reduced to the little that it takes. Ends with `N passed, M failed`, and status 1 when
anything differs."""
import argparse
import collections
import json
import os
import sys

import gen
import gen_devices
import gen_rooms
import gen_volumes
import play
import shrink

AGAIN_MAX = 20  # after so many differences nobody asks any more whether another is chance

def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--count", type=int, default=500)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--mode", default="mix", choices=gen.MODES)
    p.add_argument("--index", type=int, help="this scenario of the seed alone")
    p.add_argument("--without", default="", help="plugins to switch off, with commas between")
    p.add_argument("--gates", default="", help="feature gates of all scenarios: Name=true,Other=false")
    p.add_argument("--shards", default="1,2,3,7,16")
    p.add_argument("--scenarios", nargs="*", default=[])
    p.add_argument("--expected", help="folder with the oracle's answers")
    p.add_argument("--release", default=play.RELEASES[0], choices=play.RELEASES, help="which kube-scheduler berth is to be")
    p.add_argument("--oracle", help="default: what oracle/build makes for that release")
    p.add_argument("--berth", default=play.BERTH)
    p.add_argument("--jobs", type=int, default=8, help="scenarios that the oracle plays at the same time")
    p.add_argument("--check", action="store_true", help="the oracle also checks itself with the real SchedulePod")
    p.add_argument("--show", type=int, default=10, help="differences to show")
    p.add_argument("--keep", default=os.path.join(play.TOP, "build", "fidelity", "failed"))
    p.add_argument("--shrink", action="store_true", help="reduce the first of each kind")
    p.add_argument("--shrink-seconds", type=int, default=60)
    return p.parse_args()


def without_panics(value):
    """kube-scheduler 1.37 panics as it scores storage where a CSIStorageCapacity has a largest size and no
    capacity, and where a claim names its class by the old annotation alone: they get what is missing."""
    if isinstance(value, list):
        return [without_panics(v) for v in value]
    if isinstance(value, dict):
        value = {k: without_panics(v) for k, v in value.items()}
        old = value.get("metadata", {}).get("annotations", {}).get(gen_volumes.BETA_CLASS)
        if value.get("kind") == "PersistentVolumeClaim" and old:
            value["spec"] = {"storageClassName": old, **value.get("spec", {})}
        if value.get("kind") == "CSIStorageCapacity" and "maximumVolumeSize" in value:
            value.setdefault("capacity", value["maximumVolumeSize"])
    return value


def gates_of(text):
    return {name: value == "true" for name, value in (piece.split("=") for piece in text.split(",") if piece)}


def load(args):
    """The scenarios, and the oracle's answers where they are given."""
    if not args.scenarios:
        without = [name for name in args.without.split(",") if name]
        wanted = range(args.count) if args.index is None else [args.index]
        found = [gen.scenario(args.seed, k, args.mode, without) for k in wanted]
        if args.release == "1.37" and args.mode in ("devices", "claims"):
            found = [gen_devices.add_taint_rules(s) for s in found]
        if args.release == "1.37" and args.mode in ("devices", "claims", "rooms"):
            found = [gen_devices.add_skips(s) for s in found]
        if args.release == "1.37":
            found = [without_panics(s) for s in found]
        gates = gates_of(args.gates)
        if gates.get("InPlacePodVerticalScalingSchedulerPreemption"):
            found = [gen.put_off_resizes(s) for s in found]
        if args.mode == "rooms":
            found = [gen_rooms.of_release(s, args.release) for s in found]
        for scenario in found if args.gates else ():
            scenario["featureGates"] = {**scenario.get("featureGates", {}), **gates}
        return found, None
    found, expected = [], [] if args.expected else None
    for path in args.scenarios:
        name = os.path.basename(path)
        with open(path) as f:
            lines = f.read().splitlines() if path.endswith(".ndjson") else [f.read()]
        for line in lines:
            found.append(json.loads(line))
            found[-1].setdefault("name", name.rsplit(".", 1)[0])
        if args.expected:
            with open(os.path.join(args.expected, name)) as f:
                expected.append(json.dumps(json.load(f)))
    return found, expected


class Report:
    """Counts, prints and keeps what was found."""

    def __init__(self, args, players):
        self.args, self.players = args, players
        self.passed = self.chance = self.trouble = self.attempts = 0
        self.kinds = collections.Counter()
        self.errors = 0

    def keep(self, name, scenario):
        os.makedirs(self.args.keep, exist_ok=True)
        path = os.path.join(self.args.keep, name + ".json")
        with open(path, "w") as f:
            json.dump(scenario, f, indent=1)
            f.write("\n")
        return path

    def failed(self, scenario, difference):
        name, kind = scenario["name"], difference.kind()
        self.kinds[kind] += 1
        path = self.keep(name, scenario)
        if sum(self.kinds.values()) <= self.args.show:
            print("FAILED %s: %s\n    kept in %s" % (name, str(difference)[:2000], path))
        if self.args.shrink and self.kinds[kind] == 1:
            small, why = shrink.shrink(scenario, self.players, self.args.shrink_seconds)
            print("    reduced: %s\n    kept in %s" % (str(why)[:2000], self.keep(name + ".small", small)))
        sys.stdout.flush()

    def add(self, scenario, played):
        trouble = played.oracle_trouble()
        if trouble:
            self.trouble += 1
            print("FAILED %s: the oracle cannot judge: %s" % (scenario["name"], trouble[:500]))
            self.keep(scenario["name"], scenario)
            return
        results = json.loads(played.expected)["results"]
        self.attempts += len(results)
        self.errors += sum(r["result"] == "error" for r in results)
        found = played.difference()
        if found and sum(self.kinds.values()) < AGAIN_MAX and self.players.by_chance(played):
            self.chance += 1
            print("%s: the oracle gives several answers, one of them is berth's: %s"
                  % (scenario["name"], str(found)[:300]))
            found = None
        if found:
            self.failed(scenario, found)
        else:
            self.passed += 1

    def end(self):
        failed = sum(self.kinds.values()) + self.trouble
        for kind, count in self.kinds.most_common():
            print("%7d %s" % (count, kind))
        print("%d scenarios, %d results (%d errors, their texts not compared), shards %s, %d decided by chance upstream"
              % (self.passed + failed, self.attempts, self.errors, self.args.shards, self.chance))
        print("%d passed, %d failed" % (self.passed, failed))
        return 1 if failed or self.passed == 0 else 0


def main():
    args = arguments()
    players = play.Players(args.oracle, args.berth, args.shards.split(","), args.jobs, args.check, args.release)
    scenarios, expected = load(args)
    report = Report(args, players)
    for scenario, played in zip(scenarios, players.play(scenarios, expected)):
        report.add(scenario, played)
    sys.exit(report.end())


if __name__ == "__main__":
    main()
