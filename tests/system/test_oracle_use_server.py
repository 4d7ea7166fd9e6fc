"""Rules of persistence in mode tcp that inspect what the client has sent: HAProxy and tacit choose the same servers."""

import contextlib

import oracle
import pytest
from conftest import Origin, connect, free_ports, recv_all

CFG = """defaults
 mode tcp
 timeout connect 1m
 timeout client 1m
 timeout server 1m
frontend f
 bind 127.0.0.1:{port}
 {front}
 default_backend b
backend b
 {back}
 use-server two if {{ req.payload(0,1) -m str 2 }}
 use-server three if {{ path /three }}
 use-server %[req.payload(0,4)] if {{ req.payload(0,1) -m str f }}
 use-server two if {{ req.payload(0,1) -m str f }}
 server one 127.0.0.1:{one}
 server two 127.0.0.1:{two} weight 0
 server three 127.0.0.1:{three} weight 0
 server four 127.0.0.1:{four} weight 0
"""
WAITS = "tcp-request inspect-delay 1m\n tcp-request content accept if { req.len gt 3 }"
FIRST = [b"1 x\n", b"2 x\n", b"four", b"five", b"GET /three HTTP/1.1\r\nHost: h\r\n\r\n", b"GET /one HTTP/1.1\r\nHost: h\r\n\r\n"]


def answers(name):
    def handle(conn):
        got = b""
        while len(got) < 4:
            got += conn.recv(4000)
        conn.sendall(name.encode())
    return handle


@pytest.mark.parametrize("where", ["front", "back"])
def test_servers_by_the_first_bytes(tmp_path, where):
    port, = free_ports(1)
    with contextlib.ExitStack() as stack:
        servers = {}
        for name in ("one", "two", "three", "four"):
            origin = Origin(answers(name))
            stack.callback(origin.close)
            servers[name] = origin.port
        lines = {"front": "", "back": "", where: WAITS}

        def play(program):
            directory = oracle.at(tmp_path, program)
            directory.mkdir()
            subject = oracle.Subject(program, directory, CFG.format(port=port, **lines, **servers))
            found = {}
            try:
                for first in FIRST:
                    with connect(port) as c:
                        c.sendall(first)
                        found[first] = recv_all(c)
            finally:
                subject.stop()
            return found

        theirs, ours = oracle.both(play)
    assert ours == theirs
    assert set(theirs.values()) == {b"one", b"two", b"three", b"four"}
