"""`wait` of the admin socket: it ends with the fact, not later, and costs next to nothing meanwhile."""
import contextlib
import os
import signal
import socket

import pytest
from conftest import Origin, connect, free_port, recv_all
from subject import LogServer

REQUEST = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
CHECKED = "default_backend b\nbackend b\n    server s 127.0.0.1:{port} check inter 20ms fall 1 rise 1\n"


def backend(port, origin):
    return f"frontend f\n    bind 127.0.0.1:{port}\n    " + CHECKED.format(port=origin)


@contextlib.contextmanager
def stopped(d):
    d.send(signal.SIGSTOP)
    os.waitid(os.P_PID, d.pid, os.WSTOPPED | os.WNOWAIT)
    yield
    d.send(signal.SIGCONT)


def sent(d, command):
    """Sends a command; returns a function that waits for its answer."""
    s = socket.socket(socket.AF_UNIX)
    s.connect(str(d.sock))
    s.sendall(command.encode() + b"\n")

    def end():
        with s:
            return recv_all(s).decode()
    return end


def hold(conn):
    conn.recv(1)


def test_a_drained_server_can_be_removed(daemon):
    """As in the manual: the answer comes when the last session ends."""
    port, origin = free_port(), Origin(hold)
    d = daemon(backend(port, origin.port))
    with connect(port) as c:
        assert d.admin("wait 10s server b/s cur eq 1") == "Done.\n\n"
        assert d.admin("wait 10s sessions backend/b ge 1;wait 10s sessions state/RELAY server/b/s eq 1") == \
            "Done.\n\nDone.\n\n"
        end = sent(d, "set server b/s state drain;wait 10s server b/s cur eq 0;disable server b/s;"
                                    "wait 10s srv-removable b/s;del server b/s")
        assert d.admin("wait 10s server b/s state eq DRAIN") == "Done.\n\n"
        assert d.admin("wait 0 server b/s cur eq 0") == \
            "Wait delay expired: server b/s cur is 1, expected eq 0.\n\n"
        c.sendall(b"x")
        assert c.recv(1) == b""
    assert end() == "\nDone.\n\n\nDone.\n\nServer deleted.\n\n"
    origin.close()


def test_a_server_that_restarts(daemon):
    """As in the manual: down, then up again, in drain all the time."""
    port, origin = free_port(), Origin(hold)
    d = daemon(backend(port, origin.port))
    assert d.admin("set server b/s state drain;wait 10s server b/s cur eq 0") == "\nDone.\n\n"
    end = sent(d, "wait 10s server b/s state eq DOWN")
    origin.close()
    assert end() == "Done.\n\n"
    end = sent(d, "wait 10s server b/s state eq DRAIN")
    origin = Origin(hold, address=("127.0.0.1", origin.port))
    assert end() == "Done.\n\n"
    assert d.admin("set server b/s state ready;wait 10s server b/s state eq UP") == "\nDone.\n\n"
    assert d.admin("wait 10s counter b/s/chkdown eq 1;wait 10s counter b/s/check_status eq L4OK") == \
        "Done.\n\nDone.\n\n"
    origin.close()


@pytest.mark.parametrize("workers", [1, 3])
def test_idle_workers_have_done_all_that_has_reached_them(daemon, workers):
    """Requests and the command wait in the kernel until the process goes on, and a turn takes only a few of them."""
    port = free_port()
    d = daemon(f"""listen l
    bind 127.0.0.1:{port}
    mode http
    http-request return status 200
""", extra=f"nbthread {workers}\n    tune.maxpollevents 10")
    conns = [connect(port) for _ in range(100)]
    for n in range(1, 6):
        with stopped(d):
            answer = sent(d, f"wait 10s idle;wait 0 counter l/FRONTEND/hrsp_2xx eq {5000 * n}")
            for c in conns:
                c.sendall(REQUEST * 50)
        assert answer() == "Done.\n\n" * 2
    with stopped(d):
        answer = sent(d, "wait 10s idle;wait 0 sessions eq 0")
        for c in conns:
            c.close()
    assert answer() == "Done.\n\n" * 2


def test_log_lines_are_counted_when_they_are_sent(daemon, origin):
    port, log = free_port(), LogServer()
    d = daemon(f"listen l\n    bind 127.0.0.1:{port}\n    option tcplog\n    log 127.0.0.1:{log.port} local0\n"
               f"    server s 127.0.0.1:{origin.port}\n", checked=False)
    for n in (1, 2, 3):
        connect(port).close()
        assert d.admin(f"wait 10s counter Sent_logs ge {n}") == "Done.\n\n"
        assert sum("l l/s" in line for line in log.drain()) == n
    assert d.info()["Sent_logs"] == "3"
    log.close()


def test_several_wait_at_once(daemon, origin):
    """Several clients wait at the same time."""
    port = free_port()
    d = daemon(f"listen l\n    bind 127.0.0.1:{port}\n    server s 127.0.0.1:{origin.port}\n", extra="nbthread 3")
    ends = [sent(d, "wait 10s idle") for _ in range(5)]
    others = [sent(d, "wait 10s counter l/FRONTEND/stot ge 1") for _ in range(4)]
    assert [end() for end in ends] == ["Done.\n\n"] * 5
    connect(port).close()
    assert [end() for end in others] == ["Done.\n\n"] * 4


def test_a_wait_costs_few_turns(daemon):
    """At most one turn for each evaluation: it is not a busy loop."""
    d = daemon("")
    before = int(d.info()["Loop_turns"])
    assert d.admin("wait 500 counter CurrConns ge 1") == \
        "Wait delay expired: counter CurrConns is 0, expected ge 1.\n\n"
    assert int(d.info()["Loop_turns"]) - before < 80
