"""conf/pair: two nodes behind keepalived, in network namespaces. Clients, servers and a switch are in a third one. Each test does
something to the node that has the address, and follows the clients and the table that both nodes share."""

import base64
import contextlib
import http.client
import os
import re
import shutil
import signal
import socket
import subprocess
import threading

import facts
import pytest
from certs import Authority
from conftest import ROOT, WAIT, Daemon, Origin, admin, recv_all
from facts import LIMIT
from namespaces import Namespaces, need_namespaces
from subject import BUILD, only_root, only_tacit

pytestmark = [only_root, only_tacit]
TACIT = os.path.abspath(os.environ.get("TACIT") or BUILD / "tacit")
PAIR = ROOT / "conf" / "pair"
ADDRESS, CLIENT = "192.0.2.10", "192.0.2.254"
# Seconds between advertisements where no node may be taken for lost: that needs three of them.
SELDOM = "3"
SERVERS = {"a": "192.0.2.21", "b": "192.0.2.22"}
HOSTS = {"one": "192.0.2.1", "two": "192.0.2.2"}


class Node:
    """A host with tacit and keepalived."""

    def __init__(self, net, directory, name):
        self.net, self.name, self.dir = net, name, directory / name
        self.dir.mkdir()
        self.host = net.hold()
        self.leave_file = self.dir / "leave"
        self.log = self.dir / "keepalived.log"
        self.tacit = self.keepalived = None
        # keepalived calls no script that another user than root could change, and the tree may be anybody's
        self.known, self.program = directory, directory / "tacit"

    def edit(self, name):
        """A file of conf/pair with the paths of this test."""
        # A busy machine may take seconds for the command of the script, and for its answer.
        text = (PAIR / name).read_text().replace("timeout 3\n", "timeout 60\n")
        for path, here in {"/usr/sbin/tacit": self.program, "/run/tacit/admin.sock": self.dir / "stats.sock", "/etc/tacit": self.known,
                           "/run/tacit-leave": self.leave_file, "log /dev/log local0": "log 127.0.0.1 local0"}.items():
            text = text.replace(path, str(here))
        return text

    def inside(self, *command):
        return ["setpriv", "--pdeathsig", "KILL", "nsenter", f"--net=/proc/{self.host}/ns/net", *map(str, command)]

    def run(self, *command):
        return subprocess.run(self.inside(*command), capture_output=True, text=True, timeout=WAIT, check=True).stdout

    def start_tacit(self):
        (self.dir / "notify").unlink(missing_ok=True)
        command = self.inside(self.program, "-W", "-S", self.dir / "master", "-L", self.name)
        self.tacit = Daemon(self.dir, self.edit("tacit.cfg"), (), None, command[0], (), (), True, command[1:])

    def start_keepalived(self, advert="1"):
        conf = self.dir / "keepalived.conf"
        conf.write_text(self.edit("keepalived.conf").replace("advert_int 1\n", f"advert_int {advert}\n"))
        self.note()
        # Before other programs on a busy machine: the address moves when it does not send once a second.
        with open(self.log, "ab") as log:
            self.keepalived = subprocess.Popen(
                self.inside("nice", "-n", "-15", "keepalived", "--dont-fork", "--log-console", "--vrrp", f"--config-id={self.name}", f"--use-file={conf}",
                            f"--pid={self.dir}/keepalived.pid", f"--vrrp_pid={self.dir}/vrrp.pid"), stdout=log, stderr=log)

    def start(self, advert="1"):
        self.start_tacit()
        self.start_keepalived(advert)

    def has_address(self):
        return self.run("ip", "-o", "address", "show", "to", ADDRESS) != ""

    def note(self):
        """Marks what keepalived has reported so far as past."""
        self.past = self.log.read_text() if self.log.exists() else ""

    def enters(self, state):
        """Waits until keepalived has entered this state, since it was started or something was done to it."""
        text = f"Entering {state} STATE"
        facts.contains_often(self.log, text, self.past.count(text) + 1)

    def is_healthy(self):
        text = "VRRP_Script(tacit) succeeded"
        facts.contains_often(self.log, text, self.past.count(text) + 1)

    def vrrp(self, step):
        self.note()
        env = dict(os.environ, PAIR_ADDRESS=ADDRESS, PAIR_FILE=str(self.leave_file))
        subprocess.run(self.inside(PAIR / "vrrp", step), env=env, timeout=WAIT, check=True)

    def link(self, way):
        self.note()
        self.net.run(self.net.switch, f"ip link set {self.name} {way}")

    def count(self):
        """The requests of the client in the shared table."""
        found = re.search(rf"key={CLIENT} .*http_req_cnt=(\d+)", admin(self.dir / "stats.sock", "show table pair/clients"))
        return int(found.group(1)) if found else 0

    def heartbeats(self):
        """The number that the other node has sent since this one was started."""
        return sum(int(n) for n in re.findall(r" rx_hbt=(\d+)", admin(self.dir / "stats.sock", "show peers")))

    def knows_peer(self):
        facts.until(self.dir / "stats.sock", "counter ActivePeers eq 1")

    def kill(self):
        """Everything at once, as if it had crashed."""
        for p in (self.keepalived, self.tacit and self.tacit.proc):
            if p and p.poll() is None:
                for child in facts.children(p.pid):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(child, signal.SIGKILL)
                p.kill()
                p.wait(WAIT)

    def end(self):
        with contextlib.ExitStack() as rest:
            if self.tacit:
                rest.callback(self.tacit.kill)
            rest.callback(self.kill)
            if self.keepalived and self.keepalived.poll() is None:
                self.keepalived.terminate()
                self.keepalived.wait(WAIT)


