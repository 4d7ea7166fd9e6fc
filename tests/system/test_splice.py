"""Spliced streams: every byte correct, every pipe returned, and the behaviour without pipes."""

import contextlib
import hashlib
import os
import re
import resource
import socket
import threading
import time
from pathlib import Path

import pytest
from conftest import WAIT, connect, is_open, needs_descriptors, recv_all
from facts import becomes
from subject import (INJECTABLE, IS_SANITIZED, IS_TACIT, listener, not_sanitized, only_root, only_slow,  # noqa: F401
                     only_tacit, proxy, tool)
from test_faults import Injected

LENIENT = [] if IS_TACIT else ["--lenient"]
LONG = "timeout client 60s\ntimeout server 60s\ntimeout connect 1m"
BOTH = "option splice-request\noption splice-response"
AUTO = "option splice-auto"
SOON = "tune.splice.after 20000"


def listen_port(s):
    return s.getsockname()[1]


def bodies(proxy, listener, n, options, extra="", seed=1, **kw):
    # HAProxy keeps its pipes.
    p = proxy(listen_port(listener), options=f"{LONG}\n{options}", extra=extra, log=False, checked=IS_TACIT)
    got = tool("peers", listener, p.port, "--bodies", n, "--seed", os.environ.get("SEED", seed), *LENIENT, **kw)
    assert got["connections"] == n // 2
    assert got["whole"] > n * 0.7
    return p, got


@pytest.mark.parametrize("options", [BOTH, AUTO, "option splice-response", "option splice-request"],
                         ids=["both", "auto", "response", "request"])
def test_bodies(proxy, listener, options):
    n = 400 if IS_SANITIZED else 2000
    p, got = bodies(proxy, listener, n, options, SOON if IS_TACIT else "")
    if IS_TACIT:
        assert p.spliced() > got["bytes"] * 0.2
        assert p.info()["Splice_fallbacks"] == "0"


@only_tacit
@pytest.mark.parametrize("extra", ["tune.epoll.mode unmerged", "tune.epoll.mode merged", "use-poller ev:epoll",
                                   "use-poller ev:poll", "tune.pipesize 16384", "tune.pipesize 1m", "maxpipes 3",
                                   "tune.bufsize 1024"])
def test_bodies_in_each_way(proxy, listener, extra):
    p, got = bodies(proxy, listener, 200 if IS_SANITIZED else 600, BOTH, extra, seed=7)
    assert p.spliced() > got["bytes"] * 0.2


@only_tacit
@pytest.mark.parametrize("extra, mode", [("nosplice", ()), ("", ("-dS",))], ids=["nosplice", "dS"])
def test_switched_off(proxy, origin, extra, mode):
    p = proxy(origin.port, options=BOTH, extra=extra, log=False, mode=("-db", *mode))
    sent, got = stream(p.port, 2000000)
    assert sent == got
    assert p.spliced() == 0
    assert "splice" not in p.admin("show syscalls")


@only_slow
def test_a_million_spliced_bodies(proxy, listener):
    """HAProxy lost the end of one in 50,000 (its issue 2505)."""
    n = 20000 if IS_SANITIZED else 1000000
    p = proxy(listen_port(listener), options=f"{LONG}\n{BOTH}", log=False, checked=IS_TACIT)
    got = tool("peers", listener, p.port, "--bodies", n, "--seed", os.environ.get("SEED", 1), "--concurrency", 200,
               "--max", 300000, *LENIENT, timeout=1700)
    print(got, p.info()["TotalSplicdedBytesOut"])
    assert got["connections"] == n // 2
    assert p.spliced() > 0


