# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Blocks by index and into the caller's memory."""

import array as array_module
import ctypes
import gc
import mmap
import sys

import numpy as np
import pytest
import stores

import vczc

DATA = np.arange(7 * 9 * 2, dtype="i4").reshape(7, 9, 2)


@pytest.fixture(params=[(f, k) for f in stores.FORMATS for k in stores.KINDS], ids=str)
def pair(request, tmp_path):
    """The same array of vczc and of zarr-python."""
    zarr_format, kind = request.param
    expected = stores.write(tmp_path / "d", "x", DATA, (3, 4, 2), zarr_format=zarr_format)
    return vczc.open(stores.source(tmp_path / "d", kind))["x"], expected


INDICES = [
    0,
    -1,
    2,
    (0, 0),
    (1, 2),
    (2, 2, 0),
    (-1, -1, -1),
    (0, 0, 0),
    slice(None),
    slice(0, 2),
    slice(1, 100),
    slice(-2, None),
    slice(1, 1),
    slice(1, -1),
    ...,
    (),
    (..., 0),
    (1, ...),
    (0, ..., 0),
    (slice(1, 3), 1),
    (1, slice(0, 2), 0),
    (slice(None), slice(1, 2)),
    np.int64(1),
    (np.uint8(1), np.int16(-1)),
    slice(np.int64(0), np.int64(1)),
    slice(0, 2, 1),
]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_as_zarr(pair, index):
    got, expected = pair[0].blocks[index], pair[1].blocks[index]
    assert type(got) is np.ndarray
    assert got.dtype == expected.dtype
    assert got.flags.c_contiguous
    assert got.flags.writeable
    assert got.shape == expected.shape
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(pair[0].blocks.read(index, threads=2), expected)


OUTSIDE = [
    3,
    -4,
    (0, 3),
    (0, 0, 1),
    (0, -4, 0),
    (0, 0, 0, 0),
    1 << 70,
    -(1 << 70),
    slice(3, 4),
    slice(-4, 1),
    slice(None, None, 2),
    slice(None, None, -1),
    True,
    None,
    1.0,
    "x",
    [0],
    (0, [0]),
    np.array(0),
    np.array([0]),
    (..., ...),
    np.True_,
]


@pytest.mark.parametrize("index", OUTSIDE, ids=str)
def test_refused_as_zarr_does(pair, index):
    with pytest.raises(IndexError):
        pair[1].blocks[index]
    with pytest.raises(IndexError):
        pair[0].blocks[index]
    with pytest.raises(IndexError):
        pair[0].blocks.read(index, out=np.empty(DATA.shape, "i4"))


def test_the_grid(pair):
    blocks = pair[0].blocks
    assert blocks.shape == pair[0].cdata_shape == (3, 3, 1)
    assert len(blocks) == 3
    for block, start in zip(blocks, range(0, 7, 3), strict=True):
        np.testing.assert_array_equal(block, DATA[start : start + 3])
    assert "x" in repr(blocks)


def test_each_block_equals_its_part(pair):
    for i in range(3):
        for j in range(3):
            part = DATA[3 * i : 3 * i + 3, 4 * j : 4 * j + 4]
            np.testing.assert_array_equal(pair[0].blocks[i, j], part)
            np.testing.assert_array_equal(pair[0].blocks[i - 3, j - 3, -1], part)


@pytest.mark.parametrize("zarr_format", stores.FORMATS)
def test_zero_dimensions(tmp_path, zarr_format):
    stores.write(tmp_path / "d", "x", np.int16(5), (), zarr_format=zarr_format)
    blocks = vczc.open(tmp_path / "d")["x"].blocks
    assert blocks.shape == ()
    for index in ((), ...):
        assert blocks[index].shape == ()
        assert blocks[index] == 5
    out = np.zeros((), "i2")
    assert blocks.read((), out=out) == out == 5
    with pytest.raises(IndexError):
        blocks[0]
    with pytest.raises(TypeError):
        len(blocks)


def test_an_empty_grid(tmp_path):
    stores.write(tmp_path / "d", "x", np.zeros((0, 5), "i2"), (3, 3))
    blocks = vczc.open(tmp_path / "d")["x"].blocks
    assert blocks.shape == (0, 2)
    assert blocks[...].shape == (0, 5)
    assert list(blocks) == []
    for index in (0, -1, (0, 0)):
        with pytest.raises(IndexError):
            blocks[index]


