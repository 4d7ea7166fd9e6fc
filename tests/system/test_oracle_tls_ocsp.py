"""OCSP responses, read from files and changed by commands: HAProxy and tacit are asked the same."""

import base64
import contextlib
import itertools
import re
import subprocess

import oracle
import pytest
from certs import Authority
from conftest import WAIT, admin
from tls_oracle import started


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certs"))


@pytest.fixture(scope="module")
def pems(ca):
    """PEM files with their issuer, {name: path}. "twice" has the certificate of "a"; no line uses "new"."""
    made = {n: ca.make(f"{n}.pem", n, [f"{n}.test"]) for n in ("a", "b", "c", "rev", "soon", "wrong", "new")}
    for p in made.values():
        p.write_text(p.read_text() + ca.pem.read_text())
    made["twice"] = ca.dir / "twice.pem"
    made["twice"].write_text(made["a"].read_text())
    return made


@pytest.fixture(scope="module")
def der(ca, pems):
    """Responses. "soon" is valid for less than clocks may differ: it is taken and never stapled."""
    of = {n: ca.ocsp(pems[n]) for n in ("a", "b", "c", "new")}
    of["revoked"] = ca.ocsp(pems["rev"], status="R")
    of["b revoked"] = ca.ocsp(pems["b"], status="R")
    of["soon"] = ca.ocsp(pems["soon"], minutes=1)
    of["b soon"] = ca.ocsp(pems["b"], minutes=1)
    of["b unknown"] = ca.ocsp(pems["b"], status="")
    # Neither verifies signatures: that is for clients to do.
    of["b expired"] = re.sub(rb"20\d{12}Z", b"20200102030405Z", of["b"])
    of["later"] = b"\x30\x03\x0a\x01\x03"
    return of


@pytest.fixture
def both(pems, der, tmp_path):
    """A function that asks both the same: [what HAProxy answers, what tacit does]."""
    asked = itertools.count(1)
    for name, what in (("a", "a"), ("rev", "revoked"), ("soon", "soon"), ("wrong", "a"), ("twice", "a")):
        (pems[name].parent / f"{name}.pem.ocsp").write_bytes(der[what])
    (pems["c"].parent / "c.pem.ocsp").write_bytes(b"")
    lines = " ".join(f"crt {pems[n]}" for n in ("a", "b", "c", "rev", "soon", "wrong", "twice"))
    cfg = f"frontend f\n bind 127.0.0.1:{{p[0]}} ssl {lines}\n http-request return status 200\n"
    with contextlib.ExitStack() as stack:
        subjects = {name: stack.enter_context(started(program, tmp_path, cfg)) for name, program in oracle.PROGRAMS.items()}

        def number(command):
            return f"{next(asked):02} {nameless(command.partition(' <<')[0])[:100]}"

        def ask(command):
            return oracle.both(lambda p: nameless(admin(p.sock, command)), subjects, number(command), script=cfg)

        def ask_stapled(name):
            return oracle.both(lambda p: stapled(p[0], name), subjects, number("status of " + name), script=cfg)

        def keys():
            return re.findall(r"Certificate ID key : ([0-9a-f]+)\n", admin(subjects["tacit"].sock, "show ssl ocsp-response"))
        ask.stapled, ask.keys = ask_stapled, keys
        yield ask


def stapled(port, name):
    """The status that a client is told about the certificate; None: nothing."""
    reported = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-servername", f"{name}.test", "-status"],
                          input="", capture_output=True, text=True, timeout=WAIT, check=False).stdout
    assert "OCSP response: " in reported, reported
    met = re.search(r"Cert Status: (\S+)", reported)
    assert met or "no response sent" in reported, reported
    return met and met[1]


def same(reported):
    theirs, ours = reported
    assert ours == theirs
    return ours


def payload(data):
    return base64.encodebytes(data).decode()


def nameless(text):
    """Without what differs in each certificate that is made: keys have the last digits of their serial number."""
    text = re.sub(r"\b30[0-9a-f]{60,}([0-9a-f]{4})\b", r"KEY-\1", text)
    text = re.sub(r"(?im)(?:^ +(?:[0-9a-f]{2}:?){2,}\n)+", "BYTES\n", text)
    text = re.sub(r"(Issuer Key Hash: )[0-9A-F]+", r"\1HASH", text)
    return re.sub(r"[A-Za-z0-9+/=\n]{200,}", "BASE64", text)


