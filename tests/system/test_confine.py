"""Limits of the process once it serves."""

import contextlib
import ctypes
import errno
import os
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
from pathlib import Path

import pytest
from intruder import Intruder, Killed, needs_intruder
from conftest import TACIT, WAIT, connect, free_port, free_ports, recv_all
from facts import becomes, contains, exists, listens, only_child
from subject import IS_SANITIZED, not_sanitized, only_tacit

pytestmark = only_tacit

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="needs root")
LIMITS = "defaults\n    timeout connect 1m\n    timeout client 1m\n    timeout server 1m\n"
# The search for leaks needs to trace the process, which it does not permit any more.
NO_TRACE = {"ASAN_OPTIONS": "detect_leaks=0"}
NET_BIND_SERVICE, NET_ADMIN, NET_RAW = 1 << 10, 1 << 12, 1 << 13
MASTER_KEEPS = sum(1 << n for n in (0, 1, 3, 5, 6, 7, 8, 10, 12, 13, 14, 18, 24))


def status(pid):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def capabilities(pid):
    """(permitted, effective, inheritable, ambient, bounding)"""
    s = status(pid)
    return tuple(int(s[name], 16) for name in ("CapPrm", "CapEff", "CapInh", "CapAmb", "CapBnd"))


def low_port():
    """A port below 1024 that no other test uses: its number is the name of an abstract socket, which stays open."""
    for port in range(600, 690):
        claim = socket.socket(socket.AF_UNIX)
        try:
            claim.bind(f"\0tacit-tests-port-{port}")
        except OSError:
            claim.close()
            continue
        CLAIMS.append(claim)
        return port
    raise RuntimeError("no port below 1024 is free")


CLAIMS = []


def tasks(pid):
    return [int(t) for t in os.listdir(f"/proc/{pid}/task")]


def listen_on(port, origin, more=""):
    return f"listen l\n    bind 127.0.0.1:{port}\n    server s 127.0.0.1:{origin.port} {more}\n"


def talks(port):
    with connect(port) as c:
        c.sendall(b"hello")
        c.shutdown(1)
        return recv_all(c) == b"hello"


# --- capabilities ------------------------------------------------------------------------------------------


@needs_root
@pytest.mark.parametrize("user", ["", "    uid 65534\n    gid 65534"])
def test_no_capability_is_left(daemon, origin, user):
    port = free_port()
    d = daemon(listen_on(port, origin), extra=f"nbthread 3\n{user}", env=NO_TRACE)
    assert talks(port)
    assert len(tasks(d.pid)) == 3 or IS_SANITIZED  # TSan has a thread of its own
    for task in tasks(d.pid):
        assert capabilities(task) == (0, 0, 0, 0, 0)


@needs_root
@pytest.mark.parametrize("user", ["", "    uid 65534\n    gid 65534"])
@pytest.mark.parametrize("line,kept", [("source 0.0.0.0 usesrc clientip", NET_RAW),
                                       ("source 127.0.0.1:700-710", NET_BIND_SERVICE),
                                       ("\n    tcp-request content set-mark 7", NET_ADMIN)])
def test_what_the_configuration_needs_is_left(daemon, origin, user, line, kept):
    """The rights that are left suffice for it."""
    port = free_port()
    d = daemon(listen_on(port, origin, line), extra=user, env=NO_TRACE)
    assert talks(port)
    assert capabilities(d.pid) == (kept, kept, 0, 0, kept)


@needs_root
@pytest.mark.skipif(not shutil.which("setpriv"), reason="needs setpriv")
def test_marks_need_a_capability(tmp_path, origin):
    """Each of them would fail in silence otherwise."""
    cfg = tmp_path / "t.cfg"
    cfg.write_text("global\n" + LIMITS + listen_on(free_port(), origin, "\n    tcp-request content set-mark 7"))
    cfg.chmod(0o644)
    printed = subprocess.run(["setpriv", "--bounding-set", "-net_admin,-net_raw", "--inh-caps", "-all", TACIT, "-db", "-f", cfg],
                          capture_output=True, text=True, timeout=WAIT, check=False)
    assert printed.returncode == 1 and "'set-mark' needs the capability CAP_NET_ADMIN" in printed.stderr


@needs_root
@pytest.mark.parametrize("rule", ["tcp-request connection silent-drop if FALSE",
                                  "tcp-response content silent-drop if FALSE"])
