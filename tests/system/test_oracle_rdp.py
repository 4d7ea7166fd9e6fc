"""RDP clients reach the same servers through HAProxy and tacit: `balance rdp-cookie` and `persist rdp-cookie`."""

import socket
import struct

import oracle
from conftest import WAIT, Origin, free_ports
from oracle import Subject

LINES = {
    "persist": " persist rdp-cookie\n",
    "named": " persist rdp-cookie(Token)\n balance first\n",
    "ignored": " persist rdp-cookie\n ignore-persist if { src 127.0.0.1 }\n",
    "use": " persist rdp-cookie\n use-server s2 if { src 127.0.0.1 }\n",
    "hash": " balance rdp-cookie\n",
    "user": " balance rdp-cookie(user)\n hash-type consistent crc32\n",
    "both": " persist rdp-cookie\n balance rdp-cookie\n hash-type map-based djb2\n",
}
USERS = ("mstshash=a", "MSTSHASH=a", "mstshash=" + "x" * 200, "mstshash=", "user=bob", "USER=carol", "user=dave")


def server_of(name, port):
    """Sends its name to each client."""
    def answer(conn):
        # With what the client said unread the close would be a reset, which may overtake the name.
        conn.recv(4096)
        conn.sendall(name)
    return Origin(answer, ("127.0.0.1", port))


def ask(port, cookie):
    body = b"Cookie: " + cookie.encode() + b"\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT) as s:
        s.sendall(struct.pack(">BBHBBHHB", 3, 0, 11 + len(body), 6 + len(body), 0xe0, 0, 0, 0) + body)
        return s.recv(10)


def tokens(server):
    ip, port = struct.unpack("<I", socket.inet_aton("127.0.0.1"))[0], socket.htons(server.port)
    for name in ("msts", "MsTs", "token", "other"):
        for form in ("%d.%d.0000", "%d.%d.", "%d.%d", "0%d.0%d.x", "x%d.%d.0000"):
            yield name + "=" + form % (ip, port)
    yield "msts=%d" % ip


def script(program, directory, servers):
    ports = dict(zip(LINES, free_ports(len(LINES))))
    cfg = "defaults\n mode tcp\n timeout connect 1m\n timeout client 1m\n timeout server 1m\n"
    for name, lines in LINES.items():
        cfg += f"listen {name}\n bind 127.0.0.1:{ports[name]}\n tcp-request inspect-delay 1m\n"
        cfg += " tcp-request content accept if RDP_COOKIE\n" + lines
        cfg += "".join(f" server s{i} 127.0.0.1:{s.port}\n" for i, s in enumerate(servers))
    directory.mkdir()
    subject = Subject(program, directory, cfg)
    try:
        # Without a key HAProxy walks along the ring of consistent hashing.
        return [(name, c, ask(ports[name], c)) for name in LINES for c in [*tokens(servers[1]), *USERS] for _ in range(2)
                if name != "user" or c.lower().startswith("user=")]
    finally:
        subject.stop()


def test_the_same_servers(tmp_path):
    # A hash depends on the port in the cookie.
    with oracle.fixed_ports(3) as ports:
        servers = [server_of(b"s%d" % i, port) for i, port in enumerate(ports)]
        try:
            want, got = oracle.both(lambda program: script(program, oracle.at(tmp_path, program), servers))
        finally:
            for s in servers:
                s.close()
    assert {name for name, _, answer in want if answer} == set(LINES)
    assert oracle.differences(want, got) == []
