# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""0-d arrays, axes of length 0, 32 axes, empty groups: every public function, and the command."""

import copy
import io
import json
import pickle
import sys

import numpy as np
import oracle
import pytest

import vczc
from vczc.cli.__main__ import run

NDIM = 32  # VCZC_MAX_NDIM

SHAPES = {
    "0-d": ((), ()),
    "empty": ((0,), (1,)),
    "rows without items": ((3, 0), (2, 1)),
    "no rows": ((0, 3), (1, 2)),
    "nothing of nothing": ((0, 0, 0), (1, 1, 1)),
    "one item": ((1,), (1,)),
    "32 axes": ((2,) * 3 + (1,) * (NDIM - 4) + (3,), (1,) * 3 + (1,) * (NDIM - 4) + (2,)),
    "32 axes, one empty": ((2,) + (1,) * (NDIM - 2) + (0,), (1,) * NDIM),
}
DTYPES = ("<i4", ">f8", "?", "S3", "<U2", oracle.TEXT, oracle.BYTES)
KINDS = ("directory", "stored zip", "mapping")


@pytest.fixture(params=oracle.FORMATS)
def zarr_format(request):
    return request.param


@pytest.fixture(params=SHAPES)
def shape(request):
    return SHAPES[request.param]


def write(shape, dtype, zarr_format, *, absent=False, **settings):
    lengths, chunks = shape
    values = oracle.values(dtype, lengths)
    try:
        stored = oracle.write(values, chunks, dtype, zarr_format=zarr_format, **settings)
    except TypeError:
        if dtype == oracle.BYTES and not lengths:
            pytest.skip("zarr-python 3.4 cannot write bytes of any length without an axis")
        raise
    if not absent:
        return stored
    return oracle.read({k: v for k, v in stored.content.items() if not oracle.is_chunk(k)})


# ---- Python ----