@pytest.mark.parametrize("kept", ["", "setcap cap_net_admin"])
def test_a_silent_drop_that_is_not_silent_is_reported(daemon, origin, rule, kept):
    d = daemon(listen_on(free_port(), origin, f"\n    {rule}"), extra=kept, env=NO_TRACE)
    assert ("'silent-drop' sends a reset, which the first router drops" in d.stderr) == (not kept), d.stderr


@needs_root
def test_setcap_keeps_more(daemon, origin):
    d = daemon(listen_on(free_port(), origin), extra="uid 65534\n    setcap cap_net_raw,cap_net_bind_service",
               env=NO_TRACE)
    kept = NET_RAW | NET_BIND_SERVICE
    assert capabilities(d.pid) == (kept, kept, 0, 0, kept)


@needs_root
@pytest.mark.parametrize("setting,warns", [("", True), ("group root", True), ("user root", False), ("uid 0", False),
                                           ("uid 65534\n    gid 65534", False)])
def test_a_process_that_stays_root_is_warned_of(daemon, origin, setting, warns):
    """Unless the configuration says that it is to."""
    d = daemon(listen_on(free_port(), origin), extra=setting, env=NO_TRACE)
    assert d.stderr.count("the process stays root, since 'global' has no 'user'") == warns


@needs_root
def test_capabilities_can_be_left_alone(daemon, origin):
    d = daemon(listen_on(free_port(), origin), extra="insecure-capabilities-wanted")
    own = capabilities("self")
    assert capabilities(d.pid)[:2] == own[:2] and capabilities(d.pid)[4] == own[4]


@needs_root
def test_the_helper_of_checks_has_none_either(daemon, origin):
    d = daemon(f"listen l\n    bind 127.0.0.1:{free_port()}\n    option external-check\n"
               f"    external-check command /bin/true\n    server s 127.0.0.1:{origin.port} check\n",
               extra="external-check")
    with open(f"/proc/{d.pid}/task/{d.pid}/children") as f:
        helper = int(f.read().split()[0])
    becomes(lambda: capabilities(helper), (0, 0, 0, 0, 0))


@needs_root
@pytest.mark.skipif(not (shutil.which("setcap") and shutil.which("setpriv")), reason="needs setcap and setpriv")
def test_a_file_may_permit_what_is_raised_at_start(origin):
    """As HAProxy's manual says of setcap: what the program's file permits is not effective until it is asked for."""
    with tempfile.TemporaryDirectory() as name:
        program, cfg, port = Path(name, "tacit"), Path(name, "cfg"), low_port()
        Path(name).chmod(0o755)
        shutil.copy(TACIT, program)
        if subprocess.run(["setcap", "cap_net_bind_service=p", program]).returncode:
            pytest.skip("the file system has no capabilities of files")
        cfg.write_text("global\n    setcap cap_net_bind_service\n" + LIMITS + listen_on(port, origin))
        with subprocess.Popen(["setpriv", "--reuid", "65534", "--clear-groups", program, "-db", "-f", cfg]) as proc:
            try:
                listens(port)
                assert talks(port)
                assert capabilities(proc.pid)[:2] == (NET_BIND_SERVICE, NET_BIND_SERVICE)
            finally:
                proc.kill()


# --- system calls ------------------------------------------------------------------------------------------


def is_filtered(pid):
    return status(pid)["Seccomp"] == "2"


def filtered(*pids):
    """Waits until the filter of calls is there."""
    for pid in pids:
        becomes(lambda pid=pid: is_filtered(pid), True, "the filter of calls")


def confined(d, *what):
    """Waits until it has given up all of these."""
    becomes(lambda: d.info()["Confinement"], lambda seen: set(what) <= set(seen.split(",")), what)


@not_sanitized
def test_system_calls_of_all_threads_are_filtered(daemon, origin):
    port = free_port()
    d = daemon(listen_on(port, origin), extra="nbthread 3")
    assert talks(port)
    filtered(d.pid)
    assert len(tasks(d.pid)) == 3 and all(is_filtered(task) for task in tasks(d.pid))
    assert "syscalls" in d.info()["Confinement"].split(",")


@pytest.mark.parametrize("switch", ["insecure-syscalls-wanted", "insecure-setuid-wanted"])
def test_system_calls_can_be_left_alone(daemon, origin, switch):
    """A filter needs no-new-privs, which insecure-setuid-wanted is about."""
    d = daemon(listen_on(free_port(), origin), extra=switch)
    assert not is_filtered(d.pid)
    assert "syscalls" not in d.info()["Confinement"].split(",")


