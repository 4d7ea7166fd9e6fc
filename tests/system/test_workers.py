"""Several workers: operations on descriptors and sessions of other workers, at any stage."""

import contextlib
import json
import os
import random
import re
import selectors
import socket
import threading

import pytest
from conftest import WAIT, connect, free_port, free_ports, recv_all
from facts import becomes
from subject import IS_SANITIZED, listener, only_tacit, proxy, tool  # noqa: F401

pytestmark = only_tacit
FOUR = "nbthread 4\n    tune.listener.multi-queue fair"


def activity(p):
    """`show activity`: {name: [number of each worker]}."""
    rows = re.findall(r"^(\w+): \d+ \[ ([\d ]+) \]$", p.admin("show activity"), re.MULTILINE)
    return {name: [int(n) for n in each.split()] for name, each in rows}


def allowed_cpus(pid):
    """The CPUs that each worker may run on, from the kernel. A sanitizer has threads of its own."""
    out = []
    for task in sorted(os.listdir(f"/proc/{pid}/task"), key=int):
        with open(f"/proc/{pid}/task/{task}/comm", encoding="ascii") as f:
            if int(task) != pid and "/" not in f.read():
                continue
        with open(f"/proc/{pid}/task/{task}/status", encoding="ascii") as f:
            out.append(re.search(r"^Cpus_allowed_list:\s*(\S+)$", f.read(), re.MULTILINE).group(1))
    return out


def test_workers_run_on_their_cpus(daemon):
    """cpu-map is applied to the first worker and to the others."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("needs two CPUs")
    body = f"listen l\n bind 127.0.0.1:{free_port()}\n server s 127.0.0.1:1\n"
    for one, other in (cpus[:2], cpus[1::-1]):
        d = daemon(body, extra=f"nbthread 2\n    cpu-map 1/1 {one}\n    cpu-map 1/2 {other}")
        becomes(lambda d=d: allowed_cpus(d.pid), [str(one), str(other)])
        d.stop()


@pytest.mark.parametrize("mode", ["unmerged", "merged", "edge"])
def test_descriptor_numbers_are_reused_by_other_workers(proxy, listener, mode):
    """Few connections at a time, each accepted by the next worker: a number closed by one is usually reused by
    another one. Every body names its connection."""
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
    # However many connections: no more numbers than were open at once.
    assert max(p.fds()) < 100


def talk_on(port, is_over, ends):
    """Sends and receives many pieces, one connection after the other; a connection that was ended is opened again.
    """
    while not is_over():
        with contextlib.suppress(OSError), connect(port) as c:
            while not is_over():
                c.sendall(b"x" * 3000)
                if not c.recv(65536):
                    break
        ends.append(1)


@pytest.mark.parametrize("mode", ["merged", "edge"])
def test_sessions_are_ended_while_their_events_wait(proxy, origin, mode):
    """By the admin socket, which the first worker serves, while the others stand still with undelivered events."""
    p = proxy(origin.port, log=False, extra=f"{FOUR}\n    tune.epoll.mode {mode}")
    ends, asked = [], 0
    is_over = lambda: len(ends) > 1000 and asked > 1000  # noqa: E731
    clients = [threading.Thread(target=talk_on, args=(p.port, is_over, ends), daemon=True) for _ in range(16)]
    for c in clients:
        c.start()
    while any(c.is_alive() for c in clients):
        named = re.findall(r"^(0x[0-9a-f]+):", p.admin("show sess"), re.MULTILINE)
        for name in named[::3]:
            p.admin(f"shutdown session {name}")
            asked += 1
        p.admin("shutdown sessions server l/s")
    for c in clients:
        c.join(WAIT)
    assert len(ends) > 50 and asked > 20
    p.no_sessions()
    assert p.info()["Fsm_bugs"] == "0"
    assert min(activity(p)["connections"]) > 0


def test_sessions_that_wait_for_a_server_stay_when_its_sessions_end(proxy, origin):
    """Waiting sessions get the slots of the ones that end, one after the other."""
    p = proxy(origin.port, options="maxconn 50\n    timeout queue 60s\n    default-server maxconn 1", log=False, extra=FOUR)

    with connect(p.port) as first, contextlib.ExitStack() as stack:
        first.sendall(b"0")
        assert first.recv(1) == b"0"
        waiting = [stack.enter_context(connect(p.port)) for _ in range(8)]
        p.until("sessions state/QUEUE eq 8", "server l/s cur eq 1")
        assert p.admin("shutdown sessions server l/s").strip() == ""
        with contextlib.suppress(ConnectionResetError):
            assert first.recv(1) == b""
        for c in waiting:
            c.sendall(b"x")
        with selectors.DefaultSelector() as some:
            for c in waiting:
                some.register(c, selectors.EVENT_READ)
            while some.get_map():
                ready = some.select(WAIT)
                assert ready
                for key, _ in ready:
                    assert key.fileobj.recv(1) == b"x"
                    some.unregister(key.fileobj)
                    key.fileobj.close()
    p.settle()


MAP_RULES = """
    http-request set-map({map}) %[req.hdr(k)] %[req.hdr(v)] if {{ req.hdr(v) -m found }}
    http-request del-map({map}) %[req.hdr(k)] if {{ req.hdr(d) -m found }}
    http-request add-acl({acl}) %[req.hdr(k)] if {{ req.hdr(v) -m found }}
    http-request del-acl({acl}) %[req.hdr(k)] if {{ req.hdr(d) -m found }}
    http-request set-var(txn.in) str(in) if {{ req.hdr(k) -m sub -f {acl} }}
    http-request return status 200 hdr M "%[req.hdr(k),map({map},none)]" hdr B "%[req.hdr(k),map_beg({map},none)]"
