# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Streams on their way: progress, memory that is used again, and stores that fail, wait, or lie."""

import random
import time
import tracemalloc
import zipfile
from itertools import pairwise

import numpy as np
import pytest
import stores
from hypothesis import given, settings
from hypothesis import strategies as st
from test_stream import STREAM, N, child, store, workers

import vczc

__all__ = ["store"]  # a fixture


# ---- Progress


def test_length_is_the_number_of_parts(store):
    root = store[0]
    for kwargs in (
        {},
        {"region": ["1:5-50", "1:90-91", "1:900-930"]},
        {"variants": [9, 8, 7, 90, 3, 3]},
        {"variants": slice(3, 80, 7)},
        {"variants": []},
        {"region": "1:2000-"},
    ):
        for fields in (["variant_id"], ["call_genotype", "variant_contig"], None):
            stream = vczc.stream(root, fields, **kwargs)
            assert len(stream) == len(list(stream)) == len(stream)


@settings(max_examples=50)
@given(st.lists(st.integers(0, 200), unique=True).map(sorted), st.integers(1, 50))
def test_length_of_any_rows(rows, length):
    from vczc import parts

    edges = [i for i, row in enumerate(rows) if i == 0 or rows[i - 1] != row - 1]
    ranges = [range(rows[a], rows[b - 1] + 1) for a, b in pairwise([*edges, len(rows)]) if rows]
    assert parts._count_ranges(ranges, length) == len(list(parts._cut_ranges(ranges, length)))
    index = np.array(rows, np.int64)[::-1]
    assert parts._count_index(index, length) == len(list(parts._cut_index(index, length)))


@pytest.mark.parametrize("kwargs", [{}, {"region": "1:100-650"}, {"variants": [70, 3, 3]}], ids=str)
def test_progress(store, kwargs):
    told = []
    stream = vczc.stream(
        store[0], "call_DP", progress=lambda done, total: told.append((done, total)), **kwargs
    )
    nrows = []
    for part in stream:
        assert len(told) == len(nrows)  # of the parts before this one
        nrows.append(len(part.index))
    assert told == [(sum(nrows[: i + 1]), sum(nrows)) for i in range(len(nrows))]


