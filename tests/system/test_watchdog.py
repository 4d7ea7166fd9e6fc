"""The watchdog of the service manager, and the commands that make a worker stall."""

import contextlib
import os
import signal
import socket
from pathlib import Path

import pytest

from clients import site
from conftest import WAIT, free_port, wait_for
from facts import LIMIT, contains, only_child
from stalled import stopped_thread
from test_master import MASTER, worker_of

def worker_threads(pid):
    """Not those of a sanitizer."""
    names = {int(p.name): (p / "comm").read_text() for p in Path(f"/proc/{pid}/task").iterdir()}
    return [pid, *(tid for tid, name in names.items() if "/" in name)]


def is_fed(d):
    """Five more WATCHDOG=1 come: the moments are those of tests/sim/process/watchdog.txt."""
    def comes():
        d.notify.seen.clear()
        return d.notify.wait("WATCHDOG=1", LIMIT)

    d.notify.drain()
    return all(comes() for _ in range(5))


def is_starved(d):
    """One comes at most, which was due already, in the time of seven."""
    d.notify.drain()
    d.notify.seen.clear()
    d.notify.wait("none", 1.5)
    return sum("WATCHDOG=1" in m for m in d.notify.seen) <= 1


@pytest.mark.parametrize("mode", [MASTER, ("-db",)])
def test_a_stalled_worker_stops_the_watchdog_messages(daemon, mode):
    port = free_port()
    d = daemon(site(port), extra="nbthread 3", mode=mode, env={"WATCHDOG_USEC": "400000"})
    serving = worker_of(d) if mode == MASTER else d.pid
    assert is_fed(d)
    for tid in worker_threads(serving):
        with stopped_thread(tid):
            assert is_starved(d)
        assert is_fed(d)
    if mode == MASTER:
        os.kill(d.pid, signal.SIGUSR2)
        assert is_fed(d)


@pytest.mark.parametrize("how,mode", [("loop", ("-db",)), ("delay", MASTER)])
def test_a_worker_that_is_slow_feeds_the_watchdog_and_one_that_stalls_does_not(daemon, how, mode):
    """By commands that are made for it. WatchdogSec is 400 ms."""
    d = daemon(site(free_port()), extra="nbthread 3\n    master-worker exit-on-failure", mode=mode,
               env={"WATCHDOG_USEC": "400000"}, checked=False)
    serving = worker_of(d) if mode == MASTER else d.pid
    d.notify.seen.clear()

    def fed():
        assert d.admin(f"expert-mode on; debug dev {how} 50 2") == "\n\n"
        d.notify.wait("none", 0.1)
        return sum("WATCHDOG=1" in m for m in d.notify.seen) >= 3

    assert wait_for(fed, 5 * WAIT)
    # One that is over.
    assert d.admin(f"expert-mode on; debug dev {how} 1000 3") == "\n\n"
    assert is_fed(d)
    assert d.admin(f"expert-mode on; debug dev {how} 3600000 3") == "\n\n"
    # Questions to the worker are behind the command in its mailbox: one that was answered before may still send its message.
    d.notify.drain()
    d.notify.seen.clear()
    d.passes(1500)
    d.notify.drain()
    assert sum("WATCHDOG=1" in m for m in d.notify.seen) <= 1
    os.kill(serving, signal.SIGKILL)
    assert d.wait() == (137 if mode == MASTER else -signal.SIGKILL)


def test_debug_commands(daemon, tmp_path):
    """They need the expert mode and the level admin, and do what they say."""
    log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    log.bind(str(tmp_path / "log"))
    log.settimeout(WAIT)
    d = daemon(site(free_port()), extra=f"log {tmp_path}/log local0\n    nbthread 2", mode=MASTER, checked=False)
    assert "restricted to expert mode only" in d.admin("debug dev exit 3")
    assert "Permission denied" in d.admin("operator; expert-mode on; debug dev exit 3")
    for line, reason in (("loop x", "expects milliseconds from 0"), ("loop -1", "expects milliseconds from 0"),
                         ("delay 1 3", "expects the number of a thread from 0 to 2"), ("delay 1 0", "numbered from 1"),
                         ("exit 256", "expects an exit code from 0 to 255"), ("hex 0", "not supported: use a debugger")):
        assert reason in d.admin(f"expert-mode on; debug dev {line}"), line
    d.admin("expert-mode on; debug dev log hello you")
    while b"hello you" not in log.recv(4096):
        pass
    for line, code in (("exit 3", 3), ("panic", 128 + signal.SIGABRT)):
        first = worker_of(d)
        with contextlib.suppress(OSError):
            d.admin(f"expert-mode on; debug dev {line}")
        contains(d.stderr_path, f"Current worker ({first}) exited with code {code}")
        only_child(d.pid, besides=[first])
        assert "Pid" in d.admin("show info")
    log.close()


def test_no_watchdog_for_another_process(daemon):
    d = daemon(site(free_port()), env={"WATCHDOG_USEC": "40000", "WATCHDOG_PID": "1"})
    d.passes(300)
    d.notify.drain()
    assert not any("WATCHDOG=1" in m for m in d.notify.seen)
