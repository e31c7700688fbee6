# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Folders that are removed while they are open: only "not there" makes a chunk absent."""

import os
import shutil

import numpy as np
import oracle
import pytest

import vczc

posix = pytest.mark.skipif(os.name != "posix", reason="folders that are open stay there")


@pytest.fixture(scope="module", params=oracle.FORMATS)
def stored(request):
    return oracle.three_chunks(request.param)


@pytest.fixture
def folder(stored, tmp_path):
    return oracle.source(stored.content, "directory", tmp_path)


def remove_store(folder):
    """The document first: a chunk that is gone before its array is as one that was left out."""
    remove_array(folder)
    shutil.rmtree(folder)


def remove_array(folder):
    for name in (".zarray", "zarr.json"):
        (folder / "x" / name).unlink(missing_ok=True)
    shutil.rmtree(folder / "x")


def replace_store(folder):
    """What is there then is another store, which has no array of that name."""
    remove_store(folder)
    folder.mkdir()


REMOVED = [remove_store, remove_array, replace_store]

# Each gives the fill value, or says "absent", of a chunk that is not there.
ABSENT_CALLS = {
    "block": lambda array: array.blocks[1, 0],
    "blocks": lambda array: array.blocks[0:2],
    "row": lambda array: array[250],
    "all": lambda array: array[...],
    "read": lambda array: array.read(np.s_[:, 3:9], threads=3),
    "oindex": lambda array: array.oindex[[1, 599]],
    "iteration": list,
    "stored": lambda array: array.blocks.stored((1, 0)),
    "count": lambda array: array.nchunks_initialized,
    "nbytes": lambda array: array.nbytes_stored(),
}


@posix
@pytest.mark.parametrize("remove", REMOVED)
@pytest.mark.parametrize("missing", ["fill", "error"])
def test_chunks_of_an_array_that_was_removed_are_not_absent(stored, folder, remove, missing):
    """Before the first chunk is read, and after: what is gone is not the fill value."""
    fresh, read = (vczc.open(folder, missing=missing)["x"] for _ in range(2))
    oracle.assert_same(read.blocks[0, 0], stored.whole[:200])
    remove(folder)
    for array in (fresh, read):
        for name, call in ABSENT_CALLS.items():
            with pytest.raises(vczc.StoreError, match="removed while") as caught:
                call(array)
            assert str(folder) in str(caught.value), name
            assert not isinstance(caught.value, FileNotFoundError)


@posix
@pytest.mark.parametrize("remove", [remove_store, replace_store])
def test_nodes_of_a_store_that_was_removed_are_not_missing(stored, folder, remove):
    group = vczc.open(folder)
    remove(folder)
    for call in (
        lambda: group["x"],
        lambda: "x" in group,
        lambda: list(group),
        lambda: list(group.store),
        lambda: group.tree(),
    ):
        with pytest.raises(vczc.StoreError, match="removed while"):
            call()


@posix
@pytest.mark.parametrize("remove", REMOVED)
@pytest.mark.parametrize("shards", [None, oracle.Shards(((2,),))])
def test_texts_and_shards_of_an_array_that_was_removed(tmp_path, remove, shards):
    for dtype in ("<i4", oracle.TEXT):
        values = oracle.values(dtype, (100,))
        stored = oracle.write(values, (10,), dtype, zarr_format=3, shards=shards)
        folder = oracle.source(stored.content, "directory", tmp_path / dtype.strip("<"))
        array = vczc.open(folder)["x"]
        oracle.assert_same(array[:], stored.whole)
        remove(folder)
        for read in (array.__getitem__, array.blocks.__getitem__):
            with pytest.raises(vczc.StoreError, match="removed while"):
                read(7)


@posix
@pytest.mark.parametrize("remove", REMOVED)
def test_an_array_removed_in_the_middle_of_a_stream(tmp_path, remove):
    """Parts before it are right, and none after it is of the fill value."""
    values = oracle.values("<i4", (4000, 50))
    names = {"_ARRAY_DIMENSIONS": ["variants", "samples"]}
    stored = oracle.write(values, (20, 50), attributes=names)
    folder = oracle.source(stored.content, "directory", tmp_path)
    parts = vczc.stream(vczc.open(folder), ["x"], memory="100 KB", threads=2)
    for _ in range(3):
        part = next(parts)
        oracle.assert_same(part["x"], values[part.start : part.stop])
    remove(folder)

    def read_on():
        for part in parts:
            oracle.assert_same(part["x"], values[part.start : part.stop])

    with pytest.raises(vczc.StoreError, match="removed while"):
        read_on()


@posix
def test_genotypes_of_an_array_that_was_removed(tmp_path):
    calls = oracle.values("i1", (100, 20, 2))
    stored = oracle.write(np.abs(calls) % 2, (10, 20, 2))
    folder = oracle.source(stored.content, "directory", tmp_path)
    array = vczc.open(folder)["x"]
    vczc.genotypes.dosage(array)
    shutil.rmtree(folder)
    with pytest.raises(vczc.StoreError, match="removed while"):
        vczc.genotypes.dosage(array)


@posix
def test_absent_chunks_of_a_store_that_moved_stay_absent(stored, folder):
    """The folder is held open, and so are its documents still there."""
    array = vczc.open(folder)["x"]
    oracle.chunk_file(folder, 1).unlink()
    folder.rename(folder.with_name("elsewhere"))
    assert (array[200:400] == 0).all()
    assert array.blocks.stored((1, 0)) is None
    assert array.nchunks_initialized == 2
