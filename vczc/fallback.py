# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Arrays whose codecs libvczc does not read, decoded through numcodecs.

libvczc undoes as much of a chain as it can: it is shown a store in which the codecs that were
written last are undone already, from the first one on that it does not read.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from vczc import _callbacks, _core, metadata
from vczc._extras import require
from vczc.array import Array, Options
from vczc.errors import Error, MetadataError, UndecodableError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vczc.stores import Store

_EXTRA = "numcodecs"
_PREFIX = "numcodecs."

# They make arbitrary objects, and pickle's may run code: never read, whatever is installed.
_OBJECT_CODECS = frozenset({"json", "json2", "msgpack", "msgpack2", "pickle", "vlen-array"})

# Codecs of format 3 that make bytes of an array; those of numcodecs are of the second set.
_TO_BYTES = frozenset({"bytes", "vlen-bytes", "vlen-utf8"})
_NUMCODECS_TO_BYTES = frozenset({"numcodecs.pcodec", "numcodecs.zfpy"})
# Those between bytes that numcodecs has under the same name.
_SHARED_NAMES = frozenset({"blosc", "crc32c", "gzip", "zstd"})

# Compressed items and filters may make a chunk longer, if not by much.
_MAX_GROWTH = 16
_LEAST_LIMIT = 1 << 20
_DEFAULT_LIMIT = 1 << 34

# What xz's strongest setting needs is 65 MiB.
_MAX_DICTIONARY = 1 << 28
# Streams one after another in a chunk: writers make one.
_MAX_STREAMS = 1000

_MAX_WORDS = 200  # letters of what numcodecs said


@dataclass(frozen=True, slots=True)
class _Split:
    """A chain cut in two: the document with the codecs that libvczc reads, and the others."""

    document: dict[str, Any]
    configs: tuple[dict[str, Any], ...]  # as numcodecs takes them, in the order of writing
    is_text: bool = False  # they give str objects


def open_array(store: Store, path: str, options: Options, refusal: UnsupportedError) -> Array:
    """The array that libvczc refused, with what it lacks from numcodecs; else its refusal."""
    try:
        # Copies: numcodecs looks at them, and a map of a file that is cut would end the process.
        stored = _core.Array(store._handle, path, stored_only=True, stored_copy=True)
        document = metadata.parse(stored._document, path, "metadata")
    except Error:
        raise refusal from None
    for split in _splits(document):
        view = _View(stored, split.document, None)
        try:
            Array._on(_open(view, store), path, options)
        except UnsupportedError:
            continue
        except Error:
            break
        limit = _limit(stored, options)
        view.decode = _Decoder(_load(split.configs, path, refusal), split.is_text, limit)
        return _Decoded(store, path, options, stored, view)
    raise refusal


def _open(view: _View, store: Store) -> _core.Store:
    return _callbacks.open_mapping(view, store.location)


class _Decoded(Array):
    """Looks as it is stored; its chunks come through numcodecs."""

    _stored_array: _core.Array

    def __new__(
        cls, store: Store, path: str, options: Options, stored: _core.Array, view: _View
    ) -> Self:
        self = cls._on(_open(view, store), path, options)
        self._store = store
        self._options = options
        self._stored_array = stored
        return self

    @property
    def _document(self) -> bytes:
        return self._stored_array._document

    def _stored(self, coords: tuple[int, ...]) -> memoryview | None:
        return self._stored_array._stored(coords)

    def _count_stored(self) -> tuple[int, int]:
        return self._stored_array._count_stored()

    def _prefetch(self, coords: tuple[int, ...]) -> None:
        self._stored_array._prefetch(coords)

    def __reduce__(self) -> tuple[Any, ...]:
        return Array, (self._store, self.path, self._options)


