"""Other implementations of TLS on either side: GnuTLS, OpenSSL, curl, nginx and HAProxy, with each kind of key and both
versions; and sslscan, which must see of tacit what it sees of HAProxy with the same configuration."""

import contextlib
import re
import shutil
import subprocess

import oracle
import pytest
from certs import Authority
from conftest import WAIT, free_port
from facts import listens
from tls_oracle import DEFAULTS, in_both

KINDS = ["rsa", "rsa3072", "ec", "ec384", "ed25519"]
VERSIONS = ["1.2", "1.3"]
BODY = "".join(f"{i:07}\n" for i in range(20000))
HTTP = DEFAULTS + """frontend f
 bind 127.0.0.1:{port} ssl crt {pem} {more}
 http-request return status 200 content-type text/plain lf-string "%[ssl_fc_protocol] %[ssl_fc_is_resumed] %[ssl_c_used]"
"""


def needs(program):
    return pytest.mark.skipif(not shutil.which(program), reason=f"{program} is not installed")


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certs"))


@pytest.fixture(scope="module")
def pems(ca):
    return {kind: ca.make(f"{kind}.pem", "a.test", ["a.test"], kind) for kind in KINDS}


def run(*args, text=""):
    done = subprocess.run([*map(str, args)], input=text, capture_output=True, text=True, timeout=WAIT, check=False)
    return done.stdout + done.stderr


# --- clients ---------------------------------------------------------------------------------------------
def gnutls(port, ca, version, *more, text="GET / HTTP/1.0\r\n\r\n"):
    return run("gnutls-cli", "--x509cafile", ca.pem, "--sni-hostname", "a.test", "--verify-hostname", "a.test",
               "--priority", f"NORMAL:-VERS-ALL:+VERS-TLS{version}:+SIGN-EDDSA-ED25519", "-p", port, *more, "127.0.0.1",
               text=text)


def openssl(port, ca, version, *more, text="GET / HTTP/1.0\r\n\r\n"):
    return run("openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-CAfile", ca.pem, "-verify_return_error",
               "-verify_hostname", "a.test", "-servername", "a.test", f"-tls{version.replace('.', '_')}", "-ign_eof", *more,
               text=text)


def curl(port, ca, version, *more):
    return run("curl", "-sS", f"--tlsv{version}", "--tls-max", version, "--cacert", ca.pem, "--resolve",
               f"a.test:{port}:127.0.0.1", *more, f"https://a.test:{port}/")


CLIENTS = {"gnutls-cli": gnutls, "openssl": openssl, "curl": curl}


@pytest.mark.parametrize("name", CLIENTS)
def test_clients(daemon, ca, pems, name):
    """Each verifies the certificate of each kind and gets its answer, which says the version."""
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed")
    port = {kind: free_port() for kind in KINDS}
    daemon(DEFAULTS + "".join(HTTP.replace(DEFAULTS, "").replace("frontend f", f"frontend {k}").format(
        port=port[k], pem=pems[k], more="") for k in KINDS))
    for kind in KINDS:
        for version in VERSIONS:
            reported = CLIENTS[name](port[kind], ca, version)
            assert f"TLSv{version} 0 0" in reported, (kind, version, reported)


@needs("gnutls-cli")
@pytest.mark.parametrize("version", VERSIONS)
def test_gnutls_resumes(daemon, ca, pems, version):
    port = free_port()
    daemon(HTTP.format(port=port, pem=pems["ec"], more=""))
    # A ticket of TLS 1.3 comes after the handshake.
    reported = gnutls(port, ca, version, "--resume", "--waitresumption")
    assert "This is a resumed session" in reported and f"TLSv{version} 1 0" in reported, reported


