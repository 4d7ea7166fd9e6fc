"""The parsers of the output of the kernel and the tools, and the statistics."""

import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from lib import parse  # noqa: E402

STRACE = """% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 31.21    0.004021           6       600           sendto
 20.00    0.002000           3       900        12 recvfrom
 10.00    0.001000           3       300           clock_gettime
  5.00    0.000500           3       100           epoll_wait
  1.00    0.000100           3         1         1 restart_syscall
------ ----------- ----------- --------- --------- ----------------
100.00    0.007621           4      1901        13 total
"""

SNMP = """Ip: Forwarding OutSegs
Ip: 1 5
Tcp: RtoAlgorithm ActiveOpens InSegs OutSegs RetransSegs
Tcp: 1 10 20 30 0
"""

AB = """Complete requests:      100
Failed requests:        0
Requests per second:    12345.67 [#/sec] (mean)
"""


def test_strace_counts():
    counts = parse.strace_counts(STRACE)
    assert counts == {"sendto": (600, 0), "recvfrom": (900, 12), "clock_gettime": (300, 0), "epoll_wait": (100, 0)}


def test_strace_of_a_process_that_made_no_call():
    with pytest.raises(ValueError):
        parse.strace_counts("")


def test_clock_reads_stand_apart_and_waits_are_part_of_the_total():
    assert parse.split_calls(parse.strace_counts(STRACE)) == (1600, 100, 300)


def test_per_connection_joins_the_kinds_of_wait():
    got = parse.per_connection({"epoll_wait": (10, 0), "epoll_pwait": (5, 0), "close": (20, 0)}, 10)
    assert got == {"wait": 1.5, "close": 2.0}


def test_a_failed_accept_is_no_connection():
    assert parse.accepted({"accept4": (250, 50), "connect": (200, 200)}) == 200


LEDGER = """# call                    total           ok        again        error   since_last      per_sec   per_conn    per_req
accept4                     208          202            6            0          208        104.0      1.035      0.518
epoll_wait                  584          582            0            2          584        292.0      2.905      1.453
clock_gettime               586          586            0            0          586        293.0      2.915      1.458 vdso
total                      3339         3331            6            2         3339       1669.5     16.612      8.306
connections                 201
requests                    402
"""


def test_named_values():
    assert parse.named_values("in-order fast=0.5 set=8\nlate fast=2\n") == {
        "in-order": {"fast": 0.5, "set": 8.0}, "late": {"fast": 2.0}}
    with pytest.raises(parse.LoadFailed):
        parse.named_values("out of memory\n")


def test_ledger_counts():
    assert parse.ledger_counts(LEDGER) == {"accept4": (208, 6, 0), "epoll_wait": (584, 2, 2),
                                           "clock_gettime": (586, 0, 0)}


def test_the_cost_of_a_command_is_subtracted():
    got = parse.between({"a": (10, 1, 0)}, {"a": (30, 4, 0), "b": (2, 0, 0)}, {"a": (1, 1, 0), "b": (1, 0, 0)})
    assert got == {"a": (19, 2, 0), "b": (1, 0, 0)}


def test_disagreement_is_about_every_call_but_clocks_and_interrupted_waits():
    ledger = {"accept4": (208, 6, 0), "epoll_wait": (584, 2, 2), "clock_gettime": (586, 0, 0), "uname": (0, 0, 0)}
    assert parse.disagreement(ledger, {"accept4": (208, 6), "epoll_wait": (582, 0)}) == []
    assert parse.disagreement(ledger, {"accept4": (208, 5), "epoll_wait": (583, 0), "brk": (1, 0)}) == [
        ("accept4", (208, 6), (208, 5)), ("brk", (0, 0), (1, 0)), ("epoll_wait", (582, 0), (583, 0))]


def test_snmp_takes_the_column_of_the_protocol():
    assert parse.snmp(SNMP, "Tcp", "OutSegs") == 30
    with pytest.raises(ValueError):
        parse.snmp(SNMP, "Udp", "OutDatagrams")


