# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Where the bytes lie: a directory, a zip archive, or a mapping."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Self

from vczc import _callbacks, _core, metadata
from vczc.counts import count_of
from vczc.errors import NodeNotFoundError, StoreError, StoreNotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import TracebackType


def node_path(name: object) -> str:
    """A path inside a store: parts with a slash between them, and none that leads elsewhere."""
    if not isinstance(name, str):
        msg = f"the name of a group or array is a str, not {type(name).__name__}"
        raise TypeError(msg)
    parts = [part for part in name.split("/") if part]
    if "." in parts or ".." in parts or "\0" in name or _has_half_pairs(name):
        msg = f"{name!r} is no path of a group or array"
        raise NodeNotFoundError(msg)
    return "/".join(parts)


def _has_half_pairs(name: str) -> bool:
    """Neither UTF-8 nor bytes that are none have such letters, so that no store has such a name."""
    try:
        name.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return True
    return False


class Store:
    """The base of the stores. A closed one opens nothing; open arrays keep what they need."""

    _handle: _core.Store
    _arrays: dict[str, _core.Array]

    def _attach(self, handle: _core.Store) -> None:
        self._handle = handle
        self._arrays = {}

    @property
    def location(self) -> str:
        """The absolute path, or the name that errors call the store by."""
        return self._handle.location

    @property
    def closed(self) -> bool:
        return self._handle.closed

    def fetch_metadata(self, name: str = "") -> dict[str, Any]:
        """The document of a group or array (`.zgroup`, `.zarray` or `zarr.json`), parsed."""
        node = _core.Node(self._handle, node_path(name))
        return metadata.parse(node.document, name, "metadata")

    def fetch_attrs(self, name: str = "") -> dict[str, Any]:
        """The attributes of a group or array, parsed."""
        node = _core.Node(self._handle, node_path(name))
        return metadata.parse(node.attributes, name, "attributes")

    def fetch_chunk(self, name: str, coords: int | Sequence[int]) -> memoryview | None:
        """The stored bytes of one chunk, read-only, with no copy where the store is mapped; None
        where the chunk is absent. As with any map, to look at one whose file has been cut since
        ends the process by a signal."""
        if self.closed:
            msg = f"{self!r} is closed"
            raise StoreError(msg)
        array = self._arrays.get(name)
        if array is None:
            array = self._arrays[name] = _core.Array(
                self._handle, node_path(name), stored_only=True
            )
        given = coords if isinstance(coords, (tuple, list)) else (coords,)
        end = 1 << 63
        place = [count_of(c, -end, end, "a coordinate", "the number of a chunk") for c in given]
        return array._stored(tuple(place))

    def fetch(self, key: str) -> memoryview | None:
        """The bytes of a key (inflated, of an archive that is deflated), read-only; None where it
        is absent. Of an archive they are a view of a map, with what `fetch_chunk` says of that."""
        return self._handle.get(key)

    def keys(self) -> list[str]:
        """Every key of the store, in order."""
        return self._handle.keys()

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def close(self) -> None:
        """Open nothing any more; arrays that are open go on."""
        self._handle.close()
        self._arrays.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        where = "closed" if self.closed else repr(self.location)
        return f"<vczc.{type(self).__name__} {where}>"


class _PathStore(Store):
    """At a path, which is made absolute, so that a later change of directory does not matter."""

    _kind: int
    _other: str

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._check(_open(path), path)

    def _check(self, handle: _core.Store, path: str | os.PathLike[str]) -> None:
        if handle.kind != self._kind:
            msg = f"{os.fspath(path)!r} is {self._other}"
            raise StoreError(msg)
        self._attach(handle)
        self._path = handle.location

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._path,)


class DirectoryStore(_PathStore):
    """The files of a folder."""

    _kind = _core.STORE_DIRECTORY
    _other = "a file: vczc.ZipStore opens zip archives"


class ZipStore(_PathStore):
    """A zip archive, read where it lies. `verify` checks CRC-32 when an entry is first read."""

    _kind = _core.STORE_ZIP
    _other = "a folder: vczc.DirectoryStore opens those"

    def __init__(self, path: str | os.PathLike[str], *, verify: bool = False) -> None:
        self._check(_open(path, verify=verify), path)
        self.verify = verify

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen_zip, (self._path, self.verify)


class MemoryStore(Store):
    """A mapping from keys to bytes, which is held, not copied.

    What changes in it is seen by arrays that are opened afterwards; an open array may still have
    the chunk that it read last. Only KeyError means that a key is absent. A pickle holds the
    mapping.
    """

    def __init__(self, mapping: Mapping[str, Any]) -> None:
        if not hasattr(mapping, "__getitem__") or not hasattr(mapping, "keys"):
            msg = f"a store in memory is a mapping from keys to bytes, not {type(mapping).__name__}"
            raise TypeError(msg)
        self.mapping = mapping
        self._attach(_callbacks.open_mapping(mapping, f"<{type(mapping).__name__} in memory>"))

    def __reduce__(self) -> tuple[Any, ...]:
        return MemoryStore, (self.mapping,)


def open_path(path: str | os.PathLike[str], *, verify: bool = False) -> Store:
    """The store at a path, told apart by what is there, not by its name."""
    handle = _open(path, verify=verify)
    store: _PathStore
    if handle.kind == _core.STORE_ZIP:
        store = ZipStore.__new__(ZipStore)
        store.verify = verify
    else:
        store = DirectoryStore.__new__(DirectoryStore)
    store._check(handle, path)
    return store


def _open(path: str | os.PathLike[str], *, verify: bool = False) -> _core.Store:
    try:
        return _core.open_path(os.fsencode(path), verify=verify)
    except StoreNotFoundError as err:
        err.filename = os.fspath(path)
        raise


def _reopen_zip(path: str, verify: bool) -> ZipStore:
    return ZipStore(path, verify=verify)
