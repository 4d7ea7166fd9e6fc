"""certbot behind tacit: an authority asks the site for the challenge, which goes to certbot's own server; the deploy hook makes
the file and reloads; clients get the new certificate. test_deploy_hooks.py has the hook with files that do not fit, and
what acme.sh says to the socket."""

import socket
import ssl
import sys

import pytest
from acme_server import AcmeServer
from programs import TACIT, environment, pypi, run
from certs import Authority
from conftest import ROOT, WAIT, free_ports
from cryptography import x509
from subject import only_tacit

pytestmark = only_tacit
CFG = """\
frontend web
    mode http
    bind 127.0.0.1:{port}
    bind 127.0.0.1:{tls} ssl crt {certs}
    acl challenge path_beg /.well-known/acme-challenge/
    http-request return status 200 unless challenge
    default_backend certbot
backend certbot
    mode http
    server certbot 127.0.0.1:{own}
"""


def serial(port):
    """The serial number of the certificate that a client gets."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(("127.0.0.1", port), WAIT) as c, context.wrap_socket(c, server_hostname="example.org") as t:
        return x509.load_der_x509_certificate(t.getpeercert(True)).serial_number


@pytest.fixture
def authority():
    made = []

    def make(port):
        made.append(AcmeServer(port))
        return made[-1]

    yield make
    for server in made:
        server.shutdown()
        server.server_close()


def test_a_certificate_is_got_and_renewed(daemon, authority, tmp_path):
    program = pypi("certbot", "bin/certbot")
    port, tls, own = free_ports(3)
    certs = tmp_path / "certs"
    certs.mkdir()
    (certs / "example.org.pem").write_text(Authority(tmp_path / "ca").make("first.pem", "example.org").read_text())
    acme = authority(port)
    daemon(CFG.format(port=port, tls=tls, own=own, certs=certs), "-S", tmp_path / "m", mode=("-Ws",))
    before = serial(tls)
    env = environment("certbot", HOME=str(tmp_path), CERTS=str(certs), RELOAD=f"{TACIT} --reload {tmp_path}/m", SETTINGS="/nowhere")
    directories = [f"--{kind}-dir={tmp_path}/{kind}" for kind in ("config", "work", "logs")]
    run(sys.executable, program, "certonly", *directories, "--non-interactive", "--agree-tos", "--email", "ann@example.org", "--server", f"{acme.url}/directory",
        "--standalone", "--http-01-address", "127.0.0.1", "--http-01-port", own, "-d", "example.org", "--deploy-hook", ROOT / "conf/certbot-deploy",
        env=env, limit=12 * WAIT)
    assert acme.challenged == ["example.org"] and acme.serials == [1000]
    # The hook ends when the reload has.
    assert before != serial(tls) == 1000
    run(sys.executable, program, "renew", *directories, "--non-interactive", "--no-random-sleep-on-renew", "--force-renewal", env=env, limit=12 * WAIT)
    assert serial(tls) == 1001 and acme.serials == [1000, 1001]
