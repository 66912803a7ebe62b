"""The page that berth-serve shows at /ui/, and what stands behind it: who may see it, what it shows, and that
it shows what is there."""
import http.client
import json
import os
import ssl
import subprocess
import time
import urllib.parse

import browser
import checks
import cluster
import kube
import objects
from cases.serving import Served
from suite import case

ROOM = {"cpu": "4", "memory": "8Gi", "pods": "20"}
HOSTILE = "<img src=x onerror=document.title='broken'>"


class Visitor:
    """Whoever asks berth-serve, with a token, a cookie or neither."""

    def __init__(self, served):
        self.port, self.headers = served.port, {}
        self.context = ssl._create_unverified_context()  # the certificate signs itself

    def ask(self, path, method="GET", body=None, **headers):
        """(status, headers, text)"""
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=30, context=self.context)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, {**self.headers, **named})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, answer.headers, text

    def lines(self, seconds, enough, **headers):
        """Events of the stream, (id, object), until they are enough."""
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=seconds, context=self.context)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("GET", "/ui/api/stream", headers={**self.headers, **named})
        answer = connection.getresponse()
        checks.expect(answer.status == 200, "the stream answers %s", answer.status)
        found, number, deadline = [], None, time.monotonic() + seconds
        while not enough(found):
            checks.expect(time.monotonic() < deadline, "the stream said only: %s", found)
            line = answer.readline().decode().rstrip("\n")
            if line.startswith("id: "):
                number = line[4:]
            elif line.startswith("data: "):
                found.append((number, json.loads(line[6:])))
        connection.close()
        return found


def kinds(found):
    return [line["kind"] for _, line in found]


def three_nodes(client):
    for name, zone in (("n1", "a"), ("n2", "a"), ("n3", "b")):
        client.create("/api/v1/nodes", objects.node(name, ROOM, labels={
            "topology.kubernetes.io/zone": zone, "kubernetes.io/hostname": name}))


def look_at_refused(visitor, tokens):
    """Whoever may not see it gets 401 or 403, and nothing but a form to sign in with."""
    paths = ["/ui", "/ui/", "/ui/page.js", "/ui/page.css", "/ui/state.js", "/ui/nothing", "/ui/api/stream", "/ui/api/nodes",
             "/ui/api/node?name=n1", "/ui/api/queue", "/explain?pod=default/web", "/ui/api/explain?pod=default/web"]
    for who in ({}, {"Authorization": "Bearer bogus"}, {"Authorization": "Bearer " + tokens["nobody"]},
                {"Cookie": "__Secure-berth=" + "0" * 64}):
        for path in paths:
            status, headers, text = visitor.ask(path, **who)
            checks.expect(status in (401, 403), "%s answers %s to %s", path, status, list(who))
            checks.expect("n1" not in text and "import" not in text, "%s tells %s: %s", path, list(who), text)
            checks.expect("'none'" in headers["Content-Security-Policy"], "%s comes without a policy", path)
            checks.expect((path in ("/ui", "/ui/")) == ("<form" in text), "%s answers: %s", path, text)
        status, _, _ = visitor.ask("/ui/api/whatif", "POST", "", Content_Type="application/yaml", **who)
        checks.expect(status in (401, 403), "what if is answered with %s", status)
    for token, answers in (("bogus", (401, 403)), (tokens["nobody"], (403,)), ("", (401,))):
        status, headers, text = visitor.ask("/ui/sign-in", "POST", "token=" + token)
        checks.expect(status in answers and "Set-Cookie" not in headers and "<form" in text,
                      "signing in with %s is answered with %s", token, status)


def sign_in(visitor, token):
    status, headers, _ = visitor.ask("/ui/sign-in", "POST", "token=" + urllib.parse.quote(" %s\n" % token))
    cookie = headers.get("Set-Cookie", "")
    checks.expect(status == 303 and headers["Location"] == "/ui/", "signing in is answered with %s", status)
    for word in ("Secure", "HttpOnly", "SameSite=Strict", "Path=/ui"):
        checks.expect(word in cookie.split("; "), "the cookie is %s", cookie)
    checks.expect(token not in cookie, "the token is in the cookie")
    return cookie.split(";")[0]


