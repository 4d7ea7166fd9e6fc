"""Hostile messages through the whole program, judged by the bytes that arrive on the other side: a reader stricter
than any server may find the beginning of a message there when its body turned out bad, and nothing else."""

import collections
import re
import select
import socket
import subprocess
import tempfile
import threading

import pytest
from conftest import WAIT
from facts import becomes
from subject import BUILD, IS_TACIT, SLOW, SUBJECT, proxy  # noqa: F401

NEXT = b"GET /next HTTP/1.1\r\nHost: next\r\n\r\n"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
KEPT = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

# --- the strict reader -----------------------------------------------------------------------------------
TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
VALUE = rb"[\t -~\x80-\xff]*"
FIELD = re.compile(rb"(" + TOKEN + rb"):[ \t]*(" + VALUE + rb"?)[ \t]*\r\n")
REQUEST = re.compile(rb"(" + TOKEN + rb") ([!-\"$-~]+) HTTP/1\.([01])\r\n")
STATUS = re.compile(rb"HTTP/1\.([01]) ([1-9][0-9][0-9]) " + VALUE + rb"\r\n")
EXTENSION = rb"(?:[ \t]*;[\t -~\x80-\xff]*)?"
CHUNK = re.compile(rb"([0-9a-fA-F]{1,16})" + EXTENSION + rb"\r\n")
CHUNK_BEGUN = re.compile(rb"(?:[0-9a-fA-F]{1,16}" + EXTENSION + rb"\r?)?\Z")
TRAILER_BEGUN = re.compile(rb"(?:\r|" + TOKEN + rb"(?::" + VALUE + rb"\r?)?)?\Z")
NOT_IN_TRAILER = {b"content-length", b"transfer-encoding", b"host"}

Message = collections.namedtuple("Message", "state first fields end")
BAD = Message("bad", None, [], 0)


def read_trailers(data, at):
    while True:
        if data[at:at + 2] == b"\r\n":
            return "whole", at + 2
        field = FIELD.match(data, at)
        if not field:
            return ("begun" if TRAILER_BEGUN.match(data, at) else "bad"), at
        if field.group(1).lower() in NOT_IN_TRAILER:
            return "bad", at
        at = field.end()


def read_chunks(data, at):
    while True:
        chunk = CHUNK.match(data, at)
        if not chunk:
            return ("begun" if CHUNK_BEGUN.match(data, at) else "bad"), at
        size = int(chunk.group(1), 16)
        at = chunk.end()
        if size == 0:
            return read_trailers(data, at)
        end = data[at + size:at + size + 2]
        if len(end) < 2:
            return ("begun" if b"\r\n".startswith(end) else "bad"), at
        if end != b"\r\n":
            return "bad", at
        at += size + 2


def read_body(data, at, fields, otherwise):
    lengths = [v for n, v in fields if n == b"content-length"]
    codings = [v for n, v in fields if n == b"transfer-encoding"]
    if len(lengths) + len(codings) > 1:
        return "bad", at
    if codings:
        return read_chunks(data, at) if codings[0].lower() == b"chunked" else ("bad", at)
    if lengths:
        if not re.fullmatch(rb"[0-9]{1,19}", lengths[0]):
            return "bad", at
        end = at + int(lengths[0])
        return ("whole" if len(data) >= end else "begun"), end
    return otherwise, at


def read_message(data, first_line, otherwise):
    """Parses the beginning of data: a complete message, an incomplete one, or a bad one."""
    if b"\r\n\r\n" not in data:
        # heads are sent as a whole
        return BAD if data else Message("nothing", None, [], 0)
    first = first_line.match(data)
    if not first:
        return BAD
    at, fields = first.end(), []
    while data[at:at + 2] != b"\r\n":
        field = FIELD.match(data, at)
        if not field:
            return BAD
        fields.append((field.group(1).lower(), field.group(2)))
        at = field.end()
    state, end = read_body(data, at + 2, fields, otherwise)
    return Message(state, first, fields, end)


def read_request(data):
    m = read_message(data, REQUEST, "whole")
    hosts = [v for n, v in m.fields if n == b"host"]
    if m.first and (len(hosts) > 1 or (not hosts and m.first.group(3) == b"1")):
        return BAD
    return m


