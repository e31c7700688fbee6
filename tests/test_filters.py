# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""The filters and checksums of numcodecs, in any chain, held against numcodecs and zarr-python."""

from __future__ import annotations

import itertools

import numcodecs
import numpy as np
import oracle
import pytest
import strategies
from filtered import CHECKSUMS, ORDERED, check, encode, numbers, store
from hypothesis import given
from hypothesis import strategies as st

import vczc

pytestmark = [
    pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning"),
]

# ---- Each filter over its types ----


@pytest.mark.parametrize("dtype", ORDERED)
def test_delta(dtype):
    for shape, stored_as in itertools.product(
        [(1,), (15,), (16,), (33,), (67, 31)], (dtype, *("<i2", ">i4", "<f4", "|u1", ">f8", "|b1"))
    ):
        data = numbers(dtype, shape, fit=stored_as)
        if np.dtype(dtype).kind == "b":  # numcodecs' own encoder subtracts no bools
            stored_as = "|b1"
        if np.dtype(dtype).kind == "f":
            data = (data / 100).astype(dtype)
        encoded = np.random.default_rng(1).permutation(data.reshape(-1)).astype(stored_as)
        if encoded.dtype.kind == "f" and data.dtype.kind != "f":  # no sum may pass what fits
            encoded = np.random.default_rng(1).uniform(0, 0.06, data.size).astype(stored_as)
        codec = numcodecs.Delta(dtype, stored_as)
        stored = oracle.read(store(encoded.tobytes(), data, dtype, [codec]))
        oracle.assert_reads_as(vczc.open(stored.content)["x"], stored)


def test_delta_over_many_blocks():
    """Sums are carried from block to block of what is decoded at a time."""
    for dtype in ("i1", "<u2", ">i4", "<i8", "<f4", ">f8", "<f2"):
        for n in (2047, 2048, 2049, 5000, 100_003):
            data = (numbers(dtype, (n,)).astype("f8") / 7e4).astype(dtype)
            check(data, [numcodecs.Delta(data.dtype.str)])


@pytest.mark.parametrize("to", ORDERED)
def test_astype(to):
    for source in ORDERED:
        data = numbers(source, (3000,), fit=to)
        codec = numcodecs.AsType(source, to)
        stored = oracle.read(store(data.tobytes(), (3000,), to, [codec]))
        oracle.assert_reads_as(vczc.open(stored.content)["x"], stored)


@pytest.mark.parametrize("kinds", list(itertools.permutations(["f2", "f4", "f8"], 2)))
def test_every_bit_pattern_of_floats_is_cast_as_numpy_does(kinds):
    source, to = kinds
    data = oracle.values("<" + source, (200_000,))
    if source == "f2":
        data = np.arange(65536, dtype="<u2").view("<f2")
    stored = oracle.read(
        store(data.tobytes(), data, "<" + to, [numcodecs.AsType("<" + source, "<" + to)])
    )
    oracle.assert_reads_as(vczc.open(stored.content)["x"], stored)


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_halves_are_rounded_to_even(kind):
    """All midpoints between neighbouring halves, and what lies just beside them."""
    halves = np.arange(0x7C00, dtype="u2").view("f2").astype("f8")
    middles = (halves[:-1] + halves[1:]) / 2
    data = np.concatenate([middles, np.nextafter(middles, 0), np.nextafter(middles, 1e9)])
    data = np.concatenate([data, -data, [65519.99, 65520, 1e30, 5e-8, 2.9e-8]]).astype(kind)
    data = np.resize(data, (len(data),))
    stored = oracle.read(store(data.tobytes(), data, "<f2", [numcodecs.AsType("<" + kind, "<f2")]))
    oracle.assert_reads_as(vczc.open(stored.content)["x"], stored)


@pytest.mark.parametrize("to", ["i1", "i2", "i4", "i8"])
def test_floats_that_fit_no_integer(to):
    """As x86-64 gives them, which NumPy shows there: the same on every processor."""
    data = np.array([np.nan, np.inf, -np.inf, 1e300, -1e300, 2.0**63, -(2.0**63), 2.0**31, -0.5])
    codec = numcodecs.AsType("<f8", "<" + to)
    got = vczc.open(store(data.tobytes(), data, "<" + to, [codec]))["x"][...]
    least = {"i1": 0, "i2": 0, "i4": -(2**31), "i8": -(2**63)}[to]
    expected = [least] * 7 + [{"i8": 2**31}.get(to, least), 0]
    assert got.tolist() == expected


