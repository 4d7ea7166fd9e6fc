"""Compression by gzip and deflate: which responses are compressed, with which fields, and what the server is asked, by HAProxy and tacit.
Compressed bytes differ; what decoders make of them does not."""

import gzip
import zlib

import oracle
from conftest import Origin, connect, free_ports, recv_all
from oracle import Subject
from test_compression import unchunk

BODY = b"<p>a page with text that is worth it</p>\n" * 400
CFG = """defaults
 mode http
 timeout connect 1m
 timeout client 1m
 timeout server 1m
 compression type text/ application/json
frontend plain
 bind 127.0.0.1:{plain}
 compression algo gzip deflate
 default_backend b
frontend offload
 bind 127.0.0.1:{offload}
 compression algo gzip
 compression offload
 default_backend b
frontend zlib
 bind 127.0.0.1:{zlib}
 compression algo deflate gzip
 default_backend b
frontend raw
 bind 127.0.0.1:{raw}
 compression algo raw-deflate
 default_backend b
frontend identity
 bind 127.0.0.1:{identity}
 compression algo identity gzip
 default_backend b
frontend every
 bind 127.0.0.1:{every}
 default_backend typeless
frontend chosen
 bind 127.0.0.1:{chosen}
 compression algo gzip
 default_backend own
backend b
 server s 127.0.0.1:{origin}
backend own
 compression algo deflate
 compression type image/
 server s 127.0.0.1:{origin}
defaults
 mode http
 timeout connect 1m
 timeout client 1m
 timeout server 1m
backend typeless
 compression algo gzip
 server s 127.0.0.1:{origin}
"""
FRONTENDS = ("plain", "offload", "zlib", "raw", "every", "chosen", "identity")
HTML = "Content-Type: text/html\r\n"


def req(accept="gzip", method="GET", version="1.1", more="", frontend="plain", **res):
    fields = "".join(f"Accept-Encoding: {a}\r\n" for a in ([accept] if isinstance(accept, str) else accept or ()))
    return {"frontend": frontend, "request": f"{method} /%d HTTP/{version}\r\nHost: x\r\n{fields}{more}Connection: close\r\n\r\n", **res}


def res(fields="", **more):
    return req(fields=HTML + fields, **more)


