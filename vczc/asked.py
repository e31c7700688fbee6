# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""From what a stream is asked for, fields, region, variants and samples, to a plan of its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vczc import selection
from vczc.errors import MetadataError
from vczc.ids import are_several, array_of, group_of, one_text, sample_places
from vczc.parts import Field, Plan
from vczc.regions import region as find_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vczc.array import Array
    from vczc.group import Group
    from vczc.regions import Overlap, Regions
    from vczc.selection import Index


def make_plan(
    root: Group,
    fields: str | Iterable[str] | None,
    region: Regions | None,
    overlap: Overlap,
    variants: Any,
    samples: Any,
) -> Plan:
    arrays = _arrays(root, fields)
    nrows = next(iter(arrays.values())).shape[0]
    for name, array in arrays.items():
        if array.shape[0] != nrows:
            msg = (
                f"{name!r} has {array.shape[0]} variants, where {next(iter(arrays))!r} has {nrows}"
            )
            raise MetadataError(msg)
    if samples is not None:
        samples = sample_places(root, samples)
    ranges: Sequence[range] | None = None
    if region is not None:
        if len(array_of(root, "variant_position")) != nrows:
            msg = f"'variant_position' has not {nrows} variants, as {next(iter(arrays))!r} has"
            raise MetadataError(msg)
        found = find_rows(root, region, overlap=overlap)
        ranges = [range(s.start, s.stop) for s in found]
    made = {name: Field(a, samples, _samples_axis(name, a)) for name, a in arrays.items()}
    return Plan(made, _rows(ranges, variants, nrows))


def _arrays(root: Group, fields: str | Iterable[str] | None) -> dict[str, Array]:
    one = one_text(fields)
    array_names = fields if one is None else [one]
    if array_names is None:
        every = {name: array_of(root, name) for name in group_of(root).array_keys()}
        found = {name: a for name, a in every.items() if _has_variants(name, a)}
    elif not are_several(array_names):
        msg = f"fields are the name of an array, or several, not {type(fields).__name__}"
        raise TypeError(msg)
    else:
        found = {name: array_of(root, name) for name in array_names}
    for name, array in found.items():
        if not _has_variants(name, array):
            axes = "no axes" if array.ndim == 0 else f"the axes {array.dims or 'without names'}"
            msg = f"{name!r} has {axes}, and not variants first: read it by itself"
            raise ValueError(msg)
    if not found:
        msg = "no fields are named" if fields is not None else "no array has the variants axis"
        raise ValueError(msg)
    return found


def _has_variants(name: str, array: Array) -> bool:
    if array.ndim == 0:
        return False
    if array.dims is not None:
        return array.dims[0] == "variants"
    return name.rpartition("/")[2].startswith(("variant_", "call_"))


def _samples_axis(name: str, array: Array) -> int | None:
    if array.dims is not None:
        return array.dims.index("samples") if "samples" in array.dims else None
    return 1 if name.rpartition("/")[2].startswith("call_") and array.ndim > 1 else None


def _rows(ranges: Sequence[range] | None, variants: Any, nrows: int) -> Sequence[range] | Index:
    """The rows of both a region and a choice of variants, in the order of the choice."""
    if variants is None:
        return ranges if ranges is not None else [range(nrows)]
    wanted = list(variants) if isinstance(variants, tuple) else variants
    places = selection.orthogonal(wanted, (nrows,)).places[0]
    if isinstance(places, range):
        if places.step == 1:
            of = ranges if ranges is not None else [range(nrows)]
            cut = [range(max(r.start, places.start), min(r.stop, places.stop)) for r in of]
            return [r for r in cut if len(r)]
        places = np.arange(places.start, places.stop, places.step)
    if ranges is None:
        return places
    if not ranges:
        return places[:0]
    starts = np.array([r.start for r in ranges])
    stops = np.array([r.stop for r in ranges])
    i = np.searchsorted(starts, places, "right") - 1
    return places[(i >= 0) & (places < stops[i])]
