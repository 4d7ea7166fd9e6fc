"""Output for other people's programs, read by their rules: telegraf, Datadog's agent, Zabbix's template,
OpenTelemetry's receiver, and halog on logs of mode tcp. The same readers read HAProxy: otherwise they would prove nothing."""

import base64
import contextlib
import csv
import http.client
import re
import shutil
import socket
import subprocess

import oracle
import pytest
from conftest import TACIT, WAIT, Origin, connect, free_ports, recv_all
from facts import becomes
from subject import LogServer, only_tacit
from test_oracle_stat import Subject

pytestmark = only_tacit

HALOG = shutil.which("halog")

CFG = """
defaults
 mode http
 timeout connect 1m
 timeout client 1m
 timeout server 1m
 timeout check 1m
frontend web
 bind 127.0.0.1:{front}
 default_backend app
backend app
 option httpchk
 cookie C insert
 server one 127.0.0.1:{origin} check inter 100ms cookie one
 server two 127.0.0.1:{dead} check inter 100ms cookie two
 server three 127.0.0.1:{origin} disabled
listen tcp
 mode tcp
 bind 127.0.0.1:{tcp}
 server one 127.0.0.1:{origin}
listen stats
 bind 127.0.0.1:{stats}
 stats enable
 stats uri /stats
 stats auth me:secret
 stats show-legends
 stats refresh 30s
"""


def answer(conn):
    conn.recv(4096)
    conn.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi")


class Watched:
    """One program with traffic behind it, and the ways in which tools ask it."""

    def __init__(self, program, directory, origin):
        front, tcp, dead, self.stats = free_ports(4)
        self.subject = Subject(program, directory, CFG.format(front=front, tcp=tcp, dead=dead, stats=self.stats, origin=origin))
        try:
            for port in (front, tcp):
                with connect(port) as c:
                    c.sendall(b"GET / HTTP/1.0\r\n\r\n")
                    assert recv_all(c).endswith(b"hi")
            becomes(lambda: self.socket(b"show stat\n"), lambda seen: "L4CON" in seen and "L7OK" in seen, "checks")
        except BaseException:
            self.stop()
            raise

    def socket(self, line):
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(WAIT)
            s.connect(str(self.subject.sock))
            s.sendall(line)
            return recv_all(s).decode()

    def http(self, path):
        made = http.client.HTTPConnection("127.0.0.1", self.stats, timeout=WAIT)
        with contextlib.closing(made):
            made.request("GET", path, headers={"Authorization": "Basic " + base64.b64encode(b"me:secret").decode()})
            response = made.getresponse()
            assert response.status == 200
            return response.read().decode()

    def stop(self):
        self.subject.stop()


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    """{name of a program: Watched}"""
    origin, made = Origin(answer), {}
    try:
        for name, program in oracle.PROGRAMS.items():
            made[name] = Watched(program, tmp_path_factory.mktemp("w"), origin.port)
        yield made
    finally:
        for w in made.values():
            w.stop()
        origin.close()


# --- telegraf: plugins/inputs/haproxy ---

TELEGRAF_TEXTS = {"status", "check_status", "last_chk", "mode", "tracked", "agent_status", "last_agt", "addr", "cookie"}
TELEGRAF_IGNORED = {"check_desc", "agent_desc"}


def telegraf(text):
    """[{field: value}], and the columns that it complains about."""
    rows = csv.reader(text.splitlines())
    header = next(rows)
    assert header[0].startswith("# ") and len(header[0]) > 2
    header[0] = header[0][2:]
    found, unreadable = [], set()
    for row in rows:
        if not row:
            continue
        assert len(row) == len(header)
        fields = {}
        for name, value in zip(header, row):
            if value == "" or name in TELEGRAF_IGNORED:
                continue
            if name in ("pxname", "svname") or name in TELEGRAF_TEXTS:
                fields[name] = value
            elif name == "type":
                fields[name] = ("frontend", "backend", "server", "listener")[int(value)]
            elif name == "lastsess" or re.fullmatch(r"\d+", value):
                fields[name] = int(value)
            else:
                unreadable.add(name)
        found.append(fields)
    return found, unreadable