@pytest.mark.parametrize("stored_as", ORDERED)
def test_fixedscaleoffset(stored_as):
    for dtype, (scale, offset) in itertools.product(
        ("<f4", ">f8", "<f2", "<i4", ">i2"), [(10, 0), (0.1, 3), (1000, 1.5), (-3, -7), (2**40, 0)]
    ):
        data = numbers(stored_as, (2500,))
        codec = numcodecs.FixedScaleOffset(offset, scale, dtype, stored_as)
        with np.errstate(all="ignore"):
            exact = data.astype("f8") / scale + offset
        if np.dtype(dtype).kind == "i":  # what does not fit is another test's
            info = np.iinfo(dtype)
            data = data[(exact > info.min) & (exact < info.max)]
        if not len(data):
            continue
        stored = oracle.read(store(data.tobytes(), data, dtype, [codec]))
        oracle.assert_reads_as(vczc.open(stored.content)["x"], stored)


def test_fixedscaleoffset_as_its_writer_uses_it():
    data = np.linspace(-300, 700, 10_000, dtype="<f4").reshape(100, 100)
    for codec in (
        numcodecs.FixedScaleOffset(offset=-300, scale=50, dtype="<f4", astype="<u2"),
        numcodecs.FixedScaleOffset(offset=0, scale=0.5, dtype="<f4", astype="<i2"),
        numcodecs.FixedScaleOffset(offset=0, scale=100, dtype="<f4"),
    ):
        check(data, [codec], numcodecs.Blosc("zstd", 1, numcodecs.Blosc.SHUFFLE))


@pytest.mark.parametrize("order", "<>")
def test_quantize_and_bitround(order):
    data = numbers(order + "f8", (90, 11)) / 1000
    for stored_as in ("<f8", ">f8", "<f4", ">f4", ">f2"):
        check(data, [numcodecs.Quantize(3, data.dtype.str, stored_as)], numcodecs.Zlib(1))
    for kind in ("f2", "f4", "f8"):
        check(data.astype("<" + kind), [numcodecs.BitRound(4)], numcodecs.Zlib(1))


def test_packbits_of_every_length():
    rng = np.random.default_rng(0)
    for n in [*range(1, 70), 1000, 4097]:
        check(rng.random(n) < 0.5, [numcodecs.PackBits()])
    check(rng.random((70, 31)) < 0.5, [numcodecs.PackBits()], numcodecs.Blosc("zstd", 1), "F")


def test_all_256_packed_bytes():
    data = np.unpackbits(np.arange(256, dtype="u1")).astype(bool)
    array, _ = check(data, [numcodecs.PackBits()])
    assert (array[...] == data).all()


@pytest.mark.parametrize("nbytes", [0, 1, 2, 3, 4, 7, 8, 16, 100, 255])
def test_shuffle(nbytes):
    for nitems in (1, 7, 8, 33, 1000):
        data = oracle.values("u1", (nitems * max(1, nbytes),))
        check(data, [numcodecs.Shuffle(nbytes)])


@pytest.mark.parametrize("codec", CHECKSUMS, ids=str)
def test_checksums(codec):
    for n in [*range(1, 40), 719, 720, 721, 722, 5000]:
        check(oracle.values("u1", (n,)), [codec])
        check(np.full(n, 255, "u1"), [codec])
    for data in (oracle.values(">i4", (40, 3)), np.zeros(1001, "<i2")):
        check(data, [codec], numcodecs.Zlib(1))
        check(data, [numcodecs.Zlib(1), codec], numcodecs.Blosc("lz4", 1))
        check(data, [], codec)


def test_checksums_that_are_wrong():
    data = oracle.values("<i4", (100,))
    for codec in CHECKSUMS:
        good = encode(data, [codec])
        for at in (0, 3, 4, 200, len(good) - 5, len(good) - 1):
            bad = bytearray(good)
            bad[at] ^= 4
            array = vczc.open(store(bytes(bad), data, "<i4", [codec]))["x"]
            with pytest.raises(vczc.CorruptChunkError, match=r"not .* as stored") as raised:
                array[...]
            assert (raised.value.array, raised.value.coords, raised.value.key) == ("x", (0,), "x/0")


# ---- Chains ----


@st.composite
def chains(draw):
    """(data, filters, compressor, order): filters one behind another, each for what it gets."""
    shape = tuple(draw(st.lists(st.integers(1, 12), min_size=1, max_size=3)))
    dtype = draw(st.sampled_from(ORDERED))
    data = numbers(dtype, shape, draw(st.integers(0, 99)))
    if data.dtype.kind == "f":
        data = (data / 100).astype(dtype)
    elif data.dtype.kind != "b":  # numcodecs' own delta cannot write a first item that does not fit
        data = (data % 50).astype(dtype)
    kind, filters = np.dtype(dtype), []
    for _ in range(draw(st.integers(1, 5))):
        codec, kind = draw(next_filters(kind))
        filters.append(codec)
    compressor = draw(
        st.sampled_from(
            [
                None,
                numcodecs.Zlib(1),
                numcodecs.Zstd(1),
                numcodecs.LZ4(),
                numcodecs.GZip(1),
                numcodecs.Blosc("lz4", 1, numcodecs.Blosc.SHUFFLE),
                numcodecs.Blosc("zstd", 1, numcodecs.Blosc.BITSHUFFLE),
                numcodecs.CRC32(),
                numcodecs.Shuffle(1),
            ]
        )
    )
    return data, filters, compressor, draw(st.sampled_from("CF"))


