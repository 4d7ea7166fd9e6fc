"""sni-auto and check-sni-auto: the name that servers are asked for is that of a request."""

import csv
import random
import re
import socket
import threading

import pytest
from certs import Authority
from conftest import WAIT, free_ports, run
from facts import Seen
from subject import LogServer
from test_tls import HTTP, Https, fetch


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certs"))


@pytest.fixture
def https(ca):
    """A server for a.test and b.test; `asked` has the names that connections asked for."""
    s = Https(ca.make("s.pem", "s.test", ["a.test", "b.test"]))
    s.asked = []
    s.context.sni_callback = lambda sock, name, context: s.asked.append(name)
    yield s
    s.close()


def test_sessions(daemon, ca, https):
    """The host of the request, without port and in lower case; sni has priority, and no-sni-auto undoes it."""
    ports = free_ports(4)
    lines = ("sni-auto", "sni-auto sni str(b.test)", "sni-auto no-sni-auto", "")
    daemon(HTTP + "".join(f"listen l{i}\n bind 127.0.0.1:{p}\n retries 0\n server s 127.0.0.1:{https.port} ssl ca-file {ca.pem} {line}\n"
                          for i, (p, line) in enumerate(zip(ports, lines))))
    for p in ports:
        assert fetch(p, "A.test:8443")[0] == 200
    assert https.asked == ["a.test", "b.test", None, None]
    # The certificate has to be for the name.
    assert [fetch(p, "c.test")[0] for p in ports] == [503, 200, 200, 200]


def test_sessions_of_defaults(daemon, ca, https):
    """default-server, and a connection that belongs to another name."""
    (p,) = free_ports(1)
    daemon(f"{HTTP}listen l\n bind 127.0.0.1:{p}\n http-reuse always\n default-server ssl ca-file {ca.pem} sni-auto\n"
           f" server s 127.0.0.1:{https.port}\n", extra="nbthread 1")
    for name in ("a.test", "b.test", "a.test"):
        assert fetch(p, name)[0] == 200
    assert https.asked[:2] == ["a.test", "b.test"]


def test_names_that_cannot_be_asked_for(daemon, ca, https):
    """Too long a name, and one with a NUL: no fault of the server, no lack of resources, and not tried again."""
    log = LogServer()
    ports = free_ports(3)
    server = f"server s 127.0.0.1:{https.port} ssl ca-file {ca.pem} sni"
    d = daemon(HTTP + f"defaults\n retries 3\n timeout connect 1m\n timeout client 1m\n timeout server 1m\n log 127.0.0.1:{log.port} local0\n"
               f"listen request\n bind 127.0.0.1:{ports[0]}\n mode http\n option httplog\n {server} req.hdr(host),url_dec\n"
               f"listen connection\n bind 127.0.0.1:{ports[1]}\n mode http\n option httplog\n {server} str({'a' * 256})\n"
               f"listen tcp\n bind 127.0.0.1:{ports[2]}\n option tcplog\n {server} str({'a' * 256})\n")

    names = ("a.test", "a" * 256, "a.test%00b", "%00a.test", "b.test")
    assert [fetch(ports[0], name)[0] for name in names] == [200, 503, 503, 503, 200]
    assert fetch(ports[1], "a.test")[0] == 503
    with socket.create_connection(("127.0.0.1", ports[2]), timeout=WAIT) as s:
        assert s.recv(1) == b""
    assert https.asked == ["a.test", "b.test"]
    why = "failed for backend {}: the name for sni is longer than 255 bytes or has a NUL."
    log.lines.until(lambda lines: sum("failed for" not in line for line in lines) == 7, "seven lines")
    reported = [line for line in log.lines if "failed for" in line]
    assert reported and all(any(why.format(name) in line for name in ("request", "connection", "tcp")) for line in reported)
    log.lines[:] = [line for line in log.lines if "failed for" not in line]
    states = sorted(re.search(r"\] (\w+) .* ([-\w]{2})(?:--)? \d+/\d+/", line).groups() for line in log.lines)
    assert states == [("connection", "PC"), *[("request", "--")] * 2, *[("request", "PC")] * 3, ("tcp", "PC")], log.lines
    rows = csv.DictReader(d.admin("show stat").lstrip("# ").splitlines())
    assert {r["pxname"]: (r["econ"], r["wretr"], r["wredis"]) for r in rows if r["svname"] == "BACKEND"} == \
        {"request": ("3", "0", "0"), "connection": ("1", "0", "0"), "tcp": ("1", "0", "0")}


