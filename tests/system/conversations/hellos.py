"""Conversations about what is in a hello: fields, extensions, key shares, and the second hello after a retry request."""

import os

from conversations.order import ILLEGAL
from conversations.records import DECODE, hellos
from conversations.talks import EC, talk
from conversations.wire import (AES_GCM_13, ALPN, COOKIE, EARLY_DATA, ECDSA_GCM, EXTENDED_MASTER, GREASE, GROUPS, HANDSHAKE,
                                KEY_SHARE, MAX_FRAGMENT, P256, POINT_FORMATS, PSK_MODES, RENEGOTIATION, SERVER_NAME,
                                SIGNATURES, STATUS_REQUEST, VERSIONS, X25519, CLIENT_HELLO, message, record, server_name,
                                shares, u16s, vec)

FAILURE, MISSING, PROTOCOL = "handshake_failure", "missing_extension", "protocol_version"


def variant(rfc, change, *wanted, name, versions=("13", "12")):
    """With each version a hello that change(hello, c) has changed, and the rest as if it was right."""
    for v in versions:
        def script(c, v=v):
            hello = getattr(c, f"hello_{v}")()
            change(hello, c)
            c.greet(hello)
            if v == "13":
                c.flight_13()
                c.end_13()
            else:
                c.flight_12()
                c.exchange_12()
                c.end_12()
                c.await_finished_12()
            c.request()
        talk(rfc, *wanted, name=f"{name}_{v}")(script)


def setting(field, value):
    return lambda hello, c: setattr(hello, field, value)


def having(kind, data):
    def change(hello, c):
        hello[kind] = data
    return change


def without(*kinds):
    return lambda hello, c: hello.drop(*kinds)


# --- fields ----------------------------------------------------------------------------------------------
variant("8446 4.1.2", setting("session", b"s" * 33), DECODE, ILLEGAL, name="session_of_33_bytes")
variant("8446 4.1.2", setting("session", b"s" * 255), DECODE, ILLEGAL, name="session_of_255_bytes")
variant("8446 4.1.2", setting("session", b"s" * 5), "answered", name="session_of_5_bytes")
variant("8446 4.1.2", setting("session", b""), "answered", name="no_session", versions=["13"])
variant("8446 4.1.2", setting("suites", b""), DECODE, ILLEGAL, FAILURE, name="no_suites")
variant("8446 4.1.2", setting("suites", u16s(AES_GCM_13, ECDSA_GCM) + b"\0"), DECODE, ILLEGAL, name="suites_of_5_bytes")
variant("8446 4.1.2", setting("suites", u16s(0x1234, GREASE)), FAILURE, name="unknown_suites")
variant("8446 4.1.2", setting("suites", u16s(GREASE, AES_GCM_13, ECDSA_GCM, 0x7a7a)), "answered", name="grease_among_suites")
variant("8446 4.1.2", setting("suites", u16s(*range(0xc100, 0xc100 + 2000), AES_GCM_13, ECDSA_GCM)), "answered",
        name="two_thousand_suites")
variant("8446 4.1.2", setting("suites", u16s(0x0000, 0x0001, 0x0005)), FAILURE, name="suites_that_nobody_should_use")
variant("7507 3", setting("suites", u16s(ECDSA_GCM, 0x5600)), "inappropriate_fallback", name="fallback", versions=["12"])
variant("8446 4.1.2", setting("compression", b""), DECODE, ILLEGAL, name="no_compression_method")
variant("8446 4.1.2", setting("compression", b"\1"), ILLEGAL, DECODE, name="without_null_compression")
variant("8446 4.1.2", setting("compression", b"\1\0"), ILLEGAL, name="deflate_and_null", versions=["13"])
variant("5246 7.4.1.2", setting("compression", b"\1\0"), "answered", name="deflate_and_null", versions=["12"])
variant("8446 4.1.2", setting("version", 0x0302), PROTOCOL, name="version_0302", versions=["12"])
variant("8446 4.1.2", setting("version", 0x0300), PROTOCOL, name="version_0300", versions=["12"])
variant("8446 4.2.1", setting("version", 0x0304), "answered", name="version_0304", versions=["12"])
variant("8446 4.2.1", setting("version", 0x0301), "answered", name="version_0301", versions=["13"])
variant("5246 E.1", setting("version", 0x0399), "answered", name="version_0399", versions=["12"])
variant("8446 4.2", setting("extensions", []), MISSING, PROTOCOL, FAILURE, name="no_extension", versions=["13"])
variant("5246 7.4.1.4", setting("extensions", []), "answered", FAILURE, name="no_extension", versions=["12"])