@pytest.mark.parametrize("how", ["socket", "http"])
def test_telegraf(watched, how):
    def play(w):
        rows, unreadable = telegraf(w.socket(b"show stat\n") if how == "socket" else w.http("/stats;csv"))
        one = next(r for r in rows if (r["pxname"], r["svname"]) == ("app", "one"))
        # "* " stands before the result while the next check is on its way
        assert one["check_status"].removeprefix("* ") == "L7OK"
        assert (one["status"], one["stot"], one["hrsp_2xx"], one["mode"]) == ("UP", 1, 1, "http")
        two = next(r for r in rows if (r["pxname"], r["svname"]) == ("app", "two"))
        assert (two["status"], two["check_status"].removeprefix("* "), two["act"]) == ("DOWN", "L4CON", 1)
        return {(r["pxname"], r["svname"], r["type"]) for r in rows}, unreadable

    theirs, ours = oracle.both(play, watched, script=CFG)
    assert ours[0] == theirs[0]
    assert ours[1] <= theirs[1]


# --- Datadog's agent: its check haproxy ---

UPTIME = re.compile(r"(?P<days>\d+)d (?P<hours>\d+)h(?P<minutes>\d+)m(?P<seconds>\d+)s")


def datadog_socket(w):
    """The output of `show info;show stat`, split where the agent does it."""
    parts = [part for part in w.socket(b"show info;show stat\r\n").split("\n\n") if part.strip()]
    assert len(parts) == 2
    info = {}
    for line in parts[0].splitlines():
        if line:
            key, value = line.split(":")  # one colon, not two
            info[key] = value.strip()
    header, *rows = parts[1].splitlines()
    names = header.lstrip("# ").split(",")
    return info, [dict(zip(names, row.split(","))) for row in rows]


def datadog_page(text):
    """The version, and the seconds of uptime."""
    version = uptime = None
    for line in text.splitlines():
        if "HAProxy version" in line:
            version = re.search(r"HAProxy version ([^,]+)", line)[1]
        if "uptime = </b>" in line:
            found = UPTIME.search(line)
            uptime = sum(int(found[name]) * unit for name, unit in (("days", 86400), ("hours", 3600), ("minutes", 60), ("seconds", 1)))
    return version, uptime


def test_datadog(watched):
    for program, w in watched.items():
        info, rows = datadog_socket(w)
        assert int(info["Uptime_sec"]) >= 0 and re.match(r"\d+\.\d+", info["Version"])
        back = next(r for r in rows if (r["pxname"], r["svname"]) == ("app", "BACKEND"))
        assert (back["status"], back["stot"], back["hrsp_2xx"]) == ("UP", "1", "1"), program
        if program == TACIT:
            version, uptime = datadog_page(w.http("/stats"))
            assert version == info["Version"] and uptime >= int(info["Uptime_sec"])


# --- Zabbix: the template HAProxy by HTTP ---

def test_zabbix(watched):
    w = watched["tacit"]
    page = w.http("/stats")
    assert re.search(r"HAProxy version ([^,]*), ", page)[1] == datadog_socket(w)[0]["Version"]
    found = re.search(r"uptime = </b> (\d+)d (\d+)h(\d+)m(\d+)s", page.replace("\n", " "))
    assert found and all(part.isdigit() for part in found.groups())
    for w in watched.values():
        text = w.http("/stats;csv")
        rows = list(csv.DictReader(text.lstrip("# ").splitlines()))
        # Discovery: by svname, and by mode.
        assert {r["pxname"] for r in rows if r["svname"] == "FRONTEND" and r["mode"] in ("http", "tcp")} >= {"web", "tcp", "stats"}
        assert {r["pxname"] for r in rows if r["svname"] == "BACKEND" and r["mode"] == "http"} >= {"app"}
        assert {(r["pxname"], r["svname"]) for r in rows if r["svname"] not in ("FRONTEND", "BACKEND")} == {
            ("app", "one"), ("app", "two"), ("app", "three"), ("tcp", "one")}


# --- OpenTelemetry's receiver haproxyreceiver ---