class _View(Mapping[str, Any]):
    """A store with one array, as the keys and values that libvczc asks for."""

    decode: Callable[[memoryview], Any] | None

    def __init__(
        self,
        stored: _core.Array,
        document: dict[str, Any],
        decode: Callable[[memoryview], Any] | None,
    ) -> None:
        self._stored = stored
        self.decode = decode
        start = f"{stored.path}/" if stored.path else ""
        text = json.dumps(document).encode()
        if stored.zarr_format == 3:
            self._documents = {f"{start}zarr.json": text}
        else:
            self._documents = {f"{start}.zarray": text, f"{start}.zattrs": stored._attributes}
        self._start = start + _start_of_keys(document)
        self._separator = _separator_of_keys(document)

    def __getitem__(self, key: str) -> Any:
        document = self._documents.get(key)
        if document is not None:
            return document
        coords = self._coords(key)
        chunk = None if coords is None else self._stored._stored(coords)
        if chunk is None:
            raise KeyError(key)
        return chunk if self.decode is None else self.decode(chunk)

    def __iter__(self) -> Iterator[str]:
        """No key is told: a store whose only keys are those of one folder would be opened there."""
        return iter(())

    def __len__(self) -> int:
        return 0

    def _coords(self, key: str) -> tuple[int, ...] | None:
        """The place of a chunk in the grid, or None where the key is no chunk's."""
        ndim = self._stored.ndim
        if ndim == 0:
            return () if key in (self._start, self._start + "0") else None
        numbers = key.removeprefix(self._start).split(self._separator)
        if not key.startswith(self._start) or len(numbers) != ndim:
            return None
        if not all(number.isascii() and number.isdigit() for number in numbers):
            return None
        return tuple(int(number) for number in numbers)


def _start_of_keys(document: dict[str, Any]) -> str:
    encoding = document.get("chunk_key_encoding")
    if document.get("zarr_format") != 3 or _name(encoding) != "default":
        return ""
    return "c" + _separator_of_keys(document) if document.get("shape") else "c"


def _separator_of_keys(document: dict[str, Any]) -> str:
    if document.get("zarr_format") != 3:
        return str(document.get("dimension_separator", "."))
    encoding = document["chunk_key_encoding"]
    standard = "/" if _name(encoding) == "default" else "."
    if not isinstance(encoding, dict):
        return standard
    settings = encoding.get("configuration") or {}
    if not isinstance(settings, dict):
        return standard
    return str(settings.get("separator", encoding.get("separator", standard)))


# ---- Where a chain is cut ----


def _splits(document: dict[str, Any]) -> Iterator[_Split]:
    """The ways to cut the chain, the one that leaves most to libvczc first."""
    if document.get("zarr_format") == 3:
        yield from _splits_of_v3(document)
    else:
        yield from _splits_of_v2(document)


def _splits_of_v2(document: dict[str, Any]) -> Iterator[_Split]:
    chain = metadata.codecs(document)
    if not all(isinstance(codec, dict) for codec in chain):
        return
    if any(codec.get("id") in _OBJECT_CODECS for codec in chain):
        return
    for n in range(len(chain) - 1, -1, -1):
        filters: list[Any] = list(chain[:n])
        is_text = n == 0 and document.get("dtype") == "|O"
        if is_text:
            if chain[0].get("id") != "categorize":
                return  # what else gives objects may give any
            filters = [{"id": "vlen-utf8"}]
        shown = {**document, "filters": filters or None, "compressor": None}
        yield _Split(shown, chain[n:], is_text)


def _splits_of_v3(document: dict[str, Any]) -> Iterator[_Split]:
    chain = document.get("codecs") or []
    names = [_name(codec) for codec in chain]
    if "sharding_indexed" in names:
        return
    at = next((i for i, name in enumerate(names) if name in _TO_BYTES), None)
    is_own = at is None
    if at is None:
        at = next((i for i, name in enumerate(names) if name in _NUMCODECS_TO_BYTES), None)
    if at is None:
        return
    for n in range(len(chain) - 1, at - is_own, -1):
        configs = [_config_of_v3(codec) for codec in chain[n:]]
        if None in configs:
            return
        shown = chain[:n]
        if n == at:
            shown = [*shown, {"name": "bytes", "configuration": {"endian": "little"}}]
        yield _Split({**document, "codecs": shown}, tuple(c for c in configs if c is not None))


def _config_of_v3(codec: Any) -> dict[str, Any] | None:
    """As numcodecs takes it; None where it has no such codec."""
    name = _name(codec)
    if name in _SHARED_NAMES:
        return {"id": name}  # settings are the writer's
    if not name.startswith(_PREFIX) or name.removeprefix(_PREFIX) in _OBJECT_CODECS:
        return None
    settings = codec.get("configuration") if isinstance(codec, dict) else None
    if not isinstance(settings, (dict, type(None))):
        return None
    return {**(settings or {}), "id": name.removeprefix(_PREFIX)}


