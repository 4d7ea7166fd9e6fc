"""Faults of the other ends, the kernel and the machine. After each, the daemon runs, has no session left, its extra
descriptors are closed, and it serves the next client."""

import contextlib
import os
import resource
import signal
import socket
import struct
import subprocess
import sys

import pytest
from conftest import WAIT, answers, connect, free_port, recv_all
from facts import becomes, exists, listens
from subject import (INJECTABLE, IS_TACIT, fields, listener, loops, not_sanitized,  # noqa: F401
                     only_root, only_slow, only_tacit, proxy, storm_leaves_nothing, tool, warm)


def talk(port, data=b"hello"):
    with connect(port) as c:
        c.sendall(data)
        c.shutdown(socket.SHUT_WR)
        return recv_all(c)


def ends(sock):
    """Reads up to a clean end or a reset; returns the bytes."""
    got = bytearray()
    with contextlib.suppress(ConnectionResetError):
        while True:
            part = sock.recv(65536)
            if not part:
                break
            got += part
    return bytes(got)


# --- the server ------------------------------------------------------------------------------------------
def test_server_killed_in_the_middle_of_its_answer(proxy):
    """The kernel closes the connections of a killed process: what it had sent is delivered first."""
    script = ("import socket,time\ns=socket.socket()\ns.bind(('127.0.0.1',0))\ns.listen(5)\n"
              "print(s.getsockname()[1],flush=True)\nc,_=s.accept()\nc.recv(4)\nc.sendall(b'x'*50000)\n"
              "print('sent',flush=True)\ntime.sleep(30)\n")
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as server:
        try:
            p = proxy(int(server.stdout.readline()))
            with connect(p.port) as c:
                c.sendall(b"ping")
                assert server.stdout.readline() == "sent\n"
                server.kill()
                assert ends(c) == b"x" * 50000
        finally:
            server.kill()
    assert fields(p.log.wait()[0])["bytes"] == "50000"


@pytest.mark.parametrize("poller", ["epoll", "ev:epoll", "ev:poll", "ev:select"])
@only_tacit
def test_a_refused_connection_is_one_with_every_poller(proxy, poller):
    """libev does not distinguish an error from the end of connect(): the failure must not be taken for a connection.
    The client sends nothing, since a send would report it too."""
    p = proxy(free_port(), options="retries 0", extra=f"use-poller {poller}")
    with connect(p.port) as c:
        assert ends(c) == b""
    assert fields(p.log.wait()[0])["end"] == "SC"


def full_queue():
    """A listener whose queue is full and stays full: SYNs to it are dropped."""
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.listen(0)
    fill = []
    for _ in range(4):
        c = socket.socket()
        c.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            c.connect(s.getsockname())
        fill.append(c)
    return s, fill


def test_server_that_does_not_accept_is_left(proxy, origin):
    s, fill = full_queue()
    p = proxy(f"server full 127.0.0.1:{s.getsockname()[1]}\nserver live 127.0.0.1:{origin.port}",
              options="timeout connect 200ms\nretries 1\noption redispatch")
    assert [talk(p.port) for _ in range(2)] == [b"hello"] * 2
    line = [fields(x) for x in p.log.wait(2)]
    assert [x["server"] for x in line] == ["live", "live"]
    assert "+1" in [x["counts"].split("/")[4] for x in line]
    for f in [s, *fill]:
        f.close()


def test_server_that_answers_and_closes_at_once(proxy, origins):
    """Its end, or even its reset, may arrive before connect() is known to have succeeded."""
    def handle(conn):
        conn.sendall(b"bye")

    p = proxy(origins(handle).port)
    for _ in range(50):
        with connect(p.port) as c:
            assert recv_all(c) == b"bye"
    assert {fields(x)["end"] for x in p.log.wait(50)} == {"--"}


