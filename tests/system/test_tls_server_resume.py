"""TLS sessions with servers: one that a worker has got is resumed by all, for the name that it was made for."""

import ssl
import threading

import pytest
from certs import Authority
from conftest import free_ports
from test_tls import HTTP, Https, fetch

FAIR = "nbthread 4\n    tune.listener.multi-queue fair"
LINE = "listen {name}\n bind 127.0.0.1:{p}\n retries 0\n http-reuse never\n server s 127.0.0.1:{port} ssl {options}\n"


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certs"))


@pytest.fixture(params=["TLSv1_2", "TLSv1_3"])
def https(ca, request):
    version = getattr(ssl.TLSVersion, request.param)
    s = Https(ca.make("s.pem", "s.test", ["a.test", "b.test"]), minimum_version=version, maximum_version=version)
    yield s
    s.close()


def resumed(port, n, host="h"):
    """For each connection of n requests, which four workers take in turn: True if it was resumed."""
    reported = [fetch(port, host) for _ in range(n)]
    assert {status for status, _ in reported} == {200}, reported
    return [text.split()[1] == "True" for _, text in reported]


def commit(d, what, name, text):
    d.admin(f"set ssl {what} {name} <<\n{text}\n")
    assert "Success" in d.admin(f"commit ssl {what} {name}")


def test_all_workers_resume(daemon, ca, https):
    p, q, r, s = free_ports(4)
    daemon(HTTP + LINE.format(name="a", p=p, port=https.port, options=f"ca-file {ca.pem} sni str(a.test)") +
           LINE.format(name="b", p=q, port=https.port, options="verify none no-ssl-reuse") +
           LINE.format(name="c", p=r, port=https.port, options="verify none") +
           LINE.format(name="d", p=s, port=https.port, options="verify none"), extra=FAIR)
    assert resumed(p, 9) == [False] + [True] * 8
    assert not any(resumed(q, 9))
    # Each server has its own.
    assert resumed(r, 9) == [False] + [True] * 8
    assert resumed(s, 9) == [False] + [True] * 8


def test_each_name_has_its_own(daemon, ca, https):
    (p,) = free_ports(1)
    daemon(HTTP + LINE.format(name="a", p=p, port=https.port, options=f"ca-file {ca.pem} sni req.hdr(host)"), extra=FAIR)
    assert resumed(p, 5, "a.test") == [False] + [True] * 4
    assert resumed(p, 5, "b.test") == [False] + [True] * 4
    for _ in range(4):
        assert resumed(p, 1, "a.test") + resumed(p, 1, "b.test") == [True, True]
    # A session would hide that the certificate is not for it.
    assert [fetch(p, "c.test")[0] for _ in range(5)] == [503] * 5


def test_a_change_ends_them(daemon, ca, tmp_path):
    """A new certificate of the client, or another CA: no worker offers a session that was made before."""
    https = Https(ca.make("m.pem", "m.test"))
    mine, trusted = ca.make("mine.pem", "me"), tmp_path / "ca.pem"
    trusted.write_text(ca.pem.read_text())
    other = Authority(tmp_path / "other", "other CA")
    (p,) = free_ports(1)
    d = daemon(HTTP + LINE.format(name="a", p=p, port=https.port, options=f"ca-file {trusted} crt {mine}"), extra=FAIR)
    assert resumed(p, 9) == [False] + [True] * 8
    commit(d, "cert", mine, ca.make("mine2.pem", "me too").read_text())
    assert resumed(p, 9) == [False] + [True] * 8
    commit(d, "ca-file", trusted, other.pem.read_text())
    assert [fetch(p)[0] for _ in range(8)] == [503] * 8
    commit(d, "ca-file", trusted, ca.pem.read_text())
    assert resumed(p, 9) == [False] + [True] * 8
    https.close()


def test_handshakes_at_once(daemon, ca, https):
    """Eight clients on four workers, while the client's certificate changes: no handshake fails, and most are short."""
    mine = ca.make("busy.pem", "me")
    (p,) = free_ports(1)
    d = daemon(HTTP + LINE.format(name="a", p=p, port=https.port, options=f"verify none crt {mine} sni req.hdr(host)"), extra=FAIR)
    reported = []
    clients = [threading.Thread(target=lambda n=n: reported.extend(resumed(p, 30, "ab"[n % 2] + ".test"))) for n in range(8)]
    for c in clients:
        c.start()
    for _ in range(4):
        commit(d, "cert", mine, ca.make("busy2.pem", "me").read_text())
    for c in clients:
        c.join()
    assert len(reported) == 240
    # At first, and after each change, each worker may find nothing for each of its connections at that time.
    assert sum(reported) > 80


def test_a_server_that_forgets(daemon, ca):
    """Its tickets have other keys after a restart: what is offered is of no use, and is replaced."""
    pem = ca.make("f.pem", "f.test")
    https = Https(pem)
    (p,) = free_ports(1)
    daemon(HTTP + LINE.format(name="a", p=p, port=https.port, options="verify none"), extra=FAIR)
    assert resumed(p, 9) == [False] + [True] * 8
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    https.context = context
    # A worker has a session of its own, or that of all, that it has to try.
    again = resumed(p, 12)
    assert not again[0] and all(again[4:]), again
    https.close()