class Clients:
    """Ask for one thing after the other on connections of their own, until stop(). `done` counts answers, `failed` the rest."""

    def __init__(self, net, at_once=4):
        self.failed, self._done = [], [0] * at_once
        self._end, self._news = threading.Event(), threading.Condition()
        self._threads = [threading.Thread(target=self._run, args=(net, n)) for n in range(at_once)]
        for t in self._threads:
            t.start()

    def _run(self, net, number):
        # a thread is in the namespace that it enters
        net.enter(net.switch)
        while not self._end.is_set():
            try:
                ask()
            except (OSError, http.client.HTTPException, AssertionError) as e:
                self.failed.append(repr(e))
            else:
                with self._news:
                    self._done[number] += 1
                    self._news.notify_all()

    @property
    def done(self):
        return sum(self._done)

    def more(self, n=200):
        with self._news:
            wanted = self.done + n
            if not self._news.wait_for(lambda: self.done >= wanted, LIMIT):
                raise AssertionError(f"waited {LIMIT} s for {wanted} requests; seen: {self.done}, failed: {self.failed[:5]}")

    def stop(self):
        self._end.set()
        for t in self._threads:
            t.join(2 * WAIT)
        return self.done


# Seconds until a client gives a connection up, whose node may have lost the address: more() waits for longer.
PATIENCE = LIMIT / 6


def ask(timeout=PATIENCE):
    """One request to the address, with a connection of its own: its body."""
    with socket.socket() as s:
        s.settimeout(timeout)
        s.connect((ADDRESS, 80))
        s.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        got = recv_all(s)
        assert got.startswith(b"HTTP/1.1 200 ") and got.endswith(b"server"), got
        return got


def serve(conn):
    with conn:
        conn.settimeout(WAIT)
        while conn.recv(4096):
            conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nserver")


class Pair(Namespaces):
    def __init__(self, directory):
        super().__init__()
        with contextlib.ExitStack() as made:
            made.callback(self.close)
            self._make(directory, made)
            self._made = made.pop_all()

    def _make(self, directory, made):
        self.switch = self.hold()
        self.run(self.switch, f"ip link set lo up; ip link add name br0 type bridge; ip address add {CLIENT}/24 dev br0; ip link set br0 up")
        for address in SERVERS.values():
            self.run(self.switch, f"ip address add {address}/24 dev br0")
            made.callback(self.at(self.switch, lambda a=address: Origin(serve, (a, 8080))).close)
        shutil.copy(TACIT, directory / "tacit")
        (directory / "certs").mkdir()
        Authority(directory).make("certs/pair.pem", "pair", names=["pair.test"])
        (directory / "ticket-keys").write_text("".join(base64.b64encode(bytes([n]) * 80).decode() + "\n" for n in (1, 2, 3)))
        self.nodes = [Node(self, directory, name) for name in HOSTS]
        for node in self.nodes:
            made.callback(node.end)
            self.run(self.switch, f"ip link add name {node.name} type veth peer name eth0 netns {node.host}; "
                                  f"ip link set {node.name} master br0 up")
            self.run(node.host, f"ip link set lo up; ip address add {HOSTS[node.name]}/24 dev eth0; ip link set eth0 up; "
                                f"sysctl -q -w {(PAIR / 'sysctl.conf').read_text().splitlines()[-1].replace(' ', '')}")
        self.one, self.two = self.nodes

    def start(self, advert="1"):
        """Node one serves, and two is ready."""
        self.one.start(advert)
        self.one.enters("MASTER")
        self.two.start(advert)
        self.two.is_healthy()
        self.two.enters("BACKUP")
        for node in self.nodes:
            node.knows_peer()

    def clients(self):
        load = Clients(self)
        self._made.callback(load.stop)
        load.more()
        return load

    def end(self):
        self._made.close()


