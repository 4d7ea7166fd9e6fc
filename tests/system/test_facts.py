"""The waiting functions of tests: each returns with the fact, or names what was missing and what was there instead."""

import os
import socket
import subprocess
import threading

import facts
import pytest
from conftest import free_port
from nameserver import Nameserver
from subject import LogServer

SOON = 0.05


def fails(words, wait, *args, **kw):
    with pytest.raises(AssertionError) as e:
        wait(*args, limit=SOON, **kw)
    assert words in str(e.value)


def test_conditions_of_the_program(daemon):
    d = daemon(f"listen l\n    bind 127.0.0.1:{free_port()}\n    server s 127.0.0.1:1\n")
    d.until("sessions eq 0", "server l/s state eq UP", "idle")
    fails("'sessions ge 1': Wait delay expired: sessions is 0, expected ge 1.", d.until, "idle", "sessions ge 1")
    fails("No such server.", d.until, "server l/t state eq UP")
    d.passes(10)


def test_the_end_of_a_process():
    with subprocess.Popen(["sleep", "60"]) as child:
        fails(f"process {child.pid} to end", facts.gone, child.pid)
        child.kill()
        facts.gone(child.pid)
    facts.gone(child.pid)


def test_what_becomes_of_a_value():
    seen = iter(range(9))
    assert facts.becomes(lambda: next(seen), lambda n: n > 5) == 6
    fails("waited 0.05 s for a miracle; seen: 'none'", facts.becomes, lambda: "none", "some", "a miracle")


def test_files_that_others_write(tmp_path):
    path = tmp_path / "f"
    fails(f"('one',) in {path}; seen: ''", facts.contains, path, "one")
    fails(f"the file {path}; seen: []", facts.exists, path)

    def write():
        with open(path, "w", encoding="ascii") as f:
            for _ in range(3):
                f.write("one\n")
                f.flush()
        # Under another name first: only the file itself changes later.
        (tmp_path / "g").write_text("two\n")
        os.rename(tmp_path / "g", path)

    writer = threading.Thread(target=write)
    writer.start()
    assert facts.contains(path, "two") == "two\n"
    facts.exists(path)
    writer.join()
    path.write_text("one\n" * 3)
    assert facts.contains_often(path, "one", 3) == ["one"] * 3
    fails("4 times 'one'", facts.contains_often, path, "one", 4)


def test_sockets():
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
        facts.listens(port)
        a = socket.create_connection(("127.0.0.1", port))
        s.accept()[0].close()
        b = s.accept()[0]
        fails("to be readable", facts.readable, b)
        a.sendall(b"x")
        facts.readable(b)
        facts.delivered(a)
        assert facts.fill(a, lambda: None, b"y" * 1000) == 1000
        assert facts.fill(a, lambda: None) > 1000
        fails("nothing to be unacknowledged", facts.delivered, a)
        fails(f"port {port} to be closed; seen: 'open'", facts.refuses, port)
        a.close()
        b.close()
    facts.refuses(port)
    fails(f"port {port} to be open", facts.listens, port)


def test_what_threads_have_seen():
    seen = facts.Seen()
    threading.Thread(target=lambda: [seen.append(n) for n in range(3)]).start()
    assert seen.wait(3) == [0, 1, 2]
    fails("4 items; seen: [0, 1, 2]", seen.wait, 4)
    fails("a five; seen: [0, 1, 2]", seen.until, lambda items: 5 in items, "a five")


@pytest.mark.parametrize("server", [LogServer, Nameserver])
def test_a_closed_server_waits_for_nothing(server):
    """Its thread would take what comes for the next socket with the same number."""
    s = server()
    s.close()
    assert not s.thread.is_alive()
