# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""What zarr-python wrote reads as zarr-python reads it: data types, orders, fill values, codecs,
edges, absent chunks, stores, both formats."""

import itertools
import json

import numcodecs
import numpy as np
import oracle
import pytest
import zarr
from numcodecs import Blosc

import vczc

SHAPE, CHUNKS = (5, 7), (2, 3)


def fills_of(dtype):
    """Fill values worth a try; None stands for null."""
    if dtype == oracle.TEXT:
        return [None, "", ".", "ünï 🧬"]
    if dtype == oracle.BYTES:
        return [None, b"", b"\x00\xff"]
    kind = np.dtype(dtype).kind
    if kind == "f":
        top = np.finfo(dtype).max
        return [None, 0.0, -0.0, 1.5, np.nan, np.inf, -np.inf, top, np.finfo(dtype).tiny]
    if kind in "iu":
        return [None, 0, 1, np.iinfo(dtype).max, np.iinfo(dtype).min]
    if kind == "c":
        return [None, 0j, complex(1.5, -2), complex(np.nan, np.inf), complex(-0.0, -np.inf)]
    if kind in "mM":
        return [
            None,
            *np.array([0, 1, -5, np.iinfo("i8").min], "i8").view(oracle.native_type(dtype)),
        ]
    if kind == "V":
        return [
            None,
            np.zeros(1, dtype)[0],
            np.full(1, 255, "u1").repeat(np.dtype(dtype).itemsize).view(dtype)[0],
        ]
    return {"b": [None, False, True], "S": [None, b"", b"\xff"], "U": [None, "", "ü"]}[kind]


@pytest.mark.parametrize(("order", "separator"), ["C.", "F/"])
@pytest.mark.parametrize("dtype", oracle.DTYPES)
@pytest.mark.parametrize("zarr_format", oracle.FORMATS)
def test_types(tmp_path, zarr_format, dtype, order, separator):
    data = oracle.values(dtype, SHAPE)
    stored = oracle.write(
        data, CHUNKS, dtype, zarr_format=zarr_format, order=order, separator=separator
    )
    if dtype not in (oracle.TEXT, oracle.BYTES):  # else it could be the same mistake twice
        assert stored.whole.tobytes() == oracle.native(data).tobytes()
    assert sum(map(oracle.is_chunk, stored.content)) == 9
    for kind in oracle.KINDS:
        array = vczc.open(oracle.source(stored.content, kind, tmp_path))["x"]
        oracle.assert_reads_as(array, stored)
        assert array.nchunks_initialized == 9


@pytest.mark.parametrize("dtype", oracle.DTYPES)
@pytest.mark.parametrize("zarr_format", oracle.FORMATS)
def test_fill_values_of_absent_chunks(zarr_format, dtype):
    for fill, order in zip(fills_of(dtype), itertools.cycle("CF")):
        data = oracle.values(dtype, SHAPE)
        if fill is None:
            fill_of_null = {oracle.TEXT: "", oracle.BYTES: b""}
            zero = np.zeros((), dtype if dtype not in fill_of_null else object)
            data[:, 3:] = "NaT" if zero.dtype.kind in "mM" else fill_of_null.get(dtype, zero)
        else:
            data[:, 3:] = fill
        stored = oracle.write(
            data,
            CHUNKS,
            dtype,
            zarr_format=zarr_format,
            order=order,
            fill_value=fill,
            write_empty_chunks=False,
        )
        nstored = sum(map(oracle.is_chunk, stored.content))
        assert nstored <= 3
        array = vczc.open(stored.content)["x"]
        oracle.assert_reads_as(array, stored)
        assert array.nchunks_initialized == nstored
        np.testing.assert_equal(array.fill_value, stored.array.fill_value)
        with pytest.raises(vczc.StoreError) as caught:
            vczc.open(stored.content, missing="error")["x"].blocks[1, 1]
        assert caught.value.coords == (1, 1)


@pytest.mark.parametrize("kind", ["directory", "deflated zip"])
@pytest.mark.parametrize("zarr_format", oracle.FORMATS)
@pytest.mark.parametrize("dtype", ["<i4", "S5", oracle.TEXT])
def test_every_chunk_absent_in_turn(tmp_path, zarr_format, kind, dtype):
    whole = oracle.write(oracle.values(dtype, SHAPE), CHUNKS, dtype, zarr_format=zarr_format)
    assert sum(map(oracle.is_chunk, whole.content)) == 9
    for key in filter(oracle.is_chunk, whole.content):
        stored = oracle.read({k: v for k, v in whole.content.items() if k != key})
        folder = tmp_path / key.replace("/", "_")
        folder.mkdir()
        array = vczc.open(oracle.source(stored.content, kind, folder))["x"]
        oracle.assert_reads_as(array, stored)


EDGES = [
    ((), ()),
    ((1,), (1,)),
    ((1,), (10,)),
    ((10,), (10,)),
    ((10,), (5,)),
    ((10,), (3,)),
    ((11,), (1,)),
    ((0,), (4,)),
    ((0, 3), (2, 2)),
    ((3, 0), (2, 2)),
    ((4, 6), (2, 3)),
    ((4, 6), (3, 4)),
    ((4, 6), (100, 1)),
    ((1, 9), (1, 2)),
    ((9, 1), (2, 7)),
    ((5, 4, 2), (2, 4, 2)),
    ((5, 4, 3), (2, 3, 2)),
    ((3, 3, 3, 3), (2, 1, 2, 3)),
    ((2, 2, 2, 2, 2, 2), (1, 2, 1, 2, 1, 2)),
    ((2, 1, 3, 1, 2, 1, 1, 2), (1, 1, 2, 1, 2, 1, 1, 2)),
]


@pytest.mark.parametrize(("shape", "chunks"), EDGES, ids=str)
@pytest.mark.parametrize("zarr_format", oracle.FORMATS)
def test_edges(tmp_path, zarr_format, shape, chunks):
    for dtype, order in (("i1", "C"), (">u2", "F"), ("<f8", "F"), ("S5", "C"), (oracle.TEXT, "F")):
        data = oracle.values(dtype, shape)
        stored = oracle.write(data, chunks, dtype, zarr_format=zarr_format, order=order)
        kind = "stored zip" if dtype == "i1" else "mapping"
        array = vczc.open(oracle.source(stored.content, kind, tmp_path))["x"]
        oracle.assert_reads_as(array, stored)
        assert array.order == stored.array.metadata.to_dict().get("order", "C")


@pytest.mark.parametrize("axes", list(itertools.permutations(range(3))), ids=str)
def test_every_transposition_of_format_3(axes):
    data = oracle.values("<i4", (5, 4, 3))
    stored = oracle.write(
        data, (2, 3, 2), zarr_format=3, filters=[zarr.codecs.TransposeCodec(order=axes)]
    )
    oracle.assert_reads_as(vczc.open(stored.content)["x"], stored)


@pytest.mark.parametrize("keys", ["default", "v2"])
@pytest.mark.parametrize("separator", [".", "/"])
@pytest.mark.parametrize("shape", [(), (7,), SHAPE])
def test_keys_of_format_3(keys, separator, shape):
    stored = oracle.write(
        oracle.values("<i2", shape),
        tuple(3 for _ in shape),
        zarr_format=3,
        keys=keys,
        separator=separator,
    )
    array = vczc.open(stored.content)["x"]
    oracle.assert_reads_as(array, stored)
    assert array.nchunks_initialized == array.nchunks == len(stored.content) - 2


# ---- Codecs ----

SHUFFLES = {"none": 0, "byte": 1, "bit": 2, "auto": -1}
BLOSC_TYPES = ("i1", "<i2", ">i4", "<f8", "S3", "?", "<U5")


@pytest.mark.parametrize("style", ["small", "runs", "random"])
@pytest.mark.parametrize("shuffle", SHUFFLES)
@pytest.mark.parametrize("cname", ["zstd", "lz4", "lz4hc", "zlib", "blosclz"])
def test_blosc_of_format_2(cname, shuffle, style):
    """Frames as numcodecs makes them; no length is a multiple of eight."""
    n, length = 3001, 1003
    for dtype in BLOSC_TYPES:
        padded = np.zeros(3 * length, dtype)
        padded[:n] = oracle.values(dtype, (n,), style=style)
        data = oracle.native(padded[:n])
        for level, blocksize in itertools.product((0, 1, 5, 9), (0, 256, 1000)):
            codec = Blosc(cname, level, SHUFFLES[shuffle], blocksize)
            chunks = padded.reshape(3, length)
            content = oracle.by_hand(
                {str(i): codec.encode(chunk) for i, chunk in enumerate(chunks)},
                shape=[n],
                chunks=[length],
                dtype=padded.dtype.str,
                compressor=codec.get_config(),
                fill_value=None,
            )
            array = vczc.open(content)["x"]
            for i in range(3):
                expected = data[i * length : (i + 1) * length]
                assert array.blocks[i].tobytes() == expected.tobytes(), (dtype, level, blocksize)
            # A part of a frame only: what a row costs.
            for key in (slice(0, 1), slice(997, 1010), slice(2000, 2001), slice(15, 3000, 371)):
                oracle.assert_same(array[key], data[key])


@pytest.mark.parametrize("shuffle", SHUFFLES)
@pytest.mark.parametrize(("dtype", "cname"), [("i1", "zstd"), ("?", "lz4"), ("<f4", "zstd")])
def test_blosc_of_many_blocks(dtype, cname, shuffle):
    """As chunks are in practice: several blocks, which threads share, and parts of them."""
    data = oracle.values(dtype, (500, 900), style="small" if dtype == "i1" else "runs")
    codec = Blosc(cname, 7, SHUFFLES[shuffle])
    content = oracle.by_hand(
        {"0.0": codec.encode(data)},
        shape=[500, 900],
        chunks=[500, 900],
        dtype=data.dtype.str,
        compressor=codec.get_config(),
    )
    array = vczc.open(content)["x"]
    for threads in (1, 2, 7):
        oracle.assert_same(array.blocks.read((0, 0), threads=threads), data)
        oracle.assert_same(array.read(np.s_[3:490, 5:], threads=threads), data[3:490, 5:])
    for key in np.s_[0, 499, 277, (499, 899), 100:500:211, (slice(None), 899)]:
        oracle.assert_same(array[key], data[key])


@pytest.mark.parametrize("cname", ["zstd", "lz4", "zlib"])
@pytest.mark.parametrize("shuffle", ["none", "byte", "bit", "auto"])
@pytest.mark.parametrize("zarr_format", oracle.FORMATS)
def test_blosc_as_zarr_python_writes_it(tmp_path, zarr_format, cname, shuffle):
    for dtype, order in (("i1", "C"), ("<i4", "F"), (">f8", "C"), (oracle.TEXT, "F")):
        if zarr_format == 2:
            codec = Blosc(cname, 5, SHUFFLES[shuffle])
        else:
            name = {"none": "noshuffle", "byte": "shuffle", "bit": "bitshuffle", "auto": None}
            codec = zarr.codecs.BloscCodec(cname=cname, clevel=5, shuffle=name[shuffle])
        stored = oracle.write(
            oracle.values(dtype, (40, 30), style="runs"),
            (17, 30),
            dtype,
            zarr_format=zarr_format,
            order=order,
            compressors=codec,
        )
        for kind in ("mapping", "deflated zip"):
            array = vczc.open(oracle.source(stored.content, kind, tmp_path))["x"]
            oracle.assert_reads_as(array, stored)


@pytest.mark.parametrize("typesize", [1, 2, 3, 4, 8, 16, 255])
@pytest.mark.parametrize("shuffle", ["shuffle", "bitshuffle"])
def test_item_size_of_the_frame_is_not_that_of_the_array(typesize, shuffle):
    """Format 3 hands Blosc plain bytes."""
    data = oracle.values("<i4", (1001, 3), style="small")
    codec = zarr.codecs.BloscCodec(cname="lz4", typesize=typesize, shuffle=shuffle, blocksize=512)
    stored = oracle.write(data, (250, 3), zarr_format=3, compressors=codec)
    array = vczc.open(stored.content)["x"]
    oracle.assert_reads_as(array, stored)
    for key in np.s_[5, 100:400:7, (999, 1), (slice(240, 260), slice(1, 3))]:
        oracle.assert_same(array[key], stored.whole[key])


CODECS_2 = {
    "none": None,
    "zlib": numcodecs.Zlib(6),
    "gzip": numcodecs.GZip(1),
    "zstd": numcodecs.Zstd(3),
    "zstd with checksum": numcodecs.Zstd(3, checksum=True),
    "lz4": numcodecs.LZ4(),
}
CODECS_3 = {
    "none": (),
    "gzip": (zarr.codecs.GzipCodec(level=4),),
    "zstd": (zarr.codecs.ZstdCodec(level=1),),
    "zstd with checksum": (zarr.codecs.ZstdCodec(level=1, checksum=True),),
    "crc32c": (zarr.codecs.Crc32cCodec(),),
    "zstd, crc32c": (zarr.codecs.ZstdCodec(), zarr.codecs.Crc32cCodec()),
    "crc32c, gzip": (zarr.codecs.Crc32cCodec(), zarr.codecs.GzipCodec()),
    "blosc, gzip": (zarr.codecs.BloscCodec(), zarr.codecs.GzipCodec()),
    "gzip, crc32c, zstd": (
        zarr.codecs.GzipCodec(),
        zarr.codecs.Crc32cCodec(),
        zarr.codecs.ZstdCodec(),
    ),
    "zstd, gzip, crc32c, crc32c, zstd": (
        zarr.codecs.ZstdCodec(),
        zarr.codecs.GzipCodec(),
        *(zarr.codecs.Crc32cCodec() for _ in range(2)),
        zarr.codecs.ZstdCodec(),
    ),
    "gzip, zstd, crc32c": (
        zarr.codecs.GzipCodec(),
        zarr.codecs.ZstdCodec(),
        zarr.codecs.Crc32cCodec(),
    ),
}


@pytest.mark.parametrize(
    ("zarr_format", "codec"), [*((2, c) for c in CODECS_2), *((3, c) for c in CODECS_3)], ids=str
)
def test_other_codecs(tmp_path, zarr_format, codec):
    compressors = (CODECS_2 if zarr_format == 2 else CODECS_3)[codec]
    for dtype, style in itertools.product(("i1", ">f4", "S5", oracle.TEXT), ("runs", "random")):
        stored = oracle.write(
            oracle.values(dtype, (61, 11), style=style),
            (20, 11),
            dtype,
            zarr_format=zarr_format,
            compressors=compressors,
        )
        for kind in ("mapping", "directory"):
            array = vczc.open(oracle.source(stored.content, kind, tmp_path))["x"]
            oracle.assert_reads_as(array, stored)


@pytest.mark.parametrize("dtype", ["<i4", ">f8", "S3"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_filters_of_format_2_that_give_bytes(dtype, order):
    data = oracle.values(dtype, (9, 5), style="runs")
    filters = [numcodecs.Zlib(1), numcodecs.GZip(1)]
    encoded = data.tobytes(order)
    for codec in [*filters, numcodecs.Zstd(1)]:
        encoded = bytes(codec.encode(encoded))
    stored = oracle.read(
        oracle.by_hand(
            {"0.0": encoded},
            shape=[9, 5],
            chunks=[9, 5],
            dtype=data.dtype.str,
            order=order,
            fill_value=None,
            filters=[codec.get_config() for codec in filters],
            compressor=numcodecs.Zstd(1).get_config(),
        )
    )
    array = vczc.open(stored.content)["x"]
    oracle.assert_reads_as(array, stored)
    oracle.assert_same(array[3:7, 2], oracle.native(data)[3:7, 2])


def test_documents_of_zarr_python_are_what_this_matrix_says():
    """The settings above do reach the documents: else everything would be tested as the default."""
    two = oracle.write(
        oracle.values(">f4", SHAPE),
        CHUNKS,
        order="F",
        separator="/",
        fill_value=None,
        compressors=Blosc("lz4", 9, Blosc.BITSHUFFLE),
    )
    document = json.loads(two.content["x/.zarray"])
    assert (document["order"], document["dimension_separator"]) == ("F", "/")
    assert (document["dtype"], document["fill_value"]) == (">f4", None)
    assert (document["compressor"]["cname"], document["compressor"]["shuffle"]) == ("lz4", 2)
    three = oracle.write(
        oracle.values(">f4", SHAPE), CHUNKS, order="F", separator=".", zarr_format=3
    )
    document = json.loads(three.content["x/zarr.json"])
    names = [codec["name"] for codec in document["codecs"]]
    assert names[:2] == ["transpose", "bytes"]
    assert document["codecs"][1]["configuration"] == {"endian": "big"}
    assert document["chunk_key_encoding"]["configuration"] == {"separator": "."}
