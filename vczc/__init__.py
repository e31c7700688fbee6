# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""A fast reader of VCF Zarr: `vczc.open(path)` gives a group, `group[name]` an array."""

import sys as _sys
from typing import TYPE_CHECKING as _TYPE_CHECKING

try:
    from vczc._core import version as _version
except ModuleNotFoundError as _err:
    if _err.name != "vczc._core":
        raise
    _msg = (
        f"{__path__[0]} holds the source of vczc, which is not built there, and is found before "
        "the vczc that is installed: start Python in another folder, or build it by `./dev build`"
    )
    raise ImportError(_msg) from None
from vczc.array import Array
from vczc.blocks import Blocks
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
from vczc.opening import open, open_array, open_group
from vczc.stores import DirectoryStore, MemoryStore, ZipStore
from vczc.stream import stream  # by which the module of that name is out of sight

if _TYPE_CHECKING:
    from vczc import genotypes
    from vczc.arrow import to_arrow
    from vczc.embed import get_include, get_library_dir
    from vczc.ids import UnknownIdError, samples
    from vczc.missing import is_fill, is_missing
    from vczc.regions import region
    from vczc.threads import set_buffer_pool, set_threads

# Modules that are loaded when they, or a name of theirs, are first asked for.
_LATER = {
    "UnknownIdError": "ids",
    "genotypes": "genotypes",
    "get_include": "embed",
    "get_library_dir": "embed",
    "is_fill": "missing",
    "is_missing": "missing",
    "region": "regions",
    "samples": "ids",
    "set_buffer_pool": "threads",
    "set_threads": "threads",
    "to_arrow": "arrow",
}

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
    "genotypes",
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


def __getattr__(name: str) -> object:
    if name not in _LATER:
        msg = f"module 'vczc' has no attribute {name!r}"
        raise AttributeError(msg, name=name, obj=_sys.modules[__name__])
    import importlib

    module = importlib.import_module(f"vczc.{_LATER[name]}")
    value = globals()[name] = module if _LATER[name] == name else getattr(module, name)
    return value
