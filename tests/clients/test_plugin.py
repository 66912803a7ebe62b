"""How a client keeps its connection and answers, whatever the other side does: the example of each language, as a process,
at a door that is played."""
import contextlib
import io
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

from door import SECONDS, TOP, Door, Program, berth

PYTHON = [os.path.join(TOP, "proto", "clients", "python", "example.py")]
NODES = [berth.PluginNode(name="a", labels=[berth.Label(key="bus.example/score", value="90")]),
         berth.PluginNode(name="b", labels=[berth.Label(key="bus.example/allowed", value="no")])]


def pod(**labels):
    return berth.Pod(uid="u1", namespace_name="default", name="p",
                     labels=[berth.Label(key="bus.example/" + key, value=value) for key, value in labels.items()])


class Base:
    """What every client does."""
    command = None

    def setUp(self):
        self.directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.directory)
        self.doors, self.program = [self.new_door("scheduler.sock")], None

    def new_door(self, name):
        door = Door(self.directory, name=name)
        self.addCleanup(door.end)
        return door

    def start(self, *arguments):
        self.program = Program(self.command, [door.path for door in self.doors], *arguments)
        self.addCleanup(self.program.end)

    def admitted(self):
        self.start()
        self.doors[0].admit()
        return self.doors[0]

    def scored(self, door, number):
        """It answers as it should: the session stands."""
        envelope, answer = door.ask(id=number, step="score", pod=pod(), nodes=NODES)
        self.assertEqual((answer.id, answer.error), (number, ""))
        self.assertEqual({opinion.node: opinion.score for opinion in answer.scores if opinion.score}, {"a": 90})
        return envelope

    def test_hello_and_answers(self):
        self.start()
        door = self.doors[0]
        envelope, hello = door.admit()
        self.assertEqual((envelope.link, hello.process, hello.instance), (1, "plugin", "example"))
        self.assertGreater(hello.session, 0)
        self.assertEqual((hello.pid, envelope.incarnation), (self.program.process.pid, hello.incarnation))
        self.assertGreater(hello.incarnation, 0)
        self.assertGreater(self.scored(door, 7).link, 1)
        _, answer = door.ask(id=8, step="filter", pod=pod(), nodes=NODES)
        self.assertEqual(answer, berth.PluginAnswer(id=8, refused=[berth.PluginRefusal(node="b", reason="not allowed here")]))
        _, answer = door.ask(id=9, step="permit", pod=pod(), nodes=NODES[:1])
        self.assertEqual(answer, berth.PluginAnswer(id=9))
        _, answer = door.ask(id=10, step="permit", pod=pod(deny="1"), nodes=NODES[:1])
        self.assertEqual(answer, berth.PluginAnswer(id=10, verdict="deny", reason="denied by its label"))
        door.send(berth.PluginTold(what="bound", uid="u1", namespace_name="default", name="p", node="a"))
        door.send(berth.PluginTold(what="unreserved", uid="u1", namespace_name="default", name="p", node="a"))
        self.scored(door, 11)
        self.assertIn("bound default/p to a", self.program.printed())

    def test_permission_comes_later(self):
        door = self.admitted()
        _, answer = door.ask(id=1, step="permit", pod=pod(wait="0.2"), nodes=NODES[:1])
        self.assertEqual(answer.verdict, "wait")
        _, permit = door.next(berth.PluginPermit)
        self.assertEqual(permit, berth.PluginPermit(uid="u1", allow=True))

    def test_an_error_is_an_answer(self):
        door = self.admitted()
        bad = [berth.PluginNode(name="a", labels=[berth.Label(key="bus.example/score", value="much")])]
        _, answer = door.ask(id=3, step="score", pod=pod(), nodes=bad)
        self.assertEqual((answer.id, answer.scores), (3, []))
        self.assertIn("much", answer.error)
        _, answer = door.ask(id=4, step="of-the-future", pod=pod(), nodes=[])
        self.assertEqual(answer.id, 4)
        self.assertTrue(answer.error)
        self.scored(door, 5)

    def test_it_says_that_it_lives(self):
        door = self.admitted()
        last = time.monotonic()
        for expected in range(2, 8):
            envelope, _ = door.next(berth.Heartbeat)
            self.assertEqual(envelope.link, expected)
            self.assertLess(time.monotonic() - last, SECONDS)
            last = time.monotonic()

    def test_a_hello_is_asked_for(self):
        door = self.admitted()
        door.send(berth.Hello(process="scheduler", incarnation=2), link=0)
        _, hello = door.admit()
        self.assertGreater(hello.session, 1)
        self.scored(door, 1)

    def test_what_was_lost_begins_a_session(self):
        door = self.admitted()
        door.send(berth.Heartbeat(), link=3)
        _, hello = door.admit()
        self.assertGreater(hello.session, 1)
        self.scored(door, 1)

    def test_what_is_malformed_begins_a_session(self):
        door = self.admitted()
        for data in (b"", b"\x02", b"\x01", b"\x01\x81", b"\x01\x81\x01\xc1", b"\x01\x80" + b"\xdd\x0f\xff\xff\xff", b"\x01" + b"\x91" * 100000):
            door.raw(data)
            _, hello = door.admit()
        self.assertGreater(hello.session, 6)
        self.scored(door, 1)

    def test_silence_begins_a_session(self):
        self.start()
        door = self.doors[0]
        _, first = door.admit()
        begun = time.monotonic()
        _, hello = door.next(berth.Hello)
        self.assertGreater(hello.session, first.session)
        self.assertGreater(time.monotonic() - begun, 2)

    def test_a_lost_hello_is_said_again(self):
        self.start()
        _, first = self.doors[0].next(berth.Hello)
        _, second = self.doors[0].admit()
        self.assertGreater(second.session, first.session)
        self.scored(self.doors[0], 1)

    def test_who_is_refused_says_why_and_tries_again(self):
        self.start()
        door = self.doors[0]
        door.next(berth.Hello)
        door.send(berth.Hello(process="scheduler", incarnation=2, refused="no plugin of that name"), link=0)
        door.admit()
        self.scored(door, 1)
        self.assertIn("no plugin of that name", self.program.printed())

    def test_the_door_comes_late_and_goes(self):
        door = self.doors[0]
        door.close()
        self.start()
        self.assertIsNone(self.program.process.poll())
        door.open()
        door.admit()
        self.scored(door, 1)
        door.close()
        door.open()
        door.admit()
        self.scored(door, 2)

    def test_a_message_of_the_future_is_counted_and_skipped(self):
        door = self.admitted()
        door.link += 1
        door.raw(b"\x01" + berth.encode(berth.Envelope(type=9999, link=door.link, incarnation=1)) + b"\x81\x01\x90")
        self.scored(door, 1)

    def test_two_doors(self):
        self.doors.append(self.new_door("queue.sock"))
        self.start()
        for door in self.doors:
            door.admit()
        for door in self.doors:
            self.scored(door, 5)

    def test_it_says_goodbye(self):
        door = self.admitted()
        self.scored(door, 1)  # it has read that it is in: before, nobody is to be told
        self.program.process.send_signal(signal.SIGTERM)
        door.next(berth.Goodbye)
        self.assertEqual(self.program.process.wait(SECONDS), 0)


