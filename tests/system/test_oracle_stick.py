"""Stick rules: HAProxy and tacit get the same requests and commands; which server answers, and what `show table` has in the end,
is compared."""

import re

import oracle
import pytest
from conftest import Origin, connect, free_ports
from oracle import Subject
from test_oracle_http_options import read_head
from test_oracle_tracked import CFG, ask


def server(name):
    """A server that says its name, and gives clients without a cookie one."""
    def serve(conn):
        head = buf = b""
        while True:
            head, buf = read_head(conn, buf)
            if not head or b"GET /close" in head:
                return
            if b"GET /silent" in head:
                conn.recv(1)
                return
            status = b"500" if b"GET /500" in head else b"200"
            cookie = b"" if b"sid=" in head or b"GET /none" in head else b"Set-Cookie: sid=%s1\r\n" % name
            conn.sendall(b"HTTP/1.1 %s X\r\nX-Server: %s\r\n%sContent-Length: 0\r\n\r\n" % (status, name, cookie))
    return serve


def echo_server(name):
    """Mode tcp: says its name when something has come."""
    def serve(conn):
        while conn.recv(100):
            conn.sendall(name + b"\n")
    return serve


LISTEN = "listen l\n bind 127.0.0.1:{p0}\n balance roundrobin\n"
SERVERS = " server a 127.0.0.1:{a}\n server b 127.0.0.1:{b}\n"
TABLE = " stick-table type string len 20 size 100\n"
ON = " stick on req.hdr(x-k)\n"
K1, K2 = "/ X-K: 1", "/ X-K: 2"
# Requests are paths with a field, or commands.
CASES = {
    "on": (LISTEN + TABLE + ON + SERVERS, [K1, K1, K2, K1, K2, "/", "/"]),
    "without a response": (LISTEN + TABLE + " http-request set-timeout server 100ms if {{ path /silent }}\n" + ON + SERVERS,
                           ["/silent X-K: 1", "/close X-K: 2", "/500 X-K: 3", K1, K2]),
    "backup": (LISTEN + TABLE + ON + " server a 127.0.0.1:{a} backup\n", [K1]),
    "non-stick": (LISTEN + TABLE + ON + " server a 127.0.0.1:{a} non-stick\n", [K1]),
    "default non-stick": (LISTEN + TABLE + ON + " default-server non-stick\n server a 127.0.0.1:{a} stick\n server b 127.0.0.1:{b}\n",
                          [K1, K2]),
    "of a response": (LISTEN + TABLE + " stick store-response res.cook(sid)\n stick match req.cook(sid)\n" + SERVERS,
                      ["/", "/", "/none Cookie: sid=a1", "/none Cookie: sid=b1", "/none Cookie: sid=b1", "/none Cookie: sid=zz"]),
    "down": (LISTEN + TABLE + ON + SERVERS, [K1, "!disable server l/a", K1, K1, "!enable server l/a", K1]),
    "persist": (LISTEN + TABLE + " option persist\n" + ON + SERVERS, [K1, "!set server l/a state maint", K1]),
    "drain": (LISTEN + TABLE + ON + SERVERS, [K1, "!set server l/a state drain", K1, K2]),
    "cookie first": (LISTEN + TABLE + " cookie SRV insert\n" + ON + " server a 127.0.0.1:{a} cookie a\n server b 127.0.0.1:{b} cookie b\n",
                     [K1, "/ X-K: 1\r\nCookie: SRV=b", K1]),
    "one key of each table": (LISTEN + TABLE + " stick store-request req.hdr(x-k)\n stick store-request req.hdr(x-j)\n"
                              " stick store-request req.hdr(x-l) table t\n" + SERVERS + "backend t\n" + TABLE,
                              ["/ X-K: 1\r\nX-J: 2\r\nX-L: 3", "/ X-J: 2"]),
    "ignore-persist": (LISTEN + TABLE + " ignore-persist if {{ path /i }}\n" + ON + SERVERS, [K1, "/i X-K: 1", "/i X-K: 1", K1]),
    "on after a store": (LISTEN + TABLE + " stick store-request req.hdr(x-j)\n" + ON + SERVERS,
                         [K1, K1, "/ X-K: 1\r\nX-J: 2", "/ X-K: 1\r\nX-J: 2", K1]),
    "use-server": (LISTEN + TABLE + " use-server b if {{ path /b }}\n" + ON + SERVERS, [K1, "/b X-K: 1", K1]),
    "srvkey addr": (LISTEN + " stick-table type string len 20 size 100 srvkey addr\n" + ON + SERVERS, [K1, K1, K2, K2]),
    "other data": (LISTEN + " stick-table type string len 20 size 100 store conn_cnt,gpc0\n" + ON + SERVERS, [K1, K1]),
    "a condition": (LISTEN + TABLE + " stick on req.hdr(x-k) if {{ path /c }}\n" + SERVERS, [K1, K1, "/c X-K: 1", "/c X-K: 1", K1]),
    "redispatch": (LISTEN + TABLE + ON + " option redispatch\n retries 1\n server a 127.0.0.1:1\n server b 127.0.0.1:{b}\n", [K1, K1]),
    # The time to connect is also the pause before another attempt. Refused or late, the answer is 503.
    "refused": (LISTEN + TABLE + ON + " retries 1\n timeout connect 100ms\n server a 127.0.0.1:1\n", [K1]),
    "first match": (LISTEN + TABLE + " stick match req.hdr(x-j)\n" + ON + SERVERS, [K1, K2, "/ X-K: 2\r\nX-J: 1", K2]),
    "by address": (LISTEN + " stick-table type ip size 100\n stick on src\n" + SERVERS, ["/", "/", "/"]),
    "integer": (LISTEN + " stick-table type integer size 100\n stick on req.hdr(x-k)\n" + SERVERS, [K1, K1, K2, "/ X-K: 1"]),
}
TCP = "listen l\n mode tcp\n bind 127.0.0.1:{p0}\n balance roundrobin\n"
TCP_CASES = {
    "src": (TCP + " stick-table type ip size 100\n stick on src\n" + SERVERS, ["x", "y"]),
    "payload": (TCP + " tcp-request inspect-delay 1m\n tcp-request content accept if {{ req.len ge 1 }}\n"
                " stick-table type string len 5 size 100\n stick on req.payload(0,1)\n" + SERVERS, ["x", "y", "x", "y"]),
    # HAProxy needs rules that wait for the bytes.
    "response": (TCP + " tcp-response inspect-delay 1m\n tcp-response content accept if {{ res.len ge 1 }}\n stick-table type string len 5 size 100\n stick store-response res.payload(0,1)\n" +
                 SERVERS, ["x", "y", "x"]),
}


