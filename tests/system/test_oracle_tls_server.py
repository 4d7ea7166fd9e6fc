"""TLS to servers, through HAProxy and tacit: which certificates are trusted, names, answers to clients and log lines."""

import contextlib
import re
import socket
import ssl
import threading

import oracle
import pytest
from certs import Authority
from conftest import WAIT, admin
from subject import LogServer
from tls_oracle import body, counters, in_both


class Server:
    """Answers each request with what was agreed: SNI, version, cipher, ALPN, the client's CN."""

    def __init__(self, pem, ca=None, **kw):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(pem)
        self.context.sni_callback = lambda s, name, _: setattr(s, "asked", name)
        if ca:
            self.context.load_verify_locations(ca.pem)
            self.context.verify_mode = ssl.CERT_REQUIRED
        for name, value in kw.items():
            if name == "alpn":
                self.context.set_alpn_protocols(value)
            elif name == "ciphers":
                self.context.set_ciphers(value)
            else:
                setattr(self.context, name, value)
        self.sock = socket.create_server(("127.0.0.1", 0))
        self.port = self.sock.getsockname()[1]
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=(self.sock.accept()[0],), daemon=True).start()

    def _serve(self, raw):
        raw.settimeout(WAIT)
        with contextlib.suppress(OSError), self.context.wrap_socket(raw, server_side=True) as s:
            request = b""
            while b"\r\n\r\n" not in request:
                got = s.recv(4096)
                if not got:
                    return
                request += got
            cert = s.getpeercert() or {}
            mine = next((x[0][1] for x in cert.get("subject", ()) if x[0][0] == "commonName"), None)
            reported = f"{getattr(s, 'asked', None)} {s.version()} {s.cipher()[0]} {s.selected_alpn_protocol()} {mine}".encode()
            s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (len(reported), reported))
            with contextlib.suppress(OSError):
                s.unwrap()

    def close(self):
        self.sock.close()


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    base = tmp_path_factory.mktemp("certs")
    ca, other = Authority(base / "ca"), Authority(base / "other", "other CA")
    revoked = ca.make("revoked.pem", "good.test", ["good.test"])
    pems = {"good": ca.make("good.pem", "good.test", ["good.test", "*.w.test"]), "by CN": ca.make("cn.pem", "good.test"),
            "expired": ca.make("expired.pem", "good.test", ["good.test"], days=-1), "revoked": revoked,
            "stranger": other.make("stranger.pem", "good.test", ["good.test"]),
            "address": ca.make("ip.pem", "x", ["127.0.0.1"]), "rsa": ca.make("rsa.pem", "good.test", kind="rsa")}
    servers = {name: Server(pem) for name, pem in pems.items()}
    servers["1.2"] = Server(pems["rsa"], maximum_version=ssl.TLSVersion.TLSv1_2)
    servers["1.3"] = Server(pems["good"], minimum_version=ssl.TLSVersion.TLSv1_3)
    servers["alpn"] = Server(pems["good"], alpn=["http/1.0", "http/1.1"])
    servers["aes128"] = Server(pems["good"], ciphers="ECDHE-ECDSA-AES128-GCM-SHA256", maximum_version=ssl.TLSVersion.TLSv1_2)
    servers["asks"] = Server(pems["good"], ca, maximum_version=ssl.TLSVersion.TLSv1_2)
    yield {"ca": ca, "ca_file": ca.pem, "other": other.pem, "crl": ca.crl(revoked), "mine": ca.make("mine.pem", "me"),
           "foreign": other.make("foreign.pem", "foreign"), "servers": servers}
    for s in servers.values():
        s.close()


