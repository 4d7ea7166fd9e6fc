"""Servers of rings over TLS: certificates and names, pieces of records, servers that go away or do not answer."""

import contextlib
import os
import re
import socket
import ssl
import subprocess
import threading

import oracle
import pytest

from certs import Authority
from conftest import TACIT, WAIT, WORKERS, admin, connect, free_port, free_ports, info, recv_all
from facts import Seen, contains, listens
from test_oracle_log_forms import same_words


CFG = """
global
    log-tag name
    stats socket {sock} level admin
    nbthread {workers}
defaults
    mode http
    timeout connect 1m
    timeout client 1m
    timeout server 1m
ring r
    format {form}
    size {size}
    {timeouts}
    server s 127.0.0.1:{to} {options}
frontend f
    bind 127.0.0.1:{port}
    log ring@r {line} local0
    option dontlognull
    log-format "{text}"
    http-request return status 200
"""


@pytest.fixture(name="ca", scope="module")
def _ca(tmp_path_factory):
    authority = Authority(tmp_path_factory.mktemp("certs"))
    authority.server = authority.make("server.pem", "logs.example", ["logs.example"])
    authority.client = authority.make("client.pem", "a client")
    return authority


@pytest.fixture(name="other", scope="module")
def _other(tmp_path_factory):
    authority = Authority(tmp_path_factory.mktemp("other"), "another CA")
    authority.server = authority.make("server.pem", "logs.example", ["logs.example"])
    return authority


class TlsReceiver:
    """A syslog server over TLS: the bytes, names and client certificates of all connections."""

    def __init__(self, pem, client_ca=None, version=None, read=65536, port=0):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(pem)
        self.context.sni_callback = lambda _s, name, _c: self.names.append(name)
        if client_ca:
            self.context.verify_mode = ssl.CERT_REQUIRED
            self.context.load_verify_locations(client_ca)
        if version:
            self.context.minimum_version = self.context.maximum_version = version
        self.read = read
        self.parts, self.names, self.failed, self.peers, self.conns = Seen(), Seen(), Seen(), [], []
        self.sock = socket.create_server(("127.0.0.1", port))
        self.port = self.sock.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                conn, _ = self.sock.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(conn,), daemon=True).start()

    def _serve(self, raw):
        try:
            conn = self.context.wrap_socket(raw, server_side=True)
        except OSError as e:
            self.failed.append(str(e))
            raw.close()
            return
        self.peers.append(conn.getpeercert())
        self.conns.append(conn)
        with contextlib.suppress(OSError):
            while data := conn.recv(self.read):
                self.parts.append(data)

    @property
    def heard(self):
        return b"".join(self.parts)

    def hears(self, text):
        self.parts.until(lambda parts: text in b"".join(parts), repr(text))

    def hears_all(self, n):
        """So many messages of a test."""
        self.parts.until(lambda parts: counted(b"".join(parts)) == n, f"{n} messages")

    def change(self, pem):
        """For the handshakes to come."""
        self.context.load_cert_chain(pem)

    def drop(self):
        """Ends the connections; each thread has then said what it got."""
        for conn in self.conns:
            with contextlib.suppress(OSError):
                conn.shutdown(socket.SHUT_RDWR)
        self.conns = []

    def close(self):
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)
        self.sock.close()
        self.drop()


class Pieces:
    """A TCP relay that passes bytes on in pieces of 1 to 7, so that no record comes whole."""

    def __init__(self, to):
        self.to = to
        self.sock = socket.create_server(("127.0.0.1", 0))
        self.port = self.sock.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                a, _ = self.sock.accept()
            except OSError:
                return
            b = socket.create_connection(("127.0.0.1", self.to))
            for s in (a, b):
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._pass, args=(a, b), daemon=True).start()
            threading.Thread(target=self._pass, args=(b, a), daemon=True).start()

    @staticmethod
    def _pass(a, b):
        n = 1
        with contextlib.suppress(OSError):
            while data := a.recv(n):
                b.sendall(data)
                n = n % 7 + 1
            b.shutdown(socket.SHUT_WR)

    def close(self):
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)
        self.sock.close()


