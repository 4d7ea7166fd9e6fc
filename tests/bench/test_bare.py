"""The limit is only valid if it forwards correctly: bare, in each of its modes."""

import os
import socket
import struct
import subprocess
import sys
import threading
import time

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "system")]

import facts  # noqa: E402
from lib import subjects  # noqa: E402
from ports import free_port  # noqa: E402

BUILD = os.environ.get("TACIT_BUILD", os.path.join(os.path.dirname(__file__), "..", "..", "build"))
BARE = os.path.join(BUILD, "bench", "bare")
MODES = [[], ["--far"], ["--defer", "--quickack-off"], ["--phases"], ["--phases", "--far", "--defer"]]
BULK = os.urandom(1 << 16) * 160

pytestmark = pytest.mark.skipif(not os.access(BARE, os.X_OK), reason="bare is not built")


class Forwarded:
    """bare between a listener of the test and a port to connect to."""

    def __init__(self, words):
        self.deferred = "--defer" in words
        self.origin = socket.create_server(("127.0.0.1", 0))
        self.origin.settimeout(facts.LIMIT)
        self.at = "127.0.0.1", free_port()
        self.process = subprocess.Popen([BARE, *words, "127.0.0.1:%d" % self.at[1],
                                         "127.0.0.1:%d" % self.origin.getsockname()[1]])
        facts.becomes(lambda: subjects.listens(self.process.pid, self.at[1]), True, "bare to listen")

    def client(self):
        return socket.create_connection(self.at, facts.LIMIT)

    def pair(self):
        c = self.client()
        if self.deferred:
            c.sendall(b"!")
        o, _ = self.origin.accept()
        o.settimeout(facts.LIMIT)
        if self.deferred:
            assert o.recv(1) == b"!"
        return c, o

    def descriptors(self):
        return len(os.listdir("/proc/%d/fd" % self.process.pid))

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.origin.close()


@pytest.fixture(params=MODES, ids=lambda words: " ".join(words) or "default")
def bare(request):
    f = Forwarded(request.param)
    try:
        yield f
        assert f.process.poll() is None, "bare ended by itself"
    finally:
        f.close()


def read_all(s):
    got = []
    while True:
        data = s.recv(65536)
        if not data:
            return b"".join(got)
        got.append(data)


def reset(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


@pytest.mark.parametrize("client_first", [True, False])
def test_half_close_outlives_one_side(bare, client_first):
    c, o = bare.pair()
    first, second = (c, o) if client_first else (o, c)
    first.sendall(b"question")
    first.shutdown(socket.SHUT_WR)
    assert read_all(second) == b"question"
    for part in (b"an", b"swer"):
        second.sendall(part)
        time.sleep(0.02)
    second.close()
    assert read_all(first) == b"answer"
    first.close()


@pytest.mark.parametrize("from_client", [True, False])
def test_a_reset_is_not_a_clean_end_and_loses_no_data_before_it(bare, from_client):
    c, o = bare.pair()
    src, dst = (c, o) if from_client else (o, c)
    src.sendall(b"last words")
    reset(src)
    got = b""
    with pytest.raises(ConnectionResetError):
        while True:
            data = dst.recv(100)
            assert data, "a reset became a clean end"
            got += data
    assert got in (b"", b"last words")


def test_data_behind_urgent_data_is_not_lost(bare):
    c, o = bare.pair()
    o.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 1)
    c.sendall(b"abc")
    c.send(b"U", socket.MSG_OOB)
    c.sendall(b"def")
    c.shutdown(socket.SHUT_WR)
    assert read_all(o) == b"abcdef"


def test_bulk_both_ways_at_once_through_slow_readers(bare):
    pair = bare.pair()
    got = {}

    def talk(name, s):
        writer = threading.Thread(target=lambda: (s.sendall(BULK), s.shutdown(socket.SHUT_WR)))
        writer.start()
        time.sleep(0.2)
        got[name] = read_all(s) == BULK
        writer.join()

    threads = [threading.Thread(target=talk, args=(n, s)) for n, s in zip("co", pair)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert got == {"c": True, "o": True}


def test_a_refused_server_resets_the_client_and_leaks_nothing(bare):
    c, o = bare.pair()
    c.close()
    o.close()
    bare.origin.close()
    for _ in range(5):
        with pytest.raises((ConnectionResetError, BrokenPipeError)), bare.client() as c:
            if bare.deferred:
                c.sendall(b"!")
            assert c.recv(1) != b"", "a refused server became a clean end"
    facts.becomes(bare.descriptors, 5, "the descriptors of the start")
