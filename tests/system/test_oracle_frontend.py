"""HAProxy and tacit get the same commands about frontends: `disable`, `enable` and `shutdown frontend`. Their answers,
the state in `show stat`, what clients see and the messages are compared."""

import contextlib
import re
import select
import socket
import threading

import facts
import oracle
import pytest
from conftest import Origin, connect, free_ports, recv_all, wait_for
from oracle import Subject

CFG = """
defaults
 mode http
 timeout connect 1m
 timeout client 1m
 timeout server 1m
frontend f
 bind 127.0.0.1:{p0}
 bind 127.0.0.1:{p1} defer-accept
 bind {dir}/unix
 default_backend b
backend b
 server s 127.0.0.1:{origin}
listen l
 id 9
 bind 127.0.0.1:{p2}
 server s 127.0.0.1:{origin}
frontend off
 disabled
 bind 127.0.0.1:{p3}
frontend inherited
 bind fd@{fd}
 default_backend b
frontend none
"""


def serve(conn):
    buf = b""
    while True:
        while b"\r\n\r\n" not in buf:
            got = conn.recv(4096)
            if not got:
                return
            buf += got
        buf = buf.partition(b"\r\n\r\n")[2]
        conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


def ask(conn, is_accepted=lambda conn: True):
    """The answer to a request: the status and whether the connection stays; "silence", or the error."""
    try:
        conn.settimeout(facts.LIMIT)
        conn.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        if not is_accepted(conn):
            return "silence"
        got = conn.recv(4096).lower()
        return got[9:12], b"connection: close" in got
    except OSError as e:
        return type(e).__name__


class Player:
    """One program, and the clients that it has had."""

    def __init__(self, program, directory, stack):
        directory.mkdir()
        self.dir = directory
        self.ports = free_ports(4)
        self.held = stack.enter_context(socket.socket())
        self.held.bind(("127.0.0.1", 0))
        self.held.listen(5)
        self.held.set_inheritable(True)
        self.stack = stack
        origin = Origin(serve)
        stack.callback(origin.close)
        cfg = CFG.format(dir=directory, origin=origin.port, fd=self.held.fileno(),
                         **{f"p{i}": p for i, p in enumerate(self.ports)})
        self.subject = Subject(program, directory, cfg, pass_fds=[self.held.fileno()])
        stack.callback(self.subject.stop)
        self.addresses = [("127.0.0.1", self.ports[0]), ("127.0.0.1", self.ports[1]), str(directory / "unix"),
                          ("127.0.0.1", self.ports[2]), self.held.getsockname()]

    def connect(self, address):
        conn = self.stack.enter_context(socket.socket(socket.AF_UNIX if isinstance(address, str) else socket.AF_INET))
        try:
            conn.connect(address)
            return conn
        except OSError as e:
            return type(e).__name__

    def is_accepted(self, conn):
        """True if the program has a session with this client, or has answered, when it has done all that has reached it."""
        if conn.family == socket.AF_UNIX:
            return True
        def is_readable():
            return bool(select.select([conn], [], [], 0)[0])

        # A reset leaves bytes that were not delivered.
        facts.becomes(lambda: is_readable() or facts.unsent(conn) == 0, True, "the request to be delivered")
        self.subject.settle()
        return f":{conn.getsockname()[1]} " in self.subject.admin("show sess") or is_readable()

    def ask(self, conn):
        return ask(conn, self.is_accepted)

    def clients(self):
        """The outcome for a new client of each address."""
        out = []
        for address in self.addresses:
            conn = self.connect(address)
            out.append(conn if isinstance(conn, str) else self.ask(conn))
            if not isinstance(conn, str):
                conn.close()
        return out

    def states(self):
        return {key: row["status"] for key, row in self.subject.stat()[1].items() if key[1] == "FRONTEND"}

    def listeners(self):
        return re.search(r"\nListeners: (\d+)", self.subject.admin("show info")).group(1)

    def do(self, *commands):
        return [(c, self.subject.admin(c)) for c in commands]

    def messages(self):
        """Without the port and the pid."""
        found = re.findall(r"\) : ((?:Paused|Resumed|Port|Proxy [fl] ).*)", self.subject.err)
        return [re.sub(r"Port \d+", "Port N", re.sub(r"conns: .*", "", m)) for m in found]


@pytest.fixture
def players(tmp_path):
    with contextlib.ExitStack() as stack:
        yield {name: Player(program, tmp_path / name, stack) for name, program in oracle.PROGRAMS.items()}


def same(players, fn, name=""):
    return oracle.same(fn, players, name, script=CFG)


