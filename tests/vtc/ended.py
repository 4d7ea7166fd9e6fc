#!/usr/bin/env python3
"""Waits until the sessions of all frontends have ended: a client that has been closed knows nothing of when the proxy
counts it as gone, and a listener may be looked at before the end of a client that came earlier.

    ended.py ADDRESS:PORT [current=N] [total=N] [idle=N] [queued=N]

The address is that of the stats socket. Then there are `current` sessions (0), `total` have been counted so far (a
client that waits for nothing may not have been accepted when it is gone), servers have `idle` connections, and `queued`
sessions wait in one queue.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))
import facts
from idle import ask


def look(address):
    """The counts of `show info` and `show stat` now."""
    info, stat = ask(address, b"show info; show stat").split("\n# ")
    head, *lines = stat.strip().splitlines()
    rows = [dict(zip(head.split(","), line.split(","))) for line in lines]
    front = [row for row in rows if row["svname"] == "FRONTEND"]
    return {
        "process": int(info.split("\nCurrConns: ")[1].split()[0]),
        "current": sum(int(row["scur"]) for row in front),
        "total": sum(int(row["stot"]) for row in front),
        # A server has a queue, and its backend another one.
        "queued": max(int(row["qcur"] or 0) for row in rows),
        "idle": sum(int(row["srv_icur"] or 0) for row in rows if row["type"] == "2"),
    }


def main(address, *words):
    want = {"current": 0, "total": 0}
    for word in words:
        name, _, n = word.partition("=")
        want[name] = int(n)
    want["process"] = want["current"]
    facts.becomes(lambda: look(address), lambda have: have["total"] >= want["total"] and
                  all(have[name] == want[name] for name in want if name != "total"), str(want))
    # Each worker answers for its own sessions, in a later turn: what it was about to log has been sent.
    ask(address, b"show sess")


main(*sys.argv[1:])
