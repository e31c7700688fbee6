# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Selections of items: basic, orthogonal, into the caller's memory, row by row."""

import json

import numpy as np
import pytest
import stores
from hypothesis import given, settings
from hypothesis import strategies as st

import vczc

DATA = np.arange(11 * 7 * 2, dtype="i4").reshape(11, 7, 2)


@pytest.fixture(params=[(f, k) for f in stores.FORMATS for k in stores.KINDS], ids=str)
def pair(request, tmp_path):
    zarr_format, kind = request.param
    expected = stores.write(tmp_path / "d", "x", DATA, (4, 3, 2), zarr_format=zarr_format)
    return vczc.open(stores.source(tmp_path / "d", kind))["x"], expected


BASIC = [
    0,
    -1,
    10,
    np.int64(3),
    np.uint8(3),
    (1, 2),
    (1, 2, 1),
    (-1, -1, -1),
    (3, ...),
    (..., 1),
    (1, 2, 1, ...),
    ...,
    (),
    slice(None),
    slice(2, 9),
    slice(-3, None),
    slice(None, None, 3),
    slice(1, 10, 4),
    slice(5, 2),
    slice(11, 20),
    slice(100, 200),
    slice(-100, 3),
    slice(0, 11, 10**30),
    slice(np.int64(1), np.int32(4)),
    (slice(2, 9), 3),
    (slice(None), slice(1, 6, 2), 0),
    (slice(None, None, 5), ..., slice(1, None)),
    (5, slice(0, 0)),
]


@pytest.mark.parametrize("key", BASIC, ids=str)
def test_basic_as_zarr(pair, key):
    got, expected = pair[0][key], pair[1][key]
    assert type(got) is type(expected)
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape == DATA[key].shape
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(got, DATA[key])
    np.testing.assert_array_equal(pair[0].read(key, threads=2), expected)


@pytest.mark.parametrize(
    "key",
    [
        11,
        -12,
        (0, 7),
        (0, 0, 0, 0),
        1 << 70,
        slice(None, None, -1),
        slice(9, 2, -1),
        None,
        (0, None),
        1.0,
        "x",
        (..., ...),
        (..., 0, 0, 0, 0),
    ],
    ids=str,
)
def test_basic_refused_as_zarr_does(pair, key):
    with pytest.raises(IndexError):
        pair[1][key]
    with pytest.raises(IndexError):
        pair[0][key]


def test_a_step_of_zero(pair):
    for array in pair:
        with pytest.raises(ValueError, match="zero"):
            array[::0]


@pytest.mark.parametrize(
    "key", [[1, 2], np.array([1, 2]), True, np.ones(11, bool), (0, [1])], ids=str
)
def test_arrays_and_masks_are_sent_to_oindex(pair, key):
    with pytest.raises(IndexError, match=r"use \.oindex\[\.\.\.\]"):
        pair[0][key]


@pytest.mark.parametrize("zarr_format", stores.FORMATS)
def test_zero_dimensions(tmp_path, zarr_format):
    expected = stores.write(tmp_path / "d", "x", np.float32(2.5), (), zarr_format=zarr_format)
    array = vczc.open(tmp_path / "d")["x"]
    for key in ((), ...):
        assert type(array[key]) is type(expected[key]) is np.float32
        assert array[key] == 2.5
    assert np.asarray(array).shape == ()
    assert array.oindex[()].shape == ()
    out = np.zeros((), "f4")
    assert array.read((), out=out) is out
    assert out == 2.5
    with pytest.raises(IndexError):
        array[0]
    for call in (len, iter, list):
        with pytest.raises(TypeError):
            call(array)


# ---- Orthogonal ----

