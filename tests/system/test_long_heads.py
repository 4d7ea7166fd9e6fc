"""Headers that rules make long, with and without bodies that come with the header. A header may become as long as
tune.bufsize, whatever stands behind it. HAProxy does the same, but for bodies that fill the buffer: there it fails."""

import h2_raw as raw
import pytest
from conftest import connect, free_port
from subject import LogServer, only_tacit

# A buffer has 16384 bytes, and maxrewrite is 1024: the last of these does not fit.
SIZES = (900, 1000, 1100, 4000, 8000, 15000, 15900, 16500)
BODIES = {"none": 0, "length": 100, "length-8000": 8000, "length-40000": 40000, "chunked-8000": 8000, "chunked-40000": 40000}


def fits(size):
    """The expected outcome, for any body."""
    return size < 16000


def framed(name):
    """(the end of a head with its body, the body)"""
    n = BODIES[name]
    data = (b"0123456789abcdef" * (n // 16 + 1))[:n]
    if name == "none":
        return b"Content-Length: 0\r\n\r\n", b""
    if name.startswith("length"):
        return b"Content-Length: %d\r\n\r\n" % n + data, data
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in
                      (data[i:i + 1000] for i in range(0, n, 1000)))
    return b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n", data


def read_message(stream):
    """(head, body), both b"" at the end of the stream."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        line = stream.readline()
        if not line:
            return b"", b""
        head += line
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
    if fields.get(b"transfer-encoding") == b"chunked":
        body = b""
        while n := int(stream.readline(), 16):
            body += stream.read(n)
            assert stream.readline() == b"\r\n"
        assert stream.readline() == b"\r\n"
        return head, body
    return head, stream.read(int(fields.get(b"content-length", 0)))


def lengths(head):
    """The lengths of the fields X-Long."""
    return [len(line) - len("x-long: ") for line in head.split(b"\r\n") if line.lower().startswith(b"x-long: ")]


class Pair:
    """The subject with its rules, and a server that answers with the body that the path names."""

    def __init__(self, daemon, origins, direction, mode, sizes=SIZES, extra=""):
        self.log, self.got = LogServer(), []
        self.port = free_port()
        where = {"request": "http-request", "response": "http-response", "after": "http-after-response"}[direction]
        # The path is one of the request: responses know it from a variable.
        rules = ["http-request set-var(txn.size) path,field(2,/)"]
        if mode == "loose":
            rules.append(f"{where} strict-mode off")
        for size in sizes:
            parts = 10 if mode == "parts" else 1
            rules += [f"{where} add-header X-Long {'a' * (size // parts)} if {{ var(txn.size) -m str {size} }}"] * parts
        lines = "\n ".join(rules)
        self.d = daemon(f"""
defaults
 mode http
 timeout client 1m
 timeout server 1m
 timeout connect 1m
 option http-server-close
 log 127.0.0.1:{self.log.port} local0
 log-format "%ST/%ts"
frontend f
 bind 127.0.0.1:{self.port}
 default_backend b
 {lines}
backend b
 server s 127.0.0.1:{origins(self.serve).port}
""", extra=extra)

    def serve(self, conn):
        stream = conn.makefile("rb")
        while True:
            head, body = read_message(stream)
            if not head:
                return
            self.got.append((head, body))
            conn.sendall(b"HTTP/1.1 200 OK\r\n" + framed(head.split(b" ")[1].split(b"/")[2].decode())[0])

    def ask(self, size, asked="none", sent="none"):
        """(status, head, body) of the answer."""
        end = framed(sent)[0]
        with connect(self.port) as conn:
            conn.sendall(b"%s /%d/%s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" %
                         (b"GET" if sent == "none" else b"POST", size, asked.encode()) + (b"\r\n" if sent == "none" else end))
            head, body = read_message(conn.makefile("rb"))
        return int(head.split(b" ")[1]), head, body

    def failed(self):
        """The column wrew of the frontend."""
        head, *rows = self.d.admin("show stat").strip().split("\n")
        at = head.split(",").index("wrew")
        return next(int(row.split(",")[at]) for row in rows if row.startswith("f,FRONTEND,"))

    def logged(self, n):
        return self.log.lines.wait(n)[n - 1].rsplit(" ", 1)[1]


@pytest.mark.parametrize("mode", ["strict", "loose", "parts"])
def test_requests(daemon, origins, mode):
    p, failed, n = Pair(daemon, origins, "request", mode), 0, 0
    for name in BODIES:
        for size in SIZES:
            good = fits(size)
            status, _, _ = p.ask(size, sent=name)
            n, failed = n + 1, failed + (not good)
            assert p.failed() == failed, (name, size)
            if not good and mode != "loose":
                assert (status, p.logged(n)) == (500, "500/PR"), (name, size)
                continue
            head, body = p.got.pop()
            assert (status, body) == (200, framed(name)[1]), (name, size)
            assert sum(lengths(head)) == (size if good else 0), (name, size)
            assert p.logged(n) == "200/--"
    assert not p.got
    p.log.close()


@pytest.mark.parametrize("mode", ["strict", "loose", "parts"])
def test_responses(daemon, origins, mode):
    p, failed, n = Pair(daemon, origins, "response", mode), 0, 0
    for name in BODIES:
        for size in SIZES:
            good = fits(size)
            status, head, body = p.ask(size, asked=name)
            n, failed = n + 1, failed + (not good)
            assert p.failed() == failed, (name, size)
            if not good and mode != "loose":
                assert (status, p.logged(n)) == (500, "500/PH"), (name, size)
                continue
            assert (status, body) == (200, framed(name)[1]), (name, size)
            assert sum(lengths(head)) == (size if good else 0), (name, size)
            assert p.logged(n) == "200/--"
    p.log.close()


def test_after_response(daemon, origins):
    """A failure counts for the response, and for the page instead of it if it does not fit either."""
    p = Pair(daemon, origins, "after", "strict")
    status, head, _ = p.ask(15900, asked="length")
    assert (status, lengths(head), p.failed()) == (200, [15900], 0)
    status, head, _ = p.ask(16500, asked="length")
    assert (status, lengths(head), p.failed(), p.logged(2)) == (500, [], 2, "500/PH")
    p.log.close()


@pytest.mark.parametrize("direction", ["request", "response"])
def test_larger_buffers_take_longer_headers(daemon, origins, direction):
    p = Pair(daemon, origins, direction, "parts", (16500, 60000, 66000), "tune.bufsize 65536")
    for size in (16500, 60000):
        status, head, _ = p.ask(size, "length", "length")
        assert status == 200 and sum(lengths(p.got.pop()[0] if direction == "request" else head)) == size
    assert p.ask(66000, "length", "length")[0] == 500 and p.failed() == 1
    p.log.close()


@only_tacit
@pytest.mark.parametrize("fields", [[(f"x{i}", "y") for i in range(120)], [(f"x{i}", "y") for i in range(200)], [("x", "y" * 15900)]],
                         ids=["120 fields", "200 fields", "16000 bytes"])
def test_over_h2_is_answered_and_logged(daemon, fields):
    """A head of HTTP/2 that is too long gets 431 and a log line, whichever part of the program finds it."""
    log, port = LogServer(), free_port()
    p = daemon(f'defaults\n mode http\n timeout client 1m\n log 127.0.0.1:{log.port} local0\n log-format "%ci/ [-] %ts %{{+Q}}r"\n'
               f"frontend f\n bind 127.0.0.1:{port}\n http-request return status 200\n")
    with raw.Client(port) as c:
        c.send(raw.request(1, *fields))
        assert c.outcome() == ("response", 431)
        c.send(raw.request(3))
        assert c.response(3)[0] == 200
    assert log.wait(2) == ['127.0.0.1/ [-] PR "<BADREQ>"', '127.0.0.1/ [-] LR "GET http://a.test/ HTTP/2.0"']
    assert p.stop() == 0
    log.close()
