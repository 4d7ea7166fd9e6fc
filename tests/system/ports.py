"""Ports and networks of 127.0.0.1 for programs under test, and for tests. No two test processes have the same ones."""

import contextlib
import itertools
import random
import socket

_RANGE = 250


def _own_ports():
    """A range of ports that no other test process takes from, and its number. The first port is in the name of an abstract
    socket, which the kernel gives to one process at a time and frees when that ends. Below the kernel's range of ephemeral
    ports: one of those could be taken before the program under test binds it. There are five processes for each CPU, and 88
    ranges."""
    starts = list(range(10000, 32000, _RANGE))
    random.shuffle(starts)
    for start in starts:
        claim = socket.socket(socket.AF_UNIX)
        try:
            claim.bind(f"\0tacit-tests-ports-{start}")
        except OSError:
            claim.close()
            continue
        return claim, itertools.cycle(range(start, start + _RANGE)), (start - 10000) // _RANGE
    raise RuntimeError("no range of ports is free")


_CLAIM, _PORTS, _NUMBER = _own_ports()
_NETWORKS = itertools.cycle(range(1, 250))


def free_network():
    """The first three bytes of loopback addresses that no other test uses, whatever the port."""
    return f"127.{160 + _NUMBER}.{next(_NETWORKS)}"


def free_ports(n):
    """n distinct unused ports of 127.0.0.1, none of them given out a short time ago."""
    assert n < _RANGE, f"{n} ports are more than a test process has"
    with contextlib.ExitStack() as stack:
        ports = []
        while len(ports) < n:
            s = stack.enter_context(socket.socket())
            # as a program under test does: connections that are over do not count
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            port = next(_PORTS)
            with contextlib.suppress(OSError):
                s.bind(("127.0.0.1", port))
                s.listen()
                ports.append(port)
        return ports


def free_port():
    return free_ports(1)[0]
