"""Values of fetches about TLS, through HAProxy and tacit."""

import socket

import pytest
from certs import Authority
from tls_oracle import ask, body, client, in_both, nameless

SIDE = ["alg_keysize", "alpn", "cipher", "client_random,hex,length", "err", "err_str", "is_resumed", "protocol",
        "server_random,hex,length", "session_id,hex,length", "session_key,hex,length", "unique_id,hex,length", "use_keysize"]
CERT = ["der,hex", "i_dn", "i_dn(CN)", "key_alg", "notafter", "notbefore", "s_dn", "s_dn(O)", "s_dn(OU)", "s_dn(OU,2)",
        "s_dn(OU,-1)", "s_dn(OU,3)", "s_dn(cn)", "s_dn(Ou,2)", "s_dn(o)", "i_dn(cn)", "s_dn(commonName)",
        "s_dn(2.5.4.3)", "s_dn(CN,0)", "s_dn(,0,rfc2253)", "serial,hex", "sha1,hex", "sig_alg", "version"]
ONLY_CLIENT = ["ssl_fc_has_crt", "ssl_fc_has_sni", "ssl_fc_sni", "ssl_c_used", "ssl_c_verify", "ssl_c_err",
               "ssl_c_ca_err", "ssl_c_ca_err_depth", "ssl_c_chain_der,hex", "fc_err", "fc_err_str"]
FRONT = ["ssl_fc"] + ["ssl_fc_" + w for w in SIDE] + ["ssl_c_" + w for w in CERT] + ["ssl_f_" + w for w in CERT] + \
    ONLY_CLIENT
BACK = ["ssl_bc"] + ["ssl_bc_" + w for w in SIDE] + ["ssl_s_" + w for w in CERT]
SUBJECT = "/O=Org, Inc./OU=one/OU=two/CN=client"


def show(words):
    return "".join(f" http-response add-header X-{i} %[{w}]\n" for i, w in enumerate(words))


def shown(words, text, pems=()):
    """{fetch: its value}; without those that gave nothing. pems: certificates that are shown."""
    reported = dict(line.split(": ", 1) for line in text.split("\r\n\r\n")[0].split("\r\n") if line.startswith("X-") or
                line.startswith("x-"))
    found = {w: reported.get(f"x-{i}", reported.get(f"X-{i}")) for i, w in enumerate(words)}
    return {w: value and nameless(value, pems) for w, value in found.items()}


def must_agree(ours, theirs):
    """Lists of (what was agreed, values of fetches)."""
    differ = [(i, w, a[1][w], b[1].get(w)) for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) for w in a[1]
              if a[1][w] != b[1].get(w)]
    assert not differ
    assert [a[0] for a in ours] == [b[0] for b in theirs]


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certs"))


@pytest.fixture(scope="module")
def pems(ca):
    return {kind: ca.make(f"{kind}.pem", f"{kind}.test", [f"{kind}.test"], kind=kind)
            for kind in ("rsa", "rsa3072", "ec", "ec384", "ed25519")}


@pytest.mark.parametrize("kind", ["rsa", "rsa3072", "ec", "ec384", "ed25519"])
@pytest.mark.parametrize("version", ["TLSv1_2", "TLSv1_3"])
def test_frontend(ca, pems, tmp_path, kind, version):
    """With and without a client's certificate and a name, and of a session that is resumed."""
    mine = ca.make("mine.pem", "client", kind=kind, subject=SUBJECT)
    text = f"frontend f\n bind 127.0.0.1:{{p[0]}} ssl crt {pems[kind]} verify optional ca-file {ca.pem} alpn http/1.1\n" \
        f" http-request return status 200\n{show(FRONT).replace('http-response add-header', 'http-after-response add-header')}"

    def probe(p):
        reported = []
        for crt, name, alpn in ((None, None, None), (mine, "a.test", ["x", "http/1.1"])):
            c = client(ca, crt=crt, high=version, alpn=alpn)
            met, got = ask(p[0], c, name)
            reported.append((met, shown(FRONT, got, (pems[kind], mine, ca.pem))))
            met, got = ask(p[0], c, name, session=ask.session)
            reported.append((met, shown(FRONT, got, (pems[kind], mine, ca.pem))))
        return reported

    ours, theirs = in_both(tmp_path, text, probe)
    must_agree(ours, theirs)
    assert ours[0][1]["ssl_fc_is_resumed"] == "0" and ours[1][1]["ssl_fc_is_resumed"] == "1"
    assert ours[2][1]["ssl_c_s_dn(OU,2)"] == ours[2][1]["ssl_c_s_dn(Ou,2)"] == "two"


def test_acls_of_the_name(ca, pems, tmp_path):
    """ssl_fc_sni has ACLs of its own."""
    text = f"frontend f\n bind 127.0.0.1:{{p[0]}} ssl crt {pems['ec']}\n http-request return status 401 if {{{{ ssl_fc_sni_end .test }}}}\n" \
        " http-request return status 402 if {{ ssl_fc_sni_reg -i ^b[0-9] }}\n http-request return status 403 if {{ ssl_fc_sni c }}\n" \
        " http-request return status 404\n"

    def probe(p):
        return [ask(p[0], client(), name)[1].split()[1] for name in ("a.test", "B1.lan", "c", "d.TEST", None)]

    ours, theirs = in_both(tmp_path, text, probe)
    assert ours == theirs == ["401", "402", "403", "404", "404"]


def test_plain(tmp_path):
    """Without TLS."""
    text = "frontend f\n bind 127.0.0.1:{p[0]}\n http-request return status 200\n" + \
        show(FRONT).replace("http-response", "http-after-response")

    def probe(p):
        with socket.create_connection(("127.0.0.1", p[0]), timeout=60) as s:
            s.sendall(b"GET / HTTP/1.0\r\n\r\n")
            return shown(FRONT, b"".join(iter(lambda: s.recv(65536), b"")).decode())

    ours, theirs = in_both(tmp_path, text, probe)
    assert ours == theirs


@pytest.mark.parametrize("kind", ["rsa", "ec", "ed25519"])
@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
def test_backend(ca, pems, tmp_path, kind, version):
    """The same program is the server."""
    mine = ca.make("own.pem", "client", kind=kind, subject=SUBJECT)
    text = f"listen l\n bind 127.0.0.1:{{p[0]}}\n http-reuse never\n" \
        f" server s 127.0.0.1:{{p[1]}} ssl ca-file {ca.pem} sni str({kind}.test) crt {mine} " \
        f"ssl-max-ver {version} alpn http/1.1\n{show(BACK)}" \
        f"frontend f\n bind 127.0.0.1:{{p[1]}} ssl crt {pems[kind]} verify required ca-file {ca.pem} alpn http/1.1\n" \
        " http-request return status 200 content-type text/plain lf-string %[ssl_c_s_dn],%[ssl_fc_sni]\n"

    def probe(p):
        reported = []
        for _ in range(2):
            with socket.create_connection(("127.0.0.1", p[0]), timeout=60) as s:
                s.sendall(b"GET / HTTP/1.0\r\n\r\n")
                got = b"".join(iter(lambda s=s: s.recv(65536), b"")).decode()
                reported.append((body(got), shown(BACK, got, (pems[kind], mine, ca.pem))))
        return reported

    ours, theirs = in_both(tmp_path, text, probe, 2, extra="tune.maxrewrite 8192")
    must_agree(ours, theirs)
    assert ours[0][0] == f"{SUBJECT},{kind}.test"
