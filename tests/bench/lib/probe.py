"""One measurement of one running subject: a load, and the kernel's counters."""

import glob
import os
import signal
import socket
import subprocess
import time

from . import parse
from .world import Failed, wait_for

SETTLE = 0.05          # seconds for the last FIN to be handled before counters are read
LOAD_SECONDS = 180


def cpu_ns(pid):
    """CPU time of all threads of a process, in nanoseconds."""
    total = 0
    for path in glob.glob("/proc/%d/task/*/schedstat" % pid):
        with open(path, encoding="ascii") as f:
            total += parse.schedstat(f.read())
    if not total:
        raise Failed("no schedstat for %d" % pid)
    return total


def tcp_counts():
    """(segments sent, retransmitted, connections accepted) in this namespace so far."""
    with open("/proc/self/net/snmp", encoding="ascii") as f:
        text = f.read()
    return tuple(parse.snmp(text, "Tcp", field) for field in ("OutSegs", "RetransSegs", "PassiveOpens"))


def own_bytes(pid):
    with open("/proc/%d/smaps_rollup" % pid, encoding="ascii") as f:
        return parse.anonymous_kb(f.read()) * 1024


def client_start(world, argv, cpus=None):
    p = world.spawn(argv, cpu=cpus or world.cpu_peers, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    p.log = None
    return p


def client_end(world, p):
    """Waits for a load generator: (its output, its CPU nanoseconds)."""
    name = p.args[0]
    watchdog = time.monotonic() + LOAD_SECONDS
    try:
        out = []
        os.set_blocking(p.stdout.fileno(), True)
        for line in p.stdout:
            out.append(line.decode("utf-8", "replace"))
            if time.monotonic() > watchdog:
                raise parse.LoadFailed("%s took too long" % name)
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
    finally:
        world.forget(p)
    if p.returncode:
        raise parse.LoadFailed("%s: %s" % (name, "".join(out).strip()[-200:]))
    return "".join(out), (usage.ru_utime + usage.ru_stime) * 1e9


def client(world, argv):
    """Runs a load generator to its end: (its output, its CPU nanoseconds)."""
    return client_end(world, client_start(world, argv))


def ab(world, port, requests, concurrency, keepalive=False, clients=1, cpus=None, scheme="http"):
    """One run of ab, or of several that share the requests: (requests per second, their CPU nanoseconds)."""
    each = requests // clients
    argv = ["timeout", str(LOAD_SECONDS), "ab", "-q", "-n", str(each), "-c", str(concurrency // clients)]
    argv += ["-k"] if keepalive else []
    argv += ["-f", "TLS1.3"] if scheme == "https" else []
    running, rates, spent = [], [], 0
    try:
        for _ in range(clients):
            running.append(client_start(world, argv + ["%s://127.0.0.1:%d/" % (scheme, port)], cpus))
        while running:
            text, cpu = client_end(world, running.pop())
            rates.append(parse.ab_result(text, each))
            spent += cpu
    finally:
        for p in running:
            world.forget(p)
    return sum(rates), spent


def wrk(world, proxy, seconds, concurrency):
    """One run of wrk, each request on a connection of its own: (requests per second, its CPU nanoseconds).

    It sets TCP_NODELAY, as browsers and curl do: a request follows the end of its handshake at once."""
    text, cpu = client(world, ["wrk", "-t1", "-c%d" % concurrency, "-d%ds" % seconds, "-H", "Connection: close",
                               "%s://127.0.0.1:%d/" % (proxy.scheme, proxy.port)])
    return parse.wrk_result(text), cpu


def admin(path, command, quiet=0):
    """The answer of an admin socket; with a pause of `quiet` seconds before and after, so that each costs the same.
    """
    text = b""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(60)
        s.connect(path)
        time.sleep(quiet)
        s.sendall(command.encode() + b"\n")
        while True:
            data = s.recv(65536)
            if not data:
                break
            text += data
    time.sleep(quiet)
    return text.decode("utf-8", "replace")


def cost(world, proxy, origins, requests, concurrency, keepalive=False, clients=1, cpus=None):
    """The cost of ab's requests: on kept connections per request, otherwise per forwarded connection, since ab opens up
    to `concurrency` connections more than it sends requests."""
    return cost_of(world, proxy, origins, requests, keepalive,
                   lambda: ab(world, proxy.port, requests, concurrency, keepalive, clients, cpus, proxy.scheme))


def cost_of(world, proxy, origins, requests, keepalive, load):
    """Microseconds of CPU of the proxy, origin and client; segments; requests per second.

    load() returns the last and the nanoseconds of its CPU. A forwarded connection is accepted twice."""
    def counters():
        return cpu_ns(proxy.forwards), sum(cpu_ns(o.pid) for o in origins), *tcp_counts()

    before = counters()
    rate, cpu = load()
    time.sleep(SETTLE)
    after = counters()
    ran, served, sent, again, opened = (b - a for a, b in zip(before, after))
    count = opened / 2 if world.private and not keepalive else requests
    return {"proxy": ran / count / 1e3, "origin": served / count / 1e3, "client": cpu / count / 1e3,
            "segments": sent / count, "again": again / count, "rate": rate}


def strace(world, pid, load):
    """Calls of a process during load(): the table of parse.strace_counts."""
    out = world.path("strace.out")
    p = world.spawn(["strace", "-c", "-f", "-o", out, "-p", str(pid)], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    try:
        said = p.stderr.readline().decode()
        if "attached" not in said:
            raise Failed("strace: " + said.strip())
        load()
        time.sleep(SETTLE)
        p.send_signal(signal.SIGINT)
        wait_for(lambda: p.poll() is not None, "strace to detach")
    finally:
        p.stderr.close()
        world.forget(p)
    with open(out, encoding="ascii") as f:
        return parse.strace_counts(f.read())


def calls(world, proxy, requests, concurrency, keepalive=False):
    """System calls of a proxy for ab's requests."""
    return strace(world, proxy.forwards, lambda: ab(world, proxy.port, requests, concurrency, keepalive, scheme=proxy.scheme))
