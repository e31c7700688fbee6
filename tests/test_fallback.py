# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""What the C library does not decode comes through numcodecs, and nobody needs to notice."""

from __future__ import annotations

import bz2
import contextlib
import copy
import itertools
import json
import lzma
import os
import pickle
import subprocess
import sys
import warnings

import numcodecs
import numpy as np
import oracle
import pytest
import zarr
from numcodecs.abc import Codec

import vczc

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import zarr.codecs.numcodecs as v3

pytestmark = pytest.mark.filterwarnings("ignore:Numcodecs codecs are not in the Zarr version 3")

GT = np.random.default_rng(0).integers(-2, 3, (23, 9, 2)).astype("i1")


def cases():
    """(name, settings of zarr.create_array)."""
    for name, codec in {"bz2": numcodecs.BZ2(1), "lzma": numcodecs.LZMA()}.items():
        yield f"2 {name}", {"compressors": codec}
        yield f"2 {name} F", {"compressors": codec, "order": "F"}
        yield f"2 delta, {name}", {"filters": [numcodecs.Delta("|i1")], "compressors": codec}
        yield (
            f"2 {name}, crc32, zlib",
            {
                "filters": [numcodecs.Delta("|i1"), codec, numcodecs.CRC32()],
                "compressors": numcodecs.Zlib(),
            },
        )
    yield "2 base64", {"filters": [numcodecs.Base64()], "compressors": None}
    three = {
        "3 bz2": [v3.BZ2(level=1)],
        "3 lzma": [v3.LZMA()],
        "3 bz2, gzip, crc32c, blosc, zstd": [
            v3.BZ2(level=1),
            zarr.codecs.GzipCodec(),
            zarr.codecs.Crc32cCodec(),
            zarr.codecs.BloscCodec(),
            zarr.codecs.ZstdCodec(),
        ],
        "3 zstd, bz2": [zarr.codecs.ZstdCodec(), v3.BZ2(level=1)],
    }
    for name, codecs in three.items():
        yield name, {"zarr_format": 3, "compressors": codecs}
    yield (
        "3 delta, bz2",
        {"zarr_format": 3, "filters": [v3.Delta(dtype="i1")], "compressors": [v3.BZ2(level=1)]},
    )


CASES = dict(cases())


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("kind", oracle.KINDS)
def test_every_way_to_read(name, kind, tmp_path):
    stored = oracle.write(GT, (5, 4, 2), **dict(CASES[name]))
    root = vczc.open(oracle.source(stored.content, kind, tmp_path))
    array = root["x"]
    oracle.assert_reads_as(array, stored)
    whole = stored.whole
    for key in np.s_[3, 3:11, ::4, (slice(2, 20, 3), 5), (7, 8, 1), ...]:
        oracle.assert_same(array[key], whole[key])
    oracle.assert_same(array.oindex[[1, 22, 5], ::2], whole[[1, 22, 5], ::2])
    assert [row.tolist() for row in array] == whole.tolist()
    out = np.full((5, 4, 2), 77, "i1")
    view = array.blocks.read((4, 2), out=out)
    oracle.assert_same(view, whole[20:23, 8:9])
    assert np.shares_memory(view, out)
    oracle.assert_same(array.read(np.s_[2:9, 3], threads=2), whole[2:9, 3])


def test_text(tmp_path):
    data = oracle.values(oracle.TEXT, (31,))
    settings = [
        {"zarr_format": 3, "compressors": [v3.BZ2(level=1)]},
        {"zarr_format": 2, "compressors": numcodecs.LZMA()},
    ]
    for setting in settings:
        stored = oracle.write(data, (8,), oracle.TEXT, **setting)
        array = vczc.open(stored.content)["x"]
        oracle.assert_reads_as(array, stored)
        strings = array.blocks.strings(1)
        texts = [bytes(strings.data[a:b]).decode() for a, b in itertools.pairwise(strings.offsets)]
        assert texts == data[8:16].tolist()
        for text_as in ("object", "bytes"):
            got = vczc.open(stored.content, strings=text_as)["x"][...]
            assert (
                got.tolist()
                == vczc.open(oracle.write(data, (8,), oracle.TEXT).content, strings=text_as)["x"][
                    ...
                ].tolist()
            )


