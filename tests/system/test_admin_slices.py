"""Long responses of the admin socket: made in slices, while the data changes and the workers continue."""

import contextlib
import random
import re
import socket
import threading

import pytest
from conftest import WAIT, admin, connect, free_port, recv_all, rss_kib
from facts import gone
from subject import not_sanitized, only_tacit

pytestmark = only_tacit
ENTRIES = 200000


def rendezvous(d):
    return int(re.search(r"^rendezvous: (\d+)", d.admin("show activity"), re.MULTILINE).group(1))


@pytest.fixture
def with_map(daemon, tmp_path):
    """A daemon with three workers and a large map, which only the admin socket changes."""
    path, port = tmp_path / "m", free_port()
    path.write_text("".join(f"key{i} value{i:060}\n" for i in range(ENTRIES)))
    d = daemon(f"frontend f\n    mode http\n    bind 127.0.0.1:{port}\n"
               f"    http-request return status 200 hdr M %[req.hdr(k),map({path},none)]\n",
               extra="nbthread 3\n    stats maxconn 60")
    d.map = path
    return d


def ask(d, line):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(WAIT)
    s.connect(str(d.sock))
    s.sendall(line.encode() + b"\n")
    return s


@not_sanitized
def test_clients_that_never_read_cost_a_slice_each(with_map):
    d = with_map
    jobs = int(d.info()["Jobs"])
    before = rss_kib(d.pid)
    with contextlib.ExitStack() as stack:
        for _ in range(45):
            stack.enter_context(ask(d, f"show map {d.map}"))
        # All have filled the socket.
        d.until(f"counter Jobs ge {jobs + 45}", "idle")
        assert rss_kib(d.pid) - before < 8 << 10
        # Others are served meanwhile.
        assert len(d.admin(f"show map {d.map}").splitlines()) == ENTRIES + 1
    d.until(f"counter Jobs eq {jobs}")


def test_a_walk_shows_unchanged_entries_once(with_map):
    """Some of the entries that are added and removed meanwhile; each of the others once and in order."""
    d = with_map
    stays = {f"key{i}" for i in range(ENTRIES) if i % 10 == 0}
    with ask(d, f"show map {d.map}") as s:
        s.shutdown(socket.SHUT_WR)
        got = [s.recv(200)]
        dice = random.Random(5)
        for i in range(300):
            key = dice.randrange(ENTRIES)
            if key % 10:
                d.admin(f"del map {d.map} key{key}; add map {d.map} new{i} x")
            got.append(s.recv(65536))
        got.append(recv_all(s))
    rows = b"".join(got).decode()
    assert rows.endswith("\n\n")
    ids = [int(row.split()[0], 16) for row in rows.splitlines() if row]
    keys = [row.split()[1] for row in rows.splitlines() if row]
    assert ids == sorted(set(ids))
    assert len(keys) == len(set(keys)) and stays <= set(keys)


def test_clearing_a_shown_map_ends_the_answer(with_map):
    d = with_map
    with ask(d, f"show map {d.map}") as s:
        s.shutdown(socket.SHUT_WR)
        got = s.recv(100)
        assert d.admin(f"clear map {d.map}") == "\n"
        got += recv_all(s)
    assert got.endswith(b"\n\n") and got.count(b"\n") < ENTRIES // 2
    assert d.admin(f"show map {d.map}") == "\n"


def test_only_changes_of_patterns_and_counters_stop_workers(daemon, origin, tmp_path):
    port = free_port()
    names = tmp_path / "names"
    names.write_text("127.0.0.9\n")
    d = daemon(f"listen l\n    bind 127.0.0.1:{port}\n    tcp-request connection reject if {{ src -f {names} }}\n"
               f"    server s 127.0.0.1:{origin.port}\n", extra="nbthread 3")
    before = rendezvous(d)
    for line in ("help", "show stat", "show info", "show sess", "show fd", "show trace", "show syscalls", "show pools",
                 "show servers conn", "show servers state", "show backend",
                 "show info json", "show stat typed", "show threads", "show tasks", "show libs", "get var proc.x",
                 "experimental-mode on;set var proc.x int(1)", "show map", "show errors", "get weight l/s", "trace state", "trace off",
                 "shutdown sessions server l/s", "shutdown session 0x7", "set weight l/s 50%", "disable server l/s",
                 "set server l/s state ready", "set server l/s health down", "set maxconn server l/s 7"):
        d.admin(line)
    assert rendezvous(d) == before
    d.admin(f"add acl {names} 127.0.0.8")
    assert rendezvous(d) == before + 1
    d.admin("clear counters")
    assert rendezvous(d) == before + 2


