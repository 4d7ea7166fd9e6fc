"""The commands of Ansible's module community.general.haproxy: its states drain, disabled and enabled, with wait. The
module sends each line on a connection of its own and polls columns of `show stat`. HAProxy answers the same."""

import contextlib
import os

import oracle
import pytest
from conftest import WAIT, connect, free_port, recv_all, wait_for
from test_oracle_stat import Subject


CFG = """
defaults
 timeout connect 1m
 timeout client 1m
 timeout server 1m
 timeout check 1m
backend app
 option httpchk
 default-server inter 50ms rise 2 fall 2
 server web1 127.0.0.1:{port} check weight 10
 server web2 127.0.0.1:{port} check weight 10
listen l
 bind 127.0.0.1:{front}
 mode tcp
 server web1 127.0.0.1:{port}
"""


def answer(conn):
    """Answers a check; holds another connection open, and answers each time."""
    if conn.recv(4096).startswith(b"OPTIONS"):
        conn.sendall(b"HTTP/1.0 200 OK\r\n\r\n")
        return
    conn.sendall(b"held\n")
    while conn.recv(4096):
        conn.sendall(b"held\n")


class Module:
    """Does what the module does for one host."""

    def __init__(self, d, backend, server):
        self.d, self.backend, self.server = d, backend, server
        self.name = f"{backend}/{server}"

    def execute(self, commands):
        return [self.d.admin(line.replace("$", self.name)).strip() for line in commands.split(";")]

    def version(self):
        """With a version that it cannot read, or one below 1.5, the module does not drain."""
        line = next(x for x in self.d.admin("show info").split("\n") if x.startswith("Version: "))
        major, minor = line.split(": ")[1].split(".")[:2]
        return int(major), int(minor)

    def state(self):
        head, *rows = self.d.admin("show stat").strip().split("\n")
        names = head.lstrip("# ").split(",")
        for row in rows:
            fields = dict(zip(names, row.split(",")))
            if (fields["pxname"], fields["svname"]) == (self.backend, self.server):
                return fields

    def wait_until(self, status):
        """The module looks for the word in the column; a draining server has no sessions left either."""
        def is_there():
            now = self.state()
            return status in now["status"] and (status != "DRAIN" or now["scur"] == "0")
        return wait_for(is_there, WAIT)

    def enabled(self, weight=None):
        done = self.execute("get weight $;enable server $")
        return done + (self.execute(f"set weight $ {weight}") if weight else [])

    def disabled(self, shutdown_sessions=False):
        done = self.execute("get weight $;disable server $")
        return done + (self.execute("shutdown sessions server $") if shutdown_sessions else [])

    def drain(self):
        assert self.version() >= (1, 5)
        return self.execute("set server $ state drain")


@pytest.fixture(params=oracle.PROGRAMS.values(), ids=os.path.basename)
def site(request, origins, tmp_path):
    ports = {"port": origins(answer).port, "front": free_port()}
    d = Subject(request.param, tmp_path, CFG.format(**ports))
    d.front = ports["front"]
    assert Module(d, "app", "web1").wait_until("UP")
    yield d
    d.stop()


def test_drain_and_enable(site):
    one, other = Module(site, "app", "web1"), Module(site, "app", "web2")
    assert one.drain() == [""]
    assert one.wait_until("DRAIN")
    assert one.enabled() == ["10 (initial 10)", ""]
    assert one.wait_until("UP")
    assert "UP" in other.state()["status"]


def test_disable_and_enable(site):
    one = Module(site, "app", "web1")
    assert one.disabled() == ["10 (initial 10)", ""]
    assert one.wait_until("MAINT")
    assert one.enabled(weight="50%") == ["10 (initial 10)", "", ""]
    assert one.wait_until("UP")
    assert one.state()["weight"] == "5"


def test_health_and_agent(site):
    one = Module(site, "app", "web1")
    assert one.execute("disable health $;disable server $") == ["", ""]
    assert one.wait_until("MAINT")
    assert one.execute("enable server $;enable health $") == ["", ""]
    assert one.wait_until("UP")
    assert one.execute("enable agent $") == ["Agent was not configured on this server, cannot enable."]


def test_a_drain_waits_for_sessions(site):
    one = Module(site, "l", "web1")
    with connect(site.front) as s:
        s.sendall(b"hello")
        assert s.recv(100) == b"held\n"
        one.drain()
        s.sendall(b"hello")
        assert s.recv(100) == b"held\n"
        assert "DRAIN" in one.state()["status"] and one.state()["scur"] == "1"
    assert one.wait_until("DRAIN")
    one.enabled()
    with connect(site.front) as s:
        s.sendall(b"hello")
        assert s.recv(100) == b"held\n"
        assert one.disabled(shutdown_sessions=True) == ["1 (initial 1)", "", ""]
        with contextlib.suppress(ConnectionResetError):
            assert recv_all(s) == b""
    assert wait_for(lambda: one.state()["scur"] == "0") and "MAINT" in one.state()["status"]