def test_pause_and_resume(players):
    def paused(p):
        return p.do("disable frontend f", "disable frontend f", "disable frontend #9", "disable frontend inherited"), \
            p.clients(), p.states(), p.listeners()

    def resumed(p):
        return p.do("enable frontend f", "enable frontend f", "enable frontend l", "enable frontend inherited"), \
            p.clients(), p.states(), p.messages()
    same(players, lambda p: (p.clients(), p.states(), p.listeners()), "before")
    seen = same(players, paused, "paused")
    # unix sockets go on; clients of an inherited socket wait
    assert seen[1] == ["ConnectionRefusedError"] * 2 + [(b"200", False), "ConnectionRefusedError", "silence"]
    assert seen[2]["f", "FRONTEND"] == seen[2]["inherited", "FRONTEND"] == "PAUSED"
    seen = same(players, resumed, "resumed")
    assert seen[1] == [(b"200", False)] * 5
    assert "Paused proxy l." in seen[3] and "Resumed frontend f." in seen[3]


def test_connections_of_a_paused_frontend(players):
    """Open connections continue; one that defer-accept has held back is reset."""
    def play(p):
        kept = p.connect(p.addresses[0])
        out, command = [p.ask(kept)], "disable frontend f"
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(facts.LIMIT)
            s.connect(str(p.subject.sock))
            # The kernel holds it back for a second. When more has passed, it is an open connection.
            with p.subject.stopped():
                s.sendall(command.encode() + b"\n")
                s.shutdown(socket.SHUT_WR)
                deferred = p.connect(p.addresses[1])
            out += [(command, recv_all(s).decode())]
        is_open = f":{deferred.getsockname()[1]} " in p.subject.admin("show sess")
        out += [p.ask(kept), p.ask(kept)]
        return [*out, p.ask(deferred) == ((b"200", False) if is_open else "ConnectionResetError")]
    assert same(players, play)[2:] == [(b"200", False), (b"200", False), True]


def test_busy_port(players):
    def play(p):
        out = p.do("disable frontend f")
        with socket.socket() as other:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            other.bind(p.addresses[1])
            other.listen(1)
            out += p.do("enable frontend f")
            out += [p.states(), p.connect(p.addresses[0])]
        return out + p.do("enable frontend f") + [p.states(), p.clients(), p.messages()]
    seen = same(players, play)
    assert "Port N busy while trying to enable frontend f." in seen[-1]
    assert seen[-2] == [(b"200", False)] * 5


def test_shutdown(players):
    def play(p):
        kept = p.connect(p.addresses[0])
        out = [p.ask(kept), p.listeners()]
        out += p.do("disable frontend l", "shutdown frontend f", "shutdown frontend l", "shutdown frontend inherited")
        out += [p.states(), p.listeners(), p.ask(kept), recv_all(kept)]
        refused = p.connect(p.addresses[0]), p.connect(p.addresses[2]), p.connect(p.addresses[3])
        waits = p.connect(p.addresses[4])
        return out + [refused, p.ask(waits), p.messages()]
    seen = same(players, play)
    assert seen[8:11] == [(b"200", True), b"", ("ConnectionRefusedError",) * 3]
    assert {"Proxy f stopped (cumulated ", "Proxy l stopped (cumulated "} <= set(seen[-1])


QUESTIONS = ("enable frontend", "disable frontend", "shutdown frontend", "disable frontend x", "disable frontend b",
             "enable frontend off", "disable frontend off", "shutdown frontend off", "disable frontend 9",
             "disable frontend #55", "enable frontend #9", "disable frontend none", "enable frontend none",
             "disable frontend f more", "disable frontend f", "enable frontend f")
STOPPED = ("enable frontend l", "disable frontend l", "shutdown frontend l", "disable frontend #9",
           "set server l/s state ready", "set server l/s weight 5", "set server l/x state", "set server l/s",
           "disable server l/s", "enable server l/s", "get weight l/s", "set weight l/s 5", "set weight l/s",
           "set maxconn server l/s 3", "enable health l/s", "disable agent l/s", "shutdown sessions server l/s",
           "shutdown sessions server l/x", "show backend")


@pytest.mark.parametrize("severity", ["", "set severity-output number;"])
def test_answers(players, severity):
    same(players, lambda p: p.do(*(severity + c for c in QUESTIONS)), "before")
    for p in players.values():
        p.subject.admin("shutdown frontend l")
    same(players, lambda p: p.do(*(severity + c for c in STOPPED)), "stopped")


# --- weights ---

WEIGHTS = ("5x", "50%x", "-5%", "x%", "x", "%", "300%", "99999%", "", "5 6", "256", "257", "-1", "+7", "5.5", "4294967297", "0x10",
           "0", "50%", "0%", "100%")


def test_weights(players):
    def play(p):
        return {w: p.do(f"set weight b/s {w}", "get weight b/s", f"set server l/s weight {w}", "get weight l/s") for w in WEIGHTS}
    same(players, play)


# --- limits ---

