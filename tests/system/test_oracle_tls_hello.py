"""The captured parts of a client's hello, and secrets, through HAProxy and tacit."""

import socket
import struct

import pytest
from certs import Authority
from subject import LogServer
from tls_oracle import ask, body, client, in_both

LISTS = ["ssl_fc_protocol_hello_id", "ssl_fc_cipherlist_xxh", "ssl_fc_ecformats_bin,hex"] + [
    f"ssl_fc_{w}{option}" for w in ("cipherlist_bin", "cipherlist_hex", "cipherlist_str", "extlist_bin", "eclist_bin")
    for option in ("", "(0)", "(1)", "(2)")]
WORDS = [w + ",hex" if "_bin" in w and "hex" not in w else w for w in LISTS]
JA3 = "%[ssl_fc_protocol_hello_id],%[ssl_fc_cipherlist_bin(1),be2dec(-,2)],%[ssl_fc_extlist_bin(1),be2dec(-,2)]," \
    "%[ssl_fc_eclist_bin(1),be2dec(-,2)],%[ssl_fc_ecformats_bin,be2dec(-,1)]"
SECRETS = ["ssl_fc_client_early_traffic_secret", "ssl_fc_client_handshake_traffic_secret",
           "ssl_fc_server_handshake_traffic_secret", "ssl_fc_client_traffic_secret_0", "ssl_fc_server_traffic_secret_0",
           "ssl_fc_exporter_secret", "ssl_fc_early_exporter_secret"]
LABELS = {"ssl_fc_client_handshake_traffic_secret": "CLIENT_HANDSHAKE_TRAFFIC_SECRET",
          "ssl_fc_server_handshake_traffic_secret": "SERVER_HANDSHAKE_TRAFFIC_SECRET",
          "ssl_fc_client_traffic_secret_0": "CLIENT_TRAFFIC_SECRET_0",
          "ssl_fc_server_traffic_secret_0": "SERVER_TRAFFIC_SECRET_0", "ssl_fc_exporter_secret": "EXPORTER_SECRET"}


