"""The sections about bulk transfers: their cost per byte, and their effect on small requests."""

import signal
import subprocess
import time

from . import parse, probe, subjects as S
from .measuring import ERRORS, interleaved
from .world import Failed

STREAMS = (1, 8, 64)
BYTES = 512 << 20       # of each measurement, all transfers together
ROUNDS = 3              # times the rounds of a run: with splicing the cost of a round varies
BESIDE = 16             # transfers beside small requests
RATE = 2000             # small requests per second
GIB = 1 << 30
SETTLE = 0.3


def sink(run, streams, each, port):
    return [run.binaries.tool("bulk"), "sink", str(streams), str(each), "127.0.0.1:%d" % port]


def transfer(run, proc, streams, total):
    """One measurement: the proxy's CPU in ms per GiB, and GiB per second."""
    each = total // streams
    before = probe.cpu_ns(proc.pid)
    out = parse.key_values(probe.client(run.world, sink(run, streams, each, proc.port))[0])
    time.sleep(probe.SETTLE)
    spent = probe.cpu_ns(proc.pid) - before
    if out["errors"] or out["bytes"] != each * streams:
        raise parse.LoadFailed("%d bytes of %d, %d errors" % (out["bytes"], each * streams, out["errors"]))
    gib = out["bytes"] / GIB
    return {"cpu": spent / 1e6 / gib, "rate": gib / max(out["ms"], 1) * 1e3}


def started(run, rows, start):
    """[(subject, process)] of those that could be started."""
    live = []
    for subject in run.binaries.present(rows, run.notes):
        try:
            live.append((subject, start(subject)))
        except ERRORS as why:
            run.notes.append("%s: no row: %s" % (subject.name, why))
    return live


def bulk(run):
    """CPU per GiB and GiB per second, for 1, 8 and 64 transfers at once."""
    total = run.n(BYTES)
    source = S.start_source(run.world, run.binaries)
    live = started(run, S.BULK, lambda s: S.start(run.world, run.binaries, s, source.address))

    def measure(proc):
        sample = {}
        for n in STREAMS:
            got = transfer(run, proc, n, total)
            sample.update({"n%d.%s" % (n, k): v for k, v in got.items()})
        return sample

    try:
        return interleaved(run, live, measure, "bulk", 1 if run.quick else ROUNDS)
    finally:
        for _, proc in live + [(None, source)]:
            run.world.forget(proc)


def small(run, proc, seconds=1):
    """Latency of small requests on kept connections, in microseconds."""
    argv = [run.binaries.tool("load"), "keepalive", str(RATE), str(seconds), "127.0.0.1:%d" % proc.port]
    out = parse.key_values(probe.client(run.world, argv)[0])
    lost = out["errors"] + out["unfinished"]
    if lost > 0.01 * out["due"]:
        raise parse.LoadFailed("%d of %d requests lost" % (lost, out["due"]))
    return {k: out[k] for k in ("p50", "p99")}


def small_beside(run, proc):
    """The same during transfers through the other port; their throughput, in GiB per second."""
    client = run.world.spawn(sink(run, BESIDE, 0, proc.beside), cpu=run.world.cpu_peers, idle=True,
                             stdout=subprocess.PIPE)
    start = time.monotonic()
    try:
        time.sleep(SETTLE)
        sample = small(run, proc)
        client.send_signal(signal.SIGTERM)
        out = parse.key_values(client.stdout.readline().decode())
    finally:
        run.world.forget(client)
    if not out.get("bytes") or out["errors"]:
        raise Failed("the streams failed: %s" % out)
    sample["rate"] = out["bytes"] / GIB / (time.monotonic() - start)
    return sample


def mixed(run):
    """Small requests alone, and beside 16 transfers without a rate limit.

    The ends of the transfers run at idle priority, so that the measurement shows the wait in the proxy."""
    origin = S.start_nginx_origin(run.world, run.binaries)
    source = S.start_source(run.world, run.binaries, idle=True)
    live = started(run, S.BULK, lambda s: S.start(run.world, run.binaries, s, origin.address, source.address))

    def measure(proc):
        sample = {"alone." + k: v for k, v in small(run, proc).items()}
        sample.update({"beside." + k: v for k, v in small_beside(run, proc).items()})
        return sample

    try:
        return interleaved(run, live, measure, "mixed")
    finally:
        for _, proc in live + [(None, source), (None, origin)]:
            run.world.forget(proc)
