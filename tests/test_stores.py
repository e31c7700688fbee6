# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Stores, groups, and what arrays say of themselves."""

import gc
import json
import os
import threading
import time
import warnings
import weakref
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import stores
import zarr
from numcodecs import Blosc

import vczc
from vczc import _callbacks, _core

DATA = np.arange(60, dtype="i4").reshape(12, 5)


@pytest.fixture(params=stores.FORMATS)
def root(request, tmp_path):
    """A tree: x, deep/y, deep/er/z."""
    where = tmp_path / "d"
    group = zarr.open_group(str(where), mode="w", zarr_format=request.param)
    group.attrs.update({"source": "test", "nested": {"a": [1, None]}})
    group.create_group("deep/er")
    for name in ("x", "deep/y", "deep/er/z"):
        stores.write(where, name, DATA, (5, 5), zarr_format=request.param, attributes={"u": name})
    return where


@pytest.fixture(params=stores.KINDS)
def group(request, root):
    return vczc.open(stores.source(root, request.param))


# ---- Groups ----


def test_a_group_is_a_mapping(group):
    assert isinstance(group, Mapping)
    assert list(group) == ["deep", "x"]
    assert len(group) == 2
    assert set(group.keys()) == {"deep", "x"}
    assert {type(node) for node in group.values()} == {vczc.Group, vczc.Array}
    assert dict(group.items()).keys() == {"deep", "x"}
    assert group.get("nothing") is None
    assert group.get("x").shape == (12, 5)


def test_paths(group):
    assert group["deep/er/z"].path == "deep/er/z"
    assert group["deep"]["er"]["z"].name == "/deep/er/z"
    assert group["/deep//y/"].basename == "y"
    assert (group.name, group.path, group["deep/er"].name) == ("/", "", "/deep/er")
    assert group["deep/er"].basename == "er"
    for name in ("x", "deep", "deep/y", "deep/er/z"):
        assert name in group
        np.testing.assert_array_equal(group["deep/y"][...], DATA)


@pytest.mark.parametrize(
    "name",
    ["", "/", "nothing", "x/y", "..", "deep/../x", "./x", "deep/.", "x\0", "x\0y", "deep\\y"],
)
def test_names_that_are_none(group, name):
    assert name not in group
    with pytest.raises(vczc.NodeNotFoundError):
        group[name]
    with pytest.raises(KeyError):
        group["deep"][name]


def test_what_is_no_name(group):
    assert 3 not in group
    with pytest.raises(TypeError):
        group[3]


def test_children_by_kind(group):
    assert list(group.array_keys()) == ["x"]
    assert list(group.group_keys()) == ["deep"]
    (name, array), *more = group.arrays()
    assert (name, more) == ("x", [])
    assert isinstance(array, vczc.Array)
    ((name, child),) = group["deep"].groups()
    assert (name, child.path) == ("er", "deep/er")


def test_attributes(group):
    assert group.attrs["source"] == "test"
    assert dict(group.attrs) == {"source": "test", "nested": {"a": [1, None]}}
    assert group["x"].attrs["u"] == "x"
    assert "nothing" not in group.attrs
    with pytest.raises(TypeError):
        group.attrs["source"] = "changed"
    values = group.attrs.asdict()
    values["source"] = "changed"
    assert group.attrs["source"] == "test"


def test_attributes_as_python_writes_them(tmp_path):
    stores.write(tmp_path / "d", "x", DATA, (5, 5))
    (tmp_path / "d" / "x" / ".zattrs").write_text('{"a": NaN, "b": -Infinity, "ü": "🧬"}')
    attrs = vczc.open(tmp_path / "d")["x"].attrs
    assert np.isnan(attrs["a"])
    assert attrs["b"] == -np.inf
    assert attrs["ü"] == "🧬"


def test_groups_are_compared_by_identity(group):
    same = group
    assert group == same
    assert group != group["deep"]
    assert group != vczc.open(group.store)
    assert len({group, group["deep"]}) == 2


# ---- Opening ----


@pytest.mark.parametrize("make", [str, Path, lambda p: str(p) + os.sep, os.fspath])
def test_kinds_of_paths(root, make):
    for source in (make(root), make(root).rstrip(os.sep) if isinstance(make(root), str) else root):
        np.testing.assert_array_equal(vczc.open(source)["x"][...], DATA)
    np.testing.assert_array_equal(vczc.open(stores.zipped(root))["x"][...], DATA)


