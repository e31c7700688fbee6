# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Nothing of a block's size is allocated or copied where nothing needs to be."""

import ctypes
import gc
import mmap
import os
import subprocess
import sys
import tracemalloc
import zipfile

import numcodecs
import numpy as np
import oracle
import pytest

import vczc

N = 1 << 19  # items of a chunk, one byte each: far above what else may be allocated
SMALL = 20_000


def settings_of(zarr_format, codec):
    if zarr_format == 2:
        blosc = numcodecs.Blosc("zstd", 1, numcodecs.Blosc.BITSHUFFLE)
        return {"zarr_format": 2, "compressors": {"none": None, "blosc": blosc}[codec]}
    from zarr.codecs import BloscCodec

    return {"zarr_format": 3, "compressors": {"none": (), "blosc": BloscCodec()}[codec]}


@pytest.fixture(scope="module", params=[(2, "none"), (2, "blosc"), (3, "blosc")], ids=str)
def stored(request):
    data = np.random.default_rng(1).integers(0, 3, (2 * N + 5,)).astype("i1")
    return oracle.write(data, (N,), **settings_of(*request.param))


@pytest.fixture(params=oracle.KINDS)
def array(request, stored, tmp_path):
    return vczc.open(oracle.source(stored.content, request.param, tmp_path))["x"]


class Allocated:
    """The most that Python's and NumPy's allocators held more than at the beginning."""

    def __enter__(self):
        gc.disable()
        tracemalloc.start()
        self.before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        return self

    def __exit__(self, *_):
        self.peak = tracemalloc.get_traced_memory()[1] - self.before
        tracemalloc.stop()
        gc.enable()


def test_what_is_counted_here_is_allocated():
    """numpy.empty is seen: else nothing below would say anything."""
    with Allocated() as allocated:
        np.empty(N, "i1")
    assert allocated.peak >= N


def test_into_the_callers_memory(array, stored):
    out = np.empty(N, "i1")
    array.blocks.read(1, out=out)
    with Allocated() as allocated:
        view = array.blocks.read(0, out=out)
    assert allocated.peak < SMALL
    assert view.__array_interface__["data"][0] == out.__array_interface__["data"][0]
    assert view.base is out
    assert not view.flags.owndata
    oracle.assert_same(view, stored.whole[:N])


def test_selections_into_the_callers_memory(array, stored):
    out = np.empty(2 * N, "i1")
    array.read(np.s_[:10], out=out[:10])
    with Allocated() as allocated:
        array.read(np.s_[5:], out=out)
    assert allocated.peak < SMALL
    oracle.assert_same(out, stored.whole[5:])


def test_a_block_is_allocated_once(array):
    """The result and nothing else."""
    array.blocks[0]
    with Allocated() as allocated:
        block = array.blocks[1]
    assert N <= allocated.peak < N + SMALL or block.base is not None
    assert block.nbytes == N


def test_an_edge_is_no_larger_than_it_is(array):
    array.blocks[2]
    with Allocated() as allocated:
        block = array.blocks[2]
    assert block.shape == (5,)
    assert block.base is None
    assert allocated.peak < SMALL


def maps():
    """Address ranges of this process by the file that is mapped there."""
    with open("/proc/self/maps", encoding="utf-8") as file:  # noqa: PTH123
        for line in file:
            parts = line.split(maxsplit=5)
            if len(parts) == 6:
                start, stop = (int(text, 16) for text in parts[0].split("-"))
                yield start, stop, parts[5].rstrip("\n")


def address_of(view):
    return np.frombuffer(view, "u1").__array_interface__["data"][0]


@pytest.mark.skipif(sys.platform != "linux", reason="where a file is mapped is Linux's to say")
def test_stored_bytes_of_an_archive_lie_in_its_map(stored, tmp_path):
    path = oracle.source(stored.content, "stored zip", tmp_path)
    content = path.read_bytes()
    with vczc.ZipStore(path) as store:
        array = vczc.open(store)["x"]
        (start, stop), *_ = [(a, b) for a, b, name in maps() if name == os.fspath(path)]
        with zipfile.ZipFile(path) as archive:
            entries = {entry.filename: entry for entry in archive.infolist()}
        for i in range(3):
            with Allocated() as allocated:
                views = [array.blocks.stored(i), store.fetch_chunk("x", i)]
            assert allocated.peak < SMALL
            key = next(k for k in entries if oracle.is_chunk(k) and k.endswith(str(i)))
            header = entries[key].header_offset
            name, extra = np.frombuffer(content, "<u2", 2, header + 26).tolist()
            for view in views:
                assert address_of(view) == start + header + 30 + name + extra
                assert address_of(view) + len(view) <= stop
                assert view.readonly
                assert view == stored.content[key]


