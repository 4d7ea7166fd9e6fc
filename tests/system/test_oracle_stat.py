"""HAProxy and tacit get the same traffic: every column of `show stat` and every line of `show info` is compared."""

import contextlib
import re
import socket
import threading
import time

import facts
import oracle
import pytest
from conftest import WAIT, connect, free_ports, info, recv_all
from oracle import Subject
from subject import LogServer

SLOW = 1.2          # seconds that the origin takes for /slow

# --- permitted differences ---

# Seconds are compared: the origin takes more than one, or nearly none. A busy machine adds to those of the origin.
TIMES_MS = {"qtime", "ctime", "rtime", "ttime", "qtime_max", "ctime_max", "rtime_max", "ttime_max"}
# Columns that are compared only as known or not: the time since something has happened, and the maximum in one second, since
# each program has its own seconds.
TIMES_S = {"lastchg", "lastsess"}
RATES = {"rate_max", "conn_rate_max", "req_rate_max", "MaxConnRate", "MaxSessRate"}
# A connection that its client has closed may still be there when the next one is accepted.
MOST = {"smax"}
# The number of idle connections, and the choice among them, is specific to each program.
POOLS = {"srv_icur", "idle_conn_cur", "safe_conn_cur", "need_conn_est", "connect", "reuse", "h1_open_connections",
         "h1_total_connections"}
# HAProxy counts connection attempts as sessions of a server (tacit.cfg(5)): of a server that does not answer.
ATTEMPTS = {("dead", "d", "stot"), ("gone", "d", "stot")}
# In mode tcp HAProxy divides by the balanced sessions, which do not include those from a queue.
AVERAGES = {("waits", col) for col in ("qtime", "ctime", "rtime", "ttime")}
INFO_OWN = {
    "Version", "Release_date", "Build info",                 # another program
    "Pid", "Uptime", "Uptime_sec", "Start_time_sec",         # another process, a little later
    "Ulimit-n", "Maxsock",                                   # descriptors for internal use
    "PoolAlloc_MB", "PoolUsed_MB", "PoolAlloc_bytes", "PoolUsed_bytes", "Maxpipes", "PipesFree",
    "Tasks", "Run_queue", "Idle_pct",                        # internal to each program
    "BytesOutRate",                                          # of the current second: responses of different lengths
}


# --- both programs ---

@pytest.fixture
def both(tmp_path):
    """both(cfg, traffic, reading): the results of reading(subject), for haproxy and for tacit."""
    def run(cfg, traffic, reading):
        def play(program):
            directory = oracle.at(tmp_path, program)
            directory.mkdir()
            s = Subject(program, directory, cfg)
            try:
                traffic(s)
                return reading(s)
            finally:
                s.stop()
        return oracle.both(play)
    return run


# --- http ---

# Three fields in every message: HAProxy counts a message in its internal form, which is longer by 15 bytes and
# shorter by four for each field.
FORM = 15 - 4 * 3


def request(path, method="GET", body=b"", more=b"X: 3\r\n"):
    length = b"Content-Length: %d\r\n" % len(body) if body else b"A: b\r\n"
    return b"%s %s HTTP/1.1\r\nHost: h\r\n" % (method.encode(), path.encode()) + length + more + b"\r\n" + body


def rest(begun):
    """Is slow, from this event on."""
    assert not begun or begun.wait(WAIT)
    time.sleep(SLOW)


def http_origin(conn, begun=None):
    buf = b""
    while True:
        while b"\r\n\r\n" not in buf:
            got = conn.recv(65536)
            if not got:
                return
            buf += got
        head, _, buf = buf.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: *(\d+)", head)
        need = int(length[1]) if length else 0
        while len(buf) < need:
            got = conn.recv(65536)
            if not got:
                return
            buf += got
        buf = buf[need:]
        method, path, _ = head.split(b"\r\n")[0].split()
        if path == b"/slow":
            rest(begun)
        if path == b"/die":
            return
        status = path.split(b"/")[2] if path.startswith(b"/status/") else b"200"
        body = b"" if status in (b"204", b"304") else b"x" * (100000 if path == b"/big" else 100)
        length = b"Content-Length: %d\r\n" % len(body) if body else b"C: d\r\n"
        conn.sendall(b"HTTP/1.1 %s Said\r\nX: 1\r\nY: 2\r\n" % status + length + b"\r\n" + (b"" if method == b"HEAD" else body))


def becomes_calm(subject, columns=("rate", "conn_rate", "req_rate", "scur", "qcur")):
    """The rates of the last seconds are over, and all sessions have ended."""
    facts.becomes(lambda: {value for row in subject.stat()[1].values() for col, value in row.items()
                           if value and col in columns}, {"0"})


