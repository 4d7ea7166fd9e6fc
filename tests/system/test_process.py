"""The process from outside: command line, exit codes, signals, files, sockets."""

import contextlib
import ctypes
import errno
import os
import re
import resource
import select
import selectors
import signal
import socket
import stat
import struct
import subprocess
import threading
from pathlib import Path

import moved_clock
import pytest
from conftest import (BUILD, GLOBAL, TACIT, Notify, connect, fds, free_port, free_ports, is_open,
                      needs_descriptors, recv_all, run)
from facts import LIMIT, Seen, becomes, contains, gone, is_calm, refuses
from subject import rest


SO_ATTACH_FILTER = 26
SO_DETACH_FILTER = 27


def listen_on(port, origin):
    return f"listen l\n    bind 127.0.0.1:{port}\n    server s 127.0.0.1:{origin.port}\n"


def talks(port, text=b"hello"):
    with connect(port) as c:
        c.sendall(text)
        c.shutdown(socket.SHUT_WR)
        return recv_all(c) == text


def served(port):
    """A connection that has received its first response."""
    c = connect(port)
    c.sendall(b"x")
    assert c.recv(1) == b"x"
    return c


@pytest.fixture
def cfg_file(tmp_path):
    def make(text, name="t.cfg"):
        path = tmp_path / name
        path.write_text(text)
        return path
    return make


GOOD = """\
defaults
    mode tcp
    timeout connect 1s
    timeout client 1s
    timeout server 1s
listen l
    bind 127.0.0.1:65000
    server s 127.0.0.1:1
"""


# --- without serving ---------------------------------------------------------------------------------------


def test_version():
    r = run("-v")
    assert (r.returncode, r.stderr) == (0, "")
    assert r.stdout.startswith("tacit version ")
    r = run("-vv")
    assert r.returncode == 0
    assert "TARGET  = linux-glibc" in r.stdout and "epoll" in r.stdout
    assert run("--version").stdout == run("-v").stdout


def test_help():
    r = run("--help")
    assert (r.returncode, r.stderr) == (0, "")
    assert r.stdout.startswith("Usage : ") and " -f " in r.stdout


@pytest.mark.parametrize("args", [["-h"], []])
def test_usage(args):
    r = run(*args)
    assert r.returncode == 1
    assert "Usage : " in r.stderr


@pytest.mark.parametrize(("args", "named"), [(["-z"], "-z"), (["-f"], "-f"), (["-f", "x", "-sf", "-1"], "-1"), (["-n", "10x"], "-n"),
                                             (["-S", "x"], "no configuration"), (["-c"], "no configuration")])
def test_a_wrong_option_is_one_line(args, named):
    """The reason is not above a screen of options."""
    r = run(*args)
    assert r.returncode == 1
    assert re.fullmatch(rf"tacit: .*{named}.* \('tacit --help' lists the options\)\n", r.stderr), r.stderr


def test_check_good(cfg_file):
    path = cfg_file(GOOD)
    r = run("-c", "-f", path)
    assert (r.returncode, r.stdout, r.stderr) == (0, "Configuration file is valid\n", "")
    assert run("-c", "-V", "-f", path).stdout == "Configuration file is valid\n"
    r = run("-c", "-q", "-f", path)
    assert (r.returncode, r.stdout, r.stderr) == (0, "", "")
    assert run("-c", "-dM", "-dI", "-dW", "-f", path).returncode == 0
    assert run("-c", "--", path).returncode == 0


def test_check_binds_nothing(cfg_file):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        path = cfg_file(GOOD.replace("65000", str(s.getsockname()[1])))
        assert run("-c", "-f", path).returncode == 0


def test_check_bad(cfg_file):
    path = cfg_file("global\n    maxcon 10\n    nbthread x\n" + GOOD)
    r = run("-c", "-f", path)
    assert r.returncode == 1 and r.stdout == ""
    assert f"[{path}:2:5]" in r.stderr and f"[{path}:3:14]" in r.stderr
    assert "maxconn" in r.stderr
    # quiet mode still prints the reason
    r = run("-c", "-q", "-f", path)
    assert r.returncode == 1 and "maxcon" in r.stderr


