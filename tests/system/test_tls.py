"""bind ... ssl from outside: curl, openssl s_client and Python's ssl are the clients. Certificates are made here."""

import contextlib
import os
import socket
import ssl
import subprocess
import threading

import pytest
from certs import Authority
from conftest import WAIT, free_ports, run
from subject import LogServer


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certs"))


HTTP = """
defaults
    mode http
    timeout client 1m
    timeout server 1m
    timeout connect 1m
"""


def context(ca, **kw):
    c = ssl.create_default_context(cafile=str(ca.pem))
    c.check_hostname = False
    for k, v in kw.items():
        setattr(c, k, v)
    return c


def meet(port, c, name=None):
    """A handshake: (CN of the certificate, the socket)."""
    raw = socket.create_connection(("127.0.0.1", port), timeout=WAIT)
    s = c.wrap_socket(raw, server_hostname=name)
    return dict(x[0] for x in s.getpeercert()["subject"])["commonName"], s


def cn(port, c, name=None):
    got, s = meet(port, c, name)
    s.close()
    return got


def refused(port, c, name=None):
    try:
        got, s = meet(port, c, name)
        with s:
            s.sendall(b"GET / HTTP/1.0\r\n\r\n")
            return not s.recv(1)
    except OSError:
        return True
    return False


@pytest.mark.parametrize("workers", [1, 3])
def test_https(daemon, ca, workers):
    """A request and its response by curl, with the certificate verified, and kept connections."""
    pem = ca.make("a.pem", "a.test", ["a.test"])
    (port,) = free_ports(1)
    daemon(f"{HTTP}frontend f\n bind 127.0.0.1:{port} ssl crt {pem}\n"
           " http-request return status 200 content-type text/plain string hello\n", extra=f"nbthread {workers}")
    for version in ("--tlsv1.2 --tls-max 1.2", "--tlsv1.3"):
        done = subprocess.run(["curl", "-sS", *version.split(), "--cacert", ca.pem, "--resolve",
                               f"a.test:{port}:127.0.0.1"] + [f"https://a.test:{port}/"] * 3,
                              capture_output=True, text=True, timeout=WAIT, check=False)
        assert done.stdout == "hello" * 3, done.stderr


def test_body(daemon, ca, origin):
    """A long body through mode tcp comes out as it went in."""
    pem = ca.make("b.pem", "b.test")
    (port,) = free_ports(1)
    with socket.create_server(("127.0.0.1", 0)) as server:
        daemon(f"listen l\n bind 127.0.0.1:{port} ssl crt {pem}\n server s 127.0.0.1:{server.getsockname()[1]}\n")
        _, s = meet(port, context(ca))
        with s:
            s.sendall(b"x" * 70000)
            peer, _ = server.accept()
            with peer:
                got = b""
                while len(got) < 70000:
                    got += peer.recv(65536)
                assert got == b"x" * 70000
                data = bytes(range(256)) * 8192
                peer.sendall(data[:1000000])
                peer.sendall(data[1000000:])
                peer.shutdown(socket.SHUT_WR)
                back = b""
                while True:
                    part = s.recv(65536)
                    if not part:
                        break
                    back += part
                assert back == data


def test_sni(daemon, ca):
    """Exact names before wildcards before the first certificate; strict-sni refuses."""
    a = ca.make("sni_a.pem", "a.test", ["a.test", "*.w.test"])
    b = ca.make("sni_b.pem", "b.test", ["b.test", "x.w.test"])
    p, q = free_ports(2)
    daemon(f"{HTTP}frontend f\n bind 127.0.0.1:{p} ssl crt {a} crt {b}\n bind 127.0.0.1:{q} ssl crt {a} strict-sni\n"
           " http-request return status 200\n", extra="nbthread 2")
    c = context(ca)
    assert [cn(p, c, n) for n in (None, "a.test", "B.test", "x.w.test", "y.w.test", "no")] == \
        ["a.test", "a.test", "b.test", "b.test", "a.test", "a.test"]
    assert cn(q, c, "a.test") == "a.test"
    assert refused(q, c, "b.test")
    assert refused(q, c)


