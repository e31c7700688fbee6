# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Arrow record batches, read as the C stream interface says, and by pyarrow where it is there."""

import ctypes
import gc
import weakref
from itertools import chain, pairwise

import numpy as np
import pyarrow as pa
import pytest
import stores
import variants

import vczc

ROWS = [(0, 10 * i + 1, 1 + i % 4) for i in range(23)]

Pointer = ctypes.c_void_p


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


def function(of, *args, returns=ctypes.c_int):
    return ctypes.CFUNCTYPE(returns, ctypes.POINTER(of), *args)


Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", Pointer),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ("dictionary", Pointer),
    ("release", function(Schema, returns=None)),
    ("private_data", Pointer),
]
Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(Pointer)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    ("dictionary", Pointer),
    ("release", function(Array, returns=None)),
    ("private_data", Pointer),
]
Stream._fields_ = [
    ("get_schema", function(Stream, ctypes.POINTER(Schema))),
    ("get_next", function(Stream, ctypes.POINTER(Array))),
    ("get_last_error", function(Stream, returns=ctypes.c_char_p)),
    ("release", function(Stream, returns=None)),
    ("private_data", Pointer),
]

NUMBERS = {"c": "i1", "s": "i2", "i": "i4", "l": "i8", "f": "f4"}


def pointer_of(capsule, name):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = Pointer, [ctypes.py_object, ctypes.c_char_p]
    return get(capsule, name)


def memory(array, buffer, dtype, n):
    nbytes = n * np.dtype(dtype).itemsize
    return np.frombuffer(ctypes.string_at(array.buffers[buffer], nbytes), dtype)


