"""Commands about CAs, revocation lists and crt-lists: HAProxy's answers and tacit's, word for word."""

import re
import shutil

import oracle
import pytest
from certs import Authority
from conftest import admin
from tls_oracle import started

CONFIG = """frontend f
 bind 127.0.0.1:{{p[0]}} ssl crt {a} ca-file {ca} crl-file {empty} verify optional
 bind 127.0.0.1:{{p[1]}} ssl crt-list {list} ca-file {ca} verify optional ca-verify-file {ca2}
 bind 127.0.0.1:{{p[2]}} ssl crt-list {list} strict-sni crl-file {two} ca-file {ca} verify optional
 bind 127.0.0.1:{{p[3]}} ssl crt {dir}/
 http-request return status 200
backend b
 server s 127.0.0.1:{{p[0]}} ssl verify required ca-file {ca} crl-file {empty} crt {client}
"""
LIST = """# names

{a} [alpn http/1.1 ssl-min-ver TLSv1.2] a.test !b.a.test
{b}
{b} [verify optional no-ca-names ca-file {ca} crl-file {empty} ciphers ECDHE-ECDSA-AES256-GCM-SHA384 curves P-256] *.B.test
{b} [] !*
"""

# {=x} is the text of a file, as a payload.
CA_FILES = [
    "show ssl providers", "show ssl ca-file", "show ssl ca-file {ca}", "show ssl ca-file {ca}:1", "show ssl ca-file {ca}:2",
    "show ssl ca-file {ca}:x", "show ssl ca-file nope", "show ssl ca-file *{ca}", "set ssl ca-file", "set ssl ca-file {ca}",
    "set ssl ca-file nope {=ca}", "set ssl ca-file {ca} <<\ngarbage\n", "set ssl ca-file {ca} {=ca2}", "show ssl ca-file",
    "show ssl ca-file *{ca}", "show ssl ca-file {ca}", "set ssl ca-file {ca} {=ca}", "set ssl ca-file {ca2} {=ca}",
    "commit ssl ca-file", "commit ssl ca-file {ca2}", "abort ssl ca-file", "abort ssl ca-file nope", "abort ssl ca-file {ca}",
    "abort ssl ca-file {ca}", "commit ssl ca-file {ca}", "new ssl ca-file", "new ssl ca-file {ca}", "new ssl ca-file fresh",
    "show ssl ca-file", "show ssl ca-file fresh", "new ssl ca-file fresh", "set ssl ca-file fresh {=ca2}",
    "show ssl ca-file *fresh", "commit ssl ca-file fresh", "show ssl ca-file fresh", "del ssl ca-file", "del ssl ca-file nope",
    "del ssl ca-file {ca}", "del ssl ca-file fresh", "del ssl ca-file fresh", "set ssl ca-file {ca} {=ca}",
    "commit ssl ca-file {ca}", "commit ssl ca-file {ca}"]
CRL_FILES = [
    "show ssl crl-file", "show ssl crl-file {empty}", "show ssl crl-file {two}", "show ssl crl-file {two}:2",
    "show ssl crl-file {two}:3", "show ssl crl-file {two}:0", "show ssl crl-file nope", "set ssl crl-file",
    "set ssl crl-file nope {=two}", "set ssl crl-file {empty} <<\ngarbage\n", "set ssl crl-file {empty} {=two}",
    "show ssl crl-file", "show ssl crl-file *{empty}", "set ssl crl-file {empty} {=two}", "set ssl crl-file {two} {=two}",
    "commit ssl crl-file", "commit ssl crl-file nope", "abort ssl crl-file", "abort ssl crl-file nope",
    "commit ssl crl-file {empty}", "show ssl crl-file {empty}", "abort ssl crl-file {empty}", "new ssl crl-file",
    "new ssl crl-file {empty}", "new ssl crl-file {ca}", "new ssl crl-file fresh", "show ssl crl-file", "show ssl crl-file fresh",
    "set ssl crl-file fresh {=two}", "commit ssl crl-file fresh", "show ssl crl-file fresh", "del ssl crl-file",
    "del ssl crl-file nope", "del ssl crl-file {empty}", "del ssl crl-file fresh"]
