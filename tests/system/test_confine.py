"""What the process may not do once it serves."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from conftest import TACIT, connect, free_port, is_open, recv_all, wait_for
from subject import only_tacit

pytestmark = only_tacit

needs_root = pytest.mark.skipif(os.getuid() != 0, reason="needs root")
LIMITS = "defaults\n    timeout connect 1s\n    timeout client 1s\n    timeout server 1s\n"
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
    d = daemon(listen_on(port, origin), extra=f"nbthread 3\n{user}")
    assert talks(port)
    assert len(tasks(d.pid)) == 3
    for task in tasks(d.pid):
        assert capabilities(task) == (0, 0, 0, 0, 0)


@needs_root
@pytest.mark.parametrize("user", ["", "    uid 65534\n    gid 65534"])
@pytest.mark.parametrize("line,kept", [("source 0.0.0.0 usesrc clientip", NET_RAW),
                                       ("source 127.0.0.1:700-710", NET_BIND_SERVICE)])
def test_what_the_configuration_needs_is_left(daemon, origin, user, line, kept):
    """And suffices for it."""
    port = free_port()
    d = daemon(listen_on(port, origin, line), extra=user)
    assert talks(port)
    assert capabilities(d.pid) == (kept, kept, 0, 0, kept)


@needs_root
def test_setcap_keeps_more(daemon, origin):
    d = daemon(listen_on(free_port(), origin), extra="uid 65534\n    setcap cap_net_raw,cap_net_bind_service")
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
