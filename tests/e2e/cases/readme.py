"""The lines of README.md do what it says, as they are written there; only the port is another."""
import os
import re
import shutil
import signal
import subprocess

import checks
import cluster
from suite import case

README = os.path.join(cluster.TOP, "README.md")
PORT = "10259"
SECONDS = 60


def lines_of_readme():
    """Commands of all blocks, in order; what stands behind # is left to the shell."""
    with open(README) as file:
        blocks = [text for words, text in re.findall(r"^```([^\n`]*)\n(.*?)^```$", file.read(), re.M | re.S)
                  if words.startswith("sh")]
    return [line for block in blocks for line in block.splitlines()]


def one(lines, pattern):
    found = [line for line in lines if re.search(pattern, line)]
    checks.expect(len(found) == 1, "README.md has %s lines with %s", len(found), pattern)
    return found[0]


class Shell:
    """Where ~/.kube/config is the cluster's, and berth's directory and port are this case's."""

    def __init__(self, world):
        home = os.path.join(world.directory, "home")
        os.makedirs(os.path.join(home, ".kube"))
        shutil.copy(world.cluster.kubeconfig("admin"), os.path.join(home, ".kube", "config"))
        self.port = str(cluster.free_port())
        self.log = os.path.join(world.directory, "readme.log")
        self.environment = dict(os.environ, HOME=home, BERTH_RUN_DIR=os.path.join(world.directory, "readme"))
        self.environment.pop("KUBECONFIG", None)

    def run(self, line):
        done = subprocess.run(["bash", "-c", line.replace(PORT, self.port)], cwd=cluster.TOP, env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=SECONDS, check=False)
        return done.stdout if done.returncode == 0 else "exit %s: %s" % (done.returncode, done.stderr)

    def start(self, line):
        """berth run, with its port; nothing else is changed."""
        with open(self.log, "wb") as log:
            return subprocess.Popen(["bash", "-c", line.replace("berth run", "berth run --secure-port=" + self.port)],
                                    cwd=cluster.TOP, env=self.environment, stdin=subprocess.DEVNULL, stdout=log,
                                    stderr=log, start_new_session=True)


@case("readme-metrics", "they are berth's")
def readme_metrics(world):
    """berth run, its readiness, and the metrics with a token."""
    if world.options.api != "real" or not shutil.which("kubectl") or not shutil.which("curl"):
        return print("skipped readme-metrics: needs the real API server, kubectl and curl")
    if "{rundir}" not in world.options.scheduler:
        return None
    lines, shell = lines_of_readme(), Shell(world)
    berth = shell.start(one(lines, "berth run .*--authentication-kubeconfig"))
    try:
        ready = one(lines, "^curl .*/readyz")
        checks.wait_until(SECONDS, lambda: "readyz check passed" in shell.run(ready), "it is never ready")
        for pattern in ("^kubectl apply .*metrics-reader", "^kubectl create clusterrolebinding"):
            answer = shell.run(one(lines, pattern))
            checks.expect("created" in answer, "%s: %s", pattern, answer)
        scrape = one(lines, "^curl .*10259/metrics")
        checks.wait_until(SECONDS, lambda: "scheduler_pending_pods" in shell.run(scrape), "%s: %s" % (
            scrape, shell.run(scrape)[:300]))
        bare = re.sub(r'-H "[^"]*(?:\([^)]*\))?[^"]*" ', "", scrape)
        checks.expect("Forbidden" in shell.run(bare), "without a token: %s", shell.run(bare)[:300])
    finally:
        os.killpg(berth.pid, signal.SIGTERM)
        try:
            berth.wait(15)
        except subprocess.TimeoutExpired:
            os.killpg(berth.pid, signal.SIGKILL)
            berth.wait(10)
    return None
