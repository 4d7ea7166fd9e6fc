"""Compression as clients and servers see it: what is compressed, what is not, and what is counted."""

import contextlib
import gzip
import os
import random
import socket
import struct
import subprocess
import threading
import zlib

import pytest
from certs import Authority
from conftest import WAIT, Origin, admin, free_port, free_ports
from facts import delivered
from subject import SLOW

NAMES = ("gzip", "deflate", "br", "zstd")
TEXT = b"<p>tacit compresses what is worth it</p>\n" * 2000


def cfg(port, origin, lines=""):
    return f"""
listen web
    bind 127.0.0.1:{port}
    mode http
    timeout client 1m
    timeout connect 1m
    timeout server 1m
    compression algo gzip deflate raw-deflate
    compression type text/ application/json
    {lines}
    server s 127.0.0.1:{origin}
"""


def decode(name, data):
    """The body, and whether its compressed bytes end; as other programs than tacit's libraries' users read them."""
    if name in ("gzip", "deflate"):
        reader = zlib.decompressobj(31 if name == "gzip" else 15)
        return reader.decompress(data), reader.eof
    if name in ("br", "zstd"):
        program = ["brotli", "-dc"] if name == "br" else ["zstd", "-dcq"]
        done = subprocess.run(program, input=data, capture_output=True, timeout=WAIT, check=False)
        return done.stdout, done.returncode == 0
    return data, True


class Answers:
    """An origin that sends one answer to each request, and keeps the requests."""

    def __init__(self):
        self.fields, self.body, self.status, self.version = "Content-Type: text/html\r\n", TEXT, "200 OK", "1.1"
        self.framing, self.cut, self.requests = "length", None, []
        self.resets, self.holds = False, None  # how a response ends that is cut

    def head(self):
        framing = {"length": f"Content-Length: {len(self.body)}\r\n", "chunked": "Transfer-Encoding: chunked\r\n", "close": ""}
        return f"HTTP/{self.version} {self.status}\r\n{self.fields}{framing[self.framing]}Connection: close\r\n\r\n".encode()

    def message(self):
        if self.framing != "chunked":
            return self.body
        parts = [self.body[i:i + 5000] for i in range(0, len(self.body), 5000)]
        return b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in parts) + b"0\r\nX-Trailer: t\r\n\r\n"

    def __call__(self, conn):
        data = b""
        while b"\r\n\r\n" not in data:
            got = conn.recv(65536)
            if not got:
                return
            data += got
        while b"chunked" in data.partition(b"\r\n\r\n")[0].lower() and not data.endswith(b"0\r\n\r\n"):
            data += conn.recv(65536)
        self.requests.append(data)
        has_body = not data.startswith(b"HEAD") and self.status[:3] not in ("204", "304")
        holds = self.holds
        conn.sendall(self.head() + (self.message() if has_body else b"")[:self.cut])
        if self.resets:
            conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if holds:
            holds.wait()


def unchunk(data):
    """The payload and the trailers of a chunked body, and whether it is complete."""
    out = b""
    while data:
        line, _, rest = data.partition(b"\r\n")
        n = int(line, 16) if line else 0
        if not n:
            return out, rest, rest.endswith(b"\r\n")
        out += rest[:n]
        data = rest[n + 2:]
    return out, b"", False


def recv_cut(sock):
    """Everything up to the end of the stream, or up to its reset."""
    out = b""
    with contextlib.suppress(ConnectionResetError):
        while got := sock.recv(65536):
            out += got
    return out


