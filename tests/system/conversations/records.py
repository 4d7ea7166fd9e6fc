"""Conversations about records and alerts: how messages are cut, lengths, protection, change_cipher_spec."""

import os

from conversations.conversation import REQUEST
from conversations.talks import talk
from conversations.wire import ALERT, CCS, CLIENT_HELLO, DATA, ECDSA_CBC, HANDSHAKE, message, record, u16s

UNEXPECTED, OVERFLOW, BAD_MAC, DECODE = "unexpected_message", "record_overflow", "bad_record_mac", "decode_error"


def hellos(rfc, *wanted, alone=False):
    """Decorator: script(c, hello, proceed) is a conversation with each version; proceed() ends the handshake and asks."""
    def add(script):
        def with_13(c):
            def proceed():
                c.flight_13()
                c.end_13()
                c.request()
            c.tls_13, c.hello = True, c.hello_13()
            script(c, c.hello, proceed)

        def with_12(c):
            def proceed():
                c.flight_12()
                c.exchange_12()
                c.end_12()
                c.await_finished_12()
                c.request()
            c.tls_13, c.hello = False, c.hello_12()
            script(c, c.hello, proceed)

        talk(rfc, *wanted, name=script.__name__ + "_13", alone=alone)(with_13)
        talk(rfc, *wanted, name=script.__name__ + "_12", alone=alone)(with_12)
        return script
    return add


def after(rfc, *wanted, versions=("13", "12"), name=None):
    """Decorator: script(c) follows a whole handshake, with each version."""
    def add(script):
        def run(handshake):
            def whole(c):
                getattr(c, handshake)()
                script(c)
            return whole
        for v in versions:
            talk(rfc, *wanted, name=f"{name or script.__name__}_{v}")(run(f"handshake_{v}"))
        return script
    return add


# --- a hello that is cut ---------------------------------------------------------------------------------
@hellos("8446 2", "answered")
def hello_as_usual(c, hello, proceed):
    c.greet(hello)
    proceed()


@hellos("8446 5.1", "answered")
def hello_in_records_of_one_byte(c, hello, proceed):
    data = hello.message()
    c.transcript = data
    for i in range(len(data)):
        c.raw(record(HANDSHAKE, data[i:i + 1], 0x0301))
    proceed()


@hellos("8446 5.1", "answered")
def hello_cut_in_its_header(c, hello, proceed):
    data = hello.message()
    c.transcript = data
    c.raw(record(HANDSHAKE, data[:2]) + record(HANDSHAKE, data[2:5]) + record(HANDSHAKE, data[5:]))
    proceed()


@hellos("793", "answered")
def hello_in_segments_of_one_byte(c, hello, proceed):
    c.greet(hello)
    c.bytewise()
    proceed()


@hellos("8446 5.1", UNEXPECTED, DECODE)
def empty_handshake_record_first(c, hello, proceed):
    c.raw(record(HANDSHAKE, b""))
    c.greet(hello)
    proceed()


@hellos("8446 5.1", UNEXPECTED, DECODE)
def empty_handshake_record_within(c, hello, proceed):
    data = hello.message()
    c.transcript = data
    c.raw(record(HANDSHAKE, data[:50]) + record(HANDSHAKE, b"") + record(HANDSHAKE, data[50:]))
    proceed()


@hellos("8446 5.1", UNEXPECTED)
def alert_within_the_hello(c, hello, proceed):
    data = hello.message()
    c.transcript = data
    c.raw(record(HANDSHAKE, data[:50]) + record(ALERT, b"\1\x5a") + record(HANDSHAKE, data[50:]))
    proceed()


@hellos("8446 5.1", UNEXPECTED)
def ccs_within_the_hello(c, hello, proceed):
    data = hello.message()
    c.transcript = data
    c.raw(record(HANDSHAKE, data[:50]) + record(CCS, b"\1") + record(HANDSHAKE, data[50:]))
    proceed()


@hellos("8446 5.1", UNEXPECTED)
def data_within_the_hello(c, hello, proceed):
    data = hello.message()
    c.transcript = data
    c.raw(record(HANDSHAKE, data[:50]) + record(DATA, b"x") + record(HANDSHAKE, data[50:]))
    proceed()


@hellos("8446 5.1", UNEXPECTED)
def two_hellos_in_a_record(c, hello, proceed):
    c.write(hello.message(), hello.message())
    proceed()


@talk("8446 5.1", UNEXPECTED)
def half_a_message_behind_the_hello(c):
    c.write(c.hello_13().message(), b"\x14\0\0\x20half")


