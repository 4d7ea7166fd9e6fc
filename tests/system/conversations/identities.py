"""Conversations about certificates of clients, and about sessions that are resumed."""

import os

from conversations.conversation import Ended
from conversations.order import DECRYPT, ILLEGAL, to_the_flight
from conversations.records import BAD_MAC, DECODE, UNEXPECTED
from conversations.talks import ASKED, EC, IDS, OPTIONAL, talk
from conversations.wire import (AES_GCM_13, DATA, EARLY_DATA, ECDSA_CBC, EXTENDED_MASTER, FINISHED, HANDSHAKE, KEY_SHARE, PSK,
                                PSK_MODES, SERVER_NAME, TICKET, CERTIFICATE, CERTIFICATE_VERIFY, binder, message, record,
                                server_name, u16s, vec)

FAILURE = "handshake_failure"
BAD = "bad_certificate", DECODE, "unsupported_certificate", ILLEGAL


# --- certificates of clients -----------------------------------------------------------------------------
def shown(certificate, proof, wanted_13, wanted_12, name, at=ASKED):
    """certificate(c), proof(c): messages, or b"" for none. After a handshake a request."""
    def script_13(c):
        to_the_flight(c, "13")
        c.write(certificate(c))
        if flight := proof(c):
            c.write(flight)
        c.end_13()
        c.request()

    def script_12(c):
        to_the_flight(c, "12")
        c.write(certificate(c))
        c.exchange_12()
        if flight := proof(c):
            c.write(flight)
        c.end_12()
        c.await_finished_12()
        c.request()

    talk("8446 4.4.2", *wanted_13, at=at, name=f"{name}_13")(script_13)
    talk("5246 7.4.6", *wanted_12, at=at, name=f"{name}_12")(script_12)


def mine(c):
    return c.certificate_message(c.wallet["mine"][0])


def my_proof(c):
    return c.proof(c.wallet["mine"][1])


def flipped(flight):
    return flight[:-1] + bytes([flight[-1] ^ 1])


def nothing(_):
    return b""


def empty(c):
    return c.certificate_message()


shown(mine, my_proof, ["answered"], ["answered"], "certificate_as_usual")
shown(mine, my_proof, ["answered"], ["answered"], "certificate_as_usual_where_optional", at=OPTIONAL)
shown(empty, nothing, ["certificate_required"], [FAILURE], "empty_certificate")
shown(empty, nothing, ["answered"], ["answered"], "empty_certificate_where_optional", at=OPTIONAL)
shown(nothing, nothing, [UNEXPECTED], [UNEXPECTED, FAILURE], "no_certificate")
shown(nothing, nothing, [UNEXPECTED], [UNEXPECTED, FAILURE], "no_certificate_where_optional", at=OPTIONAL)
shown(empty, my_proof, ["certificate_required", UNEXPECTED], [FAILURE, UNEXPECTED], "proof_of_no_certificate")
shown(empty, my_proof, [UNEXPECTED], [UNEXPECTED], "proof_of_no_certificate_where_optional", at=OPTIONAL)
shown(mine, nothing, [UNEXPECTED], [UNEXPECTED], "certificate_without_proof")
shown(nothing, my_proof, [UNEXPECTED], [UNEXPECTED, FAILURE], "proof_without_certificate")
shown(mine, lambda c: flipped(my_proof(c)), [DECRYPT, DECODE], [DECRYPT, DECODE], "altered_proof")
shown(mine, lambda c: c.proof(c.wallet["other"][1]), [DECRYPT], [DECRYPT], "proof_with_another_key")
shown(mine, lambda c: message(CERTIFICATE_VERIFY, u16s(0x0403) + vec(2, b"")), [DECRYPT, DECODE], [DECRYPT, DECODE],
      "proof_of_no_byte")
shown(mine, lambda c: c.proof(c.wallet["mine"][1], 0x0804), [ILLEGAL], [ILLEGAL, FAILURE, DECRYPT], "proof_that_says_rsa")
shown(mine, lambda c: c.proof(c.wallet["mine"][1], 0x1234), [ILLEGAL], [ILLEGAL, FAILURE, DECRYPT],
      "proof_of_an_unknown_algorithm")
shown(mine, lambda c: message(CERTIFICATE_VERIFY, b"\4"), [DECODE], [DECODE], "proof_of_one_byte")
shown(mine, lambda c: message(CERTIFICATE_VERIFY, my_proof(c)[4:] + b"\0"), [DECODE, DECRYPT], [DECODE, DECRYPT],
      "proof_with_a_byte_too_many")
shown(lambda c: c.certificate_message(c.wallet["stranger"][0]), lambda c: c.proof(c.wallet["stranger"][1]), ["unknown_ca"],
      ["unknown_ca"], "certificate_of_another_ca")
