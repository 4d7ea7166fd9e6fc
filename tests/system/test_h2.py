"""HTTP/2 of clients and to servers, judged by curl, nghttp and the Python package h2."""

import socket
import ssl
import subprocess

import h2.config
import h2.connection
import h2.events
import pytest
from certs import Authority
from conftest import WAIT, connect, free_port, free_ports, recv_all
from subject import only_tacit

pytestmark = only_tacit

HTTP = "defaults\n mode http\n option http-server-close\n timeout client 1m\n timeout server 1m\n timeout connect 1m\n"


class Client:
    """A client of HTTP/2 that keeps what the streams were answered."""

    def __init__(self, port, context=None):
        self.sock = connect(port)
        if context:
            self.sock = context.wrap_socket(self.sock, server_hostname="a.test")
        self.conn = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        self.conn.initiate_connection()
        self.streams, self.goaway = {}, None
        self.flush()

    def flush(self):
        self.sock.sendall(self.conn.data_to_send())

    def send(self, method="GET", path="/", body=None, fields=(), end=True, authority="a.test"):
        """Sends a request; the number of its stream."""
        n = self.conn.get_next_available_stream_id()
        head = [(":method", method), (":scheme", "http"), (":authority", authority), (":path", path), *fields]
        self.conn.send_headers(n, head, end_stream=body is None and end)
        for i in range(0, len(body or b""), 16384):
            self.conn.send_data(n, body[i:i + 16384], end_stream=end and i + 16384 >= len(body))
        if body == b"":
            self.conn.end_stream(n)
        self.streams[n] = {"head": None, "body": b"", "end": False, "reset": None, "trailers": None, "informational": []}
        self.flush()
        return n

    def step(self):
        """Reads once; False at the end of the connection."""
        data = self.sock.recv(65536)
        if not data:
            return False
        for e in self.conn.receive_data(data):
            s = self.streams.get(getattr(e, "stream_id", None))
            if isinstance(e, h2.events.ResponseReceived):
                s["head"] = dict(e.headers)
            elif isinstance(e, h2.events.InformationalResponseReceived):
                s["informational"].append(dict(e.headers))
            elif isinstance(e, h2.events.TrailersReceived):
                s["trailers"] = dict(e.headers)
            elif isinstance(e, h2.events.DataReceived):
                s["body"] += e.data
                self.conn.acknowledge_received_data(e.flow_controlled_length, e.stream_id)
            elif isinstance(e, h2.events.StreamEnded):
                s["end"] = True
            elif isinstance(e, h2.events.StreamReset):
                s["reset"] = e.error_code
            elif isinstance(e, h2.events.ConnectionTerminated):
                self.goaway = e.error_code
        self.flush()
        return True

    def wait(self, *numbers):
        """Until these streams have ended; their results."""
        while not all(self.streams[n]["end"] or self.streams[n]["reset"] is not None for n in numbers):
            assert self.step(), "the connection ended"
        return [self.streams[n] for n in numbers]

    def get(self, *a, **kw):
        return self.wait(self.send(*a, **kw))[0]

    def __enter__(self):
        return self

    def __exit__(self, *a):
        self.sock.close()


def serve(answers):
    """Handles a connection of an HTTP/1 server: the answer depends on the path; it keeps the requests' bytes."""

    def handle(conn):
        data = b""
        while True:
            while b"\r\n\r\n" not in data:
                more = conn.recv(65536)
                if not more:
                    return
                data += more
            head, data = data.split(b"\r\n\r\n", 1)
            lower = head.lower()
            body = b""
            if b"transfer-encoding: chunked" in lower:
                while b"0\r\n\r\n" not in data and not (b"\r\n0\r\n" in data and data.endswith(b"\r\n\r\n")):
                    data += conn.recv(65536)
                body, data = data, b""
            elif b"content-length:" in lower:
                n = int(lower.split(b"content-length:")[1].split(b"\r\n")[0])
                while len(data) < n:
                    data += conn.recv(65536)
                body, data = data[:n], data[n:]
            path = head.split(b" ")[1].decode()
            handle.requests.append((head, body))
            conn.sendall(answers(path, head, body))

    handle.requests = []
    return handle


def ok(path, head, body):
    text = f"{path} {len(body)}".encode()
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nX-Kind: plain\r\n\r\n%s" % (len(text), text)


@pytest.fixture
def site(daemon, origins):
    """A frontend without TLS in front of an HTTP/1 server."""

    def make(answers=ok, rules="", extra="", clock=False):
        handle = serve(answers)
        server = origins(handle)
        port = free_port()
        p = daemon(f"{HTTP}frontend f\n bind 127.0.0.1:{port}\n{rules} default_backend b\nbackend b\n server s 127.0.0.1:{server.port}\n",
                   extra=extra, clock=clock)
        p.port, p.handle, p.origin = port, handle, server
        return p

    return make


