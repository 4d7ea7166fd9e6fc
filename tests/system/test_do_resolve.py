"""Rules that ask for a name (do-resolve), in both modes, and what clients do while they wait."""

import contextlib
import http.client
import signal
import socket
import threading

import moved_clock
import oracle
import pytest
from conftest import TACIT, WAIT, free_port, recv_all
from facts import becomes
from nameserver import A, SERVFAIL
from resolve_rig import Web, hasty, ns, section, subject  # noqa: F401

def asking(ns, port, lines="", family=",ipv4"):
    """A frontend that answers with the address of the host that a request names."""
    return section(ns, f"hold valid 1h\n    {lines}") + f"""
frontend f
    bind 127.0.0.1:{port}
    http-request do-resolve(txn.ip,res{family}) hdr(host),host_only
    http-request return status 200 content-type text/plain lf-string "%[var(txn.ip)]"
"""


def ask(port, host, conn=None):
    c = conn or http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT)
    c.request("GET", "/", headers={"Host": host})
    r = c.getresponse()
    return r.status, r.read().decode().strip()


def raw(port, data):
    s = socket.create_connection(("127.0.0.1", port), timeout=WAIT)
    s.sendall(data)
    return s


def session_of(s, client):
    """Its id, once its connection was accepted."""
    rows = becomes(lambda: [row for row in s.admin("show sess").split("\n") if f":{client.getsockname()[1]} " in row],
                   bool, "the client's session")
    return rows[0].split(":")[0]


@pytest.mark.parametrize("program", oracle.PROGRAMS.values(), ids=oracle.PROGRAMS)
def test_a_rule_asks_for_a_name(subject, ns, program):
    ns.zone["app.x"] = {"a": ["127.0.0.7"]}
    ns.zone["six.x"] = {"aaaa": ["::7"]}
    ns.zone["alias.x"] = {"cname": "app.x"}
    port = free_port()
    s = subject(asking(ns, port), program)
    assert ask(port, "app.x") == (200, "127.0.0.7")
    assert ask(port, "APP.x:80") == (200, "127.0.0.7")
    assert ask(port, "alias.x") == (200, "127.0.0.7")
    assert ask(port, "six.x") == (200, "::7")
    before = ns.asked("app.x")
    for _ in range(3):
        assert ask(port, "app.x") == (200, "127.0.0.7")
    # The answer is used again for `hold valid`. HAProxy 2.6 asks each time.
    if program == TACIT:
        assert ns.asked("app.x") == before
    # HAProxy 2.6 tries again until the last retry is over, as if there was no answer.
    if program != TACIT:
        port = free_port()
        s = subject(hasty(asking(ns, port)), program)
    assert ask(port, "no.x") == (200, "")
    ns.rcode = SERVFAIL
    assert ask(port, "other.x") == (200, "")
    assert s.proc.poll() is None


def test_a_name_may_be_no_name(subject, ns):
    port = free_port()
    subject(asking(ns, port))
    for host in ("", "..", "a..b", "x" * 64 + ".x", "a" * 300):
        assert ask(port, host) == (200, "")
    assert not ns.queries


@pytest.mark.parametrize("workers", [1, 3])
def test_many_requests_wait_at_once(subject, ns, workers):
    names = {f"n{i}.x": f"127.0.{i // 200}.{i % 200 + 1}" for i in range(300)}
    for name, ip in names.items():
        ns.zone[name] = {"a": [ip]}
    port = free_port()
    s = subject(asking(ns, port), workers=workers)
    bad = []

    def client(mine):
        conn = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT)
        for name in mine:
            got = ask(port, name, conn)
            if got != (200, names[name]):
                bad.append((name, got))
        conn.close()

    clients = [threading.Thread(target=client, args=(list(names)[i::6] * 2,)) for i in range(6)]
    for c in clients:
        c.start()
    for c in clients:
        c.join()
    assert not bad, bad[:5]
    s.no_sessions()


def test_it_connects_to_what_it_found(subject, ns):
    web = Web("found", "127.0.0.14")
    ns.zone["app.x"] = {"a": ["127.0.0.14"]}
    port = free_port()
    subject(section(ns) + f"""
frontend f
    bind 127.0.0.1:{port}
    http-request do-resolve(txn.ip,res,ipv4) hdr(host)
    use_backend none unless {{ var(txn.ip) -m found }}
    default_backend b
backend none
    http-request deny status 503
backend b
    http-request set-dst var(txn.ip)
    server clear 0.0.0.0:{web.port}
""")
    assert ask(port, "app.x") == (200, "found")
    assert ask(port, "no.x")[0] == 503
    web.close()


