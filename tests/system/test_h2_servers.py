"""Servers of HTTP/2 that refuse, leave, or lie: what is tried again, and what the client is told."""

import contextlib
import struct

import h2_raw as raw
import pytest
from conftest import connect, free_port, recv_all, rss_kib
from h2_raw import END_HEADERS, END_STREAM, HEADERS, block, frame
from subject import BUILD, LogServer, only_tacit
from test_h2 import HTTP

pytestmark = only_tacit

# Connections to servers are shared from their beginning on.
SHARED = HTTP.replace(" option http-server-close\n", " http-reuse always\n")


@pytest.fixture
def behind(daemon, origins):
    """A daemon in front of a server of HTTP/2, whose connections are handled by the functions in turn; the last one stays."""
    def make(*handles, extra="", http=HTTP, process=""):
        turn = []

        def handle(conn):
            turn.append(1)
            with raw.Server(conn, *handle.settings) as s:
                handles[min(len(turn), len(handles)) - 1](s)

        handle.settings = ()
        server = origins(handle)
        port = free_port()
        p = daemon(f"{http}frontend f\n bind 127.0.0.1:{port}\n default_backend b\n"
                   f"backend b\n{extra} server s 127.0.0.1:{server.port} proto h2 pool-purge-delay 100ms\n", extra=process)
        p.port, p.handle, p.turn = port, handle, turn
        return p

    return make


def goaway(last, code=raw.NO_ERROR):
    return frame(raw.GOAWAY, 0, 0, struct.pack("!II", last, code))


def serve(s):
    """Responds to every request."""
    while got := s.request():
        s.respond(got[0], ("content-length", "2"), body=b"ok")


def ask(p, method="POST"):
    """The status of one request of HTTP/1."""
    with connect(p.port) as s:
        s.sendall(f"{method} / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody".encode())
        return recv_all(s)


def refusing(code):
    def handle(s):
        n, _ = s.request()
        s.send(raw.rst(n, code))
        serve(s)

    return handle


def leaving(last):
    def handle(s):
        s.request()
        s.send(goaway(last))
        s.read()

    return handle


@pytest.mark.parametrize("first", [refusing(raw.REFUSED_STREAM), leaving(0)], ids=["refused", "goaway"])
def test_not_processed(behind, first):
    """A request that the server says it has not processed is sent again, whatever its method (RFC 9113, 8.7)."""
    p = behind(first, serve)
    assert ask(p).startswith(b"HTTP/1.1 200 ")


def refused_after(n, how):
    """The first request, when so many bytes of its body have come."""
    def handle(s):
        stream, _ = s.request()
        got = 0
        while got < n:
            kind, _, _, payload = s.read()
            got += len(payload) if kind == raw.DATA else 0
        s.send(raw.rst(stream, raw.REFUSED_STREAM) if how == "refused" else goaway(0))
        receive(s)

    return handle


def receive(s):
    """Responds to every request with the length of its body, when that is complete."""
    while got := s.request():
        n = 0
        while True:
            kind, flags, _, payload = s.read()
            if kind == raw.DATA:
                n += len(payload)
                s.send(raw.window_update(0, len(payload) or 1), raw.window_update(got[0], len(payload) or 1))
                if flags & END_STREAM:
                    break
        s.respond(got[0], body=b"%d bytes" % n)


@pytest.mark.parametrize("how", ["refused", "goaway"])
@pytest.mark.parametrize("first", [1, 12000])
@pytest.mark.parametrize("framing", ["length", "chunks"])
def test_refused_amid_a_body(behind, how, first, framing):
    """So is one that is still being received, as long as all that was sent of it is known; HAProxy responds with 502, or not at all."""
    p = behind(refused_after(first, how), receive)
    size = 100000
    with connect(p.port) as s:
        s.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n")
        if framing == "length":
            s.sendall(b"Content-Length: %d\r\n\r\n" % size + b"x" * first)
        else:
            s.sendall(b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % first + b"x" * first + b"\r\n")
        p.until("counter b/wretr eq 1")
        if framing == "length":
            s.sendall(b"x" * (size - first))
        else:
            s.sendall(b"%x\r\n" % (size - first) + b"x" * (size - first) + b"\r\n0\r\n\r\n")
        got = recv_all(s)
    assert got.startswith(b"HTTP/1.1 200 ") and b"%d bytes" % size in got


@pytest.mark.parametrize("how", ["refused", "goaway"])
def test_refused_behind_a_buffer(behind, how):
    """More was sent than a buffer has kept of it: the client has to repeat it."""
    p = behind(refused_after(40000, how), receive)
    with connect(p.port) as s:
        s.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\n" + b"x" * 40000)
        assert recv_all(s).startswith(b"HTTP/1.1 502 ")
    assert len(p.turn) == 1