AGENT = "User-Agent: Mozilla/"
CASES = {
    # Accept-Encoding
    **{f"accepts {a}": req(a) for a in (
        None, "", "gzip", "deflate", "identity", "br", "GZIP", "gzip, deflate", "deflate, gzip", "deflate,gzip;q=0.5", "gzip;q=0.5, deflate;q=0.8",
        "gzip;q=0", "gzip;q=0.0, deflate", "gzip;q=0.000", "gzip;q=0.001", "gzip;q=1.000", "gzip; q=0.5, deflate ; q=0.6", "br;q=1.0, gzip;q=0.8, *;q=0.1",
        "identity;q=1, gzip;q=0.5", "x-gzip", "gzipx", "xgzip", "br, zstd, gzip", "gzip;level=9", "gzip;q=", "gzip;q=2", "gzip;q=a", ",gzip", ";q=1", "*", "gzip;q=0, *", "deflate;q=0, *", "*;q=0.5, gzip;q=0.2", "*;q=0", "gzip, *;q=0")},
    "accepts in two lines": req(["br", "gzip"]),
    "accepts better in the second line": req(["gzip;q=0.4", "deflate;q=0.6"]),
    **{f"{f}: accepts {a}": req(a, frontend=f) for f in FRONTENDS[1:]
       for a in ("gzip", "deflate", "identity", "gzip, deflate", "deflate, gzip", "br", "gzip;q=0")},
    # requests
    **{f"{m} {v}": req(method=m, version=v) for m in ("GET", "HEAD", "OPTIONS", "DELETE") for v in ("1.0", "1.1")},
    "POST": req(method="POST", more="Content-Length: 0\r\n"),
    "Range": req(more="Range: bytes=0-9\r\n"),
    "no-transform is asked": req(more="Cache-Control: no-transform\r\n"),
    **{f"agent {a}": req(more=f"{AGENT}{a}\r\n") for a in (
        "5.0 (X11)", "4.0 (compatible; MSIE 5.5; Windows 98)", "4.0 (compatible; MSIE 6.0; Windows NT 5.1)",
        "4.0 (compatible; MSIE 6.0; Windows NT 5.1; SV1)", "4.0 (compatible; MSIE 7.0)", "4.0 (compatible; MSIE 8.0)", "4.0 (compatible; MSIE 10.0)", "4.08 [en]")},
    # responses
    **{f"status {s}": res(status=s) for s in ("200 OK", "201 Created", "202 Accepted", "203 Other", "206 Partial Content", "302 Found", "400 Bad",
                                             "404 Not Found", "500 Error")},
    **{f"status {s}": res(status=s, body=b"", framing="none") for s in ("204 No Content", "304 Not Modified")},
    **{f"status {s} HEAD": res(status=s, method="HEAD") for s in ("200 OK", "404 Not Found")},
    **{f"type {t}": req(fields=f"Content-Type: {t}\r\n" if t else "") for t in (
        None, "text/html", "text/html; charset=utf-8", "TEXT/PLAIN", "application/json", "application/jsonp", "application/javascript", "image/png",
        "multipart/mixed; boundary=x", "xtext/html", "text")},
    **{f"every type {t}": req(fields=f"Content-Type: {t}\r\n" if t else "", frontend="every") for t in (
        None, "image/png", "multipart/mixed; boundary=x", "Multipart/byteranges", "application/octet-stream")},
    "type of the backend": req(fields="Content-Type: image/svg\r\n", frontend="chosen", accept="gzip, deflate"),
    **{f"encoded as {e}": res(f"Content-Encoding: {e}\r\n") for e in ("gzip", "br", "identity")},
    **{f"tag {t}": res(f"ETag: {t}\r\n") for t in ('"a"', 'W/"a"', 'w/"a"', '""', '"a', "a", '"a"b', '"a"b"', "W/a")},
    "two tags": res('ETag: "a"\r\nETag: "b"\r\n'),
    "a tag, not accepted": res('ETag: "a"\r\n', accept="br"),
    "a tag of 404": res('ETag: "a"\r\n', status="404 Not Found"),
    **{f"cache {c}": res(f"Cache-Control: {c}\r\n") for c in ("no-transform", "private, no-transform", "NO-TRANSFORM", "no-store", "no-transformx", "public")},
    **{f"vary {v}": res(f"Vary: {v}\r\n") for v in ("Cookie", "Accept-Encoding", "accept-encoding, Cookie", "*", "Accept-Encodings")},
    "two lines of vary": res("Vary: Cookie\r\nVary: Accept-Encoding\r\n"),
    "digest and ranges": res("Accept-Ranges: bytes\r\nContent-MD5: x\r\nDigest: sha-256=x\r\n"),
    **{f"framing {f} {v}": res(framing=f, version_of_server=v) for f in ("length", "chunked", "close") for v in ("1.0", "1.1") if (f, v) != ("chunked", "1.0")},
    **{f"client 1.0, {f}": res(framing=f, version="1.0") for f in ("length", "chunked", "close")},
    **{f"{n} bytes, {f}": res(framing=f, body=b"x" * n) for n in (0, 1, 10, 1000, 16384, 70000) for f in ("length", "chunked")},
}
# Where tacit means to differ, with the reason.
NAMED_ONCE = "HAProxy adds Vary: Accept-Encoding beside a Vary that says so"
ANY = "HAProxy takes the last algorithm for *, also one that the client refuses"
IDENTITY = "HAProxy sends a body that it leaves as it is in chunks, with Vary"
DIFFERS = {
    "accepts *": ANY,
    "accepts deflate;q=0, *": ANY,
    **{f"identity: accepts {a}": IDENTITY for a in ("deflate", "identity", "br", "gzip;q=0")},
    "agent 4.0 (compatible; MSIE 10.0)": "HAProxy takes it for older than 7",
    'tag "a"b"': "HAProxy passes an entity tag with a quote in it",
    "vary Accept-Encoding": NAMED_ONCE,
    "vary accept-encoding, Cookie": NAMED_ONCE,
    "vary *": NAMED_ONCE,
    "two lines of vary": NAMED_ONCE,
    "client 1.0, chunked": "HAProxy sends chunks to a client of HTTP/1.0",
}


