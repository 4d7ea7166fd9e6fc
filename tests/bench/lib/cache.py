"""A cache: what a hit costs on kept connections, by h2load with HTTP/1.1 (ab sends HTTP/1.0, which caches leave alone)."""

from . import http2, probe, subjects as S
from .measuring import SAMPLE_SECONDS, interleaved, running
from .world import Failed

CONNECTIONS = 50
COUNTED = 10000
FORWARDED_NS = 1000     # a request that the server answers costs it more


def hits(run, proc, requests):
    return http2.h2load(run, proc, requests, 1, connections=CONNECTIONS, h1=True)


def cache(run):
    """System calls and CPU per hit, and hits per second."""
    origin = S.start_nginx_origin(run.world, run.binaries, control="max-age=3600")

    def measure(proc):
        counted = run.n(COUNTED)
        rate = hits(run, proc, counted)[0]
        counts = probe.strace(run.world, proc.forwards, lambda: hits(run, proc, counted))
        timed = max(int(rate * SAMPLE_SECONDS), counted)
        got = probe.cost_of(run.world, proc, (origin,), timed, True, lambda: hits(run, proc, timed))
        if got["origin"] * 1e3 > FORWARDED_NS:
            raise Failed("requests were sent to the server")
        return {"calls": sum(n for n, _ in counts.values()) / counted, "cpu": got["proxy"], "rate": got["rate"]}

    with running(run, S.CACHED, origin.address) as live:
        return interleaved(run, live, measure, "cache")


SECTIONS = {"cache": cache}
