"""Listening sockets of the service manager: $LISTEN_FDS."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess

import pytest

from clients import get, site
from conftest import TACIT, WAIT, connect, free_port, is_open
from facts import becomes, contains, gone, listens, only_child

DEFAULTS = "global\n    {extra}\ndefaults\n    timeout connect 1m\n    timeout client 1m\n    timeout server 1m\n"
ACTIVATE = shutil.which("systemd-socket-activate")


def listening(port=0, kind=socket.SOCK_STREAM, listens=True, binds=True):
    s = socket.socket(socket.AF_INET, kind)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if binds:
        s.bind(("127.0.0.1", port))
    if listens:
        s.listen(100)
    return s


class Activated:
    """tacit with these sockets as descriptors 3, 4, ..., as a service manager starts it."""

    def __init__(self, tmp_path, cfg, sockets, names="", mode="-db", extra="", pid="$$"):
        path = tmp_path / "cfg"
        path.write_text(DEFAULTS.format(extra=extra) + cfg)
        first = 100
        for i, s in enumerate(sockets):
            os.dup2(s.fileno(), first + i)
        moves = " ".join(f"{3 + i}<&{first + i} {first + i}<&-" for i in range(len(sockets)))
        script = f"export LISTEN_PID={pid} LISTEN_FDS={len(sockets)} LISTEN_FDNAMES={names}; exec {TACIT} {mode} -f {path} {moves}"
        self.stderr_path = tmp_path / "stderr"
        with open(self.stderr_path, "w", encoding="utf-8") as err:
            self.proc = subprocess.Popen(["bash", "-c", script], stderr=err,
                                         pass_fds=[first + i for i in range(len(sockets))])
        for i in range(len(sockets)):
            os.close(first + i)

    @property
    def stderr(self):
        return self.stderr_path.read_text()

    def stop(self, sig=signal.SIGTERM):
        self.proc.send_signal(sig)
        return self.proc.wait(WAIT)


@pytest.fixture
def activated(tmp_path):
    made = []

    def start(*args, **kw):
        made.append(Activated(tmp_path, *args, **kw))
        return made[-1]
    yield start
    for a in made:
        with contextlib.suppress(ProcessLookupError):
            a.proc.kill()
        a.proc.wait()


@pytest.mark.parametrize("mode", ["-db", "-Ws"])
@pytest.mark.parametrize("bind", ["fd@web", "fd@4", "127.0.0.1:{port}"])
@pytest.mark.parametrize("extra", ["nbthread 1", "nbthread 2"])
def test_a_bind_line_uses_the_socket(activated, mode, bind, extra):
    with listening() as other, listening() as s:
        port = s.getsockname()[1]
        waiting = connect(port)
        cfg = site(0).replace("127.0.0.1:0", bind.format(port=port) + " defer-accept") + "    bind fd@other\n"
        a = activated(cfg, [other, s], "other:web", mode, extra)
        with waiting as c:
            c.sendall(b"GET / HTTP/1.0\r\n\r\n")
            assert b"one" in c.recv(1000), a.stderr
        assert get(other.getsockname()[1]) == "one"
        if mode == "-Ws":
            path = a.stderr_path.parent / "cfg"
            path.write_text(path.read_text().replace("one", "two"))
            a.proc.send_signal(signal.SIGUSR2)
            becomes(lambda: get(port), "two")
        assert "is used by no bind line" not in a.stderr
        # clients wait in it for the next process
        a.stop(signal.SIGUSR1)
        assert is_open(port)


def test_a_reload_has_no_grace(activated):
    """The process that is replaced ends, although it keeps no socket for the next one."""
    with listening() as s:
        port = s.getsockname()[1]
        a = activated(site(0).replace("127.0.0.1:0", "fd@web"), [s], "web", "-Ws", "grace 1h")
        assert get(port) == "one"
        old = only_child(a.proc.pid)
        a.proc.send_signal(signal.SIGUSR2)
        gone(old)
        assert get(port) == "one"


def test_it_is_not_for_another_process(activated):
    port = free_port()
    with listening() as s:
        a = activated(site(port), [s], "web", pid="1")
        listens(port)
        assert "service manager" not in a.stderr


def test_a_socket_that_is_not_used(activated):
    port = free_port()
    with listening() as s:
        a = activated(site(port), [s], "web")
        listens(port)
        text = f"socket 3 of the service manager (127.0.0.1:{s.getsockname()[1]}) is used by no bind line"
        contains(a.stderr_path, text)


@pytest.mark.parametrize("bind, how, why", [
    ("fd@web", {"kind": socket.SOCK_DGRAM, "listens": False}, "'fd@web' : this socket is not a stream socket."),
    ("fd@web", {"listens": False}, "'fd@web' : this socket does not listen."),
    ("fd@web", {"listens": False, "binds": False}, "'fd@web' : this socket is not bound."),
    ("fd@wen", {}, "'fd@wen' : no socket of this name is passed ($LISTEN_FDNAMES)."),
    ("fd@77", {}, "'fd@77' : this descriptor is not open."),
    ("fd@0", {}, "'fd@0' : this descriptor is not a socket."),
    ("fd@web,fd@3", {}, "'fd@3' : another bind line uses this socket."),
])
@pytest.mark.parametrize("mode", ["-db", "-Ws"])
def test_mistakes(activated, bind, how, why, mode):
    with listening(**how) as s:
        a = activated(site(0).replace("127.0.0.1:0", bind), [s], "web", mode)
        assert a.proc.wait(WAIT) == 1
        assert f"/cfg:10:10] : {why}" in a.stderr


def test_a_check_needs_no_sockets(activated):
    a = activated(site(0).replace("127.0.0.1:0", "fd@web"), [], mode="-c")
    assert a.proc.wait(WAIT) == 0


@pytest.mark.skipif(not ACTIVATE, reason="no systemd-socket-activate")
def test_with_systemd(tmp_path):
    port = free_port()
    cfg = tmp_path / "cfg"
    cfg.write_text(DEFAULTS.format(extra="") + site(0).replace("127.0.0.1:0", "fd@web"))
    with subprocess.Popen([ACTIVATE, "-l", f"127.0.0.1:{port}", "--fdname=web", TACIT, "-db", "-f", str(cfg)],
                          stderr=subprocess.PIPE) as p:
        try:
            assert any(b"Listening" in line for line in p.stderr)
            assert get(port) == "one"
        finally:
            p.terminate()


@pytest.mark.parametrize("mode", ["-db", "-Ws"])
def test_messages_for_the_journal(tmp_path, mode):
    """$JOURNAL_STREAM names standard error: each line has a priority."""
    with listening() as taken, open(tmp_path / "journal", "w+", encoding="utf-8") as err:
        cfg = tmp_path / "cfg"
        cfg.write_text(DEFAULTS.format(extra="") + site(taken.getsockname()[1]))
        st = os.fstat(err.fileno())
        env = dict(os.environ, JOURNAL_STREAM=f"{st.st_dev}:{st.st_ino}")
        assert subprocess.run([TACIT, mode, "-V", "-f", cfg], stderr=err, env=env, timeout=WAIT, check=False).returncode == 1
        lines = (tmp_path / "journal").read_text().splitlines()
    assert any(line.startswith("<1>[ALERT] ") and "in use" in line for line in lines), lines
    assert any(line.startswith("<5>[NOTICE] ") for line in lines), lines
    assert all(line[0] == "<" for line in lines), lines


@pytest.mark.parametrize("mode", ["-db", "-Ws", "-c"])
def test_messages_about_a_configuration_for_the_journal(tmp_path, mode):
    with open(tmp_path / "journal", "w+", encoding="utf-8") as err:
        cfg = tmp_path / "cfg"
        cfg.write_text("listen l\n mode http\n bind 127.0.0.1:1\n timeout cleint 1s\n")
        st = os.fstat(err.fileno())
        env = dict(os.environ, JOURNAL_STREAM=f"{st.st_dev}:{st.st_ino}")
        assert subprocess.run([TACIT, mode, "-f", cfg], stderr=err, env=env, timeout=WAIT, check=False).returncode == 1
        lines = (tmp_path / "journal").read_text().splitlines()
    assert any(line.startswith("<1>[ALERT] ") and f"[{cfg}:4:2]" in line for line in lines), lines
    assert any("timeout cleint 1s" in line for line in lines), lines
    assert all(line.startswith("<1>") for line in lines), lines