def test_warnings(cfg_file):
    path = cfg_file(GOOD.replace("    timeout client 1s\n", ""))
    r = run("-c", "-f", path)
    assert r.returncode == 0
    assert r.stdout == "Warnings were found.\nConfiguration file is valid\n"
    assert "[WARNING]" in r.stderr and "client" in r.stderr
    assert run("-c", "-dW", "-f", path).returncode == 1
    zero = cfg_file("global\n    zero-warning\n" + path.read_text(), "zero.cfg")
    assert run("-c", "-f", zero).returncode == 1
    # of a line of defaults, which is found before the end of the file
    line = GOOD.replace("mode tcp", "mode http\n    option accept-invalid-http-request")
    r = run("-c", "-dW", "-f", cfg_file(line, "line.cfg"))
    assert r.returncode == 1 and "Some warnings were found and they are not allowed." in r.stderr and "memory" not in r.stderr


def test_nothing_to_listen_on(cfg_file):
    path = cfg_file("global\n    maxconn 10\n")
    assert run("-c", "-f", path).returncode == 2
    r = run("-f", path)
    assert r.returncode == 1 and "listener" in r.stderr


def test_missing_file():
    r = run("-c", "-f", "/nonexistent.cfg")
    assert r.returncode == 1 and "/nonexistent.cfg" in r.stderr


def test_directory_and_several_files(tmp_path):
    (tmp_path / "1.cfg").write_text("defaults\n    mode tcp\n    timeout connect 1s\n    timeout client 1s\n"
                                    "    timeout server 1s\n")
    (tmp_path / "2.cfg").write_text("listen l\n    bind :65000\n    server s 127.0.0.1:1\n")
    (tmp_path / "readme.txt").write_text("this is no configuration\n")
    assert run("-c", "-f", tmp_path).returncode == 0
    assert run("-c", "-f", tmp_path / "1.cfg", "-f", tmp_path / "2.cfg").returncode == 0
    assert run("-c", "-C", tmp_path, "-f", "1.cfg", "-f", "2.cfg").returncode == 0
    assert run("-c", "-C", "/nonexistent", "-f", "1.cfg").returncode == 1


@pytest.mark.parametrize("cond, code", [
    ("1", 0), ("0", 1), ("version_atleast(2.4)", 0), ("version_atleast(99)", 1), ("feature(EPOLL)", 0),
    ("feature(OPENSSL)", 0), ("feature(ZLIB)", 0), ("feature(SLZ)", 0), ("!feature(LUA) && streq(a,a)", 0), ("feature(LUA)", 1), ("nonsense(1)", 1)])
def test_condition(cond, code):
    assert run("-cc", cond).returncode == code


def test_keyword_dump():
    r = run("-dKall")
    assert r.returncode == 0 and "maxconn" in r.stdout
    assert "req.hdr([<name>[,<occurrence>]]): string\n" in run("-dKsmp").stdout
    assert "lower: string => string\n" in run("-dKcnv").stdout
    assert run("-dKhelp").returncode == 0
    assert run("-dKnonsense").returncode == 1


def test_environment(cfg_file):
    text = GOOD.replace("127.0.0.1:65000", '"${WHERE}"')
    path = cfg_file(text)
    assert run("-c", "-f", path, env={"WHERE": "127.0.0.1:65000"}).returncode == 0
    assert run("-c", "-f", path, env={"WHERE": "nonsense"}).returncode == 1


def test_debian_stock_configuration(cfg_file):
    """Debian's haproxy.cfg for TCP: without the lines for HTTP."""
    stock = "/etc/haproxy/haproxy.cfg"
    if not os.path.exists(stock):
        pytest.skip("Debian's haproxy is not installed")
    with open(stock) as f:
        lines = [l for l in f.read().replace("mode\thttp", "mode\ttcp").split("\n")
                 if "httplog" not in l]
    path = cfg_file("\n".join(lines) + "\nlisten l\n    bind 127.0.0.1:65000\n    server s 127.0.0.1:1\n")
    r = run("-c", "-f", path)
    assert r.returncode == 0, r.stderr
    assert "Configuration file is valid" in r.stdout