def messages(text):
    """The messages of a stream with octet counts, unchanged."""
    out = []
    while text:
        n, rest = text.split(" ", 1)
        assert len(rest) >= int(n)
        out.append(rest[:int(n)])
        text = rest[int(n):]
    return out


def counted(heard):
    """Messages of a test that are there; 0 while the last one is a part."""
    with contextlib.suppress(AssertionError, ValueError):
        return len([m for m in messages(heard.decode()) if "/n" in m])
    return 0


def request(port, path):
    with connect(port) as c:
        c.sendall(f"GET /{path} HTTP/1.0\r\n\r\n".encode())
        recv_all(c)


class Running:
    """A program with a ring and its server."""

    def __init__(self, program, directory, to, options, form="raw", size="16384", timeouts="", line="", text="%HU",
                 workers=WORKERS):
        directory.mkdir()
        self.port, self.sock, self.errors = free_port(), directory / "sock", directory / "stderr"
        self.cfg = directory / "cfg"
        self.cfg.write_text(CFG.format(sock=self.sock, port=self.port, to=to, options=options, form=form, size=size,
                                       timeouts=timeouts, line=line, text=text, workers=workers))
        with open(self.errors, "wb") as err:
            self.proc = subprocess.Popen([program, "-db", "-f", self.cfg], stderr=err)
        listens(self.port)

    def reported(self, *words):
        return contains(self.errors, *words)

    def dropped(self):
        return int(info(admin(self.sock, "show info"))["DroppedLogs"])

    def stop(self):
        self.proc.terminate()
        return self.proc.wait(WAIT)

    def close(self):
        if self.proc.poll() is None:
            self.proc.terminate()
            try:
                assert self.proc.wait(WAIT) in (0, -15, 143), self.errors.read_text()
            finally:
                self.proc.kill()
        found = self.errors.read_text()
        assert not re.search("ERROR: AddressSanitizer|WARNING: ThreadSanitizer|runtime error:", found), found


@pytest.fixture(name="world")
def _world(tmp_path):
    """Factories: world.run(...) starts tacit, world.keep(x) closes x after the test."""
    class World:
        made = []
        dir = tmp_path

        def keep(self, thing):
            self.made.append(thing)
            return thing

        def run(self, to, options, program=TACIT, **kw):
            return self.keep(Running(program, tmp_path / f"p{len(self.made)}", to, options, **kw))

    w = World()
    w.made = []
    yield w
    for thing in reversed(w.made):
        thing.close()


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize("proto", ["log-proto octet-count", ""])
def test_haproxy_sends_the_same(world, ca, version, proto):
    def play(program):
        server = world.keep(TlsReceiver(ca.server, version=version))
        p = world.run(server.port, f"{proto} ssl verify required ca-file {ca.pem} sni str(logs.example)", program,
                      form="rfc5424", workers=1)
        for path in ("one", "two"):
            request(p.port, path)
        server.hears(b"/two")
        text = server.heard.decode()
        got = [same_words(m) for m in (messages(text) if proto else text.splitlines())]
        got = [re.sub(r" name \d+ ", " name PID ", m) for m in got if "/one" in m or "/two" in m]
        return got, server.names[0]

    oracle.same(play, script=CFG)


def test_a_certificate_of_another_authority_gets_nothing(world, ca, other):
    """The messages wait for one that is right."""
    server = world.keep(TlsReceiver(other.server))
    p = world.run(server.port, f"log-proto octet-count ssl ca-file {ca.pem}")
    for i in range(5):
        request(p.port, f"n{i}.")
    assert p.reported("ring 'r': server 's' cannot be reached", "SSL handshake failure", "certificate verify failed")
    assert server.failed.wait() and not server.heard
    assert p.dropped() == 0
    server.change(ca.server)
    server.hears_all(5)
    # Two workers may change places.
    assert sorted(m for m in messages(server.heard.decode()) if "/n" in m) == [f"/n{i}." for i in range(5)]
    assert p.errors.read_text().count("cannot be reached") == 1


