"""The two ends of bulk transfers report correct figures, and the sections about bulk read them correctly."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "system")]

import facts  # noqa: E402
from lib import bulk, parse, report, subjects, targets  # noqa: E402
from ports import free_port  # noqa: E402

BUILD = os.environ.get("TACIT_BUILD", os.path.join(os.path.dirname(__file__), "..", "..", "build"))
TOOL = os.path.join(BUILD, "bench", "bulk")

needs_tool = pytest.mark.skipif(not os.access(TOOL, os.X_OK), reason="bulk is not built")


@pytest.fixture(name="source")
def _source():
    port = free_port()
    p = subprocess.Popen([TOOL, "source", "127.0.0.1:%d" % port])
    facts.listens(port)
    yield port
    p.terminate()
    p.wait()


def sink(streams, each, port):
    done = subprocess.run([TOOL, "sink", str(streams), str(each), "127.0.0.1:%d" % port], capture_output=True,
                          text=True, timeout=60, check=False)
    return done.returncode, parse.key_values(done.stdout)


@needs_tool
@pytest.mark.parametrize("streams, each", [(1, 1), (1, 50_000_000), (7, 1_234_567), (64, 300_000)])
def test_all_of_it_comes(source, streams, each):
    code, out = sink(streams, each, source)
    assert code == 0
    assert (out["streams"], out["bytes"], out["errors"]) == (streams, streams * each, 0)


@needs_tool
def test_the_source_sends_the_requested_bytes(source):
    with socket.create_connection(("127.0.0.1", source), 60) as c:
        c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        c.sendall(b"1000")
        facts.delivered(c)
        c.sendall(b"00\n")
        got = b""
        while True:
            part = c.recv(1 << 16)
            if not part:
                break
            got += part
    assert len(got) == 100000
    assert got[:3] == bytes([0, 7, 14])


@needs_tool
@pytest.mark.parametrize("spoil", [lambda n: n - 1, lambda n: n + 1, lambda n: 0], ids=["short", "long", "nothing"])
def test_a_sink_sees_too_little_and_too_much(spoil):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def serve():
            conn, _ = listener.accept()
            with conn:
                n = int(conn.makefile().readline())
                conn.sendall(b"x" * spoil(n))
        t = threading.Thread(target=serve, daemon=True)
        t.start()
        code, out = sink(1, 500_000, listener.getsockname()[1])
        t.join(60)
    assert code == 1
    assert out["errors"] == 1


@needs_tool
def test_without_a_size_the_source_continues(source):
    with socket.create_connection(("127.0.0.1", source), 60) as c:
        c.sendall(b"0\n")
        left = 50_000_000
        while left > 0:
            part = c.recv(1 << 20)
            assert part
            left -= len(part)


@needs_tool
def test_without_a_size_it_continues_until_sigterm():
    """Sends more than all buffers on the way hold: the rest has been read."""
    held = sum(int(Path("/proc/sys/net/ipv4", name).read_text().split()[2]) for name in ("tcp_rmem", "tcp_wmem"))
    with contextlib.ExitStack() as ends:
        listener = ends.enter_context(socket.create_server(("127.0.0.1", 0)))
        p = subprocess.Popen([TOOL, "sink", "3", "0", "127.0.0.1:%d" % listener.getsockname()[1]], stdout=subprocess.PIPE, text=True)
        ends.callback(p.kill)
        for _ in range(3):
            conn = ends.enter_context(listener.accept()[0])
            conn.settimeout(60)
            assert conn.makefile().readline() == "0\n"
            conn.sendall(bytes(held + 1_000_000))
        assert p.poll() is None
        p.send_signal(signal.SIGTERM)
        out = parse.key_values(p.communicate(timeout=60)[0])
    assert p.returncode == 0
    assert out["streams"] == 3 and 3_000_000 <= out["bytes"] <= 3 * (held + 1_000_000) and out["errors"] == 0


def test_a_second_proxy_stands_beside_the_first():
    copy, splice = subjects.BULK[:2]
    text = subjects.haproxy_config(splice, 1, "o:2", None, (3, "o:4"))
    assert text.count("option splice-auto") == 2
    assert text.index("bind 127.0.0.1:1") < text.index("o:2") < text.index("bind 127.0.0.1:3") < text.index("o:4")
    assert "splice" not in subjects.haproxy_config(copy, 1, "o:2").replace("nosplice", "")
    assert subjects.nginx_stream_config(subjects.NGINX, 1, "o:2", "/d", (3, "o:4")).count("proxy_pass") == 2
    assert subjects.nginx_stream_config(subjects.NGINX, 1, "o:2", "/d").count("proxy_pass") == 1


def test_an_expensive_round_counts_with_its_cost():
    rows = {"tacit splice": {"n8.cpu": [100.0] * 3}, "haproxy splice": {"n8.cpu": [90.0, 90.0, 180.0]}}
    got = {v.what: v.value for v in targets.bulk(rows)}
    assert got["CPU per GiB of all rounds, 8 at once, tacit splice / haproxy splice"] == "0.83"
    assert got["CPU per GiB, 8 at once, tacit splice / haproxy splice"] == "1.11"
    assert report.grids("bulk", rows)[0][1][2][3] == "120"


def test_each_way_is_compared_with_the_same_way():
    rows = {"tacit copy": {"n1.cpu": [70.0]}, "haproxy copy": {"n1.cpu": [100.0]},
            "tacit splice": {"n1.cpu": [96.0]}, "haproxy splice": {"n1.cpu": [100.0]}}
    got = {v.what: v.verdict for v in targets.bulk(rows)}
    assert got["CPU per GiB, 1 at once, tacit copy / haproxy copy"] == "pass"
    assert got["CPU per GiB, 1 at once, tacit splice / haproxy splice"] == "MISS"
    assert got["CPU per GiB, 64 at once, tacit splice / haproxy splice"] == "no data"


def test_waiting_is_compared_with_the_same_worker_alone():
    rows = {"tacit copy": {"alone.p99": [100.0, 300.0], "beside.p99": [150.0, 500.0]},
            "tacit splice": {"alone.p99": [100.0], "beside.p99": [201.0]}}
    assert [v.verdict for v in targets.mixed(rows)] == ["MISS", "pass"]


def test_every_number_of_streams_has_its_column():
    rows = {"tacit copy": {"n%d.%s" % (n, k): [float(n)] for n in bulk.STREAMS for k in ("cpu", "rate")}}
    grid = report.grids("bulk", rows)[0][1]
    assert grid[0] == ["", "1: ms/GiB", "1: GiB/s", "8: ms/GiB", "8: GiB/s", "64: ms/GiB", "64: GiB/s"]
    assert grid[1] == ["tacit copy", "1", "1.00", "8", "8.00", "64", "64.00"]