@pytest.mark.parametrize("version", VERSIONS)
def test_certificates_of_clients(daemon, ca, pems, tmp_path, version):
    """GnuTLS and OpenSSL with a certificate of the CA, an expired, a revoked and a stranger's one, and none."""
    good, late, bad = (ca.make(f"{version}{n}.pem", n, days=d) for n, d in (("good", 30), ("expired", -1), ("revoked", 30)))
    wrong = Authority(tmp_path / "other", "other CA").make("stranger.pem", "stranger")
    port = free_port()
    daemon(HTTP.format(port=port, pem=pems["rsa"], more=f"verify required ca-file {ca.pem} crl-file {ca.crl(bad)}"))
    for pem, is_let_in in ((good, True), (late, False), (bad, False), (wrong, False), (None, False)):
        for ask, cert, key in ((openssl, "-cert", "-key"), (gnutls, "--x509certfile", "--x509keyfile")):
            if ask is gnutls and not shutil.which("gnutls-cli"):
                continue
            reported = ask(port, ca, version, *([cert, pem, key, pem] if pem else []))
            assert (f"TLSv{version} 0 1" in reported) == is_let_in, (pem, reported)


def test_renegotiation_is_refused(daemon, ca, pems):
    """By OpenSSL's R, and by GnuTLS, whose session goes on or ends; others are served."""
    port = free_port()
    daemon(HTTP.format(port=port, pem=pems["rsa"], more=""))
    # -ign_eof would take R for text.
    reported = run("openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-tls1_2", text="R\nGET / HTTP/1.0\r\n\r\n")
    assert "RENEGOTIATING" in reported and ("no renegotiation" in reported or "handshake failure" in reported), reported
    assert "HTTP/1.1 200" not in reported
    if shutil.which("gnutls-cli"):
        reported = gnutls(port, ca, "1.2", "--rehandshake")
        assert "ReHandshake was completed" not in reported, reported
    assert "TLSv1.2 0 0" in openssl(port, ca, "1.2")