@pytest.mark.parametrize("options", ["sni str(other.example)", "verifyhost other.example"])
def test_a_certificate_for_another_name_gets_nothing(world, ca, options):
    server = world.keep(TlsReceiver(ca.server))
    p = world.run(server.port, f"log-proto octet-count ssl ca-file {ca.pem} {options}")
    assert p.reported("Server presented an SSL certificate different from the " +
                  ("expected" if "sni" in options else "configured") + " one")
    assert not server.heard
    # The line feed of the default would follow each message.
    assert server.names.wait()[0] == ("other.example" if "sni" in options else None)


def test_without_verification_any_will_do(world, other):
    server = world.keep(TlsReceiver(other.server))
    p = world.run(server.port, "ssl verify none")
    request(p.port, "one")
    server.hears(b"/one\n")


def test_the_server_may_ask_for_a_certificate(world, ca):
    server = world.keep(TlsReceiver(ca.server, client_ca=ca.pem))
    p = world.run(server.port, f"ssl ca-file {ca.pem} crt {ca.client}")
    request(p.port, "one")
    server.hears(b"/one\n")
    assert server.peers[0]["subject"] == ((("commonName", "a client"),),)
    # Without one: the handshake fails, or what comes after it (TLS 1.3).
    strict = world.keep(TlsReceiver(ca.server, client_ca=ca.pem))
    p = world.run(strict.port, f"ssl ca-file {ca.pem}")
    request(p.port, "two")
    assert p.reported("ring 'r': server 's' cannot be reached or has closed the connection")
    assert not strict.heard and strict.failed.wait()


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_records_may_come_in_pieces(world, ca, version):
    server = world.keep(TlsReceiver(ca.server, version=version, read=3))
    relay = world.keep(Pieces(server.port))
    p = world.run(relay.port, f"log-proto octet-count ssl ca-file {ca.pem}", size="1m")
    for i in range(100):
        request(p.port, f"n{i}." + "x" * (i * 13 % 400))
    server.hears_all(100)
    got = [m for m in messages(server.heard.decode()) if "/n" in m]
    assert sorted(got) == sorted(f"/n{i}." + "x" * (i * 13 % 400) for i in range(100))
    assert p.dropped() == 0 and len(server.names) == 1


def test_it_comes_back_when_the_server_does(world, ca):
    port = free_port()
    server = world.keep(TlsReceiver(ca.server, port=port))
    p = world.run(port, f"log-proto octet-count ssl ca-file {ca.pem}", workers=1)
    request(p.port, "before.")
    server.hears(b"/before.")
    server.close()
    assert p.reported("ring 'r': server 's' cannot be reached or has closed the connection")
    for i in range(50):
        request(p.port, f"during{i}.")
    again = world.keep(TlsReceiver(ca.server, port=port))
    again.hears(b"/during49.")
    got = [m for m in messages(again.heard.decode()) if "/during" in m]
    numbers = [int(re.match(r"/during(\d+)\.", m)[1]) for m in got]
    # Bytes that the kernel had taken when the connection ended may be lost, and nothing behind it.
    assert numbers == list(range(numbers[0], 50)) and numbers[0] <= 1
    assert p.dropped() == 0


def test_a_handshake_that_is_not_answered_ends(world, ca):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        p = world.run(silent.getsockname()[1], f"ssl ca-file {ca.pem}", timeouts="timeout connect 300ms")
        request(p.port, "one")
        assert p.reported("cannot be reached or has closed the connection: Timeout during SSL handshake")
        first, second = silent.accept()[0], silent.accept()[0]
        with first, second:
            assert recv_all(first)[:1] == b"\x16"
        assert "/one" in admin(p.sock, "show events r")


def test_a_server_that_closes_in_the_handshake(world, ca):
    with socket.create_server(("127.0.0.1", 0)) as rude:
        p = world.run(rude.getsockname()[1], f"ssl ca-file {ca.pem}")
        rude.accept()[0].close()
        assert p.reported("cannot be reached or has closed the connection")
        # The client tries again.
        rude.accept()[0].close()
        request(p.port, "one")
        assert p.proc.poll() is None