def test_path_names_a_node(root):
    assert isinstance(vczc.open(root, path="deep"), vczc.Group)
    assert vczc.open(root, path="deep/y").path == "deep/y"
    assert vczc.open_array(root, path="/x/").shape == (12, 5)
    assert list(vczc.open_group(root, path="deep")) == ["er", "y"]
    with pytest.raises(vczc.NodeNotFoundError):
        vczc.open(root, path="../d/x")


def test_an_array_at_the_root(tmp_path):
    zarr.create_array(str(tmp_path / "a"), data=DATA, chunks=(5, 5))
    array = vczc.open(tmp_path / "a")
    assert isinstance(array, vczc.Array)
    assert (array.name, array.path, array.basename) == ("/", "", "")
    np.testing.assert_array_equal(array[...], DATA)
    np.testing.assert_array_equal(vczc.open_array(tmp_path / "a").blocks[1], DATA[5:10])


def test_a_relative_path_is_made_absolute(root, monkeypatch):
    monkeypatch.chdir(root.parent)
    array = vczc.open(root.name)["x"]
    monkeypatch.chdir("/")
    assert Path(array.store.location) == root
    np.testing.assert_array_equal(array[...], DATA)


def test_a_folder_around_the_root(root, tmp_path):
    content = {f"outer/{key}": value for key, value in stores.mapped(root).items()}
    (tmp_path / "wrap").mkdir()
    root.rename(tmp_path / "wrap" / "outer")
    for source in (content, tmp_path / "wrap", stores.zipped(tmp_path / "wrap")):
        np.testing.assert_array_equal(vczc.open(source)["x"][...], DATA)


def test_verify(tmp_path):
    stores.write(tmp_path / "d", "x", DATA, (5, 5), compressors=None)
    archive = stores.zipped(tmp_path / "d")
    content = bytearray(archive.read_bytes())
    content[content.index(DATA[5:10].tobytes())] ^= 1
    archive.write_bytes(content)
    assert vczc.open(archive)["x"][5, 0] == DATA[5, 0] ^ 1  # nobody looked
    array = vczc.open(archive, verify=True)["x"]
    np.testing.assert_array_equal(array[:5], DATA[:5])
    with pytest.raises((vczc.StoreError, vczc.CorruptChunkError), match=r"(?i)crc"):
        array[5]
    with pytest.raises(ValueError, match="verify"):
        vczc.open(stores.mapped(tmp_path / "d"), verify=True)


def test_a_group_is_no_source(group):
    with pytest.raises(TypeError):
        vczc.open(group)


# ---- Stores ----


def opened(root, kind):
    return {
        "directory": lambda: vczc.DirectoryStore(root),
        "zip": lambda: vczc.ZipStore(stores.zipped(root)),
        "mapping": lambda: vczc.MemoryStore(stores.mapped(root)),
    }[kind]()


@pytest.mark.parametrize("kind", stores.KINDS)
def test_what_a_store_fetches(root, kind):
    files = stores.mapped(root)
    with opened(root, kind) as store:
        assert store.keys() == sorted(files) == list(store)
        document = ".zarray" if "x/.zarray" in files else "zarr.json"
        assert store.fetch_metadata("x") == json.loads(files[f"x/{document}"])
        assert store.fetch_attrs("x") == {"u": "x"}
        assert store.fetch_attrs()["source"] == "test"
        assert store.fetch_metadata("deep")["zarr_format"] in stores.FORMATS
        key = next(k for k in ("x/1.0", "x/1/0", "x/c/1/0") if k in files)
        for coords in ((1, 0), [1, 0], (np.int64(1), 0)):
            chunk = store.fetch_chunk("x", coords)
            assert chunk.readonly
            assert chunk == files[key]
        with pytest.raises(IndexError):
            store.fetch_chunk("x", (3, 0))
        with pytest.raises(IndexError):
            store.fetch_chunk("x", 1)
        with pytest.raises(vczc.NodeNotFoundError):
            store.fetch_metadata("nothing")
        np.testing.assert_array_equal(vczc.open(store)["x"][...], DATA)


def test_chunks_of_an_archive_are_not_copied(root):
    with opened(root, "zip") as store:
        chunks = [np.frombuffer(store.fetch_chunk("x", (0, 0)), "u1") for _ in range(2)]
        assert np.shares_memory(*chunks)


def test_chunks_of_a_mapping_are_not_copied(root):
    content = stores.mapped(root)
    store = vczc.MemoryStore(content)
    chunk = store.fetch_chunk("x", (0, 0))
    key = next(k for k in ("x/0.0", "x/0/0", "x/c/0/0") if k in content)
    assert np.shares_memory(np.frombuffer(chunk, "u1"), np.frombuffer(content[key], "u1"))


