"""The section about slow senders: what thousands of heads that come a byte at a time cost a client that behaves.

What is measured begins when each sender has sent a few bytes: a proxy may know by then whom it deals with.
In each round a kept load runs alone; then beside the slow senders; then beside as many senders to a program that
holds their connections and reads nothing; then alone again. Thousands of senders on this very machine cost the good
client something whoever they send to: they, the kernel's work for their sockets and the good client share two CPUs.
What they cost it through the proxy is the difference to the program that does nothing.

Before that the senders have the proxy to themselves for a while: only then is what a byte costs not mixed up with
what requests cost.
"""

import os
import subprocess
import time

from . import parse, probe, subjects as S
from .bulk import small
from .measuring import interleaved, running, warm
from .world import Failed, wait_for

SENDERS = 9400          # with the good client's connections below what the proxies' descriptors allow
PERIOD_MS = 3000        # of each sender's bytes: 3,133 bytes a second in all
LOADS = 3               # one after the other beside the same senders: a p99 is one of the less steady figures
SECONDS = 2             # of each load
SETTLE = 2              # periods that pass before anything is measured
QUIET = 1.0             # seconds of slow bytes and nothing else
OTHERS = 300            # more descriptors than these a proxy has for slow senders only
LATE_SHARE = 0.95       # of the bytes that are due the sender has to have sent


def descriptors(pid):
    return len(os.listdir("/proc/%d/fd" % pid))


class Senders:
    """The slow clients, all of them accepted by proc. They run at idle priority."""

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
        """What they have sent since this was last asked."""
        self.client.stdin.write(b"\n")
        self.client.stdin.flush()
        return parse.key_values(self.client.stdout.readline().decode())

    def sent_in_time(self):
        """The same; Failed when the proxy ended one of them, or the machine let them send too little."""
        out = self.sent()
        if not out or out["gone"]:
            raise Failed("slow senders were ended: %s" % out)
        due = self.count * out["ms"] / PERIOD_MS
        if out["bytes"] < LATE_SHARE * due:
            raise Failed("%d slow bytes of %d" % (out["bytes"], due))
        return out


def calls(admin):
    """All calls so far, by the proxy's own ledger; no clock reads, which do not enter the kernel."""
    counts = parse.ledger_counts(probe.admin(admin, "show syscalls"))
    return parse.split_calls({name: (n, failed) for name, (n, failed, _) in counts.items()})[0]


def question(admin):
    """How many calls asking for calls() takes, while nothing else happens; 0 of a proxy that cannot be asked."""
    return -calls(admin) + calls(admin) if admin else 0


def alone(proc, senders, asking):
    """What a slow byte costs a proxy that has nothing else to do: CPU, and calls where it can be asked."""
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
    """The latencies of the good client beside the senders, and how late their bytes were."""
    senders.sent()
    out = parse.median_of([small(run, proc, SECONDS) for _ in range(LOADS)])
    out["late"] = senders.sent_in_time()["p99"]
    return out


def round_of(run, proc, holder, fresh):
    """One round; fresh: the proxy's own bytes when it had just started."""
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
