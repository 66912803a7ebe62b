"""The HTTPS door while strangers crowd it: probes and scrapers are answered. All of it on loopback, so
strangers and callers come from one address, as behind one NAT; in one place from another as well."""
import http.client
import re
import secrets
import socket
import ssl
import threading
import time

import checks
from cases.serving import Served
from suite import case

SILENT = 300  # connections, more than the door keeps
PROBES, SOON, PATIENCE = 10, 2, 10  # most are answered soon, and all within a kubelet's patience
FLOODERS, BURST = 8, 40
REMEMBERED, SCRAPES = 2, 5  # seconds that answers are remembered; scrapes, each after all is forgotten
OWN = "kube-scheduler has no such bound"


def dial(served, source="127.0.0.1"):
    return socket.create_connection(("127.0.0.1", served.port), PATIENCE, (source, 0))


def shaken(served):
    """A connection whose handshake is done."""
    return served.context.wrap_socket(dial(served), do_handshake_on_connect=True)


class Slow(threading.Thread):
    """Requests whose headers never end, a byte at a time."""

    def __init__(self, sockets):
        super().__init__(daemon=True)
        self.sockets, self.over = sockets, threading.Event()
        for one in sockets:
            try:
                one.sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\nX-Slow: ")
            except OSError:
                pass
        self.start()

    def run(self):
        while not self.over.wait(0.5):
            for one in self.sockets:
                try:
                    one.sendall(b"x")
                except OSError:
                    pass


def probe(served, path="/livez", token=None, source="127.0.0.1"):
    """Status and seconds of one request on a connection of its own; status 0 without an answer."""
    begun = time.monotonic()
    connection = http.client.HTTPSConnection("127.0.0.1", served.port, timeout=PATIENCE, context=served.context,
                                             source_address=(source, 0))
    try:
        connection.request("GET", path, headers={"Authorization": "Bearer " + token} if token else {})
        answer = connection.getresponse()
        answer.read()
        status = answer.status
    except (OSError, http.client.HTTPException):
        status = 0
    finally:
        connection.close()
    return status, time.monotonic() - begun


def expect_answers(served, what):
    seen = [probe(served, path) for path in ("/livez", "/readyz", "/healthz") * PROBES][:PROBES]
    checks.expect(all(status == 200 for status, _ in seen), "%s: probes say %s", what, seen)
    soon = sum(took < SOON for _, took in seen)
    checks.expect(soon >= PROBES - 2, "%s: only %s of %s within %s s: %s", what, soon, PROBES, SOON, seen)
    status, _ = probe(served, "/metrics", served.tokens["admin"])
    checks.expect(status == 200, "%s: a scraper gets %s", what, status)


def hold(served, make):
    """As many connections as there are to be; the door may end some of them meanwhile."""
    held = []
    for _ in range(SILENT):
        try:
            held.append(make(served))
        except OSError as error:
            for one in held:
                one.close()
            raise checks.Failed("after %s connections: %s" % (len(held), error)) from None
    return held


@case("door-silent", OWN)
def silent(world):
    """300 connections that say nothing, that stop after the handshake, or whose headers never end."""
    served = Served(world).ready()
    for what, make, slow in (("silent", dial, False), ("after the handshake", shaken, False),
                             ("slow headers", shaken, True)):
        held = hold(served, make)
        dripping = Slow(held) if slow else None
        try:
            expect_answers(served, what)
        finally:
            if dripping:
                dripping.over.set()
                dripping.join(PATIENCE)
            for one in held:
                one.close()


