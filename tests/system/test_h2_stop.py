"""A process that stops says so to clients of HTTP/2 in two steps, and answers all requests that come meanwhile."""

import signal
import struct
import threading

import h2_raw as raw
import moved_clock
from conftest import WAIT
from h2_raw import GOAWAY, PING
from subject import only_tacit
from test_h2 import ok, site  # noqa: F401

pytestmark = only_tacit


def last_id(payload):
    return struct.unpack("!II", payload[:8])


def stop(p):
    """Its clients get a GOAWAY within a second."""
    p.send(signal.SIGUSR1)
    assert p.notify.wait("STOPPING=1")
    moved_clock.advance(p.dir / "clock", 1)


def test_without_streams(site):  # noqa: F811
    """A first GOAWAY takes no stream away; a request that was on its way is answered; the last one closes."""
    p = site(extra="nbthread 1", clock="stands")
    with raw.Client(p.port) as c:
        c.send(raw.request(1))
        assert c.response(1) == (200, b"/ 0")
        stop(p)
        assert last_id(c.until(GOAWAY)) == (0x7fffffff, raw.NO_ERROR)
        ping = c.until(PING)
        c.send(raw.request(3, path="/late"))
        assert c.response(3) == (200, b"/late 0")
        c.send(raw.ping(ping, raw.ACK))
        assert last_id(c.until(GOAWAY)) == (3, raw.NO_ERROR)
        assert c.read() is None
    assert p.wait() == 0


def test_with_streams(site):  # noqa: F811
    """Streams that run end in their own time; the connection with the last one."""
    hold, begun = threading.Event(), threading.Event()

    def answers(path, head, body):
        if path == "/slow":
            begun.set()
            hold.wait(WAIT)
        return ok(path, head, body)

    p = site(answers, extra="nbthread 1", clock="stands")
    with raw.Client(p.port) as c:
        c.send(raw.request(1, path="/slow"))
        assert begun.wait(WAIT)
        stop(p)
        assert last_id(c.until(GOAWAY)) == (0x7fffffff, raw.NO_ERROR)
        c.send(raw.ping(c.until(PING), raw.ACK))
        assert last_id(c.until(GOAWAY)) == (1, raw.NO_ERROR)
        c.send(raw.request(3))
        hold.set()
        assert c.response(1) == (200, b"/slow 0")
        while f := c.read():
            assert f[2] != 3
    assert p.wait() == 0


def test_without_an_answer(site):  # noqa: F811
    """A client that does not answer the PING is told the last id nevertheless, 5 seconds later."""
    p = site(extra="nbthread 1", clock="stands")
    with raw.Client(p.port) as c:
        c.send(raw.request(1))
        assert c.response(1) == (200, b"/ 0")
        stop(p)
        assert last_id(c.until(GOAWAY)) == (0x7fffffff, raw.NO_ERROR)
        c.until(PING)
        moved_clock.advance(p.dir / "clock", 5)
        assert last_id(c.until(GOAWAY)) == (1, raw.NO_ERROR)
        assert c.read() is None
    assert p.wait() == 0
