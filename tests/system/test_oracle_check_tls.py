"""Health checks over TLS: HAProxy and tacit check the same servers, good and broken ones, by the rules `connect ssl`,
`connect default` and those that are implied. What show stat says of each is compared, and what the servers were asked
for: names, protocols, and whether sessions were resumed."""

import contextlib
import itertools
import re
import select
import socket
import ssl
import struct
import threading
import time

import facts
import oracle
import pytest
from certs import Authority
from conftest import TACIT, WAIT, free_port
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


# A connection whose session has not come is closed a second after the handshake, or when the next check begins.
SESSION_WAIT = 0.9


class Peer:
    """A checked server; what its connections asked for is in names and protocols. resumed: by number of a connection whether it
    resumed a session, and whether its own session has reached the other end in time for a later one."""

    def __init__(self, pem, kind="ok", alpn=(), **kw):
        self.kind = kind
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(pem)
        self.context.sni_callback = lambda s, name, _: self.names.add(name)
        if alpn:
            self.context.set_alpn_protocols(list(alpn))
        for k, v in kw.items():
            setattr(self.context, k, v)
        self.accepted, self.served, self.accepting = facts.Seen(), facts.Seen(), threading.Lock()
        self.forget()
        self.sock = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.sock.getsockname()[1]
        threading.Thread(target=self._run, daemon=True).start()

    def forget(self):
        self.names, self.protocols, self.resumed = set(), set(), {}

    def asked(self):
        """Names and protocols of all connections so far: they have ended, and one more shows that all are served."""
        with socket.create_connection(("127.0.0.1", self.port), WAIT) as s:
            last = s.getsockname()
        n = len(self.accepted.until(lambda seen: last in seen, "the last connection"))
        self.served.wait(n)
        return self.names, self.protocols

    def _run(self):
        with contextlib.suppress(OSError, ValueError):
            for n in itertools.count():
                select.select([self.sock], [], [])
                with self.accepting:
                    s, address = self.sock.accept()
                    self.accepted.append(address)
                threading.Thread(target=self._serve, args=(s, n, time.monotonic()), daemon=True).start()

    def _is_last(self, n):
        """True if no connection was made after this one."""
        with self.accepting:
            return len(self.accepted) == n + 1 and not select.select([self.sock], [], [], 0)[0]

    def _serve(self, s, n, began):
        # Longer than any check.
        s.settimeout(6 * WAIT)
        try:
            # The peer may be closed by now.
            with contextlib.suppress(OSError, ValueError), s:
                if self.kind in BARE:
                    BARE[self.kind](s)
                    return
                with self.context.wrap_socket(s, server_side=True) as t:
                    self.protocols.add(t.selected_alpn_protocol())
                    facts.flush_loopback()
                    self.resumed[n] = t.session_reused, self._is_last(n) and time.monotonic() < began + SESSION_WAIT
                    TLS[self.kind](t)
        finally:
            self.served.append(n)

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
 timeout client 1m
 timeout server 1m
