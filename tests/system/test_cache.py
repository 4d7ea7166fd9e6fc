"""Caches: what is stored and served, as HAProxy does it and where tacit stores less; reloads; no stale, foreign or cut object."""

import contextlib
import os
import random
import re
import signal
import socket
import subprocess
import threading

import oracle
import pytest
from certs import Authority
from conftest import WAIT, Origin, free_port, free_ports
from facts import Seen, only_child
from oracle import Subject
from subject import SLOW, LogServer
from test_compression import recv_cut
from test_conf_played import read_head
from test_master import MASTER, reload, worker_of

FRESH = "Cache-Control: max-age=20\r\n"
# A response that is still fresh after a reload of 20 s.
LASTING = "Cache-Control: max-age=2000\r\n"
VALID = 'ETag: "a"\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n' + FRESH
CHUNKED = "Transfer-Encoding: chunked\r\n"

CFG = """
defaults
    mode http
    timeout client 1m
    timeout connect 1m
    timeout server 1m
cache small
    total-max-size 1
    max-age 30
listen web
    bind 127.0.0.1:{port}
    http-request cache-use small
    http-response cache-store small
    http-response set-header X-Hit %[res.cache_hit]
    http-after-response set-header X-Name <%[res.cache_name]>
    server s 127.0.0.1:{origin}
"""


class Pages:
    """An origin that sends the same answer to each request, and counts them."""

    def __init__(self):
        self.answer, self.requests = b"", 0

    def __call__(self, conn):
        if read_head(conn) is None:
            return
        self.requests += 1
        conn.sendall(self.answer)


def response(fields, body=b"abc", status="200 OK", version="1.1", framing=None):
    framing = f"Content-Length: {len(body)}\r\n" if framing is None else framing
    if framing == CHUNKED:
        body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    return f"HTTP/{version} {status}\r\n{fields}{framing}Connection: close\r\n\r\n".encode() + body


def ask(port, path, method="GET", version="1.1", fields="", host="x", body=b""):
    """Status, fields (lower case) and the rest."""
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT) as s:
        s.sendall(f"{method} {path} HTTP/{version}\r\nHost: {host}\r\n{fields}Connection: close\r\n\r\n".encode() + body)
        head, _, rest = recv_cut(s).partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    return int(first.split()[1]), sorted(line.partition(": ")[0].lower() + ": " + line.partition(": ")[2] for line in lines), rest


# Fields of a response that may be stored or not.
RESPONSES = [
    "", FRESH, 'ETag: "a"\r\n', "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n", "Cache-Control: s-maxage=10\r\n",
    "Cache-Control: s-maxage=0, max-age=10\r\n", "Cache-Control: max-age=0\r\n", "Cache-Control: max-age=0, s-maxage=10\r\n",
    "Cache-Control: no-store, max-age=10\r\n", "Cache-Control: private, max-age=10\r\n", "Cache-Control: no-cache, max-age=10\r\n",
    'Cache-Control: private="x", max-age=10\r\n', 'Cache-Control: no-cache="x", max-age=10\r\n',
    "Cache-Control: must-revalidate, max-age=10\r\n", "Cache-Control: public\r\n", "Cache-Control: public, max-age=10\r\n",
    'Cache-Control: max-age="10"\r\n', "Cache-Control: MAX-AGE=10\r\n", "Cache-Control: max-age = 10\r\n",
    "Cache-Control: max-age=abc\r\n", "Cache-Control: max-age=-1\r\n", "Cache-Control: max-age=99999999999\r\n",
    "Cache-Control: max-age=10x\r\n", "Cache-Control: max-age=0, max-age=10\r\n", "Cache-Control: max-age=10, max-age=0\r\n",
    "Cache-Control: public\r\nCache-Control: max-age=10\r\n", "Pragma: no-cache\r\n" + FRESH, 'Pragma: no-cache\r\nETag: "a"\r\n',
    "Expires: Wed, 06 Nov 2094 08:49:37 GMT\r\n", "Expires: Sun, 06 Nov 1994 08:49:37 GMT\r\n",
    'Expires: Sun, 06 Nov 1994 08:49:37 GMT\r\nETag: "a"\r\n', "Expires: 0\r\n", "Expires: 0\r\n" + FRESH, "Age: 5\r\n" + FRESH,
    "Age: 25\r\n" + FRESH, "Age: 20\r\n" + FRESH, "Age: x\r\n" + FRESH, "Age: -5\r\n" + FRESH, 'Age: 5\r\nETag: "a"\r\n',
    "Set-Cookie: a=b\r\n" + FRESH, 'Set-Cookie: a=b\r\nCache-Control: no-cache="set-cookie", max-age=10\r\n',
    "Set-Cookie: a=b\r\nCache-Control: public, max-age=10\r\n", "Vary: Accept-Encoding\r\n" + FRESH, "Vary: *\r\n" + FRESH]
STORED_LESS = {
    'Cache-Control: private="x", max-age=10\r\n', 'Cache-Control: no-cache="x", max-age=10\r\n', "Cache-Control: max-age=10x\r\n",
    "Age: 20\r\n" + FRESH, "Set-Cookie: a=b\r\n" + FRESH, "close", "body"}
