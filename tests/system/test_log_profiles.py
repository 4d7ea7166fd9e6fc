"""Log profiles: each target of `log` has its own lines; do-log and log-steps write more of them."""

import re

import pytest
from conftest import WORKERS, connect, free_ports, recv_all, run
from subject import LogServer

PAGE = b"HTTP/1.1 200 OK\r\nX-B: b\r\nContent-Length: 2\r\n\r\nok"

GLOBAL = """
    log 127.0.0.1:{a} format rfc5424 profile full local0
    log ring@mem profile brief local1
"""

CONFIG = """
log-profile full
    log-tag custom
    on error format "error of %ci"
    on any format "%OG %f %ts" sd "[x@1 b=\\"%b\\"]"

log-profile brief
    log-tag unused
    on error drop
    on close format "%f closed"

ring mem
    format raw

frontend web
    mode http
    bind 127.0.0.1:{web}
    log global
    log 127.0.0.1:{b} format raw local2
    log-tag own
    log-format "%f %OG %ST"
    error-log-format "bad %OG %ST"
    http-request deny if {{ path /deny }}
    default_backend pages

backend pages
    mode http
    server s 127.0.0.1:{page}

listen tcp
    bind 127.0.0.1:{tcp}
    log global
    log 127.0.0.1:{b} format raw local2
    log-format "%f %OG %B"
    server s 127.0.0.1:{echo}
"""

RULES = """
log-profile p
    on tcp-req-conn format "%OG %ci"
    on tcp-req-cont drop
    on http-req format "%OG %[req.hdr(x-a)] %[path]"
    on http-res format "%OG %ST %[res.hdr(x-b)]"
    on close drop

frontend web
    mode http
    bind 127.0.0.1:{web}
    log 127.0.0.1:{a} format short profile p local0
    log-format "%OG of %f"
    tcp-request connection do-log
    tcp-request session do-log
    tcp-request content do-log
    http-request set-log-level err if {{ path /err }}
    http-request do-log
    http-request set-log-level silent if {{ path /silent }}
    http-response do-log
    http-after-response do-log
    default_backend pages

backend pages
    mode http
    tcp-response content do-log
    server s 127.0.0.1:{page}
"""

STEPS = """
defaults
    log 127.0.0.1:{a} format raw local0
    log-format "%f %OG"
    timeout connect 1m
    timeout client 1m
    timeout server 1m

frontend web
    mode http
    bind 127.0.0.1:{web}
    log-steps all
    default_backend pages

backend pages
    mode http
    server s 127.0.0.1:{page}

listen tcp
    bind 127.0.0.1:{tcp}
    log-steps accept,connect,request,response
    server s 127.0.0.1:{echo}

log-profile closing
    on close format "%f %OG of its own"

frontend quiet
    bind 127.0.0.1:{quiet}
    no log
    log 127.0.0.1:{a} format raw profile closing local0
    tcp-request content accept
    default_backend echo

backend echo
    server s 127.0.0.1:{echo}
"""


def pages(conn):
    """Answers each request on the connection."""
    data = b""
    while piece := conn.recv(65536):
        data += piece
        while b"\r\n\r\n" in data:
            data = data.split(b"\r\n\r\n", 1)[1]
            conn.sendall(PAGE)


def get(port, *paths):
    """Requests on one connection, one after the other; the last one closes it."""
    with connect(port) as c:
        for path in paths[:-1]:
            c.sendall(f"GET {path} HTTP/1.1\r\nHost: h\r\nX-A: a\r\n\r\n".encode())
            got = b""
            while not got.endswith(b"ok"):
                got += (part := c.recv(65536))
                assert part, got
        c.sendall(f"GET {paths[-1]} HTTP/1.1\r\nHost: h\r\nX-A: a\r\nConnection: close\r\n\r\n".encode())
        return recv_all(c)


def exchange(port):
    with connect(port) as c:
        c.sendall(b"abc")
        assert c.recv(3) == b"abc"


def garbage(port):
    with connect(port) as c:
        c.sendall(b"no request\r\n\r\n")
        recv_all(c)


