"""Certificates of clients, through HAProxy and tacit: which are accepted, answers to clients, log lines and counters."""

import re
import socket
import ssl

import oracle
import pytest
from certs import Authority, openssl
from conftest import WAIT
from subject import LogServer
from tls_oracle import ask, body, client, counters, in_both, reason

SEEN = ["ssl_fc_has_crt", "ssl_c_used", "ssl_c_verify", "ssl_c_err", "ssl_c_ca_err", "ssl_c_ca_err_depth", "ssl_c_s_dn",
        "ssl_c_i_dn", "ssl_fc_err", "ssl_fc_is_resumed"]


class Below(Authority):
    """A CA that another one has signed."""

    def __init__(self, above, directory):
        super().__init__(directory, "sub CA")
        csr, ext = self.dir / "sub.csr", self.dir / "sub.ext"
        openssl("req", "-new", "-key", self.key, "-subj", "/CN=sub CA", "-out", csr)
        ext.write_text("basicConstraints=critical,CA:TRUE\n")
        openssl("x509", "-req", "-in", csr, "-CA", above.pem, "-CAkey", above.key, "-set_serial", 77, "-days", 30,
                "-extfile", ext, "-out", self.pem)

    def chain(self, file, cn):
        pem = self.make(file, cn)
        pem.write_text(pem.read_text() + self.pem.read_text())
        return pem


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    base = tmp_path_factory.mktemp("certs")
    ca, other = Authority(base / "ca"), Authority(base / "other", "other CA")
    sub = Below(ca, base / "sub")
    revoked = ca.make("revoked.pem", "revoked")
    clients = {"none": None, "good": ca.make("good.pem", "good"), "expired": ca.make("expired.pem", "expired", days=-1),
               "revoked": revoked, "stranger": other.make("stranger.pem", "stranger"),
               "below": sub.chain("below.pem", "below"), "below, alone": sub.make("alone.pem", "alone"),
               "rsa": ca.make("rsa.pem", "rsa", kind="rsa")}
    both = base / "both.pem"
    both.write_text(ca.pem.read_text() + other.pem.read_text())
    return {"ca": ca, "server": ca.make("server.pem", "server"), "clients": clients, "ca_file": ca.pem, "both": both,
            "crl": ca.crl(revoked), "old": ca.crl(revoked, days=-1), "other": other.pem, "sub": sub.pem}