def test_schedstat_is_the_time_on_the_cpu_not_the_time_waited():
    assert parse.schedstat("239446 45659 3\n") == 239446


def test_memory_leaves_pages_of_files_out():
    text = "Rss: 900 kB\nPrivate_Clean:   40 kB\nAnonymous:    60 kB\nAnonHugePages:  7 kB\n"
    assert parse.anonymous_kb(text) == 60
    with pytest.raises(ValueError):
        parse.anonymous_kb("Rss: 900 kB\n")


def test_ab_result():
    assert parse.ab_result(AB, 100) == 12345.67


@pytest.mark.parametrize("wanted,change", [
    (101, ("", "")),
    (100, ("Failed requests:        0", "Failed requests:        1")),
    (100, ("Failed requests:        0", "Failed requests:        0\nNon-2xx responses:      3")),
    (100, ("Complete", "Total")),
])
def test_a_run_of_ab_with_any_failure_is_no_sample(wanted, change):
    with pytest.raises(parse.LoadFailed):
        parse.ab_result(AB.replace(*change) if change[0] else AB, wanted)


WRK = """\
Running 1s test @ https://127.0.0.1:8443/
  1 threads and 50 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    15.76ms   15.52ms  77.78ms   84.40%
  1192 requests in 1.03s, 588.58KB read
Requests/sec:   1157.28
Transfer/sec:    194.45KB
"""


def test_wrk_result():
    assert parse.wrk_result(WRK) == 1157.28


@pytest.mark.parametrize("change", [
    ("Requests/sec", "  Socket errors: connect 0, read 1, write 0, timeout 0\nRequests/sec"),
    ("Requests/sec", "  Non-2xx or 3xx responses: 2\nRequests/sec"),
    ("1157.28", "0.00"),
    ("Requests/sec", "Transfers"),
])
def test_a_run_of_wrk_with_any_failure_is_no_sample(change):
    with pytest.raises(parse.LoadFailed):
        parse.wrk_result(WRK.replace(*change))


H2LOAD = """\
finished in 425.63ms, 18795.76 req/s, 534.50KB/s
requests: 8000 total, 8000 started, 8000 done, 8000 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 8000 2xx, 0 3xx, 0 4xx, 0 5xx
"""


def test_h2load_result():
    assert parse.h2load_result(H2LOAD, 8000) == 18795.76


@pytest.mark.parametrize("change", [("8000 succeeded, 0 failed", "7999 succeeded, 1 failed"), ("8000 2xx", "7999 2xx"),
                                    ("finished", "stopped"), ("8000", "7000")])
def test_a_run_of_h2load_with_any_failure_is_no_sample(change):
    with pytest.raises(parse.LoadFailed):
        parse.h2load_result(H2LOAD.replace(*change), 8000)


def test_key_values():
    assert parse.key_values("sent=3 lost=0 p50=1.5 junk") == {"sent": 3, "lost": 0, "p50": 1.5}


@pytest.mark.parametrize("values,want", [([], None), ([3], 3), ([9, 1, 5], 5), ([4, 1, 3, 2], 2.5)])
def test_median(values, want):
    assert parse.median(values) == want


def test_ratios_are_taken_within_a_round():
    assert parse.paired([10, 20, 33], [10, 20, 30]) == 1.0
    assert parse.paired([10, 20], [20, 40, 40]) == 15 / 40
    assert parse.paired([], [1]) is None
    assert parse.paired([1, 1], [1, 0]) is None


def test_the_total_cost_counts_expensive_rounds():
    assert parse.of_means([10, 10, 40], [20, 20, 20]) == 1.0
    assert parse.of_means([10], [20, 40]) == pytest.approx(1 / 3)
    assert parse.of_means([], [1]) is None and parse.of_means([1], []) is None and parse.of_means([1], [0]) is None


def test_spread_ignores_one_wild_sample():
    assert parse.spread([10, 10, 10, 10, 99]) == 0
    assert parse.spread([8, 9, 10, 11, 12]) == pytest.approx(0.1)
    assert parse.spread([1, 2, 3]) is None
