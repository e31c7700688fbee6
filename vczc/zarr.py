# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""zarr-python on vczc: a store that reads zip archives in place, and a pipeline that decodes.

    zarr.open_group(vczc.zarr.ZipStore("cohort.vcz.zip"), mode="r")
    zarr.config.set({"codec_pipeline.path": "vczc.zarr.CodecPipeline"})

What vczc does not read, and everything that writes, is zarr-python's own work.
"""

from __future__ import annotations

import asyncio
import bisect
import contextlib
import itertools
import json
import math
import os
import threading
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeAlias, cast

import numpy as np

import vczc
from vczc._extras import require

try:
    import zarr.abc.codec
    import zarr.abc.store
except ModuleNotFoundError:
    require("zarr", "zarr")
    raise
from zarr.abc.store import OffsetByteRequest, RangeByteRequest
from zarr.buffer import default_buffer_prototype
from zarr.registry import register_pipeline
from zarr.storage import LocalStore, MemoryStore, StorePath

# What is not of zarr-python's public names is imported where it is used: should it move, none but
# those who use it are concerned.
if TYPE_CHECKING:
    from zarr.abc.codec import Codec
    from zarr.abc.store import ByteRequest
    from zarr.core.array_spec import ArraySpec
    from zarr.core.buffer import Buffer, BufferPrototype, NDBuffer

__all__ = ["CodecPipeline", "ZipStore"]

# One chunk: where its bytes come from, what it is, what of it is wanted, where that goes, and
# whether that is all of it.
_Item: TypeAlias = "tuple[Any, ArraySpec, Any, Any, bool]"
_Status: TypeAlias = "dict[str, str] | None"  # None: left to zarr-python

_PRESENT = {"status": "present"}
_MISSING = {"status": "missing"}

# What decodes to no more is not worth the way to another thread and back.
_INLINE_NBYTES = 1 << 16


def __dir__() -> list[str]:
    return list(__all__)


class ZipStore(zarr.abc.store.Store):
    """A zip archive, read where it lies. It cannot be written to.

    `verify` checks the CRC-32 of an entry when it is first read. A pickle holds the path.
    """

    supports_writes = False
    supports_deletes = False
    supports_listing = True

    def __init__(self, path: str | os.PathLike[str], *, verify: bool = False) -> None:
        super().__init__(read_only=True)
        self.path = os.path.abspath(path)  # noqa: PTH100 (links stay as they are)
        self.verify = verify
        self._archive: vczc.ZipStore | None = None
        self._keys: list[str] | None = None

    @property
    def archive(self) -> vczc.ZipStore:
        """What reads it: opened when it is first needed, and again after `close`."""
        archive = self._archive
        if archive is None:
            archive = self._archive = vczc.ZipStore(self.path, verify=self.verify)
            self._is_open = True
        return archive

    async def _open(self) -> None:
        if self._is_open:
            msg = "store is already open"
            raise ValueError(msg)
        _ = self.archive

    def close(self) -> None:
        archive, self._archive, self._keys = self._archive, None, None
        if archive is not None:
            archive.close()
        super().close()

    def with_read_only(self, read_only: bool = False) -> Self:
        if not read_only:
            msg = f"{self} is read-only: vczc writes no archives"
            raise ValueError(msg)
        return type(self)(self.path, verify=self.verify)

    # Reading

    def get_sync(
        self,
        key: str,
        *,
        prototype: BufferPrototype | None = None,
        byte_range: ByteRequest | None = None,
    ) -> Buffer | None:
        value = self.archive.fetch(key)
        if value is None:
            return None
        # A copy: whoever looks at the map of a file that is cut meanwhile is ended by a signal.
        data = bytes(value[_slice_of(byte_range, len(value))])
        return (prototype or default_buffer_prototype()).buffer.from_bytes(data)

    async def get(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        return self.get_sync(key, prototype=prototype, byte_range=byte_range)

    async def get_partial_values(
        self,
        prototype: BufferPrototype,
        key_ranges: Iterable[tuple[str, ByteRequest | None]],
    ) -> list[Buffer | None]:
        return [self.get_sync(k, prototype=prototype, byte_range=r) for k, r in key_ranges]

    async def exists(self, key: str) -> bool:
        return self.archive.fetch(key) is not None

    async def getsize(self, key: str) -> int:
        value = self.archive.fetch(key)
        if value is None:
            raise FileNotFoundError(key)
        return len(value)

    # Listing

    def _sorted_keys(self) -> list[str]:
        if self._keys is None:
            self._keys = sorted(self.archive.keys())
        return self._keys

    def _below(self, prefix: str) -> Iterator[str]:
        keys = self._sorted_keys()
        for i in range(bisect.bisect_left(keys, prefix), len(keys)):
            if not keys[i].startswith(prefix):
                return
            yield keys[i]

    def _names_in(self, folder: str) -> Iterator[str]:
        """What a folder has goes by name: all that is below a folder inside it is passed over."""
        keys = self._sorted_keys()
        start = f"{folder}/" if folder else ""
        i = bisect.bisect_left(keys, start)
        while i < len(keys) and keys[i].startswith(start):
            name, slash, _ = keys[i][len(start) :].partition("/")
            yield name
            i = bisect.bisect_left(keys, f"{start}{name}0", i) if slash else i + 1  # "/" < "0"

    async def list(self) -> AsyncIterator[str]:
        for key in self._sorted_keys():
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        for key in self._below(prefix):
            yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        for name in dict.fromkeys(self._names_in(prefix.rstrip("/"))):
            yield name

    # Writing, which is refused as zarr-python's read-only stores refuse it

    async def set(self, key: str, value: Buffer) -> None:
        self._check_writable()

    async def set_if_not_exists(self, key: str, value: Buffer) -> None:
        self._check_writable()

    async def delete(self, key: str) -> None:
        self._check_writable()

    async def delete_dir(self, prefix: str) -> None:
        self._check_writable()

    async def clear(self) -> None:
        self._check_writable()

    def set_sync(self, key: str, value: Buffer) -> None:
        self._check_writable()

    def delete_sync(self, key: str) -> None:
        self._check_writable()

    # The rest of a Python object

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, type(self))
            and self.path == other.path
            and self.verify == other.verify
        )

    def __hash__(self) -> int:
        return hash((type(self), self.path, self.verify))

    def __reduce__(self) -> tuple[Any, ...]:
        return _zip_store, (type(self), self.path, self.verify)

    def __str__(self) -> str:
        return f"zip://{self.path}"

    def __repr__(self) -> str:
        return f"vczc.zarr.ZipStore({self.path!r})"


def _zip_store(cls: type[ZipStore], path: str, verify: bool) -> ZipStore:
    return cls(path, verify=verify)


def _slice_of(request: ByteRequest | None, nbytes: int) -> slice:
    if request is None:
        return slice(None)
    if isinstance(request, RangeByteRequest):
        return slice(request.start, request.end)
    if isinstance(request, OffsetByteRequest):
        return slice(request.offset, None)
    return slice(max(0, nbytes - request.suffix), None)


# Stores whose `get_sync` is all that their `get` is; one that is derived from them may do more.
_SYNCHRONOUS = (LocalStore, MemoryStore, ZipStore)


@dataclass(frozen=True)
class CodecPipeline(zarr.abc.codec.CodecPipeline):
    """Decodes by libvczc what it reads. The rest, and all writing, is left to `fallback`."""

    fallback: zarr.abc.codec.CodecPipeline
    document: bytes | None = None  # of the array, in either format

    @classmethod
    def from_codecs(cls, codecs: Iterable[Codec]) -> Self:
        """Codecs without an array, as those inside of shards: zarr-python's own pipeline."""
        from zarr.core.codec_pipeline import BatchedCodecPipeline

        return cast("Self", BatchedCodecPipeline.from_codecs(codecs))

    @classmethod
    def from_array_metadata_and_store(cls, array_metadata: Any, store: Any) -> Self:
        from zarr.core.array import create_codec_pipeline

        # The default pipeline, as no class but `from_codecs` above is asked for it.
        fallback = create_codec_pipeline(array_metadata)
        name = ".zarray" if array_metadata.zarr_format == 2 else "zarr.json"
        documents = array_metadata.to_buffer_dict(default_buffer_prototype())
        return cls(fallback, documents[name].to_bytes())

    @cached_property
    def _decoder(self) -> _Decoder | None:
        if self.document is None:
            return None
        try:
            return _Decoder(self.document)
        except vczc.Error:
            return None

    async def read(
        self,
        batch_info: Iterable[_Item],
        out: NDBuffer,
        drop_axes: tuple[int, ...] = (),
    ) -> Any:
        batch = list(batch_info)
        target: Any = out.as_ndarray_like()
        decoder = self._decoder
        if decoder is None or not isinstance(target, np.ndarray):
            return await self.fallback.read(batch, out, drop_axes)
        into = _Target(target, out, drop_axes)
        statuses = await _read(decoder, batch, into)
        left = [i for i, status in enumerate(statuses) if status is None]
        if left:
            # Of zarr-python 3.1 there are no statuses, and nobody asks for them.
            fallback: Any = self.fallback
            theirs = await fallback.read([batch[i] for i in left], out, drop_axes)
            for i, status in zip(left, theirs or itertools.repeat(_PRESENT), strict=False):
                statuses[i] = status
        return tuple(statuses)

    # The rest is the fallback's

    def __iter__(self) -> Iterator[Codec]:
        return iter(cast("Iterable[Codec]", self.fallback))

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        return type(self)(self.fallback.evolve_from_array_spec(array_spec), self.document)

    @property
    def supports_partial_decode(self) -> bool:
        return self.fallback.supports_partial_decode

    @property
    def supports_partial_encode(self) -> bool:
        return self.fallback.supports_partial_encode

    def validate(self, **settings: Any) -> None:
        self.fallback.validate(**settings)

    def compute_encoded_size(self, byte_length: int, array_spec: ArraySpec) -> int:
        return self.fallback.compute_encoded_size(byte_length, array_spec)

    async def decode(
        self, chunk_bytes_and_specs: Iterable[tuple[Buffer | None, ArraySpec]]
    ) -> Iterable[NDBuffer | None]:
        return await self.fallback.decode(chunk_bytes_and_specs)

    async def encode(
        self, chunk_arrays_and_specs: Iterable[tuple[NDBuffer | None, ArraySpec]]
    ) -> Iterable[Buffer | None]:
        return await self.fallback.encode(chunk_arrays_and_specs)

    async def write(
        self, batch_info: Iterable[_Item], value: NDBuffer, drop_axes: tuple[int, ...] = ()
    ) -> None:
        await self.fallback.write(batch_info, value, drop_axes)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.fallback, self.document)


