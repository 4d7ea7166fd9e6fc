"""The ledger against strace: both count the same calls, exactly."""

import json
import os
import re
import shutil
import signal
import subprocess
import urllib.request

import pytest
from conftest import TACIT, WAIT, connect, demo_origin, free_port, free_ports, recv_all

CONNECTIONS = 10000
# Calls made only by the daemon's own code; the others are made by libc and the loader too.
OURS = ("accept4 bind close_range connect epoll_create1 epoll_ctl epoll_wait getpeername getsockname getsockopt listen "
        "recvfrom sendmsg sendto setsockopt shutdown signalfd4 socket").split()
ROW = re.compile(r"^ *(\d+) +(\d+) +(\d+)(?: +\S+){1,2}  (\w+)$", re.MULTILINE)


def strace_counts(path):
    """{call: (calls, errors)} of strace -c."""
    out = {}
    for line in path.read_text().split("\n"):
        field = line.split()
        if len(field) >= 5 and field[0][0].isdigit() and field[-1] != "total":
            out[field[-1]] = (int(field[3]), int(field[4]) if len(field) == 6 else 0)
    return out


@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
@pytest.mark.parametrize("mode", ["merged", "edge", "unmerged"])
def test_agrees_with_strace(daemon, tmp_path, mode):
    front, back = free_ports(2)
    counted = tmp_path / "strace"
    d = daemon(f"listen l\n    bind 127.0.0.1:{front}\n    server s 127.0.0.1:{back}\n",
               extra=f"tune.ledger.at-exit all\n    tune.epoll.mode {mode}\n    nbthread 1",
               program="strace", mode=("-c", "-o", counted, TACIT, "-db"), checked=False,
               env={"ASAN_OPTIONS": "detect_leaks=0"})  # it does not work under a tracer
    with open(f"/proc/{d.pid}/task/{d.pid}/children") as f:
        pid = int(f.read().split()[0])
    n = CONNECTIONS if mode == "merged" else CONNECTIONS // 20
    with demo_origin(back):
        for _ in range(n):
            with connect(front) as c:
                c.sendall(b"GET / HTTP/1.0\r\n\r\n")
                assert recv_all(c).endswith(b"\n")
    assert "Name: HAProxy" in d.admin("show info")
    os.kill(pid, signal.SIGTERM)
    assert d.wait(WAIT) == 0
    ledger = {name: (int(calls), int(again) + int(errors))
              for calls, again, errors, name in ROW.findall(d.stdout) if name in OURS}
    seen = {name: counts for name, counts in strace_counts(counted).items() if name in OURS}
    assert ledger["accept4"][0] >= n
    assert ledger == seen


@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
def test_all_workers_agree_with_strace(daemon, tmp_path, origins):
    """Wake-ups, hand-overs and standstills are counted as well."""
    def handle(conn):
        conn.recv(100)
        conn.sendall(b"bye")

    ours = [*OURS, "eventfd2", "sched_yield"]
    front, counted = free_port(), tmp_path / "strace"
    d = daemon(f"listen l\n    bind 127.0.0.1:{front}\n    server s 127.0.0.1:{origins(handle).port}\n",
               extra="tune.ledger.at-exit all\n    nbthread 3\n    tune.listener.multi-queue fair",
               program="strace", mode=("-f", "-c", "-o", counted, TACIT, "-db"), checked=False,
               env={"ASAN_OPTIONS": "detect_leaks=0"})
    with open(f"/proc/{d.pid}/task/{d.pid}/children") as f:
        pid = int(f.read().split()[0])
    n = CONNECTIONS // 10
    for _ in range(n):
        with connect(front) as c:
            c.sendall(b"hello")
            assert recv_all(c) == b"bye"
    for _ in range(3):
        assert "taken_over: " in d.admin("show activity")
    os.kill(pid, signal.SIGTERM)
    assert d.wait(WAIT) == 0
    ledger = {name: (int(calls), int(again) + int(errors))
              for calls, again, errors, name in ROW.findall(d.stdout) if name in ours}
    seen = {name: counts for name, counts in strace_counts(counted).items() if name in ours}
    assert ledger["accept4"][0] >= n
    assert ledger["eventfd2"][0] == 3
    assert ledger == seen


def counts(d):
    """{frontend: (its calls by name, connections, requests)}; None: of no frontend."""
    return {row["frontend"]: ({c["call"]: c["total"] for c in row["calls"]}, row["connections"], row["requests"])
            for row in json.loads(d.admin("show syscalls frontends json"))}


def test_by_frontend(daemon, origins):
    """Two workers that hand connections over: each call is of the frontend that caused it, whose clients end, stay, and come
    over HTTP/2; the metric has the same numbers."""
    def handle(conn):
        while got := conn.recv(1000):
            conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" if b"HTTP" in got else b"bye")

    tcp, http, unused, metrics = free_ports(4)
    server = f"server s 127.0.0.1:{origins(handle).port}"
    d = daemon(f"listen tcp\n    bind 127.0.0.1:{tcp}\n    {server}\n"
               f"listen http\n    mode http\n    bind 127.0.0.1:{http}\n    {server} pool-purge-delay 10ms\n"
               f"frontend unused\n    bind 127.0.0.1:{unused}\n    default_backend tcp\n"
               f"frontend metrics\n    mode http\n    bind 127.0.0.1:{metrics}\n"
               "    http-request use-service prometheus-exporter\n",
               extra="nbthread 2\n    tune.listener.multi-queue fair")
    for _ in range(20):
        with connect(tcp) as c:
            c.sendall(b"hello")
            assert c.recv(100) == b"bye"
    # a worker that has ended its last session closes the sockets later in the same turn
    d.until("sessions eq 0", "idle")
    before, none_before = counts(d)["tcp"], counts(d)[None]
    assert before[0]["accept4"] >= 20
    assert before[0]["connect"] == before[1] == before[2] == 20
    assert "http" not in counts(d)
    with connect(http) as c:
        for _ in range(30):
            c.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert c.recv(1000).endswith(b"ok")
    subprocess.run(["h2load", "-n", "10", "-c", "1", f"http://127.0.0.1:{http}/"], check=True, timeout=60,
                   stdout=subprocess.DEVNULL)
    d.until("sessions eq 0", "idle")
    now = counts(d)
    assert now["tcp"] == before
    calls, connections, requests = now["http"]
    assert (connections, requests) == (2, 40)
    assert calls["recvfrom"] >= 70
    assert "epoll_wait" not in calls
    assert now[None][0]["epoll_wait"] > none_before[0]["epoll_wait"]
    assert now[None][0].get("connect", 0) == none_before[0].get("connect", 0)
    assert "unused" not in now
    with urllib.request.urlopen(f"http://127.0.0.1:{metrics}/", timeout=60) as answer:
        text = answer.read().decode()
    assert f'tacit_syscalls_total{{proxy="tcp",call="connect",result="again"}} {before[0]["connect"]}\n' in text
