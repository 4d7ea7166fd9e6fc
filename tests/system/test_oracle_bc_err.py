"""bc_err and bc_err_str: what HAProxy and tacit report of a server that cannot be reached."""

import contextlib
import re
import socket
import ssl
import struct

import oracle
import pytest
from certs import Authority
from conftest import Origin, connect, free_ports, recv_all

CFG = """defaults
 mode http
 timeout connect 300ms
 timeout client 60s
 timeout server 600ms
 retries 1
listen l
 bind 127.0.0.1:{port}
 http-after-response set-header code "%[bc_err]"
 http-after-response set-header text "%[bc_err_str]"
{server}
"""
GOOD = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


def answers(conn):
    while conn.recv(4000):
        conn.sendall(GOOD)


def is_silent(conn):
    while conn.recv(4000):
        pass


def closes(conn):
    conn.recv(4000)


def resets(conn):
    conn.recv(4000)
    conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def replies(text):
    def handle(conn):
        conn.recv(4000)
        conn.sendall(text)
        is_silent(conn)
    return handle


def tls(pem):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)

    def handle(conn):
        with contextlib.suppress(ssl.SSLError):
            answers(context.wrap_socket(conn, server_side=True))
    return handle


# Server, or None: of which {o} is the port; {c} is closed, {f} does not accept, {u} is a socket of a server that has gone.
CASES = {
    "good": (answers, "127.0.0.1:{o}"),
    "no server": (None, None),
    "refused": (None, "127.0.0.1:{c}"),
    "late": (None, "127.0.0.1:{f}"),
    "no unix socket": (None, "unix@{dir}/none"),
    "unix socket refuses": (None, "unix@{dir}/dead"),
    "source is not here": (answers, "127.0.0.1:{o} source 192.0.2.1"),
    "source is taken": (answers, "127.0.0.1:{o} source 127.0.0.1:{f}"),
    "certificate of a stranger": (tls, "127.0.0.1:{o} ssl verify required ca-file {dir}/other/ca.pem"),
    "certificate for another sni": (tls, "127.0.0.1:{o} ssl verify required ca-file {dir}/own/ca.pem sni str(bad.lan)"),
    "certificate for another name": (tls, "127.0.0.1:{o} ssl verify required ca-file {dir}/own/ca.pem verifyhost bad.lan"),
    "certificate is right": (tls, "127.0.0.1:{o} ssl verify required ca-file {dir}/own/ca.pem verifyhost good.lan"),
    "no TLS": (replies(b"220 hello\r\n" * 20), "127.0.0.1:{o} ssl verify none"),
    "TLS closed": (closes, "127.0.0.1:{o} ssl verify none"),
    "TLS reset": (resets, "127.0.0.1:{o} ssl verify none"),
    "TLS alert": (replies(b"\x15\3\3\0\2\2\x28"), "127.0.0.1:{o} ssl verify none"),
    "TLS late": (is_silent, "127.0.0.1:{o} ssl verify none"),
    "TLS refused": (None, "127.0.0.1:{c} ssl verify none"),
    "proxy denies": (replies(b"\0\x5b" + bytes(6)), "127.0.0.1:{c} socks4 127.0.0.1:{o}"),
    "proxy closes": (closes, "127.0.0.1:{c} socks4 127.0.0.1:{o}"),
    "proxy resets": (resets, "127.0.0.1:{c} socks4 127.0.0.1:{o}"),
    "proxy late": (is_silent, "127.0.0.1:{c} socks4 127.0.0.1:{o}"),
    "proxy refuses": (None, "127.0.0.1:{c} socks4 127.0.0.1:{c}"),
    "response closed": (closes, "127.0.0.1:{o}"),
    "response late": (is_silent, "127.0.0.1:{o}"),
}


@pytest.fixture(name="keys", scope="module")
def _keys(tmp_path_factory):
    """A directory with two authorities, and a certificate of the first, for good.lan."""
    directory = tmp_path_factory.mktemp("keys")
    Authority(directory / "other")
    Authority(directory / "own").make("server.pem", "good.lan", ["good.lan"])
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(str(directory / "dead"))
    return directory


@pytest.fixture(name="full")
def _full():
    """The port of a listener with no room."""
    with contextlib.ExitStack() as stack:
        s = stack.enter_context(socket.socket())
        s.bind(("127.0.0.1", 0))
        s.listen(0)
        for _ in range(4):
            c = stack.enter_context(socket.socket())
            c.setblocking(False)
            c.connect_ex(s.getsockname())
        yield s.getsockname()[1]


@pytest.mark.parametrize("case", CASES)
def test_error_of_a_server(tmp_path, keys, full, case):
    handle, server = CASES[case]
    port, closed = free_ports(2)
    origin = Origin(tls(keys / "own/server.pem") if handle is tls else handle or answers)
    line = f" server s {server}\n".format(o=origin.port, c=closed, f=full, dir=keys) if server else ""

    def play(program):
        directory = oracle.at(tmp_path, program)
        directory.mkdir()
        subject = oracle.Subject(program, directory, CFG.format(port=port, server=line))
        try:
            with connect(port) as c:
                c.sendall(b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
                answer = recv_all(c).decode()
            return [answer.split()[1]] + re.findall(r"(?m)^(?:code|text): *(.*?)\r$", answer)
        finally:
            subject.stop()

    theirs, ours = oracle.both(play)
    origin.close()
    assert ours == theirs
