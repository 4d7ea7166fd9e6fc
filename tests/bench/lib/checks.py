"""The section about health checks: how late they are while the worker that makes them has no time to spare.

1,000 servers are checked once a second each, by a connection. The kernel's own clock is read for each SYN (a packet
socket on the loopback, whose filter lets nothing else through), so that neither tacit nor this program is asked.
Checks of one server are due at equal intervals, and none begins before it is due: the earliest one of a server,
against that grid, was in time, and the others are late by what they come after theirs. Meanwhile clients keep the
worker busy with requests that cost it much: it has to use its CPU nearly without a pause."""

import contextlib
import ctypes
import glob
import os
import socket
import struct
import threading
import time

from . import probe, subjects as S
from .measuring import interleaved, running, warm
from .world import Failed

NETWORK = 0x7f090000            # 127.9.0.0/16: the servers that are checked
CONCURRENCY = (100, 500)        # clients at once
SECONDS = 5                     # of each load
FIRST = 20000                   # requests, to know how many these are
PRIORITY = -20
SETTLE = 1.5                    # all servers have been checked
LEAST_SHARE = 0.95              # of a CPU, for a worker without time to spare
LEAST_CHECKS = 0.9              # of those that are due while it is observed

SO_ATTACH_FILTER = 26
SO_RCVBUFFORCE = 33
SO_TIMESTAMPNS = 35
SO_TIMESTAMPING = 37
RX_SOFTWARE = 1 << 3 | 1 << 4    # SOF_TIMESTAMPING_RX_SOFTWARE, and SOFTWARE, which shows it
ETH_P_IP = 0x0800
PACKET_HOST = 0
BUFFER = 1 << 23


def filter_of(port):
    """Lines (code, jump if true, jump if false, k): the SYNs, without ACK, to this port in NETWORK; from the IP header on."""
    return ((0x20, 0, 0, 16), (0x54, 0, 0, 0xffff0000), (0x15, 0, 8, NETWORK), (0x30, 0, 0, 9), (0x15, 0, 6, 6), (0x28, 0, 0, 22),
            (0x15, 0, 4, port), (0x30, 0, 0, 33), (0x54, 0, 0, 0x12), (0x15, 0, 1, 0x02), (0x06, 0, 0, 64), (0x06, 0, 0, 0))


def is_stamped(s):
    """True if a packet that this socket sends to itself has the time at which it came: only then SO_TIMESTAMPING gives one."""
    s.sendto(b"", s.getsockname())
    return any(kind == SO_TIMESTAMPING and any(value[:16]) for _, kind, value in s.recvmsg(1, 128)[1])


def await_stamps():
    """The kernel begins to note when packets come a while after the first socket asks for it; until then SO_TIMESTAMPNS is the
    time at which they are read."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        s.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, RX_SOFTWARE)
        while not is_stamped(s):
            pass


class Sniffer:
    """Collects (address, seconds) of each check of this port that begins, in a thread."""

    def __init__(self, port=S.CHECKED_PORT):
        lines = filter_of(port)
        code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
        # No protocol until bind(): no packet is received before the filter is attached.
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
        self.sock.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HP", len(lines), ctypes.addressof(code)))
        self.sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER)
        self.sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        await_stamps()
        self.sock.bind(("lo", ETH_P_IP))
        self.sock.settimeout(0.2)
        self.seen, self.ends = [], False
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        """Returns after stop(), when what arrived before it is read."""
        while True:
            last = self.ends
            try:
                data, control, _, sender = self.sock.recvmsg(64, 64)
            except TimeoutError:
                if last:
                    return
                continue
            if sender[2] != PACKET_HOST or len(data) < 20:
                continue
            for level, kind, value in control:
                if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS:
                    s, ns = struct.unpack("qq", value[:16])
                    self.seen.append((data[16:20], s + ns / 1e9))

    def stop(self):
        self.ends = True
        self.thread.join()
        self.sock.close()
        return self.seen


def lateness(seen, interval):
    """Milliseconds that each check is late by, of [(server, seconds)], in order of their size."""
    times = {}
    for server, at in seen:
        times.setdefault(server, []).append(at)
    late = []
    for series in times.values():
        if len(series) < 3:
            continue
        offsets = [at - round((at - series[0]) / interval) * interval for at in series]
        late += [1e3 * (offset - min(offsets)) for offset in offsets]
    return sorted(late)


def waited_ns(pid):
    """Time that its threads were ready to run, and others ran."""
    total = 0
    for path in glob.glob("/proc/%d/task/*/schedstat" % pid):
        with open(path, encoding="ascii") as f:
            total += int(f.read().split()[1])
    return total


@contextlib.contextmanager
def preferred():
    """The machine's other load is not what is measured: with sched_autogroup priorities count between sessions only."""
    path, before = "/proc/self/autogroup", os.getpriority(os.PRIO_PROCESS, 0)
    try:
        with open(path, encoding="ascii") as f:
            group = f.read().split()[-1]
    except (OSError, IndexError):  # the kernel has none, or a process of the root group has no line
        path, group = os.devnull, "0"
    os.setpriority(os.PRIO_PROCESS, 0, PRIORITY)
    set_group(path, str(PRIORITY))
    try:
        yield
    finally:
        set_group(path, group)
        os.setpriority(os.PRIO_PROCESS, 0, before)


