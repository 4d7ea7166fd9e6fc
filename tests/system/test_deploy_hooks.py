"""Renewed certificates: the deploy hook for certbot, with the files that certbot leaves, and what acme.sh's hook says to
the stats socket and looks for in the answers."""

import os
import re
import ssl
import subprocess

import pytest
from certs import Authority
from conftest import BUILD, ROOT, WAIT, connect, free_port
from facts import becomes
from subject import only_tacit

pytestmark = only_tacit

HOOK = ROOT / "conf/certbot-deploy"
TACIT = os.environ.get("TACIT") or BUILD / "tacit"
SITE = ("    mode http\n    timeout http-request 1m\nfrontend f\n    bind 127.0.0.1:{port} ssl crt {crt}\n"
        "    http-request return status 200\n")


def serial(port):
    """The serial number of the certificate that a client gets."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with connect(port) as c, context.wrap_socket(c, server_hostname="example.org") as t:
        der = t.getpeercert(True)
    shown = subprocess.run(["openssl", "x509", "-inform", "der", "-noout", "-serial"], input=der, capture_output=True,
                           timeout=WAIT, check=True)
    return int(shown.stdout.strip().split(b"=")[1], 16)


@pytest.fixture
def renewed(tmp_path):
    """renew() makes a lineage as certbot keeps it, of a new certificate and its key."""
    ca, lineage = Authority(tmp_path / "ca"), tmp_path / "live" / "example.org"
    lineage.mkdir(parents=True)
    (tmp_path / "certs").mkdir()

    def renew():
        text = ca.make("new.pem", "example.org").read_text()
        blocks = re.findall(r"-----BEGIN .*?-----END [^\n]*\n", text, re.DOTALL)
        chain, key = ("".join(b for b in blocks if ("PRIVATE" in b) == private) for private in (False, True))
        (lineage / "fullchain.pem").write_text(chain + ca.pem.read_text())
        (lineage / "privkey.pem").write_text(key)
        return 1000 + ca.serial

    return renew, lineage


def run_hook(tmp_path, lineage, reload_command):
    env = dict(os.environ, RENEWED_LINEAGE=str(lineage), RENEWED_DOMAINS="example.org", CERTS=str(tmp_path / "certs"),
               RELOAD=reload_command, SETTINGS="/nowhere")
    return subprocess.run([HOOK], env=env, capture_output=True, text=True, timeout=3 * WAIT, check=False)


@pytest.mark.parametrize("named", ["file", "directory"])
def test_certbots_deploy_hook(daemon, renewed, tmp_path, named):
    renew, lineage = renewed
    port, certs = free_port(), tmp_path / "certs"
    pem = certs / "example.org.pem"
    first = renew()
    assert run_hook(tmp_path, lineage, "true").returncode == 0
    assert oct(pem.stat().st_mode & 0o777) == "0o640" and pem.stat().st_gid == certs.stat().st_gid
    daemon(SITE.format(port=port, crt=pem if named == "file" else certs), "-S", tmp_path / "m", mode=("-Ws",))
    assert serial(port) == first
    second, command = renew(), f"{TACIT} --reload {tmp_path}/m"
    done = run_hook(tmp_path, lineage, command)
    assert done.returncode == 0, done.stdout + done.stderr
    # The previous process may accept until it has been told to stop.
    becomes(lambda: serial(port), second)
    # One that does not fit: the reload fails, and the previous file is there for the next start.
    before = pem.read_bytes()
    key = (lineage / "privkey.pem").read_bytes()
    renew()
    (lineage / "privkey.pem").write_bytes(key)
    done = run_hook(tmp_path, lineage, command)
    assert done.returncode == 1 and "put back" in done.stderr
    assert pem.read_bytes() == before and serial(port) == second
    assert [p.name for p in certs.iterdir()] == ["example.org.pem"]


def test_a_first_certificate_that_is_not_taken_is_removed(renewed, tmp_path):
    renew, lineage = renewed
    renew()
    assert run_hook(tmp_path, lineage, "false").returncode == 1
    assert list((tmp_path / "certs").iterdir()) == []
    (lineage / "privkey.pem").unlink()
    assert run_hook(tmp_path, lineage, "true").returncode == 1
    assert list((tmp_path / "certs").iterdir()) == []


def test_acme_sh_replaces_a_certificate_without_a_reload(daemon, renewed, tmp_path):
    """Its hook haproxy with DEPLOY_HAPROXY_HOT_UPDATE=yes: it greps the answers for these lines."""
    renew, lineage = renewed
    port, pem = free_port(), tmp_path / "certs" / "example.org.pem"
    first = renew()
    assert run_hook(tmp_path, lineage, "true").returncode == 0
    d = daemon(SITE.format(port=port, crt=pem))
    assert serial(port) == first
    second = renew()
    assert run_hook(tmp_path, lineage, "true").returncode == 0
    assert re.search(f"^{pem}$", d.admin("show ssl cert"), re.M)
    assert "Transaction created" in d.admin(f"set ssl cert {pem} <<\n{pem.read_text()}\n")
    assert re.search("^Success!$", d.admin(f"commit ssl cert {pem}"), re.M)
    assert serial(port) == second
