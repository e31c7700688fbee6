# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""What threads do to the same handles at the same moment: with a GIL a test of order, without one a
test of what is shared. Each round begins at a barrier, so that the threads meet."""

import gc
import importlib.util
import random
import subprocess
import sys
import sysconfig
import threading
import time
import weakref
from pathlib import Path

import numpy as np
import oracle
import pytest
from test_threads_forks import WHOLE, content_of, in_threads

import vczc

NROUNDS = 60
CONTENT = content_of(WHOLE, 100) | {
    "x/.zattrs": b'{"_ARRAY_DIMENSIONS": ["variants", "samples"]}',
}

without_gil = pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has a GIL"
)


@without_gil
def test_every_extension_goes_without_a_gil():
    """A module that did not declare it would turn the GIL on for all."""
    spec = importlib.util.find_spec("vczc")
    folder = Path(spec.submodule_search_locations[0])
    names = sorted({path.name.partition(".")[0] for path in folder.glob("_*.pyi")})
    assert "_core" in names
    script = (
        "import importlib, sys\n"
        f"for name in {names!r}:\n"
        "    importlib.import_module(f'vczc.{name}')\n"
        "    assert not sys._is_gil_enabled(), name\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


class Rounds:
    """`call(number, round)` in many threads that begin each round together."""

    def __init__(self, nthreads, nrounds=NROUNDS):
        self.barrier = threading.Barrier(nthreads, timeout=60)
        self.nthreads = nthreads
        self.nrounds = nrounds

    def __call__(self, prepare, call):
        shared = [prepare() for _ in range(self.nrounds)]

        def run(number):
            try:
                for one in shared:
                    self.barrier.wait()
                    call(number, one)
            except BaseException:
                self.barrier.abort()
                raise
            return True

        assert all(in_threads(run, self.nthreads))


def require_closed(store, error):
    """Nothing else may go wrong."""
    assert "closed" in str(error)
    assert store.closed


class Content(dict):
    """A mapping that can be seen to go."""


@pytest.mark.parametrize("kind", ["stored zip", "directory", "mapping"])
def test_closed_and_opened_at_once(tmp_path, kind):
    """An open that was in time reads right; one that was not is refused; nothing else happens."""
    path = Content(CONTENT) if kind == "mapping" else oracle.source(CONTENT, kind, tmp_path)

    def call(number, store):
        if number < 2:  # two who close
            store.close()
            assert store.closed
            return
        try:
            array = vczc.open(store)["x"]
        except vczc.StoreError as err:
            require_closed(store, err)
            return
        assert (array[number * 50] == WHOLE[number * 50]).all()
        assert (array.blocks[number % 6] == WHOLE[number % 6 * 100 :][:100]).all()

    def prepare():
        return vczc.open(path).store

    Rounds(6)(prepare, call)


def test_users_of_a_store_are_counted_right():
    """If one were lost, the store would close under a reader, or never."""
    gone, stores = [], []
    kind = vczc.open(CONTENT).store._handle.kind

    def prepare():
        content = Content(CONTENT)
        weakref.finalize(content, gone.append, 1)
        stores.append(vczc.open(content).store._handle)
        return stores[-1]

    def call(number, store):
        for _ in range(50_000):
            assert store.kind == kind

    Rounds(4, 5)(prepare, call)
    gc.collect()
    assert not gone
    for store in stores:
        store.close()  # the last user lets go of the mapping
    gc.collect()
    assert len(gone) == 5


def test_a_mapping_ends_once():
    """Whichever of those that hold it is the last: the store, an array, a view of stored bytes."""
    gone = []

    def prepare():
        content = Content(CONTENT)
        weakref.finalize(content, gone.append, 1)
        group = vczc.open(content)
        array = group["x"]
        return [group, array, group.store, array.blocks.stored(0), vczc.open(group.store)["x"]]

    def call(number, holders):
        holders[number] = None

    Rounds(5)(prepare, call)
    gc.collect()
    assert len(gone) == NROUNDS


def test_cycles_are_collected_while_others_read():
    """A mapping that holds the group that reads it: the collector takes both, in any thread."""
    kept = vczc.open(Content(CONTENT))["x"]
    gone = []

    def call(number, _):
        content = Content(CONTENT)
        weakref.finalize(content, gone.append, 1)
        content.group = vczc.open(content)
        content.array = content.group["x"]
        assert (content.array[number] == WHOLE[number]).all()
        if number == 0:
            gc.collect()
        assert (kept.blocks[number % 6] == WHOLE[number % 6 * 100 :][:100]).all()

    Rounds(4, 15)(lambda: None, call)
    gc.collect()
    assert len(gone) == 60


def test_what_is_worked_out_once():
    """Documents and attributes are parsed when they are first asked for."""

    def call(number, array):
        assert array.dtype == "i4"
        assert array.metadata.zarr_format == 2
        assert list(array.attrs) == ["_ARRAY_DIMENSIONS"]
        assert array.dims == ("variants", "samples")
        assert array.fill_value == 0
        assert array.blocks.shape == (6, 1)
        assert array.nchunks_initialized == 6

    Rounds(6)(lambda: vczc.open(CONTENT)["x"], call)


def test_stored_chunks_of_one_store():
    """The arrays that a store keeps for `fetch_chunk` are made by whoever comes first."""

    def call(number, store):
        if number == 6:
            store.close()
            return
        try:
            stored = bytes(store.fetch_chunk("x", (number, 0)))
        except vczc.StoreError as err:
            require_closed(store, err)
        else:
            assert stored == CONTENT[f"x/{number}.0"]

    Rounds(7)(lambda: vczc.open(CONTENT).store, call)


def test_streams_side_by_side():
    """Each thread has its own, of one group."""
    group = vczc.open(CONTENT)

    def call(number, _):
        rows = [part["x"] for part in vczc.stream(group, "x", threads=1 + number % 3)]
        np.testing.assert_array_equal(np.concatenate(rows), WHOLE)

    Rounds(5, 12)(lambda: None, call)


def test_errors_of_a_mapping_find_their_thread():
    """What a mapping raised is the cause in the thread that asked, and in no other."""

    class Failing(dict):
        def __getitem__(self, key):
            if key.startswith("x/") and key[2:3].isdigit():
                raise RuntimeError(f"no {key} today")
            return super().__getitem__(key)

    def call(number, array):
        with pytest.raises(vczc.StoreError) as caught:
            array.blocks[number]
        assert f"no x/{number}.0 today" in str(caught.value)
        assert str(caught.value.__cause__) == f"no x/{number}.0 today"

    Rounds(6)(lambda: vczc.open(Failing(CONTENT))["x"], call)


def test_text_and_arrow_of_one_array():
    texts = np.array([f"text {i}" * (i % 9) for i in range(600)], object)
    content = oracle.write(texts, (100,), oracle.TEXT).content
    expected = texts.tolist()

    def call(number, array):
        assert array.blocks[number].tolist() == expected[number * 100 :][:100]
        strings = array.blocks.strings(number)
        schema, data = strings.__arrow_c_array__()
        assert len(strings) == 100
        del schema, data

    Rounds(6)(lambda: vczc.open(content)["x"], call)


class Slow(dict):
    """Chunks that take their time, so that threads are found at work."""

    def __getitem__(self, key):
        if key[2:3].isdigit():
            time.sleep(0.002)
        return super().__getitem__(key)


@pytest.mark.parametrize("reuse", [False, True])
@pytest.mark.parametrize("threads", [1, 3])
def test_one_stream_read_by_many_threads(threads, reuse):
    """Those who come too soon are refused; no part is lost, and none is given twice."""
    refusals = []

    def call(_, shared):
        stream, got = shared
        while True:
            try:
                part = next(stream, None)
            except ValueError as err:
                refusals.append(str(err))
                time.sleep(0.0005)
                continue
            if part is None:
                return
            got.append(part.start)

    def prepare():
        made.append((vczc.stream(vczc.open(Slow(CONTENT)), "x", threads=threads, reuse=reuse), []))
        return made[-1]

    made = []
    Rounds(3, 4)(prepare, call)
    assert refusals
    assert all("read already" in refusal for refusal in refusals)
    for stream, got in made:
        assert sorted(got) == list(range(0, len(WHOLE), 100))
        assert next(stream, None) is None


@pytest.mark.parametrize("threads", [1, 3])
def test_a_stream_closed_by_another_thread(threads):
    """The loop ends, what it was given is right, and no worker stays."""

    def call(number, stream):
        if number == 0:
            time.sleep(random.random() * 0.01)
            stream.close()
            stream.close()
            return
        for part in stream:
            assert (part["x"] == WHOLE[part.start : part.stop]).all()

    def prepare():
        made.append(vczc.stream(vczc.open(Slow(CONTENT)), "x", threads=threads))
        return made[-1]

    made = []
    Rounds(2, 30)(prepare, call)
    for stream in made:
        assert next(stream, None) is None
        with pytest.raises(ValueError, match="closed"):
            iter(stream)
    for thread in threading.enumerate():
        if thread.name.startswith("vczc-stream"):
            thread.join(10)
            assert not thread.is_alive()


def test_a_stream_is_not_read_by_its_own_progress_function():
    def progress(*_):
        with pytest.raises(ValueError, match="read already"):
            next(stream)
        seen.append(1)

    seen = []
    stream = vczc.stream(vczc.open(CONTENT), "x", threads=1, progress=progress)
    rows = [part["x"] for part in stream]
    assert np.array_equal(np.concatenate(rows), WHOLE)
    assert len(seen) == len(rows)
