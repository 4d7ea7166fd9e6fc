"""Rings: HAProxy and tacit send the same bytes to a syslog server over TCP, and show the same events."""

import contextlib
import os
import re
import socket
import subprocess
import threading

import moved_clock
import oracle
import pytest
from conftest import BUILD, TACIT, WAIT, admin, connect, free_ports, info, is_open, recv_all, wait_for
from test_oracle_log_forms import same_words

FORMS = ["local", "rfc3164", "rfc5424", "short", "priority", "timed", "iso", "raw"]

CFG = """
global
 log-tag name
 stats socket {sock} level admin
{logs}
defaults
 mode http
 timeout connect 1m
 timeout client 1m
 timeout server 1m
{rings}
frontend f
 bind 127.0.0.1:{port}
 log global
 option dontlognull
 log-format "%HM b]c %HU"
 http-request return status 200
"""


class Receiver:
    """A syslog server over TCP; it keeps the bytes of all connections."""

    def __init__(self):
        self.sock = socket.create_server(("127.0.0.1", 0))
        self.port = self.sock.getsockname()[1]
        self.heard = b""
        self.conns = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                conn, _ = self.sock.accept()
            except OSError:
                return
            self.conns.append(conn)
            threading.Thread(target=self._read, args=(conn,), daemon=True).start()

    def _read(self, conn):
        try:
            while data := conn.recv(65536):
                self.heard += data
        except OSError:
            pass

    def drop(self):
        for conn in self.conns:
            conn.shutdown(socket.SHUT_RDWR)
        self.conns = []

    def close(self):
        self.sock.close()
        self.drop()


def request(port, path):
    with connect(port) as c:
        c.sendall(f"GET /{path} HTTP/1.0\r\n\r\n".encode())
        recv_all(c)


class Running:
    """A program with rings, and a receiver for each."""

    def __init__(self, program, directory, rings, logs):
        """rings: [lines of a section]; logs: what follows each ring's name in its log line."""
        directory.mkdir()
        self.receivers = [Receiver() for _ in rings]
        self.port = free_ports(1)[0]
        self.sock = directory / "sock"
        text = "".join(f"ring r{i}\n timeout connect 1m\n timeout server 1m\n" + lines.replace("PORT", str(r.port))
                       for i, (lines, r) in enumerate(zip(rings, self.receivers)))
        # Workers log beside each other: messages of two may change places.
        logs = " nbthread 1\n" + "".join(f" log ring@r{i} {rest}\n" for i, rest in enumerate(logs))
        cfg = directory / "cfg"
        cfg.write_text(oracle.given(CFG.format(sock=self.sock, logs=logs, rings=text, port=self.port)))
        self.proc = subprocess.Popen([program, "-db", "-f", cfg], stderr=subprocess.DEVNULL)
        assert wait_for(lambda: is_open(self.port) and self.sock.exists())

    def heard(self, mark):
        """The bytes of each receiver, when it has heard the mark."""
        for r in self.receivers:
            assert wait_for(lambda r=r: mark in r.heard), r.heard
        return [r.heard.decode() for r in self.receivers]

    def close(self):
        self.proc.terminate()
        self.proc.wait()
        for r in self.receivers:
            r.close()


@pytest.fixture(name="both")
def _both(tmp_path):
    """both(rings, logs, play): what play(a Running) returns for HAProxy, and for tacit."""
    def compare(rings, logs, play):
        def run(program):
            with contextlib.closing(Running(program, oracle.at(tmp_path, program), rings, logs)) as running:
                return play(running)
        return oracle.both(run)
    return compare


def without_counts(text):
    """Octet counts depend on the length of process ids: their messages, after a check of each count."""
    out = []
    while text:
        n, rest = text.split(" ", 1)
        out.append(same_words(rest[:int(n)]))
        assert len(rest) >= int(n)
        text = rest[int(n):]
    return out


def is_whole(text):
    """True if the text ends with the end of a message that was counted."""
    while text:
        n, _, rest = text.partition(" ")
        if not n.isdigit() or len(rest) < int(n):
            return False
        text = rest[int(n):]
    return True


