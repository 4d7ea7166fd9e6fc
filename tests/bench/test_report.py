"""The tables, the verdicts and the configurations."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from lib import report, subjects, targets  # noqa: E402




def test_medians_are_taken_per_row_and_metric():
    assert report.medians({"a": {"x": [3, 1, 2]}, "b": {"x": [7]}}) == {"a": {"x": 2}, "b": {"x": 7}}


def test_calls_grid_omits_calls_that_no_row_makes():
    rows = {"a": {"c1": 3.0, "c1.clock": 1.0, "c1:wait": 2.0, "c1:brk": 0.01, "c1:clock": 1.0, "c1:recvfrom": 1.0,
                  "c1!recvfrom": 0.5}}
    assert report.calls_grid(rows, ("c1", "c50")) == [
        ["", "c", "total", "clock", "wait", "recv", "recv failed"],
        ["a", "1", "3.00", "1.00", "2.00", "1.00", "0.50"]]


def test_merge_grid_shows_what_was_saved():
    rows = {"tacit unmerged": {"c1:epoll_ctl": 5.0, "c1:recvfrom": 5.0, "c1!recvfrom": 2.0},
            "tacit merged": {"c1:epoll_ctl": 4.0, "c1:recvfrom": 4.0, "c1!recvfrom": 1.0}}
    grid = report.merge_grid(rows)
    assert ["epoll_ctl", "50,000", "40,000", "20.0 %"] in grid
    assert ["recvfrom", "50,000 (20,000 failed)", "40,000 (10,000 failed)", "20.0 %"] in grid
    assert report.merge_grid({"tacit merged": {}}) is None


def test_tables_line_up():
    grid = [["", "n"], ["long name", "1"], ["x", "1,000"]]
    assert report.text_table(grid).split("\n") == ["               n", "long name      1", "x          1,000"]
    assert report.markdown_table(grid).split("\n")[1] == "|---|---:|"


def test_every_section_without_data_says_so():
    for name in report.TITLES:
        assert "no data" in report.grids(name, {})[0][1][0][1]


def once(rows):
    return {name: {k: [v] for k, v in row.items()} for name, row in rows.items()}


def test_a_target_that_is_missed_or_unmeasured_is_not_passed():
    rows = once({"tacit default": {"c1": 15.0, "c50": 10.1, "c1.clock": 3.0, "c1.waits": 2.0}})
    got = {v.what: v.verdict for v in targets.verdicts({"syscalls": rows})}
    assert got == {"calls per connection, near, c=1": "pass", "calls per connection, near, c=50": "MISS",
                   "clock reads per wait, c=1": "MISS", "clock reads per wait, c=50": "no data"}


def test_ranges_are_compared_within_a_round():
    rows = {"in-order": {"fast": [0.5, 1.0, 1.0], "set": [4.0, 9.9, 9.9], "tree": [10, 20, 20]}}
    assert [v.verdict for v in targets.ranges(rows)] == ["pass", "MISS"]
    assert report.grids("ranges", rows)[0][1][1] == ["in-order", "1.00", "9.90", "20.00"]


def test_a_reader_of_statistics_may_cost_a_tenth():
    rows = once({"tacit default": {"alone.p99": 1000.0, "beside.p99": 1090.0, "beside.answers": 9.8}})
    assert [v.verdict for v in targets.stat(rows)] == ["pass", "no data"]
    rows["tacit default"]["beside.p99"] = [1110.0]
    assert targets.stat(rows)[0].verdict == "MISS"
    assert report.grids("stat", rows)[0][1][1] == ["tacit default", "-", "1,000", "-", "1,110", "9.8", "-"]


def test_more_patterns_may_cost_little():
    rows = once({"exact": {"n10": 10.0, "n1000": 12.0, "n100000": 47.0}, "prefix": {"n10": 10.0, "n1000": 41.0},
                 "conditions": {"apart": 30.0, "together": 90.0}})
    assert [v.verdict for v in targets.rules(rows)] == ["pass", "pass", "MISS", "no data", "no data", "no data"]
    assert report.grids("rules", rows)[0][1][1] == ["exact", "10.0", "12.0", "47.0", "-", "-"]


def test_savings_are_relative_to_before():
    rows = once({"tacit unmerged": {"c1:epoll_ctl": 5.0, "c1:recvfrom": 5.0, "c1:wait": 6.0},
                 "tacit merged": {"c1:epoll_ctl": 4.0, "c1:recvfrom": 4.1, "c1:wait": 5.0}})
    got = [v.verdict for v in targets.far(rows)]
    assert got == ["pass", "MISS", "pass", "no data", "no data"]


def test_ratios_compare_like_with_like():
    rows = once({"tacit default": {"proxy": 50.0, "segments": 18.3}, "tacit tuned": {"proxy": 50.0, "segments": 15.2},
                 "bare": {"proxy": 40.0}, "bare tuned": {"proxy": 50.0}, "haproxy": {"proxy": 60.0},
                 "haproxy tuned": {"proxy": 52.0}})
    got = [v.verdict for v in targets.cpu(rows)]
    assert got == ["MISS", "pass", "MISS", "pass", "pass", "MISS"]


def test_cost_that_grows_with_idle_connections_is_seen():
    rows = once({"tacit epoll": {"n100.percent": 4.0, "n9000.percent": 4.5}})
    assert [v.verdict for v in targets.idle(rows)] == ["MISS"]


def test_tuned_is_the_same_three_options_for_everyone():
    text = subjects.haproxy_config(subjects.HAPROXY_TUNED, 81, "127.0.0.1:82")
    assert text == subjects.haproxy_config(subjects.TUNED, 81, "127.0.0.1:82")
    for option in ("bind 127.0.0.1:81 defer-accept", "option tcp-smart-accept", "option tcp-smart-connect"):
        assert option in text
        assert option not in subjects.haproxy_config(subjects.DEFAULT, 81, "127.0.0.1:82")


def test_modes_are_lines_of_global():
    text = subjects.haproxy_config(subjects.UNMERGED, 81, "127.0.0.1:82")
    assert text.index("tune.epoll.mode unmerged") < text.index("defaults")


def test_rows_that_cannot_run_are_named_once():
    found = subjects.Binaries("/nonexistent/tacit", "/nonexistent")
    notes = []
    assert subjects.BARE not in found.present((subjects.DEFAULT, subjects.EDGE, subjects.BARE), notes)
    assert notes == ["tacit: /nonexistent/tacit is not there", "bare: /nonexistent/bare is not there"]


def test_http_is_judged_against_the_better_peer():
    rows = once({"tacit default": {"proxy": 46.0, "segments": 18.0}, "tacit tuned": {"segments": 14.6},
                 "haproxy": {"proxy": 60.0}, "nginx": {"proxy": 49.0}})
    assert [v.verdict for v in targets.httpcpu(rows)] == ["MISS", "pass", "MISS"]
    rows["nginx"]["proxy"] = [50.0]
    assert [v.verdict for v in targets.httpcpu(rows)] == ["pass", "pass", "MISS"]
    del rows["nginx"]
    assert targets.httpcpu(rows)[0].verdict == "no data"


def test_http_calls_per_kept_request_leave_out_waits():
    rows = once({"tacit default": {"c50": 5.0, "c50.waits": 0.9}})
    assert targets.httpkept(rows)[0].verdict == "pass"
    rows = once({"tacit default": {"c50": 5.1, "c50.waits": 0.9}})
    assert targets.httpkept(rows)[0].verdict == "MISS"


def test_http_rows_differ_by_their_mode_and_reuse():
    for row in subjects.HTTP + subjects.HTTP_KEPT:
        if row.kind == "nginx":
            text = subjects.nginx_http_config(row, 81, "127.0.0.1:82", "/x")
            assert ("keepalive 128" in text) == row.reuse
            assert "127.0.0.1:82" in text and "127.0.0.1:81" in text
        else:
            text = subjects.haproxy_config(row, 81, "127.0.0.1:82")
            assert "mode http" in text
            assert ("http-reuse always" in text) == row.reuse
    assert "keepalive_timeout 0;" in subjects.nginx_origin_config("127.0.0.1", 82, "/x", True)
    assert "keepalive_timeout 600s;" in subjects.nginx_origin_config("127.0.0.1", 82, "/x")
