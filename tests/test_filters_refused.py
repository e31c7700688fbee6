# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Damaged chunks under filters, and settings that are none."""

from __future__ import annotations

import itertools
import json

import numcodecs
import numpy as np
import oracle
import pytest
from filtered import encode, small, store

import vczc

# ---- Damage ----

DAMAGED = {
    "packbits": ("|b1", [numcodecs.PackBits()]),
    "delta": ("<i4", [numcodecs.Delta("<i4", "<i2")]),
    "fixedscaleoffset": ("<f8", [numcodecs.FixedScaleOffset(0, 10, "<f8", "<i4")]),
    "astype": ("<i2", [numcodecs.AsType("<f4", "<i2")]),
    "quantize": ("<f8", [numcodecs.Quantize(2, "<f8", "<f4")]),
    "shuffle": ("<i4", [numcodecs.Shuffle(4)]),
    "packbits, shuffle": ("|b1", [numcodecs.PackBits(), numcodecs.Shuffle(1), numcodecs.Zlib(1)]),
    "zlib, delta": ("<i4", [numcodecs.Zlib(1), numcodecs.Delta("|u1")]),
    "delta, zlib, crc32": (
        "<i4",
        [numcodecs.Delta("<i4"), numcodecs.Zlib(1), numcodecs.CRC32("end")],
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_truncated_and_lengthened_chunks(name):
    dtype, filters = DAMAGED[name]
    data = small(dtype, (17,))
    good = encode(data, filters)
    for bad in (*(good[:n] for n in range(len(good))), good + b"\0", good + good):
        array = vczc.open(store(bad, data, dtype, filters))["x"]
        for key in (..., slice(2, 3)):
            with pytest.raises(vczc.CorruptChunkError) as raised:
                array[key]
            assert raised.value.key == "x/0"


@pytest.mark.parametrize("name", DAMAGED)
def test_flipped_bits(name):
    dtype, filters = DAMAGED[name]
    data = small(dtype, (17,))
    good = encode(data, filters)
    for at, bit in itertools.product(range(len(good)), range(8)):
        bad = bytearray(good)
        bad[at] ^= 1 << bit
        array = vczc.open(store(bytes(bad), data, dtype, filters))["x"]
        try:
            got = array[...]
        except vczc.CorruptChunkError:
            continue
        assert got.shape == data.shape
        assert "crc32" not in name


def test_random_chunks_equal_numcodecs_or_are_refused():
    """Whatever numcodecs makes an array of, so does vczc; what it refuses is corrupt."""
    rng = np.random.default_rng(3)
    for (dtype, filters), _ in itertools.product(DAMAGED.values(), range(40)):
        chunk = rng.integers(0, 256, rng.integers(0, 80), "u1").tobytes()
        array = vczc.open(store(chunk, (17,), dtype, filters))["x"]
        try:
            expected = chunk
            for codec in reversed(filters):
                expected = codec.decode(expected)
            expected = np.frombuffer(np.ascontiguousarray(expected).tobytes(), dtype).reshape(17)
        except Exception:
            with pytest.raises(vczc.CorruptChunkError):
                array[...]
        else:
            assert array[...].tobytes() == expected.tobytes()


def test_a_chunk_that_claims_more_than_its_array():
    """An inner zlib that would unpack to 50 MB is stopped at what the filter can hold."""
    bomb = bytes(numcodecs.Zlib(9).encode(np.zeros(50_000_000, "u1")))
    filters = [numcodecs.AsType("<i8", "<i4"), numcodecs.Zlib(1)]
    array = vczc.open(store(bomb, (10,), "<i4", filters))["x"]
    with pytest.raises(vczc.CorruptChunkError, match="more bytes than it should"):
        array[...]


# ---- Settings that are no settings ----

REFUSED = [
    ({"id": "delta"}, vczc.MetadataError, "delta.*dtype"),
    ({"id": "delta", "dtype": 4}, vczc.MetadataError, "delta.*dtype"),
    ({"id": "delta", "dtype": "<i3"}, (vczc.UnsupportedError, vczc.MetadataError), "delta"),
    ({"id": "delta", "dtype": "<M8[s]"}, vczc.UnsupportedError, "delta.*<M8"),
    ({"id": "astype", "decode_dtype": "<i4"}, vczc.MetadataError, "encode_dtype"),
    ({"id": "fixedscaleoffset", "dtype": "<i4"}, vczc.MetadataError, "scale"),
    ({"id": "fixedscaleoffset", "dtype": "<i4", "scale": "1"}, vczc.MetadataError, "scale"),
    ({"id": "fixedscaleoffset", "dtype": "<i4", "scale": 1}, vczc.MetadataError, "offset"),
    ({"id": "quantize", "digits": 1, "dtype": "<i4"}, vczc.MetadataError, "floats"),
    ({"id": "bitround", "keepbits": -1}, vczc.MetadataError, "keepbits"),
    ({"id": "bitround"}, vczc.MetadataError, "keepbits"),
    ({"id": "shuffle", "elementsize": "4"}, vczc.MetadataError, "elementsize"),
    ({"id": "crc32", "location": "middle"}, vczc.MetadataError, "location"),
    ({"id": "jenkins_lookup3", "initval": -1}, vczc.MetadataError, "initval"),
    ({"id": "delta", "dtype": "<i8", "astype": "<i4"}, vczc.MetadataError, "do not fit"),
    ({"id": "astype", "encode_dtype": "<i8", "decode_dtype": "<f8"}, vczc.MetadataError, "fit"),
]


@pytest.mark.parametrize(("config", "error", "words"), REFUSED, ids=lambda x: str(x)[:60])
@pytest.mark.usefixtures("without_numcodecs")
def test_settings_that_are_refused(config, error, words):
    document = {"shape": [3], "chunks": [3], "dtype": "<i4"}
    content = oracle.by_hand({"0": b"\0" * 12}, filters=[config], **document)
    with pytest.raises(error, match=words):
        vczc.open(content)["x"]


BYTES_3 = {"name": "bytes", "configuration": {"endian": "little"}}
REFUSED_3 = [
    ("int32", [("delta", {})], vczc.MetadataError, "dtype"),
    ("int32", [("delta", {"dtype": "<f4"})], vczc.MetadataError, "other items than int32"),
    (
        "int32",
        [("astype", {"encode_dtype": "i1", "decode_dtype": "i2"})],
        vczc.MetadataError,
        "int32",
    ),
    ("int32", [("bitround", {"keepbits": 3})], vczc.MetadataError, "floats"),
    ("int32", [("packbits", {})], vczc.MetadataError, "other items"),
    ("string", [("delta", {"dtype": "<i4"})], vczc.UnsupportedError, "delta"),
    ("int32", [("delta", {"dtype": "<i4"}), "transpose"], vczc.UnsupportedError, "transpose"),
    ("int32", [BYTES_3, ("delta", {"dtype": "<i4"})], vczc.MetadataError, "wrong place"),
    ("int32", [("crc32", {}), BYTES_3], vczc.MetadataError, "wrong place"),
    ("int32", ["delta", BYTES_3], vczc.UnsupportedError, "delta"),
    ("int32", [BYTES_3, "crc32"], vczc.UnsupportedError, "crc32"),
    ("int32", [BYTES_3, "lz4"], vczc.UnsupportedError, "lz4"),
]


@pytest.mark.parametrize(("data_type", "codecs", "error", "words"), REFUSED_3)
@pytest.mark.usefixtures("without_numcodecs")
def test_settings_that_are_refused_in_format_3(data_type, codecs, error, words):
    data = np.array(["a"] * 4, object) if data_type == "string" else np.zeros((2, 2), "i4")
    content = oracle.write(
        data, data.shape, oracle.TEXT if data_type == "string" else None, zarr_format=3
    ).content
    document = json.loads(content["x/zarr.json"])
    document["codecs"] = [
        {"name": f"numcodecs.{codec[0]}", "configuration": codec[1]}
        if isinstance(codec, tuple)
        else {"name": "transpose", "configuration": {"order": [1, 0]}}
        if codec == "transpose"
        else codec
        for codec in codecs
    ]
    if not any(isinstance(c, dict) for c in codecs):
        document["codecs"].append(BYTES_3 if data_type != "string" else "vlen-utf8")
    content["x/zarr.json"] = json.dumps(document).encode()
    with pytest.raises(error, match=words):
        vczc.open(content)["x"]