# --- both ends -------------------------------------------------------------------------------------------
class Recorder:
    """An origin that records what it receives, one text per connection, and answers complete requests."""

    def __init__(self):
        self.sock = socket.socket()
        self.sock.bind(("127.0.0.1", 0))
        self.sock.listen(128)
        self.port = self.sock.getsockname()[1]
        self.lock = threading.Lock()
        self.answer = ANSWER
        self.got = []
        self.open = self.conns = 0
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        while True:
            try:
                conn, _ = self.sock.accept()
            except OSError:
                return
            with self.lock:
                self.open += 1
                self.conns += 1
            threading.Thread(target=self._one, args=(conn,), daemon=True).start()

    def _one(self, conn):
        data = b""
        try:
            with conn:
                conn.settimeout(WAIT)
                while read_request(data).state in ("nothing", "begun", "bad"):
                    piece = conn.recv(65536)
                    if not piece:
                        return
                    data += piece
                conn.sendall(self.answer)
                conn.shutdown(socket.SHUT_WR)
                while piece := conn.recv(65536):
                    data += piece
        except OSError:
            pass
        finally:
            with self.lock:
                self.open -= 1
                self.got.append(data)

    def take(self):
        """The bytes that have arrived since the last call, when all connections have ended."""
        becomes(lambda: self.open, 0, "no connection")
        with self.lock:
            got, self.got = self.got, []
        return [g for g in got if g]


class Keeper(Recorder):
    """The same, but it keeps connections and records messages: (state, bytes)."""

    def _one(self, conn):
        data = b""
        try:
            with conn:
                conn.settimeout(WAIT)
                while piece := conn.recv(65536):
                    data += piece
                    while (m := read_request(data)).state == "whole":
                        with self.lock:
                            self.got.append(("whole", data[:m.end]))
                        data = data[m.end:]
                        conn.sendall(KEPT)
        except OSError:
            pass
        finally:
            with self.lock:
                self.open -= 1
                self.got.append((read_request(data).state, data))


def answer_of(sock):
    data = b""
    try:
        while piece := sock.recv(65536):
            data += piece
    except ConnectionResetError:
        pass
    return data


def send(port, text, size, shuts=False):
    """Sends it in pieces of that size until a response arrives, and with `shuts` then its end; returns the response."""
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT) as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            for at in range(0, len(text), size):
                s.sendall(text[at:at + size])
                if size < len(text) and select.select([s], [], [], 0)[0]:
                    break
            if shuts:
                select.select([s], [], [], WAIT)
                s.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, ConnectionResetError):
            pass
        return answer_of(s)


@pytest.fixture
def origin():
    o = Recorder()
    yield o
    o.sock.close()


def corpus(kind):
    out = subprocess.run([str(BUILD / "tools" / "hostile")], capture_output=True, text=True, check=True, timeout=WAIT)
    rows = [line.split("\t") for line in out.stdout.splitlines()]
    return [(name, bytes.fromhex(text)) for k, name, text in rows if k == kind]


def start(proxy, origin, **kw):
    return proxy(origin.port, options="mode http\noption http-server-close\ntimeout http-request 1m", log=False, **kw)


def has_http():
    """False for a build without mode http; another error fails the test."""
    with tempfile.NamedTemporaryFile("w", suffix=".cfg") as cfg:
        cfg.write("defaults\n mode http\n timeout client 1s\n timeout server 1s\n timeout connect 1s\n")
        cfg.flush()
        done = subprocess.run([SUBJECT, "-c", "-f", cfg.name], capture_output=True, text=True, timeout=WAIT, check=False)
    return IS_TACIT and "not supported" not in done.stdout + done.stderr


only_http = pytest.mark.skipif(not has_http(), reason="only tacit with mode http")


# --- tests -----------------------------------------------------------------------------------------------
def test_the_reader_itself():
    post = b"POST / HTTP/1.1\r\nHost: a\r\n"
    chunked = post + b"Transfer-Encoding: chunked\r\n\r\n"
    for text, state in ((b"", "nothing"), (NEXT, "whole"), (post + b"Content-Length: 3\r\n\r\nab", "begun"),
                        (post + b"Content-Length: 3\r\n\r\nabc", "whole"), (chunked, "begun"),
                        (chunked + b"3;a\r\nabc\r\n0\r\nA: b\r\n\r\n", "whole"), (chunked + b"3\r\nabc\r", "begun"),
                        (chunked + b"3\r\nabcd", "bad"), (chunked + b"3 \r\nabc", "bad"),
                        (chunked + b"0\r\nContent-Length: 3\r\n\r\n", "bad"), (NEXT[:-1], "bad"),
                        (post + b"Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", "bad"),
                        (b"GET / HTTP/1.1\r\n\r\n", "bad"), (b"GET / HTTP/1.1\r\nHost: a\nX: y\r\n\r\n", "bad")):
        assert read_request(text).state == state, text


