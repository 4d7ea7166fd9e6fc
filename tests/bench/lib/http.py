"""The sections about mode http: a connection per request, kept connections with reuse, a far server, and idle
clients."""

import socket

from . import parse, probe, subjects as S
from .measuring import ERRORS, SAMPLE_SECONDS, interleaved, running, warm
from .world import Failed

REQUEST = b"GET / HTTP/1.1\r\nHost: bench\r\n\r\n"
AT_REST = 10            # seconds that a client waits for a response


def origin_of(run, far=False, closes=True):
    return S.start_nginx_origin(run.world, run.binaries, far, closes=closes)


def calls_sample(counts, load, requests):
    """System calls per request: metrics cN, cN.waits, cN.clock, and cN:call and cN!call (calls, and failed calls).
    """
    total, waits, clock = parse.split_calls(counts)
    sample = {load: total / requests, load + ".waits": waits / requests, load + ".clock": clock / requests}
    for name, value in parse.per_connection(counts, requests).items():
        sample["%s:%s" % (load, name)] = value
    for name, (_, errors) in counts.items():
        name = "wait" if name in parse.WAIT_CALLS else name
        sample["%s!%s" % (load, name)] = errors / requests
    return sample


def counted(run, rows, origin, loads, keepalive, what, times=1, client=None):
    """Calls of each row under loads of (concurrency, requests). client(proc, concurrency): in place of ab."""
    def measure(proc):
        sample = {}
        for concurrency, requests in loads:
            if client:
                counts = probe.strace(run.world, proc.forwards, lambda n=concurrency: client(proc, n))
            else:
                counts = probe.calls(run.world, proc, requests, concurrency, keepalive)
            taken = parse.accepted(counts)
            if taken < (concurrency if keepalive else requests):
                raise Failed("%d connections taken for %d requests" % (taken, requests))
            # A client opens up to `concurrency` connections more than it sends requests.
            sample.update(calls_sample(counts, "c%d" % concurrency, requests if keepalive else taken))
        return sample

    with running(run, rows, origin.address) as live:
        return interleaved(run, warm(run, live, what, 200, keepalive)[0], measure, what, times)


def close(run):
    """System calls per request, each on a connection of its own, with an origin that closes."""
    return counted(run, S.HTTP, origin_of(run), ((1, run.n(300)), (50, run.n(3000))), False, "http")


def far(run):
    """The same with a server behind a slow link."""
    try:
        origin = origin_of(run, far=True)
    except Failed as why:
        run.notes.append("httpfar: skipped: %s" % why)
        return {}
    return counted(run, S.HTTP_FAR, origin, ((1, 12),), False, "httpfar", 1 if run.quick else 2)


def kept(run):
    """System calls per request on kept connections, with reuse of server connections."""
    return counted(run, S.HTTP_KEPT, origin_of(run, closes=False), ((50, run.n(20000)),), True, "httpkept")


def costs(run, rows, requests, keepalive, what):
    origin = origin_of(run, closes=not keepalive)
    with running(run, rows, origin.address) as live:
        live, rate = warm(run, live, what, 200, keepalive)
        requests = max(min(requests, int(rate * SAMPLE_SECONDS)), requests // 10)
        return interleaved(run, live, lambda p: probe.cost(run.world, p, (origin,), requests, 50, keepalive), what)


def cpu(run):
    """CPU and segments per request at c=50, each on a connection of its own."""
    return costs(run, S.HTTP, run.n(10000), False, "httpcpu")


def kept_cpu(run):
    """CPU per request at c=50 on kept connections with reuse."""
    return costs(run, S.HTTP_KEPT, run.n(30000), True, "httpkeptcpu")


def one_request(s):
    """A request on an open connection, and the whole response."""
    s.sendall(REQUEST)
    got = b""
    while not got.endswith(b"ok\n"):
        part = s.recv(4096)
        if not part:
            raise Failed("a kept connection was closed: %r" % got[:80])
        got += part


def resting(port, count):
    """Opens n clients that have had one response each and stay idle: their sockets."""
    clients = []
    try:
        for _ in range(count):
            s = socket.create_connection(("127.0.0.1", port), timeout=AT_REST)
            clients.append(s)
            one_request(s)
    except BaseException:
        for s in clients:
            s.close()
        raise
    return clients


def memory(run):
    """Anonymous memory per idle kept client, in bytes: the growth since the start."""
    table, origin = {}, origin_of(run)
    for count in (1000, 9000):
        for subject in run.binaries.present(S.HTTP_PLAIN, run.notes):
            proxy, clients = None, []
            try:
                proxy = S.start(run.world, run.binaries, subject, origin.address)
                before = probe.own_bytes(proxy.pid)
                clients = resting(proxy.port, count)
                grown = probe.own_bytes(proxy.pid) - before
                table.setdefault(subject.name, {})["n%d" % count] = [grown / count]
            except ERRORS as why:
                run.notes.append("httpmem: %s: %s" % (subject.name, why))
            finally:
                for s in clients:
                    s.close()
                if proxy:
                    run.world.forget(proxy)
    return table


SECTIONS = {"http": close, "httpfar": far, "httpcpu": cpu, "httpkept": kept, "httpkeptcpu": kept_cpu, "httpmem": memory}
