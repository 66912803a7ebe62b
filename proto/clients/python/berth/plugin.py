"""Plugin: a program that berth asks about pods and nodes. A subclass has a method for each extension point it wants.

    class Quiet(berth.Plugin):
        name = "quiet"                                  # as the profile has it

        def score(self, ask):                           # ask.pod, ask.nodes: berth.PluginAsk
            return {node.name: 100 - node.pods for node in ask.nodes}

    Quiet().run("/run/berth/scheduler.sock")

The method is called as the step is (ask.step), and what it gives back depends on it:

    filter       {node: reason} of the nodes that are no good; the others pass
    score        {node: 0 to 100}; a node that is not named gets 0
    permit       None (it may be bound), "wait", or ("deny", reason); after "wait" call permit_pod
    pre_filter, reserve     None, or ("deny", reason)
    any step     a berth.PluginAnswer, with whatever fields that step has

What it raises becomes the answer's error, and the profile's failurePolicy decides; so does a value that cannot be sent, as a score
of 0.5. plugin_told comes as bound(told) and
unreserved(told); any other message as on_NAME(message), which gives back the answer to send, or None.
What must stay true: everything happens in the thread of run(); later() and stop() alone may be called from others.
"""
import heapq
import itertools
import os
import queue
import random
import re
import sys
import time
import traceback

import zmq
import zmq.auth

from . import names
from .record import FRAME_MAX, Malformed, encode, from_wire, maps

HEARTBEAT, SILENCE, ANEW, PAUSE = 0.25, 3.0, 20.0, 0.1  # seconds
ERROR_MAX = 1000  # letters


def build_frame(message, link, incarnation):
    """The bytes that travel: a version byte, the envelope, the body."""
    return b"\x01" + encode(names.Envelope(type=message.NUMBER, link=link, incarnation=incarnation), message)


def open_frame(frame):
    """(envelope, message); the message is None when its number is of a newer berth."""
    if not 0 < len(frame) <= FRAME_MAX or frame[0] != 1:
        raise Malformed("not a frame of this version")
    values = list(maps(frame[1:]))
    if len(values) != 2:
        raise Malformed("%d values in a frame" % len(values))
    envelope = from_wire(names.Envelope, values[0])
    kind = names.MESSAGES.get(envelope.type)
    return envelope, from_wire(kind, values[1]) if kind else None


def curve(socket, keys, kind):
    """Has the socket use a directory of `berth keys`: server.key and KIND.key_secret."""
    socket.curve_serverkey = zmq.auth.load_certificate(os.path.join(keys, "server.key"))[0]
    socket.curve_publickey, socket.curve_secretkey = zmq.auth.load_certificate(os.path.join(keys, kind + ".key_secret"))


class Link:
    """A connection to one process's door, and its numbering. A session begins with a hello, and ends with any fault."""

    def __init__(self, plugin, address, keys):
        self.plugin, self.keys = plugin, keys
        self.address = address if "://" in address else "ipc://" + address
        self.socket, self.session, self.up, self.why = None, 0, False, ""
        self.sent = self.expected = 0  # numbers of the last frame out, and of the next one in
        self.open()

    def open(self):
        """ZeroMQ gives up for good where a handshake fails, as with a key that is not let in yet."""
        if self.socket:
            self.socket.close(0)
        self.socket = self.plugin.context.socket(zmq.DEALER)
        self.socket.linger, self.socket.immediate, self.socket.maxmsgsize = 500, 1, FRAME_MAX
        if self.keys:
            curve(self.socket, self.keys, "plugin")
        self.socket.connect(self.address)
        self.heard = time.monotonic()
        self.said = self.spoke = self.next_hello = 0.0

    def send(self, message):
        """False: nobody is there, and the session begins anew once somebody is. What cannot be sent raises, and takes no number."""
        frame = build_frame(message, self.sent + 1, self.plugin.incarnation)
        if len(frame) > FRAME_MAX:
            raise ValueError("%s of %d bytes, and a frame has at most %d" % (message.NAME, len(frame), FRAME_MAX))
        self.sent += 1
        try:
            self.socket.send(frame, zmq.DONTWAIT)
        except zmq.Again:
            self.begin_anew()
            return False
        self.spoke = time.monotonic()
        return True

    def hello(self):
        self.session, self.sent, self.up = self.session + 1, 0, False
        self.said = time.monotonic()
        if self.send(names.Hello(process="plugin", instance=self.plugin.name, incarnation=self.plugin.incarnation,
                                 pid=os.getpid(), version="1", session=self.session)):
            self.next_hello = self.said + 1.0

    def begin_anew(self, wait=PAUSE):
        self.up, self.next_hello = False, self.said + wait

    def tend(self):
        """Says what is due: a hello where there is no session, else that we live."""
        now = time.monotonic()
        if self.up and now > self.heard + SILENCE:
            self.begin_anew()
        if not self.up and now > self.heard + ANEW:
            self.open()
        if not self.up and now >= self.next_hello:
            self.hello()
        elif self.up and now > self.spoke + HEARTBEAT:
            self.send(names.Heartbeat())

    def receive(self):
        for frame in self.socket.recv_multipart(zmq.DONTWAIT):
            self.heard = time.monotonic()
            envelope, message = open_frame(frame)
            if isinstance(message, names.Hello):
                self.on_hello(message)
            elif self.up and envelope.link != self.expected:
                self.begin_anew()  # something was lost
            elif self.up:
                self.expected += 1
                if message is not None:
                    self.plugin.hear(self, message)

    def on_hello(self, hello):
        if hello.session == self.session:
            self.up, self.expected, self.why = True, 2, ""
        elif hello.session == 0:
            if hello.refused and hello.refused != self.why:
                print("%s: not let in at %s: %s" % (self.plugin.name, self.address, hello.refused), file=sys.stderr)
            self.why = hello.refused
            self.begin_anew(SILENCE if self.why else PAUSE)


