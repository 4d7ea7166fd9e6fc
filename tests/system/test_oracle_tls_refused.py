"""Certificates that OpenSSL refuses: HAProxy and tacit say so before they serve, and tacit says on which line."""

import shutil
import subprocess

import oracle
import pytest
from certs import Authority, openssl
from conftest import TACIT, is_open
from tls_oracle import started

WEAK_RSA = ["rsa:1024"]
WEAK_EC = ["ec", "-pkeyopt", "ec_paramgen_curve:prime192v1"]
CONFIG = """global
 stats socket {dir}/admin level admin
defaults
 mode http
 timeout client 1m
 timeout connect 1m
 timeout server 1m
frontend f
 bind 127.0.0.1:{port} ssl {what}
 http-request return status 200
"""


def self_signed(out, cn, *key):
    openssl("req", "-x509", "-newkey", *key, "-nodes", "-days", 30, "-subj", f"/CN={cn}", "-keyout", f"{out}.k",
            "-out", f"{out}.c")
    with open(out, "w", encoding="utf-8") as f:
        for part in ("c", "k"):
            with open(f"{out}.{part}", encoding="utf-8") as read:
                f.write(read.read())
    return out


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    d = tmp_path_factory.mktemp("refused")
    ca = Authority(d / "ca")
    f = {"good": ca.make("good.pem", "good.test"), "rsa": self_signed(d / "rsa.pem", "rsa.test", *WEAK_RSA),
         "ec": self_signed(d / "ec.pem", "ec.test", *WEAK_EC), "chain": d / "chain.pem"}
    # A strong certificate whose CA has a weak key.
    key, csr, crt = (d / f"below.{e}" for e in ("key", "csr", "crt"))
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=below.test", "-keyout", key, "-out", csr)
    openssl("x509", "-req", "-in", csr, "-CA", f"{f['rsa']}.c", "-CAkey", f"{f['rsa']}.k", "-set_serial", 7, "-days", 30,
            "-out", crt)
    f["chain"].write_text(crt.read_text() + (d / "rsa.pem.c").read_text() + key.read_text())
    return f


def check(program, tmp_path, what):
    path = tmp_path / "refused.cfg"
    path.write_text(oracle.given(CONFIG.format(dir=tmp_path, port=1, what=what)))
    p = subprocess.run([program, "-c", "-f", path], capture_output=True, text=True, timeout=60, check=False)
    return p.returncode, p.stderr


@pytest.mark.parametrize("bad", ["rsa", "ec", "chain"])
def test_on_a_bind_line(files, tmp_path, bad):
    """The second certificate is no less refused than the first one."""
    for what in (f"crt {files[bad]}", f"crt {files['good']} crt {files[bad]}"):
        assert oracle.same(lambda program, w=what: check(program, tmp_path, w)[0], name=str(what.count("crt"))) == 1
        reported = check(TACIT, tmp_path, what)[1]
        line = f" bind 127.0.0.1:1 ssl {what}"
        assert f"refused.cfg:9:{line.rindex(str(files[bad])) + 1}]" in reported
        assert f"unable to load SSL certificate into SSL Context '{files[bad]}': " in reported
        assert "key too small" in reported


def test_all_are_named(files, tmp_path):
    """Each line of a list has its settings: a weak key is refused where they do not allow it, and all such lines are named."""
    crt_list = tmp_path / "list"
    crt_list.write_text(f"{files['good']}\n{files['rsa']} a.test\n  {files['chain']} b.test\n{files['good']} c.test\n"
                        f"{files['ec']} [ciphers DEFAULT@SECLEVEL=0] d.test\n")
    assert oracle.same(lambda program: check(program, tmp_path, f"crt-list {crt_list}")[0]) == 1
    reported = check(TACIT, tmp_path, f"crt-list {crt_list}")[1]
    assert "list:2:1] : unable to load SSL certificate" in reported and "list:3:3] : unable to load SSL certificate" in reported
    assert "list:5" not in reported and reported.count("unable to load SSL certificate") == 2


def test_directory(files, tmp_path):
    d = tmp_path / "d"
    d.mkdir()
    for name, file in (("a", "good"), ("b", "ec"), ("c", "good")):
        shutil.copy(files[file], d / f"{name}.pem")
    assert oracle.same(lambda program: check(program, tmp_path, f"crt {d}")[0]) == 1
    reported = check(TACIT, tmp_path, f"crt {d}")[1]
    assert f"'{d}/b.pem': ee key too small" in reported


def test_start(files, tmp_path):
    """No port is opened."""
    def play(program):
        with pytest.raises(AssertionError, match="unable to load SSL certificate into SSL Context"), started(
                program, tmp_path, f"frontend f\n bind 127.0.0.1:{{p[0]}} ssl crt {files['good']} crt {files['ec']}\n") as p:
            assert not is_open(p[0])
        return "not started"

    oracle.same(play)
