"""A new program in place of the one that runs: after a reload the master executes it too, and keeps what it has."""

import os
import shutil
import signal
import socket

import pytest

from clients import Load, get, site
from conftest import TACIT, WAIT, connect, fds, free_port, free_ports
from facts import becomes, only_child
from test_master import MASTER, ask, children, listening_inodes, reload, worker_of

# A worker process's report of its program: this one cannot continue as the master.
MARK, OTHER_MARK = b"X_MASTER_STATE=", b"X_MASTER_STATF="


class Upgraded:
    """A daemon whose program can be replaced."""

    def __init__(self, directory):
        self.directory, self.program = directory, directory / "tacit"
        self.socket = directory / "master.sock"
        shutil.copy2(TACIT, self.program)

    def start(self, daemon, cfg, *options, **kw):
        self.d = daemon(cfg, "-S", self.socket, *options, mode=MASTER, program=str(self.program), **kw)
        return self.d

    def replace(self, change=lambda program: program):
        """As a package does: the previous file stays until it is no longer used."""
        new = self.directory / "tacit.new"
        new.write_bytes(change(self.program.read_bytes()))
        shutil.copymode(self.program, new)
        os.replace(new, self.program)

    def runs(self, pid=None):
        """The process runs the program that is there now."""
        return os.stat(f"/proc/{pid or self.d.pid}/exe").st_ino == self.program.stat().st_ino

    def will_run(self):
        """The master executes it."""
        return becomes(self.runs, True, "the new program")

    def ask(self, *lines):
        return ask(self.socket, *lines)

    def reload(self):
        """By the master's socket; its answer."""
        self.d.notify.seen.clear()
        answer = self.ask("reload")
        # So that it is not taken for the end of a later one.
        assert self.d.notify.wait("READY=1")
        return answer


@pytest.fixture
def upgraded(tmp_path):
    return Upgraded(tmp_path)


@pytest.mark.parametrize("how", ["signal", "socket"])
def test_the_master_runs_the_new_program(daemon, upgraded, tmp_path, how):
    port, pidfile = free_port(), tmp_path / "pid"
    # This start has a warning.
    d = upgraded.start(daemon, f"{site(port)}frontend unused\n    option httplog\n    disabled\n", "-p", pidfile)
    first, inodes = worker_of(d), listening_inodes(port)
    assert get(port) == "one"
    # The same program: nothing is executed.
    assert reload(d) and upgraded.runs()
    open_files = len(fds(d.pid)), len(fds(worker_of(d)))
    upgraded.replace()
    assert not upgraded.runs()
    if how == "socket":
        assert upgraded.reload().startswith("Success=1\n--\n")
    else:
        assert reload(d)
    assert upgraded.will_run() and only_child(d.pid)
    assert upgraded.runs(worker_of(d)) and worker_of(d) != first
    assert listening_inodes(port) == inodes and get(port) == "one"
    # The saved state.
    shown = upgraded.ask("show proc")
    assert f"{d.pid} master 2 [failed: 0]" in " ".join(shown.split())
    assert [line.split()[0] for line in shown.splitlines() if "worker  " in line] == [str(worker_of(d))]
    assert f"({worker_of(d)})" in upgraded.ask("show startup-logs")
    # Its duties after that. Its descriptors are not passed on.
    assert reload(d)
    becomes(lambda: (len(fds(d.pid)), len(fds(worker_of(d)))), open_files)
    killed = worker_of(d)
    os.kill(killed, signal.SIGKILL)
    assert only_child(d.pid, besides=[killed]) and get(port) == "one"
    d.cfg.write_text(d.cfg.read_text().replace("mode http", "mode htpt"))
    assert "htpt" in upgraded.reload() and upgraded.runs()
    d.cfg.write_text(d.cfg.read_text().replace("mode htpt", "mode http").replace("one", "two"))
    upgraded.replace()
    assert reload(d) and upgraded.will_run() and get(port) == "two"
    assert pidfile.read_text().strip() == str(d.pid)
    assert d.stop(signal.SIGTERM) in (0, 143)
    assert not pidfile.exists() and not upgraded.socket.exists()


def test_a_previous_worker_continues_below_the_new_program(daemon, upgraded, origin):
    port = free_port()
    d = upgraded.start(daemon, f"listen l\n    bind 127.0.0.1:{port}\n    server s 127.0.0.1:{origin.port}\n")
    first = worker_of(d)
    with connect(port) as c:
        c.sendall(b"before")
        assert c.recv(100) == b"before"
        upgraded.replace()
        assert reload(d, settle=False) and upgraded.will_run()
        assert set(children(d.pid)) > {first}
        assert "# old workers" in upgraded.ask("show proc")
        assert f"Pid: {first}" in upgraded.ask(f"@!{first} show info")
        c.sendall(b"after")
        assert c.recv(100) == b"after"
    only_child(d.pid, besides=[first])
    assert "# old workers" not in upgraded.ask("show proc")


def test_a_program_that_cannot_continue_as_master_is_not_executed(daemon, upgraded):
    port = free_port()
    d = upgraded.start(daemon, site(port))
    upgraded.replace(lambda program: program.replace(MARK, OTHER_MARK))
    assert OTHER_MARK in upgraded.program.read_bytes()
    assert reload(d) and reload(d)
    assert upgraded.runs(worker_of(d)) and not upgraded.runs() and get(port) == "one"
    # Nor one that does not serve: it cannot be executed at all.
    upgraded.replace(lambda program: b"")
    assert not reload(d) and not upgraded.runs() and get(port) == "one"
    shutil.copy2(TACIT, upgraded.directory / "again")
    os.replace(upgraded.directory / "again", upgraded.program)
    assert reload(d) and upgraded.will_run()


def test_clients_of_the_masters_socket_are_waited_for(daemon, upgraded):
    """One that stays connected is disconnected in the end."""
    d = upgraded.start(daemon, site(free_port()))
    upgraded.replace()
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(WAIT)
        s.connect(str(upgraded.socket))
        s.sendall(b"prompt\n")
        assert s.recv(100)
        assert reload(d)
        s.sendall(b"show proc\n")
        assert b"master" in s.recv(4096)
        while s.recv(4096):
            pass
    assert upgraded.will_run()


def test_no_client_notices_an_upgrade(daemon, upgraded):
    port, deferred = free_ports(2)
    d = upgraded.start(daemon, site(port) + f"    bind 127.0.0.1:{deferred} defer-accept\n")
    load = Load(port, None, 0, deferred, ["short"] * 4 + ["persistent", "mid_header", "deferred"] * 2)
    try:
        for _ in range(4):
            upgraded.replace()
            assert reload(d, settle=False) and upgraded.will_run()
        load.wait(short=201, deferred=2)
    finally:
        load.stop()
    assert not load.failed, (load.failed[:5], len(load.failed), load.done)
    only_child(d.pid)
