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
 timeout connect 1m
 timeout client 1m
 timeout server 1m
 retries 1
"""
LISTEN = """listen {case}
 bind 127.0.0.1:{port}
 http-after-response set-header code "%[bc_err]"
 http-after-response set-header text "%[bc_err_str]"
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


# Timeouts that expire, in these cases only: nothing comes then.
LATE = {
    "late": " timeout connect 300ms\n",
    "TLS late": " timeout connect 300ms\n",
    "proxy late": " timeout connect 300ms\n",
    "response late": " timeout server 300ms\n",
}
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


@pytest.fixture(name="full", scope="module")
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


def section(case):
    """The section of this case, where {case} and {port} are not filled in yet, nor what a server needs."""
    server = CASES[case][1]
    return LISTEN + LATE.get(case, "") + (f" server s {server}\n" if server else "")


def ask(ports):
    """{case: the status and the two fields of the response}. All wait at the same time for their retries."""
    out = {}
    with contextlib.ExitStack() as stack:
        clients = {case: stack.enter_context(connect(port)) for case, port in ports.items()}
        for c in clients.values():
            c.sendall(b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        for case, c in clients.items():
            answer = recv_all(c).decode()
            out[case] = [answer.split()[1]] + re.findall(r"(?m)^(?:code|text): *(.*?)\r$", answer)
    return out


@pytest.fixture(name="found", scope="module")
def _found(tmp_path_factory, keys, full):
    """Answers of each program: one process has the sections of all cases."""
    found = {}
    with contextlib.ExitStack() as stack:
        origins = {}
        for case, (handle, _) in CASES.items():
            origins[case] = Origin(tls(keys / "own/server.pem") if handle is tls else handle or answers)
            stack.callback(origins[case].close)
        for name, program in oracle.PROGRAMS.items():
            closed, *ports = free_ports(1 + len(CASES))
            ports = dict(zip(CASES, ports))
            cfg = CFG + "".join(
                section(case).format(case=case.replace(" ", "_"), port=port, o=origins[case].port, c=closed, f=full, dir=keys)
                for case, port in ports.items())
            subject = oracle.Subject(program, tmp_path_factory.mktemp(name), cfg)
            try:
                found[name] = ask(ports)
            finally:
                subject.stop()
    return found


@pytest.mark.parametrize("case", CASES)
def test_error_of_a_server(found, case):
    theirs, ours = oracle.both(lambda answer_of: answer_of[case], found, script=CFG + section(case))
    assert ours == theirs
