# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""What stands between brackets: NumPy's selections as boxes with steps, or as places per axis."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

Index: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"
Places: TypeAlias = "range | Index"  # along one axis; a range never goes down

_FULL = slice(None)


class Box(NamedTuple):
    """Items start, start + step, … below stop of each axis; an axis that is not kept is dropped."""

    start: tuple[int, ...]
    stop: tuple[int, ...]
    step: tuple[int, ...]
    kept: tuple[bool, ...]
    shape: tuple[int, ...]  # of the axes that are kept


class Orthogonal(NamedTuple):
    """Places along each axis, independently of one another."""

    places: tuple[Places, ...]
    kept: tuple[bool, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(p) for p, kept in zip(self.places, self.kept, strict=True) if kept)


def box_of(places: Sequence[range], kept: Sequence[bool]) -> Box:
    """The same as a box, which ends behind its last item; a huge step is cut to what it can do."""
    start, stop, step, shape = [], [], [], []
    for p, is_kept in zip(places, kept, strict=True):
        n = len(p)
        end = p[-1] + 1 if n else p.start
        start.append(p.start)
        stop.append(end)
        step.append(p.step if p.step <= end else end or 1)
        if is_kept:
            shape.append(n)
    return Box(tuple(start), tuple(stop), tuple(step), tuple(kept), tuple(shape))


def basic(selection: object, shape: tuple[int, ...]) -> Box:
    """Ints, slices and `...`, as NumPy takes them."""
    places = []
    kept = []
    for axis, item in enumerate(_per_axis(selection, len(shape))):
        if item is _FULL:
            places.append(range(shape[axis]))
            kept.append(True)
        elif isinstance(item, slice):
            places.append(_slice(item, shape[axis]))
            kept.append(True)
        elif (i := _as_int(_item_of(item))) is not None:
            i = _wrapped(i, axis, shape[axis])
            places.append(range(i, i + 1))
            kept.append(False)
        else:
            raise IndexError(_not_taken(item))
    return box_of(places, kept)


def is_one_item(selection: object) -> bool:
    """Nothing but ints: zarr-python then gives a 0-d array, where `...` gives a scalar."""
    items = selection if isinstance(selection, tuple) else (selection,)
    return bool(items) and all(item is not Ellipsis for item in items)


def orthogonal(selection: object, shape: tuple[int, ...]) -> Orthogonal:
    """Per axis an int, a slice, integers, or a mask."""
    places: list[Places] = []
    kept = []
    for axis, item in enumerate(_per_axis(selection, len(shape))):
        if isinstance(item, slice):
            places.append(_slice(item, shape[axis]))
            kept.append(True)
        elif (i := _as_int(item)) is not None:
            i = _wrapped(i, axis, shape[axis])
            places.append(range(i, i + 1))
            kept.append(False)
        else:
            places.append(_simplified(_integers(item, axis, shape[axis])))
            kept.append(True)
    return Orthogonal(tuple(places), tuple(kept))


def blocks(selection: object, grid: tuple[int, ...]) -> tuple[range, ...]:
    """Chunks along each axis, as zarr-python's block indexing takes them."""
    cells = []
    for axis, item in enumerate(_per_axis(selection, len(grid))):
        n = grid[axis]
        if isinstance(item, slice):
            cells.append(_block_slice(item, axis, n))
        elif (i := _as_int(item)) is not None:
            i = _wrapped(i, axis, n, "blocks")
            cells.append(range(i, i + 1))
        else:
            msg = f"blocks are chosen by ints and slices, not by {_described(item)}"
            raise IndexError(msg)
    return tuple(cells)


def one_block(selection: object, grid: tuple[int, ...]) -> tuple[int, ...]:
    """The coordinates of the one chunk that `selection` names."""
    cells = blocks(selection, grid)
    if any(len(c) != 1 for c in cells):
        msg = f"{selection!r} is not one block of a grid of {grid}"
        raise IndexError(msg)
    return tuple(c.start for c in cells)