class Web:
    def __init__(self, port, origin):
        self.port, self.origin = port, origin

    def ask(self, accept="gzip", method="GET", version="1.1", more="", body=b""):
        """Status, fields (lower case) and the rest of the answer."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=WAIT) as s:
            fields = f"Accept-Encoding: {accept}\r\n" if accept else ""
            s.sendall(f"{method} / HTTP/{version}\r\nHost: x\r\n{fields}{more}Connection: close\r\n\r\n".encode() + body)
            head, _, rest = recv_cut(s).partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        found = dict(line.lower().split(": ", 1) for line in lines)
        return int(first.split()[1]), found, rest

    def encoding(self, **kw):
        return self.ask(**kw)[1].get("content-encoding")


@pytest.fixture
def web(daemon):
    def start(lines="", extra="", **kw):
        port, answers = free_port(), Answers()
        origin = Origin(answers)
        web.closing.append(origin)
        d = daemon(cfg(port, origin.port, lines.replace("{origin}", str(origin.port))), extra=extra, **kw)
        w = Web(port, answers)
        w.sock, w.daemon = d.sock, d
        return w

    web.closing = []
    yield start
    for origin in web.closing:
        origin.close()


@pytest.mark.parametrize(("accept", "name", "unpack"), [
    ("gzip", "gzip", gzip.decompress),
    ("deflate", "deflate", zlib.decompress),
    ("br, gzip;q=0.5, deflate;q=0.8", "deflate", zlib.decompress),
    ("*", "gzip", gzip.decompress),
    ("gzip;q=0, *", "deflate", zlib.decompress),
    ("GZIP", "gzip", gzip.decompress),
    ("br", "br", None), ("zstd", "zstd", None)])
@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_compressed(web, accept, name, unpack, framing):
    w = web("" if unpack else "compression algo br zstd")
    w.origin.framing = framing
    status, head, rest = w.ask(accept=accept)
    assert (status, head["content-encoding"], head["transfer-encoding"], head["vary"]) == (200, name, "chunked", "accept-encoding")
    assert "content-length" not in head
    body, trailers, whole = unchunk(rest)
    assert (unpack(body) if unpack else decode(name, body)[0], whole) == (TEXT, True)
    assert trailers == (b"X-Trailer: t\r\n\r\n" if framing == "chunked" else b"\r\n")
    assert len(body) < len(TEXT) / 10


def test_not_compressed(web):
    w = web("compression minsize-res 100")
    assert w.encoding() == "gzip"
    for accept in (None, "identity", "br", "gzip;q=0", "gzip;q=0.000, br"):
        assert w.encoding(accept=accept) is None
    assert w.encoding(version="1.0") is None
    assert w.encoding(method="HEAD") is None
    assert w.encoding(more="User-Agent: Mozilla/4.0 (compatible; MSIE 5.5; Windows 98)\r\n") is None
    assert w.encoding(more="User-Agent: Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1)\r\n") is None
    assert w.encoding(more="User-Agent: Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1; SV1)\r\n") == "gzip"
    assert w.encoding(more="User-Agent: Mozilla/4.0 (compatible; MSIE 8.0)\r\n") == "gzip"
    assert w.encoding(more="User-Agent: Mozilla/4.0 (compatible; MSIE 10.0)\r\n") == "gzip"
    for end in ("", "MSIE ", "MSIE 5", "MSIE 6"):
        assert w.encoding(more=f"User-Agent: Mozilla/4.0 {end}\r\n") is None
    for fields in ("", "Content-Type: image/png\r\n", "Content-Type: text/html\r\nContent-Encoding: br\r\n",
                   "Content-Type: text/html\r\nCache-Control: private, no-transform\r\n",
                   "Content-Type: text/html\r\nETag: bad\r\n", 'Content-Type: text/html\r\nETag: "a"\r\nETag: "b"\r\n'):
        w.origin.fields = fields
        assert w.encoding() in (None, "br")
    w.origin.fields = "Content-Type: text/html\r\n"
    for status in ("206 Partial Content", "304 Not Modified", "404 Not Found", "500 Error"):
        w.origin.status = status
        assert w.encoding() is None
    w.origin.status = "203 Other"
    assert w.encoding() == "gzip"
    w.origin.version = "1.0"
    assert w.encoding() is None
    w.origin.version, w.origin.framing = "1.1", "close"
    assert w.encoding() is None
    w.origin.framing, w.origin.body = "length", b"x" * 99
    assert w.encoding() is None
    w.origin.body = b"x" * 100
    assert w.encoding() == "gzip"


def test_fields(web):
    w = web()
    w.origin.fields = 'Content-Type: application/json; charset=utf-8\r\nETag: "abc"\r\nVary: Cookie\r\n'
    _, head, _ = w.ask()
    assert head["etag"] == 'w/"abc"'
    w.origin.fields = 'Content-Type: text/css\r\nETag: W/"abc"\r\nVary: accept-encoding, cookie\r\n'
    _, head, _ = w.ask()
    assert (head["etag"], head["vary"]) == ('w/"abc"', "accept-encoding, cookie")


def test_offload(web):
    w = web("compression offload")
    assert w.encoding() == "gzip"
    assert b"accept-encoding" not in w.origin.requests[-1].lower()
    assert w.encoding(accept="br") is None
    assert b"accept-encoding: br" in w.origin.requests[-1].lower()


@pytest.mark.parametrize("name", NAMES)
def test_cut(web, name):
    """A response that is cut is no valid end of the compressed bytes, nor of the chunks."""
    w = web("compression algo br zstd")
    for framing in ("length", "chunked"):
        w.origin.framing, w.origin.cut = framing, 30000
        _, head, rest = w.ask(accept=name)
        assert head["content-encoding"] == name
        body, _, whole = unchunk(rest)
        assert not whole
        got, ends = decode(name, body)
        assert not ends
        assert TEXT.startswith(got)


@pytest.mark.parametrize("name", NAMES)
def test_reset(web, name):
    """The same of a server that resets its connection."""
    w = web("compression algo br zstd")
    w.origin.framing, w.origin.cut, w.origin.resets = "chunked", 30000, True
    _, _, rest = w.ask(accept=name)
    body, _, whole = unchunk(rest)
    assert (whole, decode(name, body)[1]) == (False, False)


@pytest.mark.parametrize("name", NAMES)
def test_killed(web, name):
    """The same of a response in progress when tacit is killed."""
    w = web("compression algo br zstd", checked=False)
    w.origin.cut, w.origin.holds = 30000, threading.Event()
    with socket.create_connection(("127.0.0.1", w.port), timeout=WAIT) as s:
        s.sendall(f"GET / HTTP/1.1\r\nHost: x\r\nAccept-Encoding: {name}\r\n\r\n".encode())
        data = s.recv(65536)
        w.daemon.kill()
        data += recv_cut(s)
    w.origin.holds.set()
    body, _, whole = unchunk(data.partition(b"\r\n\r\n")[2])
    assert (whole, decode(name, body)[1]) == (False, False)


@pytest.mark.parametrize("name", NAMES)
def test_request(web, name):
    w = web(f"compression direction both\n    compression algo-req {name}\n    compression type-req text/")
    sent = f"Content-Type: text/plain\r\nContent-Length: {len(TEXT)}\r\n"
    w.ask(method="POST", more=sent, body=TEXT)
    head, _, body = w.origin.requests[-1].partition(b"\r\n\r\n")
    assert f"content-encoding: {name}".encode() in head.lower()
    assert decode(name, unchunk(body)[0]) == (TEXT, True)


BACKEND = "use_backend b\nbackend b\n    mode http\n    timeout connect 1m\n    timeout server 1m\n    "


SLOW_IN, SLOW_OUT = (f"filter bwlim-{way} slow default-limit 1m default-period 1s" for way in ("in", "out"))


@pytest.mark.parametrize(("lines", "request_is", "response_is"), [
    ("filter comp-req", "gzip", None),
    ("filter comp-req\n    filter comp-res", "gzip", "deflate"),
    # the line counts, not compression direction
    ("filter comp-res\n    compression direction both", None, "deflate"),
    ("filter comp-req\n    compression direction response", "gzip", None),
    ("filter compression", None, "deflate"), ("filter compression\n    compression direction both", "gzip", "deflate"),
    # each of two proxies has a direction; those of a backend do not exclude the other of its frontend
    (f"filter comp-res\n    {BACKEND}filter comp-req", "gzip", "deflate"),
    (f"filter comp-req\n    {BACKEND}filter comp-res", "gzip", "deflate"),
    (f"{BACKEND}filter comp-req", "gzip", "deflate"), (f"{BACKEND}filter comp-res", None, "deflate"),
    (f"filter comp-req\n    {BACKEND}compression direction response", None, "deflate"),
    # a sequence leaves one out, where the other proxy's may act; offload and the choice do not depend on that of requests
    ("filter comp-req\n    filter comp-res\n    filter-sequence response comp-res\n    filter-sequence request comp-req", "gzip", "deflate"),
    (f"filter comp-req\n    filter comp-res\n    {SLOW_IN}\n    filter-sequence request slow", None, "deflate"),
    (f"filter comp-req\n    filter comp-res\n    {SLOW_OUT}\n    filter-sequence response slow", "gzip", None),
    (f"filter compression\n    compression direction both\n    {SLOW_IN}\n    filter-sequence request bwlim-in", None, "deflate"),
    (f"filter compression\n    compression direction both\n    {SLOW_OUT}\n    filter-sequence response slow,comp-res", "gzip", "deflate"),
    (f"filter comp-res\n    {SLOW_OUT}\n    filter-sequence response slow\n    {BACKEND}filter comp-res", None, "deflate")])
def test_directions(web, lines, request_is, response_is):
    w = web(f"compression algo-req gzip\n    {lines}")
    sent = f"Content-Type: text/plain\r\nContent-Length: {len(TEXT)}\r\n"
    _, head, body = w.ask(method="POST", accept="deflate", more=sent, body=TEXT)
    assert head.get("content-encoding") == response_is
    assert (zlib.decompress(unchunk(body)[0]) if response_is else body) == TEXT
    head, _, body = w.origin.requests[-1].partition(b"\r\n\r\n")
    assert (b"content-encoding: gzip" in head.lower()) == (request_is == "gzip")
    if request_is:
        assert gzip.decompress(unchunk(body)[0]) == TEXT


@pytest.mark.parametrize("name", NAMES)
def test_large_pieces(web, name):
    """A stored response is taken out of the cache in pieces of tune.bufsize, which are longer than a block of DEFLATE."""
    w = web("compression algo br zstd\n    http-request cache-use c\n    http-response cache-store c",
            extra="tune.bufsize 200000\ncache c\n    total-max-size 4\n    max-object-size 500000")
    w.origin.fields += "Cache-Control: max-age=60\r\n"
    dice = random.Random(1)
    w.origin.body = b"".join(dice.randbytes(100) + b"text" * 25 for _ in range(2000))
    for accept in (None, name):
        status, head, rest = w.ask(accept=accept)
        assert (status, head.get("content-encoding")) == (200, accept)
    body, _, whole = unchunk(rest)
    assert (decode(name, body), whole) == ((w.origin.body, True), True)
    assert len(w.origin.requests) == 1


def test_least_size_of_a_backend(web):
    """Zero is one: all sizes, whatever the frontend has."""
    w = web(f"compression minsize-res {len(TEXT) + 1}\n    {BACKEND}compression minsize-res 0")
    assert w.encoding() == "gzip"
    w = web(f"compression minsize-res {len(TEXT) + 1}\n    {BACKEND}compression algo gzip")
    assert w.encoding() is None


def test_no_transform(web):
    """A request that forbids it is not compressed, either (RFC 9110, 7.7)."""
    w = web("filter comp-req\n    compression algo-req gzip")
    sent = f"Content-Type: text/plain\r\nContent-Length: {len(TEXT)}\r\n"
    for fields, is_compressed in (("", True), ("Cache-Control: max-age=0, no-transform\r\n", False)):
        w.ask(method="POST", more=sent + fields, body=TEXT)
        assert (b"content-encoding: gzip" in w.origin.requests[-1].lower()) == is_compressed


def test_preference(web):
    """Among equal weights the order of the configuration counts, where it has algorithms of tacit's own."""
    w = web("compression algo-res zstd br")
    # the list is gzip deflate raw-deflate zstd br
    for accept, name in (("br, gzip", "gzip"), ("br, zstd", "zstd"), ("br, zstd;q=0.9, gzip;q=0.8", "br"),
                         ("gzip;q=0.5, *", "deflate"), ("gzip;q=0, deflate;q=0, *", "zstd"), ("br;q=0, zstd;q=0", None)):
        assert w.encoding(accept=accept) == name


