# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Stores that claim far more than they hold, or have no end: what is done with them is bounded."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import time
from itertools import pairwise

import numcodecs
import numpy as np
import pytest

import vczc
from vczc import display
from vczc.cli import sources
from vczc.cli.__main__ import run

CODECS = (
    numcodecs.Zstd(22),
    numcodecs.GZip(9),
    numcodecs.Zlib(9),
    numcodecs.LZ4(),
    numcodecs.Blosc("zstd", 9),
    numcodecs.Blosc("lz4", 9),
)
GROUP = b'{"zarr_format": 2}'


def document(**changes):
    base = {
        "zarr_format": 2, "shape": [10], "chunks": [10], "dtype": "|u1", "compressor": None,
        "filters": None, "fill_value": 0, "order": "C",
    }  # fmt: skip
    return json.dumps({**base, **changes}).encode()


@pytest.fixture
def huge():
    """A million million chunks of one byte, three of them stored."""
    store = {".zgroup": GROUP, "x/.zarray": document(shape=[10**12], chunks=[1])}
    return {**store, "x/0": b"a", "x/500000000000": b"b", "x/999999999999": b"c"}


def write(folder, files):
    for key, data in files.items():
        path = folder / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def test_what_a_huge_array_tells(huge):
    array = vczc.open(huge)["x"]
    assert array.nchunks_initialized == 3
    assert "3 stored of 1000000000000" in str(array.info)
    assert "3 stored of 1000000000000" in array._repr_html_()
    assert "1000000000000" in str(vczc.open(huge).tree()).replace(",", "")


def test_long_steps_pass_over_chunks(huge):
    """A walk over all chunks between the items would take days."""
    array = vczc.open(huge)["x"]
    assert array[:: 5 * 10**11].tolist() == [97, 98]
    assert array[:: 10**12 - 1].tolist() == [97, 99]
    assert array[5 * 10**11 :: 10**30].tolist() == [98]
    assert array.oindex[[0, 5 * 10**11, 10**12 - 1]].tolist() == [97, 98, 99]


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 40])
def test_steps_beside_the_chunk_length(chunk):
    values = np.arange(40, dtype="u1")
    store = {".zgroup": GROUP, "x/.zarray": document(shape=[40], chunks=[chunk])}
    for start in range(0, 40, chunk):
        part = values[start : start + chunk].tobytes()
        store[f"x/{start // chunk}"] = part.ljust(chunk, b"\xff")
    array = vczc.open(store)["x"]
    for step in range(1, 45):
        for start, stop in itertools.product((0, 1, 6, 39), (0, 7, 21, 40)):
            got = array.read(slice(start, stop, step), threads=1 + step % 2)
            assert got.tolist() == values[start:stop:step].tolist()


def test_iteration_begins_at_once():
    """What is read ahead is bounded in bytes and in chunks."""

    class Counting(dict):
        nreads = 0

        def __getitem__(self, key):
            self.nreads += 1
            return super().__getitem__(key)

    store = Counting({".zgroup": GROUP, "x/.zarray": document(shape=[10**12], chunks=[1])})
    rows = iter(vczc.open(store)["x"])
    assert [int(next(rows)) for _ in range(3)] == [0, 0, 0]
    assert store.nreads < 5000


def test_hints_for_all_of_a_huge_grid(huge):
    begin = time.monotonic()
    vczc.open(huge)["x"].blocks.prefetch([..., slice(5, None), 0])
    assert time.monotonic() - begin < 10


