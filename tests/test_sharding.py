# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Shards: what is read of one, what is refused, what damage does. Values: test_property."""

from __future__ import annotations

import contextlib
import itertools
import json
import pickle
import zipfile

import numcodecs
import numpy as np
import oracle
import pytest
import zarr
import zarr.codecs as zc
from zarr.storage import MemoryStore

import vczc

BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
CRC32C = {"name": "crc32c"}
ABSENT = [2**64 - 1] * 2


def shard_codec(chunks, codecs=(BYTES,), index_codecs=(BYTES, CRC32C), **config):
    config = {
        "chunk_shape": chunks,
        "codecs": list(codecs),
        "index_codecs": list(index_codecs),
        **config,
    }
    return {"name": "sharding_indexed", "configuration": config}


def store(codecs, chunks=None, shape=(8,), shards=(8,), **document):
    base = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": shape,
        "data_type": "uint8",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shards}},
        "chunk_key_encoding": {"name": "default"},
        "fill_value": 9,
        "codecs": codecs,
        **document,
    }
    return {"zarr.json": json.dumps(base).encode(), **(chunks or {})}


def by_hand(pairs, data=b"", place="end", index_codecs=(BYTES,)):
    """A shard of two chunks of four bytes, its index written as it is told."""
    index = np.array(pairs, "<u8").tobytes()
    shard = index + data if place == "start" else data + index
    codec = shard_codec([4], index_codecs=index_codecs, index_location=place)
    return vczc.open_array(store([codec], {"c/0": shard}))


@pytest.fixture(scope="module")
def stored():
    data = np.arange(40 * 30, dtype="i4").reshape(40, 30)
    return oracle.write(
        data,
        (5, 6),
        zarr_format=3,
        shards=oracle.Shards(((4, 2),)),
        compressors=[zc.ZstdCodec(level=1)],
        fill_value=-3,
    )


# ---- What it looks like ----


def test_what_an_array_says(stored):
    array = vczc.open(stored.content)["x"]
    judge = stored.array
    for name in ("shards", "chunks", "shape", "cdata_shape", "nchunks", "nchunks_initialized"):
        assert getattr(array, name) == getattr(judge, name), name
    assert array.shards == (20, 12)
    assert array.compressor == {"name": "zstd", "configuration": {"level": 1, "checksum": False}}
    assert "Shard shape" in str(array.info)
    assert array.nbytes_stored() == sum(
        len(value) for key, value in stored.content.items() if oracle.is_chunk(key)
    )


@pytest.mark.parametrize("kind", oracle.KINDS)
@pytest.mark.parametrize("threads", [1, 3])
def test_every_kind_of_store(stored, tmp_path, kind, threads):
    array = vczc.open(oracle.source(stored.content, kind, tmp_path))["x"]
    oracle.assert_reads_as(array, stored)
    for key in (np.s_[3:37, 2:29], np.s_[::7, ::5], np.s_[11], np.s_[:, 13], np.s_[19:21]):
        out = np.empty(stored.whole[key].shape, "i4")
        assert array.read(key, out=out, threads=threads) is out
        np.testing.assert_array_equal(out, stored.whole[key])
    rows = [39, 0, 20, 20]
    np.testing.assert_array_equal(array.oindex[rows], stored.whole[rows])


def test_a_pickle_reads_on(stored, tmp_path):
    array = vczc.open(oracle.source(stored.content, "directory", tmp_path))["x"]
    oracle.assert_reads_as(pickle.loads(pickle.dumps(array)), stored)


def test_stored_bytes_are_those_of_the_chunk(stored, tmp_path):
    for kind in oracle.KINDS:
        blocks = vczc.open(oracle.source(stored.content, kind, tmp_path))["x"].blocks
        decoded = numcodecs.Zstd().decode(blocks.stored((5, 3)))
        np.testing.assert_array_equal(
            np.frombuffer(decoded, "i4").reshape(5, 6), stored.whole[25:30, 18:24]
        )


# ---- How much is read ----


@pytest.mark.parametrize("kind", ["directory", "stored zip"])
def test_a_damaged_chunk_harms_no_other(stored, tmp_path, kind):
    """Nothing but the index and the chunk is looked at."""
    content = dict(stored.content)
    whole = stored.whole
    key = "x/c/0/0"
    shard = bytearray(content[key])
    index = np.frombuffer(bytes(shard[-(16 * 8 + 4) : -4]), "<u8").reshape(4, 2, 2)
    offset, nbytes = (int(n) for n in index[1, 0])
    shard[offset : offset + nbytes] = bytes(nbytes)
    content[key] = bytes(shard)
    array = vczc.open(oracle.source(content, kind, tmp_path))["x"]
    for at in np.ndindex(4, 2):
        if at == (1, 0):
            with pytest.raises(vczc.CorruptChunkError) as caught:
                array.blocks[at]
            assert caught.value.coords == at
            assert caught.value.key == key
            assert caught.value.array == "x"
        else:
            part = np.s_[at[0] * 5 : at[0] * 5 + 5, at[1] * 6 : at[1] * 6 + 6]
            np.testing.assert_array_equal(array.blocks[at], whole[part])


