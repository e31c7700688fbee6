# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Groups in groups, arrays at the root, folders without a document, two documents at one node,
consolidated metadata that is out of date, listings: as zarr-python has them."""

import json
import os
import time
import warnings

import numpy as np
import oracle
import pytest
import zarr
from zarr.core.buffer.cpu import Buffer
from zarr.storage import MemoryStore

import vczc

DATA = np.arange(12, dtype="i4").reshape(4, 3)


def content_of(store):
    return {key: value.to_bytes() for key, value in store._store_dict.items()}


def tree_of(zarr_format, *, consolidated=False):
    """Groups three deep, an array in each, an empty group, and names that are no words."""
    store = MemoryStore()
    root = zarr.create_group(store, zarr_format=zarr_format)
    for name in ("", "a", "a/b", "a/b/c d", "ü"):
        group = root.require_group(name) if name else root
        array = group.create_array("x", shape=DATA.shape, dtype=DATA.dtype, chunks=(2, 3))
        array[...] = DATA + len(name)
    root.create_group("empty")
    if consolidated:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # format 3 does not specify it yet
            zarr.consolidate_metadata(store)
    return content_of(store)


def members(group, prefix=""):
    """Path -> kind, of all that is below."""
    found = {}
    for name, child in group.items():
        path = f"{prefix}{name}"
        found[path] = "group" if isinstance(child, vczc.Group) else "array"
        if isinstance(child, vczc.Group):
            found |= members(child, f"{path}/")
    return found


def zarr_members(content, **how):
    store = MemoryStore({key: Buffer.from_bytes(value) for key, value in content.items()})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        group = zarr.open_group(store, mode="r", **how)
        return {
            path: "group" if isinstance(node, zarr.Group) else "array"
            for path, node in group.members(max_depth=None)
        }


@pytest.mark.parametrize("kind", oracle.KINDS)
@pytest.mark.parametrize("zarr_format", oracle.FORMATS)
def test_groups_in_groups(tmp_path, zarr_format, kind):
    content = tree_of(zarr_format)
    root = vczc.open(oracle.source(content, kind, tmp_path))
    assert members(root) == zarr_members(content)
    assert root["a/b/c d/x"][...].tolist() == (DATA + 7).tolist()
    assert root["a"]["b"]["c d"]["x"].path == "a/b/c d/x"
    assert list(root["empty"]) == []
    assert sorted(root.group_keys()) == ["a", "empty", "ü"]
    assert list(root.array_keys()) == ["x"]


@pytest.mark.parametrize("kind", oracle.KINDS)
@pytest.mark.parametrize("zarr_format", oracle.FORMATS)
def test_an_array_at_the_root(tmp_path, zarr_format, kind):
    store = MemoryStore()
    zarr.create_array(store, data=DATA, chunks=(3, 2), zarr_format=zarr_format, fill_value=7)
    content = content_of(store)
    array = vczc.open(oracle.source(content, kind, tmp_path))
    assert (array.path, array.name) == ("", "/")
    assert array[...].tolist() == DATA.tolist()
    for at in np.ndindex(2, 2):
        part = tuple(slice(i * c, (i + 1) * c) for i, c in zip(at, (3, 2), strict=True))
        assert array.blocks[at].tolist() == DATA[part].tolist()
    assert array.nchunks_initialized == 4
    with pytest.raises(vczc.NodeNotFoundError, match="array"):
        vczc.open_group(content)


def test_folders_of_format_3_without_a_document():
    """Only a document makes a group: a folder without one is passed over, what lies in it is
    found by its path. (Drafts of format 3 had such groups; zarr-python reads them like this.)"""
    content = tree_of(3)
    del content["a/zarr.json"], content["a/b/zarr.json"]
    root = vczc.open(content)
    assert members(root) == zarr_members(content)
    assert "a" not in root
    assert "a/b/x" in root
    assert root["a/x"][...].tolist() == (DATA + 1).tolist()
    assert list(root["a/b/c d"]) == ["x"]
    with pytest.raises(vczc.NodeNotFoundError):
        root["a"]
    del content["zarr.json"]  # not even one at the root
    store = MemoryStore({key: Buffer.from_bytes(value) for key, value in content.items()})
    assert zarr.open_array(store, path="a/b/x", mode="r")[...].tolist() == (DATA + 3).tolist()
    assert vczc.open(content, path="a/b/x")[...].tolist() == (DATA + 3).tolist()
    with pytest.raises(vczc.NodeNotFoundError, match="top"):
        vczc.open(content)


def test_folders_of_format_2_without_a_document():
    content = tree_of(2)
    del content["a/.zgroup"]
    root = vczc.open(content)
    assert members(root) == zarr_members(content)
    assert root["a/b/x"][...].tolist() == (DATA + 3).tolist()


# ---- Two documents at one node ----


def both(name, two, three):
    """A store whose node `x` has a document of either format, with one chunk for each."""
    store = MemoryStore()
    zarr.create_array(store, name=name, data=two, chunks=two.shape, zarr_format=2)
    zarr.create_array(
        store,
        name=name,
        data=three,
        chunks=three.shape,
        zarr_format=3,
        chunk_key_encoding={"name": "default", "separator": "."},
    )
    return content_of(store)


@pytest.mark.filterwarnings("ignore:Both zarr.json")
@pytest.mark.parametrize("kind", oracle.KINDS)
def test_format_3_comes_before_format_2(tmp_path, kind):
    content = both(None, DATA, DATA + 100)
    assert {".zarray", "zarr.json"} <= set(content)
    store = MemoryStore({key: Buffer.from_bytes(value) for key, value in content.items()})
    expected = zarr.open_array(store, mode="r")
    assert expected.metadata.zarr_format == 3
    array = vczc.open(oracle.source(content, kind, tmp_path))
    assert array.zarr_format == 3
    assert array[...].tolist() == expected[...].tolist() == (DATA + 100).tolist()


def test_a_group_of_format_3_comes_before_an_array_of_format_2():
    content = both("x", DATA, DATA) | {
        "zarr.json": b'{"zarr_format": 3, "node_type": "group"}',
        ".zgroup": b'{"zarr_format": 2}',
    }
    content["x/zarr.json"] = b'{"zarr_format": 3, "node_type": "group", "attributes": {"n": 1}}'
    root = vczc.open(content)
    assert root.zarr_format == 3
    assert isinstance(root["x"], vczc.Group)
    assert root["x"].attrs == {"n": 1}
    assert list(root.group_keys()) == ["x"]


def test_an_array_comes_before_a_group_of_format_2():
    content = tree_of(2)
    content["x/.zgroup"] = b'{"zarr_format": 2}'
    assert members(vczc.open(content)) == zarr_members(content)
    assert vczc.open(content)["x"][...].tolist() == DATA.tolist()


# ---- Consolidated metadata ----


@pytest.mark.parametrize("kind", oracle.KINDS)
@pytest.mark.parametrize("zarr_format", oracle.FORMATS)
def test_consolidated_metadata_that_is_out_of_date(tmp_path, zarr_format, kind):
    """What the nodes themselves say is what counts, as zarr-python has it without consolidation."""
    content = tree_of(zarr_format, consolidated=True)
    fresh = tree_of(zarr_format)
    document = "x/.zarray" if zarr_format == 2 else "x/zarr.json"
    # One array grew, one is new, one is gone.
    changed = json.loads(content[f"a/{document}"])
    changed["shape"] = [6, 3]
    content[f"a/{document}"] = json.dumps(changed).encode()
    for key in [k for k in content if k.startswith("x/")]:
        content["new/" + key.removeprefix("x/")] = fresh[key]
    for key in [k for k in content if k.startswith("ü/")]:
        del content[key]
    expected = zarr_members(content, use_consolidated=False)
    assert zarr_members(content) != expected
    root = vczc.open(oracle.source(content, kind, tmp_path))
    assert members(root) == expected
    assert root["a/x"].shape == (6, 3)
    assert root["new"][...].tolist() == DATA.tolist()
    with pytest.raises(vczc.NodeNotFoundError):
        root["ü/x"]


# ---- Listings ----


@pytest.mark.parametrize("layout", ["flat", "nested", "format 3"])
def test_listing_does_not_look_into_arrays(tmp_path, layout):
    """However many chunks there are, listings cost what the nodes cost."""
    n = 10_000
    content = oracle.by_hand({}, shape=[n], chunks=[1], dtype="|i1")
    folder = tmp_path / "x"
    if layout == "format 3":
        content = {
            "zarr.json": b'{"zarr_format": 3, "node_type": "group"}',
            "x/zarr.json": json.dumps(
                {
                    "zarr_format": 3,
                    "node_type": "array",
                    "shape": [n],
                    "data_type": "int8",
                    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1]}},
                    "chunk_key_encoding": {"name": "default"},
                    "fill_value": 0,
                    "codecs": ["bytes"],
                }
            ).encode(),
        }
        folder = tmp_path / "x" / "c"
    elif layout == "nested":
        content = oracle.by_hand(
            {}, shape=[1, n], chunks=[1, 1], dtype="|i1", dimension_separator="/"
        )
        folder = tmp_path / "x" / "0"
    for key, value in content.items():
        (tmp_path / key).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / key).write_bytes(value)
    folder.mkdir(exist_ok=True)
    for i in range(n):
        os.close(os.open(folder / str(i), os.O_CREAT | os.O_WRONLY))

    def least(call, repeat=7):
        times = []
        for _ in range(repeat):
            begin = time.process_time_ns()
            call()
            times.append(time.process_time_ns() - begin)
        return min(times)

    def use():
        root = vczc.open(tmp_path)
        assert list(root) == ["x"]
        assert "n" not in root
        assert str(root.tree())

    # Ten times all of it costs less than one look into the folder of the chunks.
    assert 10 * least(use) < 3 * least(lambda: list(os.scandir(folder)))
    assert vczc.open(tmp_path)["x"].nchunks_initialized == n
