#!/usr/bin/python3
"""A plugin on berth's bus, whole: nodes by label, and pods that have to wait. README.md explains it.

usage: plugin.py SOCKET [NAME]     SOCKET is scheduler.sock in berth's run directory
"""
import os, random, sys, time
import msgpack, zmq

HELLO, HEARTBEAT, ASK, ANSWER, PERMIT = 1, 2, 100, 101, 102  # proto/MESSAGES.md has all, and their fields


def labels(record, tag):
    return {label[1]: label.get(2, "") for label in record.get(tag, [])}


def answer(ask, later):
    """What we think: this is the part to change."""
    step, pod, nodes = ask[2], labels(ask[3], 15), {n[1]: labels(n, 2) for n in ask.get(4, [])}
    if step == "filter":
        return {3: [{1: n, 2: "not allowed here"} for n, l in nodes.items() if l.get("bus.example/allowed") == "no"]}
    if step == "score":
        return {4: [{1: n, 2: int(l.get("bus.example/score", 0))} for n, l in nodes.items()]}
    if pod.get("bus.example/wait"):  # permit: so many seconds from now
        later.append((time.time() + float(pod["bus.example/wait"]), ask[3][1]))
        return {5: "wait"}
    return {5: "deny", 6: "denied by its label"} if pod.get("bus.example/deny") else {}


def main(socket, name="example", life=random.getrandbits(62) + 1, session=0, link=0, heard=0.0, later=[]):
    door = zmq.Context().socket(zmq.DEALER)
    door.connect(socket if "://" in socket else "ipc://" + socket)

    def send(kind, body={}):
        nonlocal link
        link = 1 if kind == HELLO else link + 1
        door.send(b"\x01" + msgpack.packb({1: kind, 2: link, 8: life}) + msgpack.packb(body))

    while True:
        if time.time() > heard + 3:  # nobody is there, or not any more
            session, heard = session + 1, time.time()
            send(HELLO, {1: "plugin", 2: name, 3: life, 4: os.getpid(), 5: "1", 6: session})
        while later and min(later)[0] <= time.time():
            send(PERMIT, {1: later.pop(later.index(min(later)))[1], 2: True})
        if not door.poll(100):
            send(HEARTBEAT)
            continue
        for frame in door.recv_multipart():
            unpacker = msgpack.Unpacker(strict_map_key=False)
            unpacker.feed(frame[1:])
            envelope, body = unpacker
            heard = 0 if envelope[1] == HELLO and not body.get(6) else time.time()  # 0: it asks for a hello
            if envelope[1] == ASK:
                send(ANSWER, {1: body[1], **answer(body, later)})


main(*sys.argv[1:])