MESSAGES = {
    "chunked": response(FRESH, framing=CHUNKED), "close": response(FRESH, framing=""), "old": response(FRESH, version="1.0"),
    "empty": response(FRESH, b""), "large": response(FRESH, b"x" * 5000), "large chunked": response(FRESH, b"x" * 5000, framing=CHUNKED),
    **{str(n): response(FRESH, status=f"{n} X") for n in (201, 203, 206, 300, 301, 302, 404, 410, 501)}}
AUTH = "Authorization: Basic x\r\n"
BODY = {"fields": "Content-Length: 2\r\n", "body": b"ab"}
# Two requests: the response to the first may be the answer to the second.
REQUESTS = {
    "auth": ({"fields": AUTH}, {}), "to auth": ({}, {"fields": AUTH}), "old": ({"version": "1.0"}, {}), "to old": ({}, {"version": "1.0"}),
    "to HEAD": ({}, {"method": "HEAD"}), "HEAD": ({"method": "HEAD"}, {}), "OPTIONS": ({"method": "OPTIONS"}, {"method": "OPTIONS"}),
    "POST": ({"method": "POST"}, {"method": "POST"}), "body": (BODY, {}), "query": ({}, {"path": "?a"}), "other": ({}, {"path": "%61"}),
    "port": ({}, {"host": "x:80"}),
    **{f"{'to ' * second}{f}": ({}, {"fields": f + "\r\n"}) if second else ({"fields": f + "\r\n"}, {}) for second in (0, 1) for f in (
        "Cache-Control: no-cache", "Cache-Control: no-store", "Cache-Control: max-age=0", "Cache-Control: max-age=100",
        "Cache-Control: only-if-cached", "Cache-Control: min-fresh=5", "Cache-Control: max-stale", "Pragma: no-cache",
        "Pragma: no-cache\r\nCache-Control: x", "Range: bytes=0-1", "Cookie: a=b", "If-Range: x", 'If-Match: "b"',
        'If-None-Match: "b"', "If-Modified-Since: x")}}
CONDITIONS = [
    'If-None-Match: "a"', 'If-None-Match: "b"', 'If-None-Match: W/"a"', "If-None-Match: *", 'If-None-Match: "b", "a"', "If-None-Match: a",
    'If-None-Match: "b"\r\nIf-None-Match: "a"', "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT",
    "If-Modified-Since: Sun, 06 Nov 1994 08:49:38 GMT", "If-Modified-Since: Sun, 06 Nov 1994 08:49:36 GMT", "If-Modified-Since: x",
    'If-None-Match: "b"\r\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT',
    'If-None-Match: "a"\r\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:36 GMT',
    "If-Modified-Since: Sunday, 06-Nov-94 08:49:37 GMT", "If-Modified-Since: Sun Nov  6 08:49:37 1994"]


class Cases:
    """A program with a cache, and an origin."""

    def __init__(self, program, directory, cfg=CFG):
        self.pages = Pages()
        self.origin, self.port, self.n = Origin(self.pages), free_port(), 0
        directory.mkdir(exist_ok=True)
        self.subject = Subject(program, directory, cfg.format(port=self.port, origin=self.origin.port))

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.subject.stop()
        self.origin.close()

    def twice(self, answer, first=None, second=None):
        """True if the origin has not been asked again, and the second answer's status."""
        self.n += 1
        self.pages.answer = answer
        path = f"/{self.n}"
        ask(self.port, path, **(first or {}))
        before, more = self.pages.requests, dict(second or {})
        status, _, _ = ask(self.port, path + more.pop("path", ""), **more)
        return self.pages.requests == before, status


def play_conditions(program, directory):
    with Cases(program, directory) as c:
        return ({f: c.twice(response(f))[0] for f in RESPONSES},
                {name: c.twice(message)[0] for name, message in MESSAGES.items()},
                {name: c.twice(response(FRESH), *two)[0] for name, two in REQUESTS.items()},
                {f: c.twice(response(VALID), {}, {"fields": f + "\r\n"}) for f in CONDITIONS},
                {f: c.twice(response(FRESH), {}, {"fields": f + "\r\n"}) for f in CONDITIONS},
                c.twice(response("Cache-Control: public, max-age=10\r\n"), {"fields": AUTH})[0])


def test_what_is_stored(tmp_path):
    theirs, ours = oracle.both(lambda program: play_conditions(program, oracle.at(tmp_path, program)))
    differ = set()
    for a, b in zip(theirs[:3], ours[:3]):
        differ |= {name for name in a if a[name] != b[name]}
        assert not any(b[name] for name in a if a[name] != b[name])
    assert differ == STORED_LESS
    assert ours[3:] == theirs[3:]


# --- responses with Vary ---

