"""Clients over TLS, through HAProxy and tacit, to servers that want PROXY headers: what the headers say of TLS is compared."""

import socket
import ssl
import threading

import oracle
import pytest
from certs import Authority
from conftest import TACIT, WAIT, free_ports
from oracle import Subject

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
GREETING = b"said by the client"

# Options of the server.
OPTIONS = (
    "send-proxy-v2", "send-proxy-v2-ssl", "send-proxy-v2-ssl-cn",
    "proxy-v2-options ssl", "proxy-v2-options cert-cn", "proxy-v2-options ssl-cipher",
    "proxy-v2-options cert-sig", "proxy-v2-options cert-key", "proxy-v2-options authority",
    "send-proxy-v2 proxy-v2-options ssl", "send-proxy-v2 proxy-v2-options cert-cn",
    "send-proxy-v2 proxy-v2-options ssl-cipher", "send-proxy-v2 proxy-v2-options cert-sig,cert-key",
    "send-proxy-v2 proxy-v2-options authority", "send-proxy-v2 proxy-v2-options authority,ssl",
    "send-proxy-v2-ssl proxy-v2-options cert-key,cert-sig,ssl-cipher",
    "send-proxy-v2 proxy-v2-options cert-key,unique-id,cert-sig,crc32c,ssl-cipher,authority,cert-cn,ssl",
    "send-proxy-v2-ssl-cn proxy-v2-options crc32c", "send-proxy-v2-ssl proxy-v2-options cert-cn",
    "send-proxy send-proxy-v2-ssl", "send-proxy-v2-ssl send-proxy", "send-proxy proxy-v2-options ssl",
    "send-proxy-v2-ssl no-send-proxy-v2-ssl", "send-proxy-v2-ssl no-send-proxy-v2",
    "send-proxy-v2-ssl-cn no-send-proxy-v2-ssl-cn", "send-proxy-v2-ssl-cn no-send-proxy-v2-ssl",
    "send-proxy-v2-ssl-cn no-send-proxy-v2", "send-proxy-v2-ssl no-send-proxy-v2-ssl-cn",
    "send-proxy-v2 no-send-proxy-v2-ssl", "send-proxy-v2 no-send-proxy-v2-ssl-cn",
    "send-proxy-v2 proxy-v2-options ssl,cert-cn no-send-proxy-v2-ssl",
    "send-proxy-v2 proxy-v2-options ssl,cert-cn,ssl-cipher no-send-proxy-v2-ssl-cn",
    "send-proxy no-send-proxy-v2-ssl", "send-proxy send-proxy-v2-ssl no-send-proxy-v2-ssl",
)

ALL = OPTIONS[16]
# Certificates, or no TLS; a former proxy.
KINDS = "ec", "rsa", "ec384", "ed25519", "plain", "former", "former ec"


class Server:
    """A server that keeps the bytes of each connection until the client's bytes are there."""

    def __init__(self):
        self.sock = socket.create_server(("127.0.0.1", 0))
        self.port = self.sock.getsockname()[1]
        self.got = []
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            s, _ = self.sock.accept()
            s.settimeout(WAIT)
            got = b""
            try:
                while GREETING not in got and (part := s.recv(16384)):
                    got += part
            except OSError:
                got += b" (reset)"
            # The client sees the close and may look at the list at once.
            self.got.append(got)
            s.close()


def fields(b):
    out, at = [], 0
    while at < len(b):
        n = int.from_bytes(b[at + 1:at + 3], "big")
        value = b[at + 3:at + 3 + n]
        assert len(value) == n, b
        out.append((b[at], (value[:5].hex(), fields(value[5:])) if b[at] == 0x20 else value))
        at += 3 + n
    return out


