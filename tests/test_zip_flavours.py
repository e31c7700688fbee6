# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Zip archives of every writer, and damaged ones: the right data or an error, never a crash."""

import bz2
import dataclasses
import io
import json
import lzma
import os
import random
import struct
import zipfile

import numcodecs
import oracle
import pytest
import zips
from zips import Entry

import vczc


@pytest.fixture(scope="module", params=oracle.FORMATS)
def stored(request):
    return oracle.write(
        oracle.values("<i2", (7, 8), style="small"),
        (3, 4),
        zarr_format=request.param,
        attributes={"description": "ünï 🧬"},
    )


@pytest.fixture
def check(stored, tmp_path):
    """A function that reads an archive, given as bytes or entries, with and without checksums."""

    def check_archive(data, **settings):
        data = data if isinstance(data, bytes) else zips.archive(data, **settings)
        path = tmp_path / "store.zip"
        rewrite(path, data)
        for verify in (False, True):
            group = vczc.open(path, verify=verify)
            assert list(group) == ["x"]
            oracle.assert_reads_as(group["x"], stored)
            assert group["x"].attrs["description"] == "ünï 🧬"
            assert group["x"].nchunks_initialized == 6
        return group

    return check_archive


def test_as_zipfile_writes_them(stored, check):
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        check(oracle.zip_bytes(stored.content, method))


def test_own_writer_is_a_writer_of_zip(stored):
    """Python's zipfile reads what the archives below are made with."""
    entries = zips.entries_of(stored.content, method=zips.DEFLATED)
    for settings in ({}, {"zip64": True}, {"comment": b"x" * 65535}, {"before": b"y" * 99}):
        with zipfile.ZipFile(io.BytesIO(zips.archive(entries, **settings))) as archive:
            assert {name: archive.read(name) for name in archive.namelist()} == stored.content


@pytest.mark.parametrize("method", [zips.STORED, zips.DEFLATED])
@pytest.mark.parametrize("descriptor", ["", "signed", "bare"])
@pytest.mark.parametrize("zip64", [False, True])
def test_sizes_where_writers_put_them(stored, check, method, descriptor, zip64):
    entries = zips.entries_of(stored.content, method=method, descriptor=descriptor, zip64=zip64)
    for at_end in (False, True):
        check(entries, zip64=at_end)


def test_zipfile_that_streams(stored, check):
    class Unseekable(io.RawIOBase):
        def __init__(self):
            self.written = bytearray()

        def writable(self):
            return True

        def write(self, data):
            self.written += data
            return len(data)

    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        stream = Unseekable()
        with zipfile.ZipFile(stream, "w", method) as archive:
            for key, value in stored.content.items():
                with archive.open(key, "w", force_zip64=True) as file:
                    file.write(value)
        assert b"PK\7\x08" in stream.written
        check(bytes(stream.written))


@pytest.mark.parametrize("nbytes", [1, 21, 22, 1000, 65514, 65535])
def test_comments(stored, check, nbytes):
    entries = zips.entries_of(stored.content)
    check(entries, comment=b"c" * nbytes)
    check(entries, comment=(b"PK\5\6" * nbytes)[:nbytes])
    misfit = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, 46, 5, 0)  # no directory is there
    check(entries, comment=(misfit * nbytes)[:nbytes], zip64=True)


def test_a_comment_on_each_entry(stored, check):
    check(zips.entries_of(stored.content, comment=b"PK\1\2" * 20))


@pytest.mark.parametrize("nbytes", [1, 4, 4096, 100_003])
@pytest.mark.parametrize("zip64", [False, True])
@pytest.mark.parametrize("is_shifted", [False, True])
def test_bytes_before_the_archive(stored, check, nbytes, zip64, is_shifted):
    entries = zips.entries_of(stored.content, method=zips.DEFLATED)
    before = (b"#!/bin/sh\n" + b"PK\3\4" * nbytes)[:nbytes]
    check(entries, before=before, zip64=zip64, is_shifted=is_shifted)