@pytest.mark.parametrize("workers", [1, 3])
def test_what_clients_do_while_they_wait(subject, ns, workers):
    """The name server is silent until the clients have done it."""
    ns.silent = True
    ns.zone["app.x"] = {"a": ["127.0.0.7"]}
    port = free_port()
    s = subject(hasty(asking(ns, port), tries=400), workers=workers)
    get_one = b"GET / HTTP/1.1\r\nHost: app.x\r\n\r\n"
    gone = raw(port, get_one)
    reset = raw(port, get_one)
    half = raw(port, get_one.replace(b"1.1\r", b"1.1\r\nConnection: close\r", 1))
    half.shutdown(socket.SHUT_WR)
    two = raw(port, get_one + get_one)
    body = raw(port, b"POST / HTTP/1.1\r\nHost: app.x\r\nContent-Length: 10\r\n\r\n01234")
    killed = raw(port, get_one)
    s.until("sessions eq 6")
    gone.close()
    reset.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    reset.close()
    s.admin("shutdown session " + session_of(s, killed))
    body.sendall(b"56789")
    s.until("idle")
    ns.silent = False
    assert recv_all(half).endswith(b"127.0.0.7")
    got = b""
    while got.count(b"127.0.0.7") < 2:
        part = two.recv(65536)
        assert part, got
        got += part
    assert b"127.0.0.7" in body.recv(65536)
    with contextlib.suppress(ConnectionResetError):
        assert recv_all(killed) == b""
    for c in (half, two, body, killed):
        c.close()
    s.no_sessions()
    assert ask(port, "app.x") == (200, "127.0.0.7")


def test_a_body_larger_than_a_buffer_waits(subject, ns, origins):
    """Bytes without room stay in the kernel until the name is known."""
    bodies = []

    def take(conn):
        got = b""
        while b"\r\n\r\n" not in got or len(got.split(b"\r\n\r\n", 1)[1]) < 60000:
            got += conn.recv(65536)
        bodies.append(got)
        conn.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")

    ns.silent = True
    ns.zone["app.x"] = {"a": ["127.0.0.7"]}
    port = free_port()
    subject(hasty(section(ns), tries=400) + f"""
frontend f
    bind 127.0.0.1:{port}
    http-request do-resolve(txn.ip,res,ipv4) hdr(host),host_only
    http-request set-header X-Ip %[var(txn.ip)]
    default_backend b
backend b
    server s 127.0.0.1:{origins(take).port}
""")
    c = raw(port, b"POST / HTTP/1.1\r\nHost: app.x\r\nContent-Length: 60000\r\n\r\n" + b"0123456789" * 6000)
    ns.heard("app.x", 2)
    ns.silent = False
    assert c.recv(65536).startswith(b"HTTP/1.1 204 ")
    head, body = bodies[0].split(b"\r\n\r\n", 1)
    assert b"X-Ip: 127.0.0.7" in head and body == b"0123456789" * 6000
    c.close()


def test_a_request_that_came_with_its_fin_waits(subject, ns):
    """The daemon waits for the client, and stands still while that sends both: one event has both."""
    ns.silent = True
    ns.zone["app.x"] = {"a": ["127.0.0.7"]}
    port = free_port()
    s = subject(hasty(asking(ns, port), tries=400))
    c = raw(port, b"")
    s.until("sessions eq 1", "idle")
    s.proc.send_signal(signal.SIGSTOP)
    c.sendall(b"GET / HTTP/1.1\r\nHost: app.x\r\nConnection: close\r\n\r\n")
    c.shutdown(socket.SHUT_WR)
    s.proc.send_signal(signal.SIGCONT)
    s.until("idle")
    ns.silent = False
    assert recv_all(c).endswith(b"127.0.0.7")
    c.close()


def test_without_an_answer_the_request_continues(subject, ns):
    """After all tries; other names are held meanwhile, and answered by what is known."""
    ns.zone["app.x"] = {"a": ["127.0.0.7"]}
    port = free_port()
    s = subject(asking(ns, port).replace("timeout retry 1m", f"timeout retry {moved_clock.BRIEF}"), clock=True)
    assert ask(port, "app.x") == (200, "127.0.0.7")
    before = ns.fall_silent("late.x")
    c = raw(port, b"GET / HTTP/1.1\r\nHost: late.x\r\nConnection: close\r\n\r\n")
    s.give_up(ns, "late.x", before)
    assert recv_all(c).endswith(b"\r\n\r\n")
    assert ns.asked("late.x") == 3
    assert ask(port, "app.x") == (200, "127.0.0.7")
    c.close()