def test_crt_list(daemon, ca, tmp_path):
    """Options of a line count for its names only; versions also not for a client that gets its certificate by default."""
    a = ca.make("list_a.pem", "a.test")
    b = ca.make("list_b.pem", "b.test")
    lst = tmp_path / "list"
    lst.write_text(f"# certificates\n{a} [ssl-max-ver TLSv1.2 alpn http/1.0]\n{b} *.b.test !no.b.test\n")
    (port,) = free_ports(1)
    daemon(f"{HTTP}frontend f\n bind 127.0.0.1:{port} ssl crt-list {lst} alpn http/1.1\n"
           " http-request return status 200\n")
    c = context(ca)
    c.set_alpn_protocols(["http/1.1", "http/1.0"])
    got, s = meet(port, c, "x.b.test")
    with s:
        assert (got, s.version(), s.selected_alpn_protocol()) == ("b.test", "TLSv1.3", "http/1.1")
    for name, version in (("a.test", "TLSv1.2"), ("no.b.test", "TLSv1.3"), ("b.test", "TLSv1.3")):
        got, s = meet(port, c, name)
        with s:
            assert (got, s.version(), s.selected_alpn_protocol()) == ("a.test", version, "http/1.0")


def test_client_certificates(daemon, ca, tmp_path):
    """verify required: with a certificate of the CA, without one, and with a stranger's."""
    pem = ca.make("v.pem", "v.test")
    good, bad = ca.make("good.pem", "client"), Authority(tmp_path / "other").make("bad.pem", "stranger")
    p, q = free_ports(2)
    daemon(f"{HTTP}frontend f\n bind 127.0.0.1:{p} ssl crt {pem} verify required ca-file {ca.pem}\n"
           f" bind 127.0.0.1:{q} ssl crt {pem} verify optional ca-file {ca.pem}\n http-request return status 200\n")
    without, known, stranger = context(ca), context(ca), context(ca)
    known.load_cert_chain(good)
    stranger.load_cert_chain(bad)
    assert not refused(p, known)
    assert refused(p, without)
    assert refused(p, stranger)
    assert not refused(q, known)
    assert not refused(q, without)
    assert refused(q, stranger)


@pytest.mark.skipif(os.getuid() != 0, reason="needs root")
def test_chroot(daemon, ca, tmp_path):
    """Certificates are read before the root directory changes."""
    pem = ca.make("chroot.pem", "c.test")
    (port,) = free_ports(1)
    jail = tmp_path / "jail"
    jail.mkdir()
    # a leak check needs /proc, which the jail does not have
    daemon(f"{HTTP}frontend f\n bind 127.0.0.1:{port} ssl crt {pem}\n http-request return status 200\n",
           extra=f"chroot {jail}", env={"ASAN_OPTIONS": "detect_leaks=0"})
    assert cn(port, context(ca)) == "c.test"


def check(cfg, tmp_path):
    path = tmp_path / "c.cfg"
    path.write_text(cfg)
    return run("-c", "-f", path)


def test_errors(ca, tmp_path):
    """The fault of a certificate is reported with its file, the line of the configuration and the reason."""
    locked = ca.make("locked.pem", "x", passphrase="secret")
    empty = tmp_path / "empty.pem"
    empty.write_text("nothing\n")
    cases = {
        "ssl": "no SSL certificate specified for bind",
        f"ssl crt {tmp_path}/none.pem": "No such file or directory",
        f"ssl crt {locked}": "the private key has a passphrase",
        f"ssl crt {ca.pem}": "No Private Key found",
        f"ssl crt {empty}": "there is no certificate",
    }
    for words, text in cases.items():
        done = check(f"frontend f\n mode http\n timeout client 1s\n bind 127.0.0.1:1 {words}\n", tmp_path)
        assert done.returncode == 1
        assert text in done.stderr, done.stderr
        assert "c.cfg:4" in done.stderr, done.stderr


