# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Text and bytes of every kind, width, order and number of axes, with absent chunks and fill
values, read in every way that there is: all give what zarr-python gives."""

import numpy as np
import oracle
import pyarrow as pa
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

import vczc

TEXT_DTYPES = ("S1", "S5", "<U1", ">U1", "<U3", ">U3", oracle.TEXT, oracle.BYTES)
TEXTS = st.sampled_from(TEXT_DTYPES)


def objects(values):
    """The items, as a flat list of str or bytes. (An ndarray of one `bytes` loses zeros.)"""
    return [values] if isinstance(values, (str, bytes)) else np.asarray(values).ravel().tolist()


def as_bytes(item):
    return item if isinstance(item, bytes) else item.encode()


@given(stored=strategies.stored_arrays(dtypes=TEXTS), data=st.data())
@strategies.many
def test_every_way_to_read_text(stored, data):
    whole, shape, chunks = stored.whole, stored.array.shape, stored.array.chunks
    item = objects(whole)[0] if whole.size else None
    is_variable = whole.dtype.kind in "OT"
    is_bytes = isinstance(item, bytes)
    roots = {s: vczc.open(stored.content, strings=s)["x"] for s in ("numpy", "object", "bytes")}
    kinds = dict.fromkeys(roots, whole.dtype.kind)
    if whole.dtype.kind == "T":
        kinds = {"numpy": "T", "object": "O", "bytes": "S"}
    key = data.draw(strategies.basic_selections(shape)) if shape else ...
    for how, array in roots.items():
        same = [as_bytes(x).rstrip(b"\0") for x in objects(whole)] if how == "bytes" else None

        def check(got, expected, how=how, same=same):
            assert np.shape(got) == np.shape(expected)
            items, wanted = objects(got), objects(expected)
            if same is not None and kinds[how] == "S" and not is_bytes:
                wanted = [as_bytes(x).rstrip(b"\0") for x in wanted]
            assert items == wanted

        assert array.dtype.kind == kinds[how]
        check(array[...], whole)
        check(np.asarray(array), whole)
        if shape:
            check(array[key], whole[key])
            rows = data.draw(st.lists(st.integers(0, shape[0] - 1), max_size=4)) if shape[0] else []
            check(array.oindex[rows], whole[rows])
            if how == "numpy":
                for row, expected in zip(array, whole, strict=True):
                    check(row, expected)
        for at, block in stored.blocks():
            check(array.blocks[at], block)
    array = roots["numpy"]
    assert (array.fill_value or "") == (stored.array.fill_value or "")
    for at, block in stored.blocks():
        strings = array.blocks.strings(at)
        assert strings.shape == block.shape
        assert strings.offsets.dtype == np.int64
        assert strings.offsets[0] == 0
        bounds = zip(strings.offsets[:-1], strings.offsets[1:], strict=True)
        raw = [strings.data[begin:end].tobytes() for begin, end in bounds]
        assert raw == [as_bytes(x) for x in objects(block)]
        column = pa.array(strings)
        column.validate(full=True)
        if block.size:
            assert column.type == (pa.large_binary() if is_bytes else pa.large_string())
        assert column.to_pylist() == objects(block)
        if is_variable and not is_bytes and whole.size:
            out = np.empty(chunks, np.dtypes.StringDType())
            assert objects(array.blocks.read(at, out=out)) == objects(block)


@pytest.mark.parametrize("dtype", TEXT_DTYPES)
@pytest.mark.parametrize("zarr_format", oracle.FORMATS)
def test_arrow_batches(zarr_format, dtype):
    """Columns and lists of every text type; polars, nanoarrow and duckdb take the same capsules."""
    stored = oracle.write(
        oracle.values(dtype, (7, 2)), (3, 2), dtype, zarr_format=zarr_format, order="F"
    )
    content = dict(stored.content)
    document = "x/.zattrs" if zarr_format == 2 else "x/zarr.json"
    if zarr_format == 2:
        content[document] = b'{"_ARRAY_DIMENSIONS": ["variants", "y"]}'
    else:
        text = content[document].decode()
        names = '"dimension_names": ["variants", "y"], '
        content[document] = ("{" + names + text.lstrip()[1:]).encode()
    root = vczc.open(content)
    assert root["x"].dims == ("variants", "y")
    table = pa.table(vczc.to_arrow(root, ["x"]))
    table.validate(full=True)
    assert table["x"].to_pylist() == stored.whole.tolist()


def test_arrow_shares_the_memory():
    stored = oracle.write(oracle.values(oracle.TEXT, (50,)), (50,), oracle.TEXT)
    strings = vczc.open(stored.content)["x"].blocks.strings(0)
    column = pa.array(strings)
    _, offsets, data = column.buffers()
    assert offsets.address == strings.offsets.ctypes.data
    assert data.address == strings.data.ctypes.data


def test_text_that_is_not_unicode():
    """Of fixed width it may be any 32 bits; what needs Unicode says so, and all else reads it."""
    points = np.array([0xD800, 0x41], "<u4")
    content = oracle.by_hand({"0": points.tobytes()}, shape=[2], chunks=[2], dtype="<U1")
    content["x/.zarray"] = content["x/.zarray"].replace(b'"fill_value": 0', b'"fill_value": ""')
    array = vczc.open(content)["x"]
    assert array[...].view("u4").tolist() == points.tolist()
    with pytest.raises(vczc.CorruptChunkError, match="surrogates not allowed"):
        array.blocks.strings(0)
