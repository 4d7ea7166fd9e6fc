"""TLS of clients in mode http, TLS 1.3 with a certificate for P-256, nothing resumed: ab makes a full handshake for each
connection."""

from . import http, subjects as S


def close(run):
    """System calls per request, each on a connection of its own, with an origin that closes."""
    return http.counted(run, S.TLS, http.origin_of(run), ((1, run.n(200)), (50, run.n(1000))), False, "tls")


def kept(run):
    """System calls per request on kept connections, with reuse of server connections."""
    return http.counted(run, S.TLS_KEPT, http.origin_of(run, closes=False), ((50, run.n(20000)),), True, "tlskept")


def cpu(run):
    """CPU and segments per request at c=50, each on a connection of its own."""
    return http.costs(run, S.TLS, run.n(2000), False, "tlscpu")


def kept_cpu(run):
    """CPU per request at c=50 on kept connections with reuse."""
    return http.costs(run, S.TLS_KEPT, run.n(20000), True, "tlskeptcpu")


SECTIONS = {"tls": close, "tlscpu": cpu, "tlskept": kept, "tlskeptcpu": kept_cpu}
