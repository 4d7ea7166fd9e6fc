"""Files of TLS that commands change while clients come: what verifies them, and which certificate they get."""

import itertools
import socket
import ssl
import threading

import pytest
from certs import Authority
from conftest import WAIT, free_ports
from facts import Seen, becomes

HTTP = """
defaults
    mode http
    timeout client 1m
    timeout server 1m
    timeout connect 1m
"""
OK = " http-request return status 200\n"


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("one"), "CA one")


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("two"), "CA two")


def context(crt=None, ca=None):
    c = ssl.create_default_context(cafile=str(ca.pem)) if ca else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    c.check_hostname = False
    c.verify_mode = ssl.CERT_REQUIRED if ca else ssl.CERT_NONE
    if crt:
        c.load_cert_chain(crt)
    return c


def ask(port, c, name=None, session=None):
    """(the status of a response, whether the session was resumed, the session), or None if there is no response."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=WAIT) as raw, \
                c.wrap_socket(raw, server_hostname=name, session=session) as s:
            s.sendall(b"GET / HTTP/1.0\r\n\r\n")
            got = b""
            while part := s.recv(65536):
                got += part
            return got[9:12], s.session_reused, s.session
    except OSError:
        return None


def accepts(port, c, n=8):
    """True or False if the listener says the same to n clients, which all workers share."""
    reported = {ask(port, c) is not None for _ in range(n)}
    assert len(reported) == 1
    return reported.pop()


def change(d, kind, file, text):
    assert "transaction created" in d.admin(f"set ssl {kind} {file} <<\n{text}\n")
    reported = d.admin(f"commit ssl {kind} {file}")
    assert reported.endswith("\nSuccess!\n\n"), reported


@pytest.mark.parametrize("workers", [1, 3])
def test_ca_file(daemon, one, two, workers):
    """A client's certificate counts as long as its CA is in the file, on all lines; sessions end with it."""
    pem, mine, theirs = one.make("a.pem", "a.test"), context(one.make("c.pem", "c")), context(two.make("c.pem", "c"))
    p, q = free_ports(2)
    d = daemon(f"{HTTP}frontend f\n bind 127.0.0.1:{p} ssl crt {pem} verify required ca-file {one.pem}\n"
               f" bind 127.0.0.1:{q} ssl crt {pem} verify required ca-verify-file {one.pem} no-tls-tickets\n{OK}",
               extra=f"nbthread {workers}")
    sessions = {port: ask(port, mine)[2] for port in (p, q)}
    assert all(ask(port, mine, session=s)[1] for port, s in sessions.items())
    assert not accepts(p, theirs) and not accepts(q, theirs)
    change(d, "ca-file", one.pem, two.pem.read_text())
    assert accepts(p, theirs) and accepts(q, theirs)
    assert not accepts(p, mine) and not accepts(q, mine)
    assert not any(ask(port, mine, session=s) for port, s in sessions.items())
    assert "transaction created" in d.admin(f"add ssl ca-file {one.pem} <<\n{one.pem.read_text()}\n")
    assert d.admin("show ssl ca-file").count("2 certificate(s)") == 1
    assert d.admin(f"commit ssl ca-file {one.pem}").endswith("Success!\n\n")
    assert accepts(p, theirs) and accepts(p, mine) and accepts(q, mine)
    assert not d.leaked()


def test_crl_file(daemon, one):
    """A certificate that is revoked is refused at the next handshake, also with a session from before."""
    crt = one.make("r.pem", "r")
    pem, mine, crl, revoked = one.make("a.pem", "a.test"), context(crt), one.crl(), one.crl(crt)
    (p,) = free_ports(1)
    d = daemon(f"{HTTP}frontend f\n bind 127.0.0.1:{p} ssl crt {pem} verify required ca-file {one.pem} crl-file {crl}\n{OK}",
               extra="nbthread 2")
    session = ask(p, mine)[2]
    assert ask(p, mine, session=session)[1]
    assert "Invalid payload" in d.admin(f"set ssl crl-file {crl} <<\n{one.pem.read_text()}\n")
    change(d, "crl-file", crl, revoked.read_text())
    assert ask(p, mine, session=session) is None and not accepts(p, mine)
    change(d, "crl-file", crl, crl.read_text())
    assert accepts(p, mine)


def test_servers(daemon, one, two):
    """Servers are verified with the file as it is; their sessions end with it."""
    pem = one.make("s.pem", "s.test")
    p, q = free_ports(2)
    d = daemon(f"{HTTP}frontend s\n bind 127.0.0.1:{q} ssl crt {pem}\n http-request return status 200 content-type text/plain "
               "lf-string %[ssl_fc_is_resumed]\n"
               f"frontend f\n bind 127.0.0.1:{p}\n default_backend b\nbackend b\n http-reuse never\n retries 0\n"
               f" server s 127.0.0.1:{q} ssl verify required ca-file {one.pem}\n", extra="nbthread 2")

    def get():
        with socket.create_connection(("127.0.0.1", p), timeout=WAIT) as s:
            s.sendall(b"GET / HTTP/1.0\r\n\r\n")
            got = b""
            while part := s.recv(65536):
                got += part
        return got[9:12], got[-1:]

    assert get()[0] == b"200" and becomes(get, (b"200", b"1"))
    change(d, "ca-file", one.pem, two.pem.read_text())
    assert {get()[0] for _ in range(8)} == {b"503"}
    change(d, "ca-file", one.pem, one.pem.read_text())
    becomes(get, (b"200", b"1"))


