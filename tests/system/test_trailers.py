"""`option http-drop-request-trailers` is one of the backend that a request goes to, `http-drop-response-trailers` one of the
frontend that it came by; those of a `listen` are no others'."""

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
