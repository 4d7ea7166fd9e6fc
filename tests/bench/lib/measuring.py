"""The measurements of sections: their subjects run at the same time and are measured in turn, so that a change of the
machine's load affects all of them. A subject that fails loses its row, with the reason, and the others continue."""

import sys
from contextlib import contextmanager

from . import parse, probe, subjects as S
from .world import Failed

SAMPLE_SECONDS = 0.8
ERRORS = (Failed, parse.LoadFailed, ValueError, OSError)


class Run:
    """Shared by all sections: the world, the binaries, the amount of work, and notes for the report."""

    def __init__(self, world, binaries, reps, quick):
        self.world, self.binaries, self.reps, self.quick = world, binaries, reps, quick
        self.notes = world.notes

    def n(self, full):
        """A number of requests, smaller in a quick run."""
        return max(full // 5, 20) if self.quick else full

    def say(self, text):
        print(text, file=sys.stderr, flush=True)


@contextmanager
def running(run, rows, server):
    """Starts the rows in front of server: a list of (subject, process), without those that failed."""
    live = []
    try:
        for s in run.binaries.present(rows, run.notes):
            try:
                live.append((s, S.start(run.world, run.binaries, s, server)))
            except ERRORS as why:
                run.notes.append("%s: no row: %s" % (s.name, why))
        yield live
    finally:
        for _, p in live:
            run.world.forget(p)


def interleaved(run, live, measure, what, times=1):
    """measure(process) for each row in turn, reps * times; collects {row: {metric: [samples]}}."""
    table, broken = {}, set()
    for rep in range(run.reps * times):
        for subject, proc in live:
            if subject.name in broken:
                continue
            try:
                sample = measure(proc)
            except ERRORS as why:
                broken.add(subject.name)
                table.pop(subject.name, None)
                run.notes.append("%s: %s: failed in round %d: %s" % (what, subject.name, rep + 1, why))
                continue
            row = table.setdefault(subject.name, {})
            for key, value in sample.items():
                row.setdefault(key, []).append(value)
    return table


def warm(run, live, what, requests=200, keepalive=False):
    """One round that is not counted: lets subjects allocate and connect, drops rows that do not forward.

    Returns the remaining rows, and the lowest number of requests per second."""
    good, rates = [], []
    for subject, proc in live:
        try:
            rates.append(probe.ab(run.world, proc.port, requests, 10, keepalive, scheme=proc.scheme)[0])
            good.append((subject, proc))
        except ERRORS as why:
            run.notes.append("%s: %s: no row: %s" % (what, subject.name, why))
    return good, min(rates, default=0)