def test_streams_and_several_threads():
    content = {".zgroup": b'{"zarr_format": 2}'}
    plain = dict(content)
    for name, dtype in {"variant_position": "<i4", "call_GQ": "<f4", "call_DP": "<i2"}.items():
        shape = (200, 6)[: 1 + name.startswith("call")]
        data = oracle.values(dtype, shape, style="small")
        for store, codec in ((content, numcodecs.BZ2(1)), (plain, None)):
            made = oracle.write(data, (13, 4)[: len(shape)], compressors=codec).content
            store.update(
                {k.replace("x/", f"{name}/", 1): v for k, v in made.items() if k != ".zgroup"}
            )
            dims = ["variants", "samples"][: len(shape)]
            store[f"{name}/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": dims}).encode()
    fields = ["variant_position", "call_GQ", "call_DP"]
    parts = list(vczc.stream(vczc.open(content), fields, threads=4))
    expected = list(vczc.stream(vczc.open(plain), fields, threads=4))
    assert len(parts) == len(expected) > 5
    for part, other in zip(parts, expected, strict=True):
        for field in fields:
            assert part[field].tobytes() == other[field].tobytes()


def test_it_is_shown_as_it_is_stored():
    codec = numcodecs.BZ2(1)
    filters = [numcodecs.Delta("|i1")]
    stored = oracle.write(GT, (5, 4, 2), filters=filters, compressors=codec)
    array = vczc.open(stored.content)["x"]
    document = json.loads(stored.content["x/.zarray"])
    assert array.metadata.document == document
    assert array.compressor == document["compressor"] == codec.get_config()
    assert list(array.filters) == document["filters"]
    assert array.codecs == (*document["filters"], document["compressor"])
    assert bytes(array.blocks.stored((4, 2, 0))) == stored.content["x/4.2.0"]
    chunks = [value for key, value in stored.content.items() if oracle.is_chunk(key)]
    assert array.nchunks_initialized == len(chunks) == array.nchunks
    assert array.nbytes_stored() == sum(map(len, chunks))
    assert array.store.mapping is stored.content
    assert "bz2" in str(array.info)
    assert repr(array) == "<vczc.Array '/x' shape=(23, 9, 2) dtype=int8>"
    assert isinstance(array, vczc.Array)
    assert copy.copy(array) is array
    again = pickle.loads(pickle.dumps(array))
    assert (type(again), again.path) == (type(array), "x")
    oracle.assert_same(again[...], stored.whole)
    array.blocks.prefetch([(0, 0, 0)])


def test_attributes_and_dimensions():
    stored = oracle.write(GT, (5, 4, 2), compressors=numcodecs.BZ2(1))
    attributes = {"_ARRAY_DIMENSIONS": ["variants", "samples", "ploidy"], "description": "\u00fc"}
    stored.content["x/.zattrs"] = json.dumps(attributes).encode()
    array = vczc.open(stored.content)["x"]
    assert dict(array.attrs) == attributes
    assert array.dims == ("variants", "samples", "ploidy")
    made = oracle.write(
        GT, (5, 4, 2), zarr_format=3, compressors=[v3.BZ2()], dimension_names=["a", None, "c"],
        attributes={"k": [1]},
    )  # fmt: skip
    array = vczc.open(made.content)["x"]
    assert (array.dims, dict(array.attrs)) == (("a", None, "c"), {"k": [1]})


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("separator", [".", "/"])
@pytest.mark.parametrize("keys", ["default", "v2"])
@pytest.mark.parametrize("shape", [(), (7,), (3, 11)])
def test_chunks_by_every_kind_of_key(zarr_format, separator, keys, shape):
    if (zarr_format, keys) == (2, "default"):
        keys = "v2"
    codec = numcodecs.BZ2(1) if zarr_format == 2 else [v3.BZ2(level=1)]
    data = oracle.values("<i4", shape)
    stored = oracle.write(
        data, (2, 4)[: len(shape)], zarr_format=zarr_format, separator=separator, keys=keys,
        compressors=codec,
    )  # fmt: skip
    oracle.assert_reads_as(vczc.open(stored.content)["x"], stored)


