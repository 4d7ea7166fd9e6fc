"""Instructions per request: the reader of callgrind's files, what a request costs, and the gate."""

import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from lib import baseline, instructions, report  # noqa: E402
from lib.world import Failed  # noqa: E402

PROFILE = """\
version: 1
positions: line
events: Ir

ob=(1) /opt/tacit
fl=(1) a.c
fn=(1) serve
10 100
+2 20
fi=(2) a.h
5 3
fe=(1)
cob=(2) /lib/libc.so.6
cfi=(3) ???
cfn=(2) memcpy
calls=7 0
* 7000
-1 1

ob=(2)
fl=(3)
fn=(2)
0 7000

ob=(1)
fl=(1)
fn=(3) walk'2
30 40
fn=(4) walk
30 2
totals: 7166
"""


def test_functions_have_what_they_executed_themselves():
    assert instructions.read_profile(PROFILE.splitlines()) == {
        ("/opt/tacit", "serve"): 124, ("/lib/libc.so.6", "memcpy"): 7000, ("/opt/tacit", "walk"): 42}


def run_of(requests):
    return {("/p", "start"): 500, ("/p", "serve"): 50 + 3 * requests, ("/lib", "send"): requests}


def test_start_and_end_cost_no_request():
    few, many = (instructions.Counter(run_of(n)) for n in (instructions.FEW, instructions.MANY))
    assert instructions.per_request(few, many, "/p") == {"": 4, ".own": 3, ":serve": 3, ":send": 1, ":start": 0}
    with pytest.raises(Failed, match="/elsewhere"):
        instructions.per_request(few, many, "/elsewhere")


def test_tables_name_the_functions():
    samples = {"tacit default": {"TCP, kept": [1234.4], "TCP, kept.own": [1000], "TCP, kept:serve": [900], "TCP, kept:send": [234.4]}}
    (_, table), (title, functions) = report.grids("instructions", samples)
    assert table == [["", "TCP, kept", "own"], ["tacit default", "1,234", "1,000"]]
    assert title == "Functions that cost most: tacit default"
    assert functions == [["", "TCP, kept"], ["1", "serve 900"], ["2", "send 234"]]


class Run:
    notes = ()


@pytest.mark.parametrize("share,missing,rc", [(1, None, 0), (1.009, None, 0), (0.9, None, 0), (1.02, None, 1), (1, "TLS, kept", 1)])
def test_gate_compares_with_the_committed_report(monkeypatch, capsys, share, missing, rc):
    committed = {"about": {}, "values": {"instructions": {
        "instructions per request, %s, tacit default" % kind: 1000 for kind in instructions.KINDS}}}
    row = {kind + part: [1000 * share] for kind in instructions.KINDS if kind != missing for part in ("", ".own")}
    monkeypatch.setattr(instructions, "counted", lambda run, rows: {"tacit default": row})
    assert instructions.gate(Run(), committed) == rc
    assert ("worse" in capsys.readouterr().out) == (share > 1.01)


def test_every_kind_is_in_the_committed_report():
    report_ = baseline.load(os.path.join(os.path.dirname(os.path.abspath(__file__)), "baseline.json"))
    assert len(report_["values"]["instructions"]) == len(instructions.KINDS)