@pytest.mark.parametrize("kind", stores.KINDS)
def test_a_closed_store(root, kind):
    store = opened(root, kind)
    group = vczc.open(store)
    array = group["x"]
    chunk = store.fetch_chunk("x", (0, 0))
    content = bytes(chunk)
    assert not store.closed
    store.close()
    store.close()
    assert store.closed
    assert "closed" in repr(store)
    np.testing.assert_array_equal(array[...], DATA)  # it keeps what it needs
    assert chunk == content
    for call in (
        lambda: group["x"],
        store.keys,
        lambda: store.fetch_metadata("x"),
        lambda: store.fetch_chunk("x", (0, 0)),
        lambda: vczc.open(store),
    ):
        with pytest.raises(vczc.StoreError, match="closed"):
            call()


def test_closing_while_others_read(root):
    for _ in range(20):
        store = vczc.ZipStore(stores.zipped(root))
        failures = []

        def work(store=store, failures=failures):
            try:
                for _ in range(200):
                    store.fetch_metadata("x")
                    store.keys()
            except vczc.StoreError:
                pass
            except BaseException as err:
                failures.append(err)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        store.close()
        for thread in threads:
            thread.join()
        assert failures == []


def test_the_other_kind_of_path(root):
    with pytest.raises(vczc.StoreError, match="ZipStore"):
        vczc.DirectoryStore(stores.zipped(root))
    with pytest.raises(vczc.StoreError, match="DirectoryStore"):
        vczc.ZipStore(root)
    assert isinstance(vczc.open(root).store, vczc.DirectoryStore)
    assert isinstance(vczc.open(stores.zipped(root)).store, vczc.ZipStore)
    assert isinstance(vczc.open(stores.mapped(root)).store, vczc.MemoryStore)


class Lazy(Mapping):
    """A mapping that is no dict and counts what it gives."""

    def __init__(self, content, kind):
        self.content = content
        self.kind = kind

    def __getitem__(self, key):
        return self.kind(self.content[key])

    def __iter__(self):
        return iter(self.content)

    def __len__(self):
        return len(self.content)


@pytest.mark.parametrize(
    "kind", [bytes, bytearray, memoryview, lambda b: np.frombuffer(b, "u1")], ids=str
)
def test_values_of_a_mapping(root, kind):
    group = vczc.open(Lazy(stores.mapped(root), kind))
    np.testing.assert_array_equal(group["x"][...], DATA)
    assert group["x"].nchunks_initialized == 3
    assert group["x"].attrs["u"] == "x"


@pytest.mark.parametrize("value", ["text", 3, None, memoryview(bytes(40))[::2]], ids=str)
def test_values_that_are_no_bytes(root, value):
    content = stores.mapped(root)
    for key in ("x/1.0", "x/1/0", "x/c/1/0"):
        if key in content:
            content[key] = value
    array = vczc.open(content)["x"]
    with pytest.raises(vczc.StoreError) as caught:
        array[...]
    assert isinstance(caught.value.__cause__, (TypeError, BufferError))


def test_keys_that_are_no_text(root):
    content = {**stores.mapped(root), 3: b""}
    with pytest.raises(vczc.StoreError) as caught:
        list(vczc.open(content))
    assert isinstance(caught.value.__cause__, TypeError)


def test_a_mapping_is_let_go(root):
    class Content(dict):
        pass

    gone = []
    content = Content(stores.mapped(root))
    import weakref

    weakref.finalize(content, gone.append, True)
    array = vczc.open(content)["x"]
    block = array.blocks[0]
    del content
    gc.collect()
    assert not gone
    np.testing.assert_array_equal(array[...], DATA)
    del array
    gc.collect()
    assert gone
    np.testing.assert_array_equal(block, DATA[:5])


def test_changes_of_a_mapping_are_seen(root):
    content = stores.mapped(root)
    array = vczc.open(content)["x"]
    for key in [k for k in content if k.startswith("x/") and k.endswith(("1.0", "1/0"))]:
        del content[key]
    assert (array[5:10] == 0).all()


# ---- Arrays ----

AS_ZARR = (
    *("shape", "chunks", "ndim", "size", "nbytes", "order", "shards", "cdata_shape", "nchunks"),
    *("nchunks_initialized", "name", "path", "basename"),
)


