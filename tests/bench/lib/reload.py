"""The section about reloads: what clients lose when the configuration is read again, and again, under load.

Each subject runs with a master, which gets its signal every few seconds while connections are opened at a fixed rate
and, in mode http, while kept connections have requests at a fixed rate."""

import signal
import threading
import time

from . import parse, probe, subjects as S
from .measuring import ERRORS
from .world import Failed

SECONDS, QUICK_SECONDS = 20, 5
PERIOD = 2              # seconds between two reloads
RATES = {"close": 2000, "keepalive": 1000}
SIGNALS = {"tacit": signal.SIGUSR2, "haproxy": signal.SIGUSR2, "nginx": signal.SIGHUP}


class Reloads(threading.Thread):
    """Asks for a reload in each period, until it is told to end."""

    def __init__(self, proc):
        super().__init__(daemon=True)
        self.proc, self.n, self.ends = proc, 0, threading.Event()

    def run(self):
        while not self.ends.wait(PERIOD):
            self.proc.send_signal(SIGNALS[self.proc.subject.kind])
            self.n += 1

    def stop(self):
        self.ends.set()
        self.join()
        return self.n


def loaded(run, proc, how, seconds):
    argv = [run.binaries.tool("load"), how, str(RATES[how]), str(seconds), "127.0.0.1:%d" % proc.port]
    return parse.key_values(probe.client(run.world, argv)[0])


def measured(run, proc, how, seconds):
    """The load alone, for a moment, and beside reloads."""
    alone = loaded(run, proc, how, 2)
    reloads = Reloads(proc)
    reloads.start()
    try:
        out = loaded(run, proc, how, seconds)
    finally:
        n = reloads.stop()
    if proc.poll() is not None:
        raise Failed("the master ended (%d)" % proc.returncode)
    if n < seconds // PERIOD - 2 or out["done"] < out["due"] // 2:
        raise Failed("%d reloads, %d of %d requests" % (n, out["done"], out["due"]))
    return {"due": out["due"], "failed": out["errors"] + out["unfinished"], "reloads": n,
            "alone": alone["p99"], "p99": out["p99"], "max": out["max"]}


def reload(run):
    """Connections and requests that failed during reloads, and the latencies of the others."""
    origin = S.start_nginx_origin(run.world, run.binaries)
    seconds = QUICK_SECONDS if run.quick else SECONDS
    table = {}
    for subject in run.binaries.present(S.RELOADED, run.notes):
        hows = ("close", "keepalive") if subject.mode == "http" else ("close",)
        try:
            proc = S.start(run.world, run.binaries, subject, origin.address)
            time.sleep(1)
            samples = {}
            for how in hows:
                samples.update({"%s.%s" % (how, k): [v] for k, v in measured(run, proc, how, seconds).items()})
            run.world.forget(proc)
            table[subject.name] = samples
        except ERRORS as why:
            run.notes.append("reload: %s: no row: %s" % (subject.name, why))
    return table


SECTIONS = {"reload": reload}
