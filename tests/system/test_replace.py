"""Processes without a master that replace each other: -sf, -st, -x."""

import contextlib
import os
import signal
import socket
import subprocess

import oracle
import pytest

from clients import Load, get, site
from conftest import admin, connect, free_port, free_ports, info, is_open, recv_all, run
from facts import becomes, contains, gone, listens

only_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to change the user")

GLOBAL = """\
global
    stats socket {sock} level {level} mode 600 {bind}
    set-dumpable
    {extra}
defaults
    timeout connect 1m
    timeout client 1m
    timeout server 1m
"""


@pytest.fixture
def replace(daemon, tmp_path):
    """Factory: a process with this configuration that replaces `old`, with one stats socket for all."""
    sock = tmp_path / "s"

    def start(cfg, old=None, how="-sf", fetch=True, extra="", bind="expose-fd listeners", level="user", **kw):
        args = []
        if old and fetch:
            args += ["-x", sock]
        if old:
            args += [how, str(old.pid)]
        return daemon(GLOBAL.format(sock=sock, extra=extra, bind=bind, level=level) + cfg, *args, raw=True, checked=False, **kw)
    start.sock = sock
    return start


def serving_pid(replace):
    return int(info(admin(replace.sock, "show info"))["Pid"])


def answers(read, wanted):
    """Nobody reports when another process answers."""
    becomes(read, wanted)


def serves(replace, d):
    answers(lambda: serving_pid(replace), d.pid)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("fetch", [True, False])
def test_no_client_notices_a_replacement(replace, origins, workers, fetch):
    size = 4 << 20

    def big(conn):
        if conn.recv(1):
            conn.sendall(b"\0" * size)

    bulk = origins(big)
    port, bulk_port = free_ports(2)
    cfg = site(port) + f"listen bulk\n    mode tcp\n    bind 127.0.0.1:{bulk_port}\n    server s 127.0.0.1:{bulk.port}\n"
    d = replace(cfg, extra=f"nbthread {workers}")
    load = Load(port, bulk_port, size)
    try:
        for _ in range(4):
            load.more(short=60)
            old, d = d, replace(cfg, d, fetch=fetch, extra=f"nbthread {workers}")
            serves(replace, d)
        load.wait(short=201)
    finally:
        load.stop()
    assert not load.failed, (load.failed[:5], len(load.failed), load.done)
    assert load.done["short"] > 200, load.done
    assert old.wait() == 0
    assert d.stop() in (0, 143, -signal.SIGTERM)
    assert not replace.sock.exists()


def test_deferred_clients_and_those_in_the_backlog(replace):
    """They wait in the socket, which goes on."""
    port = free_port()
    cfg = site(port).replace(f"{port}\n", f"{port} defer-accept\n")
    d = replace(cfg)
    waiting = [connect(port) for _ in range(20)]
    new = replace(cfg, d)
    # The kernel defers a client for some seconds: the previous process may have it now, and serves it.
    contains(d.stderr_path, "Proxy site stopped")
    for c in waiting:
        with c:
            c.sendall(b"GET / HTTP/1.0\r\n\r\n")
            assert b"one" in c.recv(1000)
    assert d.wait() == 0
    new.stop()


def test_addresses_that_go_and_come(replace):
    a, b, c = free_ports(3)
    d = replace(site(a) + f"    bind 127.0.0.1:{b}\n")
    new = replace(site(a, "two") + f"    bind 127.0.0.1:{c}\n", d)
    assert d.wait() == 0
    assert [is_open(p) for p in (a, b, c)] == [True, False, True]
    assert get(a) == "two"
    new.stop()


@pytest.mark.parametrize("fetch", [True, False])
def test_a_start_that_fails_leaves_the_previous_one(replace, fetch, tmp_path):
    port = free_port()
    pid_file = tmp_path / "pid"
    d = replace(site(port))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        bad = site(port, "two") + f"    bind 127.0.0.1:{taken.getsockname()[1]}\n"
        pid_file.write_text(f"{d.pid}\n")
        new = replace(bad, d, fetch=fetch, ready=False, extra=f"pidfile {pid_file}")
        assert new.wait() == 1
        assert "in use" in new.stderr
    assert pid_file.read_text() == f"{d.pid}\n"
    assert get(port) == "one"
    assert serving_pid(replace) == d.pid
    # it still owns its sockets alone: those in its backlog are accepted before it closes them
    d.send(signal.SIGSTOP)
    waiting = [connect(port) for _ in range(20)]
    d.send(signal.SIGUSR1)
    d.send(signal.SIGCONT)
    for c in waiting:
        with c:
            c.sendall(b"GET / HTTP/1.0\r\n\r\n")
            assert b"one" in c.recv(1000)
    assert d.wait() == 0
    assert not replace.sock.exists()


