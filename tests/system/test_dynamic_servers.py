"""add server and del server: under traffic, with one worker and with several, and in the words of HAProxy."""

import contextlib
import random
import socket

import oracle
import pytest
from clients import Requests
from conftest import WAIT, Origin, connect, free_port, recv_all, rss_kib
from subject import not_sanitized, only_tacit
from test_checks import statuses
from test_oracle_stat import Subject

pytestmark = only_tacit



def remove(d, name):
    """Once a server in maintenance is not used any more."""
    assert d.admin(f"wait 1m srv-removable {name};del server {name}", 90) == "Done.\n\nServer deleted.\n\n"


CONFIG = """\
frontend f
    mode http
    bind 127.0.0.1:{port}
    default_backend b
backend b
    mode http
    server s1 127.0.0.1:{first}
"""


class Named:
    """An HTTP server that answers with its name and counts its requests; connections are kept."""

    def __init__(self, name):
        self.name, self.asked = name, 0
        self.origin = Origin(self.serve)
        self.port = self.origin.port

    def serve(self, sock):
        data = b""
        while True:
            while b"\r\n\r\n" not in data:
                got = sock.recv(4096)
                if not got:
                    return
                data += got
            data = data.split(b"\r\n\r\n", 1)[1]
            self.asked += 1
            sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(self.name), self.name.encode()))


def get(port):
    with connect(port) as c:
        c.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        return recv_all(c).split(b"\r\n\r\n", 1)[1].decode()


@pytest.fixture
def named():
    with contextlib.ExitStack() as stack:
        def make(name):
            n = Named(name)
            stack.callback(n.origin.close)
            return n
        yield make


@pytest.mark.parametrize("workers", [1, 3])
def test_a_server_comes_and_goes(daemon, named, workers):
    first, second = named("one"), named("two")
    port = free_port()
    d = daemon(CONFIG.format(port=port, first=first.port), extra=f"nbthread {workers}")
    assert d.admin(f"add server b/n 127.0.0.1:{second.port}") == "New server registered.\n\n"
    assert statuses(d, "b") == {"s1": "no check", "n": "MAINT"}
    assert {get(port) for _ in range(10)} == {"one"}
    assert d.admin("enable server b/n") == "\n"
    assert [get(port) for _ in range(10)].count("two") == 5
    assert d.admin("set weight b/n 3") == "\n"
    assert [get(port) for _ in range(8)].count("two") == 6
    assert d.admin("del server b/n") == "Only servers in maintenance mode can be deleted.\n\n"
    d.admin("disable server b/n")
    remove(d, "b/n")
    assert statuses(d, "b") == {"s1": "no check"}
    assert {get(port) for _ in range(10)} == {"one"}
    assert d.admin("del server b/n") == "No such server.\n\n"
    d.admin("disable server b/s1")


def test_a_session_keeps_its_server(daemon):
    """A waiting session does, too, and so does a connection that is kept for a client."""
    def echo(sock):
        while data := sock.recv(100):
            sock.sendall(data)

    origin, port = Origin(echo), free_port()
    d = daemon(f"listen l\n    bind 127.0.0.1:{port}\n    balance leastconn\n    option abortonclose\n")
    assert d.admin(f"add server l/n 127.0.0.1:{origin.port} maxconn 1 enabled") == "New server registered.\n\n"
    with connect(port) as c:
        c.sendall(b"hello")
        assert c.recv(100) == b"hello"
        with connect(port) as waits:
            waits.sendall(b"second")
            d.until("sessions state/QUEUE ge 1")
            d.admin("disable server l/n")
            assert d.admin("del server l/n") == "Server still has connections attached to it, cannot remove it.\n\n"
            c.sendall(b"again")
            assert c.recv(100) == b"again"
    remove(d, "l/n")
    origin.close()


