# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""From a source to a store, and from a store to a node of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, TypeAlias

from vczc.array import Array, Missing, Options, Strings
from vczc.errors import NodeNotFoundError
from vczc.group import Group, open_node
from vczc.stores import MemoryStore, Store, node_path, open_path

Source: TypeAlias = "str | os.PathLike[str] | Store | Mapping[str, Any]"

_URL_SCHEMES = ("https://", "http://", "s3://", "gs://", "az://")


def open(
    source: Source,
    *,
    path: str = "",
    strings: Strings = "numpy",
    missing: Missing = "fill",
    verify: bool = False,
    max_chunk_bytes: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Array | Group:
    """Open a VCF Zarr store, or any other Zarr store, to read it.

    `source` is the path of a directory or of a zip archive, a URL, a store, or a mapping from keys
    to bytes. `path` names a group or array inside it.

    `strings` is how text comes back: "numpy" (`numpy.dtypes.StringDType`), "object" (Python `str`)
    or "bytes" (`S`, as wide as needed; NumPy takes zero bytes at the end of an `S` for padding).
    `missing` is what an absent chunk is: its "fill" value, or an "error". `verify` checks the
    CRC-32 of an archive's entry when it is first read. A chunk that would be larger than
    `max_chunk_bytes` (16 GiB) when decoded is refused. `storage_options`, of a URL, are what
    `obstore.store.from_url` takes.
    """
    options = Options(strings, missing, max_chunk_bytes)
    store = _store_of(source, verify, storage_options)
    return open_node(store, node_path(path), options)


def open_group(
    source: Source,
    *,
    path: str = "",
    strings: Strings = "numpy",
    missing: Missing = "fill",
    verify: bool = False,
    max_chunk_bytes: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Group:
    """As `open`, where a group is expected."""
    options = Options(strings, missing, max_chunk_bytes)
    node = open_node(_store_of(source, verify, storage_options), node_path(path), options)
    if not isinstance(node, Group):
        msg = f"{node.name!r} of {node.store.location!r} is an array, not a group"
        raise NodeNotFoundError(msg)
    return node


def open_array(
    source: Source,
    *,
    path: str = "",
    strings: Strings = "numpy",
    missing: Missing = "fill",
    verify: bool = False,
    max_chunk_bytes: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Array:
    """As `open`, where an array is expected."""
    options = Options(strings, missing, max_chunk_bytes)
    node = open_node(_store_of(source, verify, storage_options), node_path(path), options)
    if not isinstance(node, Array):
        msg = f"{node.name!r} of {node.store.location!r} is a group, not an array"
        raise NodeNotFoundError(msg)
    return node


def _store_of(source: object, verify: bool, storage_options: Mapping[str, Any] | None) -> Store:
    if isinstance(source, str) and source.lower().startswith(_URL_SCHEMES):
        from vczc.remote import open_url

        return open_url(source, storage_options)
    if storage_options:
        msg = "storage_options are for URLs"
        raise ValueError(msg)
    if isinstance(source, (str, os.PathLike)):
        return open_path(source, verify=verify)
    if verify:
        msg = "verify is for paths; of a zip archive that is open, ZipStore(path, verify=True)"
        raise ValueError(msg)
    if isinstance(source, Store):
        return source
    if isinstance(source, (Array, Group)):
        msg = f"{source!r} is open already: its store is its attribute `store`"
        raise TypeError(msg)
    if isinstance(source, Mapping):
        return MemoryStore(source)
    cls = type(source)
    kind = cls.__name__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__name__}"
    msg = f"pass the path of a store, a store, or a mapping from keys to bytes, not {kind}"
    raise TypeError(msg)
