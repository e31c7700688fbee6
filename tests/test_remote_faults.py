# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Servers that refuse, are silent, or claim to have very much."""

from __future__ import annotations

import io
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import zipfile

import http_server
import numpy as np
import oracle
import pytest
import zarr

import vczc
from vczc import remote

ONCE = {"retry_config": {"max_retries": 0}}
GIGANTIC = 100 << 30


class Server(http_server.Server):
    """Serves a mapping of paths to bytes; to some paths it gives a status, or bytes without end."""

    def __init__(self, content):
        super().__init__(Handler)
        self.content = content
        self.statuses = {}  # by pattern
        self.endless = re.compile("(?!)")
        self.silent = re.compile("(?!)")
        self.asked = threading.Event()  # what is silent
        self.nsent = 0

    def handle_error(self, request, client_address):
        """A client that goes away in the middle is what some of the tests are about."""


class Handler(http_server.Handler):
    def answer(self, with_body):
        server, path = self.server, self.path.lstrip("/")
        for pattern, status in server.statuses.items():
            if re.fullmatch(pattern, path):
                return self.reply(status, b"", with_body)
        if server.silent.search(path):
            server.asked.set()
            return self.rfile.read(1)  # until the client goes away
        if server.endless.search(path):
            return self.pour(with_body)
        if path not in server.content:
            return self.reply(404, b"", with_body)
        return self.give(server.content[path], with_body)

    def pour(self, with_body):
        self.head(200, GIGANTIC)
        while with_body:
            self.wfile.write(bytes(1 << 16))
            self.server.nsent += 1 << 16


@pytest.fixture(scope="module", params=oracle.FORMATS)
def stored(request):
    """An array of 10 chunks of 400 bytes, as keys and bytes, and what is in it."""
    store = {}
    root = zarr.open_group(store, mode="w", zarr_format=request.param)
    values = np.arange(1000, dtype="i4")
    root.create_array("x", shape=values.shape, chunks=(100,), dtype="i4", compressors=None)
    root["x"][:] = values
    zarr.consolidate_metadata(store)
    return {key: value.to_bytes() for key, value in store.items()}, values


@pytest.fixture
def server(stored):
    content, _ = stored
    server = Server({f"cohort/{key}": value for key, value in content.items()})
    server.content["cohort.zip"] = oracle.zip_bytes(content)
    server.content["deflated.zip"] = oracle.zip_bytes(content, zipfile.ZIP_DEFLATED)
    with http_server.running(server):
        yield server


def check(root, values):
    assert list(root) == ["x"]
    np.testing.assert_array_equal(root["x"][:], values)
    np.testing.assert_array_equal(root["x"].read(np.s_[5:990:7], threads=3), values[5:990:7])
    np.testing.assert_array_equal(root["x"].blocks[3], values[300:400])


# ---- Refusals ----


@pytest.mark.parametrize("status", [401, 403, 407, 429, 500, 503])
@pytest.mark.parametrize("path", ["cohort.zip", "cohort", "nothing"])
def test_what_is_refused_is_not_absent(server, status, path):
    server.statuses = {f"{path}(/.*)?": status}
    with pytest.raises(vczc.StoreError, match=str(status)) as caught:
        vczc.open(server.url(path), storage_options=ONCE)
    assert not isinstance(caught.value, FileNotFoundError)


@pytest.mark.parametrize("status", [401, 403, 500])
def test_an_archive_that_is_refused_where_nothing_lies_below_it(server, status):
    server.statuses = {"cohort.zip": status}
    with pytest.raises(vczc.StoreError, match=str(status)):
        vczc.open(server.url("cohort.zip"), storage_options=ONCE)


@pytest.mark.parametrize("status", [401, 403, 404, 405, 500])
def test_a_folder_whose_name_alone_is_refused(server, stored, status):
    """As a bucket does that may be read, and not be listed."""
    server.statuses = {"cohort/?": status}
    check(vczc.open(server.url("cohort"), storage_options=ONCE), stored[1])
    above = vczc.open_array(server.url(""), path="cohort/x", storage_options=ONCE)
    np.testing.assert_array_equal(above[:], stored[1])


@pytest.mark.parametrize("status", [401, 403, 500])
def test_a_chunk_that_is_refused_is_not_the_fill_value(server, status):
    root = vczc.open(server.url("cohort"), storage_options=ONCE)
    server.statuses = {r"cohort/x/(c/)?3": status}
    with pytest.raises(vczc.StoreError, match=str(status)):
        root["x"].blocks[3]


# ---- Archives with something before or behind them ----


@pytest.mark.parametrize("before", [b"#!/bin/sh\nexit\n", b"MZ" + bytes(100_000)])
@pytest.mark.parametrize("comment", [b"", b"c" * 65_535])
@pytest.mark.parametrize("moved", [False, True])
def test_an_archive_behind_other_bytes(server, stored, before, comment, moved, tmp_path):
    """By its bytes, as locally; offsets may count from the archive's or from the file's start."""
    file = io.BytesIO(before if moved else b"")
    file.seek(0, io.SEEK_END)
    with zipfile.ZipFile(file, "a") as archive:
        for key, value in stored[0].items():
            archive.writestr(key, value)
        archive.comment = comment
    data = file.getvalue() if moved else before + file.getvalue()
    (tmp_path / "program").write_bytes(data)
    server.content["program"] = data
    check(vczc.open(tmp_path / "program"), stored[1])
    check(vczc.open(server.url("program")), stored[1])


