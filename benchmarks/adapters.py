#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Time xarray's engine "vczc" beside its engine "zarr", and zarr-python with what vczc gives it.

    python benchmarks/adapters.py STORE... [--array NAME] [--turns N]

A store is a directory or a zip archive. Each task is done by all in turns, opening included;
all show first that they give the same. Times are medians of the clock and of the processor, and
how many times as long as the first that zarr-python's own way takes.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
import zarr

import vczc.zarr

if TYPE_CHECKING:
    from collections.abc import Callable

OURS = "vczc.zarr.CodecPipeline"
FUSED = "zarr.core.codec_pipeline.FusedCodecPipeline"  # of zarr-python 3.4
NSAMPLES = 10


def main() -> int:
    options = parsed()
    print(f"vczc {vczc.__version__}, xarray {xr.__version__}, zarr {zarr.__version__}")
    for store in options.stores:
        for title, select in tasks(store, options.array).items():
            print(f"\n{store.name}, {options.array}, {title}")
            report(take_turns(readers(store, options.array), select, options.turns))
    return 0


def parsed() -> argparse.Namespace:
    made = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("stores", type=Path, nargs="+")
    made.add_argument("--array", default="call_genotype")
    made.add_argument("--turns", type=int, default=7)
    return made.parse_args()


def tasks(store: Path, name: str) -> dict[str, Callable[[Any], Any]]:
    """What is read, of arrays of any kind: by basic selections, as all of them take."""
    array = vczc.open(store)[name]
    nrows = array.shape[0]
    found: dict[str, Callable[[Any], Any]] = {
        "whole": lambda a: a[:],
        "one chunk's rows": lambda a: a[: array.chunks[0]],
        "one row": lambda a: a[nrows // 2],
    }
    if array.ndim > 1:
        found[f"{NSAMPLES} samples"] = lambda a: a[:, :NSAMPLES]
    return found


def readers(store: Path, name: str) -> dict[str, Callable[[], Any]]:
    """Each opens the array; the first of a library is its own way."""
    is_zip = store.is_file()

    def zarr_store(*, ours: bool) -> Any:
        if not is_zip:
            return store
        return vczc.zarr.ZipStore(store) if ours else zarr.storage.ZipStore(store, mode="r")

    def by_xarray(engine: str, chunks: Any) -> Any:
        if engine == "vczc":
            return Loaded(xr.open_dataset(store, engine="vczc", chunks=chunks)[name])
        source = zarr_store(ours=False)
        options = {"consolidated": False, "mask_and_scale": False, "chunks": chunks}
        return Loaded(xr.open_zarr(source, **options)[name])

    def by_zarr(*, ours: bool) -> Any:
        return zarr.open_group(zarr_store(ours=ours), mode="r")[name]

    found: dict[str, Callable[[], Any]] = {
        "xarray, engine zarr": partial(by_xarray, "zarr", None),
        "xarray, engine vczc": partial(by_xarray, "vczc", None),
        "xarray, engine zarr, dask": partial(by_xarray, "zarr", {}),
        "xarray, engine vczc, dask": partial(by_xarray, "vczc", {}),
        "zarr": partial(by_zarr, ours=False),
    }
    if is_zip:
        found["zarr, our ZipStore"] = partial(by_zarr, ours=True)
    if hasattr(zarr.core.codec_pipeline, "FusedCodecPipeline"):
        found["zarr, its FusedCodecPipeline"] = partial(with_pipeline, FUSED, by_zarr, ours=False)
    found["zarr, our CodecPipeline"] = partial(with_pipeline, OURS, by_zarr, ours=False)
    if is_zip:
        found["zarr, our both"] = partial(with_pipeline, OURS, by_zarr, ours=True)
    return found


class Loaded:
    """An array of xarray that gives ndarrays."""

    def __init__(self, array: xr.DataArray) -> None:
        self.array = array

    def __getitem__(self, key: Any) -> np.ndarray[Any, Any]:
        return self.array[key].values


def with_pipeline(path: str, open_it: Callable[..., Any], **options: Any) -> Any:
    with zarr.config.set({"codec_pipeline.path": path}):
        return open_it(**options)


def take_turns(
    openers: dict[str, Callable[[], Any]], select: Callable[[Any], Any], turns: int
) -> dict[str, list[tuple[float, float]]]:
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in openers}
    expected = None
    for turn in range(turns + 1):
        for name, open_it in openers.items():
            gc.collect()
            wall, cpu = time.perf_counter(), time.process_time()
            got = select(open_it())
            taken = time.perf_counter() - wall, time.process_time() - cpu
            if turn != 0:
                times[name].append(taken)
                continue
            if expected is None:
                expected = got
            np.testing.assert_array_equal(got, expected, err_msg=name)
    return times


def report(times: dict[str, list[tuple[float, float]]]) -> None:
    print(f"{'':34}{'wall ms':>10}{'cpu ms':>10}{'wall ratio':>12}{'cpu ratio':>11}")
    own = None
    for name, taken in times.items():
        wall = statistics.median(t[0] for t in taken)
        cpu = statistics.median(t[1] for t in taken)
        if "vczc" not in name and "our" not in name and "Fused" not in name:
            own = wall, cpu
        assert own is not None
        ratios = f"{own[0] / wall:12.1f}{own[1] / cpu:11.1f}"
        print(f"{name:34}{1e3 * wall:10.1f}{1e3 * cpu:10.1f}{ratios}")


if __name__ == "__main__":
    sys.exit(main())