def crc32c(b):
    crc = 0xffffffff
    for byte in b:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def plain(got):
    """Without the addresses and ports, and with a checksum that was right as zeros."""
    if not got.startswith(SIGNATURE):
        return ("version 1", got.split(b"\r\n", 1)[1]) if got.startswith(b"PROXY") else got
    n = int.from_bytes(got[14:16], "big")
    header, rest = got[:16 + n], got[16 + n:]
    at = 16 + {0: 0, 0x11: 12, 0x21: 36}[header[13]]
    out = []
    for kind, value in fields(header[at:]):
        if kind == 3:
            zeroed = header.replace(b"\x03\0\x04" + value, b"\x03\0\x04\0\0\0\0", 1)
            assert crc32c(zeroed) == int.from_bytes(value, "big")
            value = b"right"
        out.append((kind, value))
    return header[12:14].hex(), out, rest


def client_context(cert=None, version=None):
    c = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    c.check_hostname = False
    c.verify_mode = ssl.CERT_NONE
    if version:
        c.minimum_version = c.maximum_version = version
    if cert:
        c.load_cert_chain(cert)
    return c


def tlv(kind, value):
    return bytes([kind]) + len(value).to_bytes(2, "big") + value


# The header of a proxy in front of this one.
PREVIOUS = (tlv(1, b"former") + tlv(2, b"former.test") + tlv(5, b"former id") +
          tlv(0x20, b"\1" + bytes(4) + tlv(0x21, b"TLSv1.1") + tlv(0x22, b"former cn")))
PREVIOUS = SIGNATURE + b"\x21\x11" + (12 + len(PREVIOUS)).to_bytes(2, "big") + bytes([1, 2, 3, 4] * 3) + PREVIOUS


def talk(port, tls=None, name=None, session=None, first=b""):
    """One client. The session of TLS, to be resumed."""
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT) as s:
        if first:
            s.sendall(first)
        if not tls:
            s.sendall(GREETING)
            assert s.recv(100) == b""
            return None
        with tls.wrap_socket(s, server_hostname=name, session=session) as t:
            t.sendall(GREETING)
            assert t.recv(100) == b""
            return t.session


TLS12, TLS13 = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3


@pytest.fixture(scope="module")
def certs(tmp_path_factory):
    ca = Authority(tmp_path_factory.mktemp("certs"))
    other = Authority(ca.dir / "other", "another CA")
    return {"ca": ca.pem, "ec": ca.make("ec.pem", "ec.test"), "rsa": ca.make("rsa.pem", "rsa.test", kind="rsa"),
            "ed25519": ca.make("ed.pem", "ed.test", kind="ed25519"), "ec384": ca.make("e3.pem", "e3.test", kind="ec384"),
            "client": ca.make("client.pem", "a client"), "long": ca.make("long.pem", "x" * 64),
            "two": ca.make("two.pem", "first/CN=second/O=tacit"), "none": ca.make("none.pem", "gone", kind="rsa"),
            "unknown": other.make("unknown.pem", "somebody")}


def clients(port, certs):
    """All kinds of clients of one frontend, in order."""
    talk(port, client_context())
    talk(port, client_context(version=TLS12), "some.name.test")
    both = client_context()
    both.set_alpn_protocols(["http/1.1", "h2"])
    talk(port, both, "alpn.test")
    for version in TLS12, TLS13:
        c = client_context(certs["client"], version)
        talk(port, c, "resumed.test", talk(port, c, "resumed.test"))
    for name in "long", "two", "unknown":
        talk(port, client_context(certs[name]), name + ".test")


def bind_tls(certs, kind):
    return (f" ssl crt {certs[kind]} ca-file {certs['ca']} verify optional crt-ignore-err all ca-ignore-err all"
            " alpn h2,http/1.1")