LINES = [
    "ssl verify none", "ssl ca-file {ca_file}", "ssl verify required ca-file {other}", "ssl ca-file {ca_file} crl-file {crl}",
    "ssl ca-file {ca_file} verifyhost good.test", "ssl ca-file {ca_file} verifyhost GOOD.test",
    "ssl ca-file {ca_file} verifyhost wrong.test", "ssl ca-file {ca_file} verifyhost a.w.test",
    "ssl ca-file {ca_file} verifyhost w.test", "ssl ca-file {ca_file} verifyhost b.a.w.test",
    "ssl ca-file {ca_file} sni str(good.test)",
    "ssl ca-file {ca_file} sni str(wrong.test)", "ssl ca-file {ca_file} sni req.hdr(host)",
    "ssl ca-file {ca_file} sni req.hdr(host) verifyhost wrong.test", "ssl ca-file {ca_file} sni req.hdr(x) verifyhost good.test",
    "ssl verify none sni str(wrong.test) verifyhost wrong.test", "ssl verify none ssl-max-ver TLSv1.2",
    "ssl verify none ssl-min-ver TLSv1.3", "ssl verify none force-tlsv12", "ssl verify none no-tlsv13",
    "ssl verify none ciphers ECDHE-ECDSA-AES128-GCM-SHA256 ssl-max-ver TLSv1.2",
    "ssl verify none ciphersuites TLS_CHACHA20_POLY1305_SHA256", "ssl verify none alpn http/1.1",
    "ssl verify none alpn http/1.0,http/1.1", "ssl verify none crt {mine}", "ssl verify none crt {foreign}",
    "ssl verify none no-ssl-reuse", "ssl verify none no-tls-tickets",
]


def fetch(port):
    with socket.create_connection(("127.0.0.1", port), timeout=60) as s:
        s.sendall(b"GET / HTTP/1.1\r\nHost: good.test\r\nConnection: close\r\n\r\n")
        text = b"".join(iter(lambda: s.recv(4096), b"")).decode()
        status = text.split()[1]
        return status, body(text) if status == "200" else ""


def without_times(line):
    """The line without client, date, the times that are known and the number of bytes."""
    return re.sub(r"(?<=[ /])\d+(?=[/ ].* - - )", "T", re.sub(r" \d+ (?=- - )", " N ", line.partition("] ")[2]))


@pytest.mark.parametrize("line", LINES)
def test_servers(world, tmp_path, line):
    """Answers, log lines and counters of the backend, for each kind of server."""
    log, servers = LogServer(), world["servers"]
    text = "".join(f"listen l{i}\n bind 127.0.0.1:{{p[{i}]}}\n log 127.0.0.1:{log.port} local0\n option httplog\n retries 0\n"
                   f" server s 127.0.0.1:{s.port} {line.format(**world)}\n" for i, s in enumerate(servers.values()))

    def probe(p):
        log.drain()
        log.lines.clear()
        reported = []
        for port in p:
            reported.append([fetch(port), fetch(port)])
        p.barrier()
        lines = [without_times(line) for line in log.drain()]
        log.lines.clear()
        return reported, lines, counters(p.sock, "econ", "eresp", "wretr", "wredis", "hrsp_2xx", "hrsp_5xx", "stot", "lbtot")

    ours, theirs = in_both(tmp_path, text, probe, len(servers))
    log.close()
    kinds = list(servers)
    assert [(k, a, b) for k, a, b in zip(kinds, ours[0], theirs[0], strict=True) if a != b] == []
    assert oracle.differences(theirs[1], ours[1]) == []
    assert oracle.differences(theirs[2], ours[2]) == []


CERTIFICATES = [("x", ["*.lan"]), ("x", ["*.a.test"]), ("x", ["f*o.a.test"]), ("x", ["a.*.test"]), ("x", ["*"]), ("host.lan", []),
                ("*.a.test", ["other.test"]), ("foo.a.test", ["other.test"]), ("x", ["xn--*.a.test", "*.test"]), ("x", ["f.a.test", "lan"])]
NAMES = ["host.lan", "HOST.LAN", "lan", "foo.a.test", "f.a.test", "a.test", "bar.foo.a.test", "foo.a.test.", "xn--foo.a.test"]