def test_a_slow_server_has_time_at_the_stop(world, ca):
    """More than the sockets hold; the closing message ends it."""
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.bind(("127.0.0.1", 0))
    raw.listen()
    with raw:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(ca.server)
        p = world.run(raw.getsockname()[1], f"log-proto octet-count ssl ca-file {ca.pem}", size="8m\n    maxlen 9000",
                      line="len 9000", text="%HU%HU%HU", workers=1)
        with context.wrap_socket(raw.accept()[0], server_side=True) as conn:
            for i in range(500):
                request(p.port, f"n{i}-" + "x" * 2000)
            p.proc.terminate()
            # An end without the closing message would raise.
            got = recv_all(conn).decode()
            assert p.proc.wait(WAIT) == 0
        whole = [m for m in messages(got) if "/n" in m]
        assert [int(re.match(r"/n(\d+)-", m)[1]) for m in whole] == list(range(500))
        assert "lost" not in p.errors.read_text()


def test_a_server_that_does_not_read_loses_messages_that_are_counted(world, ca):
    """New ones are dropped, and what is taken later has no gap but at its end."""
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.bind(("127.0.0.1", 0))
    raw.listen()
    with raw:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(ca.server)
        p = world.run(raw.getsockname()[1], f"log-proto octet-count ssl ca-file {ca.pem}",
                      size="65536\n    maxlen 9000", line="len 9000", text="%HU%HU%HU", workers=1)
        with context.wrap_socket(raw.accept()[0], server_side=True) as conn:
            sent = 0
            while not p.dropped():
                # Requests are answered meanwhile.
                request(p.port, f"n{sent}-" + "x" * 2000)
                sent += 1
                assert sent < 20000
            for _ in range(10):
                request(p.port, f"n{sent}-" + "x" * 2000)
                sent += 1
            dropped = p.dropped()
            assert re.search(r"r +: type=buffer, [1-9]\d* dropped", admin(p.sock, "show events"))
            p.proc.terminate()
            got = recv_all(conn).decode()
        numbers = [int(re.match(r"/n(\d+)-", m)[1]) for m in messages(got) if "/n" in m]
        assert numbers[:sent - dropped - 1] == list(range(sent - dropped - 1))
        assert len(numbers) + dropped >= sent


def test_an_authority_can_be_changed_at_run_time(world, ca, other):
    server = world.keep(TlsReceiver(ca.server))
    own = world.dir / "own.pem"
    own.write_text(other.pem.read_text())
    p = world.run(server.port, f"ssl ca-file {own}")
    request(p.port, "one")
    assert p.reported("certificate verify failed")
    assert "transaction created" in admin(p.sock, f"set ssl ca-file {own} <<\n{ca.pem.read_text()}\n")
    assert "Success" in admin(p.sock, f"commit ssl ca-file {own}")
    server.hears(b"/one\n")


# --- mistakes ---


def errors_of(tmp_path, options):
    cfg = tmp_path / "cfg"
    cfg.write_text(CFG.format(sock=tmp_path / "s", port=free_ports(1)[0], to=1, options=options, form="raw", size="16384",
                              timeouts="", line="", text="x", workers=1))
    r = subprocess.run([TACIT, "-c", "-f", cfg], capture_output=True, text=True, timeout=WAIT, check=False)
    return r.returncode, r.stderr.replace(str(cfg), "CFG")


def test_mistakes_have_their_place(tmp_path, ca):
    code, errors = errors_of(tmp_path, "ssl")
    assert code == 1
    assert "parsing [CFG:15:26] : server 's' : verify is enabled by default but no CA file specified." in errors
    code, errors = errors_of(tmp_path, f"ssl ca-file {tmp_path}/none")
    assert code == 1 and "parsing [CFG:15:26]" in errors and "/none" in errors
    code, errors = errors_of(tmp_path, f"ssl ca-file {ca.pem} check")
    assert code == 1 and "'server s' : 'check' : in a ring" in errors
    code, errors = errors_of(tmp_path, f"ca-file {ca.pem}")
    assert code == 0 and "options of TLS have no effect without 'ssl'" in errors
    assert errors_of(tmp_path, f"ssl ca-file {ca.pem} crt {ca.client} ssl-min-ver TLSv1.3")[0] == 0
    assert os.path.exists(ca.client)