# --- one long stream -------------------------------------------------------------------------------------
def stream(port, size, slow=0.0, half_close=True):
    """Sends size bytes to an echo server and reads them back, with pauses; returns both SHA-256."""
    sent, got = hashlib.sha256(), hashlib.sha256()
    with connect(port, timeout=WAIT) as c:
        def send():
            block, left = os.urandom(1 << 20), size
            while left:
                part = block[:min(left, len(block))]
                c.sendall(part)
                sent.update(part)
                left -= len(part)
                block = block[1:] + block[:1]
            if half_close:
                c.shutdown(socket.SHUT_WR)
        t = threading.Thread(target=send, daemon=True)
        t.start()
        left = size
        while left:
            part = c.recv(1 << 17)
            assert part, f"{left} bytes short"
            got.update(part)
            left -= len(part)
            if slow and left % 7 == 0:
                time.sleep(slow)
        t.join(WAIT)
        assert not half_close or c.recv(1) == b""
    return sent.hexdigest(), got.hexdigest()


@pytest.mark.parametrize("options", [BOTH, AUTO], ids=["both", "auto"])
@pytest.mark.parametrize("slow", [0, 0.002], ids=["fast", "slow"])
def test_a_long_stream(proxy, origin, options, slow):
    p = proxy(origin.port, options=f"{LONG}\n{options}", log=False, checked=IS_TACIT)
    sent, got = stream(p.port, (8 if IS_SANITIZED else 64) << 20, slow)
    assert sent == got
    assert p.spliced() >= (4 << 20 if IS_TACIT else 0)


@only_tacit
def test_an_idle_connection_owns_no_pipe(proxy, origin):
    p = proxy(origin.port, options=f"{LONG}\n{BOTH}", log=False)
    with connect(p.port) as c:
        for _ in range(2):
            threading.Thread(target=c.sendall, args=(b"x" * 3000000,), daemon=True).start()
            left = 3000000
            while left:
                left -= len(c.recv(65536))
            p.until("counter PipesUsed eq 0")
            # Idle pipes are closed in the end: two descriptors are left.
            becomes(p.fds, lambda seen: len(seen) == len(p.base) + 2, "two descriptors")
            assert p.sessions == 1
    assert int(p.info()["TotalSplicdedBytesOut"]) > 2000000


@only_tacit
@pytest.mark.parametrize("poller", ["epoll", "ev:poll"])
def test_urgent_data_in_a_stream(proxy, origins, poller):
    """splice() stops for ever at urgent data, and reports an end when a FIN follows it."""
    def serve(conn):
        conn.recv(10)
        for _ in range(20):
            conn.sendall(b"a" * 300000)
            conn.send(b"!", socket.MSG_OOB)
        conn.sendall(b"b" * 5)

    p = proxy(origins(serve).port, options=f"{LONG}\n{BOTH}", extra=f"use-poller {poller}", log=False)
    for _ in range(5):
        with connect(p.port, timeout=WAIT) as c:
            c.sendall(b"go")
            got = recv_all(c)
        # The urgent bytes themselves are not forwarded: they are not part of the stream.
        assert got.replace(b"!", b"") == b"a" * 6000000 + b"b" * 5
    p.spliced()


# --- nothing to splice with ------------------------------------------------------------------------------
RULES = ["pipe2:error=EMFILE:when=1+2", "pipe2:error=ENFILE", "pipe2:error=ENOMEM", "splice:error=EINVAL:when=3+4",
         "splice:error=EINVAL", "splice:error=ENOMEM:when=2+3", "splice:error=ENOSYS", "fcntl:error=EPERM",
         "splice:error=EINTR:when=2+3", "splice:error=EAGAIN:when=2+5"]


@only_tacit
@pytest.mark.parametrize("rule", RULES, ids=[r.replace(":error=", "-").replace(":when=", "-") for r in RULES])
def test_failing_call(proxy, origin, rule):
    # With edge-triggered polling an injected EAGAIN is never followed by an event.
    mode = "merged" if "EAGAIN" in rule else "edge"
    p = proxy(origin.port, options=f"{LONG}\n{BOTH}", extra=f"tune.epoll.mode {mode}\n{INJECTABLE}", log=False)
    with Injected(p.pid, rule):
        for _ in range(3):
            sent, got = stream(p.port, 3000000, half_close=False)
            assert sent == got
    p.spliced()
    if "EINTR" not in rule and "EAGAIN" not in rule:
        assert p.info()["Splice_fallbacks"] != "0"
    # Once more without faults: no pipe is created within a second of a failure.
    p.passes(1000)
    assert stream(p.port, 3000000) and p.spliced() > 1000000


