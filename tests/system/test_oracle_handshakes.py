"""Handshakes of TLS in show stat: ssl_sess, ssl_reused_sess and ssl_failed_handshake of frontends, servers and backends."""

import contextlib
import socket
import ssl
import threading

import oracle
from certs import Authority
from conftest import WAIT, free_ports
from oracle import Subject

COLUMNS = ("ssl_sess", "ssl_reused_sess", "ssl_failed_handshake")
PATHS = ("ok", "ok", "ca", "close", "refused")


def closes(listener):
    """A server that ends each connection after the first bytes."""
    with contextlib.suppress(OSError):
        while True:
            with listener.accept()[0] as c:
                c.recv(4096)


def get(port, path):
    with socket.create_connection(("127.0.0.1", port), WAIT) as c:
        c.sendall(f"GET /{path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
        while c.recv(4096):
            pass


def handshake(port, session=None):
    """A client of TLS 1.2: its session."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    if session:
        context, session = session
    with socket.create_connection(("127.0.0.1", port), WAIT) as raw, context.wrap_socket(raw, session=session) as c:
        c.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        while c.recv(4096):
            pass
        return context, c.session


def script(program, directory, pem, ca):
    directory.mkdir()
    server = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=closes, args=(server,), daemon=True).start()
    front, tls, refused = free_ports(3)
    cfg = (f"defaults\n mode http\n timeout connect 1m\n timeout client 1m\n timeout server 1m\n retries 0\n"
           f"listen t\n bind 127.0.0.1:{tls} ssl crt {pem}\n http-request return status 200\n"
           f"listen f\n bind 127.0.0.1:{front}\n" + "".join(f" use-server {p} if {{ path /{p} }}\n" for p in sorted(set(PATHS))) +
           f" default-server ssl no-ssl-reuse\n"
           f" server ok 127.0.0.1:{tls} verify none\n server ca 127.0.0.1:{tls} verify required ca-file {ca}\n"
           f" server close 127.0.0.1:{server.getsockname()[1]} verify none\n server refused 127.0.0.1:{refused} verify none\n")
    subject = Subject(program, directory, cfg)

    def counts():
        return {row: [fields[c] for c in COLUMNS] for row, fields in subject.stat()[1].items()}
    try:
        for path in PATHS:
            get(front, path)
        handshake(tls, handshake(tls))
        get(tls, "plain")
        before = counts()
        subject.admin("clear counters")
        return before, counts()
    finally:
        subject.stop()
        server.close()


def test_handshakes(tmp_path):
    authority, other = Authority(tmp_path / "one"), Authority(tmp_path / "other")
    pem, ca = authority.make("a.pem", "a"), other.pem
    found, _ = oracle.same(lambda program: script(program, oracle.at(tmp_path, program), pem, ca))
    assert found["t", "FRONTEND"][1:] == ["1", "2"]