@not_sanitized
@pytest.mark.parametrize("poller", ["epoll", "ev:epoll", "ev:poll", "ev:select"])
def test_every_poller_is_allowed(daemon, origin, poller):
    port = free_port()
    d = daemon(listen_on(port, origin), extra=f"use-poller {poller}\n    nbthread 2")
    filtered(d.pid)
    assert talks(port)
    assert d.info()["Poller"] == poller


@not_sanitized
def test_a_regular_expression_that_is_added_later(daemon, origin):
    """Its machine code cannot be executed any more: it is interpreted."""
    port, patterns = free_port(), "".join(f"(a{i}|b{i})+[cd]{{2,{i}}}\n" for i in range(2, 300))
    d = daemon(f"frontend f\n    bind 127.0.0.1:{port}\n    mode http\n    acl bad path_reg first\n"
               "    http-request deny if bad\n    http-request return status 200\n")

    def code(path):
        with connect(port) as c:
            c.sendall(f"GET {path} HTTP/1.0\r\n\r\n".encode())
            return recv_all(c)[9:12]

    filtered(d.pid)
    assert code("/later99") == b"200"
    for pattern in patterns.splitlines():
        assert "Unknown" not in d.admin(f"add acl #0 {pattern}")
    d.admin("add acl #0 later[0-9]+")
    assert (code("/later99"), code("/first"), code("/b250cd"), code("/e")) == (b"403", b"403", b"403", b"200")


