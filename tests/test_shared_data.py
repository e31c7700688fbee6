# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Stores that others made: every block as zarr-python reads it.

The sample archive is always among them, and whatever lies in the folder that VCZC_TEST_DATA names.
"""

import os
from pathlib import Path

import numpy as np
import oracle
import pytest
import zarr

import vczc

ROOT = Path(__file__).resolve().parent.parent
NEIGHBOUR = ROOT.parent / "shared" / "data" / "vcz"


def stores():
    yield ROOT / "examples" / "sample.vcz.zip"
    named = os.environ.get("VCZC_TEST_DATA")
    folder = Path(named) if named else NEIGHBOUR
    if named and not folder.is_dir():
        msg = f"VCZC_TEST_DATA is {named!r}, which is no folder"
        raise FileNotFoundError(msg)
    if folder.is_dir():
        yield from sorted(p for p in folder.iterdir() if p.name.endswith((".zip", ".vcz", ".zarr")))


def opened_by_zarr(path):
    if path.is_dir():
        return zarr.open_group(path, mode="r")
    return zarr.open_group(zarr.storage.ZipStore(path, mode="r"), mode="r")


@pytest.fixture(scope="module", params=list(stores()), ids=lambda path: path.name)
def pair(request):
    """The store as vczc opens it, and as zarr-python does."""
    return vczc.open(request.param, verify=request.param.is_file()), opened_by_zarr(request.param)


def test_arrays_and_attributes(pair):
    group, other = pair
    assert sorted(group.array_keys()) == sorted(other.array_keys())
    assert sorted(group.group_keys()) == sorted(other.group_keys())
    assert dict(group.attrs) == dict(other.attrs)
    assert len(group) > 5
    for name, array in group.arrays():
        assert dict(array.attrs) == dict(other[name].attrs)
        np.testing.assert_equal(array.fill_value, other[name].fill_value)


def test_every_block(pair):
    group, other = pair
    for name, array in group.arrays():
        whole = oracle.native(other[name][...])
        oracle.assert_reads_as(array, oracle.Stored({}, other[name], whole))


def test_blocks_into_one_buffer(pair):
    """As a loop over blocks does: each overwrites what the one before it left."""
    group, other = pair
    nread = 0
    for name, array in group.arrays():
        if array.dtype.kind in "OT":
            continue
        out = np.empty(array.chunks, array.dtype)
        for at, block in oracle.Stored({}, other[name], oracle.native(other[name][...])).blocks():
            view = array.blocks.read(at, out=out)
            oracle.assert_same(view, block)
            assert view.base is out
            nread += 1
    assert nread > 5


def test_rows_and_columns(pair):
    group, other = pair
    for name, array in group.arrays():
        whole = oracle.native(other[name][...])
        for row in {0, array.shape[0] // 2, array.shape[0] - 1} if array.size else ():
            oracle.assert_same(np.asarray(array[row], array.dtype), whole[row, ...])
        oracle.assert_same(array[::7], whole[::7])
        if array.ndim > 1:
            oracle.assert_same(array[:, -1:], whole[:, -1:])
            places = np.random.default_rng(1).integers(0, array.shape[1], min(5, array.shape[1]))
            oracle.assert_same(array.oindex[:, places], whole[:, places])


def test_stored_bytes(pair):
    group, _ = pair
    keys = set(group.store)
    for name, array in group.arrays():
        nbytes = 0
        for at in np.ndindex(*array.cdata_shape):
            stored = array.blocks.stored(at)
            nbytes += 0 if stored is None else len(stored)
        assert nbytes == array.nbytes_stored()
        assert array.nchunks_initialized == sum(
            key.startswith(f"{name}/") and key[-1].isdigit() for key in keys
        )