# ---- Absent ----


def test_absent_chunks_and_shards():
    array = by_hand([ABSENT, [0, 4]], b"\1\2\3\4")
    assert array[:].tolist() == [9, 9, 9, 9, 1, 2, 3, 4]
    assert array.blocks.stored(0) is None
    assert bytes(array.blocks.stored(1)) == b"\1\2\3\4"
    assert array.nchunks_initialized == 2  # as zarr-python counts
    empty = vczc.open_array(store([shard_codec([4])]))
    assert empty[:].tolist() == [9] * 8
    assert empty.blocks.stored(0) is None
    assert empty.nchunks_initialized == 0


def test_an_absent_chunk_as_an_error():
    content = store(
        [shard_codec([4], index_codecs=[BYTES])],
        {"c/0": b"\1\2\3\4" + np.array([ABSENT, [0, 4]], "<u8").tobytes()},
    )
    array = vczc.open_array(content, missing="error")
    assert array.blocks[1].tolist() == [1, 2, 3, 4]
    with pytest.raises(vczc.StoreError, match="not stored"):
        array.blocks[0]
    assert array.blocks.stored(0) is None


@pytest.mark.parametrize("place", ["start", "end"])
def test_chunks_may_lie_anywhere_and_overlap(place):
    at = 32 if place == "start" else 0
    array = by_hand([[at + 1, 4], [at, 4]], b"\1\2\3\4\5", place)
    assert array[:].tolist() == [2, 3, 4, 5, 1, 2, 3, 4]


# ---- Damage ----


@pytest.mark.parametrize(
    ("pair", "reason"),
    [
        ([2**64 - 1, 4], "the shard has"),
        ([0, 2**64 - 1], "the shard has"),
        ([2**63, 2**63], "the shard has"),
        ([0, 37], "the shard has"),
        ([37, 0], "the shard has"),
        ([36, 0], "0 bytes are stored, not 4"),
        ([0, 3], "3 bytes are stored, not 4"),
        ([0, 5], "5 bytes are stored, not 4"),
    ],
)
def test_an_index_that_lies(pair, reason):
    array = by_hand([pair, [0, 4]], b"\1\2\3\4")
    with pytest.raises(vczc.CorruptChunkError, match=reason) as caught:
        array.blocks[0]
    assert (caught.value.coords, caught.value.key) == ((0,), "c/0")
    assert array.blocks[1].tolist() == [1, 2, 3, 4]


def test_an_index_whose_checksum_is_wrong(stored):
    content = {**stored.content}
    for back in range(1, 16 * 8 + 5):
        shard = bytearray(stored.content["x/c/0/0"])
        shard[-back] ^= 0x10
        content["x/c/0/0"] = bytes(shard)
        with pytest.raises(vczc.CorruptChunkError, match="index of the shard: the CRC-32C is"):
            vczc.open(content)["x"].blocks[0, 0]


@pytest.mark.parametrize("place", ["start", "end"])
@pytest.mark.parametrize("dtype", ["i4", oracle.TEXT])
@pytest.mark.parametrize("levels", [1, 2])
def test_every_truncation(place, dtype, levels):
    """It ends in an error, or (of an index at the start) in the right items."""
    data = oracle.values(dtype, (8, 6), 3)
    stored = oracle.write(
        data,
        (2, 3),
        dtype,
        zarr_format=3,
        compressors=None,
        shards=oracle.Shards(((2, 1), (2, 2))[:levels], place),
    )
    key, shard = next(item for item in stored.content.items() if oracle.is_chunk(item[0]))
    expected = dict(stored.blocks())
    nright = 0
    for n in range(len(shard)):
        array = vczc.open({**stored.content, key: shard[:n]})["x"]
        try:
            oracle.assert_same(array.blocks[0, 0], expected[0, 0])
            nright += 1
        except vczc.CorruptChunkError as err:
            assert err.key == key  # noqa: PT017
    assert (nright > 0) == (place == "start")


@pytest.mark.parametrize("place", ["start", "end"])
def test_bytes_that_were_flipped(place):
    data = oracle.values(oracle.TEXT, (40,), 3)
    stored = oracle.write(
        data, (4,), oracle.TEXT, zarr_format=3, shards=oracle.Shards(((3,), (2,)), place)
    )
    rng = np.random.default_rng(0)
    keys = [key for key in stored.content if oracle.is_chunk(key)]
    for _ in range(2000):
        key = keys[rng.integers(len(keys))]
        shard = bytearray(stored.content[key])
        for _ in range(rng.integers(1, 4)):
            shard[rng.integers(len(shard))] ^= 1 << int(rng.integers(8))
        with contextlib.suppress(vczc.CorruptChunkError):
            vczc.open({**stored.content, key: bytes(shard)})["x"][...]


# ---- Settings ----


