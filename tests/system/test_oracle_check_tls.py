"""Health checks over TLS: HAProxy and tacit check the same servers, good and broken ones, by the rules `connect ssl`,
`connect default` and those that are implied. What show stat says of each is compared, and what the servers were asked
for: names, protocols, and whether sessions were resumed."""

import contextlib
import re
import socket
import ssl
import struct
import threading
import time

import oracle
import pytest
from certs import Authority
from conftest import TACIT, WAIT, free_port, wait_for
from oracle import Subject

COLUMNS = ("status", "check_status", "check_code", "check_desc", "last_chk")
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
SICK = b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"
PART = b"\x16\x03\x03\x00\x7a\x02\x00\x00\x76\x03\x03"   # of a server's first record


def reset(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def wait_end(s):
    while s.recv(4096):
        pass


def answer(s, what=ANSWER):
    s.recv(4096)
    s.sendall(what)


def send_text(s):
    s.sendall(b"220 hello there, this is text\r\n")
    s.recv(4096)


def send_part(s, stays):
    answer(s, PART)
    if stays:
        wait_end(s)


def leave(s, by_reset):
    s.recv(4096)
    if by_reset:
        reset(s)


def end_tls(s):
    s.recv(4096)
    s.unwrap()


# A server's action on a connection, before any TLS and within it.
BARE = {
    "mute": wait_end,
    "text": send_text,
    "http": answer,
    "leaves": lambda s: None,
    "leaves later": lambda s: leave(s, False),
    "resets": lambda s: leave(s, True),
    "resets at once": reset,
    "part": lambda s: send_part(s, True),
    "part, then leaves": lambda s: send_part(s, False),
}
TLS = {
    "ok": answer,
    "sick": lambda s: answer(s, SICK),
    "stalls": wait_end,
    "ends": end_tls,
    "cut": lambda s: leave(s, False),
    "resets in TLS": lambda s: leave(s, True),
}


class Peer:
    """A checked server; what its connections asked for is in names, protocols and resumed."""

    def __init__(self, pem, kind="ok", alpn=(), **kw):
        self.kind = kind
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(pem)
        self.context.sni_callback = lambda s, name, _: self.names.add(name)
        if alpn:
            self.context.set_alpn_protocols(list(alpn))
        for k, v in kw.items():
            setattr(self.context, k, v)
        self.forget()
        self.sock = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.sock.getsockname()[1]
        threading.Thread(target=self._run, daemon=True).start()

    def forget(self):
        self.names, self.protocols, self.resumed = set(), set(), []

    def asked(self):
        return self.names, self.protocols

    def _run(self):
        with contextlib.suppress(OSError):
            while True:
                s, _ = self.sock.accept()
                threading.Thread(target=self._serve, args=(s,), daemon=True).start()

    def _serve(self, s):
        s.settimeout(WAIT)
        with contextlib.suppress(OSError), s:
            if self.kind in BARE:
                BARE[self.kind](s)
                return
            with self.context.wrap_socket(s, server_side=True) as t:
                self.protocols.add(t.selected_alpn_protocol())
                self.resumed.append(t.session_reused)
                TLS[self.kind](t)

    def close(self):
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)
        self.sock.close()


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certs"))


@pytest.fixture(scope="module")
def pem(ca):
    return ca.make("good.pem", "good.test", ["good.test"])


@pytest.fixture
def peer(pem):
    with contextlib.ExitStack() as stack:
        def make(*args, certificate=None, **kw):
            p = Peer(certificate or pem, *args, **kw)
            stack.callback(p.close)
            return p
        yield make


# Long enough for a handshake on a busy machine. A check has at most its interval to connect.
DEFAULTS = """
global
 max-spread-checks 500ms
defaults
 timeout connect 1m
 timeout check 1m
 timeout client 1s
 timeout server 1s
"""


# For servers some of which let checks last too long.
LATE_DEFAULTS = """
defaults
 timeout connect 1500ms
 timeout check 1500ms
 timeout client 1s
 timeout server 1s
"""


def see(program, directory, cfg, is_enough, defaults=DEFAULTS):
    """{(backend, server): its columns} once each had a result that is_enough() accepts."""
    directory.mkdir()
    subject = Subject(program, directory, f"{defaults}{cfg}frontend f\n mode tcp\n bind 127.0.0.1:{free_port()}\n")
    rows = {}

    def read():
        seen = {k: r for k, r in subject.stat()[1].items() if k[1] not in ("FRONTEND", "BACKEND")}
        rows.update({k: tuple(r[c] for c in COLUMNS) for k, r in seen.items() if is_enough(r)})
        return len(rows) == len(seen)
    try:
        assert wait_for(read, 3 * WAIT, 0.03), rows
        return rows
    finally:
        subject.stop()


