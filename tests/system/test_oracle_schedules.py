"""Random schedules of traffic (schedules.py), played to HAProxy and to tacit: `show table` is the same after each step, and so
is what clients get. `make tables` plays 500 of them to both now; FIRST=n begins at that seed.

What differs, and is left out: bytes of HTTP (HAProxy counts its internal form of a message; 0 or not is compared) and of TCP before
the end; how both answer requests with faults (schedules.py); the first event of a rate that HAProxy loses where sc_inc_gpc makes
an entry; a size that is full with nopurge for stick rules. Periods are longer than a schedule, so none ends."""

import contextlib
import os
import re
import socket
import struct

import oracle
import pytest
from conftest import WAIT, Origin, free_ports
from oracle import Subject
from schedules import FAULTS, Schedule
from test_oracle_http_options import read_head
from test_oracle_observe import MOODS
from test_oracle_stat import becomes_calm
from test_oracle_tracked import head_of

FIRST = int(os.environ.get("FIRST", "1"))
SCHEDULES = int(os.environ.get("SCHEDULES", "24"))
# Some that have found something, beside the first ones.
FOUND = [36, 37, 39, 40, 41, 48, 89, 122, 174, 248] if "SCHEDULES" not in os.environ else []
# HAProxy counts a message of HTTP in its internal form.
BYTES = re.compile(r"\b(bytes_(?:in|out)_(?:cnt|rate)\S*)=(\d+)")


def serve_http(conn):
    """Answers requests by their paths; a connection ends with its first fault."""
    head = buf = b""
    while True:
        head, buf = read_head(conn, buf)
        if not head:
            return
        mood = re.split(r"[/? ]+", head.decode("latin-1"))[1]
        length = re.search(rb"Content-Length: (\d+)", head)
        while length and len(buf) < int(length[1]):
            buf += conn.recv(65536)
        buf = buf[int(length[1]):] if length else buf
        answer = MOODS.get(mood, MOODS["200"])
        if mood == "reset":
            conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif answer is None:
            conn.recv(1)
        else:
            conn.sendall(answer)
        if mood in FAULTS:
            return


def serve_tcp(conn):
    """Sends back what comes; "q" ends the connection, "r" resets it."""
    while data := conn.recv(65536):
        if data.startswith(b"r"):
            conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if data[:1] in (b"q", b"r"):
            return
        conn.sendall(data)


def exchange(conn, data, is_http):
    """The answer: status and fields; of TCP the number of bytes. "-": the connection is closed."""
    with contextlib.suppress(ConnectionResetError, BrokenPipeError):
        conn.sendall(data)
        if is_http:
            # HAProxy sends these before its rules for responses.
            return re.sub(r"^(400|408) .*", r"\1", head_of(conn)) or "-"
        got = 0
        while got < len(data):
            more = len(conn.recv(65536))
            if not more:
                break
            got += more
        return got
    return "-" if is_http else 0


def shown(subject, schedule, command, is_open=False):
    """The answer, its entries sorted and without what depends on times and addresses. HAProxy counts bytes of a connection that is
    open in steps."""
    text = re.sub(r"^0x[0-9a-f]+: ", "", subject.admin(command), flags=re.M)
    text = re.sub(r" exp=[1-9]\d*", " exp=N", re.sub(r" shard=\d+", "", text))
    if schedule.is_http or is_open:
        text = BYTES.sub(lambda m: m[1] + ("" if is_open else "=0" if m[2] == "0" else "=+"), text)
    return sorted(row for row in text.split("\n") if row)


def entries(subject, schedule, is_open=False):
    """The entries of all tables, while a connection is open or when all are over."""
    if is_open:
        subject.settle()
    else:
        becomes_calm(subject, ("scur",))
    return [shown(subject, schedule, f"show table {t.name}", is_open) for t in schedule.tables]


def client(subject, port, schedule, last, sends):
    """[answers], and the tables while the connection is open."""
    try:
        conn = socket.create_connection(("127.0.0.1", port), timeout=WAIT, source_address=(f"127.0.0.{last}", 0))
    except ConnectionResetError:
        conn = socket.socket()
    with conn:
        got = []
        for data in sends:
            got.append(exchange(conn, data, schedule.is_http))
            if got[-1] in ("-", 0):
                break
        while_open = entries(subject, schedule, is_open=True) if got and got[-1] not in ("-", 0) and sends[-1].startswith((b"GET /", b"hello")) and got[-1] not in ("400", "408") else None
    return got, while_open


def played(program, directory, schedule):
    directory.mkdir(parents=True)
    make = serve_http if schedule.is_http else serve_tcp
    servers, port = [Origin(make), Origin(make)], free_ports(1)[0]
    oracle.given(repr(schedule.steps))
    subject = Subject(program, directory, schedule.cfg.format(p0=port, a=servers[0].port, b=servers[1].port))
    seen, before = [], []
    try:
        for step in schedule.steps:
            if step[0] == "admin":
                seen.append((step[1], shown(subject, schedule, step[1])))
            else:
                seen.append(client(subject, port, schedule, *step[1:]))
            now = entries(subject, schedule)
            # The tables that have changed.
            seen.append([rows for rows in now if rows not in before])
            before = now
        return seen
    finally:
        subject.stop()
        for s in servers:
            s.close()


@pytest.mark.parametrize("seed", [*range(FIRST, FIRST + SCHEDULES), *FOUND])
def test_schedule(seed, tmp_path):
    schedule = Schedule(seed)
    theirs, ours = oracle.both(lambda program: played(program, oracle.at(tmp_path, program), schedule))
    assert oracle.differences(theirs, ours) == []
