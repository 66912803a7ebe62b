"""A headless Chromium, driven through its DevTools protocol over two pipes."""
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

import checks

PROGRAMS = ("chromium", "chromium-browser")


def program():
    """Where it is; None where it is not installed."""
    return next((found for found in map(shutil.which, PROGRAMS) if found), None)


class Left(checks.Failed):
    """The page was left while the script ran."""


class Browser:
    """One page, which is shown in a window of its own size."""

    def __init__(self, width=1400, height=1000):
        self.profile = tempfile.mkdtemp(prefix="berth-chromium-")
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()

        def hand_over():
            # It reads from descriptor 3 and writes to 4; both ends are moved out of the way first.
            one, other = os.dup(theirs_in), os.dup(theirs_out)
            high = [os.dup(fd) for fd in (one, other)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)
        self.process = subprocess.Popen(
            [program(), "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
             "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--disable-extensions", "--ignore-certificate-errors", "--hide-scrollbars", "--window-size=%d,%d" % (width, height),
             "--user-data-dir=" + self.profile, "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=hand_over,
            close_fds=False, start_new_session=True)
        os.close(theirs_in)
        os.close(theirs_out)
        self.reads, self.writes = ours_in, ours_out
        self.left, self.number, self.session = b"", 0, None
        self.events = []
        try:
            pages = [t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"]
            self.session = self.call("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.call(domain + ".enable")
        except BaseException:
            self.stop()
            raise

    def message(self, deadline):
        while b"\0" not in self.left:
            wait = deadline - time.monotonic()
            if wait <= 0 or not select.select([self.reads], [], [], wait)[0]:
                raise checks.Failed("Chromium does not answer")
            piece = os.read(self.reads, 1 << 20)
            if not piece:
                raise checks.Failed("Chromium has ended")
            self.left += piece
        one, self.left = self.left.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **parameters):
        """What the method answers; events that come before that are kept."""
        self.number += 1
        question = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            question["sessionId"] = self.session
        os.write(self.writes, json.dumps(question).encode() + b"\0")
        deadline = time.monotonic() + 60
        while True:
            said = self.message(deadline)
            if said.get("id") == self.number:
                if "error" in said:
                    raise (Left if "navigated" in said["error"]["message"] else checks.Failed)("%s: %s" % (method, said["error"]))
                return said["result"]
            self.events.append(said)

    def run(self, script):
        """The value of a script's last expression, or of what it promises."""
        said = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in said:
            raise checks.Failed("%s: %s" % (script, said["exceptionDetails"].get("exception", {}).get("description")))
        return said["result"].get("value")

    def wait(self, seconds, script, what):
        """Until the script is true; returns its value. The page may become another one meanwhile."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                value = self.run("(v => v instanceof Node ? true : v)(%s)" % script)
            except Left:
                value = None
            if value:
                return value
            if time.monotonic() > deadline:
                raise checks.Failed("%s: not within %s s; the page says: %s"
                                    % (what, seconds, self.run("document.body.innerText.slice(0, 2000)")))
            time.sleep(0.02)

    def go(self, url):
        said = self.call("Page.navigate", url=url)
        if said.get("errorText"):
            raise checks.Failed("%s: %s" % (url, said["errorText"]))
        self.wait(30, "document.readyState == 'complete'", "loading " + url)

    def press(self, key, text=""):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, text=text if kind == "keyDown" else "",
                      windowsVirtualKeyCode={"Enter": 13, "ArrowRight": 39, "ArrowDown": 40, "Tab": 9}.get(key, 0))

    def roles(self):
        """(role, name) of everything that a screen reader is told."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return {(n["role"]["value"], n.get("name", {}).get("value", "")) for n in nodes if not n.get("ignored") and "role" in n}

    def complaints(self):
        """What the page was not allowed to do, and errors in its scripts."""
        self.run("1")
        found = []
        for event in self.events:
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(event["params"]["exceptionDetails"].get("exception", {}).get("description"))
            elif event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
                found.append(event["params"]["entry"]["text"])
        return found

    def stop(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait(10)
        os.close(self.reads)
        os.close(self.writes)
        shutil.rmtree(self.profile, ignore_errors=True)
