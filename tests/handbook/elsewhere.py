"""elsewhere: commands of the pages that another test runs, each with the file that does it and the words by which it does.

Whoever changes a command on a page, or the test, is told so by tests/handbook/run: a command has to be here to the letter, and
what it names has to stand in that file. What is here and on no page is told as well.
"""
PACKAGE, COMPOSE, CHART = "tests/package/run", "tests/compose/run", "tests/chart/run"

ELSEWHERE = {
    # the demo and the build
    "make run": ("README.md", "make run DEMO_SECONDS=0"),
    "make": ("tests/run", 'made("build", "-j2", "all", "tests-built"'),
    # what goes on until somebody ends it, or takes minutes
    "build/bin/berth top": ("tests/e2e/cases/tables.py", '@case("top"'),
    "build/bin/berth tap --pod default/web-0": ("tests/e2e/cases/tap.py", '@case("tap-story"'),
    "build/bin/berth record -o day --for 10m; build/bin/berth replay day": ("tests/e2e/cases/record.py", '@case("record"'),
    # a package
    "tests/deps build package": (PACKAGE, "needs root, debhelper, debootstrap"),
    "dpkg-buildpackage -b -us -uc": (PACKAGE, '"dpkg-buildpackage", "-b", "-us", "-uc"'),
    "sudo apt-get install debhelper": ("tests/deps", 'package="debhelper'),
    "sudo apt-get install ../berth_*.deb": (PACKAGE, '"apt-get", "install", "-y", "--no-install-recommends", "/tmp/berth.deb"'),
    "sudo install -o berth -m 600 ~/.kube/config /etc/berth/kubeconfig": (PACKAGE, 'os.chmod(os.path.join(root, "etc/berth/kubeconfig"), 0o600)'),
    "sudo systemctl enable --now berth": (PACKAGE, "process = start(root, directory, trace)"),
    "sudo berth status --run-dir /run/berth": (PACKAGE, '"berth", "status", "--run-dir", "/run/berth"'),
    # containers
    "docker build -t REGISTRY/berth -f compose/Dockerfile .": ("compose/compose.yaml", "dockerfile: compose/Dockerfile"),
    "docker push REGISTRY/berth": ("compose/kubernetes/replace/kustomization.yaml", "newName: berth"),
    "docker build -t REGISTRY/berth -f compose/Dockerfile . && docker push REGISTRY/berth": ("compose/compose.yaml", "dockerfile: compose/Dockerfile"),
    "docker-compose -f compose/compose.yaml up --build": (COMPOSE, 'compose("up", "-d", "--build"'),
    "docker-compose -f compose/compose.yaml up -d --build": (COMPOSE, 'compose("up", "-d", "--build"'),
    "docker-compose -f compose/compose.yaml logs -f tap": (COMPOSE, 'compose("logs", "--tail=2000", "tap")'),
    "docker-compose -f compose/compose.yaml up -d --scale worker=4": (COMPOSE, 'compose("up", "-d", "--scale", "worker=4")'),
    "docker-compose -f compose/compose.yaml down -v": (COMPOSE, 'compose("down", "-v"'),
    "kubectl --server http://127.0.0.1:8080 get pods -o wide": (COMPOSE, 'call(PODS)["items"]'),
    "KUBECONFIG=~/berth.kubeconfig BERTH_USER=$(id -u) docker-compose -f compose/compose.yaml up -d --build"
    " watcher queue scheduler worker extender binder tap": ("compose/compose.yaml", "${KUBECONFIG:-./kubeconfig}:/etc/berth/kubeconfig:ro"),
    # a cluster
    "kubectl apply -k compose/kubernetes/second": (CHART, "commands_of_pages"),
    "helm install berth compose/chart -n kube-system": (CHART, "commands_of_pages"),
    # metrics with a token
    "K=~/.kube/config; build/bin/berth run --kubeconfig $K --authentication-kubeconfig $K --authorization-kubeconfig $K": (
        "tests/e2e/cases/readme.py", "berth run .*--authentication-kubeconfig"),
    "kubectl apply -f compose/kubernetes/metrics-reader.yaml && kubectl create serviceaccount scraper": (
        "tests/e2e/cases/readme.py", "^kubectl apply .*metrics-reader"),
    "kubectl create clusterrolebinding scraper --clusterrole=berth-metrics-reader --serviceaccount=default:scraper": (
        "tests/e2e/cases/readme.py", "^kubectl create clusterrolebinding"),
    'curl -k -H "Authorization: Bearer $(kubectl create token scraper)" https://127.0.0.1:10259/metrics': (
        "tests/e2e/cases/readme.py", "^curl .*10259/metrics"),
}
