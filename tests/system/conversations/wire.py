"""Messages and keys of TLS 1.2 and 1.3 as bytes, for tests that have to send what no library sends.
Sources: RFC 8446, 5246, 5288, 7627, 8422."""

import hashlib
import hmac
import os
import struct

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric import ec, x25519
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

# Content types of records.
CCS, ALERT, HANDSHAKE, DATA = 20, 21, 22, 23
# Types of handshake messages.
(HELLO_REQUEST, CLIENT_HELLO, SERVER_HELLO, NEW_TICKET, END_OF_EARLY_DATA, ENCRYPTED_EXTENSIONS, CERTIFICATE,
 SERVER_KEY_EXCHANGE, CERTIFICATE_REQUEST, SERVER_HELLO_DONE, CERTIFICATE_VERIFY, CLIENT_KEY_EXCHANGE, FINISHED,
 CERTIFICATE_STATUS, KEY_UPDATE, MESSAGE_HASH) = 0, 1, 2, 4, 5, 8, 11, 12, 13, 14, 15, 16, 20, 22, 24, 254
# Types of extensions.
(SERVER_NAME, MAX_FRAGMENT, STATUS_REQUEST, GROUPS, POINT_FORMATS, SIGNATURES, ALPN, EXTENDED_MASTER, TICKET, PSK,
 EARLY_DATA, VERSIONS, COOKIE, PSK_MODES, KEY_SHARE, RENEGOTIATION) = \
    0, 1, 5, 10, 11, 13, 16, 23, 35, 41, 42, 43, 44, 45, 51, 0xff01
X25519, P256 = 0x1d, 0x17
# Suites: what the client below can; of 1.3, of 1.2 with ECDSA (GCM, CBC), and with RSA's key exchange.
AES_GCM_13, ECDSA_GCM, ECDSA_CBC, RSA_GCM = 0x1301, 0xc02b, 0xc023, 0x9c
GREASE = 0x3a3a
ECDSA_SHA256 = 0x0403
RETRY = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c")
ALERTS = {0: "close_notify", 10: "unexpected_message", 20: "bad_record_mac", 22: "record_overflow", 40: "handshake_failure",
          42: "bad_certificate", 43: "unsupported_certificate", 46: "certificate_unknown", 47: "illegal_parameter",
          48: "unknown_ca", 50: "decode_error", 51: "decrypt_error", 70: "protocol_version", 71: "insufficient_security",
          80: "internal_error", 86: "inappropriate_fallback", 90: "user_canceled", 100: "no_renegotiation",
          109: "missing_extension", 110: "unsupported_extension", 112: "unrecognized_name", 116: "certificate_required",
          120: "no_application_protocol"}


def vec(n, data):
    """A vector with a length of n bytes."""
    return len(data).to_bytes(n, "big") + data


def u16s(*numbers):
    return struct.pack(f">{len(numbers)}H", *numbers)


def message(kind, body):
    return bytes([kind]) + vec(3, body)


def record(kind, data, version=0x0303):
    return bytes([kind]) + u16s(version, len(data)) + data


class Reader:
    """Takes integers and vectors from the front of bytes."""

    def __init__(self, data):
        self.data = data

    def take(self, n):
        assert len(self.data) >= n, "the server's message is too short"
        got, self.data = self.data[:n], self.data[n:]
        return got

    def int(self, n):
        return int.from_bytes(self.take(n), "big")

    def vec(self, n):
        return self.take(self.int(n))


def server_name(name, kind=0):
    return vec(2, bytes([kind]) + vec(2, name))


def shares(*pairs):
    return vec(2, b"".join(u16s(group) + vec(2, point) for group, point in pairs))


class Hello:
    """A client's hello, whose fields may be anything. extensions: a list of [type, data], to change at will."""

    def __init__(self, suites, extensions, session=b"", version=0x0303):
        self.version, self.session, self.suites, self.compression = version, session, u16s(*suites), b"\0"
        self.random = os.urandom(32)
        self.extensions = [list(e) for e in extensions]

    def __getitem__(self, kind):
        return next(data for k, data in self.extensions if k == kind)

    def __setitem__(self, kind, data):
        """Changes an extension, or adds it at the end."""
        for e in self.extensions:
            if e[0] == kind:
                e[1] = data
                return
        self.extensions.append([kind, data])

    def drop(self, *kinds):
        self.extensions = [e for e in self.extensions if e[0] not in kinds]

    def body(self):
        head = u16s(self.version) + self.random + vec(1, self.session) + vec(2, self.suites) + vec(1, self.compression)
        return head if self.extensions is None else \
            head + vec(2, b"".join(u16s(kind) + vec(2, data) for kind, data in self.extensions))

    def message(self):
        return message(CLIENT_HELLO, self.body())


