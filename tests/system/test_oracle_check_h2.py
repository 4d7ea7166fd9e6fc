"""Health checks over HTTP/2: HAProxy and tacit check the same servers, good and broken ones. What show stat says of each is
compared, and the requests that the servers were sent."""

import contextlib
import socket
import ssl
import struct
import threading

import h2_raw as raw
import oracle
import pytest
from certs import Authority
from conftest import TACIT, WAIT
from test_oracle_check_tls import CHECK, see, wait_end

EMPTY = ("content-length", "0")


def goaway(last, code=raw.NO_ERROR):
    return raw.frame(raw.GOAWAY, 0, 0, struct.pack("!II", last, code))


def reset_with(code):
    return lambda s, n: s.send(raw.rst(n, code))


def interim(s, n):
    s.send(raw.frame(raw.HEADERS, raw.END_HEADERS, n, raw.block((":status", "103"), ("link", "</x>"))))
    s.respond(n, body=b"hello")


def trailers(s, n):
    s.respond(n, body=b"hello", end=False)
    s.send(raw.frame(raw.HEADERS, raw.END_HEADERS | raw.END_STREAM, n, raw.block(("x", "y"))))


def in_pieces(s, n):
    s.respond(n, end=False)
    s.send(*(raw.frame(raw.DATA, 0, n, b"%c" % c) for c in b"hello"), raw.frame(raw.DATA, raw.END_STREAM, n))


def half(s, n):
    s.respond(n, ("content-length", "9"), body=b"hel", end=False)


# A server's answer to a request on stream n. The client closes the connection.
KINDS = {
    "ok": lambda s, n: s.respond(n, ("content-length", "5"), body=b"hello"),
    "no-length": lambda s, n: s.respond(n, body=b"hello"),
    "no-body": lambda s, n: s.respond(n, EMPTY),
    "nothing": lambda s, n: s.respond(n),
    "sick": lambda s, n: s.respond(n, EMPTY, status="503"),
    "gone": lambda s, n: s.respond(n, EMPTY, status="404"),
    "204": lambda s, n: s.respond(n, status="204"),
    "interim": interim,
    "trailers": trailers,
    "pieces": in_pieces,
    "big": lambda s, n: s.respond(n, body=b"hello" + 12000 * b"x"),
    "half": half,
    "mute": lambda s, n: None,
    "refused": reset_with(raw.REFUSED_STREAM),
    "cancel": reset_with(raw.CANCEL),
    "protocol": reset_with(raw.PROTOCOL_ERROR),
    "no-error": reset_with(raw.NO_ERROR),
    "http11": reset_with(raw.HTTP_1_1_REQUIRED),
    "goaway-after": lambda s, n: s.send(goaway(n)) or s.respond(n, ("content-length", "5"), body=b"hello"),
    "bad-block": lambda s, n: s.send(raw.frame(raw.HEADERS, raw.END_HEADERS | raw.END_STREAM, n, b"\xff\xff\xff\xff\xff")),
    "bad-status": lambda s, n: s.respond(n, status="ok"),
    "bad-frame": lambda s, n: s.send(raw.frame(raw.PING, 0, 0, b"abc")),
    "leaves": lambda s, n: s.sock.shutdown(socket.SHUT_RDWR),
}


def without_differences(fields):
    """HAProxy gives each check the scheme https, and the name of the host in a field Host."""
    names = {":authority": "host"}
    fields = [(names.get(n, n), v) for n, v in fields if n != ":scheme"]
    return tuple(sorted((n, v.split(";")[0]) for n, v in fields))


