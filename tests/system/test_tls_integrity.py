"""Every byte correct over TLS, and no truncated stream that looks complete: the `peers` tool through the proxy, with TLS
on either side or both; and the tool itself against deliberately faulty proxies of TLS."""

import contextlib
import os
import select
import socket
import ssl
import threading

import pytest
from certs import Authority
from conftest import WAIT
from subject import (  # noqa: F401
    INJECTABLE, IS_SANITIZED, IS_TACIT, SLOW, listener, only_slow, only_tacit, proxy, tool)
from test_faults import Injected

LENIENT = [] if IS_TACIT else ["--lenient"]
LONG = "timeout client 60s\ntimeout server 60s\ntimeout connect 1m"
MANY = int(os.environ.get("BODIES", 1000000))


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certs"))


@pytest.fixture(scope="module")
def pem(ca):
    return ca.make("a.pem", "a.test", ["a.test"])


def listen_port(s):
    return s.getsockname()[1]


def sides(proxy, listener, ca, pem, which, options="", **kw):
    """A proxy with TLS on these sides, and what tells the tool of it."""
    args, bind, server = [*LENIENT], "", f"server s 127.0.0.1:{listen_port(listener)}"
    if "client" in which:
        bind = f"ssl crt {pem}"
        args += ["--tls-client", kw.pop("versions", "both")]
    if "origin" in which:
        server += f" ssl verify required ca-file {ca.pem}"
        args += ["--tls-origin", pem]
    return proxy(server, options=f"{LONG}\n{options}", bind=bind, log=False, **kw), args


def must_be_busy(got, which, n):
    """All that the tool can do was done."""
    assert got["connections"] == n // 2
    assert got["whole"] > n * 0.6
    assert got["client_resets"] and got["origin_resets"] and got["left"]
    assert bool(got["client_cuts"]) == ("client" in which) and bool(got["origin_cuts"]) == ("origin" in which)
    assert got["handshakes"] > n // 2 * 0.8 and got["resumed"] and got["tls12"] and got["key_updates"]


@pytest.mark.parametrize("options", ["", "option tcp-smart-connect\noption tcp-smart-accept"], ids=["plain", "smart"])
@pytest.mark.parametrize("which", ["client", "origin", "client+origin"])
def test_bodies(proxy, listener, ca, pem, which, options):
    p, args = sides(proxy, listener, ca, pem, which, options)
    # With fewer bodies what the tool does by chance may not happen. More connections than at once: a session is
    # resumed by a later one.
    n = 600
    got = tool("peers", listener, p.port, "--bodies", n, "--seed", os.environ.get("SEED", 1), "--max", 300000, *args)
    must_be_busy(got, which, n)


@pytest.mark.parametrize("mode", ["unmerged", "merged", "ev"])
def test_bodies_in_each_mode(proxy, listener, ca, pem, mode):
    if not IS_TACIT:
        pytest.skip("only tacit has these")
    extra = "use-poller ev:poll" if mode == "ev" else f"tune.epoll.mode {mode}"
    p, args = sides(proxy, listener, ca, pem, "client+origin", extra=extra)
    tool("peers", listener, p.port, "--bodies", 100 if IS_SANITIZED else 300, "--seed", 5, "--max", 300000, *args)


def test_bodies_with_tiny_buffers(proxy, listener, ca, pem):
    p, args = sides(proxy, listener, ca, pem, "client+origin", extra="tune.bufsize 1024" if IS_TACIT else
                    "tune.bufsize 2048")
    tool("peers", listener, p.port, "--bodies", 200, "--max", 60000, "--seed", 8, *args)


@only_slow
@pytest.mark.parametrize("which", ["client", "origin", "client+origin"])
def test_million_bodies(proxy, listener, ca, pem, which):
    """Together 10^6, in pieces of BODIES / 3."""
    p, args = sides(proxy, listener, ca, pem, which)
    n = 3000 if IS_SANITIZED else MANY // 3 // 2 * 2
    got = tool("peers", listener, p.port, "--bodies", n, "--seed", os.environ.get("SEED", 1), "--max", 65536,
               "--concurrency", 200, *args, timeout=3600)
    print(got)
    must_be_busy(got, which, n)