@pytest.fixture(scope="module")
def pem(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certs")).make("a.pem", "a.test")


def frontend(pem, words, more=""):
    return f"frontend f\n bind 127.0.0.1:{{p[0]}} ssl crt {pem} {more}\n http-request return status 200 " \
        f"content-type text/plain lf-string \"{'|'.join(words)}\"\n"


@pytest.mark.parametrize("size", [0, 1, 3, 7, 8, 30, 96, 512])
def test_lists(pem, tmp_path, size):
    """Cut to the size of the buffer, which they share; also after a hello retry request."""
    def probe(p):
        reported = []
        for kw in ({}, {"high": "TLSv1_2"}, {"ciphers": "AES128-SHA:ECDHE-ECDSA-AES128-GCM-SHA256"}, {"curve": "secp384r1"}):
            for name in (None, "a.test"):
                met, got = ask(p[0], client(**kw), name)
                reported.append((kw, name, met, body(got).split("|")))
        return reported

    ours, theirs = in_both(tmp_path, frontend(pem, [f"%[{w}]" for w in WORDS] + [JA3], "curves P-384:P-256"), probe,
                           extra=f"tune.ssl.capture-buffer-size {size}")
    differ = [(a[:2], w, x, y) for a, b in zip(ours, theirs, strict=True)
              for w, x, y in zip(WORDS + ["JA3"], a[3], b[3]) if x != y]
    assert differ == []
    assert [a[2] for a in ours] == [b[2] for b in theirs]
    assert size == 0 or ours[0][3][0] == "771"


def handmade(ciphers, extensions):
    """The record of a client's hello."""
    def vector(n, data):
        return len(data).to_bytes(n, "big") + data

    message = b"\x03\x03" + bytes(range(32)) + vector(1, b"") + vector(2, struct.pack(f">{len(ciphers)}H", *ciphers)) + \
        vector(1, b"\0") + (vector(2, b"".join(struct.pack(">H", t) + vector(2, d) for t, d in extensions))
                            if extensions is not None else b"")
    return b"\x16\x03\x01" + vector(2, b"\x01" + vector(3, message))


# HAProxy passes over a last extension that is empty.
HELLOS = [
    ([0x0a0a, 0x1301, 0xfafa, 0xc02b, 0x1234, 0x00ff, 0x5600], [(0x1a1a, b""), (10, b"\0\x06\x2a\x2a\0\x1d\0\x17"),
                                                               (0x9999, b"xy"), (11, b"\x03\0\1\2"), (0x7a7a, b"\0")]),
    ([0x1234], None), ([0x1234], []), ([0x1234], [(10, b""), (11, b"\1\0")]), ([0x1234], [(10, b"\0\0"), (11, b"\0")]),
    ([0x1234], [(10, b"\0\x09\0\x1d"), (11, b"\x09\0")]), ([0x1234], [(11, b"\1\0"), (10, b"\0\2\0\x1d")]),
    ([0x1234], [(10, b"\0\2\0\x1d"), (10, b"\0\2\0\x17")]), ([0x0a1a, 0x1a0a, 0x0a0b], [(0x0a1a, b"x")]),
    (list(range(0x4000, 0x4080)), [(i, b"x") for i in range(0x7000, 0x7040)]),
]


@pytest.mark.parametrize("size", [12, 200, 1000])
def test_unusual_hellos(pem, tmp_path, size):
    """GREASE, unknown numbers and invalid lists: what the log says of handshakes that fail."""
    log = LogServer()
    words = " ".join(f"%[{w}]" for w in WORDS)
    text = f"frontend f\n bind 127.0.0.1:{{p[0]}} ssl crt {pem}\n log 127.0.0.1:{log.port} len 65535 local0\n" \
        f" error-log-format \"hello {words}\"\n http-request return status 200\n"

    def probe(p):
        log.drain()
        log.lines.clear()
        for hello in HELLOS:
            with socket.create_connection(("127.0.0.1", p[0]), timeout=60) as s:
                s.sendall(handmade(*hello))
                while s.recv(4096):
                    pass
            p.barrier()
        return [line.partition("hello ")[2] for line in log.drain()]

    ours, theirs = in_both(tmp_path, text, probe, extra=f"tune.ssl.capture-buffer-size {size}")
    log.close()
    differ = [(i, w, x, y) for i, (a, b) in enumerate(zip(ours, theirs)) for w, x, y in zip(WORDS, a.split(), b.split())
              if x != y]
    assert differ == []
    assert len(ours) == len(theirs) == len(HELLOS)


@pytest.mark.parametrize("version", ["TLSv1_2", "TLSv1_3"])
def test_secrets(pem, tmp_path, version):
    """They are those that the client has; without tune.ssl.keylog there are none."""
    for switch in ("on", "off"):
        def probe(p):
            reported = []
            for i in range(2):
                keys = tmp_path / f"keys.{p[0]}.{i}"
                c = client(high=version)
                c.keylog_filename = str(keys)
                got = body(ask(p[0], c)[1]).split("|")
                lines = [line.split() for line in keys.read_text().splitlines() if not line.startswith("#")]
                known = {label: secret for label, _, secret in lines}
                assert got[0].lower() == lines[0][1]
                reported.append([value and (value == known.get(LABELS.get(w)) or value)
                             for w, value in zip(SECRETS, got[1:])])
            return reported

        ours, theirs = in_both(tmp_path, frontend(pem, [f"%[{w}]" for w in ["ssl_fc_client_random,hex"] + SECRETS]), probe,
                               extra=f"tune.ssl.keylog {switch}", name=switch)
        assert ours == theirs
        assert ours[0] == ["", True, True, True, True, True, ""] if (switch, version) == ("on", "TLSv1_3") else [""] * 7
