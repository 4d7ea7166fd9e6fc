"""The origin of the demonstration keeps connections, so that what `make run` counts is the cost of requests."""

import pytest
from conftest import connect, demo_origin, free_port, recv_all

BODY = b"Hello. This page came through tacit from its demo page.\n"
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture
def origin_port():
    port = free_port()
    with demo_origin(port):
        yield port


def read_answer(c):
    """The head of one answer whose body is BODY."""
    got = b""
    while not got.endswith(BODY):
        piece = c.recv(4096)
        assert piece, got
        got += piece
    head, _, body = got.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n") and body == BODY
    return head


def test_a_get_is_followed_by_another_on_its_connection(origin_port):
    with connect(origin_port) as c:
        for _ in range(3):
            c.sendall(GET)
            assert b"Connection: close" not in read_answer(c)
        c.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert b"\r\nConnection: close" in read_answer(c)
        assert recv_all(c) == b""


def test_requests_in_one_piece_and_in_pieces_are_all_answered(origin_port):
    with connect(origin_port) as c:
        c.sendall(GET * 20 + GET[:9])
        c.sendall(GET[9:-1])
        c.sendall(GET[-1:] + b"GET / HTTP/1.0\r\n\r\n")
        got = recv_all(c)
    assert got.count(BODY) == 22 and got.count(b"Connection: close") == 1


@pytest.mark.parametrize("request_head", [
    b"GET / HTTP/1.0\r\n\r\n",
    b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
    b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
])
def test_other_requests_are_the_last_of_their_connection(origin_port, request_head):
    with connect(origin_port) as c:
        c.sendall(request_head)
        assert recv_all(c).count(b"\r\nConnection: close\r\n") == 1


def test_an_old_client_that_asks_for_it_continues(origin_port):
    with connect(origin_port) as c:
        for _ in range(2):
            c.sendall(b"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n")
            assert b"\r\nConnection: keep-alive" in read_answer(c)


def test_a_head_without_end_is_not_kept(origin_port):
    with connect(origin_port) as c:
        c.sendall((b"GET / HTTP/1.1\r\nX: " + b"a" * 8192)[:8192])
        assert recv_all(c) == b""
