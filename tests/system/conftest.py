"""Helpers for tests that run the whole process.

    def test_x(daemon, origin, tmp_path):
        port = free_port()
        d = daemon(f"listen l\\n bind 127.0.0.1:{port}\\n server s 127.0.0.1:{origin.port}\\n")
        ...
        d.admin("show info")

`daemon` starts build/tacit (or $TACIT) in the foreground, waits for its READY=1, and stops it after the test:
a daemon that died, leaks descriptors or does not stop by itself fails the test. The program is always ended
by its own pid.
"""

import contextlib
import os
import re
import resource
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

import facts
import moved_clock
import pytest
from ports import free_network, free_port, free_ports  # noqa: F401

ROOT = Path(__file__).resolve().parents[2]
TACIT = os.environ.get("TACIT") or str(ROOT / "build" / "tacit")
BUILD = Path(os.environ.get("TACIT_BUILD") or ROOT / "build")
# For hangs only: a busy machine has taken 20 seconds for a reload.
WAIT = facts.LIMIT

# Workers of a daemon, unless a test sets them: the whole suite also runs with several.
WORKERS = int(os.environ.get("TACIT_WORKERS", "1"))

# In many tests both ends of a connection are in this process: 1,024 descriptors are too few for a thousand
# connections.
_SOFT, DESCRIPTORS = resource.getrlimit(resource.RLIMIT_NOFILE)
if _SOFT < min(DESCRIPTORS, 65536):
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(DESCRIPTORS, 65536), DESCRIPTORS))
needs_descriptors = pytest.mark.skipif(DESCRIPTORS < 9000, reason="needs 9,000 descriptors (ulimit -Hn)")

# Dumpable, so that its descriptors can be listed without being root.
GLOBAL = """\
global
    stats socket {sock} level admin mode 600
    set-dumpable
    nbthread {workers}
    {extra}
defaults
    mode tcp
    timeout connect 1m
    timeout client 1m
    timeout server 1m
"""


def dumpable(text, *more):
    """A whole configuration (raw=True) with this and more lines in its global section: as GLOBAL."""
    lines = "".join(f"    {line}\n" for line in ("set-dumpable", *more))
    return re.sub(r"^global\n", lambda found: found[0] + lines, text, count=1, flags=re.M)


def wait_for(what, limit=WAIT, step=0.01):
    """Calls what() until it is true; returns its last value. Limited in time."""
    end = time.monotonic() + limit
    while True:
        got = what()
        if got or time.monotonic() >= end:
            return got
        time.sleep(step)


def recv_all(sock, limit=1 << 26):
    """Everything up to the end of the stream."""
    out = bytearray()
    while len(out) <= limit:
        got = sock.recv(65536)
        if not got:
            return bytes(out)
        out += got
    raise AssertionError(f"more than {limit} bytes")


def connect(port, host="127.0.0.1", timeout=WAIT):
    return socket.create_connection((host, port), timeout=timeout)


def has_ipv6():
    """True if this machine has the address ::1: a kernel or a container may be without."""
    try:
        with socket.socket(socket.AF_INET6) as s:
            s.bind(("::1", 0))
            return True
    except OSError:
        return False


def is_open(port):
    try:
        connect(port, timeout=WAIT).close()
        return True
    except OSError:
        return False


