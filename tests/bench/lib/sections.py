"""The sections of the benchmark. Each takes a Run and returns {row: {metric: [samples]}}."""

import subprocess
from dataclasses import replace

from . import (cache, checks, compress, http, http2, instructions, ledger as ledgers, parse, probe, reload, scale, slow, stat,
               subjects as S, tables, tls)
from .bulk import bulk, mixed
from .measuring import ERRORS, SAMPLE_SECONDS, interleaved, running, warm
from .workers import handover, split, workers
from .world import Failed


def counted(run, rows, server, loads, what, times=1):
    """System calls: metrics cN, cN.waits, cN.clock, and cN:call and cN!call (calls, and failed calls)."""
    def measure(proc):
        sample = {}
        for concurrency, requests in loads:
            counts = probe.calls(run.world, proc, requests, concurrency)
            total, waits, clock = parse.split_calls(counts)
            # Not by requests: ab opens up to `concurrency` connections more than it sends requests.
            taken = parse.accepted(counts)
            if taken < requests:
                raise Failed("%d connections taken for %d requests" % (taken, requests))
            pre = "c%d" % concurrency
            sample.update({pre: total / taken, pre + ".waits": waits / taken, pre + ".clock": clock / taken})
            for name, value in parse.per_connection(counts, taken).items():
                sample["%s:%s" % (pre, name)] = value
            for name, (_, errors) in counts.items():
                name = "wait" if name in parse.WAIT_CALLS else name
                sample["%s!%s" % (pre, name)] = errors / taken
        return sample

    with running(run, rows, server) as live:
        return interleaved(run, warm(run, live, what, 20)[0], measure, what, times)


def origin_of(run, far=False):
    return S.start_nginx_origin(run.world, run.binaries, far)


def syscalls(run):
    """System calls per connection, near server."""
    origin = origin_of(run)
    return counted(run, S.NEAR, origin.address, ((1, run.n(300)), (50, run.n(1000))), "syscalls")


def far(run):
    """System calls per connection with a server behind a slow link."""
    try:
        origin = origin_of(run, far=True)
    except Failed as why:
        run.notes.append("far: skipped: %s" % why)
        return {}
    # Few connections and many rounds: if data and FIN sometimes arrive together, the median is still exact.
    return counted(run, S.FAR, origin.address, ((1, 12),), "far", 1 if run.quick else 2)


