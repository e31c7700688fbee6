# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Reads of many chunks, which are done in batches: the same items, and Ctrl-C ends them."""

import os
import signal
import subprocess
import sys
import time

import numcodecs
import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vczc


def slices(length):
    def make(bounds, step):
        return slice(*sorted(bounds), step)

    bound = st.integers(0, length)
    return st.builds(make, st.tuples(bound, bound), st.integers(1, 40) | st.just(None))


@pytest.fixture(
    scope="module", params=[((9001, 4), (31, 4)), ((5, 9001), (2, 17)), ((40, 40), (1, 1))]
)
def many_chunks(request):
    """More than go into one batch, along either axis or along both."""
    shape, chunks = request.param
    values = np.arange(np.prod(shape), dtype="<i4").reshape(shape)
    stored = oracle.write(values, chunks, compressors=None)
    return vczc.open(stored.content)["x"], values


@given(data=st.data())
def test_batches_equal_numpy(many_chunks, data):
    array, values = many_chunks
    key = tuple(data.draw(slices(n)) for n in values.shape)
    np.testing.assert_array_equal(array[key], values[key])
    out = np.full((values[key].shape[0] + 2, values[key].shape[1] + 3), -1, values.dtype)
    array.read(key, out=out[1:-1, 1:-2])
    np.testing.assert_array_equal(out[1:-1, 1:-2], values[key])
    assert (out[0] == -1).all()
    assert (out[:, 0] == -1).all()
    assert (out[-1] == -1).all()
    assert (out[:, -2:] == -1).all()
    np.testing.assert_array_equal(array[key[0]], values[key[0]])
    assert (array[-1] == values[-1]).all()


@pytest.mark.parametrize("threads", [1, 2])
def test_results_of_many_bytes(threads):
    """Few chunks, and more bytes than one batch has."""
    values = np.arange(40_000_000, dtype="<i4").reshape(40, 1_000_000)
    stored = oracle.write(values, (4, 250_000), compressors=numcodecs.Blosc("lz4", 1))
    array = vczc.open(stored.content)["x"]
    assert (array.read(np.s_[:], threads=threads) == values).all()
    assert (array.read(np.s_[1:40:2, 3:], threads=threads) == values[1:40:2, 3:]).all()


LONG_READ = """
import sys
import numpy as np
import vczc

array = vczc.open(sys.argv[1])["x"]
out = np.empty(array.shape[0] // 1000, array.dtype)
reads = {
    "steps": lambda: array[::1000],
    "steps into out": lambda: array.read(np.s_[::1000], out=out),
    "rows": lambda: array[:1_000_000_000],
}
print("ready", flush=True)
try:
    reads[sys.argv[2]]()
except KeyboardInterrupt:
    print("interrupted", flush=True)
assert array[0] == 0  # all is as it was
"""


@pytest.fixture(scope="module")
def long_array(tmp_path_factory):
    """Minutes of decoding: 40,000 chunks of 8 MB, each of which is the same file."""
    root = tmp_path_factory.mktemp("long")
    chunk = np.arange(1_000_000, dtype="<i8") % 1000
    stored = oracle.write(chunk, chunk.shape, compressors=numcodecs.Zstd(1))
    folder = oracle.source(stored.content, "directory", root)
    document = folder / "x" / ".zarray"
    document.write_text(document.read_text().replace("1000000\n", "40000000000\n", 1))
    for i in range(1, 40_000):
        (folder / "x" / str(i)).symlink_to("0")
    assert vczc.open(folder)["x"].nchunks == 40_000
    return folder


@pytest.mark.skipif(os.name == "nt", reason="signals and links are POSIX's")
@pytest.mark.parametrize("read", ["steps", "steps into out", "rows"])
def test_ctrl_c_ends_a_long_read(long_array, read):
    child = subprocess.Popen(
        [sys.executable, "-c", LONG_READ, long_array, read], stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "interrupted\n"
        assert child.wait(20) == 0
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
