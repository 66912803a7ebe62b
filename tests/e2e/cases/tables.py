"""What an operator sees in tables: pods and where they wait, nodes, and the queue."""
import fcntl
import json
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import termios
import time

import checks
import cluster
import kube
import objects
from suite import case

BERTH = os.path.join(cluster.TOP, "build/bin/berth")


def shown(subject, *words, status=0):
    """(rows, split where columns are; complaint)."""
    done = subprocess.run([BERTH, *words, "--run-dir", subject.rundir], timeout=60, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    checks.expect(done.returncode == status, "berth %s ended with %s: %s", words, done.returncode, done.stderr)
    return [[cell.strip() for cell in line.split("   ") if cell.strip()] for line in done.stdout.splitlines()], done.stderr


@case("pods", not_upstream="berth pods is berth's")
def pods_shown(world):
    """All pods are shown with their nodes, and those that wait with where and why."""
    world.admin.create_many(kube.NODES, [objects.node("one", {"cpu": "2", "memory": "4Gi"})])
    pods = world.pods()
    subject = world.scheduler()
    web = objects.pod("web", {"cpu": "1"})
    web["metadata"]["labels"] = {"app": "web"}
    world.admin.create_many(kube.PODS, [web, objects.pod("large", {"cpu": "8"})])
    checks.expect(pods.wait(60, lambda items: items.get("web", ("", ""))[1] and items.get("large", ("", "", None))[2]),
                  "the pods are: %s", pods.items)

    def told():
        out = shown(subject, "pods", "-A", "-o", "wide")[0]
        return len(out) == 3 and "Insufficient" in out[1][-1] and "one" in out[2] and out
    wide = checks.wait_until(30, told, "the pods are not shown")
    checks.expect(wide[0] == ["NAMESPACE", "NAME", "STATUS", "ATTEMPTS", "NEXT TRY", "AGE", "NODE", "NOMINATED NODE",
                              "PRIORITY", "SCHEDULER", "WHY"], "the columns are: %s", wide[0])
    checks.expect(wide[1][:3] == ["default", "large", "unschedulable"] and wide[2][:3] == ["default", "web", "Scheduled"],
                  "it says: %s", wide)
    pending = shown(subject, "pods", "--pending", "--no-headers")[0]
    checks.expect(len(pending) == 1 and pending[0][0] == "large" and pending[0][-1] == "1 Insufficient cpu", "it says: %s", pending)
    for words, names in ((("--node", "one"), ["pod/web"]), (("-l", "app in (web)"), ["pod/web"]), (("-l", "!app"), ["pod/large"]),
                         ((), ["pod/large", "pod/web"])):
        said = [row[0] for row in shown(subject, "pods", "-o", "name", *words)[0]]
        checks.expect(said == names, "%s: it says %s", words, said)
    rows, complaint = shown(subject, "pods", "-n", "nowhere")
    checks.expect(not rows and complaint == "No resources found in nowhere namespace.\n", "it says: %s%s", rows, complaint)
    rows = shown(subject, "pods", "--sort-by", "status")[0]
    checks.expect([row[0] for row in rows] == ["NAME", "web", "large"], "it says: %s", rows)
    rows = shown(subject, "pods", "-o", "json")[0]
    large, small = json.loads(rows[0][0])
    checks.expect((large["attempts"] >= 1, large["rejectedBy"], small["node"]) == (True, ["NodeResourcesFit"], "one"),
                  "it says: %s", rows)
    for words in (("pods",), ("pods", "-o", "json"), ("pods", "-o", "name"), ("nodes",), ("nodes", "-o", "json"), ("queue", "-o", "json")):
        rows, complaint = shown(subject, *words, "--sort-by", "nothing", status=1)
        checks.expect(not rows and complaint == "berth %s: --sort-by: there is no column nothing\n" % words[0], "%s: it says: %s%s",
                      words, rows, complaint)
    shown(subject, "pods", "-o", "json", "--sort-by", "priority")
    look_at_others(subject)


def look_at_others(subject):
    """Nodes and queue have the same tables."""
    rows = shown(subject, "queue", "-o", "wide")[0]
    checks.expect(rows[0][-2:] == ["UID", "REJECTED BY"] and rows[1][1:3] == ["large", "unschedulable"], "it says: %s", rows)
    rows, complaint = shown(subject, "queue", "--node", "one")
    checks.expect(not rows and complaint == "No resources found\n", "it says: %s%s", rows, complaint)
    for form in ("text", "json"):
        rows, complaint = shown(subject, "nodes", "--node", "nope", "-o", form, status=1)
        checks.expect(not rows and complaint == "berth nodes: there is no node nope\n", "it says: %s%s", rows, complaint)
        rows, complaint = shown(subject, "nodes", "--node", "one", "-l", "a=b", "-o", form)
        checks.expect(rows == ([["[]"]] if form == "json" else []), "it says: %s%s", rows, complaint)
    rows = shown(subject, "nodes", "-o", "wide", "--no-headers")[0]
    checks.expect([row[:6] for row in rows] == [["one", "Ready", "<none>", "1/110", "1/2", "0/4Gi"]], "it says: %s", rows)


def terminal(subject, rows=30, columns=130):
    """(process, its terminal's end) of berth top on a terminal of that size."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    before = termios.tcgetattr(its)
    process = subprocess.Popen([BERTH, "top", "--interval", "0.5", "--run-dir", subject.rundir], stdin=its, stdout=its,
                               stderr=its, start_new_session=True)
    return process, ours, its, before


def until(ours, text, seconds=20):
    """What comes until the text is in it."""
    deadline, seen = time.monotonic() + seconds, b""
    while text not in seen:
        ready, _, _ = select.select([ours], [], [], max(0, deadline - time.monotonic()))
        checks.expect(ready, "%r is not shown, but %r", text, seen[-2000:])
        seen += os.read(ours, 65536)
    return seen


@case("top", not_upstream="berth top is berth's")
def top(world):
    """The screen follows keys and answers, and the terminal is as before, however it ends."""
    world.admin.create_many(kube.NODES, [objects.node("one", {"cpu": "2", "memory": "4Gi"})])
    pods = world.pods()
    subject = world.scheduler()
    world.admin.create_many(kube.PODS, [objects.pod("large", {"cpu": "8"})])
    checks.expect(pods.wait(60, lambda items: items.get("large", ("", "", None))[2]), "the pods are: %s", pods.items)
    text = subprocess.run([BERTH, "top", "--run-dir", subject.rundir], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          text=True, check=True).stdout
    checks.expect("leader" in text and "large" in text and "one" in text and "binder" in text and " placed since the start)" in text and "\x1b" not in text,
                  "it says: %s", text)
    for end in (b"q", b"\x03", signal.SIGTERM, signal.SIGHUP):
        process, ours, its, before = terminal(subject)
        seen = until(ours, b"large")
        checks.expect(seen.startswith(b"\x1b[?1049h"), "it begins with %r", seen[:80])
        os.write(ours, b"/nobody\r")
        until(ours, b"/nobody ")
        os.write(ours, b"\x1b")
        until(ours, b"large")
        os.write(ours, b"2")
        until(ours, b"0/4Gi")
        os.write(ours, b"4")
        until(ours, b"1 Insufficient cpu")
        if isinstance(end, bytes):
            os.write(ours, end)
        else:
            process.send_signal(end)
        until(ours, b"\x1b[?25h\x1b[?1049l")
        checks.expect(process.wait(20) == 0, "it ended with %s", process.returncode)
        checks.expect(termios.tcgetattr(its) == before, "the terminal is not as before after %r", end)
        os.close(ours)
        os.close(its)


def completed(shell, *words, directory=None):
    """What the shell offers for the last word of a line, as it has the words."""
    done = subprocess.run([shell, "-c", "eval \"$(\"$0\" completion bash)\"; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _berth; "
                           "printf '%s\\n' \"${COMPREPLY[@]}\"", BERTH, BERTH, *words], cwd=directory, stdout=subprocess.PIPE,
                          text=True, check=True)
    return done.stdout.split()


def at_a_prompt(line, directory):
    """What a bash at which somebody sits makes of a line and Tab, where there is but one way to go on."""
    ours, its = pty.openpty()
    environment = dict(os.environ, PATH=os.path.dirname(BERTH) + ":" + os.environ["PATH"], TERM="dumb", INPUTRC="/dev/null")
    process = subprocess.Popen(["bash", "--norc", "--noprofile", "-i"], stdin=its, stdout=its, stderr=its, cwd=directory,
                               env=environment, start_new_session=True)
    os.close(its)
    os.write(ours, b"eval \"$(berth completion bash)\"; echo rea''dy\r")
    until(ours, b"\nready")
    os.write(ours, b"berth " + line.encode() + b"\t\x01echo \x05; echo e''nd\r")
    said = until(ours, b"\nend\r").decode()
    process.kill()
    process.wait()
    os.close(ours)
    return said.rsplit("\nberth ", 1)[1].split("\r")[0].strip()


@case("completion", not_upstream="berth completion is berth's")
def completion(world):
    """bash offers commands, options, values that are known, files and directories; zsh reads its script."""
    path = os.path.join(world.directory, "some-file")
    os.mkdir(path + "s")
    for file in (path, path + "s/only"):
        with open(file, "w"):
            pass
    for line, wanted in (("wh", ["whatif"]), ("pods --pen", ["--pending"]), ("pods -o ", ["text", "wide", "json", "name"]),
                         ("whatif -o d", ["diff"]), ("tap --message explained", ["explained"]), ("completion z", ["zsh"]),
                         ("tap --process wat", ["watcher"]), ("nobody ", []), ("whatif -f " + path, [path, path + "s"]),
                         ("top --run-dir " + path, [path + "s"]), ("simulate --see", []), ("run --kubec", ["--kubeconfig"]),
                         # bash splits words at '=', unless somebody took it out of COMP_WORDBREAKS
                         ("run --config = " + path, [path, path + "s"]), ("run --run-dir = some", ["some-files"]),
                         ("run --tie-break = f", ["first"]), ("run --tie-break =", ["random", "round-robin", "first"]),
                         ("run --config=" + path, ["--config=" + path, "--config=" + path + "s"]),
                         ("run --tie-break=f", ["--tie-break=first"]), ("run --config = x --tie-b", ["--tie-break"]),
                         ("run --own-worker = t", ["true"]), ("run --ui = ", ["true", "false"]), ("run --workers ", ["auto"]),
                         ("run --print-config =", []), ("run --log-level w", ["warn"]), ("simulate -o y", ["yaml"]),
                         ("simulate some", ["some-file", "some-files"]), ("simulate -o json x some", ["some-file", "some-files"]),
                         ("replay some", ["some-file", "some-files"]), ("import ", ["openb", "audit"]), ("import -o x a", ["audit"]),
                         ("import audit some", ["some-file", "some-files"]), ("import --config = x audit some", ["some-file", "some-files"]),
                         ("debug ", ["pod"]), ("debug pod --sto", ["--stop"]), ("keys some", ["some-files"])):
        said = completed("bash", *line.split(" "), directory=world.directory)
        checks.expect(sorted(said) == sorted(wanted), "%s: it offers %s", line, said)
    for line, wanted in (("run --config=some-fi", "run --config=some-file"), ("run --run-dir=some", "run --run-dir=some-files/"),
                         ("run --tie-break=f", "run --tie-break=first"), ("import audit some", "import audit some-file"),
                         ("simulate some-files/", "simulate some-files/only"), ("import o", "import openb")):
        said = at_a_prompt(line, world.directory)
        checks.expect(said == wanted, "%s and Tab become %s", line, said)
    commands = completed("bash", "")
    for command in commands:
        checks.expect("--help" in completed("bash", command, "--") or command == "completion", "%s has no options", command)
    with open(os.path.join(cluster.TOP, "ctl/berth.1"), encoding="utf-8") as page:
        synopsis = next(line for line in page if line.startswith(".Cm preflight"))
    checks.expect(sorted(synopsis[len(".Cm "):].split()) == sorted(["|"] * (len(commands) - 2) + [c for c in commands if c != "run"]),
                  "berth(1) has the commands %s, and there are %s", synopsis, commands)
    if shutil.which("zsh"):
        done = subprocess.run(["zsh", "-fc", "autoload -U compinit; compinit -D; eval \"$($0 completion zsh)\"; whence -w _berth; "
                               "print -r -- $_comps[berth]", BERTH], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        checks.expect(done.stdout.split() == ["_berth:", "function", "_berth"], "zsh says: %s", done.stdout)
    else:
        print("skipped: completion in zsh (no zsh)", flush=True)
