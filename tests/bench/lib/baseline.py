"""The committed report, baseline.json, and the comparison of a run with it.

Only values that are comparable between machines of this kind are compared: counts, and ratios of two rows measured in
turn. Times and rates are not."""

import json
from collections import namedtuple

from . import scale
from .targets import INSTRUCTION_KINDS, SLOW_P99, mean_ratio, ratio, value

# less: less is better. Differences below the share `within` of the committed value, or below `floor`, are ignored.
Compared = namedtuple("Compared", "section what get less within floor")
Difference = namedtuple("Difference", "section what committed now verdict")

TACIT = ("tacit default", "tacit unmerged", "tacit merged", "tacit edge", "tacit tuned")
# Each floor is below the effect of one call or segment; a busy machine changes the values by less.
CALLS, ALL_CALLS, SEGMENTS = 0.01, 0.04, 0.03
BYTES, CPU, TIME, INSTRUCTIONS = 0.02, 0.08, 0.20, 0.01


def less(section, what, get, within, floor=0.0):
    return Compared(section, what, get, True, within, floor)


def one(row, metric):
    return lambda rows: value(rows, row, metric)


def two(mine, theirs, metric, other=None):
    return lambda rows: ratio(rows, mine, theirs, metric, other)


def means(mine, theirs, metric):
    return lambda rows: mean_ratio(rows, mine, theirs, metric)


def without_waits(row, load):
    """The calls without waits: the number of waits depends on what arrives at the same time."""
    def get(rows):
        total, waits = value(rows, row, load), value(rows, row, load + ".waits")
        return None if total is None or waits is None else total - waits
    return get


def calls():
    for load in ("c1", "c50"):
        for row in TACIT:
            yield less("syscalls", "calls but waits, c=%s, %s" % (load[1:], row), without_waits(row, load), CALLS)
        yield less("syscalls", "calls, c=%s, tacit default" % load[1:], one("tacit default", load), ALL_CALLS)
    for row in TACIT[:4]:
        yield less("far", "calls, %s" % row, one(row, "c1"), ALL_CALLS)
    yield less("ledger", "calls on which show syscalls and strace differ", one("tacit default", "differ"), 0)


def http():
    for load in ("c1", "c50"):
        for row in TACIT:
            yield less("http", "calls but waits per request, c=%s, %s" % (load[1:], row), without_waits(row, load), CALLS)
    for row in TACIT[:4]:
        yield less("httpfar", "calls per request, %s" % row, one(row, "c1"), ALL_CALLS)
        yield less("httpkept", "calls but waits per request, %s" % row, without_waits(row, "c50"), CALLS)
    for row in ("tacit default", "tacit tuned"):
        yield less("httpcpu", "segments per request, %s" % row, one(row, "segments"), SEGMENTS)
    for section, kind in (("httpcpu", "request"), ("httpkeptcpu", "kept request")):
        for peer in ("haproxy", "nginx"):
            yield less(section, "CPU per %s, tacit default / %s" % (kind, peer), two("tacit default", peer, "proxy"), CPU)
    for n in ("1000", "9000"):
        yield less("httpmem", "bytes per kept client at %s" % n, one("tacit default", "n" + n), BYTES)


def segments():
    for section, load in (("segments", 1), ("cpu", 50)):
        for row in ("tacit default", "tacit tuned"):
            yield less(section, "segments, c=%d, %s" % (load, row), one(row, "segments"), SEGMENTS)


def costs():
    for mine, peers in (("tacit default", ("bare", "haproxy", "nginx")),
                        ("tacit tuned", ("bare tuned", "haproxy tuned"))):
        for peer in peers:
            yield less("cpu", "CPU per connection, %s / %s" % (mine, peer), two(mine, peer, "proxy"), CPU)
    for peer in ("bare", "haproxy", "nginx"):
        yield less("keepalive", "CPU per kept request, tacit default / %s" % peer,
                   two("tacit default", peer, "proxy"), CPU)
    for mode in ("close", "keepalive"):
        yield less("latency", "p50, %s, tacit default / haproxy" % mode,
                   two("tacit default", "haproxy", mode + ".p50"), TIME)


def resting():
    for n in ("1000", "9000"):
        yield less("memory", "bytes per idle connection at %s" % n, one("tacit default", "n" + n), BYTES)
    yield less("idle", "CPU at 1 message/ms, 9,000 / 100 connections, epoll",
               two("tacit epoll", "tacit epoll", "n9000.percent", "n100.percent"), 2 * CPU)
    yield less("idle", "CPU at 1 message/ms over 9,000, tacit epoll / haproxy",
               two("tacit epoll", "haproxy", "n9000.percent"), 2 * CPU)


def several():
    yield less("workers", "eventfd writes per connection, 2 workers", one("tacit 2 workers", "close.writes"), 0, 0.02)
    yield less("workers", "CPU per connection, 2 workers, tacit / haproxy",
               two("tacit 2 workers", "haproxy 2 workers", "close.proxy"), 2 * CPU)
    yield less("workers", "CPU per kept request, 2 workers, tacit / haproxy",
               two("tacit 2 workers", "haproxy 2 workers", "kept.proxy"), 2 * CPU)
    yield less("handover", "eventfd writes per hand-over, elision on", one("tacit elision on", "writes"), 0, 0.05)
    yield less("handover", "CPU per connection, elision on / off",
               two("tacit elision on", "tacit elision off", "proxy"), CPU)
    yield less("split", "% on one of 2 workers, the worst round",
               lambda rows: max(rows.get("tacit 2 workers", {}).get("larger", []), default=None), 0, 3)
    for what, metric in (("general set", "tree"), ("set without the fast path", "set")):
        yield Compared("ranges", "insert and remove in a %s / in order" % what,
                       two("in-order", "in-order", metric, "fast"), False, TIME, 0.0)


