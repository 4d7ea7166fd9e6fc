"""The section about reloads: what clients lose when the configuration is read again, and again, under load.

Each subject runs with a master, which gets its signal every few seconds while connections are opened at a fixed rate
and, in mode http, while kept connections have requests at a fixed rate."""

import http.client
import signal
import threading
import time

from . import parse, probe, subjects as S
from .measuring import ERRORS
from .world import Failed

SECONDS, QUICK_SECONDS = 20, 5
PERIOD = 2              # seconds between two reloads
RATES = {"close": 2000, "keepalive": 1000}
# All kinds of clients at once: 2,000 requests a second for a minute, with a reload every five seconds.
MIXED_SECONDS, MIXED_QUICK_SECONDS, MIXED_PERIOD = 60, 10, 5
MIXED = {"close": 1550, "keepalive": 350, "halves": 50, "late": 50}
DOWNLOADS, DOWNLOAD_SECONDS = 4, 8      # at a time, and how long each takes
SIGNALS = {"tacit": signal.SIGUSR2, "haproxy": signal.SIGUSR2, "nginx": signal.SIGHUP}


class Reloads(threading.Thread):
    """Asks for a reload in each period, until it is told to end."""

    def __init__(self, proc, period=None, first=None):
        super().__init__(daemon=True)
        self.proc, self.n, self.ends = proc, 0, threading.Event()
        self.period = period or PERIOD
        self.first = first or self.period

    def run(self):
        while not self.ends.wait(self.period if self.n else self.first):
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


class Downloads(threading.Thread):
    """Long downloads, one after another, until it is told to end."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port, self.done, self.failed, self.ends = port, 0, 0, threading.Event()

    def run(self):
        while not self.ends.is_set():
            try:
                self.download()
                self.done += 1
            except (OSError, ValueError, http.client.HTTPException):
                self.failed += 1

    def download(self):
        pieces = int(8 * DOWNLOAD_SECONDS)
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            c.request("GET", "/long")
            r = c.getresponse()
            left = S.LONG_BYTES
            while left:
                n = len(r.read(min(left, S.LONG_BYTES // pieces)))
                if r.status != 200 or not n:
                    raise ValueError("cut")
                left -= n
                time.sleep(DOWNLOAD_SECONDS / pieces)
        finally:
            c.close()

    def stop(self):
        self.ends.set()
        self.join()


def mixed_loads(run, proc, seconds):
    """{kind: what the client has said}"""
    clients = {}
    try:
        for how, rate in MIXED.items():
            port = proc.beside if how == "late" else proc.port
            argv = [run.binaries.tool("load"), how, str(rate), str(seconds), "127.0.0.1:%d" % port]
            clients[how] = probe.client_start(run.world, argv)
        return {how: parse.key_values(probe.client_end(run.world, clients[how])[0]) for how in MIXED}
    finally:
        for p in clients.values():
            run.world.forget(p)


def mixed_measured(run, proc, seconds):
    downloads = [Downloads(proc.port) for _ in range(DOWNLOADS)]
    reloads = Reloads(proc, MIXED_PERIOD, MIXED_PERIOD / 2)
    for t in downloads + [reloads]:
        t.start()
    try:
        out = mixed_loads(run, proc, seconds)
    finally:
        n = reloads.stop()
        for d in downloads:
            d.stop()
    if proc.poll() is not None:
        raise Failed("the master ended (%d)" % proc.returncode)
    if n < seconds // MIXED_PERIOD - 1 or any(o["done"] < o["due"] // 2 for o in out.values()):
        raise Failed("%d reloads: %s" % (n, out))
    sample = {how + ".failed": o["errors"] + o["unfinished"] for how, o in out.items()}
    sample["download.failed"] = sum(d.failed for d in downloads)
    return {**sample, "failed": sum(sample.values()), "due": sum(o["due"] for o in out.values()), "reloads": n,
            "downloads": sum(d.done + d.failed for d in downloads),
            "p99": out["close"]["p99"], "kept.p99": out["keepalive"]["p99"]}


def reload_mixed(run):
    """Short requests, kept connections, heads in halves, deferred connections and long downloads."""
    origin = S.start_nginx_origin(run.world, run.binaries)
    seconds = MIXED_QUICK_SECONDS if run.quick else MIXED_SECONDS
    table = {}
    for subject in run.binaries.present(S.RELOADED_MIXED, run.notes):
        try:
            proc = S.start(run.world, run.binaries, subject, origin.address, origin.address)
            time.sleep(1)
            table[subject.name] = {k: [v] for k, v in mixed_measured(run, proc, seconds).items()}
            run.world.forget(proc)
        except ERRORS as why:
            run.notes.append("reloadmix: %s: no row: %s" % (subject.name, why))
    return table


H2_RATE, H2_CONNECTIONS = 2000, 50


def reload_h2(run):
    """2,000 requests a second over 50 connections of HTTP/2, to a server that speaks it, too."""
    origin = S.start_nginx_origin(run.world, run.binaries, h2=True)
    seconds = MIXED_QUICK_SECONDS if run.quick else MIXED_SECONDS
    table = {}
    for subject in run.binaries.present(S.RELOADED_H2, run.notes):
        try:
            proc = S.start(run.world, run.binaries, subject, origin.address)
            reloads = Reloads(proc, MIXED_PERIOD, MIXED_PERIOD / 2)
            reloads.start()
            try:
                argv = [run.binaries.tool("h2"), "steady", str(H2_RATE), str(seconds), str(H2_CONNECTIONS), "127.0.0.1:%d" % proc.port]
                out = parse.key_values(probe.client(run.world, argv)[0])
            finally:
                n = reloads.stop()
            if proc.poll() is not None:
                raise Failed("the master ended (%d)" % proc.returncode)
            run.world.forget(proc)
            table[subject.name] = {k: [v] for k, v in {
                "due": out["due"], "failed": out["errors"] + out["unfinished"], "again": out["again"],
                "opened": out["opened"], "reloads": n, "p99": out["p99"]}.items()}
        except ERRORS as why:
            run.notes.append("reloadh2: %s: no row: %s" % (subject.name, why))
    return table


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


SECTIONS = {"reload": reload, "reloadmix": reload_mixed, "reloadh2": reload_h2}
