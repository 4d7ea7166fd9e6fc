"""Frames of HTTP/2 as bytes, right or wrong, and ends of connections that send them."""

import contextlib
import re
import socket
import struct

import hpack
from conftest import connect

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
(DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION) = range(10)
ACK = END_STREAM = 1
END_HEADERS, PADDED, PRIORITIZED = 4, 8, 32
(NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, FLOW_CONTROL_ERROR, SETTINGS_TIMEOUT, STREAM_CLOSED, FRAME_SIZE_ERROR,
 REFUSED_STREAM, CANCEL, COMPRESSION_ERROR, CONNECT_ERROR, ENHANCE_YOUR_CALM, INADEQUATE_SECURITY, HTTP_1_1_REQUIRED) = range(14)


def frame(kind, flags=0, stream=0, payload=b"", length=None):
    """A frame; its length may be a lie."""
    n = len(payload) if length is None else length
    return struct.pack("!I", n)[1:] + struct.pack("!BBI", kind, flags, stream) + payload


def settings(*pairs):
    return frame(SETTINGS, 0, 0, b"".join(struct.pack("!HI", *p) for p in pairs))


def window_update(stream, by):
    return frame(WINDOW_UPDATE, 0, stream, struct.pack("!I", by))


def rst(stream, code=CANCEL):
    return frame(RST_STREAM, 0, stream, struct.pack("!I", code))


def ping(payload=b"12345678", flags=0):
    return frame(PING, flags, 0, payload)


def integer(value, bits, first=0):
    """An integer of HPACK (RFC 7541, 5.1)."""
    most = (1 << bits) - 1
    if value < most:
        return bytes([first | value])
    out, value = [first | most], value - most
    while value >= 128:
        out.append(value % 128 + 128)
        value //= 128
    return bytes([*out, value])


def block(*fields):
    """A field block of literals that change no table: any bytes as names and values."""
    out = b""
    for name, value in fields:
        name, value = (x if isinstance(x, bytes) else x.encode() for x in (name, value))
        out += b"\0" + integer(len(name), 7) + name + integer(len(value), 7) + value
    return out


GET = ((":method", "GET"), (":scheme", "http"), (":authority", "a.test"), (":path", "/"))
POST = ((":method", "POST"), *GET[1:])


def request(stream, *fields, end=True, path="/", method="GET", flags=END_HEADERS):
    """HEADERS of a request, with more fields."""
    head = ((":method", method), (":scheme", "http"), (":authority", "a.test"), (":path", path))
    return frame(HEADERS, flags | (END_STREAM if end else 0), stream, block(*head, *fields))


