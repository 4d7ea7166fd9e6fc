"""The gate for CI: system calls per connection and per request, compared with their limits, in a few seconds."""

from . import http, report, subjects as S, targets
from .sections import counted, origin_of

REQUESTS = ((1, 300), (50, 3000))


def gate(run):
    """0 if tacit's default stays within the limits, 1 if not or if it could not be measured."""
    run.reps = 1
    origin = origin_of(run)
    samples = counted(run, (S.DEFAULT, S.BARE), origin.address, REQUESTS, "gate")
    requests = http.counted(run, S.http((S.DEFAULT,)), http.origin_of(run), REQUESTS, False, "gate")
    for table in (samples, requests):
        print(report.text_table(report.calls_grid(report.medians(table), ("c1", "c50"))))
    for note in run.notes:
        print("note: " + note)
    found = targets.syscalls(samples) + targets.http(requests)
    for v in found:
        print("%-8s %s: %s (%s)" % (v.verdict, v.what, v.value, v.bound))
    return 0 if all(v.verdict == "pass" for v in found) else 1