def alert_of(port, c):
    """The alert for a client that sends nothing."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=60) as raw, c.wrap_socket(raw) as s:
            return "end" if s.recv(1) == b"" else "data"
    except OSError as e:
        return reason(e)


LINES = [
    "", "verify none", "verify none ca-file {ca_file}", "verify optional ca-file {ca_file}",
    "verify required ca-file {ca_file}", "verify required ca-file {both}", "verify required ca-file {ca_file} no-ca-names",
    "verify required ca-file {ca_file} crl-file {crl}", "verify required ca-file {ca_file} crl-file {old}",
    "verify optional ca-file {ca_file} crl-file {crl} crt-ignore-err all",
    "verify required ca-file {ca_file} crt-ignore-err 10", "verify required ca-file {ca_file} crl-file {crl} crt-ignore-err 10,23",
    "verify required ca-file {ca_file} ca-ignore-err all", "verify required ca-file {ca_file} crt-ignore-err all",
    "verify required ca-file {ca_file} ca-ignore-err all crt-ignore-err all",
    "verify optional ca-file {ca_file} ca-ignore-err 2,20,21 crt-ignore-err 2,20,21",
    "verify required ca-file {other} ca-verify-file {ca_file}", "verify required ca-file {sub}",
    "verify required ca-file {ca_file} no-tls-tickets",
]


def without_times(line):
    """The line without client, date, the total time and the number of bytes."""
    return re.sub(r".*\[\d+\]: (.*:\d+ \[.*\] )?", "", re.sub(r"/-?\d+ (?:(\d+) )?\d+ (?=- -|[A-Z-]{2} )", r"/T \1 N ", line))


COLUMNS = "scur", "stot", "ereq", "dreq", "econ", "req_tot", "conn_tot", "hrsp_2xx", "hrsp_4xx", "dcon", "dses"


def watched(world, tmp_path, line, probe, options="", name=""):
    """probe(ports) with both programs: what it says, the log lines and the counters."""
    log = LogServer()
    seen = ",".join(f"%[{w}]" for w in SEEN)
    text = f"frontend f\n bind 127.0.0.1:{{p[0]}} name b ssl crt {world['server']} {line.format(**world)}\n" \
        f" log 127.0.0.1:{log.port} local0\n {options}\n" \
        f" http-request return status 200 content-type text/plain lf-string \"{seen}\"\n"

    def all_of(p):
        log.drain()
        log.lines.clear()
        reported = probe(p)
        p.barrier()
        lines = [without_times(line) for line in log.drain()]
        log.lines.clear()
        return reported, lines, counters(p.sock, *COLUMNS)[:1]

    try:
        return in_both(tmp_path, text, all_of, name=name)
    finally:
        log.close()


def must_agree(ours, theirs):
    assert oracle.differences(theirs[0], ours[0]) == []
    assert oracle.differences(theirs[1], ours[1]) == []
    assert ours[2] == theirs[2]


@pytest.mark.parametrize("line", LINES)
def test_certificates(world, tmp_path, line):
    def probe(p):
        reported, (port,) = [], p
        for name, crt in world["clients"].items():
            for version in ("TLSv1_2", "TLSv1_3"):
                c = client(crt=crt, high=version)
                met, got = ask(port, c)
                if got:
                    reported.append((name, version, met, body(got), body(ask(port, c, session=ask.session)[1])))
                else:
                    reported.append((name, version, alert_of(port, c)))
        return reported

    ours, theirs = watched(world, tmp_path, line, probe, "option httpslog")
    must_agree(ours, theirs)


def test_authorities_are_named(world, tmp_path):
    """The authorities that a client is asked for (openssl s_client shows it)."""
    import subprocess

    def names(p):
        reported = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{p[0]}"], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=WAIT, check=False).stdout
        return [re.findall(r"^CN = .*$", reported.partition("Acceptable client certificate CA names")[2].partition("---")[0],
                           re.MULTILINE)]

    for line in LINES:
        ours, theirs = watched(world, tmp_path, line, names, "option dontlognull", line)
        assert (line, ours[0]) == (line, theirs[0])


ERROR_FORMAT = 'error-log-format "%ci %[fc_err] %[fc_err_str] %[ssl_fc_err,hex] %[ssl_fc_err_str] %[ssl_c_err] ' \
    '%[ssl_c_ca_err] %[ssl_fc_sni] %sslv %sslc"'


@pytest.mark.parametrize("version", ["TLSv1_2", "TLSv1_3"])
@pytest.mark.parametrize("options", [ERROR_FORMAT, "option tcplog", "option dontlognull\n " + ERROR_FORMAT])
def test_errors_are_logged(world, tmp_path, options, version):
    """The log has the reason of a failed handshake."""
    def probe(p):
        reported, (port,) = [], p
        for name in ("none", "expired", "revoked", "stranger", "below, alone"):
            reported.append((name, alert_of(port, client(crt=world["clients"][name], high=version))))
            p.barrier()
        for kw in ({"ciphers": "AES128-SHA", "high": "TLSv1_2"}, {"curve": "secp521r1"},
                   {"low": "TLSv1", "high": "TLSv1_1", "ciphers": "ALL:@SECLEVEL=0"}):
            reported.append((kw, alert_of(port, client(**kw))))
            p.barrier()
        raw = socket.create_connection(("127.0.0.1", port), timeout=60)
        with ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).wrap_socket(raw, server_hostname="a.test", do_handshake_on_connect=False) as s:
            with pytest.raises(ssl.SSLError):
                s.do_handshake()
            # A reset before the alert was read would hide it.
            p.barrier()
        return reported

    ours, theirs = watched(world, tmp_path, "verify required ca-file {ca_file} crl-file {crl} curves X25519:P-256 "
                           "ciphers ECDHE+AESGCM", probe, options)
    must_agree(ours, theirs)