@pytest.mark.parametrize("code", [raw.CANCEL, raw.INTERNAL_ERROR, raw.NO_ERROR, raw.ENHANCE_YOUR_CALM])
def test_reset_otherwise(behind, code):
    """Any other code does not say so: POST is not sent twice."""
    p = behind(refusing(code), serve)
    assert ask(p).startswith(b"HTTP/1.1 502 ")
    assert len(p.turn) == 1


def test_goaway_above_our_id(behind):
    """GOAWAY with our id: the stream is finished there; the next request has another connection."""
    def last_one(s):
        n, _ = s.request()
        s.send(goaway(n))
        s.respond(n, body=b"last")
        s.read()

    p = behind(last_one, serve)
    assert ask(p).endswith(b"last\r\n0\r\n\r\n")
    assert ask(p).endswith(b"ok")
    assert len(p.turn) == 2


def all_served(c, count):
    """Reads until so many responses are complete, each with status 200."""
    done = set()
    while len(done) < count:
        f = c.read()
        assert f and f[0] != raw.RST_STREAM
        if f[0] == HEADERS:
            assert dict(c.fields(f[3]))[":status"] == "200"
        if f[0] in (HEADERS, raw.DATA) and f[1] & END_STREAM:
            done.add(f[2])


def test_one_stream_at_a_time(behind):
    """A server that allows one stream: nothing fails, nothing is refused for ever."""
    p = behind(serve)
    p.handle.settings = ((3, 1),)
    with raw.Client(p.port) as c:
        c.send(*(raw.request(n) for n in range(1, 41, 2)))
        all_served(c, 20)


@pytest.mark.parametrize("streams", [(), ((3, 4),)], ids=["100 streams", "4 streams"])
def test_cold_burst(behind, streams):
    """With http-reuse always requests wait for the connection that the first one establishes, as in HAProxy."""
    p = behind(serve, http=SHARED)
    p.handle.settings = streams
    with raw.Client(p.port) as c:
        c.send(*(raw.request(n) for n in range(1, 41, 2)))
        all_served(c, 20)
    assert len(p.turn) == 1


def test_cold_burst_that_fails(daemon):
    """Nobody listens there: each of them fails as the one that has connected."""
    front, nobody = free_port(), free_port()
    daemon(f"{SHARED}frontend f\n bind 127.0.0.1:{front}\n default_backend b\n"
           f"backend b\n retries 1\n timeout connect 10ms\n server s 127.0.0.1:{nobody} proto h2\n")
    with raw.Client(front) as c:
        c.send(*(raw.request(n) for n in range(1, 41, 2)))
        statuses = []
        while len(statuses) < 20:
            f = c.read()
            if f[0] == HEADERS:
                statuses.append(dict(c.fields(f[3]))[":status"])
    assert statuses == ["503"] * 20


def test_refused_stays(behind):
    """A stream that is refused begins again on the same connection, which has room."""
    p = behind(refusing(raw.REFUSED_STREAM), http=SHARED)
    assert ask(p).startswith(b"HTTP/1.1 200 ")
    assert len(p.turn) == 1


def test_complete_then_closed(behind):
    """A server that closes right behind a response with a body: nothing of it is lost."""
    def short(s):
        n, _ = s.request()
        s.respond(n, body=b"x" * 16000, end=False)
        s.send(frame(raw.DATA, END_STREAM, n, b"y" * 16000))

    p = behind(short)
    for _ in range(20):
        assert ask(p).count(b"y") == 16000


def test_many_informational(behind):
    """1xx without end: the client is not kept up by them, and they are not kept."""

    def hints(s):
        n, _ = s.request()
        one = frame(HEADERS, END_HEADERS, n, block((":status", "103"), ("link", "x" * 1000)))
        for _ in range(300):
            s.send(one * 100)
        s.respond(n, body=b"end")
        serve(s)

    p = behind(hints)
    before = rss_kib(p.pid)
    with connect(p.port) as s:
        s.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        got = recv_all(s)
    assert got.count(b"HTTP/1.1 103") <= 30000 and b"HTTP/1.1 200 " in got
    # a sanitizer keeps what is freed
    assert BUILD.name in ("dev", "tsan") or rss_kib(p.pid) - before < 8192


