# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""From boxes to ndarrays, whatever the items are: into new memory or the caller's."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vczc import _core, _strings
from vczc.counts import count_of
from vczc.errors import BufferError, CorruptChunkError
from vczc.selection import Box, Orthogonal, box_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vczc.selection import Index, Places

# Where places are picked out of a box, boxes are no longer than this needs (but a chunk at least).
_MAX_BOX_NBYTES = 64 << 20
_TEXT_NBYTES = 32  # of an item, about


def read_box(
    array: _core.Array,
    box: Box,
    out: Any = None,
    threads: int | None = None,
    *,
    packed: bool = False,
) -> np.ndarray[Any, Any]:
    """The items of `box`. `out` is an ndarray of the box's shape, of any strides unless they are
    to be `packed`, or a C-contiguous buffer that is large enough; the result is a view of it."""
    start, stop, step, kept, shape = box
    nthreads = nthreads_of(threads)
    dtype = array._item_dtype
    if dtype is None:
        strings = array._box_strings(start, stop, step, nthreads)
        return place_strings(array, strings, shape, out)
    into: np.ndarray[Any, Any]
    if out is None:
        into = array._new_result(shape)
    elif packed or not isinstance(out, np.ndarray) or out.shape != shape:
        into = array._view_into(shape, out)
    else:
        into = out
    array._read_box(start, stop, step, kept, into, nthreads)
    return into


def place_strings(
    array: _core.Array, strings: _core.Strings, shape: tuple[int, ...], out: Any = None
) -> np.ndarray[Any, Any]:
    """Text as the array is to give it; bytes of variable length as objects."""
    if out is None:
        return _strings.to_numpy(strings, shape, array._text_as if array._is_text else "raw")
    if not array._is_text:
        msg = "out cannot hold bytes of variable length"
        raise BufferError(msg)
    if not isinstance(out, np.ndarray) or not isinstance(out.dtype, np.dtypes.StringDType):
        msg = "out must be an ndarray of numpy.dtypes.StringDType to hold text"
        raise BufferError(msg)
    if not out.flags.writeable:
        msg = "out is read-only"
        raise BufferError(msg)
    if not out.flags.c_contiguous:
        msg = "out is not C-contiguous"
        raise BufferError(msg)
    if out.size < len(strings):
        msg = f"out has {out.size} items, and {len(strings)} are needed"
        raise BufferError(msg)
    view = out.reshape(-1)[: len(strings)].reshape(shape)
    _strings.pack_into(strings, view)
    return view


def text_buffers(values: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Offsets and bytes (UTF-8 of text) of strings of libvczc, or of an array of text or bytes."""
    if isinstance(values, _core.Strings):
        return values.offsets, values.data
    try:
        items = [x if isinstance(x, bytes) else x.encode() for x in values.reshape(-1).tolist()]
    except ValueError as err:  # of text of fixed width, which may hold any 32 bits
        msg = f"text that is not Unicode: {err}"
        raise CorruptChunkError(msg) from None
    offsets = np.zeros(len(items) + 1, np.int64)
    np.cumsum([len(x) for x in items], out=offsets[1:])
    return offsets, np.frombuffer(b"".join(items), np.uint8)


def read_orthogonal(
    array: _core.Array, wanted: Orthogonal, threads: int | None = None
) -> np.ndarray[Any, Any]:
    """The items at the places wanted along each axis; every chunk is decoded once."""
    ranges = tuple([p for p in wanted.places if isinstance(p, range)])
    if len(ranges) == len(wanted.places):
        return read_box(array, box_of(ranges, wanted.kept), None, threads)
    as_text = array._item_dtype is None and array._is_text
    all_kept = (True,) * array.ndim
    shape = tuple(len(p) for p in wanted.places)
    out = _result(array, shape)
    for pieces in itertools.product(*_pieces(array, wanted.places)):
        box = box_of(tuple(p.span for p in pieces), all_kept)
        if as_text and array._text_as == "bytes":
            strings = array._box_strings(box.start, box.stop, box.step, nthreads_of(threads))
            part = _strings.to_numpy(strings, box.shape, "raw")
        else:
            part = read_box(array, box, None, threads)
        for axis, piece in enumerate(pieces):
            if piece.picked is not None:
                part = part.take(piece.picked, axis)
        out[_assignable(pieces, shape)] = part
    out = out.reshape(wanted.shape)
    if as_text and array._text_as == "bytes":
        flat = np.array(out.ravel().tolist(), "S") if out.size else np.empty(0, "S1")
        return flat.reshape(wanted.shape)
    return out


class _Piece(NamedTuple):
    """Of one axis: what is read, what of that is picked (None: all), and where it goes."""

    span: range
    picked: Index | None
    to: slice | Index


def _result(array: _core.Array, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    if array._item_dtype is not None:
        return array._new_result(shape)
    if array._is_text and array._text_as == "numpy":
        return np.empty(shape, np.dtypes.StringDType())
    return np.empty(shape, object)


def _pieces(array: _core.Array, places: tuple[Places, ...]) -> list[list[_Piece]]:
    pieces: list[list[_Piece]] = []
    row_nbytes = array._item_dtype.itemsize if array._item_dtype is not None else _TEXT_NBYTES
    is_cut = False
    for p, chunk in zip(places, array.chunks, strict=True):
        row_nbytes *= chunk if isinstance(p, np.ndarray) else max(1, len(p))
    for p, chunk in zip(places, array.chunks, strict=True):
        if isinstance(p, np.ndarray):
            pieces.append(list(_cut_places(p, chunk)))
        elif is_cut or len(p) == 0:
            pieces.append([_Piece(p, None, slice(0, len(p)))])
        else:
            is_cut = True
            nbytes = max(1, row_nbytes // len(p) // p.step)
            nchunks = max(1, _MAX_BOX_NBYTES // (nbytes * chunk))
            pieces.append(list(_cut_range(p, nchunks * chunk)))
    return pieces


def _cut_range(places: range, length: int) -> Iterator[_Piece]:
    """Where multiples of `length` cut the axis."""
    at = 0
    while at < len(places):
        limit = (places[at] // length + 1) * length
        end = min(len(places), -(-(limit - places.start) // places.step))
        yield _Piece(places[at:end], None, slice(at, end))
        at = end


def _cut_places(places: Index, chunk: int) -> Iterator[_Piece]:
    """Where chunks cut the axis; of each, the smallest span that holds its places."""
    order = np.argsort(places, kind="stable")
    chunks = places[order] // chunk
    bounds = np.flatnonzero(np.diff(chunks)) + 1
    for to in np.split(order, bounds):
        to.sort()
        mine = places[to]
        low, high = int(mine.min()), int(mine.max())
        is_run = len(to) == int(to[-1]) - int(to[0]) + 1
        yield _Piece(
            range(low, high + 1),
            mine - low,
            slice(int(to[0]), int(to[-1]) + 1) if is_run else to,
        )


def _assignable(pieces: tuple[_Piece, ...], shape: tuple[int, ...]) -> Any:
    """Where a part goes: with more than one array of places, NumPy needs the open mesh of all."""
    narrays = sum(isinstance(p.to, np.ndarray) for p in pieces)
    if narrays <= 1:
        return tuple(p.to for p in pieces)
    return np.ix_(
        *[
            np.arange(*p.to.indices(n)) if isinstance(p.to, slice) else p.to
            for p, n in zip(pieces, shape, strict=True)
        ]
    )


def nthreads_of(threads: int | None) -> int:
    """As libvczc takes it: 0 stands for as many as are set."""
    if threads is None:
        return 0
    return count_of(threads, 1, 1 << 31, "threads", "a number of threads")
