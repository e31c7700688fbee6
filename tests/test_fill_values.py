# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Fill values as documents spell them: what zarr-python takes is what it is, to the bit, and what
it refuses is refused. The bits of a NaN, which zarr-python turns, are those of zarrista.

Left out is what zarr-python takes because Python does: "nan" for a float, any truth for a bool,
text that is too long, base64 with other letters in it."""

import json

import numpy as np
import oracle
import pytest
import zarr
import zarrista
from zarr.core.buffer.cpu import Buffer
from zarr.storage import MemoryStore

import vczc

BIG = [1 << 31, 1 << 63, 1 << 64, -(1 << 31) - 1, -(1 << 63) - 1]
INTS = [0, 1, -1, 127, -128, 255, *BIG, 0.0, 2.0, 1.5, "42", "-1", "1.5", "x", "", [1], {}, True]
SPECIAL = ["NaN", "Infinity", "-Infinity", float("nan"), float("inf"), float("-inf")]
REALS = [0, 1, -0.0, 0.1, 1e-45, 1e39, 1 << 60, "0.5", "1e3", *SPECIAL, "x", [0.0], True]
PAIRS = [[0, 1], [-0.0, 0.1], ["NaN", "-Infinity"], [float("nan"), 1e39], [True, False]]
PAIRS += [[1], [1, 2, 3], [], 0, 1.5, "NaN", ["1", "2"], [[1], 2], [None, 1]]
BASE64 = ["", "AA==", "AAEC", "/+8=", "AAA", "A===", "A", "ü", 5, True, ["A"], {}]
TEXT = ["", "A", "ü", "🧬", "AAA", [], {}, ["A"]]
TIMES = [0, 1, -1, "NaT", (1 << 63) - 1, -(1 << 63), 1 << 63, 1.5, "now", "0", [], {}]

OF_BOTH = {
    **dict.fromkeys(("i1", "u1", "<i2", ">i4", "<u4", ">i8", "<u8"), INTS),
    **dict.fromkeys(("<f2", ">f4", "<f8"), REALS),
    **dict.fromkeys(("<c8", ">c16"), PAIRS),
    "?": [True, False, 0, 1, 0.0],
    **dict.fromkeys(("S3", "V3", oracle.BYTES), BASE64),
    **dict.fromkeys((">U3", oracle.TEXT), TEXT),
    **dict.fromkeys(("<M8[ns]", ">m8[10s]"), TIMES),
}
CASES = [
    pytest.param(dtype, zarr_format, id=f"{dtype} {zarr_format}")
    for dtype in OF_BOTH
    for zarr_format in oracle.FORMATS
]


def document_of(dtype, zarr_format):
    """Content with an array of that type and no chunks, the key of its document, and that."""
    data = oracle.values(dtype, (4,))
    content = dict(oracle.write(data, (3,), dtype, zarr_format=zarr_format).content)
    key = "x/.zarray" if zarr_format == 2 else "x/zarr.json"
    content = {k: v for k, v in content.items() if not oracle.is_chunk(k)}
    return content, key, json.loads(content[key])


def by_zarr(content):
    """What zarr-python reads; None where it refuses."""
    store = MemoryStore({key: Buffer.from_bytes(value) for key, value in content.items()})
    try:
        array = zarr.open_array(store, path="x", mode="r")
        return oracle.native(array[...], array.dtype)
    except (ValueError, TypeError, OverflowError):
        return None


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
@pytest.mark.parametrize(("dtype", "zarr_format"), CASES)
def test_spellings(dtype, zarr_format):
    content, key, document = document_of(dtype, zarr_format)
    outcomes = set()
    for fill in [*OF_BOTH[dtype], None]:
        if fill is None and zarr_format == 3 and dtype == "?":
            continue  # zarr-python takes anything for a truth
        content[key] = json.dumps(document | {"fill_value": fill}).encode()
        expected = by_zarr(content)
        outcomes.add(expected is None)
        if expected is None:
            with pytest.raises(vczc.MetadataError, match="'fill_value'") as caught:
                vczc.open(content)["x"]
            assert key in str(caught.value)
        else:
            oracle.assert_same(vczc.open(content)["x"][...], expected)
    assert outcomes == {False} if dtype == "?" else outcomes == {True, False}


HEX = {
    "float16": ["0x7c01", "0x0001", "0xfe01"],
    "float32": ["0x7f800001", "0x7f800002", "0x7fc00000", "0xFFC00001"],
    "float64": ["0x7ff0000000000001", "0x7ff0000000000002", "0x3ff0000000000000"],
    "complex64": [["0x7f800001", "0x7f800002"], [1.5, "0xff800001"]],
    "complex128": [["0x7ff0000000000001", -0.0]],
}


@pytest.mark.parametrize("name", HEX)
def test_bits_are_kept(tmp_path, name):
    content, key, document = document_of(np.dtype(name).str, 3)
    for i, fill in enumerate(HEX[name]):
        content[key] = json.dumps(document | {"fill_value": fill}).encode()
        (tmp_path / str(i)).mkdir()
        path = oracle.source(content, "directory", tmp_path / str(i))
        other = zarrista.Array.open(zarrista.store.FilesystemStore(str(path)), "/x")
        expected = other.retrieve_array_subset((slice(0, 4),)).to_numpy()
        oracle.assert_same(vczc.open(path)["x"][...], expected)
        first = fill[0] if isinstance(fill, list) else fill
        if isinstance(first, str):
            bits = vczc.open(path)["x"].fill_value.tobytes()[: len(first) // 2 - 1]
            assert f"0x{int.from_bytes(bits, 'little'):0{2 * len(bits)}x}" == first.lower()
    for fill in ("0x7f", "0x7f80000g", "7f800001", "0x" + "0" * 32, "0x"):
        wrong = [fill, 0] if name.startswith("complex") else fill
        content[key] = json.dumps(document | {"fill_value": wrong}).encode()
        with pytest.raises(vczc.MetadataError, match="'fill_value'"):
            vczc.open(content)["x"]


@pytest.mark.parametrize("name", ["r24", "raw_bytes", "null_terminated_bytes", "bytes"])
def test_lists_of_bytes(name):
    dtype = {"bytes": oracle.BYTES, "null_terminated_bytes": "S3"}.get(name, "V3")
    content, key, document = document_of(dtype, 3)
    if name in ("r24", "bytes"):
        document["data_type"] = name
    for fill, taken in (([1, 2, 255], True), ([1, 2, 256], False), ([1, -1, 0], False)):
        content[key] = json.dumps(document | {"fill_value": fill}).encode()
        if not taken:
            with pytest.raises(vczc.MetadataError, match="'fill_value'"):
                vczc.open(content)["x"]
            continue
        array = vczc.open(content)["x"]
        items = [v if isinstance(v, bytes) else v.tobytes() for v in array[...]]
        assert items == [bytes(fill)] * 4
