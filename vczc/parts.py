# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Rows of several arrays at once: how the variants axis is cut, and how one part is read."""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from vczc import selection
from vczc.reading import place_strings, read_orthogonal
from vczc.selection import Orthogonal, box_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vczc.array import Array
    from vczc.selection import Index, Places

Ndarray: TypeAlias = "np.ndarray[Any, Any]"

_TEXT_NBYTES = 32  # of an item, until some have been read

# A gap of about this size between two rows that are wanted is not decoded, where that can be had.
_GAP_NBYTES = 1 << 20

# Chunks up to this size are decoded whole where several parts have rows of them.
_SMALL_CHUNK_NBYTES = 4 << 20


class Part(dict[str, Ndarray]):
    """The rows of each field: `part["call_genotype"]`.

    `start` and `stop` are the range that the rows lie in, `index` their numbers.
    """

    __slots__ = ("_rows",)

    def __init__(self, rows: Places) -> None:
        self._rows = rows

    @property
    def start(self) -> int:
        return self._rows.start if isinstance(self._rows, range) else int(self._rows.min())

    @property
    def stop(self) -> int:
        return self._rows.stop if isinstance(self._rows, range) else int(self._rows.max()) + 1

    @property
    def index(self) -> Index:
        if isinstance(self._rows, range):
            self._rows = np.arange(self._rows.start, self._rows.stop)
        return self._rows

    def __repr__(self) -> str:
        return f"<vczc.Part of rows {self.start} to {self.stop}: {', '.join(self)}>"


class Field:
    """An array with the variants axis first, and what is wanted of its other axes."""

    def __init__(self, array: Array, samples: Any, samples_axis: int | None) -> None:
        self.array = array
        self.dtype = array._item_dtype
        wanted: list[Any] = [slice(None)] * array.ndim
        if samples is not None and samples_axis is not None:
            wanted[samples_axis] = samples
        self._tail = selection.orthogonal(tuple(wanted), array.shape).places[1:]
        self._kept = (True,) * array.ndim
        self.shape = tuple([len(p) for p in self._tail])
        ranges = [p for p in self._tail if isinstance(p, range)]
        self._is_box = len(ranges) == len(self._tail)
        if self._is_box:
            box = box_of(ranges, self._kept[1:])
            self._start, self._stop, self._step = box.start, box.stop, (1, *box.step)
        item_nbytes = self.dtype.itemsize if self.dtype is not None else _TEXT_NBYTES
        self.row_nbytes = max(1, item_nbytes * math.prod(self.shape))
        full_row_nbytes = max(1, item_nbytes * math.prod(array.shape[1:]))
        # Of a row, what the chunks hold that have to be decompressed for it.
        touched = map(_touched, self._tail, array.chunks[1:], array.shape[1:])
        self.decoded_row_nbytes = max(1, item_nbytes * math.prod(touched))
        self.chunk = max(1, min(array.chunks[0], array.shape[0]))
        self._max_gap = _GAP_NBYTES // full_row_nbytes + 1
        self._is_partial = self.dtype is not None and _decodes_in_part(array)
        self.is_carried = not self._is_partial or (
            self.chunk * full_row_nbytes <= _SMALL_CHUNK_NBYTES
        )
        # What is in memory for a while beside the result, where places are picked out of a box.
        self.scratch_nbytes = 0 if self._is_box else self.chunk * self.decoded_row_nbytes
        self.gives_strings = False  # text as `_core.Strings`, where it is had in one piece

    def buffer(self, nrows: int) -> Ndarray | None:
        """Memory for rows, where they can be read into it."""
        if self.dtype is None or not self._is_box:
            return None
        return self.array._new_result((nrows, *self.shape))

    def read(self, rows: Places, out: Ndarray | None, threads: int) -> Any:
        if isinstance(rows, range):
            return self.read_span(rows.start, rows.stop, out, threads)
        if not (self._is_partial and self._is_box) or (rows[1:] <= rows[:-1]).any():
            wanted = Orthogonal((rows, *self._tail), self._kept)
            return read_orthogonal(self.array, wanted, threads)
        if out is None:
            out = self.array._new_result((len(rows), *self.shape))
        cuts = (np.flatnonzero(np.diff(rows) > self._max_gap) + 1).tolist()
        for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True):
            low, high = int(rows[a]), int(rows[b - 1]) + 1
            if high - low == b - a:
                self.read_span(low, high, out[a:b], threads)
            else:
                span = self.read_span(low, high, None, threads)
                np.take(span, rows[a:b] - low, 0, out[a:b], mode="clip")
        return out

    def read_span(self, start: int, stop: int, out: Ndarray | None, threads: int) -> Any:
        array = self.array
        if not self._is_box:
            wanted = Orthogonal((range(start, stop), *self._tail), self._kept)
            return read_orthogonal(array, wanted, threads)
        starts, stops = (start, *self._start), (stop, *self._stop)
        if self.dtype is None:
            strings = array._box_strings(starts, stops, self._step, threads)
            nbytes = (len(strings.data) + 16 * len(strings)) // max(1, stop - start)
            self.row_nbytes = max(self.row_nbytes, nbytes)
            if self.gives_strings:
                return strings
            return place_strings(array, strings, (stop - start, *self.shape))
        if out is None:
            out = array._new_result((stop - start, *self.shape))
        array._read_box(starts, stops, self._step, self._kept, out, threads)
        return out