def test_get(site):
    """A request arrives as one of HTTP/1.1 at the server, and its answer at the client."""
    p = site()
    with Client(p.port) as c:
        r = c.get(path="/one?two=3", fields=[("x-a", "b"), ("cookie", "a=1"), ("cookie", "b=2")])
    assert r["head"][":status"] == "200" and r["head"]["x-kind"] == "plain" and r["body"] == b"/one?two=3 0"
    head = p.handle.requests[0][0].decode().split("\r\n")
    assert head[0] == "GET /one?two=3 HTTP/1.1"
    assert head[1].lower() == "host: a.test" and "x-a: b" in head and "cookie: a=1; b=2" in head


def test_many_streams(site):
    """Streams of one connection are answered at once, each by its own."""
    p = site()
    with Client(p.port) as c:
        numbers = [c.send(path=f"/{i}") for i in range(60)]
        got = c.wait(*numbers)
    assert [r["body"] for r in got] == [f"/{i} 0".encode() for i in range(60)]


def test_long_download(daemon, origins, tmp_path):
    """A stream that sends for long and receives nothing is not taken for one that makes no progress."""
    size = 96 << 20

    def handle(conn):
        conn.recv(65536)
        conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        for _ in range(96):
            conn.sendall(bytes(1 << 20))

    port = free_port()
    daemon(f"{HTTP}frontend f\n bind 127.0.0.1:{port} proto h2\n default_backend b\n"
           f"backend b\n server s 127.0.0.1:{origins(handle).port}\n")
    subprocess.run(["curl", "-sSf", "--http2-prior-knowledge", "-o", tmp_path / "out", f"http://127.0.0.1:{port}/"], check=True,
                   timeout=4 * WAIT)
    assert (tmp_path / "out").stat().st_size == size


@pytest.mark.parametrize("persistence", ["http-server-close", "http-keep-alive", "httpclose"])
def test_streams_end(site, persistence):
    """A stream ends with its exchange, also where connections are kept: else the client would run out of them."""
    p = site(rules=f" option {persistence}\n")
    with Client(p.port) as c:
        for i in range(250):
            assert c.get(path=f"/{i}")["body"] == f"/{i} 0".encode()
        assert p.admin("show sess").count("fe=f") == 1


@pytest.mark.parametrize("size", [0, 1, 1000, 70000, 300000])
def test_bodies(site, size):
    """Bodies of both directions, with and without a length."""
    def answers(path, head, body):
        if b"chunked" in head.lower():
            body = body.replace(b"\r\n", b"")
        text = b"x" * size
        if path == "/chunked":
            return (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
                    (b"%x\r\n%s\r\n" % (size, text) if size else b"") + b"0\r\n\r\n")
        return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (size, text)

    p = site(answers)
    with Client(p.port) as c:
        for path in ("/length", "/chunked"):
            r = c.get(path=path)
            assert r["head"][":status"] == "200" and r["body"] == b"x" * size, path
        if size <= 65000:
            r = c.get("POST", "/length", body=b"y" * size, fields=[("content-length", str(size))])
            assert r["body"] == b"x" * size
            assert p.handle.requests[-1][1] == b"y" * size
            r = c.get("POST", "/length", body=b"y" * size)
            assert r["body"] == b"x" * size
            assert p.handle.requests[-1][1].count(b"y") == size


def test_trailers(site):
    """Trailers of a chunked response; the fields of a connection do not pass."""
    p = site(lambda *a: b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nKeep-Alive: x\r\nTrailer: X-T\r\n\r\n"
                        b"3\r\nabc\r\n0\r\nX-T: end\r\n\r\n")
    with Client(p.port) as c:
        r = c.get()
    assert r["body"] == b"abc" and r["trailers"] == {"x-t": "end"}
    assert "transfer-encoding" not in r["head"] and "keep-alive" not in r["head"] and "connection" not in r["head"]


def test_local_replies(site):
    """Rules answer as over HTTP/1."""
    p = site(rules=" http-request deny if { path /deny }\n http-request redirect location /x if { path /redirect }\n"
                   " http-request return status 200 content-type text/plain string hello if { path /return }\n")
    with Client(p.port) as c:
        assert c.get(path="/deny")["head"][":status"] == "403"
        r = c.get(path="/redirect")
        assert (r["head"][":status"], r["head"]["location"]) == ("302", "/x")
        r = c.get(path="/return")
        assert (r["head"][":status"], r["body"]) == ("200", b"hello")
        r = c.get("HEAD", path="/return")
        assert (r["head"][":status"], r["body"]) == ("200", b"")