class Python(Base, unittest.TestCase):
    command = PYTHON

    def test_what_it_does_wrong_ends_nothing(self):
        class Odd(berth.Plugin):
            name = "odd"

            def score(self, ask):
                return {"a": {1: 0.5, 2: 90, 3: "90", 5: "9" * (17 << 20)}[ask.id]}

            def filter(self, ask):
                return {"a": "x" * (17 << 20)}

            def bound(self, told):
                raise RuntimeError(told.name)

            def on_credit(self, message):
                return "nothing that could be sent"

        plugin, said = Odd(), io.StringIO()
        with contextlib.redirect_stderr(said):
            thread = threading.Thread(target=plugin.run, args=(self.doors[0].path,), daemon=True)
            thread.start()
            door = self.doors[0]
            door.admit()
            for number, step, wanted in ((1, "score", "0.5 is not int"), (2, "score", ""), (3, "score", "'90' is not int"),
                                         (4, "filter", "bytes, and a frame has at most"), (5, "score", "TypeError: '999")):
                _, answer = door.ask(id=number, step=step, pod=pod(), nodes=NODES)
                self.assertEqual(answer.id, number)
                self.assertIn(wanted, answer.error)
            plugin.later(0, lambda: 1 / 0)
            door.send(berth.PluginTold(what="bound", uid="u1", namespace_name="default", name="such-a-pod", node="a"))
            door.send(berth.Credit(count=1))
            _, answer = door.ask(id=2, step="score", pod=pod(), nodes=NODES)
            self.assertEqual((answer.error, answer.scores[0].score), ("", 90))
            limit = time.monotonic() + SECONDS
            while "ZeroDivisionError" not in said.getvalue() and time.monotonic() < limit:
                time.sleep(0.05)
            plugin.stop()
            thread.join(SECONDS)
        self.assertFalse(thread.is_alive())
        for each in ("RuntimeError: such-a-pod", "ZeroDivisionError"):
            self.assertIn(each, said.getvalue())
        self.assertIsInstance(door.next()[1], berth.Goodbye)

    def test_curve(self):
        keys = os.path.join(self.directory, "keys")
        subprocess.run([os.path.join(TOP, "build", "bin", "berth"), "keys", keys], check=True, stdout=subprocess.DEVNULL)
        door = Door(self.directory, keys=keys)
        self.addCleanup(door.end)
        program = Program(self.command, [door.endpoint], "--keys", keys)
        self.addCleanup(program.end)
        door.admit()
        self.scored(door, 1)