def test_a_progress_that_fails_ends_the_stream(store, monkeypatch):
    monkeypatch.setattr(STREAM, "_JOB_NBYTES", 1)
    stream = vczc.stream(store[0], "call_DP", threads=3, progress=lambda done, total: 1 // 0)
    next(stream)
    with pytest.raises(ZeroDivisionError):
        next(stream)
    assert not workers()
    assert next(stream, None) is None


# ---- Memory that is used again


def test_reuse_allocates_nothing_after_the_first_parts(tmp_path):
    nbytes = 100 * 5000 * 2
    calls = np.random.default_rng(1).integers(0, 9, (3000, 5000)).astype("i2")
    dims = {"attributes": {"_ARRAY_DIMENSIONS": ["variants", "samples"]}}
    stores.write(tmp_path / "d", "call_X", calls, (100, 5000), **dims)
    root = vczc.open(tmp_path / "d")
    for threads in (1, 3):
        tracemalloc.start()
        try:
            places = []
            stream = vczc.stream(root, "call_X", reuse=True, threads=threads, memory=8 * nbytes)
            for i, part in enumerate(stream):
                places.append(part["call_X"].ctypes.data)
                assert part["call_X"][3, 7] == calls[part.start + 3, 7]
                if i == 12:
                    tracemalloc.reset_peak()
                    before = tracemalloc.get_traced_memory()[0]
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak - before < nbytes // 4
        assert len(set(places)) <= 9


# ---- Stores that fail, wait, or lie


class FaultError(OSError):
    pass


class Faulty(dict):
    """A mapping whose chunks are slow, cannot be read, or are damaged, as the numbers drawn say."""

    def __init__(self, content, seed, rate, kinds):
        super().__init__(content)
        self.random = random.Random(seed)
        self.rate = rate
        self.kinds = kinds
        self.is_on = False

    def __getitem__(self, key):
        value = super().__getitem__(key)
        if not self.is_on or not key[-1].isdigit() or self.random.random() > self.rate:
            return value
        kind = self.random.choice(self.kinds)
        if kind == "wait":
            time.sleep(self.random.random() * 0.005)
            return value
        if kind == "damage":
            return value[: len(value) // 2]
        raise {"fail": FaultError, "interrupt": KeyboardInterrupt, "memory": MemoryError}[kind](key)


@pytest.mark.parametrize("kind", ["wait", "fail", "damage", "memory", "interrupt"])
@pytest.mark.parametrize("threads", [1, 4])
def test_faults_are_told_and_nothing_stays(store, monkeypatch, kind, threads):
    monkeypatch.setattr(STREAM, "_JOB_NBYTES", 1)
    root, data = store
    content = stored(root)
    fields = ["variant_position", "variant_id", "call_genotype"]
    nfaults = 0
    for seed in range(25):
        faulty = Faulty(content, seed, 0.05, [kind, "wait"])
        watched_root = vczc.open(faulty)
        stream = vczc.stream(watched_root, fields, threads=threads, reuse=seed % 2 == 0)
        faulty.is_on = True
        index, genotypes = [], []
        try:
            for part in stream:
                index += part.index.tolist()
                genotypes.append(part["call_genotype"].copy())
        except (vczc.Error, FaultError, MemoryError, KeyboardInterrupt):
            nfaults += 1
        else:
            assert len(index) == N
        assert index == list(range(len(index)))
        if genotypes:
            assert np.array_equal(np.concatenate(genotypes), data["call_genotype"][: len(index)])
        assert not workers()
        with pytest.raises(ValueError, match="another"):
            iter(stream)
    assert (nfaults > 0) == (kind != "wait")


def stored(root):
    """All of an archive as a mapping."""
    with zipfile.ZipFile(root.store.location) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_consumer_that_fails_and_a_stream_that_is_closed_while_chunks_are_waited_for(
    store, monkeypatch
):
    monkeypatch.setattr(STREAM, "_JOB_NBYTES", 1)
    content = stored(store[0])
    for seed in range(20):
        faulty = Faulty(content, seed, 1.0, ["wait"])
        root = vczc.open(faulty)
        stream = vczc.stream(root, ["call_genotype", "call_DP"], threads=4)
        faulty.is_on = True
        with pytest.raises(ZeroDivisionError), stream:
            any(1 // (i - seed % 5) > 1 for i, _ in enumerate(stream))
        assert not workers()
        assert next(stream, None) is None
        faulty.is_on = False


def test_interrupted(store):
    code = """
import random, signal, threading, time, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    content = {name: archive.read(name) for name in archive.namelist()}
class Slow(dict):
    def __getitem__(self, key):
        if key[-1].isdigit():
            time.sleep(0.001)
        return super().__getitem__(key)
root = vczc.open(Slow(content))
sys.unraisablehook = lambda _: None  # one that comes in a callback of importlib is lost there
ninterrupts = 0
for k in range(30):
    timer = threading.Timer(0.001 * (k % 10) + 0.002, signal.raise_signal, [signal.SIGINT])
    stream = vczc.stream(root, fields, threads=4)
    try:
        timer.start()
        for part in stream:
            time.sleep(0.001)
        time.sleep(1)
    except KeyboardInterrupt:
        ninterrupts += 1
    stream.close()
    timer.join()
    for _ in range(500):  # one that was being started is not joined, but ends
        if not any(t.name.startswith("vczc-stream") for t in threading.enumerate()):
            break
        time.sleep(0.01)
    else:
        raise AssertionError("a worker is left")
assert ninterrupts >= 20
print("done")
"""
    assert child(code, store[0].store.location) == "done\n"