def _touched(places: Places, chunk: int, length: int) -> int:
    """How many items of an axis the chunks hold that places lie in."""
    if len(places) == 0:
        return 0
    chunk = min(max(1, chunk), length)
    if isinstance(places, range) and places.step <= chunk:
        return (places[-1] // chunk - places[0] // chunk + 1) * chunk
    return len({p // chunk for p in places}) * chunk


def _decodes_in_part(array: Array) -> bool:
    """Whether a few rows of a chunk cost less than all of it."""
    compressor = array.compressor
    if compressor is None:
        return not array.filters
    name = compressor.get("id", compressor.get("name")) if isinstance(compressor, dict) else ""
    return name == "blosc" and not array.filters


class _Cell:
    """A chunk of a field that lies in several parts: decoded by the first that needs it."""

    __slots__ = ("_data", "_field", "_lock", "start", "stop")

    def __init__(self, field: Field, start: int, stop: int) -> None:
        self._field = field
        self.start = start
        self.stop = stop
        self.renew()

    def renew(self) -> None:
        """Forget the data, and a lock that a thread which is no more may hold."""
        self._lock = threading.Lock()
        self._data: Ndarray | None = None

    def read(self, rows: Places, threads: int) -> Ndarray:
        """A copy: parts share no memory, and text is copied by one thread at a time."""
        with self._lock:
            data = self._data
            if data is None:
                data = self._field.read_span(self.start, self.stop, None, threads)
                self._data = data
            if isinstance(rows, range):
                return data[rows.start - self.start : rows.stop - self.start].copy()
            return data.take(rows - self.start, 0)


class Task:
    """One part that is to be read; `buffers` are of those fields that have one."""

    __slots__ = ("buffers", "cells", "rows")

    def __init__(self, rows: Places, cells: dict[str, list[_Cell]]) -> None:
        self.rows = rows
        self.cells = cells
        self.buffers: dict[str, Ndarray | None] | None = None

    def run(self, fields: dict[str, Field], threads: int) -> Part:
        rows = self.rows
        nrows = len(rows)
        part = Part(rows)
        for name, field in fields.items():
            out = None if self.buffers is None else self.buffers[name]
            if out is not None:
                out = out[:nrows] if len(out) >= nrows else None
            if name not in self.cells:
                part[name] = field.read(rows, out, threads)
                continue
            data = _read_cells(self.cells[name], rows, threads)
            if out is not None:
                out[...] = data
            part[name] = data if out is None else out
        return part


def _read_cells(cells: list[_Cell], rows: Places, threads: int) -> Ndarray:
    if len(cells) == 1:
        return cells[0].read(rows, threads)
    pieces = []
    for cell in cells:
        if isinstance(rows, range):
            mine: Places = range(max(rows.start, cell.start), min(rows.stop, cell.stop))
        else:
            mine = rows[slice(*np.searchsorted(rows, (cell.start, cell.stop)))]
        pieces.append(cell.read(mine, threads))
    return np.concatenate(pieces)


class Plan:
    """The parts of a selection of rows, in order: along the grid of the field that is largest.

    So each of its chunks is decoded once. Shorter chunks of other fields are joined; longer ones
    are decoded in part, or once and kept for the parts that follow.
    """

    def __init__(self, fields: dict[str, Field], rows: Sequence[range] | Index) -> None:
        self.fields = fields
        self.length = max((f.row_nbytes * f.chunk, f.chunk) for f in fields.values())[1]
        self._carried: dict[str, Field] = {}
        self._last_cells: dict[str, dict[int, _Cell]] = {}
        if isinstance(rows, np.ndarray):
            is_sorted = bool((rows[1:] > rows[:-1]).all())
            self.nrows = len(rows)
            self.nparts = _count_index(rows, self.length)
            self._spans = _cut_index(rows, self.length)
            self._first, self._end = (int(rows[0]), int(rows[-1]) + 1) if len(rows) else (0, 0)
        else:
            is_sorted = True
            self.nrows = sum(map(len, rows))
            self.nparts = _count_ranges(rows, self.length)
            self._spans = _cut_ranges(rows, self.length)
            self._first, self._end = (rows[0].start, rows[-1].stop) if rows else (0, 0)
        if is_sorted:
            for name, field in fields.items():
                if field.is_carried and field.chunk > self.length:
                    self._carried[name] = field

    def __iter__(self) -> Iterator[Task]:
        for rows in self._spans:
            yield Task(rows, {name: self._cells(name, rows) for name in self._carried})

    def is_carried(self, name: str) -> bool:
        return name in self._carried

    def part_nbytes(self) -> int:
        """Of a whole part, about: what text takes shows when some has been read."""
        return self.length * sum([f.row_nbytes for f in self.fields.values()])

    def decoded_nbytes(self) -> int:
        """What is decompressed for a whole part, about: the work that it is."""
        return self.length * sum([f.decoded_row_nbytes for f in self.fields.values()])

    def scratch_nbytes(self) -> int:
        """What one thread needs beside the part that it reads."""
        return max([f.scratch_nbytes for f in self.fields.values()])

    def carried_nbytes(self) -> int:
        """Of the chunks that are kept for more than a part."""
        return sum([f.chunk * f.row_nbytes for f in self._carried.values()])

    def renew_cells(self) -> None:
        for cells in self._last_cells.values():
            for cell in cells.values():
                cell.renew()

    def _cells(self, name: str, rows: Places) -> list[_Cell]:
        field = self.fields[name]
        chunk = field.chunk
        known = self._last_cells.get(name, {})
        mine = {}
        for k in range(int(rows[0]) // chunk, int(rows[-1]) // chunk + 1):
            mine[k] = known.get(k) or _Cell(
                field, max(k * chunk, self._first), min((k + 1) * chunk, self._end)
            )
        self._last_cells[name] = mine
        return list(mine.values())


def _cut_ranges(ranges: Sequence[range], length: int) -> Iterator[Places]:
    """What lies between two multiples of `length` is one part, be it one run of rows or many."""
    pieces: list[range] = []
    for rows in ranges:
        start = rows.start
        while start < rows.stop:
            stop = min(rows.stop, (start // length + 1) * length)
            if pieces and pieces[0].start // length != start // length:
                yield _joined(pieces)
                pieces = []
            pieces.append(range(start, stop))
            start = stop
    if pieces:
        yield _joined(pieces)


def _count_ranges(ranges: Sequence[range], length: int) -> int:
    """How many parts `_cut_ranges` makes."""
    count, last = 0, -1
    for rows in ranges:
        first, end = rows.start // length, -(-rows.stop // length)
        count += max(0, end - max(first, last))
        last = max(last, end)
    return count


def _joined(pieces: list[range]) -> Places:
    if len(pieces) == 1:
        return pieces[0]
    return np.concatenate([np.arange(p.start, p.stop) for p in pieces])


def _count_index(index: Index, length: int) -> int:
    """How many parts `_cut_index` makes."""
    return int(np.count_nonzero(np.diff(index // length))) + 1 if len(index) else 0


def _cut_index(index: Index, length: int) -> Iterator[Places]:
    """The same of row numbers in any order: a part ends where the next row lies elsewhere."""
    cuts = (np.flatnonzero(np.diff(index // length)) + 1).tolist()
    for a, b in zip([0, *cuts], [*cuts, len(index)], strict=True):
        rows = index[a:b]
        if b == a:
            continue
        is_run = rows[-1] - rows[0] == b - a - 1 and bool((np.diff(rows) == 1).all())
        yield range(int(rows[0]), int(rows[-1]) + 1) if is_run else rows
