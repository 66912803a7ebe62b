#!/usr/bin/python3
"""A process that says what it likes at a door of berth's bus; then it stays, silent, until its input ends.

usage: hostile_peer.py SOCKET KIND TERM ROUTING-LENGTH     prints the answer's session and why it is refused
"""
import random
import sys

import msgpack
import zmq

HELLO, PREEMPT, LEADERSHIP = 1, 64, 63
door, kind, term, routing = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
life, link = random.randrange(1, 1 << 62), 0
socket = zmq.Context().socket(zmq.DEALER)
socket.linger = 0
if routing:
    socket.setsockopt(zmq.ROUTING_ID, b"r" * routing)
socket.connect("ipc://" + door)


def say(number, body):
    global link
    link += 1
    socket.send(b"\x01" + msgpack.packb({1: number, 2: link, 3: term, 4: 1, 8: life}) + msgpack.packb(body))


def answer():
    while socket.poll(5000):
        unpacker = msgpack.Unpacker(strict_map_key=False)
        unpacker.feed(socket.recv()[1:])
        envelope, body = unpacker.unpack(), unpacker.unpack()
        if envelope.get(1) == HELLO:
            return "%d %s" % (body.get(6, 0), body.get(8, ""))
    return "none"


say(HELLO, {1: kind, 2: kind, 3: life, 6: 1})
print(answer(), flush=True)
say(PREEMPT, {2: "n0"})
say(LEADERSHIP, {1: True, 2: term})
sys.stdin.read()
