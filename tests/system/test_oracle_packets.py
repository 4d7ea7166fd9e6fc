"""Packet options of a connection in the kernel: its keep-alive, TOS and mark are the same through HAProxy and tacit."""

import contextlib
import ctypes
import os
import re
import socket
import subprocess

import oracle
import pytest
from conftest import TACIT, connect, free_port, has_ipv6
from oracle import Subject

PIDFD_GETFD = 438  # of every architecture
LIBC = ctypes.CDLL(None, use_errno=True)


def taken(pid):
    """Copies of the sockets that a process has."""
    pidfd = os.pidfd_open(pid)
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            fd = LIBC.syscall(PIDFD_GETFD, pidfd, int(name), 0)
            if fd < 0:
                continue
            try:
                sock = socket.socket(fileno=fd)
            except OSError:
                os.close(fd)
                continue
            with sock:
                yield sock
    finally:
        os.close(pidfd)


def may_take():
    """True if that is permitted, of another process."""
    with socket.socket() as s, subprocess.Popen(["sleep", "60"], pass_fds=[s.fileno()]) as p:
        try:
            return any(True for _ in taken(p.pid))
        finally:
            p.kill()


pytestmark = [pytest.mark.skipif(os.geteuid() != 0 or not may_take(), reason="needs root, and pidfd_getfd(2)")]

KEEP = [socket.TCP_KEEPCNT, socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL]


def options(s):
    alive = bool(s.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE))
    tos = (socket.IPPROTO_IPV6, socket.IPV6_TCLASS) if s.family == socket.AF_INET6 else (socket.SOL_IP, socket.IP_TOS)
    return {"tos": s.getsockopt(*tos), "mark": s.getsockopt(socket.SOL_SOCKET, 36),
            "keep": [s.getsockopt(socket.SOL_TCP, o) for o in KEEP] if alive else None}


def seen(pid, ports):
    """{(name, side): options}: of the connections of clients to these ports, and to those of servers."""
    out = {}
    for s in taken(pid):
        for side, end in (("client", s.getsockname), ("server", s.getpeername)):
            with contextlib.suppress(OSError, IndexError):
                s.getpeername()  # a listener has none
                if end()[1] in ports:
                    assert out.setdefault((ports[end()[1]], side), options(s)) == options(s)
    return out


# Sections: the values differ, so that none is another's.
TCP = {
    "nothing": "",
    "connection": "tcp-request connection set-tos 0x10",
    "session": "tcp-request session set-tos 20",
    "content": "tcp-request content set-tos 0x1c",
    "response": "tcp-response content set-tos 0x28",
    "other client": "tcp-request connection set-tos 0x30 if { src 127.9.9.9 }",
    "low bits": "tcp-request connection set-tos 0xff",
    "mark connection": "tcp-request connection set-mark 0x11",
    "mark session": "tcp-request session set-mark 4294967295",
    "mark content": "tcp-request content set-mark 3",
    "mark response": "tcp-response content set-mark 4",
    "values without keep-alive": "clitcpka-idle 700\n srvtcpka-idle 900",
    "keep client": "option clitcpka\n clitcpka-idle 700\n srvtcpka-idle 900",
    "keep both": "option tcpka\n clitcpka-idle 11m\n clitcpka-cnt 3\n clitcpka-intvl 70\n srvtcpka-idle 800500ms\n srvtcpka-cnt 4",
    "keep server": "option srvtcpka\n clitcpka-idle 700\n srvtcpka-idle 900\n srvtcpka-intvl 3",
    "beyond the kernel": "option tcpka\n clitcpka-idle 32768\n clitcpka-cnt 128\n srvtcpka-intvl 10h\n srvtcpka-idle 32767",
}
HTTP = {
    "request": "http-request set-tos 0x40 if { path / }\n http-request set-tos 0x44 if { path /other }",
    "answer": "http-response set-tos 0x48",
    "nice": "http-request set-nice 5\n http-response set-nice -5\n tcp-request content set-nice 5",
    "mark request": "http-request set-mark 5",
    "mark answer": "http-response set-mark 0xabCD",
}