def is_over(row):
    return row["check_status"] not in ("", "INI") and not row["check_status"].startswith("* ")


def both_see(tmp_path, cfg):
    def play(program):
        rows = see(program, oracle.at(tmp_path, program), cfg, is_over)
        # The text of errno, if the reset was there before the handshake began, depends on the moment. HAProxy's may be one of
        # another check, whose server has refused.
        errno = "reset by peer" if program == TACIT else "(?:reset by peer|refused)"
        return {k: (*row[:4], re.sub(rf"failure \(Connection {errno}\)", "failure", row[4])) for k, row in rows.items()}
    return oracle.same(play)


RULES = {
    "none": "mode tcp",
    "plain": "mode tcp\n option tcp-check\n tcp-check connect",
    "default": "mode tcp\n option tcp-check\n tcp-check connect default",
    "ssl": "mode tcp\n option tcp-check\n tcp-check connect ssl",
    "comment": "mode tcp\n option tcp-check\n tcp-check connect ssl comment why\n tcp-check set-var(check.a) int(1)",
    "expect": "mode tcp\n option tcp-check\n tcp-check connect ssl\n tcp-check send GET\n tcp-check expect string hello",
    "tcp-check": "mode tcp\n option tcp-check\n tcp-check send GET\n tcp-check expect string hello",
    "httpchk": "mode http\n option httpchk GET /",
    "http ssl": "mode http\n option httpchk GET /\n http-check connect ssl\n http-check send\n http-check expect status 200",
}
CHECK, LATE_CHECK = "check inter 1m fall 1", "check inter 1500 fall 1"
LIMITS = " timeout connect 1500ms\n timeout check 1500ms\n"
SERVERS = {"ssl": "ssl verify none", "none": "verify none", "check-ssl": "check-ssl verify none",
           "no-check-ssl": "ssl no-check-ssl verify none"}
# Checks of the first last as long as they may. The view of a plain check of the others, or a failing write, depends on the moment.
LATE = {"mute", "part", "stalls"}
ONLY_TLS = {"leaves", "leaves later", "resets", "resets at once", "text", "part", "part, then leaves"}


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_results(tmp_path, peer, rules):
    peers = {kind: peer(kind) for kind in [*BARE, *TLS]}
    peers["TLS 1.2"] = peer(maximum_version=ssl.TLSVersion.TLSv1_2)
    cfg = ""
    for words, options in SERVERS.items():
        is_tls = words in ("ssl", "check-ssl") or "ssl" in rules or rules in ("comment", "expect")
        seen = [kind for kind in peers if kind not in ONLY_TLS or (is_tls and rules != "plain")]
        cfg += f"backend {words}\n {RULES[rules]}\n server closed 127.0.0.1:{free_port()} {CHECK} {options}\n"
        cfg += "".join(f" server {kind.replace(' ', '-').replace(',', '')} 127.0.0.1:{peers[kind].port} {CHECK} {options}\n"
                       for kind in seen if kind not in LATE)
        cfg += f"backend {words}-late\n {RULES[rules]}\n{LIMITS}"
        cfg += "".join(f" server {kind} 127.0.0.1:{peers[kind].port} {LATE_CHECK} {options}\n" for kind in seen if kind in LATE)
    rows = both_see(tmp_path, cfg)
    assert {row[1] for row in rows.values()} & {"L4OK", "L6OK", "L7OK"}


def test_two_connections(tmp_path, peer):
    """The status is that of the last connection, and each rule has its own transport."""
    good, mute = peer(), peer("mute")
    rules = {"a": ("connect", "connect ssl"), "b": ("connect ssl", "connect"), "c": ("connect ssl", "connect ssl linger")}
    cfg = ""
    for name, lines in rules.items():
        head = "mode tcp\n option tcp-check\n" + "".join(f" tcp-check {line}\n" for line in lines)
        cfg += f"backend {name}\n {head} server good 127.0.0.1:{good.port} {CHECK} verify none\n"
        cfg += f"backend {name}-late\n {head}{LIMITS} server mute 127.0.0.1:{mute.port} {LATE_CHECK} verify none\n"
    rows = both_see(tmp_path, cfg)
    assert rows["b", "good"][1] == "L4OK" and rows["a-late", "mute"][4] == " at step 2 of tcp-check (connect)"


