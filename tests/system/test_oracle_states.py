"""HAProxy and tacit run the same configuration and get the same commands: `show servers state`, `show backend`,
`clear counters` and their errors are compared."""

import contextlib
import re

import oracle
import pytest
from conftest import Origin, connect, free_ports, recv_all, wait_for
from oracle import Subject

ADMIN, SINCE, RESULT, HEALTH, CHECK, AGENT = 6, 9, 11, 12, 13, 14
BACK = ("b/s9",)  # without checks; their maintenance ends during the test
AWAY = ("b/s10",)  # checked; their maintenance begins during the test


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
 timeout connect 1m
 timeout client 1m
 timeout server 1m
 timeout check 1m
 default-server inter 1s fall 2
resolvers r
 nameserver a 127.0.0.1:{closed}
backend b
 option httpchk
 http-check disable-on-404
 server s1 127.0.0.1:{good} check
 server s2 127.0.0.1:{gone} check
 server s3 127.0.0.1:{sick} check
 server s4 127.0.0.1:{odd} check
 server s6 127.0.0.1:{closed} check
 server s8 127.0.0.1:{good} check disabled weight 7
 server s9 127.0.0.1:{good} track b/s8
 server s10 127.0.0.1:{good} id 77 check port {good} addr 127.0.0.1 agent-check agent-port {agent} agent-addr 127.0.0.1 agent-inter 1s
 server s11 nosuch.invalid:80 check init-addr none resolvers r
 server s12 ipv4@localhost:{good} check
 server s13 127.0.0.1:{good} check agent-check agent-port {drains} agent-inter 1s
 server s14 127.0.0.1
 server s15 127.0.0.1:+5
 server s16 /nosuch/socket
 server s17 ::1:80
 server s18 127.0.0.1:{good} disabled
 server s19 nosuch.invalid:80 init-addr none
 server s20 127.0.0.1:{good} backup check no-check
 server s21 127.0.0.1:{good} agent-check agent-port {agent} agent-inter 1s
 server s22 127.0.0.1:{good} check port {closed}
backend c
 id 55
 mode tcp
 default-server rise 5
 server t1 127.0.0.1:{good} check
 server t2 127.0.0.1:{good}
backend late
 option httpchk
 timeout check 1s
 server s5 127.0.0.1:{silent} check
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
        self.subjects = {}
        for name, program in oracle.PROGRAMS.items():
            (directory / name).mkdir()
            ports["port"], ports["front"] = free_ports(2)
            subject = self.subjects[name] = Subject(program, directory / name, CFG.format(**ports))
            stack.callback(subject.stop)
            subject.front, subject.results = ports["front"], {}

    def both(self, play, **kw):
        return oracle.both(play, self.subjects, script=CFG, **kw)


@pytest.fixture
def pair(tmp_path):
    with contextlib.ExitStack() as stack:
        yield Pair(tmp_path, stack)


def name_of(fields):
    return f"{fields[1]}/{fields[3]}"


def rows(subject):
    """The rows, without what depends on the moment: a check that is running has a bit, and the result is the last one then."""
    head, names, *lines = subject.admin("show servers state").rstrip("\n").split("\n")
    out = [head, names]
    for line in lines:
        fields = line.split(" ")
        # Less than an hour: no date.
        assert len(fields) == 25 and 0 <= int(fields[SINCE]) < 3600
        fields[SINCE] = ""
        # after maintenance HAProxy shows 0 for a server without checks (tacit(8))
        if not int(fields[CHECK]) & 2 and name_of(fields) in BACK:
            fields[HEALTH] = ""
        # a check that was running when maintenance began is counted in HAProxy
        if int(fields[ADMIN]) & 1 and name_of(fields) in AWAY:
            fields[HEALTH] = ""
        if int(fields[CHECK]) & 1:
            fields[RESULT] = subject.results.get(name_of(fields), "running")
        subject.results[name_of(fields)] = fields[RESULT]
        for i in (CHECK, AGENT):
            fields[i] = str(int(fields[i]) & ~1)
        out.append(re.sub(r"(?<!\d)\d{5}(?!\d)", "PORT", " ".join(fields)))
    return out


def same(pair, name):
    """Compares the dumps when they are equal: the programs do not check at the same moment."""
    theirs, ours = pair.both(rows, name=name, until_equal=True)
    assert oracle.differences(theirs, ours) == []


def test_servers_state(pair):
    same(pair, "before")
    theirs, ours = pair.both(lambda s: {command: s.admin(command) for command in CHANGES}, name="commands")
    assert ours == theirs
    same(pair, "after")


def test_answers(pair):
    def answer_of(subject, command):
        text = re.sub(r"\[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d\.\d{3}\] : \d+\n[^$]*", "[date] : N\n", subject.admin(command))
        if command.startswith("show servers state"):
            text = re.sub(r"(?m)^(\d+( \S+){8} )\S+( \S+){3} \S+", r"\1", text)
            text = re.sub(r"(?<!\d)\d{5}(?!\d)", "PORT", text)
        return text

    theirs, ours = pair.both(lambda s: {command: answer_of(s, command) for command in QUESTIONS})
    for command in QUESTIONS:
        assert ours[command] == theirs[command], command


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
    def play(subject):
        for _ in range(3):
            use(subject.front)
        assert wait_for(lambda: subject.stat()[1]["b", "s3"]["status"] == "DOWN")
        # the time since the last session, in seconds, is zero before
        assert wait_for(lambda: int(subject.stat()[1]["traffic", "w"]["lastsess"]) > 0)
        out = {}
        for command in ("", "clear counters", "clear counters all"):
            if command:
                assert subject.admin(command) == "\n"
            stat, info = zeros(subject)
            # what takes less than a millisecond is zero before
            brief = () if command else ("qtime_max", "ctime_max", "rtime_max", "ttime_max")
            out[command] = {key: {c for c, is_zero in row.items() if is_zero and c not in brief} for key, row in stat.items()}, info
        return out

    theirs, ours = pair.both(play)
    assert ours == theirs
