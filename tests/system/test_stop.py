"""How long a soft stop takes for clients that keep their connections."""

import contextlib
import select
import signal
import time

import pytest
from conftest import WAIT, connect, free_port

KEPT = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


@pytest.mark.parametrize("spread", ["infinite", "3s", ""])
def test_the_stop_of_kept_connections_is_spread(daemon, spread):
    """Are they closed, all at once or one by one? And is a request that comes at once the last one?"""
    port = free_port()
    d = daemon(f"listen l\n    mode http\n    bind 127.0.0.1:{port}\n    timeout http-keep-alive 30s\n"
               "    http-request return status 200\n", checked=False,
               extra=f"close-spread-time {spread}" if spread else "")
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(connect(port)) for _ in range(30)]
        for c in clients:
            c.sendall(KEPT)
            assert c.recv(4096).startswith(b"HTTP/1.1 200 ")
        d.send(signal.SIGUSR1)
        assert d.notify.wait("STOPPING=1")
        time.sleep(0.05)

        def count_open():
            return sum(not select.select([c], [], [], 0)[0] for c in clients)

        told = 0
        for c in clients[:10]:
            if not select.select([c], [], [], 0)[0]:
                # It may be closed in this moment.
                with contextlib.suppress(ConnectionError):
                    c.sendall(KEPT)
                    told += b"connection: close" in c.recv(4096).lower()
        assert (told > 5) == (not spread)
        before, closed = count_open(), []
        began = time.monotonic()
        end = began + (1.5 if spread == "infinite" else 2 * WAIT)
        while len(closed) < before and time.monotonic() < end:
            closed += [time.monotonic() - began] * (before - len(closed) - count_open())
            time.sleep(0.01)
        assert len(closed) == (0 if spread == "infinite" else before)
        if spread:
            assert not closed or closed[-1] - closed[0] > 1.3, closed
        else:
            assert closed[-1] - closed[0] < 1, closed
