# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""The chunks of an array by their place in the grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vczc import _arrow, _core, selection
from vczc.reading import place_strings, read_box, text_buffers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np


# Of an index that names more blocks none is asked for: no cache would hold them till they are read.
_MAX_PREFETCHED = 1 << 20


class Blocks(_core.Blocks):
    """`array.blocks`: indexed as zarr-python's, by ints and step-1 slices over the chunk grid.

    A negative int counts from the end, axes that are not named are taken in full, and none is
    ever dropped.
    """

    __slots__ = ()

    def __iter__(self) -> Iterator[np.ndarray[Any, Any]]:
        for i in range(len(self)):
            yield self[i]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.array,)

    def __repr__(self) -> str:
        return f"<vczc.Blocks of {'/' + self.array.path!r}: {self.shape}>"

    def select(self, index: object, out: Any, threads: int | None) -> np.ndarray[Any, Any]:
        """What is not one chunk of items of fixed size (those are read in `_core`)."""
        array = self.array
        cells = selection.blocks(index, array.cdata_shape)
        box = self._box(cells)
        if array._item_dtype is None and threads is None and all(len(c) == 1 for c in cells):
            strings = array._block_strings(tuple([c.start for c in cells]))
            return place_strings(array, strings, box.shape, out)
        return read_box(array, box, out, threads, packed=True)

    def stored(self, index: object) -> memoryview | None:
        """The stored bytes of one chunk, read-only and not copied; None where it is absent."""
        return self.array._stored(selection.one_block(index, self.shape))

    def strings(self, index: object) -> BlockStrings:
        """The text of one block as offsets and bytes; text of fixed width is converted."""
        array = self.array
        dtype = array._item_dtype
        if dtype is not None and dtype.kind not in "SU":
            msg = f"{array.path!r} holds {dtype}, no text"
            raise TypeError(msg)
        coords = selection.one_block(index, self.shape)
        if dtype is None:
            shape = self._box(tuple(range(c, c + 1) for c in coords)).shape
            strings = array._block_strings(coords)
            return BlockStrings(strings, shape, strings.is_text)
        values = self[coords]
        return BlockStrings(values, values.shape, dtype.kind == "U")

    def prefetch(self, indices: Iterable[object]) -> None:
        """Ask for blocks ahead of their reading: a hint, which does not wait."""
        import itertools
        import math

        for index in indices:
            cells = selection.blocks(index, self.shape)
            if 0 < math.prod(map(len, cells)) <= _MAX_PREFETCHED:
                for coords in itertools.product(*cells):
                    self.array._prefetch(coords)

    def _box(self, cells: tuple[range, ...]) -> selection.Box:
        array = self.array
        spans = tuple(
            [
                range(c.start * chunk, min(c.stop * chunk, length))
                for c, chunk, length in zip(cells, array.chunks, array.shape, strict=True)
            ]
        )
        return selection.box_of(spans, (True,) * array.ndim)


class BlockStrings:
    """Text of one block in C order: item i is `data[offsets[i]:offsets[i + 1]]`, in UTF-8.

    Speaks the Arrow C data interface (large_utf8, or large_binary where items are bytes), so that
    `pyarrow.array(block)`, `polars.Series(block)` and their like take it without a copy.
    """

    __slots__ = ("_column", "data", "offsets", "shape")

    def __init__(self, values: Any, shape: tuple[int, ...], is_text: bool) -> None:
        self.shape = shape
        self.offsets, self.data = text_buffers(values)
        buffers = (None, self.offsets, self.data)
        self._column = _arrow.Column("U" if is_text else "Z", len(self), buffers)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"<vczc.BlockStrings: {len(self)} items, {len(self.data)} bytes>"

    def __arrow_c_schema__(self) -> object:
        return _arrow.export_schema(self._column)

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        del requested_schema  # the interface allows to answer with what there is
        return _arrow.export_schema(self._column), _arrow.export_array(self._column)
