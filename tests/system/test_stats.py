"""The statistics over HTTP: from any worker, of many servers, to slow clients, while the data changes."""

import base64
import contextlib
import csv
import http.client
import io
import socket
import threading
import time

import pytest
from conftest import connect, free_port, recv_all, rss_kib, wait_for
from subject import not_sanitized, only_tacit

pytestmark = only_tacit
SERVERS = 4000


def get(port, path, method="GET", body=None, headers=None):
    """(status, headers, body) of one request on a connection of its own."""
    conn = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    with contextlib.closing(conn):
        conn.request(method, path, body, headers or {})
        r = conn.getresponse()
        return r.status, dict(r.getheaders()), r.read().decode()


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def page(port, more="", lines=""):
    """A frontend with the statistics, and its configuration."""
    return (f"frontend page\n    mode http\n    bind 127.0.0.1:{port}\n    stats uri /stats\n{more}" + lines)


@pytest.fixture
def many(daemon):
    """Four workers, one address that all accept on, and 4,000 servers."""
    port = free_port()
    servers = "".join(f"    server s{i} 127.0.0.1:{1 + i % 60000}\n" for i in range(SERVERS))
    d = daemon(page(port, lines=f"backend big\n{servers}"), extra="nbthread 4\n    tune.listener.multi-queue fair")
    d.port = port
    return d


def test_all_rows_are_there_once(many):
    """As on the admin socket, from whichever worker."""
    names = ["FRONTEND", *(f"s{i}" for i in range(SERVERS)), "BACKEND"]
    for _ in range(8):
        status, headers, text = get(many.port, "/stats;csv")
        assert status == 200 and headers["Transfer-Encoding"] == "chunked"
        assert [r["svname"] for r in rows(text)] == names
    assert len({line.count(",") for line in text.splitlines()}) == 1
    socket_rows = many.admin("show stat big -1 -1").splitlines()
    assert socket_rows[0] == text.splitlines()[0]
    same = [r for r in socket_rows[1:-1] if r in text]
    assert len(same) > SERVERS * 0.99


@not_sanitized
def test_slow_clients_cost_a_slice_each(many):
    """Clients that read nothing; others are served meanwhile, and the slow ones get it all in the end."""
    before = rss_kib(many.pid)
    with contextlib.ExitStack() as stack:
        slow = []
        for _ in range(40):
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.settimeout(30)
            s.connect(("127.0.0.1", many.port))
            stack.enter_context(s)
            s.sendall(b"GET /stats;csv HTTP/1.0\r\n\r\n")
            slow.append(s)
        time.sleep(0.5)
        assert rss_kib(many.pid) - before < 8 << 10
        assert len(rows(get(many.port, "/stats;csv")[2])) == SERVERS + 2
        got = []
        readers = [threading.Thread(target=lambda s=s: got.append(recv_all(s))) for s in slow[:8]]
        for r in readers:
            r.start()
        for r in readers:
            r.join()
        assert len(got) == 8
        assert all(len(rows(g.decode().split("\r\n\r\n", 1)[1])) == SERVERS + 2 for g in got)
    assert wait_for(lambda: many.info()["CurrConns"] == "0")


def test_clients_that_leave_in_the_middle(many):
    for i in range(60):
        with connect(many.port) as s:
            s.sendall(b"GET /stats;csv HTTP/1.1\r\nHost: x\r\n\r\n")
            if i % 3:
                s.recv(100 * i)
    assert wait_for(lambda: many.info()["CurrConns"] == "0")
    assert get(many.port, "/stats;csv")[0] == 200
    assert many.info()["Fsm_bugs"] == "0"


def test_servers_come_and_go_while_they_are_listed(many):
    """Those that stay are there once."""
    stop = threading.Event()

    def change():
        i = 0
        while not stop.is_set():
            many.admin(f"add server big/new{i} 127.0.0.1:1; enable server big/new{i}")
            many.admin(f"disable server big/new{i}; del server big/new{i}; set server big/s{i % 9} state drain")
            i += 1

    changer = threading.Thread(target=change)
    changer.start()
    try:
        for _ in range(10):
            names = [r["svname"] for r in rows(get(many.port, "/stats;csv")[2])]
            assert len(names) == len(set(names))
            assert [n for n in names if n[0] == "s"] == [f"s{i}" for i in range(SERVERS)]
    finally:
        stop.set()
        changer.join()


def test_results_of_checks_are_read_from_any_worker(daemon, origins):
    """Texts of checks, which the first worker writes all the time."""
    port = free_port()
    o = origins()
    servers = "".join(f"    server s{i} 127.0.0.1:{o.port if i % 2 else 1} check inter 20ms\n" for i in range(60))
    d = daemon(page(port, lines=f"backend b\n{servers}"), extra="nbthread 4\n    tune.listener.multi-queue fair")

    def states():
        return {r["svname"]: r["status"] for r in rows(get(port, "/stats;csv")[2]) if r["type"] == "2"}

    assert wait_for(lambda: all(states()[f"s{i}"] == ("UP" if i % 2 else "DOWN") for i in range(60)))
    for _ in range(50):
        for r in rows(get(port, "/stats;csv")[2]):
            if r["type"] == "2":
                assert r["check_status"].replace("* ", "") == ("L4OK" if int(r["svname"][1:]) % 2 else "L4CON")


def test_a_stop_ends_clients_that_read_slowly(many):
    with connect(many.port) as s:
        s.sendall(b"GET /stats;csv HTTP/1.0\r\n\r\n")
        s.recv(10)
        assert many.stop() in (0, 143, -15)


def basic(text):
    return {"Authorization": "Basic " + base64.b64encode(text.encode()).decode()}


def test_users(daemon):
    port = free_port()
    daemon(page(port, "    stats auth admin:secret\n    stats auth other:word:s\n"))
    assert get(port, "/stats;csv", headers=basic("admin:secret"))[0] == 200
    assert get(port, "/stats;csv", headers=basic("other:word:s"))[0] == 200
    for wrong in ("admin:secre", "admin:secrett", "admin:", "admin", ":", ":secret", "admin:word:s", "ADMIN:secret",
                  "admin:secret\0", "x" * 4000):
        status, headers, body = get(port, "/stats;csv", headers=basic(wrong))
        assert (status, headers["WWW-Authenticate"]) == (401, 'Basic realm="HAProxy Statistics"')
        assert "pxname" not in body
    for header in ("Basic", "Basic ", "Basic !!!!", "Bearer YWRtaW46c2VjcmV0", "YWRtaW46c2VjcmV0"):
        assert get(port, "/stats;csv", headers={"Authorization": header})[0] == 401
    assert get(port, "/stats;csv", "HEAD")[0] == 401
    assert get(port, "/stats", "POST", "s=x", {})[0] == 401
