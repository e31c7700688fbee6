# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Opening asks for no more memory than a document justifies, whatever numbers stand in it."""

import io
import json
import subprocess
import sys
import zipfile

import pytest

import vczc
from vczc.cli.__main__ import run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is Linux's")

ARRAY_2 = {
    "zarr_format": 2, "shape": [10], "chunks": [10], "dtype": "|i1", "compressor": None,
    "fill_value": None, "order": "C", "filters": None,
}  # fmt: skip
ARRAY_3 = {
    "zarr_format": 3, "node_type": "array", "shape": [10], "data_type": "int8", "fill_value": 0,
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [10]}},
    "chunk_key_encoding": {"name": "default"}, "codecs": [{"name": "bytes"}], "attributes": {},
}  # fmt: skip
BYTES = {"name": "bytes"}
LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}


def grid(*shape):
    return {"name": "regular", "configuration": {"chunk_shape": list(shape)}}


def type_of(name, length):
    return {"name": name, "configuration": {"length_bytes": length}}


def sharding(inner, **more):
    settings = {"chunk_shape": inner, "codecs": [BYTES], "index_codecs": [LITTLE]} | more
    return {"name": "sharding_indexed", "configuration": settings}


SIZES = (1 << 20, 16 << 20, (16 << 20) + 4, 1 << 30, (1 << 31) - 4, 1 << 31, 1 << 40, (1 << 63) - 1)
LIES_2 = [
    *({"dtype": f"|S{n}"} for n in SIZES),
    *({"dtype": f"|S{n}", "fill_value": "QUJD"} for n in SIZES),
    *({"dtype": f"|S{n}", "fill_value": 0} for n in SIZES),
    *({"dtype": f"|V{n}", "fill_value": "QUJD"} for n in SIZES),
    *({"dtype": f"<U{n // 4}", "fill_value": "x"} for n in SIZES),
    *({"shape": [n], "chunks": [n]} for n in SIZES),
    *({"shape": [n], "chunks": [1]} for n in SIZES),
    *({"shape": [n, n], "chunks": [1, n]} for n in SIZES),
    *(
        {"dtype": "|O", "filters": [{"id": "vlen-utf8"}], "shape": [n], "chunks": [n]}
        for n in SIZES
    ),
    *({"filters": [{"id": "shuffle", "elementsize": n}]} for n in SIZES),
    *({"filters": [{"id": "packbits"}], "dtype": "|b1", "chunks": [n]} for n in SIZES),
    *({"compressor": {"id": "blosc", "blocksize": n, "typesize": n}} for n in SIZES),
    {"filters": [{"id": "delta", "dtype": "<i4"}] * 100_000},
    {"shape": [1] * 100_000, "chunks": [1] * 100_000},
    {"fill_value": "A" * 1_000_000},
    {"dtype": [["x", "<i4"]] * 100_000},
]
LIES_3 = [
    *({"data_type": type_of("null_terminated_bytes", n), "fill_value": "QUJD"} for n in SIZES),
    *({"data_type": type_of("raw_bytes", n), "fill_value": "QUJD"} for n in SIZES),
    *({"data_type": type_of("fixed_length_utf32", n), "fill_value": "x"} for n in SIZES),
    *({"data_type": f"r{8 * n}", "fill_value": [0]} for n in SIZES),
    *({"shape": [n], "chunk_grid": grid(n)} for n in SIZES),
    *({"shape": [n, n], "chunk_grid": grid(1, n)} for n in SIZES),
    *({"shape": [n], "chunk_grid": grid(n), "codecs": [sharding([1])]} for n in SIZES),
    *({"shape": [n], "chunk_grid": grid(n), "codecs": [sharding([n])]} for n in SIZES),
    *(
        {"data_type": "string", "fill_value": "", "shape": [n], "chunk_grid": grid(n),
         "codecs": [{"name": "vlen-utf8"}]}
        for n in SIZES
    ),
    {"codecs": [BYTES] * 100_000},
    {"codecs": [{"name": "transpose", "configuration": {"order": list(range(100_000))}}, BYTES]},
    {"dimension_names": ["x"] * 100_000},
    {"dimension_names": ["x" * 1_000_000]},
    {"fill_value": "A" * 1_000_000},
    {"storage_transformers": [{"name": "x"}] * 100_000},
]  # fmt: skip

