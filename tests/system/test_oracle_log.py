"""Log lines for sessions that end in different ways, and for changing servers: HAProxy and tacit write the same."""

import collections
import contextlib
import re
import socket
import struct
import time

import facts
import oracle
import pytest
from conftest import connect, free_ports, recv_all, wait_for
from subject import LogServer
from test_oracle_stat import both, http_origin  # noqa: F401

CFG = """
defaults
 mode http
 log 127.0.0.1:{log} local0
 {lines}
 timeout client 1m
 timeout http-request 1m
 timeout server 1m
 timeout connect 1m
 retries 0
frontend late
 bind 127.0.0.1:{late}
 timeout http-request 1s
 default_backend b
frontend f
 bind 127.0.0.1:{f}
 http-request deny if {{ path /deny }}
 http-request reject if {{ path /reject }}
 use_backend dead if {{ path /dead }}
 use_backend empty if {{ path /empty }}
 default_backend b
backend b
 server s 127.0.0.1:{o}
backend dead
 server d 127.0.0.1:{d}
backend empty
"""

# Where a client connects to, the port where requests may come too late, and the program there.
Place = collections.namedtuple("Place", "port late subject")
GET = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"


def leave(place, data=b"", reset=False, answers=0):
    """Sends that and closes when the program has read it and so many responses are there, which it does not read."""
    with connect(place.port) as s:
        if data:
            s.sendall(data)
        assert not answers or wait_for(lambda: s.recv(65536, socket.MSG_PEEK).count(b"HTTP/1.") >= answers)
        facts.delivered(s)
        place.subject.settle()
        if reset:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def stay(place, data):
    """Sends that and waits for the end."""
    with connect(place.port) as s, contextlib.suppress(OSError):
        s.sendall(data)
        recv_all(s)


@contextlib.contextmanager
def late_client(place, data):
    """Connects to the other port and sends that while the program does not run: its time begins when all of that is there."""
    with contextlib.ExitStack() as stack:
        with place.subject.stopped():
            s = stack.enter_context(connect(place.late))
            s.sendall(data)
            facts.delivered(s)
        yield s


def is_late(place, data=b""):
    """Sends that, and waits for the end, which comes when there was no more for a second."""
    with late_client(place, data) as s:
        recv_all(s)


def path(name):
    return GET.replace(b"/ ", name + b" ")


WAYS = {
    "a request": lambda p: leave(p, GET, answers=1),
    "two": lambda p: leave(p, GET + GET, answers=2),
    "no request": lambda p: stay(p, b"JUNK / LINE MORE\r\n\r\n"),
    "a bad length": lambda p: stay(p, GET[:-2] + b"Content-Length: x\r\n\r\n"),
    "none behind a good one": lambda p: stay(p, GET + b"JUNK\r\n\r\n"),
    "silence": is_late,
    "closed at once": leave,
    "reset at once": lambda p: leave(p, reset=True),
    "a part, closed": lambda p: leave(p, b"GET / HT"),
    "a part, reset": lambda p: leave(p, b"GET / HT", reset=True),
    "a part, late": lambda p: is_late(p, b"GET / HT"),
    "at rest until late": lambda p: is_late(p, GET),
    "a part behind a good one": lambda p: is_late(p, GET + b"GET / "),
    "denied": lambda p: leave(p, path(b"/deny"), answers=1),
    "rejected": lambda p: stay(p, path(b"/reject")),
    "nobody there": lambda p: leave(p, path(b"/dead"), answers=1),
    "no server": lambda p: leave(p, path(b"/empty"), answers=1),
    "no answer": lambda p: leave(p, path(b"/die"), answers=1),
}


def run_ways(both, origins, lines, read=lambda line, *_: line):
    """{way: read(each line, the way, the times when it began and when all was over)} of both programs."""
    o = origins(http_origin)
    f, late, d = free_ports(3)
    log = LogServer()
    seen = {}

    def traffic(subject):
        seen.clear()
        settle(subject, log, 0)
        for name, go in WAYS.items():
            n, began = len(log.lines), time.time()
            go(Place(f, late, subject))
            lines, ended = settle(subject, log, n), time.time()
            seen[name] = [read(without_port(line.split("]: ", 1)[1]), name, began, ended) for line in lines]

    try:
        return both(CFG.format(f=f, late=late, d=d, o=o.port, log=log.port, lines=lines), traffic, lambda _: dict(seen))
    finally:
        log.close()


