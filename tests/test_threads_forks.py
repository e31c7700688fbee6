# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Many threads with one handle, forks at any time, and an exit while threads run."""

import gc
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numcodecs
import numpy as np
import oracle
import pytest

import vczc

WHOLE = np.random.default_rng(1).integers(0, 5, (600, 500)).astype("i4")
CODEC = numcodecs.Blosc("zstd", 1, numcodecs.Blosc.BITSHUFFLE, 16384)
NTHREADS = 8

posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")


def content_of(whole, length, codec=CODEC):
    return oracle.by_hand(
        {f"{i}.0": codec.encode(whole[i * length :][:length]) for i in range(len(whole) // length)},
        shape=whole.shape,
        chunks=[length, whole.shape[1]],
        dtype=whole.dtype.str,
        compressor=codec.get_config(),
    )


@pytest.fixture(params=oracle.KINDS)
def source(request, tmp_path):
    return oracle.source(content_of(WHOLE, 100), request.param, tmp_path)


def in_threads(call, nthreads=NTHREADS):
    """`call(number)` in as many threads, which begin together; what they give."""
    barrier = threading.Barrier(nthreads)

    def run(number):
        barrier.wait()
        return call(number)

    with ThreadPoolExecutor(nthreads) as executor:
        return [future.result() for future in [executor.submit(run, i) for i in range(nthreads)]]


def read_at_random(array, seed, n):
    """A block, rows or a region `n` times, each compared."""
    rng = np.random.default_rng(seed)
    out = np.empty(array.chunks, array.dtype)
    for _ in range(n):
        i = int(rng.integers(0, 6))
        start, stop = sorted(rng.integers(0, 601, 2).tolist())
        kind = rng.integers(0, 5)
        if kind == 0:
            assert (array.blocks.read((i, 0), out=out) == WHOLE[i * 100 :][:100]).all()
        elif kind == 1:
            assert (array.blocks[i] == WHOLE[i * 100 :][:100]).all()
        elif kind == 2:
            assert (array[i * 99] == WHOLE[i * 99]).all()
        elif kind == 3:
            threads = int(rng.integers(1, 4))
            assert (array.read(np.s_[start:stop, i], threads=threads) == WHOLE[start:stop, i]).all()
        else:
            assert (array.oindex[[i, start // 2], 3:9] == WHOLE[[i, start // 2], 3:9]).all()
    return n


def test_one_array(source):
    array = vczc.open(source)["x"]
    assert in_threads(lambda number: read_at_random(array, number, 60)) == [60] * NTHREADS


def test_handles_that_come_and_go(source):
    def run(number):
        for i in range(15):
            array = vczc.open(source)["x"]
            read_at_random(array, number * 100 + i, 3)
        return True

    assert all(in_threads(run))


def test_text():
    texts = np.array([f"text {i}" * (i % 9) for i in range(3000)], object)
    stored = oracle.write(texts, (500,), oracle.TEXT)
    array = vczc.open(stored.content)["x"]
    expected = texts.tolist()

    def run(number):
        for _ in range(20):
            assert array[...].tolist() == expected
            start = number * 100
            assert array[start : start + 700].tolist() == expected[start : start + 700]
            assert array.blocks[number % 6].tolist() == expected[number % 6 * 500 :][:500]
            assert len(array.blocks.strings(number % 6)) == 500
        return True

    assert all(in_threads(run))


def test_each_thread_has_its_own_error():
    content = content_of(WHOLE, 100)
    for i in range(6):
        content[f"x/{i}.0"] = content[f"x/{i}.0"][: 100 + i]
    array = vczc.open(content)["x"]

    def run(number):
        at = number % 6
        for _ in range(100):
            with pytest.raises(vczc.CorruptChunkError) as caught:
                array.blocks[at]
            assert caught.value.coords == (at, 0)
            assert caught.value.key == f"x/{at}.0"
            assert f"chunk ({at}, 0)" in str(caught.value)
        return True

    assert all(in_threads(run))


def test_the_first_damaged_chunk_is_named():
    """Whichever thread comes to its chunk first."""
    for first in (1, 4):
        content = content_of(WHOLE, 100)
        for i in range(first, 6):
            content[f"x/{i}.0"] = b"damaged"
        array = vczc.open(content)["x"]
        for threads in (1, 2, 5):
            for _ in range(20):
                with pytest.raises(vczc.CorruptChunkError) as caught:
                    array.read(..., threads=threads)
                assert caught.value.coords == (first, 0)


def test_a_store_closed_while_it_is_read(source):
    """Arrays keep what they need; what is opened afterwards is an error."""
    for _ in range(5):
        store = vczc.open(source).store
        array = vczc.open(store)["x"]
        is_closed = threading.Event()

        def run(number, store=store, array=array, is_closed=is_closed):
            if number == 0:
                time.sleep(0.002)
                store.close()
                is_closed.set()
            nopened = 0
            for _ in range(20):
                was_closed = is_closed.is_set()
                read_at_random(array, number, 1)
                try:
                    vczc.open(store)["x"].blocks[0]
                    assert not was_closed
                    nopened += 1
                except vczc.StoreError:
                    assert store.closed
            return nopened

        counts = in_threads(run)
        assert len(counts) == NTHREADS
        with pytest.raises(vczc.StoreError):
            vczc.open(store)


def test_a_mapping_that_calls_back():
    """A mapping of Python's is read by threads of the pool, which take the GIL for it."""

    class Content(dict):
        def __getitem__(self, key):
            seen.add(threading.get_ident())
            time.sleep(0.0005)
            array_of_another.blocks[0]  # a read inside of a read
            return super().__getitem__(key)

    seen = set()
    array_of_another = vczc.open(content_of(WHOLE, 100))["x"]
    array = vczc.open(Content(content_of(WHOLE, 10)))["x"]
    for threads in (1, 4):
        np.testing.assert_array_equal(array.read(..., threads=threads), WHOLE)
    assert all(in_threads(lambda number: (array.read(..., threads=3) == WHOLE).all()))
    assert len(seen) > 1


def turns_during(call, ncalls=5):
    """How often a thread that gives the GIL back at once got on during each of `ncalls` calls."""
    count, stop = 0, threading.Event()

    def run():
        nonlocal count
        while not stop.is_set():
            count += 1
            time.sleep(0)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(100)  # nobody is made to give the GIL away
    thread = threading.Thread(target=run)
    thread.start()
    try:
        turns = []
        for _ in range(ncalls):
            before = count
            call()
            turns.append(count - before)
    finally:
        stop.set()
        sys.setswitchinterval(interval)
        thread.join()
    return turns


def test_the_gil_is_free_meanwhile():
    codec = numcodecs.Zlib(1)
    whole = np.random.default_rng(1).integers(0, 4, (1, 4_000_000)).astype("u1")
    array = vczc.open(content_of(whole, 1, codec))["x"]
    out = np.empty(whole.shape, "u1")
    assert max(turns_during(lambda: array.blocks.read((0, 0), out=out))) > 0


@pytest.mark.parametrize("n", [1, 2, 3, 64])
def test_set_threads(source, n):
    """Whatever their number, and while others read."""
    array = vczc.open(source)["x"]
    try:

        def run(number):
            for i in range(10):
                if number == 0:
                    vczc.set_threads((n, None, 1)[i % 3])
                assert (array[...] == WHOLE).all()
            return True

        assert all(in_threads(run, 3))
        vczc.set_threads(n)
        assert vczc._core.get_threads() == n
    finally:
        vczc.set_threads(None)


def test_large_results_are_nobody_elses(tmp_path):
    """They lie in pages that are used again: not before the last view of them is gone."""
    whole = np.repeat(np.arange(4, dtype="i4"), 1 << 21).reshape(4, -1)
    path = oracle.source(content_of(whole, 1), "stored zip", tmp_path)
    array = vczc.open(path)["x"]
    views = [array.blocks[i][0, 1000 * i : 1000 * i + 50] for i in range(4)]
    gc.collect()

    def run(number):
        for i in range(4):
            block = array.blocks[i]
            assert (block == i).all()
            block[...] = 99
            rows = array[i : i + 1]
            assert (rows == i).all()
            del block, rows
        return True

    assert all(in_threads(run, 4))
    for i, view in enumerate(views):
        assert (view == i).all()


# ---- Other processes ----

PRELUDE = """
import os, sys, threading, time
import numpy as np
import vczc
path = sys.argv[1]
group = vczc.open(path)
array = group["x"]
whole = array.read(..., threads=4)

def check(array, n=1):
    for i in range(n):
        assert (array.read(..., threads=4) == whole).all()
        assert (array.blocks[i % 6] == whole[i % 6 * 100:][:100]).all()
        assert (array[i * 7] == whole[i * 7]).all()
        assert (array[i * 7 + 1, 3:] == whole[i * 7 + 1, 3:]).all()

def forever(array):
    while True:
        check(array)
"""

FORKS = (
    PRELUDE
    + """
def wait(pid):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        time.sleep(0.001)
    os.kill(pid, 9)
    return "hangs"

nrunning = int(sys.argv[2])
for _ in range(nrunning):
    threading.Thread(target=forever, args=(array,), daemon=True).start()
for i in range(15):
    time.sleep(0.0011 * i % 0.005)
    pid = os.fork()
    if pid == 0:
        try:
            check(array, 2)
            check(vczc.open(path)["x"])
            check(vczc.open(group.store)["x"])
            grandchild = os.fork() if i % 8 == 0 else None
            if grandchild == 0:
                check(array)
                os._exit(7)
            os._exit(7 if grandchild is None else wait(grandchild) // 256)
        except BaseException:
            import traceback
            traceback.print_exc()
        finally:
            os._exit(1)
    check(array)
    status = wait(pid)
    assert status == 7 * 256, status
print("done", flush=True)
os._exit(0)
"""
)


def run_script(script, *arguments, **settings):
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env=os.environ | settings.pop("env", {}),
    )
    assert done.stderr == ""
    assert done.returncode == settings.pop("returncode", 0)
    return done.stdout


@posix
@pytest.mark.parametrize("nrunning", [0, 3])
@pytest.mark.parametrize("kind", ["directory", "stored zip"])
def test_forks_in_the_middle(tmp_path, kind, nrunning):
    """The pool, the buffers that are kept and the store work in the child, also while other
    threads of the parent were reading when it was forked."""
    source = oracle.source(content_of(WHOLE, 100), kind, tmp_path)
    assert run_script(FORKS, source, nrunning) == "done\n"


EXITS = {
    "threads that are daemons": "",
    "a thread that exits": "threading.Thread(target=sys.exit).start()\n",
    "a read at exit": "import atexit; atexit.register(check, array)\n",
    "a closed store": "group.store.close()\n",
    "everything dropped": "del array, group, whole\n",
    "os._exit": "sys.stdout.flush(); os._exit(0)\n",
}


@pytest.mark.parametrize("how", EXITS)
def test_exit_while_threads_run(tmp_path, how):
    source = oracle.source(content_of(WHOLE, 100), "stored zip", tmp_path)
    script = (
        PRELUDE
        + """
import io
def quietly(array):
    try:
        forever(array)
    except NameError:
        pass  # the module's names are gone before the thread is
for _ in range(4):
    threading.Thread(target=quietly, args=(array,), daemon=True).start()
time.sleep(0.02)
print("leaving", flush=True)
"""
        + EXITS[how]
    )
    assert run_script(script, source) == "leaving\n"


def test_threads_that_python_does_not_wait_for(tmp_path):
    """Results and views that live in the module are torn down after the library's threads ran."""
    source = oracle.source(content_of(WHOLE, 100), "directory", tmp_path)
    script = (
        PRELUDE
        + """
kept = [array.blocks[0], array.blocks.stored((1, 0)), array.read(..., threads=4), group.store]
cycle = [kept]; cycle.append(cycle)
del array, group
"""
    )
    assert run_script(script, source) == ""


@pytest.mark.parametrize(("value", "expected"), [("1", 1), ("3", 3), ("x", None), ("-2", None)])
def test_number_of_threads_by_environment(value, expected):
    script = "import vczc; print(vczc._core.get_threads())"
    default = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    got = run_script(script, env={"VCZC_NUM_THREADS": value})
    assert int(got) == (default if expected is None else expected)