@pytest.mark.parametrize("zarr_format", stores.FORMATS)
@pytest.mark.parametrize(
    "dtype", ["?", "i1", "<i2", ">i4", "u8", "f2", ">f4", "f8", "S3", "U2", "O"]
)
def test_attributes_as_zarr(tmp_path, zarr_format, dtype):
    data = np.ones((7, 4), dtype) if dtype != "O" else np.full((7, 4), "one", object)
    expected = stores.write(tmp_path / "d", "x", data, (3, 4), zarr_format=zarr_format)
    array = vczc.open(tmp_path / "d")["x"]
    for name in AS_ZARR:
        assert getattr(array, name) == getattr(expected, name), name
    assert (array.dtype.kind, array.itemsize) == (expected.dtype.kind, expected.dtype.itemsize)
    assert array.dtype.isnative
    assert array.itemsize == array.dtype.itemsize
    assert array.chunk_size == (3, 4)
    assert array.metadata.zarr_format == array.zarr_format == zarr_format
    assert type(array.fill_value) is type(expected.fill_value)
    assert array.fill_value == expected.fill_value
    assert array.nbytes_stored() == sum(
        len(value)
        for key, value in stores.mapped(tmp_path / "d").items()
        if key.startswith("x/") and "z" not in key.rpartition("/")[2]
    )
    np.testing.assert_array_equal(array[...], expected[...])
    assert array[...].dtype == array.dtype


@pytest.mark.parametrize(
    ("dtype", "fill"), [("i4", None), ("i4", -1), ("f8", np.nan), ("?", True), ("S2", b"ab")]
)
def test_fill_value_of_format_2(tmp_path, dtype, fill):
    expected = stores.write(tmp_path / "d", "x", np.zeros(4, dtype), (2,), fill_value=fill)
    array = vczc.open(tmp_path / "d")["x"]
    np.testing.assert_equal(array.fill_value, expected.fill_value)
    assert type(array.fill_value) is type(expected.fill_value)


def test_a_chunk_larger_than_the_array(tmp_path):
    stores.write(tmp_path / "d", "x", DATA, (1000, 3))
    array = vczc.open(tmp_path / "d")["x"]
    assert array.chunks == (1000, 3)
    assert array.chunk_size == (12, 3)
    assert array.blocks[0].shape == (12, 5)
    assert array.blocks[0, 0].shape == (12, 3)


def test_dimension_names(tmp_path):
    stores.write(tmp_path / "d", "v2", DATA, (5, 5), attributes={"_ARRAY_DIMENSIONS": ["a", "b"]})
    stores.write(tmp_path / "d", "none", DATA, (5, 5))
    group = vczc.open(tmp_path / "d")
    assert group["v2"].dims == group["v2"].metadata.dimension_names == ("a", "b")
    assert group["none"].dims is None
    stores.write(
        tmp_path / "e", "v3", DATA, (5, 5), zarr_format=3, dimension_names=("variants", None)
    )
    assert vczc.open(tmp_path / "e")["v3"].dims == ("variants", None)


def test_codecs_of_format_2(tmp_path):
    blosc = Blosc("zstd", 7, Blosc.BITSHUFFLE)
    stores.write(tmp_path / "d", "x", DATA, (5, 5), compressors=blosc)
    stores.write(tmp_path / "d", "raw", DATA, (5, 5), compressors=None)
    stores.write(tmp_path / "d", "text", np.array(["a"], object), (1,), compressors=None)
    group = vczc.open(tmp_path / "d")
    config = blosc.get_config()
    stored = group["x"].compressor
    assert {key: stored[key] for key in config} == config
    assert (group["x"].filters, group["x"].codecs) == ((), (stored,))
    assert (group["raw"].compressor, group["raw"].codecs) == (None, ())
    assert group["text"].filters == group["text"].codecs == ({"id": "vlen-utf8"},)
    assert group["x"].metadata.document["chunks"] == [5, 5]


def test_codecs_of_format_3(tmp_path):
    from zarr.codecs import BloscCodec, TransposeCodec

    stores.write(
        tmp_path / "d",
        "x",
        DATA,
        (5, 5),
        zarr_format=3,
        compressors=BloscCodec(),
        filters=TransposeCodec(order=(1, 0)),
    )
    array = vczc.open(tmp_path / "d")["x"]
    assert [codec["name"] for codec in array.codecs] == ["transpose", "bytes", "blosc"]
    assert array.compressor["name"] == "blosc"
    assert [codec["name"] for codec in array.filters] == ["transpose"]
    np.testing.assert_array_equal(array[...], DATA)