# --- serving ------------------------------------------------------------------------------------------------


def test_forwards(daemon, origin):
    port = free_port()
    d = daemon(listen_on(port, origin))
    for _ in range(20):
        assert talks(port)
    assert d.is_running()


def test_port_taken(cfg_file, origin):
    with socket.socket() as a, socket.socket() as b:
        for s in (a, b):
            s.bind(("127.0.0.1", 0))
            s.listen()
        pa, pb = a.getsockname()[1], b.getsockname()[1]
        path = cfg_file(GOOD.replace("127.0.0.1:65000", f"127.0.0.1:{pa},127.0.0.1:{pb}"))
        r = run("-db", "-f", path)
        # both are named, not only the first
        assert r.returncode == 1
        assert f"127.0.0.1:{pa}" in r.stderr and f"127.0.0.1:{pb}" in r.stderr


def test_comm_is_the_name_it_was_started_by(daemon, origin, tmp_path):
    alias = tmp_path / "haproxy"
    alias.symlink_to(TACIT)
    d = daemon(listen_on(free_port(), origin), program=str(alias))
    with open(f"/proc/{d.pid}/comm") as f:
        assert f.read() == "haproxy\n"


def test_foreground_pid_file(daemon, origin, tmp_path):
    d = daemon(listen_on(free_port(), origin), "-p", tmp_path / "pid")
    assert (tmp_path / "pid").read_text() == f"{d.pid}\n"
    assert d.sock.exists()
    assert d.stop() == 0
    assert not (tmp_path / "pid").exists() and not d.sock.exists()


def test_files_of_another_process_stay(daemon, origin, tmp_path):
    """A process started while this one was ending has replaced the pid file and the stats socket."""
    d = daemon(listen_on(free_port(), origin), "-p", tmp_path / "pid")
    (tmp_path / "pid").write_text("1\n")
    d.sock.unlink()
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(str(d.sock))
        assert d.stop() == 0
        assert (tmp_path / "pid").read_text() == "1\n" and d.sock.exists()


def test_background(cfg_file, origin, tmp_path):
    port = free_port()
    path = cfg_file(GLOBAL.format(sock=tmp_path / "s", extra="", workers=1) + listen_on(port, origin))
    r = run("-D", "-p", tmp_path / "pid", "-f", path)
    assert r.returncode == 0, r.stderr
    pid = int((tmp_path / "pid").read_text())
    try:
        # the parent exited after the daemon was ready
        assert talks(port)
        assert os.getsid(pid) == pid
        open_now = fds(pid)
        assert all(open_now[n] == "/dev/null" for n in (0, 1, 2))
    finally:
        os.kill(pid, signal.SIGTERM)
        gone(pid)


def test_background_failure_is_the_parents(cfg_file, tmp_path):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        path = cfg_file(GOOD.replace("65000", str(s.getsockname()[1])))
        r = run("-D", "-p", tmp_path / "pid", "-f", path)
        assert r.returncode == 1 and "in use" in r.stderr


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT])
def test_hard_stop_ends_sessions(daemon, origin, sig):
    port = free_port()
    d = daemon(listen_on(port, origin), checked=False)
    with connect(port) as c:
        c.sendall(b"x")
        assert c.recv(1) == b"x"
        d.send(sig)
        assert d.wait() == 0
        assert d.notify.wait("STOPPING=1")
        try:
            assert c.recv(1) == b""
        except ConnectionResetError:
            pass


def test_soft_stop_lets_sessions_end(daemon, origin):
    port = free_port()
    d = daemon(listen_on(port, origin), checked=False)
    with connect(port) as c:
        c.sendall(b"x")
        assert c.recv(1) == b"x"
        d.send(signal.SIGUSR1)
        refuses(port)
        c.sendall(b"still there")
        assert c.recv(100) == b"still there"
        assert d.is_running()
    assert d.wait() == 0


