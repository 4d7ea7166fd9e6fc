"""Stick tables: their commands, and what outlives a worker process."""

import collections
import contextlib
import os
import re
import signal
import socket
import threading

import pytest
from conftest import WAIT, free_port
from facts import children, contains, gone, only_child
from subject import only_tables
from test_master import MASTER, change, reload, worker_of

TABLES = """\
backend a
    stick-table type ip size 1k expire {expire} store gpc0,http_req_rate(1m),bytes_in_cnt
backend s
    stick-table type string len 8 size 10 store server_id,gpt(2)
backend i
    stick-table type integer size 3
"""


def entries(d, table):
    """{key: {name: text}} of show table."""
    found = {}
    for line in d.admin(f"show table {table}").splitlines():
        if match := re.match(r"0x[0-9a-f]+: key=((?:\\.|\S)*) (.*)", line):
            found[match[1]] = dict(pair.split("=") for pair in match[2].split())
    return found


def fill(d):
    assert d.admin("set table a key 1.2.3.4 data.gpc0 5 data.http_req_rate 60 data.bytes_in_cnt 12345678901").strip() == ""
    assert d.admin("set table s key a\\ b data.gpt[1] 7 data.server_id 3").strip() == ""


def check_filled(d):
    entry = entries(d, "a")["1.2.3.4"]
    assert entry["gpc0"] == "5" and entry["http_req_rate(60000)"] == "60" and entry["bytes_in_cnt"] == "12345678901"
    assert int(entry["exp"]) > 0 and entry["use"] == "0"
    assert entries(d, "s") == {"a\\ b": {"use": "0", "exp": "0", "server_id": "3", "gpt0": "0", "gpt1": "7"}}


def test_entries_outlive_reloads_and_death(daemon):
    d = daemon(TABLES.format(expire="1h"), mode=MASTER)
    fill(d)
    check_filled(d)
    for _ in range(2):
        assert reload(d)
        check_filled(d)
    pid = worker_of(d)
    os.kill(pid, signal.SIGKILL)
    only_child(d.pid, besides=[pid])
    check_filled(d)
    # Cleared is cleared.
    d.admin("clear table a")
    assert reload(d)
    assert entries(d, "a") == {}


def test_another_key_starts_empty(daemon):
    d = daemon(TABLES.format(expire="1h"), mode=MASTER)
    fill(d)
    change(d, "len 8", "len 9")
    assert reload(d)
    assert entries(d, "s") == {} and entries(d, "a")
    change(d, "http_req_rate(1m)", "http_req_rate(2m),conn_cnt")
    change(d, "global\n", "global\n    tune.reload.keep counters tables\n")
    assert reload(d)
    entry = entries(d, "a")["1.2.3.4"]
    assert entry["gpc0"] == "5" and entry["http_req_rate(120000)"] == "0" and entry["conn_cnt"] == "0"
    change(d, "counters tables", "counters")
    assert reload(d)
    assert entries(d, "a") == {}


def test_a_full_table_replaces(daemon):
    d = daemon(TABLES.format(expire="1h"))
    for key in (1, 2, 3, 1, 4):
        d.admin(f"set table i key {key}")
    assert sorted(entries(d, "i")) == ["1", "3", "4"]


# --- a limit under load, over reloads and deaths ---

LIMIT = 50
LIMITED = """\
frontend site
    mode http
    bind 127.0.0.1:{port}
    stick-table type ip size 1k expire 1h store gpc0,conn_cnt,conn_cur,http_req_cnt,http_req_rate(1h)
    tcp-request connection track-sc0 src
    http-request sc-inc-gpc0(0)
    http-request deny deny_status 429 if {{ src 127.0.0.2 }} {{ sc_http_req_rate(0) gt {limit} }}
    http-request deny deny_status 429 if {{ src 127.0.0.4 }} {{ sc_get_gpc0(0) gt {limit} }}
    http-request return status 200
"""