def test_garbage(daemon, ca):
    """A plain request, garbage and a client that says nothing on a TLS port: each is closed, and others are served."""
    pem = ca.make("g.pem", "g.test")
    (port,) = free_ports(1)
    d = daemon(f"{HTTP}frontend f\n bind 127.0.0.1:{port} ssl crt {pem}\n http-request return status 200\n")
    for data in (b"GET / HTTP/1.1\r\n\r\n", bytes(range(256)), b"\x16\x03\x01\xff\xff", b""):
        with socket.create_connection(("127.0.0.1", port), timeout=WAIT) as s:
            s.sendall(data)
            s.shutdown(socket.SHUT_WR)
            while s.recv(4096):
                pass
    assert cn(port, context(ca)) == "g.test"
    d.until("sessions eq 0")


def test_fetches(daemon, ca):
    """Values in rules and logs of a connection and of the client's certificate."""
    pem, client = ca.make("f.pem", "f.test", ["f.test"]), ca.make("fc.pem", "client")
    log = LogServer()
    p, q, r = free_ports(3)
    words = ["ssl_fc", "ssl_fc_protocol", "ssl_fc_cipher", "ssl_fc_sni", "ssl_fc_alpn", "ssl_fc_has_sni",
             "ssl_fc_has_crt", "ssl_fc_use_keysize", "ssl_c_used", "ssl_c_verify", "ssl_c_s_dn", "ssl_c_s_dn(CN)",
             "ssl_c_i_dn(CN)", "ssl_c_serial,hex", "ssl_c_version", "ssl_f_s_dn", "ssl_fc_is_resumed"]
    fmt = "|".join(f"%[{w}]" for w in words)
    d = daemon(f"{HTTP}frontend f\n bind 127.0.0.1:{p}\n bind 127.0.0.1:{q} ssl crt {pem} alpn http/1.1\n"
               f" bind 127.0.0.1:{r} ssl crt {pem} verify optional ca-file {ca.pem}\n"
               f" log 127.0.0.1:{log.port} local0\n option httpslog\n http-request redirect scheme https if !{{ ssl_fc }}\n"
               f" http-request return status 200 content-type text/plain lf-string \"{fmt}\"\n")
    d.base[-1] = "the log socket comes with the first line"

    def ask(port, c=None, name=None):
        s = meet(port, c, name)[1] if c else socket.create_connection(("127.0.0.1", port), timeout=WAIT)
        with s:
            s.sendall(b"GET / HTTP/1.0\r\nHost: h\r\n\r\n")
            return b"".join(iter(lambda: s.recv(4096), b"")).decode()

    assert "302" in ask(p) and "Location: https://h/" in ask(p)
    c = context(ca)
    c.set_alpn_protocols(["http/1.1"])
    got = ask(q, c, "f.test").split("\r\n\r\n")[1].split("|")
    assert got == ["1", "TLSv1.3", "TLS_AES_256_GCM_SHA384", "f.test", "http/1.1", "1", "0", "256", "0", "0", "", "",
                   "", "", "", "/CN=f.test", "0"]
    c.maximum_version = ssl.TLSVersion.TLSv1_2
    c.load_cert_chain(client)
    got = ask(r, c).split("\r\n\r\n")[1].split("|")
    assert got == ["1", "TLSv1.2", "ECDHE-ECDSA-AES256-GCM-SHA384", "", "", "0", "1", "256", "1", "0", "/CN=client",
                   "client", "test CA", f"{1000 + ca.serial:04X}", "1", "/CN=f.test", "0"]
    ends = [line.split('"')[-1] for line in log.wait(4)]
    assert ends[-2:] == [" 0/0000000000000000/0/0/0 f.test/TLSv1.3/TLS_AES_256_GCM_SHA384",
                         " 0/0000000000000000/0/0/0 -/TLSv1.2/ECDHE-ECDSA-AES256-GCM-SHA384"]
    log.close()