# Cases of clients that come with IPv6.
IPV6 = {"request over IPv6": "http-request set-tos 0x54", "connection over IPv6": "tcp-request connection set-tos 0x5b"}


IPV4_SECTIONS, IPV6_SECTIONS = [("tcp", "127.0.0.1", TCP), ("http", "127.0.0.1", HTTP)], [("http", "::1", IPV6)]
with_both = pytest.mark.parametrize("addresses", [
    pytest.param(IPV4_SECTIONS, id="IPv4"),
    pytest.param(IPV6_SECTIONS, id="IPv6", marks=pytest.mark.skipif(not has_ipv6(), reason="there is no IPv6"))])


def script(program, directory, origins, addresses, rename=lambda lines: lines, length=2):
    """The options seen while a client of each has got an answer; the name of a server's port is that of its section."""
    def answer(conn):
        while conn.recv(4096):
            conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\nok" % length)
    cfg = "defaults\n timeout connect 1m\n timeout client 1m\n timeout server 1m\n"
    ports, clients = {}, []
    for mode, host, sections in addresses:
        for name, lines in sections.items():
            port, server = free_port(), origins(answer).port
            ports.update({port: name, server: name})
            clients.append((port, host))
            cfg += f"listen l{port}\n mode {mode}\n bind {host}:{port}\n {rename(lines)}\n server s 127.0.0.1:{server}\n"
    directory.mkdir()
    subject = Subject(program, directory, cfg)
    try:
        with contextlib.ExitStack() as stack:
            for at in clients:
                c = stack.enter_context(connect(*at))
                c.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                assert c.recv(4096).startswith(b"HTTP/1.1 200")
            return seen(subject.proc.pid, ports)
    finally:
        subject.stop()


@with_both
def test_connections_have_the_same_options(tmp_path, origins, addresses):
    want, got = oracle.both(lambda program: script(program, oracle.at(tmp_path, program), origins, addresses))
    assert len(want) == 2 * sum(len(sections) for _, _, sections in addresses)
    if addresses == IPV4_SECTIONS:
        assert want["content", "client"]["tos"] == 0x1c and want["mark answer", "client"]["mark"] == 0xabcd
        assert want["keep both", "client"]["keep"] == [3, 660, 70]
    assert got == want


@with_both
def test_newer_names_do_the_same(tmp_path, origins, addresses):
    """set-fc-tos and set-fc-mark are what HAProxy 3 calls them; the value may be an expression."""
    want = script(TACIT, tmp_path / "old", origins, addresses)
    assert script(TACIT, tmp_path / "new", origins, addresses, lambda t: t.replace(" set-", " set-fc-").replace("-fc-nice", "-nice")) == want
    assert script(TACIT, tmp_path / "sample", origins, addresses, lambda t: re.sub(
        r"(http-re[a-z]+) set-(tos|mark) (0x[0-9a-fA-F]+|\d+)",
        lambda m: f"{m[1]} set-fc-{m[2]} int({int(m[3], 0)}),add(0)", t)) == want


TO_SERVER = {
    "nothing": "",
    "tos": "http-request set-bc-tos 0x28",
    "mark": "http-request set-bc-mark 77",
    "sample": "http-request set-bc-mark int(70),add(8)\n http-request set-bc-tos int(32)",
    "other client": "http-request set-bc-tos 0x30 if { src 127.9.9.9 }",
    "content": "tcp-request content set-bc-tos 0x38",
}


def test_packets_to_servers(tmp_path, origins):
    """set-bc-tos and set-bc-mark, which HAProxy 2.6 does not have: they are those of the server's connection only, which ends
    with the response: here that is not complete."""
    got = script(TACIT, tmp_path / "a", origins, [("http", "127.0.0.1", TO_SERVER), ("tcp", "127.0.0.1", {
        "tcp": "tcp-request content set-bc-tos 0x18\n tcp-request content set-bc-mark 9"})], length=3)
    assert {name: (o["tos"], o["mark"]) for (name, side), o in got.items() if side == "server"} == {
        "nothing": (0, 0), "tos": (0x28, 0), "mark": (0, 77), "sample": (0x20, 78), "other client": (0, 0), "content": (0x38, 0),
        "tcp": (0x18, 9)}
    assert all((o["tos"], o["mark"]) == (0, 0) for (_, side), o in got.items() if side == "client")