@pytest.mark.parametrize("how, ends", [("-sf", False), ("-st", True)])
def test_what_happens_to_open_connections(replace, origin, how, ends):
    port = free_port()
    cfg = f"listen l\n    mode tcp\n    bind 127.0.0.1:{port}\n    server s 127.0.0.1:{origin.port}\n"
    d = replace(cfg)
    with connect(port) as c:
        c.sendall(b"a")
        assert c.recv(1) == b"a"
        new = replace(cfg, d, how)
        if ends:
            with contextlib.suppress(ConnectionResetError):
                assert c.recv(1) == b""
        else:
            c.sendall(b"b")
            assert c.recv(1) == b"b"
            assert d.is_running()
    assert d.wait() == 0
    new.stop()


@pytest.mark.parametrize("bind, why", [("", "This socket has no 'expose-fd listeners'."),
                                       ("level admin", "This socket has no 'expose-fd listeners'.")])
def test_a_stats_socket_that_does_not_pass_sockets(replace, bind, why):
    d = replace(site(free_port()), bind=bind)
    new = replace(site(free_port()), d, ready=False)
    assert new.wait() == 1
    assert f"cannot get the listening sockets through '{replace.sock}': {why}" in new.stderr
    assert d.is_running()
    d.stop()


def start_haproxy(replace, port):
    """Starts HAProxy until it answers: it listens before it handles signals, and SIGTTOU would stop it like a job."""
    d = replace(site(port), program=oracle.HAPROXY, ready=False)
    listens(port)
    assert get(port) == "one"
    return d


@oracle.live("it takes over from HAProxy")
def test_a_socket_of_another_program(replace):
    port = free_port()
    cfg = site(port)
    d = start_haproxy(replace, port)
    new = replace(cfg, d, ready=False)
    assert new.wait() == 1
    assert "cannot get the listening sockets" in new.stderr
    # without -x it stops listening when it is asked to
    new = replace(cfg, d, fetch=False)
    assert d.wait() == 0
    assert get(port) == "one"
    new.stop()


@oracle.live("it takes over from HAProxy")
def test_a_program_that_listens_again(replace):
    """The new process cannot use another address: HAProxy goes on."""
    port, other = free_ports(2)
    d = start_haproxy(replace, port)
    # With SO_REUSEADDR: connections of an earlier test may be in TIME_WAIT there.
    with socket.create_server(("127.0.0.1", other)):
        new = replace(site(port) + f"    bind 127.0.0.1:{other}\n", d, fetch=False, ready=False)
        assert new.wait() == 1
    listens(port)
    d.stop()


def test_pids_of_processes_that_have_ended(replace):
    port = free_port()
    with subprocess.Popen(["true"]) as p:
        p.wait()
    d = replace(site(port), p, fetch=False)
    assert get(port) == "one"
    assert "cannot signal" not in d.stderr
    d.stop()


def test_in_the_background_with_a_pid_file(tmp_path):
    """As HAProxy's manual recommends it for scripts."""
    port = free_port()
    cfg, pid_file = tmp_path / "cfg", tmp_path / "pid"
    cfg.write_text("global\n    set-dumpable\ndefaults\n    timeout client 1m\n    timeout server 1m\n    timeout connect 1m\n"
                   + site(port))
    pids = []
    for _ in range(3):
        old = pid_file.read_text().split() if pid_file.exists() else []
        r = run("-f", cfg, "-D", "-p", pid_file, "-sf", *old)
        assert r.returncode == 0, r.stderr
        pids.append(int(pid_file.read_text()))
        assert get(port) == "one"
    assert len(set(pids)) == 3
    gone(*pids[:-1])
    os.kill(pids[-1], signal.SIGTERM)
    gone(pids[-1])


@only_root
def test_a_previous_process_of_another_user(replace):
    """The new process has no privileges any more when it is ready."""
    port = free_port()
    d = replace(site(port))
    new = replace(site(port, "two"), d, extra="user nobody\n    group nogroup")
    assert d.wait() == 0
    assert get(port) == "two"
    new.stop()


