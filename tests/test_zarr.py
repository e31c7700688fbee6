# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""`vczc.zarr`: zarr-python with our store and our pipeline gives what it gives with its own."""

import asyncio
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import zipfile
from importlib.metadata import entry_points

import numcodecs
import numpy as np
import oracle
import pytest
import stores
import strategies
import xarray as xr
import zarr
from hypothesis import given
from hypothesis import strategies as st
from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest
from zarr.core.buffer import default_buffer_prototype
from zarr.core.buffer.cpu import Buffer
from zarr.core.codec_pipeline import BatchedCodecPipeline
from zarr.storage import LocalStore, MemoryStore, WrapperStore

import vczc.zarr

PIPELINE = "vczc.zarr.CodecPipeline"
PROTOTYPE = default_buffer_prototype()
CONTENT = {
    "zarr.json": b'{"zarr_format": 3, "node_type": "group", "attributes": {"n": 1}}',
    "a": b"a file where a-b and a/ are near",
    "a-b/x": b"",
    "a/b/zarr.json": b"{}",
    "a/b/c/0/0": bytes(range(256)) * 40,
    "a/b/c/0/1": b"1",
    "a/c": b"2",
    "é/ü": b"3",
}
FOLDERS = ("", "a", "a/", "a/b", "a/b/c", "a/b/c/0", "a-b", "é", "none", "zarr.json", "a/b/z")
REQUESTS = [
    None,
    RangeByteRequest(0, 3),
    RangeByteRequest(200, 100_000),
    OffsetByteRequest(250),
    OffsetByteRequest(0),
    SuffixByteRequest(5),
    SuffixByteRequest(100_000),
]


# ---- The store ----


def run(awaitable):
    return asyncio.run(awaitable)


async def collect(names):
    return [name async for name in names]


def as_bytes(buffer):
    return None if buffer is None else buffer.to_bytes()


@pytest.fixture(params=["stored", "deflated", "wrapped"])
def archive(request, tmp_path):
    """What is wrapped lies in one folder at the top."""
    method = zipfile.ZIP_DEFLATED if request.param == "deflated" else zipfile.ZIP_STORED
    start = "folder/" if request.param == "wrapped" else ""
    path = tmp_path / "store.zip"
    path.write_bytes(oracle.zip_bytes({start + k: v for k, v in CONTENT.items()}, method))
    return path


@pytest.fixture
def store(archive):
    with vczc.zarr.ZipStore(archive) as store:
        yield store


@pytest.fixture
def judge(tmp_path):
    path = tmp_path / "judge.zip"
    path.write_bytes(oracle.zip_bytes(CONTENT))
    with zarr.storage.ZipStore(path, mode="r") as store:
        store._sync_open()
        yield store


def test_values(store, judge):
    for key in (*CONTENT, "none", "a/b", "a/b/", "b/c"):
        assert as_bytes(run(store.get(key, PROTOTYPE))) == CONTENT.get(key)
        assert as_bytes(store.get_sync(key)) == CONTENT.get(key)
        assert run(store.exists(key)) == run(judge.exists(key)) == (key in CONTENT)
        if key in CONTENT:
            assert run(store.getsize(key)) == len(CONTENT[key])
        else:
            with pytest.raises(FileNotFoundError, match=key):
                run(store.getsize(key))


@pytest.mark.parametrize("request_", REQUESTS, ids=repr)
def test_ranges(store, judge, request_):
    for key in ("a/b/c/0/0", "a", "none"):
        expected = as_bytes(run(judge.get(key, PROTOTYPE, request_)))
        assert as_bytes(run(store.get(key, PROTOTYPE, request_))) == expected


def test_partial_values(store, judge):
    asked = [(key, request) for key in (*CONTENT, "none") for request in REQUESTS]
    got = run(store.get_partial_values(PROTOTYPE, iter(asked)))
    expected = run(judge.get_partial_values(PROTOTYPE, asked))
    assert list(map(as_bytes, got)) == list(map(as_bytes, expected))
    assert run(store.get_partial_values(PROTOTYPE, [])) == []


def test_listing(store, judge):
    assert run(collect(store.list())) == sorted(CONTENT)
    assert run(store.getsize_prefix("a/")) == run(judge.getsize_prefix("a/"))
    for folder in FOLDERS:
        names = run(collect(store.list_dir(folder)))
        assert sorted(names) == sorted(run(collect(judge.list_dir(folder)))), folder
        keys = run(collect(store.list_prefix(folder)))
        assert keys == sorted(run(collect(judge.list_prefix(folder)))), folder
        assert run(store.is_empty(folder)) == run(judge.is_empty(folder)), folder