def hold(uid, out, until):
    """In a child process: as that user, creates as many pipes as possible, and holds them until the other end of
    `until` is closed."""
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)
    held = []
    with contextlib.suppress(OSError):
        while len(held) < 3000:
            held.append(os.pipe())
    os.write(out, b"%d\n" % len(held))
    os.read(until, 1)


@contextlib.contextmanager
def holding_pipes(uid):
    """A process of that user with more pipes than fs.pipe-user-pages-soft allows to be of full size; their number.
    """
    reported, out = os.pipe()
    until, end = os.pipe()
    resource.setrlimit(resource.RLIMIT_NOFILE, (6200, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    pid = os.fork()
    if pid == 0:
        try:
            os.close(end)
            hold(uid, out, until)
        finally:
            os._exit(0)
    os.close(out)
    os.close(until)
    try:
        yield int(os.read(reported, 20))
    finally:
        os.close(end)
        os.close(reported)
        os.waitpid(pid, 0)


# LeakSanitizer may not inspect a process that has changed its user.
@only_tacit
@only_root
@not_sanitized
def test_a_user_with_too_many_pipes(proxy, origin):
    soft = int(Path("/proc/sys/fs/pipe-user-pages-soft").read_text())
    if not 0 < soft < 40000:
        pytest.skip(f"fs.pipe-user-pages-soft is {soft}")
    # The kernel counts the pipes of a user: those of another run of the tests are another user's.
    uid = 1000000 + os.getpid()
    p = proxy(origin.port, options=f"{LONG}\n{BOTH}", extra=f"uid {uid}", log=False)
    assert re.search(rf"Uid:\s+{uid}", Path(f"/proc/{p.pid}/status").read_text())
    with holding_pipes(uid) as n:
        assert n * 16 > soft
        sent, got = stream(p.port, 4000000)
        assert sent == got
        # Pipes of two pages are not worth a system call: the bytes are copied.
        assert p.spliced() == 0
        assert int(p.info()["Splice_fallbacks"]) > 0
    p.passes(1000)
    assert stream(p.port, 3000000) and p.spliced() > 0


@needs_descriptors
@only_tacit
def test_pipes_take_descriptors(proxy, origin):
    """ulimit -n grows with maxpipes, and a derived maxconn shrinks, as in HAProxy."""
    p = proxy(origin.port, options=AUTO, extra="maxconn 1000", log=False)
    q = proxy(origin.port, options=AUTO, extra="maxconn 1000\nmaxpipes 10", log=False)
    r = proxy(origin.port, options="no option splice-auto", extra="maxconn 1000", log=False)
    assert p.info()["Maxpipes"] == "250"
    assert q.info()["Maxpipes"] == "10"
    assert r.info()["Maxpipes"] == "0"
    assert int(p.info()["Ulimit-n"]) - int(q.info()["Ulimit-n"]) == 480
    assert int(q.info()["Ulimit-n"]) - int(r.info()["Ulimit-n"]) == 20
    assert is_open(p.port)


@needs_descriptors
@only_tacit
def test_bulk_transfers_are_spliced_by_default(proxy, origin):
    """By default splicing is on, and maxconn does not change."""
    p = proxy(origin.port, options=LONG, extra="maxconn 1000", log=False)
    q = proxy(origin.port, options=f"{LONG}\nno option splice-auto", extra="maxconn 1000", log=False)
    assert p.info()["Maxpipes"] == "250"
    assert p.info()["Maxconn"] == q.info()["Maxconn"]
    for x in (p, q):
        sent, got = stream(x.port, 3000000)
        assert sent == got
    assert p.spliced() > 1000000
    assert q.spliced() == 0