"""


def see(program, directory, cfg, is_enough=None):
    """{(backend, server): its columns} once each had a result, or is_enough() accepts its row."""
    directory.mkdir()
    subject = Subject(program, directory, f"{DEFAULTS}{cfg}frontend f\n mode tcp\n bind 127.0.0.1:{free_port()}\n")
    try:
        return {k: tuple(row[c] for c in COLUMNS) for k, row in subject.checked(is_enough).items()}
    finally:
        subject.stop()


def both_see(tmp_path, cfg):
    def play(program):
        rows = see(program, oracle.at(tmp_path, program), cfg)
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
CHECK = "check inter 1m fall 1"
SERVERS = {"ssl": "ssl verify none", "none": "verify none", "check-ssl": "check-ssl verify none",
           "no-check-ssl": "ssl no-check-ssl verify none"}
# Checks of the first last as long as they may. The view of a plain check of the others, or a failing write, depends on the moment.
LATE = {"mute", "part", "stalls"}
ONLY_TLS = {"leaves", "leaves later", "resets", "resets at once", "text", "part", "part, then leaves"}
KINDS = [*BARE, *TLS, "TLS 1.2"]


def make_peers(peer, kinds):
    return {kind: peer(maximum_version=ssl.TLSVersion.TLSv1_2) if kind == "TLS 1.2" else peer(kind) for kind in kinds}


def kinds_of(rules, words, are_late):
    """The servers that are checked by these rules: those whose checks last as long as they may, or the others."""
    is_tls = words in ("ssl", "check-ssl") or "ssl" in rules or rules in ("comment", "expect")
    for kind in KINDS:
        # A server that is sent less than the head of a record waits for the rest.
        is_late = kind in LATE or (rules == "tcp-check" and not is_tls and kind not in BARE)
        if is_late == are_late and (kind not in ONLY_TLS or (is_tls and rules != "plain")):
            yield kind


def backend(name, rules, peers, kinds, options, more=""):
    return f"backend {name}\n {rules}\n{more}" + "".join(
        f" server {kind.replace(' ', '-').replace(',', '')} 127.0.0.1:{peers[kind].port} {CHECK} {options}\n" for kind in kinds)


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_results(tmp_path, peer, rules):
    peers = make_peers(peer, [kind for kind in KINDS if kind not in LATE])
    cfg = "".join(backend(words, RULES[rules], peers, kinds_of(rules, words, False), options,
                          f" server closed 127.0.0.1:{free_port()} {CHECK} {options}\n") for words, options in SERVERS.items())
    rows = both_see(tmp_path, cfg)
    assert {row[1] for row in rows.values()} & {"L4OK", "L6OK", "L7OK"}


# The status is that of the last connection, and each rule has its own transport.
TWO = {"a": ("connect", "connect ssl"), "b": ("connect ssl", "connect"), "c": ("connect ssl", "connect ssl linger")}
TWO = {name: "mode tcp\n option tcp-check\n" + "".join(f" tcp-check {line}\n" for line in lines) for name, lines in TWO.items()}


def test_two_connections(tmp_path, peer):
    peers = make_peers(peer, ["ok"])
    rows = both_see(tmp_path, "".join(backend(name, rules, peers, peers, "verify none") for name, rules in TWO.items()))
    assert rows["b", "ok"][1] == "L4OK"


def test_late_results(tmp_path, peer):
    """Checks that last as long as they may, a minute, all at the same time: a busy machine does the rest of each within it."""
    peers = make_peers(peer, [kind for kind in KINDS if kind in LATE or kind not in BARE])
    cfg = "".join(backend(f"{rules}-{words}".replace(" ", "-"), RULES[rules], peers, kinds_of(rules, words, True), options)
                  for rules in RULES for words, options in SERVERS.items())
    cfg += "".join(backend(name, rules, peers, ["mute"], "verify none") for name, rules in TWO.items())
    rows = both_see(tmp_path, cfg)
    assert rows["a", "mute"][4] == " at step 2 of tcp-check (connect)"
    assert {row[1] for row in rows.values()} >= {"L6TOUT", "L7TOUT"}


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
        return see(program, oracle.at(tmp_path, program), cfg), {i: p.asked() for i, p in peers.items()}

    oracle.same(play)


def test_elsewhere(tmp_path, peer):
    """A port or an address of its own is checked without TLS, unless check-ssl is set; agents never use TLS."""
    good, plain = peer(), peer("http")
    lines = [f"{good.port} port {plain.port} ssl verify none", f"{plain.port} port {good.port} ssl check-ssl verify none",
             f"{plain.port} addr 127.0.0.1 ssl verify none", f"{good.port} addr 127.0.0.1 ssl check-ssl verify none"]
    cfg = "backend b\n mode http\n option httpchk GET /\n"
    cfg += "".join(f" server s{i} 127.0.0.1:{line} {CHECK}\n" for i, line in enumerate(lines))
    assert {row[1] for row in both_see(tmp_path, cfg).values()} == {"L7OK"}


# A time between checks that is not their limit: such a server stays down, and gains health.
RISING = "check inter 1m init-state fully-down rise 1000"
RESUMED = 9


@pytest.mark.parametrize("version", ["TLSv1_2", "TLSv1_3"])
def test_sessions_are_resumed(tmp_path, peer, version):
    """Each check but the first resumes the session of the one before, also if it ends with the handshake: then tacit
    waits for the tickets of TLS 1.3, and HAProxy does not."""
    cfg, peers, waits = "", {}, set()
    for i, (rules, options) in enumerate([
            ("none", "ssl verify none"), ("none", "check-ssl verify none"), ("ssl", "verify none"),
            ("expect", "verify none"), ("httpchk", "ssl verify none"), ("http ssl", "verify none"),
            ("httpchk", "check-ssl check-sni good.test verify none")]):
        p = peers[i] = peer(maximum_version=getattr(ssl.TLSVersion, version))
        # An answer comes behind the tickets; without one they may come too late.
        if version == "TLSv1_3" and rules in ("none", "ssl"):
            waits.add(i)
        pause = "1s" if i in waits else "20ms"
        cfg += (f"backend b{i}\n {RULES[rules]}\n"
                f" server s 127.0.0.1:{p.port} {RISING} fastinter {pause} downinter {pause} {options}\n")
    # The tickets of the first connection of a check come when it may be closed already.
    p = peers["two"] = peer(maximum_version=ssl.TLSVersion.TLSv1_2)
    cfg += ("backend two\n mode tcp\n option tcp-check\n tcp-check connect ssl sni a.test\n tcp-check connect ssl sni b.test\n"
            f" server s 127.0.0.1:{p.port} {RISING} fastinter 20ms downinter 20ms verify none\n")

    def have_resumed(i):
        """Returns whether each connection has resumed a session, of those for which there was one."""
        seen, first = dict(peers[i].resumed), 2 if i == "two" else 1
        return [seen[n][0] for n in sorted(seen) if n - first in seen and (seen[n - first][1] or i not in waits)]

    see(TACIT, tmp_path / "tacit", cfg, lambda row: all(len(have_resumed(i)) >= RESUMED for i in peers))
    for i, p in peers.items():
        assert all(have_resumed(i)), (i, p.resumed)


def test_no_session_is_waited_for(tmp_path, peer):
    """A server without tickets: its checks end although they have no time limit, and the connection is closed after a second."""
    p = peer("stalls", num_tickets=0)
    cfg = f"backend b\n mode tcp\n server s 127.0.0.1:{p.port} check inter 1m ssl verify none\n timeout check 1h\n"
    rows = see(TACIT, tmp_path / "tacit", cfg)
    assert rows["b", "s"][:2] == ("UP", "L6OK")
