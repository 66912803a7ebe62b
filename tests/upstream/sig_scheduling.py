"""The end-to-end suite's [sig-scheduling]: a cluster of the real API server, kube-controller-manager and nodes whose
kubelets are stood in for, with the scheduler that is asked about; see suite/."""
import os
import shutil
import signal
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
CONTROLPLANE = os.path.join(TOP, "tests", "controlplane", "controlplane")
PACKAGE, TEST = "e2e/scheduling", "TestSigScheduling"
# What the suite needs beyond the default: groups of pods, in the versions that its client speaks.
GATES = {"1.36": "GenericWorkload=true,GangScheduling=true,WorkloadAwarePreemption=true", "1.37": "GenericWorkload=true"}
VERSIONS = {"1.36": "scheduling.k8s.io/v1alpha2=true",
            "1.37": "scheduling.k8s.io/v1beta1=true,scheduling.k8s.io/v1alpha3=true"}
SECONDS, START_SECONDS = 2400, 180


def build(release, module, where, program):
    """Lay the sources out with the release's module files, and build them as one program."""
    os.makedirs(where, exist_ok=True)
    for name in ("main.go", "tests.go", "kubelet.go"):
        shutil.copy2(os.path.join(HERE, "suite", name), where)
    for name in ("mod", "sum"):
        shutil.copy2(os.path.join(HERE, "suite", module + "." + name), os.path.join(where, "go." + name))
    subprocess.run(["nice", "-n", "10", "go", "build", "-trimpath", "-p=2", "-ldflags=-s -w", "-o", program, "."],
                   cwd=where, check=True)


def commands(release, subject, program, cluster, run_dir):
    """Name to command of what runs beside the API server."""
    admin, gates = "--kubeconfig=" + cluster + "/admin.kubeconfig", "--feature-gates=" + GATES[release]
    pki = cluster + "/pki"
    scheduler = ["--kubeconfig=" + cluster + "/scheduler.kubeconfig", gates, "--secure-port=0", "--leader-elect=false"]
    if subject[-1] == "run":  # berth; a path of ours may be too long for its sockets
        scheduler.append("--run-dir=" + run_dir)
    return {"controllers": [program, "controllers", admin, gates, "--secure-port=0", "--leader-elect=false",
                            "--root-ca-file=" + pki + "/ca.crt",
                            "--service-account-private-key-file=" + pki + "/service-account.key"],
            "kubelet": [program, "kubelet", admin],
            "scheduler": subject + scheduler}


def play(release, subject, program, logs):
    """subject: the scheduler's command. All that is printed is in logs/output."""
    cluster, run_dir, begun = os.path.join(logs, "cluster"), tempfile.mkdtemp(prefix="sig-"), []

    def start(name, command):
        with open(os.path.join(logs, name), "w", encoding="utf-8") as file:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
                                       start_new_session=True)
        begun.append(process)
        return process

    try:
        subprocess.run([CONTROLPLANE, "start", cluster, "--release", release,
                        "--apiserver-arg=--feature-gates=" + GATES[release], "--apiserver-arg=--allow-privileged=true",
                        "--apiserver-arg=--runtime-config=" + VERSIONS[release]],
                       stdout=subprocess.DEVNULL, timeout=START_SECONDS, check=True)
        for name, command in commands(release, subject, program, cluster, run_dir).items():
            start(name + ".log", command)
        tests = start("output", [program, "tests", "--kubeconfig=" + cluster + "/admin.kubeconfig",
                                 "--provider=skeleton", "--ginkgo.v", "--ginkgo.no-color"])
        tests.wait(SECONDS)
    except subprocess.TimeoutExpired:
        pass  # what has no result by now has failed
    finally:
        for process in begun:
            end(process)
        subprocess.run([CONTROLPLANE, "stop", cluster, "--now"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       timeout=START_SECONDS, check=False)
        shutil.rmtree(run_dir, ignore_errors=True)


def end(process):
    """Whoever we started, and whom they started: berth's first process ends its others."""
    process.terminate()
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        pass
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
