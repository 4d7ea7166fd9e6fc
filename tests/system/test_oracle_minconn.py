"""HAProxy and tacit get the same load on a backend: the limit of a server with `minconn` is compared, by opening
connections to it until one has to wait."""

import contextlib
import socket

import oracle
import pytest
from conftest import WAIT, free_ports, recv_all, wait_for
from oracle import Subject


# Connections to the port `load` are the load: a backup server takes them, which balancing does not use.
CFG = """
defaults
 timeout connect 1m
 timeout client 1m
 timeout server 1m
frontend f
 bind 127.0.0.1:{front}
 bind 127.0.0.1:{load}
{limit} default_backend b
backend b
 use-server u if {{ dst_port {load} }}
 use-server s unless {{ dst_port {load} }}
{full} server s 127.0.0.1:{origin} {server}
 server u 127.0.0.1:{origin} backup
frontend values
 bind 127.0.0.1:{values}
 mode http
 http-request return status 200 hdr x "%[srv_conn_free(b/s)] %[be_conn_free(b)]"
"""


class Backend:
    def __init__(self, program, directory, cfg, origin):
        self.front, self.load, self.values = free_ports(3)
        directory.mkdir()
        self.subject = Subject(program, directory, cfg.format(front=self.front, load=self.load, values=self.values,
                                                              origin=origin.port))
        self.open = []

    def row(self, name):
        return self.subject.stat()[1]["b", name]

    def connect(self, port):
        """The connection, once its session is in the backend."""
        before = int(self.row("BACKEND")["stot"])
        s = socket.create_connection(("127.0.0.1", port), WAIT)
        assert wait_for(lambda: int(self.row("BACKEND")["stot"]) > before)
        self.open.append(s)
        return s

    def waiting(self):
        return int(self.row("s")["qcur"]) + int(self.row("BACKEND")["qcur"])

    def fill(self):
        """(sessions in the backend, those on the server) when the next one has to wait, which is closed."""
        while True:
            last = self.connect(self.front)
            if self.waiting():
                full = int(self.row("BACKEND")["scur"]), int(self.row("s")["scur"])
                self.open.remove(last)
                last.close()
                assert wait_for(lambda: self.waiting() == 0)
                return full
            assert len(self.open) < 100

    def fetched(self):
        with socket.create_connection(("127.0.0.1", self.values), WAIT) as s:
            s.sendall(b"GET / HTTP/1.0\r\n\r\n")
            return [x for x in recv_all(s).split(b"\r\n") if x.startswith(b"x:")]

    def close(self):
        for s in self.open:
            s.close()
        self.subject.stop()


@pytest.mark.parametrize("limit, full, server", [
    ("", " fullconn 40\n", "minconn 4 maxconn 20"),
    ("", " fullconn 30\n", "minconn 2 maxconn 7"),
    ("", " fullconn 9\n", "minconn 4"),
    ("", " fullconn 20\n", "minconn 8 maxconn 4"),
    (" maxconn 150\n", "", "minconn 1 maxconn 9"),
])
def test_limit_follows_the_load(tmp_path, origins, limit, full, server):
    cfg = CFG.replace("{limit}", limit).replace("{full}", full).replace("{server}", server)
    origin = origins(recv_all)

    def play(program):
        with contextlib.closing(Backend(program, oracle.at(tmp_path, program), cfg, origin)) as be:
            got = [be.fetched(), be.row("s")["slim"], be.row("BACKEND")["slim"]]
            for _ in range(5):
                got += [be.fill(), be.fetched()]
                for _ in range(7):
                    be.connect(be.load)
            return [*got, be.fill()]

    oracle.same(play)