class Https:
    """An origin that speaks TLS: it answers each request with the name that was asked for and whether the session was
    resumed, and keeps the connection."""

    def __init__(self, pem, **kw):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(pem)
        self.context.sni_callback = self._note
        for k, v in kw.items():
            setattr(self.context, k, v)
        self.names = {}
        self.accepted = 0
        self.open = []
        self.sock = socket.create_server(("127.0.0.1", 0))
        self.port = self.sock.getsockname()[1]
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _note(self, s, name, _):
        self.names[s] = name

    def _run(self):
        while True:
            try:
                raw, _ = self.sock.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(raw,), daemon=True).start()

    def _serve(self, raw):
        with contextlib.suppress(OSError), self.context.wrap_socket(raw, server_side=True) as s:
            self.accepted += 1
            self.open.append(s)
            buf = b""
            while True:
                while b"\r\n\r\n" not in buf:
                    got = s.recv(4096)
                    if not got:
                        return
                    buf += got
                buf = buf.partition(b"\r\n\r\n")[2]
                body = f"{self.names.get(s)} {s.session_reused} {self.accepted}".encode()
                s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))

    def close(self):
        # The thread may be about to accept: from the next server, if that has got the number of this socket.
        self.sock.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.sock.close()
        for s in self.open:
            with contextlib.suppress(OSError):
                s.shutdown(socket.SHUT_RDWR)


