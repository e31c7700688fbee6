# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Stores behind a URL: objects over HTTP and in a bucket, archives, and what goes wrong there."""

from __future__ import annotations

import json
import pickle
import re
import sys
import zipfile
from pathlib import Path

import http_server
import numpy as np
import oracle
import pytest
import zarr
from obstore.store import LocalStore

import vczc
from vczc import remote
from vczc.cli.__main__ import run

RETRY_ONCE = {"retry_config": {"max_retries": 0}}


class Server(http_server.Server):
    """Serves `folder`; counts requests; answers 500 to what `broken` matches."""

    def __init__(self, folder):
        super().__init__(Handler)
        self.folder = Path(folder)
        self.requests: list[tuple[str, str | None]] = []
        self.broken = re.compile("(?!)")


class Handler(http_server.Handler):
    def answer(self, with_body):
        server = self.server
        server.requests.append((self.path, self.wanted))
        path = server.folder / self.path.lstrip("/")
        if server.broken.search(self.path):
            return self.reply(500, b"", with_body)
        if path.is_dir():
            return self.reply(200, b"<!DOCTYPE html>", with_body)
        if not path.is_file():
            return self.reply(404, b"", with_body)
        return self.give(path.read_bytes(), with_body)


@pytest.fixture
def server(tmp_path):
    with http_server.running(Server(tmp_path)) as server:
        yield server


@pytest.fixture(params=oracle.FORMATS)
def cohort(tmp_path, request):
    """A store "cohort" with consolidated metadata; two arrays, one sharded where it can be."""
    rng = np.random.default_rng(0)
    data = rng.integers(-1, 3, (60, 20, 2), "i1")
    root = zarr.open_group(str(tmp_path / "cohort"), mode="w", zarr_format=request.param)
    shards = (20, 20, 2) if request.param == 3 else None
    root.create_array("call_genotype", data=data, chunks=(10, 5, 2), shards=shards)
    root.create_array("variant_position", data=np.arange(60, dtype="i4"), chunks=(10,))
    text = root.create_array("sample_id", shape=(20,), dtype=str, chunks=(7,))
    text[:] = np.array([f"s{i}" for i in range(20)], object)
    root.attrs["vcf_zarr_version"] = "0.4"
    zarr.consolidate_metadata(str(tmp_path / "cohort"))
    return data


def zipped(folder, name, method=zipfile.ZIP_STORED, below=""):
    with zipfile.ZipFile(folder / name, "w", method) as archive:
        for path in sorted((folder / "cohort").rglob("*")):
            if path.is_file():
                key = path.relative_to(folder / "cohort").as_posix()
                archive.writestr(below + key, path.read_bytes())
    return name


def assert_is_cohort(root, data):
    assert sorted(root) == ["call_genotype", "sample_id", "variant_position"]
    assert root.attrs["vcf_zarr_version"] == "0.4"
    gt = root["call_genotype"]
    np.testing.assert_array_equal(gt[...], data)
    np.testing.assert_array_equal(gt.read(np.s_[3:50:7, 4:9], threads=3), data[3:50:7, 4:9])
    np.testing.assert_array_equal(gt.blocks[5, 3], data[50:, 15:])
    assert root["sample_id"][:].tolist() == [f"s{i}" for i in range(20)]
    assert root["variant_position"].blocks.stored(3) is not None


def test_objects_over_http(server, cohort):
    """A server that lists nothing: consolidated metadata says what is there."""
    assert_is_cohort(vczc.open(server.url("cohort")), cohort)
    assert_is_cohort(vczc.open(server.url("cohort/")), cohort)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("below", ["", "cohort.vcz/", "a\\"])
def test_an_archive_over_http(server, cohort, tmp_path, method, below):
    name = zipped(tmp_path, "archive.bin", method, below)
    root = vczc.open(server.url(name))
    assert_is_cohort(root, cohort)
    assert {"call_genotype/c/0/0/0", "call_genotype/0.0.0"} & set(root.store)


def test_what_is_asked_of_an_archive(server, cohort, tmp_path):
    """After opening, a chunk is one request, and of one that was seen before too."""
    root = vczc.open(server.url(zipped(tmp_path, "x.zip")))
    array = root["variant_position"]
    server.requests.clear()
    for _ in range(2):
        np.testing.assert_array_equal(array.blocks[4], np.arange(40, 50))
    assert len(server.requests) == 2
    assert all(wanted is not None for _, wanted in server.requests)