class Peer:
    """A checked server of HTTP/2, or what its kind says; what it was asked is in `requests`."""

    def __init__(self, kind, context=None):
        self.kind, self.context, self.requests = kind, context, set()
        self.sock = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.sock.getsockname()[1]
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        with contextlib.suppress(OSError):
            while True:
                s, _ = self.sock.accept()
                threading.Thread(target=self._serve, args=(s,), daemon=True).start()

    def _serve(self, s):
        # Longer than any check.
        s.settimeout(6 * WAIT)
        with contextlib.suppress(OSError, AssertionError), s:
            if self.context:
                s = self.context.wrap_socket(s, server_side=True)
            with s:
                self._answer(s)

    def _answer(self, s):
        if self.context and s.selected_alpn_protocol() != "h2":
            self.requests.add(s.recv(4096).split(b"\r\n")[0])
            s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        elif self.kind == "http1":
            s.recv(4096)
            s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        elif self.kind == "at-once":
            s.recv(4096)
        elif self.kind != "silent":
            with raw.Server(s) as h:
                n, fields = h.request() or (0, ())
                while n:
                    self.requests.add(without_differences(fields))
                    (self.kind if callable(self.kind) else KINDS[self.kind])(h, n)
                    n, fields = h.request() or (0, ())
        wait_end(s)

    def close(self):
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)
        self.sock.close()


@pytest.fixture
def peer():
    with contextlib.ExitStack() as stack:
        def make(*args, **kw):
            p = Peer(*args, **kw)
            stack.callback(p.close)
            return p
        yield make


def both_see(tmp_path, cfg, peers):
    def play(program):
        for p in peers.values():
            p.requests.clear()
        rows = see(program, oracle.at(tmp_path, program), cfg)
        return rows, {name: p.requests for name, p in peers.items() if p.requests}
    theirs, ours = oracle.both(play)
    assert [oracle.differences(a, b) for a, b in zip(theirs, ours)] == [[], []]
    return theirs


RULES = {
    "httpchk": "option httpchk GET /",
    "status": "option httpchk GET /\n http-check expect status 200",
    "body": "option httpchk GET /\n http-check expect string hello",
    "404": "option httpchk GET /\n http-check disable-on-404",
}


# Checks of the first last as long as they may, with a rule about the body also those of a response without an end.
LATE = {"mute", "at-once", "silent"}
ALL_KINDS = [*KINDS, "http1", "at-once", "silent"]


def is_late(rules, kind):
    return kind in LATE or (rules == "body" and kind == "half")


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_h2_results(tmp_path, peer, rules):
    peers = {kind: peer(kind) for kind in ALL_KINDS if not is_late(rules, kind)}
    cfg = f"backend b\n mode http\n {RULES[rules]}\n"
    cfg += "".join(f" server {kind} 127.0.0.1:{p.port} {CHECK} proto h2\n" for kind, p in peers.items())
    both_see(tmp_path, cfg, peers)


def test_h2_requests(tmp_path, peer):
    """The request as the server gets it: old and new forms, with a body, with fields that HTTP/2 has not."""
    send = "option httpchk\n http-check send"
    rows = [
        "option httpchk", "option httpchk OPTIONS *", "option httpchk GET /x?y HTTP/1.1\\r\\nHost:\\ a.test",
        f"{send} meth GET uri /a ver HTTP/1.1 hdr Host a.test hdr X-Y Z",
        f"{send} meth POST uri /a ver HTTP/1.1 hdr Host a.test body abc",
        f"{send} meth POST uri /a",
        f"{send} meth GET uri /a ver HTTP/2 hdr Host a.test hdr Connection close hdr TE trailers",
        f"{send} meth HEAD uri /a ver HTTP/2.0 hdr Host a.test",
        f"{send} meth GET uri /b hdr User-Agent u\n http-check send-state",
        "option httpchk\n http-check connect proto h2\n http-check send meth GET uri /1\n http-check expect status 200\n"
        " http-check connect proto h2\n http-check send meth GET uri /2",
    ]
    cfg, peers = "", {}
    for i, row in enumerate(rows):
        p = peers[i] = peer("nothing")
        cfg += f"backend b{i}\n mode http\n {row}\n server s 127.0.0.1:{p.port} {CHECK} proto h2\n"
    both_see(tmp_path, cfg, peers)


CONNECT = {w: f" http-check connect {w}\n http-check send\n" for w in (
    "default", "ssl", "proto h2", "ssl alpn h2", "ssl alpn h2 proto h2", "ssl proto h2", "ssl alpn h2,http/1.1",
    "ssl alpn http/1.1")} | {"": ""}
