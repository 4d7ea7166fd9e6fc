"""TLS of clients, TLS 1.3 with a certificate for P-256. ab makes a full handshake for each connection, and holds its
request back until the end of the handshake is acknowledged. wrk resumes the session of its connection before, and sends
its request with the end of the handshake, as browsers and curl do."""

from . import http, probe, subjects as S
from .measuring import interleaved, running, warm

SECONDS = 1
GIB = 1 << 30


def wrk_of(run):
    return lambda proc, concurrency: probe.wrk(run.world, proc, SECONDS, concurrency)


def full(run):
    """System calls per request, each on a connection of its own, with an origin that closes."""
    return http.counted(run, S.TLS, http.origin_of(run), ((1, run.n(200)), (50, run.n(1000))), False, "tls")


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


SECTIONS = {"tls": full, "tlscpu": full_cpu, "tlsresumed": resumed, "tlsresumedcpu": resumed_cpu, "tlskept": kept,
            "tlskeptcpu": kept_cpu, "tlsbulk": bulk}