class Plugin:
    """A plugin; `name` is what the profile calls it."""
    name = ""

    def __init__(self, name=None):
        self.name = name or self.name
        self.context = zmq.Context()
        self.incarnation = random.getrandbits(62) + 1
        self.links, self.stopped = [], False
        self.timers, self.order, self.calls = [], itertools.count(), queue.SimpleQueue()

    def run(self, *addresses, keys=None):
        """Serves until stop(): a plugin that also runs at points of queue or binder names their sockets, too.
        keys: the directory of `berth keys`, for tcp."""
        self.links = [Link(self, address, keys) for address in addresses]
        try:
            while not self.stopped:
                self.turn()
        finally:
            for link in self.links:
                if link.up:
                    link.send(names.Goodbye())
                link.socket.close()
            self.context.term()

    def turn(self):
        """Waits for what comes, at most until something is due."""
        for link in self.links:
            link.tend()
        while not self.calls.empty():
            at, call = self.calls.get()
            heapq.heappush(self.timers, (at, next(self.order), call))
        while self.timers and self.timers[0][0] <= time.monotonic():
            self.call(heapq.heappop(self.timers)[2])
        poller = zmq.Poller()
        for link in self.links:
            poller.register(link.socket, zmq.POLLIN)
        ready = dict(poller.poll(100))
        for link in self.links:
            if link.socket in ready:
                try:
                    link.receive()
                except Malformed as error:
                    print("%s: %s: %s" % (self.name, link.address, error), file=sys.stderr)
                    link.begin_anew()

    def call(self, what):
        """Whoever asked for it is gone: what it raises is printed."""
        try:
            what()
        except Exception:
            traceback.print_exc()

    def later(self, seconds, call):
        """Calls it in run()'s thread so many seconds from now; from any thread."""
        self.calls.put((time.monotonic() + seconds, call))

    def stop(self):
        self.stopped = True

    def tell(self, message):
        """Sends a message of our own to everybody we are connected to; false when nobody heard it."""
        return any([link.send(message) for link in self.links if link.up])

    def permit_pod(self, uid, allow=True, reason=""):
        """The word on a pod that waits for it."""
        return self.tell(names.PluginPermit(uid=uid, allow=allow, reason=reason))

    def hear(self, link, message):
        """What a method raises is printed, and ends nothing else; to whom an answer is owed, it is told."""
        handler = getattr(self, "on_" + message.NAME, None)
        try:
            answer = handler(message) if handler else None
            if answer is not None:
                link.send(answer)
        except Malformed:
            raise
        except Exception as error:
            traceback.print_exc()
            if isinstance(message, names.PluginAsk):
                link.send(names.PluginAnswer(id=message.id, error=_said(error)))

    def on_plugin_ask(self, ask):
        try:
            point = POINTS.get(ask.step, "")
            if not hasattr(self, point):
                raise NotImplementedError("no method for the step %r" % ask.step)
            answer = getattr(self, point)(ask)
            if not isinstance(answer, names.PluginAnswer):
                answer = SHAPES.get(point, _nothing)(answer)
        except Exception as error:  # whatever it is, an answer is owed
            traceback.print_exc()
            answer = names.PluginAnswer(error=_said(error))
        answer.id = ask.id
        return answer

    def on_plugin_told(self, told):
        method = getattr(self, NEWS.get(told.what, ""), None)
        if method:
            method(told)


def _said(error):
    """Short enough to be sent, whatever it repeats of what was wrong."""
    return ("%s: %s" % (type(error).__name__, error))[:ERROR_MAX]


def _nothing(value):
    if value is not None:
        raise TypeError("%r is no answer to this step" % (value,))
    return names.PluginAnswer()


def _refusals(value):
    return names.PluginAnswer(refused=[names.PluginRefusal(node=n, reason=why) for n, why in (value or {}).items()])


def _scores(value):
    return names.PluginAnswer(scores=[names.PluginOpinion(node=n, score=s) for n, s in (value or {}).items()])


def _verdict(value):
    verdict, reason = value if isinstance(value, tuple) else (value or "", "")
    return names.PluginAnswer(verdict=verdict, reason=reason)


SHAPES = {"filter": _refusals, "score": _scores, "permit": _verdict, "reserve": _verdict, "pre_filter": _verdict,
          "pre_enqueue": _verdict, "pre_bind": _verdict, "bind": _verdict}


def _methods(prefix):
    """What a method is called for each of these words: pre_filter for preFilter."""
    words = [word for name, word in vars(names).items() if name.startswith(prefix)]
    return {word: re.sub(r"-|(?<=[a-z])(?=[A-Z])", "_", word).lower() for word in words}


POINTS, NEWS = _methods("PLUGIN_STEP_"), _methods("PLUGIN_NEWS_")
