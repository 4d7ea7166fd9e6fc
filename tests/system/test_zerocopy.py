"""Zero-copy sends, over a veth pair between two network namespaces: to the host's own loopback addresses they are
not used. The kernel really uses the pages, though it has to copy them on arrival in the other namespace: a buffer
that is reused too early shows as a wrong digest."""

import hashlib
import random
import re
import socket
import subprocess
import threading

import pytest
from conftest import WAIT, Origin, connect, info, recv_all
from namespaces import Namespaces, need_namespaces
from subject import IS_SANITIZED, SUBJECT, only_root, only_tacit, proxy  # noqa: F401

pytestmark = [only_root, only_tacit]
NEAR, FAR = "10.9.0.1", "10.9.0.2"
PORT = 4000
MB = 1 << 20
ZEROCOPY = "tune.bufsize 65536\n    tune.zerocopy.threshold 16384"


class Net(Namespaces):
    """Two namespaces and the link between them."""

    def __init__(self):
        super().__init__()
        self.near, self.far = self.hold(), self.hold()
        self.run(self.near, f"ip link add v0 type veth peer name v1 netns {self.far} && ip link set lo up &&"
                            f"ip addr add {NEAR}/24 dev v0 && ip link set v0 up")
        self.run(self.far, f"ip link set lo up && ip addr add {FAR}/24 dev v1 && ip link set v1 up")


@pytest.fixture
def net():
    need_namespaces()
    n = Net()
    yield n
    n.close()


@pytest.fixture
def far(net, daemon):
    """Factory: a daemon at NEAR whose server and clients are at FAR: far(handle, extra=...) -> the daemon."""
    origins = []

    def start(handle, extra="", options=""):
        origins.append(net.at(net.far, lambda: Origin(handle, address=(FAR, 0))))
        d = daemon(f"listen l\n bind {NEAR}:{PORT}\n server s {FAR}:{origins[-1].port}\n {options}\n"
                   " timeout client 60s\n timeout server 60s\n",
                   extra=f"{ZEROCOPY}\n    {extra}", program="nsenter",
                   mode=(f"--net=/proc/{net.near}/ns/net", SUBJECT, "-db"))
        d.dial = lambda rcvbuf=0: net.at(net.far, lambda: dial(rcvbuf))
        return d

    yield start
    for o in origins:
        o.close()
        assert not o.errors


def dial(rcvbuf):
    s = socket.socket()
    if rcvbuf:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
    s.settimeout(WAIT)
    s.connect((NEAR, PORT))
    return s


def digest(data):
    return hashlib.sha256(data).hexdigest()


def number(d, key):
    return int(d.info()[key])


def body_of(seed, size):
    return random.Random(seed).randbytes(size)


def echo_all(conn):
    """Reads everything, then sends it back."""
    conn.sendall(recv_all(conn))


def gives(conn):
    """Sends the body that the first bytes name: "seed size\\n"."""
    words = b""
    while not words.endswith(b"\n"):
        got = conn.recv(64)
        if not got:
            return
        words += got
    conn.sendall(body_of(*map(int, words.split())))


@pytest.mark.parametrize("mode", ["edge", "merged", "unmerged"])
@pytest.mark.parametrize("fast", ["on", "off"])
def test_bodies_have_their_digests(far, fast, mode):
    d = far(echo_all, extra=f"tune.ranges.fast-path {fast}\n    tune.epoll.mode {mode}")
    size = 4 * MB if IS_SANITIZED else 16 * MB
    for seed in range(3):
        body = body_of(seed, size)
        with d.dial() as c:
            sender = threading.Thread(target=lambda: (c.sendall(body), c.shutdown(socket.SHUT_WR)), daemon=True)
            sender.start()
            assert digest(recv_all(c)) == digest(body)
            sender.join(WAIT)
    d.until("sessions eq 0")
    assert number(d, "Zerocopy_bytes") > 0
    # The kernel reports that it had to copy: each connection stops using it.
    assert number(d, "Zerocopy_copied") > 0
    assert number(d, "Zerocopy_bytes") < 6 * size
    d.until("counter Zerocopy_pinned eq 0")
    assert number(d, "Fsm_bugs") == 0