def test_http1_stays(site):
    """The same port speaks HTTP/1, and does not take the preface where an option says so."""
    p = site()
    with connect(p.port) as s:
        s.sendall(b"GET /h1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        assert b"/h1 0" in recv_all(s)
    p = site(rules=" option disable-h2-upgrade\n")
    with connect(p.port) as s:
        s.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        assert recv_all(s).startswith(b"HTTP/1.1 505 ")


def test_preface_in_pieces(site):
    p = site()
    c = Client.__new__(Client)
    c.sock = connect(p.port)
    c.conn = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
    c.conn.initiate_connection()
    c.streams, c.goaway = {}, None
    data = c.conn.data_to_send()
    for i in range(30):
        c.sock.sendall(data[i:i + 1])
    c.sock.sendall(data[30:])
    assert c.get(path="/p")["body"] == b"/p 0"
    c.sock.close()


def test_tls(daemon, origins, tmp_path):
    """ALPN chooses; the log and the fetches say 2."""
    ca = Authority(tmp_path)
    pem = ca.make("s.pem", "a.test", ["a.test"])
    server = origins(serve(ok))
    port = free_port()
    daemon(f"{HTTP}frontend f\n bind 127.0.0.1:{port} ssl crt {pem} alpn h2,http/1.1\n"
           " http-request return status 200 content-type text/plain lf-string %[fc_http_major],%[req.ver],%[ssl_fc_alpn],%[url]"
           " if { path /v }\n"
           f" default_backend b\nbackend b\n server s 127.0.0.1:{server.port}\n")
    context = ssl.create_default_context(cafile=ca.pem)
    context.set_alpn_protocols(["h2"])
    with Client(port, context) as c:
        assert c.get(path="/s")["body"] == b"/s 0"
        assert c.get(path="/v")["body"] == b"2,2.0,h2,http://a.test/v"
    out = subprocess.run(["curl", "-sk", "--http1.1", f"https://127.0.0.1:{port}/v"], capture_output=True, timeout=WAIT)
    assert out.stdout == b"1,1.1,http/1.1,/v"
    out = subprocess.run(["curl", "-sk", "--http2", f"https://127.0.0.1:{port}/v"], capture_output=True, timeout=WAIT)
    assert out.stdout == b"2,2.0,h2,https://127.0.0.1:%d/v" % port


def test_fetches_of_tls(daemon, tmp_path):
    """Fetches of the hello, the keys and the errors give a stream what they give a request of HTTP/1."""
    ca = Authority(tmp_path)
    pem = ca.make("s.pem", "a.test", ["a.test"])
    port = free_port()
    asks = "%[ssl_fc_protocol_hello_id],%[ssl_fc_cipherlist_str],%[ssl_fc_session_key,hex,length],%[ssl_fc_err],%[ssl_c_err],%[ssl_c_ca_err]"
    daemon(f"{HTTP}frontend f\n bind 127.0.0.1:{port} ssl crt {pem} alpn h2,http/1.1\n"
           f" http-request return status 200 content-type text/plain lf-string {asks}\n",
           extra="tune.ssl.capture-buffer-size 800")
    context = ssl.create_default_context(cafile=ca.pem)
    context.set_alpn_protocols(["http/1.1"])
    with context.wrap_socket(connect(port), server_hostname="a.test") as c:
        c.sendall(b"GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n")
        answer = recv_all(c).partition(b"\r\n\r\n")[2]
    assert answer.startswith(b"771,TLS_") and answer.endswith(b",0,0,0")
    context.set_alpn_protocols(["h2"])
    with Client(port, context) as c:
        assert c.get()["body"] == answer


def test_a_reset_ends_one_stream(site):
    """A client that cancels a stream keeps the others."""
    p = site(rules=" http-request tarpit if { path /slow }\n timeout tarpit 1m\n")
    with Client(p.port) as c:
        slow = c.send(path="/slow")
        assert c.get(path="/a")["body"] == b"/a 0"
        c.conn.reset_stream(slow, 8)
        c.flush()
        assert c.get(path="/b")["body"] == b"/b 0"


@pytest.mark.parametrize("client", ["h1", "h2"])
def test_server(daemon, origins, client):
    """A server of HTTP/2, which is tacit itself: both kinds of clients, bodies and trailers."""
    def answers(path, head, body):
        if path == "/t":
            return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-T: end\r\n\r\n"
        return ok(path, head, body)

    server = origins(serve(answers))
    port, inner = free_ports(2)
    p = daemon(f"{HTTP}frontend f\n bind 127.0.0.1:{port}\n default_backend b\nbackend b\n server s 127.0.0.1:{inner} proto h2 pool-purge-delay 100ms\n"
               f"frontend g\n bind 127.0.0.1:{inner}\n default_backend c\nbackend c\n server s 127.0.0.1:{server.port}\n")
    if client == "h2":
        with Client(port) as c:
            numbers = [c.send(path=f"/{i}") for i in range(20)]
            assert [r["body"] for r in c.wait(*numbers)] == [f"/{i} 0".encode() for i in range(20)]
            assert c.get("POST", "/p", body=b"z" * 50000)["head"][":status"] == "200"
            r = c.get(path="/t")
            assert r["body"] == b"abc" and r["trailers"] == {"x-t": "end"}
    else:
        with connect(port) as s:
            for i in range(3):
                s.sendall(f"GET /{i} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
                got = b""
                while f"/{i} 0".encode() not in got:
                    got += s.recv(4096)
            s.sendall(b"POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
            assert b"/p 5" in recv_all(s)
    assert p.is_running()