@only_http
def test_valid_messages_are_forwarded(proxy, origin):  # noqa: F811
    p = start(proxy, origin)
    chunked = b"POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nA: b\r\n\r\n"
    for text in (NEXT, b"\r\n" + NEXT, chunked, b"GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n"):
        for size in (len(text), 1):
            closing = text.replace(b"\r\nHost", b"\r\nConnection: close\r\nHost")
            assert send(p.port, closing, size).startswith(b"HTTP/1.1 200 "), text
            got = origin.take()
            assert [read_request(g).state for g in got] == ["whole"], (text, got)
    # two sent at once arrive as two
    both = chunked + NEXT.replace(b"\r\nHost", b"\r\nConnection: close\r\nHost")
    assert send(p.port, both, 1 << 16).count(b" 200 ") == 2
    assert [read_request(g).state for g in origin.take()] == ["whole", "whole"]


def check_origin(name, got, good=0):
    """Checks the requests at the origin: as many good requests as were sent, complete, and at most beginnings of others.
    One may belong to the case before: it was in the backlog when that client got its response."""
    whole = [g for g in got if g.startswith(b"GET /next ")]
    assert len(whole) == good, f"{name}: {got}"
    for data in whole:
        m = read_request(data)
        assert (m.state, m.end) == ("whole", len(data)), f"{name}: {data!r}"
    for data in got:
        m = read_request(data)
        assert data in whole or m.state == "begun", f"{name}: {m.state}: {data!r}"
        assert data in whole or b"/next" not in data, f"{name}: {data!r}"


@only_http
def test_no_hostile_request_reaches_a_server(proxy, origin):  # noqa: F811
    p = start(proxy, origin)
    cases = corpus("request")
    assert len(cases) >= 1000
    for n, (name, text) in enumerate(cases):
        # HTTP/2's preface alone is answered with SETTINGS, and more is waited for.
        whole = send(p.port, text, len(text), shuts="/preface/" in name)
        check_origin(name, origin.take())
        refusal = rb"\x00\x00.\x04\x00\x00" if "/preface/" in name else rb"HTTP/1\.[01] (4|5)"
        assert not whole or re.match(refusal, whole), f"{name}: {whole!r}"
        both = send(p.port, text + NEXT, len(text + NEXT))
        check_origin(f"{name}, with another one", origin.take())
        assert both[:12] == whole[:12], f"{name}: {whole!r}, with another one {both!r}"
        behind = send(p.port, NEXT + text, len(NEXT + text))
        check_origin(f"{name}, behind a good one", origin.take(), 1)
        assert behind.startswith(b"HTTP/1.1 200 "), f"{name}: {behind!r}"
        assert (b"HTTP/1.1 505 " if "/preface/" in name else whole[:12]) in behind, f"{name}: {behind!r}"
        if SLOW or n % 8 == 0:
            slow = send(p.port, text, 1)
            check_origin(f"{name}, a byte at a time", origin.take())
            assert not slow or slow[:12] == whole[:12], f"{name}: {whole!r}, a byte at a time {slow!r}"
    assert send(p.port, NEXT.replace(b"\r\nHost", b"\r\nConnection: close\r\nHost"), 100).startswith(b"HTTP/1.1 200 ")


@only_http
def test_the_rest_of_a_hostile_request_reaches_no_other_client(proxy):  # noqa: F811
    """Connections to the server are reused for all clients: a rest of one request would become the beginning of
    another."""
    origin = Keeper()
    p = proxy(origin.port, options="mode http\nhttp-reuse always\ntimeout http-request 1m", log=False)
    good = 0
    for name, text in corpus("request"):
        got = send(p.port, NEXT + text + NEXT, 1 << 16)
        assert got.startswith(KEPT) and got.count(b"HTTP/1.1 200 ") == 1, f"{name}: {got!r}"
        good += 1
    state = collections.Counter((state, data.startswith(NEXT[:10])) for state, data in origin.got)
    assert state["whole", True] == good and not state["whole", False], state
    assert not [data for state, data in origin.got if state == "bad"]
    assert origin.conns < good, "no connection was used again"
    origin.sock.close()


@only_http
def test_no_hostile_response_reaches_a_client_as_clean(proxy, origin):  # noqa: F811
    p = start(proxy, origin)
    cases = corpus("response")
    assert len(cases) >= 200
    request = NEXT.replace(b"\r\nHost", b"\r\nConnection: close\r\nHost")
    for name, text in cases:
        origin.answer = text
        got = send(p.port, request, len(request))
        origin.take()
        m = read_message(got, STATUS, "whole")
        if m.state == "whole":
            assert m.first.group(2) == b"502" and m.end == len(got), f"{name}: {got!r}"
        else:
            assert m.state in ("nothing", "begun"), f"{name}: {got!r}"
