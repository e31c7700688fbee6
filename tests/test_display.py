# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Tables and trees, as text and as HTML."""

import xml.dom.minidom

import numpy as np
import pytest
import stores
import zarr

import vczc
from vczc import display

DATA = np.ones((12, 5), "i4")


@pytest.fixture
def root(tmp_path):
    where = tmp_path / "d"
    group = zarr.open_group(str(where), mode="w", zarr_format=2)
    group.attrs["source"] = "<script>alert(1)</script>"
    group.create_group("sub/empty")
    dims = {"_ARRAY_DIMENSIONS": ["variants", "samples"]}
    stores.write(where, "call_DP", DATA, (5, 5), attributes=dims)
    stores.write(where, "sub/text", np.array(["a", "b"], object), (2,))
    return where


@pytest.fixture(params=stores.KINDS)
def group(request, root):
    return vczc.open(stores.source(root, request.param))


def well_formed(html):
    assert xml.dom.minidom.parseString(f"<html>{html.replace('&nbsp;', ' ')}</html>")
    assert "<script" not in html
    return html


def test_tree(group):
    tree = group.tree()
    assert str(tree).splitlines() == [
        "/",
        "├── call_DP  12 × 5  int32  variants, samples",
        "└── sub",
        "    ├── empty",
        "    └── text  2  text",
    ]
    assert repr(tree) == tree
    assert "call_DP" in well_formed(tree._repr_html_())


def test_the_columns_of_a_tree_are_aligned(tmp_path):
    dims = {"_ARRAY_DIMENSIONS": ["variants", "samples"]}
    stores.write(tmp_path / "d", "a", DATA, (5, 5), attributes=dims)
    stores.write(tmp_path / "d", "longer", np.ones(1000, "i1"), (5,))
    stores.write(tmp_path / "d", "none", np.array(1.5), ())
    assert str(vczc.open(tmp_path / "d").tree()).splitlines()[1:] == [
        "├── a       12 × 5  int32    variants, samples",
        "├── longer   1,000  int8",
        "└── none    scalar  float64",
    ]


def test_keys_are_completed(group):
    assert group._ipython_key_completions_() == ["call_DP", "sub"]


def test_array_info(group):
    array = group["call_DP"]
    text = str(array.info)
    assert repr(array.info) == text
    for what in ("/call_DP", "(12, 5)", "(5, 5)", "int32", "variants, samples", "3 stored of 3"):
        assert what in text, what
    assert "240 B" in text
    assert f"{display.nbytes_text(array.nbytes_stored())}" in text
    html = well_formed(array.info._repr_html_())
    assert "<th>Chunk shape</th><td>(5, 5)</td>" in html
    assert html.count("call_DP") == 1
    assert well_formed(array._repr_html_()) == html


def test_group_info(group):
    rows = dict(group.info.rows)
    assert (rows["Arrays"], rows["Groups"], rows["Attributes"]) == ("1", "1", "source")
    assert well_formed(group.info._repr_html_())


def test_group_html(group):
    html = well_formed(group._repr_html_())
    assert "&lt;script&gt;" in html
    assert "<td>call_DP</td><td>(12, 5)</td><td>(5, 5)</td><td>int32</td>" in html
    assert "sub/" in html
    assert "td:not(:last-child) { white-space: nowrap;" in html


def test_names_are_escaped(tmp_path):
    name = "<b>&'\""
    stores.write(tmp_path / "d", name, DATA, (5, 5))
    group = vczc.open(tmp_path / "d")
    assert name in str(group.tree())
    for html in (group._repr_html_(), group[name]._repr_html_(), group.tree()._repr_html_()):
        assert "<b>&" not in well_formed(html)


def test_what_cannot_be_read_is_shown(root):
    (root / "call_DP" / ".zarray").write_text(
        (root / "call_DP" / ".zarray").read_text().replace("<i4", "<f16")
    )
    group = vczc.open(root)
    assert "call_DP (not read: " in str(group.tree())
    assert "not read: " in well_formed(group._repr_html_())
    assert "call_DP" in group


def test_repr(group):
    assert repr(group["call_DP"]) == "<vczc.Array '/call_DP' shape=(12, 5) dtype=int32>"
    assert repr(group).startswith("<vczc.Group '/' of <vczc.")


@pytest.mark.parametrize(
    ("n", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (20_000_000, "19.1 MiB"),
        (1 << 50, "1024.0 TiB"),
    ],
)
def test_bytes(n, text):
    assert display.nbytes_text(n) == text


@pytest.mark.parametrize(
    ("codec", "text"),
    [
        (None, "none"),
        ({"id": "zstd", "level": 3}, "zstd(level=3)"),
        ({"name": "gzip", "configuration": {"level": 5}}, "gzip(level=5)"),
        ({"name": "crc32c"}, "crc32c()"),
        ("bytes", "bytes"),
    ],
)
def test_codecs(codec, text):
    assert display.codec_text(codec) == text