def table(subject, name):
    rows = subject.admin(f"show table {name}").strip().split("\n")[1:]
    return sorted(re.sub(r"^0x\w+: | (exp|shard)=\d+", "", row) for row in rows)


def request(port, text):
    path, _, field = text.partition(" ")
    more = field + "\r\n" if field else ""
    with connect(port) as c:
        return ask(c, f"GET {path} HTTP/1.1\r\nHost: h\r\n{more}Connection: close\r\n\r\n".encode())


def said(port, text):
    with connect(port) as c:
        c.sendall(text.encode())
        return c.recv(2).decode()


def played(program, directory, cfg, lines, make, one):
    directory.mkdir(parents=True)
    servers, port = [Origin(make(n)) for n in (b"a", b"b")], free_ports(1)[0]
    subject = Subject(program, directory, (CFG + cfg).format(p0=port, a=servers[0].port, b=servers[1].port))
    try:
        seen = [subject.admin(line[1:]).strip() if line.startswith("!") else one(port, line) for line in lines]
        subject.settle()
        return seen, [table(subject, t) for t in ("lt" if "backend t" in cfg else "l")]
    finally:
        subject.stop()
        for s in servers:
            s.close()


@pytest.mark.parametrize("case", CASES)
def test_stick(case, tmp_path):
    oracle.same(lambda program: played(program, oracle.at(tmp_path, program), *CASES[case], server, request))


@pytest.mark.parametrize("case", TCP_CASES)
def test_stick_of_tcp(case, tmp_path):
    oracle.same(lambda program: played(program, oracle.at(tmp_path, program), *TCP_CASES[case], echo_server, said))
