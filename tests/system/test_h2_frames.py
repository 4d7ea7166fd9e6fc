"""Frames that RFC 9113 and RFC 7541 forbid, and unusual ones that they permit: the cases of h2spec 2.2.1, and more."""

import struct

import h2_raw as raw
import pytest
from conftest import connect, free_port
from h2_raw import (
    CONTINUATION,
    DATA,
    END_HEADERS,
    END_STREAM,
    GET,
    GOAWAY,
    HEADERS,
    PADDED,
    PING,
    POST,
    PRIORITIZED,
    PRIORITY,
    PUSH_PROMISE,
    RST_STREAM,
    SETTINGS,
    WINDOW_UPDATE,
    block,
    frame,
    request,
    settings,
)
from subject import only_tacit
from test_h2 import HTTP, ok, serve

pytestmark = only_tacit

BOTH = END_HEADERS | END_STREAM
OPEN = request(1, method="POST", end=False)
ENDED = request(1)
PROTOCOL, CLOSED, SIZE = raw.PROTOCOL_ERROR, raw.STREAM_CLOSED, raw.FRAME_SIZE_ERROR
FLOW, COMPRESSION, REFUSED = raw.FLOW_CONTROL_ERROR, raw.COMPRESSION_ERROR, raw.REFUSED_STREAM


def conn(code):
    return "goaway", code


def stream(code):
    return "rst", code


def head(*fields, flags=BOTH, n=1):
    return frame(HEADERS, flags, n, block(*fields))


OK, PONG = ("response", 200), ("pong", None)
FOUR = struct.pack("!I", 0)
SELF = struct.pack("!IB", 1, 0)