@pytest.mark.parametrize("modes", [("-Ws", "-db"), ("-db", "-Ws"), ("-Ws", "-Ws")])
@pytest.mark.parametrize("fetch", [True, False])
def test_with_a_master(replace, modes, fetch):
    port = free_port()
    d = replace(site(port), mode=modes[:1])
    for i in range(2):
        old, d = d, replace(site(port, str(i)), d, fetch=fetch, mode=modes[(i + 1) % 2:][:1])
        assert old.wait() == 0
        assert get(port) == str(i)
        # the path of the stats socket goes on, too
        assert admin(replace.sock, "show info")
        if modes[(i + 1) % 2] == "-Ws":
            d.notify.seen.clear()
            d.send(signal.SIGUSR2)
            assert d.notify.wait("READY=1")
            assert get(port) == str(i)
    d.stop()
    assert not replace.sock.exists()


TABLE = """
backend t
    stick-table type ip size 1k expire 60s store conn_cur,gpc0
frontend web
    mode http
    timeout http-keep-alive 60s
    bind 127.0.0.1:{port}
    tcp-request connection track-sc0 src table t
    http-request sc-inc-gpc0(0)
    http-request return status 200
"""


def entry(replace):
    """conn_cur and gpc0 of this machine's entry."""
    for line in admin(replace.sock, "show table t").splitlines():
        if line.startswith("0x"):
            values = dict(word.split("=", 1) for word in line.split()[1:])
            return [int(values[name]) for name in ("conn_cur", "gpc0")]
    return None


def sees(replace, *wanted):
    """Waits until conn_cur, and gpc0 if it is given, are these."""
    answers(lambda: (entry(replace) or [])[:len(wanted)], list(wanted))


def ask(port):
    with connect(port) as s:
        s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert recv_all(s).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("fetch", [True, False])
def test_tables_outlive_a_replacement(replace, fetch, workers):
    """Entries move over, connections of each process that drains count once, a table that was cleared stays so."""
    port = free_port()

    def start(old=None):
        """The process, when the old one does not accept any more."""
        d = replace(TABLE.replace("{port}", str(port)), old, fetch=fetch, level="admin", extra=f"nbthread {workers}")
        serves(replace, d)
        if old:
            contains(old.stderr_path, "Proxy web stopped")
        return d

    def both(count):
        """Two connections whose requests have begun: `count` with those before."""
        pair = connect(port), connect(port)
        for s in pair:
            s.sendall(b"GET / HTTP/1.1\r\n")
        sees(replace, count)
        return pair

    def finish(s):
        s.sendall(b"Host: x\r\nConnection: close\r\n\r\n")
        assert recv_all(s).startswith(b"HTTP/1.1 200 ")

    first = start()
    ask(port)
    a, idle = both(2)
    assert entry(replace) == [2, 1]
    second = start(first)
    assert entry(replace) == [2, 1]
    ask(port)
    b, late = both(4)
    assert entry(replace) == [4, 2]
    # The first process counts on.
    finish(a)
    sees(replace, 3, 3)
    third = start(second)
    # The third one sees connections of both.
    assert entry(replace) == [3, 3]
    finish(b)
    sees(replace, 2, 4)
    idle.close()
    sees(replace, 1, 4)
    first.wait()
    # One that is killed takes its connections with it.
    second.kill()
    sees(replace, 0, 4)
    late.close()
    admin(replace.sock, "clear table t")
    assert entry(replace) is None
    fourth = start(third)
    assert entry(replace) is None
    third.wait()
    ask(port)
    with connect(port) as s:
        s.sendall(b"GET")
        sees(replace, 1, 1)
        # This one ends with its connections, also those of its stats socket.
        replace(TABLE.replace("{port}", str(port)), fourth, how="-st", fetch=fetch, level="admin")
        fourth.wait()
        sees(replace, 0, 1)


def test_tables_end_with_no_reload_keep(replace):
    port = free_port()
    cfg = TABLE.replace("{port}", str(port))
    old = replace(cfg, level="admin", extra="tune.reload.keep none")
    ask(port)
    assert entry(replace) == [0, 1]
    new = replace(cfg, old, level="admin", extra="tune.reload.keep none")
    serves(replace, new)
    assert entry(replace) is None