class End:
    """One end of a connection: sends bytes, reads frames."""

    def __init__(self, sock):
        self.sock, self.data, self.decoder = sock, b"", hpack.Decoder()

    def send(self, *parts):
        """Bytes that the other end may not want any more."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.sock.sendall(b"".join(parts))

    def _fill(self, n):
        while len(self.data) < n:
            try:
                more = self.sock.recv(65536)
            except ConnectionResetError:
                more = b""
            if not more:
                return False
            self.data += more
        return True

    def read(self):
        """The next frame as (kind, flags, stream, payload), or None: the connection has ended."""
        if not self._fill(9):
            return None
        n = int.from_bytes(self.data[:3], "big")
        kind, flags, stream = struct.unpack("!BBI", self.data[3:9])
        if not self._fill(9 + n):
            return None
        payload, self.data = self.data[9:9 + n], self.data[9 + n:]
        return kind, flags, stream & 0x7fffffff, payload

    def until(self, kind, stream=None, flags=0):
        """The payload of the next frame of this kind."""
        while True:
            got = self.read()
            assert got, f"the connection ended before a frame of kind {kind}"
            assert got[0] != GOAWAY or kind == GOAWAY, f"GOAWAY {got[3]!r}"
            if got[0] == kind and stream in (None, got[2]) and got[1] & flags == flags:
                return got[3]

    def fields(self, payload):
        """The fields of a block that is complete."""
        return [(str(n), str(v)) for n, v in self.decoder.decode(payload)]

    def answers_ping(self, payload=b"are you?"):
        """Waits for everything that was sent to be used: the frames until then."""
        self.send(ping(payload))
        got = []
        while True:
            f = self.read()
            got.append(f)
            if f is None or (f[0] == PING and f[1] & ACK and f[3] == payload):
                return got

    def outcome(self):
        """The reply to an error: ("goaway", code), ("rst", code), ("response", status), ("pong", None) or ("closed", None),
        whichever is first."""
        while True:
            f = self.read()
            if f is None:
                return "closed", None
            if f[0] == GOAWAY:
                return "goaway", struct.unpack("!I", f[3][4:8])[0]
            if f[0] == RST_STREAM:
                return "rst", struct.unpack("!I", f[3])[0]
            if f[0] == HEADERS and f[2] % 2:
                return "response", int(dict(self.fields(f[3]))[":status"])
            if f[0] == PING and f[1] & ACK and f[3] == b"the end!":
                return "pong", None

    def __enter__(self):
        return self

    def __exit__(self, *a):
        self.sock.close()


class Client(End):
    """A client whose preface and SETTINGS are sent."""

    def __init__(self, port, *pairs, context=None):
        sock = connect(port)
        super().__init__(context.wrap_socket(sock, server_hostname="a.test") if context else sock)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.send(PREFACE, settings(*pairs), frame(SETTINGS, ACK))

    def response(self, stream):
        """The status and the body of a stream's response, or None and the code of its reset."""
        status, body = None, b""
        while True:
            f = self.read()
            assert f, "the connection ended"
            assert f[0] != GOAWAY or f[3][4:8] == b"\0\0\0\0", f"GOAWAY {f[3]!r}"
            if f[0] == HEADERS:
                fields = dict(self.fields(f[3]))
                if f[2] == stream and status is None and fields[":status"] >= "200":
                    status = int(fields[":status"])
            if f[2] != stream:
                continue
            if f[0] == DATA:
                body += f[3]
                if f[3]:
                    self.send(window_update(0, len(f[3])), window_update(stream, len(f[3])))
            if f[0] == RST_STREAM and not (status and f[3] == b"\0\0\0\0"):
                return None, struct.unpack("!I", f[3])[0]
            if f[0] in (DATA, HEADERS) and f[1] & END_STREAM:
                return status, body


class Server(End):
    """A server's end: the client's preface is read, SETTINGS are sent."""

    def __init__(self, sock, *pairs):
        super().__init__(sock)
        assert self._fill(len(PREFACE)) and self.data.startswith(PREFACE)
        self.data = self.data[len(PREFACE):]
        self.send(settings(*pairs))

    def request(self):
        """The next request: its stream and its fields; None at the end of the connection. SETTINGS are acknowledged."""
        while True:
            f = self.read()
            if f is None:
                return None
            if f[0] == SETTINGS and not f[1] & ACK:
                self.send(frame(SETTINGS, ACK))
            if f[0] == HEADERS:
                return f[2], self.fields(f[3])

    def __exit__(self, *a):
        # Bytes that were not read would make it a reset, which takes away what was sent last.
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_WR)
            while self.sock.recv(65536):
                pass
        self.sock.close()

    def respond(self, stream, *fields, status="200", body=b"", end=True):
        head = frame(HEADERS, END_HEADERS | (END_STREAM if end and not body else 0), stream,
                     block((":status", status), *fields))
        self.send(head, frame(DATA, END_STREAM if end else 0, stream, body) if body else b"")


def head_of(data):
    """The start line and the fields of a message of HTTP/1, names in lower case."""
    lines = re.split(rb"\r\n", data.split(b"\r\n\r\n")[0])
    return lines[0], [(n.lower(), v.strip()) for n, v in (line.split(b":", 1) for line in lines[1:])]
