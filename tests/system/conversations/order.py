"""Conversations about the order of messages: what comes too early, twice or never, Finished, keys, renegotiation."""

import os

from conversations.conversation import REQUEST, pkcs1
from conversations.records import BAD_MAC, DECODE, UNEXPECTED, after
from conversations.talks import RSA, talk
from conversations.wire import (CERTIFICATE, CERTIFICATE_REQUEST, CERTIFICATE_VERIFY, CLIENT_KEY_EXCHANGE, DATA,
                                END_OF_EARLY_DATA, FINISHED, HANDSHAKE, HELLO_REQUEST, KEY_UPDATE, NEW_TICKET, P256, RSA_GCM,
                                SERVER_HELLO, X25519, message, record, u16s, vec)

ILLEGAL, DECRYPT = "illegal_parameter", "decrypt_error"
MESSAGES = {"hello_request": HELLO_REQUEST, "server_hello": SERVER_HELLO, "new_session_ticket": NEW_TICKET,
            "end_of_early_data": END_OF_EARLY_DATA, "certificate": CERTIFICATE, "certificate_request": CERTIFICATE_REQUEST,
            "certificate_verify": CERTIFICATE_VERIFY, "client_key_exchange": CLIENT_KEY_EXCHANGE, "finished": FINISHED,
            "unknown_message": 99}


def to_the_flight(c, version):
    """A hello, and what the server says to it."""
    c.greet(c.hello_13() if version == "13" else c.hello_12())
    (c.flight_13 if version == "13" else c.flight_12)()


# Each message that a client may not send, at three times.
for word, kind in MESSAGES.items():
    @talk("8446 4", UNEXPECTED, name=f"{word}_first")
    def _first(c, kind=kind):
        c.raw(record(HANDSHAKE, message(kind, b"x" * 32)))

    if kind != FINISHED:
        @talk("8446 4", UNEXPECTED, name=f"{word}_before_finished_13")
        def _before_13(c, kind=kind):
            to_the_flight(c, "13")
            c.write(message(kind, b"\0" * 4))

    if kind != CLIENT_KEY_EXCHANGE:
        @talk("5246 7.4", UNEXPECTED, name=f"{word}_before_the_key_exchange_12")
        def _before_12(c, kind=kind):
            to_the_flight(c, "12")
            c.write(message(kind, b"\0" * 4))

    @after("8446 4", UNEXPECTED, name=f"{word}_after_the_handshake", versions=["13"])
    def _after(c, kind=kind):
        c.write(message(kind, b"\0" * 4))


@talk("8446 4.1.2", UNEXPECTED)
def hello_twice_13(c):
    to_the_flight(c, "13")
    c.write(c.hello.message())


@talk("8446 5.2", UNEXPECTED, BAD_MAC)
def hello_twice_in_plaintext_13(c):
    to_the_flight(c, "13")
    c.raw(record(HANDSHAKE, c.hello.message()))


@talk("5246 7.4.1.2", UNEXPECTED)
def hello_twice_12(c):
    to_the_flight(c, "12")
    c.write(c.hello.message())


@talk("5246 7.4.7", UNEXPECTED)
def key_exchange_twice_12(c):
    to_the_flight(c, "12")
    flight, _ = c.key_exchange()
    c.write(flight)
    c.write(flight)


# --- data that comes too early ---------------------------------------------------------------------------
@talk("8446 5", UNEXPECTED)
def data_before_finished_13(c):
    to_the_flight(c, "13")
    c.request()


@talk("8446 5.2", UNEXPECTED, BAD_MAC)
def plaintext_data_before_finished_13(c):
    to_the_flight(c, "13")
    c.raw(record(DATA, REQUEST))


@talk("5246 7.4.9", UNEXPECTED)
def data_before_finished_12(c):
    to_the_flight(c, "12")
    c.exchange_12()
    c.ccs()
    c.seal = c.next_seal
    c.request()


@talk("5246 7.4.9", UNEXPECTED)
def plaintext_data_before_the_key_exchange_12(c):
    to_the_flight(c, "12")
    c.request()


# --- Finished --------------------------------------------------------------------------------------------
def finished(change, *wanted, name):
    """With each version a Finished that is changed so."""
    def script_13(c):
        to_the_flight(c, "13")
        c.write(change(c.finished_13()))
        c.data_keys()
        c.request()

    def script_12(c):
        to_the_flight(c, "12")
        c.exchange_12()
        c.ccs()
        c.seal = c.next_seal
        c.write(change(c.finished_12()))
        c.request()

    talk("8446 4.4.4", *wanted, name=f"finished_{name}_13")(script_13)
    talk("5246 7.4.9", *wanted, name=f"finished_{name}_12")(script_12)


