"""The sections about several workers: the gain of a second one, the cost of waking it, and the distribution of load.

Workers run on the first CPUs, the origins and clients on the remaining ones, or on all if none remain: then requests
per second show the total CPU usage, not the capacity of the workers."""

import os
import subprocess
import time

from . import parse, probe, subjects as S
from .measuring import SAMPLE_SECONDS, interleaved, running, warm
from .world import Failed

COUNTS = (1, 2, 4)
CONCURRENCY = 48        # divisible by the number of clients
LONG = 100
HANDOVER_ROUNDS = 24    # times the rounds of a run: a wake-up is a small part of a connection's cost
SPLIT_ROUNDS = 4        # times the rounds of a run: the worst one counts
GONE_SECONDS = 60
MODES = (("close", False, 10000), ("kept", True, 30000))


def ask(path):
    """The activity of each worker so far."""
    found = parse.activity(probe.admin(path, "show activity"))
    if "mail_eventfd_writes" not in found:
        raise Failed("show activity does not tell of mail")
    return found


def peers_of(run):
    """The number of origins and clients needed so that they are not the bottleneck."""
    return max(1, len(run.world.cpus) // 2)


def load(run, proc, origins, requests, keepalive):
    """The cost of a load, with origins and clients on the CPUs that the workers leave; and each worker's activity.
    """
    cpus = run.world.cpus_beside(proc.subject.threads)
    for o in origins:
        os.sched_setaffinity(o.pid, cpus)
    before = ask(proc.admin) if proc.admin else {}
    sample = probe.cost(run.world, proc, origins, requests, CONCURRENCY, keepalive, len(origins), cpus)
    return sample, parse.grown(before, ask(proc.admin)) if proc.admin else {}


def work(run, full, rate, peers):
    """The number of requests: fewer on a slow machine, and divisible by the number of clients."""
    wanted = max(min(run.n(full), int(rate * SAMPLE_SECONDS)), run.n(full) // 10)
    return max(wanted // peers, CONCURRENCY) * peers


def origins_of(run):
    return [S.start_nginx_origin(run.world, run.binaries) for _ in range(peers_of(run))]


def addresses(origins):
    return ",".join(o.address for o in origins)


def per_connection(done):
    """`show activity` for a load of short connections."""
    connections = sum(done["connections"])
    if not connections:
        raise Failed("show activity counted no connection")
    served = [a - h + t for a, h, t in zip(done["accepted"], done["handed_over"], done["taken_over"])]
    return {"writes": sum(done["mail_eventfd_writes"]) / connections,
            "handed": sum(done["handed_over"]) / connections,
            "accepted": parse.larger(done["accepted"]), "served": parse.larger(served)}


def workers(run):
    """1, 2 and 4 workers in the default setting, as far as there are CPUs, compared with as many threads of the
    peers."""
    rows = [s for n in COUNTS if n <= max(len(run.world.cpus), 2) for s in S.several(n)]
    origins, table = origins_of(run), {}
    for mode, keepalive, full in MODES:
        def measure(proc, mode=mode, keepalive=keepalive):
            sample, done = load(run, proc, origins, requests, keepalive)
            if done and not keepalive:
                sample.update(per_connection(done))
            return {"%s.%s" % (mode, k): v for k, v in sample.items()}

        with running(run, rows, addresses(origins)) as live:
            live, rate = warm(run, live, "workers " + mode, 200, keepalive)
            requests = work(run, full, rate, len(origins))
            part = interleaved(run, live, measure, "workers " + mode)
        for name, row in part.items():
            table.setdefault(name, {}).update(row)
    return table


def per_handover(done, sample, requests):
    handed = sum(done["handed_over"])
    if not handed:
        raise Failed("nothing was handed over")
    out = {"handed": handed * sample["rate"] / requests, "share": 100 * handed / sum(done["connections"])}
    for key, name in (("writes", "mail_eventfd_writes"), ("awake", "mail_elided_awake"),
                      ("batch", "mail_elided_batch"), ("empty", "mail_empty_wakes")):
        out[key] = sum(done[name]) / handed
    out.update({k: sample[k] for k in ("proxy", "rate")})
    return out


def handover(run):
    """Every other connection is handed to another worker, with and without wake-up elision."""
    origins = origins_of(run)

    def measure(proc):
        sample, done = load(run, proc, origins, requests, False)
        return per_handover(done, sample, requests)

    with running(run, S.HANDOVER, addresses(origins)) as live:
        live, rate = warm(run, live, "handover")
        requests = work(run, 6000, rate, len(origins))
        return interleaved(run, live, measure, "handover", 1 if run.quick else HANDOVER_ROUNDS)


def at_rest(proc):
    """Waits until there is no session."""
    end = time.monotonic() + GONE_SECONDS
    while sum(ask(proc.admin)["sessions"]):
        if time.monotonic() > end:
            raise Failed("sessions are left after their clients")
        time.sleep(0.01)


def split_once(run, proc):
    """Opens LONG connections that stay: the share of the worker with most of them, in percent."""
    at_rest(proc)
    client = run.world.spawn([run.binaries.tool("idle"), str(LONG), "127.0.0.1:%d" % proc.port],
                             cpu=run.world.cpu_peers, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        said = client.stdout.readline().decode()
        if not said.startswith("ready"):
            raise Failed("%d connections: %s" % (LONG, said.strip() or "the client ended"))
        held = ask(proc.admin)["sessions"]
    finally:
        run.world.forget(client)
    if sum(held) != LONG:
        raise Failed("%d of %d connections are there" % (sum(held), LONG))
    return {"larger": parse.larger(held)}


def split(run):
    """The distribution of connections that stay over two workers."""
    origin = S.start_echo(run.world, run.binaries)
    with running(run, S.SPLIT, origin.address) as live:
        return interleaved(run, live, lambda p: split_once(run, p), "split", SPLIT_ROUNDS)