def test_names_that_are_not_ascii(tmp_path):
    stores.write(tmp_path / "ünï 🧬", "日本", DATA, (5, 5))
    for kind in stores.KINDS:
        group = vczc.open(stores.source(tmp_path / "ünï 🧬", kind))
        assert list(group) == ["日本"]
        np.testing.assert_array_equal(group["日本"][...], DATA)


@pytest.mark.skipif(os.name != "posix", reason="names of files are text elsewhere")
def test_names_that_are_not_utf8(tmp_path):
    name = os.fsdecode(b"\xff\xfe")
    stores.write(tmp_path / "d", "x", DATA, (5, 5))
    (tmp_path / "d" / "x").rename(tmp_path / "d" / name)
    (tmp_path / "d").rename(tmp_path / name)
    group = vczc.open(tmp_path / name)
    assert list(group) == [name]
    np.testing.assert_array_equal(group[name][...], DATA)
    assert group.store.location == str(tmp_path / name)


class Counted(dict):
    """A mapping that counts what it is asked for; waits, so that threads meet."""

    def __init__(self, content):
        super().__init__(content)
        self.asked = Counter()

    def __getitem__(self, key):
        self.asked[key] += 1
        time.sleep(0.001)
        return super().__getitem__(key)


@pytest.mark.parametrize("zarr_format", stores.FORMATS)
@pytest.mark.parametrize("nthreads", [1, 8])
def test_consolidated_metadata_is_parsed_once_where_requests_are_dear(zarr_format, nthreads):
    inner = zarr.storage.MemoryStore()
    root = zarr.open_group(inner, mode="w", zarr_format=zarr_format)
    for i in range(30):
        root.create_array(f"a{i}", shape=(i + 1, 3), chunks=(2, 3), dtype="i2", attributes={"n": i})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        zarr.consolidate_metadata(inner)
    root.create_array("late", shape=(77,), chunks=(7,), dtype="i2")
    mapping = Counted({key: value.to_bytes() for key, value in inner._store_dict.items()})
    store = _callbacks.open_mapping(mapping, "counted", prefer_consolidated=True)
    with ThreadPoolExecutor(nthreads) as pool:
        arrays = list(pool.map(lambda i: _core.Array(store, f"a{i % 30}"), range(120)))
    for i, array in enumerate(arrays):
        assert array.shape == (i % 30 + 1, 3)
        assert json.loads(array._attributes)["n"] == i % 30
    assert (
        mapping.asked.total() <= 2 * nthreads
    )  # one way through, for each of those who began at once
    asked = mapping.asked.total()
    assert _core.Array(store, "a7").shape == (8, 3)
    assert mapping.asked.total() == asked
    assert _core.Array(store, "late").shape == (77,)  # what it lacks is in the store


class Holder(dict):
    """A mapping that may hold what was opened of it."""


HELD = {
    "group": vczc.open,
    "array": lambda m: vczc.open(m)["x"],
    "blocks": lambda m: vczc.open(m)["x"].blocks,
    "stored bytes": lambda m: vczc.open(m)["x"].blocks.stored((0, 0)),
    "fetched bytes": lambda m: vczc.MemoryStore(m).fetch_chunk("x", (0, 0)),
    "store": vczc.MemoryStore,
    "iterator": lambda m: iter(vczc.open(m)["x"]),
}


@pytest.mark.parametrize("what", HELD)
def test_a_mapping_that_holds_what_was_opened_of_it_is_collected(root, what):
    mapping = Holder(stores.mapped(root))
    mapping.held = HELD[what](mapping)
    alive = weakref.ref(mapping)
    del mapping
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("what", HELD)
def test_a_mapping_lives_as_long_as_what_was_opened_of_it(root, what):
    mapping = Holder(stores.mapped(root))
    held = HELD[what](mapping)
    alive = weakref.ref(mapping)
    del mapping
    gc.collect()
    assert alive() is not None
    if what == "array":
        np.testing.assert_array_equal(held[...], DATA)
    if what == "stored bytes":
        assert len(held) > 0
    del held
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("name", ["\ud800", "a/\udc00b", "x" * 300, "y" * 5000], ids=len)
def test_names_that_no_store_can_have(tmp_path, name):
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / ".zgroup").write_text('{"zarr_format": 2}')
    for source in (tmp_path / "s", {".zgroup": b'{"zarr_format": 2}'}):
        root = vczc.open(source)
        assert name not in root
        with pytest.raises(vczc.NodeNotFoundError):
            root[name]
        with pytest.raises(vczc.NodeNotFoundError):
            vczc.open(source, path=name)
