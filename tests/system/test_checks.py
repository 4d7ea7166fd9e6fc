"""Health checks beside traffic: servers that die and come back, with one worker and with several."""

import contextlib
import os
import signal
import subprocess

import pytest
from clients import Requests
from conftest import BUILD, WAIT, Origin, connect, free_ports
from facts import Seen

# in each of the five states of the servers
REQUESTS = 10000 if os.environ.get("TACIT_SLOW") else 500


def statuses(d, backend):
    """{server: status} of show stat."""
    return column(d, backend, "status")


def column(d, backend, name):
    """{server: text} of a column of show stat."""
    head, *rows = d.admin("show stat").strip().split("\n")
    names = head[2:].split(",")
    found = [dict(zip(names, row.split(","))) for row in rows]
    return {r["svname"]: r[name] for r in found if r["pxname"] == backend and r["type"] == "2"}


class Program:
    """build/origin on a port, to be killed and started again."""

    def __init__(self, port):
        self.port, self.proc = port, None
        self.start()

    def start(self):
        self.proc = subprocess.Popen([BUILD / "origin", "127.0.0.1", str(self.port)], stdout=subprocess.PIPE)
        assert self.proc.stdout.readline() == b"listening\n"

    def kill(self):
        self.proc.kill()
        self.proc.wait(WAIT)
        self.proc.stdout.close()


@pytest.fixture
def origins():
    programs = [Program(port) for port in free_ports(2)]
    yield programs
    for p in programs:
        if p.proc.poll() is None:
            p.kill()


@pytest.mark.parametrize("workers", [1, 3])
def test_a_killed_server_costs_no_request(daemon, origins, workers):
    """Requests in flight on it are sent again (retry-on), later ones go to the other one. A check has at most its interval to
    connect, which takes the kernel no second."""
    port, = free_ports(1)
    d = daemon(f"""\
frontend f
    mode http
    bind 127.0.0.1:{port}
    default_backend b
backend b
    mode http
    option httpchk GET /
    timeout check 1m
    option redispatch
    retries 3
    retry-on all-retryable-errors
    server s1 127.0.0.1:{origins[0].port} check inter 1s fastinter 100ms downinter 100ms fall 2 rise 2
    server s2 127.0.0.1:{origins[1].port} check inter 1s fastinter 100ms downinter 100ms fall 2 rise 2
""", extra=f"nbthread {workers}")
    d.until("server b/s1 state eq UP", "server b/s2 state eq UP")
    with Requests(port, 20) as load:
        assert load.wait(REQUESTS), load.failed
        for origin, name in zip(origins, ("s1", "s2")):
            # The server has requests that it will not answer.
            origin.proc.send_signal(signal.SIGSTOP)
            d.until(f"server b/{name} cur gt 5")
            origin.kill()
            d.until(f"server b/{name} state eq DOWN")
            assert load.wait(REQUESTS), load.failed
            origin.start()
            d.until(f"server b/{name} state eq UP")
            assert load.wait(REQUESTS), load.failed
    assert not load.failed
    assert sum(int(n) for n in column(d, "b", "wretr").values()) > 5


@pytest.mark.parametrize("workers", [1, 3])
def test_sessions_end_with_their_server(daemon, workers):
    """on-marked-down shutdown-sessions, on whichever worker they are; others go on. No check but the first, which passes."""
    def echo(sock):
        while data := sock.recv(100):
            sock.sendall(data)

    ports = free_ports(3)
    servers = [Origin(echo, ("127.0.0.1", p)) for p in ports[:2]]
    d = daemon(f"""\
listen l
    bind 127.0.0.1:{ports[2]}
    balance roundrobin
    option log-health-checks
    server s1 127.0.0.1:{ports[0]} check inter 1h fall 2 on-marked-down shutdown-sessions
    server s2 127.0.0.1:{ports[1]}
""", extra=f"nbthread {workers}")
    d.until("counter l/s1/check_status eq L4OK")
    # The check keeps its socket for the next one.
    d.base = d.fds()
    with contextlib.ExitStack() as stack:
        clients = []
        for _ in range(12):
            c = stack.enter_context(connect(ports[2]))
            c.sendall(b"hello")
            assert c.recv(100) == b"hello"
            clients.append(c)
        d.admin("set server l/s1 health down")
        # Each worker is told.
        d.until("server l/s1 cur eq 0")
        ended = 0
        for c in clients:
            try:
                c.sendall(b"again")
                ended += c.recv(100) != b"again"
            except OSError:
                ended += 1
        assert ended == 6
    for s in servers:
        s.close()


def test_checks_pass_over_a_source_port_in_use(daemon):
    """A client's connection has one of four ports for a long time: no check fails for it. One may be in use by the
    connection with which the start was awaited. The server is down, and gains health: so the time between checks is not their
    limit. The client reaches it by `option persist`."""
    def handle(sock):
        met.append(1)
        sock.sendall(b"here")
        sock.recv(1)

    server, met = Origin(handle), Seen()
    front, low = free_ports(2)
    d = daemon(f"listen l\n    bind 127.0.0.1:{front}\n    option tcp-check\n    tcp-check expect string here\n"
               f"    timeout check 1m\n    option persist\n    use-server s if TRUE\n"
               f"    server s 127.0.0.1:{server.port} check inter 1m fastinter 20ms downinter 20ms init-state fully-down rise 1000"
               f" source 127.0.0.6:{low}-{low + 3}\n")
    with connect(front) as c:
        assert c.recv(4) == b"here"
        # The last one has not ended.
        met.wait(len(met) + 42)
        assert column(d, "l", "chkfail") == {"s": "0"}
        assert int(column(d, "l", "check_health")["s"]) >= 41
    server.close()