KEPT = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


def test_soft_stop_closes_persistent_http_clients(daemon):
    """A client that sends another request gets a response with Connection: close; an idle one is closed soon.
    Neither has to wait for timeout http-keep-alive."""
    port = free_port()
    d = daemon(f"listen l\n    mode http\n    bind 127.0.0.1:{port}\n    timeout http-keep-alive 1h\n",
               extra="nbthread 1", checked=False, clock="stands")
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(connect(port)) for _ in range(20)]
        for c in clients:
            c.sendall(KEPT)
            assert c.recv(4096).startswith(b"HTTP/1.1 503 ")
        d.send(signal.SIGUSR1)
        assert d.notify.wait("STOPPING=1")
        for c in clients[:10]:
            c.sendall(KEPT)
            assert b"connection: close" in c.recv(4096).lower()
        # They have seen it.
        moved_clock.advance(d.dir / "clock", 1)
        assert [recv_all(c) for c in clients] == [b""] * 20
        assert d.wait() == 0


@pytest.mark.parametrize("threads", [1, 3])
def test_soft_stop_serves_the_queue(daemon, threads):
    """Connections in the backlog are accepted and served. Closing the socket would reset them."""
    port = free_port()
    d = daemon(f"listen l\n    mode http\n    backlog 1000\n    bind 127.0.0.1:{port}\n", extra=f"nbthread {threads}",
               checked=False)
    answers = []
    with contextlib.ExitStack() as stack:
        d.send(signal.SIGSTOP)
        clients = [stack.enter_context(connect(port)) for _ in range(300)]
        for c in clients:
            c.sendall(KEPT)
        d.send(signal.SIGUSR1)
        d.send(signal.SIGCONT)
        for c in clients:
            try:
                answers.append(c.recv(4096)[:13])
            except ConnectionResetError:
                answers.append("reset")
    assert answers == [b"HTTP/1.1 503 "] * len(clients)
    assert d.wait() == 0
    assert not is_open(port)


def tells_handshakes():
    """True if the kernel answers the question for TCP handshakes in progress (sock_diag(7))."""
    SOCK_DIAG, BY_FAMILY, REQUEST_DUMP, DONE, SYN_RECV = 4, 20, 0x301, 3, 3
    ask = struct.pack("=BBBxI48x", socket.AF_INET, socket.IPPROTO_TCP, 0, 1 << SYN_RECV)
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, SOCK_DIAG) as s:
            s.send(struct.pack("=IHHII", 16 + len(ask), BY_FAMILY, REQUEST_DUMP, 0, 0) + ask)
            return struct.unpack_from("=IH", s.recv(8192))[1] in (DONE, BY_FAMILY)
    except OSError:
        return False


@contextlib.contextmanager
def half_connected(port):
    """A client whose handshake does not end before let_end(): a filter drops what the kernel sends it. The kernel sends it again."""
    drop_all = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0))
    with socket.socket() as c:
        try:
            c.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HP", 1, ctypes.addressof(drop_all)))
        except PermissionError:
            pytest.skip("this process may not attach a filter to a socket")
        c.setblocking(False)
        assert c.connect_ex(("127.0.0.1", port)) == errno.EINPROGRESS
        yield c


def let_end(c):
    c.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)
    assert select.select([], [c], [], LIMIT)[1]
    c.settimeout(LIMIT)


@pytest.mark.skipif(not tells_handshakes(), reason="this kernel does not say which handshakes are in progress")
@pytest.mark.parametrize("ends", [True, False])
def test_soft_stop_waits_for_a_handshake(daemon, ends):
    """The close of the listener would reset its client. A client that does not go on is waited for a second."""
    port = free_port()
    d = daemon(f"listen l\n    mode http\n    bind 127.0.0.1:{port}\n", extra="nbthread 1", checked=False, clock="stands")
    with half_connected(port) as c:
        d.send(signal.SIGUSR1)
        d.settle()
        assert "state: grace" in d.admin("show health")
        d.advance(0.9)
        d.settle()
        assert "state: grace" in d.admin("show health")
        if ends:
            let_end(c)
            c.sendall(KEPT)
            assert c.recv(4096).startswith(b"HTTP/1.1 503 ")
        d.advance(0.1)
        assert d.notify.wait("STOPPING=1")
    assert d.wait() == 0