def test_absent_chunks():
    stored = oracle.write(GT, (5, 4, 2), compressors=numcodecs.BZ2(1), fill_value=-7)
    del stored.content["x/1.0.0"]
    expected = stored.whole.copy()
    expected[5:10, :4] = -7
    oracle.assert_same(vczc.open(stored.content)["x"][...], expected)
    with pytest.raises(vczc.StoreError, match="not stored") as raised:
        vczc.open(stored.content, missing="error")["x"][...]
    assert raised.value.key == "x/1.0.0"


def test_an_array_at_the_root_and_below_groups(tmp_path):
    for path in ("", "a/b/c"):
        root = tmp_path / f"root{len(path)}"
        made = zarr.create_array(
            root / path, shape=GT.shape, chunks=(9, 9, 2), dtype="i1", zarr_format=2,
            compressors=numcodecs.BZ2(1),
        )  # fmt: skip
        made[...] = GT
        if path:
            for group in ("", "a", "a/b"):
                (root / group / ".zgroup").write_text('{"zarr_format": 2}')
        array = vczc.open_array(root, path=path)
        oracle.assert_same(array[...], GT)
        assert array.path == path


def test_arrays_outlive_their_store(tmp_path):
    content = oracle.write(GT, (5, 4, 2), compressors=numcodecs.BZ2(1)).content
    with vczc.DirectoryStore(oracle.source(content, "directory", tmp_path)) as store:
        array = vczc.open(store)["x"]
    oracle.assert_same(array[...], GT)
    assert array.nchunks_initialized == array.nchunks
    with pytest.raises(vczc.StoreError, match="closed"):
        vczc.open(store)


def test_stored_bytes_of_arrays_that_are_not_read():
    content = oracle.by_hand(
        {"0": b"abc"}, shape=[3], chunks=[3], dtype="|u1", filters=[{"id": "pickle"}]
    )
    store = vczc.MemoryStore(content)
    assert bytes(store.fetch_chunk("x", 0)) == b"abc"
    assert store.fetch_metadata("x")["filters"] == [{"id": "pickle"}]


# ---- Texts as categories ----


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("behind", [[], [numcodecs.Delta("|u1")], [numcodecs.Shuffle(1)]])
@pytest.mark.parametrize("compressor", [None, numcodecs.BZ2(1), numcodecs.Blosc("lz4")])
def test_categorize(order, behind, compressor):
    data = np.array([["male", "female", "?"], ["", "female", "männlich"]], object)
    codec = numcodecs.Categorize(["female", "male", "männlich"], object)
    chunk = data.reshape(-1, order=order)
    for filter_ in [codec, *behind, *([] if compressor is None else [compressor])]:
        chunk = filter_.encode(chunk)
    content = oracle.by_hand(
        {"0.0": bytes(memoryview(np.ascontiguousarray(chunk)))},
        shape=[2, 3], chunks=[2, 3], dtype="|O", order=order, fill_value="",
        filters=[f.get_config() for f in (codec, *behind)],
        compressor=None if compressor is None else compressor.get_config(),
    )  # fmt: skip
    array = vczc.open(content)["x"]
    assert array.dtype == np.dtypes.StringDType()
    assert array[...].tolist() == [["male", "female", ""], ["", "female", "männlich"]]
    assert array[1, 2] == "männlich"
    assert array.filters[0]["id"] == "categorize"