@pytest.mark.parametrize("cohort", [3], indirect=True)
def test_one_chunk_of_a_shard_is_asked_for_by_its_range(server, cohort, tmp_path):
    array = vczc.open(server.url("cohort"))["call_genotype"]
    server.requests.clear()
    np.testing.assert_array_equal(array.blocks[3, 1], cohort[30:40, 5:10])
    size = (tmp_path / "cohort/call_genotype/c/1/0/0").stat().st_size
    asked = [wanted for _, wanted in server.requests if wanted is not None]
    spans = [[int(n) for n in wanted.removeprefix("bytes=").split("-")] for wanted in asked]
    assert len(spans) == 2  # the index, and the chunk
    assert sum(stop - start + 1 for start, stop in spans) < size


def bucket(monkeypatch, tmp_path):
    """A bucket whose objects are the files below a folder, and which can be listed."""

    def connect(url, options):
        del options
        path = tmp_path / url.removeprefix("s3://bucket").lstrip("/")
        return LocalStore(str(path), mkdir=True)

    monkeypatch.setattr(remote, "_connect", connect)


def test_a_bucket(monkeypatch, cohort, tmp_path):
    bucket(monkeypatch, tmp_path)
    assert_is_cohort(vczc.open("s3://bucket/cohort"), cohort)


@pytest.mark.parametrize("cohort", [2], indirect=True)
def test_a_bucket_without_consolidated_metadata(monkeypatch, cohort, tmp_path):
    (tmp_path / "cohort/.zmetadata").unlink()
    bucket(monkeypatch, tmp_path)
    root = vczc.open("s3://bucket/cohort")
    assert_is_cohort(root, cohort)
    assert root["call_genotype"].nchunks_initialized == 24
    assert root["variant_position"].nbytes_stored() == sum(
        p.stat().st_size
        for p in (tmp_path / "cohort/variant_position").iterdir()
        if p.name.isdigit()
    )
    assert ".zgroup" in set(root.store)


def test_streams_and_pickles(server, cohort):
    root = vczc.open(server.url("cohort"))
    again = pickle.loads(pickle.dumps(root))
    fields = ["variant_position", "call_genotype"]
    for source in (root, again):
        parts = list(vczc.stream(source, fields, threads=4))
        np.testing.assert_array_equal(np.concatenate([p["call_genotype"] for p in parts]), cohort)


# ---- What goes wrong ----


@pytest.mark.parametrize("cohort", [2], indirect=True)
def test_only_what_is_not_there_is_absent(server, cohort, tmp_path):
    (tmp_path / "cohort/variant_position/3").unlink()
    server.broken = re.compile(r"variant_position/4")
    array = vczc.open(server.url("cohort"), storage_options=RETRY_ONCE)["variant_position"]
    assert array.blocks[3].tolist() == [0] * 10
    with pytest.raises(vczc.StoreError, match="variant_position/4"):
        array.blocks[4]
    with pytest.raises(vczc.StoreError, match="not stored"):
        vczc.open(server.url("cohort"), missing="error")["variant_position"].blocks[3]


def test_nothing_there(server, tmp_path):
    (tmp_path / "empty").mkdir()
    for name in ("nothing", "empty"):
        with pytest.raises(vczc.NodeNotFoundError):
            vczc.open(server.url(name))


def test_an_archive_of_a_server_without_ranges(server, cohort, tmp_path):
    name = zipped(tmp_path, "x.zip")
    server.has_ranges = False
    with pytest.raises(vczc.StoreError, match="no ranges"):
        vczc.open(server.url(name), storage_options=RETRY_ONCE)


