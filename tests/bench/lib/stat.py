"""The section about readers of statistics: the effect of `show stat` of 4,000 servers, ten times a second, on other
clients.

Small requests at a fixed rate, alone and beside the reader, in turn and several times in a round. The reader runs at
idle priority, so that the measurement shows the wait in the proxy."""

import os
import signal
import subprocess
import sys
import time

from . import parse, subjects as S
from .bulk import small
from .measuring import interleaved, running, warm
from .world import Failed

READER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "reader.py")
PERIOD_MS = 100
PAIRS = 3               # loads alone and beside the reader in a round: a p99 varies
SECONDS = 1             # of each
SETTLE = 0.3
LEAST_BYTES = 100       # of a row of `show stat`


def beside(run, proc):
    """The load beside the reader; the reader's answers per second, and their length in bytes."""
    start = time.monotonic()
    reader = run.world.spawn([sys.executable, READER, proc.admin, str(PERIOD_MS), "show stat"], cpu=run.world.cpu_peers,
                             idle=True, stdout=subprocess.PIPE)
    try:
        time.sleep(SETTLE)
        sample = small(run, proc, SECONDS)
        reader.send_signal(signal.SIGTERM)
        out = parse.key_values(reader.stdout.readline().decode())
    finally:
        run.world.forget(reader)
    if not out.get("answers") or out["bytes"] < out["answers"] * S.STAT_SERVERS * LEAST_BYTES:
        raise Failed("show stat was not answered: %s" % out)
    sample["answers"] = out["answers"] / (time.monotonic() - start)
    sample["bytes"] = out["bytes"] / out["answers"]
    return sample


def round_of(run, proc):
    alone, with_reader = [], []
    for _ in range(PAIRS):
        alone.append(small(run, proc, SECONDS))
        with_reader.append(beside(run, proc))
    sample = {"alone." + k: v for k, v in parse.median_of(alone).items()}
    sample.update({"beside." + k: v for k, v in parse.median_of(with_reader).items()})
    return sample


def stat(run):
    """p50 and p99 of a kept load without and with a reader of `show stat`."""
    origin = S.start_nginx_origin(run.world, run.binaries)
    with running(run, S.STAT, origin.address) as live:
        return interleaved(run, warm(run, live, "stat", 2000, True)[0], lambda p: round_of(run, p), "stat")


SECTIONS = {"stat": stat}
