"""`option http-drop-request-trailers` is one of the backend that a request goes to, `http-drop-response-trailers` one of the
frontend that it came by; those of a `listen` are no others'."""

import h2_raw as raw
import pytest
from conftest import connect, free_ports
from subject import only_tacit

pytestmark = only_tacit
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Trailer: v\r\n\r\n"


def origin(seen):
    def answer(conn):
        got = b""
        while not got.endswith(b"\r\n\r\n") or b"\r\n0\r\n" not in got:
            got += conn.recv(4096)
        seen.append(got)
        conn.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n" + CHUNKED)
    return answer


@pytest.mark.parametrize("front, back, of_request, of_response", [
    ("plain", "plain", True, True), ("plain", "both", False, True), ("both", "plain", True, False), ("both", "both", False, False)])
def test_whose_trailers_are_dropped(daemon, origins, front, back, of_request, of_response):
    seen = []
    o = origins(origin(seen))
    ports = dict(zip(("plain", "both"), free_ports(2), strict=True))
    cfg = "defaults\n mode http\n timeout connect 1m\n timeout client 1m\n timeout server 1m\n"
    for name, port in ports.items():
        lines = " option http-drop-request-trailers\n option http-drop-response-trailers\n" if name == "both" else ""
        cfg += (f"listen {name}\n bind 127.0.0.1:{port}\n{lines} use_backend %[req.hdr(to)]\n"
                f" server s 127.0.0.1:{o.port}\n")
    d = daemon(cfg)
    with connect(ports[front]) as c:
        c.sendall(f"POST / HTTP/1.1\r\nHost: a\r\nTo: {back}\r\nConnection: close\r\n".encode() + CHUNKED)
        got = b""
        while more := c.recv(4096):
            got += more
    assert got.startswith(b"HTTP/1.1 200 ") and got.endswith(b"\r\n\r\n")
    assert (b"X-Trailer: v" in seen[0], b"X-Trailer: v" in got) == (of_request, of_response)
    assert d.stop() == 0


def h1_origin(trailers):
    text = b"".join(f"{name}: {value}\r\n".encode() for name, value in trailers)

    def answer(conn):
        got = b""
        while b"\r\n\r\n" not in got:
            got += conn.recv(4096)
        conn.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n" + text + b"\r\n")
        conn.recv(1)
    return answer


def h2_origin(trailers):
    def answer(conn):
        with raw.Server(conn) as s:
            n, _ = s.request()
            s.respond(n, body=b"a", end=False)
            s.send(raw.frame(raw.HEADERS, raw.END_HEADERS | raw.END_STREAM, n, raw.block(*trailers)))
            s.read()
    return answer


def trailers_over_h2(port):
    """The fields behind the body, or None: the stream was reset."""
    with raw.Client(port) as c:
        c.send(raw.request(1))
        while f := c.read():
            assert f[0] != raw.GOAWAY
            if f[0] == raw.RST_STREAM:
                return None
            if f[0] == raw.HEADERS:
                # A block in two frames.
                block = f[3] if f[1] & raw.END_HEADERS else f[3] + c.until(raw.CONTINUATION)
                fields = c.fields(block)
            if f[0] in (raw.HEADERS, raw.DATA) and f[1] & raw.END_STREAM:
                return fields if f[0] == raw.HEADERS else []
    return None


def trailers_over_h1(port):
    with connect(port) as c:
        c.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nTE: trailers\r\nConnection: TE, close\r\n\r\n")
        got = b""
        while more := c.recv(4096):
            got += more
    lines = got.partition(b"\r\n0\r\n")[2].decode().split("\r\n")
    assert lines[-2:] == ["", ""]
    return [tuple(line.split(": ")) for line in lines[:-2]]


@pytest.mark.parametrize("proto", ["h1", "h2"])
@pytest.mark.parametrize("trailers", [
    [("grpc-status", "13"), ("grpc-message", "m" * 3000), ("grpc-status-details-bin", "d" * 3000)],
    [("x", "y" * 15000)]], ids=["gRPC", "one"])
def test_long_trailers(daemon, origins, proto, trailers):
    """Trailers may be as long as a buffer: they arrive with all their bytes."""
    o = origins((h1_origin if proto == "h1" else h2_origin)(trailers))
    h1, h2 = free_ports(2)
    d = daemon("defaults\n mode http\n timeout connect 1m\n timeout client 1m\n timeout server 1m\n"
               f"listen f\n bind 127.0.0.1:{h1}\n bind 127.0.0.1:{h2} proto h2\n"
               f" server s 127.0.0.1:{o.port}{' proto h2' if proto == 'h2' else ''}\n")
    assert trailers_over_h2(h2) == trailers
    assert trailers_over_h1(h1) == trailers
    assert d.stop() == 0


def test_trailers_that_cannot_be_sent(daemon, origins):
    """A response whose trailers are too many is not taken for a complete one."""
    o = origins(h1_origin([(f"x{i}", "y") for i in range(400)]))
    port = free_ports(1)[0]
    d = daemon("defaults\n mode http\n timeout connect 1m\n timeout client 1m\n timeout server 1m\n"
               f"listen f\n bind 127.0.0.1:{port} proto h2\n server s 127.0.0.1:{o.port}\n")
    assert trailers_over_h2(port) is None
    assert d.stop() == 0
