"""Where connections go to and come from: mapped ports, mapped addresses, source, unix and abstract sockets, weights.
SUBJECT=/usr/sbin/haproxy runs the tests with HAProxy."""

import socket
import threading
from collections import Counter

import pytest
from conftest import WAIT, Origin, connect, free_ports, recv_all
from subject import SUBJECT, IS_TACIT


@pytest.fixture(name="run")
def _run(daemon):
    def start(cfg):
        mode = ("-db",) if IS_TACIT else ("-Ws", "-db")
        return daemon(cfg, program=SUBJECT, mode=mode, checked=IS_TACIT)  # HAProxy keeps its pipes
    return start


@pytest.fixture(name="naming")
def _naming():
    """Factory of origins that send the addresses of their connection."""
    made = []

    def start(address=("127.0.0.1", 0), family=socket.AF_INET, word=None):
        def handle(conn):
            text = word or f"{conn.getpeername()[0]} {conn.getpeername()[1]} {conn.getsockname()[0]}"
            conn.sendall(text.encode())
        made.append(Origin(handle, address, family))
        return made[-1]

    yield start
    for o in made:
        o.close()


def ask(port, host="127.0.0.1"):
    with connect(port, host) as s:
        return recv_all(s).decode()


def test_port_offset(run, naming):
    """The server's port is the client's destination port plus the offset, in both directions."""
    o = naming(word="here")
    front = free_ports(1)[0]
    run(f"listen l\n bind 127.0.0.1:{front}\n server s 127.0.0.1:{o.port - front:+d}\n")
    assert ask(front) == "here"


def test_same_port(run, naming):
    """Without a port: the client's destination port."""
    # The number has to be free at 127.0.0.1, too.
    o = naming(("127.0.0.2", free_ports(1)[0]), word="there")
    run(f"listen l\n bind 127.0.0.1:{o.port}\n server s 127.0.0.2\n")
    assert ask(o.port) == "there"


def test_same_address(run, naming):
    """Without an address: the client's destination address."""
    o = naming(("0.0.0.0", 0))
    front = free_ports(1)[0]
    run(f"listen l\n bind 0.0.0.0:{front}\n server s 0.0.0.0:{o.port}\n")
    for host in ("127.0.0.1", "127.0.0.9", "127.1.2.3"):
        assert ask(front, host).split()[2] == host


def test_source(run, naming):
    o = naming()
    a, b, c = free_ports(3)
    run(f"""
defaults
 mode tcp
 timeout connect 1m
 timeout client 1m
 timeout server 1m
backend own
 source 127.0.0.7
 server s 127.0.0.1:{o.port}
frontend f
 bind 127.0.0.1:{a}
 default_backend own
listen l
 bind 127.0.0.1:{b}
 source 127.0.0.7
 server s 127.0.0.1:{o.port} source 127.0.0.8
listen any
 bind 127.0.0.1:{c}
 source 127.0.0.7
 server s 127.0.0.1:{o.port} source *
""")
    assert ask(a).split()[0] == "127.0.0.7"
    assert ask(b).split()[0] == "127.0.0.8"
    assert ask(c).split()[0] == "127.0.0.1"


def test_source_ports(run, naming):
    """Ports come from the range, and a port in use is skipped."""
    o = naming()
    front, low = free_ports(2)
    low = min(low, 65000)
    run(f"listen l\n bind 127.0.0.1:{front}\n"
        f" server s 127.0.0.1:{o.port} source 127.0.0.6:{low}-{low + 199}\n")
    seen = [ask(front).split()[:2] for _ in range(30)]
    assert all(a == "127.0.0.6" and low <= int(p) < low + 200 for a, p in seen), seen
    assert len({p for _, p in seen}) == 30


def test_source_ports_are_used_again(run, origins):
    """Ports whose connections are over, even while the kernel waits for late segments (TIME_WAIT). One that is open
    keeps its port."""
    ended = threading.Semaphore(0)

    def handle(conn):
        conn.sendall(str(conn.getpeername()[1]).encode())
        assert conn.recv(1) == b""
        ended.release()
    o = origins(handle)
    front, low = free_ports(2)
    run(f"listen l\n bind 127.0.0.1:{front}\n timeout client 1m\n"
        f" server s 127.0.0.1:{o.port} source 127.0.0.6:{low}-{low + 4}\n")
    with connect(front) as kept:
        of_kept = int(kept.recv(9))
        seen = []
        for _ in range(20):
            with connect(front) as c:
                seen.append(int(c.recv(9)))
            assert ended.acquire(timeout=WAIT)
        assert set(seen) == set(range(low, low + 5)) - {of_kept}, seen


def test_unix_and_abstract(run, naming, tmp_path):
    path = tmp_path / "o.sock"
    name = f"tacit-test-{tmp_path.name}"
    naming(str(path), socket.AF_UNIX, word="path")
    # HAProxy's abstract names have all of their 107 bytes
    naming("\0" + name.ljust(107, "\0"), socket.AF_UNIX, word="abstract")
    a, b = free_ports(2)
    run(f"listen a\n bind 127.0.0.1:{a}\n server s {path}\n"
        f"listen b\n bind 127.0.0.1:{b}\n server s abns@{name}\n")
    assert ask(a) == "path"
    assert ask(b) == "abstract"


@pytest.mark.parametrize("algorithm", ["roundrobin", "static-rr"])
def test_weights(run, naming, algorithm):
    """After complete cycles each server has had exactly its share."""
    weights = {"A": 1, "B": 2, "C": 4}
    servers = "".join(f" server {n} 127.0.0.1:{naming(word=n).port} weight {w}\n" for n, w in weights.items())
    front = free_ports(1)[0]
    run(f"listen l\n bind 127.0.0.1:{front}\n balance {algorithm}\n{servers}"
        f" server off 127.0.0.1:1 disabled\n server none 127.0.0.1:1 weight 0\n"
        f" server spare 127.0.0.1:1 backup\n")
    assert Counter(ask(front) for _ in range(70)) == {n: 10 * w for n, w in weights.items()}


def test_source_hash(run, naming):
    """The client's address determines the server; with equal weights it is the same one as in HAProxy."""
    names = "ABCD"
    servers = "".join(f" server {n} 127.0.0.1:{naming(word=n).port}\n" for n in names)
    front = free_ports(1)[0]
    run(f"listen l\n bind 127.0.0.1:{front}\n balance source\n{servers}")
    for last in range(1, 9):
        for _ in range(2):
            with socket.socket() as s:
                s.settimeout(WAIT)
                s.bind((f"127.0.0.{last}", 0))
                s.connect(("127.0.0.1", front))
                assert recv_all(s).decode() == names[last % 4]