# HAProxy takes "5x" for 5 and "x" for 0, and numbers modulo 2^32; both of them refuse what is too large
LIMITS = ("set maxconn frontend", "set maxconn frontend f", "set maxconn frontend f 5", "set maxconn frontend f -1",
          "set maxconn frontend f 0", "set maxconn frontend #9 7", "set maxconn frontend x 4", "set maxconn frontend b 4",
          "set maxconn frontend f 2147483648", "set maxconn frontend f 99999999", "set maxconn frontend f 6 7",
          "set maxconn global", "set maxconn global 100", "set maxconn global 50 60", "set maxconn global 201",
          "set maxconn global 200", "set maxconn global -5", "set maxconn global 70", "set maxconn global 0",
          "set rate-limit connections global", "set rate-limit connections global 10",
          "set rate-limit sessions global 12", "set rate-limit sessions global", "set rate-limit sessions global -3",
          "set rate-limit connections global 0", "operator; set maxconn global 3", "user; set rate-limit x",
          "operator; set maxconn frontend")


def shown_limits(p):
    return [re.search(rf"\n{name}: \d+", p.subject.admin("show info")).group(0)
            for name in ("Maxconn", "Hard_maxconn", "ConnRateLimit", "SessRateLimit")], \
        [row["slim"] for key, row in p.subject.stat()[1].items() if key[1] == "FRONTEND"]


def test_limits(players):
    for severity in ("", "set severity-output number; "):
        same(players, lambda p, s=severity: [(p.do(s + command), shown_limits(p)) for command in LIMITS], severity or "no severity")
    same(players, lambda p: p.subject.admin("set rate-limit foo global 3").split("\n")[:3], "usage")


def test_maxconn_of_a_frontend(players):
    """With 0 nobody is accepted. HAProxy 2.6 dies when the limit is raised while clients wait."""
    def play(p):
        kept = p.connect(p.addresses[0])
        out = [p.ask(kept)] + p.do("set maxconn frontend f 1")
        waits = p.connect(p.addresses[0])
        out += [p.ask(waits)] + p.do("set maxconn frontend f 0")
        kept.close()
        p.waits = waits
        return out + [p.ask(p.connect(p.addresses[0]))]
    assert same(players, play)[2::2] == ["silence"] * 2
    ours = players["tacit"]
    assert ours.do("set maxconn frontend f 5")[0][1] == "\n"
    assert ours.waits.recv(100).startswith(b"HTTP/1.1 200 ")


def test_configured_rate(tmp_path):
    """maxconnrate and maxsessrate."""
    with contextlib.ExitStack() as stack:
        for name, program in oracle.PROGRAMS.items():
            (tmp_path / name).mkdir()
            cfg = f" maxconnrate 11\n maxsessrate 12\ndefaults\n mode http\nfrontend f\n bind 127.0.0.1:{free_ports(1)[0]}\n"
            s = Subject(program, tmp_path / name, cfg)
            stack.callback(s.stop)
            text = s.admin("show info")
            assert "\nConnRateLimit: 11\n" in text and "\nSessRateLimit: 12\n" in text


# --- several workers, tacit only ---

@pytest.mark.parametrize("bind", ["", "shards by-thread", "shards 2 defer-accept"])
def test_pauses_under_load(daemon, bind):
    """Three workers serve clients while their frontend is paused and resumed: a client is served, refused, or reset in
    the backlog. Other frontends do not notice."""
    origin = Origin(serve)
    port, other = free_ports(2)
    d = daemon(f"defaults\n mode http\n timeout connect 1m\n timeout client 1m\n timeout server 1m\n"
               f"frontend f\n bind 127.0.0.1:{port} {bind}\n default_backend b\n"
               f"frontend g\n bind 127.0.0.1:{other} {bind}\n default_backend b\n"
               f"backend b\n server s 127.0.0.1:{origin.port}\n", extra="nbthread 3", checked=False)
    over, ok = threading.Event(), (b"200", False)
    seen = {port: {}, other: {}}

    def client(to):
        while not over.is_set():
            try:
                with connect(to) as c:
                    got = ask(c)
            except OSError as e:
                got = type(e).__name__
            seen[to][got] = seen[to].get(got, 0) + 1
    threads = [threading.Thread(target=client, args=(p,)) for p in (port, port, other)]
    for t in threads:
        t.start()
    try:
        for i in range(30):
            assert d.admin("disable frontend f") == "\n"
            with pytest.raises(ConnectionRefusedError), connect(port):
                pass
            # Once for certain; the other pauses are short.
            assert i or wait_for(lambda: "ConnectionRefusedError" in seen[port])
            assert d.admin("enable frontend f") == "\n"
            want = sum(seen[port].values()) + 2
            assert wait_for(lambda want=want: sum(seen[port].values()) >= want)
        assert wait_for(lambda: seen[other].get(ok, 0) > 30 and seen[port].get(ok, 0) > 10), seen
    finally:
        over.set()
        for t in threads:
            t.join()
    assert set(seen[other]) == {ok} and seen[other][ok] > 30
    assert set(seen[port]) <= {ok, "ConnectionRefusedError", "ConnectionResetError", "BrokenPipeError"}
    assert seen[port][ok] > 10 and "ConnectionRefusedError" in seen[port]
    with connect(port) as c:
        assert ask(c) == ok
    origin.close()
