"""Requests of HTTP/2 that would be others in HTTP/1, judged by the bytes that a server of HTTP/1 receives: each of them is
refused, or is one request with the fields that were sent."""

import itertools
import re

import h2_raw as raw
import pytest
from conftest import free_port
from h2_raw import DATA, END_HEADERS, END_STREAM, HEADERS, block, frame
from subject import only_tacit
from test_h2 import ok, serve

pytestmark = only_tacit

BAD = [b"\r\n", b"\n", b"\r", b"\0", b"\r\n\r\nGET /x HTTP/1.1\r\nHost: b\r\n\r\n", b"\nx: y", b" HTTP/1.1\r\nx: y\r\n\r\n"]
CONTROLS = [bytes([n]) for n in (*range(1, 9), 11, 12, *range(14, 32), 127)]


def base(**other):
    """The pseudo-header fields of a request, some of them others, or None: left out."""
    all = {"method": b"POST", "scheme": b"http", "authority": b"a.test", "path": b"/p", **other}
    return [(b":" + n.encode(), v) for n, v in all.items() if v is not None]


def around(value, bad):
    return [bad + value, value + bad, value[:1] + bad + value[1:]]


def attempts():
    """(name, fields, body, trailers): all have to be refused, but where the name begins with `ok`."""
    for bad in BAD + CONTROLS + [b" "]:
        for part, value in (("method", b"POST"), ("path", b"/p"), ("authority", b"a.test"), ("scheme", b"http")):
            for v in around(value, bad):
                yield f"{part} {v!r}", base(**{part: v}), b"", None
    for bad in BAD:
        for v in around(b"value", bad):
            yield f"value {v!r}", base() + [(b"x-a", v)], b"", None
            yield f"cookie {v!r}", base() + [(b"cookie", v)], b"", None
            yield f"trailer {v!r}", base(), b"body", [(b"x-a", v)]
        for v in around(b"x-a", bad):
            yield f"name {v!r}", base() + [(v, b"v")], b"", None
            yield f"trailer name {v!r}", base(), b"body", [(v, b"v")]
    for name in (b"x a", b"x:a", b"x-a ", b" x-a", b"", b"X-A", b"x\x80", b"x(", b"\tx", b"x/y", b"host:", b":host"):
        yield f"name {name!r}", base() + [(name, b"v")], b"", None
    for name, value in ((b"transfer-encoding", b"chunked"), (b"transfer-encoding", b"identity"), (b"connection", b"close"),
                        (b"connection", b"content-length"), (b"proxy-connection", b"close"), (b"keep-alive", b"1"), (b"upgrade", b"h2c"),
                        (b"te", b"chunked"), (b"te", b"trailers, chunked"), (b"te", b"gzip")):
        yield f"{name!r}: {value!r}", base() + [(name, value)], b"0\r\n\r\nGET /x HTTP/1.1\r\nHost: b\r\n\r\n", None
        yield f"trailer {name!r}", base(), b"body", [(name, value)]
    for length in (b"3", b"5", b"0", b"-4", b"+4", b"4,4", b"4 ", b"0x4", b"4\t", b"", b"4;", b"99999999999999999999", b"1e1", b"\xb2"):
        yield f"length {length!r}", base() + [(b"content-length", length)], b"body", None
        yield f"length {length!r} and 4", base() + [(b"content-length", length), (b"content-length", b"4")], b"body", None
        yield f"length {length!r}, trailers", base() + [(b"content-length", length)], b"body", [(b"x-a", b"b")]
    for name in (b"content-length", b"host", b":path", b"te"):
        yield f"trailer {name!r}", base(), b"body", [(name, b"0")]
    for authority in (b"user@a.test", b"a.test/x", b"a.test?x", b"a.test#x", b"a.test\\x", b"a.test,b.test", b"a.test:x", b"a.test:80:80", b"", b"a b"):
        yield f"authority {authority!r}", base(authority=authority), b"", None
        yield f"host {authority!r}", base(authority=None) + [(b"host", authority)], b"", None
    for path in (b"", b"p", b"*", b"http://b/p", b"/p#x", b"/p x", b"/p\tx", b"@b/p"):
        yield f"path {path!r}", base(path=path), b"", None
    yield "two hosts", base(authority=None) + [(b"host", b"a"), (b"host", b"b")], b"", None
    # Right ones that look alike.
    yield "ok length", base() + [(b"content-length", b"4")], b"body", None
    yield "ok length twice", base() + [(b"content-length", b"4"), (b"content-length", b"4")], b"body", None
    yield "ok text of HTTP/1", base(), b"0\r\n\r\nGET /x HTTP/1.1\r\nHost: b\r\n\r\n", None
    yield "ok host beside authority", base() + [(b"host", b"b.test")], b"body", None
    yield "ok trailers", base() + [(b"te", b"trailers")], b"body", [(b"x-a", b"b")]
    yield "ok tab inside", base() + [(b"x-a", b"a\tb")], b"body", None


@pytest.fixture
def server_and_port(daemon, origins):
    handle = serve(ok)
    server = origins(handle)
    port = free_port()
    daemon(f"defaults\n mode http\n timeout client 1m\n timeout server 1m\n timeout connect 1m\n timeout http-keep-alive 1m\n"
           f"frontend f\n bind 127.0.0.1:{port}\n default_backend b\n"
           f"backend b\n server s 127.0.0.1:{server.port} pool-purge-delay 100ms\n")
    return handle, port


def test_requests(server_and_port):
    """Every attempt on one connection with the others, and an ordinary request behind it."""
    handle, port = server_and_port
    wrong, n, c, count = [], 1, raw.Client(port), 0
    for name, fields, body, trailers in attempts():
        count += 1
        c.send(frame(HEADERS, END_HEADERS, n, block(*fields)), frame(DATA, 0 if trailers else END_STREAM, n, body))
        if trailers:
            c.send(frame(HEADERS, END_HEADERS | END_STREAM, n, block(*trailers)))
        status = c.response(n)[0]
        before = len(handle.requests)
        c.send(raw.request(n + 2, path=f"/after{n}"))
        assert c.response(n + 2)[0] == 200, name
        new = handle.requests[before:]
        if [r[0].split(b" ")[1] for r in new] != [b"/after%d" % n]:
            wrong.append(f"{name}: then the server received {new}")
        if name.startswith("ok") != (status == 200):
            wrong.append(f"{name}: {status}")
        n += 4
    c.sock.close()
    for head, _ in handle.requests:
        lines = head.split(b"\r\n")
        if not re.fullmatch(rb"(GET|POST) /(p|after\d+) HTTP/1\.1", lines[0]) or re.search(rb"[\x00-\x08\x0a-\x1f\x7f]", b"".join(lines)):
            wrong.append(f"received {head!r}")
        names = [line.split(b":")[0].lower() for line in lines[1:]]
        if names.count(b"host") != 1 or names.count(b"content-length") + names.count(b"transfer-encoding") > 1:
            wrong.append(f"received {head!r}")
    assert not wrong, "\n".join(itertools.islice(wrong, 20))
    assert count > 500
