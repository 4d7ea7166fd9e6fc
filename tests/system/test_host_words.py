"""Keywords about the host: priorities, network namespaces, ports of clients, families of addresses."""

import contextlib
import os
import random
import socket
import subprocess

import pytest
from conftest import TACIT, connect, free_port, recv_all, run
from subject import BUILD, only_root, only_tacit
from test_master import MASTER

pytestmark = only_tacit
PAGE = " mode http\n http-request return status 200 content-type text/plain string here\n"


def ask(c):
    c.sendall(b"GET / HTTP/1.0\r\n\r\n")
    return recv_all(c)


def nices(pid):
    """The nice values of its threads."""
    out = set()
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/stat", encoding="utf-8") as f:
            out.add(int(f.read().rpartition(")")[2].split()[16]))
    return out


@only_root
@pytest.mark.parametrize("lines, nice", [
    ("tune.renice.startup 7", 0), ("tune.renice.runtime 5", 5), ("tune.renice.startup 7\ntune.renice.runtime -3", -3),
    ("tune.renice.startup 7\ntune.renice.runtime 9\nnbthread 3", 9)])
def test_priorities(daemon, lines, nice):
    own = os.getpriority(os.PRIO_PROCESS, 0)
    d = daemon(f"frontend f\n bind 127.0.0.1:{free_port()}\n" + PAGE, extra=f"user root\n{lines}")
    assert nices(d.pid) == {nice or own}
    assert d.stderr == ""


@pytest.mark.skipif(BUILD.name == "tsan", reason="TSan has a thread of its own")
@only_root
def test_the_master_keeps_its_priority(daemon, tmp_path):
    own = os.getpriority(os.PRIO_PROCESS, 0)
    d = daemon(f"frontend f\n bind 127.0.0.1:{free_port()}\n" + PAGE, mode=MASTER, extra="tune.renice.startup 6\ntune.renice.runtime 4")
    with open(f"/proc/{d.pid}/task/{d.pid}/children", encoding="utf-8") as f:
        worker = int(f.read().split()[0])
    assert nices(worker) == {4}
    assert nices(d.pid) == {own}


@only_root
def test_a_priority_that_is_not_permitted_is_a_warning(tmp_path):
    cfg = tmp_path / "a.cfg"
    cfg.write_text(f"global\n tune.renice.startup -20\nfrontend f\n bind 127.0.0.1:{free_port()}\n timeout client 5s\n")
    done = run("--bounding-set=-sys_nice", TACIT, "-c", "-f", cfg, program="setpriv")
    printed = done.stdout + done.stderr
    assert done.returncode == 0
    assert "a.cfg:2:22] : 'tune.renice.startup' : the priority stays as it is: Permission denied" in printed, printed
    assert "needs CAP_SYS_NICE" in printed


@only_root
@pytest.mark.parametrize("word, denied", [("on", True), ("off", False)])
def test_clients_with_privileged_ports(daemon, word, denied):
    port = free_port()
    d = daemon(f"frontend f\n bind 127.0.0.1:{port}\n" + PAGE, extra=f"harden.reject-privileged-ports.tcp {word}")
    for low in random.sample(range(600, 1024), 424):
        with socket.socket() as c, contextlib.suppress(ConnectionResetError):
            c.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                c.bind(("127.0.0.1", low))
                c.connect(("127.0.0.1", port))
            except OSError:
                continue
            assert bool(ask(c)) != denied
        break
    with connect(port) as c:
        assert ask(c).endswith(b"here")
    assert row(d)["dcon"] == str(int(denied))


def row(d):
    head, line = d.admin("show stat f 1 -1").strip().split("\n")
    return dict(zip(head[2:].split(","), line.split(","), strict=True))


def inside(name):
    """Returns the beginning of a command that runs in this network namespace. `ip -n` mounts /sys there, too, which fails in a root that is no mount."""
    return ["nsenter", f"--net=/run/netns/{name}"]


@pytest.fixture
def namespace():
    """The name of a network namespace that has a loopback interface."""
    name = f"tacit-{os.getpid()}-{random.randrange(10**6)}"
    if subprocess.run(["ip", "netns", "add", name], check=False, capture_output=True).returncode:
        pytest.skip("no network namespaces here")
    try:
        subprocess.run([*inside(name), "ip", "link", "set", "lo", "up"], check=True)
        yield name
    finally:
        subprocess.run(["ip", "netns", "del", name], check=True)


def answer_in(name, port):
    script = f"exec 3<>/dev/tcp/127.0.0.1/{port}; printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3"
    return subprocess.run([*inside(name), "bash", "-c", script], check=False, capture_output=True, text=True).stdout


@only_root
def test_a_bind_line_of_another_namespace(daemon, namespace):
    port = free_port()
    d = daemon(f"frontend f\n bind 127.0.0.1:{port} namespace {namespace}\n{PAGE}"
               f"frontend g\n bind 127.0.0.1:{port}\n mode http\n http-request return status 204\n", extra="user root\nnbthread 2")
    assert answer_in(namespace, port).endswith("here")
    with connect(port) as c:
        assert b" 204 " in ask(c)
    assert d.stderr == ""


@only_root
def test_a_namespace_that_does_not_exist(daemon, tmp_path):
    cfg = tmp_path / "a.cfg"
    port = free_port()
    cfg.write_text(f"frontend f\n bind 127.0.0.1:{port} namespace tacit-none\n timeout client 5s\n{PAGE}")
    done = run("-f", cfg)
    assert done.returncode == 1
    assert (f"cannot enter the network namespace 'tacit-none' for 127.0.0.1:{port}: No such file or directory "
            "('ip netns list' shows those that exist)") in done.stderr, done.stderr


@pytest.mark.parametrize("family, host", [("ipv4", "127.0.0.1"), ("ipv6", "::1")])
def test_servers_begin_with_an_accepted_family(daemon, tmp_path, family, host):
    """Localhost has the addresses that /etc/hosts says."""
    text = f"listen l\n bind 127.0.0.1:{free_port()}\n mode http\n server s localhost:81\n"
    if host in {a[4][0] for a in socket.getaddrinfo("localhost", None, type=socket.SOCK_STREAM)}:
        d = daemon(text, extra=f"dns-accept-family {family}")
        assert f" {host} " in d.admin("show servers state l")
        return
    cfg = tmp_path / "a.cfg"
    cfg.write_text(f"global\n dns-accept-family {family}\n{text}")
    done = run("-c", "-f", cfg)
    assert done.returncode == 1
    assert "a.cfg:6:11] : 'server l/s' : could not resolve address 'localhost'." in done.stdout + done.stderr