def admin(path, command, timeout=facts.LIMIT):
    """Sends one line to a stats socket and shuts down the write side; returns the whole answer."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(timeout)
        s.connect(str(path))
        s.sendall(command.encode() + b"\n")
        s.shutdown(socket.SHUT_WR)
        return recv_all(s).decode()


def answers(path):
    """True once the program with this stats socket answers: its listeners are bound then, and it serves. The file is
    there earlier."""
    with contextlib.suppress(OSError):
        return admin(path, "show version") != ""
    return False


def info(text):
    """`show info` as a dictionary."""
    return dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)


def fds(pid):
    """The open descriptors of a process: {number: link}; without the memory files that a master keeps, whose number
    changes with the worker processes."""
    return {n: link for n, link in all_fds(pid).items() if not link.startswith("/memfd:kept")}


def all_fds(pid):
    out = {}
    for name in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            out[int(name)] = os.readlink(f"/proc/{pid}/fd/{name}")
    return out


def rss_kib(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text()).group(1))


def is_alive(pid):
    try:
        os.kill(pid, 0)
        return True
    except ProcessLookupError:
        return False


def run(*args, cfg=None, env=None, cwd=None, timeout=facts.LIMIT, program=None):
    """Runs the program to its end; CompletedProcess with text output."""
    full = dict(os.environ)
    full.pop("NOTIFY_SOCKET", None)
    full.update(env or {})
    return subprocess.run([program or TACIT, *map(str, args)], capture_output=True, text=True, input=cfg,
                          env=full, cwd=cwd, timeout=timeout, check=False)


def doing(pid):
    """The calls that a process's threads wait for in the kernel, for the message of a test that gave up on it."""
    found = []
    for task in sorted(Path(f"/proc/{pid}/task").glob("*")):
        for name in ("comm", "wchan", "syscall", "stack"):
            with contextlib.suppress(OSError):
                found.append(f"{task.name} {name}: {(task / name).read_text(errors='replace').strip()}")
    return "\n".join(found)


class Notify:
    """A $NOTIFY_SOCKET."""

    def __init__(self, path):
        self.path = str(path)
        self.seen = []
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.sock.bind(self.path if self.path[0] != "@" else "\0" + self.path[1:])

    def wait(self, word, limit=WAIT):
        """True when a datagram with this line has arrived."""
        end = time.monotonic() + limit
        while not any(word in m.split("\n") for m in self.seen):
            left = end - time.monotonic()
            if left <= 0:
                return False
            self.sock.settimeout(left)
            try:
                self.seen.append(self.sock.recv(4096).decode())
            except socket.timeout:
                return False
        return True

    def drain(self):
        """Takes what has arrived so far."""
        self.sock.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                self.seen.append(self.sock.recv(4096).decode())

    def close(self):
        self.sock.close()