@pytest.mark.parametrize("cohort", [2], indirect=True)
def test_a_server_without_ranges_or_listings(server, cohort, tmp_path, capsys):
    """What can be told is told, without a request for each chunk."""
    server.has_ranges = False
    root = vczc.open(server.url("cohort"))
    assert_is_cohort(root, cohort)
    server.requests.clear()
    with pytest.raises(vczc.UnsupportedError, match="nothing is listed over HTTP"):
        _ = root["call_genotype"].nchunks_initialized
    assert "not counted" in str(root["call_genotype"].info)
    for command in (["info"], ["info", "--json"], ["tree"]):
        assert run([*command, server.url("cohort")]) == 0
    assert run(["info", server.url("cohort"), "call_genotype"]) == 0
    assert "24 chunks of 2.4 KB, not counted" in capsys.readouterr().out
    assert len(server.requests) < 60
    assert run(["check", server.url("cohort")]) == 0
    assert "33 chunks of 3 arrays" in capsys.readouterr().out
    (tmp_path / "cohort/.zmetadata").unlink()
    with pytest.raises(vczc.UnsupportedError, match="cannot be listed"):
        list(vczc.open(server.url("cohort")))


def test_nobody_answers():
    with pytest.raises(vczc.StoreError):
        vczc.open("http://127.0.0.1:9/x", storage_options=RETRY_ONCE)


@pytest.mark.parametrize("cohort", [2], indirect=True)
def test_a_damaged_archive(server, cohort, tmp_path):
    name = zipped(tmp_path, "x.zip")
    whole = (tmp_path / name).read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(vczc.StoreError, match="zip"):
        vczc.open(server.url("cut.zip"))
    root = vczc.open(server.url(name))
    (tmp_path / name).write_bytes(b"\0" * len(whole))
    with pytest.raises(vczc.StoreError, match="local header"):
        root["variant_position"].blocks[0]
    (tmp_path / name).write_bytes(whole[:100])
    with pytest.raises(vczc.StoreError):
        root["call_genotype"].blocks[0, 0]


@pytest.mark.parametrize("cohort", [2], indirect=True)
def test_archives_that_zipfile_does_not_take(server, cohort, tmp_path):
    whole = (tmp_path / zipped(tmp_path, "x.zip")).read_bytes()
    central = whole.index(b"PK\1\2")
    newer = bytearray(whole)
    newer[central + 6] = 99  # the version that is needed
    odd = bytearray(whole)
    odd[central + 9] |= 8  # the name is UTF-8 …
    odd[central + 46] = 0xFF  # … and is not
    for i, content in enumerate((newer, odd)):
        (tmp_path / f"{i}.zip").write_bytes(content)
        with pytest.raises(vczc.StoreError, match=rf"{i}\.zip"):
            vczc.open(server.url(f"{i}.zip"))
    with zipfile.ZipFile(tmp_path / "x.zip", "a") as archive:
        archive.writestr("variant_position/0-0zz", bytes(40))
    content = (
        (tmp_path / "x.zip")
        .read_bytes()
        .replace(b"variant_position/0-0zz", b"variant_position/0\x000zz")
    )
    (tmp_path / "nul.zip").write_bytes(content)
    assert_is_cohort(vczc.open(server.url("nul.zip")), cohort)
    with pytest.raises(vczc.StoreError, match="no URL"):
        vczc.open("http://[::1")


@pytest.mark.parametrize("cohort", [2], indirect=True)
def test_other_methods_are_named(server, cohort, tmp_path):
    name = zipped(tmp_path, "x.zip", zipfile.ZIP_BZIP2)
    with pytest.raises(vczc.Error, match="method 12"):
        vczc.open(server.url(name))


def test_options_are_checked():
    with pytest.raises(vczc.StoreError, match="s3://"):
        vczc.open("s3://b/x", storage_options={"no_such_option": "1"})
    with pytest.raises(ValueError, match="storage_options"):
        vczc.open("/tmp", storage_options={"region": "x"})


@pytest.mark.parametrize(
    "url", ["https://x.org/a.zip", "s3://b/k", "gs://b/k", "az://b/k", "S3://b"]
)
def test_the_extra_is_named(monkeypatch, url):
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(vczc.UnsupportedError, match=r"vczc\[remote\]"):
        vczc.open(url)


@pytest.mark.parametrize("cohort", [2], indirect=True)
def test_a_document_that_is_broken(server, cohort, tmp_path):
    (tmp_path / "cohort/.zmetadata").write_text("{")
    with pytest.raises(vczc.MetadataError):
        vczc.open(server.url("cohort"))["call_genotype"]
    (tmp_path / "cohort/.zmetadata").write_text(json.dumps({"zarr_consolidated_format": 2}))
    assert vczc.open(server.url("cohort"))["variant_position"][5] == 5
