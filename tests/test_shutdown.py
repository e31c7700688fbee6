# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Reading while the interpreter ends, or the system is full: no thread can be started."""

import subprocess
import sys
import threading

import numpy as np
import pytest

import vczc

READ = """
import atexit, os, sys, threading, time
import numpy as np
import vczc

root = vczc.open(sys.argv[1])
expected = np.arange(400_000, dtype="i4").reshape(4000, 100)

def check(parts, first=0):
    n = first
    for part in parts:
        assert (part["x"] == expected[part.start : part.stop]).all()
        assert part.start == n
        n = part.stop
    assert n == 4000
    print("all", flush=True)

def make(**settings):
    return vczc.stream(root, ["x"], memory="4 MB", threads=3, **settings)

def others():
    assert (root["x"].read(np.s_[:], threads=3) == expected).all()
    table = vczc.to_arrow(root, ["x"], threads=3)
    table.__arrow_c_stream__()
    print("others", flush=True)
"""

# Each begins before the interpreter ends, and is done with after.
ENDINGS = {
    "made in atexit": "atexit.register(lambda: check(make()))",
    "reused in atexit": "atexit.register(lambda: check(make(reuse=True)))",
    "begun before": """
parts = make()
first = next(parts)
atexit.register(lambda: check(parts, first.stop))
""",
    "made before": "parts = make(); atexit.register(lambda: check(parts))",
    "thread that outlives the main one": """
def late():
    threading.main_thread().join()
    time.sleep(0.2)
    check(make())
threading.Thread(target=late).start()
""",
    "thread in the middle of one": """
def late():
    parts = make()
    first = next(parts)
    threading.main_thread().join()
    time.sleep(0.2)
    check(parts, first.stop)
threading.Thread(target=late).start()
""",
    "all else in atexit": "atexit.register(lambda: (others(), print('all')))",
}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    import zarr

    folder = tmp_path_factory.mktemp("shutdown") / "store"
    root = zarr.open_group(folder, mode="w", zarr_format=2)
    values = np.arange(400_000, dtype="i4").reshape(4000, 100)
    array = root.create_array("x", shape=values.shape, chunks=(50, 100), dtype="i4")
    array.attrs["_ARRAY_DIMENSIONS"] = ["variants", "samples"]
    array[:] = values
    return folder


@pytest.mark.parametrize("ending", ENDINGS)
def test_all_is_read_while_the_interpreter_ends(source, ending):
    done = subprocess.run(
        [sys.executable, "-c", READ + ENDINGS[ending], source],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.stderr == ""
    assert done.returncode == 0
    assert done.stdout.split()[-1:] == ["all"]


@pytest.mark.parametrize("nstarted", [0, 1, 2])
def test_a_stream_where_no_thread_can_be_started(source, monkeypatch, nstarted):
    """A system may refuse any of them; those that run go on with what they have."""
    start = threading.Thread.start
    left = nstarted

    def start_few(thread):
        nonlocal left
        if not left:
            msg = "can't start new thread"
            raise RuntimeError(msg)
        left -= 1
        start(thread)

    expected = np.arange(400_000, dtype="i4").reshape(4000, 100)
    monkeypatch.setattr(threading.Thread, "start", start_few)
    for reuse in (False, True):
        n = 0
        for part in vczc.stream(vczc.open(source), ["x"], memory="4 MB", threads=4, reuse=reuse):
            assert (part["x"] == expected[part.start : part.stop]).all()
            assert part.start == n
            n = part.stop
        assert n == 4000