# ---- Into the caller's memory ----

NEEDED = 3 * 4 * 2 * 4
EDGE = DATA[6:, 8:]  # 1 × 1 × 2


def buffers(nbytes):
    yield np.full(nbytes // 4, -1, "i4")
    yield np.full((nbytes // 4, 1), -1, "i4")
    yield np.full(nbytes, 0xFF, "u1")  # plain memory
    yield bytearray(b"\xff" * nbytes)
    yield memoryview(bytearray(b"\xff" * nbytes))
    yield memoryview(np.full(nbytes // 4, -1, "i4"))
    yield array_module.array("i", [-1] * (nbytes // 4))
    yield (ctypes.c_int32 * (nbytes // 4))(*[-1] * (nbytes // 4))
    yield (ctypes.c_char * nbytes).from_buffer_copy(b"\xff" * nbytes)
    mapped = mmap.mmap(-1, nbytes)
    mapped.write(b"\xff" * nbytes)
    yield mapped


@pytest.mark.parametrize("index", [(0, 0), (2, 2), (0, 2), (1, 1, 0)], ids=str)
@pytest.mark.parametrize("extra", [0, 64])
def test_out_holds_the_block_and_nothing_else(pair, index, extra):
    expected = pair[1].blocks[index]
    for out in buffers(NEEDED + extra):
        view = pair[0].blocks.read(index, out=out)
        raw = np.frombuffer(out, "u1")
        assert view.shape == expected.shape
        assert view.dtype == expected.dtype
        assert view.flags.c_contiguous
        assert view.flags.writeable
        assert np.shares_memory(view, raw)
        np.testing.assert_array_equal(view, expected)
        assert raw[: expected.nbytes].tobytes() == expected.tobytes()
        assert (raw[expected.nbytes :] == 0xFF).all()


def test_the_base_of_a_view_is_out(pair):
    out = np.empty(100, "i4")
    assert pair[0].blocks.read((0, 0), out=out).base is out
    part = out[10:80]
    view = pair[0].blocks.read((0, 0), out=part)
    assert np.shares_memory(view, part)
    assert not np.shares_memory(view, out[:10])
    np.testing.assert_array_equal(view, DATA[:3, :4])


def test_no_more_than_a_view_is_allocated(pair):
    out = np.empty((3, 4, 2), "i4")
    view = pair[0].blocks.read((0, 0), out=out)
    assert not view.flags.owndata
    count = sys.getrefcount(out)
    del view
    assert sys.getrefcount(out) == count - 1


def test_memory_outlives_its_names(pair):
    out = bytearray(NEEDED)
    view = pair[0].blocks.read((0, 0), out=out)
    with pytest.raises(BufferError):
        out.clear()
    del out
    gc.collect()
    np.testing.assert_array_equal(view, DATA[:3, :4])


def test_memory_that_is_not_aligned(pair):
    memory = np.zeros(NEEDED + 1, "u1")
    view = pair[0].blocks.read((0, 0), out=memory[1:])
    assert not view.flags.aligned
    np.testing.assert_array_equal(view, DATA[:3, :4])


def read_only():
    out = np.zeros((3, 4, 2), "i4")
    out.flags.writeable = False
    return out


@pytest.mark.parametrize(
    ("out", "why"),
    [
        (np.zeros(23, "i4"), "bytes"),
        (bytearray(NEEDED - 1), "bytes"),
        (read_only(), "read-only"),
        (bytes(NEEDED), "read-only"),
        (memoryview(bytes(NEEDED)), "read-only"),
        (np.zeros((3, 4, 2), "i4", order="F"), "contiguous"),
        (np.zeros((3, 4, 4), "i4")[:, :, ::2], "contiguous"),
        (memoryview(bytearray(2 * NEEDED))[::2], "contiguous"),
        (np.zeros((3, 4, 2), "f4"), "float32"),
        (np.zeros((3, 4, 2), "u4"), "uint32"),
        (np.zeros((3, 4, 2), "i8"), "int64"),
        (np.zeros((3, 4, 2), ">i4"), ">i4"),
        (np.zeros(NEEDED, "?"), "bool"),
        (np.zeros((3, 4, 2), object), "object"),
        (np.empty((3, 4, 2), np.dtypes.StringDType()), "StringDType"),
        (array_module.array("f", [0] * 24), "float32"),
        ([0] * 24, "buffer"),
        ("text", "buffer"),
        (object(), "buffer"),
    ],
    ids=str,
)
def test_out_that_does_not_fit(pair, out, why):
    for index in ((0, 0), (0, 0, 0), (slice(0, 1), 0)):
        with pytest.raises(vczc.BufferError, match=why) as caught:
            pair[0].blocks.read(index, out=out)
        assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("dtype", "fits", "does_not"),
    [
        ("i1", ("i1",), ("u1", "?", "S1")),
        ("u1", ("u1",), ("i1", "?", "S1")),
        ("?", ("?",), ("u1", "i1")),
        ("f4", ("f4", "u1"), ("i4", "f8")),
        ("S3", ("S3", "u1"), ("S2", "U3", "f4")),
        ("U3", ("U3", "u1"), ("S12", "U2")),
    ],
)
def test_item_types(tmp_path, dtype, fits, does_not):
    data = np.ones(5, dtype)
    stores.write(tmp_path / "d", "x", data, (5,))
    blocks = vczc.open(tmp_path / "d")["x"].blocks
    for other in fits:
        out = np.zeros(data.nbytes // np.dtype(other).itemsize, other)
        np.testing.assert_array_equal(blocks.read(0, out=out), data)
    for other in does_not:
        with pytest.raises(vczc.BufferError):
            blocks.read(0, out=np.zeros(100, other))
    np.testing.assert_array_equal(blocks.read(0, out=bytearray(data.nbytes)), data)


def test_several_blocks_into_out(pair):
    out = np.full((6, 9, 2), -1, "i4")
    view = pair[0].blocks.read(slice(0, 2), out=out)
    assert np.shares_memory(view, out)
    np.testing.assert_array_equal(out, DATA[:6])
    with pytest.raises(vczc.BufferError):
        pair[0].blocks.read(slice(0, 3), out=out)


def test_threads(pair):
    for threads in (1, 2, np.int64(3)):
        np.testing.assert_array_equal(pair[0].blocks.read((1, 1), threads=threads), DATA[3:6, 4:8])
    for threads in (0, -1):
        with pytest.raises(ValueError, match="threads"):
            pair[0].blocks.read((1, 1), threads=threads)


# ---- Stored bytes, read-ahead ----


def test_stored_bytes(pair, tmp_path):
    blocks = pair[0].blocks
    files = stores.mapped(tmp_path / "d")
    for coords in np.ndindex(*blocks.shape):
        joined = "/".join(map(str, coords))
        key = f"x/c/{joined}" if f"x/c/{joined}" in files else f"x/{joined.replace('/', '.')}"
        stored = blocks.stored(coords)
        assert isinstance(stored, memoryview)
        assert stored.readonly
        assert stored == files[key]
    assert blocks.stored((-1, -1)) == blocks.stored((2, 2, 0))
    for index in (..., 0, (3, 0), (0, 0, 0, 0)):
        with pytest.raises(IndexError):
            blocks.stored(index)


def test_stored_bytes_outlive_everything(pair):
    array = pair[0]
    stored = array.blocks.stored((0, 0))
    content = bytes(stored)
    store = array.store
    del array
    store.close()
    gc.collect()
    assert stored == content


def test_an_absent_chunk(tmp_path):
    expected = stores.write(tmp_path / "d", "x", np.arange(10, dtype="i4"), (4,), fill_value=7)
    (tmp_path / "d" / "x" / "1").unlink()
    for kind in stores.KINDS:
        array = vczc.open(stores.source(tmp_path / "d", kind))["x"]
        assert array.blocks.stored(1) is None
        assert array.nchunks_initialized == 2
        np.testing.assert_array_equal(array.blocks[1], [7, 7, 7, 7])
        np.testing.assert_array_equal(array[...], expected[...])


def test_prefetch_changes_nothing(pair):
    blocks = pair[0].blocks
    blocks.prefetch([(0, 0), 1, slice(0, 2), ...])
    np.testing.assert_array_equal(blocks[1, 1], DATA[3:6, 4:8])
    with pytest.raises(IndexError):
        blocks.prefetch([(3, 0)])


@pytest.mark.parametrize("zarr_format", stores.FORMATS)
def test_results_are_apart(pair, zarr_format):
    first, second = pair[0].blocks[0, 0], pair[0].blocks[0, 0]
    first[...] = -5
    np.testing.assert_array_equal(second, DATA[:3, :4])
    np.testing.assert_array_equal(pair[0].blocks[0, 0], DATA[:3, :4])
