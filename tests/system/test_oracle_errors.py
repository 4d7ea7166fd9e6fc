"""Invalid requests and responses through HAProxy and tacit: what show errors says of them is compared."""

import contextlib
import re
import socket
import threading

import oracle
from conftest import TACIT, WAIT, free_ports
from oracle import Subject

REQUESTS = [
    b"GET /a b HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /ok HTTP/1.1\r\nHo(st: x\r\n\r\n",
    b"GET / HTTP/1.1\r\nhost: a\r\nlong: " + b"0123456789" * 12 + b"\r\nbad\x01\xff\t\x1b\\name: value\r\n\r\n",
    b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n",
    b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhelloX",
    b"GET / HTTP/1.0\r\nHost : x\r\n\r\n", b"GET / HTTP/1.1\r\n folded: x\r\n\r\n", b"GET / HTTP/1.1\r\n: x\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"GET /\x01 HTTP/1.1\r\n\r\n", b"G{T / HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nhost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    b"GET / HTTP/1.1\r\nhost: a\r\nContent-Length: x\r\n\r\n",
    b"GET / HTTP/1.1\r\nhost: a\r\nTransfer-Encoding: chunked, foo\r\n\r\n",
    b"GET / HTTP/1.1\r\nhost: a\r\nb: c\r\rX\r\n\r\n", b"\x16\x03\x01\x02", b"G\x80 / HTTP/1.1\r\n\r\n",
    # Lines that end at the last columns of the dump, or a little behind.
    *(b"(ET / HTTP/1.1\r\na: " + b"x" * n + tail + b"\r\n\r\n" for n in range(60, 73) for tail in (b"", b"\xff", b"\t")),
]
RESPONSES = [
    b"HTTP/1.1 200 OK\r\nbad name: x\r\n\r\nbody", b"HTTP/1.1 200 OK\r\ncontent-length: 1x\r\n\r\nbody", b"garbage\r\n\r\n",
    b"HTTP/1.1 2x0 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n",
    b"HTTP/1.1 200 OK\r\na: " + b"x" * 300 + b"\r\nb c: d\r\n\r\n",
]
QUESTIONS = ["", "-1", "fe", "be", "li", "-1 request", "-1 response", "li request", "li response", "li other", "nope", "99", "request"]


class Server:
    """Answers each request with what is to come next."""

    def __init__(self):
        self.sock = socket.create_server(("127.0.0.1", 0))
        self.port = self.sock.getsockname()[1]
        self.next = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            s, _ = self.sock.accept()
            # A request that turned out bad ends with a reset.
            with contextlib.suppress(OSError), s:
                s.recv(65536)
                s.sendall(self.next)


def ask(port, request):
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT) as s:
        s.sendall(request)
        s.shutdown(socket.SHUT_WR)
        try:
            while s.recv(65536):
                pass
        except ConnectionResetError:
            pass


def plain(text):
    """Without times, ports, ids, flags, and what depends on the size of buffers. tacit does not count bodies."""
    for what, by in ((r"\[\d+/\w+/[\d:.]+\]", "[date]"), (r"src 127.0.0.1:\d+", "src"), (r"flags 0x[0-9a-f]{8}", "flags"),
                     (r"\d+ free", "free"), (r"wraps at \d+", "wraps"), (r"\(#(?!-1\))\d+\)", "(#id)"),
                     (r"chunk len \d+", "chunk len"), (r"body len \d+", "body len")):
        text = re.sub(what, by, text)
    return text


def errors(program, directory):
    """{what was sent or asked: what show errors has said}"""
    server, reported = Server(), {}
    fe, li = free_ports(2)
    directory.mkdir()
    subject = Subject(program, directory, f"""
defaults
 mode http
 timeout connect 1m
 timeout client 1m
 timeout server 1m
frontend fe
 bind 127.0.0.1:{fe}
 default_backend be
backend be
 server s1 127.0.0.1:{server.port}
listen li
 bind 127.0.0.1:{li}
 server s2 127.0.0.1:{server.port}
""")
    def show(which):
        return plain(subject.admin("show errors " + which))

    try:
        reported["none"] = show("")
        for request in REQUESTS:
            ask(fe, request)
            reported[request] = show("fe")
        for server.next in RESPONSES:
            ask(fe, b"GET / HTTP/1.0\r\n\r\n")
            reported[server.next] = show("be")
        ask(li, REQUESTS[0])
        ask(li, b"GET / HTTP/1.0\r\n\r\n")
        for question in QUESTIONS:
            reported[question] = show(question)
        ids = {name: n for name, n in re.findall(r"(?:frontend|backend) (\w+) \(#(\d+)\)", subject.admin("show errors"))}
        for name, n in ids.items():
            reported["id of " + name] = show(n)
    finally:
        subject.stop()
    return reported


def test_show_errors_shows_the_same(tmp_path):
    want, got = oracle.both(lambda program: errors(program, oracle.at(tmp_path, program)))
    assert want[QUESTIONS[0]].count("invalid request") == 2 and want[QUESTIONS[0]].count("invalid response") == 2
    assert oracle.differences(want, got) == []


def test_the_latest_of_all_workers_is_shown(tmp_path):
    """While messages come to several workers, and are shown."""
    port, clients, each = free_ports(1)[0], 4, 60
    tmp_path.joinpath("t").mkdir()
    subject = Subject(TACIT, tmp_path / "t", f"""
global
 nbthread 3
defaults
 mode http
 timeout client 1m
listen fe
 bind 127.0.0.1:{port}
 http-request return status 200
""")

    def send():
        for _ in range(each):
            ask(port, b"GET / HTTP/1.1\r\n(: x\r\n\r\n")

    try:
        threads = [threading.Thread(target=send) for _ in range(clients)]
        for t in threads:
            t.start()
        shown = []
        while any(t.is_alive() for t in threads):
            text = subject.admin("show errors")
            shown += [int(n) for n in re.findall(r"event #(\d+),", text)]
            assert "invalid" not in text or "  00016  (: x\\r\\n\n" in text
        for t in threads:
            t.join()
        assert shown == sorted(shown) and len(set(shown)) > 3, shown
        text = subject.admin("show errors")
        assert f"] : {clients * each}\n" in text and f"event #{clients * each - 1}," in text
    finally:
        subject.stop()