@pytest.mark.parametrize("absent", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_way_to_read(tmp_path, zarr_format, shape, dtype, absent):
    stored = write(shape, dtype, zarr_format, absent=absent)
    whole, lengths = stored.whole, stored.whole.shape
    for kind in KINDS:
        with_folder = tmp_path / kind
        with_folder.mkdir()
        array = vczc.open(oracle.source(stored.content, kind, with_folder))["x"]
        assert (array.shape, array.ndim, array.size) == (lengths, len(lengths), whole.size)
        assert array.chunks == stored.array.chunks
        assert array.cdata_shape == stored.array.cdata_shape
        assert array.nchunks == stored.array.nchunks
        assert array.blocks.shape == array.cdata_shape
        assert array.nchunks_initialized == oracle.nchunks_stored(stored)
        assert array.nbytes_stored() >= 0
        assert (array.nbytes == 0) == (whole.size == 0)
        assert len(array.chunk_size) == array.ndim
        for got in (array[...], array[()], array.read(...), np.asarray(array)):
            assert_alike(got, whole)
        if dtype not in (oracle.TEXT, oracle.BYTES):
            out = np.zeros(lengths, whole.dtype)
            array.read(..., out=out, threads=3)
            oracle.assert_same(out, whole)
        check_axes(array, whole)
        check_blocks(array, stored)
        check_rest(array)


def assert_alike(got, whole):
    """An item of a 0-d array may come as NumPy's scalar, or as a text."""
    if np.ndim(whole) == 0:
        item = np.empty((), whole.dtype)
        item[()] = got
        got = item
    oracle.assert_same(np.asarray(got), np.asarray(whole))


def check_axes(array, whole):
    if array.ndim == 0:
        for call in (len, iter, lambda a: a[0], lambda a: a[:], lambda a: a.blocks[0]):
            with pytest.raises((TypeError, IndexError)):
                call(array)
        assert_alike(array.oindex[()], whole)
        return
    assert len(array) == len(whole)
    for got, expected in zip(array, whole, strict=True):
        oracle.assert_same(np.asarray(got), np.asarray(expected))
    for key in (np.s_[:], np.s_[1:], np.s_[::2], np.s_[..., :1], np.s_[5:9]):
        oracle.assert_same(np.asarray(array[key]), np.asarray(whole[key]))
    oracle.assert_same(array.oindex[np.zeros(len(whole), bool)], whole[:0])
    oracle.assert_same(array.oindex[[]], whole[:0])
    with pytest.raises(IndexError):
        array[len(whole)]
    with pytest.raises(IndexError):
        array.oindex[[len(whole)]]


def check_blocks(array, stored):
    ndim = array.ndim
    for place, expected in stored.blocks():
        assert_alike(array.blocks[place], np.asarray(expected))
        array.blocks.stored(place)
        array.store.fetch_chunk("x", place)
        array.blocks.prefetch([place])
        if array.dtype.kind in "TSU":
            assert len(array.blocks.strings(place)) == expected.size
    if array.nchunks == 0:
        oracle.assert_same(array.blocks[...], stored.whole)
    outside = array.cdata_shape
    for call in (array.blocks.__getitem__, array.blocks.stored, array.blocks.read):
        with pytest.raises(IndexError):
            call(outside if ndim else (0,))
    with pytest.raises(IndexError):
        array.store.fetch_chunk("x", outside if ndim else (0,))


def check_rest(array):
    assert array.fill_value is not None or array.metadata.zarr_format == 2
    for shown in (repr(array), str(array.info), array.info._repr_html_()):
        assert shown
    assert array.dims is None
    for other in (copy.copy(array), copy.deepcopy(array), pickle.loads(pickle.dumps(array))):
        assert (other.shape, other.dtype, other.chunks) == (array.shape, array.dtype, array.chunks)


@pytest.mark.parametrize("strings", ["numpy", "object", "bytes"])
@pytest.mark.parametrize("dtype", [oracle.TEXT, "S3", "<U2"])
def test_texts_in_every_form(zarr_format, shape, strings, dtype):
    stored = write(shape, dtype, zarr_format)
    array = vczc.open(stored.content, strings=strings)["x"]
    got = array[...] if stored.whole.ndim else [array[...]]
    assert np.shape(got) == (stored.whole.shape or (1,))
    if strings != "bytes":
        assert np.reshape(got, stored.whole.shape).tolist() == stored.whole.tolist()


@pytest.mark.parametrize("shape", [s for s in SHAPES.values() if s[0]])  # zarr writes no 0-d shard
def test_shards(shape):
    chunks = shape[1]
    stored = write(shape, "<i4", 3, shards=oracle.Shards(((1,) * len(chunks),)), compressors=None)
    if len(chunks) == NDIM:  # an index has an axis more
        with pytest.raises(vczc.UnsupportedError, match="a shard of 32 axes"):
            vczc.open(stored.content)["x"]
        return
    array = vczc.open(stored.content)["x"]
    assert array.shards == stored.array.shards
    assert_alike(array[...], stored.whole)
    check_blocks(array, stored)


# ---- Groups ----


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_group(tmp_path, zarr_format, kind, capsys):
    document = {"zarr_format": zarr_format}
    if zarr_format == 3:
        document |= {"node_type": "group", "attributes": {}}
    name = ".zgroup" if zarr_format == 2 else "zarr.json"
    content = {name: json.dumps(document).encode(), f"g/{name}": json.dumps(document).encode()}
    source = oracle.source(content, kind, tmp_path)
    root = vczc.open(source)
    for group in (root["g"], vczc.open_group(source, path="g")):
        assert list(group) == list(group.array_keys()) == list(group.group_keys()) == []
        assert list(group.arrays()) == list(group.groups()) == []
        assert len(group) == 0
        assert dict(group) == dict(group.attrs) == {}
        assert str(group.tree()) == "/g"
        for shown in (repr(group), str(group.info), group._repr_html_()):
            assert shown
        pickle.loads(pickle.dumps(group))
        for call in (
            vczc.stream,
            lambda group: vczc.stream(group, ["x"]),
            lambda group: vczc.region(group, "20"),
            lambda group: vczc.samples(group, ["a"]),
            lambda group: vczc.to_arrow(group, ["x"]).__arrow_c_stream__(),
            vczc.genotypes.dosage,
        ):
            with pytest.raises((vczc.Error, ValueError)) as caught:
                call(group)
            assert str(caught.value)
    if kind != "mapping":
        for command in (["info"], ["tree"], ["check"]):
            for option in ([], ["--json"]):
                assert run([*command, str(source), *option]) == 0
                assert capsys.readouterr().out
        assert run(["cat", str(source), "g"]) == 2
        assert run(["bench", str(source)]) == 0


# ---- Streams ----


@pytest.mark.parametrize("nrows", [0, 1])
@pytest.mark.parametrize("more", [(), (0,), (0, 2), (1,) * (NDIM - 1)])
@pytest.mark.parametrize("dtype", ["<i4", oracle.TEXT])
def test_streams(zarr_format, nrows, more, dtype):
    dims = ["variants", *(f"d{i}" for i in range(len(more)))]
    names = {"dimension_names": dims} if zarr_format == 3 else {}
    attributes = {} if zarr_format == 3 else {"_ARRAY_DIMENSIONS": dims}
    shape = ((nrows, *more), (1, *(max(1, n) for n in more)))
    stored = write(shape, dtype, zarr_format, attributes=attributes, **names)
    root = vczc.open(stored.content)
    for settings in ({}, {"reuse": True}, {"variants": []}, {"variants": slice(0, 0)}):
        rows = 0
        for part in vczc.stream(root, ["x"], threads=2, **settings):
            oracle.assert_same(np.asarray(part["x"]), stored.whole[part.start : part.stop])
            rows += len(part["x"])
        assert rows == (0 if "variants" in settings else nrows)


# ---- The command ----


@pytest.mark.parametrize("dtype", ["<i4", "S3", oracle.TEXT])
def test_the_command(tmp_path, zarr_format, shape, dtype, monkeypatch, capsys):
    stored = write(shape, dtype, zarr_format)
    source = str(oracle.source(stored.content, "directory", tmp_path))
    for command in (["info"], ["info", "x"], ["tree"], ["check"]):
        for option in ([], ["--json"]):
            assert run([command[0], source, *command[1:], *option]) == 0
            out = capsys.readouterr().out
            assert json.loads(out) if option else out
    for path in (["info", f"{source}/x"], ["tree", f"{source}/x"], ["check", f"{source}/x"]):
        for option in ([], ["--json"]):
            assert run([*path, *option]) == 0
            capsys.readouterr()
    for options in ([], ["--rows", ":"], ["--rows", "0:1"], ["--block", "0"], ["--rows", "0"]):
        for form in ("text", "tsv", "npy", "arrow"):
            check_cat(source, stored, options, form, monkeypatch)


def check_cat(source, stored, options, form, monkeypatch):
    """What is refused is told in one line; what is written is what is there."""
    out = io.TextIOWrapper(io.BytesIO(), write_through=True)
    err = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    status = run(["cat", source, "x", *options, "--format", form])
    monkeypatch.undo()
    told = err.getvalue()
    assert status in (0, 2), (options, form, told)
    if status == 2:
        assert told.startswith("vczc: ")
        assert told.count("\n") == 1
        assert options or form == "arrow"
        return
    assert not told
    if form == "npy" and not options and stored.whole.dtype.kind != "T":
        got = np.load(io.BytesIO(out.buffer.getvalue()))
        assert got.shape == stored.whole.shape
    if form in ("text", "tsv") and not options:
        nlines = len(stored.whole) if stored.whole.ndim else 1
        assert out.buffer.getvalue().count(b"\n") == nlines