@pytest.fixture
def start(daemon, origins):
    """Factory: a daemon with these sections, its ports, and two syslog servers a and b."""
    servers = []

    def make(cfg, extra=""):
        a, b = LogServer(), LogServer()
        servers.extend([a, b])
        names = dict(zip(("web", "tcp", "quiet"), free_ports(3)))
        names.update(a=a.port, b=b.port, page=origins(pages).port, echo=origins().port)
        d = daemon(cfg.format(**names), extra=extra.format(**names))
        # each worker opens a target with its first line
        d.base.update({-n: "a target" for n in range(1, 2 * WORKERS + 1)})
        return d, names, a, b

    yield make
    for s in servers:
        s.close()


def lines_of(server, n):
    """Its lines when there are n, and no more than these."""
    server.lines.wait(n)
    return server.drain()


def test_each_target_has_its_own_lines(start):
    d, ports, a, b = start(CONFIG, GLOBAL)
    a.drain()
    a.lines.clear()
    assert get(ports["web"], "/a").endswith(b"ok")
    assert lines_of(b, 1) == ["web close 200"]
    assert b" 403 " in get(ports["web"], "/deny")
    lines_of(b, 2)
    garbage(ports["web"])
    lines_of(b, 3)
    exchange(ports["tcp"])
    assert lines_of(b, 4) == ["web close 200", "web close 403", "bad error 400", "tcp close 3"]
    assert [re.sub(r"^<134>1 \S+ (\S+) custom \d+ - ", r"\1 ", line) for line in lines_of(a, 4)] == [
        '- [x@1 b="pages"] close web --',
        '- [x@1 b="web"] close web PR',
        "- - error of 127.0.0.1",
        '- [x@1 b="tcp"] close tcp --']

    def events():
        return [line for line in d.admin("show events mem").splitlines() if line.startswith(("web ", "tcp ", "bad "))]
    d.until("idle")
    assert events() == ["web closed"] * 2 + ["tcp closed"]


def test_messages_of_the_process_have_the_tag(start):
    d, _, a, b = start(CONFIG, GLOBAL)
    d.admin("disable frontend web")
    d.admin("shutdown frontend web")
    assert any(" custom " in line and "web" in line for line in lines_of(a, 1))
    assert all("web" in line for line in lines_of(b, 1))


def test_rules_write_lines_of_their_step(start):
    _, ports, a, _ = start(RULES)
    get(ports["web"], "/one", "/err")
    assert lines_of(a, 10) == [
        "<6>tcp-req-conn 127.0.0.1", "<6>tcp-req-sess of web",
        "<6>http-req a /one", "<6>tcp-res-cont of web", "<6>http-res 200 b", "<6>http-after-res of web",
        # of the level that a rule before them has set
        "<3>http-req a /err", "<3>tcp-res-cont of web", "<3>http-res 200 b", "<3>http-after-res of web"]
    a.lines.clear()
    get(ports["web"], "/silent")
    assert lines_of(a, 3) == ["<6>tcp-req-conn 127.0.0.1", "<6>tcp-req-sess of web", "<6>http-req a /silent"]


def test_steps_are_written_one_by_one(start):
    _, ports, a, _ = start(STEPS)
    get(ports["web"], "/", "/")
    once = ["web request", "web connect", "web response", "web close"]
    assert lines_of(a, 9) == ["web accept", *once, *once]
    a.lines.clear()
    # what a request is not is known at once; the client is told of it afterwards
    garbage(ports["web"])
    assert lines_of(a, 2) == ["web accept", "web error"]
    a.lines.clear()
    # in mode tcp there are no requests; close is not named
    exchange(ports["tcp"])
    assert lines_of(a, 2) == ["tcp accept", "tcp connect"]
    a.lines.clear()
    exchange(ports["quiet"])
    assert lines_of(a, 1) == ["quiet close of its own"]


def test_errors_name_the_place(tmp_path):
    cfg = tmp_path / "bad.cfg"
    cfg.write_text("log-profile access\n    on close format \"%HM\"\n"
                   "listen l\n    bind 127.0.0.1:1\n    log stdout profile acess user\n"
                   "    log stdout profile access user\n")
    done = run("-c", "-f", str(cfg))
    assert done.returncode == 1
    assert "bad.cfg:5:24] : 'log' : there is no section 'log-profile acess'; did you mean 'access'?" in done.stderr
    assert "bad.cfg:2:21] : log-profile 'access' : 'on close format' does not fit proxy 'l' : " in done.stderr