MASK = np.array([1, 0, 1, 1, 0, 0, 1], bool)
ORTHOGONAL = [
    0,
    -1,
    (1, 2, 1),
    ...,
    (),
    slice(2, 9, 3),
    [1, 2],
    [10, 0, 5, 5, 0],
    [-1, -11, 3],
    np.array([3], "i1"),
    np.array([], "i8"),
    ([0, 10], [0, 6]),
    ([10, 0], slice(None), 1),
    (slice(None), MASK),
    (slice(1, 10, 2), MASK, [1]),
    (3, MASK),
    ([4, 4, 3], MASK, [1, 0, 1]),
    (..., [1, 0]),
    ([7], ..., 0),
    (np.arange(11), np.arange(7), np.arange(2)),
    (np.arange(0, 11, 3), MASK),
    (np.arange(10, -1, -1),),
    (np.ones(11, bool), np.zeros(7, bool)),
    [True] * 11,
    (slice(None), np.zeros(7, bool), 0),
]


@pytest.mark.parametrize("key", ORTHOGONAL, ids=str)
def test_orthogonal_as_zarr(pair, key):
    got, expected = pair[0].oindex[key], pair[1].oindex[key]
    assert type(got) is type(expected)
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(
    "key",
    [
        11,
        [11],
        [0, -12],
        np.array([2**63], "u8"),
        (slice(None), np.ones(6, bool)),
        (slice(None), np.ones(8, bool)),
        np.ones((11, 7), bool),
        [1.5],
        [[1]],
        np.array(1),
        ["a"],
        None,
        slice(None, None, -1),
        (0, 0, 0, 0),
    ],
    ids=str,
)
def test_orthogonal_refused_as_zarr_does(pair, key):
    with pytest.raises(IndexError):
        pair[1].oindex[key]
    with pytest.raises(IndexError):
        pair[0].oindex[key]


def test_unsigned_integers(pair):
    np.testing.assert_array_equal(pair[0].oindex[np.array([10, 0], "u8")], DATA[[10, 0]])


def test_an_empty_list_selects_nothing(pair):
    assert pair[0].oindex[[]].shape == (0, 7, 2)


def test_boxes_are_bounded(pair, monkeypatch):
    """Whatever the bound, the result is the same, and no chunk of the cut axis is read twice."""
    from vczc import reading

    boxes = []
    read_box = reading.read_box
    monkeypatch.setattr(
        reading, "read_box", lambda a, b, *more: boxes.append(b) or read_box(a, b, *more)
    )
    key = (slice(1, 10, 2), [6, 0, 3, 3])
    for bound, nparts in ((1, 3), (100, 2), (1 << 20, 1)):
        monkeypatch.setattr(reading, "_MAX_BOX_NBYTES", bound)
        boxes.clear()
        np.testing.assert_array_equal(pair[0].oindex[key], pair[1].oindex[key])
        assert len(boxes) == 3 * nparts
        assert len({(b.start, b.stop) for b in boxes}) == len(boxes)


def test_an_index_is_not_changed(pair):
    index = np.array([-1, 2])
    _ = pair[0].oindex[index]
    assert index.tolist() == [-1, 2]


# ---- Into the caller's memory ----


@pytest.mark.parametrize("key", BASIC, ids=str)
def test_out_of_the_right_shape(pair, key):
    expected = DATA[key]
    for make in (np.full, lambda *a: np.full(*a, order="F")):
        out = make(expected.shape, -1, "i4")
        assert pair[0].read(key, out=out) is out
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(
    "key", [..., slice(2, 9), (slice(None, None, 2), 3), (1, 2), (1, 2, 1)], ids=str
)
def test_out_with_strides(pair, key):
    expected = DATA[key]
    memory = np.full(tuple(2 * n + 3 for n in expected.shape), -1, "i4")
    out = memory[(..., *[slice(1, 1 + 2 * n, 2) for n in expected.shape])]
    assert pair[0].read(key, out=out) is out
    np.testing.assert_array_equal(out, expected)
    out[...] = -1
    assert (memory == -1).all()
    if expected.ndim:
        backwards = np.full(expected.shape, -1, "i4")[::-1]
        pair[0].read(key, out=backwards)
        np.testing.assert_array_equal(backwards, expected)
        across = np.full(expected.shape[::-1], -1, "i4").T
        pair[0].read(key, out=across)
        np.testing.assert_array_equal(across, expected)


