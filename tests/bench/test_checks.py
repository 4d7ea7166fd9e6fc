"""The section about checks: what it sees of them, what it makes of their times, and its bounds."""

import os
import socket
import sys
import threading
import time

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from lib import checks, report, subjects, targets  # noqa: E402

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="listens to packets: needs root")


def test_a_check_is_late_against_the_earliest_of_its_server():
    seen = [("a", 10.000), ("b", 10.505), ("a", 11.030), ("b", 11.500), ("a", 12.002), ("b", 12.500), ("c", 1.0), ("c", 2.5)]
    assert [round(ms, 6) for ms in checks.lateness(seen, 1)] == [0, 0, 0, 2, 5, 30]


def test_a_check_that_was_left_out_is_not_taken_for_a_late_one():
    assert checks.lateness([("a", 1.0), ("a", 2.0), ("a", 4.0)], 1) == [0, 0, 0]


def test_percentiles_are_of_what_there_is():
    values = list(range(100))
    assert (checks.percentile(values, 0.5), checks.percentile(values, 0.99), checks.percentile([7], 0.99)) == (50, 99, 7)


@needs_root
def test_only_connections_to_the_checked_servers_are_seen():
    times = {}
    with socket.create_server(("0.0.0.0", 0)) as listener, socket.create_server(("0.0.0.0", 0)) as other:
        port = listener.getsockname()[1]
        sniffer = checks.Sniffer(port)
        try:
            socket.create_connection(("127.9.0.2", other.getsockname()[1])).close()
            for host in ("127.9.0.1", "127.0.0.1", "127.8.9.1", "127.9.3.250"):
                began = time.time()
                with socket.create_connection((host, port)) as s:
                    times[socket.inet_aton(host)] = (began, time.time())
                    s.sendall(b"not a new connection")
        finally:
            seen = sniffer.stop()
    assert [server for server, _ in seen] == [bytes((127, 9, 0, 1)), bytes((127, 9, 3, 250))]
    assert all(times[server][0] <= at <= times[server][1] for server, at in seen)


@needs_root
def test_a_packet_sent_while_the_sniffer_opens_is_filtered():
    ends = threading.Event()

    def send():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.bind(("127.0.0.1", 0))
            while not ends.is_set():
                s.sendto(b"not a connection", s.getsockname())

    sender = threading.Thread(target=send)
    sender.start()
    try:
        # No other program connects to this port while it is bound.
        with socket.socket() as s:
            s.bind(("0.0.0.0", 0))
            for _ in range(5):
                assert checks.Sniffer(s.getsockname()[1]).stop() == []
    finally:
        ends.set()
        sender.join()


def test_the_machine_prefers_it_for_a_while():
    before = os.getpriority(os.PRIO_PROCESS, 0)
    if os.geteuid() != 0:
        pytest.skip("needs root")
    with checks.preferred():
        assert os.getpriority(os.PRIO_PROCESS, 0) == checks.PRIORITY
    assert os.getpriority(os.PRIO_PROCESS, 0) == before


def test_a_thousand_servers_have_addresses_of_their_own():
    text = subjects.haproxy_config(subjects.CHECKED[0], 81, "127.0.0.1:82")
    hosts = [line.split()[2] for line in text.splitlines() if " check inter 1s" in line]
    assert len(set(hosts)) == subjects.CHECKED_SERVERS == 1000
    assert all(host.startswith("127.9.") for host in hosts)


def test_checks_may_be_late_by_fifty_milliseconds():
    rows = {"tacit default": {"c100.p99": [50.0], "c500.p99": [50.0]}}
    assert [v.verdict for v in targets.checks(rows)] == ["pass"] * 2
    rows = {"tacit default": {"c100.p99": [50.1], "c500.p99": [50.1]}}
    assert [v.verdict for v in targets.checks(rows)] == ["MISS"] * 2
    assert [v.verdict for v in targets.checks({})] == ["no data"] * 2
    grid = report.grids("checks", rows)[0][1]
    assert len(grid[0]) == len(grid[1])