shown(lambda c: c.certificate_message(c.wallet["stranger"][0]), lambda c: c.proof(c.wallet["stranger"][1]), ["unknown_ca"],
      ["unknown_ca"], "certificate_of_another_ca_where_optional", at=OPTIONAL)
shown(lambda c: c.certificate_message(flipped(c.wallet["mine"][0])), my_proof, ["decrypt_error", *BAD, "unknown_ca"],
      ["decrypt_error", *BAD, "unknown_ca"], "altered_certificate")
shown(lambda c: c.certificate_message(b"garbage"), my_proof, BAD, BAD, "certificate_of_garbage")
shown(lambda c: c.certificate_message(b""), my_proof, BAD, BAD, "certificate_of_no_byte")
shown(lambda c: message(CERTIFICATE, b""), nothing, [DECODE], [DECODE], "certificate_message_of_no_byte")
shown(lambda c: message(CERTIFICATE, mine(c)[4:-1]), my_proof, [DECODE], [DECODE], "certificate_message_that_lacks_a_byte")
shown(lambda c: message(CERTIFICATE, mine(c)[4:] + b"\0"), my_proof, [DECODE], [DECODE],
      "certificate_message_with_a_byte_too_many")
shown(mine, my_proof, [UNEXPECTED], [UNEXPECTED], "certificate_that_nobody_asked_for", at=EC)
shown(empty, nothing, [UNEXPECTED], [UNEXPECTED], "empty_certificate_that_nobody_asked_for", at=EC)


@talk("8446 4.4.2", ILLEGAL, DECODE, at=ASKED)
def certificate_with_another_context(c):
    to_the_flight(c, "13")
    c.write(c.certificate_message(c.wallet["mine"][0], context=b"x"))
    c.write(my_proof(c))
    c.end_13()


@talk("8446 4.6.2", UNEXPECTED, at=OPTIONAL)
def certificate_after_the_handshake(c):
    to_the_flight(c, "13")
    c.write(empty(c))
    c.end_13()
    c.write(mine(c))


# --- sessions of TLS 1.3 ---------------------------------------------------------------------------------
def earlier(c, handshake="handshake_13", hello=None):
    """A ticket of an earlier connection."""
    other = c.another()
    getattr(other, handshake)(hello and hello(other))
    other.request()
    other.read_to_end()
    assert "answered" in other.outcomes and other.tickets, other.outcomes
    return other.tickets[0], other


def resumption(change, *wanted, name, rfc="8446 4.2.11", alone=False):
    """A session is resumed with a hello that change(hello, c) may change after all else."""
    def script(c):
        ticket, _ = earlier(c)
        hello = c.hello_13()
        change(c.resuming(hello, ticket), c)
        c.greet(hello)
        c.flight_13()
        c.end_13()
        c.request()
    talk(rfc, *wanted, name=f"resumed_{name}_13", alone=alone)(script)


def changed_ticket(at):
    """With an identity that differs in one byte, and the binder that goes with it."""
    def change(hello, c):
        identity, age = hello[PSK][4:-39], hello[PSK][-39:-35]
        identity = identity[:at] + bytes([identity[at] ^ 1]) + identity[at + 1:]
        hello.drop(PSK)
        c.resuming(hello, (identity, age, c.psk))
    return change


def bound_again(change):
    """The binder is made after the change."""
    def apply(hello, c):
        psk = hello[PSK]
        hello.drop(PSK)
        change(hello)
        c.resuming(hello, (psk[4:-39], psk[-39:-35], c.psk))
    return apply


def nothing_changed(hello, c):
    pass


def psk_replaced(make):
    def change(hello, c):
        hello[PSK] = make(hello[PSK][2:-35], hello[PSK][-32:])
    return change


# The client does what the server chose: a whole handshake is answered just as well.
resumption(nothing_changed, "resumed answered", name="as_usual")
for byte in (0, 20, -1):
    resumption(changed_ticket(byte), "answered", name=f"with_an_altered_ticket_{byte}")
# HAProxy resumes sessions of other names.
resumption(bound_again(lambda h: h.__setitem__(SERVER_NAME, server_name(b"b.test"))), "answered", name="with_another_name",
           rfc="6066 3", alone=True)
