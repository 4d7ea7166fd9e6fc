"""A client of HTTP/2 causes bounded work and memory, and other clients are served meanwhile (RFC 9113, 10.5)."""

import struct
import threading

import h2_raw as raw
import pytest
from conftest import free_port, rss_kib
from facts import LIMIT
from moved_clock import BRIEF
from subject import IS_SANITIZED, only_tacit
from test_h2 import Client, ok, site  # noqa: F401

pytestmark = only_tacit

# The growth of the daemon after an attack, in KiB. Sanitizers keep freed memory.
GROWTH = 1 << 20 if IS_SANITIZED else 2048


def serves(p):
    """Another client is served."""
    with Client(p.port) as c:
        return c.get(path="/good")["body"] == b"/good 0"


class Watch:
    """The memory of a daemon from now on."""

    def __init__(self, p):
        assert serves(p)
        self.pid, self.before = p.pid, rss_kib(p.pid)

    def is_flat(self):
        return rss_kib(self.pid) - self.before < GROWTH


def streams(first, n):
    return range(first, first + 2 * n, 2)


@pytest.mark.parametrize("attack", ["reset", "window", "headers", "data", "priority"])
def test_streams_that_end_at_once(site, attack):  # noqa: F811
    """Streams that are reset with the request, by the client (CVE-2023-44487) or for an error of its own (CVE-2025-8671), take
    no connection to the server, and no memory."""
    def wrong(n):
        return {"reset": raw.request(n) + raw.rst(n),
                "window": raw.request(n, end=False, method="POST") + raw.window_update(n, 0),
                "headers": raw.request(n) + raw.request(n),
                "data": raw.request(n) + raw.frame(raw.DATA, raw.END_STREAM, n, b"x"),
                "priority": raw.request(n, end=False, method="POST") + raw.frame(raw.PRIORITY, 0, n, b"1234")}[attack]

    p = site()
    opened, watch = 0, None
    with raw.Client(p.port) as c:
        for turn in range(160):
            c.send(*map(wrong, streams(1 + 500 * turn, 250)))
            if turn == 40:
                watch = Watch(p)
            if turn % 20 == 19:
                c.answers_ping()
                assert serves(p)
        assert watch.is_flat()
        opened = p.origin.count
    # Where a read of the daemon's ends between the two frames, the request is one like others.
    assert opened < 400, opened


def test_continuation(site):  # noqa: F811
    """A field block without an end (CVE-2024-27316): full and empty fragments."""
    p = site()
    watch = Watch(p)
    for fragment in (b"", raw.block(("x", "y" * 16000))):
        with raw.Client(p.port) as c:
            c.send(raw.request(1, flags=0), *(raw.frame(raw.CONTINUATION, 0, 1, fragment) for _ in range(1000)))
            assert c.outcome() in (("goaway", raw.ENHANCE_YOUR_CALM), ("closed", None))
    assert watch.is_flat() and serves(p)


@pytest.mark.parametrize("flood", ["ping", "settings", "empty data", "window", "priority", "unknown", "reset"])
def test_frames_without_end(site, flood):  # noqa: F811
    """Frames that cost an answer, or just time, from a client that reads nothing: what is not sent is bounded, then nothing
    is read from it either."""
    p = site()
    one = {"ping": raw.ping(), "settings": raw.settings((4, 65535)), "empty data": raw.frame(raw.DATA, 0, 1),
           "window": raw.window_update(1, 1), "priority": raw.frame(raw.PRIORITY, 0, 1, b"\0\0\0\0\1"),
           "unknown": raw.frame(77, 0, 1, b"x"), "reset": raw.rst(1)}[flood]
    answered = flood in ("ping", "settings")
    watch = Watch(p)
    with raw.Client(p.port) as c:
        c.send(raw.request(1, method="POST", end=flood != "empty data"))
        # One that is answered stops for good, since its answers are not read; the others stop while the machine is busy.
        c.sock.settimeout(1 if answered else LIMIT)
        sent = 0
        try:
            while sent < (1 << 25 if answered else 1 << 21):
                sent += c.sock.send(one * 2000)
        except TimeoutError:
            assert answered
        else:
            assert not answered
        assert serves(p)
        assert watch.is_flat()