def headers(program, directory, certs):
    """{(frontend, options): what its server got}"""
    cfg = "defaults\n mode tcp\n timeout connect 1m\n timeout client 1m\n timeout server 1m\n"
    keys = [(kind, o) for kind in KINDS for o in OPTIONS if kind in ("ec", "plain") or o == ALL]
    servers = {key: Server() for key in keys}
    ports = dict(zip(keys, free_ports(len(keys))))
    for i, (kind, options) in enumerate(keys):
        how = " accept-proxy" if "former" in kind else ""
        if kind in certs or kind == "former ec":
            how += bind_tls(certs, kind.split()[-1])
        cfg += (f"listen l{i}\n bind 127.0.0.1:{ports[kind, options]}{how}\n unique-id-format id-{i}-%ci\n"
                f" server s 127.0.0.1:{servers[kind, options].port} {options}\n")
    directory.mkdir()
    subject = Subject(program, directory, cfg)
    try:
        for (kind, options), port in ports.items():
            if kind in certs and "-ssl" in options and "no-" not in options:
                clients(port, certs)
            elif kind in certs:
                talk(port, client_context(certs["client"]), "some.name.test")
            elif kind == "former ec":
                talk(port, client_context(certs["client"]), first=PREVIOUS)
                talk(port, client_context(certs["client"]), "some.name.test", first=PREVIOUS)
            else:
                talk(port, first=PREVIOUS if kind == "former" else b"")
        return {key: [plain(got) for got in s.got] for key, s in servers.items()}
    finally:
        subject.stop()


def test_headers_have_the_same_of_tls(certs, tmp_path):
    want, got = oracle.both(lambda program: headers(program, oracle.at(tmp_path, program), certs))
    assert oracle.differences(want, got) == []


class Web:
    """Answers requests. What the first recv() of each connection brings, and how many requests it has."""

    def __init__(self):
        self.sock = socket.create_server(("127.0.0.1", 0))
        self.port = self.sock.getsockname()[1]
        self.first, self.requests = [], []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            s, _ = self.sock.accept()
            threading.Thread(target=self.serve, args=(s,), daemon=True).start()

    def serve(self, s):
        at = len(self.first)
        self.first.append(b"")
        self.requests.append(0)
        got = b""
        while part := s.recv(16384):
            if not self.first[at]:
                self.first[at] = part
                part = part[16 + int.from_bytes(part[14:16], "big"):]
            got += part
            while b"\r\n\r\n" in got:
                got = got.split(b"\r\n\r\n", 1)[1]
                self.requests[at] += 1
                s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


def test_a_persistent_connection_belongs_to_a_client_of_tls(certs, tmp_path):
    """The header leaves in one segment with the request, and serves requests of its client only."""
    web, port = Web(), free_ports(1)[0]
    tmp_path.joinpath("t").mkdir()
    subject = Subject(TACIT, tmp_path / "t", f"""
defaults
 mode http
 http-reuse always
 timeout connect 1m
 timeout client 1m
 timeout server 1m
listen web
 bind 127.0.0.1:{port}{bind_tls(certs, "ec")}
 server s 127.0.0.1:{web.port} send-proxy-v2-ssl-cn proxy-v2-options authority
""")
    try:
        for name, cert in (("a.test", "client"), ("b.test", "client"), ("b.test", "two")):
            with socket.create_connection(("127.0.0.1", port), timeout=WAIT) as s:
                with client_context(certs[cert]).wrap_socket(s, server_hostname=name) as t:
                    for _ in range(2):
                        t.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                        got = b""
                        while not got.endswith(b"\r\n\r\nok"):
                            part = t.recv(4096)
                            assert part
                            got += part
    finally:
        subject.stop()
    assert web.requests == [2, 2, 2]
    heads = [plain(first) for first in web.first]
    assert [dict(h[1])[2] for h in heads] == [b"a.test", b"b.test", b"b.test"]
    assert [h[1][-1][1][1][1] for h in heads] == [(0x22, b"a client"), (0x22, b"a client"), (0x22, b"first")]
    assert all(h[2].startswith(b"GET / ") and h[2].endswith(b"\r\n\r\n") for h in heads)
