"""The section about slow senders: the effect of thousands of heads that arrive one byte at a time on another client.

The measurement begins when each sender has sent a few bytes: a proxy may have recognized them by then. In each round
a load on kept connections runs alone; then beside the slow senders; then beside as many senders to a program that
accepts their connections and reads nothing; then alone again. Thousands of senders on the same machine slow down the
other client in any case: they, the kernel's work for their sockets and the client share two CPUs. The effect of the
proxy is the difference to the program that reads nothing.

Before that the senders are alone with the proxy for a while: only then the cost of a byte is not mixed with the cost
of requests."""

import os
import subprocess
import time

from . import parse, probe, subjects as S
from .bulk import small
from .measuring import interleaved, running, warm
from .world import Failed, wait_for

SENDERS = 9400          # with the other client's connections below the proxies' limit of descriptors
PERIOD_MS = 3000        # of each sender's bytes: 3,133 bytes a second in total
LOADS = 3               # one after the other beside the same senders: a p99 varies
SECONDS = 2             # of each load
SETTLE = 2              # periods before the measurement begins
QUIET = 1.0             # seconds of slow bytes alone
OTHERS = 300            # a proxy with more descriptors than these has slow senders
LATE_SHARE = 0.95       # share of the due bytes that the senders must have sent


def descriptors(pid):
    return len(os.listdir("/proc/%d/fd" % pid))


class Senders:
    """The slow clients, all accepted by proc. They run at idle priority."""

    def __init__(self, run, proc, count=SENDERS):
        self.run, self.pid, self.count = run, proc.pid, count
        self.client = run.world.spawn(
            [run.binaries.tool("slow"), str(count), str(PERIOD_MS), "127.0.0.1:%d" % proc.port],
            cpu=run.world.cpu_peers, idle=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self):
        try:
            said = self.client.stdout.readline().decode()
            if not said.startswith("ready"):
                raise Failed("%d slow senders: %s" % (self.count, said.strip() or "they ended"))
            wait_for(lambda: descriptors(self.pid) >= self.count, "the slow senders to be accepted")
            self.sent()
            return self
        except BaseException:
            self.close()
            raise

    def __exit__(self, *_):
        self.close()
        wait_for(lambda: descriptors(self.pid) <= OTHERS, "the slow senders to be let go")

    def close(self):
        self.run.world.forget(self.client)

    def sent(self):
        """The bytes they have sent since the last call."""
        self.client.stdin.write(b"\n")
        self.client.stdin.flush()
        return parse.key_values(self.client.stdout.readline().decode())

    def sent_in_time(self):
        """The same; Failed if the proxy closed one of them, or the machine was too busy for them."""
        out = self.sent()
        if not out or out["gone"]:
            raise Failed("slow senders were ended: %s" % out)
        due = self.count * out["ms"] / PERIOD_MS
        if out["bytes"] < LATE_SHARE * due:
            raise Failed("%d slow bytes of %d" % (out["bytes"], due))
        return out


def calls(admin):
    """All calls so far, by the proxy's own ledger, without clock reads, which do not enter the kernel."""
    counts = parse.ledger_counts(probe.admin(admin, "show syscalls"))
    return parse.split_calls({name: (n, failed) for name, (n, failed, _) in counts.items()})[0]


def question(admin):
    """The number of calls that calls() itself costs; 0 for a proxy without a ledger."""
    return -calls(admin) + calls(admin) if admin else 0


def alone(proc, senders, asking):
    """The cost of a slow byte for a proxy that does nothing else: CPU, and calls if it has a ledger."""
    before = calls(proc.admin) if proc.admin else 0
    senders.sent()
    ran = probe.cpu_ns(proc.pid)
    time.sleep(QUIET)
    ran = probe.cpu_ns(proc.pid) - ran
    n = senders.sent_in_time()["bytes"]
    sample = {"us": ran / 1e3 / n}
    if proc.admin:
        sample["calls"] = (calls(proc.admin) - before - asking) / n
    return sample


def loads(run, proc, senders):
    """The latencies of the other client beside the senders, and the delays of the senders' bytes."""
    senders.sent()
    out = parse.median_of([small(run, proc, SECONDS) for _ in range(LOADS)])
    out["late"] = senders.sent_in_time()["p99"]
    return out


def round_of(run, proc, holder, fresh):
    """One round; fresh: the proxy's memory right after its start."""
    before, asking = small(run, proc, SECONDS), question(proc.admin)
    with Senders(run, proc) as senders:
        time.sleep(SETTLE * PERIOD_MS / 1e3)
        sample = alone(proc, senders, asking)
        sample["memory"] = (probe.own_bytes(proc.pid) - fresh) / SENDERS
        beside = loads(run, proc, senders)
    with Senders(run, holder) as senders:
        time.sleep(PERIOD_MS / 1e3)
        held = loads(run, proc, senders)
    after = small(run, proc, SECONDS)
    sample.update({"alone." + k: (before[k] + after[k]) / 2 for k in before})
    sample.update({"again." + k: after[k] / before[k] for k in before})
    sample.update({"beside." + k: v for k, v in beside.items()})
    sample.update({"held." + k: v for k, v in held.items()})
    return sample


def slow(run):
    """p50 and p99 of a kept load without and with slow senders; CPU and calls per slow byte; memory per sender."""
    origin = S.start_nginx_origin(run.world, run.binaries)
    holder = S.start_echo(run.world, run.binaries, "hold", cpu=run.world.cpus_of(1))
    with running(run, S.HTTP_SLOW, origin.address) as live:
        fresh = {proc.pid: probe.own_bytes(proc.pid) for _, proc in live}
        live = warm(run, live, "slow", 2000, True)[0]
        return interleaved(run, live, lambda p: round_of(run, p, holder, fresh[p.pid]), "slow")


SECTIONS = {"slow": slow}