# Section, bytes, outcome. A request that is right gets 200; what is ignored gets nothing, then its PING is answered.
CASES = [
    # RFC 9113
    ("3.4 SETTINGS missing", None, conn(PROTOCOL)),
    ("4.1 unknown type", frame(22, 0, 0, b"x") + ENDED, OK),
    ("4.1 unknown flags", frame(PING, 0x16, 0, b"the end!"), PONG),
    ("4.1 reserved bit", frame(PING, 0, 1 << 31, b"the end!"), PONG),
    ("4.2 DATA of the greatest size", OPEN + frame(DATA, END_STREAM, 1, b"x" * 16384), OK),
    ("4.2 DATA above it", OPEN + frame(DATA, END_STREAM, 1, b"x" * 16385), conn(SIZE)),
    ("4.2 HEADERS above it", frame(HEADERS, BOTH, 1, block(*GET, ("x", "y" * 16384))), conn(SIZE)),
    ("4.3 index of no entry", frame(HEADERS, BOTH, 1, b"\xc6"), conn(COMPRESSION)),
    ("4.3 PRIORITY in a block", frame(HEADERS, END_STREAM, 1, block(*GET)) + frame(PRIORITY, 0, 3, SELF), conn(PROTOCOL)),
    ("4.3 block of another stream", frame(HEADERS, END_STREAM, 1, block(*GET)) + request(3), conn(PROTOCOL)),
    ("5.1 DATA, idle", frame(DATA, END_STREAM, 1, b"x"), conn(PROTOCOL)),
    ("5.1 RST_STREAM, idle", raw.rst(1), conn(PROTOCOL)),
    ("5.1 WINDOW_UPDATE, idle", raw.window_update(1, 100), conn(PROTOCOL)),
    ("5.1 CONTINUATION, idle", frame(CONTINUATION, END_HEADERS, 1, block(*GET)), conn(PROTOCOL)),
    ("5.1 DATA, half closed", OPEN + frame(DATA, END_STREAM, 1) + frame(DATA, END_STREAM, 1, b"x"), stream(CLOSED)),
    ("5.1 HEADERS, half closed", request(1, path="/wait") + request(1), stream(CLOSED)),
    ("5.1 CONTINUATION, half closed", request(1, path="/wait") + frame(CONTINUATION, END_HEADERS, 1), conn(PROTOCOL)),
    ("5.1 DATA, reset by us", OPEN + raw.window_update(1, 0) + frame(DATA, 0, 1, b"x" * 999), stream(PROTOCOL)),
    ("5.1.1 even id", request(2), conn(PROTOCOL)),
    ("5.1.1 lower id", request(5) + request(3), conn(CLOSED)),
    ("5.3.2 HEADERS depends on itself",
     frame(HEADERS, BOTH | PRIORITIZED, 1, SELF + block(*GET)), stream(PROTOCOL)),
    ("5.3.2 PRIORITY depends on itself", OPEN + frame(PRIORITY, 0, 1, SELF), stream(PROTOCOL)),
    ("5.3.2 PRIORITY", frame(PRIORITY, 0, 1, FOUR + b"\7") + ENDED, OK),
    ("5.5 unknown frame in a block", frame(HEADERS, END_STREAM, 1, block(*GET)) + frame(22, 0, 1, b"x"), conn(PROTOCOL)),
    ("6.1 DATA, stream 0", frame(DATA, 0, 0, b"x"), conn(PROTOCOL)),
    ("6.1 padding", OPEN + frame(DATA, END_STREAM | PADDED, 1, b"\5" + b"x" * 9), OK),
    ("6.1 padding too long", OPEN + frame(DATA, END_STREAM | PADDED, 1, b"\12" + b"x" * 9), conn(PROTOCOL)),
    ("6.2 HEADERS, stream 0", head(*GET, n=0), conn(PROTOCOL)),
    ("6.2 padding", frame(HEADERS, BOTH | PADDED, 1, b"\5" + block(*GET) + b"\0" * 5), OK),
    ("6.2 padding too long", frame(HEADERS, BOTH | PADDED, 1, b"\xff" + block(*GET)), conn(PROTOCOL)),
    ("6.2 priority cut", frame(HEADERS, BOTH | PRIORITIZED, 1, b"123"), conn(SIZE)),
    ("6.3 PRIORITY, stream 0", frame(PRIORITY, 0, 0, SELF), conn(PROTOCOL)),
    ("6.3 PRIORITY, four bytes", OPEN + frame(PRIORITY, 0, 1, FOUR), stream(SIZE)),
    ("6.4 RST_STREAM, stream 0", raw.rst(0), conn(PROTOCOL)),
    ("6.4 RST_STREAM, three bytes", OPEN + frame(RST_STREAM, 0, 1, b"123"), conn(SIZE)),
    ("6.5 ACK with payload", frame(SETTINGS, raw.ACK, 0, b"\0" * 6), conn(SIZE)),
    ("6.5 SETTINGS, stream 1", frame(SETTINGS, 0, 1), conn(PROTOCOL)),
    ("6.5 SETTINGS, five bytes", frame(SETTINGS, 0, 0, b"\0" * 5), conn(SIZE)),
    ("6.5.2 ENABLE_PUSH 2", settings((2, 2)), conn(PROTOCOL)),
    ("6.5.2 window 2^31", settings((4, 1 << 31)), conn(FLOW)),
    ("6.5.2 frame size 16383", settings((5, 16383)), conn(PROTOCOL)),
    ("6.5.2 frame size 2^24", settings((5, 1 << 24)), conn(PROTOCOL)),
    ("6.5.2 unknown", settings((255, 7)) + ENDED, OK),
    ("6.5.3 the last value counts", settings((4, 1), (4, 0), (4, 65535)) + ENDED, OK),
    ("RFC 8441 3, value 2", settings((8, 2)), conn(PROTOCOL)),
    ("6.6 PUSH_PROMISE", frame(PUSH_PROMISE, END_HEADERS, 1, struct.pack("!I", 2) + block(*GET)), conn(PROTOCOL)),
    ("6.7 PING, stream 1", frame(PING, 0, 1, b"12345678"), conn(PROTOCOL)),
    ("6.7 PING, seven bytes", frame(PING, 0, 0, b"1234567"), conn(SIZE)),
    ("6.7 unasked ACK", frame(PING, raw.ACK, 0, b"12345678") + ENDED, OK),
    ("6.8 GOAWAY, stream 1", frame(GOAWAY, 0, 1, FOUR + FOUR), conn(PROTOCOL)),
    ("6.8 GOAWAY, seven bytes", frame(GOAWAY, 0, 0, b"1234567"), conn(SIZE)),
    ("6.9 by 0", raw.window_update(0, 0), conn(PROTOCOL)),
    ("6.9 by 0, stream", OPEN + raw.window_update(1, 0), stream(PROTOCOL)),
    ("6.9 three bytes", frame(WINDOW_UPDATE, 0, 0, b"123"), conn(SIZE)),
    ("6.9.1 above 2^31 - 1", raw.window_update(0, (1 << 31) - 1), conn(FLOW)),
    ("6.9.1 above it, stream", OPEN + raw.window_update(1, (1 << 31) - 1), stream(FLOW)),
    ("6.9.2 above it, by SETTINGS", OPEN + raw.window_update(1, (1 << 31) - 65536) + settings((4, 65536)), conn(FLOW)),
    ("6.10 CONTINUATION, stream 0", frame(HEADERS, END_STREAM, 1, block(*GET)) + frame(CONTINUATION, END_HEADERS, 0),
     conn(PROTOCOL)),
    ("6.10 several", frame(HEADERS, END_STREAM, 1, block(*GET)) + frame(CONTINUATION, 0, 1) +
     frame(CONTINUATION, END_HEADERS, 1, block(("x", "y"))), OK),
    ("6.10 behind END_HEADERS", OPEN + frame(CONTINUATION, END_HEADERS, 1), conn(PROTOCOL)),
    ("8.1 HEADERS without END_STREAM as trailers", OPEN + frame(HEADERS, END_HEADERS, 1, block(("x", "y"))), stream(PROTOCOL)),
    ("8.1 trailers", OPEN + frame(DATA, 0, 1, b"x") + frame(HEADERS, BOTH, 1, block(("x", "y"))), OK),
    ("8.2.1 upper case", head(*GET, ("X-A", "b")), stream(PROTOCOL)),
    ("8.2.2 connection", head(*GET, ("connection", "keep-alive")), stream(PROTOCOL)),
    ("8.2.2 te", head(*GET, ("te", "gzip, trailers")), stream(PROTOCOL)),
    ("8.2.2 te: trailers", head(*GET, ("te", "trailers")), OK),
    ("8.3 unknown", head(*GET, (":x", "y")), stream(PROTOCOL)),
    ("8.3 of a response", head(*GET, (":status", "200")), stream(PROTOCOL)),
    ("8.3 in trailers", OPEN + frame(HEADERS, BOTH, 1, block((":method", "GET"))), stream(PROTOCOL)),
    ("8.3 behind a field", head(*GET[:3], ("x", "y"), GET[3]), stream(PROTOCOL)),
    ("8.3.1 :path empty", head(*GET[:3], (":path", "")), stream(PROTOCOL)),
    *[(f"8.3.1 without {GET[i][0]}", head(*(GET[:i] + GET[i + 1:])), stream(PROTOCOL)) for i in (0, 1, 3)],
    *[(f"8.3.1 {GET[i][0]} twice", head(*GET, GET[i]), stream(PROTOCOL)) for i in range(4)],
    ("8.1.1 content-length, DATA longer", head(*POST, ("content-length", "1"), flags=END_HEADERS) +
     frame(DATA, END_STREAM, 1, b"test"), stream(PROTOCOL)),
    ("8.1.1 content-length, DATA shorter", head(*POST, ("content-length", "9"), flags=END_HEADERS) +
     frame(DATA, 0, 1, b"te") + frame(DATA, END_STREAM, 1, b"st"), stream(PROTOCOL)),
    ("8.1.1 content-length, no DATA", head(*POST, ("content-length", "9")), stream(PROTOCOL)),
    # RFC 7541
    ("2.3.3 index of no entry", frame(HEADERS, BOTH, 1, block(*GET) + b"\xc6"), conn(COMPRESSION)),
    ("4.2 size update at the end", frame(HEADERS, BOTH, 1, block(*GET) + b"\x20"), conn(COMPRESSION)),
    ("4.2 size update behind indices", ENDED + frame(HEADERS, BOTH, 3, b"\x82\x86\x84\x20" + block((":authority", "a.test"))), conn(COMPRESSION)),
    ("5.1 integer without an end", frame(HEADERS, BOTH, 1, block(*GET) + b"\xff" * 9), conn(COMPRESSION)),
    ("5.2 padding of a byte", frame(HEADERS, BOTH, 1, block(*GET) + b"\x00\x01x\x81\xff\xff"), conn(COMPRESSION)),
    ("5.2 padding of zeroes", frame(HEADERS, BOTH, 1, block(*GET) + b"\x00\x01x\x81\xf0"), conn(COMPRESSION)),
    ("5.2 EOS", frame(HEADERS, BOTH, 1, block(*GET) + b"\x00\x01x\x84\xff\xff\xff\xff"), conn(COMPRESSION)),
    ("5.2 string beyond the block", frame(HEADERS, BOTH, 1, block(*GET) + b"\x00\x01x\x09y"), conn(COMPRESSION)),
    ("6.1 index 0", frame(HEADERS, BOTH, 1, block(*GET) + b"\x80"), conn(COMPRESSION)),
    ("6.3 size above ours", frame(HEADERS, BOTH, 1, b"\x3f\xe2\x1f" + block(*GET)), conn(COMPRESSION)),
    ("6.3 size update", frame(HEADERS, BOTH, 1, b"\x20\x3f\xe1\x1f" + block(*GET)), OK),
]


