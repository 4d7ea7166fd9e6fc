"""Results computed from the answers of several workers."""

import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from lib import parse, probe, report, subjects, targets, workers  # noqa: E402
from lib.measuring import Run  # noqa: E402
from lib.world import Failed, World  # noqa: E402

ACTIVITY = """sessions: 3 [ 1 2 ]
connections: 300 [ 140 160 ]
accepted: 300 [ 200 100 ]
handed_over: 70 [ 65 5 ]
taken_over: 70 [ 5 65 ]
idle_pct: 90 [ 95 85 ]
mail_eventfd_writes: 12 [ 10 2 ]
"""


def test_activity_has_what_each_worker_did():
    got = parse.activity(ACTIVITY)
    assert got["sessions"] == [1, 2]
    assert got["mail_eventfd_writes"] == [10, 2]
    assert len(got) == 7


def test_activity_of_one_worker_has_no_brackets():
    assert parse.activity("sessions: 3\nmail_posts: 0\n\nUnknown command. Please: 1 x\n") == {
        "sessions": [3], "mail_posts": [0]}


def test_what_was_done_before_does_not_count():
    before = {"accepted": [5, 7]}
    assert parse.grown(before, {"accepted": [6, 17], "new": [1, 2]}) == {"accepted": [1, 10], "new": [1, 2]}


@pytest.mark.parametrize("shares,want", [([60, 40], 60), ([0, 3], 100), ([5], 100), ([1, 1, 2], 50), ([0, 0], None)])
def test_larger_share(shares, want):
    assert parse.larger(shares) == want


def test_the_serving_process_is_the_one_that_took_over():
    got = workers.per_connection(parse.activity(ACTIVITY))
    assert got["accepted"] == pytest.approx(200 / 3)
    assert got["served"] == pytest.approx(100 * 160 / 300)
    assert (got["writes"], got["handed"]) == (12 / 300, 70 / 300)


def test_no_connection_is_no_sample():
    with pytest.raises(Failed):
        workers.per_connection({"connections": [0, 0]})


def test_figures_of_a_hand_over_are_per_hand_over():
    done = {"handed_over": [30, 20], "connections": [60, 40], "mail_eventfd_writes": [4, 1],
            "mail_elided_awake": [40, 4], "mail_elided_batch": [1, 0], "mail_empty_wakes": [0, 0]}
    got = workers.per_handover(done, {"rate": 1000.0, "proxy": 20.0, "segments": 18}, 100)
    assert got == {"handed": 500.0, "share": 50.0, "writes": 0.1, "awake": 0.88, "batch": 0.02, "empty": 0,
                   "proxy": 20.0, "rate": 1000.0}
    with pytest.raises(Failed):
        workers.per_handover({"handed_over": [0, 0]}, {}, 100)


def once(rows):
    return {name: {k: [v] for k, v in row.items()} for name, row in rows.items()}


@pytest.mark.parametrize("on,cpu,want", [(0.2, 19.0, ["pass"] * 3), (0.21, 19.0, ["MISS", "pass", "pass"]),
                                         (0.1, 20.5, ["pass", "MISS", "MISS"]),
                                         (None, 19.0, ["no data", "pass", "pass"])])
def test_elision_has_to_save_four_writes_of_five_and_time(on, cpu, want):
    rows = once({"tacit elision on": {"writes": on, "proxy": cpu}, "tacit elision off": {"writes": 1.0, "proxy": 20.0}})
    if on is None:
        del rows["tacit elision on"]["writes"]
    assert [v.verdict for v in targets.handover(rows)] == want


@pytest.mark.parametrize("writes,want", [(0.05, "pass"), (0.051, "MISS")])
def test_writes_of_two_workers_are_bounded(writes, want):
    rows = once({"tacit 1 worker": {"close.writes": 0.0}, "tacit 2 workers": {"close.writes": writes}})
    assert [v.verdict for v in targets.workers(rows)] == [want]