def test_packets_to_a_mapped_server(daemon, origins):
    """An IPv6 socket that carries IPv4 sends what IP_TOS says."""
    def answer(conn):
        while conn.recv(4096):
            conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok")
    port, server = free_port(), origins(answer).port
    d = daemon("defaults\n mode http\n timeout connect 1m\n timeout client 1m\n timeout server 1m\n"
               f"listen l\n bind 127.0.0.1:{port}\n http-request set-bc-tos 0x28\n server s [::ffff:127.0.0.1]:{server}\n")
    with connect(port) as c:
        c.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert c.recv(4096).startswith(b"HTTP/1.1 200")
        found = [s.getsockopt(socket.SOL_IP, socket.IP_TOS) for s in taken(d.pid) if s.family == socket.AF_INET6]
    assert found == [0x28]
    assert d.stop() == 0


@pytest.mark.parametrize("proto", ["", "proto h2"])
def test_a_connection_with_packets_of_its_own_is_not_shared(daemon, origins, proto):
    """Each request with set-bc-tos opens one, which no other request gets; one without it gets none of these."""
    conns = []

    def answer(conn):
        conns.append(conn)
        while conn.recv(4096):
            conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n%d" % conns.index(conn))
    backend = f"server s 127.0.0.1:{origins(answer).port}"
    port, h2 = free_port(), free_port()
    if proto:
        backend = f"server s 127.0.0.1:{h2} proto h2\nlisten l\n mode http\n bind 127.0.0.1:{h2} proto h2\n http-request return status 200"
    d = daemon(f"defaults\n mode http\n timeout connect 1m\n timeout client 1m\n timeout server 1m\nfrontend f\n bind 127.0.0.1:{port}\n"
               f" http-request set-bc-tos 0x28 if {{ path /own }}\n default_backend b\nbackend b\n http-reuse always\n {backend}\n", extra="nbthread 1")

    def opened():
        return int(re.search(r"^b,s,.*", d.admin("show stat"), re.M)[0].split(",")[columns.index("connect")])

    columns = d.admin("show stat").splitlines()[0].lstrip("# ").split(",")
    for path, n in [("/", 1), ("/", 1), ("/own", 2), ("/own", 3), ("/", 3), ("/own", 4), ("/", 4)]:
        with connect(port) as c:
            c.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            got = c.recv(4096)
        assert got.startswith(b"HTTP/1.1 200") and opened() == n, path
        assert proto or int(got[-1:]) == (n - 1 if path == "/own" else 0), path
    assert d.stop() == 0


def test_packets_of_a_request_are_not_those_of_the_next(daemon, origins):
    """The session tracks something, so that its requests have one block of extras."""
    def answer(conn):
        while conn.recv(4096):
            conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
    port = free_port()
    d = daemon(f"defaults\n mode http\n timeout connect 1m\n timeout client 1m\n timeout server 1m\nfrontend f\n bind 127.0.0.1:{port}\n"
               " stick-table type ip size 9 store conn_cnt\n tcp-request connection track-sc0 src\n"
               " http-request set-bc-tos 0x28 if { path /own }\n default_backend b\nbackend b\n http-reuse always\n"
               f" server s 127.0.0.1:{origins(answer).port}\n")
    columns = d.admin("show stat").splitlines()[0].lstrip("# ").split(",")
    with connect(port) as c:
        for path, n in [("/", 1), ("/own", 2), ("/", 2), ("/own", 3), ("/", 3)]:
            c.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            assert c.recv(4096).startswith(b"HTTP/1.1 200")
            opened = int(re.search(r"^b,s,.*", d.admin("show stat"), re.M)[0].split(",")[columns.index("connect")])
            assert opened == n, path
    assert d.stop() == 0
