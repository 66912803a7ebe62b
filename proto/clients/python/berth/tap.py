"""tap: listens to what berth's processes say to each other, or reads what `berth tap --record` kept.

    for heard in berth.tap("/run/berth"):
        if isinstance(heard.message, berth.PluginAnswer):
            print(heard.tapped.instance, heard.message)

Every process mirrors each frame that it sends and each that it gets, so one that travels between two is heard twice:
tapped.sent tells them apart. A listener that is too slow misses frames; a jump in tapped.tap_sequence shows it.
"""
import glob
import os
import struct
import time
from typing import NamedTuple, Optional

import zmq

from . import names
from .plugin import curve, open_frame
from .record import FRAME_MAX, Malformed, Record, from_wire, maps

LOOK_MS = 500  # how often the run directory is looked at for processes that have come


class Heard(NamedTuple):
    """One frame: who mirrored it and when; what stands beside the message; the message, None if it cannot be read."""
    tapped: names.Tapped
    envelope: Optional[names.Envelope]
    message: Optional[Record]


def heard_in(data):
    """Of the bytes of a tapped record."""
    values = list(maps(data))
    if len(values) != 1:
        raise Malformed("%d values in a tapped record" % len(values))
    tapped = from_wire(names.Tapped, values[0])
    try:
        return Heard(tapped, *open_frame(tapped.frame.encode("utf-8", "surrogateescape")))
    except Malformed:
        return Heard(tapped, None, None)


def tap(*places, keys=None, seconds=None):
    """Yields what is heard, for ever or until nothing came for so many seconds. A place is a run directory, all of whose
    taps are listened to, those that appear later as well, or an endpoint. keys: a directory of `berth keys`, for tcp."""
    context, poller, known = zmq.Context(), zmq.Poller(), {}
    try:
        quiet, look = 0, 0.0
        while seconds is None or quiet < seconds * 1000:
            if time.monotonic() >= look:  # and not for each frame
                look = time.monotonic() + LOOK_MS / 1000
                for at in [at for place in places for at in endpoints(place)]:
                    if at not in known:
                        known[at] = listen(context, at, keys)
                        poller.register(known[at], zmq.POLLIN)
            ready = poller.poll(LOOK_MS)
            quiet = 0 if ready else quiet + LOOK_MS
            for socket, _ in ready:
                yield heard_in(socket.recv())
    finally:
        for socket in known.values():
            socket.close(0)
        context.term()


def endpoints(place):
    return [place] if "://" in place else ["ipc://" + path for path in glob.glob(os.path.join(place, "*.tap"))]


def listen(context, endpoint, keys):
    socket = context.socket(zmq.SUB)
    socket.maxmsgsize = 2 * FRAME_MAX
    if keys:
        curve(socket, keys, "tool")
    socket.connect(endpoint)
    socket.subscribe(b"")
    return socket


def recording(path):
    """Yields what is in a file of `berth tap --record`."""
    with open(path, "rb") as file:
        if file.read(10) != b"BERTHTAP2\n":
            raise Malformed("%s is no recording" % path)
        while True:
            head = file.read(8)
            if len(head) < 8:
                return
            size, _missed = struct.unpack(">II", head)
            if size > 2 * FRAME_MAX:
                raise Malformed("%s: a frame of %d bytes" % (path, size))
            if size:
                yield heard_in(file.read(size))
