"""Every byte correct, and no truncated stream that looks complete: the `peers` tool through the proxy, and the tool
itself against deliberately faulty proxies."""

import os
import socket
import threading

import pytest
from conftest import WAIT
from subject import IS_SANITIZED, IS_TACIT, SLOW, listener, only_slow, proxy, tool  # noqa: F401

LENIENT = [] if IS_TACIT else ["--lenient"]
LONG = "timeout client 60s\ntimeout server 60s\ntimeout connect 1m"


def listen_port(s):
    return s.getsockname()[1]


@pytest.mark.parametrize("options, bind", [
    ("", ""),
    ("option tcp-smart-connect\noption tcp-smart-accept", "defer-accept"),
], ids=["plain", "smart"])
def test_bodies(proxy, listener, options, bind):
    p = proxy(listen_port(listener), options=f"{LONG}\n{options}", bind=bind, log=False)
    n = 400 if IS_SANITIZED else 2000
    got = tool("peers", listener, p.port, "--bodies", n, "--seed", os.environ.get("SEED", 1), *LENIENT)
    assert got["connections"] == n // 2
    assert got["whole"] > n * 0.7


@pytest.mark.parametrize("mode", ["unmerged", "merged", "edge"])
def test_bodies_in_each_mode(proxy, listener, mode):
    if not IS_TACIT:
        pytest.skip("only tacit has tune.epoll.mode")
    p = proxy(listen_port(listener), options=LONG, extra=f"tune.epoll.mode {mode}", log=False)
    tool("peers", listener, p.port, "--bodies", 200 if IS_SANITIZED else 600, "--seed", 5)


@pytest.mark.parametrize("poller", ["ev:epoll", "ev:poll", "ev:select"])
def test_bodies_on_each_poller(proxy, listener, poller):
    if not IS_TACIT:
        pytest.skip("only tacit has these pollers")
    p = proxy(listen_port(listener), options=LONG, extra=f"use-poller {poller}", log=False)
    tool("peers", listener, p.port, "--bodies", 200 if IS_SANITIZED else 600, "--seed", 6)


def test_bodies_with_tiny_buffers(proxy, listener):
    p = proxy(listen_port(listener), options=LONG, extra="tune.bufsize 1024" if IS_TACIT else "tune.bufsize 2048",
              log=False)
    tool("peers", listener, p.port, "--bodies", 200, "--max", 100000, "--seed", 8, *LENIENT)


@only_slow
def test_hundred_thousand_bodies(proxy, listener):
    p = proxy(listen_port(listener), options=LONG, log=False)
    n = 5000 if IS_SANITIZED else 100000
    got = tool("peers", listener, p.port, "--bodies", n, "--seed", os.environ.get("SEED", 1), "--concurrency", 200,
               *LENIENT, timeout=900)
    print(got)
    assert got["connections"] == n // 2


# --- the tool itself -------------------------------------------------------------------------------------
def pump(source, sink, spoil):
    """Forwards one direction, with the fault that `spoil` names."""
    total = 0
    try:
        while True:
            got = source.recv(16384)
            if not got:
                break
            total += len(got)
            got = spoil(got, total)
            if got is None:
                break
            sink.sendall(got)
    except OSError:
        pass
    # A clean end in any case. That is one of the faults.
    try:
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def bad_proxy(origin_port, spoil):
    front = socket.socket()
    front.bind(("127.0.0.1", 0))
    front.listen(256)

    def serve(client):
        with client, socket.create_connection(("127.0.0.1", origin_port)) as server:
            up = threading.Thread(target=pump, args=(client, server, lambda b, _: b), daemon=True)
            up.start()
            pump(server, client, spoil)
            up.join(WAIT)

    def run():
        while True:
            try:
                conn, _ = front.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(conn,), daemon=True).start()

    threading.Thread(target=run, daemon=True).start()
    return front


def flip(data, total):
    return data[:-1] + bytes([data[-1] ^ 1]) if total > 20000 else data


def lose(data, total):
    return data[1:] if total > 20000 else data


def double(data, total):
    return data + data[-1:] if total > 20000 else data


def cut(data, total):
    return None if total > 20000 else data


@pytest.mark.parametrize("spoil", [flip, lose, double, cut])
def test_peers_detects_a_faulty_proxy(listener, spoil):
    front = bad_proxy(listen_port(listener), spoil)
    try:
        got = tool("peers", listener, front.getsockname()[1], "--bodies", 100, "--seed", 3, "--concurrency", 10,
                   "--lenient", "--timeout", 5, check=False)
        spoilt = {"flip": "is wrong", "lose": "", "double": "", "cut": ""}[spoil.__name__]
        if spoil is cut:
            assert got["clean_short"] > 0
        else:
            assert got["errors"] > 0
            assert spoilt in got["stderr"]
    finally:
        front.close()


def test_peers_detects_a_clean_end_after_a_reset(listener):
    """The forwarder above does not change bytes, but ends a stream cleanly after a reset."""
    front = bad_proxy(listen_port(listener), lambda data, _: data)
    try:
        got = tool("peers", listener, front.getsockname()[1], "--bodies", 200, "--seed", 4, "--concurrency", 10,
                   check=False)
        assert got["errors"] > 0
        assert "as if it were whole" in got["stderr"]
    finally:
        front.close()
