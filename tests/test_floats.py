# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Every bit of a float comes through unchanged: payloads of NaN, signs of zero, subnormals."""

import itertools

import numcodecs
import numpy as np
import oracle
import pytest

import vczc

PATTERNS = {
    2: [0x7C01, 0x7C02, 0x7E00, 0xFE01, 0x7DFF, 0x7FFF, 0x0001, 0x8000, 0x03FF, 0x7C00, 0xFC00],
    4: [
        *(0x7F800001, 0x7F800002, 0x7FC00000, 0xFFC00001, 0x7FBFFFFF, 0xFF800001, 0x7FFFFFFF),
        *(0x00000001, 0x80000000, 0x007FFFFF, 0x7F800000, 0xFF800000, 0x3F800000),
    ],
    8: [
        *(0x7FF0000000000001, 0x7FF0000000000002, 0x7FF8000000000000, 0xFFF8000000000001),
        *(0x7FF7FFFFFFFFFFFF, 0xFFF0000000000001, 0x0000000000000001, 0x8000000000000000),
        *(0x000FFFFFFFFFFFFF, 0x7FF0000000000000, 0x3FF0000000000000),
    ],
}
COMPRESSORS = [None, *(numcodecs.Blosc("zstd", 5, shuffle) for shuffle in (0, 1, 2))]


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("size", [2, 4, 8])
def test_bits_come_through(tmp_path, size, order):
    bits = np.array(PATTERNS[size] * 40, f"u{size}")[: len(PATTERNS[size]) * 40 // 8 * 8]
    shape = (len(bits) // 8, 8)
    bits = bits.reshape(shape)
    raw = bits.astype(f"{order}u{size}")
    for compressor, kind in itertools.product(COMPRESSORS, oracle.KINDS):
        content = oracle.by_hand(
            {"0.0": raw.tobytes() if compressor is None else compressor.encode(raw)},
            shape=shape,
            chunks=shape,
            dtype=f"{order}f{size}",
            compressor=compressor and compressor.get_config(),
            fill_value="NaN",
        )
        array = vczc.open(oracle.source(content, kind, tmp_path))["x"]
        for got, expected in (
            (array.blocks[0, 0], bits),
            (array[...], bits),
            (array[3], bits[3]),
            (array[1:9:2, 5:], bits[1:9:2, 5:]),
            (array.oindex[[5, 0, 5], 1:3], bits[[5, 0, 5], 1:3]),
            (np.stack(list(array)), bits),
            (array.read(np.s_[:, 2], out=np.empty(shape[0], f"f{size}")), bits[:, 2]),
        ):
            assert got.dtype == np.dtype(f"f{size}")
            np.testing.assert_array_equal(got.view(f"u{size}"), expected)
        item = np.asarray(array[0, 1])
        assert item.view(f"u{size}") == bits[0, 1]


@pytest.mark.parametrize("size", [2, 4, 8])
@pytest.mark.parametrize("order", ["little", "big"])
def test_fill_values_of_format_3_by_their_bits(size, order):
    """zarr-python writes NaN alone; others write the bits, of which none may change."""
    whole = oracle.write(
        np.ones(4, f"{'<' if order == 'little' else '>'}f{size}"),
        (2,),
        zarr_format=3,
        fill_value=0.5,
    )
    content = {key: v for key, v in whole.content.items() if not oracle.is_chunk(key)}
    assert content["x/zarr.json"].count(b'"fill_value": 0.5') == 1
    for bits in PATTERNS[size]:
        text = f'"fill_value": "0x{bits:0{2 * size}x}"'
        document = content["x/zarr.json"].replace(b'"fill_value": 0.5', text.encode())
        array = vczc.open({**content, "x/zarr.json": document})["x"]
        assert array.blocks[1].view(f"u{size}").tolist() == [bits, bits]
        assert np.asarray(array.fill_value).view(f"u{size}") == bits


@pytest.mark.parametrize("zarr_format", oracle.FORMATS)
def test_missing_and_fill(zarr_format):
    for size, first in ((4, 0x7F800001), (8, 0x7FF0000000000001)):
        bits = np.array([first, first + 1, first + 2, 0], f"u{size}")
        stored = oracle.write(bits.view(f"f{size}"), (3,), zarr_format=zarr_format, fill_value=1.0)
        values = vczc.open(stored.content)["x"][...]
        assert vczc.is_missing(values).tolist() == [True, False, False, False]
        assert vczc.is_fill(values).tolist() == [False, True, False, False]


def test_halves_are_read_as_numpy_reads_them():
    """All 65,536 of them."""
    bits = np.arange(1 << 16, dtype="u2")
    for order in "<>":
        codec = numcodecs.Blosc("lz4", 1, 1)
        content = oracle.by_hand(
            {"0": codec.encode(bits.astype(f"{order}u2"))},
            shape=[1 << 16],
            chunks=[1 << 16],
            dtype=f"{order}f2",
            compressor=codec.get_config(),
        )
        got = vczc.open(content)["x"][...]
        assert got.dtype == np.float16
        np.testing.assert_array_equal(got.view("u2"), bits)


GROUP = vczc.open({".zgroup": b'{"zarr_format": 2}'})


@pytest.mark.parametrize("values", [GROUP, {}, None, object()], ids=lambda x: type(x).__name__)
def test_what_is_no_array_is_neither_missing_nor_fill(values):
    for ask in (vczc.is_missing, vczc.is_fill):
        with pytest.raises(TypeError, match=type(values).__name__):
            ask(values)