def costs(run, rows, requests, concurrency, keepalive, what, times=1):
    origin = origin_of(run)
    with running(run, rows, origin.address) as live:
        live, rate = warm(run, live, what, 200, keepalive)
        # Fewer on a slow or busy machine, so that the run takes as many minutes.
        requests = max(min(requests, int(rate * SAMPLE_SECONDS)), requests // 10)
        return interleaved(run, live, lambda p: probe.cost(run.world, p, (origin,), requests, concurrency, keepalive),
                           what, times)


def segments(run):
    """TCP segments per connection at c=1; those at c=50 are in the CPU table."""
    return costs(run, S.NEAR, run.n(600), 1, False, "segments")


def cpu(run):
    """CPU per connection, requests per second and segments at c=50."""
    return costs(run, S.COST, run.n(10000), 50, False, "cpu")


def keepalive(run):
    """CPU per request on kept connections at c=50."""
    return costs(run, S.KEEPALIVE, run.n(30000), 50, True, "keepalive", 2)


def latency(run):
    """Latencies at a fixed rate, one connection per request and kept connections."""
    origin = origin_of(run)
    table = {}
    for mode, rate in (("close", 3000), ("keepalive", 10000)):
        def measure(proc, mode=mode, rate=rate):
            argv = [run.binaries.tool("load"), mode, str(rate), "1", "127.0.0.1:%d" % proc.port]
            out = parse.key_values(probe.client(run.world, argv)[0])
            lost = out["errors"] + out["unfinished"]
            if lost > 0.01 * out["due"]:
                raise parse.LoadFailed("%d of %d requests lost" % (lost, out["due"]))
            return {"%s.%s" % (mode, k): out[k] for k in ("p50", "p99", "p999")}

        with running(run, S.PLAIN, origin.address) as live:
            part = interleaved(run, warm(run, live, "latency")[0], measure, "latency " + mode)
        for name, row in part.items():
            table.setdefault(name, {}).update(row)
    return table


class Idle:
    """A client with idle connections through a subject to an echo origin."""

    def __init__(self, run, subject, count):
        self.run, self.subject, self.client, self.proxy = run, subject, None, None
        self.origin = S.start_echo(run.world, run.binaries)
        try:
            self.proxy = S.start(run.world, run.binaries, subject, self.origin.address)
            self.before = probe.own_bytes(self.proxy.pid)
            self.client = run.world.spawn(
                [run.binaries.tool("idle"), str(count), "127.0.0.1:%d" % self.proxy.port],
                cpu=run.world.cpu_peers, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            said = self.client.stdout.readline().decode()
            if not said.startswith("ready"):
                raise Failed("%d connections: %s" % (count, said.strip() or "the client ended"))
        except BaseException:
            self.close()
            raise

    def close(self):
        for p in (self.client, self.proxy, self.origin):
            if p:
                self.run.world.forget(p)

    def messages(self, ms):
        """One message per ms for some time: CPU per message, the share of a CPU, and latency."""
        ran = probe.cpu_ns(self.proxy.pid)
        self.client.stdin.write(b"run %d 1000\n" % ms)
        self.client.stdin.flush()
        out = parse.key_values(self.client.stdout.readline().decode())
        if not out or out["lost"] or not out["sent"]:
            raise Failed("messages lost: %s" % out)
        us = (probe.cpu_ns(self.proxy.pid) - ran) / 1e3 / out["sent"]
        return {"us": us, "percent": us / 10, "p99": out["p99"]}


def memory(run):
    """Anonymous memory per idle forwarded connection, in bytes: the growth since the start."""
    table = {}
    for count in (1000, 9000):
        for subject in run.binaries.present(S.PLAIN, run.notes):
            try:
                idle = Idle(run, subject, count)
            except ERRORS as why:
                run.notes.append("memory: %s: %s" % (subject.name, why))
                continue
            try:
                grown = probe.own_bytes(idle.proxy.pid) - idle.before
                table.setdefault(subject.name, {})["n%d" % count] = [grown / count]
            finally:
                idle.close()
    return table


def idle(run):
    """CPU at one message per millisecond over many open connections, by poller."""
    table, live = {}, []
    try:
        for subject in run.binaries.present(S.POLLERS, run.notes):
            for count in (100, 2000, 9000):
                try:
                    live.append((replace(subject, name="%s|%d" % (subject.name, count)), Idle(run, subject, count)))
                except ERRORS as why:
                    run.notes.append("idle: %s: %s" % (subject.name, why))
        parts = interleaved(run, live, lambda i: i.messages(200 if run.quick else 400), "idle")
    finally:
        for _, i in live:
            i.close()
    for name, row in parts.items():
        subject, count = name.split("|")
        table.setdefault(subject, {}).update({"n%s.%s" % (count, k): v for k, v in row.items()})
    return table


def ledger(run):
    """True if `show syscalls` and strace agree."""
    if not run.binaries.present((S.DEFAULT,), run.notes):
        return {}
    try:
        return ledgers.agreement(run, origin_of(run))
    except ERRORS as why:
        run.notes.append("ledger: %s" % why)
        return {}


def tool_values(run, tool, count):
    """The output of a tool of the benchmark, round by round."""
    table = {}
    for _ in range(run.reps):
        out = probe.client(run.world, [run.binaries.tool(tool), str(run.n(count))])[0]
        for name, sample in parse.named_values(out).items():
            for key, value in sample.items():
                table.setdefault(name, {}).setdefault(key, []).append(value)
    return table


def ranges(run):
    """Nanoseconds per acknowledged range of sends: with the fast path, without, and in a general ordered set."""
    return tool_values(run, "ranges", 1000000)


def rules(run):
    """Nanoseconds per look-up among 10, 1,000 and 100,000 patterns, and per condition."""
    return tool_values(run, "rules", 200000)


SECTIONS = {"syscalls": syscalls, "far": far, "segments": segments, "cpu": cpu, "keepalive": keepalive,
            "latency": latency, "bulk": bulk, "mixed": mixed, "memory": memory, "idle": idle,
            "workers": workers, "handover": handover, "split": split,
            "ranges": ranges, "rules": rules, "ledger": ledger, **http.SECTIONS, **slow.SECTIONS, **stat.SECTIONS,
            **checks.SECTIONS, **reload.SECTIONS, **tls.SECTIONS, **http2.SECTIONS, **compress.SECTIONS, **tables.SECTIONS, **cache.SECTIONS, **instructions.SECTIONS,
            **scale.SECTIONS}
