"""How long a soft stop takes for clients that keep their connections."""

import contextlib
import select
import signal
import time

import pytest
from conftest import WAIT, connect, free_port

KEPT = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


def stop_once(daemon, spread):
    """How many of ten clients were told with an answer that it was the last one; how many connections were open then; and when
    those were closed."""
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
        before, closed = count_open(), []
        began = time.monotonic()
        end = began + (1.5 if spread == "infinite" else 2 * WAIT)
        while len(closed) < before and time.monotonic() < end:
            closed += [time.monotonic() - began] * (before - len(closed) - count_open())
            time.sleep(0.01)
    return told, before, closed


@pytest.mark.parametrize("spread", ["infinite", "3s", ""])
def test_the_stop_of_kept_connections_is_spread(daemon, spread):
    """Are they closed, all at once or one by one? And is a request that comes at once the last one?"""
    for _ in range(4):
        told, before, closed = stop_once(daemon, spread)
        assert len(closed) == (0 if spread == "infinite" else before)
        took = closed[-1] - closed[0] if closed else 0
        # On a busy machine the ten may come late, or the last connection be closed late; but not each time.
        if (told > 5) == (not spread) and (took < 1 if not spread else took > 1.3 or not closed):
            break
    assert (told > 5) == (not spread), told
    if spread:
        assert not closed or took > 1.3, closed
    else:
        assert took < 1, closed