def test_a_payload_is_added_in_parts(with_map):
    d = with_map
    before = rendezvous(d)
    lines = "".join(f"new{i} v{i}\n" for i in range(1000))
    assert d.admin(f"add map {d.map} <<\n{lines}") == "\n"
    assert rendezvous(d) >= before + 1000 // 64
    assert d.admin(f"show map {d.map}").count(" new") == 1000


def test_certificates_are_listed_in_parts(daemon):
    """Their names are longer than the output of one step may be."""
    d = daemon()
    names = [f"{i:03}{'n' * 15000}" for i in range(300)]
    for name in names:
        assert d.admin(f"new ssl cert {name}") == f"New empty certificate store '{name}'!\n\n"
    assert d.admin("show ssl cert") == "# filename\n" + "\n".join(names) + "\n\n"


def sessions(d):
    """`show sess`: {session: its worker's lines}; each must be there once."""
    ids = re.findall(r"^(0x[0-9a-f]+): ", d.admin("show sess"), re.MULTILINE)
    assert len(ids) == len(set(ids))
    return set(ids)


def test_sessions_of_all_workers_are_seen_once(daemon, origins):
    """Sessions that stay, while others begin and end; then all are ended, each by its own worker."""
    front = free_port()
    o = origins(lambda conn: conn.recv(1))
    d = daemon(f"listen l\n    bind 127.0.0.1:{front}\n    timeout client 60s\n    timeout server 60s\n"
               f"    server s 127.0.0.1:{o.port}\n",
               extra="nbthread 4\n    tune.listener.multi-queue fair\n    stats maxconn 20")
    lists, gone = [], []

    def continues():
        return len(lists) <= 30 or len(gone) <= 1000

    def come_and_go():
        while continues():
            with contextlib.suppress(OSError), connect(front) as c:
                c.sendall(b"x")
                c.recv(1)
            gone.append(1)

    def read():
        while continues():
            lists.append(sessions(d))

    with contextlib.ExitStack() as stack:
        for _ in range(300):
            stack.enter_context(connect(front))
        d.until("sessions eq 300")
        stay = sessions(d)
        assert len(stay) == 300
        threads = [threading.Thread(target=fn, daemon=True) for fn in (come_and_go, come_and_go, read, read, read)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(60)
        assert len(lists) > 3
        assert all(stay <= seen for seen in lists)
        one = sorted(stay)[0]
        assert admin(d.sock, f"show sess {one}").startswith(f"{one}: ")
        assert admin(d.sock, f"shutdown session {one}") == "\n"
        d.until(f"sessions id/{one}")
        assert admin(d.sock, f"shutdown session {one}") == "No such session (use 'show sess').\n\n"
        d.admin("shutdown sessions server l/s")
        d.until("sessions eq 0")
    assert d.info()["Fsm_bugs"] == "0"


def test_a_client_that_closes_while_a_worker_answers(daemon, origin):
    port = free_port()
    d = daemon(f"listen l\n    bind 127.0.0.1:{port}\n    server s 127.0.0.1:{origin.port}\n",
               extra="nbthread 4\n    stats maxconn 20")
    for i in range(300):
        s = ask(d, ("show fd", "show sess", "show trace", "trace state")[i % 4])
        if i % 3 == 0:
            s.recv(10)
        s.close()
    assert d.info()["Fsm_bugs"] == "0"
    d.admin("trace off")
