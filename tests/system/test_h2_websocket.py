"""WebSocket and other tunnels over HTTP/2 (RFC 8441, RFC 9113 8.5), to and from HTTP/1."""

import base64
import hashlib

import h2_raw as raw
import pytest
from conftest import connect, free_port, recv_all
from h2_raw import DATA, END_HEADERS, END_STREAM, HEADERS, SETTINGS, block, frame
from subject import only_tacit
from test_h2 import HTTP

pytestmark = only_tacit

WEBSOCKET = ((":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "http"), (":authority", "a.test"), (":path", "/chat"),
             ("sec-websocket-version", "13"), ("origin", "http://a.test"))


def head_from(conn):
    """The head that arrives, and what is behind it."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = conn.recv(65536)
        assert more
        data += more
    head, rest = data.split(b"\r\n\r\n", 1)
    return head + b"\r\n\r\n", rest


class Echo:
    """Handles a connection of an HTTP/1 server that agrees to each Upgrade, then sends back what it receives."""

    def __init__(self, answer=None):
        self.heads, self.ended = [], []
        self.answer = answer

    def __call__(self, conn):
        head, rest = head_from(conn)
        self.heads.append(raw.head_of(head))
        key = dict(self.heads[-1][1]).get(b"sec-websocket-key", b"")
        conn.sendall(self.answer or b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                     b"Sec-WebSocket-Accept: " + accept_of(key) + b"\r\n\r\n")
        if self.answer and not self.answer.startswith(b"HTTP/1.1 2"):
            return
        while rest or (rest := conn.recv(65536)):
            conn.sendall(rest)
            rest = b""
        self.ended.append(True)


def rest_of(c):
    """The bytes of stream 1 up to its end."""
    body, flags = b"", 0
    while not flags & END_STREAM:
        kind, flags, stream, payload = c.read()
        assert (kind, stream) == (DATA, 1) or kind in (SETTINGS, raw.WINDOW_UPDATE, raw.PING)
        flags, body = (flags, body + payload) if kind == DATA else (0, body)
    return body


def accept_of(key):
    return base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())


@pytest.fixture
def tunnel(daemon, origins):
    """A frontend in front of a server of HTTP/1, or of HTTP/2."""
    def make(handle, proto="", rules="", extra=""):
        server = origins(handle)
        port = free_port()
        p = daemon(f"{HTTP}frontend f\n bind 127.0.0.1:{port}\n{rules} default_backend b\n"
                   f"backend b\n server s 127.0.0.1:{server.port} {proto} pool-purge-delay 100ms\n", extra=extra)
        p.port, p.origin = port, server
        return p

    return make


def test_setting(tunnel):
    """The server says that it takes extended CONNECT."""
    p = tunnel(Echo())
    with raw.Client(p.port) as c:
        assert b"\0\x08\0\0\0\1" in c.until(SETTINGS)


def test_to_http1(tunnel):
    """An extended CONNECT is an Upgrade at the server; 101 is 200; bytes pass both ways, and the end of each."""
    echo = Echo()
    p = tunnel(echo)
    with raw.Client(p.port) as c:
        c.send(frame(HEADERS, END_HEADERS, 1, block(*WEBSOCKET)))
        fields = dict(c.fields(c.until(HEADERS, 1)))
        assert fields[":status"] == "200"
        assert "upgrade" not in fields and "connection" not in fields and "sec-websocket-accept" not in fields
        for text in (b"hello", b"x" * 16000):
            c.send(frame(DATA, 0, 1, text))
            got = b""
            while len(got) < len(text):
                got += c.until(DATA, 1)
            assert got == text
        line, fields = echo.heads[0]
        assert line == b"GET /chat HTTP/1.1"
        fields = dict(fields)
        assert fields[b"upgrade"] == b"websocket" and b"upgrade" in fields[b"connection"].lower()
        assert fields[b"host"] == b"a.test" and len(fields[b"sec-websocket-key"]) == 24
        assert b"transfer-encoding" not in fields and b"content-length" not in fields
        c.send(frame(DATA, END_STREAM, 1, b"bye"))
        assert rest_of(c) == b"bye"


@pytest.mark.parametrize("head", [WEBSOCKET, ((":method", "CONNECT"), (":authority", "a.test:80"))], ids=["websocket", "connect"])
def test_ended_at_once(tunnel, head):
    """END_STREAM of the head is the client's end of the tunnel (RFC 9113, 8.5): the server sees it, and may still send."""
    def handle(conn):
        request = raw.head_of(head_from(conn)[0])
        key = dict(request[1]).get(b"sec-websocket-key", b"")
        conn.sendall(b"HTTP/1.1 101 Go\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + accept_of(key) +
                     b"\r\n\r\n" if key else b"HTTP/1.1 200 OK\r\n\r\n")
        conn.sendall(b"ended" if conn.recv(1) == b"" else b"not ended")

    p = tunnel(handle)
    with raw.Client(p.port) as c:
        c.send(frame(HEADERS, END_HEADERS | END_STREAM, 1, block(*head)))
        assert dict(c.fields(c.until(HEADERS, 1)))[":status"] == "200"
        assert rest_of(c) == b"ended"


def test_refused(tunnel):
    """A server that does not agree."""
    p = tunnel(Echo(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"))
    with raw.Client(p.port) as c:
        c.send(frame(HEADERS, END_HEADERS, 1, block(*WEBSOCKET)), frame(HEADERS, END_HEADERS | END_STREAM, 3, block(*WEBSOCKET)))
        statuses = {}
        # Either response may be the first, and the second block may refer to fields of the first one.
        while len(statuses) < 2:
            kind, _, stream, payload = c.read()
            if kind == HEADERS:
                statuses[stream] = dict(c.fields(payload))[":status"]
        assert statuses == {1: "403", 3: "403"}


@pytest.mark.parametrize("answer", [b"Sec-WebSocket-Accept: aGVsbG8gaGVsbG8gaGVsbG8gaGU=\r\n", b""], ids=["wrong", "none"])
def test_wrong_accept(tunnel, answer):
    """A server of HTTP/1 that does not answer the key which was made for the client: only tacit can find that out."""
    p = tunnel(Echo(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" + answer + b"\r\n"))
    with raw.Client(p.port) as c:
        c.send(frame(HEADERS, END_HEADERS, 1, block(*WEBSOCKET)))
        assert dict(c.fields(c.until(HEADERS, 1)))[":status"] == "502"


@pytest.mark.parametrize("protocol", ["h2c", "h2", "HTTP/1.1", "", "web socket", "a\r\nb"])
def test_other_protocols(tunnel, protocol):
    echo = Echo()
    p = tunnel(echo)
    fields = [(n, protocol if n == ":protocol" else v) for n, v in WEBSOCKET]
    with raw.Client(p.port) as c:
        c.send(frame(HEADERS, END_HEADERS, 1, block(*fields)))
        assert c.outcome() == ("rst", raw.PROTOCOL_ERROR)
    assert not echo.heads


def test_connect(tunnel):
    """An ordinary CONNECT, as over HTTP/1."""
    echo = Echo(b"HTTP/1.1 200 OK\r\n\r\n")
    p = tunnel(echo)
    with raw.Client(p.port) as c:
        c.send(frame(HEADERS, END_HEADERS, 1, block((":method", "CONNECT"), (":authority", "a.test:443"))))
        assert dict(c.fields(c.until(HEADERS, 1))) .get(":status") == "200"
        c.send(frame(DATA, END_STREAM, 1, b"hello"))
        assert rest_of(c) == b"hello"
    assert echo.heads[0][0] == b"CONNECT a.test:443 HTTP/1.1"


def test_trailers_of_a_tunnel(tunnel):
    """Only DATA may follow: trailers are no bytes of it (RFC 9113, 8.5)."""
    p = tunnel(Echo())
    with raw.Client(p.port) as c:
        c.send(frame(HEADERS, END_HEADERS, 1, block(*WEBSOCKET)))
        c.until(HEADERS, 1)
        c.send(frame(DATA, 0, 1, b"hello") + frame(HEADERS, END_HEADERS | END_STREAM, 1, block(("x-a", "b"))))
        got = []
        while not got or got[-1][0] not in (raw.RST_STREAM, HEADERS) and not got[-1][1] & END_STREAM:
            got.append(c.read())
        assert got[-1][0] == raw.RST_STREAM and got[-1][3] == b"\0\0\0\1"
        assert b"x-a" not in b"".join(f[3] for f in got if f[0] == DATA)


def test_h2c_is_not_followed(tunnel):
    """Upgrade: h2c of a client of HTTP/1 is neither followed nor forwarded."""
    echo = Echo(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    p = tunnel(echo)
    with connect(p.port) as s:
        s.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nConnection: Upgrade, HTTP2-Settings, close\r\n\r\n")
        s.shutdown(1)
        assert recv_all(s).startswith(b"HTTP/1.1 200 OK\r\n")
    names = [n for n, _ in echo.heads[0][1]]
    assert b"upgrade" not in names and b"http2-settings" not in names


def of_http2(*pairs):
    """Handles a connection of an HTTP/2 server: responds to each request, then sends back its bytes."""

    def handle(conn):
        s = raw.Server(conn, *pairs)
        got = s.request()
        if got is None:
            return
        n, fields = got
        handle.requests.append(fields)
        s.respond(n, end=False)
        while f := s.read():
            if f[0] == DATA and f[2] == n:
                s.send(frame(DATA, f[1] & END_STREAM, n, f[3]))
                if f[1] & END_STREAM:
                    return

    handle.requests = []
    return handle


def test_http1_to_http2(tunnel):
    """A client's Upgrade is an extended CONNECT at a server of HTTP/2, also on its first connection: SETTINGS are waited for."""
    handle = of_http2((4, 65535), (8, 1))
    p = tunnel(handle, "proto h2")
    with connect(p.port) as s:
        s.sendall(b"GET /chat HTTP/1.1\r\nHost: a.test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                  b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
        head, rest = head_from(s)
        line, fields = raw.head_of(head)
        assert line.startswith(b"HTTP/1.1 101 ")
        assert dict(fields)[b"sec-websocket-accept"] == b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
        s.sendall(b"hello")
        while len(rest) < 5:
            rest += s.recv(100)
        assert rest == b"hello"
        s.shutdown(1)
        assert recv_all(s) == b""
    fields = dict(handle.requests[0])
    assert fields[":method"] == "CONNECT" and fields[":protocol"] == "websocket" and fields[":path"] == "/chat"
    assert "sec-websocket-key" not in fields and "upgrade" not in fields


def test_server_without_extended(tunnel):
    """A server of HTTP/2 that does not take extended CONNECT: 502."""
    p = tunnel(of_http2(), "proto h2")
    with connect(p.port) as s:
        s.sendall(b"GET /chat HTTP/1.1\r\nHost: a.test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                  b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
        s.shutdown(1)
        assert recv_all(s).startswith(b"HTTP/1.1 502 ")


def test_http2_on_both_sides(tunnel):
    handle = of_http2((8, 1))
    p = tunnel(handle, "proto h2")
    with raw.Client(p.port) as c:
        c.send(frame(HEADERS, END_HEADERS, 1, block(*WEBSOCKET)))
        assert dict(c.fields(c.until(HEADERS, 1)))[":status"] == "200"
        c.send(frame(DATA, END_STREAM, 1, b"hello"))
        assert c.until(DATA, 1) == b"hello"
    assert dict(handle.requests[0])[":protocol"] == "websocket"
