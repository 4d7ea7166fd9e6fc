"""issuers-chain-path and ssl-skip-self-issued-ca: what clients are sent, and `show ssl cert`. The chains expected here are
those of HAProxy 2.6 for the same files."""

import re
import subprocess

import pytest
from certs import openssl
from conftest import free_port, run
from subject import only_tacit

pytestmark = only_tacit
EXTENSIONS = """
[ca]
basicConstraints=critical,CA:TRUE
subjectKeyIdentifier=hash
authorityKeyIdentifier=keyid
[leaf]
subjectKeyIdentifier=hash
authorityKeyIdentifier=keyid
[bare]
subjectKeyIdentifier=none
authorityKeyIdentifier=none
"""
BOTH = {"x.pem": ["int2", "int1"]}


@pytest.fixture(scope="module")
def pki(tmp_path_factory):
    """{name: PEM} of a root, two CAs below it, leaves of the second, and one of the root; "name.key" is the key."""
    d = tmp_path_factory.mktemp("pki")
    (d / "ext").write_text(EXTENSIONS)

    def make(name, by=None, kind="ca"):
        key, pem, csr = d / f"{name}.key", d / f"{name}.pem", d / f"{name}.csr"
        openssl("ecparam", "-genkey", "-name", "prime256v1", "-noout", "-out", key)
        if not by:
            openssl("req", "-x509", "-new", "-key", key, "-subj", f"/CN={name}", "-days", "3650", "-out", pem)
            return
        openssl("req", "-new", "-key", key, "-subj", f"/CN={name}", "-out", csr)
        openssl("x509", "-req", "-in", csr, "-CA", d / f"{by}.pem", "-CAkey", d / f"{by}.key", "-set_serial", "7",
                "-days", "3650", "-extfile", d / "ext", "-extensions", kind, "-out", pem)

    make("root")
    make("int1", "root")
    make("int2", "int1")
    make("leaf", "int2", "leaf")
    make("unnamed", "int2", "bare")
    make("other", "root", "leaf")
    make("nokey", "root", "bare")
    return {f.name.removesuffix(".pem"): f.read_text() for f in d.iterdir() if f.suffix in (".pem", ".key")}


class Site:
    def __init__(self, daemon, pki, directory, crt, chains, words):
        self.pki, self.dir, self.port = pki, directory / "chains", free_port()
        self.dir.mkdir()
        for name, parts in chains.items():
            (self.dir / name).write_text(self.text(*parts))
        self.crt = directory / "site.pem"
        self.crt.write_text(self.text(*crt))
        self.daemon = daemon(f"frontend f\n mode http\n bind 127.0.0.1:{self.port} ssl crt {self.crt}\n"
                             " http-request return status 200\n",
                             extra="\n".join(words or [f"issuers-chain-path {self.dir}"]))

    def text(self, *names):
        return "".join(self.pki.get(n, n) for n in names)

    def sent(self):
        out = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{self.port}", "-showcerts"],
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False).stdout
        return re.findall(r"^ *\d+ s:.*CN ?= ?(\S+)$", out, re.M)

    def shown(self, name=None):
        text = self.daemon.admin(f"show ssl cert {name or self.crt}")
        return ([f.rsplit("/", 1)[1] for f in re.findall("^Chain Filename: (.*)$", text, re.M)],
                re.findall("^Chain Subject: /CN=(.*)$", text, re.M))


@pytest.fixture
def site(daemon, pki, tmp_path):
    return lambda crt=("leaf.key", "leaf"), chains=BOTH, words=(): Site(daemon, pki, tmp_path, crt, chains, words)


@pytest.mark.parametrize("chains, file, chain", [
    (BOTH, "x.pem", ["int2", "int1"]),
    ({".hidden": ["int2", "int1"]}, ".hidden", ["int2", "int1"]),
    ({"a.key": ["int2.key", "int2", "int1"]}, "a.key", ["int2", "int1"]),
    ({"a": ["int2"], "b": ["int1"]}, "a", ["int2"]),
    ({"a": ["int2", "int1", "root"]}, "a", ["int2", "int1", "root"]),
    ({"a": ["int1"]}, None, []),
    ({"a": ["int1", "int2"]}, None, []),
    ({}, None, []),
])
def test_the_first_certificate_of_a_file_decides(site, chains, file, chain):
    s = site(chains=chains)
    assert s.sent() == ["leaf", *chain]
    assert s.shown() == ([file] if file else [], chain)
    assert "issuers-chain" not in s.daemon.stderr


@pytest.mark.parametrize("crt, chain", [
    (["leaf.key", "leaf", "int2"], ["int2"]),
    (["unnamed.key", "unnamed"], []),
    (["root.key", "root"], []),
])
def test_certificates_that_get_none(site, crt, chain):
    """One with a chain of its own, one that names no key, and one that has issued itself."""
    s = site(crt, BOTH | {"r.pem": ["root"]})
    assert s.sent() == [crt[1], *chain]
    assert s.shown() == ([], chain)


@pytest.mark.parametrize("chains, warning", [
    ({"a": ["junk\n"]}, "unable to load issuers-chain {dir}/a : pem certificate not found."),
    ({"a": ["nokey"]}, "unable to load issuers-chain {dir}/a : SubjectKeyIdentifier not found."),
    ({"y": ["int2"]}, "duplicate issuers-chain {dir}/y: {dir}/x.pem already in store"),
])
def test_files_that_are_left_out(site, chains, warning):
    s = site(chains=BOTH | chains)
    assert s.sent() == ["leaf", "int2", "int1"]
    assert warning.format(dir=s.dir) in s.daemon.stderr


def test_a_directory_that_is_none(tmp_path):
    cfg = tmp_path / "cfg"
    cfg.write_text(f"global\n issuers-chain-path {tmp_path}/none\n")
    r = run("-c", "-f", cfg)
    assert r.returncode == 1 and "'issuers-chain-path' expects a directory path" in r.stderr


def test_the_last_line_counts(site, tmp_path):
    s = site(words=[f"issuers-chain-path {tmp_path}/none", f"issuers-chain-path {tmp_path}/chains"])
    assert s.sent() == ["leaf", "int2", "int1"]


def test_certificates_of_commands_get_one_too(site):
    s = site(chains=BOTH | {"r.pem": ["root"]})
    s.daemon.admin(f"set ssl cert {s.crt} <<\n{s.text('other.key', 'other')}\n")
    assert s.shown(f"*{s.crt}") == (["r.pem"], ["root"])
    assert "Success!" in s.daemon.admin(f"commit ssl cert {s.crt}")
    assert s.sent() == ["other", "root"] and s.shown() == (["r.pem"], ["root"])
    s.daemon.admin(f"set ssl cert {s.crt} <<\n{s.text('leaf.key', 'leaf', 'int2')}\n")
    assert s.shown(f"*{s.crt}") == ([], ["int2"])
    assert "Success!" in s.daemon.admin(f"commit ssl cert {s.crt}")
    assert s.sent() == ["leaf", "int2"]


@pytest.mark.parametrize("crt, words", [
    (["leaf.key", "leaf"], ["issuers-chain-path {dir}", "ssl-skip-self-issued-ca"]),
    (["leaf.key", "leaf", "int2", "int1", "root"], ["ssl-skip-self-issued-ca"]),
])
def test_a_root_is_not_sent(site, tmp_path, crt, words):
    s = site(crt, {"a": ["int2", "int1", "root"]}, [w.format(dir=tmp_path / "chains") for w in words])
    assert s.sent() == ["leaf", "int2", "int1"]
    assert s.shown()[1] == ["int2", "int1", "root"]
