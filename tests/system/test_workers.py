"""Several workers: what one of them does to descriptors and sessions that others have, had, or are about to have."""

import contextlib
import os
import random
import re
import threading
import time

import pytest
from conftest import connect, free_port, wait_for
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


MAP_RULES = """
    http-request set-map({map}) %[req.hdr(k)] %[req.hdr(v)] if {{ req.hdr(v) -m found }}
    http-request del-map({map}) %[req.hdr(k)] if {{ req.hdr(d) -m found }}
    http-request add-acl({acl}) %[req.hdr(k)] if {{ req.hdr(v) -m found }}
    http-request del-acl({acl}) %[req.hdr(k)] if {{ req.hdr(d) -m found }}
    http-request set-var(txn.in) str(in) if {{ req.hdr(k) -m sub -f {acl} }}
    http-request return status 200 hdr M "%[req.hdr(k),map({map},none)]" hdr B "%[req.hdr(k),map_beg({map},none)]"
"""


def change_map(port, seconds, seed, asked, wrong):
    """Sets, removes and looks up keys that others do too: what is found is a value of that key."""
    dice, until = random.Random(seed), time.monotonic() + seconds
    while time.monotonic() < until:
        with connect(port) as c, c.makefile("rb") as answers:
            for _ in range(20):
                key = "<%d>" % dice.randrange(30)
                what = dice.choice(["", "", "D: 1\r\n", f"V: {key}{'x' * dice.randrange(200)}\r\n"])
                c.sendall(f"GET / HTTP/1.1\r\nHost: a\r\nK: {key}\r\n{what}\r\n".encode())
                head = {}
                for line in iter(answers.readline, b"\r\n"):
                    assert line, "no answer"
                    name, _, value = line.decode().strip().partition(": ")
                    head[name] = value
                asked.append(1)
                if any(head[n] != "none" and not head[n].startswith(key) for n in "MB"):
                    wrong.append((key, head))


def test_rules_change_maps_that_are_replaced(daemon, tmp_path):
    """On four workers at once, while the admin socket clears them and commits other versions."""
    files = {"map": tmp_path / "m", "acl": tmp_path / "l"}
    for f in files.values():
        f.write_text("")
    port = free_port()
    d = daemon(f"frontend f\n    mode http\n    bind 127.0.0.1:{port}\n" + MAP_RULES.format(**files), extra=FOUR)
    asked, wrong = [], []
    clients = [threading.Thread(target=change_map, args=(port, 2, seed, asked, wrong), daemon=True) for seed in range(8)]
    for c in clients:
        c.start()
    commits = 0
    while any(c.is_alive() for c in clients):
        version = d.admin(f"prepare map {files['map']}").split()[-1]
        d.admin(f"add map @{version} {files['map']} <1> <1>committed")
        commits += d.admin(f"commit map @{version} {files['map']}").strip() == ""
        d.admin(f"set map {files['map']} <1> <1>set")
        d.admin(f"del acl {files['acl']} <2>")
        d.admin(f"clear acl {files['acl']}")
        time.sleep(0.005)
    for c in clients:
        c.join(10)
    assert not wrong and len(asked) > 200 and commits > 10
    for kind, f in files.items():
        keys = [line.split()[1] for line in d.admin(f"show {kind} {f}").splitlines() if line]
        # The one that was committed may be there beside the one that a rule had added to it.
        assert all(keys.count(k) == 1 for k in keys if k != "<1>"), keys
    assert d.info()["Fsm_bugs"] == "0"
    assert min(activity(d)["connections"]) > 0