@hellos("8446 4", "closed", alone=True)
def hello_that_never_ends(c, hello, proceed):
    data = hello.message()
    c.raw(record(HANDSHAKE, data[:-1]))
    c.half_close()


@talk("8446 4", "decode_error", "illegal_parameter", "closed", "internal_error")
def hello_of_16_megabytes(c):
    # Without an end: tacit reads nothing of a client that has left before it was answered, and its end may come along.
    c.raw(record(HANDSHAKE, bytes([CLIENT_HELLO]) + b"\xff\xff\xff" + b"x" * 16000))


# --- lengths and versions of records ---------------------------------------------------------------------
@talk("8446 5.1", OVERFLOW)
def plaintext_of_16385_bytes(c):
    c.raw(record(HANDSHAKE, message(CLIENT_HELLO, os.urandom(16381)), 0x0301))


@talk("8446 5.1", OVERFLOW, UNEXPECTED, "protocol_version", "closed")
def plaintext_of_65535_bytes(c):
    c.raw(bytes([HANDSHAKE]) + u16s(0x0301, 65535) + b"x" * 1000)


@talk("8446 5.2", OVERFLOW)
def ciphertext_of_16641_bytes_13(c):
    c.handshake_13()
    c.raw(record(DATA, os.urandom((1 << 14) + 257)))


@talk("5246 6.2.3", OVERFLOW)
def ciphertext_of_18433_bytes_12(c):
    c.handshake_12()
    c.raw(record(DATA, os.urandom((1 << 14) + 2049)))


@talk("8446 5.4", OVERFLOW)
def inner_plaintext_of_16386_bytes(c):
    c.handshake_13()
    c.send(None, REQUEST + b"x" * ((1 << 14) + 1 - len(REQUEST)) + bytes([DATA]))


@talk("8446 5.4", "answered")
def inner_plaintext_of_16385_bytes(c):
    c.handshake_13()
    c.send(None, (REQUEST + bytes([DATA])).ljust((1 << 14) + 1, b"\0"))


@talk("5246 6.2.1", OVERFLOW)
def plaintext_of_16385_bytes_12(c):
    c.handshake_12()
    c.send(DATA, b"x" * ((1 << 14) + 1))


@hellos("8446 5.1", "answered")
def version_of_the_first_record_is_0300(c, hello, proceed):
    c.transcript = hello.message()
    c.raw(record(HANDSHAKE, hello.message(), 0x0300))
    proceed()


@hellos("8446 5.1", "answered")
def version_of_the_first_record_is_03ff(c, hello, proceed):
    c.transcript = hello.message()
    c.raw(record(HANDSHAKE, hello.message(), 0x03ff))
    proceed()


@hellos("8446 5.1", "answered", "protocol_version")
def version_of_the_first_record_is_0505(c, hello, proceed):
    c.transcript = hello.message()
    c.raw(record(HANDSHAKE, hello.message(), 0x0505))
    proceed()


@after("8446 5.2", "answered", "protocol_version", "decode_error")
def version_of_a_record_with_data_is_0301(c):
    c.send(DATA, REQUEST, version=0x0301)


# --- types of content ------------------------------------------------------------------------------------
for number in (0, 19, 24, 99, 255):
    @talk("8446 5", UNEXPECTED, name=f"unknown_content_type_{number}_first")
    def _first(c, n=number):
        c.raw(record(n, c.hello_13().message(), 0x0301))


@talk("8446 5", UNEXPECTED)
def data_before_the_hello(c):
    c.raw(record(DATA, REQUEST))


@after("8446 5", UNEXPECTED)
def unknown_content_type_protected(c):
    c.send(99, b"hello")


@after("8446 5.4", UNEXPECTED, versions=["13"])
def inner_plaintext_of_zeros(c):
    c.send(None, b"\0" * 100)


@after("8446 5.4", UNEXPECTED, versions=["13"])
def inner_plaintext_is_empty(c):
    c.send(None, b"")


@after("8446 5.2", UNEXPECTED, BAD_MAC, versions=["13"])
def outer_type_is_handshake(c):
    c.send(DATA, REQUEST, outer=HANDSHAKE)


@after("8446 5.2", UNEXPECTED, BAD_MAC)
def plaintext_data_after_the_handshake(c):
    c.raw(record(DATA, REQUEST))


@after("8446 5.1", "answered")
def empty_data(c):
    c.send(DATA, b"")
    c.request()


@after("8446 5.1", "answered", UNEXPECTED)
def empty_data_a_hundred_times(c):
    for _ in range(100):
        c.send(DATA, b"")
    c.request()