def values(schema, array):
    """The items of a column as lists."""
    kind, n = schema.format.decode(), array.length
    assert array.offset == array.null_count == 0
    if kind == "+s":
        assert array.n_buffers == 1
        columns = range(schema.n_children)
        made = {}
        for i in columns:
            child, items = schema.children[i].contents, array.children[i].contents
            assert items.length == n
            made[child.name.decode()] = values(child, items)
        return made
    assert not array.buffers[0]  # no nulls
    if kind.startswith("+w:"):
        width = int(kind[3:])
        inner = values(schema.children[0].contents, array.children[0].contents)
        assert len(inner) == n * width
        return [inner[i * width : (i + 1) * width] for i in range(n)]
    if kind in "UZ":
        offsets = memory(array, 1, "i8", n + 1)
        data = ctypes.string_at(array.buffers[2], int(offsets[-1]))
        items = [data[a:b] for a, b in pairwise(offsets)]
        return [x.decode() for x in items] if kind == "U" else items
    if kind == "b":
        bits = memory(array, 1, "u1", (n + 7) // 8)
        return np.unpackbits(bits, count=n, bitorder="little").astype(bool).tolist()
    return memory(array, 1, NUMBERS[kind], n).tolist()


def consumed(source):
    """The batches of a stream as a consumer in C reads them."""
    capsule = source.__arrow_c_stream__()
    stream = Stream.from_address(pointer_of(capsule, b"arrow_array_stream"))
    schema = Schema()
    assert stream.get_schema(stream, schema) == 0
    batches = []
    while True:
        array = Array()
        assert stream.get_next(stream, array) == 0, stream.get_last_error(stream)
        if not array.release:
            break
        batches.append(values(schema, array))
        array.release(array)
        assert not array.release
    schema.release(schema)
    stream.release(stream)
    assert not stream.release
    return batches


@pytest.fixture(params=["numpy", "object", "bytes"])
def store(request, tmp_path):
    chunks = {"variant_id": 9, "call_genotype": 5}
    data = variants.write(tmp_path / "d", ROWS, ["1"], chunks=chunks)
    dims = {"attributes": {"_ARRAY_DIMENSIONS": ["variants"]}}
    data["variant_code"] = np.array([b"ab", b""] * 11 + [b"c"], "S2")
    stores.write(tmp_path / "d", "variant_code", data["variant_code"], (6,), **dims)
    return vczc.open(tmp_path / "d", strings=request.param), data


FIELDS = (*variants.FIELDS, "variant_allele", "variant_code")
CHOICES = [
    ({}, range(23), slice(None)),
    ({"region": "1:50-110"}, range(5, 11), slice(None)),
    ({"variants": [20, 3, 4, 4], "threads": 1}, [20, 3, 4, 4], slice(None)),
    ({"samples": ["s2", "s0"], "threads": 3}, range(23), [2, 0]),
    ({"samples": []}, range(23), []),
    ({"variants": []}, [], slice(None)),
]


@pytest.mark.parametrize(("choice", "rows", "columns"), CHOICES, ids=[str(c[0]) for c in CHOICES])
def test_batches(store, choice, rows, columns):
    root, data = store
    source = vczc.to_arrow(root, FIELDS, **choice)
    for _ in range(2):  # each consumer reads from the start
        batches = consumed(source)
        for name in FIELDS:
            expected = data[name][list(rows)] if len(rows) else data[name][:0]
            if name.startswith("call_"):
                expected = expected[:, columns]
            found = chain.from_iterable(batch[name] for batch in batches)
            assert list(found) == expected.tolist()


def test_as_pyarrow_reads(store):
    root, data = store
    table = pa.table(vczc.to_arrow(root, FIELDS))
    table.validate(full=True)
    assert table.column_names == list(FIELDS)
    for name in FIELDS:
        assert table[name].to_pylist() == data[name].tolist()


def test_schema(store):
    source = vczc.to_arrow(store[0], ["variant_id", "call_genotype"])
    capsule = source.__arrow_c_schema__()
    schema = Schema.from_address(pointer_of(capsule, b"arrow_schema"))
    children = [schema.children[i].contents for i in range(schema.n_children)]
    assert [(c.name, c.format) for c in children] == [
        (b"variant_id", b"U"),
        (b"call_genotype", b"+w:3"),
    ]
    assert children[1].children[0].contents.format == b"+w:2"
    assert repr(source) == "<vczc.ArrowStream of variant_id, call_genotype>"


def test_wrong_arguments(store):
    with pytest.raises(ValueError, match="filter_id"):
        vczc.to_arrow(store[0], ["filter_id"])
    with pytest.raises(vczc.Error, match="contig"):
        vczc.to_arrow(store[0], region="X")


def test_damage_is_told_to_the_consumer(tmp_path):
    variants.write(tmp_path / "d", ROWS, ["1"])
    (tmp_path / "d" / "variant_position" / "2").write_bytes(b"damaged")
    capsule = vczc.to_arrow(vczc.open(tmp_path / "d"), ["variant_position"]).__arrow_c_stream__()
    stream = Stream.from_address(pointer_of(capsule, b"arrow_array_stream"))
    array = Array()
    codes = []
    while not codes or codes[-1] == 0:
        codes.append(stream.get_next(stream, array))
        if codes[-1] == 0:
            array.release(array)
    assert b"CorruptChunkError" in stream.get_last_error(stream)
    assert stream.get_next(stream, array) == 0  # and then it is at its end
    assert not array.release


def test_what_is_not_consumed_is_released(store):
    root = vczc.open(store[0].store)
    ended = weakref.ref(root)
    capsule = vczc.to_arrow(root, ["call_DP"], threads=3).__arrow_c_stream__()
    stream = Stream.from_address(pointer_of(capsule, b"arrow_array_stream"))
    array = Array()
    assert stream.get_next(stream, array) == 0
    del capsule, stream, root
    gc.collect()
    assert ended() is None
    assert memory(array.children[0].contents.children[0].contents, 1, "i4", 3).tolist() == (
        store[1]["call_DP"][0].tolist()
    )
    array.release(array)