def ask_until_refused(port, outcomes):
    """A connection for each request, until connections are refused."""
    while True:
        try:
            c = connect(port)
        except OSError:
            return
        with c:
            try:
                c.sendall(KEPT)
                outcomes.append(c.recv(4096)[:13])
            except OSError as e:
                outcomes.append(type(e).__name__)
                return


@pytest.mark.parametrize("threads", [1, 3])
def test_soft_stop_under_load_resets_no_connection(daemon, threads):
    outcomes = Seen()
    for _ in range(5):
        port = free_port()
        d = daemon(f"listen l\n    mode http\n    option httpclose\n    bind 127.0.0.1:{port}\n",
                   extra=f"nbthread {threads}", checked=False)
        clients = [threading.Thread(target=ask_until_refused, args=(port, outcomes)) for _ in range(16)]
        for c in clients:
            c.start()
        outcomes.wait(len(outcomes) + 101)
        d.send(signal.SIGUSR1)
        for c in clients:
            c.join(60)
        assert d.wait() == 0
    assert len(outcomes) > 500
    assert set(outcomes) == {b"HTTP/1.1 503 "}


def test_soft_stop_when_idle(daemon, origin):
    d = daemon(listen_on(free_port(), origin), checked=False)
    d.send(signal.SIGUSR1)
    assert d.wait() == 0


def test_soft_then_hard(daemon, origin):
    port = free_port()
    d = daemon(listen_on(port, origin), checked=False)
    with connect(port) as c:
        c.sendall(b"x")
        assert c.recv(1) == b"x"
        d.send(signal.SIGUSR1)
        refuses(port)
        d.send(signal.SIGTERM)
        assert d.wait() == 0


def test_other_signals_do_not_end_it(daemon, origin):
    port = free_port()
    d = daemon(listen_on(port, origin))
    for sig in (signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR2, signal.SIGPIPE, signal.SIGTTOU):
        d.send(sig)
    assert talks(port)
    contains(d.stderr_path, "no reload without a master")
    assert talks(port)


def test_master_mode_exit_code(daemon, origin):
    d = daemon(listen_on(free_port(), origin), mode=("-W", "-db"), checked=False)
    d.send(signal.SIGINT)
    assert d.wait() == 130
    d = daemon("global\n    daemon\n" + listen_on(free_port(), origin), mode=("-Ws",), checked=False)
    assert d.is_running()
    d.send(signal.SIGTERM)
    assert d.wait() == 0


def test_notify_abstract(daemon, origin):
    name = f"@tacit-test-{os.getpid()}"
    n = Notify(name)
    try:
        d = daemon(listen_on(free_port(), origin), env={"NOTIFY_SOCKET": name}, ready=False)
        assert n.wait("READY=1")
        d.stop()
        assert n.wait("STOPPING=1")
    finally:
        n.close()


def test_inherited_listener(daemon, origin):
    """fd@N: clients that connected before the program was started are served."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen(100)
        port = s.getsockname()[1]
        with connect(port) as early:
            early.sendall(b"early")
            daemon(f"listen l\n    bind fd@${{LFD}}\n    server s 127.0.0.1:{origin.port}\n".replace(
                "fd@${LFD}", '"fd@${LFD}"'), env={"LFD": str(s.fileno())}, pass_fds=(s.fileno(),))
            assert early.recv(100) == b"early"
        assert talks(port)


@pytest.mark.parametrize("poller", ["epoll", "ev:poll"])
def test_inherited_listener_that_others_keep(daemon, origin, poller):
    """As from a service manager: the socket stays open after our close, and clients connect to it while our sessions
    end."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen(100)
        port = s.getsockname()[1]
        d = daemon(f"listen l\n    bind fd@{s.fileno()}\n    server s 127.0.0.1:{origin.port}\n",
                   extra=f"use-poller {poller}", pass_fds=(s.fileno(),), checked=False)
        with served(port) as c, contextlib.ExitStack() as stack:
            d.send(signal.SIGUSR1)
            assert d.notify.wait("STOPPING=1")
            for _ in range(5):
                stack.enter_context(connect(port))
            assert is_calm(d.pid)
            c.sendall(b"still there")
            assert c.recv(100) == b"still there"
            assert d.is_running()
        assert d.wait() == 0


