"""The comparison with the committed report."""

import json
import os
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from lib import baseline  # noqa: E402

COMMITTED = os.path.join(HERE, "baseline.json")
EXACT = baseline.less("s", "exact", None, 0)
SHARE = baseline.less("s", "share", None, 0.1)
FLOOR = baseline.less("s", "floor", None, 0, 0.02)
MORE = baseline.Compared("s", "more", None, False, 0.1, 0.0)


@pytest.mark.parametrize("c,was,now,want", [
    (EXACT, 0, 0, "same"), (EXACT, 0, 1, "worse"), (EXACT, 3, 2, "better"),
    (SHARE, 100, 110, "same"), (SHARE, 100, 110.1, "worse"), (SHARE, 100, 89.9, "better"), (SHARE, 100, 90, "same"),
    (FLOOR, 0.001, 0.02, "same"), (FLOOR, 0.001, 0.022, "worse"),
    (MORE, 100, 111, "better"), (MORE, 100, 89, "worse"), (MORE, 100, 91, "same"),
    (SHARE, None, 5, "new"), (SHARE, 5, None, "no data"),
])
def test_verdict(c, was, now, want):
    assert baseline.verdict(c, was, now) == want


def once(rows):
    return {name: {k: [v] for k, v in row.items()} for name, row in rows.items()}


def run_of(memory, waits=3.0, differ=0):
    return {"memory": once({"tacit default": {"n9000": memory}}),
            "syscalls": once({"tacit default": {"c1": 12.0 + waits, "c1.waits": waits}}),
            "ledger": once({"tacit default": {"differ": differ}})}


def test_only_what_was_measured_is_a_value():
    assert baseline.values(run_of(623.0471)) == {
        "memory": {"bytes per idle connection at 9000": 623.0},
        "syscalls": {"calls but waits, c=1, tacit default": 12.0, "calls, c=1, tacit default": 15.0},
        "ledger": {"calls on which show syscalls and strace differ": 0.0}}
    assert baseline.values({"memory": {}}) == {}


def test_a_run_is_compared_with_the_committed_one():
    committed = baseline.renewed(baseline.load("/nonexistent"), run_of(600.0), {"when": "then"})
    assert {d.verdict for d in baseline.compare(committed, run_of(600.0))} == {"same"}
    got = {d.what: d.verdict for d in baseline.compare(committed, run_of(700.0, waits=5.0, differ=1))}
    assert got == {"bytes per idle connection at 9000": "worse", "calls but waits, c=1, tacit default": "same",
                   "calls, c=1, tacit default": "worse", "calls on which show syscalls and strace differ": "worse"}


def test_a_value_that_is_no_longer_measured_is_reported():
    committed = baseline.renewed(baseline.load("/nonexistent"), run_of(600.0), {})
    assert [d.verdict for d in baseline.compare(committed, {"memory": {}})] == ["no data"]
    assert baseline.compare(committed, {}) == []


def test_the_table_says_how_far_off_is_the_same():
    found = baseline.compare(baseline.renewed(baseline.load("/nonexistent"), run_of(600.0), {}), run_of(700.0))
    assert ["bytes per idle connection at 9000", "memory", "600", "700", "2 %", "worse"] in baseline.grid(found)
    assert ["calls on which show syscalls and strace differ", "ledger", "0", "0", "exact", "same"] in baseline.grid(found)
    assert baseline.summary(found) == "1 worse, 3 same"
    assert baseline.summary([]) == "nothing to compare"


def test_renewing_one_section_leaves_the_others(tmp_path):
    old = {"about": {"cpu": "a", "memory": "a"}, "values": {"cpu": {"x": 1}, "memory": {"gone": 2}}}
    path = str(tmp_path / "b.json")
    baseline.save(path, baseline.renewed(old, {"memory": run_of(5.0)["memory"], "idle": {}}, "b"))
    assert baseline.load(path) == {"about": {"cpu": "a", "memory": "b"}, "values": {
        "cpu": {"x": 1}, "memory": {"bytes per idle connection at 9000": 5.0}}}


