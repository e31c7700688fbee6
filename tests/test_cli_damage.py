# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""`vczc info`, `tree` and `check` of stores some of whose documents are damaged."""

import json
import os

import numpy as np
import pytest
import zarr

import vczc
from vczc.cli.__main__ import run

COMMANDS = ("info", "tree", "check")


def write(folder, zarr_format):
    """Two arrays at the top, and a group with one."""
    root = zarr.open_group(folder, mode="w", zarr_format=zarr_format)
    for name in ("x", "y", "g/z"):
        array = root.create_array(name, shape=(4,), chunks=(2,), dtype="i4")
        array[:] = np.arange(4)
    root["g"].attrs["about"] = "a group"
    return folder


@pytest.fixture(params=(2, 3))
def zarr_format(request):
    return request.param


@pytest.fixture
def folder(tmp_path, zarr_format):
    return write(tmp_path / "store", zarr_format)


def documents(folder, node):
    """The documents of a node, but for its attributes."""
    names = (".zarray", ".zgroup", "zarr.json")
    return [path for name in names if (path := folder / node / name).exists()]


DAMAGE = {
    "cut": lambda text: text[: len(text) // 2],
    "empty": lambda _: b"",
    "no JSON": lambda _: b"\xff\xfe\x00",
    "another thing": lambda _: b"[1, 2, 3]",
    "no format": lambda text: json.dumps(
        {k: v for k, v in json.loads(text).items() if k != "zarr_format"}
    ).encode(),
}


def names_in(document, prefix=""):
    """The names of a tree in JSON, and those that are unreadable."""
    names, unreadable = set(), set()
    for name, child in document.get("children", {}).items():
        (unreadable if child["type"] == "unreadable" else names).add(prefix + name)
        below = names_in(child, f"{prefix}{name}/")
        names |= below[0]
        unreadable |= below[1]
    return names, unreadable


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("node", ["x", "g", "g/z"])
def test_the_rest_is_shown_and_the_status_is_1(folder, node, damage, capsys):
    for path in documents(folder, node):
        path.write_bytes(DAMAGE[damage](path.read_bytes()))
    readable = {"x", "y", "g", "g/z"} - {node} - ({"g/z"} if node == "g" else set())
    for command in COMMANDS:
        assert run([command, str(folder)]) == 1, command
        shown = capsys.readouterr().out
        assert node.rpartition("/")[2] in shown
        for name in readable:
            assert command == "check" or name.rpartition("/")[2] in shown
        assert run([command, str(folder), "--json"]) == 1, command
        document = json.loads(capsys.readouterr().out)
        if command == "tree":
            assert names_in(document) == (readable, {node})
        elif command == "info":
            assert {array["name"] for array in document["arrays"]} == readable - {"g"}
            assert [one["name"] for one in document["unreadable"]] == [node]
        else:
            assert document["arrays"] == len(readable - {"g"})
            assert [one["array"] for one in document["damaged"]] == [node]


@pytest.mark.parametrize("node", ["", "x", "g"])
def test_attributes_that_are_damaged(folder, zarr_format, node, capsys):
    if zarr_format == 2:
        (folder / node / ".zattrs").write_bytes(b"{")
    else:
        path = folder / node / "zarr.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"attributes": [1]}))
    for command in COMMANDS:
        for option in ([], ["--json"]):
            assert run([command, str(folder), *option]) == 1, command
            told = capsys.readouterr()
            assert node in told.out
            assert not told.err if node else "attr" in told.err


def test_a_root_that_is_damaged(folder, capsys):
    for path in documents(folder, ""):
        path.write_bytes(b"{")
    for command in COMMANDS:
        assert run([command, str(folder)]) == 1
        assert capsys.readouterr().err.startswith("vczc: ")


def test_what_is_only_not_read_makes_status_2(folder, zarr_format, capsys):
    path = documents(folder, "x")[0]
    codec = {"id": "odd"} if zarr_format == 2 else {"name": "odd"}
    change = {"compressor": codec} if zarr_format == 2 else {"codecs": [codec]}
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    for command in COMMANDS:
        for option in ([], ["--json"]):
            assert run([command, str(folder), *option]) == 2
            assert "odd" in capsys.readouterr().out
    documents(folder, "y")[0].write_bytes(b"{")  # damage weighs more
    for command in COMMANDS:
        assert run([command, str(folder)]) == 1


@pytest.mark.skipif(os.name != "posix", reason="POSIX links")
def test_a_group_that_cannot_be_listed(folder, capsys):
    """Its documents are there; a document of a child is a loop of links, which nobody can read."""
    path = documents(folder, "g/z")[0]
    path.unlink()
    path.symlink_to(path.name)
    assert "not listed" in str(vczc.open(folder).tree())
    for command in COMMANDS:
        assert run([command, str(folder)]) == 1
        shown = capsys.readouterr().out
        assert "symbolic links" in shown
        assert command == "check" or ("x" in shown and "y" in shown)