def test_extra_fields(stored, check):
    """Those of the local header and of the directory differ in number and length."""
    time, unix = zips.extra_field(0x5455, b"\1" + bytes(4)), zips.extra_field(0x7875, bytes(11))
    for local, central in ((time + unix, b""), (b"", unix), (unix * 300, time), (b"\0", b"\0\0\0")):
        check(zips.entries_of(stored.content, local_extra=local, central_extra=central))
        check(zips.entries_of(stored.content, local_extra=local, central_extra=central, zip64=True))


def test_folders(stored, check):
    entries = zips.entries_of(stored.content)
    folders = [Entry(name, b"") for name in (b"x/", b"x/c/", b"empty/", b"/", b"./")]
    check(folders[:2] + entries)
    check(entries + folders[:2] + folders[3:])


@pytest.mark.parametrize("count", [0, 1, 5, 0xFFFF, 70_000])
def test_counts_that_are_wrong(stored, check, count):
    """Writers of more than 65,535 entries saturate the count, or let it wrap: the size rules."""
    check(zips.entries_of(stored.content), count=count or 1)
    check(zips.entries_of(stored.content), count=count or 1, zip64=True)


def test_more_entries_than_16_bits_count(stored, check):
    entries = zips.entries_of(stored.content)
    more = [Entry(b"._%d" % i, b"") for i in range(66_000)]
    check(entries[:3] + more + entries[3:])


def test_the_last_of_one_name_counts(stored, check):
    entries = zips.entries_of(stored.content)
    old = [dataclasses.replace(e, raw=b"old " + e.raw) for e in entries]
    check(old + entries)
    check(old + old[::-1] + entries)
    with pytest.raises(vczc.Error):
        check(entries + old)


def test_entries_that_share_a_local_header(stored, tmp_path):
    """As tools write them that find equal files: the directory says where the data lies."""
    data = bytearray(zips.archive(zips.entries_of(stored.content)))
    first, second = sorted(filter(oracle.is_chunk, stored.content))[:2]
    places = {}
    at = data.index(b"PK\1\2")
    while data[at : at + 4] == b"PK\1\2":
        name, extra, comment = struct.unpack_from("<HHH", data, at + 28)
        places[bytes(data[at + 46 : at + 46 + name]).decode()] = at
        at += 46 + name + extra + comment
    for offset, nbytes in ((16, 12), (42, 4)):  # checksum and sizes; place
        source = places[first] + offset
        target = places[second] + offset
        data[target : target + nbytes] = data[source : source + nbytes]
    (tmp_path / "store.zip").write_bytes(data)
    array = vczc.open(tmp_path / "store.zip", verify=True)["x"]
    both = oracle.read({**stored.content, second: stored.content[first]})
    oracle.assert_reads_as(array, both)


def test_one_folder_around_the_store(stored, check):
    for prefix in ("outer/", "ünï/", "a b/"):
        content = {prefix + key: value for key, value in stored.content.items()}
        check(zips.entries_of(content))
        strays = [
            Entry(b"__MACOSX/" + prefix.encode() + b"._zarr.json", b"junk", flags=zips.UTF8),
            Entry(b"._" + prefix.encode().rstrip(b"/"), b"junk", flags=zips.UTF8),
            Entry(prefix.encode(), b"", flags=zips.UTF8),
        ]
        check(strays + zips.entries_of(content))


def test_strays_of_macos(stored, check):
    names = [b"__MACOSX/._x", b"__MACOSX/x/._zarr.json", b"._x", b"x/._zarr.json", b"x/._0.0"]
    check([Entry(name, b"\0\5\x16\7") for name in names] + zips.entries_of(stored.content))


def test_backslashes(stored, check):
    content = {key.replace("/", "\\"): value for key, value in stored.content.items()}
    assert any("\\" in key for key in content)
    check(zips.entries_of(content))