finished(lambda m: m[:-1] + bytes([m[-1] ^ 1]), DECRYPT, name="wrong_in_the_last_bit")
finished(lambda m: message(FINISHED, b"\0" * (len(m) - 4)), DECRYPT, name="of_zeros")
finished(lambda m: message(FINISHED, m[4:-1]), DECODE, DECRYPT, name="too_short")
finished(lambda m: message(FINISHED, m[4:] + b"\0"), DECODE, DECRYPT, name="too_long")
finished(lambda m: message(FINISHED, b""), DECODE, DECRYPT, name="empty")
finished(lambda m: m + message(KEY_UPDATE, b"\0"), UNEXPECTED, name="with_more_behind_it")


@talk("8446 5.1", "answered")
def finished_a_byte_in_each_record(c):
    to_the_flight(c, "13")
    flight = c.finished_13()
    c.transcript += flight
    for i in range(len(flight)):
        c.send(HANDSHAKE, flight[i:i + 1])
    c.data_keys()
    c.request()


@talk("8446 5.1", UNEXPECTED)
def data_within_finished(c):
    to_the_flight(c, "13")
    flight = c.finished_13()
    c.send(HANDSHAKE, flight[:10])
    c.send(DATA, b"x")
    c.send(HANDSHAKE, flight[10:])


@talk("8446 4.4.4", UNEXPECTED)
def finished_twice_13(c):
    to_the_flight(c, "13")
    flight = c.finished_13()
    c.end_13()
    c.write(flight)


@talk("8446 7.3", BAD_MAC)
def request_with_the_key_of_the_handshake(c):
    to_the_flight(c, "13")
    seal = c.seal
    c.end_13()
    c.raw(seal.seal(DATA, REQUEST))


@talk("", "closed")
def fin_before_finished_13(c):
    to_the_flight(c, "13")
    c.half_close()


@talk("", "closed")
def fin_before_the_key_exchange_12(c):
    to_the_flight(c, "12")
    c.half_close()


# --- KeyUpdate -------------------------------------------------------------------------------------------
def update(c, body=b"\0"):
    c.send(HANDSHAKE, message(KEY_UPDATE, body))
    c.seal = c.seal.updated()


@after("8446 4.6.3", "answered", versions=["13"])
def key_update(c):
    update(c)
    c.request()


@after("8446 4.6.3", "answered", versions=["13"])
def key_update_of_both(c):
    update(c, b"\1")
    c.request()


@after("8446 4.6.3", "answered", UNEXPECTED, versions=["13"])
def forty_key_updates(c):
    for _ in range(40):
        update(c, b"\1")
    c.request()


@after("8446 4.6.3", "answered", versions=["13"])
def key_update_between_halves_of_a_request(c):
    c.send(DATA, REQUEST[:7])
    update(c)
    c.send(DATA, REQUEST[7:])


@after("8446 4.6.3", "answered", versions=["13"])
def key_update_in_two_records(c):
    flight = message(KEY_UPDATE, b"\0")
    c.send(HANDSHAKE, flight[:2])
    c.send(HANDSHAKE, flight[2:])
    c.seal = c.seal.updated()
    c.request()


@after("8446 4.6.3", ILLEGAL, versions=["13"])
def key_update_with_2(c):
    update(c, b"\2")


@after("8446 4.6.3", DECODE, versions=["13"])
def key_update_empty(c):
    update(c, b"")


@after("8446 4.6.3", DECODE, versions=["13"])
def key_update_of_two_bytes(c):
    update(c, b"\0\0")


@after("8446 5.1", UNEXPECTED, versions=["13"])
def two_key_updates_in_a_record(c):
    c.write(message(KEY_UPDATE, b"\0"), message(KEY_UPDATE, b"\0"))


@after("8446 5.1", UNEXPECTED, versions=["13"])
def data_within_a_key_update(c):
    c.send(HANDSHAKE, message(KEY_UPDATE, b"\0")[:3])
    c.request()


@after("8446 7.2", BAD_MAC, versions=["13"])
def key_update_without_the_new_key(c):
    c.send(HANDSHAKE, message(KEY_UPDATE, b"\0"))
    c.request()


@talk("8446 4.6.3", UNEXPECTED)
def key_update_before_finished(c):
    to_the_flight(c, "13")
    c.write(message(KEY_UPDATE, b"\0"))


@after("5246 7.4", UNEXPECTED, versions=["12"])
def key_update(c):  # noqa: F811
    c.write(message(KEY_UPDATE, b"\0"))