def settle(subject, log, n):
    """The lines from number n on, when the program has dealt with all that clients have done."""
    subject.settle()
    return log.drain()[n:]


def without_port(line):
    return re.sub(r"127\.0\.0\.1:\d+", "CLIENT", line, count=1)


EARLY = """
defaults
 mode http
 log 127.0.0.1:{log} local0
 log-format "%ts %ST"
 timeout client 1h
 timeout server 1h
 timeout connect 1h
listen f
 bind 127.0.0.1:{f}
 server s 127.0.0.1:{o}
listen late
 bind 127.0.0.1:{late}
 timeout client BRIEF
 server s 127.0.0.1:{o}
"""

POST = b"POST / HTTP/1.1\r\nHost: h\r\n"
UPLOAD = POST + b"Content-Length: 9\r\n\r\nabc"
CHUNKS = POST + b"Transfer-Encoding: chunked\r\n\r\n2\r\nab"


def early(conn, subject):
    """Responds before it has the request's body. The program sees that before it can see that its client is late."""
    head = b""
    while b"\r\n\r\n" not in head:
        got = conn.recv(65536)
        if not got:
            return
        head += got
    with subject.stopped():
        conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        facts.delivered(conn)
    recv_all(conn)


def hold(place, data, logged):
    """Sends that, is late behind the response, and closes when the program has logged the exchange."""
    with late_client(place, data) as s:
        assert s.recv(65536).startswith(b"HTTP/1.1 200 ")
        place.subject.expire()
        logged()


UPLOADS = {
    "complete": lambda p, _: leave(p, UPLOAD + b"defghi", answers=1),
    "closed": lambda p, _: leave(p, UPLOAD, answers=1),
    "reset": lambda p, _: leave(p, UPLOAD, reset=True, answers=1),
    "late": lambda p, logged: hold(p, UPLOAD, logged),
    "in chunks, closed": lambda p, _: leave(p, CHUNKS, answers=1),
}


def test_uploads_behind_a_response(both, origins):
    """A server has responded before the end of the request: who cut the rest?"""
    subjects = []
    o = origins(lambda conn: early(conn, subjects[-1]))
    f, late = free_ports(2)
    log = LogServer()
    seen = {}

    def traffic(subject):
        subjects.append(subject)
        seen.clear()
        settle(subject, log, 0)
        for name, go in UPLOADS.items():
            n = len(log.lines)
            go(Place(f, late, subject), lambda n=n: log.lines.until(lambda lines: len(lines) > n, "a line"))
            seen[name] = [line.split("]: ", 1)[1] for line in settle(subject, log, n)]

    try:
        theirs, ours = both(EARLY.format(f=f, late=late, o=o.port, log=log.port), traffic, lambda _: dict(seen))
    finally:
        log.close()
    assert oracle.differences(theirs, ours) == []
    assert theirs["closed"] == ["CD 200"] and theirs["late"] == ["cD 200"]


def test_default_format(both, origins):
    theirs, ours = run_ways(both, origins, "")
    assert oracle.differences(theirs, ours) == []
    # HAProxy logs some of them, and not others.
    assert len(theirs["a request"]) == 1 and not theirs["silence"]


def test_error_format(both, origins):
    theirs, ours = run_ways(both, origins, "error-log-format bad:%ST:%ts:%B:%U")
    assert oracle.differences(theirs, ours) == []
    assert theirs["silence"] == ["bad:408:cR:0:0"]


HTTPLOG = re.compile(r"\S+ \[(\S+)\] (\S+ \S+) (\S+) (\S+) (\d+) (.*)$")


def parts(line, way, began, ended):
    """The parts that must be the same, which timers are known, and the bytes: None if there was a message."""
    date, where, timers, status, count, rest = HTTPLOG.match(line).groups()
    sec, ms = date.rsplit(".", 1)
    known = "/".join("-1" if t == "-1" else "known" for t in timers.split("/"))
    # Where requests may be late, "timeout http-request" is a second. That of a first request runs from the connection on, and what is
    # logged from its first byte on.
    waited = 0.99 if " cR" in rest else 0
    assert ended - began > waited, line
    if way == "a part, late":
        waited = 0
    assert not waited or int(timers.split("/")[-1]) > 1000 * waited, line
    # The date is the time when the request could begin, however long it was waited for. It is that of UTC, which has each once.
    assert began - 0.05 < time.mktime(time.strptime(sec, "%d/%b/%Y:%H:%M:%S")) + int(ms) / 1000 <= ended - waited, line
    return where, known, status, rest, int(count) if "<BADREQ>" in rest else None