@dataclass(frozen=True, slots=True)
class _Target:
    """Where items go."""

    array: np.ndarray[Any, Any]
    buffer: NDBuffer  # the same, as zarr-python has it
    drop_axes: tuple[int, ...]


async def _read(decoder: _Decoder, batch: list[_Item], into: _Target) -> list[_Status]:
    getter = batch[0][0] if batch else None
    if type(getter) is StorePath and type(getter.store) in _SYNCHRONOUS:
        return await _read_synchronously(decoder, batch, into)
    nrequests = zarr.config.get("async.concurrency")  # None: any number
    limit = contextlib.nullcontext() if nrequests is None else asyncio.Semaphore(nrequests)

    async def read_one(item: _Item) -> _Status:
        async with limit:
            if not decoder.takes(item):
                return None
            value = await item[0].get(item[1].prototype)
            if decoder.is_for_one_thread or decoder.chunk_nbytes <= _INLINE_NBYTES:
                return decoder.decode(value, item, into, 1)
            return await asyncio.to_thread(decoder.decode, value, item, into, 1)

    return list(await asyncio.gather(*map(read_one, batch)))


async def _read_synchronously(
    decoder: _Decoder, batch: list[_Item], into: _Target
) -> list[_Status]:
    """A few threads, each with a share of the chunks: no chunk waits for the event loop."""
    n = min(len(batch), zarr.config.get("threading.max_workers") or os.cpu_count() or 1)
    if decoder.is_for_one_thread:
        n = 1
    nthreads = 1 if n > 1 else None

    def read_share(items: list[_Item]) -> list[_Status]:
        statuses: list[_Status] = []
        for item in items:
            if not decoder.takes(item):
                statuses.append(None)
                continue
            value = item[0].get_sync(prototype=item[1].prototype)
            statuses.append(decoder.decode(value, item, into, nthreads))
        return statuses

    if len(batch) * decoder.chunk_nbytes <= _INLINE_NBYTES:
        return read_share(batch)
    shares = await asyncio.gather(*(asyncio.to_thread(read_share, batch[i::n]) for i in range(n)))
    statuses: list[_Status] = [None] * len(batch)
    for i, share in enumerate(shares):
        statuses[i::n] = share
    return statuses


