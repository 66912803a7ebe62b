"""What berth's commands write: an answer that is lost is no success, and no file is written over."""
import os
import re
import subprocess

import checks
import cluster
from suite import case

BERTH = os.path.join(cluster.TOP, "build/bin/berth")
NOT_UPSTREAM = "berth's commands are told of"


@case("output-lost", not_upstream=NOT_UPSTREAM)
def output_lost(world):
    """Standard output on a full disk: status 1, and why."""
    for words in (["config"], ["completion", "bash"], ["version"], ["nodes", "--help"], ["run", "--help"], ["tap", "--message", "help"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([BERTH, *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=30, check=False)
        checks.expect(done.returncode == 1 and re.search("standard output: (No space left on device|not all of it was written)\n", done.stderr),
                      "%s ended with %s: %s", words, done.returncode, done.stderr)


@case("output-kept", not_upstream=NOT_UPSTREAM)
def output_kept(world):
    """tap --record writes a new file, for its owner alone, and none over one that is there."""
    subject = world.scheduler()
    path = os.path.join(world.directory, "frames")

    def tap():
        return subprocess.run([BERTH, "tap", "--run-dir", subject.rundir, "--record", path, "--duration", "1"],
                              capture_output=True, text=True, timeout=30, check=False)

    done = tap()
    checks.expect(done.returncode == 0 and os.stat(path).st_mode & 0o777 == 0o600, "it ended with %s: %s", done.returncode, done.stderr)
    with open(path, "w", encoding="ascii") as file:
        file.write("precious\n")
    done = tap()
    checks.expect(done.returncode == 1 and "is there already" in done.stderr, "it ended with %s: %s", done.returncode, done.stderr)
    with open(path, encoding="ascii") as file:
        checks.expect(file.read() == "precious\n", "it was written over")