def look_at_questions(visitor, subject):
    """Each is answered as the command answers; what cannot be a value is refused before that."""
    done = subprocess.run([os.path.join(cluster.TOP, "build/bin/berth"), "explain", "default/web", "-o", "json", "--run-dir",
                           subject.rundir], timeout=60, stdout=subprocess.PIPE, text=True, check=True)
    for path in ("/explain?pod=default/web", "/ui/api/explain?pod=default/web"):
        status, headers, text = visitor.ask(path)
        checks.expect(status == 200 and headers["Content-Type"] == "application/json", "%s answers %s", path, status)
        checks.expect(json.loads(text) == json.loads(done.stdout), "%s differs from berth explain: %s", path, text)
    node = json.loads(visitor.ask("/explain?pod=default/web&node=n1")[2])
    checks.expect([n["name"] for n in node["now"][0]["nodes"]] == ["n1"], "&node=n1 tells of %s", node["now"][0]["nodes"])
    status, _, text = visitor.ask("/explain?pod=default/none")
    checks.expect(status == 422 and "default/none" in json.loads(text)["error"], "an unknown pod: %s %s", status, text)
    for query in ("pod=--help", "pod=", "", "pod=a/b&pod=c/d", "pod=a/b&run-dir=/", "pod=a/b&node=-x", "pod=a%0ab", "pod=a/b;ls",
                  "pod=" + "a" * 400):
        status, _, text = visitor.ask("/explain?" + query)
        checks.expect(status == 400, "?%s is answered with %s: %s", query, status, text)
    manifest = json.dumps(objects.pod("new", {"cpu": "1"}))
    status, _, text = visitor.ask("/ui/api/whatif?drain=n1&replicas=2", "POST", manifest, Content_Type="application/yaml")
    said = json.loads(text)
    checks.expect(status == 200 and said["changes"] == {"nodesDrained": ["n1"]} and said["scheduled"] == len(said["pods"]) >= 1
                  and all(p["node"] != "n1" for p in said["pods"]), "what if answers %s: %s", status, text)
    status, _, text = visitor.ask("/ui/api/capacity", "POST", manifest, Content_Type="application/yaml")
    checks.expect(status == 200 and json.loads(text)["fit"] == 11, "capacity answers %s: %s", status, text)
    for answer, method, headers in ((405, "GET", {}), (415, "POST", {"Content_Type": "text/plain"}),
                                    (403, "POST", {"Content_Type": "application/yaml", "Sec_Fetch_Site": "cross-site"})):
        status, _, _ = visitor.ask("/ui/api/whatif?drain=n1", method, "" if method == "POST" else None, **headers)
        checks.expect(status == answer, "%s %s is answered with %s", method, headers, status)
    status, _, text = visitor.ask("/ui/api/whatif", "POST", "kind: Nothing\n", Content_Type="application/yaml")
    checks.expect(status == 422 and json.loads(text)["error"], "a bad manifest is answered with %s: %s", status, text)


def look_at_stream(world, visitor):
    """Everything first, then what changes; who comes back goes on from where he was."""
    begin = visitor.lines(20, lambda found: "rates" in kinds(found) and "queue" in kinds(found))
    checks.expect(kinds(begin)[0] in ("whole", "again"), "the stream begins with %s", kinds(begin))
    checks.expect(sorted(n["name"] for n in begin[0][1]["nodes"]) == ["n1", "n2", "n3"], "it tells of %s", begin[0])
    world.admin.create(kube.PODS, objects.pod("late", {"cpu": "1"}))
    found = visitor.lines(20, lambda found: any(d["name"] == "late" and "node" in d for _, line in found
                                                for d in line.get("decisions", [])), Last_Event_ID=begin[-1][0])
    checks.expect(not {"whole", "again"} & set(kinds(found)), "who comes back is told %s", kinds(found))
    other = visitor.lines(20, lambda found: found, Last_Event_ID="0000000000000001-5")
    checks.expect(kinds(other) == ["again"] or kinds(other) == ["whole"], "another life's number is answered with %s", kinds(other))