# The limit is what the process has when all is loaded, and 100 MiB: some items of 16 MiB.
OPEN = """
import json, resource, sys
import vczc
from vczc import display, fallback

with open(sys.argv[1]) as file:
    stores = json.load(file)
good = vczc.open({k: v.encode() for k, v in stores[0].items()})["x"]
good.info, good.fill_value, good.blocks.shape, good[:3], good.nchunks_initialized
with open("/proc/self/statm") as file:
    size = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + (100 << 20), -1))
for number, store in enumerate(stores):
    try:
        root = vczc.open({k: v.encode() for k, v in store.items()})
        str(root.tree()), root._repr_html_(), list(root)
        array = root["x"]
        array.info, array.fill_value, array.blocks.shape, array.metadata, array.nbytes, array.dtype
        array.nchunks, array.codecs, repr(array), array.shards, array.chunk_size
        array.blocks.stored((0,) * array.ndim)
        array.nchunks_initialized
        array = None
    except vczc.Error as err:
        array = None
    except MemoryError as err:
        print(number, repr(err), {k: v[:300] for k, v in store.items()})
print("done", len(stores))
"""


def run_open(stores, tmp_path):
    path = tmp_path / "stores.json"
    path.write_text(json.dumps(stores))
    return subprocess.run(
        [sys.executable, "-c", OPEN, path], capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize(
    ("name", "array", "lies"), [(".zarray", ARRAY_2, LIES_2), ("zarr.json", ARRAY_3, LIES_3)]
)
def test_opening_asks_for_what_the_document_justifies(tmp_path, name, array, lies):
    top = {".zgroup": '{"zarr_format": 2}'}
    if name == "zarr.json":
        top = {name: '{"zarr_format": 3, "node_type": "group", "attributes": {}}'}
    stores = [top | {f"x/{name}": json.dumps(array | lie)} for lie in [{}, *lies]]
    done = run_open(stores, tmp_path)
    assert done.stderr == ""
    assert done.stdout == f"done {len(stores)}\n"


ARCHIVE = """
import resource, sys
import vczc

vczc.open({".zgroup": b'{"zarr_format": 2}'})
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[2]), -1))
try:
    vczc.open(sys.argv[1])
except vczc.MetadataError as err:
    print("more than" in str(err))
"""


@pytest.mark.parametrize("name", [".zgroup", ".zattrs", "zarr.json"])
def test_a_small_archive_of_a_large_document(tmp_path, name):
    """Some KB are a document of 100 MB: more than any has."""
    content = {".zgroup": b'{"zarr_format": 2}'} if name == ".zattrs" else {}
    content[name] = b"[" + b"0," * (50 << 20) + b"0]"
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for key, value in content.items():
            archive.writestr(key, value)
    (tmp_path / "a.zip").write_bytes(file.getvalue())
    done = subprocess.run(
        [sys.executable, "-c", ARCHIVE, tmp_path / "a.zip", str(600 << 20)],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("True\n", "")


@pytest.mark.parametrize(
    ("dtype", "fill"),
    [("|S5000", "QUJD" * 1200), ("<U5000", "x" * 5000), ("|V5000", "QUJD" * 1200)],
)
def test_a_long_fill_value_is_not_shown_in_full(tmp_path, capsys, dtype, fill):
    array = ARRAY_2 | {"dtype": dtype, "fill_value": fill}
    (tmp_path / "x").mkdir()
    (tmp_path / ".zgroup").write_text('{"zarr_format": 2}')
    (tmp_path / "x" / ".zarray").write_text(json.dumps(array))
    shown = str(vczc.open(tmp_path)["x"].info)
    assert run(["info", str(tmp_path), "x"]) == 0
    for text in (shown, capsys.readouterr().out):
        assert len(text) < 2000
        assert "in all)" in text