OTEL = ("scur conn_rate conn_tot lbtot bin bout cli_abrt comp_byp comp_in comp_out comp_rsp dreq dresp downtime econ ereq eresp "
        "srv_abrt chkfail wredis hrsp_1xx hrsp_2xx hrsp_3xx hrsp_4xx hrsp_5xx hrsp_other wretr stot qcur req_rate ttime rate").split()


def test_opentelemetry(watched):
    """The receiver sends `show stats`, which only tacit knows, and reads once, 4 KiB."""
    w = watched["tacit"]
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(WAIT)
        s.connect(str(w.subject.sock))
        s.sendall(b"show stats\n")
        first = s.recv(4096).decode()
    # The end of the answer, or a whole read. Two answers may differ in length: checks go on.
    assert first.startswith("# pxname,svname") and (first.endswith("\n\n") or len(first) == 4096)
    rows = list(csv.DictReader(w.socket(b"show stats\n").lstrip("# ").splitlines()))
    one = next(r for r in rows if (r["pxname"], r["svname"]) == ("app", "one"))
    for name in OTEL:
        assert one[name] == "" or re.fullmatch(r"\d+", one[name]), name
    assert (one["stot"], one["lbtot"], one["hrsp_2xx"], one["econ"]) == ("1", "1", "1", "0")


# --- halog ---

LOGGED = """
defaults
 mode tcp
 option tcplog
 log 127.0.0.1:{log} format local local0
 log-tag haproxy
 retries 0
 timeout connect 1m
 timeout client 1m
 timeout server 1m
listen good
 bind 127.0.0.1:{good}
 server a 127.0.0.1:{origin}
 server b 127.0.0.1:{origin}
listen quiet
 timeout client 300ms
 bind 127.0.0.1:{quiet}
 server a 127.0.0.1:{origin}
listen dead
 bind 127.0.0.1:{dead}
 server a 127.0.0.1:{none}
listen never
 bind 127.0.0.1:{never}
 server a 127.0.0.1:{origin} disabled
"""
HALOG_OUTPUTS = [(["-st"], None), (["-tc"], None), (["-uc"], None), (["-c"], None), (["-E", "-c"], None), (["-H", "-c"], None),
                 (["-srv"], 9), (["-pct"], 2), (["-cc"], None), (["-ic"], 3)]


def tcp_lines(program, directory, origin):
    """The log lines of eight connections."""
    log, (good, quiet, dead, never, none) = LogServer(), free_ports(5)
    cfg = LOGGED.format(log=log.port, good=good, quiet=quiet, dead=dead, never=never, none=none, origin=origin)
    subject = Subject(program, directory, cfg)
    try:
        for port, text in ((good, b"x" * 5), (good, b"y" * 500), (good, b"z"), (good, b"zz"), (dead, b"x"), (dead, b"x"),
                           (never, b"x"), (quiet, b"")):
            before = len(log.lines)
            with connect(port) as c:
                c.sendall(text)
                with contextlib.suppress(ConnectionResetError):
                    recv_all(c)  # without a text: until the client's timeout
            log.lines.wait(before + 1)
        return list(log.lines)
    finally:
        subject.stop()
        log.close()


def halog(lines, *options):
    text = "".join(re.sub(r"^<\d+>(\w+ +\d+ [\d:]+) ", r"\1 host ", line) + "\n" for line in lines)
    done = subprocess.run([HALOG, *options], input=text, capture_output=True, text=True, timeout=WAIT, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not HALOG, reason="needs halog, which comes with HAProxy")
def test_halog_of_mode_tcp_gives_the_same_output(tmp_path, origins):
    def answer_once(conn):
        if conn.recv(4096):
            conn.sendall(b"a" * 40)

    origin = origins(answer_once)

    def play(program):
        directory = oracle.at(tmp_path, program)
        directory.mkdir()
        lines = tcp_lines(program, directory, origin.port)
        return {" ".join(options): sorted(row.split()[:columns] for row in halog(lines, *options).splitlines() if row.split())
                for options, columns in HALOG_OUTPUTS}

    theirs, ours = oracle.both(play)
    assert oracle.differences(theirs, ours) == []