@case("page-served", "the page is berth's own")
def page_served(world):
    """Who may see the page, and what its questions are answered with."""
    three_nodes(world.admin)
    served = Served(world, flags=["--ui"]).ready()
    pods = world.pods()
    world.admin.create(kube.PODS, objects.pod("web", {"cpu": "500m"}))
    checks.all_bound(pods, 1, 30)
    visitor = Visitor(served)
    refuses = world.options.api != "small"  # which allows everything
    if refuses:
        look_at_refused(visitor, served.tokens)
    cookie = sign_in(visitor, served.tokens["admin"])
    status, headers, text = visitor.ask("/ui/", Cookie=cookie)
    checks.expect(status == 200 and "page.js" in text, "/ui/ answers %s: %s", status, text)
    checks.expect("unsafe" not in headers["Content-Security-Policy"], "its policy is %s", headers["Content-Security-Policy"])
    for path in ("/metrics", "/explain?pod=default/web"):
        checks.expect(not refuses or visitor.ask(path, Cookie=cookie)[0] in (401, 403), "the cookie opens %s", path)
    visitor.headers = {"Authorization": "Bearer " + served.tokens["admin"]}
    look_at_questions(visitor, served.subject)
    look_at_stream(world, visitor)
    visitor.headers = {"Cookie": cookie}
    checks.expect(visitor.ask("/ui/api/queue")[0] == 200, "the session is over")
    checks.expect(visitor.ask("/ui/sign-out", "POST", "")[0] == 303, "signing out fails")
    checks.expect(not refuses or visitor.ask("/ui/api/queue")[0] in (401, 403), "the session goes on")
    served.subject.stop()
    without = Served(world, name="without").ready()
    checks.expect(without.get("/ui/").status == 404, "without --ui there is a page")


# ---- in a browser ----

ROW = "[...document.querySelectorAll('#decision-rows li')].map(r => r.innerText).find(t => t.includes(%s))"


def look_at_parts(page):
    """Every part of the page is there, by its role and its name."""
    roles = page.roles()
    for wanted in (("heading", "Cluster"), ("heading", "Waiting pods"), ("heading", "Decisions"), ("heading", "Rates and latencies"),
                   ("heading", "What if"), ("region", "Cluster"), ("combobox", "Room left of"), ("button", "Explain"),
                   ("button", "Decide"), ("button", "How many fit?"), ("checkbox", "Hold still"), ("textbox", "Drain a node"),
                   ("textbox", "New pods, as a manifest"), ("list", "Decisions, newest first"), ("button", "Sign out")):
        checks.expect(wanted in roles, "there is no %s called %s", *wanted)
    names = {name for role, name in roles if role in ("image", "img")}
    for text in ("Nodes as tiles by zone. 3 nodes in 2 zones", "Pods scheduled per second: now", "Pods waiting: now"):
        checks.expect(any(name.startswith(text) for name in names), "no picture says %s: %s", text, names)
    page.run("document.getElementById('nodes').open = true")
    page.wait(5, "document.querySelectorAll('#node-rows tr').length == 3", "the table of nodes")


def look_at_pods(world, page):
    """A pod that is made is seen to be bound within a second; one that waits, with the reason."""
    script = ROW % json.dumps("default/quick")
    world.admin.create(kube.PODS, objects.pod("quick", {"cpu": "500m"}))
    begun = time.monotonic()
    text = page.wait(1, "(t => t && t.includes('bound to') && t)(%s)" % script, "quick is shown")
    checks.expect("bound to n" in text, "it says: %s", text)
    took = time.monotonic() - begun
    world.admin.create(kube.PODS, objects.pod("large", {"cpu": "6"}))
    page.wait(10, "(t => t && t.includes('3 Insufficient cpu'))(%s)" % (ROW % json.dumps("default/large")), "large is shown")
    page.wait(10, "document.getElementById('queue-rows').innerText.includes('3 Insufficient cpu')", "large waits")
    page.wait(10, "document.getElementById('queues').innerText.match(/unschedulable\\s*1/)", "it is counted")
    return took


def look_at_details(page):
    """A pod that is clicked is explained; a node tells who is on it, and what would fit."""
    page.run("[...document.querySelectorAll('#decision-rows button')].find(b => b.textContent == 'default/large').click()")
    page.wait(10, "document.getElementById('details').innerText.includes('If it were decided now')", "the explanation of large")
    said = page.run("document.getElementById('details').innerText")
    checks.expect("Pod default/large" in said and "3 Insufficient cpu" in said and "NodeResourcesFit" in said, "it says: %s", said)
    checks.expect(("dialog", "Pod default/large") in page.roles(), "the explanation is no dialog")
    page.run("document.getElementById('details-close').click()")
    page.run("document.getElementById('tiles').focus()")
    page.press("ArrowRight")
    page.wait(5, "document.getElementById('tile').textContent.includes('cpu left')", "the node under the arrow keys")
    name = page.run("document.getElementById('tile').textContent").split(" ")[0]
    page.press("Enter", "\r")
    page.wait(10, "document.getElementById('details').innerText.includes('Room left')", "the node's details")
    page.run("[...document.querySelectorAll('#details button')].find(b => b.textContent == 'How many fit here?').click()")
    page.wait(10, "document.getElementById('details').innerText.includes('more fit')", "what would fit")
    said = page.run("document.getElementById('details').innerText")
    checks.expect("Node " + name in said and "Pods on it" in said, "it says: %s", said)
    page.run("document.getElementById('details-close').click()")


