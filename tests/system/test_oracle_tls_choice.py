"""The certificate and the settings that a client gets, from HAProxy and from tacit."""

import contextlib
import socket
import subprocess
from pathlib import Path

import oracle
import pytest
from certs import Authority
from tls_oracle import ask, client, in_both

NAMES = [None, "a.test", "A.Test", "b.test", "x.w.test", "y.w.test", "w.test", "z.y.w.test", "unknown", "both.test",
         "no.l.test", "yes.l.test", "l.test", "127.0.0.1", "a.test."]
RESPONSE = " http-request return status 200\n"


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certs"))


@pytest.fixture(scope="module")
def pems(ca):
    made = {n: ca.make(f"{n}.pem", f"{n}.test", names) for n, names in
            (("a", ["a.test", "*.w.test"]), ("b", ["b.test", "x.w.test"]), ("l", ["*.l.test", "yes.l.test"]),
             ("plain", []), ("again", ["a.test"]))}
    for kind in ("rsa", "ec", "ed25519"):
        made[kind] = ca.make(f"{kind}.pem", f"{kind}.kind", ["both.test"], kind=kind)
        made["w" + kind] = ca.make(f"w{kind}.pem", f"w{kind}.kind", ["*.w.test"], kind=kind)
        made["x" + kind] = ca.make(f"x{kind}.pem", f"x{kind}.kind", ["x.w.test"], kind=kind)
        made["d" + kind] = ca.make(f"d{kind}.pem", f"d{kind}.kind", ["other.test"], kind=kind)
    made["ca"] = ca.pem
    return made


def by_name(ca, port, **kw):
    return [(n, kind, ask(port, client(ca, ciphers=suites, high=high, **kw), n)[0]) for n in NAMES for kind, suites, high in
            (("any", None, None), ("1.2 RSA", "ECDHE-RSA-AES128-GCM-SHA256", "TLSv1_2"),
             ("1.2 ECDSA", "ECDHE-ECDSA-AES128-GCM-SHA256", "TLSv1_2"))]


LINES = [
    "crt {a} crt {b}", "crt {b} crt {a}", "crt {a} strict-sni", "crt {a} crt {again}", "crt {again} crt {a}",
    "crt {plain} crt {a} crt {b}", "crt {a} crt {rsa} crt {ec}", "crt {a} crt {ec} crt {rsa}", "crt {rsa} crt {ec}",
    "crt {ec}", "crt {rsa}", "crt {ed25519} crt {rsa}", "crt {a} crt {ed25519} crt {rsa} crt {ec}",
    "crt {drsa} crt {dec} crt {a}", "crt {dec} crt {drsa} crt {a}", "crt {l} crt {a}",
    # Exactly one kind of key, the other by a wildcard.
    "crt {xec} crt {wrsa}", "crt {wrsa} crt {xec} strict-sni", "crt {xrsa} crt {wec}", "crt {drsa} crt {xec} crt {wrsa}",
    "crt {xec} crt {wec} crt {drsa}", "crt {xed25519} crt {wrsa}", "crt {dec} crt {xrsa} crt {wec} crt {wrsa}",
    "crt {a} ssl-min-ver TLSv1.3", "crt {a} ssl-max-ver TLSv1.2 crt {b}", "crt {a} no-tlsv13", "crt {a} force-tlsv12",
]


@pytest.mark.parametrize("line", LINES)
def test_names(ca, pems, tmp_path, line):
    text = f"frontend f\n bind 127.0.0.1:{{p[0]}} ssl {line.format(**pems)}\n{RESPONSE}"
    ours, theirs = in_both(tmp_path, text, lambda p: by_name(ca, p[0]))
    assert oracle.differences(theirs, ours) == []
    assert len({met for _, _, met in ours}) > 1


LISTS = [
    "{a}\n{b}\n", "{a} *.b.test !no.b.test\n{b}\n", "{a}\n{l} *.l.test !no.l.test\n", "{a} [ssl-max-ver TLSv1.2]\n{b}\n",
    "{a}\n{b} [ssl-min-ver TLSv1.3] b.test\n{l} [alpn two,three]\n", "{a} !*\n{b}\n", "{b} !b.test\n{a}\n",
    "{a} a.test\n{b} a.test\n", "{a}\n{rsa} both.test\n{ec} both.test\n", "{plain} *\n{a} a.test\n", "{a} unknown\n{b} !*.w.test\n",
    "{a} [ciphers ECDHE-ECDSA-AES256-GCM-SHA384]\n{b} [ciphersuites TLS_CHACHA20_POLY1305_SHA256]\n",
    "{l} *.l.test !no.l.test !yes.l.test\n{a} *.w.test\n",
    "{xec}\n{wrsa} *.w.test !x.w.test\n", "{xec} x.w.test\n{wrsa} [ssl-max-ver TLSv1.2] *.w.test\n",
    "{xec} x.w.test\n{wrsa} [verify required ca-file {ca}] *.w.test\n",
    "{xec} [verify required ca-file {ca}] x.w.test\n{wrsa} *.w.test\n",
    "{ec} [verify required ca-file {ca}] both.test\n{rsa} both.test\n",
]


@pytest.mark.parametrize("text", LISTS)
@pytest.mark.parametrize("options", ["", "strict-sni"])
def test_lists(ca, pems, tmp_path, text, options):
    crt_list = tmp_path / "list"
    crt_list.write_text("# names\n\n" + text.format(**pems))
    cfg = f"frontend f\n bind 127.0.0.1:{{p[0]}} ssl crt-list {crt_list} alpn one,two {options}\n{RESPONSE}"
    ours, theirs = in_both(tmp_path, cfg, lambda p: by_name(ca, p[0], alpn=["three", "two", "one"]))
    assert oracle.differences(theirs, ours) == []