class Daemon:
    """A running program. `proc` is its Popen, `pid` its pid, `sock` its stats socket."""

    def __init__(self, directory, cfg, args, env, program, pass_fds, limits, ready, mode):
        self.dir = Path(directory)
        self.sock = self.dir / "stats.sock"
        self.cfg = self.dir / "tacit.cfg"
        self.cfg.write_text(cfg)
        self.stderr_path = self.dir / "stderr"
        self.stdout_path = self.dir / "stdout"
        full = dict(os.environ)
        self.notify = Notify(self.dir / "notify")
        full["NOTIFY_SOCKET"] = self.notify.path
        full.update(env or {})

        def setup():
            for what, soft, hard in limits:
                resource.setrlimit(what, (soft, hard))

        command = [program, *map(str, mode), "-f", str(self.cfg), *map(str, args)]
        popen = {"env": full, "cwd": self.dir, "pass_fds": pass_fds, "preexec_fn": setup if limits else None}
        self.proc = None
        try:
            self._begin(command, popen, ready)
        except BaseException:
            # Nobody else knows the process yet.
            self.kill()
            raise

    def _begin(self, command, popen, ready):
        self._start(command, popen)
        if ready and not self._wait_ready():
            found = self._not_ready()
            # The kernel can take minutes for a network namespace; that says nothing about the program, which may have
            # been started just before the time was over.
            if command[0] != "unshare" and "comm: unshare" not in found and "comm: sh" not in found:
                raise AssertionError(found)
            self._start(command, popen)
            if not self._wait_ready():
                raise AssertionError(self._not_ready())
        self.base = fds(self.pid) if ready else {}

    def _start(self, command, popen):
        with open(self.stdout_path, "wb") as out, open(self.stderr_path, "wb") as err:
            self.proc = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, **popen)
        self.pid = self.proc.pid

    def _not_ready(self):
        code, found = self.proc.poll(), doing(self.pid)
        self.proc.kill()
        self.proc.wait(WAIT)
        return f"not ready (exit {code}):\n{self.stderr}{self.stdout}{found}"

    def _wait_ready(self):
        # A long limit, and a longer one before the program runs at all: creating a network namespace waits for the kernel to
        # free those of other tests.
        end = time.monotonic() + 6 * WAIT
        last = end + 6 * WAIT
        while time.monotonic() < end:
            if self.notify.wait("READY=1", 0.2):
                return True
            if self.proc.poll() is not None:
                return False
            if self._comm() in ("unshare", "sh"):
                end = min(last, max(end, time.monotonic() + WAIT))
        return False

    def _comm(self):
        with contextlib.suppress(OSError):
            return Path(f"/proc/{self.pid}/comm").read_text().strip()
        return ""

    @property
    def stderr(self):
        return self.stderr_path.read_text(errors="replace")

    @property
    def stdout(self):
        return self.stdout_path.read_text(errors="replace")

    def admin(self, command, timeout=facts.LIMIT):
        return admin(self.sock, command, timeout)

    def until(self, *conditions, limit=facts.LIMIT):
        """Waits for conditions of the command `wait`, one after the other."""
        facts.until(self.sock, *conditions, limit=limit)

    def passes(self, ms):
        """So many milliseconds of the program's own clock pass: what its timers had to do by then is done."""
        assert self.admin(f"wait {ms}", timeout=ms / 1000 + facts.LIMIT) == "\n"

    def expire(self):
        """Timeouts of moved_clock.BRIEF expire, once what was sent has been handled: of a daemon with clock=True."""
        facts.flush_loopback()
        self.until("idle")
        moved_clock.expire(self.dir / "clock")

    def settle(self):
        """Returns when a daemon with one worker has handled what was sent, also where `wait` does not look again since the clock stands:
        its second answer takes a turn of its loop that began after the first one."""
        facts.flush_loopback()
        for _ in range(2):
            self.admin("show version")

    def advance(self, seconds):
        """Lets time pass, then: of a daemon with one worker and clock="stands"."""
        self.settle()
        moved_clock.advance(self.dir / "clock", seconds)

    def info(self):
        return info(self.admin("show info"))

    def fds(self):
        return fds(self.pid)

    def leaked(self, limit=facts.LIMIT):
        """Descriptors beyond those open when it was ready; empty when they are closed again, which takes idle connections of
        a server up to twice its pool-purge-delay."""
        now = {}

        def are_closed():
            # One look counts: a browser may come back between two.
            nonlocal now
            now = self.fds()
            return len(now) <= len(self.base)

        return {} if wait_for(are_closed, limit) else {n: l for n, l in now.items() if self.base.get(n) != l}

    def send(self, sig):
        self.proc.send_signal(sig)

    def wait(self, limit=facts.LIMIT):
        return self.proc.wait(limit)

    def is_running(self):
        return self.proc.poll() is None

    def stop(self, sig=signal.SIGTERM, limit=facts.LIMIT):
        """Ends it with a signal; returns its exit code."""
        if self.proc.poll() is None:
            self.proc.send_signal(sig)
        return self.proc.wait(limit)

    def kill(self):
        if self.proc and self.proc.poll() is None:
            self.proc.kill()
            self.proc.wait(WAIT)
        self.notify.close()


def pytest_configure(config):
    config.addinivalue_line("markers", "live(reason): it starts HAProxy each time (oracle.py)")


def pytest_runtest_setup(item):
    from oracle import HAPROXY
    if item.get_closest_marker("live") and not HAPROXY:
        pytest.skip(f"haproxy is not installed: {item.get_closest_marker('live').args[0]}")


