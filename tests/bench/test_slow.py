"""The slow senders send the figures they report, at the required rate, and the section about them reads them
correctly."""

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
from types import SimpleNamespace

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "system")]

import facts  # noqa: E402
from lib import baseline, parse, probe, report, slow, subjects, targets  # noqa: E402
from lib.world import Failed  # noqa: E402
from ports import free_port  # noqa: E402

BUILD = os.environ.get("TACIT_BUILD", os.path.join(os.path.dirname(__file__), "..", "..", "build"))
TOOL = os.path.join(BUILD, "bench", "slow")
START_MAX, STIR, HEAD_MAX = 512, 4, 4096         # in slow.c
LATE_MAX = (2 ** 32 - 1) / 1e6                   # milliseconds, in stats.h: longer delays count as that

needs_tool = pytest.mark.skipif(not os.access(TOOL, os.X_OK), reason="slow is not built")


class Slow:
    """The tool and its output, in front of a listener that only accepts."""

    def __init__(self, count, period_ms):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.tool = subprocess.Popen([TOOL, str(count), str(period_ms), "127.0.0.1:%d" % self.listener.getsockname()[1]],
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.tool.stdout.readline() == b"ready %d\n" % count
        self.taken = [self.listener.accept()[0] for _ in range(count)]
        self.got = [b""] * count

    def ask(self):
        self.tool.stdin.write(b"\n")
        self.tool.stdin.flush()
        return parse.key_values(self.tool.stdout.readline().decode())

    def read(self):
        """Everything that has arrived."""
        for i, s in enumerate(self.taken):
            while select.select([s], [], [], 0)[0]:
                try:
                    data = s.recv(65536)
                except ConnectionResetError:
                    break
                if not data:
                    break
                self.got[i] += data

    def grown(self):
        """The bytes of each connection behind those with which it began."""
        return [len(g) - (i % START_MAX + 1 + i % STIR) for i, g in enumerate(self.got)]

    def until(self, is_enough):
        """Reads until is_enough(self.grown())."""
        while not is_enough(self.grown()):
            assert self.tool.poll() is None
            assert select.select(self.taken, [], [], facts.LIMIT)[0], self.grown()
            self.read()

    def hold(self):
        """Stops it, and reads all that it has sent."""
        self.tool.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.tool.pid, os.WSTOPPED | os.WNOWAIT)
        facts.flush_loopback()
        self.read()

    def close(self):
        for s in self.taken + [self.listener]:
            s.close()
        self.tool.kill()
        self.tool.wait()


@pytest.fixture(name="tool")
def _tool():
    made = []

    def make(count, period_ms):
        made.append(Slow(count, period_ms))
        return made[-1]

    yield make
    for m in made:
        m.close()


@needs_tool
def test_heads_start_everywhere_and_never_end(tool):
    t = tool(600, 100)
    t.until(lambda grown: min(grown) > 0)
    out = t.ask()
    t.hold()
    assert out["bytes"] >= 600 and out["gone"] == 0
    heads = sorted(t.got, key=len)
    assert len(heads[0]) < 10 + len(heads[-1]) - START_MAX
    assert all(heads[-1].startswith(h) for h in heads)
    assert b"\r\n\r\n" not in heads[-1]
    lines = heads[-1].split(b"\r\n")
    assert lines[0] == b"GET /slow/page?of=a&long=query HTTP/1.1" and lines[1] == b"Host: bench"
    assert all(line.count(b": ") == 1 for line in lines[1:-1]) and len(lines) > 5


@needs_tool
def test_one_byte_after_the_other_as_slowly_as_told(tool):
    t = tool(10, 400)
    t.until(lambda grown: min(grown) >= 2)
    read, out = sum(t.grown()), t.ask()
    n = out["bytes"]
    # Bytes go on meanwhile: those that were read have been counted, and those that were counted arrive.
    assert read <= n
    t.until(lambda grown: sum(grown) > n)
    late = t.ask()["max"] / 1000
    # None before it is due. Those that were due at the time of the answer and not sent are the ones that it sent late.
    assert 40 * (n - 1) <= out["ms"] + 1
    assert late >= LATE_MAX or 40 * n >= out["ms"] - late - 0.001
    # The senders take turns: none is a byte ahead of another one.
    t.hold()
    assert max(t.grown()) - min(t.grown()) <= 1


@needs_tool
def test_each_byte_is_counted_once(tool):
    """The next one is due in ten minutes."""
    t = tool(1, 600000)
    t.until(lambda grown: grown == [1])
    assert t.ask()["bytes"] == 1
    assert t.ask()["bytes"] == 0
    t.hold()
    assert t.grown() == [1]


@needs_tool
def test_closed_senders_are_counted(tool):
    t = tool(5, 1000)
    t.taken[1].close()
    t.taken[3].sendall(b"HTTP/1.0 408 Request Timeout\r\n\r\n")
    facts.flush_loopback()
    assert t.ask()["gone"] == 2


@needs_tool
def test_it_ends_with_its_input_and_when_a_head_is_too_long(tool):
    t = tool(2, 1000)
    t.tool.stdin.close()
    assert t.tool.wait(60) == 0
    t = tool(1, 1)
    t.taken[0].settimeout(facts.LIMIT)
    with contextlib.suppress(ConnectionResetError):
        while data := t.taken[0].recv(65536):
            t.got[0] += data
    assert t.tool.wait(60) == 0
    assert len(t.got[0]) == HEAD_MAX


