#!/usr/bin/python3
"""A plugin at the queue, whole: which pods may be queued, in what order, and whom an event helps. README.md explains it.

usage: queue_plugin.py SOCKET [NAME]     SOCKET is queue.sock in berth's run directory
"""
import os, random, sys, time
import msgpack, zmq

HELLO, HEARTBEAT, ASK, ANSWER, HINT, HINTED = 1, 2, 100, 101, 130, 131  # proto/MESSAGES.md has all, and their fields
SEEN = set()  # nodes that we heard of


def labels(pod):
    return {label[1]: label.get(2, "") for label in pod.get(15, [])}


def answer(kind, ask):
    """What we think: this is the part to change."""
    if kind == HINT:  # a node came: it helps those pods that wait for it
        SEEN.add(ask.get(5))
        return HINTED, {3: [pod[1] for pod in ask.get(6, []) if labels(pod).get("bus.example/needs") == ask.get(5)]}
    pod = labels(ask[3])
    if ask[2] == "queueSort":
        return ANSWER, {20: int(pod.get("bus.example/key", 0))}
    if pod.get("bus.example/needs", None) not in SEEN | {None}:  # preEnqueue
        return ANSWER, {5: "deny", 6: "needs node " + pod["bus.example/needs"]}
    return ANSWER, {5: "deny", 6: "held by its label"} if pod.get("bus.example/hold") else {}


def main(socket, name="example", life=random.getrandbits(62) + 1, session=0, link=0, heard=0.0):
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
        if not door.poll(100):
            send(HEARTBEAT)
            continue
        for frame in door.recv_multipart():
            unpacker = msgpack.Unpacker(strict_map_key=False)
            unpacker.feed(frame[1:])
            envelope, body = unpacker
            heard = 0 if envelope[1] == HELLO and not body.get(6) else time.time()  # 0: it asks for a hello
            if envelope[1] in (ASK, HINT):
                kind, said = answer(envelope[1], body)
                send(kind, {1: body[1], **said})


main(*sys.argv[1:])