CRT_LISTS = [
    "show ssl crt-list", "show ssl crt-list {list}", "show ssl crt-list -n {list}", "show ssl crt-list {list} -n",
    "show ssl crt-list -n", "show ssl crt-list nope", "show ssl crt-list -n {dir}", "show ssl crt-list {dir}/",
    "add ssl crt-list", "add ssl crt-list {list}", "add ssl crt-list nope {x}", "add ssl crt-list {list} {x}",
    "new ssl cert {x}", "add ssl crt-list {list} {x}", "set ssl cert {x} {=x}", "commit ssl cert {x}",
    "add ssl crt-list {list} {x}", "add ssl crt-list {list} {x} more", "show ssl crt-list -n {list}",
    "add ssl crt-list {list} <<\n{x} [alpn http/1.1 ssl-min-ver TLSv1.3 verify none] *.foo.test !bar.foo.test\n",
    "add ssl crt-list {list} <<\n{x} [bad] a.test\n", "add ssl crt-list {list} <<\n{x} [alpn] a.test\n",
    "add ssl crt-list {list} <<\n[alpn one] a.test\n", "add ssl crt-list {list} <<\n{x} a.test\n{x} b.test\n",
    "add ssl crt-list {list} <<\n{x} [ca-file {ca2} verify required] *.ca.test\n",
    "add ssl crt-list {list} <<\n{x} [ca-file nope verify required] *.ca.test\n", "show ssl crt-list -n {list}",
    "commit ssl cert {x}", "set ssl cert {x} {=x}", "commit ssl cert {x}", "set ssl cert {a} {=a}", "commit ssl cert {a}",
    "set ssl cert {client} {=client}", "commit ssl cert {client}",
    "del ssl crt-list", "del ssl crt-list {list}", "del ssl crt-list {list} nope", "del ssl crt-list nope {x}",
    "del ssl crt-list {list} {x}", "del ssl crt-list {list} {x}:9", "del ssl crt-list {list} {x}:x",
    "del ssl crt-list {list} {x}:99", "del ssl crt-list {list} {a}:1", "del ssl crt-list {list} {a}",
    "show ssl crt-list -n {list}", "del ssl cert {x}", "add ssl crt-list {dir} {x}", "new ssl cert {dir}/x.pem",
    "set ssl cert {dir}/x.pem {=x}", "commit ssl cert {dir}/x.pem", "add ssl crt-list {dir} {dir}/x.pem",
    "add ssl crt-list {dir} {dir}/x.pem", "show ssl crt-list -n {dir}", "del ssl crt-list {dir} {dir}/a.pem",
    "del ssl crt-list {dir} {dir}/x.pem", "show ssl crt-list -n {dir}", "del ssl cert {dir}/x.pem", "show ssl cert"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    one, two = Authority(tmp_path_factory.mktemp("one"), "CA one"), Authority(tmp_path_factory.mktemp("two"), "CA two")
    f = {n: one.make(f"{n}.pem", f"{n}.test", [f"{n}.test"]) for n in ("a", "b", "x", "client")}
    f["dir"] = one.dir / "d"
    f["dir"].mkdir()
    for n in ("a", "b"):
        shutil.copy(f[n], f["dir"])
    f["empty"] = one.dir / "empty.crl"
    f["empty"].write_bytes(one.crl().read_bytes())
    f["two"] = one.dir / "two.crl"
    f["two"].write_bytes(one.crl(f["client"], f["x"]).read_bytes() + two.crl().read_bytes())
    f |= {"ca": one.pem, "ca2": two.pem, "list": one.dir / "list"}
    f["list"].write_text(LIST.format(**f))
    return f


def command(line, files):
    return re.sub(r"\{=(\w+)\}", lambda m: "<<\n" + files[m[1]].read_text(), line).format(**files)


def comparable(text):
    """Without what HAProxy has loaded for its own HTTP client, its NUL behind a list of protocols, the place of a bind line,
    and the dots of a commit, of which HAProxy makes fewer where lines share a certificate."""
    text = re.sub(r"@system-ca - .*\n", "", text).replace("\0", "")
    text = re.sub(r"(Committing [^\n]*?)\.*\n", r"\1\n", text)
    return re.sub(r"\t- .*?(:\d+)", r"\t- cfg\1", text)


@pytest.mark.parametrize("lines", [CA_FILES, CRL_FILES, CRT_LISTS], ids=["ca-file", "crl-file", "crt-list"])
def test_words(files, tmp_path, lines):
    def play(program):
        with started(program, tmp_path, CONFIG.format(**files), 4) as p:
            return [(line, comparable(admin(p.sock, command(line, files)))) for line in lines]

    theirs, ours = oracle.both(play)
    assert oracle.differences(theirs, ours) == []
