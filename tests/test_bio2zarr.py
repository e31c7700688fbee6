# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Stores that bio2zarr makes now of the sample's VCF, of both formats, whole and packed."""

import zipfile

import encoded
import numpy as np
import oracle
import pytest
import zarr

import vczc


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a store, by its format."""
    return encoded.encode(tmp_path_factory.mktemp("bio2zarr"))


def packed(folder, kind, to):
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    content = {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
    if kind == "directory":
        return folder
    if kind == "mapping":
        return content
    method = zipfile.ZIP_STORED if kind == "stored zip" else zipfile.ZIP_DEFLATED
    to.write_bytes(oracle.zip_bytes(content, method))
    return to


@pytest.mark.parametrize(
    ("zarr_format", "kind"),
    [(2, "directory"), (2, "stored zip"), (3, "deflated zip"), (3, "mapping"), (3, "directory")],
)
def test_equal_to_zarr_python(made, tmp_path, zarr_format, kind):
    group = vczc.open(packed(made[zarr_format], kind, tmp_path / "store.zip"))
    other = zarr.open_group(made[zarr_format], mode="r")
    assert group.zarr_format == zarr_format
    assert sorted(group) == sorted(other.array_keys())
    assert dict(group.attrs) == dict(other.attrs)
    assert len(group) > 40
    for name, array in group.arrays():
        expected = other[name]
        stored = oracle.Stored({}, expected, oracle.native(expected[...]))
        oracle.assert_reads_as(array, stored)
        assert array.nchunks_initialized == expected.nchunks_initialized, name
        assert array.chunks[0] <= 70 or array.shape[0] != group["variant_position"].shape[0]
        dims = expected.attrs.get("_ARRAY_DIMENSIONS") or expected.metadata.dimension_names
        assert array.dims == (None if dims is None else tuple(dims))


@pytest.mark.parametrize("zarr_format", oracle.FORMATS)
def test_missing_and_fill_values_keep_their_bits(made, zarr_format):
    """As NaN they are alike; only the payload tells them apart."""
    group = vczc.open(made[zarr_format])
    fields = [name for name, array in group.arrays() if array.dtype == np.float32]
    assert {"variant_AF", "variant_quality", "call_DS", "call_LOD"} <= set(fields)
    seen = set()
    for name in fields:
        array = group[name]
        for values in (
            array[...],
            np.concatenate(list(array.blocks)) if array.ndim == 1 else array[...],
        ):
            bits = values.view("u4")[np.isnan(values)]
            assert set(bits.tolist()) <= {0x7F800001, 0x7F800002}
            seen.update(bits.tolist())
            np.testing.assert_array_equal(vczc.is_missing(values), values.view("u4") == 0x7F800001)
            np.testing.assert_array_equal(vczc.is_fill(values), values.view("u4") == 0x7F800002)
    assert seen == {0x7F800001, 0x7F800002}


def test_both_formats_hold_the_same(made):
    two, three = (vczc.open(made[zarr_format]) for zarr_format in oracle.FORMATS)
    assert sorted(two) == sorted(three)
    for name in two:
        oracle.assert_same(two[name][...], three[name][...])
        assert two[name].dims == three[name].dims


def test_equal_to_the_sample(made):
    """examples/sample.vcz.zip has other chunks and the same items."""
    sample = vczc.open(encoded.EXAMPLES / "sample.vcz.zip")
    group = vczc.open(made[2])
    assert sample["call_genotype"].chunks != group["call_genotype"].chunks
    for name in set(sample) - {"region_index"}:  # that is by chunk
        oracle.assert_same(group[name][...], sample[name][...])