@pytest.mark.parametrize("shape", [[10**12], [10**6, 10**6], [0, 10**15]])
def test_check_of_a_huge_grid(tmp_path, shape, capsys):
    folder = write(
        tmp_path / "s",
        {".zgroup": GROUP, "x/.zarray": document(shape=shape, chunks=[1] * len(shape))},
    )
    assert run(["check", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["chunks"] == 0


CLAIM = """
import resource, sys
import vczc

array = vczc.open(sys.argv[1])["x"]
with open("/proc/self/statm") as file:
    size = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + (256 << 20), -1))
for read in (lambda: array[5], lambda: array[::1 << 30]):
    try:
        read()
    except vczc.CorruptChunkError as err:
        print(err.coords)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is Linux's")
@pytest.mark.parametrize("codec", CODECS, ids=str)
def test_a_chunk_that_cannot_be_so_large(tmp_path, codec):
    """8 GiB by the metadata, a few bytes stored: refused before that much memory is asked for."""
    n = 8 << 30
    files = {
        ".zgroup": GROUP,
        "x/.zarray": document(shape=[n], chunks=[n], compressor=codec.get_config()),
        "x/0": codec.encode(bytes(100_000)),
    }
    done = subprocess.run(
        [sys.executable, "-c", CLAIM, write(tmp_path / "s", files)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("(0,)\n(0,)\n", "")


@pytest.mark.parametrize("codec", CODECS, ids=str)
def test_chunks_that_pack_as_close_as_can_be(codec):
    for n in (1, 7, 254, 255, 256, 1031, 1032, 1033, 40_000, 1 << 20, 40 << 20):
        store = {
            ".zgroup": GROUP,
            "x/.zarray": document(shape=[n], chunks=[n], compressor=codec.get_config()),
            "x/0": codec.encode(bytes([7]) * n),
        }
        array = vczc.open(store)["x"]
        assert (array[:] == 7).all()
        assert array[n // 2] == 7


@pytest.mark.skipif(not hasattr(os, "symlink") or os.name == "nt", reason="POSIX links")
def test_links_in_circles(tmp_path, capsys):
    """A walk ends: links back to a folder on the way are not followed."""
    files = {
        ".zgroup": GROUP,
        "g/.zgroup": GROUP,
        "g/x/.zarray": document(),
        "g/x/0": b"0123456789",
    }
    folder = write(tmp_path / "s", files)
    for name in ("up", "again", "x/up"):
        (folder / "g" / name).symlink_to(folder)
    (folder / "me").symlink_to(".")
    root = vczc.open(folder)
    assert list(root) == ["g"]
    assert list(root["g"]) == ["x"]
    assert str(root.tree()).count("\n") == 2
    assert root.store.keys() == sorted(files)
    assert root["g/x"].nchunks_initialized == 1
    assert root["g/up/me/g/x"][0] == 48  # who names a path gets it
    assert run(["check", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["chunks"] == 1


def two_links_a_level(tmp_path, nlevels):
    """Each level holds two links to the next one, which lies elsewhere: no link leads back."""
    levels = [write(tmp_path / f"level {i}", {".zgroup": GROUP}) for i in range(nlevels)]
    for upper, lower in pairwise(levels):
        (upper / "a").symlink_to(lower)
        (upper / "b").symlink_to(lower)
    return levels[0]


@pytest.mark.skipif(os.name == "nt", reason="POSIX links")
def test_links_that_multiply(tmp_path):
    """2^30 keys out of 60 links: the listing ends with an error; what is named is still there."""
    folder = two_links_a_level(tmp_path, 31)
    start = time.monotonic()
    with pytest.raises(vczc.StoreError, match="links in links"):
        vczc.DirectoryStore(folder).keys()
    assert time.monotonic() - start < 60
    root = vczc.open(folder)
    assert list(root) == ["a", "b"]
    assert root["/".join("ab" * 10)].attrs == {}


@pytest.mark.skipif(os.name == "nt", reason="POSIX links")
def test_links_that_put_a_store_together(tmp_path):
    """Arrays that lie elsewhere, one of them twice, through links to links: each key is listed."""
    array = {".zarray": document(), "0": b"0123456789"}
    write(tmp_path / "elsewhere" / "x", array)
    (tmp_path / "groups").mkdir()
    (tmp_path / "groups" / "g").symlink_to(tmp_path / "elsewhere")
    folder = write(tmp_path / "s", {".zgroup": GROUP})
    (folder / "x").symlink_to(tmp_path / "elsewhere" / "x")
    (folder / "y").symlink_to(tmp_path / "elsewhere" / "x")
    (folder / "groups").symlink_to(tmp_path / "groups")
    names = [f"{path}/{name}" for path in ("groups/g/x", "x", "y") for name in array]
    assert vczc.DirectoryStore(folder).keys() == sorted([".zgroup", *names])
    for path in ("groups/g/x", "x", "y"):
        assert vczc.open_array(folder, path=path).nchunks_initialized == 1


@pytest.mark.parametrize("command", ["tree", "info", "check"])
@pytest.mark.parametrize("as_json", [False, True])
def test_groups_in_groups_without_end(tmp_path, capsys, command, as_json):
    files = {"d/" * depth + ".zgroup": GROUP for depth in range(500)}
    files["x/.zarray"] = document()
    folder = write(tmp_path / "s", files)
    status = run([command, str(folder), *["--json"] * as_json])
    assert status == 2
    assert "more than 64 deep" in capsys.readouterr().out
    assert "deeper than this" in str(vczc.open(folder).tree())


def links_to_one_another(folder):
    """Ten groups, in each of which two links lead to the next: 2^10 paths."""
    write(folder, {".zgroup": GROUP, "x/.zarray": document()})
    for i in range(10):
        write(folder / f"level {i}", {".zgroup": GROUP})
    (folder / "all").symlink_to(folder / "level 0")
    for i in range(9):
        for name in "ab":
            (folder / f"level {i}" / name).symlink_to(folder / f"level {i + 1}")
    return folder


def many_groups(folder):
    names = ["", *(f"{i}/" for i in range(700))]
    return write(folder, {f"{name}.zgroup": GROUP for name in names})


@pytest.mark.skipif(os.name == "nt", reason="POSIX links")
@pytest.mark.parametrize("make", [links_to_one_another, many_groups])
def test_more_nodes_than_can_be_walked(tmp_path, capsys, monkeypatch, make):
    """What is shown ends, and says that it does; with a bound of 500, for the time it takes."""
    assert sources.MAX_NODES == display._MAX_NODES == 10_000
    monkeypatch.setattr(sources, "MAX_NODES", 500)
    monkeypatch.setattr(display, "_MAX_NODES", 500)
    folder = make(tmp_path / "s")
    tree = str(vczc.open(folder).tree())
    assert tree.count("\n") <= 501
    assert "only the first 500" in tree
    assert vczc.open(folder)._repr_html_()
    for command in ("tree", "info", "check"):
        for option in ([], ["--json"]):
            assert run([command, str(folder), *option]) == 2
            out = capsys.readouterr().out
            assert out.count("more than 500 groups and arrays are not looked into") == 1
            assert out.count("\n") < 3000


@pytest.mark.parametrize("n", [-(10**30), -1, 5000, 2**31, 2**32 + 1, 10**30])
def test_thread_counts_that_cannot_be(n, huge):
    with pytest.raises(ValueError, match="threads"):
        vczc.set_threads(n)
    if n < 1 or n >= 2**31:
        with pytest.raises(ValueError, match="threads"):
            vczc.open(huge)["x"].read(slice(0, 2), threads=n)
    with pytest.raises(TypeError):
        vczc.set_threads(1.5)
