# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Complex numbers, times and raw bytes: what VCF has none of. Every function and command takes
them, or says by name that they have no meaning there."""

import io
import json

import numpy as np
import oracle
import pyarrow as pa
import pytest

import vczc
from vczc.cli.__main__ import run

RAW = np.frombuffer(bytes(range(18)), "V3").reshape(3, 2)
STEPS = np.array([[0, 1], [2, -5], [10**18, np.iinfo("i8").min]], "i8")
ARRAYS = {
    "complex": (np.arange(6).reshape(3, 2) * (0.1 - 1j)).astype("<c8"),
    "wide": (np.arange(6).reshape(3, 2) / 3 + 1j).astype(">c16"),
    "raw": RAW,
    "date": STEPS.view("<M8[ns]"),
    "span": STEPS.view("<m8[10s]"),
    "bare": STEPS.view("<M8"),
}
TEXT = {
    "complex": ["0j", "(0.1-1j)"],
    "wide": ["1j", "(0.3333333333333333+1j)"],
    "raw": ["000102", "030405"],
    "date": ["1970-01-01T00:00:00.000000000", "1970-01-01T00:00:00.000000001"],
    "span": ["0", "1"],
    "bare": ["0", "1"],
}
TIMES = ("date", "span", "bare")


@pytest.fixture(params=ARRAYS)
def stored(request, tmp_path):
    """The name of the case, its folder, and its items in native byte order."""
    data = ARRAYS[request.param]
    fill = {"c": [1, "NaN"], "V": "AAEC", "M": 5, "m": 5}[data.dtype.kind]
    content = oracle.by_hand(
        {"0.0": data.tobytes()},
        shape=[4, 2],
        chunks=[3, 2],
        dtype=data.dtype.str,
        fill_value=fill,
    )
    content["x/.zattrs"] = b'{"_ARRAY_DIMENSIONS": ["variants", "y"]}'
    return request.param, oracle.source(content, "directory", tmp_path), oracle.native(data)


@pytest.fixture
def cli(capfdbinary):
    def call(*args, status=0):
        assert run([str(a) for a in args]) == status
        return capfdbinary.readouterr()

    return call


def test_buffers(stored):
    """Another kind is refused: objects, which bytes must never become, or other units."""
    name, path, data = stored
    array = vczc.open(path)["x"]
    out = np.empty((3, 2), array.dtype)
    assert array.blocks.read((0, 0), out=out).tobytes() == data.tobytes() == out.tobytes()
    memory = bytearray(data.nbytes)
    assert array.blocks.read((0, 0), out=memory).tobytes() == data.tobytes() == memory
    size = array.dtype.itemsize
    others = ["i8", object, "M8[D]", "m8[D]", "M8[9ns]", "f8", f"V{size + 1}", [("a", object)]]
    others += [[("a", "i1"), ("b", f"V{size - 1}")]] if name == "raw" else []
    for other in others:
        with pytest.raises(vczc.BufferError):
            array.blocks.read((0, 0), out=np.empty((3, 2), other))
        with pytest.raises(vczc.BufferError):
            array.read(np.s_[:3], out=np.empty((3, 2), other))


def test_what_has_no_meaning(stored):
    _, path, data = stored
    array = vczc.open(path)["x"]
    for ask in (vczc.is_missing, vczc.is_fill):
        with pytest.raises(TypeError, match=str(data.dtype).split("[", maxsplit=1)[0].strip("|")):
            ask(array)
    with pytest.raises(TypeError, match="no text"):
        array.blocks.strings((0, 0))


def test_shown(stored):
    _, path, _ = stored
    root = vczc.open(path)
    for shown in (str(root.tree()), root._repr_html_(), str(root["x"].info), repr(root["x"])):
        assert str(root["x"].dtype) in shown
    assert "Fill value" in str(root["x"].info)


def test_streams_and_arrow(stored):
    name, path, data = stored
    root = vczc.open(path)
    parts = [part["x"] for part in vczc.stream(root, ["x"])]
    assert np.concatenate(parts)[:3].tobytes() == data.tobytes()
    if name == "raw":
        column = pa.table(vczc.to_arrow(root, ["x"]))["x"]
        assert column.type.value_type == pa.binary(3)
        assert column.to_pylist()[:3] == [[v.tobytes() for v in row] for row in data]
    else:
        with pytest.raises(vczc.UnsupportedError, match=f"'x' holds {data.dtype.name[:8]}"):
            vczc.to_arrow(root, ["x"])


def test_cat(stored, cli):
    name, path, data = stored
    for form, join in (("text", " "), ("tsv", "\t")):
        lines = cli("cat", path, "x", "--format", form).out.decode().splitlines()
        assert lines[0] == join.join(TEXT[name])
        assert len(lines) == 4
        assert "NaT" in lines[2] or name not in TIMES
    got = np.load(io.BytesIO(cli("cat", path, "x", "--format", "npy").out))
    assert got.dtype == data.dtype
    assert got[:3].tobytes() == data.tobytes()
    status = 0 if name == "raw" else 2
    told = cli("cat", path, "x", "--format", "arrow", status=status)
    assert bool(told.err) == bool(status)


def test_info_tree_and_check(stored, cli):
    _, path, data = stored
    dtype = str(data.dtype).strip("|")
    assert dtype in cli("tree", path).out.decode()
    assert dtype in cli("info", path).out.decode()  # brackets are no markup
    assert dtype in cli("info", path, "x").out.decode()
    assert json.loads(cli("info", path, "x", "--json").out)["dtype"] == dtype
    assert b"all sound" in cli("check", path).out


def test_names_are_no_markup(tmp_path, cli):
    content = oracle.by_hand({}, shape=[2], chunks=[2], dtype="|i1")
    names = {key.replace("x/", "[red]:smile:[-x]/"): value for key, value in content.items()}
    path = oracle.source(names, "directory", tmp_path)
    for command in ("info", "tree", "check"):
        told = cli(command, path).out.decode()
        assert "[red]:smile:[-x]" in told or command == "check"