@case("door-late", OWN)
def late(world):
    """Silent connections are ended in seconds, without any crowd; also those that drip. Beside them a
    scraper is answered, though nothing is to be remembered."""
    served = Served(world, flags=["--authentication-token-webhook-cache-ttl=0s",
                                  "--authorization-webhook-cache-authorized-ttl=0s",
                                  "--authorization-webhook-cache-unauthorized-ttl=0s"]).ready()
    held = [dial(served) for _ in range(5)] + [shaken(served) for _ in range(10)]
    dripping = Slow(held[10:])
    try:
        for token, right in ((served.tokens["admin"], 200), ("nobody-s", 401)):
            status, _ = probe(served, "/metrics", token)
            checks.expect(status == right, "without a cache a scraper gets %s, not %s", status, right)
        for number, one in enumerate(held):
            one.settimeout(20)
            try:
                checks.expect(one.recv(100) in (b"",), "connection %s is given something", number)
            except socket.timeout:
                raise checks.Failed("connection %s is kept" % number) from None
            except (ConnectionError, ssl.SSLError):
                pass  # ended as well
    finally:
        dripping.over.set()
        dripping.join(PATIENCE)
        for one in held:
            one.close()


class Flood:
    """Requests that nobody may make, each with something new: on a few connections, many requests at
    once, so that there are more of them than the door remembers and than one waits for."""

    def __init__(self, served, request):
        self.served, self.request, self.over = served, request, threading.Event()
        self.codes, self.lock = {}, threading.Lock()
        self.threads = [threading.Thread(target=self.run, daemon=True) for _ in range(FLOODERS)]
        for thread in self.threads:
            thread.start()

    def run(self):
        while not self.over.is_set():
            try:
                with shaken(self.served) as connection:
                    connection.settimeout(PATIENCE)
                    while not self.over.is_set():
                        self.burst(connection)
            except OSError:
                pass  # ended by the door, which it may do: the next one

    def burst(self, connection):
        connection.sendall(b"".join(self.request() for _ in range(BURST)))
        seen = b""
        while len(re.findall(rb"HTTP/1\.1 \d", seen)) < BURST:
            piece = connection.recv(65536)
            if not piece:
                raise OSError("ended")
            seen += piece
        with self.lock:
            for code in re.findall(rb"HTTP/1\.1 (\d+)", seen):
                self.codes[int(code)] = self.codes.get(int(code), 0) + 1

    def stop(self):
        self.over.set()
        for thread in self.threads:
            thread.join(2 * PATIENCE)


def bogus_token():
    return b"GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n" % secrets.token_hex(16).encode()


def unknown_path():
    return b"GET /metrics/%s HTTP/1.1\r\nHost: x\r\n\r\n" % secrets.token_hex(16).encode()


@case("door-flood", OWN)
def flood(world):
    """A scraper whose token was good before gets 200 each time, while others bring tokens and paths that
    nobody knows; so does, after a while, one that comes only then, from here and from elsewhere."""
    served = Served(world, flags=["--%s=%ds" % (name, REMEMBERED) for name in (
        "authentication-token-webhook-cache-ttl", "authorization-webhook-cache-authorized-ttl",
        "authorization-webhook-cache-unauthorized-ttl")]).ready()
    known = served.tokens["admin"]
    newcomers = [served.tokens[user] for user in ("scheduler-a", "scheduler-b", "nobody",
                                                     "system:kube-scheduler")]
    checks.expect(probe(served, "/metrics", known)[0] == 200, "a scraper is refused at the start")
    for request in (bogus_token, unknown_path):
        floods, seen = Flood(served, request), []
        try:
            checks.wait_until(30, lambda: sum(floods.codes.values()) > 1500, "the flood does not flow")
            for source in ("127.0.0.2", "127.0.0.1"):
                expect_newcomer(served, newcomers.pop(), source)
            for _ in range(SCRAPES):
                floods.over.wait(REMEMBERED + 0.3)
                seen += [probe(served, "/metrics", known)[0], probe(served)[0]]
        finally:
            floods.stop()
        checks.expect(set(seen) == {200}, "%s: %s, strangers: %s", request.__name__, seen, floods.codes)
        print("   %s: %s" % (request.__name__, floods.codes))
        checks.expect(set(floods.codes) <= {200, 401, 403, 404, 429}, "strangers get %s", floods.codes)


def expect_newcomer(served, token, source):
    """Which status it gets is the API server's matter, but not 401, nor 429 for ever."""
    checks.wait_until(20, lambda: probe(served, "/metrics", token, source)[0] in (200, 403),
                      "a token that was never seen is not looked at, from " + source)
