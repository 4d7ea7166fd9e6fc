"""The master's socket: what programs that drive HAProxy send there."""

import contextlib
import os
import socket
from pathlib import Path

import pytest
from clients import site
from conftest import WAIT, connect, free_port, info, recv_all
from test_master import MASTER, ask, worker_of


@pytest.fixture
def asked(daemon, tmp_path):
    """A daemon with a socket of its master, and a function that asks it."""
    def start(*options):
        path = tmp_path / "master.sock"
        d = daemon(site(free_port()), "-S", ",".join([str(path), *options]), mode=MASTER)
        return d, path, lambda *lines: ask(path, *lines)
    return start


def test_severities_of_messages(asked):
    """As client-native asks, in both of its forms: what it sets has no answer of its own."""
    d, path, master = asked()
    wrong = "set server x/y state ready"
    plain = master(f"@1 {wrong}")
    assert plain == "No such backend.\n\n"
    assert master(f"set severity-output number;@1 {wrong};quit") == f"[3]: {plain}"
    assert master(f"set severity-output string;@1 {wrong};@1 show cli level;quit") == f"[err]: {plain}[info]: admin\n\n"
    assert master(f"@1 set severity-output number;@1 {wrong};quit") == f"\n[3]: {plain}"
    assert info(master("set severity-output number;@1 show info;quit"))["Pid"] == str(worker_of(d))


def test_what_the_master_reports_of_itself(asked):
    d, path, master = asked("level", "operator")
    assert master("show cli sockets") == f"# socket lvl processes\nunix@{path} operator master\n\n"
    env = Path(f"/proc/{d.pid}/environ").read_text().split("\0")
    assert set(master("show env").split("\n")) >= {e for e in env if e and "\n" not in e}
    assert master("show env PATH") == f"PATH={os.environ['PATH']}\n\n"
    assert master("show env NO_SUCH_NAME") == "Variable not found\n\n"
    assert master("echo == a  b ==; @1 echo c") == "== a b ==\n\nc\n\n"
    assert [line.split(":")[0].split()[0] for line in master("help r").splitlines()[1:] if line] == \
        ["reload", "help", "prompt", "quit"]


def test_a_payload_for_a_worker(daemon, tmp_path):
    (tmp_path / "map").write_text("a b\n")
    d = daemon(site(free_port()) + f"    http-request set-var(txn.x) str(a),map({tmp_path}/map)\n", "-S", tmp_path / "m",
               mode=MASTER)
    assert ask(tmp_path / "m", f"@1 show cli level; add map {tmp_path}/map <<", "c d", "e f", "").startswith("admin\n\n")
    assert "e f" not in ask(tmp_path / "m", f"@1 show map {tmp_path}/map")
    assert ask(tmp_path / "m", f"@1; add map {tmp_path}/map <<", "c d", "e f", "") == "\n"
    text = ask(tmp_path / "m", f"@1 show map {tmp_path}/map")
    assert " c d\n" in text and " e f\n" in text
    assert d.is_running()


def test_a_large_payload_for_a_worker(daemon, tmp_path):
    """Certificates with their chains."""
    (tmp_path / "map").write_text("a b\n")
    d = daemon(site(free_port()) + f"    http-request set-var(txn.x) str(a),map({tmp_path}/map)\n", "-S", tmp_path / "m",
               mode=MASTER)
    rows = [f"key-{i:06} {'v' * 50}" for i in range(2000)]
    assert 120000 < len("\n".join(rows)) < 131072
    assert ask(tmp_path / "m", f"@1 add map {tmp_path}/map <<", *rows, "") == "\n"
    text = ask(tmp_path / "m", f"@1 show map {tmp_path}/map")
    assert [line.split(" ", 1)[1] for line in text.splitlines() if line] == ["a b", *rows]
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(WAIT)
        s.connect(str(tmp_path / "m"))
        with contextlib.suppress(BrokenPipeError):
            s.sendall("\n".join([f"@1 add map {tmp_path}/map <<", *rows, *rows]).encode())
        assert s.recv(100) == b"Command line too long\n\n"
    assert len(ask(tmp_path / "m", f"@1 show map {tmp_path}/map").splitlines()) == 2002


def test_a_client_that_sends_too_much_gets_the_whole_answer(daemon):
    """Over TCP, as on a stats socket."""
    port = free_port()
    daemon(site(free_port()), "-S", f"127.0.0.1:{port}", mode=MASTER)
    with connect(port) as s:
        s.sendall(b"help\n")
        once = recv_all(s)
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.settimeout(WAIT)
        s.connect(("127.0.0.1", port))
        s.sendall(b"help;" * 29 + b"help\n" + b"more\n" * 4000)
        assert recv_all(s) == once * 30
