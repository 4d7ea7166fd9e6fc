"""Traffic through the whole process: the end of connections, log lines, addresses, and the cost of idle connections."""

import contextlib
import os
import random
import select
import signal
import socket
import struct
import threading

import pytest
from conftest import WORKERS, connect, free_port, free_ports, has_ipv6, needs_descriptors, recv_all, rss_kib
from facts import LIMIT, Seen, delivered, fill, readable
from subject import (BRIEF, IS_SANITIZED, IS_TACIT, fields, listener, not_sanitized, only_tacit, proxy, rest,  # noqa: F401
                     storm_leaves_nothing, tool, warm)


def hard_close(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


def is_reset(s):
    try:
        return s.recv(1) != b"" and False
    except ConnectionResetError:
        return True


def pattern(n, seed=0):
    return random.Random(seed).randbytes(n)


# --- the end -----------------------------------------------------------------------------------------
def server_resets(conn):
    conn.recv(4)
    conn.sendall(b"part")
    conn.recv(1)
    hard_close(conn)


def server_waits(conn):
    conn.recv(4)
    conn.sendall(b"part")
    conn.recv(1)


def server_answers(conn):
    conn.recv(4)
    conn.sendall(b"part")


def quiet(conn):
    conn.recv(4)
    recv_all(conn)


def ends_after_answer(c):
    c.sendall(b"ping")
    assert recv_all(c) == b"part"


def resets_after_answer(c):
    c.sendall(b"ping")
    assert c.recv(4) == b"part"
    hard_close(c)


def reads_until_reset(c):
    c.sendall(b"ping")
    assert c.recv(4) == b"part"
    c.sendall(b"x")
    assert is_reset(c) or not IS_TACIT


def waits(c):
    c.sendall(b"ping")


def waits_after_answer(c):
    c.sendall(b"ping")
    assert c.recv(4) == b"part"


@pytest.mark.parametrize("client, server, options, end, got", [
    (ends_after_answer, server_answers, "", "--", "4"),
    (resets_after_answer, server_waits, "", "CD", "4"),
    (reads_until_reset, server_resets, "", "SD", "4"),
    (waits, quiet, f"timeout client {BRIEF}", "cD", "0"),
    (waits_after_answer, server_waits, f"timeout server {BRIEF}", "sD", "4"),
])
def test_termination_code(proxy, origins, client, server, options, end, got):
    p = proxy(origins(server).port, options=options, clock=IS_TACIT)
    with connect(p.port) as c:
        client(c)
        if "timeout" in options:
            p.until("sessions eq 1")
            p.expire()
            with contextlib.suppress(ConnectionResetError):
                recv_all(c)
    line = fields(p.log.wait()[0])
    assert (line["end"], line["bytes"]) == (end, got)
    assert line["backend"] == "l" and line["server"] == "s" and line["counts"] == "1/1/0/0/0"


@only_tacit
def test_reset_of_the_client_reaches_the_server(proxy, origins):
    seen = Seen()

    def handle(conn):
        conn.recv(4)
        conn.sendall(b"part")
        seen.append(is_reset(conn))

    p = proxy(origins(handle).port)
    with connect(p.port) as c:
        resets_after_answer(c)
    assert seen.wait() == [True]


@only_tacit
@pytest.mark.parametrize("size", [1, 1000, 100_000, 400_000])
def test_bytes_before_a_reset_are_delivered_before_it(proxy, origins, size):
    """All of it was in the proxy or in its kernel buffers when the reset arrived, and the client read slowly."""
    data = pattern(size)
    sent = threading.Event()

    def handle(conn):
        conn.sendall(data)
        delivered(conn)
        p.until("idle")
        hard_close(conn)
        sent.set()

    p = proxy(origins(handle).port)
    with connect(p.port) as c:
        assert sent.wait(LIMIT)
        p.until("idle")
        got = bytearray()
        with pytest.raises(ConnectionResetError):
            while True:
                part = c.recv(8192)
                assert part, f"a clean end after {len(got)} of {size} bytes"
                got += part
        assert bytes(got) == data


@only_tacit
@pytest.mark.parametrize("size", [1, 1000, 100_000])
def test_bytes_of_a_client_before_its_reset_are_delivered(proxy, origins, size):
    data = pattern(size, 1)
    got, end = bytearray(), Seen()
    go = threading.Event()

    def handle(conn):
        go.wait(LIMIT)
        try:
            while len(got) <= size:
                part = conn.recv(8192)
                if not part:
                    end.append("clean")
                    return
                got.extend(part)
        except ConnectionResetError:
            end.append("reset")

    p = proxy(origins(handle).port)
    c = connect(p.port)
    c.sendall(data)
    delivered(c)
    p.until("idle")
    hard_close(c)
    p.until("idle")
    go.set()
    assert (end.wait(), len(got)) == (["reset"], size)
    assert bytes(got) == data


def test_large_body_to_a_slow_reader_costs_no_memory(proxy, origins):
    data = pattern(8 << 20)
    is_full = threading.Event()

    def handle(conn):
        conn.recv(1)
        sent = fill(conn, lambda: p.until("idle"), data)
        is_full.set()
        conn.settimeout(LIMIT)
        conn.sendall(data[sent:])

    p = proxy(origins(handle).port)
    before = rss_kib(p.pid)
    with connect(p.port) as c:
        c.sendall(b"x")
        assert is_full.wait(LIMIT)
        grown = rss_kib(p.pid) - before
        got = bytearray()
        while True:
            part = c.recv(65536)
            if not part:
                break
            got += part
    assert bytes(got) == data
    assert grown < 2048 or IS_SANITIZED
    assert fields(p.log.wait()[0])["bytes"] == str(len(data))


def test_both_directions_at_once(proxy, origin):
    """More bytes than fit into all buffers together are in transit in both directions."""
    p = proxy(origin.port)
    size = 16 << 20
    data = pattern(1 << 20) * 16
    got = bytearray()
    with connect(p.port) as c:
        c.setblocking(False)
        sent = 0
        while len(got) < size:
            r, w, _ = select.select([c], [c] if sent < size else [], [], LIMIT)
            assert r or w, f"no progress after {sent} bytes there and {len(got)} back"
            if r:
                part = c.recv(262144)
                assert part
                got += part
            if w:
                sent += c.send(data[sent:sent + 262144])
                if sent == size:
                    c.shutdown(socket.SHUT_WR)
        assert bytes(got) == data
        c.setblocking(True)
        assert c.recv(1) == b""


@needs_descriptors
def test_a_thousand_at_once(proxy, origin):
    p = proxy(origin.port)
    held = [connect(p.port) for _ in range(500)]
    try:
        for i, c in enumerate(held):
            c.sendall(b"%06d" % i)
        for i, c in enumerate(held):
            assert c.recv(6) == b"%06d" % i
        p.until("sessions eq 500")
    finally:
        for c in held:
            c.close()
    ends = [fields(line)["end"] for line in p.log.wait(450)]
    assert set(ends) == {"--"}


def test_urgent_data_does_not_stop_it(proxy, origin):
    p = proxy(origin.port)
    with connect(p.port) as c:
        c.sendall(b"abc")
        c.send(b"!", socket.MSG_OOB)
        c.sendall(b"def")
        c.shutdown(socket.SHUT_WR)
        got = recv_all(c)
    assert got.replace(b"!", b"") == b"abcdef"


def test_urgent_data_and_the_end_found_at_once(proxy, origin):
    """recv() stops at the urgent mark: a short read and a FIN do not mean that nothing is left."""
    p = proxy(origin.port)
    for _ in range(5):
        with connect(p.port) as c:
            c.sendall(b"first")
            assert c.recv(5) == b"first"
            os.kill(p.pid, signal.SIGSTOP)
            try:
                c.sendall(b"abc")
                c.send(b"!", socket.MSG_OOB)
                c.sendall(b"def")
                c.shutdown(socket.SHUT_WR)
            finally:
                os.kill(p.pid, signal.SIGCONT)
            assert recv_all(c).replace(b"!", b"") == b"abcdef"


def test_short_connections_leave_nothing(proxy, listener):
    # One worker: with several the distribution of clients, and their peaks of memory, vary. For two there is
    # test_million_short_connections.
    p = proxy(listener.getsockname()[1], log=False, extra="nbthread 1")
    total = 4000 if IS_SANITIZED else 100000 if os.environ.get("CI") else 10000
    warm(p, listener)
    assert storm_leaves_nothing(p, listener, total, total // 5)


# --- addresses -------------------------------------------------------------------------------------------
def ask(family, address, data=b"ping"):
    with socket.socket(family) as c:
        c.settimeout(LIMIT)
        c.connect(address)
        c.sendall(data)
        c.shutdown(socket.SHUT_WR)
        return recv_all(c)


@pytest.mark.parametrize("over", ["IPv4", pytest.param("IPv6", marks=pytest.mark.skipif(not has_ipv6(), reason="there is no IPv6"))])
def test_bind_addresses(proxy, origin, tmp_path, over):
    a, b, d, v6, dual, only, wild = free_ports(7)
    path = tmp_path / "front.sock"
    binds = {"IPv4": f"""bind 127.0.0.1:{a},127.0.0.1:{b}
bind 127.0.0.2:{d} interface lo mss 1000 tfo
bind *:{wild}
bind unix@{path} mode 600""", "IPv6": f"""bind ipv6@::1:{v6} name six
bind :::{dual} v4v6
bind [::]:{only} v6only"""}
    asked = {"IPv4": [(socket.AF_INET, ("127.0.0.1", a)), (socket.AF_INET, ("127.0.0.1", b)), (socket.AF_INET, ("127.0.0.2", d)),
                      (socket.AF_INET, ("127.0.0.3", wild)), (socket.AF_UNIX, str(path))],
             "IPv6": [(socket.AF_INET6, ("::1", v6)), (socket.AF_INET6, ("::1", dual)), (socket.AF_INET, ("127.0.0.1", dual)),
                      (socket.AF_INET6, ("::1", only))]}[over]
    p = proxy(origin.port, options=binds[over])
    asked.append((socket.AF_INET, ("127.0.0.1", p.port)))
    for family, address in asked:
        assert ask(family, address) == b"ping", address
    lines = p.log.wait(len(asked))
    if over == "IPv4":
        assert os.stat(path).st_mode & 0o777 == 0o600
        assert any(line.startswith("unix:") for line in lines)
        assert sum(line.startswith("127.0.0.1:") for line in lines) == 5
        return
    with pytest.raises(ConnectionRefusedError):
        ask(socket.AF_INET, ("127.0.0.1", only))
    assert any(line.startswith("::1:") for line in lines)
    # A client on IPv4 is logged as such, also through an IPv6 socket.
    assert sum(line.startswith(("127.0.0.1:", "::ffff:127.0.0.1:")) for line in lines) == 2


def test_port_range(proxy, origin):
    ports = [0, 0]
    while ports[-1] - ports[0] != 2:
        ports = free_ports(3)
    first = ports[0]
    p = proxy(origin.port, options=f"bind 127.0.0.1:{first}-{first + 2}")
    for port in ports:
        assert ask(socket.AF_INET, ("127.0.0.1", port)) == b"ping"
    assert len(p.log.wait(3)) == 3


def peer_address(conn):
    conn.sendall(conn.getpeername()[0].encode())


def test_source_address(proxy, origins):
    p = proxy(f"server s 127.0.0.1:{origins(peer_address).port} source 127.0.0.9")
    with connect(p.port) as c:
        assert recv_all(c) == b"127.0.0.9"


def test_server_port_follows_the_listener(proxy, origins):
    """No port: the client's destination port. +N: that plus N."""
    front, = free_ports(1)
    same = origins(lambda c: c.sendall(b"same"), address=("127.0.0.8", front))
    p = proxy("server s 127.0.0.8", port=front)
    with connect(p.port) as c:
        assert recv_all(c) == b"same"
    ports = free_ports(30)
    further = next(p for p in ports if p + 7 in ports)
    other = origins(lambda c: c.sendall(b"plus"), address=("127.0.0.1", further + 7))
    p = proxy("server s 127.0.0.1:+7", port=further)
    with connect(p.port) as c:
        assert recv_all(c) == b"plus"
    assert (same.count, other.count) == (1, 1)


def test_listening_socket_from_the_parent(proxy, origin):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen(5)
        os.set_inheritable(s.fileno(), True)
        early = connect(s.getsockname()[1])
        early.sendall(b"early")
        p = proxy(origin.port, options=f"bind fd@{s.fileno()}", pass_fds=[s.fileno()])
        assert early.recv(5) == b"early"
        early.close()
        assert ask(socket.AF_INET, s.getsockname()) == b"ping"
        p.log.wait(2)


def test_a_refused_connection_is_retried_on_another_server(proxy, origin):
    p = proxy(f"server dead 127.0.0.1:{free_port()}\nserver live 127.0.0.1:{origin.port}",
              options="option redispatch\nretries 1\ntimeout connect 150ms")
    for _ in range(6):
        assert ask(socket.AF_INET, ("127.0.0.1", p.port)) == b"ping"
    lines = [fields(line) for line in p.log.wait(6)]
    assert {f["server"] for f in lines} == {"live"}
    retries = [f["counts"].split("/")[4] for f in lines]
    assert set(retries) <= {"+1", "0"} and retries.count("+1") >= 3


# --- costs of idle connections ---------------------------------------------------------------------------
def states(p, o):
    """Sessions in every state that may be idle; their clients' sockets."""
    kept = []

    def client(first=b""):
        n = len(o)
        c = connect(p.port)
        if first:
            c.sendall(first)
        kept.append(c)
        return c, o.wait(n + 1)[-1]

    client()                                    # established, no data
    c, _ = client(b"hello")                     # the client has half-closed
    c.shutdown(socket.SHUT_WR)
    _, s = client(b"hello")                     # the server has half-closed
    s.shutdown(socket.SHUT_WR)
    _, s = client()                             # the server sends more than the client reads
    fill(s, lambda: p.until("idle"))
    c, s = client(b"hello")                     # the same, and the client has half-closed
    c.shutdown(socket.SHUT_WR)
    fill(s, lambda: p.until("idle"))
    c, s = client()                             # the client sends more than is read, the server has half-closed
    s.shutdown(socket.SHUT_WR)
    fill(c, lambda: p.until("idle"))
    return kept


VARIANTS = ["", "tune.epoll.mode unmerged", "tune.epoll.mode edge", "tune.lazy-register off", "use-poller ev:poll",
            "use-poller ev:epoll"]


@only_tacit
@pytest.mark.parametrize("variant", VARIANTS)
def test_idle_sessions_do_not_wake_it(proxy, origins, variant):
    servers, release = Seen(), threading.Event()

    def handle(conn):
        servers.append(conn)
        release.wait()

    p = proxy(origins(handle).port, options="timeout client 1h\ntimeout server 1h", extra=variant)
    kept = states(p, servers)
    try:
        p.until("idle")
        turns, cpu, rested = rest(p, 1400)
    finally:
        release.set()
        for c in kept:
            c.close()
    assert turns <= 10 * rested + 2 * WORKERS + 3, rested  # each worker wakes now and then by itself
    assert cpu < 11e6 * rested


@only_tacit
def test_a_dead_end_with_pending_data_does_not_spin(proxy, origins):
    """The server is reset while its data waits for a client that does not read."""
    release, is_closed = threading.Event(), threading.Event()

    def handle(conn):
        fill(conn, lambda: p.until("idle"))
        hard_close(conn)
        is_closed.set()
        release.wait()

    p = proxy(origins(handle).port, options="timeout client 1m\ntimeout server 1m\ntimeout client-fin 1m")
    with connect(p.port):
        assert is_closed.wait(LIMIT)
        p.until("idle")
        turns, cpu, took = rest(p, 1000)
        release.set()
    assert turns <= 25 * took  # a session that lingers may check every 50 ms
    assert cpu < 20e6 * took


@only_tacit
@not_sanitized
def test_a_process_without_clients_sleeps(proxy, origin):
    p = proxy(origin.port)
    p.until("idle")
    turns, cpu, took = rest(p, 1500)
    assert turns <= 10 * took + 3
    assert cpu < 3.4e6 * took


@only_tacit
@pytest.mark.parametrize("how", ["reset", "close"])
def test_bytes_for_a_closed_client_are_not_waited_for(proxy, origins, how):
    """The client resets while the server has not read all its data; then the server closes too."""
    held = Seen()

    def handle(conn):
        conn.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        held.append(conn.dup())

    o = origins(handle)
    p = proxy(o.port, options="timeout client 1h\ntimeout server 1h")
    c = connect(p.port)
    held.wait()
    fill(c, lambda: p.until("idle"))
    hard_close(c)
    p.until("idle")
    if how == "reset":
        hard_close(held[0])
    else:
        held[0].close()
    p.until("sessions eq 0")


def test_descriptors_sent_along_a_unix_socket_stop_nothing(proxy, origin, tmp_path):
    """recv() ends at bytes that carry descriptors: a short read there does not mean that nothing is left."""
    path = tmp_path / "front.sock"
    p = proxy(origin.port, options=f"bind unix@{path}")
    for _ in range(10):
        with socket.socket(socket.AF_UNIX) as c:
            c.settimeout(LIMIT)
            c.connect(str(path))
            socket.send_fds(c, [b"one,"], [0])
            socket.send_fds(c, [b"two,"], [0, 1])
            c.sendall(b"three,")
            socket.send_fds(c, [b"four,"], [0])
            c.sendall(b"five")
            c.shutdown(socket.SHUT_WR)
            assert recv_all(c) == b"one,two,three,four,five"


@only_tacit
def test_answer_of_a_server_that_resets_an_upload(proxy, listener):
    """The write that fails because of the server's reset comes before the read of its response: both have happened
    while the proxy was stopped, the client's bytes first."""
    p = proxy(listener.getsockname()[1], options="timeout client 1m\ntimeout server 1m\ntimeout connect 1m", log=False)
    for mode in range(5):
        with connect(p.port) as c:
            c.sendall(b"x" * 1000)
            s, _ = listener.accept()
            readable(s)
            os.kill(p.pid, signal.SIGSTOP)
            try:
                c.sendall(b"more" * (mode + 1))
                delivered(c)
                s.sendall(b"answer")
                delivered(s)
                s.close()  # with 1000 bytes unread: a reset
            finally:
                os.kill(p.pid, signal.SIGCONT)
            got = c.recv(6)
            assert got == b"answer"
            assert is_reset(c)


@only_tacit
def test_a_lack_of_ports_is_reported(proxy, origin):
    """The line of a session has RC for whatever is short on this host."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.6", 0))
        taken.listen()
        port = taken.getsockname()[1]
        p = proxy(f"server s 127.0.0.1:{origin.port} source 127.0.0.6:{port}-{port}", "retries 0")
        with connect(p.port) as c, contextlib.suppress(ConnectionResetError):
            assert c.recv(1) == b""
        assert fields(p.log.wait()[0])["end"] == "RC"
        assert [line for line in p.log.drain() if line.endswith("Connect() failed for backend l: no free ports.")]
