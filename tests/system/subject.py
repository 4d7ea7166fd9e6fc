"""The program under test from outside: tacit, or with SUBJECT=/usr/sbin/haproxy another one that reads the same
configuration. Running both shows whether a test verifies HAProxy's behaviour or only our idea of it."""

import json
import os
import re
import subprocess
import threading
from pathlib import Path

import moved_clock
import pytest
from conftest import ROOT, TACIT, answers, fds, free_port
from facts import LIMIT, Seen, becomes, close, flush_loopback

SUBJECT = os.path.abspath(os.environ.get("SUBJECT") or TACIT)
IS_TACIT = "haproxy" not in os.path.basename(SUBJECT)
BUILD = Path(os.environ.get("TACIT_BUILD") or ROOT / "build")
# cov, too, is not confined, and measures its own calls and memory.
IS_SANITIZED = BUILD.name in ("dev", "tsan", "cov")
SLOW = os.environ.get("TACIT_SLOW") == "1"

# A timeout that is to expire, and for that moves the clocks of tacit: proxy(..., clock=IS_TACIT), and Proxy.expire().
BRIEF = moved_clock.BRIEF if IS_TACIT else moved_clock.HAPROXY_BRIEF

# strace makes a call fail by replacing its number by -1, which no filter allows.
INJECTABLE = "insecure-syscalls-wanted" if IS_TACIT else ""
only_tacit = pytest.mark.skipif(not IS_TACIT, reason="only tacit has this")
# Set by make tables.
only_tables = pytest.mark.skipif(os.environ.get("TACIT_TABLES") != "1", reason="takes minutes: make tables")
only_slow = pytest.mark.skipif(not SLOW, reason="takes minutes: set TACIT_SLOW=1")
only_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root for a network namespace")
not_sanitized = pytest.mark.skipif(IS_SANITIZED, reason="measures what sanitizers change")


class Proxy:
    """One running subject with one listener: `port`, `pid`, `admin()`, `info()`, `logs`."""

    def __init__(self, d, port, log):
        self.d = d
        self.pid = d.pid
        self.port = port
        self.log = log

    def __getattr__(self, name):
        return getattr(self.d, name)

    @property
    def sessions(self):
        return int(self.info()["CurrConns"])

    def frontend(self, column):
        """The row of the listener in show stat: unlike show info, without connections of the admin socket."""
        head, row = self.admin("show stat l 1 -1").strip().split("\n")
        return row.split(",")[head[2:].split(",").index(column)]

    def until(self, *conditions):
        """As Daemon.until(). HAProxy 2.6 has no conditions: its sessions are counted, and idle it is not asked to be."""
        if IS_TACIT:
            self.d.until(*conditions)
        elif "sessions eq" in conditions[0]:
            becomes(lambda: self.sessions, int(conditions[0].split()[-1]), conditions[0])

    def expire(self):
        """Timeouts of BRIEF expire, as Daemon.expire(). HAProxy's expire by themselves."""
        if IS_TACIT:
            self.d.expire()

    def no_sessions(self):
        """All sessions have ended, are counted and logged, and their descriptors are closed."""
        self.until("sessions eq 0", "idle")

    def settle(self):
        """No session is left and the descriptors are closed: after every test."""
        self.no_sessions()
        assert not self.d.leaked(), self.d.leaked(0)

    def spliced(self):
        """After the last session no bytes are left in a pipe. Returns the number of spliced bytes."""
        self.no_sessions()
        info = self.info()
        assert info["PipesUsed"] == "0"
        if IS_TACIT:
            assert info["Fsm_bugs"] == "0"
            assert info["Loop_spins"] == "0"
        return int(info["TotalSplicdedBytesOut"])


class LogServer:
    """A syslog server on UDP; the lines go to .lines without their header."""

    def __init__(self):
        import socket
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self.sock.bind(("127.0.0.1", 0))
        self.port = self.sock.getsockname()[1]
        self.lines = Seen()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while True:
            try:
                data = self.sock.recv(65536)
            except OSError:
                return
            if data == b"":
                return
            self.lines.append(data.decode(errors="replace").rstrip("\n"))

    def wait(self, n=1, limit=LIMIT):
        """The first n lines of sessions (those with a client's address)."""
        self.lines.until(lambda lines: len(self._sessions(lines)) >= n, f"{n} lines of sessions", limit)
        return self.sessions()

    def sessions(self):
        return self._sessions(self.lines)

    @staticmethod
    def _sessions(lines):
        return [line.split("]: ", 1)[1] for line in lines if "] " in line and "/" in line.split("]: ")[-1]]

    def drain(self):
        """All lines that have been sent so far: the socket keeps their order."""
        flush_loopback()
        end = f"end of {len(self.lines)}"
        self.sock.sendto(end.encode(), self.sock.getsockname())
        self.lines.until(lambda lines: end in lines, "the test's own line")
        self.lines.remove(end)
        return list(self.lines)

    def close(self):
        close(self.sock, self.thread)