@needs_tool
def test_they_leave_nothing_behind_in_the_kernel(tool):
    t = tool(3, 1000)
    t.read()
    t.tool.terminate()
    t.tool.wait(60)
    for s in t.taken:
        with pytest.raises(ConnectionResetError):
            s.recv(1)


@needs_tool
def test_a_holder_takes_everything_says_nothing_and_lets_go():
    port = free_port()
    holder = subprocess.Popen([os.path.join(BUILD, "bench", "echo"), "hold", "127.0.0.1:%d" % port])
    try:
        slow.wait_for(lambda: subjects.listens(holder.pid, port), "the holder to listen")
        before = slow.descriptors(holder.pid)
        clients = [socket.create_connection(("127.0.0.1", port), 60) for _ in range(5)]
        slow.wait_for(lambda: slow.descriptors(holder.pid) == before + 5, "its connections")
        for c in clients:
            c.sendall(b"x" * 1000)
        assert not select.select(clients, [], [], 0.1)[0]
        for c in clients:
            c.close()
        slow.wait_for(lambda: slow.descriptors(holder.pid) == before, "it to let go")
    finally:
        holder.kill()
        holder.wait()


@needs_tool
@pytest.mark.parametrize("words", [["0", "1", "127.0.0.1:1"], ["1", "0", "127.0.0.1:1"], ["1", "1", "nowhere"], ["1"]])
def test_wrong_words_are_refused(words):
    done = subprocess.run([TOOL, *words], capture_output=True, check=False)
    assert done.returncode == 2 and b"usage" in done.stderr


def senders(said):
    s = slow.Senders.__new__(slow.Senders)
    s.count, s.sent = 3000, lambda: said
    return s


@pytest.mark.parametrize("said,good", [
    ({"bytes": 1000.0, "ms": 1000.0, "gone": 0.0}, True), ({"bytes": 951.0, "ms": 1000.0, "gone": 0.0}, True),
    ({"bytes": 949.0, "ms": 1000.0, "gone": 0.0}, False), ({"bytes": 1000.0, "ms": 1000.0, "gone": 1.0}, False),
    ({}, False)])
def test_too_few_bytes_and_senders_that_went_are_no_sample(said, good):
    if good:
        assert senders(said).sent_in_time() == said
    else:
        with pytest.raises(Failed):
            senders(said).sent_in_time()


LEDGER = """# call total ok again error per_conn
clock_gettime 1000 1000 0 0 1.0 vdso
epoll_wait 400 400 0 0 0.1
recvfrom %d 500 0 0 0.1
"""


def test_calls_per_byte_leave_out_clock_reads_and_the_question(monkeypatch):
    answers = iter([LEDGER % n for n in (500, 507, 600, 807)])
    monkeypatch.setattr(probe, "admin", lambda path, command: next(answers))
    monkeypatch.setattr(probe, "cpu_ns", lambda pid: 5000)
    monkeypatch.setattr(slow, "QUIET", 0)
    asking = slow.question("path")
    got = slow.alone(SimpleNamespace(admin="path", pid=1), senders({"bytes": 100.0, "ms": 100.0, "gone": 0.0}), asking)
    assert asking == 7
    assert got == {"us": 0, "calls": 2.0}
    assert slow.question(None) == 0


def once(rows):
    return {name: {k: [v] for k, v in row.items()} for name, row in rows.items()}


def test_slow_senders_may_cost_a_good_client_a_tenth():
    mine = {"alone.p99": 100.0, "held.p99": 100.0, "beside.p99": 110.0, "calls": 0.99, "us": 9.0}
    rows = once({"tacit default": mine, "haproxy": {"us": 9.0}})
    assert [v.verdict for v in targets.slow(rows)] == ["pass"] * 4
    rows = once({"tacit default": {"alone.p99": 100.0, "held.p99": 100.0, "beside.p99": 110.1, "calls": 1.01, "us": 9.1}, "haproxy": {"us": 9.0}})
    assert [v.verdict for v in targets.slow(rows)] == ["MISS"] * 4
    assert [v.verdict for v in targets.slow({})] == ["no data"] * 4
    assert {d.what for d in baseline.compare({"values": {}}, {"slow": rows})} == {
        "p99 of kept requests beside slow senders / alone, tacit", targets.SLOW_P99, "calls per slow byte", "CPU per slow byte, tacit default / haproxy"}


def test_the_ratio_is_taken_within_a_round():
    rows = {"tacit default": {"alone.p99": [100.0, 300.0, 200.0], "beside.p99": [105.0, 300.0, 400.0]}}
    assert targets.slow(rows)[0].value == "1.05"


def test_values_not_measured_for_a_peer_are_a_dash():
    grid = report.grids("slow", once({"haproxy": {"us": 3.0, "beside.late": 9.0}}))[0][1]
    assert len(grid[0]) == len(grid[1]) == 13
    assert grid[1][-5:] == ["3.00", "-", "-", "9", "-"]


def test_only_what_says_so_about_itself_differs():
    ours, theirs = (subjects.haproxy_config(s, 81, "127.0.0.1:82") for s in subjects.HTTP_SLOW[:2])
    assert ours == theirs and "http-reuse always" in ours
    assert slow.SENDERS < subjects.MAXCONN - 64