def _name(codec: Any) -> str:
    return str(codec.get("name", "")) if isinstance(codec, dict) else str(codec)


# ---- Decoding ----


def _load(configs: Sequence[dict[str, Any]], path: str, refusal: UnsupportedError) -> list[Any]:
    try:
        numcodecs = require("numcodecs", _EXTRA)
    except UnsupportedError as err:
        msg = f"{refusal}: {err}"
        raise UnsupportedError(msg) from None
    codecs = []
    for config in configs:
        name = config.get("id")
        shown = str(name)[:64]
        if name not in numcodecs.registry.codec_registry | numcodecs.registry.entries:
            msg = f"{refusal}, and numcodecs has no codec {shown!r}"
            raise UnsupportedError(msg)
        try:
            codecs.append(numcodecs.get_codec(dict(config)))
        except Exception as err:
            msg = (
                f"array {path!r}: numcodecs does not take the settings of the codec {shown!r}: "
                f"{_words(err)}"
            )
            raise MetadataError(msg) from err
    return codecs


def _limit(stored: _core.Array, options: Options) -> int:
    """How many bytes a chunk may become on the way."""
    ceiling = options.max_chunk_bytes or _DEFAULT_LIMIT
    if stored._item_dtype is None:
        return ceiling
    chunk = math.prod(stored.chunks) * stored._item_dtype.itemsize
    return max(_LEAST_LIMIT, _MAX_GROWTH * chunk)


class _Decoder:
    """Undoes codecs of numcodecs, the last one first."""

    def __init__(self, codecs: list[Any], is_text: bool, limit: int) -> None:
        self._codecs = codecs
        self._is_text = is_text
        self._limit = limit

    def __call__(self, chunk: memoryview) -> Any:
        data: Any = chunk
        for codec in reversed(self._codecs):
            try:
                data = self._decode(codec, data)
            except MemoryError:
                raise
            except Exception as err:
                msg = f"the codec {codec.codec_id!r} cannot be undone: {_words(err)}"
                raise UndecodableError(msg) from err
        if self._is_text:
            data = require("numcodecs.vlen", _EXTRA).VLenUTF8().encode(data)
        if not isinstance(data, np.ndarray):
            return data
        if data.dtype == object:
            msg = f"the codec {self._codecs[0].codec_id!r} gives objects"
            raise UndecodableError(msg)
        # As zarr-python takes them: items in the order in which they lie.
        return data.tobytes(order="A")

    def _decode(self, codec: Any, data: Any) -> Any:
        start = _STREAMS.get(codec.codec_id)
        if start is not None:
            return _unpack(start, codec, bytes(data), self._limit)
        if codec.codec_id in _SIZED:
            return _by_core(codec.codec_id, bytes(data), self._limit)
        self._check(_claimed_nbytes(codec, data))
        data = codec.decode(data)
        self._check(_nbytes_of(data))
        return data

    def _check(self, nbytes: int) -> None:
        if nbytes > self._limit:
            msg = f"it holds {nbytes} bytes, more than the {self._limit} that are allowed"
            raise ValueError(msg)


def _nbytes_of(data: Any) -> int:
    return int(data.nbytes) if isinstance(data, np.ndarray) else memoryview(data).nbytes


def _claimed_nbytes(codec: Any, data: Any) -> int:
    """What items of a fixed size become, before they do; 0 of codecs that have none."""
    decoded = getattr(codec, "decode_dtype", getattr(codec, "dtype", None))
    encoded = getattr(codec, "encode_dtype", getattr(codec, "astype", None))
    if decoded is None or encoded is None:
        return 0
    nitems = _nbytes_of(data) // max(1, int(np.dtype(encoded).itemsize))
    return nitems * int(np.dtype(decoded).itemsize)


def _sized_blosc(data: bytes) -> int:
    return int.from_bytes(data[4:8], "little")


def _sized_lz4(data: bytes) -> int:
    return int.from_bytes(data[:4], "little")


