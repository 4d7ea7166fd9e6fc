"""A client of TLS that says whatever a test wants, and notes what the server says to it."""

import contextlib
import os
import re
import socket

from conftest import WAIT
from conversations.wire import (AES_GCM_13, ALERT, ALERTS, ALPN, CCS, CERTIFICATE, CERTIFICATE_REQUEST, CERTIFICATE_VERIFY,
                                CLIENT_KEY_EXCHANGE, DATA, ECDSA_GCM, ECDSA_SHA256, EXTENDED_MASTER, FINISHED, GROUPS,
                                HANDSHAKE, KEY_SHARE, KEY_UPDATE, MESSAGE_HASH, NEW_TICKET, P256, POINT_FORMATS, PSK,
                                PSK_MODES, RENEGOTIATION, RETRY, RSA_GCM, SERVER_HELLO, SERVER_HELLO_DONE,
                                SERVER_KEY_EXCHANGE, SERVER_NAME, SIGNATURES, TICKET, VERSIONS, X25519, Aead13, Hello, Key,
                                Reader, binder, derive, expand_label, keys_12, mac, message, prf, record, server_name, sha,
                                shares, u16s, vec)
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509 import load_der_x509_certificate

ALGORITHMS = ECDSA_SHA256, 0x0804, 0x0401
REQUEST = b"GET / HTTP/1.0\r\n\r\n"
ANSWER = re.compile(rb"HTTP/1\.[01] (\d+) ")


def pkcs1(secret):
    """Padded for encryption with RSA of 2,048 bits (RFC 8017, 7.2.1)."""
    return b"\0\2" + b"\x55" * (253 - len(secret)) + b"\0" + secret


class Ended(Exception):
    """The server has ended the connection."""