VARIES = CFG.replace("max-age 30", "max-age 30\n    process-vary on\n    max-secondary-entries 3")
VARY_LISTS = [
    "Accept-Encoding", "accept-encoding, referer", "*", "Accept-Encoding, Cookie", "Accept", "User-Agent", "", "Accept-Encoding,",
    "Accept-Encoding\r\nVary: Referer", "Accept-Encoding\r\nVary: Cookie", "referer,,accept-encoding"]
ENCODINGS = ["", "gzip", "br", "identity", "zstd", "x-gzip", "foo", "gzip, br"]
# Codings that the client accepts whose response is stored, and the next one.
ACCEPTED = [
    (None, None), ("gzip", "gzip"), ("gzip", "br"), ("gzip, br", "gzip"), ("gzip", "gzip, br"), ("gzip", None), (None, "gzip"), (None, ""),
    ("gzip", "identity"), ("gzip", "*"), ("gzip", "gzip;q=0"), ("gzip", "gzip;q=0.0"), ("gzip", "gzip;q=0.5"), ("gzip", "foo"),
    ("gzip", "br, *;q=0"), ("gzip", "GZIP"), ("gzip", "x-gzip"), ("gzip", "gzip , br;q=1"), ("gzip", "identity;q=0"), ("gzip", "*;q=0"),
    ("gzip", "identity;q=0, gzip"), ("gzip", "gzip\r\nAccept-Encoding: br"), ("gzip", "zstd, br, gzip"), ("gzip", "gzip; q=0"),
    ("gzip", "gzip;q=0.001"), ("gzip", "*;q=0, gzip")]
REFERERS = [("a", "a"), ("a", "b"), ("a", ""), ("", None), (None, None), ("a", None), (None, "a"), ("a", "A"), ("a", "a\r\nReferer: b"),
            ("a\r\nReferer: b", "a")]
# HAProxy serves identity to a client that refuses all else, and a coding that is refused with "0.0"; it stores no response that only names Referer.
SERVED_LESS = {("gzip", e, a) for e, a in [("", "*;q=0"), ("identity", "*;q=0"), ("", "br, *;q=0"), ("identity", "br, *;q=0"),
               ("", "*;q=0, gzip"), ("identity", "*;q=0, gzip"), ("gzip", "gzip;q=0.0"), ("x-gzip", "gzip;q=0.0")]}
# HAProxy selects by the first of several fields: a server that uses another one would fill the cache with its response.
SEVERAL = {("a", "a\r\nReferer: b"), ("a\r\nReferer: b", "a")}
STORED_MORE = {"Accept-Encoding,", "referer,,accept-encoding"}


def field(name, value):
    return "" if value is None else f"{name}: {value}\r\n"


def play_vary(program, directory):
    with Cases(program, directory, VARIES) as c:
        both = "Vary: Referer, Accept-Encoding\r\n" + FRESH
        lists = {v: c.twice(response(f"Vary: {v}\r\n{FRESH}"))[0] for v in VARY_LISTS}
        coded = {(a, e, b): c.twice(response(f"Vary: Accept-Encoding\r\n{FRESH}{field('Content-Encoding', e or None)}"),
                                    {"fields": field("Accept-Encoding", a)}, {"fields": field("Accept-Encoding", b)})[0]
                 for e in ENCODINGS for a, b in ACCEPTED}
        referers = {(a, b): c.twice(response(both), {"fields": field("Referer", a)}, {"fields": field("Referer", b)})[0] for a, b in REFERERS}
        c.pages.answer, seen = response(both), []
        for referer in "abcdabcd":   # the fourth has no room
            before = c.pages.requests
            ask(c.port, "/more", fields=field("Referer", referer))
            seen.append(c.pages.requests == before)
        return lists, coded, referers, seen


def test_what_vary_selects(tmp_path):
    theirs, ours = oracle.both(lambda program: play_vary(program, oracle.at(tmp_path, program)))
    assert {v for v in VARY_LISTS if theirs[0][v] != ours[0][v]} == {v for v in STORED_MORE if ours[0][v]} == STORED_MORE
    assert {k for k in theirs[1] if theirs[1][k] != ours[1][k]} == SERVED_LESS
    assert not any(ours[1][k] for k in SERVED_LESS)
    assert {k for k in theirs[2] if theirs[2][k] != ours[2][k]} == SEVERAL
    assert not any(ours[2][k] for k in SEVERAL)
    assert ours[3] == theirs[3]


def test_variants(daemon, tmp_path):
    """A response that names only Referer or Origin; a POST removes all; they survive a reload; off, they are gone."""
    pages, port = Pages(), free_port()
    origin = Origin(pages)
    d = daemon(VARIES.format(port=port, origin=origin.port).replace("max-age 30", "max-age 3000"), mode=MASTER)

    def asked(path, name, value):
        before = pages.requests
        ask(port, path, fields=field(name, value))
        return pages.requests > before

    for name in ("Origin", "Referer"):
        pages.answer = response(f"Vary: {name}\r\n{LASTING}")
        assert [asked("/" + name, name, v) for v in ("a", "b", "a", "b", None, None)] == [True, True, False, False, True, False]
    assert len(re.findall("vary:0x00000000(?!00000000)", d.admin("show cache"))) == 6
    assert d.admin("clear cache small http://x/Origin").strip() == "3 objects removed."
    assert reload(d)
    assert [asked("/Referer", "Referer", v) for v in ("a", "b", "c")] == [False, False, True]
    ask(port, "/Referer", "POST")
    assert [asked("/Referer", "Referer", v) for v in ("a", "b")] == [True, True]
    d.cfg.write_text(d.cfg.read_text().replace("process-vary on", "process-vary off"))
    assert reload(d)
    assert [asked("/Referer", "Referer", v) for v in ("a", "a")] == [True, True]
    origin.close()


