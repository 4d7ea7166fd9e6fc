"""Memory per connection is limited, in the kernel's buffers and in tacit's."""

import random
import selectors
import socket
import threading

import pytest
from conftest import connect, needs_descriptors, recv_all, rss_kib
from facts import LIMIT, fill
from subject import IS_SANITIZED, only_tacit, proxy  # noqa: F401

SMALL = """tune.rcvbuf.client 8192
    tune.sndbuf.client 8192
    tune.rcvbuf.server 8192
    tune.sndbuf.server 8192"""
NOTSENT = """
    tune.notsent-lowat.client 4096
    tune.notsent-lowat.server 4096"""
LONG = "timeout client 60s\ntimeout server 60s"
BODY = 8 << 20


def shrink(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8192)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)


class Origin:
    """Accepts one connection, with small buffers of its own, and keeps it."""

    def __init__(self):
        self.sock = socket.socket()
        shrink(self.sock)
        self.sock.bind(("127.0.0.1", 0))
        self.sock.listen(8)
        self.sock.settimeout(LIMIT)
        self.port = self.sock.getsockname()[1]

    def accept(self):
        c, _ = self.sock.accept()
        c.settimeout(LIMIT)
        return c


@pytest.fixture
def origin_of_one():
    o = Origin()
    yield o
    o.sock.close()


def small_client(port):
    s = socket.socket()
    shrink(s)
    s.settimeout(LIMIT)
    s.connect(("127.0.0.1", port))
    return s


def send_rest(sender, data):
    sender.sendall(data)
    sender.shutdown(socket.SHUT_WR)


@pytest.mark.parametrize("way", ["up", "down"])
@pytest.mark.parametrize("more", ["", pytest.param(NOTSENT, marks=only_tacit)], ids=["buffers", "notsent"])
def test_slow_reader_bounds_what_is_taken_from_the_source(proxy, origin_of_one, way, more):
    """A reader that pauses stops the writer at the other end after a few small buffers; all bytes arrive in the end.
    """
    p = proxy(origin_of_one.port, options=LONG, extra=SMALL + more, log=False)
    body = random.Random(1).randbytes(BODY)
    with small_client(p.port) as c:
        c.sendall(b"x")
        with origin_of_one.accept() as s:
            assert s.recv(1) == b"x"
            sender, reader = (c, s) if way == "up" else (s, c)
            taken = fill(sender, lambda: p.until("idle"), body)
            sender.settimeout(LIMIT)
            # Four sockets of twice 8 KiB each, the kernel's overhead, and one buffer of tacit.
            assert 8192 < taken < 256 << 10, taken
            rest = threading.Thread(target=send_rest, args=(sender, body[taken:]), daemon=True)
            rest.start()
            assert recv_all(reader) == body
            rest.join(LIMIT)
            assert not rest.is_alive()


def test_without_bounds_the_kernel_takes_more(proxy, origin_of_one):
    """The test above can fail: without the four lines far more is buffered."""
    p = proxy(origin_of_one.port, options=LONG, log=False)
    with small_client(p.port) as c:
        c.sendall(b"x")
        with origin_of_one.accept() as s:
            assert fill(c, lambda: p.until("idle"), b"y" * BODY) > 256 << 10


@only_tacit
def test_buffers_cost_no_call_per_client(proxy, origins):
    """Accepted sockets inherit the sizes of the listener; a socket to a server is set before it connects."""
    p = proxy(origins(lambda conn: conn.sendall(conn.recv(1))).port, extra=SMALL, log=False)

    def setsockopts():
        rows = [line.split() for line in p.admin("show syscalls").splitlines()]
        return sum(int(r[1]) for r in rows if r and r[0] == "setsockopt")

    before = setsockopts()
    for _ in range(10):
        with connect(p.port) as c:
            c.sendall(b"x")
            assert recv_all(c) == b"x"
    p.no_sessions()
    assert setsockopts() - before == 20


# --- tune.memory -----------------------------------------------------------------------------------------
READERS = 300 if IS_SANITIZED else 500
ANSWER = random.Random(2).randbytes(300_000)


def answers(conn):
    """Small buffers, so that the proxy has to keep what the reader does not read."""
    if conn.recv(1):
        conn.sendall(ANSWER)


class Reader:
    """A client that sends a request and does not read until the test says so."""

    def __init__(self, port):
        self.sock = socket.socket()
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.sock.settimeout(LIMIT)
        self.sock.connect(("127.0.0.1", port))
        self.sock.send(b"x")
        self.sock.setblocking(False)
        self.got = bytearray()
        self.over = False

    def step(self):
        data = self.sock.recv(65536)
        self.got += data
        self.over = not data


def serve(readers):
    """Reads all of them to their ends."""
    with selectors.DefaultSelector() as sel:
        for r in readers:
            sel.register(r.sock, selectors.EVENT_READ, r)
        left = len(readers)
        while left:
            ready = sel.select(LIMIT)
            assert ready, f"no progress: {left} readers have no end"
            for key, _ in ready:
                r = key.data
                r.step()
                if r.over:
                    sel.unregister(r.sock)
                    left -= 1


@needs_descriptors
@only_tacit
def test_memory_is_bounded_and_all_are_served(proxy, origins):
    """Many slow readers: new ones wait while memory is short, and all bytes are right in the end."""
    o = origins(answers)
    p = proxy(o.port, options="timeout client 90s\ntimeout server 90s\nbacklog 2000", log=False,
              extra=SMALL + "\n    tune.memory 2\n    maxconn 2000")
    with connect(p.port) as c:
        c.sendall(b"x")
        assert recv_all(c) == ANSWER
    assert p.info()["Memmax_MB"] == "2"
    before = rss_kib(p.pid)
    readers = [Reader(p.port) for _ in range(READERS // 2)]
    try:
        p.until("counter Memory_holds gt 0")
        held_at = p.sessions
        # The others connect while memory is short, and wait in the backlog.
        readers += [Reader(p.port) for _ in range(READERS // 2)]
        p.until("idle")
        info = p.info()
        # Each worker stops accepting for itself: the others continue until they have to stop.
        most = held_at if info["Nbthread"] == "1" else READERS - 1
        assert 10 < int(info["CurrConns"]) <= most < READERS
        assert int(info["PoolAlloc_MB"]) <= 2
        if not IS_SANITIZED:
            assert rss_kib(p.pid) - before < 4096
        serve(readers)
        for r in readers:
            assert r.got == ANSWER
    finally:
        for r in readers:
            r.sock.close()
    p.settle()
    info = p.info()
    assert int(p.frontend("conn_tot")) == READERS + 1
    assert info["Fsm_bugs"] == "0"
    # No allocation failed: the limit was reached, and sessions waited for memory.
    assert info["PoolFailed"] == "0"


@only_tacit
def test_little_memory_is_enough_for_one(proxy, origins):
    """The smallest accepted limit: bytes in both directions, and clients one after the other."""
    p = proxy(origins().port, options=LONG, extra="nbthread 1\n    tune.memory 128k\n    tune.bufsize 16384", log=False)
    body = random.Random(3).randbytes(1 << 20)
    for _ in range(3):
        with connect(p.port) as c:
            sender = threading.Thread(target=send_rest, args=(c, body), daemon=True)
            sender.start()
            assert recv_all(c) == body
            sender.join(LIMIT)