def cut(change, *wanted, name):
    """The body of a hello, cut or lengthened, in a message whose length is right."""
    for v in ("13", "12"):
        def script(c, v=v):
            c.raw(record(HANDSHAKE, message(CLIENT_HELLO, change(getattr(c, f"hello_{v}")().body()))))
        talk("8446 4.1.2", *wanted, name=f"{name}_{v}")(script)


cut(lambda b: b"", DECODE, name="empty_hello")
cut(lambda b: b[:2], DECODE, name="hello_of_its_version")
cut(lambda b: b[:34], DECODE, name="hello_without_session")
cut(lambda b: b[:-1], DECODE, name="hello_that_lacks_a_byte")
cut(lambda b: b + b"\0", DECODE, name="hello_with_a_byte_too_many")
cut(lambda b: b[:34] + b"\xff" + b[35:], DECODE, name="hello_with_a_session_beyond_its_end")
cut(lambda b: b[:-1] + b"\0\xff\xff\xff\xff", DECODE, name="hello_with_an_extension_beyond_its_end")

# --- extensions ------------------------------------------------------------------------------------------
BOTH, NEW, OLD = ("13", "12"), ["13"], ["12"]
KNOWN = {"server_name": (SERVER_NAME, BOTH), "groups": (GROUPS, BOTH), "signatures": (SIGNATURES, BOTH), "alpn": (ALPN, BOTH),
         "versions": (VERSIONS, NEW), "psk_modes": (PSK_MODES, NEW), "key_share": (KEY_SHARE, NEW),
         "point_formats": (POINT_FORMATS, OLD), "extended_master": (EXTENDED_MASTER, OLD),
         "renegotiation": (RENEGOTIATION, OLD)}


def lengthened(kind):
    return lambda hello, c: hello.__setitem__(kind, hello[kind] + b"\0")


def shortened(kind):
    return lambda hello, c: hello.__setitem__(kind, hello[kind][:-1])


def doubled(kind):
    return lambda hello, c: hello.extensions.insert(0, [kind, hello[kind]])


for word, (extension, where) in KNOWN.items():
    variant("8446 4.2", lengthened(extension), DECODE, ILLEGAL, FAILURE, versions=where, name=f"{word}_with_a_byte_too_many")
    variant("8446 4.2", doubled(extension), ILLEGAL, DECODE, versions=where, name=f"{word}_twice")
    if extension != EXTENDED_MASTER:
        variant("8446 4.2", shortened(extension), DECODE, ILLEGAL, FAILURE, versions=where, name=f"{word}_lacks_a_byte")
        variant("8446 4.2", having(extension, b""), DECODE, ILLEGAL, FAILURE, versions=where, name=f"{word}_empty")

for word, extension, where in (("groups", GROUPS, BOTH), ("signatures", SIGNATURES, BOTH), ("alpn", ALPN, BOTH),
                               ("server_name", SERVER_NAME, BOTH)):
    variant("8446 4.2", having(extension, vec(2, b"")), DECODE, ILLEGAL, FAILURE, name=f"{word}_with_an_empty_list", versions=where)
