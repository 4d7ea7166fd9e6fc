"""Several workers: what one of them does to descriptors and sessions that others have, had, or are about to have."""

import contextlib
import os
import re
import threading
import time

import pytest
from conftest import connect, wait_for
from subject import IS_SANITIZED, listener, only_tacit, proxy, tool  # noqa: F401

pytestmark = only_tacit
FOUR = "nbthread 4\n    tune.listener.multi-queue fair"


def activity(p):
    """`show activity`: {name: [of each worker]}."""
    rows = re.findall(r"^(\w+): \d+ \[ ([\d ]+) \]$", p.admin("show activity"), re.MULTILINE)
    return {name: [int(n) for n in each.split()] for name, each in rows}


@pytest.mark.parametrize("mode", ["unmerged", "merged", "edge"])
def test_numbers_change_hands(proxy, listener, mode):
    """Few connections at a time, each taken by the next worker: a number that one closes is mostly the one that another
    gets next. Every body says whose it is."""
    p = proxy(listener.getsockname()[1], options="timeout client 60s\ntimeout server 60s", log=False,
              extra=f"{FOUR}\n    tune.epoll.mode {mode}")
    n = 300 if IS_SANITIZED else 2000
    got = tool("peers", listener, p.port, "--bodies", n, "--max", 20000, "--concurrency", 6,
               "--seed", os.environ.get("SEED", 11))
    assert got["connections"] == n // 2
    for served in activity(p)["connections"]:
        assert abs(served - n // 8) <= 1
    info = p.info()
    assert info["Fsm_bugs"] == "0"
    # However many connections: no more numbers than there were at once.
    assert max(p.fds()) < 100


def talk_on(port, seconds, ends):
    """Sends and takes back, in many pieces, one connection after the other; whoever is ended comes again."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with contextlib.suppress(OSError), connect(port) as c:
            while time.monotonic() < until:
                c.sendall(b"x" * 3000)
                if not c.recv(65536):
                    break
        ends.append(1)


@pytest.mark.parametrize("mode", ["merged", "edge"])
def test_sessions_are_ended_while_their_events_wait(proxy, origin, mode):
    """By the admin socket, which the first worker serves, while the others stand still with what the kernel told them
    in their hands."""
    p = proxy(origin.port, log=False, extra=f"{FOUR}\n    tune.epoll.mode {mode}")
    ends = []
    clients = [threading.Thread(target=talk_on, args=(p.port, 2, ends), daemon=True) for _ in range(16)]
    for c in clients:
        c.start()
    asked = 0
    while any(c.is_alive() for c in clients):
        named = re.findall(r"^(0x[0-9a-f]+):", p.admin("show sess"), re.MULTILINE)
        for name in named[::3]:
            p.admin(f"shutdown session {name}")
            asked += 1
        p.admin("shutdown sessions server l/s")
    for c in clients:
        c.join(10)
    assert len(ends) > 50 and asked > 20
    assert wait_for(lambda: p.sessions == 0), p.admin("show sess")
    assert p.info()["Fsm_bugs"] == "0"
    assert min(activity(p)["connections"]) > 0
