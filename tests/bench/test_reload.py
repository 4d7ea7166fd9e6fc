"""The section about reloads: the signals, the configurations of masters, and the bounds."""

import os
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from lib import reload, report, subjects, targets  # noqa: E402


def test_a_signal_in_each_period(monkeypatch):
    monkeypatch.setattr(reload, "PERIOD", 0.1)
    counter = "import signal,sys\nn=0\ndef on(*_):\n global n; n+=1; print(n, flush=True)\nsignal.signal(signal.SIGUSR2, on)\n" \
              "print(0, flush=True)\nwhile True: signal.pause()"
    with subprocess.Popen([sys.executable, "-c", counter], stdout=subprocess.PIPE) as proc:
        try:
            assert proc.stdout.readline() == b"0\n"
            proc.subject = subjects.RELOADED[0]
            assert reload.SIGNALS[proc.subject.kind] == signal.SIGUSR2
            reloads = reload.Reloads(proc)
            reloads.start()
            time.sleep(0.55)
            n = reloads.stop()
            assert 3 <= n <= 5
            assert [int(proc.stdout.readline()) for _ in range(n)] == list(range(1, n + 1))
        finally:
            proc.terminate()


def test_each_kind_has_a_master():
    assert {(s.kind, s.mode) for s in subjects.RELOADED} == {
        (kind, mode) for kind in ("tacit", "haproxy", "nginx") for mode in ("tcp", "http")}
    for s in subjects.RELOADED:
        if s.kind == "nginx" and s.mode == "tcp":
            assert "master_process on" in subjects.nginx_stream_config(s, 1, "a:1", "/d")
        elif s.kind == "nginx":
            assert "master_process on" in subjects.nginx_http_config(s, 1, "a:1", "/d")
    assert "master_process off" in subjects.nginx_stream_config(subjects.NGINX, 1, "a:1", "/d")


def test_no_connection_may_fail():
    rows = {"tacit default master": {"close.failed": [0]},
            "tacit default master http": {"close.failed": [1], "keepalive.failed": [3]},
            "haproxy master http": {"keepalive.failed": [4]}}
    assert [v.verdict for v in targets.reload(rows)] == ["pass", "MISS", "pass"]
    assert [v.verdict for v in targets.reload({})] == ["no data"] * 3
    grid = report.grids("reload", rows)[0][1]
    assert len(grid[0]) == len(grid[1])