@pytest.mark.parametrize(
    ("codec", "error", "message"),
    [
        (shard_codec([3]), vczc.MetadataError, "no multiple"),
        (shard_codec([0]), vczc.MetadataError, "no multiple"),
        (shard_codec([16]), vczc.MetadataError, "no multiple"),
        (shard_codec([4, 4]), vczc.MetadataError, "2 axes"),
        (shard_codec([-4]), vczc.MetadataError, "negative"),
        (shard_codec("4"), vczc.MetadataError, "chunk_shape"),
        (shard_codec([4], []), vczc.MetadataError, "'codecs' is empty"),
        (shard_codec([4], [CRC32C]), vczc.MetadataError, "wrong place"),
        (shard_codec([4], index_codecs=[]), vczc.MetadataError, "'index_codecs' is empty"),
        (shard_codec([4], index_codecs=[BYTES, {"name": "zstd"}]), vczc.UnsupportedError, "'zstd'"),
        (shard_codec([4], index_codecs=[{"name": "vlen-utf8"}]), vczc.MetadataError, "uint64"),
        (shard_codec([4], index_codecs=[shard_codec([1, 1])]), vczc.UnsupportedError, "index"),
        (shard_codec([4], index_location="middle"), vczc.MetadataError, "index_location"),
        (shard_codec([4], [{"name": "frobnicate"}]), vczc.UnsupportedError, "'frobnicate'"),
        ({"name": "sharding_indexed"}, vczc.MetadataError, "chunk_shape"),
    ],
)
def test_settings_that_cannot_be(codec, error, message):
    with pytest.raises(error, match=message):
        vczc.open_array(store([codec]))


def test_shards_in_shards_have_an_end():
    codec = shard_codec([1])
    for _ in range(3):
        codec = shard_codec([1], [codec])
    assert vczc.open_array(store([codec]))[:].tolist() == [9] * 8
    with pytest.raises(vczc.UnsupportedError, match="more than 4 deep"):
        vczc.open_array(store([shard_codec([1], [codec])]))


def test_a_shard_that_is_too_large():
    with pytest.raises(vczc.MetadataError, match="larger than"):
        vczc.open_array(store([shard_codec([1 << 40])], shape=[1 << 45], shards=[1 << 45]))
    array = vczc.open_array(store([shard_codec([1 << 10])], shape=[1 << 45], shards=[1 << 45]))
    assert array[5] == 9  # the shard is not there; its index would be 2^39 bytes
    content = store([shard_codec([1 << 10])], {"c/0": b"x" * 99}, [1 << 45], [1 << 45])
    with pytest.raises(vczc.CorruptChunkError, match="too small for its index"):
        vczc.open_array(content)[5]


# ---- Beside other codecs: a shard is then one chunk, as in zarr-python ----


@pytest.mark.parametrize("dtype", ["i2", str])
@pytest.mark.parametrize("order", [(1, 0), (0, 1)])
@pytest.mark.parametrize("place", ["start", "end"])
def test_transposed_and_compressed_shards(dtype, order, place):
    store = MemoryStore()
    text = dtype is str
    inner = zc.ShardingCodec(
        chunk_shape=(2, 1),
        codecs=[zc.VLenUTF8Codec() if text else zc.BytesCodec(endian="big"), zc.ZstdCodec()],
    )
    codec = zc.ShardingCodec(
        chunk_shape=(2, 2), codecs=[zc.TransposeCodec(order=(1, 0)), inner], index_location=place
    )
    array = zarr.create_array(
        store,
        name="x",
        shape=(11, 7),
        chunks=(4, 4),
        dtype=dtype,
        filters=[zc.TransposeCodec(order=order)],
        serializer=codec,
        compressors=[zc.BloscCodec(), zc.Crc32cCodec()],
        fill_value="zz" if text else 5,
    )
    items = oracle.values(oracle.TEXT if text else "i2", (11, 7), 2)
    array[:9, :5] = items[:9, :5]
    stored = oracle.read({key: value.to_bytes() for key, value in store._store_dict.items()})
    got = vczc.open(stored.content)["x"]
    assert got.shards is None
    oracle.assert_reads_as(got, stored)
    for rows, columns in itertools.product((1, 2, 5), repeat=2):
        key = np.s_[1::rows, ::columns]
        oracle.assert_same(got[key], stored.array[key])


def test_a_deflated_shard(stored, tmp_path):
    path = oracle.source(stored.content, "deflated zip", tmp_path)
    with zipfile.ZipFile(path) as archive:
        assert archive.getinfo("x/c/0/0").compress_type == zipfile.ZIP_DEFLATED
    oracle.assert_reads_as(vczc.open(path)["x"], stored)


def test_a_stream_over_shards(tmp_path):
    group = zarr.open_group(str(tmp_path / "s"), mode="w", zarr_format=3)
    rng = np.random.default_rng(0)
    data = rng.integers(-1, 2, (100, 8, 2), "i1")
    for name, shards in (("call_genotype", (40, 8, 2)), ("call_other", None)):
        group.create_array(
            name,
            data=data,
            chunks=(10, 4, 2),
            shards=shards,
            dimension_names=["variants", "samples", "ploidy"],
        )
    root = vczc.open(tmp_path / "s")
    seen = np.concatenate(
        [part["call_genotype"] for part in vczc.stream(root, ["call_genotype", "call_other"])]
    )
    np.testing.assert_array_equal(seen, data)
