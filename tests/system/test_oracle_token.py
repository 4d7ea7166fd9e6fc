"""HAProxy's verdict on signatures of JSON Web Tokens: both programs give the same number."""
import base64
import re
import socket
import subprocess

import facts
import oracle
import pytest

from conftest import WAIT, free_port

EC = {"ES256": ("prime256v1", 32), "ES384": ("secp384r1", 48), "ES512": ("secp521r1", 66)}


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def openssl(*args, data=b""):
    return subprocess.run(["openssl", *map(str, args)], input=data, check=True, capture_output=True, timeout=60).stdout


def signature(alg, key, text):
    options = ("-hmac", "secret", "-binary") if alg[0] == "H" else ("-sign", key)
    made = openssl("dgst", "-sha" + alg[2:], *options, data=text.encode())
    if alg in EC:
        shown = openssl("asn1parse", "-inform", "DER", data=made).decode()
        made = b"".join(int(n, 16).to_bytes(EC[alg][1], "big") for n in re.findall(r"INTEGER\s+:([0-9A-F]+)", shown))
    return b64(made)


@pytest.fixture(scope="module", name="tokens")
def _tokens(tmp_path_factory):
    """(directory, {algorithm: token}); a public key is in the file of its algorithm's name."""
    where = tmp_path_factory.mktemp("keys")
    openssl("genrsa", "-out", where / "rsa.key", 2048)
    tokens = {}
    for alg in ("HS256", "HS384", "HS512", "RS256", "RS384", "RS512", *EC):
        key = where / "rsa.key"
        if alg in EC:
            key = where / f"{alg}.key"
            openssl("ecparam", "-genkey", "-name", EC[alg][0], "-noout", "-out", key)
        openssl("pkey", "-in", key, "-pubout", "-out", where / alg)
        text = b64(b'{"alg":"%s"}' % alg.encode()) + "." + b64(b'{"n":5}')
        tokens[alg] = f"{text}.{signature(alg, key, text)}"
    return where, tokens


def ask(port, token, i):
    with socket.create_connection(("127.0.0.1", port), WAIT) as s:
        s.sendall(f"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nt: {token}\r\nx: {i}\r\n\r\n".encode())
        got = b""
        while piece := s.recv(65536):
            got += piece
    return got.partition(b"\r\n\r\n")[2].decode()


def verdicts(program, path, rules, questions):
    """The answers of one program to {name: (token, index of a rule)}."""
    port = free_port()
    lines = ["defaults", " mode http", " timeout client 1m", " timeout server 1m", " timeout connect 1m", "frontend f",
             f" bind 127.0.0.1:{port}", " http-request set-var(txn.t) req.hdr(t)",
             " http-request set-var(txn.alg) req.hdr(t),jwt_header_query('$.alg')", " http-request set-var(txn.key) str(secret)"]
    lines += [f" http-request return status 200 content-type text/plain lf-string '%[var(txn.t),jwt_verify({r})]'"
              f" if {{ req.hdr(x) -m str {i} }}" for i, r in enumerate(rules)]
    path.write_text(oracle.given("\n".join(lines) + "\n"))
    p = subprocess.Popen([program, "-db", "-f", path], stderr=subprocess.DEVNULL)
    try:
        facts.listens(port)
        return {name: ask(port, token, i) for name, (token, i) in questions.items()}
    finally:
        p.terminate()
        p.wait(WAIT)


def test_same_verdict(tokens, tmp_path):
    where, tokens = tokens
    keys = {alg: "secret" if alg[0] == "H" else where / alg for alg in tokens}
    # each algorithm with its key, and with those of other kinds, and what the token itself says
    rules = [f"{alg},{key}" for alg, key in keys.items()] + ["HS256,txn.key", "HS256,wrong", f"RS256,{where}/ES256",
                                                           f"txn.alg,{where}/RS256", "txn.alg,secret"]
    questions = {f"{alg} by {rule}": (token, i) for alg, token in tokens.items() for i, rule in enumerate(rules)
                 # a signature that is no pair of numbers of that curve is 0 or -3
                 if not rule.startswith("ES") or rule[:5] == alg}
    for alg in ("HS256", "RS256", "ES256"):
        head, payload, sig = tokens[alg].split(".")
        i = list(keys).index(alg)
        for text in ("head.payload", "head.payload.", "head", "head.payload.sig.x", "ahead.payload.sig", "head.apayload.sig"):
            token = text.replace("head", head).replace("payload", payload).replace("sig", sig)
            questions[f"{alg} as {text}"] = token, i
    theirs, ours = oracle.both(lambda program: verdicts(program, tmp_path / "t.cfg", rules, questions))
    assert ours == theirs
    assert sorted(set(theirs.values())) == ["-3", "-5", "0", "1"]
