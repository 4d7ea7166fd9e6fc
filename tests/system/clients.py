"""Clients that run while processes are replaced and servers come and go: none of them may notice it."""

import http.client
import socket
import threading
import time

from conftest import WAIT, connect, recv_all
from facts import LIMIT

REQUEST = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
SITE = """\
listen site
    mode http
    timeout http-keep-alive 1m
    bind 127.0.0.1:{port}
    http-request return status 200 content-type text/plain string "{text}"
    # A stop closes idle connections: a request may be on its way then, which no client can know.
    option idle-close-on-response
"""


def site(port, text="one"):
    return SITE.format(port=port, text=text)


def get(port):
    """The body of the answer to one request."""
    with connect(port) as c:
        c.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        return recv_all(c).split(b"\r\n\r\n", 1)[1].decode()


class Load:
    """Clients of several kinds until stop(); `failed` says what went wrong."""

    def __init__(self, port, bulk_port, size, deferred_port=None, kinds=None):
        self.port, self.bulk_port, self.size, self.deferred_port = port, bulk_port, size, deferred_port
        self.failed, self.done = [], {}
        self._end, self._news = threading.Event(), threading.Condition()
        if not kinds:
            kinds = ["short"] * 4 + ["persistent", "mid_header", "download"] * 2 + ["deferred"] * (2 if deferred_port else 0)
        kinds = [getattr(self, kind) for kind in kinds]
        self._threads = [threading.Thread(target=self._run, args=(kind,)) for kind in kinds]
        for t in self._threads:
            t.start()

    def _run(self, kind):
        name = kind.__name__
        while not self._end.is_set():
            try:
                kind()
            except (OSError, AssertionError, IndexError) as e:
                self.failed.append(f"{name}: {e!r}")
            with self._news:
                self.done[name] = self.done.get(name, 0) + 1
                self._news.notify_all()

    def short(self):
        assert get(self.port) == "one"
        time.sleep(0.006)

    def persistent(self):
        """As a client is to do, it sends nothing on a connection that the server has closed."""
        with connect(self.port) as c:
            while not self._end.is_set():
                c.setblocking(False)
                try:
                    assert c.recv(1, socket.MSG_PEEK) == b""
                    return
                except BlockingIOError:
                    c.settimeout(WAIT)
                c.sendall(REQUEST)
                got = c.recv(4096)
                assert got.endswith(b"one"), got
                if b"connection: close" in got.lower():
                    return
                time.sleep(0.01)

    def mid_header(self):
        with connect(self.port) as c:
            c.sendall(REQUEST[:20])
            time.sleep(1.2)
            c.sendall(REQUEST[20:])
            got = c.recv(4096)
            assert got.endswith(b"one"), got

    def deferred(self):
        """A client that waits in the kernel and is not accepted until it sends something."""
        with connect(self.deferred_port) as c:
            time.sleep(0.5)
            c.sendall(REQUEST)
            got = c.recv(4096)
            assert got.endswith(b"one"), got

    def download(self):
        with connect(self.bulk_port) as c:
            c.sendall(b"x")
            got = 0
            while chunk := c.recv(65536):
                got += len(chunk)
                time.sleep(0.005)
            assert got == self.size, got

    def wait(self, **counts):
        """Until so many of each kind are done."""
        with self._news:
            if not self._news.wait_for(lambda: all(self.done.get(kind, 0) >= n for kind, n in counts.items()), LIMIT):
                raise AssertionError(f"waited {LIMIT} s for {counts}; seen: {self.done}, failed: {self.failed[:5]}")

    def more(self, **counts):
        """Until so many more of each kind are done."""
        self.wait(**{kind: self.done.get(kind, 0) + n for kind, n in counts.items()})

    def stop(self):
        self._end.set()
        for t in self._threads:
            t.join(2 * WAIT)


class Requests:
    """Clients that send one request after the other until stop(): on connections that they keep as long as the answers
    allow, or on one connection for each request. `done` counts the requests that got a complete 200, `failed` has a line
    for each other one."""

    def __init__(self, port, at_once, is_persistent=False):
        self.port, self.is_persistent = port, is_persistent
        self.failed = []
        self._done = [0] * at_once
        self._end, self._news = threading.Event(), threading.Condition()
        self._threads = [threading.Thread(target=self._run, args=(n,)) for n in range(at_once)]
        for t in self._threads:
            t.start()

    @property
    def done(self):
        return sum(self._done)

    def _run(self, number):
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=3 * WAIT)
        # A client that is closed connects again for its next request. An idle connection may not be closed under it.
        headers = {} if self.is_persistent else {"Connection": "close"}
        while not self._end.is_set():
            try:
                client.request("GET", "/", headers=headers)
                answer = client.getresponse()
                answer.read()
                if answer.status != 200:
                    raise OSError(f"status {answer.status}")
                with self._news:
                    self._done[number] += 1
                    self._news.notify_all()
            except (OSError, http.client.HTTPException) as e:
                with self._news:
                    self.failed.append(f"client {number}, after {self._done[number]} requests: {e!r}")
                    self._news.notify_all()
                client.close()
        client.close()

    def wait(self, more):
        """Until so many further requests are done; false if one fails before, or if they are not done."""
        end = self.done + more
        with self._news:
            return self._news.wait_for(lambda: self.done >= end or self.failed, LIMIT) and not self.failed

    def stop(self):
        """Ends after the requests that are in flight."""
        self._end.set()
        for t in self._threads:
            t.join()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
