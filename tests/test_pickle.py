# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""A pickle holds the source, not the data; a copy is the thing itself, which cannot change."""

import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
import stores

import vczc

DATA = np.random.default_rng(1).integers(0, 1000, (400, 50), "i4")


@pytest.fixture
def root(tmp_path):
    stores.write(tmp_path / "d", "a/x", DATA, (100, 50))
    stores.write(tmp_path / "d", "text", np.array(["a", "", "ü"] * 20, object), (7,))
    return tmp_path / "d"


def roundtrip(thing, protocol=pickle.HIGHEST_PROTOCOL):
    return pickle.loads(pickle.dumps(thing, protocol))


@pytest.mark.parametrize("kind", stores.KINDS)
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_arrays_and_groups(root, kind, protocol):
    group = vczc.open(stores.source(root, kind))
    array = group["a/x"]
    for got in (
        roundtrip(array, protocol),
        roundtrip(group, protocol)["a/x"],
        roundtrip(group["a"], protocol)["x"],
        vczc.open(roundtrip(group.store, protocol))["a/x"],
    ):
        assert isinstance(got, vczc.Array)
        assert (got.path, got.shape, got.chunks, got.dtype) == (
            "a/x",
            array.shape,
            array.chunks,
            array.dtype,
        )
        assert type(got.store) is type(array.store)
        np.testing.assert_array_equal(got[...], DATA)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_what_belongs_to_an_array(root, protocol):
    array = vczc.open(root)["a/x"]
    blocks = roundtrip(array.blocks, protocol)
    assert type(blocks) is vczc.Blocks
    np.testing.assert_array_equal(blocks[1], DATA[100:200])
    assert copy.deepcopy(blocks).array.path == "a/x"
    np.testing.assert_array_equal(roundtrip(array.oindex, protocol)[[3, 1]], DATA[[3, 1]])


@pytest.mark.parametrize("kind", ["directory", "zip"])
def test_a_pickle_is_small(root, kind):
    array = vczc.open(stores.source(root, kind))["a/x"]
    array[...]
    assert len(pickle.dumps(array)) < 1000
    assert len(pickle.dumps(array.store)) < 500


def test_options_travel(root):
    array = roundtrip(vczc.open(root, strings="object", missing="error")["text"])
    assert array[0] == "a"
    assert array[...].dtype == object
    (root / "text" / "1").unlink()
    with pytest.raises(vczc.StoreError):
        array[...]
    with pytest.raises(vczc.StoreError):
        roundtrip(array)[...]
    store = roundtrip(vczc.ZipStore(stores.zipped(root), verify=True))
    assert store.verify


def test_parts_of_an_array(root):
    array = vczc.open(root)["a/x"]
    np.testing.assert_array_equal(roundtrip(array[...]), DATA)
    assert roundtrip(array.attrs) == array.attrs
    assert roundtrip(array.metadata) == array.metadata


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies(root, copied):
    group = vczc.open(root)
    array = copied(group["a/x"])
    np.testing.assert_array_equal(array.blocks[1], DATA[100:200])
    np.testing.assert_array_equal(copied(group)["a/x"][...], DATA)
    np.testing.assert_array_equal(copied({"x": [array]})["x"][0][...], DATA)


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("method", ["spawn", "fork"])
@pytest.mark.parametrize("kind", stores.KINDS)
def test_other_processes(root, kind, method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} on this platform")
    array = vczc.open(stores.source(root, kind))["a/x"]
    array[...]
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:  # says so where a child breaks
        sums = list(pool.map(stores.block_sum, [array] * 4, range(4)))
    assert sums == [int(DATA[i : i + 100].sum()) for i in range(0, 400, 100)]