def fetch(port, host="h"):
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT) as s:
        s.sendall(f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        text = b"".join(iter(lambda: s.recv(4096), b"")).decode()
        return int(text.split()[1]), text.partition("\r\n\r\n")[2]


@pytest.mark.parametrize("version", ["TLSv1_2", "TLSv1_3"])
def test_server(daemon, ca, version):
    """Requests over TLS to a server, verified, with a constant name; connections are kept and sessions resumed."""
    https = Https(ca.make("s.pem", "s.test", ["s.test"]), maximum_version=getattr(ssl.TLSVersion, version))
    p, q = free_ports(2)
    daemon(f"{HTTP}listen a\n bind 127.0.0.1:{p}\n http-reuse always\n"
           f" server s 127.0.0.1:{https.port} ssl ca-file {ca.pem} sni str(s.test)\n"
           f"listen b\n bind 127.0.0.1:{q}\n http-reuse never\n"
           f" server s 127.0.0.1:{https.port} ssl ca-file {ca.pem} sni str(s.test)\n", extra="nbthread 1")
    assert fetch(p) == (200, "s.test False 1")
    assert fetch(p) == (200, "s.test False 1")
    assert fetch(q) == (200, "s.test False 2")
    assert fetch(q) == (200, "s.test True 3")
    https.close()


@pytest.mark.parametrize("sni", ["var(sess.h)", "req.hdr(host)"])
def test_server_names(daemon, ca, sni):
    """The name may depend on the session or on the request: then connections are not shared between names."""
    https = Https(ca.make("n.pem", "n.test", ["a.test", "b.test"]))
    (p,) = free_ports(1)
    daemon(f"{HTTP}listen a\n bind 127.0.0.1:{p}\n http-reuse always\n http-request set-var(sess.h) hdr(host)\n"
           f" server s 127.0.0.1:{https.port} ssl ca-file {ca.pem} sni {sni}\n", extra="nbthread 1")
    assert fetch(p, "a.test")[1].startswith("a.test ")
    assert fetch(p, "b.test")[1].startswith("b.test ")
    assert fetch(p, "c.test")[0] == 503
    with socket.create_connection(("127.0.0.1", p), timeout=WAIT) as s:
        for name in ("a.test", "a.test", "b.test", "a.test"):
            s.sendall(f"GET / HTTP/1.1\r\nHost: {name}\r\n\r\n".encode())
            assert s.recv(4096).decode().partition("\r\n\r\n")[2].startswith(f"{name} ")
    https.close()


def test_server_verification(daemon, ca, tmp_path):
    """A stranger's certificate, a wrong name and an expired one are not accepted; verify none accepts them. The name of
    sni comes before verifyhost."""
    other = Authority(tmp_path / "other").make("x.pem", "x.test", ["x.test"])
    stranger, expired = Https(other), Https(ca.make("e.pem", "e.test", ["e.test"], days=-1))
    good = Https(ca.make("g2.pem", "g.test", ["g.test"]))
    ports = free_ports(7)
    lines = [f"127.0.0.1:{stranger.port} ssl ca-file {ca.pem}", f"127.0.0.1:{stranger.port} ssl verify none",
             f"127.0.0.1:{expired.port} ssl ca-file {ca.pem}",
             f"127.0.0.1:{good.port} ssl ca-file {ca.pem} verifyhost other.test",
             f"127.0.0.1:{good.port} ssl ca-file {ca.pem} verifyhost g.test",
             f"127.0.0.1:{good.port} ssl ca-file {ca.pem}",
             f"127.0.0.1:{good.port} ssl ca-file {ca.pem} verifyhost g.test sni str(other.test)"]
    daemon(HTTP + "".join(f"listen l{i}\n bind 127.0.0.1:{p}\n retries 0\n server s {line}\n"
                          for i, (p, line) in enumerate(zip(ports, lines))))
    assert [fetch(p)[0] for p in ports] == [503, 200, 503, 503, 200, 200, 503]
    for s in (stranger, expired, good):
        s.close()


def test_server_needs_ca(ca, tmp_path):
    """Verification is the default: it has to be given a CA, or switched off."""
    cfg = "listen l\n mode http\n timeout client 1s\n timeout server 1s\n timeout connect 1s\n bind 127.0.0.1:1\n" \
          " server s 127.0.0.1:2 ssl {}\n"
    done = check(cfg.format(""), tmp_path)
    assert done.returncode == 1
    assert "verify is enabled by default but no CA file specified" in done.stderr
    assert "c.cfg:7" in done.stderr
    for words in ("verify none", f"ca-file {ca.pem}", "ca-file @system-ca"):
        assert check(cfg.format(words), tmp_path).returncode == 0
    assert check("global\n ssl-server-verify none\n" + cfg.format(""), tmp_path).returncode == 0


def test_client_certificate_to_server(daemon, ca):
    """The server asks for a certificate."""
    https = Https(ca.make("m.pem", "m.test"), verify_mode=ssl.CERT_REQUIRED)
    https.context.load_verify_locations(ca.pem)
    mine = ca.make("mine.pem", "me")
    p, q = free_ports(2)
    daemon(f"{HTTP}listen a\n bind 127.0.0.1:{p}\n server s 127.0.0.1:{https.port} ssl verify none crt {mine}\n"
           f"listen b\n bind 127.0.0.1:{q}\n retries 0\n server s 127.0.0.1:{https.port} ssl verify none\n")
    assert fetch(p)[0] == 200
    assert fetch(q)[0] in (502, 503)
    https.close()


def test_checks(daemon, ca):
    """Health checks by HTTP use TLS as sessions do, unless they are told otherwise."""
    https = Https(ca.make("h.pem", "h.test"))
    (p,) = free_ports(1)
    # A handshake has the time of `inter`.
    d = daemon(f"{HTTP}listen a\n bind 127.0.0.1:{p}\n option httpchk GET /\n timeout check 1m\n"
               " default-server inter 1m check\n"
               f" server tls 127.0.0.1:{https.port} ssl verify none\n"
               f" server plain 127.0.0.1:{https.port} ssl verify none no-check-ssl fall 1\n"
               f" server asked 127.0.0.1:{https.port} verify none check-ssl check-sni h.test ca-file {ca.pem}\n",
               extra="max-spread-checks 10")

    def states():
        rows = [r.split(",") for r in d.admin("show stat a 4 -1").strip().split("\n")[1:]]
        return {r[1]: (r[17], r[36]) for r in rows}

    d.until("server a/plain state eq DOWN", "counter a/asked/check_status eq L7OK", "counter a/tls/check_status eq L7OK")
    assert [states()[n][0] for n in ("tls", "plain", "asked")] == ["UP", "DOWN", "UP"]
    https.close()


def test_change_at_run_time(daemon, ca):
    """A certificate is replaced in a transaction, under handshakes on two workers of which none fails."""
    old, new = ca.make("old.pem", "old.test"), ca.make("new.pem", "new.test", ["new.test"])
    (p,) = free_ports(1)
    d = daemon(f"{HTTP}frontend f\n bind 127.0.0.1:{p} ssl crt {old}\n http-request return status 200\n",
               extra="nbthread 2")
    c = context(ca)
    assert f"\n{old}\n" in "\n" + d.admin("show ssl cert")
    assert "Subject: /CN=old.test\n" in d.admin(f"show ssl cert {old}")
    assert "Status: Used" in d.admin(f"show ssl cert {old}")
    failed, names, ended = [], [], threading.Event()

    def clients():
        while not ended.is_set():
            try:
                names.append(cn(p, c))
            except OSError as e:
                failed.append(e)

    threads = [threading.Thread(target=clients) for _ in range(2)]
    for t in threads:
        t.start()
    assert d.admin(f"set ssl cert {old} <<\n{new.read_text()}\n").startswith("Transaction created for certificate")
    assert f"*{old}\n" in d.admin("show ssl cert")
    assert "Subject: /CN=new.test\n" in d.admin(f"show ssl cert *{old}")
    assert cn(p, c) == "old.test"
    assert d.admin(f"commit ssl cert {old}") == f"Committing {old}.\nSuccess!\n\n"
    assert [cn(p, c) for _ in range(10)] == ["new.test"] * 10
    ended.set()
    for t in threads:
        t.join()
    assert not failed and set(names) <= {"old.test", "new.test"}
    assert cn(p, c, "new.test") == "new.test"
    assert "No ongoing transaction!" in d.admin(f"commit ssl cert {old}")


def test_bad_changes(daemon, ca):
    """An unusable certificate is refused, and the old certificate stays."""
    one, key = ca.make("one.pem", "one.test"), ca.make("two.pem", "two.test")
    (p,) = free_ports(1)
    d = daemon(f"{HTTP}frontend f\n bind 127.0.0.1:{p} ssl crt {one}\n http-request return status 200\n")
    assert "Can't load the payload" in d.admin(f"set ssl cert {one} <<\nnonsense\n\n")
    assert "not referenced" in d.admin("set ssl cert /no/such <<\nx\n\n")
    wrong = key.read_text().partition("-----BEGIN PRIVATE")
    d.admin(f"set ssl cert {one}.key <<\n{wrong[1]}{wrong[2]}\n")
    assert "inconsistencies between private key and certificate" in d.admin(f"commit ssl cert {one}")
    assert d.admin(f"abort ssl cert {one}") == f"Transaction aborted for certificate '{one}'!\n\n"
    assert cn(p, context(ca)) == "one.test"
    assert d.admin("new ssl cert n") == "New empty certificate store 'n'!\n\n"
    assert "Status: Empty" in d.admin("show ssl cert n")
    assert "already exists" in d.admin("new ssl cert n")
    assert "in use" in d.admin(f"del ssl cert {one}")
    assert d.admin("del ssl cert n") == "Certificate 'n' deleted!\n\n"
    assert "doesn't exist" in d.admin("del ssl cert n")


def test_name_of_the_request_is_kept(daemon, ca):
    """A request that goes on to another server, since the first one cannot be reached, asks it for the same name."""
    https = Https(ca.make("rd.pem", "r.test", ["r.test"]))
    p, dead = free_ports(2)
    daemon(f"{HTTP}listen a\n bind 127.0.0.1:{p}\n option redispatch 1\n retries 2\n balance first\n"
           f" server one 127.0.0.1:{dead} ssl ca-file {ca.pem} sni req.hdr(host)\n"
           f" server two 127.0.0.1:{https.port} ssl ca-file {ca.pem} sni req.hdr(host)\n", extra="nbthread 1")
    assert fetch(p, "r.test")[1].startswith("r.test ")
    assert fetch(p, "wrong.test")[0] == 503
    https.close()