def look_at_whatif(page):
    page.run("document.getElementById('w-drain').value = 'n1'; document.querySelector('#whatif-form button').click()")
    page.wait(10, "document.getElementById('whatif-answer').innerText.includes('to decide:')", "what if")
    page.run("document.getElementById('w-drain').value = 'nowhere'; document.querySelector('#whatif-form button').click()")
    page.wait(10, "document.querySelector('#whatif-answer [role=alert]')", "a node that is not there")


def look_at_hostile(world, page):
    """Names are text, whatever they say; an API server takes few of these."""
    try:
        world.admin.create(kube.PODS, objects.pod(HOSTILE, {"cpu": "100m"}))
        shown = "default/" + HOSTILE
    except kube.ApiError:
        shown = None
    page.run("""document.getElementById('node-filter').value = %s;
                document.getElementById('node-filter').dispatchEvent(new Event('input'))""" % json.dumps(HOSTILE))
    page.run("document.getElementById('pod').value = %s; document.getElementById('pod-explain').click()" % json.dumps("x/" + HOSTILE))
    page.wait(10, "document.querySelector('#details [role=alert]')", "a pod that cannot be")
    checks.expect(HOSTILE in page.run("document.getElementById('details-title').textContent"), "the name is not shown")
    page.run("document.getElementById('details-close').click()")
    if shown:
        page.wait(10, ROW % json.dumps(shown), "the hostile name")
    checks.expect(page.run("document.title") == "berth" and not page.run("document.querySelectorAll('img').length"),
                  "a name has become more than text")


def look_at_sizes(page):
    """It fits a small screen, and is read in the dark."""
    page.call("Emulation.setDeviceMetricsOverride", width=360, height=700, deviceScaleFactor=2, mobile=True)
    page.wait(5, "document.documentElement.scrollWidth <= 361", "it is as wide as the screen")
    page.wait(5, "[...document.querySelectorAll('main > section:not([hidden])')].every(e => e.clientWidth > 300)", "one part below the other")
    page.call("Emulation.clearDeviceMetricsOverride")
    light = page.run("getComputedStyle(document.body).backgroundColor")
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    checks.expect(page.run("getComputedStyle(document.body).backgroundColor") != light, "it is as light in the dark")


@case("page", "the page is berth's own", timed=True)
def page(world):
    """The page in a browser: signed in by its form, it shows what is there and what happens."""
    if browser.program() is None:
        if "chromium" in os.environ.get("BERTH_REQUIRE", ""):
            raise checks.Failed("Chromium is not installed")
        print("skipped: page in a browser (no chromium)", flush=True)
        return
    three_nodes(world.admin)
    served = Served(world, flags=["--ui"]).ready()
    shown = browser.Browser()
    world.others.append(shown)
    shown.go("https://127.0.0.1:%d/ui/" % served.port)
    if world.options.api != "small":  # which lets everybody see it
        checks.expect(shown.run("document.querySelectorAll('form').length") == 1
                      and ("textbox", "Token") in shown.roles(), "there is no form to sign in")
        shown.run("document.getElementById('token').value = %s; document.querySelector('button').click()"
                  % json.dumps(served.tokens["admin"]))
    shown.wait(20, "document.getElementById('state')?.textContent.startsWith('Live')", "the page is live")
    shown.wait(10, "document.getElementById('cluster-summary').innerText.includes('3 nodes')", "the nodes are shown")
    shown.wait(10, "[...document.querySelectorAll('#plots strong')].every(e => e.innerText != '–')", "the plots")
    shown.events.clear()  # that the first question was refused
    look_at_parts(shown)
    took = look_at_pods(world, shown)
    print("   a pod is seen to be bound after %.2f s" % took, flush=True)
    look_at_details(shown)
    look_at_whatif(shown)
    look_at_hostile(world, shown)
    look_at_sizes(shown)
    refused = [text for text in shown.complaints() if "status of 4" not in text]  # what was asked wrongly on purpose
    checks.expect(not refused, "the browser complains: %s", refused)
    shown.run("document.querySelector('header form button').click()")
    shown.wait(10, "document.getElementById('token')" if world.options.api != "small" else
               "document.getElementById('state')?.textContent.startsWith('Live')", "signed out")
