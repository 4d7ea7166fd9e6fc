"""Conversations that begin with a PROXY header, whole or in two parts. An s_server takes none: HAProxy is the other judge, but
it closes a connection that does not bring the header at once."""

from conversations.talks import PROXIED, talk

CLIENT = "1.2.3.4:1000"
HEADERS = {"v1": b"PROXY TCP4 1.2.3.4 5.6.7.8 1000 443\r\n",
           "v2": b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\1\2\3\4\5\6\7\x08\x03\xe8\1\xbb"}
RFC = "the PROXY protocol 2"


def both(header, name):
    for n in range(len(header) + 1):
        # HAProxy calls "PROXY TCP" and "PROXY TCP4" a protocol that it does not know, and what is shorter or longer truncated.
        @talk(RFC, "closed", at=PROXIED, name=f"proxy_{name}_ends_at_{n}", alone=header[:n] in (b"PROXY TCP", b"PROXY TCP4"))
        def _ends(c, n=n):
            c.raw(header[:n])
            c.half_close()
            if n == len(header):
                c.name = CLIENT

    for n in range(1, len(header)):
        @talk(RFC, "answered", at=PROXIED, name=f"proxy_{name}_continues_at_{n}", alone=True)
        def _continues(c, n=n):
            c.raw(header[:n])
            c.flush()
            c.name = CLIENT
            c.raw(header[n:])
            c.handshake_13()
            c.request()


for word, text in HEADERS.items():
    both(text, word)


@talk(RFC, "answered", at=PROXIED, alone=True)
def proxy_header_and_hello_in_segments_of_one_byte(c):
    c.raw(HEADERS["v2"])
    c.greet(c.hello_13())
    c.bytewise()
    c.name = CLIENT
    c.flight_13()
    c.end_13()
    c.request()


@talk(RFC, "closed", at=PROXIED)
def hello_without_proxy_header(c):
    c.greet(c.hello_13())
    c.flight_13()


@talk(RFC, "closed", "record_overflow", "unexpected_message", "protocol_version", "decode_error", at=PROXIED)
def proxy_header_twice(c):
    c.raw(HEADERS["v1"] * 2)
    c.flush()
    c.name = CLIENT
