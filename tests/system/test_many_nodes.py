"""Nodes behind DNS or ECMP: any of them gets the next request of a client, and sends it to the same server."""

import itertools
import re

import pytest
from conftest import Origin, connect, free_network, free_port, recv_all

# Enough that each server gets some, wherever its points are: addresses and ports are others in each run.
KEYS = range(500)
SERVERS = "abcde"
NODE = """\
frontend web
    mode http
    bind 127.0.0.1:{port}
    default_backend app
backend app
    mode http
    balance uri
    hash-type {kind}
    http-response set-header chosen %[srv_name]
{servers}
"""


@pytest.fixture
def nodes(daemon):
    """Factory: nodes(kind, order, ...) -> for each order of the servers what one node chooses for each key."""
    net, port = free_network(), free_port()
    origins = {name: Origin(lambda conn: conn.recv(4096) and conn.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"),
                            (f"{net}.{n}", port)) for n, name in enumerate(SERVERS, 1)}

    def line(name, options):
        host = f"{net}.{SERVERS.index(name) + 1}"
        return f"    server {name} {host}:{port} {options.format(id=SERVERS.index(name) + 10)}"

    def choices(kind, options, order):
        front = free_port()
        daemon(NODE.format(port=front, kind=kind, servers="\n".join(line(name, options) for name in order)))
        with connect(front) as c:
            return {key: chosen(c, key) for key in KEYS}

    yield lambda kind, options, *orders: [choices(kind, options, order) for order in orders]
    for origin in origins.values():
        origin.close()


def chosen(conn, key):
    conn.sendall(b"GET /%d HTTP/1.1\r\nHost: a\r\n\r\n" % key)
    got = b""
    while not got.endswith(b"\r\n\r\n"):
        part = conn.recv(4096)
        assert part, got
        got += part
    return re.search(rb"\r\nchosen: (\w)\r\n", got).group(1).decode()


# The place of a server counts unless it has a number, or the hash is that of its address.
@pytest.mark.parametrize("options", ["id {id}", "hash-key addr-port", "hash-key addr"])
def test_all_nodes_choose_the_same_server(nodes, options):
    orders = "abcde", "edcba", "cdeab"
    one, two, three = nodes("consistent", options, *orders)
    assert one == two == three
    assert set(one.values()) == set(SERVERS)


def test_the_order_counts_without_a_number(nodes):
    """Nodes whose files have been generated in another order send clients elsewhere."""
    one, two = nodes("consistent", "", "abcde", "edcba")
    assert one != two


@pytest.mark.parametrize("options", ["id {id}", "hash-key addr-port"])
def test_a_server_that_one_node_lacks_moves_its_own_keys_only(nodes, options):
    """The configuration changes on one node after the other: until then they differ in the keys of that server alone."""
    old, new = nodes("consistent", options, "abcde", "abce")
    assert {key for key in KEYS if old[key] != new[key]} == {key for key in KEYS if old[key] == "d"}
    assert len({new[key] for key in KEYS if old[key] == "d"}) > 1


def test_cookies_name_the_server_on_all_nodes(daemon):
    """An inserted cookie is the word of the server line, whatever the order is."""
    net, port = free_network(), free_port()
    origins = [Origin(lambda conn, n=n: conn.recv(4096) and conn.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n%d" % n),
                      (f"{net}.{n}", port)) for n in (1, 2, 3)]
    fronts = []
    for order in itertools.permutations((1, 2, 3)):
        fronts.append(free_port())
        servers = "\n".join(f"    server s{n} {net}.{n}:{port} cookie c{n}" for n in order)
        daemon(f"listen l\n    mode http\n    bind 127.0.0.1:{fronts[-1]}\n    cookie C insert indirect nocache\n{servers}\n")
    for n in (1, 2, 3):
        for front in fronts:
            with connect(front) as c:
                c.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nCookie: C=c%d\r\nConnection: close\r\n\r\n" % n)
                assert recv_all(c).endswith(b"\r\n\r\n%d" % n)
    for origin in origins:
        origin.close()
