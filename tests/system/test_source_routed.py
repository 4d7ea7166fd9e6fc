"""`source ... usesrc` between three hosts: the server is told the address of a client in another network, and routes its
answers to it through the proxy."""

import socket

import pytest
from conftest import WAIT, Origin, recv_all
from namespaces import Namespaces, need_namespaces
from subject import SUBJECT, only_root, proxy  # noqa: F401

pytestmark = only_root
CLIENT, NEAR, INNER, SERVER = "10.1.0.7", "10.1.0.1", "10.2.0.1", "10.2.0.2"
PORT = 4000


class Net(Namespaces):
    """client - proxy - server. What comes from the server is for the proxy, whatever its destination is."""

    def __init__(self):
        super().__init__()
        self.client, self.proxy, self.server = [self.hold() for _ in range(3)]
        self.run(self.proxy, f"""ip link set lo up
            ip link add c type veth peer name p netns {self.client} && ip addr add {NEAR}/24 dev c && ip link set c up
            ip link add s type veth peer name p netns {self.server} && ip addr add {INNER}/24 dev s && ip link set s up
            ip rule add iif s lookup 100 && ip route add local default dev lo table 100""")
        self.run(self.client, f"ip addr add {CLIENT}/24 dev p && ip link set p up")
        self.run(self.server, f"ip addr add {SERVER}/24 dev p && ip link set p up && ip route add default via {INNER}")


@pytest.fixture
def net():
    need_namespaces()
    n = Net()
    yield n
    n.close()


def name_peer(conn):
    conn.recv(100)
    conn.sendall(("%s %d" % conn.getpeername()).encode())


def ask(source_port=0):
    """The server's answer, and the client's port."""
    with socket.socket() as s:
        s.settimeout(WAIT)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("", source_port))
        s.connect((NEAR, PORT))
        s.sendall(b"who?")
        host, port = recv_all(s).decode().split()
        return host, int(port) == s.getsockname()[1]


@pytest.mark.parametrize("source,host,same_port", [
    ("0.0.0.0 usesrc client", CLIENT, True),
    ("0.0.0.0 usesrc clientip", CLIENT, False),
    (f"{INNER} usesrc clientip", CLIENT, False),
    (f"0.0.0.0 usesrc {CLIENT}", CLIENT, False),
    (INNER, INNER, False),
])
def test_servers_in_another_network_see_the_client(net, daemon, source, host, same_port):
    origin = net.at(net.server, lambda: Origin(name_peer, address=(SERVER, 0)))
    try:
        daemon(f"listen l\n bind {NEAR}:{PORT}\n source {source}\n server s {SERVER}:{origin.port}\n",
               program="nsenter", mode=(f"--net=/proc/{net.proxy}/ns/net", SUBJECT, "-db"))
        got = [net.at(net.client, ask) for _ in range(3)]
        assert [g[0] for g in got] == [host] * 3
        if same_port:
            assert all(g[1] for g in got)
        assert not origin.errors
    finally:
        origin.close()