variant("8446 4.2.1", having(VERSIONS, vec(1, b"")), DECODE, PROTOCOL, name="versions_with_an_empty_list", versions=NEW)
variant("8446 4.2.9", having(PSK_MODES, vec(1, b"")), DECODE, name="psk_modes_with_an_empty_list", versions=NEW)
variant("8422 5.1.2", having(POINT_FORMATS, vec(1, b"")), DECODE, name="point_formats_with_an_empty_list", versions=OLD)
variant("8422 5.1.2", having(POINT_FORMATS, vec(1, b"\1\2")), "answered", ILLEGAL, name="point_formats_without_uncompressed",
        versions=OLD)

variant("8446 4.2", having(GREASE, b""), "answered", name="grease_extension")
variant("8446 4.2", having(0x1234, b"x" * 1000), "answered", name="unknown_extension")
variant("8446 4.2", having(0x1234, b"x" * 17000), "answered", name="extension_longer_than_a_record")
variant("8446 4.2", lambda h, c: h.extensions.extend([[0x1234, b"x"], [0x1234, b"y"]]), ILLEGAL, DECODE, "answered",
        name="unknown_extension_twice")
variant("8446 4.2", lambda h, c: h.extensions.reverse(), "answered", name="extensions_in_reverse")
variant("8446 9.2", without(SIGNATURES), MISSING, name="without_signatures", versions=NEW)
variant("8446 9.2", without(GROUPS), MISSING, name="without_groups", versions=NEW)
variant("8446 9.2", without(GROUPS, KEY_SHARE), MISSING, name="without_groups_and_key_share", versions=NEW)
variant("8446 4.2", without(SERVER_NAME, ALPN), "answered", name="without_server_name_and_alpn")
variant("8446 4.2.9", without(PSK_MODES), "answered", name="without_psk_modes", versions=NEW)
variant("8422 4", without(GROUPS, POINT_FORMATS), "answered", name="without_groups_and_formats", versions=OLD)
variant("7627 5.3", without(EXTENDED_MASTER), "answered", name="without_extended_master", versions=OLD)
variant("5746 3.6", without(RENEGOTIATION), "answered", FAILURE, name="without_renegotiation_info", versions=OLD)
variant("5746 3.6", having(RENEGOTIATION, vec(1, b"x" * 12)), FAILURE, name="renegotiation_info_not_empty", versions=OLD)
variant("5746 3.6", lambda h, c: (h.drop(RENEGOTIATION), setattr(h, "suites", u16s(ECDSA_GCM, 0xff))), "answered",
        name="renegotiation_scsv", versions=OLD)

variant("8446 4.2.1", having(VERSIONS, vec(1, u16s(GREASE, 0x0304, 0x0303))), "answered", name="grease_among_versions",
        versions=NEW)
variant("8446 4.2.1", having(VERSIONS, vec(1, u16s(0x0305, 0x0302))), PROTOCOL, name="versions_that_nobody_has", versions=NEW)
variant("8446 4.2.1", having(VERSIONS, vec(1, u16s(0x7f1c))), PROTOCOL, name="versions_of_a_draft", versions=NEW)
variant("8446 4.2.3", having(SIGNATURES, vec(2, u16s(GREASE, 0x0403))), "answered", name="grease_among_signatures")
variant("8446 4.2.3", having(SIGNATURES, vec(2, u16s(GREASE, 0x1234))), FAILURE, name="unknown_signatures")
variant("8446 4.2.3", having(SIGNATURES, vec(2, u16s(0x0804, 0x0401))), FAILURE, name="signatures_of_rsa_only")
variant("8446 4.2.3", having(SIGNATURES, vec(2, b"\4\3\4")), DECODE, name="signatures_of_3_bytes")
variant("8446 4.2.7", having(GROUPS, vec(2, u16s(GREASE, X25519, P256))), "answered", name="grease_among_groups")
variant("8446 4.2.7", having(GROUPS, vec(2, u16s(GREASE, 0x1234))), FAILURE, ILLEGAL, name="unknown_groups")
variant("8446 4.2.7", having(GROUPS, vec(2, b"\0\x1d\0")), DECODE, name="groups_of_3_bytes")