def test_out_that_is_a_buffer(pair):
    expected = DATA[2:9, 3]
    for out in (bytearray(expected.nbytes + 5), np.zeros(100, "i4"), np.zeros(1000, "u1")):
        view = pair[0].read(np.s_[2:9, 3], out=out)
        assert view.shape == expected.shape
        assert np.shares_memory(view, np.frombuffer(out, "u1"))
        np.testing.assert_array_equal(view, expected)


@pytest.mark.parametrize(
    "out",
    [
        np.zeros((11, 7, 1), "i4"),
        np.zeros((11, 7, 2), "f4"),
        np.zeros((11, 7, 2), ">i4"),
        np.zeros((11, 14, 2), "i4")[:, ::2][:10],
        np.broadcast_to(np.zeros((1, 7, 2), "i4"), (11, 7, 2)),
        np.lib.stride_tricks.as_strided(np.zeros(14, "i4"), (11, 7, 2), (0, 8, 4)),
        bytearray(615),
        bytes(1000),
        3,
    ],
    ids=repr,
)
def test_out_that_does_not_fit(pair, out):
    with pytest.raises(vczc.BufferError):
        pair[0].read(..., out=out)


# ---- As NumPy sees it ----


def test_asarray(pair):
    array = pair[0]
    np.testing.assert_array_equal(np.asarray(array), DATA)
    assert np.asarray(array, "f8").dtype == np.float64
    assert np.array(array, copy=True).flags.writeable
    with pytest.raises(ValueError, match="copy"):
        np.asarray(array, copy=False)
    assert int(np.sum(array)) == int(DATA.sum())
    assert len(array) == 11


def test_rows(pair):
    rows = list(pair[0])
    assert len(rows) == 11
    for row, expected in zip(rows, DATA, strict=True):
        np.testing.assert_array_equal(row, expected)
        assert row.base is None
    rows[0][...] = -1
    np.testing.assert_array_equal(pair[0][0], DATA[0])


def test_rows_decode_each_chunk_once(tmp_path):
    stores.write(tmp_path / "d", "x", DATA, (4, 3, 2))

    class Counting(dict):
        def __getitem__(self, key):
            gets.append(key)
            return super().__getitem__(key)

    gets = []
    array = vczc.open(Counting(stores.mapped(tmp_path / "d")))["x"]
    gets.clear()
    list(array)
    assert sorted(gets) == sorted(f"x/{i}.{j}.0" for i in range(3) for j in range(3)) or sorted(
        gets
    ) == sorted(f"x/{i}/{j}/0" for i in range(3) for j in range(3))


class Counting(dict):
    """A store that knows which chunks were asked for."""

    def __init__(self, content):
        super().__init__(content)
        self.asked = []

    def __getitem__(self, key):
        if key[-1].isdigit():
            self.asked.append(tuple(map(int, key.replace("/", ".").split(".")[1:])))
        return super().__getitem__(key)


@pytest.fixture(scope="module")
def counting(tmp_path_factory):
    path = tmp_path_factory.mktemp("counting")
    stores.write(path / "d", "x", DATA, (4, 3, 2))
    return Counting(stores.mapped(path / "d"))


def places(n):
    """What an axis of `n` is selected by, with or without arrays."""
    index = st.integers(-n, n - 1)
    end = st.none() | st.integers(-2 * n, 2 * n)
    basic = index | st.builds(slice, end, end, st.none() | st.integers(1, 2 * n))
    mask = st.lists(st.booleans(), min_size=n, max_size=n).map(np.array)
    return basic, basic | st.lists(index, max_size=2 * n) | mask


