# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""A fast reader of VCF Zarr: `vczc.open(path)` gives a group, `group[name]` an array."""

from vczc._core import version as _version
from vczc.array import Array
from vczc.arrow import to_arrow
from vczc.blocks import Blocks
from vczc.embed import get_include, get_library_dir
from vczc.errors import (
    BufferError,
    CorruptChunkError,
    Error,
    MetadataError,
    NodeNotFoundError,
    StoreError,
    StoreNotFoundError,
    UnsupportedError,
)
from vczc.group import Group
from vczc.ids import UnknownIdError, samples
from vczc.missing import is_fill, is_missing
from vczc.opening import open, open_array, open_group
from vczc.regions import region
from vczc.stores import DirectoryStore, MemoryStore, ZipStore
from vczc.stream import stream
from vczc.threads import set_buffer_pool, set_threads

__version__ = _version()

__all__ = [
    "Array",
    "Blocks",
    "BufferError",
    "CorruptChunkError",
    "DirectoryStore",
    "Error",
    "Group",
    "MemoryStore",
    "MetadataError",
    "NodeNotFoundError",
    "StoreError",
    "StoreNotFoundError",
    "UnknownIdError",
    "UnsupportedError",
    "ZipStore",
    "__version__",
    "get_include",
    "get_library_dir",
    "is_fill",
    "is_missing",
    "open",
    "open_array",
    "open_group",
    "region",
    "samples",
    "set_buffer_pool",
    "set_threads",
    "stream",
    "to_arrow",
]


def __dir__() -> list[str]:
    return list(__all__)
