# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""The attribute `_FillValue` of format 3, which xarray encodes and other programs do not."""

import numpy as np
import pytest
import xarray as xr
import zarr

FILLS = [-1, 0, 1, 1.5, 300, True, "1", "x", None, [1], float("nan"), float("inf"), "AAAAAAAA+D8="]


def opened(path, **options):
    try:
        with xr.open_dataset(path, mask_and_scale=True, **options) as ds:
            return ds.load()
    except Exception as err:
        return err


@pytest.mark.parametrize("fill", FILLS, ids=repr)
@pytest.mark.parametrize("dtype", ["?", "i1", ">u2", "f4", "c8", "U2", "S2", str, "M8[s]"], ids=str)
def test_as_the_engine_zarr_takes_it(tmp_path, dtype, fill):
    """Where that opens nothing: the same error for what may be encoded, else the value as it is."""
    group = zarr.open_group(tmp_path / "d", mode="w", zarr_format=3)
    array = group.create_array("a", shape=(3,), dtype=dtype, dimension_names=["x"])
    array[:] = np.array([0, 1, 1]).astype(object if dtype is str else dtype)
    array.attrs["_FillValue"] = fill
    expected = opened(tmp_path / "d", engine="zarr", consolidated=False)
    got = opened(tmp_path / "d", engine="vczc")
    if isinstance(expected, xr.Dataset):
        xr.testing.assert_identical(got, expected)
        fills = [ds["a"].encoding["_FillValue"] for ds in (got, expected)]
        assert repr(fills[0]) == repr(fills[1])
    elif isinstance(fill, (str, list)) and dtype is not str:
        assert (type(got), str(got)) == (type(expected), str(expected))
    else:
        with xr.open_dataset(tmp_path / "d", engine="vczc") as ds:
            assert repr(ds["a"].attrs["_FillValue"]) == repr(fill)