class _Slots(Mapping[str, Any]):
    """The store of a decoder: a document, and the chunks that are decoded just now."""

    def __init__(self, document: dict[str, Any]) -> None:
        name = ".zarray" if document["zarr_format"] == 2 else "zarr.json"
        self._documents = {name: json.dumps(document).encode()}
        self.chunks: dict[str, Any] = {}

    def __getitem__(self, key: str) -> Any:
        return self._documents.get(key) or self.chunks[key.partition(".")[0]]

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


class _Decoder:
    """Decodes chunks out of bytes: those of a very long array, one chunk wide.

    Each chunk that is decoded has a place of its own in it, as the array may keep a part of the
    chunk that it decoded last.
    """

    def __init__(self, document: bytes) -> None:
        stored = json.loads(document)
        self.chunk = tuple(_chunk_of(stored))
        if not self.chunk or 0 in self.chunk:
            msg = "an array without axes, or with none but empty ones"
            raise vczc.UnsupportedError(msg)
        self._nplaces = (1 << 56) // math.prod(self.chunk)
        shape = [self._nplaces * self.chunk[0], *self.chunk[1:]]
        self._slots = _Slots(_rewritten(stored, shape))
        self._array = vczc.open_array(vczc.MemoryStore(self._slots))
        self._places = itertools.count()
        self._places_lock = threading.Lock()  # without a GIL, two might get the same one
        self.chunk_nbytes = math.prod(self.chunk) * max(1, self._array.itemsize)
        self.is_sharded = self._array.shards is not None
        # Texts of one array are put there by one thread.
        self.is_for_one_thread = self._array.dtype.kind in "OT"

    def takes(self, item: _Item) -> bool:
        """Of a shard that is read in part, zarr-python does not fetch the rest."""
        return item[4] or not self.is_sharded

    def decode(
        self, value: Buffer | None, item: _Item, into: _Target, nthreads: int | None
    ) -> _Status:
        _, spec, wanted, to, _ = item
        if value is None:
            fill = spec.fill_value
            into.buffer[to] = spec.dtype.default_scalar() if fill is None else fill
            return _MISSING
        with self._places_lock:
            place = next(self._places)
        if spec.shape != self.chunk or place >= self._nplaces:
            return None
        slot = str(place)
        self._slots.chunks[slot] = value.as_numpy_array()
        try:
            self._put(place * self.chunk[0], wanted, to, into, nthreads)
        except vczc.Error:
            return None  # zarr-python is the judge of what it reads
        finally:
            del self._slots.chunks[slot]
        return _PRESENT

    def _put(self, start: int, wanted: Any, to: Any, into: _Target, nthreads: int | None) -> None:
        box = _moved(wanted, start, self.chunk)
        target = into.array
        if box is None or into.drop_axes:
            whole = slice(start, start + self.chunk[0])
            part = self._array.read(whole, threads=nthreads)[wanted]
            target[to] = part.squeeze(axis=into.drop_axes) if into.drop_axes else part
        elif self.is_for_one_thread or target.dtype != self._array.dtype or not _is_basic(to):
            target[to] = self._array.read(box, threads=nthreads)
        else:
            view = target[(*to, ...)] if isinstance(to, tuple) else target[to]
            self._array.read(box, out=view, threads=nthreads)


