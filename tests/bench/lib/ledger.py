"""Compares tacit's own count of its system calls, `show syscalls`, with strace."""

import time

from . import parse, probe, subjects as S
from .world import Failed

CONNECTIONS = 10000
QUIET = 0.05            # seconds, so that each command costs the same calls


def ask(path):
    """The ledger by name, read from the admin socket."""
    text = probe.admin(path, "show syscalls", QUIET)
    found = parse.ledger_counts(text)
    if not found:
        raise Failed("show syscalls: " + text[:200])
    return found


def agreement(run, origin):
    """{row: {metric: [sample]}}: calls counted by both over CONNECTIONS, and the number of differences."""
    path = run.world.path("admin.sock")
    proxy = S.start(run.world, run.binaries, S.tacit("ledger", "stats socket " + path), origin.address)
    try:
        probe.ab(run.world, proxy.port, 200, 10)
        time.sleep(QUIET)
        first, second = ask(path), ask(path)
        seen = probe.strace(run.world, proxy.pid, lambda: probe.ab(run.world, proxy.port, CONNECTIONS, 50))
        third = ask(path)
    finally:
        run.world.forget(proxy)
    wrong = parse.disagreement(parse.between(second, third, parse.between(first, second)), seen)
    for name, ours, theirs in wrong:
        run.notes.append("ledger: %s: counted %s, strace saw %s" % (name, ours, theirs))
    return {"tacit default": {"calls": [sum(n for n, _ in seen.values())],
                              "differ": [sum(abs(o[0] - t[0]) + abs(o[1] - t[1]) for _, o, t in wrong)]}}
