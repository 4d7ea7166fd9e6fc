"""Responses of a cache that pass filters: which are compressed, with which fields, by HAProxy and tacit; heads after a reload."""

import re
import socket
import subprocess
import zlib

import oracle
import pytest
from certs import Authority
from conftest import WAIT, Origin, free_port, free_ports
from test_cache import CFG, CHUNKED, FRESH, VALID, Cases, Pages, ask, entity, response
from test_compression import decode, unchunk
from test_conf_played import read_head
from test_master import MASTER, reload

COMPRESSED_CFG = CFG.replace("max-age 30", "max-object-size 50000") + """    compression algo gzip
    compression type text/
frontend stripped
    bind 127.0.0.1:{stripped}
    compression algo gzip
    compression offload
    default_backend web
frontend ordered
    bind 127.0.0.1:{ordered}
    filter cache small
    filter compression
    compression algo deflate gzip
    http-request cache-use small
    http-response cache-store small
    http-request set-var(txn.path) path
    http-after-response set-header Cache-Control no-transform if {{ var(txn.path) -m str /plain }}
    default_backend web
"""
GZIP = "Accept-Encoding: gzip\r\n"
# Requests for a stored response: what it is, and what is asked.
HTML = "Content-Type: text/html\r\n"
STORED = {
    "plain": (VALID + HTML, {}), "accepted": (VALID + HTML, {"fields": GZIP}), "by none": (VALID + HTML, {"fields": "Accept-Encoding: br\r\n"}),
    "HEAD": (VALID + HTML, {"fields": GZIP, "method": "HEAD"}), "1.0": (VALID + HTML, {"fields": GZIP, "version": "1.0"}),
    "Range": (VALID + HTML, {"fields": GZIP + "Range: bytes=0-9\r\n"}),
    "not modified": (VALID + HTML, {"fields": GZIP + 'If-None-Match: "a"\r\n'}),
    "not modified, weak": (VALID + HTML, {"fields": GZIP + 'If-None-Match: W/"a"\r\n'}),
    "modified": (VALID + HTML, {"fields": GZIP + 'If-None-Match: "b"\r\n'}),
    "weak tag": (FRESH + HTML + 'ETag: W/"a"\r\n', {"fields": GZIP}), "no tag": (FRESH + HTML, {"fields": GZIP}),
    "another type": (VALID + "Content-Type: image/png\r\n", {"fields": GZIP}), "no type": (VALID, {"fields": GZIP}),
    "encoded": (VALID + HTML + "Content-Encoding: br\r\n", {"fields": GZIP}),
    "no-transform": (HTML + "Cache-Control: max-age=20, no-transform\r\n", {"fields": GZIP}),
    "empty": (VALID + HTML, {"fields": GZIP}), "large": (VALID + HTML, {"fields": GZIP}), "chunked": (VALID + HTML, {"fields": GZIP})}


def judge_stored(answer, body):
    """The answer, with the fields that compression may change, and whether the decoded body is the stored one."""
    status, fields, rest = answer
    if "transfer-encoding: chunked" in fields:
        rest, _, is_complete = unchunk(rest)
        assert is_complete
    for coding, bits in (("gzip", 31), ("deflate", 15)):
        if f"content-encoding: {coding}" in fields:
            z = zlib.decompressobj(bits)
            rest = z.decompress(rest)
            assert z.eof
    told = ("content", "etag", "transfer", "vary")
    return status, [f for f in fields if f.startswith(told)], True if rest == body else rest


def play_compressed(program, directory):
    """The answers, each after whether it is a stored one, by case and frontend; and what is counted."""
    ports = dict(zip(("stripped", "ordered"), free_ports(2)))
    out = {}
    with Cases(program, directory, COMPRESSED_CFG.replace("{stripped}", str(ports["stripped"])).replace("{ordered}", str(ports["ordered"]))) as c:
        for frontend, port in {"web": c.port, **ports}.items():
            for name, (fields, asks) in STORED.items():
                c.n += 1
                body = {"empty": b"", "large": b"0123456789" * 1500}.get(name, b"abc" * 100)
                c.pages.answer = response(fields, body, framing=CHUNKED if name == "chunked" else None)
                ask(port, f"/{c.n}")
                before = c.pages.requests
                answer = judge_stored(ask(port, f"/{c.n}", **asks), body)
                out[frontend, name] = c.pages.requests == before, *answer
        _, rows = c.subject.stat()
        stat = {name: {col: rows[name, "FRONTEND"].get(col) for col in ("comp_rsp", "comp_byp", "cache_hits")} for name in ("web", *ports)}
        stat["backend"] = {col: rows["web", "BACKEND"].get(col) for col in ("comp_rsp", "comp_byp")}
        ask(ports["ordered"], "/plain")
        later = judge_stored(ask(ports["ordered"], "/plain", fields=GZIP), body)
    return out, stat, later


