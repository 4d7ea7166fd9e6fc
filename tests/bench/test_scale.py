"""The section about large configurations: what it writes, what it reads of a start, and its bounds."""

import os
import sys
from types import SimpleNamespace

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from lib import baseline, parse, report, scale, subjects, targets  # noqa: E402
from lib.world import Failed, World  # noqa: E402

BUILD = os.environ.get("TACIT_BUILD", os.path.join(os.path.dirname(__file__), "..", "..", "build"))
TACIT = os.environ.get("TACIT", os.path.join(BUILD, "tacit"))

needs_tacit = pytest.mark.skipif(not os.access(TACIT, os.X_OK), reason="tacit is not built")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="reads smaps_rollup of a process that hides it: needs root")


@pytest.fixture(name="run")
def _run():
    """A run that makes everything ten thousand times smaller, but at least two of each."""
    with World() as world:
        yield SimpleNamespace(world=world, reps=2, notes=[], n=lambda full: max(full // 10000, 2),
                              binaries=subjects.Binaries(TACIT, BUILD))


def test_all_are_as_large_as_they_say(run):
    made = {name: open(config, encoding="ascii").read() for name, (config, _) in scale.configurations(run).items()}
    assert run.notes == [] and set(made) == {name for name, _, _, _ in scale.CASES}

    def lines(name):
        with open(run.world.path(name), encoding="ascii") as f:
            return f.read().splitlines()

    assert lines("hosts.map")[7] == "host7.example.com b0" and len(lines("hosts.map")) == 100
    assert lines("networks.lst")[0] == "1.0.0.0/24" and len(set(lines("networks.lst"))) == 50
    assert made["acls"].count(" hdr(host) -i name") == 2
    assert sorted(os.listdir(run.world.path("certificates"))) == ["host0.pem", "host1.pem"]
    assert made["backends"].count("backend b") == 3 and made["backends"].count("    server s") == 2 * 10


def test_networks_are_different_ones():
    out = {}
    world = SimpleNamespace(write=lambda name, text: out.setdefault(name, text) and name)
    scale.networks(world, scale.NETWORKS)
    found = out["networks.lst"].split()
    assert len(set(found)) == scale.NETWORKS == 500000
    assert all(int(net.split(".")[0]) < 224 for net in found[:: 65536])


@needs_root
@needs_tacit
def test_each_start_and_each_check_is_measured(run):
    run.binaries.only = ["tacit"]
    table = scale.scale(run)
    assert run.notes == []
    row = table["tacit default"]
    assert set(row) == {"%s.%s" % (name, k) for name, _, _, _ in scale.CASES for k in ("cpu", "rss", "pss", "peak", "check")}
    assert all(len(v) == 2 and min(v) > 0 for v in row.values())
    assert all(row[name + ".peak"][0] >= row[name + ".rss"][0] >= row[name + ".pss"][0] for name, _, _, _ in scale.CASES)
    grid = report.grids("scale", table)[0][1]
    assert len(grid) == 1 + len(scale.CASES) and len({len(line) for line in grid}) == 1


@needs_tacit
def test_a_program_that_does_not_start_has_a_reason(run):
    config = run.world.write("bad.cfg", "global\n    no such line\n")
    with pytest.raises(Failed, match="it ended"):
        scale.started(run, TACIT, config, 1)
    with pytest.raises(Failed, match="-c: "):
        scale.checked(run, TACIT, config)


def rows(mine):
    values = {"%s.%s" % (name, k): 100.0 for name, _, _, _ in scale.CASES for k, _ in scale.METRICS}
    return {"tacit default": {k: [v * mine] for k, v in values.items()}, "haproxy": {k: [v] for k, v in values.items()}}


def test_a_tenth_below_the_peer():
    assert {v.verdict for v in targets.scaled(rows(0.9))} == {"pass"}
    assert {v.verdict for v in targets.scaled(rows(0.91))} == {"MISS"}
    assert {v.verdict for v in targets.scaled({})} == {"no data"}
    assert len(targets.scaled({})) == 4 * len(scale.CASES)
    found = baseline.compare({"values": {}}, {"scale": rows(0.5)})
    assert [d.now for d in found] == [0.5] * len(found) and len(found) == 4 * len(scale.CASES)


def test_memory_is_read_by_name():
    text = "VmHWM:\t    9000 kB\nVmRSS:\t    8192 kB\nRssAnon:\t 1 kB\n"
    assert (parse.kb(text, "VmRSS"), parse.kb(text, "VmHWM")) == (8192, 9000)
    with pytest.raises(ValueError):
        parse.kb(text, "Pss")
