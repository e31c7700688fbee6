# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""The codecs `numcodecs.…` of format 3, held against zarr-python; in shards too."""

from __future__ import annotations

import json
import warnings

import numpy as np
import oracle
import pytest
import zarr
from filtered import numbers, small

import vczc

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import zarr.codecs.numcodecs as v3

pytestmark = pytest.mark.filterwarnings("ignore:Numcodecs codecs are not in the Zarr version 3")

LOSSLESS_3 = {
    "delta": ("<i4", lambda: [v3.Delta(dtype="int32", astype="int16")], ()),
    "delta, as it is": ("<i8", lambda: [v3.Delta(dtype="<i8")], (v3.Zlib(level=1),)),
    "delta of bytes": ("|i1", lambda: [v3.Delta(dtype="u1")], (v3.Blosc(cname="lz4"),)),
    "astype": ("<i4", lambda: [v3.AsType(encode_dtype="int8", decode_dtype="int32")], ()),
    "astype, delta": (
        "<i4",
        lambda: [v3.AsType(encode_dtype="i2", decode_dtype="i4"), v3.Delta(dtype="<i2")],
        (v3.Shuffle(elementsize=2), v3.Zstd(level=1), v3.CRC32C()),
    ),
    "packbits": ("|b1", lambda: [v3.PackBits()], (zarr.codecs.GzipCodec(), v3.CRC32())),
    "transpose, delta": (
        "<i4",
        lambda: [zarr.codecs.TransposeCodec(order=(0, 1)), v3.Delta(dtype="<i4")],
        (),
    ),
    "shuffle": ("<f8", list, (v3.Shuffle(), v3.LZ4(), v3.Adler32(location="end"))),
    "checksums": (
        "<u2",
        list,
        (v3.CRC32(), v3.Adler32(), v3.Fletcher32(), v3.JenkinsLookup3(), v3.GZip(level=1)),
    ),
}


@pytest.mark.parametrize("name", LOSSLESS_3)
def test_format_3_gives_what_was_written(name):
    """Byte order `big` too, of which zarr-python 3.1 itself reads back other numbers."""
    dtype, filters, compressors = LOSSLESS_3[name]
    data = small(dtype)
    for endian in ("little", "big"):
        stored = oracle.write(
            data,
            (20, 4),
            zarr_format=3,
            filters=filters(),
            compressors=compressors or None,
            serializer=zarr.codecs.BytesCodec(endian=endian),
        )
        array = vczc.open(stored.content)["x"]
        oracle.assert_same(array[...], data)
        oracle.assert_same(array[7, 2:8], data[7, 2:8])
        if endian == "little":
            oracle.assert_reads_as(array, stored)


LOSSY_3 = {
    "fixedscaleoffset": [v3.FixedScaleOffset(offset=1.5, scale=10, dtype="f4", astype="i2")],
    "fixedscaleoffset, no types": [v3.FixedScaleOffset(offset=-5, scale=10)],
    "fixedscaleoffset, transpose before": [
        zarr.codecs.TransposeCodec(order=(1, 0)),
        v3.FixedScaleOffset(offset=1.5, scale=10, dtype="<f4", astype="<i4"),
    ],
    "quantize": [v3.Quantize(digits=2, dtype="f4")],
    "bitround": [v3.BitRound(keepbits=3)],
    "bitround, transpose behind": [
        v3.BitRound(keepbits=3),
        zarr.codecs.TransposeCodec(order=(1, 0)),
    ],
    "astype, bitround": [
        v3.AsType(encode_dtype="float64", decode_dtype="float32"),
        v3.BitRound(keepbits=3),
    ],
}


@pytest.mark.parametrize("name", LOSSY_3)
def test_format_3_equals_zarr_python(name):
    data = numbers("<f4", (41, 9))
    stored = oracle.write(data, (20, 4), zarr_format=3, filters=LOSSY_3[name])
    oracle.assert_reads_as(vczc.open(stored.content)["x"], stored)


def test_format_3_without_a_byte_order():
    """zarr-python writes none where the array's items have one byte, whatever the filter gives."""
    data = small("|i1")
    content = oracle.write(data, (20, 4), zarr_format=3, compressors=None).content
    document = json.loads(content["x/zarr.json"])
    settings = {"encode_dtype": "<i4", "decode_dtype": "<i1"}
    document["codecs"] = [{"name": "numcodecs.astype", "configuration": settings}, "bytes"]
    wide = {
        key: np.frombuffer(value, "i1").astype("<i4").tobytes() if oracle.is_chunk(key) else value
        for key, value in content.items()
    }
    wide["x/zarr.json"] = json.dumps(document).encode()
    oracle.assert_same(vczc.open(wide)["x"][...], data)


# ---- Shards ----

SHARDS = oracle.Shards(((2, 3),))


@pytest.mark.parametrize("name", [n for n in LOSSLESS_3 if "transpose" not in n])
def test_filters_inside_shards(name):
    dtype, filters, compressors = LOSSLESS_3[name]
    data = small(dtype)
    settings = {"filters": filters(), "compressors": compressors or None}
    stored = oracle.write(data, (10, 3), shards=SHARDS, zarr_format=3, **settings)
    array = vczc.open(stored.content)["x"]
    assert (array.chunks, array.shards) == ((10, 3), (20, 9))
    oracle.assert_same(array[...], data)
    oracle.assert_same(array[7, 2:8], data[7, 2:8])
    for at in np.ndindex(*array.cdata_shape):
        part = tuple(slice(i * c, (i + 1) * c) for i, c in zip(at, array.chunks, strict=True))
        oracle.assert_same(array.blocks[at], data[part])


def changed(content, change):
    document = json.loads(content["x/zarr.json"])
    change(document["codecs"])
    return {**content, "x/zarr.json": json.dumps(document).encode()}


def test_filters_before_shards_and_unknown_codecs_inside():
    data = small("<i4")
    content = oracle.write(data, (10, 3), shards=SHARDS, zarr_format=3).content
    delta = {"name": "numcodecs.delta", "configuration": {"dtype": "<i4"}}
    with pytest.raises(vczc.UnsupportedError, match=r"sharding_indexed.*behind a filter"):
        vczc.open(changed(content, lambda codecs: codecs.insert(0, delta)))["x"]

    def put_inside(codecs):
        codecs[0]["configuration"]["codecs"].append({"name": "numcodecs.bz2"})

    root = vczc.open(changed(content, put_inside))
    with pytest.raises(vczc.UnsupportedError, match=r"numcodecs\.bz2"):
        root["x"]
    inner = root.store.fetch_chunk("x", (0, 0))
    assert bytes(inner) == bytes(vczc.open(content)["x"].blocks.stored((0, 0)))


def test_checksums_of_numcodecs_over_the_index_of_a_shard():
    data = small("<i4")
    for codec in (v3.CRC32(), v3.Adler32(location="end"), v3.Fletcher32()):
        shards = oracle.Shards(((2, 3),), index_codecs=(zarr.codecs.BytesCodec(), codec))
        stored = oracle.write(data, (10, 3), shards=shards, zarr_format=3)
        oracle.assert_same(vczc.open(stored.content)["x"][...], data)
        key = next(key for key in stored.content if oracle.is_chunk(key))
        bad = bytearray(stored.content[key])
        bad[-9] ^= 1
        array = vczc.open({**stored.content, key: bytes(bad)})["x"]
        with pytest.raises(vczc.CorruptChunkError, match=r"not .* as stored"):
            array[...]