variant("6066 3", having(SERVER_NAME, server_name(b"")), DECODE, "unrecognized_name", ILLEGAL, name="server_name_of_no_byte")
variant("6066 3", having(SERVER_NAME, server_name(b"a" * 256)), "answered", "unrecognized_name", DECODE,
        name="server_name_of_256_bytes")
variant("6066 3", having(SERVER_NAME, server_name(b"a.test\0b")), "unrecognized_name", DECODE, ILLEGAL, "answered",
        name="server_name_with_nul")
variant("6066 3", having(SERVER_NAME, server_name(b"127.0.0.1")), "answered", "unrecognized_name", name="server_name_of_digits")
variant("6066 3", having(SERVER_NAME, server_name(b"A.TEST")), "answered", name="server_name_in_capitals")
variant("6066 3", having(SERVER_NAME, server_name(b"a.test", kind=9)), "answered", "unrecognized_name", DECODE,
        name="server_name_of_an_unknown_type")
variant("6066 3", having(SERVER_NAME, vec(2, 2 * (b"\0" + vec(2, b"a.test")))), DECODE, ILLEGAL, "unrecognized_name",
        name="two_server_names")
variant("6066 4", having(MAX_FRAGMENT, b"\1"), "answered", name="max_fragment_of_512")
variant("6066 4", having(MAX_FRAGMENT, b"\5"), ILLEGAL, name="max_fragment_of_an_unknown_length")
variant("6066 4", having(MAX_FRAGMENT, b"\1\1"), DECODE, ILLEGAL, name="max_fragment_of_two_bytes")
variant("6066 8", having(STATUS_REQUEST, b"\1\0\0\0\0"), "answered", name="status_request")
variant("6066 8", having(STATUS_REQUEST, b"\1\0\5\0\0"), DECODE, ILLEGAL, name="status_request_beyond_its_end")
variant("6066 8", having(STATUS_REQUEST, b"\7x"), "answered", name="status_request_of_an_unknown_type")
variant("7301 3.1", having(ALPN, vec(2, b"\0")), DECODE, ILLEGAL, name="alpn_with_an_empty_name")
variant("7301 3.1", having(ALPN, vec(2, vec(1, b"") + vec(1, b"http/1.1"))), DECODE, ILLEGAL, name="alpn_with_an_empty_name_first")
variant("7301 3.1", having(ALPN, vec(2, vec(1, b"\x3a\x3a") + vec(1, b"http/1.1"))), "answered", name="grease_in_alpn")
variant("7301 3.2", having(ALPN, vec(2, vec(1, b"nothing"))), "answered", "no_application_protocol", name="unknown_alpn")

# --- key shares ------------------------------------------------------------------------------------------
for word, extension, answers in (
        ("of_zeros", lambda c: shares((X25519, b"\0" * 32)), [ILLEGAL]),
        ("of_small_order", lambda c: shares((X25519, b"\1" + b"\0" * 31)), [ILLEGAL]),
        ("too_short", lambda c: shares((X25519, c.key.point(X25519)[1:])), [ILLEGAL]),
        ("too_long", lambda c: shares((X25519, c.key.point(X25519) + b"\0")), [ILLEGAL]),
        ("of_no_byte", lambda c: shares((X25519, b"")), [ILLEGAL, DECODE]),
        ("not_on_the_curve", lambda c: shares((P256, b"\4" + os.urandom(64))), [ILLEGAL]),
        ("compressed", lambda c: shares((P256, b"\2" + c.key.point(P256)[1:33])), [ILLEGAL]),
        ("at_infinity", lambda c: shares((P256, b"\0")), [ILLEGAL]),
        ("of_one_group_twice", lambda c: shares(*[(X25519, c.key.point(X25519))] * 2), [ILLEGAL]),
        ("of_a_group_not_offered", lambda c: shares((0x1e, b"x" * 56), (X25519, c.key.point(X25519))), [ILLEGAL]),
        ("beyond_its_end", lambda c: vec(2, u16s(X25519, 33) + c.key.point(X25519)), [DECODE])):
    variant("8446 4.2.8", lambda h, c, share=extension: h.__setitem__(KEY_SHARE, share(c)), *answers, name=f"share_{word}",
            versions=NEW)