SETTINGS = [
    "", "ssl-min-ver TLSv1.2 ssl-max-ver TLSv1.2", "ssl-min-ver TLSv1.3", "ssl-max-ver TLSv1.2", "no-tlsv12", "no-tlsv13",
    "force-tlsv13", "ciphers ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305",
    "ciphersuites TLS_CHACHA20_POLY1305_SHA256", "ciphers ALL:@SECLEVEL=0 ssl-min-ver TLSv1.0", "curves P-384",
    "curves X25519:P-256", "ecdhe secp384r1", "alpn http/1.1", "alpn http/1.0,http/1.1", "prefer-client-ciphers",
    "no-tls-tickets", "ssl-min-ver TLSv1.1 ssl-max-ver TLSv1.2 no-tlsv12",
    "no-tlsv12 ssl-min-ver TLSv1.2",
]
CLIENTS = [
    {}, {"high": "TLSv1_2"}, {"low": "TLSv1_3"}, {"high": "TLSv1_2", "ciphers": "ECDHE-RSA-AES128-GCM-SHA256"},
    {"high": "TLSv1_2", "ciphers": "ECDHE-RSA-CHACHA20-POLY1305:ECDHE-RSA-AES256-GCM-SHA384"},
    {"low": "TLSv1", "high": "TLSv1_1", "ciphers": "ALL:@SECLEVEL=0"}, {"curve": "prime256v1"}, {"curve": "secp384r1"},
    {"curve": "secp521r1"}, {"alpn": ["http/1.0"]}, {"alpn": ["h2", "http/1.1"]}, {"alpn": ["x"]},
    {"high": "TLSv1_2", "ciphers": "AES128-SHA"}, {"high": "TLSv1_2", "ciphers": "DHE-RSA-AES128-GCM-SHA256"},
]


@pytest.mark.parametrize("words", SETTINGS)
def test_settings(ca, pems, tmp_path, words):
    cfg = f"frontend f\n bind 127.0.0.1:{{p[0]}} ssl crt {pems['rsa']} {words}\n{RESPONSE}"
    ours, theirs = in_both(tmp_path, cfg, lambda p: [(kw, ask(p[0], client(ca, **kw))[0]) for kw in CLIENTS])
    assert oracle.differences(theirs, ours) == []


GLOBALS = [
    "ssl-default-bind-options ssl-min-ver TLSv1.3", "ssl-default-bind-options no-tlsv13 no-tls-tickets",
    "ssl-default-bind-ciphers ECDHE-RSA-AES128-GCM-SHA256", "ssl-default-bind-ciphersuites TLS_AES_128_GCM_SHA256",
    "ssl-default-bind-curves P-384", "ssl-dh-param-file {dh}", "tune.ssl.default-dh-param 2048",
    "ssl-default-bind-options no-tlsv12 ssl-min-ver TLSv1.2", "ssl-default-bind-options prefer-client-ciphers\n ssl-default-bind-ciphers ECDHE+AESGCM",
]


@pytest.mark.parametrize("words", GLOBALS)
def test_defaults(ca, pems, tmp_path, words):
    dh = tmp_path / "dh.pem"
    dh.write_text(subprocess.run(["openssl", "genpkey", "-genparam", "-algorithm", "DH", "-pkeyopt", "group:ffdhe2048"],
                                 capture_output=True, text=True, check=True).stdout)
    cfg = f"frontend f\n bind 127.0.0.1:{{p[0]}} ssl crt {pems['rsa']}\n{RESPONSE}"
    ours, theirs = in_both(tmp_path, cfg, lambda p: [(kw, ask(p[0], client(ca, **kw))[0]) for kw in CLIENTS],
                           extra=words.format(dh=dh))
    assert oracle.differences(theirs, ours) == []


MANUAL = Path(__file__).parents[2] / "man/tacit.cfg.5.in"


def test_manual_compares_names(ca, pems, tmp_path):
    """A line that verifies clients does so for connections that ask for its name, whatever host the requests name. The rule of
    the manual refuses requests for another host."""
    (rule,) = [line.replace("\\-", "-").replace("{", "{{").replace("}", "}}").strip() for line in MANUAL.read_text(encoding="utf-8").splitlines()
               if "ssl_fc_sni,lower,strcmp" in line]
    host = "http-request set-var(txn.host) req.hdr(host),lower,field(1,:)"
    assert host.replace("-", "\\-") in MANUAL.read_text(encoding="utf-8")
    crt_list = tmp_path / "list"
    crt_list.write_text(f"{pems['b']} open.test\n{pems['a']} [verify required ca-file {ca.pem}] secret.test\n")
    mine = ca.make("client.pem", "client")
    text = f"frontend f\n bind 127.0.0.1:{{p[0]}} ssl crt-list {crt_list}\n{RESPONSE}" \
        f"frontend g\n bind 127.0.0.1:{{p[1]}} ssl crt-list {crt_list}\n {host}\n {rule}\n{RESPONSE}"

    def get(port, name, host, crt=None):
        """The status; the name of the failure without one."""
        c = client(crt=crt, high="TLSv1_2")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=60) as raw, \
                c.wrap_socket(raw, server_hostname=name) as s:
            s.sendall(f"GET / HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
            return s.recv(4096).split()[1].decode()
        return None

    def probe(p):
        return [[get(port, *case) for case in (("open.test", "open.test"), ("open.test", "secret.test"), (None, "secret.test"),
                                               ("secret.test", "secret.test"), ("secret.test", "Secret.test:443", mine))]
                for port in p]

    ours, theirs = in_both(tmp_path, text, probe, 2)
    assert ours == theirs == [["200", "200", "200", None, "200"], ["200", "421", "421", None, "200"]]
