"""A door of berth's, played: a ROUTER that speaks as proto/bus does to whoever connects, and can do wrong."""
import os
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "proto", "clients", "python"))

import berth  # noqa: E402
import zmq  # noqa: E402
import zmq.auth  # noqa: E402
from berth.plugin import build_frame, open_frame  # noqa: E402

SECONDS = 30  # for whatever must happen; what takes longer is lost
LIFE = 4711


class Door:
    """One caller at a time: who spoke last is who is answered."""

    def __init__(self, directory, keys=None, name="scheduler.sock"):
        self.context = zmq.Context()
        self.keys, self.path = keys, os.path.join(directory, name)
        self.socket, self.caller, self.link, self.answers = None, None, 0, True
        self.endpoint = "tcp://127.0.0.1:*" if keys else "ipc://" + self.path
        self.open()

    def open(self):
        self.socket = self.context.socket(zmq.ROUTER)
        self.socket.linger = 0
        if self.keys:
            self.socket.curve_server = True
            self.socket.curve_secretkey = zmq.auth.load_certificate(os.path.join(self.keys, "server.key_secret"))[1]
        self.socket.bind(self.endpoint)
        self.endpoint = self.socket.last_endpoint.decode()

    def close(self):
        """Gone; the address stays for open()."""
        self.socket.close(0)

    def end(self):
        self.socket.close(0)
        self.context.term()

    def send(self, message, link=None):
        self.link = self.link + 1 if link is None else link
        self.raw(build_frame(message, self.link, LIFE))

    def raw(self, *frames):
        self.socket.send_multipart([self.caller, *frames])

    def next(self, kind=None):
        """(envelope, message): what comes next, of that class if one is given; all but heartbeats otherwise."""
        limit = time.monotonic() + SECONDS
        while time.monotonic() < limit:
            if not self.socket.poll(100):
                continue
            caller, *frames = self.socket.recv_multipart()
            assert len(frames) == 1, "a plugin sends its frames one by one"
            envelope, message = open_frame(frames[0])
            if isinstance(message, berth.Hello):
                self.caller = caller
            if isinstance(message, kind) if kind else not isinstance(message, berth.Heartbeat):
                return envelope, message
        raise AssertionError("no %s in %d s" % (kind.__name__ if kind else "message", SECONDS))

    def admit(self):
        """Waits for a hello and lets it in."""
        envelope, hello = self.next(berth.Hello)
        self.send(berth.Hello(process="scheduler", instance="scheduler", incarnation=LIFE, session=hello.session), link=1)
        return envelope, hello

    def ask(self, **fields):
        self.send(berth.PluginAsk(**fields))
        envelope, answer = self.next(berth.PluginAnswer)
        return envelope, answer


class Program:
    """A plugin as a process, at these addresses."""

    def __init__(self, command, addresses, *arguments):
        self.log = tempfile.TemporaryFile()
        environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
        self.process = subprocess.Popen([*command, *addresses, *arguments], stdin=subprocess.DEVNULL, stdout=self.log,
                                        stderr=self.log, env=environment)

    def printed(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace")

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(SECONDS)
        self.log.close()
