"""Bind lines that share a port: a wildcard beside an address, IPv4 beside IPv6, the same address twice."""

import os
import socket

import pytest

from conftest import WAIT, connect, free_port, free_ports, has_ipv6, is_open, recv_all, run
from test_master import MASTER, listening_inodes, reload
from test_replace import replace, serving_pid  # noqa: F401 (a fixture)

FRONTEND = """\
frontend {name}
    mode http
    bind {bind}
    http-request return status 200 content-type text/plain string "{name}"
"""


def frontends(**binds):
    return "".join(FRONTEND.format(name=name, bind=bind) for name, bind in binds.items())


def ask(port, host="127.0.0.1"):
    with socket.create_connection((host, port), WAIT) as c:
        c.sendall(b"GET / HTTP/1.0\r\n\r\n")
        return recv_all(c).split(b"\r\n\r\n", 1)[1].decode()


PAIRS = [
    # (first line, second line, {address: the frontend that answers there})
    ("127.0.0.1:{p}", ":{p}", {"127.0.0.1": "a", "127.0.0.2": "b"}),
    (":{p}", "127.0.0.1:{p}", {"127.0.0.1": "b", "127.0.0.2": "a"}),
    (":{p}", ":::{p}", {"127.0.0.1": "a", "::1": "b"}),
    (":::{p} v4v6", ":{p}", {"127.0.0.1": "b", "::1": "a"}),
    (":::{p} v6only", "::1:{p}", {"::1": "b"}),
    ("127.0.0.1:{p} shards 2", ":{p} shards 2", {"127.0.0.1": "a", "127.0.0.2": "b"}),
]


@pytest.mark.parametrize("first, second, expected", PAIRS)
def test_the_most_specific_address_gets_the_connection(daemon, first, second, expected):
    if "::1" in expected and not has_ipv6():
        pytest.skip("there is no IPv6")
    p = free_port()
    d = daemon(frontends(a=first.format(p=p), b=second.format(p=p)), extra="user root")
    for _ in range(8):
        assert {host: ask(p, host) for host in expected} == expected
    assert d.stderr == ""


def test_lines_with_one_address_share_its_connections(daemon):
    """With `thread` that is meant (manual 5.1); without, it is warned of."""
    p, q = free_ports(2)
    d = daemon(frontends(a=f"127.0.0.1:{p} thread 1", b=f"127.0.0.1:{p} thread 2", c=f"127.0.0.1:{q}", d=f"127.0.0.1:{q}"),
               extra="nbthread 2")
    assert {ask(p) for _ in range(200)} == {"a", "b"}
    assert {ask(q) for _ in range(200)} == {"c", "d"}
    assert d.stderr.count("has the address") == 1, d.stderr
    assert f"has the address 127.0.0.1:{q} too" in d.stderr
    assert f"127.0.0.1:{p}" not in d.stderr


@pytest.mark.parametrize("host, option", [("127.0.0.1", 0), ("127.0.0.2", 0), ("127.0.0.1", 1), ("127.0.0.2", 1)])
def test_a_port_is_not_shared_with_another_process(tmp_path, host, option):
    """Not even with one that would share it."""
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, option)
        taken.bind((host, 0))
        taken.listen()
        p = taken.getsockname()[1]
        cfg = tmp_path / "t.cfg"
        cfg.write_text(frontends(a=f"127.0.0.1:{p}", b=f":{p}"))
        r = run("-db", "-f", cfg)
        assert r.returncode == 1 and "in use" in r.stderr, r.stderr


def test_reloads_add_and_remove_lines_that_share_a_port(daemon):
    """A line that was bound alone is joined by others, in both orders, and no socket is opened again."""
    p = free_port()
    a, b = f"127.0.0.1:{p} shards 1", f":{p} shards 1"
    one, both = frontends(a=a), frontends(b=b, a=a)
    d = daemon(one, mode=MASTER)
    (first,) = listening_inodes(p)
    for cfg, n in ((both, 2), (both, 2), (one, 1), (frontends(a=a, b=b), 2), (one, 1)):
        text = d.cfg.read_text()
        d.cfg.write_text(text[:text.index("frontend ")] + cfg)
        assert reload(d), d.stderr
        assert ask(p) == "a"
        inodes = listening_inodes(p)
        assert len(inodes) == n and first in inodes
        assert is_open(p)
        if n == 2:
            assert ask(p, "127.0.0.2") == "b"
    d.base = d.fds()


def test_reloads_keep_the_sockets_of_one_address_apart(daemon):
    p = free_port()
    d = daemon(frontends(a=f"127.0.0.1:{p} thread 1", b=f"127.0.0.1:{p} thread 2"), extra="nbthread 2", mode=MASTER)
    inodes = listening_inodes(p)
    assert len(inodes) == 2
    assert reload(d), d.stderr
    assert listening_inodes(p) == inodes
    assert {ask(p) for _ in range(200)} == {"a", "b"}
    d.base = d.fds()


@pytest.mark.parametrize("fetch", [True, False])
def test_a_process_takes_over_lines_that_share_a_port(replace, fetch):  # noqa: F811
    p = free_port()
    d = replace(frontends(a=f"127.0.0.1:{p}"))
    new = replace(frontends(b=f":{p}", a=f"127.0.0.1:{p}"), d, fetch=fetch)
    assert d.wait() == 0
    assert (ask(p), ask(p, "127.0.0.2")) == ("a", "b")
    last = replace(frontends(b=f":{p}", a=f"127.0.0.1:{p}"), new, fetch=fetch)
    assert new.wait() == 0
    assert (ask(p), ask(p, "127.0.0.2")) == ("a", "b")
    assert serving_pid(replace) == last.pid
    last.stop()


# Each follows the one before, on the same port.
MOVES = ["127.0.0.1:{p}", ":{p}", ":{p} interface lo", ":::{p} v4v6", "127.0.0.1:{p} shards 2", ":::{p}", ":{p} shards 2",
         "127.0.0.1:{p} transparent", ":{p},:::{p} v6only", "127.0.0.1:{p}"]


def is_open_at(port, host):
    try:
        connect(port, host).close()
        return True
    except OSError:
        return False


def usable(move):
    return ("transparent" not in move or os.geteuid() == 0) and (":::" not in move or has_ipv6())


@pytest.mark.parametrize("workers", [1, 2])
def test_a_reload_moves_a_line_to_an_address_that_overlaps(daemon, workers):
    """The previous address is in use until the new process is ready."""
    p = free_port()
    moves = [move.format(p=p) for move in MOVES if usable(move)]
    d = daemon(frontends(a=moves[0]), extra=f"nbthread {workers}", mode=MASTER)
    for n, move in enumerate(moves[1:]):
        text = d.cfg.read_text()
        d.cfg.write_text(text[:text.index("frontend ")] + frontends(**{f"f{n}": move}))
        assert reload(d), (move, d.stderr)
        assert ask(p) == f"f{n}", move
    # The addresses of the previous ones are free again.
    assert not is_open_at(p, "127.0.0.2")
    d.base = d.fds()


@pytest.mark.parametrize("fetch", [True, False])
def test_a_process_takes_over_an_address_that_overlaps(replace, fetch):  # noqa: F811
    p = free_port()
    d = replace(frontends(a=f"127.0.0.1:{p}"))
    for name, bind in (("b", f":{p}"), ("c", f"127.0.0.1:{p}")):
        new = replace(frontends(**{name: bind}), d, fetch=fetch)
        assert d.wait() == 0
        assert ask(p) == name and serving_pid(replace) == new.pid
        d = new
    assert not is_open_at(p, "127.0.0.2")
    d.stop()