def talk(port, *requests, answers=None, head=False):
    """Sends them on one connection, and reads as many responses."""
    with connect(port) as s:
        for r in requests:
            s.sendall(r)
        left, buf = len(requests) if answers is None else answers, b""
        while left:
            while b"\r\n\r\n" not in buf:
                got = s.recv(65536)
                if not got:
                    return
                buf += got
            h, _, buf = buf.partition(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: *(\d+)", h)
            need = 0 if head or not length else int(length[1])
            while len(buf) < need:
                buf += s.recv(65536)
            buf = buf[need:]
            left -= 1


HTTP = """
defaults
 mode http
 log 127.0.0.1:{log} local0
 option httplog
 timeout client 1m
 timeout server 1m
 timeout connect 1m
 timeout queue 1m
 retries 1
frontend f
 bind 127.0.0.1:{f}
 maxconn 150
 http-request deny if {{ path /deny }}
 http-request return status 200 hdr A b hdr C d if {{ path /own }}
 use_backend empty if {{ path /empty }}
 use_backend dead if {{ path /dead }}
 use_backend one if {{ path_beg /slow }}
 use_backend moved if {{ path /moved }}
 default_backend b
frontend refused
 bind 127.0.0.1:{refused}
 tcp-request connection reject
frontend off
 bind 127.0.0.1:{off}
 disabled
backend b
 balance roundrobin
 cookie SRV insert
 server s1 127.0.0.1:{o} cookie one
 server s2 127.0.0.1:{o} cookie two weight 0
 server s3 127.0.0.1:{o} backup
 server s4 127.0.0.1:{o} disabled
backend dead
 server d 127.0.0.1:{d}
backend empty
backend one
 fullconn 70
 server l 127.0.0.1:{o} maxconn 1 maxqueue 5
backend moved
 option redispatch 1
 server gone 127.0.0.1:{d} weight 256
 server here 127.0.0.1:{o} weight 1
backend unused
 server u 127.0.0.1:{o}
"""


def http_traffic(ports, begun):
    """begun: the event from which the origin is slow."""
    port = ports["f"]

    def traffic(subject):
        subject.admin("disable server b/s2")
        subject.admin("enable server b/s2")
        # A burst of connections without sessions.
        for _ in range(50):
            with contextlib.suppress(OSError), connect(ports["refused"]) as s:
                s.recv(1)
        talk(port, *[request("/a")] * 9)
        talk(port, request("/p", "POST", b"y" * 10000))
        for path in ("/status/204", "/status/302", "/status/404", "/status/500", "/status/900", "/big", "/deny", "/own",
                     "/empty", "/dead", "/moved", "/die"):
            talk(port, request(path))
        talk(port, request("/h", "HEAD"), head=True)
        talk(port, request("/c", more=b"Cookie: SRV=two\r\n"))
        talk(port, request("/c", more=b"Cookie: SRV=two\r\n"))
        with connect(port) as s:          # no request at all
            s.sendall(b"NONE\r\n\r\n")
            recv_all(s)
        slow = [connect(port) for _ in range(2)]
        begun.clear()
        for s in slow:                    # the second waits in the queue
            s.sendall(request("/slow"))
            facts.delivered(s)
            subject.settle()
        begun.set()
        for s in slow:
            s.recv(65536)
            s.close()
        becomes_calm(subject)
    return traffic


# --- tcp ---

def tcp_origin(conn, begun):
    got = conn.recv(65536)
    if got == b"slow":
        rest(begun)
    if got and got != b"cut":
        conn.sendall(b"answer" * (20000 if got == b"big" else 1))


TCP = """
defaults
 mode tcp
 no option splice-auto
 timeout client 1m
 timeout server 1m
 timeout connect 1m
 timeout queue 1m
 retries 2
frontend t
 bind 127.0.0.1:{t}
 maxconn 40
 tcp-request inspect-delay 1m
 tcp-request content reject if {{ req.payload(0,3) -m str bad }}
 default_backend tb
frontend hasty
 bind 127.0.0.1:{hasty}
 tcp-request inspect-delay 100ms
 tcp-request content reject if {{ req.payload(0,3) -m str bad }}
 default_backend tb
frontend silent
 bind 127.0.0.1:{silent}
 timeout client 2s
 default_backend tb
backend tb
 balance roundrobin
 server a 127.0.0.1:{o}
 server b 127.0.0.1:{o} weight 1
 server c 127.0.0.1:{o} backup
listen gone
 bind 127.0.0.1:{gone}
 server d 127.0.0.1:{d}
listen moved
 bind 127.0.0.1:{moved}
 option redispatch 1
 server d 127.0.0.1:{d} weight 256
 server e 127.0.0.1:{o} weight 1
listen waits
 bind 127.0.0.1:{waits}
 server l 127.0.0.1:{o} maxconn 1
listen nobody
 bind 127.0.0.1:{nobody}
 maxconn 30
listen refused
 bind 127.0.0.1:{refused}
 tcp-request session reject
 server s 127.0.0.1:{o}
"""


def tcp_traffic(ports, accepted, begun):
    """accepted: the connections that servers have accepted; begun: the event from which they are slow."""
    def send(port, text, end=True):
        with connect(ports[port]) as s:
            s.sendall(text)
            if end:
                recv_all(s)

    def traffic(subject):
        for _ in range(30):
            with contextlib.suppress(OSError):
                send("refused", b"x")
        for text in (b"one", b"two", b"big", b"cut", b"bad"):
            send("t", text)
        send("hasty", b"x")
        n = len(accepted)
        with connect(ports["hasty"]) as s:   # nothing until inspect-delay has expired
            accepted.wait(n + 1)
            s.sendall(b"late")
            recv_all(s)
        # Without a server the data is not read.
        for port, text in (("gone", b"hello"), ("moved", b"hello"), ("nobody", b"")):
            with contextlib.suppress(OSError):
                send(port, text)
        slow = [connect(ports["waits"]) for _ in range(2)]
        begun.clear()
        for s in slow:
            s.sendall(b"slow")
            facts.delivered(s)
            subject.settle()
        begun.set()
        for s in slow:
            recv_all(s)
            s.close()
        with connect(ports["silent"]) as s:   # until its timeout
            recv_all(s)
        becomes_calm(subject)
        subject.admin("disable server tb/a")
        # Maintenance is no downtime.
        facts.becomes(lambda: int(subject.stat()[1]["tb", "a"]["lastchg"]), lambda seconds: seconds >= 2)
    return traffic


def known(value):
    return "" if value == "" else "known"


def timeless(key, row):
    """A row of show stat without what depends on the moment."""
    out = {}
    for col, value in row.items():
        if col in TIMES_MS and (key[0], col) not in AVERAGES:
            value = value and f"{int(value) // 1000} s"
        elif col in TIMES_MS or col in TIMES_S or col in RATES or col in MOST or (col in POOLS and key[1] != "FRONTEND"):
            value = known(value)
        if value:
            out[col] = value
    return out


def reading(subject, seconds):
    """The columns, the rows and the lines of show info; of these the order, too. seconds: those that it has run are appended."""
    names, rows = subject.stat()
    answered = subject.answered
    lines = info(subject.admin("show info"))
    seconds.append(int(lines["Uptime_sec"]) + 1)
    # Without the answers to this test itself.
    lines["TotalBytesOut"] = str(int(lines["TotalBytesOut"]) - answered)
    for count in ("CumConns", "CumReq"):
        lines[count] = str(int(lines[count]) - subject.asked)
    # A recording is of another machine.
    if lines["node"] == socket.gethostname():
        lines["node"] = "HOST"
    return (names, list(rows), list(lines)), {key: timeless(key, row) for key, row in rows.items()}, {
        key: known(value) if key in INFO_OWN | RATES else value for key, value in lines.items()}


def compare(readings, most, forms=None):
    """forms: columns of rows for which HAProxy's internal form of messages counts. A busy machine may take a second for an exchange, so
    times that HAProxy has as less are at most `most`, the seconds that tacit has run."""
    (order, theirs, their_info), (our_order, ours, our_info) = readings
    assert our_order[:2] == order[:2]
    assert [k for k in our_order[2] if k in their_info] == order[2]
    wrong = []
    for key, row in theirs.items():
        for col in order[0]:
            got, want = ours[key].get(col, ""), row.get(col, "")
            if (*key, col) in ATTEMPTS:
                ok = int(got) < int(want)
            elif col in TIMES_MS and want not in ("", "known"):
                ok = got.endswith(" s") and int(want.split()[0]) <= int(got.split()[0]) <= most
            elif forms and col in ("bin", "bout"):
                ok = int(got) + FORM * forms(key, ours[key], col) == int(want)
            else:
                ok = got == want
            if not ok:
                wrong.append(f"{key} {col}: {got!r}, haproxy {want!r}")
    wrong += [f"{key}: {our_info[key]!r}, haproxy {want!r}" for key, want in their_info.items() if our_info[key] != want]
    assert not wrong, "\n".join(wrong)


def test_http(both, origins):
    begun = threading.Event()
    o = origins(lambda conn: http_origin(conn, begun))
    f, refused, off, d = free_ports(4)
    log = LogServer()
    ports = {"f": f, "refused": refused, "off": off, "o": o.port, "d": d, "log": log.port}

    def messages(key, row, col):
        if key[1] == "FRONTEND":
            return int(row["req_tot"]) - int(row["ereq"])
        return int(row["stot"]) if row[col] != "0" else 0

    seconds = []
    compare(both(HTTP.format(**ports), http_traffic(ports, begun), lambda s: reading(s, seconds)), seconds[-1], messages)


def test_tcp(both, origins):
    accepted, begun = facts.Seen(), threading.Event()

    def serve(conn):
        accepted.append(conn)
        tcp_origin(conn, begun)

    o = origins(serve)
    names = ("t", "hasty", "silent", "gone", "moved", "waits", "nobody", "refused", "d")
    ports = dict(zip(names, free_ports(len(names)))) | {"o": o.port}
    seconds = []
    compare(both(TCP.format(**ports), tcp_traffic(ports, accepted, begun), lambda s: reading(s, seconds)), seconds[-1])