def test_memory(web):
    """Without memory for a compressor of its own a response gets another algorithm, or none."""
    w = web("compression algo-res br", extra="nbthread 1\n    maxzlibmem 1")
    w.origin.cut, w.origin.holds = 30000, threading.Event()
    with socket.create_connection(("127.0.0.1", w.port), timeout=WAIT) as s:
        s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nAccept-Encoding: br\r\n\r\n")
        assert b"content-encoding: br" in s.recv(65536).lower()
        w.origin.holds, held = None, w.origin.holds
        w.origin.cut = None
        assert w.encoding(accept="br, gzip;q=0.5") == "gzip"
        assert w.encoding(accept="br") is None
        held.set()
        recv_cut(s)
    w.daemon.until("sessions eq 0")
    assert w.encoding(accept="br, gzip;q=0.5") == "br"


@pytest.mark.parametrize("name", NAMES)
def test_http2(web, name):
    """The client speaks HTTP/2, and so does a server, which is tacit itself."""
    inner, outer = free_port(), free_port()
    w = web(f"""option httpclose
listen inner
    bind 127.0.0.1:{inner} proto h2
    mode http
    compression direction both
    compression algo-req {name}
    server s 127.0.0.1:{{origin}}
listen outer
    bind 127.0.0.1:{outer} proto h2
    mode http
    compression algo {name}
    server s 127.0.0.1:{inner} proto h2 pool-purge-delay 100ms
backend unused
""")
    w.origin.framing = "chunked"
    sent = ["-d", "@-", "-H", "Content-Type: text/plain"]
    out = subprocess.run(["curl", "-si", "--http2-prior-knowledge", "-H", f"Accept-Encoding: {name}", *sent, f"http://127.0.0.1:{outer}/"],
                         input=TEXT, capture_output=True, timeout=WAIT, check=False).stdout
    head, _, body = out.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/2 200")
    assert f"content-encoding: {name}".encode() in head.lower()
    # trailers follow
    assert decode(name, body.removesuffix(b"x-trailer: t\r\n")) == (TEXT, True)
    head, _, body = w.origin.requests[-1].partition(b"\r\n\r\n")
    assert f"content-encoding: {name}".encode() in head.lower()
    assert decode(name, unchunk(body)[0]) == (TEXT.replace(b"\n", b""), True)