@pytest.fixture
def ports(daemon, origins):
    """A port that tells the versions apart, and one for HTTP/2 only."""
    def answers(path, head, body):
        return b"" if path == "/wait" else ok(path, head, body)

    server = origins(serve(answers))
    plain, forced = free_port(), free_port()
    daemon(f"{HTTP}"
           f"frontend f\n bind 127.0.0.1:{plain}\n bind 127.0.0.1:{forced} proto h2\n default_backend b\n"
           f"backend b\n server s 127.0.0.1:{server.port}\n")
    return plain, forced


def test_frames(ports):
    """Each case on a connection of its own; all of them are tried before any fails."""
    wrong = []
    for name, data, expected in CASES:
        with raw.End(connect(ports[0])) as c:
            c.send(raw.PREFACE, *([raw.ping()] if data is None else [settings(), frame(SETTINGS, raw.ACK), data, raw.ping(b"the end!")]))
            got = c.outcome()
            # The answer to the PING may be before a response of the server's.
            if expected == OK and got == PONG:
                got = c.outcome()
            if got != expected:
                wrong.append(f"{name}: {got}, expected {expected}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("preface", [b"INVALID CONNECTION PREFACE\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"])
def test_other_prefaces(ports, preface):
    """A port for HTTP/2 only ends with an error; the other one says in HTTP/1 that it is not understood."""
    with raw.End(connect(ports[1])) as c:
        c.send(preface)
        assert c.outcome() in (conn(PROTOCOL), ("closed", None))
    if preface.startswith(b"GET"):
        return
    with connect(ports[0]) as s:
        s.sendall(preface)
        assert s.recv(65536).startswith(b"HTTP/1.1 ")