# --- servers ---------------------------------------------------------------------------------------------
@contextlib.contextmanager
def started(port, *args):
    with subprocess.Popen([*map(str, args)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          stdin=subprocess.DEVNULL) as p:
        try:
            listens(port)
            assert p.poll() is None, args
            yield
        finally:
            p.terminate()


def nginx(tmp_path, port, pem, version):
    (tmp_path / "www").mkdir(mode=0o755, exist_ok=True)
    (tmp_path / "www" / "index.html").write_text(BODY)
    conf = tmp_path / "nginx.conf"
    conf.write_text(f"daemon off; master_process off; pid {tmp_path}/nginx.pid; error_log stderr; events {{}}\n"
                    f"http {{ access_log off; client_body_temp_path {tmp_path}/b; proxy_temp_path {tmp_path}/p;\n"
                    f" fastcgi_temp_path {tmp_path}/f; uwsgi_temp_path {tmp_path}/u; scgi_temp_path {tmp_path}/s;\n"
                    f" server {{ listen 127.0.0.1:{port} ssl; ssl_certificate {pem}; ssl_certificate_key {pem};\n"
                    f" ssl_protocols TLSv{version}; root {tmp_path}/www; }} }}\n")
    return ["nginx", "-p", tmp_path, "-c", conf]


def gnutls_serv(_, port, pem, version):
    return ["gnutls-serv", "--http", "--x509certfile", pem, "--x509keyfile", pem, "-p", port, "--priority",
            f"NORMAL:-VERS-ALL:+VERS-TLS{version}:+SIGN-EDDSA-ED25519"]


def haproxy(tmp_path, port, pem, version):
    cfg = tmp_path / "origin.cfg"
    (tmp_path / "body").write_text(BODY)
    cfg.write_text(f"global\n tune.bufsize 262144\n{DEFAULTS}frontend o\n bind 127.0.0.1:{port} ssl crt {pem} "
                   f"force-tlsv{version.replace('.', '')}\n"
                   f" http-request return status 200 content-type text/plain file {tmp_path}/body\n")
    return [oracle.HAPROXY, "-db", "-f", cfg]


def s_server(_, port, pem, version):
    return ["openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-cert", pem, "-key", pem, "-www", "-quiet",
            f"-tls{version.replace('.', '_')}"]


# The program, and what its answer has.
SERVERS = {"nginx": (nginx, BODY), "haproxy": (haproxy, BODY), "gnutls-serv": (gnutls_serv, "GnuTLS"),
           "openssl": (s_server, "s_server")}


@pytest.mark.parametrize("kind", ["rsa3072", "ec384", "ed25519"])
@pytest.mark.parametrize("name", [
    "nginx", pytest.param("haproxy", marks=oracle.live("it is the server")), "gnutls-serv", "openssl"])
def test_servers(daemon, ca, pems, tmp_path, name, kind):
    """Requests to each, whose certificate is verified; the second connection resumes the first one's session."""
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed")
    start, has = SERVERS[name]
    for version in VERSIONS:
        origin, port = free_port(), free_port()
        with started(origin, *start(tmp_path, origin, pems[kind], version)):
            d = daemon(f"{DEFAULTS}listen l\n bind 127.0.0.1:{port}\n http-reuse never\n"
                       " http-response set-header X-TLS \"%[ssl_bc_protocol] %[ssl_bc_is_resumed]\"\n"
                       f" server s 127.0.0.1:{origin} ssl verify required ca-file {ca.pem} sni str(a.test)\n",
                       extra="nbthread 1")
            # Each worker has sessions of its own.
            for resumed in ("0", "1"):
                reported = run("curl", "-sS", "-i", f"http://127.0.0.1:{port}/")
                assert has in reported, (version, reported[:2000])
                assert re.search(r"x-tls: (.*)", reported, re.IGNORECASE).group(1) == f"TLSv{version} {resumed}"
            d.stop()


# --- the judge -------------------------------------------------------------------------------------------
MOZILLA = """ssl-default-bind-ciphers ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:\
ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:\
DHE-RSA-AES128-GCM-SHA256:DHE-RSA-AES256-GCM-SHA384:DHE-RSA-CHACHA20-POLY1305
 ssl-default-bind-ciphersuites TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256
 ssl-default-bind-options prefer-client-ciphers ssl-min-ver TLSv1.2 no-tls-tickets
 tune.ssl.default-dh-param 2048"""


def scan(port):
    """Lines of sslscan, without the port, its versions, and what differs in each certificate and key that is made."""
    reported = run("sslscan", "--no-colour", "--show-certificate", "--show-sigs", "--ocsp", "--timeout=20", f"127.0.0.1:{port}")
    reported = re.sub(r"-----BEGIN[^:]*?-----END CERTIFICATE-----\n|(?m:^) *(?:[0-9a-fA-F]{2}:?){2,}\n", "", reported.replace(str(port), "PORT"))
    own = "libcrypto", "Version: 2.", "OpenSSL 3.", "Serial Number: "
    return [line for line in reported.splitlines() if line.strip() and not any(word in line for word in own)]


@needs("sslscan")
@pytest.mark.parametrize("kind", ["rsa", "ec384"])
@pytest.mark.parametrize("settings", [MOZILLA, ""], ids=["mozilla", "default"])
def test_sslscan(pems, tmp_path, kind, settings):
    """Versions, suites and their order, groups, signatures, renegotiation, compression, Heartbleed: the same answers."""
    # A handshake with a group of 8192 bits takes a while on a busy machine.
    text = f"frontend f\n timeout client 1m\n bind 127.0.0.1:{{p[0]}} ssl crt {pems[kind]}\n http-request return status 200\n"
    ours, theirs = in_both(tmp_path, text, lambda p: scan(p[0]), extra=settings)
    assert ours == theirs
    assert any("TLSv1.3" in line and "TLS_AES_128_GCM_SHA256" in line for line in ours), ours
    assert any(re.search("TLSv1.0 +disabled", line) for line in ours), ours
