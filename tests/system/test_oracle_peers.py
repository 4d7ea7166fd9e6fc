"""Peers: several processes with the same tables, one of them HAProxy, over TCP and TLS; peers that are none."""

import contextlib
import random
import re
import socket
import subprocess
import threading

import facts
import oracle
import pytest
from certs import Authority
from conftest import TACIT, WAIT, Origin, admin, free_ports
from subject import only_tables
from test_recipes import recipe  # noqa: F401

CFG = """
global
    stats socket {sock} mode 600 level admin
    localpeer {name}
    {globals}
defaults
    mode http
    timeout connect 1m
    timeout client 1m
    timeout server 1m
peers group
    {peers}
    table own type string len 16 size 1k expire 900s store gpc0
backend ip
    stick-table type ip size 10k expire 900s peers group store gpc0,conn_cur,http_req_rate(100s),bytes_in_cnt
backend int
    stick-table type integer size 200k expire 900s peers group store gpc(3),gpc_rate(2,500s),gpt(2)
backend servers
    stick-table type string len 20 size 10k expire 900s peers group store server_key
    stick on path
    server s1 127.0.0.1:{port}
    server s2 127.0.0.1:{port}
frontend web
    bind 127.0.0.1:{web}
    http-request track-sc0 src table ip
    http-request sc-inc-gpc0(0)
    http-request track-sc1 req.hdr(key) table int
    http-request sc-inc-gpc(1,1)
    http-request sc-set-gpt(1,1) 4
    default_backend servers
frontend origin
    bind 127.0.0.1:{port}
    http-request return status 200
{more}
"""
# A limit of 30 requests for all nodes together.
SUM = """
backend sum
    stick-table type ip size 1k expire 900s peers group aggregate store gpc0,http_req_cnt,http_req_rate(1000s),conn_cur
frontend limited
    bind 127.0.0.1:{limited}
    http-request track-sc0 src table sum
    http-request sc-inc-gpc0(0)
    http-request deny deny_status 429 if { sc_http_req_rate(0) gt 30 }
    http-request return status 200
"""
TABLES = ("group/own", "ip", "int", "servers")


class Node:
    """A process of the group."""

    def __init__(self, directory, name, program, **words):
        self.dir, self.name, self.program, self.words = directory / name, name, program, words
        self.dir.mkdir()
        self.sock = self.dir / "sock"
        self.port, self.web, self.limited = free_ports(3)
        self.proc = None

    def start(self, peers):
        own = {"globals": "", "more": "", **self.words}
        own["more"] = own["more"].replace("{limited}", str(self.limited))
        (self.dir / "cfg").write_text(CFG.format(name=self.name, sock=self.sock, peers=peers, port=self.port, web=self.web, **own))
        self.sock.unlink(missing_ok=True)
        with open(self.dir / "log", "ab") as log:
            self.proc = subprocess.Popen([self.program, "-db", "-f", self.dir / "cfg"], stdin=subprocess.DEVNULL, stdout=log,
                                         stderr=log)
        facts.exists(self.sock)
        facts.listens(self.web)

    def kill(self):
        if self.proc:
            self.proc.kill()
            self.proc.wait(WAIT)

    def stop(self):
        if self.proc:
            self.proc.terminate()
            self.proc.wait(6 * WAIT)

    def tables(self):
        """{table: {key: its values}}, without what is a process's own."""
        found = {}
        for table in TABLES:
            rows = found[table] = {}
            for line in admin(self.sock, f"show table {table}").splitlines():
                if line.startswith("0x"):
                    values = dict(word.split("=", 1) for word in line.split()[1:])
                    rows[values["key"]] = {k: v for k, v in values.items() if k not in ("exp", "use", "shard", "conn_cur")}
        return found

    def change(self, n):
        admin(self.sock, f"set table group/own key {self.name} data.gpc0 {n}")
        admin(self.sock, f"set table ip key 10.0.{n}.{ord(self.name)} data.gpc0 {n} data.bytes_in_cnt 5000000000 data.http_req_rate 7")
        for path in "xyz":
            with socket.create_connection(("127.0.0.1", self.web), timeout=WAIT) as s:
                s.sendall(f"GET /{self.name}{path}{n} HTTP/1.0\r\nkey: {n}{ord(self.name)}\r\n\r\n".encode())
                assert b" 200 " in s.recv(4096)

    def ask(self):
        """The status of a request to the limited frontend."""
        with socket.create_connection(("127.0.0.1", self.limited), timeout=WAIT) as s:
            s.sendall(b"GET / HTTP/1.0\r\n\r\n")
            return int(read_all(s).split()[1])

    def unacknowledged(self, but=None):
        """Tables with changes that a peer, besides one that is down, has not acknowledged: they are sent again after a cut, and
        replace what others have changed since."""
        found, remote = [], None
        for line in admin(self.sock, "show peers").splitlines():
            if m := re.search(r" id=(\w+)\((?:remote|local),", line):
                remote = m[1]
            elif m := re.search(r"last_acked=(\d+) .* update=(\d+)", line):
                # HAProxy: what it has acknowledged, and what the peer has.
                acked = m[1 if self.program == TACIT else 2]
            elif m := re.search(r"table:\S+ id=(\S+) .*localupdate=(\d+)", line):
                missing = (int(m[2]) - int(acked)) % 2**32
                if remote not in (but, self.name) and m[1] in (*TABLES, "/own") and 0 < missing < 2**30:
                    found.append((remote, m[1], missing))
        return found

    def learns(self):
        """True while it may still ask for all entries, which replace what it has changed meanwhile."""
        flags, timeout = re.search(r"id=group disabled=0 flags=0x(\w+) resync_timeout=(\S+)", admin(self.sock, "show peers")).groups()
        return int(flags, 16) & 3 != 3 or timeout not in ("<PAST>", "<NEVER>")

    def sum(self):
        """Values of the entry of this machine: the sums, then the part of each peer."""
        lines = admin(self.sock, "show table sum key 127.0.0.1").splitlines()
        return [dict(re.findall(r"(\w+)(?:\(\d+\))?=(\d+)", line)) for line in lines if line.startswith(("0x", "# peer"))]

    def peers(self):
        """{peer: state}"""
        return dict(re.findall(r" id=(\w+)\((?:remote|local),\w+\) \S+ last_status=(\w+)", admin(self.sock, "show peers")))


