# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""The readers of `vczc bench`, each with its own way to read a chunk; and codecs without a reader.

A codec decodes stored bytes that lie in memory already: what is left of a reader's time is what
finding, opening and copying cost it.
"""

from __future__ import annotations

import importlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import vczc
from vczc.cli import readers
from vczc.cli.readers import Box, Reader

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

Place = tuple[int, ...]


@dataclass(frozen=True)
class Block:
    """A chunk: of which array, its place in the grid, and what of the array it holds."""

    array: str
    place: Place
    box: Box


class BlockReader(Reader):
    """NotImplementedError: it has no such thing, which is no fault of it and no result."""

    kind = "reader"

    def block(self, block: Block) -> NDArray[Any]:
        return self.read(block.array, block.box)

    def block_into(self, block: Block, out: NDArray[Any]) -> NDArray[Any]:
        """Into `out`, which has the shape of a whole chunk; gives the part that was filled."""
        raise NotImplementedError


class Vczc(readers.Vczc, BlockReader):
    def block(self, block: Block) -> NDArray[Any]:
        return self.array(block.array).blocks[block.place]  # type: ignore[no-any-return]

    def block_into(self, block: Block, out: NDArray[Any]) -> NDArray[Any]:
        return self.array(block.array).blocks.read(block.place, out=out)  # type: ignore[no-any-return]


class ZarrPython(readers.ZarrPython, BlockReader):
    """With its default pipeline, whose codecs are those of numcodecs."""

    def prepare(self) -> None:
        super().prepare()
        # Its pool is made once in a process, at the first read.
        self.package.config.set({"threading.max_workers": self.threads})

    def before_turn(self) -> None:
        blosc: Any = importlib.import_module("numcodecs.blosc")
        blosc.use_threads = None  # as it is by default

    def block(self, block: Block) -> NDArray[Any]:
        return self.array(block.array).blocks[block.place]  # type: ignore[no-any-return]


class Zarrs(readers.Zarrs, BlockReader):
    def block(self, block: Block) -> NDArray[Any]:
        return self.array(block.array).blocks[block.place]  # type: ignore[no-any-return]


class TensorStore(readers.TensorStore, BlockReader):
    def block_into(self, block: Block, out: NDArray[Any]) -> NDArray[Any]:
        view = fitted(out, block.box)
        self.package.array(view).write(self.array(block.array)[block.box]).result()
        return view


class Zarrista(readers.Zarrista, BlockReader):
    def block(self, block: Block) -> NDArray[Any]:
        array = self.array(block.array)
        chunk = array.retrieve_chunk(list(block.place), concurrent_target=self.threads)
        return trimmed(chunk.to_numpy(), block.box)


class Codec(BlockReader):
    """A decoder of Blosc frames, on its own."""

    kind = "codec"

    def prepare(self) -> None:
        self.root = vczc.open_group(self.path)
        self.held: dict[Block, bytes] = {}

    def open(self, name: str) -> vczc.Array:
        array = self.root[name]
        assert isinstance(array, vczc.Array)
        is_text = array.dtype.kind == "T"
        if (array.compressor or {}).get("id") != "blosc" or len(array.filters or ()) > is_text:
            raise NotImplementedError("decodes Blosc alone")
        return array

    def read(self, name: str, box: Box) -> NDArray[Any]:
        raise NotImplementedError

    def stored(self, block: Block) -> bytes:
        if block not in self.held:
            stored = self.array(block.array).blocks.stored(block.place)
            if stored is None:
                raise NotImplementedError("an absent chunk")
            self.held[block] = bytes(stored)
        return self.held[block]

    def block(self, block: Block) -> NDArray[Any]:
        array = self.array(block.array)
        if array.dtype.kind == "T":
            return trimmed(self.text(self.stored(block), array), block.box)
        return self.block_into(block, np.empty(array.chunks, array.dtype))

    def block_into(self, block: Block, out: NDArray[Any]) -> NDArray[Any]:
        self.decode(self.stored(block), out)
        return trimmed(out, block.box)

    def decode(self, stored: bytes, out: NDArray[Any]) -> None:
        raise NotImplementedError

    def text(self, stored: bytes, array: vczc.Array) -> NDArray[Any]:
        raise NotImplementedError


class Numcodecs(Codec):
    name, module = "numcodecs.blosc", "numcodecs"

    def prepare(self) -> None:
        super().prepare()
        self.blosc: Any = importlib.import_module("numcodecs.blosc")
        self.vlen = importlib.import_module("numcodecs.vlen").VLenUTF8()

    def before_turn(self) -> None:
        self.blosc.use_threads = self.threads > 1
        self.blosc.set_nthreads(self.threads)

    def decode(self, stored: bytes, out: NDArray[Any]) -> None:
        self.blosc.decompress(stored, out)

    def text(self, stored: bytes, array: vczc.Array) -> NDArray[Any]:
        items = self.vlen.decode(self.blosc.decompress(stored))
        return items.reshape(array.chunks).astype(array.dtype)  # type: ignore[no-any-return]


class PythonBlosc(Codec):
    name, module = "python-blosc", "blosc"

    def before_turn(self) -> None:
        self.package.set_nthreads(self.threads)

    def decode(self, stored: bytes, out: NDArray[Any]) -> None:
        self.package.decompress_ptr(stored, out.ctypes.data)


PEERS: tuple[type[BlockReader], ...] = (
    Vczc,
    ZarrPython,
    Zarrs,
    TensorStore,
    Zarrista,
    Numcodecs,
    PythonBlosc,
)


def opened(
    path: Path, threads: int, zarr_format: int, classes: tuple[type[BlockReader], ...] = PEERS
) -> tuple[list[BlockReader], dict[str, str], dict[str, str]]:
    """Those that open the store, why others do not, and the versions: as `vczc bench` does."""
    found, left_out, versions = readers.installed(path, threads, zarr_format, classes)
    return [r for r in found if isinstance(r, BlockReader)], left_out, versions


def shape_of(box: Box) -> tuple[int, ...]:
    return tuple(s.stop - s.start for s in box)


def trimmed(chunk: NDArray[Any], box: Box) -> NDArray[Any]:
    """A chunk at an edge without what lies beyond it."""
    return chunk[tuple(slice(0, n) for n in shape_of(box))]


def fitted(out: NDArray[Any], box: Box) -> NDArray[Any]:
    """The beginning of the memory of `out`, in the shape of the box."""
    return out.reshape(-1)[: math.prod(shape_of(box))].reshape(shape_of(box))