RESPONSES = {
    "status 99": [(":status", "99")], "status 2000": [(":status", "2000")], "status 2x0": [(":status", "2x0")],
    "no status": [("x", "y")], "status twice": [(":status", "200"), (":status", "200")],
    "status last": [("x", "y"), (":status", "200")], "path": [(":status", "200"), (":path", "/")],
    "101": [(":status", "101")], "upper": [(":status", "200"), ("X-A", "b")],
    "CRLF in value": [(":status", "200"), ("x", "a\r\nSet-Cookie: b")], "LF in value": [(":status", "200"), ("x", "a\nb: c")],
    "NUL in value": [(":status", "200"), ("x", "a\0b")], "CR in name": [(":status", "200"), ("x\ra", "b")],
    "space in name": [(":status", "200"), ("x a", "b")], "colon in name": [(":status", "200"), ("x:a", "b")],
    "empty name": [(":status", "200"), ("", "b")],
    "transfer-encoding": [(":status", "200"), ("transfer-encoding", "chunked")],
    "connection": [(":status", "200"), ("connection", "close")], "keep-alive": [(":status", "200"), ("keep-alive", "x")],
    "upgrade": [(":status", "200"), ("upgrade", "h2c")], "two lengths": [(":status", "200"), ("content-length", "1"), ("content-length", "2")],
    "length -1": [(":status", "200"), ("content-length", "-1")], "length 4,4": [(":status", "200"), ("content-length", "4,4")],
    "length +4": [(":status", "200"), ("content-length", "+4")], "length of 30 digits": [(":status", "200"), ("content-length", "9" * 30)],
}


@pytest.mark.parametrize("name", RESPONSES)
def test_malformed_responses(behind, name):
    """None of them reaches a client: 502, and the connection to it has one response only."""
    def handle(s):
        n, _ = s.request()
        s.send(frame(HEADERS, END_HEADERS, n, block(*RESPONSES[name])), frame(raw.DATA, END_STREAM, n, b"abcd"))
        serve(s)

    p = behind(handle)
    got = ask(p, "GET")
    assert got.startswith(b"HTTP/1.1 502 ") and got.count(b"HTTP/1.1") == 1, got


@pytest.mark.parametrize(("length", "sent"), [("4", b"abc"), ("4", b"abcde"), ("0", b"x")])
def test_length_against_data(behind, length, sent):
    """content-length and DATA disagree: the client can see that the response is cut, and gets nothing behind it."""
    def handle(s):
        while got := s.request():
            if (":path", "/1") in got[1]:
                s.respond(got[0], ("content-length", length), end=False)
                s.send(frame(raw.DATA, END_STREAM, got[0], sent))
            else:
                s.respond(got[0], ("content-length", "2"), body=b"ok")

    p = behind(handle)
    with connect(p.port) as s:
        s.sendall(b"GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        got = b""
        # A reset tells the same.
        with contextlib.suppress(ConnectionResetError):
            while more := s.recv(65536):
                got += more
    head, _, body = got.partition(b"\r\n\r\n")
    if b" 502 " in head:
        return
    # With length 0 the first response is complete, and the second one follows.
    assert len(body) < int(length) or (length == "0" and (not body or body.startswith(b"HTTP/1.1 200")))


def test_late_end(behind):
    """A response that is complete by its length is not cancelled: END_STREAM may follow in another frame."""
    seen = []

    def handle(s):
        while f := s.read():
            seen.append(f[0])
            if f[0] == HEADERS:
                if f[2] > 1:
                    s.send(frame(raw.DATA, END_STREAM, f[2] - 2))
                s.respond(f[2], ("content-length", "2"), body=b"ok", end=False)

    # Each worker has a connection of its own.
    p = behind(handle, http=SHARED, process="nbthread 1")
    for _ in range(3):
        assert ask(p, "GET").endswith(b"\r\n\r\nok")
    assert p.stop() == 0
    assert seen.count(HEADERS) == 3 and raw.RST_STREAM not in seen
    assert len(p.turn) == 1


@pytest.mark.parametrize("end", [True, False])
@pytest.mark.parametrize("fields", [
    ((":status", "200"), ("X", "y")), ((":status", "200"), ("connection", "close")), (("x", "y"),), ((":status", "101"),),
    ((":status", "200"), ("content-length", "1"), ("content-length", "2")), ((":status", "200"), ("x", "y" * 16200))],
    ids=["upper case", "connection", "no status", "101", "lengths", "long"])
def test_malformed_head_is_logged(behind, fields, end):
    """A response whose head is invalid is one that is refused, as in HAProxy: 502 with PH."""
    log = LogServer()

    def handle(s):
        n, _ = s.request()
        s.send(frame(HEADERS, END_HEADERS | (END_STREAM if end else 0), n, block(*fields)))
        while s.read():
            pass

    p = behind(handle, http=f'{HTTP} log 127.0.0.1:{log.port} local0\n log-format "%ci/ [-] %ts %ST"\n')
    assert ask(p, "GET").startswith(b"HTTP/1.1 502 ")
    assert log.wait() == ["127.0.0.1/ [-] PH 502"]
    assert p.stop() == 0
    log.close()
