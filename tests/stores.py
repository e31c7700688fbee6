# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Stores for the tests, written by zarr-python: the same one as a folder, an archive, a mapping."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import zarr

FORMATS = (2, 3)
KINDS = ("directory", "zip", "mapping")


def write(root: Path, name: str, data: Any, chunks: tuple[int, ...], **settings: Any) -> zarr.Array:
    """An array of the group at `root`, which is made where it is not there."""
    settings.setdefault("zarr_format", 2)
    attributes = settings.pop("attributes", None)
    data = np.asarray(data)
    group = zarr.open_group(str(root), mode="a", zarr_format=settings.pop("zarr_format"))
    array = group.create_array(
        name,
        shape=data.shape,
        dtype=str if data.dtype.kind in "OT" else data.dtype,
        chunks=chunks,
        attributes=attributes,
        **settings,
    )
    array[...] = data
    return array


def zipped(root: Path) -> Path:
    """The folder as an archive beside it."""
    target = root.with_name(root.name + ".zip")
    with zipfile.ZipFile(target, "w") as archive:
        for path in sorted(root.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(root).as_posix())
    return target


def mapped(root: Path) -> dict[str, bytes]:
    """The folder as a mapping from keys to bytes."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file()
    }


def source(root: Path, kind: str) -> Any:
    return {"directory": lambda r: r, "zip": zipped, "mapping": mapped}[kind](root)


def block_sum(array, i):
    """For other processes, which find this module but not those of the tests."""
    return int(array.blocks[i].sum())
