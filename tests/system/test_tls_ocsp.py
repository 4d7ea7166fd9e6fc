"""OCSP responses at run time, from outside."""

import base64
import subprocess
import threading

import pytest
from certs import Authority
from conftest import TACIT, WAIT, free_ports
from test_oracle_tls_ocsp import stapled
from test_tls import HTTP, cn, context


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certs"))


def with_issuer(ca, file, name, ocsp=b""):
    pem = ca.make(file, name, [name])
    pem.write_text(pem.read_text() + ca.pem.read_text())
    pem.with_name(f"{file}.ocsp").write_bytes(ocsp)
    return pem


def test_all_workers_see_it(daemon, ca):
    """Each worker staples the response at its next handshake; no handshake fails meanwhile."""
    pem = with_issuer(ca, "w.pem", "w.test")
    good, revoked = (base64.b64encode(ca.ocsp(pem, status=s)).decode() for s in "VR")
    (p,) = free_ports(1)
    d = daemon(f"{HTTP}frontend f\n bind 127.0.0.1:{p} ssl crt {pem}\n http-request return status 200\n", extra="nbthread 4")
    failed, done, ended = [], [], threading.Event()

    def clients():
        while not ended.is_set():
            try:
                done.append(cn(p, context(ca)))
            except OSError as e:
                failed.append(e)

    threads = [threading.Thread(target=clients) for _ in range(2)]
    for t in threads:
        t.start()
    for response, status in ((good, "good"), (revoked, "revoked"), (good, "good")):
        assert d.admin(f"set ssl ocsp-response {response}") == "OCSP Response updated!\n\n"
        assert {stapled(p, "w") for _ in range(6)} == {status}
    ended.set()
    for t in threads:
        t.join()
    assert not failed and set(done) == {"w.test"}


def test_forms(daemon, ca):
    """By the name of the file, and in base64, as HAProxy 2.8 has it; other levels may look."""
    pem = with_issuer(ca, "f.pem", "f.test")
    pem.with_name("f.pem.ocsp").write_bytes(ca.ocsp(pem))
    (p,) = free_ports(1)
    d = daemon(f"{HTTP}frontend f\n bind 127.0.0.1:{p} ssl crt {pem}\n http-request return status 200\n")
    key = d.admin("show ssl ocsp-response").splitlines()[1].rpartition(" ")[2]
    text = d.admin(f"show ssl ocsp-response {key}")
    assert "Cert Status: good" in text
    assert [d.admin(f"show ssl ocsp-response {x}") for x in (pem, f"text {pem}", f"text {key}")] == [text] * 3
    der = base64.b64decode(d.admin(f"show ssl ocsp-response base64 {pem}"), validate=False)
    assert der == pem.with_name("f.pem.ocsp").read_bytes()
    assert "expects" in d.admin("show ssl ocsp-response base64")
    assert d.admin("user;show ssl ocsp-response").count(key) == 1
    assert "OCSP" not in d.admin(f"user;set ssl ocsp-response {base64.b64encode(der).decode()}")


def test_refused_files(daemon, ca):
    """A response that cannot be used is a warning; without the issuer there is no id, which is an error."""
    pem = with_issuer(ca, "g.pem", "g.test", b"nonsense")
    alone = ca.make("alone.pem", "alone.test")
    alone.with_name("alone.pem.ocsp").write_bytes(b"")
    (p,) = free_ports(1)
    d = daemon(f"{HTTP}frontend f\n bind 127.0.0.1:{p} ssl crt {pem}\n http-request return status 200\n")
    assert "g.pem.ocsp': Unable to parse OCSP response. Content will be ignored." in d.admin("show startup-logs")
    cfg = pem.with_name("bad.cfg")
    cfg.write_text(f"{HTTP}frontend f\n bind 127.0.0.1:{p} ssl crt {alone}\n http-request return status 200\n")
    reported = subprocess.run([TACIT, "-c", "-f", cfg], capture_output=True, text=True, timeout=WAIT, check=False)
    assert reported.returncode == 1 and "alone.pem.ocsp' is present and activates OCSP but it is impossible" in reported.stderr