class Clients:
    """Threads that ask on connections of twenty requests each, until they are stopped: `got` has the number of each status by client
    address, `sent` all requests."""

    def __init__(self, port, addresses):
        self.port, self.is_over, self.failed = port, False, []
        self.got = {a: collections.Counter() for a in addresses}
        self.sent = collections.Counter()
        self.news = threading.Condition()
        self.threads = [threading.Thread(target=self.run, args=(a,)) for a in addresses]
        for t in self.threads:
            t.start()

    def run(self, address):
        try:
            while not self.is_over:
                with socket.create_connection(("127.0.0.1", self.port), timeout=WAIT, source_address=(address, 0)) as s:
                    self.use(s, address)
        except OSError as e:
            self.failed.append(f"{address}: {e!r}")

    def use(self, s, address):
        # A process that dies resets its connections.
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):
            self.ask(s, address)

    def ask(self, s, address):
        for i in range(20):
            s.sendall(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            with self.news:
                self.sent[address] += 1
                self.news.notify_all()
            head = b""
            while b"\r\n\r\n" not in head:
                more = s.recv(4096)
                if not more:
                    return
                head += more
            self.got[address][int(head[9:12])] += 1
            if b"onnection: close" in head or self.is_over or i == 19:
                return

    def until(self, is_true):
        with self.news:
            assert self.news.wait_for(is_true, 6 * WAIT)

    def stop(self):
        self.is_over = True
        for t in self.threads:
            t.join()
        assert not self.failed, self.failed


HELD = """\
listen site
    mode tcp
    bind 127.0.0.1:{port}
    timeout client 1h
    timeout server 1h
    stick-table type ip size 1k expire 1h store conn_cur
    tcp-request connection track-sc0 src
    server silent 127.0.0.1:{silent}
"""


def test_connections_of_killed_processes_end(daemon):
    """Processes that drain hold connections, and are killed one after the other: the current one no longer counts theirs."""
    port = free_port()
    silent = socket.create_server(("127.0.0.1", 0))
    d = daemon(HELD.format(port=port, silent=silent.getsockname()[1]), "-V", mode=MASTER)
    pids, held = [], [silent]

    def is_counted(n):
        # A process reads every 100 ms what previous ones have counted.
        d.passes(300)
        assert entries(d, "site")["127.0.0.1"]["conn_cur"] == str(n)

    try:
        for n in (1, 2):
            held.append(socket.create_connection(("127.0.0.1", port), timeout=WAIT))
            d.until("sessions eq 1")
            is_counted(n)
            pids += [pid for pid in children(d.pid) if pid not in pids]
            assert reload(d, settle=False)
            is_counted(n)
        for pid, left in zip(pids, (1, 0), strict=True):
            os.kill(pid, signal.SIGKILL)
            # The processes have been notified then.
            contains(d.stderr_path, f"Former worker ({pid}) exited")
            is_counted(left)
        assert entries(d, "site")["127.0.0.1"]["use"] == "0"
    finally:
        for s in held:
            s.close()


def test_counts_outlive_the_process_between(daemon):
    """The first process has a connection, the second one has ended: the third one adds what the first one counts."""
    port = free_port()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(WAIT)
        d = daemon(HELD.format(port=port, silent=listener.getsockname()[1]).replace("store conn_cur", "store conn_cnt,bytes_in_cnt"), mode=MASTER)
        first = worker_of(d)
        with socket.create_connection(("127.0.0.1", port), timeout=WAIT) as c:
            server = listener.accept()[0]
            server.settimeout(WAIT)
            with server:
                d.until("sessions eq 1")
                assert reload(d, settle=False)
                (second,) = set(children(d.pid)) - {first}
                assert reload(d, settle=False)
                gone(second)
                assert first in children(d.pid)
                # A process reads every 100 ms what previous ones have counted.
                d.passes(300)
                for n in (1, 2):
                    c.sendall(b"x" * 1000)
                    assert server.recv(1000, socket.MSG_WAITALL) == b"x" * 1000
                    d.passes(300)
                    assert entries(d, "site")["127.0.0.1"]["bytes_in_cnt"] == str(n * 1000)
        gone(first)
        d.passes(300)
        assert entries(d, "site")["127.0.0.1"] | {"exp": ""} == {"use": "0", "exp": "", "conn_cnt": "1", "bytes_in_cnt": "2000"}


RATES = {"127.0.0.2", "127.0.0.4"}
COUNTERS = ("gpc0", "conn_cnt", "http_req_cnt", "http_req_rate(3600000)")


def counts(d):
    """{key: {name: number}}"""
    return {key: {n: int(v) for n, v in entry.items() if n in COUNTERS} for key, entry in entries(d, "site").items()}


@pytest.mark.parametrize("times", [(4, 1), pytest.param((20, 5), marks=only_tables)])
def test_a_limit_holds_over_reloads_and_deaths(daemon, times):
    """No client that is at its limit gets in; counters never go back and in the end have all requests; no connection is left."""
    port = free_port()
    d = daemon(LIMITED.format(port=port, limit=LIMIT), mode=MASTER)
    reloads, deaths = times
    clients = Clients(port, ["127.0.0.2", "127.0.0.3", "127.0.0.4"])
    try:
        clients.until(lambda: all(clients.got[a][429] for a in RATES))
        before = counts(d)
        for i in range(reloads + deaths):
            asked = sum(clients.sent.values())
            if i % (reloads // deaths + 1):
                assert reload(d, settle=False)
            else:
                only_child(d.pid)
                # A process reads every 100 ms, and at its own end, what the previous one has counted.
                d.passes(300)
                pid = worker_of(d)
                os.kill(pid, signal.SIGKILL)
                only_child(d.pid, besides=[pid])
            clients.until(lambda n=asked: sum(clients.sent.values()) > n + 200)
            now = counts(d)
            assert not [(k, n) for k, rows in before.items() for n, v in rows.items() if now[k][n] < v]
            before = now
    finally:
        clients.stop()
    only_child(d.pid)
    d.until("sessions eq 0")
    d.passes(300)
    assert {entry["conn_cur"] + entry["use"] for entry in entries(d, "site").values()} == {"00"}
    assert {a: clients.got[a][200] for a in RATES} == dict.fromkeys(RATES, LIMIT)
    now = entries(d, "site")
    for address, got in clients.got.items():
        assert sum(got.values()) <= int(now[address]["http_req_cnt"]) <= clients.sent[address]
        assert now[address]["http_req_cnt"] == now[address]["gpc0"]
