"""Fetches about connections of HTTP/2: glitches, streams and codes of resets; and which side aborts a stream, with any protocol."""

import contextlib
import csv
import socket
import struct

import h2_raw as raw
import pytest
from conftest import connect, free_port, recv_all
from subject import LogServer, only_tacit
from test_h2 import HTTP
from test_h2_servers import behind, serve  # noqa: F401

pytestmark = only_tacit

FRONT = "%[fc_glitches] %[fc_nb_streams] %[fc_settings_streams_limit] %[sc0_glitch_cnt]"
RULES = (" stick-table type ip size 10 expire 1m store glitch_cnt,glitch_rate(1m)\n tcp-request session track-sc0 src\n"
         f' http-request return status 200 content-type text/plain lf-string "{FRONT}" if {{ path /front }}\n')


@pytest.fixture
def front(daemon):
    """A frontend whose path /front shows the fetches; its bind line has these options."""
    def make(options="", rules=""):
        port = free_port()
        p = daemon(f"{HTTP}frontend f\n bind 127.0.0.1:{port} {options}\n{RULES}{rules} default_backend b\nbackend b\n"
                   f" server s 127.0.0.1:{free_port()}\n", extra=" tune.h2.max-concurrent-streams 33\n")
        p.port = port
        return p
    return make


def seen(c, stream):
    c.send(raw.request(stream, path="/front"))
    return c.response(stream)[1].decode().split()


def test_client_of_h2(front):
    p = front()
    with raw.Client(p.port) as c:
        assert seen(c, 1) == ["0", "1", "33", "0"]
        # Streams that wait for the rest of their requests.
        c.send(*(raw.request(n, method="POST", end=False, path="/x") for n in (3, 5)))
        c.send(raw.frame(raw.HEADERS, raw.END_HEADERS | raw.END_STREAM, 7, raw.block(*raw.GET, ("X", "y"))))
        c.answers_ping()
        assert seen(c, 9)[0] == "1"
        assert seen(c, 11)[3] == "1"
    # The tracked entry stays, and the next connection has no glitches.
    with raw.Client(p.port) as c:
        assert seen(c, 1) == ["0", "1", "33", "1"]