def test_levels_of_zlib(web):
    w = web(extra="tune.comp.maxlevel 9\ntune.zlib.memlevel 9\ntune.zlib.windowsize 15")
    assert gzip.decompress(unchunk(w.ask()[2])[0]) == TEXT
    assert zlib.decompress(unchunk(w.ask(accept="deflate")[2])[0]) == TEXT


def test_counted(web):
    w = web("compression direction both\n    compression algo-req gzip")
    packed = unchunk(w.ask()[2])[0]

    def column(name, row="FRONTEND"):
        first, *rows = admin(w.sock, "show stat").splitlines()
        at = first.removeprefix("# ").split(",").index(name)
        return next(int(r.split(",")[at]) for r in rows if r.startswith(f"web,{row},"))

    for row in ("FRONTEND", "BACKEND"):
        assert [column(f"comp_{c}", row) for c in ("in", "out", "byp", "rsp")] == [len(TEXT), len(packed), 0, 1]
    # bytes of requests are no bytes of responses
    w.ask(accept=None, method="POST", more=f"Content-Type: text/html\r\nContent-Length: {len(TEXT)}\r\n", body=TEXT)
    assert b"content-encoding: gzip" in w.origin.requests[-1].lower()
    for row in ("FRONTEND", "BACKEND"):
        assert [column(f"comp_{c}", row) for c in ("in", "out", "byp", "rsp")] == [len(TEXT), len(packed), 0, 1]
    # above the limit nothing is compressed any more
    admin(w.sock, "set rate-limit http-compression global 1")
    assert "CompressBpsRateLim: 1024" in admin(w.sock, "show info")
    assert "CompressBpsIn: " in admin(w.sock, "show info")


