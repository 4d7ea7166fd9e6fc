"""Rules that end an HTTP/2 connection with all its streams: HAProxy and tacit do it alike."""

import struct
import threading

import h2_raw as raw
import oracle
import pytest
from conftest import Origin, free_ports
from facts import LIMIT
from oracle import Subject

RULES = {
    "reject": "http-request reject if { path /a }",
    "content": "tcp-request content reject if { path /a }",
    "silent": "http-request silent-drop if { path /a }",
    "content silent": "tcp-request content silent-drop if { path /a }",
    "response silent": "http-response silent-drop if { status 201 }",
    "after": "http-request silent-drop if { path /a } !{ path /a }\n http-request deny if { path /a }",
}


# The origin has answered.
answered = threading.Event()


def held(conn):
    """Answers /a only: 201."""
    got = b""
    while b"\r\n\r\n" not in got:
        got += conn.recv(4096)
    if got.startswith(b"GET /a "):
        conn.sendall(b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
        answered.set()
    while conn.recv(4096):
        pass


def ends(subject, name, port):
    """The code of the last GOAWAY, or None, and how the connection has ended for a client with a request that is not answered
    and one for /a: "pong": it goes on."""
    code = None
    with raw.Client(port) as c:
        answered.clear()
        c.send(raw.request(1, path="/held"), raw.request(3, path="/a"))
        assert "response" not in name or answered.wait(LIMIT)
        subject.settle()
        try:
            c.send(raw.ping(b"the end!"))
            while f := c.read():
                if f[0] == raw.GOAWAY:
                    code = struct.unpack("!I", f[3][4:8])[0]
                if f[0] == raw.PING and f[1] & raw.ACK:
                    return code, "pong"
        except OSError:
            pass
        return code, "closed"


def script(program, directory, port):
    ports = dict(zip(RULES, free_ports(len(RULES)), strict=True))
    cfg = "defaults\n mode http\n timeout connect 1m\n timeout client 1m\n timeout server 1m\n"
    for name, rule in RULES.items():
        cfg += f"listen {name.replace(' ', '_')}\n bind 127.0.0.1:{ports[name]} proto h2\n {rule}\n server s 127.0.0.1:{port}\n"
    directory.mkdir()
    subject = Subject(program, directory, cfg)
    try:
        return {name: ends(subject, name, port) for name, port in ports.items()}
    finally:
        subject.stop()


@pytest.fixture
def origin():
    o = Origin(held)
    yield o
    o.close()


def test_rules_end_the_connection(tmp_path, origin):
    want, got = oracle.both(lambda program: script(program, oracle.at(tmp_path, program), origin.port))
    assert {name for name, (_, end) in want.items() if end == "closed"} == set(RULES) - {"after"}
    assert oracle.differences(want, got) == []