@pytest.fixture
def utc(monkeypatch):
    """The zone of this process and of the programs that it starts."""
    with monkeypatch.context() as m:
        m.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


def test_httplog(utc, both, origins):
    theirs, ours = run_ways(both, origins, "option httplog", parts)
    assert oracle.differences(theirs, ours) == []
    assert ours["silence"][0][2:] == ("408", "- - cR-- 1/1/0/0/0 0/0 \"<BADREQ>\"", 0)


# --- servers ---

SERVERS = """
defaults
 mode tcp
 log 127.0.0.1:{log} local0
 timeout client 1m
 timeout server 1m
 timeout connect 1m
listen b
 bind 127.0.0.1:{f}
 server s1 127.0.0.1:{d}
 server s2 127.0.0.1:{d}
backend one
 server x 127.0.0.1:{d}
 server y 127.0.0.1:{d} backup
backend out
 server z 127.0.0.1:{d} disabled
"""

COMMANDS = """disable server b/s1|disable server b/s1|enable server b/s1|enable server b/s1
set server b/s1 state drain|set server b/s1 state drain|set server b/s1 state ready|set server b/s1 state maint
set server b/s1 state drain|set server b/s1 state maint|set server b/s1 state ready|set server b/s1 state drain
disable server b/s1|enable server b/s1|disable server b/s1|disable server b/s2|enable server b/s2|enable server b/s1
disable server one/x|disable server one/y|enable server one/y|enable server one/x|set server one/x state drain
set server one/y state drain|set server one/x state ready|enable server out/z|set weight b/s1 0|set weight b/s2 0
set server b/s1 state drain|set server b/s1 weight 10|set server b/s1 state ready|set weight b/s2 100%"""


def test_servers_that_change(both):
    f, d = free_ports(2)
    log = LogServer()
    reported = {}

    def traffic(subject):
        reported.clear()
        for i, command in enumerate(re.split(r"[|\n]", COMMANDS)):
            n, printed = len(log.lines), len(subject.err)
            assert subject.admin(command) == "\n"
            logged = [re.sub(r"^(<\d+>).*?\]: ", r"\1", line) for line in settle(subject, log, n)]
            reported[i, command] = logged, re.sub(r"\(\d+\)", "(PID)", subject.err[printed:])

    try:
        theirs, ours = both(SERVERS.format(f=f, d=d, log=log.port), traffic, lambda _: dict(reported))
    finally:
        log.close()
    assert oracle.differences(theirs, ours) == []
    assert any("has no server available" in line for logged, _ in theirs.values() for line in logged)


SAMPLED = """
 log 127.0.0.1:{log} sample 2:3 local0
defaults
 mode http
 log global
 option httplog
 option log-separate-errors
 timeout client 1m
 timeout server 1m
 timeout connect 1m
frontend f
 bind 127.0.0.1:{f}
 http-request return status 200
frontend g
 bind 127.0.0.1:{g}
 no log
 log 127.0.0.1:{log} sample 1,4-5:5 local0
 http-request return status 200
frontend e
 bind 127.0.0.1:{e}
 no log
 log 127.0.0.1:{log} sample 1:2 local0 err
 http-request return status 503 if {{ path_beg /error }}
 http-request return status 200
"""


def test_samples(both):
    """Each frontend counts the messages that its level permits."""
    f, g, e = free_ports(3)
    log = LogServer()

    def traffic(subject):
        for i in range(9):
            for port in (f, g):
                leave(Place(port, None, subject), path(b"/%d" % i), answers=1)
        for i in range(4):
            leave(Place(e, None, subject), path(b"/good%d" % i), answers=1)
            leave(Place(e, None, subject), path(b"/error%d" % i), answers=1)
        subject.lines = [line.split('"')[1].split()[1] for line in settle(subject, log, 0) if '"' in line]
        log.lines.clear()

    theirs, ours = both(SAMPLED.format(f=f, g=g, e=e, log=log.port), traffic, lambda s: s.lines)
    assert [line for line in theirs if "good" in line or "error" in line] == ["/error0", "/error2"]
    assert ours == theirs