def answer(case):
    """The bytes that the server sends."""
    body, framing = case.get("body", BODY), case.get("framing", "length")
    how = {"length": f"Content-Length: {len(body)}\r\n", "chunked": "Transfer-Encoding: chunked\r\n"}.get(framing, "")
    head = f"HTTP/{case.get('version_of_server', '1.1')} {case.get('status', '200 OK')}\r\n{case.get('fields', HTML)}{how}Connection: close\r\n\r\n"
    if case["request"].startswith("HEAD"):
        return head.encode()
    if framing == "chunked":
        body = b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in (body[i:i + 5000] for i in range(0, len(body), 5000))) + b"0\r\n\r\n"
    return head.encode() + body


def serve(seen):
    """A server of all cases; seen: what Accept-Encoding it got, by case."""
    def handle(conn):
        data = b""
        while b"\r\n\r\n" not in data:
            data += conn.recv(65536)
        name = list(CASES)[int(data.split(b" ")[1][1:])]
        seen[name] = [line for line in data.decode().lower().split("\r\n") if line.startswith("accept-encoding")]
        conn.sendall(answer(CASES[name]))
    return handle


def decoded(encoding, data):
    if encoding == "gzip":
        return gzip.decompress(data)
    if encoding == "deflate":
        raw = zlib.decompressobj(15 if data[:1] == b"\x78" else -15)
        return raw.decompress(data) if data else None
    return data


def judged(case, data):
    """[status, fields, whether the body is the one that was sent]"""
    head, _, rest = data.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    # The version and Connection are no matter of compression.
    status, found = first.split(" ")[1], [line.partition(": ")[::2] for line in lines if not line.lower().startswith("connection")]
    fields = {name.lower(): value for name, value in found}
    if "transfer-encoding" in fields:
        rest, _, is_complete = unchunk(rest)
    else:
        is_complete = True
    if not case["request"].startswith("HEAD"):
        ours = None if "Content-Encoding" in case.get("fields", "") else fields.get("content-encoding")
        rest = is_complete and decoded(ours, rest) == case.get("body", BODY)
    return [status, sorted(f"{name.lower()}: {value}" for name, value in found), rest]


def play(program, directory):
    seen, out = {}, {}
    directory.mkdir(exist_ok=True)
    ports = dict(zip(FRONTENDS, free_ports(len(FRONTENDS))))
    origin = Origin(serve(seen))
    subject = Subject(program, directory, CFG.format(origin=origin.port, **ports))
    try:
        for i, (name, case) in enumerate(CASES.items()):
            with connect(ports[case["frontend"]]) as conn:
                conn.sendall((case["request"] % i).encode())
                out[name] = [*judged(case, recv_all(conn)), seen.get(name)]
    finally:
        subject.stop()
        origin.close()
    return out


def test_what_is_compressed(tmp_path):
    oracle.given(repr(CASES))
    theirs, ours = oracle.both(lambda program: play(program, tmp_path / program.rpartition("/")[2]))
    wrong = {name: (theirs[name], ours[name]) for name in theirs if theirs[name] != ours[name]}
    assert wrong.keys() == DIFFERS.keys(), "\n".join(f"{name}\n  {a}\n  {b}" for name, (a, b) in wrong.items())
