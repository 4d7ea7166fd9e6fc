"""Spliced bodies in mode http: several per connection, in both directions, with pauses; digests cover every byte."""

import hashlib
import http.client
import os
import random
import socket
import socketserver
import threading
import time

import pytest
from conftest import WAIT
from facts import delivered
from subject import INJECTABLE, IS_SANITIZED, IS_TACIT, only_slow, only_tacit, proxy  # noqa: F401
from test_faults import Injected

HTTP = "mode http\ntimeout client 60s\ntimeout server 60s\ntimeout connect 1m"
BOTH = "option splice-request\noption splice-response"
AUTO = "option splice-auto"
# Bodies are cut from this text, the same for both ends; all its parts differ.
POOL = random.Random(4).randbytes(4 << 20)
# Small ones, those near the size of a buffer or of a bulk transfer, and long ones.
SIZES = [0, 1, 500, 15000, 16383, 16384, 16385, 65535, 65536, 65537, 100000, 300001, 1 << 20, 2500000]


def server(port):
    """Idle connections are closed soon: descriptors are counted in the end."""
    return f"server s 127.0.0.1:{port} pool-purge-delay 200"


def body_of(seed, size):
    at = seed * 7919 % (len(POOL) - size)
    return memoryview(POOL)[at:at + size]


def send_slowly(sock, data, rng):
    """Sometimes pauses, at positions that do not depend on buffer sizes."""
    while data:
        n = min(len(data), rng.choice([1, 1000, 20000, 70000, 1 << 20]))
        sock.sendall(data[:n])
        data = data[n:]
        if rng.random() < 0.1:
            delivered(sock)


