"""howlong: about how long the rest of a plan will take, by what its suites took the last time on this machine.

Figures are kept in build/test-times.json, in seconds by a suite's name. A suite without one is taken for a quarter of its
limit, and then what is said is called a guess.
"""
import json
import os

GUESS = 1 / 4


class Times:
    """What suites took here."""

    def __init__(self, path):
        self.path, self.known = path, {}
        try:
            with open(path, encoding="utf-8") as file:
                read = json.load(file)
            self.known = {name: float(took) for name, took in read.items()}
        except (OSError, ValueError, AttributeError, TypeError):
            pass  # there are none yet, or they are nobody's: they are made anew

    def note(self, name, took):
        """One that has ended; that it is lost with the folder, or cannot be written, matters to nobody."""
        self.known[name] = round(took, 1)
        try:
            with open(self.path + ".new", "w", encoding="utf-8") as file:
                json.dump(self.known, file, indent=1, sort_keys=True)
            os.replace(self.path + ".new", self.path)
        except OSError:
            pass

    def of(self, job):
        return self.known.get(job.name, job.limit * GUESS)

    def left(self, jobs, running_for, waiting_at_once):
        """Seconds until all have ended: the lanes side by side, and then what is run alone. running_for: what a job has
        taken until now, 0 when it has not begun."""
        rest = {"wait": 0.0, "compute": 0.0, "fetch": 0.0, "alone": 0.0}
        for job in jobs:
            rest[job.lane] += max(self.of(job) - running_for(job), 0)
        return max(rest["wait"] / waiting_at_once, rest["compute"], rest["fetch"]) + rest["alone"]

    def say(self, jobs, running_for, waiting_at_once):
        """In words: "about 12 min"."""
        seconds = self.left(jobs, running_for, waiting_at_once)
        guessed = any(job.name not in self.known for job in jobs)
        return "about %s%s" % (rounded(seconds), " (a guess)" if guessed else "")


def rounded(seconds):
    return "%d min" % round(seconds / 60) if seconds >= 90 else "%d s" % (round(seconds / 10) * 10)