resumption(bound_again(lambda h: h.drop(SERVER_NAME)), "answered", name="with_no_name", rfc="6066 3", alone=True)
resumption(bound_again(lambda h: h.__setitem__(PSK_MODES, b"\1\0")), "answered", name="without_a_new_key_exchange")
resumption(bound_again(lambda h: h.drop(PSK_MODES)), "missing_extension", name="without_psk_modes")
resumption(lambda h, c: h.__setitem__(PSK, flipped(h[PSK])), DECRYPT, ILLEGAL, name="with_a_wrong_binder")
resumption(lambda h, c: h.extensions.append([0x1234, b""]), ILLEGAL, name="with_psk_not_last")
resumption(lambda h, c: h.extensions.reverse(), ILLEGAL, name="with_psk_first")
resumption(psk_replaced(lambda ids, b: vec(2, b"") + vec(2, vec(1, b))), DECODE, ILLEGAL, name="with_no_identity")
resumption(psk_replaced(lambda ids, b: vec(2, ids) + vec(2, b"")), DECODE, ILLEGAL, name="with_no_binder")
resumption(psk_replaced(lambda ids, b: vec(2, ids) + vec(2, vec(1, b)) + b"\0"), DECODE, name="with_a_byte_behind_binders")
resumption(psk_replaced(lambda ids, b: vec(2, ids) + vec(2, vec(1, b[:-1]))), DECODE, DECRYPT, ILLEGAL,
           name="with_a_short_binder")
resumption(psk_replaced(lambda ids, b: vec(2, ids + vec(2, b"two") + b"\0" * 4) + vec(2, vec(1, b))), ILLEGAL, DECODE, DECRYPT,
           name="with_two_identities_and_one_binder")
resumption(psk_replaced(lambda ids, b: vec(2, ids) + vec(2, vec(1, b) * 2)), ILLEGAL, DECODE, DECRYPT,
           name="with_one_identity_and_two_binders")
resumption(psk_replaced(lambda ids, b: vec(2, vec(2, b"") + b"\0" * 4) + vec(2, vec(1, b))), DECODE, ILLEGAL, "answered",
           name="with_an_identity_of_no_byte")
resumption(psk_replaced(lambda ids, b: ids), DECODE, name="with_psk_of_garbage")
resumption(lambda h, c: h.__setitem__(KEY_SHARE, b"\0\0"), DECRYPT, ILLEGAL, name="with_a_share_that_the_binder_does_not_know")


@talk("8446 4.2.11", "whole")
def resumed_with_a_suite_of_another_hash_13(c):
    """This client cannot go on: it has no SHA-384."""
    ticket, _ = earlier(c)
    hello = c.hello_13()
    hello.suites = u16s(0x1302)
    c.greet(c.resuming(hello, ticket))
    c.server_hello()
    c.note("resumed" if PSK in c.agreed else "whole")
    raise Ended


@talk("8446 4.2.11", "resumed answered", "answered")
def resumed_with_a_ticket_used_twice_13(c):
    ticket, _ = earlier(c)
    for one in (c.another(), c):
        one.greet(one.resuming(one.hello_13(), ticket))
        one.flight_13()
        one.end_13()
        one.request()
        if one is not c:
            one.read_to_end()
            assert one.outcome == "resumed answered", one.outcome


@talk("8446 4.2.11.2", "resumed answered")
def resumed_after_a_retry_request_13(c):
    ticket, _ = earlier(c)
    hello = c.hello_13()
    hello[KEY_SHARE] = vec(2, b"")
    c.greet(c.resuming(hello, ticket))
    group = c.retry()
    hello[KEY_SHARE] = c.share(group)
    hello.drop(PSK)
    c.greet(c.resuming(hello, ticket))
    c.flight_13()
    c.end_13()
    c.request()


@talk("8446 4.2.11.2", DECRYPT, ILLEGAL)
def resumed_after_a_retry_request_with_the_first_binder_13(c):
    ticket, _ = earlier(c)
    hello = c.hello_13()
    hello[KEY_SHARE] = vec(2, b"")
    c.greet(c.resuming(hello, ticket))
    hello[KEY_SHARE] = c.share(c.retry())
    c.greet(hello)
    c.finish()


# --- early data: it is not accepted ----------------------------------------------------------------------
@talk("8446 4.2.10", "answered")
def early_data_announced_and_none_sent(c):
    hello = c.hello_13()
    hello[EARLY_DATA] = b""
    c.greet(hello)
    c.flight_13()
    c.end_13()
    c.request()


@talk("8446 4.2.10", "answered")
def early_data_is_skipped(c):
    hello = c.hello_13()
    hello[EARLY_DATA] = b""
    c.greet(hello)
    c.raw(record(DATA, os.urandom(500)) * 3)
    c.flight_13()
    c.end_13()
    c.request()


@talk("8446 4.2.10", UNEXPECTED, BAD_MAC, "record_overflow")
def early_data_without_end(c):
    hello = c.hello_13()
    hello[EARLY_DATA] = b""
    c.greet(hello)
    c.raw(record(DATA, os.urandom(16000)) * 20)
    c.flight_13()