def _chunk_of(document: dict[str, Any]) -> list[int]:
    """Of a sharded array, the shard."""
    if document["zarr_format"] == 2:
        return list(document["chunks"])
    grid = document["chunk_grid"]
    if grid.get("name") != "regular":
        msg = f"a chunk grid {grid.get('name')!r}"
        raise vczc.UnsupportedError(msg)
    return list(grid["configuration"]["chunk_shape"])


def _rewritten(document: dict[str, Any], shape: list[int]) -> dict[str, Any]:
    """The same codecs and type, in another shape; keys are places with dots."""
    if document["zarr_format"] == 2:
        return {**document, "shape": shape, "dimension_separator": "."}
    keys = {"name": "v2", "configuration": {"separator": "."}}
    kept = {name: value for name, value in document.items() if name != "dimension_names"}
    return {**kept, "shape": shape, "chunk_key_encoding": keys, "attributes": {}}


def _is_basic(selection: Any) -> bool:
    items = selection if isinstance(selection, tuple) else (selection,)
    return all(isinstance(item, (int, slice)) for item in items)


def _moved(wanted: Any, start: int, chunk: tuple[int, ...]) -> tuple[Any, ...] | None:
    """A selection inside a chunk whose first row is row `start`; None where it is not basic."""
    items = wanted if isinstance(wanted, tuple) else (wanted,)
    if not items or not _is_basic(items):
        return None
    first = items[0]
    if isinstance(first, slice):
        begin, end, step = first.indices(chunk[0])
        moved: Any = slice(start + begin, start + end, step)
    else:
        moved = start + first
    return (moved, *items[1:])


register_pipeline(CodecPipeline)
