"""balance-panic-threshold: when most servers fail their checks, all of them get sessions."""

import pytest
from conftest import Origin, connect, free_port, recv_all
from subject import LogServer, only_tacit

pytestmark = only_tacit

CFG = """
global
 log 127.0.0.1:{log} local0
defaults
 log global
 timeout connect 1m
 timeout client 1m
 timeout server 1m
 timeout check 1m
frontend f
 bind 127.0.0.1:{port}
 mode http
 acl panic be_panic(b) gt 0
 http-response set-header panic yes if panic
 default_backend b
backend b
 mode http
 option httpchk GET /check
 balance-panic-threshold 50
 default-server inter 50ms rise 1 fall 1
{servers}"""


class Farm:
    """Three servers: .sick answer checks with 503, but requests with their name."""

    def __init__(self):
        self.sick = set()
        self.origins = [Origin(lambda conn, i=i: self.serve(conn, i)) for i in range(3)]

    def serve(self, conn, i):
        if b"/check" in conn.recv(4096) and i in self.sick:
            conn.sendall(b"HTTP/1.1 503 Sick\r\nContent-Length: 0\r\n\r\n")
        else:
            conn.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n%d" % i)

    def lines(self):
        return "".join(f" server s{i} 127.0.0.1:{o.port} check\n" for i, o in enumerate(self.origins))

    def close(self):
        for origin in self.origins:
            origin.close()


@pytest.fixture
def farm():
    f = Farm()
    yield f
    f.close()


def ask(port):
    """(server, whether the backend is in panic)"""
    with connect(port) as s:
        s.sendall(b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        head, body = recv_all(s).split(b"\r\n\r\n")
    return body.decode(), b"panic: yes" in head


def test_panic(daemon, farm):
    log, port = LogServer(), free_port()
    d = daemon(cfg=CFG.format(log=log.port, port=port, servers=farm.lines()))

    def logs(text):
        return log.lines.until(lambda lines: any(text in line for line in lines), text)
    try:
        assert {ask(port) for _ in range(6)} == {("0", False), ("1", False), ("2", False)}
        farm.sick = {0, 1}
        assert logs("backend b enters panic: 1 of 3 servers usable, the threshold is 50%. Balancing over all of them.")
        assert {ask(port) for _ in range(6)} == {("0", True), ("1", True), ("2", True)}
        farm.sick = {0, 1, 2}
        assert logs("backend b has no server available!")
        assert {ask(port) for _ in range(6)} == {("0", True), ("1", True), ("2", True)}
        farm.sick = {0}
        assert logs("backend b leaves panic: 2 of 3 servers usable, the threshold is 50%. Balancing over the usable ones.")
        assert {ask(port) for _ in range(6)} == {("1", False), ("2", False)}
        assert d.info()["Fsm_bugs"] == "0"
    finally:
        log.close()
