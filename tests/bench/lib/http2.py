"""HTTP/2 of clients, by h2load: 10 connections with 1, 10 or 100 requests on each at once, without TLS and with it, in front
of a server whose connections of HTTP/1 are kept, or one that speaks HTTP/2, too. Uploads are files that the server writes.
And clients that reset each of their requests (`h2` of this benchmark), beside others that do not."""

import os
import threading
from collections import namedtuple

from . import http, parse, probe, subjects as S
from .measuring import ERRORS, SAMPLE_SECONDS, interleaved
from .world import Failed

CONNECTIONS = 10
LONG = 1 << 20          # bytes of a download and of an upload
LONG_STREAMS = 8
MIB = 1 << 20

Case = namedtuple("Case", "name rows both streams requests")
CASES = (Case("m1", S.H2, False, 1, 10000), Case("m10", S.H2, False, 10, 20000), Case("tls m10", S.H2_TLS, False, 10, 20000),
         Case("both m10", S.H2_BOTH, True, 10, 30000), Case("both m100", S.H2_BOTH, True, 100, 40000))


def h2load(run, proc, requests, streams, path="/", connections=CONNECTIONS, body=None, h1=False):
    """One run: (requests per second, its CPU nanoseconds). h1: it speaks HTTP/1.1."""
    argv = ["timeout", str(probe.LOAD_SECONDS), "h2load", "-t1", "-n%d" % requests, "-c%d" % connections, "-m%d" % streams]
    argv += ["-H:method: PUT", "-d", body] if body else []
    argv += ["--h1"] if h1 else []
    text, cpu = probe.client(run.world, [*argv, "%s://127.0.0.1:%d%s" % (proc.scheme, proc.port, path)])
    return parse.h2load_result(text, requests), cpu


def warmed(run, live, streams, what):
    """One round that is not counted: the rows that forward, and the lowest number of requests per second."""
    good, rates = [], []
    for subject, proc in live:
        try:
            rates.append(h2load(run, proc, 1000, streams)[0])
            good.append((subject, proc))
        except ERRORS as why:
            run.notes.append("%s: %s: no row: %s" % (what, subject.name, why))
    return good, min(rates, default=0)


def started(run, rows, both):
    """The origin, and the rows in front of it that have started."""
    origin = S.start_nginx_origin(run.world, run.binaries, long_bytes=LONG, h2=both)
    live = []
    for s in run.binaries.present(rows, run.notes):
        try:
            live.append((s, S.start(run.world, run.binaries, s, origin.address)))
        except ERRORS as why:
            run.notes.append("%s: no row: %s" % (s.name, why))
    return origin, live


def stop(run, origin, live):
    for _, p in live:
        run.world.forget(p)
    run.world.forget(origin)


def all_cases(run, measure, what):
    """measure(case, origin, rate) makes the measurement of one process: the metrics of each case, with its name."""
    table = {}
    for case in CASES:
        origin, live = started(run, case.rows, case.both)
        try:
            live, rate = warmed(run, live, case.streams, what)
            part = interleaved(run, live, measure(case, origin, rate), "%s %s" % (what, case.name))
        finally:
            stop(run, origin, live)
        for row, metrics in part.items():
            for metric, values in metrics.items():
                table.setdefault(row, {})[case.name + metric] = values
    return table


def calls(run):
    """System calls per request, with those that wait."""
    def measure(case, _origin, _rate):
        requests = run.n(case.requests)

        def one(proc):
            counts = probe.strace(run.world, proc.forwards, lambda: h2load(run, proc, requests, case.streams))
            sample = http.calls_sample(counts, "", requests)
            # The total, and calls that are made at least once for a hundred requests.
            return {"": sum(n for n, _ in counts.values()) / requests,
                    **{m: v for m, v in sample.items() if m.startswith(":") and v >= 0.01}}
        return one
    return all_cases(run, measure, "h2")


def cpu(run):
    """Microseconds of CPU per request, and requests per second."""
    def measure(case, origin, rate):
        requests = max(min(run.n(case.requests) * 2, int(rate * SAMPLE_SECONDS)), 1000)

        def one(proc):
            got = probe.cost_of(run.world, proc, (origin,), requests, True, lambda: h2load(run, proc, requests, case.streams))
            return {".proxy": got["proxy"], ".rate": got["rate"]}
        return one
    return all_cases(run, measure, "h2cpu")


