# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""What vczc raises, and the one table from a status code of libvczc to a class."""

from __future__ import annotations

import errno as _errno
import threading
from typing import Any, ClassVar

__all__ = [
    "BufferError",
    "CorruptChunkError",
    "Error",
    "MetadataError",
    "NodeNotFoundError",
    "StoreError",
    "StoreNotFoundError",
    "UnsupportedError",
]


class Error(Exception):
    """The base of all errors of vczc. `array`, `coords` and `key` name the chunk, where one is."""

    array: str | None
    coords: tuple[int, ...] | None
    key: str | None

    def __init__(
        self,
        message: str = "",
        *,
        array: str | None = None,
        coords: tuple[int, ...] | None = None,
        key: str | None = None,
    ) -> None:
        super().__init__(message)
        self.array = array
        self.coords = coords
        self.key = key

    def __str__(self) -> str:  # KeyError would quote it, OSError look for a number
        return str(self.args[0]) if self.args else ""


class StoreError(Error, OSError):
    """The store cannot be opened or read, or it changed under the reader."""


class StoreNotFoundError(StoreError, FileNotFoundError):
    """There is nothing at the path of the store, which is its `filename`."""

    errno: ClassVar[int] = _errno.ENOENT  # type: ignore[misc]
    filename: str | None = None  # in the instance's dict, which a pickle keeps


class NodeNotFoundError(Error, KeyError):
    """No group or array of that name."""


class MetadataError(Error, ValueError):
    """Metadata that is not valid Zarr."""


class UnsupportedError(Error, NotImplementedError):
    """Valid Zarr that vczc does not read, named."""


class CorruptChunkError(Error, ValueError):
    """Stored bytes that do not decode to what the metadata says."""


class UndecodableError(CorruptChunkError):
    """What a store of our own raises for a chunk that it had to decode and could not: the reader
    raises a CorruptChunkError with the place, and the cause of this one."""


class BufferError(Error, ValueError):
    """`out` is too small, read-only, not contiguous, or of another type."""


for _public in (
    Error,
    StoreError,
    StoreNotFoundError,
    NodeNotFoundError,
    MetadataError,
    UnsupportedError,
    CorruptChunkError,
    BufferError,
):
    _public.__module__ = "vczc"  # where users find them, and what a traceback shows

# Every VCZC_ERR_… of vczc.h.
CLASSES: dict[int, type[Exception]] = {
    -1: MemoryError,
    -2: ValueError,
    -3: IndexError,
    -4: BufferError,
    -5: StoreNotFoundError,
    -6: StoreError,
    -7: NodeNotFoundError,
    -8: MetadataError,
    -9: UnsupportedError,
    -10: CorruptChunkError,
    -11: StoreError,
    -12: Error,
    -13: Error,
}

# Exceptions of a caller's own storage, by the reason that libvczc was told; the thread that raised
# may be one of the pool. Few are kept: each holds the frames of its traceback.
_MAX_CAUSES = 16
_causes: dict[str, BaseException] = {}
_causes_lock = threading.Lock()


def remember_cause(reason: str, cause: BaseException) -> None:
    """Keep what a storage raised until the reader that waits for it asks."""
    with _causes_lock:
        _causes[reason] = cause
        while len(_causes) > _MAX_CAUSES:
            del _causes[next(iter(_causes))]


def _take_cause(reason: str) -> BaseException | None:
    with _causes_lock:
        for known in _causes:
            if reason.endswith(known):
                return _causes.pop(known)
    return None


def from_code(
    code: int,
    message: str,
    reason: str,
    array: str | None,
    coords: tuple[int, ...] | None,
    key: str | None,
) -> BaseException:
    """The exception for a failure of libvczc."""
    cls = CLASSES.get(code, Error)
    if not issubclass(cls, Error):
        return cls(message)
    place: dict[str, Any] = {"array": array, "coords": coords, "key": key}
    error = cls(message, **place)
    cause = _take_cause(reason) if _causes else None
    if cause is not None and not isinstance(cause, Exception):
        return cause  # KeyboardInterrupt and its like are not the store's fault
    error.__cause__ = cause
    return error