def test_writing_is_refused(store):
    value = Buffer.from_bytes(b"x")
    assert store.read_only
    for name in ("writes", "deletes", "partial_writes"):
        assert not getattr(store, f"supports_{name}")
    assert store.supports_listing
    for write in (
        lambda: run(store.set("new", value)),
        lambda: run(store.set_if_not_exists("new", value)),
        lambda: run(store.set_if_not_exists("a", value)),
        lambda: run(store.delete("a")),
        lambda: run(store.delete_dir("a")),
        lambda: run(store.clear()),
        lambda: store.set_sync("new", value),
        lambda: store.delete_sync("a"),
        lambda: store.with_read_only(False),
        lambda: zarr.open_group(store, mode="a"),
        lambda: zarr.open_group(store, mode="w"),
    ):
        with pytest.raises(ValueError, match="read-only"):
            write()
    assert store.with_read_only(True) == store
    assert zarr.open_group(store, mode="r").attrs["n"] == 1


def test_a_store_is_a_python_object(archive, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = vczc.zarr.ZipStore(archive.name)
    assert store == vczc.zarr.ZipStore(archive) == store.with_read_only(True)
    assert hash(store) == hash(vczc.zarr.ZipStore(archive))
    assert store != vczc.zarr.ZipStore(archive, verify=True)
    assert store != zarr.storage.ZipStore(archive, mode="r")
    assert str(store) == f"zip://{archive}"
    assert repr(store) == f"vczc.zarr.ZipStore({str(archive)!r})"
    again = pickle.loads(pickle.dumps(store))
    assert again == store
    assert as_bytes(again.get_sync("a")) == CONTENT["a"]
    checked = pickle.loads(pickle.dumps(vczc.zarr.ZipStore(archive, verify=True)))
    assert checked.archive.verify


def test_open_and_close(archive, tmp_path):
    store = vczc.zarr.ZipStore(archive)
    assert not store._is_open
    run(store._ensure_open())
    assert store._is_open
    with pytest.raises(ValueError, match="already open"):
        run(store._open())
    held = store.archive
    store.close()
    store.close()
    assert held.closed
    assert not store._is_open
    assert as_bytes(store.get_sync("a")) == CONTENT["a"]  # opened again, as zarr-python's own
    with run(vczc.zarr.ZipStore.open(archive)) as other:
        assert other._is_open
    with pytest.raises(FileNotFoundError):
        vczc.zarr.ZipStore(tmp_path / "none.zip").get_sync("a")
    with pytest.raises(vczc.StoreError, match="folder"):
        vczc.zarr.ZipStore(tmp_path).get_sync("a")


def test_verify(tmp_path):
    content = oracle.zip_bytes(CONTENT)
    at = content.index(CONTENT["a/b/c/0/0"])
    path = tmp_path / "damaged.zip"
    path.write_bytes(content[:at] + b"\xff" + content[at + 1 :])
    assert vczc.zarr.ZipStore(path).get_sync("a/b/c/0/0") is not None
    with pytest.raises(vczc.Error, match="CRC"):
        vczc.zarr.ZipStore(path, verify=True).get_sync("a/b/c/0/0")


def test_what_is_given_outlives_the_file(archive, store):
    """It is no view of a map, to look at which would end the process."""
    value = store.get_sync("a/b/c/0/0", byte_range=RangeByteRequest(0, 10_000))
    os.truncate(archive, 0)
    assert value.to_bytes() == CONTENT["a/b/c/0/0"][:10_000]


@pytest.mark.parametrize("zarr_format", oracle.FORMATS)
def test_groups_and_arrays(tmp_path, zarr_format):
    root = zarr.open_group(tmp_path / "x", mode="w", zarr_format=zarr_format)
    for name in ("y", "g/z"):
        root.create_array(name, shape=(30, 4), chunks=(8, 3), dtype="i4")[...] = 5
    got = zarr.open_group(vczc.zarr.ZipStore(stores.zipped(tmp_path / "x")), mode="r")
    assert dict(got.members()).keys() == {"y", "g"}
    assert got["g/z"][...].tolist() == root["g/z"][...].tolist()
    assert got["y"].nchunks_initialized == root["y"].nchunks_initialized
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert (pool.apply(np.asarray, (got["y"],)) == 5).all()


# ---- The pipeline ----


class Asynchronous(WrapperStore):
    """A store that zarr-python cannot ask without its event loop."""


def memory(content):
    return MemoryStore({key: Buffer.from_bytes(value) for key, value in content.items()})


def opened(store, path="x", mode="r"):
    with zarr.config.set({"codec_pipeline.path": PIPELINE}):
        array = zarr.open_array(store, path=path, mode=mode)
    assert type(pipeline(array)) is vczc.zarr.CodecPipeline
    return array


def pipeline(array):
    return array._async_array.codec_pipeline


def assert_same_results(got, expected):
    """Also where zarr-python gives scalars, and in its own byte order."""
    assert type(got) is type(expected)
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    if got.dtype.kind in "OT":
        assert got.tolist() == expected.tolist()
    else:
        assert got.tobytes() == expected.tobytes()


class LeftToZarrError(Exception):
    pass


@pytest.fixture
def none_is_left(monkeypatch):
    """zarr-python's own pipeline reads nothing."""

    async def read(self, batch, *args, **kwargs):
        if list(batch):
            raise LeftToZarrError

    monkeypatch.setattr(BatchedCodecPipeline, "read", read)


def along(n):
    """No `...`, which zarr-python does not find among arrays."""
    return (
        strategies.ints(n)
        | strategies.steps_of(n)
        | strategies.masks(n)
        | strategies.index_arrays(n)
    )


@strategies.many
@given(stored=strategies.stored_arrays(), data=st.data())
def test_any_array(stored, data):
    store = memory(stored.content)
    array = opened(data.draw(st.sampled_from([store, Asynchronous(store)])))
    shape = stored.array.shape
    assert_same_results(array[...], stored.array[...])
    for _ in range(3):
        selection = data.draw(strategies.basic_selections(shape))
        assert_same_results(array[selection], stored.array[selection])
    if all(shape):
        blocks = data.draw(strategies.block_indices(stored.array.cdata_shape))
        if shape and not stored.array.shards:
            assert_same_results(array.blocks[blocks], stored.array.blocks[blocks])
        selection = tuple(data.draw(along(n)) for n in shape)
        if shape:
            assert_same_results(array.oindex[selection], stored.array.oindex[selection])
    if shape and all(shape):
        points = tuple(data.draw(strategies.index_arrays(n)) for n in shape)
        n = min(map(len, points))
        points = tuple(p[:n] for p in points)
        if n:
            assert_same_results(array.vindex[points], stored.array.vindex[points])
        mask = np.random.default_rng(0).random(shape) < 0.3
        assert_same_results(array.get_mask_selection(mask), stored.array.get_mask_selection(mask))


@pytest.mark.parametrize("zarr_format", oracle.FORMATS)
@pytest.mark.parametrize("order", "CF")
def test_each_type_is_decoded_here(request, zarr_format, order):
    stored = [
        oracle.write(
            oracle.values(dtype, (7, 5)), (3, 2), dtype, zarr_format=zarr_format, order=order
        )
        for dtype in oracle.DTYPES
    ]
    request.getfixturevalue("none_is_left")
    for one in stored:
        oracle.assert_same(oracle.native(opened(memory(one.content))[...]), one.whole)


KINDS = {
    "memory": lambda content, path: memory(content),
    "directory": lambda content, path: LocalStore(oracle.source(content, "directory", path)),
    "zip": lambda content, path: vczc.zarr.ZipStore(oracle.source(content, "stored zip", path)),
    "zarr's zip": lambda content, path: zarr.storage.ZipStore(
        oracle.source(content, "stored zip", path), mode="r"
    ),
    "asynchronous": lambda content, path: Asynchronous(memory(content)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("zarr_format", oracle.FORMATS)
@pytest.mark.parametrize("chunks", [(50, 3), (1000, 1000)], ids=["inline", "in threads"])
def test_stores(tmp_path, none_is_left, kind, zarr_format, chunks):
    data = np.arange(2_100_000, dtype="i4").reshape(1050, 2000)[:, : chunks[1] + 20]
    stored = oracle_without_reading(data, chunks, zarr_format)
    array = opened(KINDS[kind](stored, tmp_path))
    np.testing.assert_array_equal(array[...], data)
    np.testing.assert_array_equal(array[3:1000:7, -4], data[3:1000:7, -4])
    rows = np.array([900, 3, 3, 1049])
    np.testing.assert_array_equal(array.oindex[rows, 5:9], data[rows, 5:9])


def oracle_without_reading(data, chunks, zarr_format, **settings):
    store = MemoryStore()
    array = zarr.create_array(
        store, name="x", shape=data.shape, chunks=chunks, dtype=data.dtype,
        zarr_format=zarr_format, **settings,
    )  # fmt: skip
    array[...] = data
    return {key: value.to_bytes() for key, value in store._store_dict.items()}


SETTINGS = [
    {"async.concurrency": None},
    {"async.concurrency": 1},
    {"threading.max_workers": None},
    {"threading.max_workers": 1},
    {"codec_pipeline.batch_size": 3},
    {"array.order": "F"},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("store_class", [MemoryStore, WrapperStore])
def test_settings_of_zarr_python(none_is_left, settings, store_class):
    values = np.arange(400 * 90, dtype="i4").reshape(400, 90)
    content = MemoryStore()
    array = zarr.create_array(content, shape=values.shape, chunks=(30, 40), dtype="i4", name="x")
    array[:] = values
    store = content if store_class is MemoryStore else WrapperStore(content)
    with zarr.config.set({"codec_pipeline.path": PIPELINE, **settings}):
        got = zarr.open_array(store, path="x", mode="r")
        np.testing.assert_array_equal(got[:], values)
        assert got[:].flags.f_contiguous == (settings.get("array.order") == "F")
        np.testing.assert_array_equal(got.oindex[[5, 300], 7:80], values[[5, 300], 7:80])


@pytest.mark.parametrize("zarr_format", oracle.FORMATS)
@pytest.mark.parametrize("store", [memory, lambda content: Asynchronous(memory(content))])
def test_absent_chunks(none_is_left, zarr_format, store):
    content = oracle_without_reading(np.arange(20), (4,), zarr_format, fill_value=7)
    del content["x/2" if zarr_format == 2 else "x/c/2"]
    array = opened(store(content))
    assert array[:].tolist() == [*range(8), 7, 7, 7, 7, *range(12, 20)]
    with zarr.config.set({"array.read_missing_chunks": False}):
        strict = opened(store(content))
    if hasattr(strict.config, "read_missing_chunks"):  # zarr-python 3.2
        with pytest.raises(Exception, match=r"1 chunk\(s\) not found"):
            strict[:]
        assert strict[:8].tolist() == list(range(8))


def test_shards(monkeypatch):
    """Whole ones are decoded here; of those that are read in part, zarr-python fetches parts."""
    data = np.arange(24 * 6).reshape(24, 6)
    content = oracle_without_reading(data, (2, 3), 3, shards=(8, 6))
    array = opened(memory(content))
    np.testing.assert_array_equal(array[5:20, 1], data[5:20, 1])
    np.testing.assert_array_equal(array[3:], data[3:])  # some whole, some in part
    np.testing.assert_array_equal(array.oindex[[3, 1, 22]], data[[3, 1, 22]])

    async def read(self, batch, *args, **kwargs):
        raise LeftToZarrError

    monkeypatch.setattr(BatchedCodecPipeline, "read", read)
    np.testing.assert_array_equal(array[...], data)
    with pytest.raises(LeftToZarrError):
        array[5:20]


@pytest.mark.parametrize("zarr_format", oracle.FORMATS)
def test_writing(zarr_format):
    store = MemoryStore()
    with zarr.config.set({"codec_pipeline.path": PIPELINE}):
        array = zarr.create_array(
            store, name="x", shape=(10, 4), chunks=(3, 2), dtype="i4", zarr_format=zarr_format
        )
        expected = np.arange(40).reshape(10, 4)
        array[...] = expected
        array[2:5, 1] = expected[2:5, 1] = -1
        assert array[...].tolist() == expected.tolist()
        array[2, 2] = expected[2, 2] = 99  # what was read before is not kept
        assert array[2].tolist() == expected[2].tolist()
        array.append(np.full((3, 4), 5, "i4"))
        assert array[9:].tolist() == [expected[9].tolist(), *[[5] * 4] * 3]
    assert zarr.open_array(store, path="x", mode="r")[:10].tolist() == expected.tolist()


def test_what_vczc_does_not_read_is_left_to_zarr():
    pair = np.array([(1, 2.5), (3, 4.5)], [("a", "i4"), ("b", "f8")])
    for data, settings, is_left in (
        (pair, {}, True),
        (np.array(5), {}, True),
        (np.arange(6.0), {"filters": [Doubled()]}, False),  # vczc asks numcodecs too
    ):
        store = MemoryStore()
        array = zarr.create_array(
            store, name="x", shape=data.shape, chunks=data.shape, dtype=data.dtype,
            zarr_format=2, **settings,
        )  # fmt: skip
        array[...] = data
        mine = opened(store)
        assert (pipeline(mine)._decoder is None) == is_left
        assert mine[...].tolist() == data.tolist()


class Doubled(numcodecs.abc.Codec):
    """A codec that nobody else knows."""

    codec_id = "doubled"

    def encode(self, buf):
        return np.asarray(buf) * 2

    def decode(self, buf, out=None):
        return numcodecs.compat.ndarray_copy(np.frombuffer(buf, "f8") / 2, out)


numcodecs.register_codec(Doubled)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_of_damaged_chunks_zarr_python_is_the_judge(asynchronous):
    content = oracle_without_reading(np.arange(20), (4,), 3)
    content["x/c/3"] = content["x/c/3"][:-3]
    store = memory(content)
    judge = zarr.open_array(store, path="x", mode="r")
    array = opened(Asynchronous(store) if asynchronous else store)
    assert array[:12].tolist() == list(range(12))
    errors = []
    for damaged in (judge, array):
        with pytest.raises(Exception) as caught:  # noqa: PT011
            damaged[:]
        errors.append((type(caught.value), str(caught.value)))
    assert errors[0] == errors[1]


def test_errors_of_a_store_come_through():
    class Failing(WrapperStore):
        async def get(self, key, prototype, byte_range=None):
            if key == "x/c/1":
                raise ConnectionError(key)
            return await super().get(key, prototype, byte_range)

    array = opened(Failing(memory(oracle_without_reading(np.arange(20), (4,), 3))))
    assert array[:4].tolist() == [0, 1, 2, 3]
    with pytest.raises(ConnectionError):
        array[:]


def test_threads_and_pickle():
    data = np.arange(400 * 300).reshape(400, 300)
    array = opened(memory(oracle_without_reading(data, (30, 70), 2)))
    faults = []

    def read(seed):
        rng = np.random.default_rng(seed)
        for _ in range(10):
            row, n = int(rng.integers(0, 350)), int(rng.integers(1, 50))
            if not np.array_equal(array[row : row + n, n:], data[row : row + n, n:]):
                faults.append((row, n))

    threads = [threading.Thread(target=read, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    assert not pipeline(array)._decoder._slots.chunks
    again = pickle.loads(pickle.dumps(array))
    assert pipeline(again) == pipeline(array)
    assert type(pipeline(again)) is vczc.zarr.CodecPipeline
    np.testing.assert_array_equal(again[...], data)


def test_xarray_by_its_engine_zarr(tmp_path):
    """On our store, by our pipeline."""
    xr.Dataset({"x": (("n", "m"), np.arange(12).reshape(4, 3))}).to_zarr(tmp_path / "x")
    path = stores.zipped(tmp_path / "x")
    with zarr.config.set({"codec_pipeline.path": PIPELINE}):
        ds = xr.open_zarr(vczc.zarr.ZipStore(path), chunks=None)
    assert ds["x"].isel(n=[3, 0], m=slice(1, None)).values.tolist() == [[10, 11], [1, 2]]


def test_is_a_pipeline():
    """Like the one that it stands for."""
    content = oracle_without_reading(np.arange(20), (4,), 3, shards=(8,))
    mine = pipeline(opened(memory(content)))
    theirs = pipeline(zarr.open_array(memory(content), path="x", mode="r"))
    assert list(mine) == list(theirs)
    assert mine.fallback == theirs
    assert mine.supports_partial_decode == theirs.supports_partial_decode is True
    assert mine.supports_partial_encode == theirs.supports_partial_encode is True
    assert isinstance(vczc.zarr.CodecPipeline.from_codecs(theirs), BatchedCodecPipeline)


def test_public_names():
    assert vczc.zarr.__all__ == ["CodecPipeline", "ZipStore"]


def test_selected_by_the_environment(tmp_path):
    """By a program that imports vczc.zarr; no other one loads it, which zarr-python would do with
    its first array if there were an entry point."""
    assert not entry_points(group="zarr.codec_pipeline", name="vczc")
    zarr.create_array(tmp_path / "x", shape=3, chunks=2, dtype="i4")[...] = 4
    code = (
        "import zarr, vczc.zarr\n"
        f"a = zarr.open_array({str(tmp_path / 'x')!r}, mode='r')\n"
        "print(type(a._async_array.codec_pipeline).__module__, a[:].tolist())"
    )
    environment = {**os.environ, "ZARR_CODEC_PIPELINE__PATH": PIPELINE}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert done.stdout == "vczc.zarr [4, 4, 4]\n", done.stderr
