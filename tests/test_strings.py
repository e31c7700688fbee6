# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Text in every form that it comes back in, and VCF's missing and fill values."""

import ctypes
import gc

import numpy as np
import pytest
import stores
import zarr
from numcodecs import VLenBytes

import vczc

WORDS = ["A", "", "C" * 31, "é", "日本語", "🧬", ".", "x" * 300, "a b", "tab\t"]
TEXT = np.array((WORDS * 3)[:28], object).reshape(7, 4)
StringDType = np.dtypes.StringDType


@pytest.fixture(params=[(f, k) for f in stores.FORMATS for k in stores.KINDS], ids=str)
def source(request, tmp_path):
    zarr_format, kind = request.param
    stores.write(tmp_path / "d", "s", TEXT, (3, 2), zarr_format=zarr_format)
    return stores.source(tmp_path / "d", kind)


KEYS = [
    ...,
    slice(1, 6),
    (slice(None, None, 2), 1),
    (5, slice(1, None)),
    (slice(0, 0), ...),
    3,
    (2, 3),
]


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("strings", ["numpy", "object", "bytes"])
def test_modes(source, strings, key):
    array = vczc.open(source, strings=strings)["s"]
    got, expected = array[key], np.asarray(TEXT[key], object)
    assert got.shape == expected.shape
    if strings == "numpy":
        assert got.dtype == array.dtype == StringDType()
        assert got.tolist() == expected.tolist()
    elif strings == "object":
        assert got.dtype == array.dtype == object
        assert all(type(item) is str for item in got.ravel().tolist())
        assert got.tolist() == expected.tolist()
    else:
        assert array.dtype == np.dtype("S")
        widths = [len(item.encode()) for item in expected.ravel()]
        assert got.dtype == f"S{max([1, *widths])}"
        assert [item.decode() for item in got.ravel().tolist()] == expected.ravel().tolist()


@pytest.mark.parametrize(
    "index", [(0, 0), (2, 1), 0, (slice(None), -1), ..., (2, slice(0, 2))], ids=str
)
@pytest.mark.parametrize("strings", ["numpy", "object", "bytes"])
def test_blocks(source, tmp_path, strings, index):
    expected = zarr.open_array(str(tmp_path / "d" / "s"), mode="r").blocks[index]
    for got in (
        vczc.open(source, strings=strings)["s"].blocks[index],
        vczc.open(source, strings=strings)["s"].blocks.read(index, threads=2),
    ):
        assert got.shape == expected.shape
        texts = [t.decode() if isinstance(t, bytes) else t for t in got.ravel().tolist()]
        assert texts == expected.ravel().tolist()


@pytest.mark.parametrize(
    "key", [([6, 0, 0], [3, 1]), (slice(None), [1, 0]), ([], [0]), (-1, [2])], ids=str
)
@pytest.mark.parametrize("strings", ["numpy", "object", "bytes"])
def test_orthogonal(source, strings, key):
    array = vczc.open(source, strings=strings)["s"]
    got = array.oindex[key]
    rows, columns = (
        np.atleast_1d(np.arange(n)[np.array(k, "i8") if isinstance(k, list) else k])
        for k, n in zip(key, TEXT.shape, strict=True)
    )
    expected = TEXT[np.ix_(rows, columns)]
    expected = expected[0] if isinstance(key[0], int) else expected
    assert got.shape == expected.shape
    assert got.dtype.kind == {"numpy": "T", "object": "O", "bytes": "S"}[strings]
    texts = [t.decode() if isinstance(t, bytes) else t for t in got.ravel().tolist()]
    assert texts == expected.ravel().tolist()


def test_rows(source):
    for row, expected in zip(vczc.open(source)["s"], TEXT, strict=True):
        assert row.tolist() == expected.tolist()
        assert row.base is None


def test_items(tmp_path):
    stores.write(tmp_path / "d", "s", np.array(WORDS, object), (3,))
    for strings, kind in (("numpy", str), ("object", str), ("bytes", bytes)):
        items = list(vczc.open(tmp_path / "d", strings=strings)["s"])
        assert all(isinstance(item, kind) for item in items)
        assert len(items) == len(WORDS)


def test_results_do_not_share_an_allocator(source):
    """NumPy does not protect one that two arrays share."""
    array = vczc.open(source)["s"]
    results = [array[...], array[...], array[2:5], array.blocks[0, 0], *array, array.oindex[[0, 1]]]
    assert len({id(result.dtype) for result in results}) == len(results)
    results[0][...] = "changed to something long enough to be on the heap"
    assert results[1].tolist() == TEXT.tolist()


# ---- Into the caller's memory ----