@after("8446 5.1", "answered")
def request_a_byte_in_each_record(c):
    for i in range(len(REQUEST)):
        c.send(DATA, REQUEST[i:i + 1])


@after("8446 5.4", "answered", versions=["13"])
def padded_request(c):
    c.send(None, REQUEST + bytes([DATA]) + b"\0" * 1000)


@after("8446 5.1", UNEXPECTED)
def empty_handshake_record_after_the_handshake(c):
    c.send(HANDSHAKE, b"")
    c.request()


@after("8446 6", DECODE, UNEXPECTED)
def empty_alert(c):
    c.send(ALERT, b"")


# --- protection ------------------------------------------------------------------------------------------
def altered(data, at):
    at %= len(data)
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


for place, index in (("tag", -1), ("ciphertext", 15)):
    @after("8446 5.2", BAD_MAC, name=f"altered_{place}")
    def _altered(c, at=index):
        c.raw(altered(c.seal.seal(DATA, REQUEST), at))


@after("8446 5.2", BAD_MAC, DECODE)
def record_shorter_than_its_tag(c):
    c.raw(record(DATA, b"short"))


@after("8446 5.2", BAD_MAC, DECODE)
def record_without_ciphertext(c):
    c.raw(record(DATA, b""))


@after("8446 5.3", BAD_MAC)
def same_record_twice(c):
    data = c.seal.seal(DATA, b"GET")
    c.raw(data + data)


@after("8446 5.2", "closed")
def record_that_never_ends(c):
    c.raw(c.seal.seal(DATA, REQUEST)[:-1])
    c.half_close()


def cbc(*wanted):
    """Decorator: script(c) follows a whole handshake with AES-CBC."""
    def add(script):
        def whole(c):
            c.handshake_12(c.hello_12(ECDSA_CBC))
            script(c)
        talk("5246 6.2.3.2", *wanted, name=script.__name__)(whole)
        return script
    return add


@cbc("answered")
def cbc_as_usual(c):
    c.request()


@cbc("answered")
def cbc_with_the_longest_padding(c):
    n = 255 - (len(REQUEST) + 32) % 16
    c.send(DATA, REQUEST, padding=bytes([n]) * (n + 1))


@cbc(BAD_MAC)
def cbc_with_a_wrong_mac(c):
    c.send(DATA, REQUEST, tag=b"x" * 32)


@cbc(BAD_MAC)
def cbc_with_a_wrong_first_byte_of_padding(c):
    n = 15 - (len(REQUEST) + 32) % 16
    c.send(DATA, REQUEST, padding=bytes([n ^ 1]) + bytes([n]) * n)


@cbc(BAD_MAC)
def cbc_with_padding_longer_than_the_record(c):
    n = 15 - (len(REQUEST) + 32) % 16
    c.send(DATA, REQUEST, padding=b"\xff" * (n + 1))


@cbc(BAD_MAC)
def cbc_with_an_altered_block(c):
    c.raw(altered(c.seal.seal(DATA, REQUEST), 25))


@cbc(BAD_MAC, DECODE)
def cbc_with_half_a_block(c):
    c.raw(record(DATA, b"x" * 72))


@cbc(BAD_MAC)
def cbc_without_room_for_a_mac(c):
    c.raw(record(DATA, b"x" * 32))


# --- change_cipher_spec ----------------------------------------------------------------------------------
def compat(*wanted, content=(b"\1",), at="after the hello", name=None):
    """TLS 1.3 with records of change_cipher_spec at one place."""
    def script(c):
        def here(place):
            if place == at:
                for data in content:
                    c.ccs(data)
        here("before the hello")
        c.greet(c.hello_13())
        here("after the hello")
        c.flight_13()
        here("before Finished")
        c.end_13()
        here("after Finished")
        c.request()
    talk("8446 5", *wanted, name="ccs_" + name)(script)


compat("answered", name="after_the_hello")
compat("answered", at="before Finished", name="before_finished")
compat("answered", content=[b"\1", b"\1"], name="twice")
compat("answered", UNEXPECTED, content=[b"\1"] * 40, name="forty_times")
compat(UNEXPECTED, at="before the hello", name="before_the_hello")
compat(UNEXPECTED, at="after Finished", name="after_finished")
compat(UNEXPECTED, DECODE, content=[b"\2"], at="before Finished", name="with_2")
compat(UNEXPECTED, DECODE, content=[b"\1\1"], at="before Finished", name="of_two_bytes")
compat(UNEXPECTED, DECODE, content=[b""], at="before Finished", name="of_no_byte")