def test_names_and_protocols(tmp_path, peer, ca):
    """sni and alpn of a rule, then, if it says default, those of the server line for checks; alpn of the server."""
    tcp, cfg, peers = " option tcp-check\n tcp-check ", "", {}
    other = Authority(tmp_path / "other").make("other.pem", "other.test")
    rows = [
        ("", "ssl verify none sni str(good.test)"), ("", "ssl verify none check-sni check.test sni str(good.test)"),
        (f"{tcp}connect ssl\n", "ssl verify none check-sni check.test check-alpn y"),
        (f"{tcp}connect ssl sni con.test alpn z\n", "ssl verify none check-sni check.test"),
        (f"{tcp}connect default ssl\n", "ssl verify none check-sni check.test check-alpn x"),
        (f"{tcp}connect default sni con.test alpn z\n", "ssl verify none check-sni check.test check-alpn x"),
        ("", "ssl verify none alpn x"), ("", "ssl verify none alpn x check-alpn z"),
        (f"{tcp}connect ssl\n", "ssl verify none alpn x check-alpn z"), (f"{tcp}connect ssl alpn h2\n", "verify none"),
        ("", f"ssl ca-file {ca.pem}"), ("", f"ssl ca-file {ca.pem} check-sni good.test"),
        ("", f"ssl ca-file {ca.pem} check-sni bad.test"), (f"{tcp}connect ssl sni bad.test\n", f"ca-file {ca.pem}"),
        (f"{tcp}connect ssl sni bad.test\n", f"ca-file {ca.pem} verifyhost good.test"),
        ("", f"ssl ca-file {ca.pem} verifyhost bad.test"),
    ]
    for i, (rules, options) in enumerate([*rows, ("", f"ssl ca-file {ca.pem}")]):
        p = peers[i] = peer(alpn=["h2", "x", "y", "z"], certificate=other if i == len(rows) else None)
        cfg += f"backend b{i}\n mode tcp\n{rules} server s 127.0.0.1:{p.port} {CHECK} {options}\n"

    def play(program):
        for p in peers.values():
            p.forget()
        return see(program, oracle.at(tmp_path, program), cfg, is_over), {i: p.asked() for i, p in peers.items()}

    oracle.same(play)


def test_elsewhere(tmp_path, peer):
    """A port or an address of its own is checked without TLS, unless check-ssl is set; agents never use TLS."""
    good, plain = peer(), peer("http")
    lines = [f"{good.port} port {plain.port} ssl verify none", f"{plain.port} port {good.port} ssl check-ssl verify none",
             f"{plain.port} addr 127.0.0.1 ssl verify none", f"{good.port} addr 127.0.0.1 ssl check-ssl verify none"]
    cfg = "backend b\n mode http\n option httpchk GET /\n"
    cfg += "".join(f" server s{i} 127.0.0.1:{line} {CHECK}\n" for i, line in enumerate(lines))
    assert {row[1] for row in both_see(tmp_path, cfg).values()} == {"L7OK"}


@pytest.mark.parametrize("version", ["TLSv1_2", "TLSv1_3"])
def test_sessions_are_resumed(tmp_path, peer, version):
    """Each check but the first resumes the session of the one before, also if it ends with the handshake: then tacit
    waits for the tickets of TLS 1.3, and HAProxy does not."""
    cfg, peers = "", {}
    for i, (rules, options) in enumerate([
            ("none", "ssl verify none"), ("none", "check-ssl verify none"), ("ssl", "verify none"),
            ("expect", "verify none"), ("httpchk", "ssl verify none"), ("http ssl", "verify none"),
            ("httpchk", "check-ssl check-sni good.test verify none")]):
        p = peers[i] = peer(maximum_version=getattr(ssl.TLSVersion, version))
        cfg += f"backend b{i}\n {RULES[rules]}\n server s 127.0.0.1:{p.port} check inter 500 {options}\n"
    # The tickets of the first connection of a check come when it may be closed already.
    p = peers["two"] = peer(maximum_version=ssl.TLSVersion.TLSv1_2)
    cfg += ("backend two\n mode tcp\n option tcp-check\n tcp-check connect ssl sni a.test\n tcp-check connect ssl sni b.test\n"
            f" server s 127.0.0.1:{p.port} check inter 500 verify none\n")
    # A check that is given up has no session that the next one could resume: each has half a second for its handshake.
    see(TACIT, tmp_path / "tacit", cfg, lambda row: all(len(p.resumed) > 10 for p in peers.values()))
    for i, p in peers.items():
        first = 2 if i == "two" else 1
        assert p.resumed[first:10].count(False) == 0, (i, p.resumed)


def test_no_session_is_waited_for(tmp_path, peer):
    """A server without tickets: its checks end although they have no time limit, and the connection is closed after a second."""
    p = peer("stalls", num_tickets=0)
    cfg = f"backend b\n mode tcp\n server s 127.0.0.1:{p.port} check inter 5s ssl verify none\n timeout check 1h\n"
    rows = see(TACIT, tmp_path / "tacit", cfg, is_over)
    assert rows["b", "s"][:2] == ("UP", "L6OK")