@pytest.mark.parametrize("strings", ["numpy", "object", "bytes"])
def test_out(source, strings):
    array = vczc.open(source, strings=strings)["s"]
    out = np.full((3, 2), "something that was there before, and is longer", StringDType())
    view = array.blocks.read((0, 0), out=out)
    assert view.shape == (3, 2)
    assert np.shares_memory(view, out)
    assert out.tolist() == TEXT[:3, :2].tolist()
    edge = array.blocks.read((2, 1), out=out)
    assert edge.tolist() == TEXT[6:, 2:].tolist()
    assert out.ravel()[:2].tolist() == TEXT[6, 2:].tolist()
    whole = np.empty(TEXT.shape, StringDType())
    assert array.read(..., out=whole).tolist() == whole.tolist() == TEXT.tolist()


def test_out_that_does_not_fit(source):
    array = vczc.open(source)["s"]
    locked = np.empty((3, 2), StringDType())
    locked.flags.writeable = False
    for out in (
        np.empty((3, 2), object),
        np.empty((3, 2), "U300"),
        np.empty((3, 2), "S300"),
        bytearray(1000),
        np.empty((2, 2), StringDType()),
        np.empty((3, 2), StringDType(), order="F"),
        locked,
    ):
        with pytest.raises(vczc.BufferError):
            array.blocks.read((0, 0), out=out)
        with pytest.raises(vczc.BufferError):
            array.read(np.s_[:3, :2], out=out)


# ---- Bytes of variable length ----


@pytest.mark.filterwarnings("ignore")
def test_bytes(tmp_path):
    items = [b"A", b"", b"\xff\x00\xfe", b"long" * 100, b"\0"]
    data = np.empty(5, object)
    data[:] = items
    here = tmp_path / "d" / "b"
    here.mkdir(parents=True)
    (tmp_path / "d" / ".zgroup").write_text('{"zarr_format": 2}')
    (here / ".zarray").write_text(
        '{"zarr_format": 2, "shape": [5], "chunks": [5], "dtype": "|O", "compressor": null,'
        ' "fill_value": null, "order": "C", "filters": [{"id": "vlen-bytes"}]}'
    )
    (here / "0").write_bytes(VLenBytes().encode(data))
    for strings in ("numpy", "object", "bytes"):
        array = vczc.open(tmp_path / "d", strings=strings)["b"]
        assert array.dtype == object
        assert array[...].tolist() == array.blocks[0].tolist() == items
        assert array.oindex[[4, 0]].tolist() == [items[4], items[0]]
        with pytest.raises(vczc.BufferError):
            array.read(..., out=np.empty(5, object))
    block = array.blocks.strings(0)
    assert bytes(block.data) == b"".join(items)


# ---- Offsets and bytes; Arrow ----


def test_offsets_and_data(source):
    array = vczc.open(source)["s"]
    for i, j in np.ndindex(3, 2):
        block = array.blocks.strings((i, j))
        expected = TEXT[3 * i : 3 * i + 3, 2 * j : 2 * j + 2]
        assert block.shape == expected.shape
        assert len(block) == expected.size
        assert block.offsets.dtype == np.int64
        assert block.data.dtype == np.uint8
        texts = [
            bytes(block.data[start:stop]).decode()
            for start, stop in zip(block.offsets[:-1], block.offsets[1:], strict=True)
        ]
        assert texts == expected.ravel().tolist()
    with pytest.raises(IndexError):
        array.blocks.strings((3, 0))
    with pytest.raises(IndexError):
        array.blocks.strings(0)


def test_strings_outlive_their_block(source):
    block = vczc.open(source)["s"].blocks.strings((0, 0))
    offsets, data = block.offsets, block.data
    del block
    gc.collect()
    assert bytes(data[: offsets[1]]).decode() == TEXT[0, 0]


def test_numbers_are_no_strings(tmp_path):
    stores.write(tmp_path / "d", "x", np.arange(3), (3,))
    with pytest.raises(TypeError, match="int64"):
        vczc.open(tmp_path / "d")["x"].blocks.strings(0)