@after("8446 5", UNEXPECTED)
def ccs_protected(c):
    c.send(CCS, b"\1")


@talk("5246 7.1", UNEXPECTED)
def ccs_before_the_key_exchange_12(c):
    c.greet(c.hello_12())
    c.flight_12()
    c.ccs()


@talk("5246 7.1", UNEXPECTED)
def ccs_twice_12(c):
    c.greet(c.hello_12())
    c.flight_12()
    c.exchange_12()
    c.ccs()
    c.ccs()


@talk("5246 7.1", UNEXPECTED, DECODE, "illegal_parameter")
def ccs_of_two_bytes_12(c):
    c.greet(c.hello_12())
    c.flight_12()
    c.exchange_12()
    c.ccs(b"\1\1")


@talk("5246 7.4.9", UNEXPECTED)
def finished_without_ccs_12(c):
    c.greet(c.hello_12())
    c.flight_12()
    c.exchange_12()
    c.write(c.finished_12())


# --- alerts ----------------------------------------------------------------------------------------------
@talk("8446 6", "closed")
def fatal_alert_first(c):
    c.alert(40)


@hellos("8446 6.2", "closed")
def fatal_alert_after_the_hello(c, hello, proceed):
    c.greet(hello)
    c.alert(40)
    c.finish()


@hellos("8446 6.1", "closed", alone=True)
def close_notify_in_the_handshake(c, hello, proceed):
    c.greet(hello)
    (c.flight_13 if c.tls_13 else c.flight_12)()
    c.alert(0, level=1)


@talk("8446 6.1", "answered", "closed")
def user_canceled_in_the_handshake(c):
    c.greet(c.hello_13())
    c.flight_13()
    c.alert(90, level=1)
    c.end_13()
    c.request()


@after("8446 6.1", "closed", "answered 400")
def close_notify_in_place_of_a_request(c):
    c.alert(0, level=1)


@after("8446 6.2", "closed")
def fatal_alert_in_place_of_a_request(c):
    c.alert(80)


@after("8446 6", "closed", versions=["13"])
def unknown_alert(c):
    c.alert(222)
    c.request()


@after("8446 6", "closed", versions=["13"])
def fatal_alert_with_the_level_of_a_warning(c):
    c.alert(40, level=1)
    c.request()


@after("8446 6", "illegal_parameter", "closed", DECODE, UNEXPECTED)
def alert_with_level_3(c):
    c.alert(40, level=3)
    c.request()


@after("8446 5.1", UNEXPECTED, DECODE)
def alert_in_two_records(c):
    c.send(ALERT, b"\2")
    c.send(ALERT, b"\x28")


@after("8446 5.1", UNEXPECTED, DECODE)
def two_alerts_in_a_record(c):
    c.send(ALERT, b"\1\x5a\1\x5a")


@after("5246 7.2", "answered", versions=["12"])
def warning(c):
    c.alert(90, level=1)
    c.request()


@after("5246 7.2", "answered", UNEXPECTED, versions=["12"])
def many_warnings(c):
    for _ in range(50):
        c.alert(90, level=1)
    c.request()


@after("8446 6.1", "answered", "closed")
def request_and_close_notify(c):
    c.request()
    c.alert(0, level=1)


@after("8446 6.1", "closed", "answered 400")
def request_after_close_notify(c):
    c.alert(0, level=1)
    c.request()


@talk("6176 3", "closed", "protocol_version", UNEXPECTED, "handshake_failure", DECODE)
def hello_of_ssl_2(c):
    c.raw(b"\x80\x2e\1\0\2\0\x15\0\0\0\x10\1\0\x80\2\0\x80\3\0\x80\4\0\x80\5\0\x80\6\0\x40\7\0\xc0" + b"r" * 16)


@talk("6176 3", "closed", "protocol_version", UNEXPECTED, "handshake_failure", DECODE)
def hello_of_tls_12_in_the_form_of_ssl_2(c):
    body = b"\1\3\3\0\6\0\0\0\x20\0\xc0\x2b\0\0\xff" + b"r" * 32
    c.raw(bytes([0x80, len(body)]) + body)


@talk("", "closed", "protocol_version", UNEXPECTED, DECODE)
def plain_request(c):
    c.raw(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")


@talk("", "closed")
def nothing_and_fin(c):
    c.half_close()


@talk("", "closed")
def three_bytes_and_fin(c):
    c.raw(b"\x16\3\1")
    c.half_close()