@pytest.mark.skipif(sys.platform != "linux", reason="where a file is mapped is Linux's to say")
def test_a_map_lives_as_long_as_its_last_view(stored, tmp_path):
    path = oracle.source(stored.content, "stored zip", tmp_path)
    store = vczc.ZipStore(path)
    view = vczc.open(store)["x"].blocks.stored(1)
    content = bytes(view)
    part = view[5:50]
    store.close()
    del store, view
    gc.collect()
    assert [name for _, _, name in maps()].count(os.fspath(path)) == 1
    assert part == content[5:50]
    del part
    gc.collect()
    assert os.fspath(path) not in [name for _, _, name in maps()]


def test_stored_bytes_of_a_mapping_are_the_mappings_own(stored):
    array = vczc.open(stored.content)["x"]
    key = next(filter(oracle.is_chunk, stored.content))
    at = int(key[-1])
    assert address_of(array.blocks.stored(at)) == address_of(stored.content[key])


def test_memory_of_every_kind(array, stored):
    """Shared and mapped memory is written to where it lies."""
    out = mmap.mmap(-1, N)
    address = ctypes.addressof(ctypes.c_char.from_buffer(out))
    with Allocated() as allocated:
        view = array.blocks.read(1, out=out)
    assert allocated.peak < SMALL
    assert view.__array_interface__["data"][0] == address
    assert out[:] == stored.whole[N : 2 * N].tobytes()


LIMITED = """
import resource, sys
import numpy as np
import vczc

vczc.set_threads(1)
array = vczc.open(sys.argv[1])["x"]
out = np.full(array.chunks, 9, array.dtype)
with open("/proc/self/statm") as file:
    size = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + out.nbytes // 4, -1))
view = array.blocks.read(0, out=out)
print(view.base is out, (out[::1001] == np.arange(0, len(out), 1001) % 97).all())
if sys.argv[2] != "whole":  # the codec decodes parts
    out[...] = 9
    array.read(np.s_[7:], out=out[7:])
    assert (out[7::1001] == np.arange(7, len(out), 1001) % 97).all()
try:
    np.empty(out.nbytes, "i1")
except MemoryError:
    print("limited")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is Linux's")
@pytest.mark.parametrize(
    ("codec", "kind"),
    [
        ("none", "stored zip"),
        ("blosc", "stored zip"),
        ("blosc", "deflated zip"),
        ("blosc", "directory"),
        ("zlib", "directory"),
        ("zstd", "directory"),
    ],
)
def test_libvczc_allocates_nothing_of_a_blocks_size_either(tmp_path, codec, kind):
    """Where there is no room for a quarter of a block of 16 MB, it is read into the caller's."""
    parts = "parts" if codec in ("none", "blosc") else "whole"
    codec = {
        "none": None,
        "blosc": numcodecs.Blosc("zstd", 1, numcodecs.Blosc.BITSHUFFLE),
        "zlib": numcodecs.Zlib(1),
        "zstd": numcodecs.Zstd(1),
    }[codec]
    data = (np.arange(16 << 20, dtype="i4") % 97).astype("i1")
    content = oracle.by_hand(
        {"0": data.tobytes() if codec is None else bytes(codec.encode(data))},
        shape=data.shape,
        chunks=data.shape,
        dtype="|i1",
        compressor=codec and codec.get_config(),
    )
    done = run(LIMITED, oracle.source(content, kind, tmp_path), parts)
    assert done == "True True\nlimited\n"


RESIDENT = """
import resource, sys
import numpy as np
import vczc

array = vczc.open(sys.argv[1])["x"]
out = np.empty(array.chunks, array.dtype)
def read_all(times):
    for _ in range(times):
        for i in range(array.nchunks):
            array.blocks.read(i, out=out)
            array.blocks[i]
            array[i * 7 : i * 7 + 3]
            array.blocks.stored(i)
read_all(3)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
read_all(30)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux does")
@pytest.mark.parametrize("kind", ["directory", "deflated zip"])
def test_nothing_leaks(tmp_path, kind):
    """90 times a block of half a megabyte, in each of three ways."""
    data = np.random.default_rng(1).integers(0, 3, (2 * N + 5,)).astype("i1")
    stored = oracle.write(data, (N,), **settings_of(2, "blosc"))
    assert int(run(RESIDENT, oracle.source(stored.content, kind, tmp_path))) < 5000  # KB


def run(script, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout
