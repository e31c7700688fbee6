# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Whatever zarr-python stores, whatever is selected of it: vczc gives what zarr-python gives."""

import tempfile
from pathlib import Path

import numpy as np
import oracle
import strategies
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import many

import vczc

POISON = 0xA5
arrays = strategies.stored_arrays()
fixed = strategies.stored_arrays(strategies.FIXED_DTYPES)
with_blocks = strategies.stored_arrays(
    shapes=strategies.shapes().filter(lambda shape: shape and 0 not in shape)
)


def opened(stored):
    return vczc.open(stored.content)["x"]


@many
@given(stored=arrays, kind=st.sampled_from(oracle.KINDS))
def test_every_block(stored, kind):
    with tempfile.TemporaryDirectory() as folder:
        array = vczc.open(oracle.source(stored.content, kind, Path(folder)))["x"]
        oracle.assert_reads_as(array, stored)
        assert array.shards == stored.array.shards
        nstored = oracle.nchunks_stored(stored)
        assert array.nchunks_initialized == nstored == stored.array.nchunks_initialized


@many
@given(data=st.data(), stored=arrays)
def test_basic_selections(data, stored):
    array = opened(stored)
    for _ in range(4):
        key = data.draw(strategies.basic_selections(array.shape))
        expected = stored.array[key]
        got = array[key]
        if array.dtype == object and np.shape(expected) == ():  # an `S`, without zeros at its end
            assert np.asarray(got, object).item() == np.asarray(stored.whole[key], object).item()
            continue
        assert type(got) is type(expected)
        oracle.assert_same(got, expected)
        oracle.assert_same(array.read(key, threads=data.draw(st.integers(1, 3))), expected)


@many
@given(data=st.data(), stored=arrays)
def test_orthogonal_selections(data, stored):
    array = opened(stored)
    for _ in range(3):
        key = data.draw(strategies.orthogonal_selections(array.shape))
        expected = orthogonal(stored.whole, key)
        oracle.assert_same(array.oindex[key], expected)


def orthogonal(whole, key):
    """What `key` selects, one axis after the other: NumPy alone decides."""
    items = list(key) if isinstance(key, tuple) else [key]
    at = next((i for i, item in enumerate(items) if item is Ellipsis), len(items))
    missing = whole.ndim - sum(item is not Ellipsis for item in items)
    items[at : at + 1] = [slice(None)] * missing
    for axis in reversed(range(whole.ndim)):
        whole = whole[(slice(None),) * axis + (items[axis],)]
    return whole


@many
@given(data=st.data(), stored=with_blocks)
def test_block_indices(data, stored):
    array = opened(stored)
    judge = unsharded(stored)
    for _ in range(4):
        index = data.draw(strategies.block_indices(array.cdata_shape))
        oracle.assert_same(array.blocks[index], judge.blocks[index])


def unsharded(stored):
    """Of a sharded array zarr-python indexes the shards, not the chunks."""
    if stored.array.shards is None:
        return stored.array
    dtype = {"O": oracle.BYTES, "T": oracle.TEXT}.get(stored.whole.dtype.kind)
    return oracle.write(stored.whole, stored.array.chunks, dtype, zarr_format=3).array


@many
@given(data=st.data(), stored=fixed)
def test_blocks_into_memory_that_is_larger(data, stored):
    """Nothing before the block and nothing behind it is touched."""
    assume(stored.whole.size)
    array = opened(stored)
    grid = array.cdata_shape
    at = tuple(data.draw(st.integers(0, n - 1)) for n in grid)
    expected = dict(stored.blocks())[at]
    before, after = data.draw(st.integers(0, 40)), data.draw(st.integers(0, 40))
    memory = np.full(before + expected.nbytes + after, POISON, "u1")
    out = memory[before:]
    if data.draw(st.booleans()) or array.itemsize == 1:
        out = memoryview(out)
    got = array.blocks.read(at, out=out)
    oracle.assert_same(got, expected)
    assert np.shares_memory(got, memory) or got.nbytes == 0
    assert memory[before : before + got.nbytes].tobytes() == expected.tobytes()
    assert (memory[:before] == POISON).all()
    assert (memory[before + got.nbytes :] == POISON).all()


@many
@given(data=st.data(), stored=fixed)
def test_selections_into_memory_with_gaps(data, stored):
    """`out` of any strides: the gaps are not touched."""
    array = opened(stored)
    key = data.draw(strategies.basic_selections(array.shape))
    expected = oracle.native(stored.array[key], stored.array.dtype)
    axes = data.draw(st.permutations(range(expected.ndim)))  # as they lie in memory
    steps = [data.draw(st.sampled_from([1, 2, -1, -2])) for _ in axes]
    lengths = [expected.shape[axis] for axis in axes]
    memory = np.full((*[2 * n + 3 for n in lengths], array.itemsize), POISON, "u1")
    window = [slice(1, 1 + n * abs(s), abs(s)) for n, s in zip(lengths, steps, strict=True)]
    inside = memory[(*window, ...)]
    out = inside[(*[slice(None, None, -1 if s < 0 else 1) for s in steps], ...)]
    out = out.view(array.dtype)[..., 0].transpose(np.argsort(np.array(axes, int)))
    assert array.read(key, out=out) is out
    oracle.assert_same(out, expected)
    inside[...] = POISON
    assert (memory == POISON).all()


@many
@given(data=st.data(), stored=strategies.stored_arrays(st.just(oracle.TEXT)))
def test_text_into_an_array_of_text(data, stored):
    array = opened(stored)
    key = data.draw(strategies.basic_selections(array.shape))
    expected = oracle.native(stored.array[key], stored.array.dtype)
    out = np.full(expected.size + 3, "poison", np.dtypes.StringDType())
    got = array.read(key, out=out)
    oracle.assert_same(got, expected)
    assert out[: expected.size].tolist() == expected.ravel().tolist()
    assert out[expected.size :].tolist() == ["poison"] * 3


@many
@given(stored=arrays)
def test_rows(stored):
    assume(stored.whole.ndim)
    rows = list(opened(stored))
    assert len(rows) == len(stored.whole)
    for row, expected in zip(rows, stored.whole, strict=True):
        oracle.assert_same(row, expected)
