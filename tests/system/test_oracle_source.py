"""`source ... usesrc`: servers see the same clients through HAProxy and tacit."""

import os
import socket
import threading
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import facts
import oracle
import pytest
from conftest import WAIT, free_port
from oracle import Subject


def may_be_transparent():
    with socket.socket() as s:
        try:
            s.setsockopt(socket.SOL_IP, 19, 1)  # IP_TRANSPARENT
        except OSError:
            return False
    return True


pytestmark = [pytest.mark.skipif(os.geteuid() != 0 or not may_be_transparent(), reason="needs CAP_NET_ADMIN")]

SOURCES = {
    "self": "source 127.0.0.50",
    "client": "source 0.0.0.0 usesrc client",
    "clientip": "source 127.0.0.50 usesrc clientip",
    "fixed": "source 0.0.0.0 usesrc 127.0.0.60",
    "device": "source 0.0.0.0 interface lo usesrc clientip",
    "last": "source 0.0.0.0 usesrc hdr_ip(x-for)",
    "first": "source 0.0.0.0 usesrc hdr_ip(X-For,1)",
    "second": "source 0.0.0.0 usesrc hdr_ip(X-For,-2)",
    "off": "source 127.0.0.50 usesrc hdr_ip(X-For,0)",
    "set": "source 0.0.0.0 usesrc clientip\n http-request set-src hdr(x-src)",
}


class Reply(BaseHTTPRequestHandler):
    """Answers with the address of its client."""
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Peer", "%s:%d" % self.client_address)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


class Origin(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *args):
        """A proxy may reset an idle connection."""


@pytest.fixture
def origin_port():
    server = Origin(("127.0.0.1", 0), Reply)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


def client(address, port):
    """Its port may be bound by the proxy, too."""
    c = HTTPConnection("127.0.0.1", port, timeout=WAIT)
    c.sock = socket.socket()
    c.sock.settimeout(WAIT)
    c.sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    c.sock.bind((address, 0))
    c.sock.connect(("127.0.0.1", port))
    return c


def peers(port, name):
    """The addresses that the server sees of two clients that take turns on their connections."""
    clients = [client(a, port) for a in ("127.0.0.7", "127.0.0.8")]
    seen = []
    for turn in range(4):
        c = clients[turn % 2]
        c.request("GET", "/" + name, headers={"X-For": "127.0.0.9, 127.0.1.%d" % turn, "x-fOR": "127.0.2.%d" % (turn // 2),
                                              "X-Src": "127.0.3.%d" % (turn // 2)})
        r = c.getresponse()
        r.read()
        ip, _, peer_port = r.headers.get("Peer", "status %d" % r.status).partition(":")
        seen.append((ip, name == "client" and peer_port == str(c.sock.getsockname()[1])))
    for c in clients:
        c.close()
    return seen


def script(program, directory, origin_port):
    port = free_port()
    cfg = "defaults\n mode http\n http-reuse always\n timeout connect 1m\n timeout client 1m\n timeout server 1m\n"
    cfg += f"frontend fe\n bind 127.0.0.1:{port}\n use_backend %[path,field(2,/)]\n"
    for name, source in SOURCES.items():
        cfg += f"backend {name}\n {source}\n server s 127.0.0.1:{origin_port}\n"
    directory.mkdir()
    subject = Subject(program, directory, cfg)
    try:
        facts.listens(port)
        return {name: peers(port, name) for name in SOURCES}
    finally:
        subject.stop()


def test_servers_see_the_same_clients(tmp_path, origin_port):
    want, got = oracle.both(lambda program: script(program, oracle.at(tmp_path, program), origin_port))
    assert want["client"] == [("127.0.0.7", True), ("127.0.0.8", True)] * 2
    assert want["clientip"] == [("127.0.0.7", False), ("127.0.0.8", False)] * 2
    # HAProxy answers 500 where the manual says that the feature is disabled.
    assert got.pop("off") == [("127.0.0.50", False)] * 4 and want.pop("off")
    assert got == want
