"""HAProxy and tacit bring servers with `slowstart` back up at the same time: weights, columns and log lines are
compared while they start. HAProxy takes a step each second, tacit more often: what HAProxy shows, tacit shows too, in
the same order."""

import contextlib
import re
import socket
import time

import oracle
import pytest
from conftest import TACIT, WAIT, echo, free_ports, wait_for
from oracle import Subject
from subject import LogServer, only_tacit

START = 4  # seconds
LATE = START / 16 / 2  # half of a step of tacit
CFG = """
 log 127.0.0.1:{log} local0
defaults
 log global
 timeout connect 1s
 timeout queue 30s
 timeout client 30s
 timeout server 30s
 default-server slowstart {start}s
backend rr
 server s 127.0.0.1:{origin} weight 100 maxconn 50
 server t 127.0.0.1:{origin} weight 30
backend least
 balance leastconn
 server s 127.0.0.1:{origin} weight 1
backend fix
 balance static-rr
 server s 127.0.0.1:{origin} weight 9
 server t 127.0.0.1:{origin} weight 7 backup
backend map
 balance source
 server s 127.0.0.1:{origin} weight 20
backend ring
 balance source
 hash-type consistent
 server s 127.0.0.1:{origin} weight 20
backend follows
 server s 127.0.0.1:{origin} weight 256 track leads/k
backend leads
 default-server slowstart 0
 server k 127.0.0.1:{origin} check inter 50ms fall 1
backend drained
 server s 127.0.0.1:{origin} weight 64
backend off
 server s 127.0.0.1:{origin} weight 10 disabled
backend other
 server s 127.0.0.1:{origin} weight 100
frontend f
 bind 127.0.0.1:{front}
 default_backend rr
"""
BACK_UP = ("disable server rr/s", "enable server rr/s", "set server least/s health down", "set server least/s health up",
           "disable server fix/s", "enable server fix/s", "disable server fix/t", "enable server fix/t",
           "disable server map/s", "enable server map/s", "disable server ring/s", "enable server ring/s",
           "disable server leads/k", "enable server leads/k", "set server drained/s state maint",
           "set server drained/s state drain", "enable server off/s", "set server other/s health stopping",
           "set server other/s health up", "set weight other/s 50%")
COLUMNS = ("status", "weight", "uweight", "throttle", "act", "slim")


@pytest.fixture
def make_subject(tmp_path, origins):
    """A function that starts a program: it has its log and the port of the frontend."""
    with contextlib.ExitStack() as stack:
        def make(program):
            directory = tmp_path / str(len(list(tmp_path.iterdir())))
            directory.mkdir()
            log, front = LogServer(), free_ports(1)[0]
            stack.callback(log.close)
            subject = Subject(program, directory, CFG.format(log=log.port, origin=origins(echo).port, front=front, start=START))
            stack.callback(subject.stop)
            subject.log, subject.front = log, front
            return subject
        yield make


def note(subject, seen):
    """Adds what is shown now of each server and backend to its list, if it has changed."""
    shown = {key: [row[c] for c in COLUMNS] for key, row in subject.stat()[1].items() if key[1] != "FRONTEND"}
    for row in subject.admin("show servers state").strip().split("\n")[2:]:
        fields = row.split(" ")
        shown[fields[1], fields[3], "oper"] = fields[5]
    for key, now in shown.items():
        if key not in seen or seen[key][-1] != now:
            seen.setdefault(key, []).append(now)


def is_within(few, many):
    """All of few are in many, in this order."""
    rest = iter(many)
    return all(x in rest for x in few)


def lines(log):
    """By server: those of one come in an order that does not depend on the others."""
    out = {}
    for line in log.drain():
        text = re.sub(r"^<(\d+)>.*?\]: ", r"<\1>", line)
        # HAProxy repeats this at each step
        if "Server " in text and not text.endswith("remains in forced drain mode."):
            out.setdefault(re.search(r"Server (\S+)", text)[1], []).append(text)
    return out


def test_what_is_shown_while_servers_start(make_subject):
    theirs, ours = oracle.both(lambda program: shown_while_servers_start(make_subject, program))
    assert theirs[0].keys() == ours[0].keys()
    for key, rows in theirs[0].items():
        assert is_within(rows, ours[0][key]), (key, rows, ours[0][key])
        assert rows[-1] == ours[0][key][-1], key
    assert theirs[1] == ours[1]


def shown_while_servers_start(make_subject, program):
    """(what is shown of each server and backend, its log lines). A look that comes too late, since the machine is busy, may
    miss a step: then it is started once more."""
    for _ in range(4):
        subject, seen, slowest = make_subject(program), {}, 0
        for command in BACK_UP:
            assert subject.admin(oracle.given(command)) == "\n", command
        last = time.monotonic()
        end = last + START + 1.2
        while time.monotonic() < end:
            note(subject, seen)
            slowest = max(slowest, time.monotonic() - last)
            last = time.monotonic()
            time.sleep(0.02)
        if slowest < LATE:
            break
    # no server had its weight at once, or never
    steps = len(seen["rr", "s"])
    assert steps == START + 1 if program == oracle.HAPROXY else steps > START + 1
    assert len(seen["leads", "k"]) == 1
    # For a backend the end counts: its servers start one after the other.
    return {key: [rows[-1][:3]] if key[1] == "BACKEND" else rows for key, rows in seen.items()}, lines(subject.log)


@only_tacit
def test_maxconn_grows(make_subject):
    """Looks that come too late, since the machine is busy, miss steps: then it is started once more."""
    for tries_left in (3, 2, 1, 0):
        slowest, steps = grown(make_subject(TACIT))
        if len(steps) >= 15 or slowest < LATE or not tries_left:
            break
    assert len(steps) >= 15, steps


def grown(subject):
    """Sixty clients for fifty slots. The longest time between two looks, and the numbers of sessions that were seen."""
    with contextlib.ExitStack() as stack:
        subject.admin("disable server rr/t")
        subject.admin("disable server rr/s")
        began = time.monotonic()
        subject.admin("enable server rr/s")
        for _ in range(60):
            stack.enter_context(socket.create_connection(("127.0.0.1", subject.front), WAIT))
        most, steps, slowest, last = 0, [], 0, began
        while time.monotonic() < began + START + 0.5 or (most < 50 and time.monotonic() < began + START + WAIT):
            now = int(subject.stat()[1]["rr", "s"]["scur"])
            assert now <= max(1, 50 * min(time.monotonic() - began, START) / START), (now, time.monotonic() - began)
            if now != most:
                steps.append(now)
            assert now >= most
            most = now
            slowest, last = max(slowest, time.monotonic() - last), time.monotonic()
            time.sleep(0.02)
    assert most == 50, steps
    assert wait_for(lambda: subject.stat()[1]["rr", "s"]["scur"] == "0")
    return slowest, steps