def play_answers(program, directory):
    """The answers, and what is counted."""
    with Cases(program, directory) as c:
        c.pages.answer = response(VALID + "X-Y: 1\r\n")
        answers = [ask(c.port, "/a", **kw) for kw in (
            {}, {}, {"method": "HEAD"}, {"fields": 'If-None-Match: "a"\r\n'}, {"fields": "Cache-Control: no-cache\r\n"}, {"method": "POST"})]
        c.pages.answer = response("Cache-Control: no-store\r\n")
        forgotten = {}
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "ABC"):
            for status in ("200 OK", "302 X", "500 X"):
                c.n += 1
                c.pages.answer = response(FRESH)
                ask(c.port, f"/{c.n}")
                c.pages.answer = response("", status=status)
                ask(c.port, f"/{c.n}", method=method)
                before = c.pages.requests
                ask(c.port, f"/{c.n}")
                forgotten[method, status] = c.pages.requests > before
        _, rows = c.subject.stat()
        stat = [{name: row.get(name) for name in ("cache_lookups", "cache_hits", "intercepted")}
                for row in (rows["web", "FRONTEND"], rows["web", "s"], rows["web", "BACKEND"])]
        shown = re.sub(r"0x[0-9a-f]+|hash:\d+|size:\d+|expire:\d+", "X", c.subject.admin("show cache"))
        return answers, forgotten, stat, shown.splitlines()[0], len(shown.split("\n")), shown.splitlines()[1]


def test_answers_and_counts(tmp_path):
    theirs, ours = oracle.both(lambda program: play_answers(program, oracle.at(tmp_path, program)))
    # HAProxy's 304 has the length of the body.
    theirs[0][3][1].remove("content-length: 3")
    assert ours[0] == theirs[0]
    assert ours[1:] == theirs[1:]


def test_logs_and_rules(daemon):
    pages, port, log = Pages(), free_port(), LogServer()
    origin = Origin(pages)
    d = daemon(CFG.format(port=port, origin=origin.port) + f"""
    log 127.0.0.1:{log.port} local0
    option httplog
    http-request set-var(txn.path) path
    http-response pause 1h if {{ res.cache_hit }} # which waits for nothing
    http-response deny deny_status 403 if {{ var(txn.path) -m str /no }} {{ res.cache_hit }}
""", extra="nbthread 1")
    pages.answer = response(FRESH, b"x" * 3000)
    for path in ("/a", "/a", "/no", "/no"):
        ask(port, path)
    lines = log.wait(4)
    assert [re.search(r"web/(\S+) \S+ (\d+) \S+ - - (\S+)", line).groups() for line in lines] == [
        ("s", "200", "----"), ("<CACHE>", "200", "LR--"), ("s", "200", "----"), ("<CACHE>", "403", "LR--")]
    assert d.admin("clear cache small http://x/a").strip() == "1 objects removed."
    assert d.admin("clear cache small http://x/a").strip() == "No such object"
    assert d.admin("clear cache small").strip() == "1 objects removed."
    assert d.admin("clear cache big").strip() == "No such cache"
    before = pages.requests
    ask(port, "/a")
    assert pages.requests == before + 1
    origin.close()


# --- objects of any size ---

@pytest.mark.parametrize("framing", [None, CHUNKED])
@pytest.mark.parametrize("body", [b"", b"abc"])
def test_denied_later(daemon, framing, body):
    """A response that a rule behind cache-store refuses is not stored, whether it has a body or not."""
    pages, port = Pages(), free_port()
    origin = Origin(pages)
    d = daemon(CFG.format(port=port, origin=origin.port) + """
    http-request set-var(txn.path) path
    http-response deny deny_status 403 if { var(txn.path) -m str /no } !{ res.cache_hit }
    http-response set-status 204 if { var(txn.path) -m str /204 } !{ res.cache_hit }
""")
    pages.answer = response(FRESH, body, framing=framing)
    assert [ask(port, path)[0] for path in ("/no", "/no", "/a", "/a")] == [403, 403, 200, 200]
    assert pages.requests == 3 and len(re.findall("size:", d.admin("show cache"))) == 1
    # Its body does not pass: an object of the head alone would be another one.
    assert [ask(port, "/204")[0] for _ in range(2)] == ([204, 204] if body or framing else [204, 200])
    origin.close()