def test_hpack_bomb(site):  # noqa: F811
    """A long field in the table, and a thousand indexes of it (CVE-2016-6581): the head is too long; the table stays right."""
    p = site()
    watch = Watch(p)
    long = b"\x40\x01x" + raw.integer(3000, 7) + b"y" * 3000
    with raw.Client(p.port) as c:
        for n in streams(1, 100):
            c.send(raw.frame(raw.HEADERS, raw.END_HEADERS | raw.END_STREAM, n, raw.block(*raw.GET) + long + b"\xbe" * 8000))
            assert c.response(n) == (431, b"")
        c.send(raw.frame(raw.HEADERS, raw.END_HEADERS | raw.END_STREAM, 201, raw.block(*raw.GET[:3], (":path", "/after")) + b"\xbe"))
        assert c.response(201) == (200, b"/after 0")
        assert (b"x: " + b"y" * 3000) in p.handle.requests[-1][0]
    assert watch.is_flat()


@pytest.mark.parametrize("ends", ["stream", "connection"])
def test_windows_that_stay_closed(daemon, origins, ends):
    """Responses that the client does not let out end with its timeout, and let the server go; what they have buffered is
    bounded."""
    def large(conn):
        conn.recv(65536)
        conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
        for _ in range(1000):
            conn.sendall(b"x" * 100000)

    server = origins(large)
    port = free_port()
    p = daemon(f"defaults\n mode http\n timeout client {BRIEF}\n timeout server 1h\n timeout connect 1h\n"
               f"listen l\n bind 127.0.0.1:{port}\n server s 127.0.0.1:{server.port}\n", clock=True)
    with raw.Client(port, (raw.SETTINGS, 0)) as c:
        c.send(*(raw.request(n) for n in streams(1, 50)))
        for _ in range(50):
            assert c.until(raw.HEADERS)
        if ends == "stream":
            p.expire()
            gone = set()
            while len(gone) < 50:
                f = c.read()
                assert f and f[0] != raw.GOAWAY
                if f[0] == raw.RST_STREAM:
                    gone.add(f[2])
        else:
            c.send(raw.ping())
    p.until("sessions eq 0", "idle")
    assert len(p.fds()) <= len(p.base)


def test_dribbled_heads(daemon):
    """A head in bytes has the time of `timeout http-request`, also behind frames that say nothing."""
    port = free_port()
    p = daemon(f"defaults\n mode http\n timeout client 1m\n timeout http-request 500ms\n"
               f"frontend f\n bind 127.0.0.1:{port}\n http-request return status 200\n")
    with raw.Client(port) as c:
        data = raw.request(1)
        stop = threading.Event()

        def dribble():
            for i in range(len(data) - 1):
                c.send(data[i:i + 1])
                if stop.wait(0.05):
                    return

        t = threading.Thread(target=dribble)
        t.start()
        assert c.outcome()[0] in ("goaway", "closed")
        stop.set()
        t.join()
    p.until("sessions eq 0")


def test_bodies_that_wait(site):  # noqa: F811
    """A client's streams may send what their windows allow while the server reads nothing; more is a flow control error."""
    hold = threading.Event()

    def answers(path, head, body):
        hold.wait(LIMIT)
        return ok(path, head, body)

    p = site(answers)
    watch = rss_kib(p.pid)
    with raw.Client(p.port) as c:
        for n in streams(1, 20):
            c.send(raw.request(n, method="POST", end=False))
            c.send(*(raw.frame(raw.DATA, 0, n, b"x" * 16000) for _ in range(4)))
        c.answers_ping()
        # Twenty windows of 64 KB may wait, beside buffers of 16 KB.
        assert rss_kib(p.pid) - watch < 6 * 1024 or IS_SANITIZED
        c.send(*(raw.frame(raw.DATA, 0, 1, b"x" * 16000) for _ in range(200)))
        assert c.outcome() == ("rst", raw.FLOW_CONTROL_ERROR)
        hold.set()


def test_more_streams_than_allowed(site):  # noqa: F811
    """Requests above the limit are refused, so that the client may repeat them; none of them reaches the server."""
    hold = threading.Event()

    def answers(path, head, body):
        hold.wait(LIMIT)
        return ok(path, head, body)

    p = site(answers)
    with raw.Client(p.port) as c:
        c.send(*(raw.request(n) for n in streams(1, 130)))
        codes = []
        while len(codes) < 30:
            f = c.read()
            if f[0] == raw.RST_STREAM:
                codes.append((f[2], struct.unpack("!I", f[3])[0]))
        assert codes == [(n, raw.REFUSED_STREAM) for n in streams(201, 30)]
        hold.set()
        done = set()
        while len(done) < 100:
            f = c.read()
            if f[0] in (raw.DATA, raw.HEADERS) and f[1] & raw.END_STREAM:
                done.add(f[2])
    assert len(p.handle.requests) == 100
