"""The algorithms of TLS and their strength, from outside: ssl-security-level, ssl-provider, ssl-propquery and
tune.ssl.keyupdate-rate-limit."""

import subprocess

import pytest
from certs import Authority
from conftest import WAIT, free_ports, run

from conversations.conversation import converse
from conversations.order import update

HTTP = """
defaults
    mode http
    timeout client 1m
    timeout server 1m
    timeout connect 1m
"""


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certs"))


def check(cfg, tmp_path):
    path = tmp_path / "c.cfg"
    path.write_text(cfg)
    return run("-c", "-f", path)


def status(url, *options):
    return subprocess.run(["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", *options, url], capture_output=True,
                          text=True, timeout=WAIT, check=False).stdout


# --- ssl-security-level --------------------------------------------------------------------------------------
def test_certificates_at_the_start(ca, tmp_path):
    """RSA of 2048 bits is enough at level 2, and an error at level 3 that names the file, the line and the reason."""
    pem = ca.make("rsa.pem", "a.test", kind="rsa")
    text = f"{HTTP}frontend f\n bind 127.0.0.1:{free_ports(1)[0]} ssl crt {pem}\n"
    assert check("global\n ssl-security-level 2\n" + text, tmp_path).returncode == 0
    done = check("global\n ssl-security-level 3\n" + text, tmp_path)
    assert done.returncode == 1
    assert f"'{pem}': ee key too small" in done.stderr, done.stderr
    assert "c.cfg:10:" in done.stderr, done.stderr


def test_number(tmp_path):
    done = check("global\n ssl-security-level 6\n", tmp_path)
    assert done.returncode == 1
    assert "c.cfg:2:21]" in done.stderr, done.stderr


@pytest.mark.parametrize("level,is_met", [("", True), ("ssl-security-level 2", True), ("ssl-security-level 3", False)])
def test_groups_of_clients(daemon, ca, level, is_met):
    """A client that has only ffdhe2048, of 112 bits: level 3 refuses it."""
    pem = ca.make("g.pem", "g.test")
    (port,) = free_ports(1)
    daemon(f"{HTTP}frontend f\n bind 127.0.0.1:{port} ssl crt {pem}\n http-request return status 200\n", extra=level)
    done = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-tls1_3", "-groups", "ffdhe2048", "-quiet"],
                          input=b"GET / HTTP/1.0\r\n\r\n", capture_output=True, timeout=WAIT, check=False)
    assert (b"HTTP/1.1 200" in done.stdout) == is_met, done
    assert (b"handshake failure" in done.stderr) != is_met, done


@pytest.mark.parametrize("extra,options,is_met", [
    ("ssl-security-level 3", "", True), ("ssl-security-level 4", "", False),
    ("ssl-security-level 4", " ciphers DEFAULT@SECLEVEL=3", True)])
def test_certificates_of_servers(daemon, ca, extra, options, is_met):
    """A key of P-256 has 128 bits of security: level 4 refuses it in a server's certificate, but not where the ciphers of the
    line name level 3."""
    pem = ca.make("s.pem", "s.test", ["s.test"])
    p, q = free_ports(2)
    daemon(f"""{HTTP}
listen l
    bind 127.0.0.1:{p}
    server s 127.0.0.1:{q} ssl ca-file {ca.pem} verifyhost s.test{options}
frontend origin
    bind 127.0.0.1:{q} ssl crt {pem} ciphers DEFAULT@SECLEVEL=2
    http-request return status 200
""", extra=extra)
    assert status(f"http://127.0.0.1:{p}/") == ("200" if is_met else "503")


# --- providers -----------------------------------------------------------------------------------------------
def test_providers(daemon, ca):
    """They are loaded in the order of the lines, and TLS works with those of them that have the properties."""
    pem = ca.make("p.pem", "p.test")
    (port,) = free_ports(1)
    d = daemon(f"{HTTP}frontend f\n bind 127.0.0.1:{port} ssl crt {pem}\n http-request return status 200\n",
               extra="ssl-provider default\n ssl-provider legacy\n ssl-provider base\n ssl-propquery ?provider=default")
    assert status(f"https://127.0.0.1:{port}/", "-k") == "200"
    shown = d.admin("show ssl providers")
    assert [line.strip("\t- ") for line in shown.splitlines()[1:] if line] == ["default", "legacy", "base"], shown


@pytest.mark.parametrize("lines,where,text", [
    ("ssl-provider no-such", "2:15", "'ssl-provider' : OpenSSL cannot load the provider 'no-such': "),
    ("ssl-provider-path {dir}\n ssl-provider legacy", "3:15", "'ssl-provider' : OpenSSL cannot load the provider 'legacy': "),
    ("ssl-propquery provider=", "2:16", "'ssl-propquery' : 'provider=' is no query of properties"),
    ("ssl-provider legacy", "2:15", "is 'ssl-provider default' missing?"),
    ("ssl-provider default\n ssl-propquery provider=no-such", "3:16", "have no SHA-256 and AES with the properties")])
def test_wrong_providers(tmp_path, lines, where, text):
    done = check("global\n " + lines.format(dir=tmp_path) + "\n", tmp_path)
    assert done.returncode == 1
    assert f"c.cfg:{where}]" in done.stderr and text in done.stderr, done.stderr
    assert "1 error (1 line)" in done.stderr, done.stderr


# --- key updates ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("limit,updates,outcome", [(5, 5, "answered"), (5, 12, "closed"), (0, 150, "answered"),
                                                   (100, 100, "answered"), ("", 250, "closed")])
def test_key_updates(daemon, ca, limit, updates, outcome):
    """A client may send so many in a second, 100 by default; one more ends its connection."""
    pem = ca.make("k.pem", "a.test", ["a.test"])
    (port,) = free_ports(1)
    d = daemon(f"{HTTP}frontend f\n bind 127.0.0.1:{port} ssl crt {pem} alpn http/1.1\n http-request return status 200\n",
               extra=f"tune.ssl.keyupdate-rate-limit {limit}" if limit != "" else "")

    def talk(c):
        c.handshake_13()
        for _ in range(updates):
            update(c)
        c.request()

    assert converse(talk, port, {}).outcome == outcome
    assert status(f"https://127.0.0.1:{port}/", "-k") == "200"
    d.until("sessions eq 0")