@pytest.mark.parametrize("workers", [1, 3])
def test_one_line_removes_a_server_when_its_sessions_end(daemon, workers):
    def echo(sock):
        while data := sock.recv(100):
            sock.sendall(data)

    origin, port = Origin(echo), free_port()
    d = daemon(f"listen l\n    bind 127.0.0.1:{port}\n    balance leastconn\n", extra=f"nbthread {workers}")
    assert d.admin(f"add server l/n 127.0.0.1:{origin.port} enabled") == "New server registered.\n\n"
    with connect(port) as c, socket.socket(socket.AF_UNIX) as s:
        c.sendall(b"hello")
        assert c.recv(100) == b"hello"
        s.settimeout(WAIT)
        s.connect(str(d.sock))
        s.sendall(b"disable server l/n; wait 1m srv-removable l/n; del server l/n; wait 20; show backend\n")
        assert s.recv(100) == b"\n"
        # others are served meanwhile, and it does not end by itself
        assert d.admin("get weight l/n") == "1 (initial 1)\n\n"
        c.sendall(b"again")
        assert c.recv(100) == b"again"
        c.close()
        assert recv_all(s) == b"Done.\n\nServer deleted.\n\n\n# name\nl\n\n"
    origin.close()


def test_a_client_that_leaves_during_a_wait(daemon):
    """Its connection ends with the wait at the latest."""
    d = daemon(f"listen l\n    bind 127.0.0.1:{free_port()}\n    server s 127.0.0.1:1\n")
    for line in (b"wait 100;show version\n", b"disable server l/s;wait 100 srv-removable l/s\n"):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(str(d.sock))
            s.sendall(line)
    assert not d.leaked()


def test_checks_of_an_added_server(daemon, named):
    """They begin with `enable health`, and end with the server."""
    first, second = named("one"), named("two")
    port = free_port()
    d = daemon(CONFIG.format(port=port, first=first.port))
    d.admin(f"add server b/n 127.0.0.1:{second.port} enabled check inter 50ms rise 2 fall 2")
    assert second.asked == 0 and statuses(d, "b")["n"] == "no check"
    assert d.admin("enable health b/n") == "\n"
    d.until("server b/n state eq UP")
    second.origin.close()
    d.until("server b/n state eq DOWN")
    assert {get(port) for _ in range(10)} == {"one"}
    d.admin("disable server b/n")
    assert d.admin("del server b/n") == "Server deleted.\n\n"
    # Its memory is used by a server without checks.
    d.admin(f"add server b/m 127.0.0.1:{first.port} enabled")
    assert statuses(d, "b") == {"s1": "no check", "m": "no check"}
    d.admin("disable server b/s1")


@pytest.mark.parametrize("workers", [1, 4])
def test_churn_under_load_costs_no_request(daemon, named, workers):
    first, others = named("n9"), [named(f"n{i}") for i in range(4)]
    port = free_port()
    d = daemon(CONFIG.format(port=port, first=first.port).replace("mode http\n    server", "mode http\n    balance random\n    server"),
               extra=f"nbthread {workers}\n    tune.listener.multi-queue fair")
    dice, live, added = random.Random(workers), {}, 0
    with Requests(port, 12, is_persistent=True) as load:
        while (load.done < 4000 or added < 6) and not load.failed:
            if len(live) < 4 and dice.random() < 0.6:
                free = [i for i in range(4) if i not in live.values()]
                live[f"s{added + 2}"] = i = dice.choice(free)
                added += 1
                assert "New server" in d.admin(f"add server b/s{added + 1} 127.0.0.1:{others[i].port} enabled check inter 20ms")
                d.admin(f"enable health b/s{added + 1}")
            elif live:
                name = dice.choice(list(live))
                d.admin(f"disable server b/{name}")
                remove(d, f"b/{name}")
                del live[name]
    assert not load.failed
    assert sum(o.asked for o in others) > 50
    for name in live:
        d.admin(f"disable server b/{name}")
        remove(d, f"b/{name}")
    assert statuses(d, "b") == {"s1": "no check"}
    # Its idle connections end.
    d.admin("disable server b/s1")


@not_sanitized
def test_memory_is_used_again(daemon, named):
    d = daemon(CONFIG.format(port=free_port(), first=named("one").port))

    def churn(n):
        for i in range(n):
            assert "New server" in d.admin(f"add server b/n{i} 127.0.0.1:1 check; del server b/n{i}")

    churn(50)
    before = rss_kib(d.pid)
    churn(500)
    assert rss_kib(d.pid) - before < 256


