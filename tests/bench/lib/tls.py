"""TLS of clients, TLS 1.3 with a certificate for P-256. ab makes a full handshake for each connection, and holds its
request back until the end of the handshake is acknowledged. wrk resumes the session of its connection before, and sends
its request with the end of the handshake, as browsers and curl do."""

import socket
import ssl

from . import http, probe, subjects as S, workers as several
from .measuring import ERRORS, interleaved, running, warm

SECONDS = 1
FUTEX_REQUESTS = 200
# Idle clients: the first ones make the process grow by what is not a connection's.
MEMORY_FIRST, MEMORY_CLIENTS = 200, 4000
GIB = 1 << 30


def wrk_of(run):
    return lambda proc, concurrency: probe.wrk(run.world, proc, SECONDS, concurrency)


def full(run):
    """System calls per request, each on a connection of its own, with an origin that closes."""
    return http.counted(run, S.TLS, http.origin_of(run), ((1, run.n(200)), (50, run.n(1000))), False, "tls")


def full_prompt(run):
    """The calls of full handshakes by a client that sends its request at once: wrk, which has nothing to resume."""
    return http.counted(run, S.TLS_FULL, http.origin_of(run), ((1, 1), (50, 50)), False, "tlsprompt", client=wrk_of(run))


def full_cpu(run):
    """CPU and segments per request at c=50, each on a connection of its own."""
    return http.costs(run, S.TLS, run.n(2000), False, "tlscpu")


def resumed(run):
    """The calls of resumed connections."""
    return http.counted(run, S.TLS, http.origin_of(run), ((1, 1), (50, 50)), False, "tlsresumed", client=wrk_of(run))


def resumed_cpu(run):
    """The costs of resumed connections."""
    origin, load = http.origin_of(run), wrk_of(run)
    with running(run, S.TLS, origin.address) as live:
        live, rate = warm(run, live, "tlsresumedcpu")
        return interleaved(run, live, lambda p: probe.cost_of(run.world, p, (origin,), rate * SECONDS, False,
                                                             lambda: load(p, 50)), "tlsresumedcpu")


def kept(run):
    """System calls per request on kept connections, with reuse of server connections."""
    return http.counted(run, S.TLS_KEPT, http.origin_of(run, closes=False), ((50, run.n(20000)),), True, "tlskept")


def kept_cpu(run):
    """CPU per request at c=50 on kept connections with reuse."""
    return http.costs(run, S.TLS_KEPT, run.n(20000), True, "tlskeptcpu")


def bulk(run):
    """CPU per GiB of one download at a time, in milliseconds."""
    size = run.n(GIB // 2)
    origin = S.start_nginx_origin(run.world, run.binaries, long_bytes=size)

    def measure(proc):
        ran = probe.cpu_ns(proc.forwards)
        probe.client(run.world, ["curl", "-skf", "-o", "/dev/null", "https://127.0.0.1:%d/long" % proc.port])
        return {"cpu": (probe.cpu_ns(proc.forwards) - ran) / 1e6 * GIB / size}

    with running(run, S.TLS, origin.address) as live:
        return interleaved(run, warm(run, live, "tlsbulk")[0], measure, "tlsbulk")


def workers(run):
    """Full handshakes with 1, 2 and 4 threads: all of OpenSSL's locks are shared by the threads of a process."""
    rows = [s for n in several.COUNTS for s in S.several_tls(n)]
    origins = several.origins_of(run)

    def measure(proc):
        sample = several.load(run, proc, origins, requests, False)[0]
        calls = probe.calls(run.world, proc, FUTEX_REQUESTS, FUTEX_REQUESTS)
        return sample | {"futex": calls.get("futex", (0, 0))[0] / FUTEX_REQUESTS}

    with running(run, rows, several.addresses(origins)) as live:
        live, rate = warm(run, live, "tlsworkers")
        requests = several.work(run, 4000, rate, len(origins))
        return interleaved(run, live, measure, "tlsworkers")


class Resting:
    """TLS clients that have had one response each and stay idle."""

    def __init__(self):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.context.check_hostname = False
        self.context.verify_mode = ssl.CERT_NONE
        self.context.minimum_version = ssl.TLSVersion.TLSv1_3
        self.clients = []

    def add(self, port, count):
        for _ in range(count):
            raw = socket.create_connection(("127.0.0.1", port), timeout=http.AT_REST)
            self.clients.append(self.context.wrap_socket(raw))
            http.one_request(self.clients[-1])

    def close(self):
        for c in self.clients:
            c.close()


def memory(run):
    """Anonymous memory per idle client, in bytes: the growth from the first connections to the last ones."""
    table, origin = {}, http.origin_of(run, closes=False)
    for subject in run.binaries.present(S.TLS, run.notes):
        proxy, clients = None, Resting()
        try:
            proxy = S.start(run.world, run.binaries, subject, origin.address)
            clients.add(proxy.port, MEMORY_FIRST)
            before = probe.own_bytes(proxy.forwards)
            clients.add(proxy.port, run.n(MEMORY_CLIENTS))
            grown = probe.own_bytes(proxy.forwards) - before
            table[subject.name] = {"n": [grown / run.n(MEMORY_CLIENTS)]}
        except ERRORS as why:
            run.notes.append("tlsmem: %s: %s" % (subject.name, why))
        finally:
            clients.close()
            if proxy:
                run.world.forget(proxy)
    return table


SECTIONS = {"tls": full, "tlsprompt": full_prompt, "tlscpu": full_cpu, "tlsresumed": resumed, "tlsresumedcpu": resumed_cpu, "tlskept": kept,
            "tlskeptcpu": kept_cpu, "tlsbulk": bulk, "tlsmem": memory, "tlsworkers": workers}
