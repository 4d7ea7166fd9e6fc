"""A scripted agent of SPOE: reads frames, notes them, and answers as a function tells it."""

import contextlib
import socket
import threading

from facts import LIMIT

HAPROXY_HELLO, HAPROXY_DISCONNECT, NOTIFY, AGENT_HELLO, AGENT_DISCONNECT, ACK = 1, 2, 3, 101, 102, 103
PROC, SESS, TXN, REQ, RES = range(5)


def varint(v):
    if v < 240:
        return bytes([v])
    out, v = bytes([(v | 240) & 255]), (v - 240) >> 4
    while v >= 128:
        out, v = out + bytes([(v | 128) & 255]), (v - 128) >> 7
    return out + bytes([v])


def text(s):
    s = s if isinstance(s, bytes) else s.encode()
    return varint(len(s)) + s


def value(v):
    """A value with its type: of a number INT64, of bytes a binary, of a str a string; a tuple is (type, bytes)."""
    if v is None:
        return b"\x00"
    if isinstance(v, bool):
        return b"\x11" if v else b"\x01"
    if isinstance(v, int):
        return b"\x04" + varint(v & (2**64 - 1))
    if isinstance(v, tuple):
        return bytes([v[0]]) + v[1]
    return (b"\x09" if isinstance(v, bytes) else b"\x08") + text(v)


def set_var(scope, name, v):
    return bytes([1, 3, scope]) + text(name) + value(v)


def unset_var(scope, name):
    return bytes([2, 2, scope]) + text(name)


def frame(kind, payload, stream=0, number=0, flags=1):
    body = bytes([kind]) + flags.to_bytes(4, "big") + varint(stream) + varint(number) + payload
    return len(body).to_bytes(4, "big") + body


class Bytes:
    """A reader of a frame."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        assert self.at + n <= len(self.data)
        self.at += n
        return self.data[self.at - n:self.at]

    def varint(self):
        v = self.take(1)[0]
        if v < 240:
            return v
        shift = 4
        while True:
            b = self.take(1)[0]
            v += b << shift
            shift += 7
            if b < 128:
                return v

    def text(self):
        return self.take(self.varint())

    def value(self):
        head = self.take(1)[0]
        kind = head & 15
        if kind == 0:
            return None
        if kind == 1:
            return bool(head & 16)
        if kind <= 5:
            return self.varint()
        if kind <= 7:
            return socket.inet_ntop(*((socket.AF_INET, self.take(4)) if kind == 6 else (socket.AF_INET6, self.take(16))))
        return self.text() if kind == 9 else self.text().decode("latin-1")

    def items(self):
        out = {}
        while self.at < len(self.data):
            name = self.text().decode()
            out[name] = self.value()
        return out

    def messages(self):
        out = []
        while self.at < len(self.data):
            name, n = self.text().decode(), self.take(1)[0]
            out.append((name, [(self.text().decode(), self.value()) for _ in range(n)]))
        return out


class Frame:
    def __init__(self, body):
        b = Bytes(body)
        self.kind, self.flags = b.take(1)[0], int.from_bytes(b.take(4), "big")
        self.stream, self.number = b.varint(), b.varint()
        self.payload = body[b.at:]

    def items(self):
        return Bytes(self.payload).items()

    def messages(self):
        return Bytes(self.payload).messages()


def hello(version="2.0", size=16380, capabilities="pipelining,async"):
    items = text("version") + value(version) + text("max-frame-size") + b"\x03" + varint(size)
    return frame(AGENT_HELLO, items + text("capabilities") + value(capabilities))


class Agent:
    """Listens on a port. `answer(agent, conn, frame)` returns the bytes to send, or None to close; `greet` the same
    for a HAPROXY-HELLO."""

    def __init__(self, answer=lambda agent, conn, f: frame(ACK, b"", f.stream, f.number), greet=None, port=0):
        self.answer, self.greet = answer, greet or (lambda agent, conn, f: hello())
        self.hellos, self.notifies, self.disconnects, self.conns = [], [], [], []
        self.answered = 0  # questions
        self.changed = threading.Condition()
        self.listener = socket.create_server(("127.0.0.1", port))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                conn = self.listener.accept()[0]
                with self.changed:
                    self.conns.append(conn)
                    self.changed.notify_all()
                threading.Thread(target=self.serve, args=(conn,), daemon=True).start()

    def frames(self, conn):
        data = b""
        while True:
            while len(data) >= 4 and len(data) >= 4 + int.from_bytes(data[:4], "big"):
                n = 4 + int.from_bytes(data[:4], "big")
                body, data = data[4:n], data[n:]
                yield Frame(body)
            got = conn.recv(65536)
            if not got:
                return
            data += got

    def serve(self, conn):
        with contextlib.suppress(OSError), conn:
            for f in self.frames(conn):
                with self.changed:
                    {HAPROXY_HELLO: self.hellos, NOTIFY: self.notifies}.get(f.kind, self.disconnects).append(f)
                    self.changed.notify_all()
                out = b""
                if f.kind == HAPROXY_HELLO:
                    out = self.greet(self, conn, f)
                elif f.kind == NOTIFY:
                    out = self.answer(self, conn, f)
                elif f.kind == HAPROXY_DISCONNECT:
                    out = None
                if out is None:
                    return
                if out:
                    conn.sendall(out)
                with self.changed:
                    self.answered += f.kind == NOTIFY
                    self.changed.notify_all()

    def wait(self, fact):
        with self.changed:
            assert self.changed.wait_for(lambda: fact(self), LIMIT)

    def close(self):
        # Wakes the thread in accept().
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for c in self.conns:
            with contextlib.suppress(OSError):
                c.shutdown(socket.SHUT_RDWR)