def test_a_committed_report_of_another_machine_is_named():
    committed = {"about": {"cpu": {"machine": "a"}, "memory": {"machine": "b"}, "idle": {"machine": "c"}}}
    assert baseline.elsewhere(committed, {"cpu": {}, "memory": {}}, "b") == ["a"]


def test_an_invalid_file_is_an_error(tmp_path):
    bad = tmp_path / "b.json"
    for text in ("[]", "{}", '{"about": {}, "values": 3}', '{"values": {}}', "junk"):
        bad.write_text(text)
        with pytest.raises(ValueError):
            baseline.load(str(bad))


def test_everything_committed_is_compared():
    """A name that the program no longer has would never be compared again."""
    with open(COMMITTED, encoding="utf-8") as f:
        committed = json.load(f)
    known = {(c.section, c.what) for c in baseline.COMPARED}
    named = {(section, what) for section, table in committed["values"].items() for what in table}
    assert len(named) >= 30
    assert named <= known
    assert len(known) == len(baseline.COMPARED)
    assert set(committed["about"]) == set(committed["values"])


def test_one_call_or_segment_more_is_never_the_same():
    with open(COMMITTED, encoding="utf-8") as f:
        committed = json.load(f)["values"]
    counts = [c for c in baseline.COMPARED if c.what.startswith(("calls", "segments")) and c.section in committed]
    assert len(counts) == 42
    for c in counts:
        was = committed[c.section][c.what]
        assert baseline.verdict(c, was, was + 1) == "worse", c.what


@pytest.mark.parametrize("words", [["--quick"], ["--rows", "tacit"], ["--reps", "4"], ["--gate", "calls"]])
def test_a_first_look_is_nothing_to_commit_to(words, tmp_path):
    path = tmp_path / "b.json"
    done = subprocess.run([os.path.join(HERE, "bench"), "--save-baseline", "--baseline", str(path), *words],
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and "--save-baseline" in done.stderr
    assert not path.exists()


RANGES = """#!/bin/sh
echo "in-order fast=1 set=$SET tree=20"
echo "late fast=1 set=8 tree=20"
"""


def test_the_whole_way(tmp_path):
    """Measures with a fake subject, commits the result, and detects a later run that is worse, and one without data.
    """
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("bare", "bulk", "load", "echo", "idle", "flood", "ranges", "slow", "h2"):
        (tools / name).write_text(RANGES)
        (tools / name).chmod(0o755)
    path = tmp_path / "b.json"

    def bench(height, *words):
        argv = [os.path.join(HERE, "bench"), "--only", "ranges", "--tools", str(tools), "--out", str(tmp_path / "out"),
                "--baseline", str(path), *words]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False,
                              env={**os.environ, "SET": height})
        return done.returncode, done.stdout, done.stderr

    assert "2 new" in bench("12")[1] and not path.exists()
    code, out, _ = bench("12", "--save-baseline")
    assert code == 0 and "renewed: ranges" in out
    assert baseline.load(str(path))["values"] == {"ranges": {
        "insert and remove in a general set / in order": 20.0,
        "insert and remove in a set without the fast path / in order": 12.0}}
    assert "Against the committed report: 2 same" in bench("12.5")[1]
    assert "Against the committed report: 1 worse, 1 same" in bench("5")[1]
    assert "Against the committed report: 1 worse, 1 same" in (tmp_path / "out" / "report.md").read_text()
    assert json.loads((tmp_path / "out" / "report.json").read_text())["against"][1]["verdict"] == "worse"
    (tools / "ranges").write_text("#!/bin/sh\nexit 1\n")
    before = path.read_text()
    code, out, _ = bench("12", "--save-baseline")
    assert code == 1 and "2 no data" in out and "not renewed" in out and path.read_text() == before
    path.write_text("junk")
    assert bench("12")[0] != 0