def test_long_answers_survive_removals(daemon):
    """Servers that stay are shown once."""
    port = free_port()
    lines = "".join(f"    server s{i} 127.0.0.1:1 disabled\n" for i in range(3000))
    d = daemon(f"listen l\n    bind 127.0.0.1:{port}\n    balance leastconn\n{lines}")
    dice = random.Random(1)
    for command, column in (("show stat", 1), ("show servers state", 3), ("show servers conn", 0)):
        gone = set()
        with socket.socket(socket.AF_UNIX) as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.settimeout(WAIT)
            s.connect(str(d.sock))
            s.sendall(command.encode() + b"\n")
            got = [s.recv(100)]
            for _ in range(40):
                i = dice.randrange(3000)
                if "deleted" in d.admin(f"del server l/s{i}"):
                    gone.add(f"s{i}")
                got.append(s.recv(4096))
            got.append(recv_all(s))
        rows = b"".join(got).decode().split("\n")
        names = [row.replace(",", " ").split()[column].split("/")[-1] for row in rows if "s" in row and row[:1] not in ("#", "")]
        seen = [n for n in names if n[:1] == "s" and n[1:].isdigit()]
        assert len(seen) == len(set(seen))
        assert {f"s{i}" for i in range(3000)} - gone - set(seen) == set() or command != "show stat"
        for i in gone:
            d.admin(f"add server l/{i} 127.0.0.1:1")


COMMANDS = """\
add server
add server b
add server b/
add server nob/x 127.0.0.1:1
add server f/x 127.0.0.1:1
add server b/s1 127.0.0.1:1
add server b/x
add server b/x! 127.0.0.1:1
add server static/x 127.0.0.1:1
add server map/x 127.0.0.1:1
add server ring/x 127.0.0.1:1
add server tcp/x 127.0.0.1:1 enabled
add server b/x 127.0.0.1:1 init-addr none
add server b/x 127.0.0.1:1 resolvers r
add server b/x 127.0.0.1:1 track none
add server b/x 127.0.0.1:1 track nob/none
add server b/x 127.0.0.1:1 track s1 check
add server b/n1 127.0.0.1:1 weight 3 maxconn 12 check inter 1s rise 3 fall 4 id 77
add server b/n2 127.0.0.1:1 backup track s1
add server b/n3 127.0.0.1:1 track n1
add server #3/n4 unix@/tmp/x
add server b/n5 nowhere.invalid:80
enable server b/n4
del server
del server b
del server nob/x
del server b/none
del server b/s1
del server b/n4
del server used/s1
del server used/s2
disable server b/s1
del server b/s1
del server b/n2
disable server used/s1
disable server used/s2
del server used/s1
del server used/s2
del server b/n1
add server b/n6 127.0.0.1:1"""


def answers_of(program, directory):
    directory.mkdir()
    front = free_port()
    servers = "server s1 127.0.0.1:1 check inter 100s\n"
    cfg = ("defaults\n mode http\n timeout client 1m\n timeout server 1m\n timeout connect 1m\n"
           f"frontend f\n bind 127.0.0.1:{front}\n default_backend b\n use_backend b if {{ srv_is_up(used/s2) }}\n"
           f"backend b\n default-server weight 7\n {servers} server s2 127.0.0.1:2\n"
           f"backend static\n balance static-rr\n {servers}backend map\n balance source\n {servers}"
           f"backend ring\n balance source\n hash-type consistent\n {servers}backend tcp\n mode tcp\n balance first\n"
           f"backend used\n {servers} server s2 127.0.0.1:2\n use-server s1 if {{ src 1.2.3.4 }}\n")
    subject = Subject(program, directory, cfg)
    try:
        answers = [(c, subject.admin(c).strip("\n")) for c in COMMANDS.split("\n")]
        rows = subject.stat()[1]
        return answers, {name: (row["status"], row["sid"], row["act"], row["bck"], row["addr"])
                         for name, row in rows.items() if row["type"] == "2" and name[1] != "s1"}
    finally:
        subject.stop()


def test_the_words_are_haproxys(tmp_path):
    theirs, ours = oracle.both(lambda program: answers_of(program, oracle.at(tmp_path, program)))
    assert ours == theirs