def bulk(run):
    """Milliseconds of CPU per GiB of downloads and uploads of 1 MiB, 8 streams on each of 4 connections, in clear."""
    body = run.world.path("body")
    os.mkdir(run.world.path("up"))
    with open(body, "wb") as f:
        f.truncate(LONG)
    count = run.n(400)
    origin, live = started(run, S.H2, False)

    def measure(proc):
        sample = {}
        for what, path, sent in (("down", "/long", None), ("up", "/up/sink", body)):
            ran = probe.cpu_ns(proc.forwards)
            h2load(run, proc, count, LONG_STREAMS, path, 4, sent)
            sample[what] = (probe.cpu_ns(proc.forwards) - ran) / 1e6 * 1024 / (count * LONG / MIB)
        return sample

    try:
        live, _ = warmed(run, live, LONG_STREAMS, "h2bulk")
        if not live:
            raise Failed("no row")
        return interleaved(run, live, measure, "h2bulk")
    finally:
        stop(run, origin, live)


RESET_STREAMS, RESET_CONNECTIONS = 1000000, 20
GOOD_RATE, GOOD_CLIENTS, GOOD_SECONDS = 1000, 100, 4


class Peak(threading.Thread):
    """The most memory of its own that a process has, until it is told to end."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.bytes, self.ends = pid, probe.own_bytes(pid), threading.Event()

    def run(self):
        while not self.ends.wait(0.05):
            self.bytes = max(self.bytes, probe.own_bytes(self.pid))

    def stop(self):
        self.ends.set()
        self.join()
        return self.bytes


def resets(run, proc, seconds=1):
    """Starts a million requests that are reset at once, for so many seconds at least. An attacker is on another machine: it
    takes no CPU from the clients and the origin here."""
    argv = ["nice", "-n", "19", run.binaries.tool("h2"), "reset", str(run.n(RESET_STREAMS)), str(seconds), str(RESET_CONNECTIONS), "127.0.0.1:%d" % proc.port]
    return probe.client_start(run.world, argv)


def ended(run, client):
    return parse.key_values(probe.client_end(run.world, client)[0])


def good(run, proc):
    """100 clients that do no harm."""
    argv = [run.binaries.tool("h2"), "steady", str(GOOD_RATE), str(GOOD_SECONDS), str(GOOD_CLIENTS), "127.0.0.1:%d" % proc.port]
    return parse.key_values(probe.client(run.world, argv)[0])


def attacked(run, proc):
    """The good clients alone; the attack alone, twice, the second time for its connections and memory; both."""
    alone = good(run, proc)
    ended(run, resets(run, proc))
    opened, ran, before = probe.tcp_counts()[2], probe.cpu_ns(proc.forwards), probe.own_bytes(proc.forwards)
    peak = Peak(proc.forwards)
    peak.start()
    try:
        out = ended(run, resets(run, proc))
    finally:
        most = peak.stop()
    ran, opened = probe.cpu_ns(proc.forwards) - ran, probe.tcp_counts()[2] - opened - out["opened"]
    client = resets(run, proc, GOOD_SECONDS)
    try:
        beside = good(run, proc)
    finally:
        ended(run, client)
    return {"s": out["ms"] / 1e3, "us": ran / out["streams"] / 1e3, "opened": opened, "bytes": most - before, "closed": out["opened"] - RESET_CONNECTIONS,
            "alone": alone["p99"], "beside": beside["p99"], "failed": beside["errors"] + beside["unfinished"]}


def reset(run):
    """Costs of a million requests that are reset at once, and the latencies of others."""
    origin, live = started(run, [s for s in S.H2 if s.kind != "nghttpx"], False)
    try:
        return interleaved(run, live, lambda proc: attacked(run, proc), "h2reset")
    finally:
        stop(run, origin, live)


SECTIONS = {"h2": calls, "h2cpu": cpu, "h2bulk": bulk, "h2reset": reset}