def test_client_of_h1(front):
    p = front()
    with connect(p.port) as s:
        s.sendall(b"GET /front HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        assert recv_all(s).split(b"\r\n\r\n")[1].split() == [b"0", b"1", b"1", b"0"]


BACK = " http-response set-header x-back \"%[bc_glitches] %[bc_nb_streams] %[bc_settings_streams_limit]\"\n"


def test_server_of_h2(behind):  # noqa: F811
    p = behind(serve, extra=BACK)
    p.handle.settings = ((3, 7),)
    with raw.Client(p.port) as c:
        c.send(raw.request(1))
        head = dict(c.fields(c.until(raw.HEADERS, 1)))
    assert head["x-back"] == "0 0 7"


def test_codes_of_resets(daemon, origins):
    """The log line has the code of each side's RST_STREAM, if there was one."""
    def handle(conn):
        with raw.Server(conn) as s:
            while got := s.request():
                if dict(got[1])[":path"] == "/reset":
                    s.send(raw.rst(got[0], raw.ENHANCE_YOUR_CALM))

    log, port = LogServer(), free_port()
    daemon(f"{HTTP}frontend f\n bind 127.0.0.1:{port}\n log 127.0.0.1:{log.port} local0\n"
           ' log-format "codes %HP %[fs.rst_code] %[bs.rst_code]"\n default_backend b\n'
           f"backend b\n retries 0\n server s 127.0.0.1:{origins(handle).port} proto h2 pool-purge-delay 100ms\n")
    try:
        with raw.Client(port) as c:
            c.send(raw.request(1, path="/reset"))
            assert c.response(1)[0] == 502
            c.send(raw.request(3, path="/wait"))
            c.answers_ping()
            c.send(raw.rst(3, raw.CANCEL))
            c.answers_ping()
        lines = log.lines.until(lambda lines: len([x for x in lines if "codes" in x]) == 2, "two lines")
        assert [x.split("codes ")[1] for x in log.lines if "codes" in x] == ["http://a.test/reset - 11", "http://a.test/wait 8 -"], lines
    finally:
        log.close()


def ends(s, how):
    """A connection of HTTP/1 that ends with a reset or with a FIN."""
    if how == "reset":
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


ABORTS = {  # path: [which side has given up, the termination code]
    "/ok": ["0 0", "--"], "/server-resets": ["0 1", "SH"], "/server-leaves": ["0 1", "SH"], "/server-cuts": ["0 1", "SD"],
    "/client-resets": ["1 0", "CD"], "/nobody": ["0 0", "SC"], "/denied": ["0 0", "PR"]}


@pytest.mark.parametrize("client", ["h1", "h2"])
@pytest.mark.parametrize("server", ["h1", "h2"])
def test_aborted(daemon, origins, client, server):
    """The side that ends a stream before its end, whatever either of them speaks."""
    def handle_h1(conn):
        path, asked = "", b""
        while b"\r\n\r\n" not in asked:
            more = conn.recv(4096)
            if not more:
                return
            asked += more
        path = asked.split()[1].decode()
        if path == "/ok":
            conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        elif path == "/server-cuts":
            conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc")
        elif path == "/server-resets":
            ends(conn, "reset")
        elif path == "/client-resets":
            conn.recv(1)

    def handle_h2(conn):
        with raw.Server(conn) as s:
            while got := s.request():
                path = dict(got[1])[":path"]
                if path == "/ok":
                    s.respond(got[0], body=b"ok")
                elif path == "/server-cuts":
                    s.respond(got[0], ("content-length", "5"), body=b"abc", end=False)
                    s.answers_ping()
                    s.send(raw.rst(got[0], raw.CANCEL))
                elif path == "/server-resets":
                    s.send(raw.rst(got[0], raw.INTERNAL_ERROR))
                elif path == "/server-leaves":
                    return

    log, port = LogServer(), free_port()
    to = origins(handle_h1 if server == "h1" else handle_h2).port
    p = daemon(f"{HTTP}frontend f\n bind 127.0.0.1:{port}\n log 127.0.0.1:{log.port} local0\n"
               ' log-format "aborted %HPO %[fs.aborted] %[bs.aborted] %ts"\n http-request deny if { path /denied }\n'
               " use_backend nobody if { path /nobody }\n default_backend b\n"
               f"backend nobody\n retries 0\n server s 127.0.0.1:{free_port()}\n"
               f"backend b\n retries 0\n option abortonclose\n server s 127.0.0.1:{to} {'proto h2' if server == 'h2' else ''} pool-purge-delay 100ms\n")
    try:
        for path in ABORTS:
            if client == "h1":
                with connect(port) as s:
                    s.sendall(f"GET {path} HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n".encode())
                    if path == "/client-resets":
                        p.until("counter b/scur eq 1")
                        ends(s, "reset")
                    else:
                        # A reset follows what is truncated.
                        with contextlib.suppress(ConnectionResetError):
                            recv_all(s)
            else:
                with raw.Client(port) as c:
                    c.send(raw.request(1, path=path))
                    if path == "/client-resets":
                        c.answers_ping()
                        c.send(raw.rst(1))
                        c.answers_ping()
                    else:
                        c.response(1)
        lines = log.lines.until(lambda lines: len([x for x in lines if "aborted" in x]) == len(ABORTS), "a line for each")
    finally:
        log.close()
    seen = {words[0].removeprefix("http://a.test"): [" ".join(words[1:3]), words[3]]
            for words in (x.split("aborted ")[1].split() for x in lines if "aborted" in x)}
    assert seen == ABORTS


def test_bytes_of_h1(behind):  # noqa: F811
    """Columns of HTTP/1 count no bytes of streams."""
    p = behind(serve)
    with raw.Client(p.port) as c:
        c.send(raw.request(1, ("content-length", "5"), method="POST", end=False), raw.frame(raw.DATA, raw.END_STREAM, 1, b"hello"))
        assert c.response(1) == (200, b"ok")
        rows = list(csv.DictReader(p.admin("show stat").removeprefix("# ").splitlines()))
    counted = {(row["pxname"], row["svname"]): (row["h1_bytes_in"], row["h1_bytes_out"]) for row in rows}
    assert counted["f", "FRONTEND"] == counted["b", "BACKEND"] == ("0", "0"), counted