def test_names_in_either_encoding(stored, tmp_path):
    """Group and array with names that are not ASCII."""
    array = {key[2:]: v for key, v in stored.content.items() if key.startswith("x/")}
    root = {key: v for key, v in stored.content.items() if not key.startswith("x/")}
    path = tmp_path / "store.zip"
    for name, encoding, flags in (
        ("größe", "utf-8", zips.UTF8),
        ("日本🧬", "utf-8", zips.UTF8),
        ("größe", "cp437", 0),
        ("é║π∞", "cp437", 0),
    ):
        entries = zips.entries_of(root)
        for key, value in array.items():
            entries.append(Entry(f"{name}/{key}".encode(encoding), value, flags=flags))
        path.write_bytes(zips.archive(entries))
        group = vczc.open(path)
        assert list(group) == [name]
        oracle.assert_reads_as(group[name], stored)
        assert f"{name}/{next(iter(array))}" in group.store


@pytest.mark.parametrize(
    "name", [b"../x/evil", b"/etc/passwd", b"x/../../evil", b"C:\\evil", b"a\0b", b"", b"n" * 65535]
)
def test_names_that_lead_astray_are_no_keys(stored, check, name):
    group = check([Entry(name, b"evil"), *zips.entries_of(stored.content)])
    for key in group.store:
        assert ".." not in key.split("/")
        assert not key.startswith("/")
        assert "\0" not in key


UNREADABLE = {
    "bzip2": {"method": zips.BZIP2, "stored": bz2.compress(b"12345678" * 40)},
    "LZMA": {
        "method": zips.LZMA,
        "stored": lzma.compress(b"12345678" * 40, lzma.FORMAT_ALONE),
    },
    "zstd": {"method": zips.ZSTD, "stored": bytes(numcodecs.Zstd(3).encode(b"12345678" * 40))},
    "deflate64": {"method": 9, "stored": b"\3\0"},
    "xz": {"method": 95, "stored": b"\xfd7zXZ\0"},
    "200": {"method": 200, "stored": b"?"},
    "encrypt": {"flags": zips.ENCRYPTED, "stored": bytes(12) + b"12345678" * 40},
    "AES": {"method": 99, "stored": b"?"},
}


@pytest.mark.parametrize("verify", [False, True])
@pytest.mark.parametrize("what", UNREADABLE)
def test_entries_that_are_not_read_are_named(stored, tmp_path, what, verify):
    """Only they: all other chunks are read."""
    key = next(key for key in stored.content if key.endswith(("1.0", "1/0")))
    content = dict(stored.content)
    content.pop(key)
    odd = Entry(key.encode(), b"12345678" * 40, **UNREADABLE[what])
    path = tmp_path / "store.zip"
    path.write_bytes(zips.archive([odd, *zips.entries_of(content)]))
    array = vczc.open(path, verify=verify)["x"]
    for at, block in stored.blocks():
        if at == (1, 0):
            for read in (array.blocks.__getitem__, array.blocks.stored):
                with pytest.raises(vczc.UnsupportedError, match=what) as caught:
                    read(at)
                assert isinstance(caught.value, NotImplementedError)
                assert key in str(caught.value)
            with pytest.raises(vczc.UnsupportedError, match=what):
                array[3]
        else:
            oracle.assert_same(array.blocks[at], block)


@pytest.mark.parametrize("what", UNREADABLE)
def test_documents_that_are_not_read_are_named(stored, tmp_path, what):
    key = next(key for key in stored.content if key in ("x/.zarray", "x/zarr.json"))
    content = {k: v for k, v in stored.content.items() if k != key}
    odd = Entry(key.encode(), b"12345678" * 40, **UNREADABLE[what])
    path = tmp_path / "store.zip"
    path.write_bytes(zips.archive([odd, *zips.entries_of(content)]))
    with pytest.raises(vczc.UnsupportedError, match=what):
        vczc.open(path)["x"]


# ---- Damage ----