def test_numbers_above_the_limit(daemon, origin):
    """Inherited open descriptors move our numbers above what maxconn requires."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen(100)
        fd = os.dup2(s.fileno(), 300)
        spare = [os.dup2(0, n) for n in range(100, 180)]
        try:
            daemon(f"listen l\n    bind fd@{fd}\n    server s 127.0.0.1:{origin.port}\n", extra="maxconn 10",
                   pass_fds=(fd, *spare))
            conns = [connect(s.getsockname()[1]) for _ in range(10)]
            for c in conns:
                c.sendall(b"x")
            assert all(c.recv(1) == b"x" for c in conns)
            for c in conns:
                c.close()
        finally:
            for n in (fd, *spare):
                os.close(n)


@pytest.mark.parametrize("what", ["closed", "file", "connected"])
def test_inherited_nonsense(cfg_file, what, tmp_path):
    a, b = socket.socketpair()
    with a, b, open(tmp_path / "file", "w") as f:
        fd = {"closed": 250, "file": f.fileno(), "connected": a.fileno()}[what]
        path = cfg_file(GOOD.replace("127.0.0.1:65000", f"fd@{fd}"))
        r = subprocess.run([TACIT, "-db", "-f", str(path)], capture_output=True, text=True, timeout=LIMIT, check=False,
                           pass_fds=() if what == "closed" else (fd,))
        assert r.returncode == 1
        assert "[ALERT]" in r.stderr


def test_unix_listener(daemon, origin, tmp_path):
    path = tmp_path / "u.sock"
    cfg = f"listen l\n    bind {path} mode 620\n    server s 127.0.0.1:{origin.port}\n"
    for _ in range(2):  # the second one replaces the files that the first has left
        d = daemon(cfg)
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o620
        with socket.socket(socket.AF_UNIX) as c:
            c.connect(str(path))
            c.sendall(b"hi")
            assert c.recv(10) == b"hi"
        d.stop()


def test_abstract_listener(daemon, origin):
    name = f"tacit-test-{os.getpid()}"
    daemon(f"listen l\n    bind abns@{name}\n    server s 127.0.0.1:{origin.port}\n")
    with socket.socket(socket.AF_UNIX) as c:
        c.connect(("\0" + name).ljust(108, "\0"))  # as in HAProxy, the whole name counts
        c.sendall(b"hi")
        assert c.recv(10) == b"hi"


# --- limits and privileges ----------------------------------------------------------------------------------


@needs_descriptors
def test_limit_is_raised(daemon, origin):
    d = daemon(listen_on(free_port(), origin), extra="maxconn 500",
               limits=[(resource.RLIMIT_NOFILE, 64, 2048)])
    soft, _ = resource.prlimit(d.pid, resource.RLIMIT_NOFILE)
    assert 1000 < soft <= 2048


def test_strict_limits(cfg_file):
    def lower():
        resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))

    # Root may raise it again. Without that capability root may not, and finds the program in any directory, which
    # another user need not.
    like_others = ["setpriv", "--bounding-set=-sys_resource"] if os.getuid() == 0 else []
    text = "global\n    maxconn 1000\n" + GOOD.replace("65000", str(free_port()))
    r = subprocess.run([*like_others, TACIT, "-db", "-f", cfg_file(text)], capture_output=True, text=True, timeout=LIMIT,
                       preexec_fn=lower, check=False)
    assert r.returncode == 1
    assert "maxconn 1000" in r.stderr and "100" in r.stderr


@pytest.mark.skipif(os.getuid() != 0, reason="needs root")
def test_privileges_are_dropped(daemon, origin, tmp_path):
    jail = tmp_path / "jail"
    jail.mkdir()
    port = free_port()
    # a leak check needs /proc, which the jail does not have
    d = daemon(listen_on(port, origin), extra=f"uid 65534\n    gid 65534\n    chroot {jail}",
               env={"ASAN_OPTIONS": "detect_leaks=0"})
    with open(f"/proc/{d.pid}/status") as f:
        status = dict(l.rstrip("\n").split(":\t", 1) for l in f if ":\t" in l)
    assert status["Uid"].split() == ["65534"] * 4
    assert status["Gid"].split() == ["65534"] * 4
    assert status["Groups"].split() == []
    assert status["NoNewPrivs"] == "1"
    assert os.readlink(f"/proc/{d.pid}/root") == str(jail)
    assert talks(port)


@pytest.mark.skipif(os.getuid() != 0, reason="needs root")
@pytest.mark.parametrize("more,warns", [("", True), ("\n    group root", False), ("\n    group nogroup", False)])
def test_a_user_without_a_group_is_warned_of(daemon, origin, more, warns):
    """Root's group is kept, as with HAProxy, with a warning."""
    d = daemon(listen_on(free_port(), origin), extra=f"user nobody{more}", env={"ASAN_OPTIONS": "detect_leaks=0"})
    assert ("'user nobody' without 'group'" in d.stderr) == warns
    gid = "65534" if "nogroup" in more else "0"
    with open(f"/proc/{d.pid}/status") as f:
        assert f"Gid:\t{gid}\t{gid}\t{gid}\t{gid}\n" in f.read()


