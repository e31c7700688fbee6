# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""One process with other libraries that bring a zstd, lz4, zlib or blosc of their own."""

import importlib.util
import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import zarr
from numcodecs import Blosc

import vczc

CODE = """
import importlib, sys
import numpy as np
path, sum_, *order = sys.argv[1:]
for name in order:
    importlib.import_module(name)
import vczc, numcodecs
if "tensorstore" in sys.modules:
    ts = sys.modules["tensorstore"]
    spec = {"driver": "zarr", "kvstore": {"driver": "file", "path": path + "/zstd"}}
    assert int(ts.open(spec).result().read().result().sum()) == int(sum_)
if "blosc" in sys.modules:
    blosc = sys.modules["blosc"]
    assert blosc.decompress(blosc.compress(b"a text " * 999, cname="zstd")) == b"a text " * 999
for name in ("zstd", "lz4", "zlib", "blosclz"):
    packed = numcodecs.Blosc(name).encode(np.arange(9999))
    assert np.array_equal(np.frombuffer(numcodecs.Blosc().decode(packed), "i8"), np.arange(9999))
    assert int(vczc.open(path)[name][:].sum()) == int(sum_)
print("ok")
"""

OTHERS = [name for name in ("blosc", "numcodecs", "tensorstore") if importlib.util.find_spec(name)]


@pytest.mark.parametrize("order", list(itertools.permutations([*OTHERS, "vczc"])), ids="-".join)
def test_in_one_process(tmp_path, order):
    values = np.arange(40_000, dtype="i4").reshape(-1, 4) % 1000
    root = zarr.open_group(tmp_path, mode="w", zarr_format=2)
    for codec in ("zstd", "lz4", "zlib", "blosclz"):
        compressor = Blosc(codec, shuffle=Blosc.BITSHUFFLE)
        array = root.create_array(
            codec, shape=values.shape, chunks=(3000, 4), dtype="i4", compressors=compressor
        )
        array[...] = values
    package = str(Path(vczc.__file__).parent.parent)
    command = [sys.executable, "-c", CODE, str(tmp_path), str(values.sum()), *order]
    env = {**os.environ, "PYTHONPATH": package}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=env)
    assert done.stdout == "ok\n", done.stderr
