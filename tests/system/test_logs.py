"""Log lines are readable by other programs: httplog by halog, and JSON by any parser."""

import json
import re
import shutil
import socket
import subprocess
import threading

import oracle
import pytest

from conftest import ROOT, WAIT, answers, free_port
from facts import becomes
from subject import TACIT, LogServer, only_tacit

HALOG = shutil.which("halog")
ODD = b'"\\\t\xc3\xa9\xe9{|}#'

CONFIG = """
global
    stats socket {sock} level user

defaults
    mode http
    option httplog
    log 127.0.0.1:{log} format {form} local0
    log-tag haproxy
    retries 0
    timeout connect 1m
    timeout client 1m
    timeout server 1m

frontend web
    bind 127.0.0.1:{port}
    capture request header X-A len 40
    capture response header X-B len 40
    capture cookie SID len 20
    {extra}
    use_backend dead if {{ path_beg /dead }}
    use_backend two if {{ path_beg /two }}
    use_backend late if {{ path_beg /slow }}
    default_backend one

backend one
    server a 127.0.0.1:{origin}

backend two
    balance roundrobin
    server b 127.0.0.1:{origin}
    server c 127.0.0.1:{origin}

backend late
    timeout server 300ms
    server a 127.0.0.1:{origin}

backend dead
    server d 127.0.0.1:1
"""


class Origin:
    """Answers with the status code in the path; /slow does not answer in time."""

    def __init__(self):
        self.sock = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.sock.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                c = self.sock.accept()[0]
            except OSError:
                return
            threading.Thread(target=self._serve, args=(c,), daemon=True).start()

    def _serve(self, c):
        data = b""
        try:
            while piece := c.recv(65536):
                data += piece
                if b"\r\n\r\n" not in data:
                    continue
                status = re.search(rb"/(\d\d\d)", data)
                if b"/slow" in data:
                    c.recv(1)  # the end, by a timeout
                c.sendall(b"HTTP/1.1 %s x\r\nX-B: %s\r\nSet-Cookie: SID=new\r\nContent-Length: 3\r\n\r\nabc"
                          % (status[1] if status else b"200", ODD))
                data = b""
        except OSError:
            pass
        c.close()

    def close(self):
        self.sock.close()


def request(path, fields=b""):
    return b"GET %s HTTP/1.1\r\nHost: h\r\nConnection: close\r\n%s\r\n" % (path, fields)


REQUESTS = (
    [request(b"/a?%d" % (i % 3), b"X-A: " + ODD + b"\r\nCookie: SID=%d\r\n" % i) for i in range(9)]
    + [request(b"/two/x") for _ in range(6)]
    + [request(b"/two/404"), request(b"/404"), request(b"/500"), request(b"/500"), request(b"/304")]
    + [request(b"/dead"), request(b"/dead/2"), request(b"/slow")]
    + [b"GET / HTTP/1.1\r\nHo st: x\r\n\r\n", b"no request\r\n\r\n"]
    + [b"GET /post HTTP/1.1\r\nHost: h\r\n\r\nGET /again HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"])
LINES = len(REQUESTS) + 1


def play(port, log):
    for n, text in enumerate(REQUESTS, 1):
        with socket.create_connection(("127.0.0.1", port), WAIT) as s:
            s.sendall(text)
            while s.recv(65536):
                pass
        log.lines.wait(n)


@pytest.fixture
def lines_of(tmp_path):
    """Factory: the log lines that a program writes for REQUESTS."""
    made = []

    def get(program, form="local", extra=""):
        origin, log, port = Origin(), LogServer(), free_port()
        made.extend([origin, log])
        cfg = tmp_path / f"{len(made)}.cfg"
        sock = tmp_path / f"{len(made)}.sock"
        cfg.write_text(oracle.given(CONFIG.format(sock=sock, log=log.port, port=port, origin=origin.port, form=form, extra=extra)))
        p = subprocess.Popen([program, "-db", "-f", cfg], stderr=subprocess.DEVNULL)
        try:
            # A connection to look whether it is there would be logged, too, by one program and not by the other.
            becomes(lambda: p.poll() is not None or answers(sock), True, "an answer")
            assert p.poll() is None
            log.drain()
            log.lines.clear()
            play(port, log)
            log.lines.wait(LINES)
            assert len(log.lines) == LINES, log.lines
            return list(log.lines)
        finally:
            p.terminate()
            p.wait(WAIT)

    yield get
    for m in made:
        m.close()


def halog(lines, *options):
    # halog reads the files of a syslog daemon: the priority is replaced by the host's name
    text = "".join(re.sub(r"^<\d+>(\w+ +\d+ [\d:]+) ", r"\1 host ", line) + "\n" for line in lines)
    done = subprocess.run([HALOG, *options], input=text, capture_output=True, text=True, timeout=WAIT, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


# For each output the columns that do not depend on time and bytes: the heads of the two programs' own responses
# differ.
OUTPUTS = [
    (["-st"], lambda row: row),
    (["-tc"], lambda row: row),
    (["-srv"], lambda row: row[:9]),
    (["-u"], lambda row: [row[0], row[1], row[-1]]),
    (["-uc"], lambda row: [row[0], row[1], row[-1]]),
    (["-ue"], lambda row: [row[0], row[1], row[-1]]),
    (["-uba"], lambda row: [row[0], row[-1]]),
    (["-hdr", "1:1"], lambda row: row),
    (["-hdr", "2:1"], lambda row: row),
    (["-hs", "500:599", "-c"], lambda row: row),
    (["-hs", "404", "-st"], lambda row: row),
    (["-TCN", "--", "-c"], lambda row: row),
    (["-e", "-c"], lambda row: row),
    (["-q", "-c"], lambda row: row),
    (["-srv", "-e"], lambda row: row[:9]),
]


@pytest.mark.skipif(not HALOG, reason="needs halog, which comes with HAProxy")
@only_tacit
def test_halog_gives_the_same_output(lines_of):
    def play(program):
        lines = lines_of(program)
        found = {" ".join(options): sorted(keep(row.split()) for row in halog(lines, *options).splitlines() if row.split())
                 for options, keep in OUTPUTS}
        # columns that depend on time have the same form, and the same counts
        found["-pct"] = [row.split()[:2] for row in halog(lines, "-pct").splitlines()]
        for options in (["-gt"], ["-ad", "0"], ["-ac", "1"]):
            halog(lines, *options)
        for options in (["-u", "-uto"], ["-ut"]):
            found[" ".join(options)] = sorted(row.split()[-1] for row in halog(lines, *options).splitlines())
        return found

    theirs, ours = oracle.both(play)
    assert oracle.differences(theirs, ours) == [] and all(theirs.values())


@only_tacit
def test_json_is_valid_and_documented(lines_of):
    man = (ROOT / "man/tacit.cfg.5.in").read_text()
    man = man.split(".SS Logs in JSON")[1].split(".SS")[0]
    documented = re.findall(r"\.TP\n\.B (\w+)\n", man)
    got = [json.loads(line) for line in lines_of(TACIT, "raw", "option httplog json")]
    assert all(list(row) == documented for row in got)
    assert [row["status"] for row in got].count(500) == 2
    assert got[0]["request_headers"] == ['"\\\té\ufffd{|}#']
    assert got[0]["response_headers"] == got[0]["request_headers"]
    assert (got[0]["request_cookie"], got[0]["response_cookie"]) == ("SID=0", "SID=new")
    bad = [row for row in got if row["method"] is None]
    assert len(bad) == 2 and all(row["uri"] is None and row["status"] == 400 for row in bad)
    assert {row["server"] for row in got if row["backend"] == "two"} == {"b", "c"}
