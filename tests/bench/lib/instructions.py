"""User instructions per request, counted by callgrind: exact where CPU time is noise.

One process is the client and the server, sends one request after the other, and waits before each step until the
program has been told of the last one and sleeps again: what arrives together is then the same in each run, also on a busy
machine. Both run on one CPU, so that there is one queue of packets of loopback. Each kind of request is counted in two runs,
and the difference is what the requests cost, without start and end."""

import contextlib
import os
import re
import signal
import socket
import ssl
import subprocess
import time
from collections import Counter, namedtuple
from dataclasses import replace

from . import baseline, report, subjects as S
from .measuring import ERRORS
from .targets import INSTRUCTION_KINDS
from .world import Failed

FEW, MANY = 1000, 4000
SECONDS = 600           # time limit of a step, for hangs
MOST = 10               # functions that the report names

Kind = namedtuple("Kind", "mode kept tls", defaults=(False,))
KINDS = dict(zip(INSTRUCTION_KINDS, (Kind("tcp", True), Kind("tcp", False), Kind("http", True), Kind("http", False),
                                     Kind("http", True, True)), strict=True))
# Valgrind does not know the calls that confine the program.
UNCONFINED = ("insecure-files-wanted", "insecure-syscalls-wanted")
SUBJECTS = (replace(S.DEFAULT, words=UNCONFINED), S.HAPROXY)

KEPT = b"GET / HTTP/1.1\r\nHost: bench\r\n\r\n"
CLOSED = b"GET / HTTP/1.0\r\nHost: bench\r\n\r\n"
BODY = b"It is the same answer to each of these requests.\n"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n%%s\r\n%s" % (len(BODY), BODY)


class Peer:
    """The client and the server of a program under callgrind."""

    def __init__(self, proc, listener, kind):
        self.proc, self.listener, self.kind, self.server = proc, listener, kind, None
        self.own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.own.bind(("127.0.0.1", 0))
        self.own.connect(self.own.getsockname())

    def settle(self):
        """Waits until the program has all that was sent, and sleeps."""
        # A busy kernel leaves packets of loopback to a thread: this one is behind them.
        self.own.send(b"x")
        self.own.recv(1)
        end = time.monotonic() + SECONDS
        while True:
            with open("/proc/%d/stat" % self.proc.pid, encoding="ascii") as f:
                if f.read().rpartition(")")[2].split()[0] == "S":
                    return
            if time.monotonic() > end:
                raise Failed("it does not sleep")

    def connect(self):
        raw = socket.create_connection(("127.0.0.1", self.proc.port), timeout=SECONDS)
        if not self.kind.tls:
            return raw
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context.wrap_socket(raw)

    def ask(self, client, request, connection):
        """Sends a request; the server receives it, and answers."""
        self.settle()
        client.sendall(request)
        if self.server is None:
            self.server = self.listener.accept()[0]
            self.server.settimeout(SECONDS)
        got = b""
        while not got.endswith(b"\r\n\r\n"):
            got += received(self.server)
        self.settle()
        # With a close behind it, both arrive in one segment.
        self.server.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, int(connection != b""))
        self.server.sendall(ANSWER % connection)

    def kept(self, requests):
        with self.connect() as client:
            for _ in range(requests):
                self.ask(client, KEPT, b"")
                got = b""
                while not got.endswith(BODY):
                    got += received(client)
            self.settle()
        self.server.close()

    def closed(self, requests):
        for _ in range(requests):
            with self.connect() as client:
                self.ask(client, CLOSED, b"Connection: close\r\n")
                self.server.close()
                self.server, got = None, b""
                while part := client.recv(65536):
                    got += part
                if not got.endswith(BODY):
                    raise Failed("half an answer")
                self.settle()
            # The next connection does not come together with the end of this one.
            self.settle()

    def close(self):
        self.own.close()


def received(sock):
    got = sock.recv(65536)
    if not got:
        raise Failed("a connection was closed")
    return got


def read_profile(lines):
    """{(object, function): instructions that it executed itself} of a file that callgrind wrote."""
    names, spent = {}, Counter()
    obj = function = ""
    callee = False
    for line in lines:
        if m := re.match(r"(c?)(ob|fn)=\((\d+)\)(?: (.*))?$", line):
            call, key, number, name = m.groups()
            name = names.setdefault((key, number), name)
            if not call and key == "ob":
                obj = name
            elif not call:
                function = name
        elif line.startswith("calls="):
            callee = True       # the next line is what the callee cost
        elif line[:1].isdigit() or line[:1] in ("+", "-", "*"):
            if not callee:
                spent[obj, function.split("'")[0]] += int(line.split()[-1])
            callee = False
    return spent


@contextlib.contextmanager
def on_one_cpu():
    """This process, and those that it starts."""
    cpus = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cpus)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cpus)


def profile(run, subject, kind, requests):
    """The costs of a run of so many requests, by function."""
    out = run.world.path("callgrind.out")
    with on_one_cpu(), socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(SECONDS)
        at = "127.0.0.1:%d" % listener.getsockname()[1]
        proc = S.start(run.world, run.binaries, subject, at, under=("valgrind", "--tool=callgrind", "--callgrind-out-file=" + out))
        try:
            with contextlib.closing(Peer(proc, listener, kind)) as peer:
                (peer.kept if kind.kept else peer.closed)(requests)
            proc.send_signal(signal.SIGTERM)
            proc.wait(SECONDS)
        except subprocess.TimeoutExpired:
            raise Failed("it does not end") from None
        finally:
            run.world.forget(proc)
    with open(out, encoding="utf-8", errors="replace") as f:
        found = read_profile(f)
    os.unlink(out)
    return found


def per_request(few, many, path):
    """{metric: value}: of all code, of the program's own ("own"), and of each function that costs most (":name")."""
    each = {at: (many[at] - few[at]) / (MANY - FEW) for at in many}
    own = {name: n for (obj, name), n in each.items() if obj == path}
    if not own:
        raise Failed("no instructions of " + path)
    most = sorted(each.items(), key=lambda item: -item[1])[:MOST]
    return {"": sum(each.values()), ".own": sum(own.values()), **{":" + name: n for (_, name), n in most}}


def counted(run, rows):
    table = {}
    for subject in run.binaries.present(rows, run.notes):
        path = os.path.realpath(run.binaries.paths[subject.kind])
        for what, kind in KINDS.items():
            one = replace(subject, mode=kind.mode, reuse=kind.mode == "http" and kind.kept, tls=kind.tls,
                          options=() if kind.kept or kind.mode == "tcp" else ("option httpclose",))
            try:
                few, many = (profile(run, one, kind, n) for n in (FEW, MANY))
                for metric, value in per_request(few, many, path).items():
                    table.setdefault(subject.name, {})[what + metric] = [value]
            except ERRORS as why:
                run.notes.append("instructions: %s: %s: %s" % (subject.name, what, why))
    return table


def instructions(run):
    """User instructions per request, and where they are spent."""
    return counted(run, SUBJECTS)


def gate(run, committed):
    """0 if none of tacit's counts is more than the committed one, within the tolerance; otherwise 1."""
    results = {"instructions": counted(run, SUBJECTS[:1])}
    for title, grid in report.grids("instructions", results["instructions"]):
        print("\n%s\n%s" % (title, report.text_table(grid)))
    found = baseline.compare(committed, results)
    print("\n" + report.text_table(baseline.grid(found)))
    for note in run.notes:
        print("note: " + note)
    return 0 if len(found) == len(KINDS) and all(d.verdict in ("same", "better") for d in found) else 1


SECTIONS = {"instructions": instructions}