def sees(read, wanted):
    """Nobody reports when tables are equal."""
    facts.becomes(read, wanted, "equal tables")


class Link(Origin):
    """A relay to a port, whose connections can be cut."""

    def __init__(self, port):
        self.to, self.open = port, []
        super().__init__(self.relay)

    def relay(self, conn):
        with socket.create_connection(("127.0.0.1", self.to), timeout=WAIT) as far:
            conn.settimeout(None)
            far.settimeout(None)
            self.open += [conn, far]
            back = threading.Thread(target=self.pump, args=(far, conn))
            back.start()
            self.pump(conn, far)
            back.join()

    @staticmethod
    def pump(source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        for s in (source, sink):
            with contextlib.suppress(OSError):
                s.shutdown(socket.SHUT_RDWR)

    def cut(self):
        for s in self.open:
            with contextlib.suppress(OSError):
                s.shutdown(socket.SHUT_RDWR)
        self.open.clear()


class Group:
    def __init__(self, directory, programs, options="", bind="", links=False, more=""):
        ports = dict(zip(programs, free_ports(len(programs)), strict=True))
        self.ports = ports
        self.links = [Link(port) for port in ports.values()] if links else []
        self.nodes = {name: Node(directory, name, program, more=more if program == TACIT else "")
                      for name, program in programs.items()}
        self.lines = {}
        for own in programs:
            lines = [f"bind 127.0.0.1:{ports[own]} {bind}", f"default-server {options}" if options else "", f"server {own}"]
            shown = [link.port for link in self.links] or ports.values()
            lines += [f"server {name} 127.0.0.1:{port}" for name, port in zip(ports, shown, strict=True) if name != own]
            self.lines[own] = "\n    ".join(lines)

    def start(self, *names):
        for name in names or self.nodes:
            self.nodes[name].start(self.lines[name])

    def restart(self, name):
        self.nodes[name].kill()
        self.start(name)

    def connected(self):
        for node in self.nodes.values():
            if node.program == TACIT:
                facts.until(node.sock, f"counter ActivePeers eq {len(self.nodes) - 1}")
                assert sorted(node.peers().values()) == ["ESTA"] * (len(self.nodes) - 1) + ["NONE"]

    def complete(self):
        """No node asks for entries any more."""
        sees(lambda: [node.name for node in self.nodes.values() if node.learns()], [])

    def equal(self, entries, but=None):
        """All tables are the same, and have so many entries; None: as many as there are. but: a node that is down."""
        up = [node for node in self.nodes.values() if node.name != but]

        def missing():
            """Names what is not so yet: changes without acknowledgement, entries that differ, tables of another length."""
            waiting = [node.unacknowledged(but) for node in up]
            tables = [node.tables() for node in up]
            different = {(table, key): [t[table].get(key) for t in tables]
                         for table in TABLES for key in set().union(*(t[table] for t in tables))
                         if any(t[table].get(key) != tables[0][table].get(key) for t in tables)}
            lengths = [len(rows) for rows in tables[0].values()]
            return (waiting if any(waiting) else None, different, None if entries in (None, lengths) else lengths)

        sees(missing, (None, {}, None))


@pytest.fixture(name="group")
def _group(tmp_path):
    made = []

    def make(programs, **kw):
        made.append(Group(tmp_path, programs, **kw))
        return made[-1]

    yield make
    for group in made:
        for node in group.nodes.values():
            node.stop()
        for link in group.links:
            link.cut()
            link.close()


def play(group):
    """Changes at each node, and restarts of each."""
    def change(number):
        # One after the other: of two processes that count in one entry at the same time, each may end with the other's value.
        for node in group.nodes.values():
            node.change(number)
            group.equal(None)

    group.start()
    group.connected()
    group.complete()
    names = list(group.nodes)
    n = len(names)
    change(1)
    group.equal([n, n + 1, n, 3 * n])
    for i, name in enumerate(names):
        group.restart(name)
        group.connected()
        group.complete()
        group.equal([n, n * (i + 1) + 1, n * (i + 1), 3 * n * (i + 1)])
        change(i + 2)
        group.equal([n, n * (i + 2) + 1, n * (i + 2), 3 * n * (i + 2)])
    for node in group.nodes.values():
        # Arrays: each key has had three requests.
        assert {(row["gpt1"], row["gpc0"], row["gpc1"]) for row in node.tables()["int"].values()} == {("4", "0", "3")}


def add_up(made):
    """A table with `aggregate`: a limit is one of all nodes together. One that starts again gets all counts."""
    nodes = [node for node in made.nodes.values() if node.program == TACIT]
    each = 30 // len(nodes)

    def all_see(count):
        sees(lambda: [node.sum()[0]["http_req_cnt"] for node in nodes], [str(count)] * len(nodes))

    made.start()
    made.connected()
    for node in nodes:
        assert [node.ask() for _ in range(each)] == [200] * each
    all_see(30)
    for node in nodes:
        assert node.sum()[0]["gpc0"] == node.sum()[0]["http_req_rate"] == "30"
        assert sorted(part["gpc0"] for part in node.sum()[1:] if part["gpc0"] != "0") == [str(each)] * (len(nodes) - 1)
        assert f", aggregate:{len(made.nodes) - 1}" in admin(node.sock, "show table sum")
    assert [node.ask() for node in nodes] == [429] * len(nodes)
    all_see(30 + len(nodes))
    made.restart(nodes[0].name)
    made.connected()
    # Its own counts come back to it.
    all_see(30 + len(nodes))
    assert nodes[0].sum()[0]["gpc0"] == nodes[0].sum()[0]["http_req_rate"] == str(30 + len(nodes))
    assert not re.search(r"proto_err=[1-9]", admin(nodes[0].sock, "show peers") + admin(nodes[1].sock, "show peers"))


def test_names_of_servers_that_a_peer_knows_are_shown(group):
    made = group({"one": TACIT, "two": TACIT})
    made.start()
    made.connected()
    one, two = made.nodes.values()
    with socket.create_connection(("127.0.0.1", one.web), timeout=WAIT) as s:
        s.sendall(b"GET /path HTTP/1.0\r\n\r\n")
        assert b" 200 " in read_all(s)
    sees(lambda: [row["server_key"] for row in two.tables()["servers"].values()], ["s1"])
    for node, direction in ((one, "TX"), (two, "RX")):
        shown = admin(node.sock, "show peers dict group")
        assert f"        {direction} dictionary cache:\n            0 -> s1    1 -> -    2 -> -    3 -> -\n" in shown
        assert "  124 -> -  125 -> -  126 -> -  127 -> -\n" in shown and "not dumped" not in shown
        for words in ("", " -", " group"):
            shown = admin(node.sock, "show peers" + words)
            assert 'Dictionary cache not dumped (use "show peers dict")' in shown and "0 -> s1" not in shown
        assert admin(node.sock, "show peers dict nobody") == admin(node.sock, "show peers nobody") == "No such peers\n\n"


@pytest.fixture(name="tls")
def _tls(tmp_path):
    """Options with which both sides verify each other."""
    authority = Authority(tmp_path / "certs")
    pem = authority.make("node.pem", "node.example", ["node.example"])
    return {"options": f"ssl crt {pem} ca-file {authority.pem} verify required verifyhost node.example",
            "bind": f"ssl crt {pem} ca-file {authority.pem} verify required"}


SEED = 24
ROUNDS = 230   # five minutes


def restart_and_cut(group):
    """In each round one node is restarted or connections are cut, while another node changes entries: then all tables are equal."""
    rnd = random.Random(SEED)
    group.start()
    group.connected()
    group.complete()
    for n in range(1, ROUNDS + 1):
        down, changed = rnd.sample(sorted(group.nodes), 2)
        if rnd.random() < 0.5:
            group.nodes[down].kill()
            group.nodes[changed].change(n)
            # In the protocol a value of a lesson replaces a later one: the teacher has to have all values.
            group.equal(None, but=down)
            group.start(down)
            group.connected()
            group.complete()
        else:
            rnd.choice(group.links).cut()
            group.nodes[changed].change(n)
        group.connected()
        group.equal(None)


@oracle.live("it is one of the peers")
@pytest.mark.parametrize("over", ["tcp", "tls"])
@pytest.mark.parametrize("what", [play, add_up, pytest.param(restart_and_cut, marks=only_tables)])
def test_haproxy_is_a_peer(group, what, over, tls):
    programs = {"A": TACIT, "B": oracle.HAPROXY, "C": TACIT}
    what(group(programs, links=what == restart_and_cut, more=SUM, **(tls if over == "tls" else {})))


def test_two(group):
    play(group({"A": TACIT, "B": TACIT}))


@pytest.mark.parametrize("names", ["AB", "ABC"])
def test_sum(group, names):
    add_up(group(dict.fromkeys(names, TACIT), more=SUM))


def test_tls(group, tls):
    play(group({"A": TACIT, "B": TACIT}, **tls))


def read_all(s):
    data = b""
    try:
        while got := s.recv(65536):
            data += got
    except OSError:
        pass
    return data


HELLO = b"HAProxyS 2.1\nA\nB 1 1\n"


def test_intruders(group):
    """A client that says nothing, or what is not the protocol, is answered and closed; the group is as before."""
    both = group({"A": TACIT, "B": TACIT})
    both.start("A")
    port = both.ports["A"]
    for said, answer in ((b"GET / HTTP/1.0\r\n\r\n\n", b"501\n"), (b"HAProxyS 3.0\nA\nB 1 1\n", b"502\n"),
                         (b"HAProxyS 2.1\nX\nB 1 1\n", b"503\n"), (b"HAProxyS 2.1\nA\nX 1 1\n", b"504\n"), (b"x" * 5000, b"501\n"),
                         (HELLO + b"\x0a\x80\xff\xff\xff\xff\x7f", b"200\n\x00\x00\x01\x01"),
                         (HELLO + b"\x0a\x82\x03abc", b"200\n\x00\x00\x01\x00")):
        with socket.create_connection(("127.0.0.1", port), timeout=WAIT) as s:
            s.sendall(said)
            answered = read_all(s)
            # The request for entries is sent in the first seconds only.
            assert answered.replace(b"\x00\x00", b"") == answer.replace(b"\x00\x00", b"")
    silent = [socket.create_connection(("127.0.0.1", port), timeout=WAIT) for _ in range(40)]
    # More than a few silent connections are closed at once, the others after their time.
    assert all(read_all(s) == b"" for s in silent)
    for s in silent:
        s.close()
    both.start("B")
    both.connected()
    both.nodes["B"].change(1)
    both.equal([1, 2, 1, 3])


def test_recipe(recipe):  # noqa: F811
    """The recipe of tacit-guide(7): a client that asks one node too often is refused by the other, too."""
    recipe.server("a", 11, 8080)
    other = recipe.run("peers.cfg", node=2, changed=("localpeer one", "localpeer two"))
    recipe.run("peers.cfg")
    assert [recipe.ask(node=node)[0] for node in (1, 2)] == [200, 200]
    assert [recipe.ask()[0] for _ in range(110)][-1] == 429
    sees(lambda: recipe.ask(node=2)[0], 429)
    assert "used:1" in admin(recipe.dir / "admin2.sock", "show table nodes/banned")
    other.stop()


def test_cluster(recipe):  # noqa: F811
    """The recipe of tacit-guide(7): a limit that is one of three nodes together."""
    recipe.server("a", 11, 8080)
    others = [recipe.run("cluster.cfg", node=n, changed=("localpeer one", f"localpeer {name}")) for n, name in ((2, "two"), (3, "three"))]
    recipe.run("cluster.cfg")
    for n in (1, 2, 3):
        facts.until(recipe.dir / f"admin{n}.sock", "counter ActivePeers eq 2")
    assert [recipe.ask(node=n % 3 + 1)[0] for n in range(99)] == [200] * 99
    for n in (1, 2, 3):
        # Periods of rates move on: as many requests more as are needed.
        sees(lambda n=n: recipe.ask(node=n)[0], 429)
    for other in others:
        other.stop()
