"""Packet options of a connection in the kernel: its keep-alive, TOS and mark are the same through HAProxy and tacit."""

import contextlib
import ctypes
import os
import re
import socket
import subprocess

import oracle
import pytest
from conftest import TACIT, connect, free_port
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


def has_ipv6():
    with socket.socket(socket.AF_INET6) as s:
        try:
            s.bind(("::1", 0))
        except OSError:
            return False
    return True


IPV4_SECTIONS, IPV6_SECTIONS = [("tcp", "127.0.0.1", TCP), ("http", "127.0.0.1", HTTP)], [("http", "::1", IPV6)]
with_both = pytest.mark.parametrize("addresses", [
    pytest.param(IPV4_SECTIONS, id="IPv4"),
    pytest.param(IPV6_SECTIONS, id="IPv6", marks=pytest.mark.skipif(not has_ipv6(), reason="there is no IPv6"))])


def script(program, directory, origins, addresses, rename=lambda lines: lines):
    """The options seen while a client of each has got an answer; the name of a server's port is that of its section."""
    def answer(conn):
        while conn.recv(4096):
            conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    cfg = "defaults\n timeout connect 9s\n timeout client 60s\n timeout server 60s\n"
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