@pytest.mark.skipif(os.getuid() != 0, reason="needs root")
@pytest.mark.skipif(not os.path.exists("/usr/share/zoneinfo/Asia/Kolkata"), reason="needs time zones")
def test_the_time_zone_is_known_in_a_jail(daemon, origin, tmp_path):
    """The time zone is read before chroot()."""
    jail = tmp_path / "jail"
    jail.mkdir()
    port = free_port()
    d = daemon(listen_on(port, origin) + "    log global\n    log-format zone=%Tl\n",
               extra=f"chroot {jail}\n    log stdout format raw local0",
               env={"ASAN_OPTIONS": "detect_leaks=0", "TZ": "Asia/Kolkata"})
    assert talks(port)
    assert "+0530" in contains(d.stdout_path, "zone=")


def test_a_failed_start_does_not_affect_the_running_process(daemon, origin):
    """The same configuration is started twice by mistake: the port is in use, and the first process keeps its stats
    socket."""
    d = daemon(listen_on(free_port(), origin))
    r = run("-db", "-f", d.cfg)
    assert r.returncode == 1
    assert d.info()["Pid"] == str(d.pid)


@pytest.mark.skipif(os.getuid() != 0, reason="needs root: what cannot be dumped hides its descriptors from others")
def test_no_core_dumps(daemon, origin):
    d = daemon(listen_on(free_port(), origin), extra="no set-dumpable")
    assert resource.prlimit(d.pid, resource.RLIMIT_CORE) == (0, 0)


