# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Everything that tests/formats.py lists, written by zarr-python, tensorstore and zarrs, reads as
it was written: block by block, by slices, into buffers; zarr-python, tensorstore and zarrista read
the same. And `vczc conformance`, which prints it."""

import json
import subprocess
import sys

import formats
import numcodecs
import numpy as np
import oracle
import pytest
import zarr
from numpy.dtypes import StringDType
from zarr.storage import LocalStore

import vczc
from vczc.cli import conformance

pytestmark = [
    pytest.mark.filterwarnings("ignore:Numcodecs codecs are not in the Zarr version 3"),
    pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning"),  # of its quantize
]

SHAPES = [((), ()), ((7,), (3,)), ((5, 7), (2, 3)), ((3, 4, 5), (2, 4, 3))]
KEYS = {
    (7,): [np.s_[2], np.s_[1:6:2]],
    (5, 7): [np.s_[3], np.s_[1:4, ::3], np.s_[:, -1]],
    (3, 4, 5): [np.s_[-1, 1:], np.s_[::2, 1, 2:5], np.s_[..., 4]],
}

CASES = [
    pytest.param(row, zarr_format, id=f"{row.what} of format {zarr_format}")
    for row in formats.ROWS
    for zarr_format in row.cells
]
OTHERS = [
    pytest.param(row, zarr_format, other, id=f"{row.what} of format {zarr_format}, {other}")
    for row in formats.ROWS
    for zarr_format in row.cells
    for other in row.others.get(zarr_format, ())
]


# ---- Writing ----


def written(row, zarr_format, dtype, shape, chunks, variant):
    """(keys and bytes, what was written), by zarr-python."""
    if dtype == formats.BYTES and shape == ():
        shape, chunks = (1,), (1,)  # zarr-python makes of the one item an `S`
    data = oracle.values(dtype, shape, seed=len(shape))
    if "shards" in variant:
        place = variant.get("index_location", "end")
        factors = tuple((n,) * len(chunks) for n in variant["shards"])
        variant = {k: v for k, v in variant.items() if k != "index_location"}
        variant["shards"] = oracle.Shards(factors, place)
    if zarr_format == 2 and "filters" in variant:
        variant = {**variant, "filters": [numcodecs.get_codec(f) for f in variant["filters"]]}
    stored = oracle.write(data, chunks, dtype, zarr_format=zarr_format, **variant)
    content = dict(stored.content)
    if zarr_format in row.changes:
        key = f"x/{'.zarray' if zarr_format == 2 else 'zarr.json'}"
        document = json.loads(content[key]) | row.changes[zarr_format]
        content[key] = json.dumps(document).encode()
        return content, oracle.native(data)
    if "order" in variant and zarr_format == 3 and dtype in (formats.TEXT, formats.BYTES):
        return content, stored.whole  # numcodecs writes the items of a transposed chunk as they lie
    if row.is_lossy:
        return content, stored.whole
    expected = data.astype(StringDType()) if dtype == formats.TEXT else oracle.native(data)
    oracle.assert_same(stored.whole, expected)
    return content, expected


def arrays_of(row, zarr_format, shapes=SHAPES, takes=lambda dtype: True):
    for variant in row.variants(zarr_format):
        for dtype in filter(takes, row.dtypes):
            for shape, chunks in shapes:
                if shape == () and "shards" in variant:
                    continue  # zarr-python cannot write that
                yield written(row, zarr_format, dtype, shape, chunks, variant)


# ---- Reading ----


def check(array, whole):
    """Every way to read."""
    assert array.shape == whole.shape
    assert array.dtype == whole.dtype
    oracle.assert_same(np.asarray(array), whole)
    for at in np.ndindex(*array.cdata_shape):
        part = tuple(slice(i * c, (i + 1) * c) for i, c in zip(at, array.chunks, strict=True))
        block = whole[(*part, ...)]
        oracle.assert_same(array.blocks[at], block)
        check_buffer(array, at, block)
    for key in KEYS.get(whole.shape, []):
        oracle.assert_same(array[key], whole[key])
        if array.dtype.kind not in "OT":
            out = np.zeros(np.shape(whole[key]), array.dtype, order="F")
            oracle.assert_same(array.read(key, out=out), np.asarray(whole[key]))


def check_buffer(array, at, block):
    """A buffer that is larger than the block, and what lies behind it."""
    if array.dtype.kind == "T":
        out = np.full(block.size + 2, "poison", StringDType())
        oracle.assert_same(array.blocks.read(at, out=out), block)
        assert out[block.size :].tolist() == ["poison"] * 2
    elif array.dtype.kind != "O":
        memory = bytearray(b"\xa5" * (block.nbytes + 64))
        oracle.assert_same(array.blocks.read(at, out=memory), block)
        assert memory[block.nbytes :] == b"\xa5" * 64


@pytest.mark.filterwarnings("ignore:overflow encountered")  # of quantize, on any float
@pytest.mark.parametrize(("row", "zarr_format"), CASES)
def test_what_zarr_python_writes(tmp_path, row, zarr_format):
    for i, (content, whole) in enumerate(arrays_of(row, zarr_format)):
        check(vczc.open(content)["x"], whole)
        folder = tmp_path / str(i)
        folder.mkdir()
        kind = oracle.KINDS[i % 3]
        oracle.assert_same(np.asarray(vczc.open(oracle.source(content, kind, folder))["x"]), whole)


# ---- Other writers and readers ----


def tensorstore_array(path, zarr_format):
    import tensorstore

    kvstore = {"driver": "file", "path": f"{path}/x/"}
    driver = "zarr3" if zarr_format == 3 else "zarr"
    return tensorstore.open({"driver": driver, "kvstore": kvstore}, open=True).result()


def write_again(path, zarr_format, whole, other):
    """The same values into the same array, by another writer."""
    if other == formats.TENSORSTORE:
        tensorstore_array(path, zarr_format).write(whole).result()
        return
    settings = {"codec_pipeline.path": "zarrs.ZarrsCodecPipeline", "codec_pipeline.strict": True}
    with zarr.config.set(settings):
        array = zarr.open_array(LocalStore(path), path="x", mode="r+")
        array[...] = whole


def read_by(path, zarr_format, other):
    if other == formats.TENSORSTORE:
        return tensorstore_array(path, zarr_format).read().result()
    if other == formats.ZARRISTA:
        import zarrista

        store = zarrista.store.FilesystemStore(str(path))
        array = zarrista.Array.open(store, "/x")
        return array.retrieve_array_subset(tuple(slice(0, n) for n in array.shape)).to_numpy()
    settings = {"codec_pipeline.path": "zarrs.ZarrsCodecPipeline", "codec_pipeline.strict": True}
    with zarr.config.set(settings):
        return zarr.open_array(LocalStore(path), path="x", mode="r")[...]


def stored_bytes(path):
    return {p.relative_to(path).as_posix(): p.read_bytes() for p in path.rglob("*") if p.is_file()}


# The kinds of items that others read, where those stand beside kinds that all read.
KINDS = {formats.TENSORSTORE: "biufc", formats.ZARRS: "biuf", formats.ZARRISTA: "biufcT"}


def takes(other, zarr_format, dtype):
    kind = {formats.TEXT: "T", formats.BYTES: "O"}.get(dtype) or np.dtype(dtype).kind
    is_foreign = other == formats.ZARRS and zarr_format == 2 and dtype.startswith(">")
    return kind in KINDS[other] and not is_foreign


@pytest.mark.parametrize(("row", "zarr_format", "other"), OTHERS)
def test_other_writers_and_readers(tmp_path, row, zarr_format, other):
    arrays = list(
        arrays_of(row, zarr_format, SHAPES[1:3], lambda dtype: takes(other, zarr_format, dtype))
    )
    assert arrays
    for i, (content, whole) in enumerate(arrays):
        path = tmp_path / str(i)
        path.mkdir()
        oracle.source(content, "directory", path)
        path = path / "store"
        got = read_by(path, zarr_format, other)
        oracle.assert_same(np.asarray(got).astype(whole.dtype), whole)
        if other == formats.ZARRISTA:
            continue  # only reads here
        for key in filter(oracle.is_chunk, content):
            (path / key).unlink()
        assert not any(map(oracle.is_chunk, stored_bytes(path)))
        write_again(path, zarr_format, whole, other)
        assert any(map(oracle.is_chunk, stored_bytes(path)))
        check(vczc.open(path)["x"], whole)


# ---- The page ----


def test_the_page_is_what_the_list_says():
    text = formats.PAGE.read_text(encoding="utf-8")
    assert formats.with_tables(text) == text, "run ./dev formats"


# ---- The command ----

NANS = {"<f2": "7c01", "<f4": "7f800001", "<f8": "7ff0000000000002"}


def told(content, tmp_path, name="x"):
    """The lines that the command prints of an array, parsed."""
    folder = tmp_path / name
    folder.mkdir()
    oracle.source(content, "directory", folder)
    ran = subprocess.run(
        [sys.executable, "-m", "vczc", "conformance", f"--array_path={folder / 'store' / 'x'}"],
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert ran.stderr == b""
    return [json.loads(line) for line in ran.stdout.splitlines()]


def test_the_command(tmp_path):
    data = oracle.values("<i4", (5, 7))
    content = oracle.write(data, (2, 3), zarr_format=3).content
    assert told(content, tmp_path) == data.ravel().tolist()
    scalar = oracle.write(np.array(5, "u1"), (), zarr_format=2).content
    assert told(scalar, tmp_path, "scalar") == [5]
    empty = oracle.write(np.zeros((0, 3)), (2, 3), zarr_format=2).content
    assert told(empty, tmp_path, "empty") == []


@pytest.mark.parametrize("dtype", oracle.DTYPES)
@pytest.mark.parametrize("zarr_format", oracle.FORMATS)
def test_elements_are_written_as_fill_values(monkeypatch, zarr_format, dtype):
    """As zarr-python writes them, but for the bits of a NaN, which it does not tell apart."""
    monkeypatch.setattr(conformance, "ITEMS_AT_ONCE", 4)
    stored = oracle.write(
        oracle.values(dtype, (5, 3), style="runs"), (2, 2), dtype, zarr_format=zarr_format
    )
    array = vczc.open(stored.content)["x"]
    lines = b"".join(conformance.element_lines(array)).decode().splitlines()
    assert len(lines) == 15
    zdtype = stored.array.metadata.dtype
    for line, item in zip(lines, stored.whole.ravel(), strict=True):
        expected = zdtype.to_json_scalar(item, zarr_format=zarr_format)
        assert plain(json.loads(line)) == json.loads(json.dumps(expected)), line


def plain(value):
    """Without the bits of a NaN."""
    if isinstance(value, list):
        return [plain(v) for v in value]
    return "NaN" if isinstance(value, str) and value.startswith("0x") else value


@pytest.mark.parametrize("dtype", NANS)
def test_bits_of_a_nan_and_infinities(dtype):
    unsigned = np.dtype(dtype.replace("f", "u"))
    values = np.array([0.1, np.nan, np.inf, -np.inf, 1e-5, 0], dtype)
    values.view(unsigned)[5] = int(NANS[dtype], 16)
    content = oracle.by_hand({"0": values.tobytes()}, shape=[6], chunks=[6], dtype=dtype)
    lines = b"".join(conformance.element_lines(vczc.open(content)["x"])).decode().splitlines()
    assert lines[1:4] == ['"NaN"', '"Infinity"', '"-Infinity"']
    assert lines[5] == f'"0x{NANS[dtype]}"'
    assert [np.dtype(dtype).type(json.loads(lines[i])) for i in (0, 4)] == [values[0], values[4]]


def test_raw_bits_are_a_list():
    content, whole = written(
        next(row for row in formats.ROWS if row.what == "raw bits"), 3, "V3", (2,), (2,), {}
    )
    lines = b"".join(conformance.element_lines(vczc.open(content)["x"])).decode().splitlines()
    assert [bytes(json.loads(line)) for line in lines] == [item.tobytes() for item in whole]


# ---- Extensions ----


def test_what_need_not_be_understood():
    """Is passed over in codecs, storage transformers and members; never in a data type, a grid or
    a key encoding, which the specification excepts."""
    data = oracle.values("<i4", (7,))
    content = oracle.write(data, (3,), zarr_format=3).content
    document = json.loads(content["x/zarr.json"])
    teleport = {"name": "teleport", "configuration": {"to": "mars"}}

    def opened(**changes):
        changed = json.dumps(document | changes).encode()
        return vczc.open(content | {"x/zarr.json": changed})["x"]

    for change in (
        {"codecs": [*document["codecs"], teleport]},
        {"codecs": [teleport, *document["codecs"]]},
        {"storage_transformers": [teleport]},
        {"teleport": teleport},
    ):
        with pytest.raises(vczc.UnsupportedError, match="teleport"):
            opened(**change)
        harmless = json.loads(
            json.dumps(change).replace(
                '"name": "teleport"', '"name": "teleport", "must_understand": false'
            )
        )
        assert opened(**harmless)[...].tolist() == data.tolist()
    for member in ("data_type", "chunk_grid", "chunk_key_encoding"):
        with pytest.raises(vczc.UnsupportedError, match="teleport"):
            opened(**{member: teleport | {"must_understand": False}})