class Key:
    """A key of one exchange with (EC)DHE, for whichever of both groups the server chooses."""

    def __init__(self):
        self.x25519 = x25519.X25519PrivateKey.generate()
        self.p256 = ec.generate_private_key(ec.SECP256R1())

    def point(self, group):
        if group == X25519:
            return self.x25519.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        return self.p256.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    def shared(self, group, point):
        if group == X25519:
            return self.x25519.exchange(x25519.X25519PublicKey.from_public_bytes(point))
        return self.p256.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point))


# --- keys: all suites here use SHA-256 -----------------------------------------------------------------
def sha(data):
    return hashlib.sha256(data).digest()


def mac(key, data):
    return hmac.digest(key, data, "sha256")


def expand_label(secret, label, context, n):
    return mac(secret, u16s(n) + vec(1, b"tls13 " + label) + vec(1, context) + b"\1")[:n]


def derive(secret, label, transcript):
    return expand_label(secret, label, sha(transcript), 32)


def binder(psk, transcript):
    """The proof that the client knows this key of a session; transcript: up to the binders."""
    return mac(expand_label(derive(mac(b"\0" * 32, psk), b"res binder", b""), b"finished", b"", 32), sha(transcript))


def prf(secret, label, seed, n):
    out, a = b"", label + seed
    while len(out) < n:
        a = mac(secret, a)
        out += mac(secret, a + label + seed)
    return out[:n]


class Undecipherable(Exception):
    """A record of the server with a wrong tag: a defect of the server, or of this client."""


class Aead13:
    """One direction of TLS 1.3. seal() returns a record; its arguments allow for each wrong one."""

    def __init__(self, secret):
        self.secret, self.n = secret, 0
        self.key, self.iv = AESGCM(expand_label(secret, b"key", b"", 16)), expand_label(secret, b"iv", b"", 12)

    def nonce(self):
        self.n += 1
        return (int.from_bytes(self.iv, "big") ^ (self.n - 1)).to_bytes(12, "big")

    def seal(self, kind, data, outer=DATA, version=0x0303):
        """kind None: data is the whole inner plaintext."""
        inner = data if kind is None else data + bytes([kind])
        head = bytes([outer]) + u16s(version, len(inner) + 16)
        return head + self.key.encrypt(self.nonce(), inner, head)

    def open(self, head, body):
        try:
            inner = self.key.decrypt(self.nonce(), body, head).rstrip(b"\0")
        except InvalidTag as e:
            raise Undecipherable from e
        return inner[-1], inner[:-1]

    def updated(self):
        return Aead13(expand_label(self.secret, b"traffic upd", b"", 32))


class Aead12:
    """One direction of TLS 1.2 with AES-GCM."""

    def __init__(self, key, iv):
        self.key, self.iv, self.n = AESGCM(key), iv, 0

    def nonce(self, kind, n, explicit=None):
        number = struct.pack(">Q", self.n)
        self.n += 1
        return self.iv + (explicit or number), number + bytes([kind]) + u16s(0x0303, n)

    def seal(self, kind, data, version=0x0303):
        nonce, extra = self.nonce(kind, len(data))
        return record(kind, nonce[4:] + self.key.encrypt(nonce, data, extra), version)

    def open(self, head, body):
        nonce, extra = self.nonce(head[0], len(body) - 24, body[:8])
        try:
            return head[0], self.key.decrypt(nonce, body[8:], extra)
        except InvalidTag as e:
            raise Undecipherable from e


class Cbc12:
    """One direction of TLS 1.2 with AES-CBC and HMAC-SHA256. padding: all of it, with its length, if it is to be wrong."""

    def __init__(self, key, secret):
        self.key, self.secret, self.n = key, secret, 0

    def tag(self, kind, data):
        self.n += 1
        return mac(self.secret, struct.pack(">Q", self.n - 1) + record(kind, data))

    def seal(self, kind, data, version=0x0303, tag=None, padding=None):
        plain = data + (tag or self.tag(kind, data))
        if padding is None:
            padding = bytes([15 - len(plain) % 16]) * (16 - len(plain) % 16)
        iv = os.urandom(16)
        encryptor = Cipher(algorithms.AES(self.key), modes.CBC(iv)).encryptor()
        return record(kind, iv + encryptor.update(plain + padding), version)

    def open(self, head, body):
        plain = Cipher(algorithms.AES(self.key), modes.CBC(body[:16])).decryptor().update(body[16:])
        data = plain[:-1 - plain[-1]]
        if self.tag(head[0], data[:-32]) != data[-32:]:
            raise Undecipherable
        return head[0], data[:-32]


def keys_12(suite, master, randoms):
    """Protection of what the client sends and of what the server sends. randoms: the server's, then the client's."""
    block = Reader(prf(master, b"key expansion", randoms, 104))
    if suite == ECDSA_CBC:
        secrets = block.take(32), block.take(32)
        return Cbc12(block.take(16), secrets[0]), Cbc12(block.take(16), secrets[1])
    keys = block.take(16), block.take(16)
    return Aead12(keys[0], block.take(4)), Aead12(keys[1], block.take(4))
