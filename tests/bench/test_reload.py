"""The section about reloads: the signals, the configurations of masters, and the bounds."""

import http.server
import os
import signal
import subprocess
import sys
import threading

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from lib import reload, report, subjects, targets  # noqa: E402


def test_a_signal_in_each_period(monkeypatch):
    monkeypatch.setattr(reload, "PERIOD", 0.1)
    done = []

    class Proc:
        subject = subjects.RELOADED[0]
        send_signal = staticmethod(done.append)

    class Ends:
        @staticmethod
        def wait(seconds):
            done.append(seconds)
            return len(done) > 6

    for args, first in ((), 0.1), ((0.1, 0.05), 0.05):
        done.clear()
        reloads = reload.Reloads(Proc(), *args)
        reloads.ends = Ends()
        reloads.run()
        assert done == [first, signal.SIGUSR2] + [0.1, signal.SIGUSR2] * 2 + [0.1] and reloads.n == 3


def test_each_kind_has_a_master():
    assert {(s.kind, s.mode) for s in subjects.RELOADED} == {
        (kind, mode) for kind in ("tacit", "haproxy", "nginx") for mode in ("tcp", "http")}
    for s in subjects.RELOADED:
        if s.kind == "nginx" and s.mode == "tcp":
            assert "master_process on" in subjects.nginx_stream_config(s, 1, "a:1", "/d")
        elif s.kind == "nginx":
            assert "master_process on" in subjects.nginx_http_config(s, 1, "a:1", "/d")
    assert "master_process off" in subjects.nginx_stream_config(subjects.NGINX, 1, "a:1", "/d")


def test_all_kinds_of_clients():
    assert sum(reload.MIXED.values()) == 2000
    assert 60 // reload.MIXED_PERIOD == 12
    for s in subjects.RELOADED_MIXED:
        assert s.mode == "http" and s.master
        make = subjects.nginx_http_config if s.kind == "nginx" else subjects.haproxy_config
        if s.kind == "nginx":
            text = make(s, 1, "a:1", "/d", None, (2, "a:1"))
            assert "listen 127.0.0.1:2 backlog=4096 deferred;" in text
        else:
            text = make(s, 1, "a:1", None, (2, "a:1"))
            assert "bind 127.0.0.1:2 defer-accept\n" in text and "bind 127.0.0.1:1\n" in text


class Origin(http.server.BaseHTTPRequestHandler):
    """/long has LONG_BYTES; each other connection is closed, as announced. With `cut` the half of all is missing."""
    protocol_version = "HTTP/1.1"
    cut, answers = False, 0

    def do_GET(self):
        body = b"\0" * (subjects.LONG_BYTES if self.path == "/long" else 2)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        Origin.answers += 1
        if Origin.answers % 2:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body[:len(body) // 2] if self.cut else body)
        self.close_connection = self.close_connection or self.cut

    def log_message(self, *_):
        pass


@pytest.fixture
def origin():
    Origin.cut = False
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Origin) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@pytest.mark.parametrize("cut", [False, True])
def test_downloads_are_counted(monkeypatch, origin, cut):
    monkeypatch.setattr(reload, "DOWNLOAD_SECONDS", 0.25)
    Origin.cut = cut
    d = reload.Downloads(origin)
    download = d.download

    def last():
        d.ends.set()
        download()

    monkeypatch.setattr(d, "download", last)
    d.run()
    assert (d.done, d.failed) == (not cut, cut)


LOAD = os.path.join(HERE, "..", "..", "build", "bench", "load")


@pytest.mark.skipif(not os.path.exists(LOAD), reason="make bare")
@pytest.mark.parametrize("how", ["close", "keepalive", "halves", "late"])
def test_the_load_counts_what_is_lost(origin, how):
    """A kept connection that the server closes, as it has announced, costs no request."""
    def run():
        out = subprocess.run([LOAD, how, "50", "1", f"127.0.0.1:{origin}"], capture_output=True, text=True, timeout=180, check=True)
        return dict(word.split("=") for word in out.stdout.split())

    good = run()
    assert (good["due"], good["done"], good["errors"], good["unfinished"]) == ("50", "50", "0", "0")
    Origin.cut = True
    assert int(run()["errors"]) > 5


def test_no_connection_may_fail():
    rows = {"tacit default master": {"close.failed": [0]},
            "tacit default master http": {"close.failed": [1], "keepalive.failed": [3]},
            "haproxy master http": {"keepalive.failed": [4]}}
    assert [v.verdict for v in targets.reload(rows)] == ["pass", "MISS", "pass"]
    assert [v.verdict for v in targets.reload({})] == ["no data"] * 3
    mixed = {"tacit default master http": {"failed": [0]}}
    assert [v.verdict for v in targets.reload_mixed(mixed)] == ["pass"]
    mixed["tacit default master http"]["failed"] = [1]
    assert [v.verdict for v in targets.reload_mixed(mixed)] == ["MISS"]
    assert [v.verdict for v in targets.reload_mixed({})] == ["no data"]
    grid = report.grids("reload", rows)[0][1]
    assert len(grid[0]) == len(grid[1])