def test_names_of_certificates(world, tmp_path):
    """The names of a certificate, and the wildcards, that match the requested name: by verifyhost and by sni."""
    ca = world["ca"]
    servers = [Server(ca.make(f"name{i}.pem", cn, names)) for i, (cn, names) in enumerate(CERTIFICATES)]
    text = "frontend f\n bind 127.0.0.1:{p[0]}\n use_backend %[req.hdr(x)]\n"
    for i, s in enumerate(servers):
        text += f"backend {i}-sni\n retries 0\n server s 127.0.0.1:{s.port} ssl ca-file {ca.pem} sni req.hdr(host)\n"
        for j, name in enumerate(NAMES):
            text += f"backend {i}-{j}\n retries 0\n server s 127.0.0.1:{s.port} ssl ca-file {ca.pem} verifyhost {name}\n"

    def status(port, backend, host):
        with socket.create_connection(("127.0.0.1", port), timeout=60) as s:
            s.sendall(f"GET / HTTP/1.0\r\nHost: {host}\r\nX: {backend}\r\n\r\n".encode())
            return s.recv(4096).split()[1].decode()

    def probe(p):
        return [(cert, name, status(p[0], f"{i}-{j}", "x"), status(p[0], f"{i}-sni", name))
                for i, cert in enumerate(CERTIFICATES) for j, name in enumerate(NAMES)]

    ours, theirs = in_both(tmp_path, text, probe)
    for s in servers:
        s.close()
    assert oracle.differences(theirs, ours) == []
    assert {status for *_, status in ours} == {"200", "503"}


def test_wrong_name_is_not_tried_again(world, tmp_path):
    """No retry helps where the certificate is not for the name of sni; of verifyhost another server may have another one."""
    good, ca = world["servers"]["good"], world["ca_file"]
    text = "".join(f"listen l{i}\n bind 127.0.0.1:{{p[{i}]}}\n mode {mode}\n retries 2\n option redispatch\n"
                   f" server s 127.0.0.1:{good.port} ssl ca-file {ca} {line}\n server t 127.0.0.1:{good.port} ssl ca-file {ca} {line}\n"
                   for i, (mode, line) in enumerate((mode, line) for mode in ("http", "tcp") for line in
                                                    ("sni str(wrong.test)", "sni str(good.test)", "verifyhost wrong.test")))

    def probe(p):
        reported = []
        for port in p:
            with socket.create_connection(("127.0.0.1", port), timeout=WAIT) as s:
                s.sendall(b"GET / HTTP/1.0\r\n\r\n")
                reported.append(s.recv(4096)[9:12])
        p.barrier()
        head, *rows = admin(p.sock, "show stat").strip().split("\n")
        rows = [dict(zip(head[2:].split(","), r.split(","))) for r in rows]
        return reported, [tuple(r[n] for n in ("pxname", "econ", "wretr", "wredis")) for r in rows if r["svname"] == "BACKEND"]

    ours, theirs = in_both(tmp_path, text, probe, 6)
    assert ours == theirs
    assert ours[1][0] == ("l0", "1", "0", "0") and ours[1][3] == ("l3", "1", "0", "0")


def test_ssl_that_is_switched(world, tmp_path):
    """set server ssl: what it says, the column of show servers state, and what requests get."""
    text = f"""listen a
 bind 127.0.0.1:{{p[0]}}
 retries 0
 http-reuse always
 default-server ssl verify none sni req.hdr(host)
 server s 127.0.0.1:{world["servers"]["good"].port}
listen b
 bind 127.0.0.1:{{p[1]}}
 retries 0
 http-reuse always
 default-server ssl verify none
 server s 127.0.0.1:{{p[3]}} no-ssl
listen c
 bind 127.0.0.1:{{p[2]}}
 server s 127.0.0.1:{{p[3]}}
listen plain
 bind 127.0.0.1:{{p[3]}}
 http-request return status 203
"""
    lines = ["a/s ssl", "a/s ssl x", "c/s ssl on", "c/s ssl off", "c/s ssl", "a/s ssl off", "b/s ssl on", "a/s ssl on", "b/s ssl off",
             "a/nosuch ssl on", "a/s ssl on", "b/s nosuch"]

    def state(p):
        rows = [row.split() for row in admin(p.sock, "show servers state").strip().split("\n")[1:]]
        at = rows[0].index("srv_use_ssl") - 1
        return [(row[1], row[3], row[at]) for row in rows[1:]]

    def probe(p):
        reported = []
        for line in ["", *lines]:
            reported.append((admin(p.sock, f"set server {line}").strip() if line else "", state(p),
                         [fetch(port)[0] for port in p[:3] for _ in range(2)]))
        return reported

    ours, theirs = in_both(tmp_path, text, probe, 4)
    assert ours == theirs
    assert ours[0][2] == ["200", "200", "203", "203", "203", "203"]
    assert ours[lines.index("b/s ssl on") + 1][2][2] == "503"