variant("8446 4.2.8", lambda h, c: (h.__setitem__(GROUPS, vec(2, u16s(GREASE, X25519))), h.__setitem__(
    KEY_SHARE, shares((GREASE, b"x"), (X25519, c.key.point(X25519))))), "answered", name="share_of_grease", versions=NEW)


# --- the hello after a retry request ---------------------------------------------------------------------
def again(change, *wanted, name, first=b""):
    """The first hello has no key share of use, so that the server asks for one."""
    def script(c):
        hello = c.hello_13()
        if first:
            hello[GROUPS] = vec(2, u16s(GREASE, X25519, P256))
        hello[KEY_SHARE] = vec(2, first)
        c.greet(hello)
        group = c.retry()
        hello[KEY_SHARE] = shares((group, c.key.point(group)))
        change(hello, c, group)
        c.greet(hello)
        c.flight_13()
        c.end_13()
        c.request()
    talk("8446 4.1.2", *wanted, name=f"retry_{name}")(script)


again(lambda h, c, g: None, "answered", name="as_usual")
again(lambda h, c, g: None, "answered", name="for_grease", first=u16s(GREASE) + vec(2, b"x"))
again(lambda h, c, g: c.ccs(), "answered", name="with_ccs")
again(lambda h, c, g: c.raw(record(HANDSHAKE, b"")), "unexpected_message", DECODE, name="with_an_empty_record")
again(lambda h, c, g: h.__setitem__(KEY_SHARE, vec(2, b"")), ILLEGAL, FAILURE, name="without_a_share")
again(lambda h, c, g: h.drop(KEY_SHARE), MISSING, ILLEGAL, name="without_key_share")
again(lambda h, c, g: h.__setitem__(KEY_SHARE, shares((P256, c.key.point(P256)))), ILLEGAL, name="with_another_group")
again(lambda h, c, g: h.__setitem__(KEY_SHARE, shares((g, c.key.point(g)), (P256, c.key.point(P256)))), ILLEGAL,
      name="with_two_shares")
again(lambda h, c, g: setattr(h, "suites", u16s(0x1302)), ILLEGAL, FAILURE, name="with_another_suite")
again(lambda h, c, g: setattr(h, "random", os.urandom(32)), ILLEGAL, "answered", name="with_another_random")
again(lambda h, c, g: setattr(h, "session", b""), ILLEGAL, "answered", name="with_another_session")
again(lambda h, c, g: h.__setitem__(COOKIE, vec(2, b"cookie")), ILLEGAL, "unsupported_extension", "answered", DECODE,
      name="with_a_cookie")
again(lambda h, c, g: h.__setitem__(EARLY_DATA, b""), ILLEGAL, "answered", name="with_early_data")
again(lambda h, c, g: h.drop(VERSIONS), ILLEGAL, PROTOCOL, name="without_versions")
again(lambda h, c, g: h.__setitem__(VERSIONS, vec(1, u16s(0x0303))), ILLEGAL, PROTOCOL, name="with_version_12")
again(lambda h, c, g: h.__setitem__(GROUPS, vec(2, u16s(P256))), ILLEGAL, name="with_other_groups")


@talk("8446 4.1.4", "unexpected_message")
def retry_and_finished(c):
    hello = c.hello_13()
    hello[KEY_SHARE] = vec(2, b"")
    c.greet(hello)
    c.retry()
    c.write(message(20, b"x" * 32))


@talk("8446 4.1.4", "unexpected_message")
def retry_and_data(c):
    hello = c.hello_13()
    hello[KEY_SHARE] = vec(2, b"")
    c.greet(hello)
    c.retry()
    c.request()


@talk("", "closed")
def retry_and_fin(c):
    hello = c.hello_13()
    hello[KEY_SHARE] = vec(2, b"")
    c.greet(hello)
    c.retry()
    c.half_close()
