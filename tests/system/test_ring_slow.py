"""A syslog server of a ring that is slow or away: the order stays, what is lost is counted and said, and requests are
answered meanwhile."""

import re
import socket

from conftest import WAIT, WORKERS, connect, free_port, recv_all

CFG = """
ring r
    format raw
    size {size}
    maxlen 9000
    {timeouts}
    server s 127.0.0.1:{to} log-proto octet-count
frontend f
    mode http
    bind 127.0.0.1:{port}
    log ring@r len 9000 local0
    option dontlognull
    log-format "%HU{more}"
    http-request return status 200
"""


def listener(port=0, rcvbuf=4096):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
    s.bind(("127.0.0.1", port))
    s.listen()
    s.settimeout(4 * WAIT)
    return s


class Client:
    """Asks for /n0-xxx, /n1-xxx ...; each answer has to come although nothing takes the logs."""

    def __init__(self, port, size):
        self.port, self.size, self.sent = port, size, 0

    def ask(self, times=1):
        for _ in range(times):
            with connect(self.port) as c:
                c.sendall(f"GET /n{self.sent}-{'x' * self.size} HTTP/1.0\r\n\r\n".encode())
                assert recv_all(c).startswith(b"HTTP/1.1 200")
            self.sent += 1


def dropped(d):
    return int(d.info()["DroppedLogs"])


def events(d):
    return d.admin("show events r").strip().splitlines()


def split(text):
    """(messages, what follows the last whole one)"""
    out = []
    while m := re.match(r"(\d+) ", text):
        end = m.end() + int(m[1])
        if end > len(text):
            break
        out.append(text[m.end():end])
        text = text[end:]
    return out, text


def numbers(messages):
    return [int(m[1]) for m in map(re.compile(r"/n(\d+)-").match, messages) if m]


def in_order(got):
    """Two workers may change places."""
    return got == sorted(got) if WORKERS == 1 else len(set(got)) == len(got)


class Reader:
    """Takes what a connection has, when it is told to."""

    def __init__(self, conn):
        self.conn, self.text = conn, ""

    def _read(self, is_enough):
        self.conn.settimeout(4 * WAIT)
        while not is_enough(self.text) or split(self.text)[1]:
            data = self.conn.recv(1 << 20)
            if not data:
                return False
            self.text += data.decode()
        return True

    def until(self, word):
        """This word, and its message whole. False: the connection has ended."""
        return self._read(lambda text: word in text)

    def count(self, n):
        """n messages with three paths each, or as many as there are before the end."""
        self._read(lambda text: text.count("/n") >= 3 * n)
        return split(self.text)


def test_new_messages_are_dropped_while_it_does_not_read(daemon):
    port = free_port()
    with listener() as server:
        d = daemon(CFG.format(size=65536, timeouts="", to=server.getsockname()[1], port=port, more="%HU%HU"))
        with server.accept()[0] as conn:
            client, reader = Client(port, 2000), Reader(conn)
            while not dropped(d):
                client.ask(20)
                assert client.sent < 20000
            client.ask(20)
            # The last ones of that time are lost, too.
            d.until("counter DroppedLogs ge 21", "idle")
            assert re.search(r"\br +: type=buffer, [1-9]\d* dropped", d.admin("show events"))
            lost = dropped(d)
            assert reader.until(f"/n{client.sent - lost - 2}-")
            # There is room again, which is said before the next message.
            client.ask()
            assert reader.until(f"/n{client.sent - 1}-")
            d.until("idle")
            assert ", 0 dropped" in d.admin("show events")
            messages = split(reader.text)[0]
            got = numbers(messages)
            assert in_order(got)
            reported = [int(m[1]) for m in map(re.compile(r"(\d+) events? dropped").match, messages) if m]
            assert dropped(d) == sum(reported) == client.sent - len(got) == lost


def test_the_oldest_are_overwritten_while_it_is_away(daemon):
    port, to = free_port(), free_port()
    d = daemon(CFG.format(size=16384, timeouts="", to=to, port=port, more=""))
    client, at_start = Client(port, 90), len(events(d))
    client.ask(500)
    d.until("idle")
    assert any("/n499-" in e for e in events(d))
    kept = events(d)
    # Until it is there nothing more is lost.
    assert dropped(d) == at_start + 500 - len(kept)
    assert d.stderr.count("server 's' cannot be reached") == 1
    with listener(to) as server, server.accept()[0] as conn:
        reader = Reader(conn)
        assert reader.until(kept[-1])
        assert split(reader.text) == (kept, "")
        got = numbers(kept)
        assert in_order(got) and set(got) == set(range(500 - len(got), 500)) or WORKERS > 1
        client.ask()
        assert reader.until("/n500-")
        assert dropped(d) == at_start + 500 - len(kept)


def test_a_message_that_was_cut_is_sent_again_whole(daemon):
    """A connection ends by timeout server; the next one begins with the first message that was not taken whole."""
    port = free_port()
    with listener() as server:
        d = daemon(CFG.format(size="64m", timeouts="timeout server 300ms", to=server.getsockname()[1], port=port,
                              more="%HU%HU"))
        client = Client(port, 2000)
        conn = server.accept()[0]
        while "cannot be reached or has closed the connection: Connection timed out" not in d.stderr:
            client.ask(20)
            assert client.sent < 40000
        # All are in the ring: a worker's own one may come behind that of another.
        d.until("idle")
        assert len(numbers(events(d))) == client.sent
        texts, got = [], []
        while len(got) < client.sent:
            # While it is read it may end by timeout once more.
            with conn:
                texts.append(Reader(conn).count(client.sent - len(got)))
            got += numbers(texts[-1][0])
            if len(got) < client.sent:
                conn = server.accept()[0]
        assert len(texts) > 1 and texts[0][1]
        for (_, part), (after, _) in zip(texts, texts[1:]):
            assert not after or f"{len(after[0])} {after[0]}".startswith(part)
        assert in_order(got) and sorted(got) == list(range(client.sent))
        assert dropped(d) == 0
