"""The sections about resets and reloads over HTTP/2: their client, played against a server of frames."""

import contextlib
import os
import socket
import struct
import subprocess
import sys
import threading

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from lib import parse, report, subjects, targets  # noqa: E402

BUILD = os.environ.get("TACIT_BUILD") or os.path.join(os.path.dirname(os.path.dirname(HERE)), "build")
TOOL = os.path.join(BUILD, "bench", "h2")
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST, SETTINGS, PING, GOAWAY = 0, 1, 3, 4, 6, 7
END_STREAM = ACK = 1
END_HEADERS = 4

pytestmark = pytest.mark.skipif(not os.access(TOOL, os.X_OK), reason="not built: make bare")


def frame(kind, flags, stream, payload=b""):
    return struct.pack("!I", len(payload))[1:] + struct.pack("!BBI", kind, flags, stream) + payload


def ok(stream):
    return frame(HEADERS, END_HEADERS, stream, b"\x20\x88") + frame(DATA, END_STREAM, stream, b"ok\n")


class Server:
    """Answers the nth request of a connection with answer(nth connection, nth request, stream): frames, and None to close."""

    def __init__(self, answer):
        self.answer, self.connections, self.frames, self.threads = answer, 0, [], []
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                conn, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            self.threads.append(threading.Thread(target=self.serve, args=(conn, self.connections), daemon=True))
            self.threads[-1].start()

    def serve(self, conn, nth):
        """The client may leave a connection while there are answers for it: it says what it has not got."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError), conn, conn.makefile("rb") as stream:
            assert stream.read(len(PREFACE)) == PREFACE
            conn.sendall(frame(SETTINGS, 0, 0) + frame(PING, 0, 0, b"12345678"))
            requests = 0
            while head := stream.read(9):
                kind, flags, number = struct.unpack("!BBI", head[3:])
                payload = stream.read(int.from_bytes(head[:3], "big"))
                self.frames.append((kind, flags, number, payload))
                if kind == PING and not flags & ACK:
                    conn.sendall(frame(PING, ACK, 0, payload))
                if kind != HEADERS:
                    continue
                requests += 1
                said = self.answer(nth, requests, number)
                conn.sendall(said or b"")
                if said is None:
                    return

    def run(self, *args):
        argv = [TOOL, *map(str, args), "127.0.0.1:%d" % self.listener.getsockname()[1]]
        try:
            out = parse.key_values(subprocess.run(argv, capture_output=True, text=True, check=True, timeout=180).stdout)
        finally:
            self.listener.close()
        for t in self.threads:
            t.join()
        return out


def test_steady():
    server = Server(lambda _c, _r, stream: ok(stream))
    out = server.run("steady", 200, 1, 4)
    assert (out["due"], out["done"], out["errors"], out["again"], out["unfinished"], out["opened"]) == (200, 200, 0, 0, 0, 4)
    assert 0 < out["p50"] <= out["p99"] <= out["max"]
    kinds = [f[:2] for f in server.frames]
    assert kinds.count((SETTINGS, ACK)) == kinds.count((PING, ACK)) == 4


def goaway(last):
    return frame(GOAWAY, 0, 0, struct.pack("!II", last, 0))


@pytest.mark.parametrize(("answer", "again", "errors", "opened"), [
    # The connection is left, and requests that it has not processed are sent on another one.
    (lambda c, r, s: goaway(0) if (c, r) == (1, 1) else ok(s), 1, 0, 2),
    (lambda c, r, s: ok(s) + goaway(s) if (c, r) == (1, 3) else ok(s), 0, 0, 2),
    (lambda c, r, s: frame(RST, 0, s, struct.pack("!I", 7)) if (c, r) == (1, 1) else ok(s), 1, 0, 1),
    # Anything else that happens to a request is an error.
    (lambda c, r, s: frame(RST, 0, s, struct.pack("!I", 8)) if (c, r) == (1, 1) else ok(s), 0, 1, 1),
    (lambda c, r, s: frame(HEADERS, END_HEADERS | END_STREAM, s, b"\x8e") if (c, r) == (1, 1) else ok(s), 0, 1, 1)],
    ids=["goaway", "goaway behind it", "refused", "cancelled", "status 500"])
def test_what_fails(answer, again, errors, opened):
    out = Server(answer).run("steady", 50, 1, 1)
    assert (out["due"], out["done"], out["errors"], out["opened"]) == (50, 50 - errors, errors, opened)
    # On a busy machine several requests may be on their way when the GOAWAY arrives.
    assert out["again"] >= again


def test_closed():
    """So is all that was asked on a connection before its end is known. More than a tenth of errors end the client."""
    out = Server(lambda c, r, s: None if (c, r) == (1, 1) else ok(s)).run("steady", 50, 1, 1)
    assert out["errors"] >= 1 and out["errors"] + out["done"] == out["due"]
    assert (out["due"], out["opened"]) == (50, 2) or out["errors"] > 5


def test_reset():
    """Each request is followed by its reset; the last ones were used when the client ends."""
    server = Server(lambda *_: b"")
    out = server.run("reset", 5000, 1, 3)
    sent = [f for f in server.frames if f[0] in (HEADERS, RST)]
    assert out["opened"] == 3 and 5000 <= out["streams"] == len(sent) / 2
    assert sum(f[0] == RST for f in sent) == out["streams"]
    assert all(len(f[3]) == (10 if f[0] == HEADERS else 4) for f in sent)


def test_rows():
    assert {s.kind for s in subjects.RELOADED_H2} == {"tacit", "haproxy"}
    for s in subjects.RELOADED_H2:
        text = subjects.haproxy_config(s, 1, "a:1")
        assert "bind 127.0.0.1:1 proto h2\n" in text and "server origin0 a:1 proto h2\n" in text and s.master


def test_targets():
    def verdicts(**values):
        rows = {"tacit default": {k: [v] for k, v in {"opened": 10, "bytes": 0, "failed": 0, "alone": 100, "beside": 120, **values}.items()}}
        return [v.verdict for v in targets.h2_reset(rows)]

    assert verdicts() == ["pass"] * 4
    assert verdicts(opened=5000)[0] == verdicts(bytes=1 << 21)[1] == verdicts(failed=1)[2] == verdicts(beside=160)[3] == "MISS"
    assert [v.verdict for v in targets.reload_h2({"tacit default master": {"failed": [1]}})] == ["MISS"]
    assert report.grids("h2reset", {"tacit default": {"s": [1.5], "opened": [3]}})[0][1][1][1] == "1.5"
