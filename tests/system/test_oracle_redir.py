"""`redir` of servers: what HAProxy and tacit answer, log and count."""

import re
import socket

import oracle
from conftest import WAIT, Origin, free_port, recv_all
from subject import LogServer
from test_conf_played import read_head

CFG = """global
    log 127.0.0.1:{log} local0
defaults
    log global
    mode http
    option httplog
    timeout connect 1m
    timeout client 1m
    timeout server 1m
listen l
    bind 127.0.0.1:{port}
    http-response set-header X-Response 1
    http-after-response set-header X-After 1
    cookie C insert
    server s 127.0.0.1:{origin} redir http://img.example.com cookie v
"""
END = "Host: a\r\nConnection: close\r\n\r\n"
REQUESTS = [
    "GET /x?y=1 HTTP/1.1", "GET /x?y=1#z HTTP/1.1", "HEAD /x HTTP/1.1", "GET http://a/abs?q HTTP/1.1", "GET http://a HTTP/1.1", "GET //x/../y HTTP/1.1",
    "GET /a%0d%0ab HTTP/1.1", "GET /? HTTP/1.1", "GET /x HTTP/1.0", "GET /b HTTP/1.1\r\nContent-Length: 3", "GET /c HTTP/1.1\r\nCookie: C=v",
    "GET /c HTTP/1.1\r\nCookie: C=other", "POST /x HTTP/1.1\r\nContent-Length: 0", "PUT /x HTTP/1.1\r\nContent-Length: 0", "OPTIONS * HTTP/1.1"]


def serve(conn):
    if read_head(conn) is not None:
        conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")


def play(program, directory):
    """By request: the answer, and its log line; then what is counted."""
    port, log, origin, out = free_port(), LogServer(), Origin(serve), []
    directory.mkdir()
    subject = oracle.Subject(program, directory, CFG.format(port=port, log=log.port, origin=origin.port))
    try:
        for n, request in enumerate(REQUESTS, 1):
            with socket.create_connection(("127.0.0.1", port), timeout=WAIT) as s:
                s.sendall(f"{request}\r\n{END}{'abc' if 'Length: 3' in request else ''}".encode())
                head, _, body = recv_all(s).partition(b"\r\n\r\n")
            first, *lines = head.decode().lower().split("\r\n")
            line = log.wait(n)[n - 1]
            out.append((request, first, sorted(lines), body, re.search(r" l/(\S+) \S+ (\d+) \d+ - - (\S+) ", line).groups()))
        _, rows = subject.stat()
        stat = {name: {col: rows["l", name].get(col) for col in ("lbtot", "hrsp_2xx", "hrsp_3xx", "connect", "econ", "intercepted")}
                for name in ("FRONTEND", "s", "BACKEND")}
    finally:
        subject.stop()
        log.close()
        origin.close()
    return out, stat


def test_requests_are_redirected(tmp_path):
    oracle.given(repr(REQUESTS))
    theirs, ours = oracle.both(lambda program: play(program, oracle.at(tmp_path, program)))
    assert ours == theirs