def test_fetches(web, tmp_path):
    """They are known in logs; rules come before the decision."""
    logs = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    logs.settimeout(WAIT)
    logs.bind(str(tmp_path / "log"))
    with logs:
        w = web('http-after-response set-header X-Early %[res.comp]\n    log-format "comp=%[res.comp],%[res.comp_algo]"\n'
                f"    log {tmp_path}/log local0")
        assert w.ask(accept="deflate")[1]["x-early"] == "0"
        assert logs.recv(4096).endswith(b"comp=1,deflate\n")
        w.ask(accept=None)
        assert logs.recv(4096).endswith(b"comp=0,-\n")


# --- bodies of all kinds, end to end ---

BODIES = 100_000 if SLOW else 600
AT_ONCE = 50   # requests of one client


def body_of(n):
    """A body that depends on its number alone: text, bytes without order, or what is compressed already."""
    dice = random.Random(n)
    size = dice.choice((0, 1, 10, 1000, 5000, 15000, 16384, 20000, 40000, 100000)) + dice.randrange(100) * (n % 3 != 0)
    if n % 4 == 0:
        return dice.randbytes(size)
    text = b" ".join(dice.choices((b"tacit", b"<p>", b"</p>\n", b"order", b"0.5", b'"name":'), k=size // 3 + 1))[:size]
    return zlib.compress(text) if n % 4 == 1 else text


class Bodies:
    """An origin that sends bodies in pieces; some wait until the one before has been received."""

    def __init__(self):
        self.conns = []

    def close(self):
        """Ends connections that wait for a request."""
        for conn in self.conns:
            with contextlib.suppress(OSError):
                conn.shutdown(socket.SHUT_RDWR)

    def __call__(self, conn):
        self.conns.append(conn)
        rest = b""
        while True:
            while b"\r\n\r\n" not in rest:
                got = conn.recv(65536)
                if not got:
                    return
                rest += got
            head, _, rest = rest.partition(b"\r\n\r\n")
            self.answer(conn, int(head.split()[1][1:]))

    @staticmethod
    def answer(conn, n):
        conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        dice, body = random.Random(-n), body_of(n)
        is_chunked = n % 2
        framing = "Transfer-Encoding: chunked" if is_chunked else f"Content-Length: {len(body)}"
        conn.sendall(f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{framing}\r\n\r\n".encode())
        ends = sorted({dice.randrange(len(body) + 1) for _ in range(dice.randrange(4))} | {len(body)})
        for start, end in zip([0, *ends], ends):
            piece = body[start:end]
            if piece:
                conn.sendall(b"%x\r\n%s\r\n" % (len(piece), piece) if is_chunked else piece)
            if end < len(body) and n % 20 == 7:
                delivered(conn)
        if is_chunked:
            conn.sendall(b"0\r\n\r\n")


@pytest.mark.parametrize("how", ["h1", "tls", "tls h2"])
def test_thousand_bodies(daemon, tmp_path, how):
    """Clients get the bytes of the server, whatever they are and however they come, in a stream that ends."""
    ports, name = free_ports(2), "a.test"
    pem = Authority(tmp_path).make("a.pem", name, [name])
    bodies = Bodies()
    origin = Origin(bodies)
    alpn = "alpn h2" if how == "tls h2" else "alpn http/1.1"
    daemon(cfg(ports[0], origin.port, f"bind 127.0.0.1:{ports[1]} ssl crt {pem} {alpn}\n    compression algo br zstd"), extra="nbthread 2")
    url = f"http://127.0.0.1:{ports[0]}/" if how == "h1" else f"https://127.0.0.1:{ports[1]}/"
    coded = 0
    for turn, start in enumerate(range(0, BODIES // 3, AT_ONCE)):
        coding = NAMES[turn % 4]
        numbers = range(start, start + AT_ONCE)
        done = subprocess.run(
            ["curl", "-sk", "--http2" if how == "tls h2" else "--http1.1", "-H", f"Accept-Encoding: {coding}", "-o", tmp_path / "body.#1",
             "-w", "%{http_code} %header{content-encoding}\n", f"{url}[{start}-{start + AT_ONCE - 1}]"],
            capture_output=True, timeout=WAIT * 6, check=True, text=True)
        seen = dict(zip(numbers, done.stdout.splitlines()))
        assert set(seen.values()) <= {"200 ", f"200 {coding}"}, seen
        files = {n: tmp_path / f"body.{n}" for n in numbers}
        encoded = [n for n in numbers if seen[n] != "200 "]
        wrong = [n for n in encoded if decode(coding, files[n].read_bytes()) != (body_of(n), True)]
        assert not wrong, (coding, wrong)
        assert all((files[n].read_bytes() if files[n].exists() else b"") == body_of(n) for n in numbers if n not in encoded)
        coded += len(encoded)
        for path in files.values():
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
    assert coded > BODIES // 3 * 3 // 4
    bodies.close()
    origin.close()