def transfers():
    for how in ("copy", "splice"):
        for n in (1, 8, 64):
            yield less("bulk", "CPU per GiB, %d at once, tacit %s / haproxy %s" % (n, how, how),
                       two("tacit " + how, "haproxy " + how, "n%d.cpu" % n), 2 * CPU)
            yield less("bulk", "CPU per GiB of all rounds, %d at once, tacit %s / haproxy %s" % (n, how, how),
                       means("tacit " + how, "haproxy " + how, "n%d.cpu" % n), 2 * CPU)
        yield less("mixed", "p99 of small requests beside 16 streams / alone, tacit %s" % how,
                   two("tacit " + how, "tacit " + how, "beside.p99", "alone.p99"), 0, 0.5)


def slow():
    mine = "tacit default"
    yield less("slow", "p99 of kept requests beside slow senders / alone, tacit", two(mine, mine, "beside.p99", "alone.p99"),
               0, 0.1)
    yield less("slow", SLOW_P99, two(mine, mine, "beside.p99", "held.p99"), 0, 0.1)
    yield less("slow", "calls per slow byte", one(mine, "calls"), ALL_CALLS)
    yield less("slow", "CPU per slow byte, tacit default / haproxy", two(mine, "haproxy", "us"), 2 * CPU)
    yield less("slow", "bytes of memory per slow sender", one(mine, "memory"), 2 * BYTES)


def instructions():
    """Only of the program itself: which variants of a library's functions run depends on the CPU."""
    for kind in INSTRUCTION_KINDS:
        yield less("instructions", "instructions per request, %s, tacit default" % kind, one("tacit default", kind + ".own"), INSTRUCTIONS)


def large():
    for name, words, _, _ in scale.CASES:
        for metric, what in scale.METRICS:
            yield less("scale", "%s: %s" % (words, what), two("tacit default", "haproxy", "%s.%s" % (name, metric)),
                       BYTES if metric in ("rss", "peak") else 2 * CPU)


COMPARED = (*calls(), *http(), *segments(), *costs(), *resting(), *several(), *transfers(), *slow(), *instructions(),
            *large())


def values(results):
    """{section: {what: value}} of {section: {row: {metric: [samples]}}}, without what was not measured."""
    out = {}
    for c in COMPARED:
        got = c.get(results[c.section]) if c.section in results else None
        if got is not None:
            out.setdefault(c.section, {})[c.what] = float("%.4g" % got)
    return out


def verdict(c, was, now):
    if now is None:
        return "no data"
    if was is None:
        return "new"
    if abs(now - was) <= max(c.within * abs(was), c.floor):
        return "same"
    return "better" if (now < was) == c.less else "worse"


def compare(committed, results):
    """A Difference for each value in the sections of this run."""
    now, was, out = values(results), committed.get("values", {}), []
    for c in COMPARED:
        if c.section in results:
            a, b = (table.get(c.section, {}).get(c.what) for table in (was, now))
            if a is not None or b is not None:
                out.append(Difference(c.section, c.what, a, b, verdict(c, a, b)))
    return out


def tolerance(c):
    return "%g" % c.floor if c.floor else "%g %%" % (100 * c.within) if c.within else "exact"


def grid(found):
    known = {(c.section, c.what): tolerance(c) for c in COMPARED}

    def shown(n):
        return "-" if n is None else "%.4g" % n

    return [["", "section", "committed", "now", "tolerance", "verdict"]] + [
        [d.what, d.section, shown(d.committed), shown(d.now), known[d.section, d.what], d.verdict] for d in found]


def summary(found):
    """ "3 better, 40 same": in this order, without zeroes."""
    count = [(sum(d.verdict == v for d in found), v) for v in ("worse", "better", "same", "new", "no data")]
    return ", ".join("%d %s" % c for c in count if c[0]) or "nothing to compare"


def load(path):
    """The committed report; an empty one without the file. ValueError for an invalid one."""
    try:
        with open(path, encoding="utf-8") as f:
            got = json.load(f)
    except FileNotFoundError:
        return {"about": {}, "values": {}}
    if not isinstance(got, dict) or not all(isinstance(got.get(k), dict) for k in ("about", "values")):
        raise ValueError("not a committed report")
    return got


def elsewhere(committed, results, machine):
    """The other machines that the committed values of these sections come from."""
    return sorted({a["machine"] for s, a in committed["about"].items() if s in results} - {machine})


def renewed(committed, results, about):
    """The committed report with the sections of this run replaced."""
    new = values(results)
    return {"about": {**committed["about"], **{s: about for s in new}}, "values": {**committed["values"], **new}}


def save(path, report):
    with open(path, "w", encoding="utf-8") as f:
        json.dump(report, f, indent=1, sort_keys=True)
        f.write("\n")