@talk("8446 4.2.10", UNEXPECTED, BAD_MAC)
def early_data_not_announced(c):
    c.greet(c.hello_13())
    c.raw(record(DATA, os.urandom(500)))
    c.flight_13()


# --- sessions of TLS 1.2 ---------------------------------------------------------------------------------
def resumption_12(change, *wanted, name, first=None, rfc="5077 3.4", alone=False):
    """A ticket is used with a hello that change(hello, ticket) may change."""
    def script(c):
        (ticket, master), _ = earlier(c, "handshake_12", first)
        hello = c.hello_12()
        hello.session = os.urandom(32)
        hello[TICKET] = ticket
        change(hello, ticket)
        c.resume_12(hello, master)
        c.request()
    talk(rfc, *wanted, name=f"resumed_{name}_12", alone=alone)(script)


def altered(at):
    return lambda h, t: h.__setitem__(TICKET, t[:at % len(t)] + bytes([t[at] ^ 1]) + t[at % len(t) + 1:])


def no_extended_master(c):
    hello = c.hello_12()
    hello.drop(EXTENDED_MASTER)
    return hello


resumption_12(lambda h, t: None, "resumed answered", name="as_usual")
for byte in (0, 20, -1):
    resumption_12(altered(byte), "answered", name=f"with_an_altered_ticket_{byte}")
resumption_12(lambda h, t: h.__setitem__(TICKET, t[:-1]), "answered", name="with_a_short_ticket")
resumption_12(lambda h, t: h.__setitem__(TICKET, b"x"), "answered", name="with_a_ticket_of_one_byte")
resumption_12(lambda h, t: h.__setitem__(SERVER_NAME, server_name(b"b.test")), "answered", name="with_another_name",
              rfc="6066 3", alone=True)
resumption_12(lambda h, t: h.drop(SERVER_NAME), "answered", name="with_no_name", rfc="6066 3", alone=True)
resumption_12(lambda h, t: h.drop(EXTENDED_MASTER), FAILURE, name="without_extended_master", rfc="7627 5.3")
resumption_12(lambda h, t: None, "answered", name="with_new_extended_master", first=no_extended_master, rfc="7627 5.3")
resumption_12(lambda h, t: setattr(h, "suites", u16s(ECDSA_CBC)), ILLEGAL, "answered", FAILURE, name="with_another_suite",
              rfc="5246 7.4.1.2")


def with_an_id(c):
    """An earlier conversation whose session has an id, and no ticket."""
    other = c.another()
    hello = other.hello_12()
    hello.drop(TICKET)
    other.handshake_12(hello)
    other.request()
    other.read_to_end()
    assert other.session and not other.tickets
    return other


def by_id(change, *wanted, name, alone=False):
    """A session without a ticket, at a listener that gives none."""
    def script(c):
        other = with_an_id(c)
        # HAProxy compares ids as if zeros followed them: without its last byte such a one would be the same.
        while not other.session[-1]:
            other = with_an_id(c)
        hello = c.hello_12()
        hello.drop(TICKET)
        hello.session = other.session
        change(hello)
        c.resume_12(hello, other.master_12)
        c.request()
    talk("5246 7.4.1.2", *wanted, at=IDS, name=f"resumed_by_id_{name}_12", alone=alone)(script)


by_id(lambda h: None, "resumed answered", name="as_usual")
by_id(lambda h: setattr(h, "session", flipped(h.session)), "answered", name="with_an_altered_id")
by_id(lambda h: setattr(h, "session", h.session[:-1]), "answered", name="with_a_short_id")
by_id(lambda h: h.drop(EXTENDED_MASTER), FAILURE, name="without_extended_master")
by_id(lambda h: h.__setitem__(SERVER_NAME, server_name(b"b.test")), "answered", name="with_another_name",
      alone=True)


@talk("5246 7.4.9", DECRYPT)
def resumed_with_a_wrong_finished_12(c):
    (ticket, master), _ = earlier(c, "handshake_12")
    hello = c.hello_12()
    hello.session, hello[TICKET] = os.urandom(32), ticket
    c.greet(hello)
    c.server_hello()
    c.use_master(master)
    c.await_finished_12()
    c.ccs()
    c.seal = c.next_seal
    c.send(HANDSHAKE, message(FINISHED, b"x" * 12))


@talk("5246 7.4.9", UNEXPECTED)
def resumed_and_data_before_finished_12(c):
    (ticket, master), _ = earlier(c, "handshake_12")
    hello = c.hello_12()
    hello.session, hello[TICKET] = os.urandom(32), ticket
    c.greet(hello)
    c.server_hello()
    c.use_master(master)
    c.await_finished_12()
    c.ccs()
    c.seal = c.next_seal
    c.request()
