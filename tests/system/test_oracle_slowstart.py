"""HAProxy and tacit bring servers with `slowstart` back up at the same time: weights, columns and log lines are
compared while they start. HAProxy takes a step each second, tacit more often: what HAProxy shows, tacit shows too, in
the same order."""

import contextlib
import re
import shutil
import time

import pytest
from conftest import TACIT, echo, free_ports
from subject import LogServer
from test_oracle_stat import Subject

HAPROXY = shutil.which("haproxy")
pytestmark = pytest.mark.skipif(not HAPROXY, reason="haproxy is not installed")

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


class Pair:
    def __init__(self, directory, origin):
        self.both, self.logs, self.fronts = [], [], []
        for name, program in (("haproxy", HAPROXY), ("tacit", TACIT)):
            (directory / name).mkdir()
            log, front = LogServer(), free_ports(1)[0]
            self.logs.append(log)
            self.fronts.append(front)
            cfg = CFG.format(log=log.port, origin=origin.port, front=front, start=START)
            self.both.append(Subject(program, directory / name, cfg))

    def stop(self):
        for subject, log in zip(self.both, self.logs):
            subject.stop()
            log.close()


@pytest.fixture
def make_pair(tmp_path, origins):
    """A function that starts both."""
    with contextlib.ExitStack() as stack:
        def make():
            directory = tmp_path / str(len(list(tmp_path.iterdir())))
            directory.mkdir()
            p = Pair(directory, origins(echo))
            stack.callback(p.stop)
            return p
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


def test_what_is_shown_while_servers_start(make_pair):
    """A look that comes too late, since the machine is busy, may miss a step: then both start once more."""
    for tries_left in (3, 2, 1, 0):
        slowest, check = shown_while_servers_start(make_pair())
        try:
            check()
            break
        except AssertionError:
            if slowest < LATE or not tries_left:
                raise


def shown_while_servers_start(pair):
    """The longest time between two looks, and a function that compares what was seen."""
    seen, slowest = [{}, {}], 0
    for subject in pair.both:
        for command in BACK_UP:
            assert subject.admin(command) == "\n", command
    last = time.monotonic()
    end = last + START + 1.2
    while time.monotonic() < end:
        for subject, got in zip(pair.both, seen):
            note(subject, got)
        slowest = max(slowest, time.monotonic() - last)
        last = time.monotonic()
        time.sleep(0.02)
    return slowest, lambda: compare_starts(pair, *seen)


def compare_starts(pair, theirs, ours):
    assert theirs.keys() == ours.keys()
    # no server had its weight at once, or never
    assert len(theirs["rr", "s"]) == START + 1 and len(ours["rr", "s"]) > START + 1
    assert len(theirs["leads", "k"]) == len(ours["leads", "k"]) == 1
    for key, rows in theirs.items():
        if key[1] != "BACKEND":
            assert is_within(rows, ours[key]), (key, rows, ours[key])
            assert rows[-1] == ours[key][-1], key
        else:
            assert rows[-1][:3] == ours[key][-1][:3], key
    assert lines(pair.logs[0]) == lines(pair.logs[1])