@pytest.mark.parametrize("workers", [1, 3])
def test_it_stops_while_requests_wait(subject, ns, workers):
    ns.silent = True
    port = free_port()
    s = subject(asking(ns, port).replace("timeout retry 1m", "timeout retry 1h"), workers=workers)
    waiting = [raw(port, b"GET / HTTP/1.1\r\nHost: app.x\r\n\r\n") for _ in range(6)]
    ns.heard("app.x")
    s.stop()
    for c in waiting:
        c.close()


def tcp_asking(ns, port, to, lines):
    return section(ns) + f"""
frontend f
    mode tcp
    bind 127.0.0.1:{port}
    tcp-request inspect-delay 1m
    {lines}
    default_backend b
backend b
    mode tcp
    server clear 0.0.0.0:{to}
"""


SNIFF = """tcp-request content do-resolve(txn.ip,res,ipv4) req.payload(0,5) if { req.len ge 5 }
    tcp-request content set-dst var(txn.ip) if { var(txn.ip) -m found }
    tcp-request content accept if { req.len ge 5 }"""


@pytest.mark.parametrize("program", oracle.PROGRAMS.values(), ids=oracle.PROGRAMS)
def test_a_rule_of_mode_tcp_asks_for_a_name(subject, ns, origins, program):
    """The first bytes say where a connection goes, and may come one by one."""
    def greet(conn):
        conn.sendall(b"here ")
        while got := conn.recv(4096):
            conn.sendall(got)

    there = origins(greet, address=("127.0.0.16", 0))
    ns.zone["app.x"] = {"a": ["127.0.0.16"]}
    port = free_port()
    s = subject(tcp_asking(ns, port, there.port, SNIFF), program)
    for pieces in ([b"app.x and more"], [b"a", b"pp.", b"x", b" later"]):
        c = raw(port, b"")
        for piece in pieces:
            c.sendall(piece)
            if s.is_tacit:
                s.until("idle")
        c.shutdown(socket.SHUT_WR)
        assert recv_all(c) == b"here " + b"".join(pieces)
        c.close()
    there.close()


@pytest.mark.parametrize("workers", [1, 3])
def test_clients_of_mode_tcp_wait(subject, ns, origins, workers):
    """Two names, without an inspect-delay that matters; clients that close, reset or are killed meanwhile do no harm."""
    there = origins(address=("127.0.0.17", 0))
    ns.zone["one.x"] = {"a": ["127.0.0.1"]}
    ns.zone["two.x"] = {"a": ["127.0.0.17"]}
    ns.silent = True
    port = free_port()
    lines = """tcp-request content do-resolve(txn.one,res,ipv4) str(one.x)
    tcp-request content do-resolve(txn.two,res,ipv4) str(two.x)
    tcp-request content reject unless { var(txn.one) -m ip 127.0.0.1 }
    tcp-request content set-dst var(txn.two)"""
    cfg = hasty(tcp_asking(ns, port, there.port, lines), tries=400).replace("inspect-delay 1m", "inspect-delay 100ms")
    s = subject(cfg, workers=workers)
    stay, gone, reset, half, killed = (raw(port, b"hello") for _ in range(5))
    half.shutdown(socket.SHUT_WR)
    s.until("sessions eq 5", "idle")
    ns.heard("one.x")
    gone.close()
    reset.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    reset.close()
    s.admin("shutdown session " + session_of(s, killed))
    stay.sendall(b" and more" * 5000)
    ns.silent = False
    assert recv_all(half) == b"hello"
    stay.shutdown(socket.SHUT_WR)
    assert recv_all(stay) == b"hello" + b" and more" * 5000
    for c in (stay, half, killed):
        c.close()
    s.no_sessions()
    there.close()


def test_without_an_answer_mode_tcp_continues(subject, ns):
    port = free_port()
    subject(tcp_asking(ns, port, 1, """tcp-request content do-resolve(txn.ip,res) str(no.x)
    tcp-request content reject unless { var(txn.ip) -m found }"""))
    c = raw(port, b"hello")
    with contextlib.suppress(ConnectionResetError):
        assert recv_all(c) == b""
    assert ns.asked("no.x")
    c.close()