@pytest.mark.parametrize("proto", ["log-proto legacy", "log-proto octet-count", ""])
def test_bytes_of_each_format(both, proto):
    rings = [f" format {form}\n maxlen 200\n server s 127.0.0.1:PORT {proto}\n" for form in FORMS]

    def play(subject):
        request(subject.port, "first")
        request(subject.port, "x" * 300)
        request(subject.port, "last")
        texts = subject.heard(b"/last")
        events = [admin(subject.sock, f"show events r{i}") for i in range(len(FORMS))]
        found = {}
        for form, text, event in zip(FORMS, texts, events):
            lines = without_counts(text) if "octet" in proto else same_words(text).split("\n")
            # A cut message is as long with another process id. Those of the start are each program's own.
            found[form] = [re.sub("x+", "x+", line) for line in lines][-3:], re.sub("x+", "x+", same_words(event)).split("\n")[-4:]
        return found

    theirs, ours = both(rings, ["format raw local3 info" for _ in FORMS], play)
    for form in FORMS:
        assert ours[form] == theirs[form], form


def test_lengths_of_lines_and_rings(both):
    rings = [" format timed\n server s 127.0.0.1:PORT\n", " format timed\n maxlen 60\n server s 127.0.0.1:PORT\n",
             " server s 127.0.0.1:PORT\n", " size 32768\n maxlen 5000\n server s 127.0.0.1:PORT\n"]

    def play(subject):
        request(subject.port, "y" * 900)
        subject.heard(b"yy")
        return [same_words(t) for t in subject.heard(b"\n")]

    theirs, ours = both(rings, ["len 80 local0", "local0", "local0", "len 3000 local0"], play)
    assert ours == theirs


def test_the_list_of_rings(both):
    def play(subject):
        rings = [line for line in admin(subject.sock, "show events").split("\n") if "buf0" not in line]
        # HAProxy 2.6 has no -0
        return rings, {command: admin(subject.sock, command).replace("[-n] [-0]     ", "[-n]          ").strip() for command in (
            "show events none", "show events r0 -x", "show events stdout", "show events r0", "help show events")}

    theirs, ours = both([" description \"what it is for\"\n", ""], ["local0", "local0"], play)
    assert ours == theirs