def entity(key, version, size):
    """Bytes that show of what they are."""
    line = b"%d.%d " % (key, version)
    return (line * (size // len(line) + 1))[:size]


@pytest.mark.parametrize("framing", ["length", "chunked"])
@pytest.mark.parametrize("more", ["", "nbthread 4"])
def test_sizes(daemon, framing, more):
    """Objects that fill buffers, blocks and sockets; slow readers; one is replaced while it is served."""
    port, sizes = free_port(), {}

    def serve(conn):
        data = b""
        while b"\r\n\r\n" not in data:
            data += conn.recv(65536)
        key = int(data.split()[1][1:])
        version, size = sizes[key]
        conn.sendall(response(LASTING, entity(key, version, size), framing=CHUNKED if framing == "chunked" else None))

    origin = Origin(serve)
    daemon(CFG.format(port=port, origin=origin.port).replace("total-max-size 1", "total-max-size 64\n    max-object-size 16000000")
           .replace("client 5s", "client 60s").replace("max-age 30", "max-age 3000"), extra=more)
    for key, size in enumerate((1, 1000, 1023, 1024, 1025, 16000, 16384, 20000, 65536, 300000, 5000000, 12000000)):
        sizes[key] = (1, size)
        for is_hit in (False, True, True):
            status, fields, body = ask(port, f"/{key}")
            assert (status, "x-hit: 1" in fields) == (200, is_hit), (key, fields)
            # The server's own chunks are not taken apart here.
            if is_hit or framing != "chunked":
                assert body == entity(key, 1, size) and f"content-length: {size}" in fields, (key, fields)
    # A client that reads late gets the object that it began with.
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT) as slow:
        slow.sendall(b"GET /11 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        head = slow.recv(100)
        sizes[11] = (2, 12000000)
        ask(port, "/11", fields="Cache-Control: no-cache\r\n")
        assert ask(port, "/11")[2][:6] == b"11.2 1"
        for key in range(100, 120):
            sizes[key] = (1, 4000000)
            ask(port, f"/{key}")
        assert (head + recv_cut(slow)).partition(b"\r\n\r\n")[2] == entity(11, 1, 12000000)
    origin.close()


@pytest.mark.parametrize("how", ["h2c", "tls", "tls h2"])
def test_other_transports(daemon, tmp_path, how):
    """The same to clients of HTTP/2 and of TLS, as curl reads it."""
    ports, name = free_ports(2), "a.test"
    pem = Authority(tmp_path).make("a.pem", name, [name])

    def serve(conn):
        data = b""
        while b"\r\n\r\n" not in data:
            data += conn.recv(65536)
        size = int(data.split()[1][1:])
        conn.sendall(response(VALID, entity(1, 1, size)))

    origin = Origin(serve)
    cfg = CFG.format(port=ports[0], origin=origin.port).replace("total-max-size 1", "total-max-size 64\n    max-object-size 16000000")
    line = {"h2c": f"{ports[1]} proto h2", "tls": f"{ports[1]} ssl crt {pem} alpn http/1.1",
            "tls h2": f"{ports[1]} ssl crt {pem} alpn h2"}[how]
    daemon(cfg + f"    bind 127.0.0.1:{line}\n")
    url = ("http" if how == "h2c" else "https") + f"://127.0.0.1:{ports[1]}/"
    for size in (0, 1000, 20000, 300000, 5000000):
        for hit in "01":
            done = subprocess.run(["curl", "-sk", "-D", tmp_path / "head", "--http1.1" if how == "tls" else "--http2-prior-knowledge"
                                   if how == "h2c" else "--http2", "-H", f"Host: {name}", url + str(size)], capture_output=True,
                                  timeout=WAIT, check=True)
            head = (tmp_path / "head").read_text().lower()
            assert f"x-hit: {hit}" in head and f"content-length: {size}\n" in head.replace("\r", "")
            assert done.stdout == entity(1, 1, size)
        status = subprocess.run(["curl", "-sk", "-o", tmp_path / "body", "-w", "%{http_code}", "--http2-prior-knowledge" if how == "h2c"
                                 else "--http2", "-H", f"Host: {name}", "-H", 'If-None-Match: "a"', url + str(size)],
                                capture_output=True, timeout=WAIT, check=True, text=True).stdout
        assert status == "304"
    origin.close()


def test_large_heads(daemon):
    """A head that nearly fills a buffer is served in full, also as 304 to a client that has the response."""
    pages, port = Pages(), free_port()
    origin = Origin(pages)
    daemon(CFG.format(port=port, origin=origin.port).replace("total-max-size 1", "total-max-size 8\n    max-object-size 100000"))
    pages.answer = response(VALID + "".join(f"X-{n}: {'v' * 1000}\r\n" for n in range(14)), b"y" * 30000)
    for hit in "011":
        status, fields, body = ask(port, "/a")
        assert (status, len(body), f"x-hit: {hit}" in fields, sum(f.endswith("v" * 1000) for f in fields)) == (200, 30000, True, 14)
    assert ask(port, "/a", fields='If-None-Match: "a"\r\n')[0] == 304
    origin.close()


# --- one request at a time ---

@pytest.mark.parametrize("more", ["", "nbthread 4"])
@pytest.mark.parametrize("what", ["stored", "not stored", "cut", "varies", "old"])
def test_collapse(daemon, what, more):
    """Clients that ask for the same at the same time: one of them asks the server, unless its response is not for all."""
    port, n, go, seen = free_port(), 24, threading.Event(), Seen()
    answer = {"stored": response(FRESH, b"x" * 3000), "not stored": response(""), "cut": response(FRESH, b"x" * 3000)[:-10],
              "varies": response("Vary: Accept-Encoding\r\nContent-Encoding: gzip\r\n" + FRESH), "old": response(FRESH, b"x" * 3000)}[what]

    def serve(conn):
        head = read_head(conn)
        if head is None:
            return
        seen.append(head)
        assert go.wait(WAIT)
        conn.sendall(answer)

    origin = Origin(serve)
    d = daemon(VARIES.format(port=port, origin=origin.port).replace("max-age 30", f"max-age 30\n    collapse {'50ms' if what == 'old' else '60s'}"),
               extra=more)

    got = []

    def client(i):
        accept = "gzip" if i % 2 == 0 else "gzip, br"
        got.append(ask(port, "/a", fields=f"Accept-Encoding: {accept}\r\n" if what == "varies" else ""))

    threads = [threading.Thread(target=client, args=(i,)) for i in range(n)]
    for t in threads:
        t.start()
    d.until(f"counter web/FRONTEND/cache_lookups eq {n}")
    assert len(seen.wait(n if what == "old" else 1)) == (n if what == "old" else 1)
    go.set()
    for t in threads:
        t.join()
    hits = sum("x-hit: 1" in fields for _, fields, _ in got)
    assert len(got) == n and {status for status, _, _ in got} == {200}
    assert (hits, len(seen)) == ((n - 1, 1) if what in ("stored", "varies") else (0, n))
    origin.close()


SPLIT = """
defaults
    mode http
    timeout client 1m
    timeout connect 1m
    timeout server 1m
cache small
    total-max-size 1
    collapse 60s
frontend web
    bind 127.0.0.1:{port}
    {front}
    http-response set-header X-Hit %[res.cache_hit]
    default_backend app
backend app
    {back}
    server s 127.0.0.1:{origin}
"""
USE, STORE = "http-request cache-use small", "http-response cache-store small"


@pytest.mark.parametrize("more", ["", "nbthread 4"])
@pytest.mark.parametrize("front, back, proxy", [
    (USE, STORE, "web/FRONTEND"), (STORE, USE, "app/BACKEND"), (f"{USE}\n    {STORE}", STORE, "web/FRONTEND"),
    (USE, "filter cache small", "web/FRONTEND")])
@pytest.mark.parametrize("body", [3000, 0])
def test_collapse_over_two_proxies(daemon, front, back, proxy, body, more):
    """The rules are those of a frontend and its backend. The head comes before the rest, while others wait."""
    port, n, go, first, seen, got = free_port(), 12, threading.Event(), threading.Event(), Seen(), []
    answer = response(FRESH, b"x" * body)

    def serve(conn):
        head = read_head(conn)
        if head is None:
            return
        seen.append(head)
        assert go.wait(WAIT)
        conn.sendall(answer[:200])
        assert first.wait(WAIT)
        with contextlib.suppress(OSError):
            conn.sendall(answer[200:])

    origin = Origin(serve)
    d = daemon(SPLIT.format(port=port, origin=origin.port, front=front, back=back), extra=more)

    def client():
        with socket.create_connection(("127.0.0.1", port), timeout=WAIT) as s:
            s.sendall(b"GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            begin = s.recv(1)
            first.set()
            got.append(begin + recv_cut(s))

    threads = [threading.Thread(target=client) for _ in range(n)]
    for t in threads:
        t.start()
    d.until(f"counter {proxy}/cache_lookups eq {n}")
    seen.wait(1)
    go.set()
    for t in threads:
        t.join()
    assert {(g.split()[1], g.partition(b"\r\n\r\n")[2]) for g in got} == {(b"200", b"x" * body)}
    is_stored = STORE in front + back
    assert (sum(b"x-hit: 1" in g.lower() for g in got), len(seen)) == ((n - 1, 1) if is_stored else (0, n))
    origin.close()


HELD = """
defaults
    mode http
    timeout client 1m
    timeout connect 1m
    timeout server 1m
    timeout tunnel 1m
cache small
    total-max-size 1
    collapse 60s
cache large
    total-max-size 64
    max-object-size 8000000
listen web
    bind 127.0.0.1:{port}
    {rules}
    server s 127.0.0.1:{origin}
"""


class Held:
    """An origin that sends what comes first of an answer, and the rest when it is told."""

    def __init__(self, daemon, rules, begin, rest=b"", extra=""):
        self.port, self.begin, self.rest, self.go, self.seen = free_port(), begin, rest, threading.Event(), Seen()
        self.origin = Origin(self.serve)
        daemon(HELD.format(port=self.port, origin=self.origin.port, rules="\n    ".join(rules)), extra=extra)

    def serve(self, conn):
        head = read_head(conn)
        if head is None:
            return
        self.seen.append(head)
        with contextlib.suppress(OSError):
            conn.sendall(self.begin)
            self.go.wait()
            conn.sendall(self.rest)

    def connect(self, fields="", rcvbuf=0):
        """A client that has sent a request for the same."""
        s = socket.socket()
        if rcvbuf:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
        s.settimeout(WAIT)
        s.connect(("127.0.0.1", self.port))
        s.sendall(f"GET /a HTTP/1.1\r\nHost: x\r\n{fields}\r\n".encode())
        return s

    def close(self):
        self.go.set()
        self.origin.close()


UPGRADE = "Connection: upgrade\r\nUpgrade: sim\r\n"


@pytest.mark.parametrize("fields", [(UPGRADE, ""), ("", UPGRADE), (UPGRADE, UPGRADE)])
def test_collapse_is_not_for_tunnels(daemon, fields):
    held = Held(daemon, [USE, STORE], b"")
    with held.connect(fields[0]):
        held.seen.wait(1)
        with held.connect(fields[1]):
            held.seen.wait(2)
    held.close()


def test_collapse_ends_without_body(daemon):
    """A rule removes the body: the server sends none, and no other request waits."""
    begin, _, _ = response(FRESH).partition(b"abc")
    held = Held(daemon, [USE, STORE, "http-response set-status 204"], begin)
    with held.connect() as s:
        assert s.recv(100).startswith(b"HTTP/1.1 204")
        with held.connect():
            held.seen.wait(2)
    held.close()


def test_collapse_ends_at_a_hit(daemon):
    """A second cache stores the response that was asked of a first one: no request waits while a slow client reads it."""
    head, _, body = response(FRESH, b"x" * 6000000).partition(b"\r\n\r\n")
    held = Held(daemon, [f"{USE} if {{ hdr(x) 1 }}", "http-request cache-use large", "http-response cache-store large"],
                head + b"\r\n\r\n" + body, extra="tune.sndbuf.client 16384")
    held.go.set()
    assert len(ask(held.port, "/a")[2]) == len(body)
    with held.connect("X: 1\r\n", rcvbuf=4096) as slow:
        assert slow.recv(1) == b"H"
        with held.connect("X: 1\r\n") as other:
            assert other.recv(1) == b"H"
    assert len(held.seen) == 1
    held.close()


# --- reloads ---

def test_objects_survive_reloads(daemon):
    pages, port = Pages(), free_port()
    origin = Origin(pages)
    d = daemon(CFG.format(port=port, origin=origin.port).replace("max-age 30", "max-age 600"), mode=MASTER)
    pages.answer = response("Cache-Control: max-age=600\r\n", b"x" * 2000)
    for n in range(300):
        ask(port, f"/{n}")
    stop, failed, asked = threading.Event(), [], [0]

    def load():
        while not stop.is_set():
            try:
                status, fields, body = ask(port, f"/{asked[0] % 300}")
            except (OSError, IndexError) as e:   # refused, or cut
                failed.append(repr(e))
                return
            asked[0] += 1
            if status != 200 or body != b"x" * 2000 or "x-hit: 1" not in fields:
                failed.append((status, fields, len(body)))

    thread = threading.Thread(target=load)
    thread.start()
    for _ in range(10):
        assert reload(d)
    stop.set()
    thread.join()
    assert (failed, pages.requests, asked[0] > 10) == ([], 300, True)
    pid = worker_of(d)
    os.kill(pid, signal.SIGKILL)
    only_child(d.pid, besides=[pid])
    assert "x-hit: 1" in ask(port, "/5")[1]
    # The age continues, what is removed stays removed, and other words begin anew.
    d.admin("clear cache small http://x/1")
    assert reload(d)
    assert "x-hit: 0" in ask(port, "/1")[1] and "x-hit: 1" in ask(port, "/2")[1]
    d.cfg.write_text(d.cfg.read_text().replace("global\n", "global\n    tune.reload.keep counters\n", 1))
    assert reload(d)
    assert "x-hit: 0" in ask(port, "/2")[1]
    origin.close()


# --- random requests ---

REQUESTS_IN_ALL = int(os.environ.get("TACIT_CACHE_REQUESTS", "1000000" if SLOW else "6000"))


class World:
    """An origin whose resources change with each POST and by themselves, and a model of what may be served of them."""

    def __init__(self, seed):
        self.dice, self.lock = random.Random(seed), threading.Lock()
        self.versions, self.made = {}, {}

    def make(self, key, unsafe, accept=None):
        """A version's answer. A third of the resources have codings, which the body does not show."""
        with self.lock:
            version = self.versions[key] = self.versions.get(key, 0) + 1
            control = self.dice.choice(["max-age=1", "max-age=2", "max-age=60", "s-maxage=1, max-age=60", "no-store", "private, max-age=9"])
            size = self.dice.choice([0, 1, 500, 1024, 5000, 30000, 90000])
            status = self.dice.choice(["200 OK"] * 9 + ["404 Not Found", "500 Oops"])
            framing = self.dice.choice([None, None, CHUNKED])
            life = {"max-age=1": 1, "max-age=2": 2, "max-age=60": 60, "s-maxage=1, max-age=60": 1}.get(control, 0)
            if unsafe:
                life = 0
            self.made[key, version] = (life if status == "200 OK" else 0, size, status)
            coding = self.dice.choice(accept.split(", ") if accept else ["identity"]) if key % 3 == 0 else None
            tag = f'ETag: "{key}.{version}"\r\nX-Is: {key}.{version}\r\nCache-Control: {control}\r\n' + (
                f"Vary: Accept-Encoding\r\nContent-Encoding: {coding}\r\n" if coding else "")
            cut = self.dice.random() < 0.02 and size > 1000
        message = response(tag, entity(key, version, size), status, framing=framing)
        return (message[:-size // 2] if cut else message), cut

    def serve(self, conn):
        data = b""
        while b"\r\n\r\n" not in data:
            got = conn.recv(65536)
            if not got:
                return
            data += got
        method, path = data.split()[:2]
        accept = re.search(rb"(?i)\r\naccept-encoding: ([^\r]*)", data)
        message, _ = self.make(int(path[1:]), method == b"POST", accept and accept[1].decode())
        head, sep, body = message.partition(b"\r\n\r\n")
        conn.sendall(head + sep + (b"" if method == b"HEAD" else body))


class Clients:
    """One connection after the other; each answer is compared with the model."""

    def __init__(self, port, world, seed, n):
        self.port, self.world, self.dice, self.n = port, world, random.Random(seed), n
        self.hits = self.wrong = 0
        self.forgotten = {}

    def read(self, f, method):
        """An answer: status, fields, body; None if it is cut."""
        first = f.readline()
        if not first.startswith(b"HTTP/1.1 "):
            return None
        fields = {}
        while (line := f.readline()) not in (b"\r\n", b""):
            name, _, value = line.decode().rstrip().partition(": ")
            fields[name.lower()] = value
        status, body = int(first.split()[1]), b""
        if method == "HEAD" or status == 304:
            return status, fields, None
        if fields.get("transfer-encoding") == "chunked":
            while n := int(f.readline() or b"-1", 16):
                if n < 0:
                    return None
                body += f.read(n)
                f.readline()
            f.readline()
            return status, fields, body
        body = f.read(int(fields.get("content-length", 0)))
        return (status, fields, body) if len(body) == int(fields.get("content-length", 0)) else None

    def one(self, f, s):
        key, method = self.dice.randrange(60), self.dice.choice(["GET"] * 20 + ["HEAD", "POST"])
        more = self.dice.choice([""] * 6 + ["Cache-Control: no-cache\r\n", f'If-None-Match: "{key}.{self.dice.randrange(9)}"\r\n'])
        length = "Content-Length: 0\r\n" if method == "POST" else ""
        # A version that a POST of this client has made old must not come again.
        accept = self.dice.choice(["gzip", "br", "gzip, br", "zstd, gzip"])
        s.sendall(f"{method} /{key} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: {accept}\r\n{length}{more}\r\n".encode())
        got = self.read(f, method)
        if got is None:
            return False
        status, fields, body = got
        if status in (502, 504):
            return True
        is_key, version = map(int, fields["x-is"].split("."))
        life, size, said = self.world.made[is_key, version]
        hit = fields["x-hit"] == "1"
        self.hits += hit
        assert is_key == key and fields.get("content-encoding", accept) in accept, "foreign"
        assert body is None or body == entity(key, version, size), "cut, or mixed"
        assert not hit or int(fields["age"]) < life, "stale"
        assert version >= self.forgotten.get(key, 0), "removed"
        if method == "POST" and said.startswith("200"):
            self.forgotten[key] = version
        return fields.get("connection") != "close"

    def run(self):
        while self.n > 0:
            with socket.create_connection(("127.0.0.1", self.port), timeout=WAIT) as s, s.makefile("rb") as f:
                # A response that the origin cuts ends with a reset.
                with contextlib.suppress(ConnectionResetError, BrokenPipeError):
                    while self.n > 0:
                        self.n -= 1
                        if not self.one(f, s):
                            break


@pytest.mark.parametrize("seed", [1, 2])
def test_random_requests(daemon, seed):
    world, port, failed = World(seed), free_port(), []
    origin = Origin(world.serve)
    daemon(VARIES.format(port=port, origin=origin.port).replace("total-max-size 1", "total-max-size 2\n    max-object-size 80000"),
           extra="nbthread 2")
    clients = [Clients(port, world, seed * 100 + i, REQUESTS_IN_ALL // 8) for i in range(4)]

    def run(c):
        try:
            c.run()
        except Exception as e:
            failed.append(repr(e))

    threads = [threading.Thread(target=run, args=(c,)) for c in clients]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert failed == []
    assert sum(c.hits for c in clients) > REQUESTS_IN_ALL / 20
    origin.close()