# --- the end of a connection whose socket is full ---------------------------------------------------------
def read_slowly(s, n):
    """So many bytes, in small pieces."""
    got = b""
    while len(got) < n and (piece := s.recv(500)):
        got += piece
    return got


@only_tacit
@pytest.mark.parametrize("half_closes", [False, True], ids=["waits", "half-closes"])
def test_close_of_full_socket(proxy, listener, ca, pem, half_closes):
    """A response that ends with its connection, to a client with a small buffer that reads slowly. The server closes later
    than it sends, and then the socket has no room: the closing message waits for it, or the whole response looks cut."""
    # With edge-triggered polling an injected EAGAIN is never followed by an event.
    p = proxy(f"server s 127.0.0.1:{listen_port(listener)}", options=f"mode http\n{LONG}", bind=f"ssl crt {pem}",
              log=False, extra=f"tune.sndbuf.client 4096\ntune.epoll.mode merged\n{INJECTABLE}")
    context = ssl.create_default_context(cafile=str(ca.pem))
    body = b"x" * 20000
    with socket.socket() as raw:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        raw.settimeout(WAIT)
        raw.connect(("127.0.0.1", p.port))
        with context.wrap_socket(raw, server_hostname="a.test", suppress_ragged_eofs=False) as s:
            s.sendall(b"GET / HTTP/1.0\r\n\r\n")
            if half_closes:
                # Without a closing message of its own: Python's would wait for the other one.
                socket.socket.shutdown(s, socket.SHUT_WR)
            server, _ = listener.accept()
            with server:
                assert server.recv(4096)
                head = b"HTTP/1.0 200 OK\r\n\r\n"
                server.sendall(head + body)
                got = read_slowly(s, len(head) + len(body))
                injected = Injected(p.pid, "sendto:error=EAGAIN:when=1")
            with injected:
                # No exception: that would be a cut.
                assert s.recv(1) == b""
            assert got.endswith(body)


# --- the tool itself -------------------------------------------------------------------------------------
def bad_proxy(pem, origin_port, spoil):
    """Ends TLS of clients, connects to the origin without, and spoils what goes to the client."""
    front = socket.create_server(("127.0.0.1", 0), backlog=256)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)

    def relay(client, server):
        """In one thread: OpenSSL's object of a connection is not for two."""
        total, read = 0, [client, server]
        while True:
            ready = select.select(read, [], [], WAIT)[0]
            if not ready:
                return
            if client in ready:
                got = client.recv(65536)
                server.sendall(got)
                if not got:
                    read.remove(client)
                    server.shutdown(socket.SHUT_WR)
            if server in ready:
                try:
                    got = server.recv(16384)
                except OSError:
                    got = b""
                total += len(got)
                out, ended = spoil(got, total, not got)
                client.sendall(out)
                if ended:
                    # A clean end in any case. That is one of the faults.
                    client.unwrap()
                    return

    def serve(raw):
        raw.settimeout(WAIT)
        with contextlib.suppress(OSError), context.wrap_socket(raw, server_side=True) as client, \
                socket.create_connection(("127.0.0.1", origin_port), timeout=WAIT) as server:
            relay(client, server)

    def run():
        while True:
            try:
                raw, _ = front.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(raw,), daemon=True).start()

    threading.Thread(target=run, daemon=True).start()
    return front


SPOILS = {
    "flip": lambda b, total, end: (b[:-1] + bytes([b[-1] ^ 1]) if b and total > 20000 else b, end),
    "cut": lambda b, total, end: (b"", True) if total > 20000 else (b, end),
    "clean": lambda b, total, end: (b, end),
}


@pytest.mark.parametrize("how", SPOILS)
def test_peers_detects_a_faulty_proxy(listener, pem, how):
    """Bytes that differ, and resets that become closing messages."""
    front = bad_proxy(pem, listen_port(listener), SPOILS[how])
    try:
        got = tool("peers", listener, front.getsockname()[1], "--bodies", 200, "--seed", 3, "--concurrency", 10,
                   "--timeout", 5, "--max", 100000, "--tls-client", "both", check=False)
        assert got["errors"] > 0
        assert ("is wrong" if how == "flip" else "as if it were whole") in got["stderr"], got["stderr"]
    finally:
        front.close()
