"""The gate for CI: system calls per connection against their bounds, in a few seconds."""

from . import report, subjects as S, targets
from .sections import counted, origin_of

REQUESTS = ((1, 300), (50, 3000))


def gate(run):
    """0 when tacit's default stays within the bounds, 1 when not or when it could not be counted."""
    run.reps = 1
    origin = origin_of(run)
    samples = counted(run, (S.DEFAULT, S.BARE), origin.address, REQUESTS, "gate")
    rows = report.medians(samples)
    print(report.text_table(report.calls_grid(rows, ("c1", "c50"))))
    for note in run.notes:
        print("note: " + note)
    found = targets.syscalls(samples)
    for v in found:
        print("%-8s %s: %s (%s)" % (v.verdict, v.what, v.value, v.bound))
    return 0 if all(v.verdict == "pass" for v in found) else 1