def test_a_client_that_only_asks_gets_a_large_ring_whole(both):
    """The client has shut down its side, and the answer is more than a socket holds."""
    def play(subject):
        with connect(subject.port) as c:
            for i in range(1500):
                c.sendall(f"GET /{i:05}{'x' * 400} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
                answer = b""
                while b"\r\n\r\n" not in answer:
                    answer += c.recv(65536)
        assert wait_for(lambda: "/01499" in admin(subject.sock, "show events r0")[-1000:])
        shown = re.findall(r"/(\d{5})x{400}\n", admin(subject.sock, "show events r0"))
        return len(shown), shown == [f"{i:05}" for i in range(1500)]

    assert both([" size 1048576\n"], ["local0"], play) == ((1500, True),) * 2


def test_addresses_of_streams_make_rings(tmp_path):
    def play(program):
        r, port, sock = Receiver(), free_ports(1)[0], oracle.at(tmp_path, program).with_suffix(".sock")
        cfg = tmp_path / "cfg"
        cfg.write_text(oracle.given(CFG.format(sock=sock, logs=f" log tcp@127.0.0.1:{r.port} local0\n"
                                               f" log tcp4@127.0.0.1:{r.port} len 90 format rfc5424 local0\n", rings="", port=port)))
        with subprocess.Popen([program, "-db", "-f", cfg], stderr=subprocess.DEVNULL) as proc:
            try:
                assert wait_for(lambda: is_open(port))
                request(port, "z" * 200)
                assert wait_for(lambda: len(re.findall(b"zz+\n", r.heard)) == 2)
                lines = sorted(re.sub("z+", "z+", same_words(t)) for t in re.findall(".*zz+\n", r.heard.decode()))
                events = admin(sock, "show events").replace("ring#", "")
                return lines, [line for line in events.split("\n") if "buf0" not in line]
            finally:
                proc.terminate()
                r.close()

    oracle.same(play)


# --- tacit alone ---

def test_messages_survive_the_end_of_a_connection(tmp_path):
    ours = Running(TACIT, tmp_path / "ours", [" format raw\n server s 127.0.0.1:PORT\n"], ["local0"])
    try:
        request(ours.port, "before")
        ours.heard(b"/before\n")
        ours.receivers[0].drop()
        assert wait_for(lambda: "bind" not in admin(ours.sock, "show events r0"))
        for i in range(50):
            request(ours.port, f"during{i}")
        text = ours.heard(b"/during49\n")[0]
        # Bytes that the kernel had taken when the connection ended may be lost, and nothing behind it.
        numbers = [int(n) for n in re.findall(r"/during(\d+)\n", text)]
        assert numbers == list(range(numbers[0], 50))
    finally:
        ours.close()


def test_losses_are_counted_and_reported(tmp_path):
    """A server that is down: the oldest messages are overwritten."""
    ours = Running(TACIT, tmp_path / "ours", [" format raw\n server s 127.0.0.1:1\n"], ["local0"])
    try:
        with connect(ours.port) as c:
            for i in range(500):
                c.sendall(f"GET /{i:05}{'x' * 90} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
                answer = b""
                while b"\r\n\r\n" not in answer:
                    answer += c.recv(65536)
        def events_of():
            return admin(ours.sock, "show events r0").strip().split("\n")

        assert wait_for(lambda: "/00499" in events_of()[-1])
        events = events_of()
        assert 100 < len(events) < 200
        dropped = int(info(admin(ours.sock, "show info"))["DroppedLogs"])
        # The messages of the start were the first ones.
        assert dropped >= 500 - len(events)
        assert dropped + len(events) < 520
    finally:
        ours.close()


def test_all_workers_write_and_nothing_is_lost_at_the_stop(tmp_path):
    receiver, port = Receiver(), free_ports(1)[0]
    cfg = tmp_path / "cfg"
    cfg.write_text(CFG.format(sock=tmp_path / "sock", logs=" nbthread 3\n log ring@r local0\n", port=port,
                              rings=f"ring r\n size 1m\n server s 127.0.0.1:{receiver.port} log-proto octet-count\n"))
    with subprocess.Popen([TACIT, "-db", "-f", cfg], stderr=subprocess.DEVNULL) as proc:
        try:
            assert wait_for(lambda: is_open(port))

            def load(name):
                for i in range(200):
                    request(port, f"{name}-{i}")

            threads = [threading.Thread(target=load, args=(n,)) for n in "abcd"]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            proc.terminate()
            proc.wait(WAIT)
            paths = set()

            def all_there():
                paths.update(re.findall(rb"/([abcd]-\d+) ", receiver.heard))
                return len(paths) == 800

            assert wait_for(all_there), len(paths)
            # The last one may not have come to its end yet.
            assert wait_for(lambda: is_whole(receiver.heard.decode()))
            messages = without_counts(receiver.heard.decode())
            assert len([m for m in messages if re.search(r"/[abcd]-\d", m)]) == 800
        finally:
            proc.terminate()
            receiver.close()


def slow_server():
    """A listener whose connections take little at once."""
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.bind(("127.0.0.1", 0))
    s.listen()
    return s


def log_much(tmp_path, server, **popen):
    """tacit with about 6 MB in its ring: (process, connection of the server)."""
    port, cfg = free_ports(1)[0], tmp_path / "cfg"
    cfg.write_text(CFG.format(sock=tmp_path / "sock", logs=" nbthread 1\n log ring@r len 9000 local0\n", port=port,
                              rings="ring r\n size 8m\n maxlen 9000\n format raw\n"
                                    f" server s 127.0.0.1:{server.getsockname()[1]} log-proto octet-count\n"))
    cfg.write_text(cfg.read_text().replace("%HU", "%HU%HU%HU"))
    proc = subprocess.Popen([TACIT, "-db", "-f", cfg], stderr=subprocess.PIPE, text=True, **popen)
    assert wait_for(lambda: is_open(port))
    conn = server.accept()[0]
    for i in range(1000):
        request(port, f"n{i}-" + "x" * 2000)
    return proc, conn


def test_servers_have_time_at_the_stop(tmp_path):
    """More than the sockets hold: it is there when the process has ended. The time in which servers have to take it stands still."""
    env = {**os.environ, **moved_clock.environment(BUILD, tmp_path / "clock", stands=True)}
    with slow_server() as server:
        proc, conn = log_much(tmp_path, server, env=env)
        with proc, conn:
            proc.terminate()
            got = recv_all(conn).decode()
            assert proc.wait(WAIT) == 0
            assert len([m for m in without_counts(got) if "/n" in m]) == 1000
            assert "lost" not in proc.stderr.read()


def test_what_is_lost_at_the_stop_is_reported(tmp_path):
    with slow_server() as server:
        proc, conn = log_much(tmp_path, server)
        with proc, conn:
            proc.terminate()
            errors = proc.communicate(timeout=WAIT)[1]
            lost = int(re.search(r"ring 'r': (\d+) messages are lost: server 's' did not take them in time", errors)[1])
            took = [m for m in re.findall(r"/n(\d+)-", recv_all(conn).decode())]
            # Three of each request; the last one may be a part.
            assert 0 < lost < 1010 and 990 <= lost + len(took) / 3 <= 1010
