"""HAProxy and tacit connect to servers that want a PROXY header: what a health check sends first is compared."""

import contextlib
import socket
import threading

import oracle
from conftest import WAIT
from oracle import Subject


# Options of the server, and lines of its backend. PORT is the server's.
CHECKS = (
    ("send-proxy", ""),
    ("send-proxy-v2", ""),
    ("check-send-proxy", ""),
    ("send-proxy-v2 proxy-v2-options crc32c,unique-id", ""),
    ("proxy-v2-options crc32c", ""),
    ("send-proxy-v2-ssl", ""),
    ("send-proxy-v2-ssl-cn proxy-v2-options crc32c,cert-key,authority", ""),
    ("send-proxy-v2-ssl check-send-proxy port PORT", ""),
    ("send-proxy check-send-proxy port PORT", ""),
    ("send-proxy no-check-send-proxy", ""),
    ("", " default-server send-proxy-v2\n"),
    ("send-proxy", " option httpchk\n"),
    ("send-proxy port PORT", " option httpchk\n"),
    ("send-proxy addr 127.0.0.1", " option httpchk\n"),
    ("send-proxy-v2", " option httpchk\n"),
    ("send-proxy", " option httpchk\n http-check connect\n"),
    ("send-proxy", " option httpchk\n http-check connect default\n"),
    ("", " option httpchk\n http-check connect send-proxy\n"),
    ("send-proxy-v2", " option httpchk\n http-check connect send-proxy\n"),
    ("check-send-proxy", " option httpchk\n http-check connect\n"),
    ("send-proxy", " option tcp-check\n tcp-check send foo\n"),
    ("send-proxy", " option tcp-check\n tcp-check expect string there\n"),
    ("", " option tcp-check\n tcp-check connect send-proxy\n tcp-check send foo\n"),
    ("send-proxy", " option smtpchk\n"),
)


class Server:
    """Reads what its first connection brings until the check ends it: at once, or when it learns that there is no answer."""

    def __init__(self):
        self.sock = socket.create_server(("127.0.0.1", 0))
        self.port = self.sock.getsockname()[1]
        self.conn = self.got = None
        self.begun = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.got:
            s, peer = self.sock.accept()
            s.settimeout(WAIT)
            self.conn, got = s, b""
            try:
                while part := s.recv(4096):
                    got += part
                    self.begun.set()
            except OSError:
                pass
            s.close()
            self.got = got.replace(b"%d %d\r\n" % (peer[1], self.port), b"PORTS\r\n").replace(
                peer[1].to_bytes(2, "big") + self.port.to_bytes(2, "big"), b"PORT")

    def end(self):
        """Says that nothing will come."""
        with contextlib.suppress(OSError):
            self.conn.shutdown(socket.SHUT_WR)


def first_bytes(program, directory, checks=CHECKS, glob=""):
    servers = [Server() for _ in checks]
    # All checks begin at once.
    cfg = glob + " max-spread-checks 1\n"
    cfg += "defaults\n mode tcp\n timeout connect 1m\n timeout client 1m\n timeout server 1m\n timeout check 1m\n"
    for i, (options, lines) in enumerate(checks):
        port = str(servers[i].port)
        cfg += f"backend b{i}\n{lines} server s 127.0.0.1:{port} check inter 1m {options.replace('PORT', port)}\n"
    directory.mkdir()
    subject = Subject(program, directory, cfg)
    try:
        assert all(s.begun.wait(WAIT) for s in servers)
        # A check has sent all that it sends without an answer.
        subject.settle()
        for s in servers:
            s.end()
        for s in servers:
            s.thread.join(WAIT)
    finally:
        subject.stop()
    return {check: s.got for check, s in zip(checks, servers)}


def test_checks_begin_with_the_same_header(tmp_path):
    want, got = oracle.both(lambda program: first_bytes(program, oracle.at(tmp_path, program)))
    assert None not in want.values()
    assert any(got.startswith(b"PROXY TCP4 127.0.0.1 127.0.0.1 PORTS\r\n") for got in want.values())
    assert got == want


def test_checks_without_local(tmp_path):
    """pp2-never-send-local"""
    checks = [(options, lines) for options, lines in CHECKS if "v2" in options and "crc32c" not in options and "PORT" not in options]
    want, got = oracle.both(lambda program: first_bytes(program, oracle.at(tmp_path, program), checks, " pp2-never-send-local\n"))
    assert any(b"\x21\x11\0\x0c" in sent for sent in want.values())
    assert got == want
