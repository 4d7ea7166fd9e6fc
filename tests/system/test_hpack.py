"""Field blocks of tacit's encoder are those that the Python package hpack decodes, and the reverse."""

import os
import random
import struct
import subprocess

import hpack
import pytest

from subject import BUILD

# make slow: a million.
BLOCKS = 1_000_000 if os.environ.get("TACIT_SLOW") else 4_000
PER_CONNECTION = 100
BATCH = 20_000

NAMES = [b":status", b":path", b":method", b":authority", b"cookie", b"set-cookie", b"content-length", b"x", b"x-id", b"date", b"vary",
         b"authorization", b"x-" + b"n" * 200]
VALUES = [b"", b"200", b"/", b"GET", b"POST", b"gzip, deflate", b"0", b"a=1; b=2", bytes(range(32, 127)), bytes(range(128, 256))]
SIZES = [0, 1, 64, 200, 1000, 4096]


def number(n):
    return struct.pack("<I", n)


def text(b):
    return number(len(b)) + b


def packed(fields):
    return number(len(fields)) + b"".join(bytes([never]) + text(name) + text(value) for name, value, never in fields)


def unpacked(data, at):
    (n,) = struct.unpack_from("<I", data, at)
    at += 4
    fields = []
    for _ in range(n):
        never = data[at]
        name, at = taken(data, at + 1)
        value, at = taken(data, at)
        fields.append((name, value, never))
    return fields, at


def taken(data, at):
    (n,) = struct.unpack_from("<I", data, at)
    return data[at + 4:at + 4 + n], at + 4 + n


def random_fields(dice):
    fields = []
    for _ in range(dice.choice((0, 1, 2, 5, 10, 30))):
        name = dice.choice(NAMES) if dice.random() < 0.7 else b"x-%d" % dice.randrange(100)
        value = dice.choice(VALUES) if dice.random() < 0.5 else dice.randbytes(dice.choice((1, 8, 30, 127, 128, 300)))
        fields.append((name, value, int(dice.random() < 0.1)))
    return fields


def tool(way, data):
    return subprocess.run([BUILD / "tools" / "hpack", way], input=data, stdout=subprocess.PIPE, check=True).stdout


def batches():
    return [(seed, min(BATCH, BLOCKS - seed)) for seed in range(0, BLOCKS, BATCH)]


def encoded_ours(dice, n):
    """Commands for our encoder, and the fields of each block: None where another connection begins."""
    data, expected = [], []
    for i in range(n):
        if i % PER_CONNECTION == 0:
            data.append(b"N")
            expected.append(None)
        elif dice.random() < 0.03:
            data.append(b"S" + number(dice.choice(SIZES)))
        elif dice.random() < 0.03:
            data.append(b"T")
        fields = random_fields(dice)
        data.append(b"B" + packed(fields))
        expected.append(fields)
    return b"".join(data), expected


def shown(field):
    never = isinstance(field, hpack.NeverIndexedHeaderTuple)
    return field[0], field[1], int(never)


def texts(fields):
    return [field[:2] for field in fields]


@pytest.mark.parametrize("seed, n", batches())
def test_million_of_our_blocks(seed, n):
    data, expected = encoded_ours(random.Random(seed), n)
    blocks, at = tool("encode", data), 0
    for fields in expected:
        if fields is None:
            decoder = hpack.Decoder(max_header_list_size=1 << 30)
            continue
        block, at = taken(blocks, at)
        got = [shown(f) for f in decoder.decode(block, raw=True)]
        assert texts(got) == texts(fields), (seed, block)
        # The encoder protects more: credentials, and short cookies.
        assert all(g[2] >= f[2] for g, f in zip(got, fields)), (seed, block)
    assert at == len(blocks)


@pytest.mark.parametrize("seed, n", batches())
def test_million_of_their_blocks(seed, n):
    dice, data, expected = random.Random(seed + 1), [], []
    for i in range(n):
        if i % PER_CONNECTION == 0:
            encoder = hpack.Encoder()
            data.append(b"N")
        elif dice.random() < 0.03:
            size = dice.choice(SIZES)
            encoder.header_table_size = size
            data.append(b"S" + number(size))
        fields = random_fields(dice)
        data.append(b"B" + text(encoder.encode([(name, value, bool(never)) for name, value, never in fields],
                                               huffman=dice.random() < 0.5)))
        expected.append(fields)
    answer, at = tool("decode", b"".join(data)), 0
    for fields in expected:
        got, at = unpacked(answer, at)
        assert texts(got) == texts(fields), seed
        # A field of the table is sent as its index, even one that must not become one.
        assert all(g[2] <= f[2] for g, f in zip(got, fields)), seed
    assert at == len(answer)
