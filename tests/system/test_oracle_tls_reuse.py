"""Connections to servers with sni that http-reuse shares, through HAProxy and tacit: which request goes over which."""

import contextlib
import itertools
import socket
import ssl
import threading

import pytest
from certs import Authority
from conftest import WAIT
from tls_oracle import in_both


class Server:
    """Answers with the number of the connection and the name that was asked for; /close ends the connection, /ntlm makes
    it one of its client."""

    def __init__(self, pem):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(pem)
        self.context.sni_callback = lambda s, name, _: setattr(s, "asked", name)
        self.sock = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.sock.getsockname()[1]
        self.count = itertools.count(1)
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=(self.sock.accept()[0],), daemon=True).start()

    def _serve(self, raw):
        raw.settimeout(WAIT)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with contextlib.suppress(OSError), self.context.wrap_socket(raw, server_side=True) as s:
            number, buf, path = next(self.count), b"", ""
            while path != "/close":
                while b"\r\n\r\n" not in buf:
                    got = s.recv(4096)
                    if not got:
                        return
                    buf += got
                head, _, buf = buf.partition(b"\r\n\r\n")
                path = head.split()[1].decode()
                reported = f"{number} {getattr(s, 'asked', None)}".encode()
                status, more = "200 OK", ""
                if path == "/ntlm":
                    status, more = "401 No", "WWW-Authenticate: NTLM\r\n"
                if path == "/close":
                    more = "Connection: close\r\n"
                s.sendall(f"HTTP/1.1 {status}\r\n{more}Content-Length: {len(reported)}\r\n\r\n".encode() + reported)

    def close(self):
        self.sock.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.sock.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    s = Server(Authority(tmp_path_factory.mktemp("certs")).make("s.pem", "s.test", ["a.test", "b.test"]))
    yield s
    s.close()


class Client:
    def __init__(self, port):
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=60)

    def ask(self, name, path="/"):
        self.sock.sendall(f"GET {path} HTTP/1.1\r\n".encode() + (f"Host: h\r\nX-Name: {name}\r\n\r\n" if name
                                                                 else "Host: h\r\n\r\n").encode())
        text = b""
        while b"\r\n\r\n" not in text or not text.partition(b"\r\n\r\n")[2]:
            got = self.sock.recv(4096)
            assert got, text
            text += got
        number, asked = text.partition(b"\r\n\r\n")[2].decode().split()
        return int(number), asked


# Requests of clients 0 to 3, each for a name or without one; "-": the client leaves.
SEQUENCES = {
    "one name": ["0a", "0a", "1a", "1a", "0a", "2a"],
    "two names": ["0a", "0b", "0a", "0b", "1a", "1b", "1a", "2b", "2a"],
    "turns": ["0a", "1b", "0b", "1a", "0a", "1b", "2a", "2b"],
    "none": ["0", "0a", "0", "1", "1a", "1", "2a", "2"],
    "case": ["0a.test", "0A.test", "0a.test", "1A.TEST", "1A.test", "1a.test"],
    "they leave": ["0a", "0-", "1b", "1a", "1-", "2a", "2b", "2a", "2-", "3b", "3a"],
    "closed": ["0a", "0a/close", "0a", "1a", "1b/close", "1b", "0b"],
    "private": ["0a", "0a/ntlm", "1a", "1a", "0b", "0a", "1b", "0a"],
    "many": [f"{c}{n}" for c in range(3) for n in "abcdefgh"] + [f"{c}{n}" for c in range(2) for n in "hgfedcba"],
}


def play(port, sequence, barrier):
    """[(over a new connection, name)] of each request. Which of several that are idle is taken may differ. Between two steps
    the program puts aside the connection that was used, or closes it."""
    clients, seen, reported = {}, set(), []
    for step in sequence:
        who, what = int(step[0]), step[1:]
        if what == "-":
            clients.pop(who).sock.close()
            barrier()
            continue
        if who not in clients:
            clients[who] = Client(port)
        name, slash, path = what.partition("/")
        number, asked = clients[who].ask(name, slash + path or "/")
        reported.append((number not in seen, asked))
        seen.add(number)
        barrier()
    for c in clients.values():
        c.sock.close()
    return reported


MODES = ("never", "safe", "aggressive", "always")
BOUNDS = ("pool-max-conn 0", "pool-max-conn 1", "pool-max-conn 2", "pool-purge-delay 0")


def goes_back(sequence):
    """A client asks for a name again after another one: with never HAProxy has kept it several connections, tacit one."""
    names = {}
    for step in sequence:
        names.setdefault(step[0], []).append(step[1:].partition("/")[0])
    return any(n != list(dict.fromkeys(n)) for n in ([k for k, _ in itertools.groupby(n)] for n in names.values()))


# HAProxy closes idle connections that it takes for too many, unless pool-low-conn says that they are not, and some of those that
# are idle for 5 seconds, which is not long on a busy machine.
LINE = ("listen l{i}\n bind 127.0.0.1:{{p[{i}]}}\n timeout client 1m\n timeout server 1m\n http-reuse {mode}\n http-request set-var(txn.n) req.hdr(x-name)\n"
        " server s 127.0.0.1:{port} ssl verify none pool-low-conn 100 pool-purge-delay 1m {options}\n")


def compare(server, tmp_path, cases):
    """Cases are (mode, options of the server, sequence)."""
    text = "".join(LINE.format(i=i, mode=mode, port=server.port, options=options) for i, (mode, options, _) in enumerate(cases))
    ours, theirs = in_both(tmp_path, text, lambda p: [play(port, case[2], p.barrier) for port, case in zip(p, cases)], len(cases))
    assert [(c, a, b) for c, a, b in zip(cases, ours, theirs, strict=True) if a != b] == []
    return ours


@pytest.mark.parametrize("sni", ["req.hdr(x-name)", "var(txn.n)"])
def test_which_requests_share(server, tmp_path, sni):
    """A new connection or one that is there, for each request of all sequences in all modes."""
    compare(server, tmp_path, [(mode, f"sni {sni}", s) for mode in MODES for s in SEQUENCES.values()
                               if mode != "never" or not goes_back(s)])


def test_bounds(server, tmp_path):
    """Limits of the pool count connections, whatever their names are."""
    compare(server, tmp_path, [("always", f"sni req.hdr(x-name) {bound}", SEQUENCES[s])
                               for bound in BOUNDS for s in ("two names", "turns", "many")])