def _sized_zstd(data: bytes) -> int:
    """The content size that a frame states (RFC 8878, 3.1.1.1): numcodecs would believe any."""
    descriptor = data[4]
    nbytes = (1 if descriptor & 0x20 else 0, 2, 4, 8)[descriptor >> 6]
    if data[:4] != b"\x28\xb5\x2f\xfd" or nbytes == 0:
        msg = "it is no frame that states its size"
        raise ValueError(msg)
    at = 5 + (not descriptor & 0x20) + (0, 1, 2, 4)[descriptor & 3]
    return int.from_bytes(data[at : at + nbytes], "little") + (256 if nbytes == 2 else 0)


# Compressors that libvczc reads as well: it believes no frame, and these say how much they hold.
_SIZED: dict[str, Callable[[bytes], int]] = {
    "blosc": _sized_blosc,
    "lz4": _sized_lz4,
    "zstd": _sized_zstd,
}


def _by_core(name: str, data: bytes, limit: int) -> Any:
    """What is compressed in `data`, as libvczc reads it: as the one chunk of an array of bytes."""
    if len(data) < 16 - 8 * (name != "blosc"):
        msg = f"{len(data)} bytes are too few"
        raise ValueError(msg)
    nbytes = _SIZED[name](data)
    if nbytes > limit:
        msg = f"it holds {nbytes} bytes, more than the {limit} that are allowed"
        raise ValueError(msg)
    if nbytes == 0:
        return b""
    document = {
        "zarr_format": 2,
        "shape": [nbytes],
        "chunks": [nbytes],
        "dtype": "|u1",
        "compressor": {"id": name},
        "filters": None,
        "fill_value": 0,
        "order": "C",
    }
    one = {".zarray": json.dumps(document).encode(), "0": data}
    return Array._on(_callbacks.open_mapping(one, "a chunk"), "", Options()).blocks[0]


def _start_bz2(codec: Any) -> Any:
    import bz2

    del codec  # its level is the writer's
    return bz2.BZ2Decompressor()


def _start_lzma(codec: Any) -> Any:
    import lzma

    if codec.format == lzma.FORMAT_RAW:
        return lzma.LZMADecompressor(format=codec.format, filters=codec.filters)
    return lzma.LZMADecompressor(format=codec.format, memlimit=_MAX_DICTIONARY)


class _Inflater:
    """zlib's, with the names of the others."""

    def __init__(self, wbits: int) -> None:
        import zlib

        self._inflater = zlib.decompressobj(wbits)

    def decompress(self, data: bytes, nbytes: int) -> bytes:
        return self._inflater.decompress(data, nbytes)

    @property
    def eof(self) -> bool:
        return self._inflater.eof

    @property
    def unused_data(self) -> bytes:
        return self._inflater.unused_data


def _start_zlib(codec: Any) -> Any:
    del codec
    return _Inflater(15)


def _start_gzip(codec: Any) -> Any:
    del codec
    return _Inflater(31)


# A few stored bytes of these may hold very many, and numcodecs unpacks them all.
_STREAMS: dict[str, Callable[[Any], Any]] = {
    "bz2": _start_bz2,
    "gzip": _start_gzip,
    "lzma": _start_lzma,
    "zlib": _start_zlib,
}


def _unpack(start: Callable[[Any], Any], codec: Any, data: bytes, limit: int) -> bytes:
    """Streams one after another; what follows the first and is none is passed over, as Python's
    own functions do."""
    parts: list[bytes] = []
    left = limit
    while data or not parts:
        if len(parts) == _MAX_STREAMS:
            msg = f"it is in more than {_MAX_STREAMS} streams"
            raise ValueError(msg)
        stream = start(codec)
        try:
            part = stream.decompress(data, left + 1)
        except Exception:
            if parts:
                break
            raise
        if len(part) > left:
            msg = f"it holds more than the {limit} bytes that are allowed"
            raise ValueError(msg)
        if not stream.eof:
            msg = "it ends in the middle of a stream"
            raise ValueError(msg)
        parts.append(part)
        left -= len(part)
        data = stream.unused_data
    return b"".join(parts)


def _words(err: Exception) -> str:
    """One line, cut: it may quote what the document says."""
    line = " ".join(f"{type(err).__name__}: {err}".split())
    return line if len(line) <= _MAX_WORDS else f"{line[:_MAX_WORDS]} …"