@pytest.fixture
def daemon(tmp_path):
    """Factory: daemon(config, *args, extra="", raw=False, ...) -> a Daemon that is ready.

    The configuration is put after GLOBAL (stats socket, mode tcp, timeouts; `extra` lines go to its global section)
    unless raw. checked=False: it may have exited or leak at the end of the test. clock=True: the test moves its clocks;
    clock="stands": they stand still meanwhile."""
    running = []

    def start(cfg="", *args, extra="", raw=False, env=None, program=TACIT, pass_fds=(), limits=(), ready=True,
              checked=True, mode=("-db",), clock=False):
        directory = tmp_path / f"d{len(running)}"
        directory.mkdir()
        head = GLOBAL.format(sock=directory / "stats.sock", extra=extra, workers=WORKERS)
        text = cfg if raw else (head.replace(" 1m\n", " 1h\n") if clock else head) + cfg
        if clock:
            env = {**(env or {}), **moved_clock.environment(BUILD, directory / "clock", clock == "stands")}
        d = Daemon(directory, text, args, env, program, pass_fds, limits, ready, mode)
        running.append((d, checked))
        return d

    yield start
    wrong = []
    for d, checked in running:
        try:
            if checked and d.proc.poll() is None:
                leaked = d.leaked()
                if leaked:
                    wrong.append(f"descriptors left open: {leaked}")
                try:
                    code = d.stop(signal.SIGTERM)
                    if code not in (0, -signal.SIGTERM, 143):
                        wrong.append(f"exit code {code}\n{d.stderr[-4000:]}")
                except subprocess.TimeoutExpired:
                    wrong.append(f"did not stop\n{d.stderr[-4000:]}")
            elif checked and d.proc.returncode not in (0, -signal.SIGTERM, 143):
                wrong.append(f"had died: {d.proc.returncode}\n{d.stderr[-4000:]}")
            if any(word in d.stderr for word in ("ERROR: AddressSanitizer", "WARNING: ThreadSanitizer", "runtime error:")):
                wrong.append(d.stderr[-8000:])
        finally:
            d.kill()
    assert not wrong, "\n".join(wrong)


@contextlib.contextmanager
def demo_origin(port):
    """build/origin on that port of 127.0.0.1: one small page for each request; it keeps connections."""
    with subprocess.Popen([BUILD / "origin", "127.0.0.1", str(port)], stdout=subprocess.PIPE) as proc:
        try:
            assert proc.stdout.readline() == b"listening\n"
            yield
        finally:
            proc.kill()


class Origin:
    """A server on a port of its own, which on the loopback network no other test process takes when it is closed: each
    connection is passed to handle(socket) in a thread."""

    def __init__(self, handle, address=("127.0.0.1", 0), family=socket.AF_INET, backlog=512):
        self.sock = socket.socket(family)
        if family != socket.AF_UNIX:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if address[0].startswith("127.") and not address[1]:
                address = (address[0], free_port())
        self.sock.bind(address)
        self.sock.listen(backlog)
        self.port = self.sock.getsockname()[1] if family != socket.AF_UNIX else None
        self.count = 0
        self.errors = []
        self._handle = handle
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def _accept(self):
        while True:
            try:
                conn, _ = self.sock.accept()
            except OSError:
                return
            self.count += 1
            threading.Thread(target=self._serve, args=(conn,), daemon=True).start()

    def _serve(self, conn):
        with conn:
            conn.settimeout(60)
            try:
                self._handle(conn)
            except OSError:
                pass
            except Exception as e:  # shown by the test that uses it
                self.errors.append(e)

    def close(self):
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)
        self.sock.close()


def echo(conn):
    """Sends back what it receives, then closes."""
    while True:
        got = conn.recv(65536)
        if not got:
            return
        conn.sendall(got)


@pytest.fixture
def origins():
    """Factory: origins(handle=echo, **Origin's) -> an Origin, closed after the test."""
    made = []

    def make(handle=echo, **kw):
        made.append(Origin(handle, **kw))
        return made[-1]

    yield make
    for o in made:
        o.close()


@pytest.fixture
def origin(origins):
    """An echo server."""
    return origins()
