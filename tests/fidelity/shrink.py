#!/usr/bin/env python3
"""Reduces a scenario on which berth and the oracle differ to the little that it takes.

    shrink.py SCENARIO.json NAME [--why TEXT] [--seconds 120]     writes regressions/NAME.json

Delta debugging over the JSON itself: pieces of lists, then single fields, are taken away as long as the
two still differ in the same kind of place. Many candidates are played in one go."""
import argparse
import copy
import json
import os
import sys
import time

import play

KEPT = {"apiVersion", "kind", "name", "schedulerName", "op", "nodeName", "startTime"}
BATCH = 24


def get(document, path):
    for key in path:
        document = document[key]
    return document


def without(document, path, keys):
    """A copy in which the container at path lacks these keys."""
    made = copy.deepcopy(document)
    container = get(made, path)
    for key in sorted(keys, reverse=True) if isinstance(container, list) else keys:
        del container[key]
    return made


def containers(document, path=()):
    """Paths of all lists and dicts that hold something, outermost first."""
    found, level = [], [path]
    while level:
        found += [p for p in level if get(document, p)]
        level = [p + (k,) for p in level for k, v in pairs(get(document, p)) if isinstance(v, (dict, list))]
    return found


def pairs(container):
    return list(container.items()) if isinstance(container, dict) else list(enumerate(container))


def keys_of(document, path):
    container = get(document, path)
    if isinstance(container, list):
        return list(range(len(container)))
    return [k for k in container if k not in KEPT]


def pieces(keys, size):
    return [keys[i:i + size] for i in range(0, len(keys), size)]


class Shrinker:
    def __init__(self, scenario, players, seconds):
        self.best, self.players = scenario, players
        self.deadline = time.monotonic() + seconds
        self.why = self.verdicts([scenario])[0]
        self.shape = self.why.shape() if self.why else None

    def verdicts(self, candidates):
        """The difference of each candidate, None where there is none or the oracle cannot judge."""
        return [None if p.oracle_trouble() else p.difference() for p in self.players.play(candidates)]

    def still_fails(self, verdict):
        return verdict is not None and verdict.shape() == self.shape

    def take(self, changes):
        """Tries changes, each a function from a scenario to a smaller one: as many as possible at once,
        in the end one by one. True when any was kept."""
        kept = False
        for some in pieces(changes, BATCH):
            if time.monotonic() > self.deadline:
                break
            alone = [change(self.best) for change in some]
            fine = [c for c, v in zip(some, self.verdicts(alone)) if self.still_fails(v)]
            while fine and time.monotonic() < self.deadline:
                together = [self.best]
                for change in fine:
                    together.append(change(together[-1]))
                verdicts = self.verdicts(together[1:])
                last = max((i for i, v in enumerate(verdicts) if self.still_fails(v)), default=None)
                if last is None:
                    break
                self.best, self.why, kept = together[last + 1], verdicts[last], True
                fine = fine[last + 2:]  # the next one is what spoilt it
        return kept

    def thin_out(self, path):
        """Takes pieces out of one container, large ones first."""
        size = len(keys_of(self.best, path))
        while size and time.monotonic() < self.deadline:
            parts = pieces(keys_of(self.best, path), size)
            # from the end, so that the places of those before stay what they are
            self.take([lambda d, p=part: without(d, path, p) for part in reversed(parts)])
            size = min(size // 2, len(keys_of(self.best, path)))

    def single_fields(self):
        """Takes away one field after another, all through the document; True when any could go."""
        fields = [(path, key) for path in containers(self.best) for key in keys_of(self.best, path) if path]
        # the last first: taking one away then changes no path of those still to come
        return self.take([lambda d, p=path, k=key: self.less(d, p, k) for path, key in reversed(fields)])

    @staticmethod
    def less(document, path, key):
        """The document without that field; as it is where the field is gone already."""
        try:
            return without(document, path, [key])
        except (KeyError, IndexError, TypeError):
            return document

    def run(self):
        if self.why is None:
            return
        for key in ("choices", "nominations", "config"):
            if key in self.best:
                self.take([lambda d, k=key: self.less(d, (), k)])
        before = None
        while before is not self.best and time.monotonic() < self.deadline:
            before = self.best
            for path in (("pods",), ("objects",), ("config", "profiles")):
                if self.has(path):
                    self.thin_out(path)
            self.single_fields()

    def has(self, path):
        try:
            return bool(get(self.best, path))
        except (KeyError, TypeError, IndexError):
            return False


def shrink(scenario, players, seconds=120):
    """(the reduced scenario, its difference); the difference is None when the scenario passes."""
    s = Shrinker(scenario, play.Players(players.oracle, players.berth, players.shards, release=players.release), seconds)
    s.run()
    return s.best, s.why


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("scenario")
    p.add_argument("name", help="of the file in regressions/, without .json")
    p.add_argument("--why", default="", help="one line: what it was")
    p.add_argument("--seconds", type=int, default=120)
    p.add_argument("--release", default=play.RELEASES[0], choices=play.RELEASES)
    p.add_argument("--oracle")
    p.add_argument("--berth", default=play.BERTH)
    args = p.parse_args()
    with open(args.scenario) as f:
        scenario = json.load(f)
    small, why = shrink(scenario, play.Players(args.oracle, args.berth, release=args.release), args.seconds)
    if why is None:
        sys.exit("shrink.py: the oracle and berth agree on %s" % args.scenario)
    made = {"name": args.name, "description": args.why or str(why)[:300]}
    made.update((k, v) for k, v in small.items() if k not in made)
    path = os.path.join(play.HERE, "regressions", args.name + ".json")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        json.dump(made, f, indent=1)
        f.write("\n")
    print("%s\n%s" % (why, path))


if __name__ == "__main__":
    main()