def _per_axis(selection: object, ndim: int) -> tuple[Any, ...]:
    """The item of each axis; `...` and axes that are not named are taken in full."""
    items = selection if isinstance(selection, tuple) else (selection,)
    ellipses = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(ellipses) > 1:
        msg = "an index can only have a single ellipsis ('...')"
        raise IndexError(msg)
    nnamed = len(items) - len(ellipses)
    if nnamed > ndim:
        msg = f"too many indices for array: it has {ndim} dimensions, and {nnamed} were indexed"
        raise IndexError(msg)
    at = ellipses[0] if ellipses else len(items)
    return items[:at] + (_FULL,) * (ndim - nnamed) + items[at + 1 :]


def _as_int(item: object) -> int | None:
    if type(item) is int:
        return item
    if isinstance(item, (bool, np.bool_, np.ndarray)):
        return None
    try:
        return operator.index(item)  # type: ignore[arg-type]
    except TypeError:
        return None


def _item_of(item: object) -> object:
    """Of an integer in a 0-d array, which is what one item of an array comes as, the integer."""
    is_one = isinstance(item, np.ndarray) and item.ndim == 0 and item.dtype.kind in "iu"
    return item.item() if isinstance(item, np.ndarray) and is_one else item


def _wrapped(i: int, axis: int, n: int, what: str = "items") -> int:
    if not -n <= i < n:
        msg = f"index {i} is out of bounds for axis {axis}, which has {n} {what}"
        raise IndexError(msg)
    return i + n if i < 0 else i


def _slice(item: slice, n: int) -> range:
    start, stop, step = item.indices(n)
    if step < 1:
        msg = f"only slices with step >= 1 are supported, not {step}"
        raise IndexError(msg)
    return range(start, stop, step)


def _block_slice(item: slice, axis: int, n: int) -> range:
    if item.step not in (None, 1):
        msg = f"only slices with step 1 choose blocks, not {item.step}"
        raise IndexError(msg)
    start = 0 if item.start is None else operator.index(item.start)
    stop = n if item.stop is None else operator.index(item.stop)
    if start != 0 or n != 0:  # all of no blocks is fine
        start = _wrapped(start, axis, n, "blocks")
    stop = min(n, stop + n if stop < 0 else stop)
    return range(start, max(start, stop))


def _integers(item: object, axis: int, n: int) -> Index:
    array = np.asarray(item)
    if array.size == 0 and not isinstance(item, np.ndarray):
        array = array.astype(np.int64)  # an empty list has no type of its own
    if array.dtype.kind not in "iub" or array.ndim != 1:
        raise IndexError(_not_orthogonal(item, array))
    if array.dtype.kind == "b":
        if len(array) != n:
            msg = f"a mask of {len(array)} items for axis {axis}, which has {n}"
            raise IndexError(msg)
        return np.flatnonzero(array)
    if array.size == 0:
        return array.astype(np.int64)
    for i in (int(array.min()), int(array.max())):
        _wrapped(i, axis, n)
    array = array.astype(np.int64)
    array[array < 0] += n
    return array


def _simplified(index: Index) -> Places:
    """A range where the integers are one: it is read without a detour."""
    if len(index) == 0:
        return range(0)
    step = int(index[1] - index[0]) if len(index) > 1 else 1
    if step < 1 or not (np.diff(index) == step).all():
        return index
    return range(int(index[0]), int(index[-1]) + 1, step)


def _described(item: object) -> str:
    if item is None:
        return "None"
    return f"an object of type {type(item).__name__}"


def _not_taken(item: object) -> str:
    if isinstance(item, (bool, np.bool_, np.ndarray, list, tuple, range)):
        return f"{_described(item)} does not select here: for integers and masks use .oindex[...]"
    return f"only ints, slices and `...` select here, not {_described(item)}"


def _not_orthogonal(item: object, array: np.ndarray[Any, Any]) -> str:
    takes = "an axis is selected by an int, a slice, a 1-d array of integers or a mask"
    if array.ndim == 0 and not isinstance(item, np.ndarray):
        return f"{takes}, not by {_described(item)}"
    if array.dtype.kind in "USTO":
        return f"{takes}, not by {array.dtype}: `vczc.samples` finds the numbers of ids"
    return f"{takes}, not by an array of {array.ndim} dimensions of {array.dtype}"