@needs_descriptors
@pytest.mark.parametrize("how,code", [(signal.SIGINT, 0), (signal.SIGKILL, -signal.SIGKILL)])
def test_demonstration(daemon, how, code):
    """conf/demo.cfg on other ports: forwards, redirects, denies, replies by itself, and prints the ledger at its
    end."""
    port, answers, back, stats = free_ports(4)
    text = Path(__file__).parents[2].joinpath("conf", "demo.cfg").read_text()
    for old, new in (("127.0.0.1:8080", port), ("127.0.0.1:8081", answers), ("127.0.0.1:18080", back),
                     ("127.0.0.1:8404", stats)):
        text = text.replace(old, f"127.0.0.1:{new}")
    text = text.replace("build/demo", "stats")
    # as `make run` starts both
    d = daemon(text, raw=True, program=str(BUILD / "origin"), mode=("127.0.0.1", back, TACIT, "-db"), checked=False)

    def ask(path):
        with connect(port) as c:
            c.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            head, body = recv_all(c).split(b"\r\n\r\n", 1)
        assert f"Content-Length: {len(body)}".encode() in head
        return head, body

    assert ask("/some")[1] == b"You came from 127.0.0.1 to x and asked for /some.\n"
    for _ in range(10):
        head, _ = ask("/origin/")
        assert head.startswith(b"HTTP/1.1 200 OK\r\n") and b"tacit-demo-origin" in head and b"Via: 1.1 tacit" in head
    assert b"\r\nLocation: /page" in ask("/old/page")[0]
    assert ask("/private/a")[0].startswith(b"HTTP/1.1 403 ")
    assert os.readlink(f"/proc/{d.pid}/exe") == os.path.realpath(TACIT)
    assert d.stop(how) == code
    # the origin ends with it, however it ends
    refuses(back)
    if code == 0:
        assert "per conn." in d.stdout and "per req." in d.stdout and "accept4" in d.stdout and "total" in d.stdout


@needs_descriptors
def test_few_descriptors_many_clients(daemon, origin):
    """256 descriptors, 1,000 clients at once: all are served in the end, and waiting costs nothing."""
    port = free_port()
    # The queue has room for all: when it is full the kernel sends SYN cookies, and may reset such a connection.
    d = daemon(listen_on(port, origin) + "    backlog 2000\n", limits=[(resource.RLIMIT_NOFILE, 256, 256)])
    waiting = []
    with contextlib.ExitStack() as stack, selectors.DefaultSelector() as sel:
        # the clients are in this process: the default limit is often 1024
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        for _ in range(1000):
            c = stack.enter_context(socket.socket())
            c.setblocking(False)
            c.connect_ex(("127.0.0.1", port))
            waiting.append(c)
            sel.register(c, selectors.EVENT_WRITE)
        # the connected clients use all descriptors, and none sends anything
        d.until("idle")
        _, cpu, took = rest(d, 1000)
        assert cpu < 50e6 * took
        served = 0
        while served < 1000:
            ready = sel.select(LIMIT)
            assert ready, f"no progress after {served} clients"
            for key, what in ready:
                c = key.fileobj
                if what & selectors.EVENT_WRITE:
                    c.send(b"x")
                    sel.modify(c, selectors.EVENT_READ)
                else:
                    assert c.recv(1) == b"x"
                    sel.unregister(c)
                    c.close()
                    served += 1
    assert served == 1000
    assert d.is_running()


@pytest.mark.skipif(os.getuid() != 0, reason="needs root")
def test_debian_stock_configuration_forwards(daemon, origin, tmp_path):
    """The whole configuration: its user, chroot, logs and defaults; only the path of its stats socket is replaced.
    """
    stock = "/etc/haproxy/haproxy.cfg"
    if not os.path.exists(stock):
        pytest.skip("Debian's haproxy is not installed")
    with open(stock) as f:
        text = "\n".join(l for l in f.read().replace("mode\thttp", "mode\ttcp").split("\n")
                         if "httplog" not in l)
    text = text.replace("/run/haproxy/admin.sock", str(tmp_path / "admin.sock"))
    port = free_port()
    d = daemon(text + "\n" + listen_on(port, origin), raw=True, env={"ASAN_OPTIONS": "detect_leaks=0"})
    assert talks(port)
    # Nothing is opened while it serves, including sockets for logs.
    becomes(d.fds, lambda seen: len(seen) == len(d.base), f"{len(d.base)} descriptors")
    assert talks(port)
    assert stat.S_IMODE(os.stat(tmp_path / "admin.sock").st_mode) == 0o660
    assert os.readlink(f"/proc/{d.pid}/root") == "/var/lib/haproxy"
    with open(f"/proc/{d.pid}/status") as f:
        assert "Uid:\t0" not in f.read()
