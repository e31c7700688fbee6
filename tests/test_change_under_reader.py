# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""What happens to files while they are open, and files that are none: an error, no signal."""

import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numcodecs
import numpy as np
import oracle
import pytest
import zarr

import vczc

posix = pytest.mark.skipif(os.name != "posix", reason="files that are open cannot be changed there")


@pytest.fixture(scope="module", params=oracle.FORMATS)
def stored(request):
    return oracle.three_chunks(request.param)


@pytest.fixture
def archive(stored, tmp_path):
    """Chunks of 40 KB, so that most pages of the file hold nothing else."""
    return oracle.source(stored.content, "stored zip", tmp_path)


@pytest.fixture
def folder(stored, tmp_path):
    return oracle.source(stored.content, "directory", tmp_path)


def wait_for_the_clock(path):
    """File systems count time in ticks: the next change shows."""
    before = path.stat().st_mtime_ns
    probe = path.with_name("probe")
    while True:
        probe.write_bytes(b"")
        if probe.stat().st_mtime_ns > before:
            probe.unlink()
            return
        time.sleep(0.001)


# ---- Archives ----


@posix
def test_what_is_kept_is_not_served_of_a_changed_archive(tmp_path):
    """A row out of the block that an array keeps needs no look at the archive; it gets one."""
    stored = oracle.write(
        oracle.values("<i4", (600, 50)), (200, 50), compressors=numcodecs.Blosc("zstd", 5, 1)
    )
    archive = oracle.source(stored.content, "stored zip", tmp_path)
    array = vczc.open(archive)["x"]
    oracle.assert_same(array[3], stored.whole[3])
    oracle.assert_same(array[4], stored.whole[4])
    os.truncate(archive, archive.stat().st_size // 2)
    for row in (3, 4, 5, 450):
        with pytest.raises(vczc.StoreError):
            array[row]


@posix
@pytest.mark.parametrize("nbytes", [0, 1, 5000, -1])
def test_an_archive_cut_in_place(stored, archive, nbytes):
    """Touching a page behind the end of a map would be SIGBUS."""
    group = vczc.open(archive)
    array = group["x"]
    pinned = array.blocks.stored((0, 0))
    oracle.assert_same(array.blocks[0, 0], stored.whole[:200])
    os.truncate(archive, archive.stat().st_size - 1 if nbytes < 0 else nbytes)
    for call in (
        lambda: array.blocks[0, 0],
        lambda: array.blocks[2, 0],
        lambda: array.blocks.stored((1, 0)),
        lambda: array[...],
        lambda: array.read(np.s_[:, 3], threads=2),
        lambda: array.oindex[[1, 599]],
        lambda: list(array),
        lambda: array.nbytes_stored(),
        lambda: group["x"],
        lambda: list(group),
        lambda: list(group.store),
        lambda: group.store.fetch_chunk("x", (0, 0)),
    ):
        with pytest.raises(vczc.StoreError, match="changed") as caught:
            call()
        assert isinstance(caught.value, OSError)
    assert len(pinned) == 40_000  # not looked into: its pages are gone


@posix
def test_an_archive_written_again_in_place(stored, archive):
    array = vczc.open(archive)["x"]
    content = archive.read_bytes()
    wait_for_the_clock(archive)
    with archive.open("r+b") as file:
        file.write(content)  # the same bytes: it cannot be known that they are
    for _ in range(2):
        with pytest.raises(vczc.StoreError, match="changed"):
            array.blocks[1, 0]
    oracle.assert_reads_as(vczc.open(archive)["x"], stored)


@posix
def test_an_archive_that_grows(archive):
    array = vczc.open(archive)["x"]
    with archive.open("ab") as file:
        file.write(b"more")
    with pytest.raises(vczc.StoreError, match="changed"):
        array[0]


@posix
def test_an_archive_replaced(stored, archive):
    """`os.replace` leaves the old file as it is, but what is at the path is another store."""
    array = vczc.open(archive)["x"]
    new = archive.with_name("new.zip")
    new.write_bytes(archive.read_bytes())
    os.replace(new, archive)  # noqa: PTH105
    with pytest.raises(vczc.StoreError, match="replaced"):
        array.blocks[0, 0]
    oracle.assert_reads_as(vczc.open(archive)["x"], stored)


@posix
def test_an_archive_deleted(stored, archive):
    """The file lives as long as it is open."""
    array = vczc.open(archive)["x"]
    archive.unlink()
    oracle.assert_reads_as(array, stored)
    with pytest.raises(FileNotFoundError):
        vczc.open(archive)


@posix
def test_an_archive_renamed(stored, archive):
    array = vczc.open(archive)["x"]
    archive.rename(archive.with_name("other.zip"))
    oracle.assert_reads_as(array, stored)


@posix
def test_an_archive_that_only_changes_mode_or_links(stored, archive):
    array = vczc.open(archive)["x"]
    archive.chmod(0o400)
    oracle.assert_reads_as(array, stored)
    os.link(archive, archive.with_name("link.zip"))
    oracle.assert_reads_as(array, stored)


@posix
def test_an_archive_cut_again_and_again(archive):
    """A look comes after each read."""
    content = archive.read_bytes()
    for length in range(len(content) - 1, 0, -len(content) // 23):
        archive.write_bytes(content)
        array = vczc.open(archive)["x"]
        os.truncate(archive, length)
        for at in ((0, 0), (1, 0), (2, 0)):
            with pytest.raises(vczc.StoreError):
                array.blocks[at]


# ---- Folders ----


@posix
def test_files_of_a_folder_are_read_as_they_are(stored, folder):
    """A chunk is opened for each read; changes between two of them are seen."""
    array = vczc.open(folder)["x"]
    path = oracle.chunk_file(folder, 1)
    content = path.read_bytes()
    path.write_bytes(content[::-1])
    assert array.blocks[1, 0].tobytes() == content[::-1]
    new = path.with_name("new")
    new.write_bytes(content)
    os.replace(new, path)  # noqa: PTH105
    oracle.assert_same(array.blocks[1, 0], stored.whole[200:400])
    path.unlink()
    assert (array.blocks[1, 0] == 0).all()


@posix
def test_files_of_a_folder_cut(stored, folder):
    array = vczc.open(folder)["x"]
    path = oracle.chunk_file(folder, 1)
    for length in (39_999, 4096, 1, 0):
        os.truncate(path, length)
        with pytest.raises(vczc.CorruptChunkError) as caught:
            array.blocks[1, 0]
        assert caught.value.coords == (1, 0)
        assert str(folder) in str(caught.value)
    oracle.assert_same(array.blocks[0, 0], stored.whole[:200])


@posix
def test_a_folder_moved_away(stored, folder):
    """The folder is held open: the store stays the one that was opened."""
    array = vczc.open(folder)["x"]
    folder.rename(folder.with_name("elsewhere"))
    folder.mkdir()
    oracle.assert_reads_as(array, stored)


@posix
def test_stored_bytes_of_a_folder_outlive_the_file(stored, folder):
    for i in range(3):
        path = oracle.chunk_file(folder, i)
        pinned = vczc.open(folder)["x"].blocks.stored((i, 0))
        path.unlink()
        assert pinned == stored.whole[i * 200 : i * 200 + 200].tobytes()


# Read while another thread cuts the file and puts it back, until both have happened often enough:
# what is read is right or an error, and no signal ends the process.
CUT_WHILE_READ = """
import os, sys, threading, time
import numpy as np
import vczc

source, cut, whole, seconds = sys.argv[1], sys.argv[2], np.load(sys.argv[3]), float(sys.argv[4])
content = open(cut, "rb").read()
stop = threading.Event()

def cut_and_restore():
    file = os.open(cut, os.O_RDWR)
    while not stop.is_set():
        for nbytes in (0, 5000, len(content) // 2, len(content) - 10):
            os.ftruncate(file, nbytes)
            time.sleep(0.0003)
            os.pwrite(file, content, 0)
            time.sleep(0.0003)

thread = threading.Thread(target=cut_and_restore, daemon=True)
thread.start()
wrong = errors = 0
end = time.monotonic() + seconds
out = np.empty(whole.shape, whole.dtype)
while time.monotonic() < end:
    for read in (
        lambda a: a.blocks[0, 0], lambda a: a[100], lambda a: a[:300],
        lambda a: a[::7, 3:900:11], lambda a: a.read(np.s_[:], out=out),
    ):
        try:
            array = vczc.open(source)["x"]
            for _ in range(3):
                read(array)
        except (vczc.StoreError, vczc.CorruptChunkError):
            errors += 1
stop.set()
thread.join()
array = vczc.open(source)["x"]
assert (array[:] == whole).all()
print(errors > 0)
"""


SHARDED = {"zarr_format": 3, "shards": oracle.Shards(((10, 2),))}


@posix
@pytest.mark.parametrize("kind", ["directory", "stored zip", "deflated zip"])
@pytest.mark.parametrize(
    "settings",
    [
        {"compressors": None},
        {"compressors": numcodecs.Blosc("zstd", 1, 1)},
        {"compressors": numcodecs.Zstd(1)},
        {**SHARDED, "compressors": None},
        {**SHARDED, "compressors": zarr.codecs.BloscCodec()},
        {**SHARDED, "compressors": zarr.codecs.ZstdCodec()},
    ],
    ids=["raw", "blosc", "zstd", "raw in shards", "blosc in shards", "zstd in shards"],
)
def test_no_signal_where_a_file_is_cut_while_it_is_read(tmp_path, kind, settings):
    """A chunk or shard of some MB, and an archive of it: a map of it would end the process."""
    values = np.random.default_rng(1).integers(0, 1 << 20, (1000, 1000), "i4")
    chunks = (100, 500) if "shards" in settings else (1000, 1000)
    stored = oracle.write(values, chunks, **settings)
    source = oracle.source(stored.content, kind, tmp_path)
    cut = oracle.chunk_file(source, 0) if kind == "directory" else source
    np.save(tmp_path / "whole.npy", values)
    done = subprocess.run(
        [sys.executable, "-c", CUT_WHILE_READ, source, cut, tmp_path / "whole.npy", "1.5"],
        capture_output=True, text=True, check=False, timeout=100,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


class Vanishing(dict):
    """A mapping some of whose keys are gone between a listing and a look at them."""

    def __init__(self, content, gone):
        super().__init__(content)
        self.gone = gone

    def __getitem__(self, key):
        if key in self.gone:
            raise KeyError(key)
        return super().__getitem__(key)


def test_chunks_that_vanish_after_the_listing_are_absent(stored):
    chunks = [key for key in stored.content if key.endswith(("0.0", "1.0", "2.0", "/0"))]
    assert len(chunks) == 3
    for ngone in range(4):
        array = vczc.open(Vanishing(stored.content, set(chunks[:ngone])))["x"]
        assert array.nbytes_stored() == (3 - ngone) * 200 * 50 * 4


@posix
def test_chunks_deleted_while_they_are_counted(stored, folder):
    array = vczc.open(folder)["x"]
    stop = threading.Event()

    def come_and_go():
        path = oracle.chunk_file(folder, 1)
        content = path.read_bytes()
        while not stop.is_set():
            path.unlink()
            path.write_bytes(content)

    thread = threading.Thread(target=come_and_go)
    thread.start()
    try:
        for _ in range(2000):
            assert array.nbytes_stored() in range(80_000, 120_001)
            assert array.nchunks_initialized in (2, 3)
    finally:
        stop.set()
        thread.join()


# ---- What is no file ----


def make_fifo(path):
    os.mkfifo(path)


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as server:
        cwd = os.getcwd()  # noqa: PTH109
        os.chdir(path.parent)  # a socket's path is short
        try:
            server.bind(path.name)
        finally:
            os.chdir(cwd)


ODD = {
    "a pipe": make_fifo,
    "a socket": make_socket,
    "a folder": lambda path: path.mkdir(),
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a loop": lambda path: path.symlink_to(path.name),
}


@posix
@pytest.mark.parametrize("kind", ODD)
def test_a_chunk_that_is_no_file(stored, folder, kind):
    """It is not absent, so its items are not the fill value; and nobody waits for a writer."""
    path = oracle.chunk_file(folder, 1)
    path.unlink()
    ODD[kind](path)
    array = vczc.open(folder)["x"]
    for call in (
        lambda: array.blocks[1, 0],
        lambda: array[...],
        lambda: array.blocks.stored((1, 0)),
    ):
        with pytest.raises(vczc.StoreError) as caught:
            call()
        assert path.name in str(caught.value)
        assert not isinstance(caught.value, FileNotFoundError)
    oracle.assert_same(array.blocks[0, 0], stored.whole[:200])


@posix
@pytest.mark.parametrize("kind", ["a pipe", "a socket", "a device", "a loop"])
def test_a_document_that_is_no_file(folder, kind):
    name = ".zarray" if (folder / "x" / ".zarray").exists() else "zarr.json"
    path = folder / "x" / name
    path.unlink()
    ODD[kind](path)
    with pytest.raises(vczc.StoreError):
        vczc.open(folder)["x"]


@posix
@pytest.mark.parametrize("kind", ["a pipe", "a socket", "a device", "a loop"])
def test_a_path_that_is_no_file(tmp_path, kind):
    ODD[kind](tmp_path / "odd")
    for call in (vczc.open, vczc.ZipStore, vczc.DirectoryStore):
        with pytest.raises(vczc.StoreError) as caught:
            call(tmp_path / "odd")
        assert "odd" in str(caught.value)


@posix
def test_a_link_to_nothing_is_absent(stored, folder):
    path = oracle.chunk_file(folder, 1)
    path.unlink()
    path.symlink_to("nowhere")
    array = vczc.open(folder)["x"]
    assert (array.blocks[1, 0] == 0).all()
    assert array.nchunks_initialized == 2
    with pytest.raises(vczc.StoreError):
        vczc.open(folder, missing="error")["x"].blocks[1, 0]


@posix
def test_links_are_followed(stored, folder, archive, tmp_path):
    path = oracle.chunk_file(folder, 1)
    path.rename(tmp_path / "chunk")
    path.symlink_to(tmp_path / "chunk")
    (tmp_path / "store link").symlink_to(folder)
    (tmp_path / "archive link").symlink_to(archive)
    for name in ("store link", "archive link"):
        oracle.assert_reads_as(vczc.open(tmp_path / name)["x"], stored)


@posix
def test_a_file_where_a_folder_should_be(stored, folder, tmp_path):
    """`x/0.0/y` with a file `x/0.0` is a key that is absent."""
    group = vczc.open(folder)
    below = oracle.chunk_file(folder, 0).relative_to(folder).as_posix() + "/y"
    assert below not in group
    with pytest.raises(vczc.NodeNotFoundError):
        group[below]
    with pytest.raises(FileNotFoundError):
        vczc.open(oracle.chunk_file(folder, 0) / "y")


@posix
def test_a_loop_of_folders_ends(stored, folder):
    (folder / "x" / "again").symlink_to(folder)
    group = vczc.open(folder)
    oracle.assert_reads_as(group["x/again/x"], stored)
    try:
        keys = list(group.store)
    except vczc.StoreError:  # the system's error for too many links
        return
    assert len(keys) < 10_000


# ---- Paths and permissions ----


@posix
@pytest.mark.parametrize("kind", ["directory", "stored zip"])
def test_a_change_of_directory(stored, tmp_path, monkeypatch, kind):
    source = oracle.source(stored.content, kind, tmp_path)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    for path in (source.name, f"./{source.name}", f"elsewhere/../{source.name}"):
        monkeypatch.chdir(tmp_path)
        array = vczc.open(path)["x"]
        monkeypatch.chdir(tmp_path / "elsewhere")
        oracle.assert_reads_as(array, stored)
        assert Path(array.store.location).is_absolute()
        with pytest.raises(FileNotFoundError):
            vczc.open(path)
        oracle.assert_reads_as(vczc.open(array.store.location)["x"], stored)


DENIED = """
import os, sys
import vczc
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
root, what = sys.argv[1:]
try:
    group = vczc.open(root)
    array = group["x"]
    print("opened")
    array.blocks[1, 0]
except vczc.StoreError as err:
    assert not isinstance(err, FileNotFoundError), err
    assert "Permission denied" in str(err), err
    print("denied", os.path.basename(what) in str(err))
"""


@posix
@pytest.mark.parametrize("what", ["chunk", "document", "root"])
def test_permission_denied(stored, what):
    """Not absent, but an error: else all would read as the fill value."""
    with tempfile.TemporaryDirectory() as above:  # tmp_path is closed to others, root becomes one
        Path(above).chmod(0o755)
        check_permission_denied(oracle.source(stored.content, "directory", Path(above)), what)


def check_permission_denied(folder, what):
    folder.chmod(0o755)
    document = "x/.zarray" if (folder / "x" / ".zarray").exists() else "x/zarr.json"
    path = {"chunk": oracle.chunk_file(folder, 1), "document": folder / document, "root": folder}[
        what
    ]
    path.chmod(0)
    try:
        done = subprocess.run(
            [sys.executable, "-c", DENIED, str(folder), str(path)],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )
    finally:
        path.chmod(0o755)
    assert done.stderr == ""
    expected = ["opened", "denied True"] if what == "chunk" else ["denied True"]
    assert done.stdout.split("\n")[:-1] == expected