def test_categorize_of_fixed_width():
    data = np.array(["male", "female", "female", ""], "<U6")
    codec = numcodecs.Categorize(["female", "male"], "<U6", "<i2")
    content = oracle.by_hand(
        {"0": codec.encode(data).tobytes()}, shape=[4], chunks=[4], dtype="<U6", fill_value="",
        filters=[codec.get_config()],
    )  # fmt: skip
    stored = oracle.read(content)
    oracle.assert_reads_as(vczc.open(content)["x"], stored)
    assert stored.whole.tolist() == data.tolist()


# ---- Codecs that others have registered ----


class Backwards(Codec):
    codec_id = "vczc_test_backwards"

    def encode(self, buf):
        return numcodecs.compat.ensure_bytes(buf)[::-1]

    def decode(self, buf, out=None):
        return numcodecs.compat.ensure_bytes(buf)[::-1]


class ArrayToBytes(Codec):
    """Stands for zfpy and pcodec, whose chunks hold an array."""

    codec_id = "pcodec"

    def encode(self, buf):
        return np.ascontiguousarray(buf).astype(">f8").tobytes()

    def decode(self, buf, out=None):
        return np.frombuffer(buf, ">f8").astype("<f4")


@pytest.fixture
def registered(monkeypatch):
    registry = dict(numcodecs.registry.codec_registry)
    registry.update({"vczc_test_backwards": Backwards, "pcodec": ArrayToBytes})
    monkeypatch.setattr(numcodecs.registry, "codec_registry", registry)


@pytest.mark.usefixtures("registered")
def test_what_is_registered_in_numcodecs_is_read():
    data = oracle.values("<i4", (50,))
    content = oracle.by_hand(
        {"0": data.tobytes()[::-1]}, shape=[50], chunks=[50], dtype="<i4",
        filters=[{"id": "vczc_test_backwards"}],
    )  # fmt: skip
    oracle.assert_same(vczc.open(content)["x"][...], data)


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("compressors", [None, [zarr.codecs.GzipCodec()], [v3.BZ2(level=1)]])
def test_codecs_of_format_3_that_make_bytes_of_arrays(compressors):
    data = np.arange(63, dtype="f4").reshape(21, 3)
    stored = oracle.write(
        data, (5, 3), zarr_format=3, serializer=v3.PCodec(), compressors=compressors
    )
    array = vczc.open(stored.content)["x"]
    oracle.assert_reads_as(array, stored)
    oracle.assert_same(array[...], data)


# ---- What is refused ----

OBJECT_CODECS = ["pickle", "json2", "json", "msgpack2", "msgpack", "vlen-array"]


@pytest.mark.parametrize("codec", OBJECT_CODECS)
@pytest.mark.parametrize("dtype", ["|O", "<i4"])
@pytest.mark.parametrize("place", ["filter", "compressor"])
def test_object_codecs_are_refused_whatever_is_installed(codec, dtype, place):
    class Trap:
        def __reduce__(self):
            return pytest.fail, ("a pickle was loaded",)

    config = {"id": codec}
    content = oracle.by_hand(
        {"0": pickle.dumps(Trap())}, shape=[2], chunks=[2], dtype=dtype, fill_value=None,
        filters=[config] if place == "filter" else [{"id": "vlen-utf8"}] if dtype == "|O" else None,
        compressor=config if place == "compressor" else {"id": "bz2", "level": 1},
    )  # fmt: skip
    with pytest.raises(vczc.UnsupportedError, match=codec):
        vczc.open(content)["x"]


@pytest.mark.usefixtures("registered")
def test_other_codecs_may_give_no_objects():
    content = oracle.by_hand(
        {"0": b""}, shape=[2], chunks=[2], dtype="|O", filters=[{"id": "vczc_test_backwards"}]
    )
    with pytest.raises((vczc.UnsupportedError, vczc.MetadataError)):
        vczc.open(content)["x"]