LIES = {
    "stored larger": {"stored_nbytes": 1 << 20},
    "raw larger": {"raw_nbytes": 1 << 20},
    "both larger": {"raw_nbytes": 1 << 20, "stored_nbytes": 1 << 20},
    "raw huge": {"raw_nbytes": 0xFFFFFFFE},
    "raw 2**60": {"raw_nbytes": 1 << 60, "zip64": True},
    "stored 2**63": {"stored_nbytes": 1 << 63, "zip64": True},
    "raw 2**64 - 1": {"raw_nbytes": (1 << 64) - 1, "zip64": True},
    "raw 0": {"raw_nbytes": 0},
    "stored 0": {"stored_nbytes": 0},
    "raw less": {"raw_nbytes": 5},
    "stored less": {"stored_nbytes": 5},
}


@pytest.mark.parametrize("method", [zips.STORED, zips.DEFLATED])
@pytest.mark.parametrize("lie", LIES)
def test_sizes_that_lie(stored, tmp_path, lie, method):
    key = next(key for key in stored.content if key.endswith(("1.0", "1/0")))
    entries = [
        dataclasses.replace(e, method=method, **LIES[lie]) if e.name == key.encode() else e
        for e in zips.entries_of(stored.content)
    ]
    path = tmp_path / "store.zip"
    path.write_bytes(zips.archive(entries))
    array = vczc.open(path)["x"]
    with pytest.raises(vczc.CorruptChunkError) as caught:
        array.blocks[1, 0]
    assert caught.value.coords == (1, 0)
    assert caught.value.key == key


@pytest.mark.parametrize("crc", [0, 1, 0xFFFFFFFF])
def test_checksums(stored, check, tmp_path, crc):
    key = next(key for key in stored.content if key.endswith(("1.0", "1/0")))
    entries = [
        dataclasses.replace(e, crc=crc) if e.name == key.encode() else e
        for e in zips.entries_of(stored.content)
    ]
    path = tmp_path / "store.zip"
    path.write_bytes(zips.archive(entries))
    oracle.assert_reads_as(vczc.open(path)["x"], stored)
    array = vczc.open(path, verify=True)["x"]
    for _ in range(2):
        with pytest.raises(vczc.CorruptChunkError, match=r"(?i)crc"):
            array.blocks[1, 0]
    oracle.assert_same(array.blocks[0, 0], stored.whole[:3, :4])


def rewrite(path, data):
    """As a new file: some file systems flush one that is cut and written again."""
    path.unlink(missing_ok=True)
    path.write_bytes(data)


def read_all(path, **settings):
    array = vczc.open(path, **settings)["x"]
    return [array.blocks[at] for at in ((i, j) for i in range(3) for j in range(2))]


@pytest.mark.parametrize("method", [zips.STORED, zips.DEFLATED])
@pytest.mark.parametrize("comment", [b"", b"c" * 300])
@pytest.mark.parametrize("zip64", [False, True])
def test_truncation(stored, tmp_path, method, comment, zip64):
    """At whatever length: the end of the archive is gone, and nothing is read."""
    entries = zips.entries_of(stored.content, method=method, zip64=zip64)
    whole = zips.archive(entries, zip64=zip64, comment=comment)
    lengths = {*range(0, len(whole), 41), *range(len(whole) - 130, len(whole))}
    path = tmp_path / "store.zip"
    path.write_bytes(whole)
    assert len(read_all(path)) == 6
    for length in sorted(lengths, reverse=True):
        os.truncate(path, length)
        with pytest.raises(vczc.StoreError):
            vczc.open(path)


