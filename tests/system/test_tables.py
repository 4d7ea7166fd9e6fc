"""Stick tables: their commands, and what outlives a worker process."""

import os
import re
import signal

from facts import only_child
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