@pytest.mark.parametrize("page", [b"<!DOCTYPE html>" + b"." * n for n in (0, 10, 70_000)])
def test_a_page_is_no_archive(server, stored, page):
    server.content["cohort"] = page
    check(vczc.open(server.url("cohort")), stored[1])


# ---- Very much ----


@pytest.mark.parametrize("has_ranges", [True, False])
@pytest.mark.parametrize("path", ["cohort", "cohort.zip", "deflated.zip"])
def test_values_whose_size_is_asked_for_first(server, stored, monkeypatch, path, has_ranges):
    monkeypatch.setattr(remote, "_MAX_UNASKED", 50)
    server.has_ranges = has_ranges
    if has_ranges or path == "cohort":
        check(vczc.open(server.url(path)), stored[1])


def test_a_chunk_without_end(server):
    """100 GB where 400 bytes can be meant: refused by its size."""
    array = vczc.open(server.url("cohort"))["x"]
    server.endless = re.compile(r"x/(c/)?3$")
    for call in (lambda: array.blocks[3], lambda: array[:], lambda: array[350]):
        with pytest.raises(vczc.CorruptChunkError, match=r"more than the \d+ that can be meant"):
            call()
    assert server.nsent < 64 << 20
    assert array.blocks[2][0] == 200


def test_a_document_without_end(server, stored):
    names = {"zarr.json", *(name for name in stored[0] if "/" not in name)}
    for name in names:
        server.endless = re.compile(f"cohort/{re.escape(name)}$")
        with pytest.raises(vczc.MetadataError, match="more than the"):
            list(vczc.open(server.url("cohort")))
    assert server.nsent < 64 << 20


# ---- Silence ----

SILENT = """
import sys, threading
import vczc

try:
    print("asking", flush=True)
    vczc.open(sys.argv[1])
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="SIGINT to one process")
@pytest.mark.parametrize("url", ["http://127.0.0.1:{}/x.zip", "http://127.0.0.1:{}/"])
def test_ctrl_c_while_a_server_is_silent(url):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = url.format(silent.getsockname()[1])
        process = subprocess.Popen(
            [sys.executable, "-c", SILENT, url], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdout.readline() == b"asking\n"
        connection, _ = silent.accept()
        time.sleep(0.2)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert time.monotonic() - start < 10
        connection.close()
    assert (out, err, process.returncode) == (b"interrupted\n", b"", 0)


LISTING = """
import sys
import vczc

options = {"endpoint": sys.argv[1], "skip_signature": True, "region": "x"}
options["client_options"] = {"allow_http": True}
store = vczc.open("s3://bucket/cohort", storage_options=options).store
try:
    list(store)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="SIGINT to one process")
def test_ctrl_c_while_a_listing_is_silent(server):
    server.content = {f"bucket/{key}": value for key, value in server.content.items()}
    server.silent = re.compile(r"\?.*list-type")
    process = subprocess.Popen(
        [sys.executable, "-c", LISTING, server.url("").rstrip("/")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert server.asked.wait(60)
    time.sleep(0.2)
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert time.monotonic() - start < 10
    assert (out, err, process.returncode) == (b"interrupted\n", b"", 0)


# ---- Forks ----

FORKED = """
import os, signal, sys, threading, warnings
import vczc

warnings.simplefilter("ignore")


def read(root):
    array = root["x"]
    assert array[:].tolist() == list(range(1000))
    assert array.read(slice(None), threads=3).tolist() == list(range(1000))


def in_thread(call, *args):
    errors = []

    def run():
        try:
            call(*args)
        except BaseException as err:
            errors.append(err)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    for err in errors:
        raise err


def in_child(call, *args):
    pid = os.fork()
    if pid == 0:
        signal.alarm(30)
        try:
            call(*args)
            print("read", flush=True)
        except vczc.StoreError as err:
            print("refused" if "forked" in str(err) else err, flush=True)
        os._exit(0)
    if os.waitpid(pid, 0)[1] != 0:
        print("died", flush=True)


url = sys.argv[1]
in_child(lambda: read(vczc.open(url)))
root = vczc.open(url)
in_child(read, root)
in_child(lambda: read(vczc.open(url)))
in_child(in_thread, read, root)
in_child(in_child, read, root)
in_thread(in_child, read, root)
read(root)
in_thread(read, root)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.parametrize("path", ["cohort", "cohort.zip", "deflated.zip"])
def test_a_child_is_told_that_it_makes_no_requests(server, path):
    """What obstore has running is not in it; to wait for that would be for ever."""
    done = subprocess.run(
        [sys.executable, "-c", FORKED, server.url(path)],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    expected = ["read", *["refused"] * 3, "refused", "read", "refused"]
    assert (done.stdout.split(), done.stderr, done.returncode) == (expected, "", 0)