@settings(max_examples=300)
@given(st.data())
def test_only_chunks_that_hold_the_answer_are_read_and_once(counting, data):
    array = vczc.open(counting)["x"]
    is_basic = data.draw(st.booleans())
    key = tuple(data.draw(places(n)[not is_basic]) for n in DATA.shape)
    numbers = [
        np.atleast_1d(np.arange(n)[np.array(k, int) if isinstance(k, list) else k])
        for k, n in zip(key, DATA.shape, strict=True)
    ]
    counting.asked.clear()
    got = array[key] if is_basic else array.oindex[key]
    expected = DATA[np.ix_(*[np.asarray(i, int) for i in numbers])]
    assert np.array_equal(got.ravel(), expected.ravel())
    touched = [{int(i) // c for i in axis} for axis, c in zip(numbers, (4, 3, 2), strict=True)]
    wanted = [(i, j, k) for i in touched[0] for j in touched[1] for k in touched[2]]
    assert sorted(counting.asked) == sorted(wanted)


def test_items_of_one_dimension(tmp_path):
    stores.write(tmp_path / "d", "x", np.arange(10, dtype="i8"), (3,))
    items = list(vczc.open(tmp_path / "d")["x"])
    assert items == list(range(10))
    assert {i: str(i) for i in items}[np.int64(3)] == "3"  # they can be looked up


@pytest.mark.parametrize("zarr_format", stores.FORMATS)
@pytest.mark.parametrize("chunks", ["long", "as the shape"])
@pytest.mark.parametrize("shape", [(0,), (0, 4), (5, 0)])
def test_empty_arrays(tmp_path, shape, chunks, zarr_format):
    chunks = shape if chunks == "as the shape" else tuple(3 for _ in shape)
    dims = ["variants", "samples"][: len(shape)]
    how = {"attributes": {"_ARRAY_DIMENSIONS": dims}} if zarr_format == 2 else {}
    how |= {"dimension_names": dims} if zarr_format == 3 else {}
    zeros = np.zeros(shape, "i4")
    threes = tuple(3 for _ in shape)
    stores.write(tmp_path / "d", "x", zeros, threes, zarr_format=zarr_format, **how)
    if chunks != threes:  # as zarr-python 3.1 writes it, and later ones do not
        path = tmp_path / "d/x" / (".zarray" if zarr_format == 2 else "zarr.json")
        document = json.loads(path.read_text())
        grid = document if zarr_format == 2 else document["chunk_grid"]["configuration"]
        grid["chunks" if zarr_format == 2 else "chunk_shape"] = list(chunks)
        path.write_text(json.dumps(document))
    array = vczc.open(tmp_path / "d")["x"]
    grid = tuple(0 if n == 0 else -(-n // c) for n, c in zip(shape, chunks, strict=True))
    assert (array.chunks, array.cdata_shape) == (chunks, grid)
    assert (array.chunk_size, array.nchunks) == (tuple(map(min, chunks, shape)), 0)
    assert array.blocks[...].shape == shape
    assert sum(len(p.index) for p in vczc.stream(vczc.open(tmp_path / "d"), "x")) == shape[0]
    assert array.oindex[[], ...].shape == (0, *shape[1:])
    for key in (..., slice(0, 2), slice(None, None, 3)):
        assert array[key].shape == np.zeros(shape)[key].shape
        assert array.oindex[key].shape == np.zeros(shape)[key].shape
    out = np.zeros(shape, "i4")
    assert array.read(..., out=out) is out
    assert len(list(array)) == shape[0]


def test_an_item_of_an_array_as_an_index(pair):
    """One item comes as a 0-d array, as zarr-python gives it: it selects like the integer."""
    for i in (np.array(2), np.array(-1, "i1"), np.array(3, "u8")):
        np.testing.assert_array_equal(pair[0][i], pair[0][int(i)])
        np.testing.assert_array_equal(pair[0][:, i], pair[0][:, int(i)])
    for i in (np.array(1.0), np.array(True)):
        with pytest.raises(IndexError):
            pair[0][i]