def children(pid):
    return [int(n) for n in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def with_helper(port, origin, command="/bin/true"):
    return (f"listen l\n    bind 127.0.0.1:{port}\n    option external-check\n"
            f"    external-check command {command}\n    server s 127.0.0.1:{origin.port} check inter 1s\n")


@not_sanitized
def test_the_master_and_the_helper_are_filtered(daemon, origin, tmp_path):
    """Programs that they execute, too: worker processes, which work nevertheless, and commands."""
    port, seen, script = free_port(), tmp_path / "seen", tmp_path / "check"
    script.write_text(f"#!/bin/sh\nwhile read name value; do case $name in Seccomp:|NoNewPrivs:) echo $name $value; esac;"
                      f" done </proc/self/status >{seen}\n")
    script.chmod(0o755)
    d = daemon(with_helper(port, origin, script), extra="external-check", mode=("-W", "-db"), checked=False)
    worker, = children(d.pid)
    filtered(worker, d.pid)
    helper, = children(worker)
    becomes(lambda: [status(pid)["NoNewPrivs"] for pid in (d.pid, worker, helper)], ["1"] * 3)
    contains(seen, "NoNewPrivs: 1\nSeccomp: 2\n")
    d.send(signal.SIGUSR2)
    only_child(d.pid, besides=[worker])
    filtered(only_child(d.pid))
    assert talks(port)
    seen.unlink()
    exists(seen)


@pytest.mark.parametrize("switch", ["insecure-syscalls-wanted", "insecure-setuid-wanted"])
def test_the_master_and_the_helper_can_be_left_alone(daemon, origin, switch):
    d = daemon(with_helper(free_port(), origin), extra=f"external-check\n    {switch}", mode=("-W", "-db"), checked=False)
    worker, = children(d.pid)
    helper, = children(worker)
    may_gain = switch == "insecure-setuid-wanted"
    for pid in (d.pid, worker, helper):
        assert status(pid)["Seccomp"] == status("self")["Seccomp"]
        # The master gives it up after the first worker process has started.
        becomes(lambda pid=pid: status(pid)["NoNewPrivs"], "0" if may_gain else "1")


@not_sanitized
def test_what_the_master_forbids_stays_forbidden(daemon, origin):
    """A reload says that it cannot be undone."""
    d = daemon(listen_on(free_port(), origin), extra="maxconn 100", mode=("-Ws",))
    for switch, what in (("insecure-syscalls-wanted", "system calls"), ("insecure-setuid-wanted", "new privileges")):
        d.cfg.write_text(d.cfg.read_text().replace("maxconn 100", f"maxconn 100\n    {switch}"))
        d.notify.seen.clear()
        d.send(signal.SIGUSR2)
        assert d.notify.wait("READY=1")
        assert f"'{switch}' is without effect: {what} were forbidden before" in d.stderr


@needs_root
def test_the_master_keeps_capabilities_that_worker_processes_need(daemon, origin):
    port, other = low_port(), low_port()
    d = daemon(listen_on(port, origin), extra="uid 65534\n    gid 65534", mode=("-Ws",))
    own = capabilities("self")[1]

    def kept():
        permitted, effective, _, _, bounding = capabilities(d.pid)
        return permitted == effective == bounding == own & MASTER_KEEPS
    becomes(kept, True, "the master's capabilities")
    d.cfg.write_text(d.cfg.read_text().replace(f"127.0.0.1:{port}", f"127.0.0.1:{other}"))
    d.notify.seen.clear()
    d.send(signal.SIGUSR2)
    assert d.notify.wait("READY=1")
    assert talks(other)
    only_child(d.pid)


@needs_root
@pytest.mark.skipif(not shutil.which("setpriv"), reason="needs setpriv")
def test_ambient_capabilities_reach_later_worker_processes(origin):
    """As systemd gives them to a service with a user of its own."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        shutil.copy(TACIT, Path(name, "tacit"))
        cfg, port, other = Path(name, "cfg"), low_port(), low_port()
        cfg.write_text(LIMITS + listen_on(port, origin))
        command = ["setpriv", "--reuid", "65534", "--clear-groups", "--inh-caps", "+net_bind_service",
                   "--ambient-caps", "+net_bind_service", Path(name, "tacit"), "-W", "-db", "-f", cfg]
        with subprocess.Popen(command) as proc:
            try:
                listens(port)
                first, = children(proc.pid)
                cfg.write_text(LIMITS + listen_on(other, origin))
                proc.send_signal(signal.SIGUSR2)
                listens(other)
                only_child(proc.pid, besides=[first])
            finally:
                proc.terminate()


# --- calls from inside -------------------------------------------------------------------------------------------

PRIVILEGED = struct.pack("!HH4s8x", socket.htons(socket.AF_INET), 81, socket.inet_aton("127.0.0.1"))
AT_FDCWD = -100
# Calls that are forbidden even to processes that execute programs. Without a filter none of them fails with EPERM for root.
FORBIDDEN = [("unshare", 0), ("ptrace", 1, 0), ("process_vm_readv", 0, 0, 0, 0, 0, 0), ("bpf", -1), ("keyctl", -1),
             ("mount",), ("io_uring_setup",), ("userfaultfd", -1), ("perf_event_open",), ("personality", 0),
             ("setns", -1), ("ioctl", 0, 0x5412), ("ioctl", 0, 0x500005412)]


@not_sanitized
@needs_intruder
def test_a_worker_that_was_taken_over(daemon, origin):
    """Each ends it, and the master replaces it."""
    port = free_port()
    d = daemon(listen_on(port, origin), extra="uid 65534\n    gid 65534", mode=("-W", "-db"), checked=False)

    def worker(previous=None):
        """The one that serves, when it is confined."""
        d.until(f"counter Pid ne {previous or 0}")
        return becomes(d.info, lambda now: "syscalls" in now["Confinement"], "its confinement")["Pid"]

    with Intruder(int(worker())) as i:
        fd = i.call("socket", socket.AF_INET, socket.SOCK_STREAM, 0)
        assert fd > 0
        assert i.call("bind", fd, i.put(PRIVILEGED), 16) == -errno.EACCES
    for name, *args in (("execve", 0), ("openat", AT_FDCWD, 0, os.O_WRONLY), ("ptrace", 1, 0), ("setuid", 0)):
        taken = worker()
        with pytest.raises(Killed, match=str(int(signal.SIGSYS))), Intruder(int(taken)) as i:
            i.call(name, *args)
        assert worker(taken), name
    assert talks(port)


def sun(path):
    return struct.pack("=H", socket.AF_UNIX) + str(path).encode() + b"\0"


def enter_masters_socket(i, path, command):
    """A worker process that was taken over connects, and sends a line; returns its descriptor."""
    fd = i.call("socket", socket.AF_UNIX, socket.SOCK_STREAM, 0)
    assert fd > 0
    assert i.call("connect", fd, i.put(sun(path)), len(sun(path))) == 0
    i.call("sendto", fd, i.put(command), len(command), socket.MSG_NOSIGNAL)
    return fd


def ask_master(path, command):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(WAIT)
        s.connect(str(path))
        s.sendall(command + b"\n")
        return recv_all(s).decode()


REFUSED = "connects to the master's socket, and is refused"


@needs_intruder
def test_a_worker_may_not_ask_the_master(daemon, origin, tmp_path):
    """Not even as the master's own user, which the mode of its socket permits."""
    path = tmp_path / "master.sock"
    d = daemon(listen_on(free_port(), origin), "-S", path, mode=("-W", "-db"), env=NO_TRACE)
    worker, = children(d.pid)
    assert ask_master(path, b"show proc").count("worker") > 1
    with Intruder(worker) as i:
        for _ in range(2):
            fd = enter_masters_socket(i, path, b"show proc\n")
            assert i.call("read", fd, i.put(b"\0" * 64), 64) in (0, -errno.ECONNRESET)
    assert d.stderr.count(f"worker ({worker}) {REFUSED}") == 1
    assert ask_master(path, b"show proc").count("worker") > 1


@needs_intruder
@pytest.mark.parametrize("waiting", [0, 10])
def test_a_dead_worker_may_not_ask_the_master_either(daemon, origin, tmp_path, waiting):
    """Its requests are not served after its end, when no process has its pid, nor if others wait for the master."""
    path = tmp_path / "master.sock"
    d = daemon(listen_on(free_port(), origin), "-S", path, mode=("-W", "-db"), env=NO_TRACE)
    worker, = children(d.pid)
    before = len(os.listdir(f"/proc/{d.pid}/fd"))
    with contextlib.ExitStack() as stack:
        for _ in range(waiting):
            stack.enter_context(socket.socket(socket.AF_UNIX)).connect(str(path))
        becomes(lambda: len(os.listdir(f"/proc/{d.pid}/fd")), before + waiting)
        os.kill(d.pid, signal.SIGSTOP)
        with Intruder(worker) as i:
            enter_masters_socket(i, path, b"reload\n")
        os.kill(worker, signal.SIGKILL)
        os.kill(d.pid, signal.SIGCONT)
        only_child(d.pid, besides=[worker])
        contains(d.stderr_path, f"worker ({worker}) {REFUSED}")
    assert "0 [failed: 0]" in ask_master(path, b"show proc").splitlines()[1]
    assert "Reloading the configuration" not in d.stderr


@pytest.mark.parametrize("jailed", [False, True])
def test_a_server_may_be_the_masters_socket(daemon, tmp_path, jailed):
    """With a frontend of its own, or a path that differs, somebody has wanted that. It holds after a reload, too."""
    if jailed and os.getuid():
        pytest.skip("needs root")
    path, port = tmp_path / "run" / "master.sock", free_port()
    path.parent.mkdir()
    server = "unix@/run/master.sock" if jailed else f"unix@{tmp_path}/run/../run/master.sock"
    d = daemon(f"listen l\n    bind 127.0.0.1:{port}\n    server m {server}\n", "-S", path, mode=("-W", "-db"),
               extra=f"chroot {tmp_path}" if jailed else "", env=NO_TRACE)

    def version():
        with connect(port) as c:
            c.sendall(b"show version\n")
            return recv_all(c).strip().decode()

    first, = children(d.pid)
    assert "tacit" in version()
    d.send(signal.SIGUSR2)
    only_child(d.pid, besides=[first])
    assert "tacit" in version()


@not_sanitized
@needs_intruder
def test_a_master_and_a_helper_that_were_taken_over(daemon, origin):
    """They may execute programs and open files; the helper has neither a user's nor a port's privileges."""
    port = free_port()
    d = daemon(with_helper(port, origin), extra="external-check\n    uid 65534\n    gid 65534", mode=("-W", "-db"),
               checked=False)
    worker, = children(d.pid)
    helper, = children(worker)
    filtered(d.pid, helper)
    for pid in (d.pid, helper):
        with Intruder(pid) as i:
            for name, *args in FORBIDDEN:
                assert i.call(name, *args) == -errno.EPERM, (pid == helper, name)
            assert i.call("personality", 0xffffffff) >= 0
            assert i.call("execve", 0) == -errno.EFAULT
            if pid == helper:
                assert i.call("setuid", 0) == -errno.EPERM
                fd = i.call("socket", socket.AF_INET, socket.SOCK_STREAM, 0)
                assert i.call("bind", fd, i.put(PRIVILEGED), 16) == -errno.EACCES
    assert talks(port)


@needs_intruder
def test_nothing_of_it_is_forbidden_elsewhere():
    """Otherwise the test above would prove nothing."""
    with subprocess.Popen(["sleep", "60"]) as proc:
        try:
            becomes(lambda: status(proc.pid)["State"], lambda state: state.startswith("S"), "it to sleep")
            with Intruder(proc.pid) as i:
                assert [name for name, *args in FORBIDDEN if i.call(name, *args) == -errno.EPERM and name != "ioctl"] == []
        finally:
            proc.kill()


# --- files -------------------------------------------------------------------------------------------------


ABI = ctypes.CDLL(None).syscall(444, None, 0, 1)
needs_landlock = pytest.mark.skipif(IS_SANITIZED or ABI < 1, reason="needs Landlock")


@needs_landlock
@pytest.mark.parametrize("more", ["", "    uid 65534\n    gid 65534\n", "    chroot {jail}\n"])
def test_files_are_limited(daemon, origin, tmp_path, more):
    """The process still removes its own at its end, where the user may and the root directory is the same."""
    if more and os.getuid():
        pytest.skip("needs root")
    port, pidfile, jail = free_port(), tmp_path / "run" / "pid", tmp_path / "jail"
    pidfile.parent.mkdir()
    jail.mkdir()
    d = daemon(listen_on(port, origin), "-p", pidfile, extra=more.format(jail=jail))
    assert talks(port)
    assert "files" in d.info()["Confinement"].split(",")
    assert pidfile.read_text() == f"{d.pid}\n" and d.sock.exists()
    assert d.stop() == 0
    assert (pidfile.exists(), d.sock.exists()) == (bool(more), bool(more))


@pytest.mark.parametrize("switch", ["insecure-files-wanted", "insecure-setuid-wanted"])
def test_files_can_be_left_alone(daemon, origin, switch):
    d = daemon(listen_on(free_port(), origin), extra=switch)
    assert "files" not in d.info()["Confinement"].split(",")


@needs_landlock
def test_source_ports_of_the_configuration_can_be_bound(daemon, origin):
    """Not those of a server that is added later."""
    port, other, first = free_port(), free_port(), free_port()
    d = daemon(listen_on(port, origin, f"source 127.0.0.1:{first}-{first + 3}") +
               f"frontend f\n    bind 127.0.0.1:{other}\n    default_backend b\nbackend b\n    balance roundrobin\n")
    assert talks(port)
    assert "files" in d.info()["Confinement"]
    address = f"127.0.0.1:{origin.port}"
    assert "registered" in d.admin(f"add server b/one {address} source 127.0.0.1")
    d.admin("enable server b/one")
    assert talks(other)


@needs_landlock
def test_everything_is_confined_by_default(daemon, origin):
    d = daemon(listen_on(free_port(), origin))
    d.until("counter Confinement eq capabilities,files,syscalls")


@needs_landlock
def test_a_worker_process_is_confined_further(daemon, origin):
    d = daemon(listen_on(free_port(), origin), mode=("-W", "-db"), env=NO_TRACE)
    scopes = ",abstract,signals" if ABI >= 6 else ""
    d.until(f"counter Confinement eq capabilities,files{scopes},syscalls")


# --- connections -------------------------------------------------------------------------------------------

needs_ports = pytest.mark.skipif(IS_SANITIZED or ABI < 4, reason="needs Landlock of Linux 6.7")
needs_scopes = pytest.mark.skipif(IS_SANITIZED or ABI < 6, reason="needs Landlock of Linux 6.12")
# Without a word on its level a stats socket has the level operator.
PLAIN = "global\n    stats socket {sock}\n    set-dumpable\n" + LIMITS


@pytest.fixture
def plain(daemon, tmp_path):
    """A daemon whose stats socket may not change servers."""
    return lambda cfg, **more: daemon(PLAIN.format(sock=tmp_path / "d0" / "stats.sock") + cfg, raw=True, env=NO_TRACE, **more)


def sin(port):
    return struct.pack("=H", socket.AF_INET) + struct.pack("!H4s8x", port, socket.inet_aton("127.0.0.1"))


def outcome(i, kind, family, protocol, address):
    """The outcome of connect() from inside, with a socket that does not block."""
    fd = i.call("socket", family, kind | socket.SOCK_NONBLOCK, protocol)
    return fd if fd < 0 else i.call("connect", fd, i.put(address), len(address))


@needs_ports
@needs_intruder
def test_connections_are_limited_to_ports_of_the_configuration(plain, origin, origins):
    # A check that failed would take the server away.
    port, checked, other = free_port(), origins().port, free_port()
    d = plain(listen_on(port, origin, f"check port {checked}"))
    assert talks(port)
    confined(d, "connections", "syscalls")
    with Intruder(d.pid) as i:
        def tcp(to):
            return outcome(i, socket.SOCK_STREAM, socket.AF_INET, 0, sin(to))
        assert tcp(origin.port) in (0, -errno.EINPROGRESS)
        assert tcp(checked) in (0, -errno.EINPROGRESS)
        assert [tcp(to) for to in (other, port, 22)] == [-errno.EACCES] * 3
        # datagrams are free
        assert outcome(i, socket.SOCK_DGRAM, socket.AF_INET, 0, sin(53)) == 0
    # Landlock does not know Multipath TCP
    with pytest.raises(Killed, match=str(int(signal.SIGSYS))), Intruder(d.pid) as i:
        i.call("socket", socket.AF_INET, socket.SOCK_STREAM, 262)
    d.kill()


@needs_ports
def test_ports_of_all_kinds_can_be_connected_to(plain, origin):
    """Connects to each address of the configuration; a wrong rule would break it."""
    ports = free_ports(3)
    logs, names = socket.create_server(("127.0.0.1", 0)), socket.create_server(("127.0.0.1", 0))
    with logs, names:
        d = plain(listen_on(ports[0], origin) +
                  f"listen d\n    bind 127.0.0.1:{ports[1]}\n    dispatch 127.0.0.1:{origin.port}\n"
                  f"listen c\n    bind 127.0.0.1:{ports[2]}\n    option tcp-check\n    tcp-check connect port {origin.port}\n"
                  f"    server s 127.0.0.1:1 check inter 100ms\n    log tcp@127.0.0.1:{logs.getsockname()[1]} local0\n"
                  "resolvers r\n    parse-resolv-conf\n" f"    nameserver n tcp@127.0.0.1:{names.getsockname()[1]}\n"
                  "backend n\n    server s x.invalid:81 resolvers r init-addr none\n")
        assert "connections" in d.info()["Confinement"]
        assert talks(ports[0]) and talks(ports[1])
        d.until("server c/s state eq UP")
        for server in (logs, names):
            server.settimeout(WAIT)
            server.accept()[0].close()


@needs_ports
@pytest.mark.parametrize("free", ["    stats socket {sock}2 level admin", "server s 127.0.0.1"])
def test_connections_are_free_where_ports_may_change(plain, origin, tmp_path, free):
    cfg = listen_on(free_port(), origin)
    if "stats" in free:
        cfg = "global\n" + free.format(sock=tmp_path / "d0" / "stats.sock") + "\n" + cfg
    else:
        cfg += f"backend b\n    {free}\n"
    d = plain(cfg)
    assert "connections" not in d.info()["Confinement"]


@needs_scopes
@needs_intruder
def test_a_worker_process_reaches_no_abstract_socket_of_others(daemon, origin):
    d = daemon(listen_on(free_port(), origin), mode=("-W", "-db"), env=NO_TRACE)
    name = f"\0tacit-tests-abstract-{d.pid}"
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(name)
        other.listen()
        confined(d, "abstract", "signals")
        worker, = children(d.pid)
        address = struct.pack("=H", socket.AF_UNIX) + name.encode()
        with Intruder(worker) as i:
            assert outcome(i, socket.SOCK_STREAM, socket.AF_UNIX, 0, address) == -errno.EPERM
    # so a server with such an address is refused, rather than down for ever
    printed = d.admin("add server l/new abns@x")
    assert "may not connect to 'abns@x'" in printed
    assert "l,new" not in d.admin("show stat")


@needs_scopes
def test_abstract_sockets_of_the_configuration_can_be_connected_to(daemon):
    port, name = free_port(), f"tacit-tests-abns-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0" + name.ljust(107, "\0"))
        server.listen()
        server.settimeout(WAIT)
        d = daemon(f"listen l\n    bind 127.0.0.1:{port}\n    balance roundrobin\n    server s abns@{name}\n",
                   mode=("-W", "-db"), env=NO_TRACE)
        assert "abstract" not in d.info()["Confinement"]
        with connect(port) as c:
            c.sendall(b"x")
            with server.accept()[0] as s:
                assert s.recv(1) == b"x"
    assert "registered" in d.admin("add server l/new abns@x")
