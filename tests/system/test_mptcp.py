"""Addresses with the prefix mptcp@: Multipath TCP on either side, with one and several workers."""

import contextlib
import socket

import pytest
from clients import get, site
from conftest import WAIT, connect, free_port, free_ports, recv_all
from test_master import MASTER, change, reload

MPTCP = 262


def mptcp_socket():
    return socket.socket(socket.AF_INET, socket.SOCK_STREAM, MPTCP)


def has_mptcp():
    try:
        mptcp_socket().close()
    except OSError:
        return False
    return True


def uses_mptcp(s):
    """TCP_IS_MPTCP (43): 1 if the peer talks MPTCP too; not after a fallback to TCP."""
    return s.getsockopt(socket.IPPROTO_TCP, 43) == 1


pytestmark = pytest.mark.skipif(not has_mptcp(), reason="the kernel has no MPTCP")


class Server:
    """An MPTCP listener: the connections that it has accepted, and whether they are MPTCP."""

    def __init__(self):
        self.sock = mptcp_socket()
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.sock.bind(("127.0.0.1", 0))
        self.sock.listen(50)
        self.sock.settimeout(WAIT)
        self.port = self.sock.getsockname()[1]

    def accept(self):
        s, _ = self.sock.accept()
        s.settimeout(WAIT)
        return s


def accept_request(server):
    """The next connection that is not a health check, which uses TCP, and what it begins with."""
    while True:
        s, got = server.accept(), b""
        with contextlib.suppress(ConnectionResetError):
            while b"\r\n\r\n" not in got and (part := s.recv(4096)):
                got += part
        if b"GET" in got:
            return s, got
        assert not uses_mptcp(s)
        s.close()


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("mode", ["tcp", "http"])
def test_both_sides(daemon, mode, workers):
    server = Server()
    ports = free_ports(2)
    daemon(f"defaults\n mode {mode}\n timeout connect 1m\n timeout client 1m\n timeout server 1m\n option tcp-smart-connect\n"
           f"listen l\n bind mptcp@127.0.0.1:{ports[0]} shards by-thread\n bind 127.0.0.1:{ports[1]}\n"
           f" server s mptcp4@127.0.0.1:{server.port} check inter 500 send-proxy\n",
           extra=f"nbthread {workers}", checked=False)
    body = b"x" * 300000
    for port, is_client in ((ports[0], True), (ports[1], False), (ports[0], True)):
        with mptcp_socket() as c:
            c.settimeout(WAIT)
            c.connect(("127.0.0.1", port))
            assert uses_mptcp(c) == is_client
            c.sendall(b"GET / HTTP/1.0\r\n\r\n")
            s, got = accept_request(server)
            assert got.startswith(b"PROXY TCP4 127.0.0.1 ")
            assert uses_mptcp(s)
            s.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + body)
            s.close()
            assert recv_all(c).endswith(body)
    server.sock.close()


def test_a_client_of_tcp_is_served(daemon):
    """MPTCP falls back by itself."""
    server = socket.create_server(("127.0.0.1", 0))
    port, = free_ports(1)
    daemon(f"defaults\n timeout connect 1m\n timeout client 1m\n timeout server 1m\n"
           f"listen l\n bind mptcp@127.0.0.1:{port}\n server s mptcp@127.0.0.1:{server.getsockname()[1]}\n", checked=False)
    with connect(port) as c:
        c.sendall(b"hi")
        s, _ = server.accept()
        assert s.recv(10) == b"hi"
        s.sendall(b"ho")
        s.close()
        assert recv_all(c) == b"ho"
    server.close()


def test_a_reload_changes_the_protocol(daemon):
    port = free_port()
    d = daemon(site(port), mode=MASTER)
    for old, new in (("", "mptcp@"), ("mptcp@", ""), ("", "mptcp@")):
        change(d, f"bind {old}127", f"bind {new}127")
        assert reload(d), d.stderr
        with mptcp_socket() as c:
            c.settimeout(WAIT)
            c.connect(("127.0.0.1", port))
            assert uses_mptcp(c) == bool(new)
        assert get(port) == "one"
    d.base = d.fds()
