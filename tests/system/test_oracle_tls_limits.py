"""maxsslrate, maxsslconn, and what show info says of TLS: HAProxy and tacit do the same."""

import contextlib
import csv
import io
import socket
import ssl
import subprocess

import oracle
import pytest
from certs import Authority
from conftest import TACIT, admin, answers, free_ports, info, wait_for

CFG = """
global
 stats socket {sock} level admin
 nbthread {threads}
 {extra}
defaults
 mode http
 timeout client 1m
 timeout connect 1m
 timeout server 1m
frontend f
 bind 127.0.0.1:{tls} ssl crt {pem}
 bind 127.0.0.1:{plain}
 default_backend b
backend b
 server s 127.0.0.1:{inner} ssl verify none no-ssl-reuse
listen inner
 bind 127.0.0.1:{inner} ssl crt {pem}
 http-request return status 200
"""


@pytest.fixture(scope="module", name="pem")
def _pem(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certs")).make("a.pem", "a.test", ["a.test"])


class Running:
    def __init__(self, program, directory, pem, extra="", threads=2):
        self.tls, self.plain, inner = free_ports(3)
        self.sock = directory / "sock"
        cfg = directory / "cfg"
        cfg.write_text(oracle.given(CFG.format(sock=self.sock, extra=extra, threads=threads, pem=pem, tls=self.tls, plain=self.plain,
                                               inner=inner)))
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.context.check_hostname = False
        self.context.verify_mode = ssl.CERT_NONE
        self.context.maximum_version = ssl.TLSVersion.TLSv1_2
        self.proc = subprocess.Popen([program, "-db", "-f", cfg], stderr=subprocess.DEVNULL)
        assert wait_for(lambda: answers(self.sock))

    def connect(self, session=None):
        raw = socket.create_connection(("127.0.0.1", self.tls), timeout=60)
        try:
            return self.context.wrap_socket(raw, session=session)
        except OSError:
            raw.close()
            raise

    def info(self):
        fields = info(admin(self.sock, "show info"))
        return {name: int(value) for name, value in fields.items() if "ssl" in name.lower()}

    def accepted(self, frontend):
        rows = csv.DictReader(io.StringIO(admin(self.sock, f"show stat {frontend} 1 -1")))
        return next(int(row["conn_tot"]) for row in rows)

    def close(self):
        self.proc.terminate()
        self.proc.wait()


@contextlib.contextmanager
def running(program, directory, pem, extra="", threads=2):
    directory.mkdir()
    r = Running(program, directory, pem, extra, threads)
    try:
        yield r
    finally:
        r.close()


def ask(s):
    s.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    return s.recv(4096).split(b"\r\n")[0]


def fields_of(program, directory, pem):
    """The fields of show info: with 3 connections, with one of them gone and one resumed; limits as configured."""
    out = []
    with running(program, directory, pem, "maxsslconn 100\n maxsslrate 200") as r:
        held = [r.connect() for _ in range(3)]
        assert [ask(s) for s in held] == [b"HTTP/1.1 200 OK"] * 3
        out.append(r.info())
        session = held[0].session
        held.pop().close()
        resumed = r.connect(session)
        assert resumed.session_reused
        assert ask(resumed) == b"HTTP/1.1 200 OK"
        out.append(r.info())
        for s in [*held, resumed]:
            s.close()
        # Nothing has connected since: both programs clear the highest rates, and keep what they have counted.
        assert admin(r.sock, "clear counters") == "\n"
        cleared = r.info()
        assert [cleared[f] for f in ("MaxSslRate", "SslFrontendMaxKeyRate", "SslBackendMaxKeyRate")] == [0, 0, 0]
        assert cleared["CumSslConns"] == out[1]["CumSslConns"]
    return out


def test_fields_of_show_info(tmp_path, pem):
    # A connection to the server is shared by requests of several clients, on as many workers as there are.
    loose = {"CurrSslConns", "CumSslConns", "SslRate", "MaxSslRate", "SslBackendKeyRate", "SslBackendMaxKeyRate",
             "SslFrontendKeyRate", "SslFrontendMaxKeyRate", "SslFrontendSessionReuse_pct", "SslCacheLookups",
             "SslCacheMisses"}

    def play(program):
        before, after = fields_of(program, oracle.at(tmp_path, program), pem)
        # 3 clients, and 1 to 3 connections to the server, each of which has two ends.
        assert 5 <= before["CurrSslConns"] <= 9 and before["CurrSslConns"] <= before["CumSslConns"] <= 9
        assert before["MaxSslConns"] == 100 and before["SslRateLimit"] == 200
        # Rates depend on the moment: tests/sim/process/rates_tls.txt.
        assert after["CumSslConns"] > before["CumSslConns"]
        return [{k: None if k in loose else v for k, v in fields.items()} for fields in (before, after)]

    oracle.same(play)


def test_limit_of_connections(tmp_path, pem):
    with running(TACIT, tmp_path / "x", pem, "maxsslconn 2") as r:
        first, second = r.connect(), r.connect()
        assert r.info()["CurrSslConns"] == 2
        with pytest.raises(OSError):
            r.connect()
        # Nor is there one to the server.
        with socket.create_connection(("127.0.0.1", r.plain), timeout=60) as c:
            assert b" 503 " in ask(c)
        # The other ends of its four attempts count, too, until they are seen to be closed.
        assert wait_for(lambda: r.accepted("inner") == 4 and r.info()["CurrSslConns"] == 2)
        first.close()
        assert wait_for(lambda: r.info()["CurrSslConns"] == 1)
        third = r.connect()
        assert r.info()["CurrSslConns"] == 2
        second.close()
        third.close()
        # The two ends of one to the server.
        assert wait_for(lambda: r.info()["CurrSslConns"] == 0)
        with socket.create_connection(("127.0.0.1", r.plain), timeout=60) as c:
            assert b" 200 " in ask(c)
