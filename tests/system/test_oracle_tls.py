"""Handshakes that fail, through HAProxy and tacit: what is logged of each, and that the next client is served."""

import re
import socket
import ssl
import struct
import subprocess

import oracle
import pytest
from certs import Authority
from conftest import admin, answers, free_port, free_ports, is_open, wait_for
from subject import LogServer

CLIENT_MS = 500


@pytest.fixture(scope="module")
def pem(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certs")).make("a.pem", "a.test")


def anyone():
    c = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    c.check_hostname = False
    c.verify_mode = ssl.CERT_NONE
    return c


def hello():
    """The first bytes of a client."""
    sent = ssl.MemoryBIO()
    client = anyone().wrap_bio(ssl.MemoryBIO(), sent, server_hostname="a.test")
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return sent.read()


SSL2 = bytes.fromhex("802e0100020015000000100100800200800300800400800500800600400700c001") + bytes(16)

# name, bytes, what follows: the client's FIN, its RST, or nothing until the proxy gives up, or until its timeout
CASES = [
    ("nothing, FIN", b"", "fin"), ("nothing, RST", b"", "rst"), ("nothing", b"", "timeout"),
    ("a part, FIN", hello()[:20], "fin"), ("a part, RST", hello()[:20], "rst"), ("a part", hello()[:20], "timeout"),
    ("a request of HTTP", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "wait"),
    ("zeros", bytes(60), "wait"), ("SSLv2", SSL2, "wait"), ("a hello, RST", hello(), "rst"),
]


def fail(port, what, then, barrier):
    """Such a client; it returns when the proxy has closed. barrier: returns when the proxy has read what was sent."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as s:
        if what:
            s.sendall(what)
        if then == "fin":
            s.shutdown(socket.SHUT_WR)
        if then == "rst":
            barrier()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return
        try:
            while s.recv(4096):
                pass
        except ConnectionResetError:
            pass


def distrust(port):
    """A client that does not know the authority."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as s, pytest.raises(ssl.SSLError):
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).wrap_socket(s, server_hostname="a.test").recv(1)


def slow(port):
    """One that says hello byte by byte, and gets its answer."""
    into, out = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = anyone().wrap_bio(into, out, server_hostname="a.test")
    with socket.create_connection(("127.0.0.1", port), timeout=60) as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while True:
            try:
                client.do_handshake()
                break
            except ssl.SSLWantReadError:
                for byte in out.read():
                    s.sendall(bytes([byte]))
                into.write(s.recv(65536))
        client.write(b"GET / HTTP/1.0\r\n\r\n")
        s.sendall(out.read())
        got = b""
        while True:
            into.write(s.recv(65536))
            try:
                got += client.read(4096)
            except ssl.SSLWantReadError:
                continue
            if b"\r\n\r\n" in got:
                return got


def lines_of(program, pem, tmp_path, options):
    """The log lines of all cases, without what varies."""
    log, (port, hasty, patient), sock = LogServer(), free_ports(3), tmp_path / f"{program.rsplit('/', 1)[-1]}.sock"
    cfg = tmp_path / f"{program.rsplit('/', 1)[-1]}.cfg"
    cfg.write_text(oracle.given(f"global\n log 127.0.0.1:{log.port} local0\n nbthread 1\n stats socket {sock} level admin\n"
                   f"defaults\n mode http\n log global\n option httplog\n {options}\n timeout client 1m\n"
                   " timeout connect 1m\n timeout server 1m\n"
                   f"frontend f\n bind 127.0.0.1:{port} ssl crt {pem} name b\n http-request return status 200\n"
                   f"frontend hasty\n timeout client {CLIENT_MS}ms\n bind 127.0.0.1:{hasty} ssl crt {pem} name b\n"
                   " http-request return status 200\n"
                   f"frontend patient\n bind 127.0.0.1:{patient} ssl crt {pem} name b\n"
                   " http-request return status 200\n"))
    with subprocess.Popen([program, "-db", "-f", cfg], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as p:
        try:
            assert wait_for(lambda: answers(sock))

            def barrier():
                """Waits until HAProxy, which has one thread, has handled and logged what clients did before."""
                for _ in range(2):
                    admin(sock, "show version")

            log.drain()
            log.lines.clear()
            reported = []
            for name, what, then in CASES:
                fail(hasty if then == "timeout" else port, what, then, barrier)
                barrier()
                reported.append((name, ended(log)))
            distrust(patient)
            barrier()
            reported.append(("no trust", ended(log)))
            assert slow(patient).startswith(b"HTTP/1.1 200 "), program
            barrier()
            reported.append(("served", [line.split()[0] for line in ended(log)]))
            assert reported[-1][1] == ["patient~"]
        finally:
            p.terminate()
            log.close()
    return reported


def ended(log):
    """The ends of the lines so far, which are removed."""
    log.drain()
    got = [re.sub(r".*\] ", "", line) for line in log.lines]
    log.lines.clear()
    return got


@pytest.mark.parametrize("options", ["", "option dontlognull"])
def test_failures_are_logged(pem, tmp_path, options):
    theirs, ours = oracle.both(lambda program: lines_of(program, pem, tmp_path, options))
    assert ours == theirs


def test_after_a_proxy_header(pem, tmp_path):
    """accept-proxy comes before TLS; the address of the header is in the request."""
    def play(program):
        port = free_port()
        cfg = tmp_path / "p.cfg"
        cfg.write_text(oracle.given("defaults\n mode http\n timeout client 1m\n timeout connect 1m\n timeout server 1m\n"
                                    f"frontend f\n bind 127.0.0.1:{port} ssl crt {pem} accept-proxy\n"
                                    " http-request return status 200 content-type text/plain lf-string %[src]\n"))
        with subprocess.Popen([program, "-db", "-f", cfg], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as p:
            try:
                assert wait_for(lambda: is_open(port))
                with socket.create_connection(("127.0.0.1", port), timeout=60) as raw:
                    raw.sendall(b"PROXY TCP4 192.0.2.7 192.0.2.8 1 2\r\n")
                    with anyone().wrap_socket(raw, server_hostname="a.test") as s:
                        s.sendall(b"GET / HTTP/1.0\r\n\r\n")
                        return b"".join(iter(lambda: s.recv(4096), b"")).partition(b"\r\n\r\n")[2]
            finally:
                p.terminate()

    assert oracle.same(play) == b"192.0.2.7"