# --- renegotiation ---------------------------------------------------------------------------------------
REFUSED = "no_renegotiation (warning)", "no_renegotiation (warning) answered", "no_renegotiation", "handshake_failure"


@after("5746 4.5", *REFUSED, versions=["12"])
def renegotiation(c):
    c.write(c.hello_12().message())
    c.request()


@after("5746 4.5", *REFUSED, versions=["12"])
def renegotiation_within_a_request(c):
    c.send(DATA, REQUEST[:5])
    c.write(c.hello_12().message())
    c.send(DATA, REQUEST[5:])


@after("5746 4.5", *REFUSED, UNEXPECTED, versions=["12"])
def renegotiation_thirty_times(c):
    for _ in range(30):
        c.write(c.hello_12().message())
    c.request()


@after("8446 4.1.2", UNEXPECTED, versions=["13"])
def renegotiation(c):  # noqa: F811
    c.write(c.hello_13().message())


# --- the client's key of TLS 1.2 -------------------------------------------------------------------------
def key_of(group, point, *wanted, name):
    """A ClientKeyExchange with this point, to a server that was left one group."""
    def script(c):
        hello = c.hello_12()
        hello[10] = vec(2, u16s(group))
        c.greet(hello)
        c.flight_12()
        c.write(message(CLIENT_KEY_EXCHANGE, point(c)))
        # The secret does not matter: later records cannot be verified.
        c.set_master(b"\0" * 32)
        c.end_12()
    talk("8422 5.11", *wanted, name=f"key_{name}_12")(script)


key_of(P256, lambda c: vec(1, b"\4" + os.urandom(64)), ILLEGAL, DECODE, name="not_on_the_curve")
key_of(P256, lambda c: vec(1, b"\4" + b"\0" * 64), ILLEGAL, DECODE, name="of_zeros")
key_of(P256, lambda c: vec(1, b"\0"), ILLEGAL, DECODE, name="at_infinity")
key_of(P256, lambda c: vec(1, c.key.point(P256)[:-1]), ILLEGAL, DECODE, name="too_short")
key_of(P256, lambda c: vec(1, b"\5" + c.key.point(P256)[1:]), ILLEGAL, DECODE, name="of_an_unknown_form")
key_of(P256, lambda c: b"", DECODE, ILLEGAL, name="missing")
key_of(P256, lambda c: vec(1, b""), DECODE, ILLEGAL, "handshake_failure", name="empty")
key_of(P256, lambda c: vec(1, c.key.point(P256)) + b"x", DECODE, ILLEGAL, name="with_more_behind_it")
key_of(X25519, lambda c: vec(1, b"\0" * 32), ILLEGAL, "handshake_failure", name="x25519_of_zeros")
key_of(X25519, lambda c: vec(1, b"\1" + b"\0" * 31), ILLEGAL, "handshake_failure", name="x25519_of_small_order")
key_of(X25519, lambda c: vec(1, c.key.point(X25519)[1:]), ILLEGAL, DECODE, name="x25519_too_short")


def rsa(block, *wanted, name):
    """RFC 5246, 7.4.7.1: whatever is wrong with the padding, the server says nothing before Finished, and then the same."""
    def script(c):
        c.greet(c.hello_12(RSA_GCM))
        c.flight_12()
        secret = b"\3\3" + os.urandom(46)
        c.write(c.encrypted(block(secret)))
        c.set_master(secret)
        c.end_12()
        c.await_finished_12()
        c.request()
    talk("5246 7.4.7.1", *wanted, at=RSA, name=f"rsa_{name}_12")(script)


rsa(pkcs1, "answered", name="as_usual")
rsa(lambda s: b"\0\1" + pkcs1(s)[2:], BAD_MAC, name="with_padding_of_signatures")
rsa(lambda s: b"\1\2" + pkcs1(s)[2:], BAD_MAC, name="with_a_wrong_first_byte")
rsa(lambda s: b"\0\2" + b"\x55" * 254, BAD_MAC, name="without_a_zero")
rsa(lambda s: b"\0\2\0" + b"\x55" * 253, BAD_MAC, name="with_an_early_zero")
rsa(lambda s: pkcs1(s[:-1]), BAD_MAC, name="with_a_short_secret")
rsa(lambda s: pkcs1(s + b"\0"), BAD_MAC, name="with_a_long_secret")
rsa(lambda s: pkcs1(b""), BAD_MAC, name="without_a_secret")
rsa(lambda s: pkcs1(b"\3\2" + s[2:]), BAD_MAC, name="with_another_version")