def test_slow_readers_pin_a_bounded_number_of_buffers(far):
    """Slow readers: the pinned buffers are limited, the rest of the bytes is copied, and all are right."""
    d = far(gives, extra="tune.zerocopy.max 512k\n    tune.sndbuf.client 262144")
    readers = [d.dial(rcvbuf=8192) for _ in range(20)]
    for seed, r in enumerate(readers):
        r.sendall(b"%d %d\n" % (seed, MB))
    d.until("counter Zerocopy_full gt 0")
    for _ in range(10):
        assert 0 < number(d, "Zerocopy_pinned") <= 512 << 10
        d.passes(50)
    for seed, r in enumerate(readers):
        assert digest(recv_all(r)) == digest(body_of(seed, MB)), seed
        r.close()
    d.until("sessions eq 0")
    d.until("counter Zerocopy_pinned eq 0")


def test_buffers_of_closed_connections_are_used_again(far):
    """The daemon has sent everything and closed; the reader has not read yet. Meanwhile other sessions use the same
    buffers."""
    d = far(gives, extra="tune.sndbuf.client 1048576")
    late = [d.dial(rcvbuf=8192) for _ in range(5)]
    for seed, r in enumerate(late):
        r.sendall(b"%d %d\n" % (seed, 400_000))
    # All of it is in the kernel, and the sessions were closed by the FINs of both sides.
    for r in late:
        r.shutdown(socket.SHUT_WR)
    d.until("sessions eq 0")
    assert number(d, "Zerocopy_bytes") > 0
    d.until("counter Zerocopy_pinned eq 0")
    rows = {r.split()[0]: int(r.split()[1]) for r in d.admin("show syscalls").splitlines()
            if len(r.split()) > 1 and r.split()[1].isdigit()}
    assert rows["madvise"] > 0
    for seed in range(100, 130):
        with d.dial() as c:
            c.sendall(b"%d %d\n" % (seed, 200_000))
            assert digest(recv_all(c)) == digest(body_of(seed, 200_000))
    for seed, r in enumerate(late):
        assert digest(recv_all(r)) == digest(body_of(seed, 400_000)), seed
        r.close()


def test_resets_while_bytes_are_pinned(far):
    d = far(gives, extra="tune.sndbuf.client 262144")
    for seed in range(20):
        c = d.dial(rcvbuf=8192)
        c.sendall(b"%d %d\n" % (seed, MB))
        assert c.recv(1)
        # Closed with bytes unread: a reset.
        c.close()
    d.until("sessions eq 0")
    assert number(d, "Zerocopy_bytes") > 0
    d.until("counter Zerocopy_pinned eq 0")
    with d.dial() as c:
        c.sendall(b"7 %d\n" % MB)
        assert digest(recv_all(c)) == digest(body_of(7, MB))


def test_without_room_in_the_kernel_it_is_copied(far, net):
    """net.core.optmem_max limits the acknowledgements: ENOBUFS, here for the first one already. Their number is up
    to the kernel, which merges those of waiting sends."""
    before = open("/proc/sys/net/core/optmem_max", encoding="ascii").read().strip()
    done = subprocess.run(["nsenter", f"--net=/proc/{net.near}/ns/net", "sysctl", "-qw", "net.core.optmem_max=100"],
                          check=False, capture_output=True)
    after = open("/proc/sys/net/core/optmem_max", encoding="ascii").read().strip()
    if done.returncode or before != after:
        subprocess.run(["sysctl", "-qw", f"net.core.optmem_max={before}"], check=False)
        pytest.skip("net.core.optmem_max is not the namespace's own here")
    d = far(gives, extra="tune.sndbuf.client 1048576")
    c = d.dial(rcvbuf=8192)
    c.sendall(b"1 %d\n" % MB)
    d.until("counter Zerocopy_refused gt 0")
    assert digest(recv_all(c)) == digest(body_of(1, MB))
    c.close()


def test_loopback_does_not_use_it(proxy, origins):
    p = proxy(origins(echo_all).port, extra=ZEROCOPY, log=False)
    body = body_of(1, 4 * MB)
    with connect(p.port) as c:
        sender = threading.Thread(target=lambda: (c.sendall(body), c.shutdown(socket.SHUT_WR)), daemon=True)
        sender.start()
        assert recv_all(c) == body
        sender.join(WAIT)
    got = info(p.admin("show info"))
    assert got["Zerocopy_bytes"] == got["Zerocopy_copied"] == "0"
    # The error queue is not read. One call may have read the server's first bytes and the end behind them.
    calls = re.search(r"^recvmmsg +(\d+)", p.admin("show syscalls"), re.MULTILINE)
    assert not calls or int(calls[1]) <= 1