# The rule connect, options of the server, and whether it has TLS.
CHOICES = [
    ("", "check-proto h2", False), ("", "proto h2 check-proto h2", False), ("proto h2", "", False),
    ("proto h2", "check-proto h1", False), ("default", "check-proto h2", False),
    ("default", "proto h2", False), ("ssl alpn h2", "", True), ("ssl proto h2", "", True), ("ssl alpn h2,http/1.1", "", True),
    ("ssl alpn http/1.1", "", True), ("", "ssl check-alpn h2", True), ("", "ssl alpn h2 check-alpn http/1.1", True),
    ("", "check-ssl check-alpn h2", True),
]
# A check of HTTP/1, whose server waits for the preface of HTTP/2.
OTHER = [("", "proto h2 check-proto h1", False)]
# Here HAProxy sends HTTP/1 where the handshake has agreed on HTTP/2, or nothing, and its checks time out.
AGREED = [
    ("ssl alpn h2 proto h2", "", True), ("", "ssl alpn h2", True), ("", "ssl alpn h2,http/1.1", True),
    ("", "ssl alpn h2 proto h2", True), ("default", "ssl alpn h2", True), ("ssl", "alpn h2", True),
]


@pytest.fixture
def chosen(tmp_path, peer):
    """The configuration and the peers of rows like these."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(Authority(tmp_path).make("good.pem", "good.test"))
    context.set_alpn_protocols(["h2", "http/1.1"])

    def make(rows):
        cfg, peers = "", {}
        for i, (rule, options, is_tls) in enumerate(rows):
            p = peers[i] = peer("ok", context if is_tls else None)
            cfg += (f"backend b{i}\n mode http\n option httpchk GET /\n{CONNECT[rule]}"
                    f" server s 127.0.0.1:{p.port} {CHECK} verify none {options}\n")
        return cfg, peers
    return make


def test_h2_choice(tmp_path, chosen):
    """A check speaks HTTP/2 by a rule, check-proto, proto, and what a handshake agrees on."""
    both_see(tmp_path, *chosen(CHOICES))


def test_h2_late(tmp_path, peer, chosen):
    """Checks that last as long as they may, a minute, all at the same time: a busy machine does the rest of each within it."""
    cfg, peers = chosen(OTHER)
    for name, rules in RULES.items():
        late = {f"{name}-{kind}": peer(kind) for kind in ALL_KINDS if is_late(name, kind)}
        cfg += f"backend {name}\n mode http\n {rules}\n"
        cfg += "".join(f" server {kind} 127.0.0.1:{p.port} {CHECK} proto h2\n" for kind, p in late.items())
        peers.update(late)
    rows, _ = both_see(tmp_path, cfg, peers)
    assert {row[1] for row in rows.values()} == {"L7TOUT"}


def test_choice_by_handshake(tmp_path, chosen):
    cfg, peers = chosen(AGREED)
    rows = see(TACIT, tmp_path / "tacit", cfg)
    assert {row[:3] for row in rows.values()} == {("UP", "L7OK", "200")}
    assert all(p.requests == {((":method", "GET"), (":path", "/"))} for p in peers.values())


def goaway_before(s, n):
    s.send(goaway(0))


def too_short(s, n):
    s.respond(n, ("content-length", "9"), body=b"hello")


@pytest.mark.parametrize("answer", [goaway_before, too_short], ids=lambda f: f.__name__)
def test_results_of_tacit(tmp_path, peer, answer):
    """HAProxy waits for its timeout where the server has said that it does not respond, and takes a response that is cut."""
    p = peer(answer)
    cfg = f"backend b\n mode http\n option httpchk\n timeout check 1h\n server s 127.0.0.1:{p.port} check inter 1h fall 1 proto h2\n"
    rows = see(TACIT, tmp_path / "tacit", cfg)
    assert rows["b", "s"] == ("DOWN", "SOCKERR", "", "Socket error", "")