def test_crt_list(daemon, one, tmp_path):
    """A line that is added serves its names with its options on all bind lines; one that cannot be used changes nothing."""
    a, b = one.make("la.pem", "a.test"), one.make("lb.pem", "b.test")
    crt_list = tmp_path / "list"
    crt_list.write_text(f"{a}\n")
    p, q = free_ports(2)
    d = daemon(f"{HTTP}frontend f\n bind 127.0.0.1:{p} ssl crt-list {crt_list}\n bind 127.0.0.1:{q} ssl crt-list {crt_list} "
               f"strict-sni\n{OK}", extra="nbthread 2")

    def meet(port, name):
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=WAIT) as raw, \
                    context(ca=one).wrap_socket(raw, server_hostname=name) as s:
                return s.getpeercert()["subject"][0][0][1], s.version()
        except OSError:
            return None

    def all_meet(name):
        return [{meet(port, name) for _ in range(8)} for port in (p, q)]

    def add(line):
        return d.admin(f"add ssl crt-list {crt_list} <<\n{line}\n")

    assert all_meet("x.test") == [{("a.test", "TLSv1.3")}, {None}]
    d.admin(f"new ssl cert {b}")
    d.admin(f"set ssl cert {b} <<\n{b.read_text()}\n")
    d.admin(f"commit ssl cert {b}")
    was = d.admin(f"show ssl crt-list -n {crt_list}")
    assert "Failed!" in add(f"{b} [ciphers NONE] x.test")
    assert "unable to load nope" in add(f"{b} [ca-file nope verify required] x.test")
    assert d.admin(f"show ssl crt-list -n {crt_list}") == was and "Unused" in d.admin(f"show ssl cert {b}")
    assert add(f"{b} [ssl-max-ver TLSv1.2] x.test *.y.test !no.y.test").endswith("..\nSuccess!\n\n")
    assert all_meet("x.test") == all_meet("z.y.test") == [{("b.test", "TLSv1.2")}] * 2
    assert all_meet("no.y.test") == [{("a.test", "TLSv1.3")}, {None}]
    assert "in use" in d.admin(f"del ssl cert {b}")
    assert "deleted" in d.admin(f"del ssl crt-list {crt_list} {b}")
    assert all_meet("x.test") == [{("a.test", "TLSv1.3")}, {None}]
    assert "deleted" in d.admin(f"del ssl cert {b}")
    assert not d.leaked()


def test_crt_store(daemon, one, tmp_path):
    """Certificates of a crt-store by their names: on a bind line, in a crt-list, for a server, and for commands."""
    def apart(name):
        crt, _, key = one.make(f"{name}.pem", f"{name}.test", [f"{name}.test"]).read_text().partition("-----BEGIN PRIVATE")
        (tmp_path / f"{name}.crt").write_text(crt)
        (tmp_path / "keys").mkdir(exist_ok=True)
        (tmp_path / "keys" / f"{name}.k").write_text("-----BEGIN PRIVATE" + key)

    for name in ("s1", "s2", "s3"):
        apart(name)
    (tmp_path / "list").write_text("@web/s3.crt [ssl-max-ver TLSv1.2] x.test\n")
    (p,) = free_ports(1)
    d = daemon(f"{HTTP}crt-store\n load crt s1.crt key s1.k\n load crt s2.crt key s2.k alias two\n"
               f"crt-store web\n crt-base {tmp_path}\n load crt s3.crt key s3.k\n"
               f"frontend f\n bind 127.0.0.1:{p} ssl crt s1.crt crt @/two crt-list {tmp_path}/list\n{OK}",
               extra=f"nbthread 2\n crt-base {tmp_path}\n key-base {tmp_path}/keys")

    def meet(name):
        with socket.create_connection(("127.0.0.1", p), timeout=WAIT) as raw, \
                context(ca=one).wrap_socket(raw, server_hostname=name) as s:
            return s.getpeercert()["subject"][0][0][1]

    assert [meet(n) for n in ("s1.test", "s2.test", "x.test", "s3.test")] == ["s1.test", "s2.test", "s3.test", "s1.test"]
    assert d.admin("show ssl cert") == f"# filename\n{tmp_path}/s1.crt\n@/two\n@web/s3.crt\n\n"
    new = one.make("new.pem", "new.test", ["s2.test"])
    d.admin(f"set ssl cert @/two <<\n{new.read_text()}\n")
    assert d.admin("commit ssl cert @/two") == "Committing @/two.\nSuccess!\n\n"
    assert meet("s2.test") == "new.test"
    assert d.admin(f"add ssl crt-list {tmp_path}/list @/two y.test").endswith("Success!\n\n")


CLIENTS = 1500


def test_commits_under_load(daemon, one):
    """Certificates change again and again while clients come: each gets one of them, whole."""
    pems = [one.make(f"load{i}.pem", f"l{i}.test", ["l.test"]) for i in range(2)]
    (p,) = free_ports(1)
    d = daemon(f"{HTTP}frontend f\n bind 127.0.0.1:{p} ssl crt {pems[0]}\n{OK}", extra="nbthread 2")
    ticks, bad, done = itertools.count(), [], Seen()

    def clients():
        c = context(ca=one)
        while next(ticks) < CLIENTS:
            got = ask(p, c, "l.test")
            (done if got and got[0] == b"200" else bad).append(got)

    threads = [threading.Thread(target=clients) for _ in range(8)]
    for t in threads:
        t.start()
    commits = 0
    while any(t.is_alive() for t in threads):
        assert "created" in d.admin(f"set ssl cert {pems[0]} <<\n{pems[commits % 2].read_text()}\n")
        assert d.admin(f"commit ssl cert {pems[0]}").endswith("Success!\n\n")
        commits += 1
        done.until(lambda items, n=CLIENTS * commits // 30: len(items) + len(bad) >= min(n, CLIENTS), "more clients")
    for t in threads:
        t.join()
    assert not bad and len(done) == CLIENTS and commits > 5