class Origin(socketserver.ThreadingTCPServer):
    """Computes a digest of what it receives; responds with the body that the path names: /seed/size/how, how being
    one of length, chunked and close."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.connections = 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def port(self):
        return self.server_address[1]


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        self.server.connections += 1
        while self.one():
            pass

    def read_body(self, rng, length):
        got = hashlib.sha256()
        while length:
            part = self.rfile.read(min(length, rng.choice([100, 30000, 200000])))
            assert part, f"{length} bytes short"
            got.update(part)
            length -= len(part)
            if rng.random() < 0.05:
                time.sleep(0.005)
        return got.hexdigest()

    def one(self):
        line = self.rfile.readline()
        if not line:
            return False
        fields = {}
        for f in iter(self.rfile.readline, b"\r\n"):
            name, value = f.split(b":", 1)
            fields[name.lower()] = value.strip()
        seed, size, how = line.split()[1].decode().strip("/").split("/")
        rng = random.Random(int(seed))
        total = self.read_body(rng, int(fields.get(b"content-length", 0)))
        data = body_of(int(seed), int(size))
        head = f"HTTP/1.1 200 OK\r\nX-Sum: {total}\r\n"
        if how == "length":
            head += f"Content-Length: {size}\r\n\r\n"
        elif how == "chunked":
            head += "Transfer-Encoding: chunked\r\n\r\n"
            data = b"".join(b"%x\r\n%s\r\n" % (len(data[i:i + 50000]), data[i:i + 50000])
                            for i in range(0, len(data), 50000)) + b"0\r\n\r\n"
        else:
            head += "Connection: close\r\n\r\n"
        self.request.sendall(head.encode())
        send_slowly(self.request, memoryview(data), rng)
        return how != "close"


@pytest.fixture
def web():
    server = Origin()
    yield server
    server.shutdown()
    server.server_close()


class Client:
    """Sends requests one after the other over as few connections as possible; counts complete responses."""

    def __init__(self, port, seed):
        self.rng = random.Random(seed)
        self.conn = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.whole = self.bytes = 0

    def ask(self, up, down, how="length", slow=True):
        seed = self.rng.randrange(1 << 30)
        data = body_of(seed + 1, up)
        self.conn.connect() if not self.conn.sock else None
        self.conn.putrequest("POST", f"/{seed}/{down}/{how}", skip_accept_encoding=True)
        self.conn.putheader("Content-Length", up)
        self.conn.endheaders()
        if slow:
            send_slowly(self.conn.sock, data, self.rng)
        else:
            self.conn.sock.sendall(data)
        r = self.conn.getresponse()
        got, n = hashlib.sha256(), 0
        while part := r.read(self.rng.choice([1000, 65536, 1 << 20])):
            got.update(part)
            n += len(part)
            if slow and self.rng.random() < 0.05:
                time.sleep(0.005)
        assert r.status == 200
        assert n == down, f"{n} of {down} bytes"
        assert r.headers["X-Sum"] == hashlib.sha256(data).hexdigest()
        assert got.hexdigest() == hashlib.sha256(body_of(seed, down)).hexdigest()
        self.whole += 1
        self.bytes += up + down

    def close(self):
        self.conn.close()


def crowd(port, n, each, plan, seed=1):
    """n clients at once, with the requests of plan(rng); returns the number of bytes."""
    failed, clients = [], [Client(port, seed * 1000 + i) for i in range(n)]

    def run(c):
        try:
            for _ in range(each):
                c.ask(*plan(c.rng))
        except Exception as e:  # noqa: BLE001
            failed.append(repr(e))
        finally:
            c.close()
    threads = [threading.Thread(target=run, args=(c,), daemon=True) for c in clients]
    for t in threads:
        t.start()
    for t in threads:
        t.join(300)
    assert not failed, failed[:3]
    assert sum(c.whole for c in clients) == n * each
    return sum(c.bytes for c in clients)


def mixed(rng):
    return rng.choice(SIZES), rng.choice(SIZES), rng.choice(["length"] * 4 + ["chunked", "close"])


@pytest.mark.parametrize("options", [BOTH, AUTO, "option splice-response", "option splice-request", ""],
                         ids=["both", "auto", "response", "request", "none"])
def test_bodies(proxy, web, options):
    p = proxy(server(web.port), options=f"{HTTP}\n{options}", log=False, checked=IS_TACIT)
    total = crowd(p.port, 6, 5 if IS_SANITIZED else 15, mixed)
    if not IS_TACIT:
        return
    if options:
        assert total * 0.2 < p.spliced() < total
        assert p.info()["Splice_fallbacks"] == "0"
    else:
        # As in HAProxy: only with the option.
        assert p.spliced() == 0


@only_tacit
@pytest.mark.parametrize("extra", ["tune.epoll.mode unmerged", "tune.epoll.mode merged", "use-poller ev:epoll",
                                   "use-poller ev:poll", "tune.pipesize 16384", "maxpipes 2", "tune.bufsize 2048",
                                   "nbthread 2"])
def test_bodies_in_each_way(proxy, web, extra):
    p = proxy(server(web.port), options=f"{HTTP}\n{BOTH}", extra=extra, log=False)
    total = crowd(p.port, 6, 4 if IS_SANITIZED else 8, mixed, seed=7)
    assert p.spliced() > total * 0.1


@only_tacit
@pytest.mark.parametrize("rule", ["pipe2:error=EMFILE:when=1+2", "splice:error=EINVAL:when=3+4", "splice:error=EINVAL",
                                  "splice:error=ENOMEM:when=2+3", "fcntl:error=EPERM", "splice:error=EINTR:when=2+3"],
                         ids=lambda r: r.replace(":error=", "-").replace(":when=", "-"))
def test_failing_call(proxy, web, rule):
    p = proxy(server(web.port), options=f"{HTTP}\n{BOTH}", extra=INJECTABLE, log=False)
    with Injected(p.pid, rule):
        c = Client(p.port, 3)
        for _ in range(4):
            c.ask(1500000, 1500000, slow=False)
        c.close()
    p.spliced()
    if "EINTR" not in rule:
        assert p.info()["Splice_fallbacks"] != "0"


@only_tacit
def test_connections_are_kept(proxy, web):
    """A body that was spliced ends exactly: both connections are kept."""
    p = proxy(server(web.port), options=f"{HTTP}\n{BOTH}", log=False)
    c = Client(p.port, 5)
    for size in (1 << 20, 10, 300000, 0, 70000):
        c.ask(size, size)
    assert web.connections == 1
    assert p.frontend("conn_tot") == "1"
    c.close()
    assert p.spliced() > 1 << 20


@only_tacit
def test_a_message_behind_a_body(proxy, web):
    """Two pipelined requests, the second after a long body."""
    p = proxy(server(web.port), options=f"{HTTP}\n{BOTH}", log=False)
    data = bytes(body_of(1, 500000))
    with socket.create_connection(("127.0.0.1", p.port), timeout=WAIT) as s, s.makefile("rb") as f:
        def send():
            s.sendall(b"POST /1/200000/length HTTP/1.1\r\nHost: a\r\nContent-Length: 500000\r\n\r\n" + data +
                      b"POST /2/300000/length HTTP/1.1\r\nHost: a\r\nContent-Length: 500000\r\n\r\n" + data)
        t = threading.Thread(target=send, daemon=True)
        t.start()
        for seed, size in ((1, 200000), (2, 300000)):
            head = b"".join(iter(f.readline, b"\r\n"))
            assert head.startswith(b"HTTP/1.1 200 OK")
            assert hashlib.sha256(data).hexdigest().encode() in head
            assert f.read(size) == bytes(body_of(seed, size))
        t.join(WAIT)
    assert p.spliced() > 1000000


@only_tacit
def test_a_tunnel(proxy, listener_of):
    """After an upgrade bytes are spliced in both directions."""
    def serve(conn):
        while not conn.recv(65536).endswith(b"\r\n\r\n"):
            pass
        conn.sendall(b"HTTP/1.1 101 OK\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n")
        while part := conn.recv(1 << 16):
            conn.sendall(part)
    p = proxy(server(listener_of(serve)), options=f"{HTTP}\n{BOTH}", log=False)
    data = bytes(body_of(3, 3000000))
    with socket.create_connection(("127.0.0.1", p.port), timeout=WAIT) as s, s.makefile("rb") as f:
        s.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n")
        assert b"".join(iter(f.readline, b"\r\n")).startswith(b"HTTP/1.1 101")
        t = threading.Thread(target=s.sendall, args=(data,), daemon=True)
        t.start()
        assert f.read(len(data)) == data
        t.join(WAIT)
        s.shutdown(socket.SHUT_WR)
        assert f.read(1) == b""
    assert p.spliced() > 1000000


@pytest.fixture
def listener_of():
    """Factory: a port at which serve(conn) runs for one connection."""
    made = []

    def start(serve):
        s = socket.socket()
        s.bind(("127.0.0.1", 0))
        s.listen(5)
        made.append(s)

        def run():
            conn, _ = s.accept()
            with conn:
                serve(conn)
        threading.Thread(target=run, daemon=True).start()
        return s.getsockname()[1]
    yield start
    for s in made:
        s.close()


@only_slow
def test_many_bodies(proxy, web):
    """BODIES of them, 20,000 by default."""
    n = int(os.environ.get("BODIES", 2000 if IS_SANITIZED else 20000))
    p = proxy(server(web.port), options=f"{HTTP}\n{BOTH}", log=False)
    total = 0
    for i in range(10):
        total += crowd(p.port, 20, max(1, n // 400), lambda rng: (
            int(2 ** (rng.random() * 18)), int(2 ** (rng.random() * 18)),
            rng.choice(["length"] * 6 + ["chunked", "close"])), seed=100 + i)
    got = p.spliced()
    print(total, got)
    assert got > total * 0.3