@pytest.mark.parametrize("method", [zips.STORED, zips.DEFLATED])
def test_flipped_bits(stored, tmp_path, method):
    """With checksums, and absent chunks as an error: nothing wrong is ever given."""
    whole = zips.archive(zips.entries_of(stored.content, method=method), zip64=True, comment=b"c")
    expected = [block.tobytes() for _, block in stored.blocks()]
    assert len(expected) == 6
    rng = random.Random(20)
    path = tmp_path / "store.zip"
    outcomes = set()
    for _ in range(800):
        damaged = bytearray(whole)
        for _ in range(rng.choice((1, 1, 1, 2, 8))):
            damaged[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        rewrite(path, damaged)
        try:
            blocks = read_all(path, verify=True, missing="error")
        except vczc.Error as err:
            outcomes.add(type(err))
        else:
            outcomes.add(None)
            assert [block.tobytes() for block in blocks] == expected
    assert {None, vczc.StoreError, vczc.CorruptChunkError} <= outcomes


def test_flipped_bits_without_checksums(stored, tmp_path):
    """What cannot be noticed is not: but it is an error of vczc's, or data of the right shape."""
    whole = zips.archive(zips.entries_of(stored.content, method=zips.DEFLATED))
    rng = random.Random(21)
    path = tmp_path / "store.zip"
    shapes = {block.shape for _, block in stored.blocks()}
    nread = 0
    for _ in range(300):
        damaged = bytearray(whole)
        damaged[rng.randrange(len(whole))] = rng.randrange(256)
        rewrite(path, damaged)
        try:
            blocks = read_all(path)
        except (vczc.Error, IndexError):  # a shape of fewer chunks is valid metadata
            continue
        nread += 1
        assert all(block.dtype.kind in "iu" for block in blocks)
        if {block.shape for block in blocks} == shapes:
            assert len(blocks) == 6
    assert nread > 50


def test_spliced_archives(stored, tmp_path):
    """Pieces of an archive in another order, twice, or left out."""
    whole = zips.archive(zips.entries_of(stored.content, method=zips.DEFLATED), zip64=True)
    rng = random.Random(22)
    path = tmp_path / "store.zip"
    expected = [block.tobytes() for _, block in stored.blocks()]
    for _ in range(200):
        a, b, c = sorted(rng.randrange(len(whole)) for _ in range(3))
        piece = whole[a:b]
        damaged = rng.choice(
            (whole[:a] + whole[b:], whole[:b] + whole[a:], whole[:c] + piece + whole[c:], piece * 3)
        )
        rewrite(path, damaged)
        try:
            blocks = read_all(path, verify=True, missing="error")
        except vczc.Error:
            continue
        assert [block.tobytes() for block in blocks] == expected


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 100, b"PK\5\6" + bytes(18), b"PK\3\4", b"not zip"]
)
def test_files_that_are_no_store(tmp_path, content):
    (tmp_path / "store.zip").write_bytes(content)
    for call in (vczc.open, vczc.ZipStore):
        with pytest.raises(vczc.StoreError) as caught:
            call(tmp_path / "store.zip")
        assert "store.zip" in str(caught.value)


def test_headers_of_all_lengths(tmp_path):
    """A directory of some MB: headers lie across the ends of what is read of it at once."""
    rng = random.Random(5)
    path = tmp_path / "long.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(".zgroup", b'{"zarr_format": 2}')
        for i in range(3000):
            info = zipfile.ZipInfo(f"x/{'n' * rng.randrange(200)}{i}")
            info.comment = b"c" * rng.choice([0, 0, 0, 7, 3000, 65535 if i % 100 == 0 else 1])
            extra = rng.choice([0, 0, 40, 5000])
            info.extra = b"\xfe\xca" + extra.to_bytes(2, "little") + b"e" * extra
            archive.writestr(info, str(i))
    with zipfile.ZipFile(path) as archive, vczc.ZipStore(path) as store:
        names = archive.namelist()
        assert store.keys() == sorted(names)
    array = json.dumps(
        {
            "zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "|u1", "compressor": None,
            "filters": None, "fill_value": 0, "order": "C",
        }
    ).encode()  # fmt: skip
    with zipfile.ZipFile(path, "a") as archive:  # behind all those, so that it is found by offsets
        archive.writestr("y/.zarray", array)
        archive.writestr("y/0", b"\x07")
    assert vczc.open(path)["y"][0] == 7