"""


def change_map(port, is_over, seed, asked, wrong):
    """Sets, removes and looks up keys that other clients use too: a found value is one of that key."""
    dice = random.Random(seed)
    while not is_over():
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
    """On four workers at once, while the admin socket clears the maps and commits other versions."""
    files = {"map": tmp_path / "m", "acl": tmp_path / "l"}
    for f in files.values():
        f.write_text("")
    port = free_port()
    d = daemon(f"frontend f\n    mode http\n    bind 127.0.0.1:{port}\n" + MAP_RULES.format(**files), extra=FOUR)
    asked, wrong, commits = [], [], 0
    is_over = lambda: len(asked) > 5000 and commits > 100  # noqa: E731
    clients = [threading.Thread(target=change_map, args=(port, is_over, seed, asked, wrong), daemon=True) for seed in range(8)]
    for c in clients:
        c.start()
    while any(c.is_alive() for c in clients):
        version = d.admin(f"prepare map {files['map']}").split()[-1]
        d.admin(f"add map @{version} {files['map']} <1> <1>committed")
        commits += d.admin(f"commit map @{version} {files['map']}").strip() == ""
        d.admin(f"set map {files['map']} <1> <1>set")
        d.admin(f"del acl {files['acl']} <2>")
        d.admin(f"clear acl {files['acl']}")
    for c in clients:
        c.join(WAIT)
    assert not wrong and len(asked) > 200 and commits > 10
    for kind, f in files.items():
        keys = [line.split()[1] for line in d.admin(f"show {kind} {f}").splitlines() if line]
        # The committed entry may be there beside the one that a rule has added.
        assert all(keys.count(k) == 1 for k in keys if k != "<1>"), keys
    assert d.info()["Fsm_bugs"] == "0"
    assert min(activity(d)["connections"]) > 0


def talk_admin(sock, lines, is_over, answers):
    """One line after the other, each on a connection of its own; every third client closes before its answer."""
    dice = random.Random(len(lines))
    while not is_over():
        line = dice.choice(lines)
        with contextlib.suppress(ConnectionError), socket.socket(socket.AF_UNIX) as s:
            s.settimeout(WAIT)
            s.connect(str(sock))
            s.sendall(line.encode() + b"\n")
            if dice.randrange(3) == 0:
                s.recv(100)
                continue
            s.shutdown(socket.SHUT_WR)
            answers.append((line, recv_all(s).decode()))


QUESTIONS = ["help", "show stat", "show info", "show activity", "show syscalls", "show pools", "show fd", "show sess",
         "show servers conn", "show trace", "show errors", "get weight w/s1", "show map", "show map {map}",
         "get map {map} <1>", "show acl {acl}", "show threads", "show tasks", "show health", "show info typed desc", "show stat json",
         "show stat typed up", "get var proc.x", "show env", "show libs", "show startup-logs", "show cli sockets",
         "show sess older 1s"]
CHANGES = ["disable server w/s1", "enable server w/s1", "set weight w/s2 7", "set weight w/s2 100%", "trace state",
           "trace off", "trace clear", "shutdown sessions server w/s2", "set map {map} <1> <1>set", "del acl {acl} <2>",
           "add map {map} <7> <7>added", "clear acl {acl}", "del map {map} <7>",
           "experimental-mode on;set var proc.x str(some),upper", "experimental-mode on;set var proc.x fmt %[rand]"]


def test_a_storm_of_admin_commands(daemon, origin, tmp_path):
    """While four workers forward, answer and change maps: every answer is complete, and ThreadSanitizer reports
    nothing."""
    files = {"map": tmp_path / "m", "acl": tmp_path / "l"}
    files["map"].write_text("".join(f"k{i} value\n" for i in range(3000)))
    files["acl"].write_text("")
    ports = free_ports(2)
    d = daemon(f"frontend f\n    mode http\n    bind 127.0.0.1:{ports[0]}\n{MAP_RULES.format(**files)}"
               f"listen w\n    bind 127.0.0.1:{ports[1]}\n    server s1 127.0.0.1:{origin.port}\n"
               f"    server s2 127.0.0.1:{origin.port}\n"
               + "".join(f"backend b{i}\n" + "".join(f"    server s{k} 127.0.0.1:9\n" for k in range(100))
                         for i in range(5)), extra=f"{FOUR}\n    stats maxconn 30")
    asked, wrong, ends, answers = [], [], [], []
    is_over = lambda: len(asked) > 1000 and len(answers) > 300  # noqa: E731
    work = [(change_map, (ports[0], is_over, seed, asked, wrong)) for seed in range(4)]
    work += [(talk_on, (ports[1], is_over, ends)) for _ in range(4)]
    for lines in (QUESTIONS, QUESTIONS, CHANGES):
        work += [(talk_admin, (d.sock, [line.format(**files) for line in lines], is_over, answers))] * 2
    threads = [threading.Thread(target=fn, args=args, daemon=True) for fn, args in work]
    for t in threads:
        t.start()
    for t in threads:
        t.join(5 * WAIT)
    assert not wrong and len(asked) > 50 and len(answers) > 50
    for line, answer in answers:
        assert answer.endswith("\n\n") or answer == "\n", (line, answer[-200:])
        if line == "show threads":
            assert re.findall(r"^[* ] Thread (\d) ", answer, re.MULTILINE) == ["1", "2", "3", "4"]
        if line == "show stat json":
            assert len(json.loads(answer)) == 1 + 4 + 5 * 101
        if line == "show stat":
            rows = answer.strip().splitlines()
            assert len(rows) == 1 + 1 + 4 + 5 * 101
            assert len({row.count(",") for row in rows}) == 1
        elif line.startswith("show map /"):
            keys = [row.split()[1] for row in answer.splitlines() if row]
            assert [k for k in keys if k[0] == "k"] == [f"k{i}" for i in range(3000)]
    assert d.info()["Fsm_bugs"] == "0"
    d.admin("enable server w/s1")
