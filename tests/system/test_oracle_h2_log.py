"""Log lines of requests over HTTP/2: HAProxy and tacit write the same."""

import re

import h2_raw as raw
import oracle
from conftest import free_ports
from subject import LogServer
from test_oracle_log import CFG, settle
from test_oracle_stat import both, http_origin  # noqa: F401

LATE = 600   # ms that a server may take for /late
HTTPLOG = re.compile(r"\S+ \[\S+\] (\S+ \S+) (\S+) (\S+) \d+ (.*)$")


def parts(line):
    """The parts that must be the same, and which timers are known; HAProxy counts bytes in another form of a message."""
    where, timers, status, rest = HTTPLOG.match(line.split("]: ", 1)[1]).groups()
    return where, "/".join("-1" if t == "-1" else "known" for t in timers.split("/")), status, rest


def asks(*paths, method="GET", body=b"", fields=()):
    """Requests one after the other on one connection, each answered in full."""
    def go(c):
        for i, path in enumerate(paths):
            n = 1 + 2 * i
            length = (("content-length", str(len(body))),) if body else ()
            c.send(raw.request(n, *length, *fields, path=path, method=method, end=not body),
                   raw.frame(raw.DATA, raw.END_STREAM, n, body) if body else b"")
            c.response(n)
    return go


def at_once(c):
    c.send(*(raw.request(n, path="/") for n in (1, 3, 5)))
    left = {1, 3, 5}
    while left:
        f = c.read()
        if f[1] & raw.END_STREAM and f[0] in (raw.DATA, raw.HEADERS):
            left.discard(f[2])


def gives_up(code):
    def go(c):
        c.send(raw.request(1, path="/never"))
        c.answers_ping()
        c.subject.settle()
        c.send(raw.rst(1, code))
        c.answers_ping()
    return go


def uploads_half(c):
    c.send(raw.request(1, ("content-length", "10"), method="POST", end=False), raw.frame(raw.DATA, 0, 1, b"12345"))
    c.answers_ping()
    c.subject.settle()


def resets_an_upload(c):
    uploads_half(c)
    c.send(raw.rst(1))
    c.answers_ping()


def reads_a_part(c):
    """Reads the beginning of a response, the rest of which its window holds back."""
    c.send(raw.settings((4, 1000)), raw.request(1, path="/big"))
    c.until(raw.DATA, 1)
    c.subject.settle()


def resets_a_response(c):
    reads_a_part(c)
    c.send(raw.rst(1))
    c.answers_ping()


def resets_at_once(c):
    c.send(raw.request(1, path="/"), raw.rst(1))
    c.answers_ping()


def wrong(*fields):
    """A request that is refused with its stream."""
    def go(c):
        c.send(raw.frame(raw.HEADERS, raw.END_HEADERS | raw.END_STREAM, 1, raw.block(*fields)))
        c.answers_ping()
    return go


def in_pieces(c):
    """A field block of 40 KB."""
    first, *others = (raw.block(*raw.GET), *[raw.block((f"x{i}", "y" * 9900)) for i in range(4)])
    c.send(raw.frame(raw.HEADERS, raw.END_STREAM, 1, first),
           *(raw.frame(raw.CONTINUATION, raw.END_HEADERS if i == 3 else 0, 1, b) for i, b in enumerate(others)))
    c.answers_ping()


WAYS = {
    "a request": asks("/"),
    "two": asks("/", "/x?y=z"),
    "three at once": at_once,
    "post": asks("/", method="POST", body=b"12345"),
    "head": asks("/", method="HEAD"),
    "options": asks("*", method="OPTIONS"),
    "a status": asks("/status/404", "/status/204", "/status/304"),
    "many bytes": asks("/big"),
    "denied": asks("/deny"),
    "nobody there": asks("/dead"),
    "no server": asks("/empty"),
    "no answer": asks("/die"),
    "late": asks("/late"),
    "reset": gives_up(raw.CANCEL),
    "reset with an error": gives_up(raw.PROTOCOL_ERROR),
    "left in an upload": uploads_half,
    "reset in an upload": resets_an_upload,
    "left in a response": reads_a_part,
    "reset in a response": resets_a_response,
    "reset at once": resets_at_once,
    "nothing": lambda c: c.answers_ping(),
    "no method": wrong(*raw.GET[1:]),
    "upper case": wrong(*raw.GET, ("X", "y")),
    "many bytes of fields": in_pieces,
}


def origin(conn):
    """As http_origin, and paths that are not answered, for a while or at all."""
    class Late:
        def __init__(self):
            self.seen = b""

        def recv(self, n):
            got = conn.recv(n)
            if b" /never " in got or b" /late " in got:
                while conn.recv(65536):
                    pass
                return b""
            return got

        sendall = staticmethod(conn.sendall)

    http_origin(Late())


def run(both, origins, lines):  # noqa: F811
    o = origins(origin)
    f, late, d = free_ports(3)
    log = LogServer()
    seen = {}
    more = f" http-reuse never\n http-request set-timeout server {LATE}ms if {{{{ path /late }}}}\n"
    cfg = CFG.replace("\nbackend b\n", "\nbackend b\n" + more).replace("bind 127.0.0.1:{f}", "bind 127.0.0.1:{f} proto h2")

    def traffic(subject):
        seen.clear()
        settle(subject, log, 0)
        for name, go in WAYS.items():
            n = len(log.lines)
            with raw.Client(f) as c:
                c.subject = subject
                go(c)
            seen[name] = [parts(line) for line in settle(subject, log, n)]

    try:
        return both(cfg.format(f=f, late=late, d=d, o=o.port, log=log.port, lines=lines), traffic, lambda _: dict(seen))
    finally:
        log.close()


def test_httplog_over_h2(both, origins):  # noqa: F811
    """HAProxy resets the stream with REFUSED_STREAM, without a line, where the server has closed. A request whose connection is
    lost ends here as if it had been reset."""
    theirs, ours = run(both, origins, "option httplog")
    differences = oracle.differences(theirs, ours)
    assert {way for way, *_ in differences} == {"no answer", "left in an upload"}, differences
    assert [line[2:] for line in ours["no answer"]] == [("502", '- - SH-- 1/1/0/0/0 0/0 "GET http://a.test/die HTTP/2.0"')]
    assert ours["left in an upload"] == ours["reset in an upload"]