def test_stored_responses_are_compressed(tmp_path):
    theirs, ours = oracle.both(lambda program: play_compressed(program, oracle.at(tmp_path, program)))
    # HAProxy's 304 has the length of the body.
    for name in theirs[0]:
        if 304 in theirs[0][name]:
            theirs[0][name][2].remove("content-length: 300")
    assert ours[:2] == theirs[:2]
    # HAProxy does not heed no-transform of a rule http-after-response.
    assert "content-encoding: gzip" in theirs[2][1] and "content-length: 300" in ours[2][1]


@pytest.mark.parametrize("algo", ["gzip", "br", "zstd"])
@pytest.mark.parametrize("how", ["http/1.1", "h2c", "tls", "tls h2"])
def test_compressed_over_other_transports(daemon, tmp_path, how, algo):
    """Responses that are compressed from a cache, as curl reads them; then a client that leaves."""
    ports, name = free_ports(2), "a.test"
    pem = Authority(tmp_path).make("a.pem", name, [name])

    def serve(conn):
        conn.sendall(response(VALID + HTML, entity(1, 1, int(read_head(conn).split()[1][1:]))))

    origin = Origin(serve)
    cfg = CFG.format(port=ports[0], origin=origin.port).replace("total-max-size 1", "total-max-size 64\n    max-object-size 16000000")
    line = {"http/1.1": f"{ports[1]}", "h2c": f"{ports[1]} proto h2", "tls": f"{ports[1]} ssl crt {pem} alpn http/1.1",
            "tls h2": f"{ports[1]} ssl crt {pem} alpn h2"}[how]
    d = daemon(cfg + f"    bind 127.0.0.1:{line}\n    compression algo {algo}\n")
    url = ("https" if "tls" in how else "http") + f"://127.0.0.1:{ports[1]}/"
    for size in (1, 1000, 20000, 300000, 5000000):
        for hit in "01":
            done = subprocess.run(["curl", "-sk", "-D", tmp_path / "head", "--http2-prior-knowledge" if how == "h2c" else
                                   "--http2" if "h2" in how else "--http1.1", "-H", f"Host: {name}", "-H", f"Accept-Encoding: {algo}",
                                   url + str(size)], capture_output=True, timeout=WAIT, check=True)
            head = (tmp_path / "head").read_text().lower()
            assert f"x-hit: {hit}" in head and f"content-encoding: {algo}" in head and "content-length" not in head
            assert decode(algo, done.stdout) == (entity(1, 1, size), True)
    if how == "http/1.1":
        with socket.create_connection(("127.0.0.1", ports[1]), timeout=WAIT) as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.sendall(f"GET /5000000 HTTP/1.1\r\nHost: {name}\r\nAccept-Encoding: {algo}\r\n\r\n".encode())
            assert s.recv(100)
    d.until("sessions eq 0")
    assert "refcount:" in d.admin("show cache") and set(re.findall(r"refcount:(\d+)", d.admin("show cache"))) == {"0"}
    origin.close()


def test_heads_fit_after_reloads(daemon):
    """An object whose head the new buffers, or the new number of fields, do not permit is asked for again."""
    pages, port = Pages(), free_port()
    origin = Origin(pages)
    cfg = CFG.format(port=port, origin=origin.port).replace("max-age 30", "max-age 600\n    max-object-size 30000")
    d = daemon("global\n    tune.bufsize 32768\n    tune.http.maxhdr 300" + cfg, mode=MASTER)
    heads = {"/small": 3 * ["v" * 1000], "/large": 18 * ["v" * 1000], "/many": 200 * ["v"]}
    for path, values in heads.items():
        pages.answer = response("Cache-Control: max-age=600\r\n" + "".join(f"X-{n}: {v}\r\n" for n, v in enumerate(values)))
        assert [ask(port, path)[0] for _ in range(2)] == [200, 200]
    assert pages.requests == 3
    d.cfg.write_text(d.cfg.read_text().replace("tune.bufsize 32768", "tune.bufsize 16384").replace("maxhdr 300", "maxhdr 101"))
    assert reload(d)
    pages.answer = response(FRESH)
    for path, hit in ("/small", "1"), ("/large", "0"), ("/many", "0"), ("/large", "1"), ("/many", "1"):
        status, fields, _ = ask(port, path)
        assert (path, status, f"x-hit: {hit}" in fields) == (path, 200, True)
    origin.close()