def test_codecs_that_nobody_knows():
    two = {"shape": [2], "chunks": [2], "dtype": "<i4"}
    for setting in ({"filters": [{"id": "frobnicate"}]}, {"compressor": {"id": "frobnicate"}}):
        with pytest.raises(vczc.UnsupportedError, match=r"'frobnicate'.*numcodecs has no codec"):
            vczc.open(oracle.by_hand({"0": b""}, **two, **setting))["x"]
    content = oracle.write(GT, (5, 4, 2), zarr_format=3).content
    document = json.loads(content["x/zarr.json"])
    for name, words in (("frobnicate", "frobnicate"), ("numcodecs.frobnicate", "has no codec")):
        codecs = [{"name": "bytes"}, {"name": name}]
        content["x/zarr.json"] = json.dumps({**document, "codecs": codecs}).encode()
        with pytest.raises(vczc.UnsupportedError, match=words):
            vczc.open(content)["x"]


@pytest.mark.usefixtures("without_numcodecs")
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_the_extra_is_named_where_it_is_missing(zarr_format):
    content = oracle.by_hand(
        {"0": b""}, shape=[2], chunks=[2], dtype="<i4", compressor={"id": "bz2", "level": 1}
    )
    if zarr_format == 3:
        content = {
            "zarr.json": b'{"zarr_format": 3, "node_type": "group"}',
            "x/zarr.json": json.dumps(
                {
                    "zarr_format": 3, "node_type": "array", "shape": [2], "data_type": "int8",
                    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
                    "chunk_key_encoding": {"name": "default"}, "fill_value": 0,
                    "codecs": [{"name": "bytes"}, {"name": "numcodecs.bz2"}],
                }
            ).encode(),
        }  # fmt: skip
    with pytest.raises(vczc.UnsupportedError, match=r"array 'x'.*bz2.*'vczc\[numcodecs\]'"):
        vczc.open(content)["x"]


def test_settings_that_numcodecs_refuses():
    content = oracle.by_hand(
        {"0": b""}, shape=[2], chunks=[2], dtype="<i4", compressor={"id": "bz2", "lvl": 1}
    )
    with pytest.raises(vczc.MetadataError, match=r"'x'.*bz2.*lvl"):
        vczc.open(content)["x"]


