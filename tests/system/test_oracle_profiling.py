"""show profiling and set profiling: HAProxy's form, and a name for each function that runs."""

import re
import subprocess

import oracle
import pytest
from conftest import TACIT, admin, answers, connect, free_ports, recv_all, wait_for

CFG = """
global
 stats socket {sock} level admin
 nbthread 2
{lines}
defaults
 mode http
 timeout connect 1m
 timeout client 1m
 timeout server 1m
frontend f
 bind 127.0.0.1:{front}
 default_backend b
backend b
 server s 127.0.0.1:{back}
# A check that takes longer than its interval fails: no client depends on this server.
backend checked
 server s 127.0.0.1:{back} check inter 20ms
frontend o
 bind 127.0.0.1:{back}
 http-request return status 200
"""
ROW = re.compile(r"  (\S+) +(\d+)((?: +(?:\d+\.\d+[num]?s|-)){4})")


@pytest.fixture(name="start")
def _start(tmp_path):
    """A function that starts a program: (ask it, its port)."""
    running = []

    def start(program, lines):
        front, back = free_ports(2)
        sock, cfg = tmp_path / f"{len(running)}.sock", tmp_path / f"{len(running)}.cfg"
        cfg.write_text(oracle.given(CFG.format(sock=sock, front=front, back=back, lines=lines)))
        running.append(subprocess.Popen([program, "-db", "-f", cfg], stderr=subprocess.DEVNULL))
        assert wait_for(lambda: answers(sock))
        return lambda command: admin(sock, command), front

    yield start
    for p in running:
        p.terminate()
        p.wait()


def use(port, n):
    for _ in range(n):
        with connect(port) as c:
            c.sendall(b"GET / HTTP/1.0\r\n\r\n")
            assert recv_all(c).startswith(b"HTTP/1.1 200")


def rows(text):
    """{function: calls} of the answer, whose lines have HAProxy's columns."""
    title, head, *lines = text.rstrip("\n").split("\n")
    assert title == "Tasks activity:" and head.split() == "function calls cpu_tot cpu_avg lat_tot lat_avg".split()
    out = {}
    for line in lines:
        m = ROW.fullmatch(line)
        assert m and len(line) == len(head), line
        out[m[1]] = out.get(m[1], 0) + int(m[2])
    return out


@pytest.mark.parametrize("lines", ["profiling.tasks on", "profiling.tasks off", "profiling.tasks auto"])
def test_status_and_errors_are_the_same(start, lines):
    commands = ("show profiling status", "show profiling 3 foo", "show profiling memory",
                "set profiling memory off", "set profiling memory on", "set profiling tasks", "set profiling x on",
                "set profiling tasks on", "show profiling status", "set profiling tasks off", "show profiling status")

    def play(program):
        ask, _ = start(program, lines)
        # On a loaded machine a worker may have turned it on.
        return [(command, ask(command).replace("auto-on ", "auto-off")) for command in commands]

    oracle.same(play)


def test_columns_are_the_same(start):
    for program in oracle.PROGRAMS.values():
        ask, port = start(program, "profiling.tasks on")
        use(port, 20)
        assert sum(rows(ask("show profiling tasks")).values()) > 60
        assert len(rows(ask("show profiling tasks 2 byaddr"))) == 2


def test_functions_have_names(start):
    """Functions of sessions, their ends, listeners, checks, timers, messages and the admin socket."""
    ask, port = start(TACIT, "profiling.tasks on\n tune.listener.multi-queue fair")
    use(port, 50)
    assert wait_for(lambda: use(port, 2) or rows(ask("show profiling tasks")).keys() >=
                    {"client_io", "server_io", "session_task", "session_end", "listener_accept", "check_start",
                     "handover_mail", "admin_io", "admin_end", "connect", "read", "parse_request", "parse_response", "rules",
                     "write"})
    found = rows(ask("show profiling tasks"))
    assert not [f for f in found if f.startswith("0x")]
    assert found["session_end"] >= 50 and 100 <= found["listener_accept"]


def test_nothing_is_counted_while_it_is_off(start):
    ask, port = start(TACIT, "")
    use(port, 20)
    assert not rows(ask("show profiling tasks"))
    ask("set profiling tasks on")
    use(port, 20)
    assert wait_for(lambda: rows(ask("show profiling tasks"))["session_end"] >= 20)
    ask("set profiling tasks off")

    def adds_nothing():
        before = rows(ask("show profiling tasks"))
        use(port, 20)
        return rows(ask("show profiling tasks")) == before

    # A worker that slept sees it in its next turn, and each has one sooner or later.
    assert wait_for(adds_nothing)
