"""HAProxy and tacit run the same configuration and get the same commands: `show servers state`, `show backend`,
`clear counters` and their errors are compared."""

import contextlib
import re
import shutil

import pytest
from conftest import TACIT, WAIT, Origin, connect, free_ports, recv_all, wait_for
from test_oracle_stat import Subject

HAPROXY = shutil.which("haproxy")
pytestmark = pytest.mark.skipif(not HAPROXY, reason="haproxy is not installed")

SINCE, RESULT, HEALTH, CHECK, AGENT = 9, 11, 12, 13, 14
BACK = ("b/s9",)  # without checks; their maintenance ends during the test


def answer(text):
    def serve(conn):
        if conn.recv(4096) and text is not None:
            conn.sendall(text)
        elif text is None:
            recv_all(conn)
    return serve


SERVERS = {
    "good": answer(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
    "gone": answer(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
    "sick": answer(b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"),
    "odd": answer(b"SSH-2.0\r\n\r\n"),
    "silent": answer(None),
    "agent": lambda conn: conn.sendall(b"up\n"),
    "drains": lambda conn: conn.sendall(b"drain\n"),
}

CFG = """
defaults
 mode http
 timeout connect 1s
 timeout client 5s
 timeout server 5s
 timeout check 1s
 default-server inter 100ms fall 2
resolvers r
 nameserver a 127.0.0.1:{closed}
backend b
 option httpchk
 http-check disable-on-404
 server s1 127.0.0.1:{good} check
 server s2 127.0.0.1:{gone} check
 server s3 127.0.0.1:{sick} check
 server s4 127.0.0.1:{odd} check
 server s5 127.0.0.1:{silent} check
 server s6 127.0.0.1:{closed} check
 server s8 127.0.0.1:{good} check disabled weight 7
 server s9 127.0.0.1:{good} track b/s8
 server s10 127.0.0.1:{good} id 77 check port {good} addr 127.0.0.1 agent-check agent-port {agent} agent-addr 127.0.0.1 agent-inter 100ms
 server s11 nosuch.invalid:80 check init-addr none resolvers r
 server s12 localhost:{good} check
 server s13 127.0.0.1:{good} check agent-check agent-port {drains} agent-inter 100ms
 server s14 127.0.0.1
 server s15 127.0.0.1:+5
 server s16 /nosuch/socket
 server s17 ::1:80
 server s18 127.0.0.1:{good} disabled
 server s19 nosuch.invalid:80 init-addr none
 server s20 127.0.0.1:{good} backup check no-check
 server s21 127.0.0.1:{good} agent-check agent-port {agent} agent-inter 100ms
 server s22 127.0.0.1:{good} check port {closed}
backend c
 id 55
 mode tcp
 default-server rise 5
 server t1 127.0.0.1:{good} check
 server t2 127.0.0.1:{good}
backend traffic
 server w 127.0.0.1:{good}
listen l
 bind 127.0.0.1:{port}
 default_backend traffic
 server t1 127.0.0.1:{good}
frontend f
 bind 127.0.0.1:{front}
 default_backend traffic
"""

CHANGES = ("set server b/s1 state drain", "set server b/s10 state maint", "disable health b/s3", "disable agent b/s13",
           "set server b/s2 health down", "set server b/s4 weight 50%", "set server b/s8 state ready",
           "set server b/s6 state maint", "disable server c/t2")
QUESTIONS = ("show servers state #55", "show servers state 55", "show servers state f", "show backend", "show backend x",
             "show errors", "show errors x", "show errors b", "show errors -1", "show errors 55 request",
             "clear counters", "clear counters all", "clear counters x")


class Pair:
    def __init__(self, directory, stack):
        ports = dict(zip(("closed", "port", "front"), free_ports(3)))
        for name, serve in SERVERS.items():
            origin = Origin(serve)
            stack.callback(origin.close)
            ports[name] = origin.port
        self.both = []
        self.fronts = []
        for name, program in (("haproxy", HAPROXY), ("tacit", TACIT)):
            (directory / name).mkdir()
            ports["port"], ports["front"] = free_ports(2)
            subject = Subject(program, directory / name, CFG.format(**ports))
            stack.callback(subject.stop)
            self.both.append(subject)
            self.fronts.append(ports["front"])


@pytest.fixture
def pair(tmp_path):
    with contextlib.ExitStack() as stack:
        yield Pair(tmp_path, stack)


def name_of(fields):
    return f"{fields[1]}/{fields[3]}"


def rows(subject):
    """The rows, without what depends on the moment: a check that is running has no result, and its bit."""
    head, names, *lines = subject.admin("show servers state").rstrip("\n").split("\n")
    out = [head, names]
    for line in lines:
        fields = line.split(" ")
        assert len(fields) == 25 and 0 <= int(fields[SINCE]) < 60
        fields[SINCE] = ""
        # after maintenance HAProxy shows 0 for a server without checks (tacit(8))
        if not int(fields[CHECK]) & 2 and name_of(fields) in BACK:
            fields[HEALTH] = ""
        if int(fields[CHECK]) & 1:
            fields[RESULT] = "running"
        for i in (CHECK, AGENT):
            fields[i] = str(int(fields[i]) & ~1)
        out.append(" ".join(fields))
    return out


def without_running(theirs, ours):
    """Two rows; a check that is running in either program has no result yet."""
    if "running" in theirs.split(" ") or "running" in ours.split(" "):
        theirs, ours = (" ".join("" if i == RESULT else x for i, x in enumerate(row.split(" "))) for row in (theirs, ours))
    return theirs, ours


def same(pair):
    """Compares the dumps until they are equal: the programs do not check at the same moment."""
    seen = []

    def equal():
        dumps = [rows(s) for s in pair.both]
        seen[:] = [x for x in map(without_running, *dumps) if x[0] != x[1]]
        return not seen and len(dumps[0]) == len(dumps[1])
    assert wait_for(equal, WAIT, 0.03), "\n".join(f"haproxy: {a}\ntacit:   {b}" for a, b in seen)


def test_servers_state(pair):
    same(pair)
    for command in CHANGES:
        assert pair.both[0].admin(command) == pair.both[1].admin(command), command
    same(pair)


def test_answers(pair):
    for command in QUESTIONS:
        theirs, ours = (re.sub(r"\[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d\.\d{3}\] : \d+\n[^$]*", "[date] : N\n", s.admin(command))
                        for s in pair.both)
        if command.startswith("show servers state"):
            theirs, ours = (re.sub(r"(?m)^(\d+( \S+){8} )\S+( \S+){3} \S+", r"\1", x) for x in (theirs, ours))
        assert theirs == ours, command


CLEARED = ("smax", "stot", "bin", "bout", "rate_max", "conn_rate_max", "req_rate_max", "conn_tot", "req_tot", "hrsp_2xx",
           "lbtot", "qtime_max", "ctime_max", "rtime_max", "ttime_max", "chkfail", "chkdown", "connect", "lastsess",
           "h1_bytes_in", "h1_bytes_out", "scur")


def zeros(subject):
    """The counters of show stat and show info that are zero."""
    _, stat = subject.stat()
    out = {key: {c: row[c] in ("0", "-1", "") for c in CLEARED if c in row} for key, row in stat.items()
           if key[0] in ("traffic", "f") or key == ("b", "s3")}
    text = subject.admin("show info")
    return out, {name: f"\n{name}: 0\n" in text for name in ("MaxConnRate", "MaxSessRate")}


def test_clear_counters(pair):
    def use(port):
        with connect(port) as s:
            s.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            assert recv_all(s).endswith(b"ok")
    for subject, port in zip(pair.both, pair.fronts):
        for _ in range(3):
            use(port)
        assert wait_for(lambda s=subject: s.stat()[1]["b", "s3"]["status"] == "DOWN")
        # the time since the last session, in seconds, is zero before
        assert wait_for(lambda s=subject: int(s.stat()[1]["traffic", "w"]["lastsess"]) > 0)
    # what takes less than a millisecond is zero before
    brief = {"qtime_max", "ctime_max", "rtime_max", "ttime_max"}
    for command in ("", "clear counters", "clear counters all"):
        theirs, ours = [], []
        for subject, out in zip(pair.both, (theirs, ours)):
            if command:
                assert subject.admin(command) == "\n"
            stat, info = zeros(subject)
            for row in stat.values():
                for c in brief:
                    row.pop(c, None) if not command else None
            out += [stat, info]
        assert theirs == ours, command