def test_numcodecs_is_imported_when_it_is_needed():
    content = oracle.write(GT, (5, 4, 2), filters=[numcodecs.Delta("|i1")]).content
    code = (
        "import sys, vczc\n"
        f"vczc.open({content!r})['x'][...]\n"
        "assert 'numcodecs' not in sys.modules and 'vczc.fallback' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# ---- Damage ----


@pytest.mark.parametrize("codec", ["bz2", "lzma"])
def test_damaged_chunks(codec):
    config = {"bz2": numcodecs.BZ2(1), "lzma": numcodecs.LZMA()}[codec]
    data = oracle.values("<i4", (60,), style="runs")
    good = bytes(config.encode(data))
    whole = {"shape": [60], "chunks": [60], "dtype": "<i4", "compressor": config.get_config()}
    rng = np.random.default_rng(0)
    flipped = [bytearray(good) for _ in range(300)]
    places = set()
    for bad in flipped:
        bad[rng.integers(len(bad))] ^= 1 << rng.integers(8)
    for bad in (*(good[:n] for n in range(len(good))), *map(bytes, flipped)):
        array = vczc.open(oracle.by_hand({"0": bad}, **whole))["x"]
        try:
            got = array[...]
        except vczc.CorruptChunkError as err:
            places.add((err.array, err.coords, err.key))
        else:  # a flip in what is passed over
            oracle.assert_same(got, data)
            assert len(bad) == len(good)
    assert places == {("x", (0,), "x/0")}


def test_the_cause_is_kept():
    whole = {"shape": [6], "chunks": [6], "dtype": "<i4", "compressor": {"id": "bz2", "level": 1}}
    with pytest.raises(vczc.CorruptChunkError, match=r"bz2.*Invalid data stream") as raised:
        vczc.open(oracle.by_hand({"0": b"no such thing"}, **whole))["x"][...]
    assert isinstance(raised.value.__cause__, OSError)


@pytest.mark.parametrize("codec", ["bz2", "lzma"])
def test_bombs(codec):
    pack = {"bz2": bz2.compress, "lzma": lzma.compress}[codec]
    chunk = pack(bytes(30_000_000))
    whole = {"shape": [6], "chunks": [6], "dtype": "<i4", "compressor": {"id": codec}}
    with pytest.raises(vczc.CorruptChunkError, match="more than the"):
        vczc.open(oracle.by_hand({"0": chunk}, **whole))["x"][...]


@pytest.mark.parametrize("codec", ["bz2", "lzma"])
def test_several_streams_and_what_follows_them(codec):
    """As Python's own functions, and so numcodecs, take them."""
    pack = {"bz2": bz2.compress, "lzma": lzma.compress}[codec]
    data = np.arange(60, dtype="<i4")
    raw = data.tobytes()
    whole = {"shape": [60], "chunks": [60], "dtype": "<i4", "compressor": {"id": codec}}
    for chunk in (pack(raw[:100]) + pack(raw[100:]), pack(raw) + b"leftover" * 4):
        stored = oracle.read(oracle.by_hand({"0": chunk}, **whole))
        oracle.assert_reads_as(vczc.open(stored.content)["x"], stored)


def test_memory_that_lacks_is_no_damage(monkeypatch):
    def fail(self, buf, out=None):
        raise MemoryError

    stored = oracle.write(GT, (5, 4, 2), filters=[numcodecs.Base64()], compressors=None)
    array = vczc.open(stored.content)["x"]
    monkeypatch.setattr(numcodecs.Base64, "decode", fail)
    with pytest.raises(MemoryError):
        array[...]


# ---- Hostile chunks: numcodecs believes them, so it is not asked


def chunk_of(chunk, n, filters=(), compressor=None, dtype="|u1"):
    document = {
        "zarr_format": 2, "shape": [n], "chunks": [n], "dtype": dtype, "compressor": compressor,
        "fill_value": 0, "order": "C", "filters": list(filters),
    }  # fmt: skip
    return vczc.open_array({".zarray": json.dumps(document).encode(), "0": chunk})


def blosc_header(flags, raw, block, stored):
    return bytes([2, 1, flags, 1]) + b"".join(n.to_bytes(4, "little") for n in (raw, block, stored))


BASE64 = {"id": "base64"}
BEHIND = [
    ("blosc", blosc_header(2, 300, 300, 316)),
    ("blosc", blosc_header(0x80, 4096, 4096, 0x7FFFFFF0) + (0x70000000).to_bytes(4, "little")),
    ("blosc", b""),
    ("zstd", b""),
    ("zstd", b"\x28\xb5\x2f\xfd" + b"\xff" * 20),
    ("zstd", numcodecs.Zstd().encode(bytes(100))[:-1]),
    ("lz4", b"\xff\xff\xff\x7f" + b"\xff" * 20),
    ("zlib", numcodecs.Zlib().encode(bytes(1000))[:-3]),
    ("gzip", b""),
]


@pytest.mark.parametrize(("name", "chunk"), BEHIND, ids=itertools.count())
def test_compressors_behind_a_codec_of_numcodecs(name, chunk):
    with pytest.raises(vczc.CorruptChunkError) as caught:
        chunk_of(chunk, 300, [BASE64], {"id": name})[...]
    assert caught.value.coords == (0,)


@pytest.mark.parametrize("name", ["blosc", "zstd", "lz4", "zlib", "gzip", "bz2", "lzma"])
def test_compressors_behind_a_codec_that_are_right(name):
    encoded = numcodecs.Base64().encode(np.arange(100, dtype="u1"))
    compressed = numcodecs.get_codec({"id": name}).encode(encoded)
    array = chunk_of(compressed, 100, [BASE64], {"id": name})
    np.testing.assert_array_equal(array[...], np.arange(100, dtype="u1"))


BOMBS = {
    **{name: numcodecs.get_codec({"id": name}) for name in ("zstd", "blosc", "lz4")},
    **{name: numcodecs.get_codec({"id": name}) for name in ("zlib", "gzip", "bz2", "lzma")},
}


@pytest.mark.parametrize("name", BOMBS)
def test_more_than_the_metadata_has(name):
    """What is unpacked ends a little above what the array may need: no 64 MB of zeros for 16."""
    chunk = bytes(BOMBS[name].encode(bytes(64 << 20)))
    with pytest.raises(vczc.CorruptChunkError, match="allowed"):
        chunk_of(chunk, 16, [BASE64], {"id": name})[...]


@pytest.mark.parametrize(
    "settings",
    [
        {"id": "categorize", "dtype": "U100000000", "labels": ["a"], "astype": "u1"},
        {"id": "astype", "encode_dtype": "S1", "decode_dtype": "S100000000"},
    ],
    ids=["categorize", "astype"],
)
def test_items_of_a_gigabyte(settings):
    with pytest.raises(vczc.Error, match=r"allowed|settings|categorize|astype"):
        chunk_of(numcodecs.Base64().encode(bytes(20)), 20, [settings, BASE64], dtype="|S1")[...]


def test_many_streams():
    with pytest.raises(vczc.CorruptChunkError, match="streams"):
        chunk_of(bz2.compress(b"") * 100_000, 16, compressor={"id": "bz2", "level": 1})[...]


@pytest.mark.parametrize("settings", ["x", 5, 1.5, True, [1]])
@pytest.mark.parametrize("where", ["codec", "keys"])
def test_settings_that_are_no_object(settings, where):
    codec = {"name": "numcodecs.bz2", "configuration": settings if where == "codec" else {}}
    keys = {"name": "default", "configuration": settings if where == "keys" else {}}
    document = {
        "zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "uint8",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
        "chunk_key_encoding": keys, "fill_value": 0, "codecs": [{"name": "bytes"}, codec],
    }  # fmt: skip
    with contextlib.suppress(vczc.Error):
        vczc.open_array({"zarr.json": json.dumps(document).encode()})[...]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a process beside this one cuts the file")
@pytest.mark.parametrize("kind", ["directory", "stored zip"])
def test_a_file_that_is_cut_meanwhile(tmp_path, kind):
    """It is read, not mapped: no signal ends the process."""
    noise = np.random.default_rng(0).integers(0, 256, 2 << 20, "u1")
    stored = oracle.write(noise, noise.shape, zarr_format=2, compressors=numcodecs.BZ2(1))
    source = oracle.source(stored.content, kind, tmp_path)
    path = source if kind != "directory" else source / "x" / "0"
    whole = path.read_bytes()
    script = (
        "import os, sys, time\n"
        "path, whole = sys.argv[1], open(sys.argv[1], 'rb').read()\n"
        "while True:\n"
        "    os.truncate(path, 4096); time.sleep(0.001)\n"
        "    with open(path, 'r+b') as file: file.write(whole)\n"
        "    time.sleep(0.002)\n"
    )
    other = subprocess.Popen([sys.executable, "-c", script, str(path)])
    try:
        for _ in range(30):
            with contextlib.suppress(vczc.Error):
                np.testing.assert_array_equal(vczc.open(source)["x"][...], noise)
    finally:
        other.kill()
        other.wait()
    assert len(whole) > 1 << 20  # what is smaller is never mapped
