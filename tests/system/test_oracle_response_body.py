"""`http-response wait-for-body`, `http-request wait-for-body time 0` and `res.body`: what the client gets of HAProxy and of tacit."""

import contextlib
import socket
import struct
import threading

import oracle
import test_oracle_observe
from conftest import WAIT, free_port
from facts import delivered
from oracle import Subject
from subject import LogServer

OK = b"HTTP/1.1 200 OK\r\n"
OK9 = OK + b"Content-Length: 9\r\n\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
RESET, SILENCE = object(), object()
# The parts of the server's answer, by path: each is sent when the proxy's kernel has the one before. Then it closes.
ANSWERS = {
    "all": [OK9 + b"abcdefghi"],
    "parts": [OK9, b"abc", b"def", b"ghi"],
    "late": [OK9 + b"abc", SILENCE],
    "closes": [OK9 + b"abc"],
    "resets": [OK9 + b"abc", RESET],
    "to-the-end": [OK + b"\r\nabc", b"def"],
    "chunks": [CHUNKED + b"3\r\nab", b"c\r\n3\r", b"\ndef\r\n0\r\n", b"\r\n"],
    "bad-chunk": [CHUNKED + b"3\r\nabc\r\n", b"x", SILENCE],
    "204": [b"HTTP/1.1 204 No\r\n\r\n"],
    "head": [OK9],
    "denied": [OK9 + b"abc", b"badghi"],
    "least": [OK9 + b"abcdef", SILENCE],
    "unlimited": [OK9 + b"abc", b"defghi"],
    "busy": [b"HTTP/1.1 503 Busy\r\nContent-Length: 9\r\n\r\nabc", b"defghi"],
    "post": [OK9 + b"abcdefghi"],
}
CFG = """defaults
 mode http
 option http-server-close
 log 127.0.0.1:{log} local0
 log-format "%[var(txn.p)] %ST %ts %rc"
 timeout connect 1h
 timeout client 1h
 timeout server 1h
 retries 1
 retry-on 503
frontend f
 bind 127.0.0.1:{front}
 http-request set-var(txn.p) path
 http-request wait-for-body time 0 if {{ path /post }}
 http-request set-header X-Q %[req.body_len]
 http-response wait-for-body time 1h at-least 6 if {{ var(txn.p) -m sub least }}
 http-after-response set-header X-After %[res.body_len]/%[res.body_size]
 default_backend b
backend b
 # Its server goes silent, after the part that the client gets.
 http-request set-timeout server BRIEF if {{ path /least }}
 http-response wait-for-body time 0 if {{ var(txn.p) -m str /unlimited }}
 http-response wait-for-body time BRIEF if {{ var(txn.p) -m str /late }}
 http-response wait-for-body time 1h unless {{ var(txn.p) -m sub late least unlimited }}
 http-response set-header X-L %[res.body_len]/%[res.body_size]/%[res.body,hex]
 http-response deny if {{ res.body -m sub bad }}
 server s 127.0.0.1:{server}
"""


class Server(test_oracle_observe.Server):
    def __init__(self):
        self.silent = threading.Semaphore(0)
        super().__init__()

    def serve(self, connection):
        with connection, contextlib.suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head and (part := connection.recv(4096)):
                head += part
            for part in ANSWERS[head.split(b" ")[1].decode().strip("/")]:
                if part is RESET:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                elif part is SILENCE:
                    self.silent.release()
                    connection.recv(4096)  # until the proxy gives up, or the client has left
                else:
                    connection.sendall(part)
                    delivered(connection)


def got(data):
    """The status, the fields that the rules have made, and the body."""
    head, _, body = data.rpartition(b"\r\n\r\n") if b"chunked" not in data else data.partition(b"\r\n\r\n")
    fields = dict(line.lower().split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
    if b"chunked" in data:
        # HAProxy puts the content in chunks of its own.
        body = b"".join(body.split(b"\r\n")[1::2])
    return head.split(b"\r\n")[0].decode(), fields.get("x-l"), fields.get("x-after"), body


def ask(subject, server, port, path):
    with socket.create_connection(("127.0.0.1", port), WAIT) as c:
        if path == "post":
            c.sendall(b"POST /post HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 6\r\n\r\nabc")
            delivered(c)
            c.sendall(b"def")
        else:
            method = "HEAD" if path == "head" else "GET"
            c.sendall(f"{method} /{path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
        if SILENCE in ANSWERS[path]:
            server.silent.acquire()
        if path in ("late", "least"):
            subject.expire()
        data = b""
        with contextlib.suppress(ConnectionResetError):
            while part := c.recv(65536):
                data += part
                # The server stays silent until its client has closed.
                if path == "least" and data.endswith(b"abcdef"):
                    break
        return got(data)


def script(program, directory):
    directory.mkdir()
    server, log, front = Server(), LogServer(), free_port()
    subject = Subject(program, directory, CFG.format(log=log.port, front=front, server=server.port))
    try:
        found = {path: ask(subject, server, front, path) for path in ANSWERS}
        rows = subject.stat()[1]
        lines = log.lines.until(lambda lines: sum(": /" in line for line in lines) >= len(ANSWERS), "lines of all requests")
        ends = sorted(line.split(": ", 1)[1] for line in lines if ": /" in line)
        return found, ends, [rows[row][c] for row in (("b", "s"), ("b", "BACKEND")) for c in ("eresp", "dresp", "hrsp_5xx")]
    finally:
        subject.stop()
        server.socket.close()
        log.close()


def test_response_body(tmp_path):
    found, ends, _ = oracle.same(lambda program: script(program, oracle.at(tmp_path, program)))
    assert found["parts"][1] == "9/9/616263646566676869", found
    assert "/late 504 sR 0" in ends
