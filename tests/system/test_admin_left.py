"""Clients of the admin socket that leave while a command waits: their slot is free again."""

import socket

import pytest
from conftest import WAIT, admin, free_port, recv_all
from subject import only_tacit

pytestmark = only_tacit


@pytest.fixture
def waiting(request, daemon):
    """A daemon with one slot, and a client in it whose command waits for an hour; a function makes it one that has
    also sent more, or has ended its side."""
    p = daemon(extra=f"stats maxconn 1\n tune.epoll.mode {getattr(request, 'param', 'edge')}")
    path = str(p.sock)

    def make(more=b"", half=False):
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(WAIT)
        s.connect(path)
        s.sendall(b"prompt\nwait 1ms\nwait 1h\n" + more)
        got = b""
        while got.count(b"> ") < 2:
            got += s.recv(100)
        if half:
            s.shutdown(socket.SHUT_WR)
        return s

    return path, make


@pytest.mark.parametrize("waiting", ["edge", "merged", "unmerged"], indirect=True)
def test_a_client_that_closes_ends_its_wait(waiting):
    path, make = waiting
    make().close()
    assert "Version" in admin(path, "show info")


def test_commands_behind_the_wait_are_not_run(waiting):
    path, make = waiting
    make(b"set maxconn global 7\n").close()
    assert "Maxconn: 7\n" not in admin(path, "show info")


def test_a_client_that_ends_its_side_gets_its_answers(waiting):
    path, _ = waiting
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(WAIT)
        s.connect(path)
        s.sendall(b"wait 30ms; show info\n")
        s.shutdown(socket.SHUT_WR)
        assert b"Version" in recv_all(s)


def test_a_client_that_ends_its_side_first_may_leave_too(waiting):
    path, make = waiting
    make(half=True).close()
    assert "Version" in admin(path, "show info")


def test_a_client_that_sends_too_much_gets_the_whole_answer(daemon):
    """A close with unread input, or input behind it, resets a TCP connection, and the end of the answer is lost."""
    port = free_port()
    servers = "".join(f"    server s{i} 127.0.0.1:9\n" for i in range(400))
    d = daemon(f"backend b\n{servers}", extra=f"stats socket ipv4@127.0.0.1:{port}")
    whole = d.admin("show servers conn")
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.settimeout(WAIT)
        s.connect(("127.0.0.1", port))
        s.sendall(b"show servers conn\n" + b"more\n" * 4000)
        assert len(recv_all(s)) == len(whole)
        s.shutdown(socket.SHUT_WR)
    assert "Version" in d.admin("show info")
