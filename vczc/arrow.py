# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""A stream as Arrow record batches, which pyarrow, polars, duckdb and others take as it is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from vczc import _arrow, _arrow_stream, _core
from vczc.asked import make_plan
from vczc.errors import UnsupportedError
from vczc.reading import nthreads_of, text_buffers
from vczc.stream import Stream, nbytes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vczc.group import Group
    from vczc.parts import Field, Ndarray, Plan
    from vczc.regions import Overlap, Regions

# https://arrow.apache.org/docs/format/CDataInterface.html#data-type-description-format-strings
_FORMATS = {
    "i1": "c", "i2": "s", "i4": "i", "i8": "l", "u1": "C", "u2": "S", "u4": "I", "u8": "L",
    "f2": "e", "f4": "f", "f8": "g",
}  # fmt: skip
_BOOL, _TEXT, _BYTES, _STRUCT = "b", "U", "Z", "+s"


def to_arrow(
    root: Group,
    fields: str | Iterable[str] | None = None,
    *,
    region: Regions | None = None,
    overlap: Overlap = "record",
    variants: Any = None,
    samples: Any = None,
    memory: int | str = "256 MiB",
    threads: int | None = None,
) -> ArrowStream:
    """What `vczc.stream` gives, as Arrow record batches: `pyarrow.table(vczc.to_arrow(root, …))`.

    A field is a column; its further axes are fixed-size lists. Text is `large_utf8` however the
    store was opened. VCF's missing and fill values stay the values that they are: there are no
    nulls. Batches are decoded when the consumer asks for them, and numbers are not copied.
    """

    def plan() -> Plan:
        return make_plan(root, fields, region, overlap, variants, samples)

    nthreads = nthreads_of(threads) or _core.get_threads()
    return ArrowStream(plan(), plan, nbytes_of(memory), nthreads)


class ArrowStream:
    """Record batches for one consumer after another; each reads from the start."""

    def __init__(self, first: Plan, plan: Any, memory: int, threads: int) -> None:
        self._schema = _schema(first.fields)  # refuses what Arrow has no type for
        self._plan = plan
        self._memory = memory
        self._threads = threads

    def __repr__(self) -> str:
        return f"<vczc.ArrowStream of {', '.join(c.name for c in self._schema.children)}>"

    def __arrow_c_schema__(self) -> object:
        return _arrow.export_schema(self._schema)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        del requested_schema  # the interface allows to answer with what there is
        return _arrow_stream.export_stream(self._schema, self._batches())

    def _batches(self) -> Iterator[_arrow.Column]:
        plan: Plan = self._plan()
        for name, field in plan.fields.items():
            field.gives_strings = not plan.is_carried(name)
        with Stream(plan, self._memory, self._threads, reuse=False) as parts:
            for part in parts:
                nrows = len(part.index)
                columns = [
                    _column(name, nrows, field, part[name]) for name, field in plan.fields.items()
                ]
                yield _arrow.Column(_STRUCT, nrows, (None,), children=tuple(columns))


def _schema(fields: dict[str, Field]) -> _arrow.Column:
    columns = []
    for name, field in fields.items():
        empty = np.empty((0, *field.shape), object if field.dtype is None else field.dtype)
        columns.append(_column(name, 0, field, empty))
    return _arrow.Column(_STRUCT, 0, (None,), children=tuple(columns))


def _column(name: str, nrows: int, field: Field, values: Any) -> _arrow.Column:
    length = nrows * math.prod(field.shape)
    item_format, buffers = _items(name, field, values)
    made = _arrow.Column(item_format, length, buffers, name="item" if field.shape else name)
    for axis in reversed(range(len(field.shape))):
        n = field.shape[axis]
        length = nrows * math.prod(field.shape[:axis])
        label = "item" if axis else name
        made = _arrow.Column(f"+w:{n}", length, (None,), name=label, children=(made,))
    return made


def _items(name: str, field: Field, values: Any) -> tuple[str, tuple[Ndarray | None, ...]]:
    """The Arrow format of the items, and the buffers that hold them (the first: no nulls)."""
    if field.dtype is None or field.dtype.kind in "SU":
        is_text = field.array._is_text if field.dtype is None else field.dtype.kind == "U"
        return _TEXT if is_text else _BYTES, (None, *text_buffers(values))
    if field.dtype.kind == "b":
        return _BOOL, (None, np.packbits(values.reshape(-1), bitorder="little"))
    if field.dtype.kind == "V":
        return f"w:{field.dtype.itemsize}", (None, np.ascontiguousarray(values))
    if (found := _FORMATS.get(field.dtype.str[1:])) is None:
        msg = f"{name!r} holds {field.dtype}, which is not made into Arrow batches"
        raise UnsupportedError(msg)
    return found, (None, np.ascontiguousarray(values))