class Conversation:
    """One connection. What is sent leaves in one segment when the client next reads; the server's alerts, its answer and
    what it agreed to are in `said`; wallet: see converse()."""

    def __init__(self, port, wallet):
        self.port, self.wallet = port, wallet
        self._sock = self.name = None
        self.out = self.received = self.messages = self.transcript = self.answer = b""
        self.seal = self.open = self.next_open = None
        self.outcomes, self.tickets, self.updates, self.others = [], [], 0, []
        self.key, self.hello, self.psk, self.is_13, self.tls_13, self.session = Key(), None, b"\0" * 32, True, True, b""
        self.group, self.is_asked = None, False

    def another(self):
        """A second connection to the same server."""
        other = Conversation(self.port, self.wallet)
        self.others.append(other)
        return other

    @property
    def sock(self):
        """Connected when it is first needed: an s_server serves one client after the other."""
        if not self._sock:
            self._sock = socket.create_connection(("127.0.0.1", self.port), timeout=WAIT)
            self.name = f"127.0.0.1:{self._sock.getsockname()[1]}"
        return self._sock

    # --- sending -----------------------------------------------------------------------------------------
    def raw(self, data):
        self.out += data

    def send(self, kind, data, version=0x0303, **wrong):
        """One record, protected if there are keys. wrong: arguments of the key's seal()."""
        self.out += self.seal.seal(kind, data, version=version, **wrong) if self.seal else record(kind, data, version)

    def write(self, *messages):
        """Handshake messages, all in one record."""
        self.transcript += b"".join(messages)
        self.send(HANDSHAKE, b"".join(messages))

    def alert(self, description, level=2):
        self.send(ALERT, bytes([level, description]))

    def ccs(self, content=b"\1"):
        """Sends a ChangeCipherSpec, which is never protected here."""
        self.raw(record(CCS, content))

    def request(self):
        self.send(DATA, REQUEST)

    def flush(self):
        # Bytes that the server sent before it closed are still to be read.
        with contextlib.suppress(OSError):
            self.sock.sendall(self.out)
        self.out = b""

    def bytewise(self):
        """All that waits, a byte in each segment."""
        with contextlib.suppress(OSError):
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for i in range(len(self.out)):
                self.sock.send(self.out[i:i + 1])
        self.out = b""

    def half_close(self):
        self.flush()
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_WR)

    def note(self, word):
        """Notes a word; a repeated one counts once."""
        if word not in self.outcomes[-1:]:
            self.outcomes.append(word)

    # --- receiving ---------------------------------------------------------------------------------------
    def need(self, n):
        while len(self.received) < n:
            try:
                got = self.sock.recv(65536)
            except TimeoutError:
                self.note("waits")
                got = b""
            except OSError:
                got = b""
            if not got:
                raise Ended
            self.received += got

    def record(self):
        """The next record: (type, content). Notes alerts and what is no handshake message."""
        self.flush()
        self.need(5)
        n = int.from_bytes(self.received[3:5], "big")
        self.need(5 + n)
        head, body, self.received = self.received[:5], self.received[5:5 + n], self.received[5 + n:]
        if head[0] == CCS:
            if self.next_open:
                self.open, self.next_open = self.next_open, None
            return CCS, body
        kind, data = self.open.open(head, body) if self.open else (head[0], body)
        if kind == ALERT:
            name = ALERTS.get(data[1], data[1])
            if name == "close_notify":
                # s_server waits for the client's end.
                self.half_close()
            else:
                self.note(f"{name}" if self.is_13 or data[0] == 2 else f"{name} (warning)")
        elif kind == DATA:
            self.answer += data
            if found := ANSWER.match(self.answer):
                self.note("answered" if found.group(1) == b"200" else f"answered {found.group(1).decode()}")
        return kind, data

    def read_message(self):
        """The next handshake message: (type, body)."""
        while len(self.messages) < 4 or len(self.messages) < 4 + int.from_bytes(self.messages[1:4], "big"):
            kind, data = self.record()
            if kind == HANDSHAKE:
                self.messages += data
        n = 4 + int.from_bytes(self.messages[1:4], "big")
        got, self.messages = self.messages[:n], self.messages[n:]
        self.transcript += got
        return got[0], got[4:]

    def expect(self, kind):
        got, body = self.read_message()
        assert got == kind, f"message {got} instead of {kind}"
        return body

    def finish(self):
        """Reads to the end; tickets and updates of keys are taken."""
        while True:
            kind, body = self.read_message()
            if kind == NEW_TICKET:
                self.take_ticket(body)
            elif kind == KEY_UPDATE:
                self.updates += 1
                self.open = self.open.updated()

    def read_to_end(self):
        with contextlib.suppress(Ended):
            self.finish()
        self.close()

    @property
    def outcome(self):
        return " ".join(self.outcomes) or "closed"

    def close(self):
        for c in [self, *self.others]:
            if c._sock:
                c._sock.close()

    # --- hellos ------------------------------------------------------------------------------------------
    def hello_13(self, *groups):
        """A hello as clients send it, to be changed; with a key share of each group."""
        return Hello([AES_GCM_13], [
            (SERVER_NAME, server_name(b"a.test")), (GROUPS, vec(2, u16s(X25519, P256))), (SIGNATURES, vec(2, u16s(*ALGORITHMS))),
            (ALPN, vec(2, vec(1, b"http/1.1"))), (VERSIONS, vec(1, u16s(0x0304))), (PSK_MODES, b"\1\1"),
            (KEY_SHARE, shares(*((g, self.key.point(g)) for g in groups or [X25519])))], os.urandom(32))

    def hello_12(self, *suites):
        return Hello(suites or [ECDSA_GCM], [
            (SERVER_NAME, server_name(b"a.test")), (GROUPS, vec(2, u16s(X25519, P256))), (POINT_FORMATS, b"\1\0"),
            (SIGNATURES, vec(2, u16s(*ALGORITHMS))), (ALPN, vec(2, vec(1, b"http/1.1"))), (EXTENDED_MASTER, b""), (TICKET, b""),
            (RENEGOTIATION, b"\0")])

    def greet(self, hello):
        self.hello = hello
        self.transcript += hello.message()
        self.send(HANDSHAKE, hello.message(), version=0x0301)

    def share(self, group):
        return shares((group, self.key.point(group)))

    def resuming(self, hello, ticket):
        """The hello with a session of TLS 1.3 at its end."""
        identity, age, self.psk = ticket
        hello[PSK] = vec(2, vec(2, identity) + age) + vec(2, vec(1, b"\0" * 32))
        hello[PSK] = hello[PSK][:-32] + binder(self.psk, self.transcript + hello.message()[:-35])
        return hello

    # --- the server's part -------------------------------------------------------------------------------
    def server_hello(self):
        r = Reader(self.expect(SERVER_HELLO))
        r.take(2)
        self.server_random, self.session, self.suite = r.take(32), r.vec(1), r.int(2)
        r.take(1)
        rest, self.agreed = Reader(r.vec(2) if r.data else b""), {}
        while rest.data:
            kind = rest.int(2)
            self.agreed[kind] = rest.vec(2)
        self.is_13 = VERSIONS in self.agreed

    def retry(self):
        """Reads a hello retry request."""
        first = self.transcript
        self.transcript = b""
        self.server_hello()
        assert self.server_random == RETRY, "no hello retry request"
        self.transcript = message(MESSAGE_HASH, sha(first)) + self.transcript
        return int.from_bytes(self.agreed[KEY_SHARE], "big")

    def flight_13(self):
        """The server's hello up to its Finished. Then what is sent is protected as the handshake, what is read as data."""
        self.server_hello()
        assert self.is_13 and self.server_random != RETRY, "no hello of TLS 1.3"
        if PSK in self.agreed:
            self.note("resumed")
        else:
            self.psk = b"\0" * 32
        share = Reader(self.agreed[KEY_SHARE])
        secret = mac(derive(mac(b"\0" * 32, self.psk), b"derived", b""), self.key.shared(share.int(2), share.vec(2)))
        self.ours, theirs = derive(secret, b"c hs traffic", self.transcript), derive(secret, b"s hs traffic", self.transcript)
        self.seal, self.open = Aead13(self.ours), Aead13(theirs)
        while True:
            before = self.transcript
            kind, body = self.read_message()
            self.is_asked |= kind == CERTIFICATE_REQUEST
            if kind == FINISHED:
                break
        assert body == mac(expand_label(theirs, b"finished", b"", 32), sha(before)), "the server's Finished is wrong"
        self.master = mac(derive(secret, b"derived", b""), b"\0" * 32)
        self.data_secret = derive(self.master, b"c ap traffic", self.transcript)
        self.open = Aead13(derive(self.master, b"s ap traffic", self.transcript))

    def finished_13(self):
        return message(FINISHED, mac(expand_label(self.ours, b"finished", b"", 32), sha(self.transcript)))

    def data_keys(self):
        """Switches to the keys of data."""
        self.seal = Aead13(self.data_secret)
        self.resumption = derive(self.master, b"res master", self.transcript)

    def handshake_13(self, hello=None):
        self.greet(hello or self.hello_13())
        self.flight_13()
        self.end_13()

    def end_13(self):
        self.write(self.finished_13())
        self.data_keys()

    def take_ticket(self, body):
        r = Reader(body)
        r.take(4)
        if self.is_13:
            age, nonce, identity = r.take(4), r.vec(1), r.vec(2)
            self.tickets.append((identity, age, expand_label(self.resumption, b"resumption", nonce, 32)))
        else:
            self.tickets.append((r.vec(2), self.master_12))

    # --- TLS 1.2 -----------------------------------------------------------------------------------------
    def flight_12(self):
        """The server's hello up to its HelloDone."""
        self.server_hello()
        self.rest_of_flight_12()

    def rest_of_flight_12(self):
        assert not self.is_13, "no hello of TLS 1.2"
        while True:
            kind, body = self.read_message()
            self.is_asked |= kind == CERTIFICATE_REQUEST
            if kind == CERTIFICATE:
                self.certificate = Reader(Reader(body).vec(3)).vec(3)
            if kind == SERVER_KEY_EXCHANGE:
                r = Reader(body)
                assert r.int(1) == 3
                self.group, self.point = r.int(2), r.vec(1)
            if kind == SERVER_HELLO_DONE:
                return

    def key_exchange(self):
        """The client's message with its key, and the shared secret."""
        if self.suite == RSA_GCM:
            secret = b"\3\3" + os.urandom(46)
            return self.encrypted(pkcs1(secret)), secret
        return message(CLIENT_KEY_EXCHANGE, vec(1, self.key.point(self.group))), self.key.shared(self.group, self.point)

    def encrypted(self, block):
        """The message with a key that RSA encrypts; block: padded already."""
        rsa = load_der_x509_certificate(self.certificate).public_key().public_numbers()
        number = pow(int.from_bytes(block, "big"), rsa.e, rsa.n)
        return message(CLIENT_KEY_EXCHANGE, vec(2, number.to_bytes(256, "big")))

    def set_master(self, secret):
        """After the ClientKeyExchange."""
        if EXTENDED_MASTER in self.agreed:
            self.use_master(prf(secret, b"extended master secret", sha(self.transcript), 48))
        else:
            self.use_master(prf(secret, b"master secret", self.hello.random + self.server_random, 48))

    def use_master(self, master):
        self.master_12 = master
        self.next_seal, self.next_open = keys_12(self.suite, master, self.server_random + self.hello.random)

    def finished_12(self):
        return message(FINISHED, prf(self.master_12, b"client finished", sha(self.transcript), 12))

    def end_12(self):
        self.ccs()
        self.seal = self.next_seal
        self.write(self.finished_12())

    def await_finished_12(self):
        while True:
            before = self.transcript
            kind, body = self.read_message()
            if kind == NEW_TICKET:
                self.take_ticket(body)
            if kind == FINISHED:
                break
        assert body == prf(self.master_12, b"server finished", sha(before), 12), "the server's Finished is wrong"

    def exchange_12(self):
        flight, secret = self.key_exchange()
        self.write(flight)
        self.set_master(secret)

    def handshake_12(self, hello=None):
        self.greet(hello or self.hello_12())
        self.flight_12()
        self.exchange_12()
        self.end_12()
        self.await_finished_12()

    def resume_12(self, hello, master):
        """An abbreviated handshake, or a full one if the server does not repeat the session's id."""
        self.greet(hello)
        self.server_hello()
        if self.session == hello.session:
            self.note("resumed")
            self.use_master(master)
            self.await_finished_12()
            self.end_12()
        else:
            self.rest_of_flight_12()
            self.exchange_12()
            self.end_12()
            self.await_finished_12()

    # --- certificates ------------------------------------------------------------------------------------
    def certificate_message(self, *ders, context=b""):
        """The message in TLS 1.3 or 1.2, whichever is spoken."""
        if self.is_13:
            return message(CERTIFICATE, vec(1, context) + vec(3, b"".join(vec(3, d) + b"\0\0" for d in ders)))
        return message(CERTIFICATE, vec(3, b"".join(vec(3, d) for d in ders)))

    def proof(self, key, algorithm=ECDSA_SHA256):
        """A CertificateVerify with an ECDSA key."""
        signed = b" " * 64 + b"TLS 1.3, client CertificateVerify\0" + sha(self.transcript) if self.is_13 else self.transcript
        return message(CERTIFICATE_VERIFY, u16s(algorithm) + vec(2, key.sign(signed, ec.ECDSA(hashes.SHA256()))))


def converse(talk, port, wallet):
    """Runs talk(conversation) and reads to the end; the conversation, with its outcome. wallet: certificates of the client,
    each as (DER, private key), by their names."""
    c = Conversation(port, wallet)
    with contextlib.closing(c):
        with contextlib.suppress(Ended):
            talk(c)
            c.finish()
    return c