def test_names_do_not_mix(daemon, ca, https):
    """Eight clients at once, on all workers: each response comes of the name that its request asks for, and most go
    over a connection that is there."""
    (p,) = free_ports(1)
    daemon(f"{HTTP}listen l\n bind 127.0.0.1:{p}\n http-reuse always\n"
           f" server s 127.0.0.1:{https.port} ssl verify none sni-auto\n")
    wrong = []

    def ask(seed):
        dice = random.Random(seed)
        for _ in range(40):
            name = f"{dice.choice('abcd')}.test"
            status, text = fetch(p, name)
            if status != 200 or not text.startswith(f"{name} "):
                wrong.append((name, status, text))

    https.context.sni_callback = lambda sock, name, context: https.names.update({sock: name})
    clients = [threading.Thread(target=ask, args=(seed,)) for seed in range(8)]
    for c in clients:
        c.start()
    for c in clients:
        c.join()
    assert not wrong
    assert https.accepted <= 160


CHECKS = {
    "none": ("option httpchk GET /", "check-sni-auto", None),
    "header": ("option httpchk\n http-check send meth GET uri / ver HTTP/1.1 hdr Host A.test:1", "check-sni-auto", "A.test"),
    "version": ("option httpchk GET / HTTP/1.1\\r\\nHost:\\ b.test", "check-sni-auto", "b.test"),
    "format": ("option httpchk\n http-check send hdr host %[str(b.test)]", "check-sni-auto", "b.test"),
    "name": ("option httpchk\n http-check send hdr host a.test", "check-sni-auto check-sni b.test", "b.test"),
    "off": ("option httpchk\n http-check send hdr host a.test", "check-sni-auto no-check-sni-auto", None),
    "default": ("option httpchk\n http-check send hdr host a.test", "", None),
    "rule": ("option httpchk\n http-check connect default sni b.test\n http-check send hdr host a.test", "check-sni-auto", "b.test"),
    "two": ("option httpchk\n http-check connect default\n http-check send hdr host a.test\n http-check expect status 200",
            "check-sni-auto", "a.test"),
    "tcp": ("option tcp-check\n tcp-check connect default", "check-sni-auto", None),
}


def test_checks(daemon, ca):
    """The field Host that a check sends. Without one nothing is asked for."""
    servers, text = {}, HTTP + "    timeout check 1m\n"
    for name, (rules, line, _) in CHECKS.items():
        s = servers[name] = Https(ca.make(f"{name}.pem", "s.test", ["a.test", "b.test"]))
        s.asked = Seen()
        s.context.sni_callback = lambda sock, asked, context, to=s.asked: to.append(asked)
        text += (f"backend {name}\n {'mode tcp' if name == 'tcp' else ''}\n {rules}\n"
                 f" server s 127.0.0.1:{s.port} ssl verify none check inter 1m fall 1 {line}\n")
    # A handshake has the time of `inter`.
    d = daemon(text, extra="max-spread-checks 10")
    for s in servers.values():
        s.asked.wait()
    assert {n: set(s.asked) for n, s in servers.items()} == {
        n: {want and want.lower()} for n, (_, _, want) in CHECKS.items()}
    d.until(*(f"server {name}/s state eq UP" for name in CHECKS))
    for s in servers.values():
        s.close()


def test_tcp_is_reported(tmp_path):
    """There is no request in mode tcp."""
    cfg = tmp_path / "c.cfg"
    cfg.write_text("listen l\n mode tcp\n timeout client 1s\n timeout server 1s\n timeout connect 1s\n bind 127.0.0.1:1\n"
                   " server s 127.0.0.1:2 ssl verify none sni-auto\n")
    reported = run("-c", "-f", cfg)
    assert reported.returncode == 0 and "'sni-auto' : ignored, since backend 'l' is not in mode http" in reported.stderr
