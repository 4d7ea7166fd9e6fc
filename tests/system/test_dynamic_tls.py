"""Servers that are added at run time and speak TLS: with what the configuration has read, over a reload, and in HAProxy's words."""

import pytest
from certs import Authority
from conftest import admin, free_port
from subject import only_tacit
from test_master import MASTER, reload
from test_tls import HTTP, Https, fetch
from tls_oracle import in_both

pytestmark = only_tacit


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certs"))


@pytest.fixture(scope="module")
def https(ca):
    s = Https(ca.make("s.pem", "s.test", ["s.test", "t.test"]))
    yield s
    s.close()


SITE = HTTP + """listen a
 bind 127.0.0.1:{p}
 retries 0
 server first 127.0.0.1:{to} ssl ca-file {ca} sni str(s.test) disabled
"""


def add(d, line):
    return d.admin(f"add server a/{line}").strip()


@pytest.mark.parametrize("workers", [1, 3])
def test_added_servers_speak_tls(daemon, ca, https, workers):
    p = free_port()
    d = daemon(SITE.format(p=p, to=https.port, ca=ca.pem), extra=f"nbthread {workers}")
    at = f"127.0.0.1:{https.port}"
    assert fetch(p)[0] == 503
    for options, status, name in (("verify none", 200, "None"), (f"ca-file {ca.pem} sni str(t.test)", 200, "t.test"),
                                  (f"ca-file {ca.pem} sni str(u.test)", 503, None)):
        assert add(d, f"n {at} ssl {options}") == "New server registered."
        d.admin("enable server a/n")
        for _ in range(2 * workers):
            got, text = fetch(p)
            assert got == status and (name is None or text.split()[0] == name)
        assert d.admin("set server a/n ssl off").strip() == "server ssl setting updated."
        assert fetch(p)[0] != 200
        assert d.admin("set server a/n ssl on").strip() == "server ssl setting updated."
        assert fetch(p)[0] == status
        d.admin("disable server a/n")
        assert d.admin("wait 1m srv-removable a/n;del server a/n", 90) == "Done.\n\nServer deleted.\n\n"
    # checks use TLS, too; a handshake has the time of `inter`
    assert add(d, f"c {at} ssl verify none check inter 1m fastinter 50ms downinter 50ms") == "New server registered."
    d.admin("enable health a/c; enable server a/c")
    d.until("counter a/c/check_status eq L6OK")


def test_a_switch_outlives_a_reload(daemon, ca, https):
    """TLS that a command has switched off or on; what the configuration has changed counts."""
    p = free_port()
    line = f" server s 127.0.0.1:{https.port} ssl ca-file {ca.pem} sni str(s.test)"
    d = daemon(SITE.format(p=p, to=https.port, ca=ca.pem) + line + "\n", mode=MASTER)

    def state():
        return {row.split()[3]: row.split()[20] for row in d.admin("show servers state a").split("\n")[2:] if row}

    assert fetch(p)[0] == 200 and state() == {"first": "1", "s": "1"}
    assert d.admin("set server a/s ssl off").strip() == "server ssl setting updated."
    for _ in range(2):
        assert reload(d)
        assert fetch(p)[0] != 200 and state() == {"first": "1", "s": "0"}
    assert d.admin("set server a/s ssl on").strip() == "server ssl setting updated."
    assert reload(d)
    assert fetch(p)[0] == 200 and state() == {"first": "1", "s": "1"}
    assert d.admin("set server a/s ssl off").strip() == "server ssl setting updated."
    d.cfg.write_text(d.cfg.read_text().replace(line, line + " no-ssl"))
    assert reload(d)
    d.cfg.write_text(d.cfg.read_text().replace(line + " no-ssl", line))
    assert reload(d)
    assert fetch(p)[0] == 200 and state() == {"first": "1", "s": "1"}


def test_a_reload_keeps_them(daemon, ca, https):
    p = free_port()
    d = daemon(SITE.format(p=p, to=https.port, ca=ca.pem), mode=MASTER)
    assert add(d, f"n 127.0.0.1:{https.port} ssl ca-file {ca.pem} sni str(t.test)") == "New server registered."
    d.admin("enable server a/n")
    assert fetch(p)[1].split()[0] == "t.test"
    assert reload(d)
    assert fetch(p)[1].split()[0] == "t.test"


def test_files_that_were_not_read_and_configurations_without_tls(daemon, ca, https, tmp_path):
    p, q = free_port(), free_port()
    d = daemon(SITE.format(p=p, to=https.port, ca=ca.pem))
    at = f"127.0.0.1:{https.port}"
    other = tmp_path / "other.pem"
    other.write_text(ca.pem.read_text())
    assert "unable to load" in add(d, f"n {at} ssl ca-file {other}")
    assert "unable to load" in add(d, f"n {at} ssl verify none crt {other}")
    assert "unable to load" in add(d, f"n {at} ssl ca-file {ca.pem} crl-file {tmp_path}")
    assert "no CA file specified" in add(d, f"n {at} ssl")
    assert "'ciphers'" in add(d, f"n {at} ssl verify none ciphers NONE") or "cipher" in add(d, f"n {at} ssl verify none ciphers NONE")
    assert d.admin("show servers state a").count(" n ") == 0
    plain = daemon(HTTP + f"listen a\n bind 127.0.0.1:{q}\n server s 127.0.0.1:1\n")
    assert "needs a 'bind' or 'server' line with 'ssl'" in add(plain, f"n {at} ssl verify none")
    assert add(plain, f"n {at}") == "New server registered."


def test_answers_are_those_of_haproxy(ca, https, tmp_path):
    lines = ["", "verify none", "verify none sni str(x) alpn http/1.1", "verify none ssl-min-ver TLSv1.2 no-tls-tickets no-ssl-reuse",
             f"ca-file {ca.pem} verifyhost s.test", "verify none check-ssl check-sni x check", "verify required",
             "verify none init-addr none", "verify none resolvers x", "verify none ciphersuites TLS_AES_128_GCM_SHA256"]
    text = f"listen a\n bind 127.0.0.1:{{p[0]}}\n server s 127.0.0.1:{https.port} ssl ca-file {ca.pem}\n"

    def probe(p):
        return [(admin(p.sock, f"add server a/n{i} 127.0.0.1:{https.port} ssl {line}").strip(),
                 [row.split()[20] for row in admin(p.sock, "show servers state").splitlines()[2:] if f" n{i} " in row])
                for i, line in enumerate(lines)]

    ours, theirs = in_both(tmp_path, text, probe)
    assert [(line, a, b) for line, a, b in zip(lines, ours, theirs) if a != b] == []
