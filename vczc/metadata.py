# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""The documents of a node, parsed: what is stored, as it is stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from vczc.errors import MetadataError

if TYPE_CHECKING:
    from collections.abc import Iterator

# Codecs of format 3 that turn bytes into fewer bytes.
_COMPRESSORS = frozenset({"blosc", "bz2", "gzip", "lz4", "lzma", "zlib", "zstd"})
_TO_BYTES = frozenset(
    {
        *("bytes", "sharding_indexed", "vlen-bytes", "vlen-utf8", "packbits"),
        *("numcodecs.pcodec", "numcodecs.zfpy"),
    }
)


class ArrayMetadata(NamedTuple):
    """What the documents of an array say."""

    zarr_format: int
    dimension_names: tuple[str | None, ...] | None
    document: dict[str, Any]  # .zarray or zarr.json


class Attributes(Mapping[str, Any]):
    """The attributes of a group or array: a mapping that cannot be changed."""

    __slots__ = ("_values",)

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(self._values)

    def asdict(self) -> dict[str, Any]:
        """A copy that may be changed."""
        return dict(self._values)


def parse(text: bytes, path: str, what: str) -> dict[str, Any]:
    """A JSON object, as Python's own reader takes it (NaN and Infinity among the numbers)."""
    import json

    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as err:
        msg = f"the {what} of {'/' + path!r} cannot be parsed: {err}"
        raise MetadataError(msg) from None
    if not isinstance(value, dict):
        msg = f"the {what} of {'/' + path!r} are no JSON object"
        raise MetadataError(msg)
    return value


def codecs(document: dict[str, Any]) -> tuple[Any, ...]:
    """All codecs in the order of writing; of format 2 the filters, then the compressor."""
    if document.get("zarr_format") == 3:
        return tuple(document.get("codecs") or ())
    compressor = document.get("compressor")
    return (*(document.get("filters") or ()), *(() if compressor is None else (compressor,)))


def compressor(document: dict[str, Any]) -> Any:
    """The compressor of format 2; of format 3 the first codec that compresses, or None."""
    if document.get("zarr_format") != 3:
        return document.get("compressor")
    for codec in _inner(document):
        if _name(codec).removeprefix("numcodecs.") in _COMPRESSORS:
            return codec
    return None


def filters(document: dict[str, Any]) -> tuple[Any, ...]:
    """The filters of format 2; of format 3 the codecs from array to array."""
    if document.get("zarr_format") != 3:
        return tuple(document.get("filters") or ())
    found = []
    for codec in _inner(document):
        if _name(codec) in _TO_BYTES:
            break
        found.append(codec)
    return tuple(found)


def _inner(document: dict[str, Any]) -> list[Any]:
    """The codecs of a chunk: those inside the shards, where there are shards."""
    chain: list[Any] = document.get("codecs") or []
    while (shard := next((c for c in chain if _name(c) == "sharding_indexed"), None)) is not None:
        chain = shard.get("configuration", {}).get("codecs") or []
    return chain


def _name(codec: Any) -> str:
    return str(codec.get("name", "")) if isinstance(codec, dict) else str(codec)