def set_group(path, value):
    with contextlib.suppress(OSError), open(path, "w", encoding="ascii") as f:
        f.write(value)


def percentile(values, share):
    return values[min(int(len(values) * share), len(values) - 1)]


def observed(run, proc, load):
    """The lateness of the checks during load(), and the share of a CPU that the proxy had."""
    sniffer = Sniffer()
    began, ran, waited = time.monotonic(), probe.cpu_ns(proc.pid), waited_ns(proc.pid)
    try:
        rate = load()
    finally:
        took, ran, waited = time.monotonic() - began, probe.cpu_ns(proc.pid) - ran, waited_ns(proc.pid) - waited
        seen = sniffer.stop()
    late = lateness(seen, S.CHECK_SECONDS)
    if len(seen) < LEAST_CHECKS * took * S.CHECKED_SERVERS / S.CHECK_SECONDS:
        raise Failed("%d checks in %.1f s" % (len(seen), took))
    return {"p50": percentile(late, 0.5), "p99": percentile(late, 0.99), "max": late[-1], "checks": len(seen) / took,
            "busy": 100 * ran / 1e9 / took, "waited": 100 * waited / 1e9 / took, "rate": rate}


def round_of(run, proc):
    """At rest, and beside so many clients."""
    rate = probe.ab(run.world, proc.port, FIRST, CONCURRENCY[0], True)[0]
    out = {"rest." + k: v for k, v in observed(run, proc, lambda: time.sleep(SECONDS) or 0).items()}
    for n in CONCURRENCY:
        sample = observed(run, proc, lambda n=n: probe.ab(run.world, proc.port, int(rate * SECONDS), n, True)[0])
        if sample["busy"] < 100 * LEAST_SHARE:
            run.notes.append("checks: the proxy had time to spare beside %d clients: %.0f %% of a CPU" % (n, sample["busy"]))
        out.update({"c%d.%s" % (n, k): v for k, v in sample.items()})
    return out


def checks(run):
    """p50, p99 and the worst lateness of 1,000 checks a second, at rest and in a worker that is saturated."""
    if not run.world.private:
        run.notes.append("checks: skipped: it listens to packets, which needs root and a network namespace of its own")
        return {}
    with preferred():
        return measured(run)


def measured(run):
    origin = S.start_nginx_origin(run.world, run.binaries)
    S.start_checked(run.world, run.binaries)
    with running(run, S.CHECKED, origin.address) as live:
        live = warm(run, live, "checks", 2000, True)[0]
        time.sleep(SETTLE)
        return interleaved(run, live, lambda p: round_of(run, p), "checks")


SECTIONS = {"checks": checks}