def fields(line):
    """A tcplog line as a dictionary."""
    words = line.split()
    tw, tc, tt = words[4].split("/")
    backend, server = words[3].split("/", 1)
    return {"client": words[0], "frontend": words[2], "backend": backend, "server": server, "tw": tw, "tc": tc,
            "tt": tt, "bytes": words[5], "end": words[6], "counts": words[7], "queues": words[8]}


@pytest.fixture
def proxy(daemon):
    """Factory: proxy(servers, bind="", extra="", options="", log=False, **daemon's) -> a Proxy.

    servers: a port, or the text of server lines. options: more lines for the one listen section.
    """
    made, logs = [], []

    def start(servers, options="", bind="", extra="", log=True, port=None, cfg="", **kw):
        port = port or free_port()
        target = LogServer()
        logs.append(target)
        if isinstance(servers, int):
            servers = f"server s 127.0.0.1:{servers}"
        body = "\n    ".join(["listen l", f"bind 127.0.0.1:{port} {bind}", *options.split("\n"),
                              *servers.split("\n")])
        if log:
            body += f"\n    option tcplog\n    log 127.0.0.1:{target.port} local0\n"
        if not IS_TACIT:
            extra += "\n    nbthread 1"
        d = daemon(body + "\n" + cfg, extra=extra, program=SUBJECT, ready=IS_TACIT, **kw)
        if not IS_TACIT:
            becomes(lambda: (d.proc.poll(), answers(d.sock)), (None, True), "HAProxy to answer")
            d.base = fds(d.pid)
        if log:
            d.base[-1] = "the log socket comes with the first line"
        made.append((Proxy(d, port, target), kw.get("checked", True)))
        return made[-1][0]

    yield start
    for p, checked in made:
        if checked and p.d.is_running():
            p.settle()
    for t in logs:
        t.close()


def tool(name, listener, port, *args, timeout=24 * LIMIT, check=True):
    """Runs build/tools/name with a listening socket and the proxy's port; its JSON line. A tool reports what hangs by itself."""
    done = subprocess.run(
        [str(BUILD / "tools" / name), "--listen", str(listener.fileno()), "--connect", f"127.0.0.1:{port}",
         *map(str, args)], pass_fds=[listener.fileno()], capture_output=True, text=True, timeout=timeout, check=False)
    assert done.stdout, done.stderr
    out = json.loads(done.stdout)
    out["stderr"] = done.stderr
    if check:
        assert done.returncode == 0, f"{out}\n{done.stderr}"
    return out


def warm(p, listener):
    """More sessions at once than any test of memory has: memory that grows after that is a leak, not a new peak."""
    tool("storm", listener, p.port, "--total", 1000, "--concurrency", 500, "--hold", 300)


LATE_KIB = 8   # two pages


def storm_leaves_nothing(p, listener, total, mark, concurrency=100, **kw):
    """Many short connections, after the first of which memory does not grow. A page may be touched late by chance:
    when it was so few the test is repeated. A leak grows each time, even if it is a byte for each connection."""
    for _ in range(3):
        got = tool("storm", listener, p.port, "--total", total, "--pid", p.pid, "--mark", mark,
                   "--concurrency", concurrency, **kw)
        print(got)
        assert got["served"] == total
        if IS_SANITIZED or (got["anon_end"] <= got["anon_mark"] and got["rss_end"] <= got["rss_mark"]):
            return True
        if max(got["anon_end"] - got["anon_mark"], got["rss_end"] - got["rss_mark"]) > LATE_KIB:
            break
    return False


@pytest.fixture
def listener():
    """A listening socket to pass to a tool."""
    import socket
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen(1024)
        yield s


def rest(p, ms):
    """The work of a process in so many milliseconds of its own clock, while the test does nothing: returns the turns of its
    loops, without those that the questions of the test take, nanoseconds of CPU, and the seconds that passed."""
    def uptime():
        return float(p.admin("show info float").split("Uptime_sec: ")[1].split()[0])

    began, w0, (c0, _) = uptime(), loops(p), schedstat(p.pid)
    p.admin(f"wait {ms}", timeout=ms / 1000 + LIMIT)
    (c1, _), w1 = schedstat(p.pid), loops(p)
    return max(0, w1 - w0 - QUESTIONS), c1 - c0, uptime() - began


def schedstat(pid):
    """CPU nanoseconds of all threads, and how often they were scheduled."""
    ns = runs = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        a, _, b = Path(f"/proc/{pid}/task/{task}/schedstat").read_text().split()
        ns, runs = ns + int(a), runs + int(b)
    return ns, runs


# Turns that the connections of `wait` and of two other commands take at most.
QUESTIONS = 12


def loops(p):
    """The turns of its loops so far: each return from waiting is one. A context switch may be a page that is read from a disk."""
    return int(re.search(r"^loops: (\d+)", p.admin("show activity"), re.MULTILINE)[1])