def test_server_that_resets_at_once(proxy, origins):
    def handle(conn):
        conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    p = proxy(origins(handle).port, options="retries 1\ntimeout connect 200ms")
    for _ in range(20):
        # The reset may arrive before the test's own connect() returns, and is its result then.
        with contextlib.suppress(ConnectionResetError), connect(p.port) as c:
            assert ends(c) == b""
    assert {fields(x)["end"] for x in p.log.wait(20)} <= {"SC", "SD"}


@pytest.mark.skipif(os.geteuid() != 0, reason="ss -K needs root")
@pytest.mark.parametrize("whose", ["server", "client"])
def test_connection_destroyed_by_the_administrator(proxy, origins, whose):
    """ss -K: the socket gets ECONNABORTED without a cause. This is an error, and must not spin."""
    def handle(conn):
        conn.recv(4)
        conn.sendall(b"part")
        recv_all(conn)

    o = origins(handle)
    p = proxy(o.port)
    with connect(p.port) as c:
        c.sendall(b"ping")
        assert c.recv(4) == b"part"
        # The proxy's socket: towards the server, or the accepted one.
        where = f"dst 127.0.0.1 dport = {o.port}" if whose == "server" else \
            f"sport = {p.port} and dport = {c.getsockname()[1]}"
        done = subprocess.run(["ss", "-K", *where.split()], capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip("this kernel cannot destroy sockets")
        assert ends(c) == b""
    assert fields(p.log.wait()[0])["end"] == ("SD" if whose == "server" else "CD")


# --- descriptors -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("extra", ["", "no strict-limits\nmaxconn 4000"], ids=["its own limit", "more than there are"])
def test_thousand_clients_with_256_descriptors(proxy, listener, extra):
    """All are served in the end, and waiting for descriptors costs nothing. With maxconn above the limit of
    descriptors accept4() or socket() really fail; without it they do not."""
    if extra and not IS_TACIT:
        pytest.skip("haproxy refuses sessions instead of waiting")
    p = proxy(listener.getsockname()[1], extra=extra, options="timeout connect 1m\nretries 10", log=False,
              bind="backlog 2000",
              limits=[(resource.RLIMIT_NOFILE, 256, 256)])
    before = loops(p)
    got = tool("storm", listener, p.port, "--total", 1000, "--concurrency", 1000, "--hold", 300, "--timeout", 60,
               "--pid", p.pid)
    assert got["served"] == 1000
    assert got["max_fds"] <= 256
    assert got["seconds"] > 1.5  # they had to wait for each other
    # Each of them takes less than 20 events; one that spins takes 100,000 turns a second.
    assert loops(p) - before < 20 * 1000
    assert talk_storm(listener, p)


def talk_storm(listener, p):
    return tool("storm", listener, p.port, "--total", 10, "--concurrency", 1)["served"] == 10


@only_slow
@not_sanitized
@pytest.mark.parametrize("workers", [1, 2] if IS_TACIT else [1])
def test_million_short_connections(proxy, listener, workers):
    p = proxy(listener.getsockname()[1], extra=f"nbthread {workers}", log=False)
    warm(p, listener)
    assert storm_leaves_nothing(p, listener, 1000000, 100000, 50, timeout=3000)


# --- calls that fail -------------------------------------------------------------------------------------
class Injected:
    """strace attached to a process, making calls fail; detaches at the end."""

    def __init__(self, pid, *rules, output="/dev/null"):
        args = ["strace", "-f", "-o", str(output)]
        for rule in rules:
            args += ["-e", "inject=" + rule]
        calls = ",".join(rule.split(":")[0] for rule in rules)
        self.proc = subprocess.Popen([*args, "-e", "trace=" + calls, "-p", str(pid)], stderr=subprocess.PIPE)
        # strace reports when it has stopped all threads, which continue under its rules.
        reported = self.proc.stderr.readline().decode()
        if "attached" not in reported:
            pytest.skip("cannot trace: " + reported + self.proc.stderr.read().decode())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.proc.send_signal(signal.SIGINT)
        self.proc.wait(WAIT)
        self.proc.stderr.close()


# (rules, all must be served): errors that a call may return at any time, and whether a client may notice.
FAULTS = [
    ("accept4:error=EMFILE:when=2+3", True),
    ("accept4:error=ENFILE:when=2+3", True),
    ("accept4:error=ENOMEM:when=2+3", True),
    ("accept4:error=ECONNABORTED:when=1+2", True),
    ("accept4:error=EPROTO:when=2+3", True),
    ("accept4:error=EINTR:when=1+2", True),
    ("accept4:error=EAGAIN:when=1+2", True),
    ("socket:error=EMFILE:when=2+4", False),
    ("socket:error=ENOBUFS:when=2+4", False),
    ("connect:error=ECONNREFUSED:when=2+4", True),
    ("connect:error=EADDRNOTAVAIL:when=2+4", False),
    ("connect:error=ENETUNREACH:when=1+5", True),
    ("epoll_ctl:error=ENOMEM:when=5+5", False),
    ("epoll_ctl:error=ENOSPC:when=4+7", False),
    # Not to the end: strace would detach in the middle of a call whose number it has replaced, and this is the only
    # call whose callers cannot handle ENOSYS. One worker: it counts the calls of each thread, and one that has little
    # to do would be in the middle.
    ("epoll_wait:error=EINTR:when=1..41+2", True),
    ("recvfrom:error=EINTR:when=1+3", True),
    ("recvfrom:error=ENOMEM:when=3+5", False),
    ("recvfrom:error=ECONNRESET:when=2+5", False),
    ("sendto:error=EINTR:when=1+3", True),
    ("sendto:error=EAGAIN:when=1+3", True),
    ("sendto:error=EPIPE:when=2+5", False),
    ("sendto:error=ENOBUFS:when=2+5", False),
    ("setsockopt:error=ENOMEM:when=1+2", True),
]


@only_tacit
@pytest.mark.parametrize("rule, whole", FAULTS, ids=[f[0].split(":when")[0].replace(":error=", "-") for f in FAULTS])
def test_failing_call(proxy, origin, rule, whole):
    # With edge-triggered polling an injected EAGAIN is never followed by an event.
    mode = "merged" if "EAGAIN" in rule else "edge"
    workers = "nbthread 1" if rule.startswith("epoll_wait") else ""
    p = proxy(origin.port, options="timeout connect 100ms\nretries 3\ntimeout client 1m\ntimeout server 1m",
              extra=f"tune.epoll.mode {mode}\n{workers}\n{INJECTABLE}", log=False)
    assert talk(p.port) == b"hello"
    p.settle()
    served = 0
    with Injected(p.pid, rule):
        for i in range(20):
            data = b"%04d" % i * 100
            got = b""
            try:
                with connect(p.port, timeout=WAIT) as c:
                    c.sendall(data)
                    with contextlib.suppress(OSError):
                        c.shutdown(socket.SHUT_WR)
                    got = ends(c)
            except (ConnectionResetError, BrokenPipeError):
                # Reset before connect() or send() had returned.
                assert not whole
            assert data.startswith(got)
            served += got == data
    assert served == 20 if whole else served >= 1
    assert talk(p.port) == b"hello"
    p.settle()


@only_tacit
def test_a_poller_that_fails_ends_the_process(daemon, origin):
    """No session could continue: the process must exit with an error."""
    port = free_port()
    d = daemon(f"listen l\n    bind 127.0.0.1:{port}\n    server s 127.0.0.1:{origin.port}\n", checked=False,
               extra=INJECTABLE)
    assert talk(port) == b"hello"
    with Injected(d.pid, "epoll_wait:error=EBADF:when=3+"):
        with contextlib.suppress(OSError):
            talk(port)
        assert d.proc.wait(WAIT) == 1, d.stderr
    # With one worker the message is this, with several the other.
    assert "for events" in d.stderr


# --- the log's target ------------------------------------------------------------------------------------
def log_dropped(p):
    return int(p.info()["DroppedLogs"])


def test_log_to_a_closed_port(proxy, origin):
    p = proxy(origin.port, options=f"option tcplog\nlog 127.0.0.1:{free_port()} local0", log=False)
    p.d.base[-1] = "the log's socket"
    for _ in range(20):
        assert talk(p.port) == b"hello"
    p.no_sessions()


def test_log_to_a_reader_that_does_not_read(proxy, origin, tmp_path):
    path = tmp_path / "log"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        s.bind(str(path))
        p = proxy(origin.port, options=f"option tcplog\nlog {path} local0", log=False)
        p.d.base[-1] = "the log's socket"
        total = 400
        # Nobody reads: a session that waited for the target would wait for ever.
        for _ in range(total):
            assert talk(p.port) == b"hello"
        p.no_sessions()
        s.setblocking(False)
        kept = 0
        with contextlib.suppress(BlockingIOError):
            while True:
                s.recv(4096)
                kept += 1
        assert log_dropped(p) == total - kept and 0 < kept < total
    # the target stops and comes back
    assert talk(p.port) == b"hello"
    path.unlink()
    assert talk(p.port) == b"hello"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        s.bind(str(path))
        s.setblocking(False)

        def heard():
            assert talk(p.port) == b"hello"
            with contextlib.suppress(BlockingIOError):
                return b" l l/s " in s.recv(4096)

        becomes(heard, True, "a line, once the target rests no more")


def test_log_to_a_closed_stdout(origin, tmp_path):
    """A pipe whose reader is gone: SIGPIPE must not end the process."""
    from subject import SUBJECT
    port = free_port()
    cfg = tmp_path / "cfg"
    cfg.write_text("defaults\n mode tcp\n timeout connect 1m\n timeout client 1m\n timeout server 1m\n option tcplog\n"
                   f"listen l\n log stdout format raw local0\n bind 127.0.0.1:{port}\n"
                   f" server s 127.0.0.1:{origin.port}\n")
    with subprocess.Popen([SUBJECT, "-db", "-f", cfg], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as proc:
        try:
            proc.stdout.close()
            listens(port)
            assert all(talk(port) == b"hello" for _ in range(5))
            assert proc.poll() is None
        finally:
            proc.terminate()
            assert proc.wait(WAIT) in (0, 143, -15)


# --- the network, in a namespace of its own --------------------------------------------------------------
# 10.9.0.2 does not answer (no such neighbour), 10.9.1.1 has no route, 10.9.2.1 is a black hole.
SETUP = """ip link set lo up && ip link add d0 type veth peer name d1 && ip link set d1 up &&
ip addr add 10.9.0.1/24 dev d0 && ip link set d0 up &&
ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 nud permanent dev d0 && ip route add unreachable 10.9.1.0/24 &&
ip route add blackhole 10.9.2.0/24 && {more} exec "$@" """


class Namespaced:
    """The subject in a network namespace of its own; clients come through a unix socket, the log goes to another
    one."""

    def __init__(self, daemon, tmp_path, servers, options="", more="true &&"):
        from subject import SUBJECT
        self.path = tmp_path / "front.sock"
        self.log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.log.bind(str(tmp_path / "log"))
        self.log.settimeout(WAIT)
        body = "\n    ".join(["listen l", f"bind unix@{self.path}", *options.split("\n"), "option tcplog",
                              f"log {tmp_path}/log local0", *servers.split("\n")])
        self.d = daemon(body + "\n", program="unshare", ready=IS_TACIT, extra="" if IS_TACIT else "nbthread 1",
                        mode=("-n", "sh", "-c", SETUP.format(more=more), "sh", SUBJECT, "-db"))
        exists(self.path)
        if not IS_TACIT:
            becomes(lambda: answers(self.d.sock), True, "HAProxy to answer")
            self.d.base = self.d.fds()
        self.d.base[-1] = "the log's socket"

    def connect(self):
        c = socket.socket(socket.AF_UNIX)
        c.settimeout(WAIT)
        c.connect(str(self.path))
        return c

    def line(self):
        while True:
            line = self.log.recv(4096).decode()
            if " l l/" in line:
                return fields(line.split("]: ", 1)[1])


@pytest.fixture
def namespaced(daemon, tmp_path):
    made = []

    def start(*args, **kw):
        made.append(Namespaced(daemon, tmp_path, *args, **kw))
        return made[-1]

    if os.geteuid() != 0 or subprocess.run(["unshare", "-n", "true"], check=False).returncode:
        pytest.skip("no network namespaces here")
    yield start
    for n in made:
        n.log.close()


def test_server_that_is_not_there(namespaced):
    """SYNs are sent and never answered."""
    n = namespaced("server s 10.9.0.2:80", options="timeout connect 400ms\nretries 1")
    with n.connect() as c:
        assert ends(c) == b""
    line = n.line()
    assert (line["end"], line["tc"]) == ("sC", "-1")
    assert line["counts"].endswith("/1")
    assert 780 <= int(line["tt"])


@pytest.mark.parametrize("address", ["10.9.1.1", "10.9.2.1"], ids=["unreachable", "blackhole"])
def test_server_without_a_route(namespaced, address):
    """connect() fails at once; retries are not a tight loop."""
    n = namespaced(f"server s {address}:80", options="timeout connect 300ms\nretries 2")
    with n.connect() as c:
        assert ends(c) == b""
    line = n.line()
    assert line["end"] == "SC"
    assert line["counts"].endswith("/2")
    assert not IS_TACIT or 550 <= int(line["tt"])


ORIGIN = """import socket,sys,threading
s=socket.socket(); s.setsockopt(socket.SOL_SOCKET,socket.SO_REUSEADDR,1); s.bind(('127.0.0.1',8000)); s.listen(64)
open(sys.argv[1],'w').close()
def run(c):
    while True:
        d=c.recv(4096)
        if not d: break
        c.sendall(d)
    c.close()
while True:
    c,_=s.accept(); threading.Thread(target=run,args=(c,),daemon=True).start()
"""


def test_out_of_local_ports(namespaced, tmp_path):
    """The kernel has ports for eight connections to the server; the ninth fails, and after one has ended the next is
    served."""
    script = tmp_path / "origin.py"
    script.write_text(ORIGIN)
    more = (f"sysctl -qw net.ipv4.ip_local_port_range='40000 40007' net.ipv4.tcp_tw_reuse=1 && "
            f"{{ {sys.executable} {script} {tmp_path}/listens & echo $! >{tmp_path}/pid; while [ ! -e {tmp_path}/listens ]; do "
            "sleep .05; done; } &&")
    n = namespaced("server s 127.0.0.1:8000", options="timeout connect 200ms\nretries 1", more=more)
    origin = int((tmp_path / "pid").read_text())
    try:
        held = []
        for _ in range(8):
            held.append(n.connect())
            held[-1].sendall(b"x")
            assert held[-1].recv(1) == b"x"
        with n.connect() as c:
            c.sendall(b"y")
            assert ends(c) == b""
        line = n.line()
        assert line["end"] in ("RC", "SC")  # haproxy attributes it to the server
        for c in held[:4]:
            c.close()

        def works():
            with n.connect() as c:
                c.sendall(b"z")
                with contextlib.suppress(OSError):
                    return c.recv(1) == b"z"

        # Ports that its own side closed first are in TIME_WAIT for a while.
        becomes(works, True, "a free port")
        for c in held[4:]:
            c.close()
        n.d.until("sessions eq 0")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(origin, signal.SIGKILL)
