"""What the process may not do once it serves."""

import ctypes
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest
from conftest import TACIT, connect, free_port, is_open, recv_all, wait_for
from subject import IS_SANITIZED, not_sanitized, only_tacit

pytestmark = only_tacit

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="needs root")
LIMITS = "defaults\n    timeout connect 1s\n    timeout client 1s\n    timeout server 1s\n"
# The search for leaks needs to trace the process, which it does not permit any more.
NO_TRACE = {"ASAN_OPTIONS": "detect_leaks=0"}
NET_BIND_SERVICE, NET_RAW = 1 << 10, 1 << 13


def status(pid):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def capabilities(pid):
    """(permitted, effective, inheritable, ambient, bounding)"""
    s = status(pid)
    return tuple(int(s[name], 16) for name in ("CapPrm", "CapEff", "CapInh", "CapAmb", "CapBnd"))


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
                                       ("source 127.0.0.1:700-710", NET_BIND_SERVICE)])
def test_what_the_configuration_needs_is_left(daemon, origin, user, line, kept):
    """And suffices for it."""
    port = free_port()
    d = daemon(listen_on(port, origin, line), extra=user, env=NO_TRACE)
    assert talks(port)
    assert capabilities(d.pid) == (kept, kept, 0, 0, kept)


@needs_root
def test_setcap_keeps_more(daemon, origin):
    d = daemon(listen_on(free_port(), origin), extra="uid 65534\n    setcap cap_net_raw,cap_net_bind_service",
               env=NO_TRACE)
    kept = NET_RAW | NET_BIND_SERVICE
    assert capabilities(d.pid) == (kept, kept, 0, 0, kept)


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
    assert wait_for(lambda: capabilities(helper) == (0, 0, 0, 0, 0))


@needs_root
@pytest.mark.skipif(not (shutil.which("setcap") and shutil.which("setpriv")), reason="needs setcap and setpriv")
def test_a_file_may_permit_what_is_raised_at_start(origin):
    """As HAProxy's manual says of setcap: what the program's file permits is not effective until it is asked for."""
    with tempfile.TemporaryDirectory() as name:
        program, cfg = Path(name, "tacit"), Path(name, "cfg")
        Path(name).chmod(0o755)
        shutil.copy(TACIT, program)
        if subprocess.run(["setcap", "cap_net_bind_service=p", program]).returncode:
            pytest.skip("the file system has no capabilities of files")
        cfg.write_text("global\n    setcap cap_net_bind_service\n" + LIMITS + listen_on(777, origin))
        with subprocess.Popen(["setpriv", "--reuid", "65534", "--clear-groups", program, "-db", "-f", cfg]) as proc:
            try:
                assert wait_for(lambda: is_open(777))
                assert talks(777)
                assert capabilities(proc.pid)[:2] == (NET_BIND_SERVICE, NET_BIND_SERVICE)
            finally:
                proc.kill()


# --- system calls ------------------------------------------------------------------------------------------


def is_filtered(pid):
    return status(pid)["Seccomp"] == "2"


@not_sanitized
def test_system_calls_of_all_threads_are_filtered(daemon, origin):
    port = free_port()
    d = daemon(listen_on(port, origin), extra="nbthread 3")
    assert talks(port)
    assert wait_for(lambda: is_filtered(d.pid))
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
    assert wait_for(lambda: is_filtered(d.pid)) and talks(port)
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

    assert wait_for(lambda: is_filtered(d.pid)) and code("/later99") == b"200"
    for pattern in patterns.splitlines():
        assert "Unknown" not in d.admin(f"add acl #0 {pattern}")
    d.admin("add acl #0 later[0-9]+")
    assert (code("/later99"), code("/first"), code("/b250cd"), code("/e")) == (b"403", b"403", b"403", b"200")


@not_sanitized
def test_the_master_and_the_helper_have_no_filter(daemon, origin):
    """The one executes worker processes, which would inherit it; the other executes commands."""
    port = free_port()
    d = daemon(f"listen l\n    bind 127.0.0.1:{port}\n    option external-check\n"
               f"    external-check command /bin/true\n    server s 127.0.0.1:{origin.port} check\n",
               extra="external-check", mode=("-W", "-db"), checked=False)
    children = Path(f"/proc/{d.pid}/task/{d.pid}/children")
    worker = int(children.read_text().split()[0])
    assert wait_for(lambda: is_filtered(worker)) and not is_filtered(d.pid)
    helper = int(Path(f"/proc/{worker}/task/{worker}/children").read_text().split()[0])
    assert not is_filtered(helper)
    os.kill(d.pid, signal.SIGUSR2)
    assert wait_for(lambda: str(worker) not in children.read_text().split() and children.read_text())
    assert wait_for(lambda: is_filtered(int(children.read_text().split()[0])))
    assert talks(port)


# --- files -------------------------------------------------------------------------------------------------


needs_landlock = pytest.mark.skipif(IS_SANITIZED or ctypes.CDLL(None).syscall(444, None, 0, 1) < 1,
                                    reason="needs Landlock")


@needs_landlock
@pytest.mark.parametrize("more", ["", "    uid 65534\n    gid 65534\n", "    chroot {jail}\n"])
def test_files_are_limited(daemon, origin, tmp_path, more):
    """It still removes its own at its end, where the user may and the root directory is the same."""
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
    assert wait_for(lambda: d.info()["Confinement"] == "capabilities,files,syscalls")
