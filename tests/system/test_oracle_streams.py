"""Random schedules of traffic over HTTP/2 (schedules.py): several streams of a connection are open at the same time. `show table` is
the same while they are and after them, and so is what clients get; a request that a rule rejects ends its connection. What differs, and is
left out: HAProxy counts the bytes of an open stream in steps."""

import os
import re
import socket
import threading

import h2_raw
import oracle
import pytest
from conftest import WAIT, Origin, free_ports
from h2_raw import DATA, END_STREAM, GOAWAY, HEADERS, RST_STREAM
from oracle import Subject
from schedules import Streams
from test_oracle_http_options import read_head
from test_oracle_observe import MOODS
from test_oracle_schedules import entries, shown

FIRST = int(os.environ.get("FIRST", "1"))
SCHEDULES = int(os.environ.get("SCHEDULES", "16"))


class Servers:
    """Two servers. A request for /held gets half of its answer, and the rest of it after let_go()."""

    def __init__(self):
        self.go = threading.Event()
        self.servers = [Origin(self.serve), Origin(self.serve)]

    def serve(self, conn):
        head = buf = b""
        while True:
            head, buf = read_head(conn, buf)
            if not head:
                return
            mood = re.split(r"[/? ]+", head.decode("latin-1"))[1]
            if mood == "held":
                go = self.go
                conn.sendall(b"HTTP/1.1 200 X\r\nContent-Length: 4\r\n\r\nha")
                assert go.wait(WAIT)
                conn.sendall(b"lf")
            else:
                conn.sendall(MOODS.get(mood, MOODS["200"]))

    def let_go(self):
        self.go.set()
        self.go = threading.Event()

    def close(self):
        self.let_go()
        for s in self.servers:
            s.close()


class Client:
    """A connection: what its streams get, by their numbers."""

    def __init__(self, port, last):
        self.seen, self.over, self.next, self.is_closed = {}, set(), 1, False
        try:
            self.sock = socket.create_connection(("127.0.0.1", port), timeout=WAIT, source_address=(f"127.0.0.{last}", 0))
        except ConnectionResetError:
            self.sock, self.is_closed = socket.socket(), True
        self.end = h2_raw.End(self.sock)
        if not self.is_closed:
            self.end.send(h2_raw.PREFACE, h2_raw.settings())

    def read(self):
        """Reads a frame."""
        frame = self.end.read()
        if frame is None or frame[0] == GOAWAY:
            self.is_closed = True
            return
        kind, flags, stream, payload = frame
        if kind == HEADERS:
            fields = dict(self.end.fields(payload))
            self.seen.setdefault(stream, []).append((fields[":status"], fields.get("x-v")))
        elif kind == DATA and payload:
            self.seen.setdefault(stream, []).append("data")
        elif kind == RST_STREAM:
            self.seen.setdefault(stream, []).append("reset")
        if kind == RST_STREAM or (kind in (HEADERS, DATA) and flags & END_STREAM):
            self.over.add(stream)

    def begin(self, path, fields, method="GET"):
        stream, self.next = self.next, self.next + 2
        self.end.send(h2_raw.request(stream, *fields, path=path, method=method))
        return stream

    def act(self, action):
        """Returns when the action is over, or has half of its answer."""
        word = action[0]
        if word == "invalid":
            stream = self.begin("/200", (("X-UPPER", "1"),))
        else:
            stream = self.begin(action[1] if word == "get" else "/held", action[-1])
        half = word in ("hold", "cancel")
        while not self.is_closed and stream not in self.over and not (half and "data" in self.seen.get(stream, [])):
            self.read()
        if word == "cancel" and stream not in self.over:
            self.end.send(h2_raw.rst(stream))
            self.over.add(stream)
            self.end.answers_ping()
        return self.seen.get(stream, [])[:1]

    def finish(self):
        """All streams end."""
        while not self.is_closed and self.over != set(range(1, self.next, 2)):
            self.read()
        self.sock.close()
        return self.is_closed


def client(subject, port, schedule, servers, last, actions):
    c = Client(port, last)
    got = []
    for action in actions:
        # An action that gets nothing is the last: the connection was closed, while it was sent or before.
        if not c.is_closed and (seen := c.act(action)):
            got.append(seen)
    subject.settle()
    while_open = entries(subject, schedule, is_open=True)
    servers.let_go()
    return got, c.finish(), while_open


def played(program, directory, schedule):
    directory.mkdir(parents=True)
    servers, port = Servers(), free_ports(1)[0]
    oracle.given(repr(schedule.steps))
    ports = [s.port for s in servers.servers]
    subject = Subject(program, directory, schedule.cfg.format(p0=port, a=ports[0], b=ports[1]))
    seen, before = [], []

    def note(now):
        # The entries that have changed.
        seen.append([row for rows in now for row in rows if row not in before])
        before[:] = [row for rows in now for row in rows]

    try:
        for step in schedule.steps:
            if step[0] == "admin":
                seen.append((step[1], shown(subject, schedule, step[1])))
            else:
                *got, while_open = client(subject, port, schedule, servers, *step[1:])
                seen.append(got)
                note(while_open)
            note(entries(subject, schedule))
        return seen
    finally:
        subject.stop()
        servers.close()


@pytest.mark.parametrize("seed", range(FIRST, FIRST + SCHEDULES))
def test_streams(seed, tmp_path):
    schedule = Streams(seed)
    theirs, ours = oracle.both(lambda program: played(program, oracle.at(tmp_path, program), schedule))
    assert oracle.differences(theirs, ours) == []