class Schema(ctypes.Structure):
    _fields_ = [
        ("format", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("metadata", ctypes.c_char_p),
        ("flags", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("children", ctypes.c_void_p),
        ("dictionary", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    ]


class Array(ctypes.Structure):
    _fields_ = [
        ("length", ctypes.c_int64),
        ("null_count", ctypes.c_int64),
        ("offset", ctypes.c_int64),
        ("n_buffers", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("buffers", ctypes.POINTER(ctypes.c_void_p)),
        ("children", ctypes.c_void_p),
        ("dictionary", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    ]


def pointed_at(capsule, name, kind):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return kind.from_address(get(capsule, name))


def test_arrow(source):
    block = vczc.open(source)["s"].blocks.strings((0, 0))
    capsules = block.__arrow_c_array__()
    schema = pointed_at(capsules[0], b"arrow_schema", Schema)
    array = pointed_at(capsules[1], b"arrow_array", Array)
    assert schema.format == b"U"
    assert (array.length, array.null_count, array.offset, array.n_buffers) == (6, 0, 0, 3)
    del block
    gc.collect()
    assert array.buffers[0] is None
    offsets = (ctypes.c_int64 * 7).from_address(array.buffers[1])
    data = ctypes.string_at(array.buffers[2], offsets[6])
    texts = [data[offsets[i] : offsets[i + 1]].decode() for i in range(6)]
    assert texts == TEXT[:3, :2].ravel().tolist()
    # A consumer moves the content out and releases it when it likes.
    release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(array.release)
    release(ctypes.addressof(array))
    assert array.release is None
    del capsules
    gc.collect()


def test_arrow_schema_alone(source):
    block = vczc.open(source)["s"].blocks.strings((0, 0))
    schema = block.__arrow_c_schema__()
    assert pointed_at(schema, b"arrow_schema", Schema).format == b"U"


def test_arrow_columns_with_children():
    from vczc import _arrow

    values = np.arange(6, dtype="i4")
    child = _arrow.Column("i", 6, (None, values), name="item")
    column = _arrow.Column("+w:2", 3, (None,), name="pairs", children=(child,))
    schema, array = _arrow.export_schema(column), _arrow.export_array(column)
    del child, column, values
    gc.collect()
    outer = pointed_at(array, b"arrow_array", Array)
    assert (outer.length, outer.n_children, outer.n_buffers) == (3, 1, 1)
    inner = Array.from_address(ctypes.c_void_p.from_address(outer.children).value)
    assert list((ctypes.c_int32 * 6).from_address(inner.buffers[1])) == list(range(6))
    assert pointed_at(schema, b"arrow_schema", Schema).name == b"pairs"
    with pytest.raises(ValueError, match="contiguous"):
        _arrow.Column("i", 3, (None, np.arange(6)[::2]))
    with pytest.raises(TypeError):
        _arrow.Column("i", 3, (None, b"bytes"))


# ---- Missing and fill ----

FLOATS = {
    "f2": ("u2", [0x7C01, 0x7C02, 0x3C00, 0x7E00, 0xFE01, 0x7C00]),
    "f4": ("u4", [0x7F800001, 0x7F800002, 0x3F800000, 0x7FC00000, 0xFF800001, 0x7F800000]),
    "f8": (
        "u8",
        [
            0x7FF0000000000001,
            0x7FF0000000000002,
            0x3FF0000000000000,
            0x7FF8000000000000,
            0xFFF0000000000001,
            0x7FF0000000000000,
        ],
    ),
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("order", ["<", ">"])
def test_missing_floats(dtype, order):
    unsigned, bits = FLOATS[dtype]
    values = np.array(bits, order + unsigned).view(order + dtype)
    assert vczc.is_missing(values).tolist() == [True] + [False] * 5
    assert vczc.is_fill(values).tolist() == [False, True] + [False] * 4
    assert vczc.is_missing(values[::2]).tolist() == [True, False, False]
    assert vczc.is_missing(values.reshape(2, 3)).shape == (2, 3)


@pytest.mark.parametrize(
    ("values", "missing", "fill"),
    [
        (np.array([-1, -2, 0, 1], "i1"), [1, 0, 0, 0], [0, 1, 0, 0]),
        (np.array([-1, -2, 0, 1], ">i8"), [1, 0, 0, 0], [0, 1, 0, 0]),
        (np.array([255, 254, 0], "u1"), [0, 0, 0], [0, 0, 0]),
        (np.array([True, False]), [0, 0], [0, 0]),
        (np.array([".", "", "A"], "U3"), [1, 0, 0], [0, 1, 0]),
        (np.array([b".", b"", b"A"], "S3"), [1, 0, 0], [0, 1, 0]),
        (np.array([".", "", "A", b".", b""], object), [1, 0, 0, 1, 0], [0, 1, 0, 0, 1]),
        (np.array([".", "", "A"], StringDType()), [1, 0, 0], [0, 1, 0]),
        ([".", "x"], [1, 0], [0, 0]),
        ([], [], []),
    ],
    ids=str,
)
def test_missing(values, missing, fill):
    for found, expected in ((vczc.is_missing(values), missing), (vczc.is_fill(values), fill)):
        assert found.dtype == bool
        assert found.tolist() == [bool(item) for item in expected]


def test_missing_of_an_array_and_of_one_value(tmp_path):
    stores.write(tmp_path / "d", "x", np.array([-1, 5, -2], "i4"), (2,))
    assert vczc.is_missing(vczc.open(tmp_path / "d")["x"]).tolist() == [True, False, False]
    assert vczc.is_missing(np.int8(-1)).shape == ()
    assert vczc.is_missing(np.int8(-1))
    with pytest.raises(TypeError, match="datetime64"):
        vczc.is_missing(np.array(["2020-01-01"], "M8[D]"))