@pytest.fixture
def pair(tmp_path):
    need_namespaces()
    p = Pair(tmp_path)
    yield p
    p.end()


def settle(pair):
    """Waits until each node has got a heartbeat, which the other one sends when it has sent nothing for 3 s: all that was sent before
    has arrived. A connection that a cut has outlived repeats its bytes late."""
    before = [node.heartbeats() for node in pair.nodes]
    facts.becomes(lambda: [node.heartbeats() > n for node, n in zip(pair.nodes, before)], [True, True], "heartbeats of both nodes")


def agree(pair):
    """Both tables come to the same number. A value that a peer sends replaces the own one, so two that both send at the same time have
    each other's; the next request of the client settles it."""
    settle(pair)
    pair.at(pair.switch, ask)
    settle(pair)
    assert pair.one.count() == pair.two.count()
    return pair.one.count()


def check_counts(pair, load, failed=True):
    """No request was counted twice, on either node, whatever has happened to them."""
    done = load.stop()
    assert failed or load.failed == []
    count = agree(pair)
    assert 0 < count <= done + len(load.failed) + 1, (count, done, load.failed)


def test_a_node_crashes(pair):
    pair.start()
    load = pair.clients()
    pair.one.kill()
    pair.two.enters("MASTER")
    load.more()
    # it comes back, learns what was counted, and leaves the address where it is
    pair.one.start()
    pair.one.is_healthy()
    pair.one.enters("BACKUP")
    pair.one.knows_peer()
    load.more()
    assert pair.two.has_address()
    check_counts(pair, load)


def test_the_process_dies_and_keepalived_lives(pair):
    pair.start()
    load = pair.clients()
    master = pair.one.tacit.proc
    for child in [master.pid, *facts.children(master.pid)]:
        os.kill(child, signal.SIGKILL)
    pair.two.enters("MASTER")
    load.more()
    assert not pair.one.has_address()
    done = load.stop()
    assert 0 < pair.two.count() <= done + len(load.failed)


def test_a_stop_in_order_fails_nothing(pair):
    pair.start(SELDOM)
    load = pair.clients()
    pair.one.vrrp("hold")
    pair.one.tacit.send(signal.SIGUSR1)
    assert pair.one.tacit.wait() == 0
    pair.one.vrrp("leave")
    pair.two.enters("MASTER")
    load.more()
    # the same back again
    pair.one.start_tacit()
    pair.one.vrrp("join")
    pair.one.knows_peer()
    pair.one.enters("BACKUP")
    pair.two.vrrp("hold")
    pair.two.tacit.send(signal.SIGUSR1)
    assert pair.two.tacit.wait() == 0
    pair.two.vrrp("leave")
    pair.one.enters("MASTER")
    load.more()
    pair.two.start_tacit()
    pair.two.vrrp("join")
    check_counts(pair, load, failed=False)


def test_leave_gives_the_address_away(pair):
    """While tacit runs, and passes its checks."""
    pair.start(SELDOM)
    pair.one.vrrp("leave")
    pair.two.enters("MASTER")
    assert not pair.one.has_address()
    assert facts.children(pair.one.tacit.pid)


def test_reloads_fail_nothing(pair):
    pair.start(SELDOM)
    load = pair.clients()
    for node in (pair.one, pair.two, pair.one):
        old = facts.only_child(node.tacit.pid)
        subprocess.run([TACIT, "--reload", node.dir / "master"], capture_output=True, timeout=WAIT, check=True)
        facts.gone(old)
        load.more()
    assert pair.one.has_address() and not pair.two.has_address()
    check_counts(pair, load, failed=False)


def test_the_network_is_cut(pair):
    """The node that was cut off does not take the address back."""
    pair.start()
    load = pair.clients()
    pair.one.link("down")
    pair.two.enters("MASTER")
    load.more()
    pair.one.link("up")
    pair.one.enters("BACKUP")
    load.more()
    assert pair.two.has_address()
    for node in pair.nodes:
        node.knows_peer()
    check_counts(pair, load)


def test_two_masters(pair):
    """The nodes do not see each other's advertisements, but all else: both have the address."""
    pair.start()
    load = pair.clients()
    for node in pair.nodes:
        node.run("nft", "add table inet t; add chain inet t in { type filter hook input priority 0; }; "
                        "add rule inet t in ip protocol 112 drop")
    pair.two.enters("MASTER")
    assert pair.one.has_address()
    load.more()
    pair.two.note()
    for node in pair.nodes:
        node.run("nft", "delete table inet t")
    # the one with the higher priority stays
    pair.two.enters("BACKUP")
    load.more()
    check_counts(pair, load)
