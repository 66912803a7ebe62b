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
    """What we think: this is the part to change. A step that a rule has no opinion about is answered with {}."""
    step, pod, nodes = ask[2], ask[3], {n[1]: labels(n, 2) for n in ask.get(4, [])}
    noted = {**labels(pod, 92), **labels(pod, 15)}  # annotations, as far as the profile asks for them, and labels
    wish = {key[len("bus.example/"):]: value for key, value in noted.items() if key.startswith("bus.example/")}
    if step == "preFilter":  # before nodes are looked at: what the pod wishes says where it may go at all
        if wish.get("refuse"):
            return {5: "deny", 6: "refused by its label"}
        return {12: [wish["only"]]} if wish.get("only") else {}
    if step == "filter":
        return {3: [{1: n, 2: "not allowed here"} for n, l in nodes.items() if l.get("bus.example/allowed") == "no"]}
    if step == "preScore":  # which is asked for scores next, unless it skips
        return {10: not any("bus.example/score" in l for l in nodes.values())}
    if step == "score":  # any numbers: the greatest becomes 100
        return {4: [{1: n, 2: int(l.get("bus.example/score", 0))} for n, l in nodes.items()], 13: "highest"}
    if step == "postFilter":  # no node is any good: where room will be
        return {14: wish["rescue"]} if wish.get("rescue") in nodes else {6: "nothing to offer"}
    if step == "reserve":
        return {5: "deny", 6: "sold out"} if wish.get("sold-out") else {}
    if wish.get("wait"):  # permit: so many seconds from now
        later.append((time.time() + float(wish["wait"]), pod[1]))
        return {5: "wait"}
    return {5: "deny", 6: "denied by its label"} if wish.get("deny") else {}


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