def test_of_the_split_the_worst_round_counts():
    rows = {"tacit 2 workers": {"larger": [50.0] * 19 + [61.0]}, "tacit fair": {"larger": [50.0] * 20}}
    assert [(v.value, v.verdict) for v in targets.split(rows)] == [("61", "MISS")]
    assert report.grids("split", rows)[0][1][1:] == [["tacit 2 workers", "50.0", "61.0", "20"],
                                                     ["tacit fair", "50.0", "50.0", "20"]]
    assert [v.verdict for v in targets.split({})] == ["no data"]


def test_rows_of_one_worker_say_so():
    for rows in (subjects.NEAR, subjects.COST, subjects.FAR, subjects.KEEPALIVE, subjects.PLAIN, subjects.POLLERS):
        for s in rows:
            assert "    nbthread 1\n" in subjects.haproxy_config(s, 81, "127.0.0.1:82"), s.name


def test_rows_of_several_workers_differ_in_nothing_else():
    ours, theirs, _ = subjects.several(2)
    text = subjects.haproxy_config(ours, 81, "127.0.0.1:82")
    assert (ours.name, theirs.name, subjects.several(1)[0].name) == ("tacit 2 workers", "haproxy 2 workers", "tacit 1 worker")
    assert text == subjects.haproxy_config(theirs, 81, "127.0.0.1:82")
    assert text.replace("nbthread 2", "nbthread 1") == subjects.haproxy_config(subjects.DEFAULT, 81, "127.0.0.1:82")
    assert subjects.haproxy_config(ours, 81, "a:1", "/x.sock").count("    stats socket /x.sock\n") == 1


def test_several_origins_are_several_servers():
    text = subjects.haproxy_config(subjects.DEFAULT, 81, "a:1,b:2")
    assert text.endswith("    server origin0 a:1\n    server origin1 b:2\n")


def test_hand_over_is_forced_and_only_elision_differs():
    on, off = (subjects.haproxy_config(s, 81, "a:1") for s in subjects.HANDOVER)
    assert "nbthread 2\n" in on and "tune.listener.multi-queue fair\n" in on
    assert on.replace("wake-elision on", "wake-elision off") == off != on


def test_peers_leave_the_workers_their_cpus(tmp_path):
    world = World()
    try:
        world.cpus = [0, 1, 2, 3]
        assert (world.cpus_of(1), world.cpus_beside(1)) == ({0}, {1, 2, 3})
        assert (world.cpus_of(2), world.cpus_beside(2)) == ({0, 1}, {2, 3})
        assert (world.cpus_of(4), world.cpus_beside(4)) == ({0, 1, 2, 3}, {0, 1, 2, 3})
        assert workers.peers_of(Run(world, None, 1, False)) == 2
        world.cpus = [5]
        assert (world.cpus_of(2), world.cpus_beside(2)) == ({5}, {5})
        assert workers.peers_of(Run(world, None, 1, False)) == 1
    finally:
        world.close()


def test_several_clients_share_the_work_and_all_end(monkeypatch):
    """The requests are shared, rates and CPU time are added; when one fails, all are ended."""
    world = World()
    said = "Complete requests: {0}\nFailed requests: {1}\nRequests per second: 50.0 [#/sec]\n"
    started = []

    def fake(failed):
        def start(_, argv, cpus=None):
            n = argv[argv.index("-n") + 1]
            p = world.spawn(["printf", said.format(n, failed)], stdout=-1, stderr=-2)
            p.log = None
            started.append((p, n, argv[argv.index("-c") + 1], cpus))
            return p
        return start

    try:
        monkeypatch.setattr(probe, "client_start", fake(0))
        rate, cpu = probe.ab(world, 1, 100, 10, clients=2, cpus={0})
        assert rate == 100.0 and cpu > 0
        assert [s[1:] for s in started] == [("50", "5", {0})] * 2
        monkeypatch.setattr(probe, "client_start", fake(1))
        with pytest.raises(parse.LoadFailed):
            probe.ab(world, 1, 100, 10, clients=2)
        assert not world.procs
    finally:
        world.close()