def next_filters(kind):
    """(codec, what it gives) for items of `kind`; None where they have become bytes."""
    of_bytes = [
        (numcodecs.Shuffle(1), None),
        (numcodecs.Zlib(1), None),
        (numcodecs.Zstd(1), None),
        *((codec, None) for codec in CHECKSUMS),
        (numcodecs.Delta("|u1"), np.dtype("|u1")),
        (numcodecs.AsType("<i4", "|u1"), np.dtype("<i4")),
    ]
    if kind is None:
        return st.sampled_from(of_bytes)
    of_items = [(numcodecs.Shuffle(kind.itemsize), None)]
    if kind.kind == "b":
        of_items += [(numcodecs.PackBits(), np.dtype("u1"))]
        of_items += [(numcodecs.AsType("<f4", kind), np.dtype("<f4"))]
    elif kind.kind == "f":
        of_items += [(numcodecs.Quantize(2, kind, a), np.dtype(a)) for a in ("<f8", ">f4", kind)]
        of_items += [(numcodecs.AsType(">f8", kind), np.dtype(">f8"))]
        of_items += [(numcodecs.FixedScaleOffset(3, 8, kind, ">f8"), np.dtype(">f8"))]
        if kind.isnative:
            of_items += [(numcodecs.BitRound(5), None)]
    else:
        of_items += [(numcodecs.Delta(kind, a), np.dtype(a)) for a in (kind, ">i8", "<u2")]
        of_items += [(numcodecs.AsType(a, kind), np.dtype(a)) for a in ("<i8", ">f8", "|i1")]
        of_items += [(numcodecs.FixedScaleOffset(3, 8, kind, kind), kind)]
    return st.sampled_from([*of_items, *of_bytes[1:4]])


@given(chain=chains(), data=st.data())
@strategies.many
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_any_chain(chain, data):
    """Lossy filters may lose what those before them stand on: neither reader gives any then."""
    values, filters, compressor, order = chain
    codecs = [*filters, *(() if compressor is None else (compressor,))]
    content = store(encode(values, codecs, order), values, values.dtype, filters, compressor, order)
    array = vczc.open(content)["x"]
    try:
        stored = oracle.read(content)
    except Exception:
        with pytest.raises(vczc.CorruptChunkError):
            array[...]
        return
    oracle.assert_reads_as(array, stored)
    key = data.draw(st.tuples(*(st.integers(0, n - 1) for n in values.shape)))
    oracle.assert_same(array[key], stored.whole[key])
    oracle.assert_same(array[: key[0] + 1], stored.whole[: key[0] + 1])


def test_codecs_that_leave_bytes_where_they_lie_between_others():
    """Each decoder has a buffer of its own, also where checksums stand between two of them."""
    data = oracle.values("<i4", (3000,), style="small")
    sums = [numcodecs.CRC32(), numcodecs.Adler32("end"), numcodecs.get_codec({"id": "fletcher32"})]
    for n, inner, outer in itertools.product(
        range(4), (numcodecs.Shuffle(4), numcodecs.GZip(1)), (numcodecs.Zlib(1), numcodecs.Zstd(1))
    ):
        check(data, [numcodecs.Delta("<i4"), inner, *sums[:n], outer, *sums[:n]], outer)


def test_rows_of_filtered_chunks_one_by_one():
    data = numbers("<i2", (300, 40))
    stored = oracle.write(
        data, (100, 16), filters=[numcodecs.Delta("<i2")], compressors=numcodecs.Blosc("zstd", 1)
    )
    array = vczc.open(stored.content)["x"]
    for i in [*range(95, 105), 0, 299, 150]:
        oracle.assert_same(array[i], stored.whole[i])
        oracle.assert_same(array[i, 10:20], stored.whole[i, 10:20])
    oracle.assert_same(array[::7, 1::5], stored.whole[::7, 1::5])
    oracle.assert_same(array.oindex[[3, 250, 3], 5:9], stored.whole[[3, 250, 3], 5:9])
    out = np.full((100, 16), -1, "i2")
    assert array.blocks.read((1, 1), out=out) is not None
    oracle.assert_same(out, stored.whole[100:200, 16:32])


def test_text_under_filters_of_bytes():
    data = oracle.values(oracle.TEXT, (50,))
    filters = [
        numcodecs.VLenUTF8(),
        numcodecs.Delta("|u1"),
        numcodecs.CRC32(),
        numcodecs.Shuffle(1),
    ]
    chunk = data
    for codec in filters:
        chunk = codec.encode(chunk)
    whole = {"shape": [50], "chunks": [50], "dtype": "|O", "fill_value": ""}
    configs = [codec.get_config() for codec in filters]
    stored = oracle.read(oracle.by_hand({"0": bytes(chunk)}, filters=configs, **whole))
    assert vczc.open(stored.content)["x"][...].tolist() == data.tolist()