def test_files(both, pems):
    """A file that is empty, or has a response about another certificate, makes none; there can be one later."""
    status = {n: same(both.stapled(n)) for n in ("a", "b", "c", "rev", "soon", "wrong", "twice")}
    assert status == {
        "a": "good", "b": None, "c": None, "rev": "revoked", "soon": None, "wrong": None, "twice": "good"}
    assert same(both("show ssl ocsp-response")).count("Certificate ID key : ") == 5
    for key in both.keys():
        same(both(f"show ssl ocsp-response {key}"))
    for name in ("a", "b", "c", "rev", "twice"):
        assert ("\nOCSP Response Key: KEY-" in same(both(f"show ssl cert {pems[name]}"))) == (name not in "bc")
        assert ("Cert Status: " in same(both(f"show ssl cert {pems[name]}.ocsp"))) == (name not in "bc")


@pytest.mark.parametrize("line", [
    "show ssl ocsp-response 30", "show ssl ocsp-response zz", "show ssl ocsp-response 304d more", "set ssl ocsp-response",
    "set ssl ocsp-response abc", "set ssl ocsp-response a b", "set ssl ocsp-response ====", "set ssl ocsp-response AAAA",
    "set ssl ocsp-response AA-A", "set ssl ocsp-response <<\n!!!!\n", "show ssl cert nothing.ocsp", "show ssl cert nothing.key",
    "set severity-output number;set ssl ocsp-response abc", "set severity-output number;show ssl ocsp-response 30",
])
def test_words(both, line):
    same(both(line))


def test_set(both, der):
    assert same(both.stapled("c")) is None
    assert same(both(f"set ssl ocsp-response {base64.b64encode(der['c']).decode()}")) == "OCSP Response updated!\n\n"
    assert same(both.stapled("c")) == "good"
    assert same(both(f"set ssl ocsp-response <<\n{payload(der['a'] + b'more')}")) == "OCSP Response updated!\n\n"
    same(both("set severity-output number;set ssl ocsp-response " + base64.b64encode(der["a"]).decode()))
    # "twice" is what clients get by name, the first file by default.
    for name in ("a", "twice"):
        assert same(both.stapled(name)) == "good"
    for what in ("b", "b revoked", "b soon", "b unknown", "b expired", "later", "new"):
        same(both(f"set ssl ocsp-response <<\n{payload(der[what])}"))
    same(both("show ssl ocsp-response"))
    assert "Cert Status: good" in "".join(same(both(f"show ssl ocsp-response {key}")) for key in both.keys())


@pytest.mark.parametrize("what,status", [("b", "good"), ("b revoked", "revoked"), ("b soon", None), ("b unknown", None),
                                         ("b expired", None), ("a", None), ("later", None)])
def test_transaction(both, der, pems, what, status):
    """A response that cannot be used is left out at the commit, which tacit says."""
    b = pems["b"]
    same(both(f"set ssl cert {b}.ocsp <<\n{payload(der[what])}"))
    same(both(f"show ssl cert *{b}.ocsp"))
    if what not in ("later", "a"):
        same(both(f"show ssl cert *{b}"))
    theirs, ours = both(f"commit ssl cert {b}")
    assert (ours == theirs) == (what in ("b", "b revoked", "b soon"))
    assert re.fullmatch(rf"Committing DIR/b.pem\.\n(Loading: .*\. Content will be ignored\.\n)?Success!\n\n", ours)
    assert same(both.stapled("b")) == status
    same(both("show ssl ocsp-response"))
    # The next transaction begins with it, and another certificate ends it.
    same(both(f"set ssl cert {b} <<\n{pems['b'].read_text()}"))
    same(both(f"show ssl cert *{b}.ocsp"))
    same(both(f"abort ssl cert {b}"))


def test_certificate_is_replaced(both, der, pems):
    """Its response goes with it; a response set before the certificate does too."""
    a = pems["a"]
    same(both(f"set ssl cert {a}.ocsp <<\n{payload(der['new'])}"))
    same(both(f"set ssl cert {a} <<\n{pems['new'].read_text()}"))
    assert same(both(f"show ssl cert *{a}.ocsp")) == "\n"
    same(both(f"commit ssl cert {a}"))
    assert same(both.stapled("new")) is None and same(both.stapled("a")) == "good"
    assert same(both("show ssl ocsp-response")).count("Certificate ID key : ") == 5
    same(both(f"set ssl cert {a}.ocsp <<\n{payload(der['new'])}"))
    same(both(f"commit ssl cert {a}"))
    assert same(both.stapled("new")) == "good"
    assert same(both("show ssl ocsp-response")).count("Certificate ID key : ") == 6


def test_key_alone_is_replaced(both, der, pems):
    """The response stays, also one that is set while the transaction is open."""
    c, key = pems["c"], "-----BEGIN PRIVATE KEY-----" + pems["c"].read_text().split("-----BEGIN PRIVATE KEY-----")[1].split("-----BEGIN CERT")[0]
    same(both(f"set ssl cert {c}.key <<\n{key}"))
    same(both(f"set ssl ocsp-response <<\n{payload(der['c'])}"))
    same(both(f"commit ssl cert {c}"))
    assert same(both.stapled("c")) == "good"
