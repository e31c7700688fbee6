# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""From `contig:from-to` to row ranges.

The rows are found in `variant_contig`, `variant_position` and `variant_length` themselves. A
`region_index` may be missing or stale, and nothing in it tells, so none is needed: what it would
say is worked out from the data once for each open group.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from vczc.errors import MetadataError
from vczc.ids import UnknownIdError, are_several, array_of, one_text, read_ids

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vczc.array import Array
    from vczc.group import Group

Regions: TypeAlias = "str | os.PathLike[str] | Iterable[str]"
Overlap: TypeAlias = Literal["record", "pos"]
_Mask: TypeAlias = "np.ndarray[Any, np.dtype[np.bool_]]"
_Ints: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"

_FIRST, _LAST = 0, 1 << 62  # a position of 0 is a telomere

# Rows that are looked at in one piece, and rows that share an entry of a summary.
_MAX_ROWS = 1 << 20
_MIN_ENTRY, _MAX_ENTRY = 1 << 10, 1 << 14

_ENDINGS = (".bed", ".tsv", ".txt", ".vcf", ".gz", ".bgz")

_NUMBER = r"\d+|\d{1,3}(?:,\d{3})+"
_NOT_A_TEXT = "a region is a str such as 'chr1:100-200', several, or a path, not {!r}"
_SPAN = re.compile(rf"({_NUMBER})(?:(-)({_NUMBER})?)?")


class Interval(NamedTuple):
    """Positions of a contig: 1-based, both ends belong to it."""

    contig: int
    start: int
    stop: int


def region(root: Group, region: Regions, *, overlap: Overlap = "record") -> list[slice]:
    """The rows that overlap a region, as ranges in file order.

    `region` is one region, several, or the path of a file of them. Regions are written as bcftools
    writes them: `contig`, `contig:pos`, `contig:from-` or `contig:from-to`, 1-based and with both
    ends. A file is BED (0-based, its end excluded) if its name ends in `.bed` or `.bed.gz`, else
    tab-separated: contig, first and last position, as `bcftools -R` takes it.

    With `overlap="record"` a record counts if any base of its reference allele lies in the region
    (`bcftools view -r`), with `"pos"` if its position does (`-t`). No row is given twice. An
    unknown contig is an error, one without records has no rows.
    """
    if overlap not in ("record", "pos"):
        msg = f"overlap is 'record' or 'pos', not {overlap!r}"
        raise ValueError(msg)
    one = one_text(region)
    if one is not None:
        region = one
    elif not (isinstance(region, os.PathLike) or are_several(region)):
        raise TypeError(_NOT_A_TEXT.format(region))
    contigs = read_ids(root, "contig_id")
    wanted = _merged(_intervals(region, contigs))
    return _find(_Columns(root), wanted, overlap == "record") if wanted else []


# ---- What is written


def _intervals(given: Regions, contigs: list[str]) -> Iterator[Interval]:
    number: dict[str, int] = {}
    for i, name in enumerate(contigs):
        number.setdefault(name, i)
    if isinstance(given, str):
        found: Iterable[Interval] | None = _parse(given, number)
        if found is None and "," in given:  # as bcftools: between commas
            several = [_parse(text, number) for text in given.split(",")]
            found = [x for part in several if part for x in part] if all(several) else None
        if found is None:
            if not (os.path.isfile(given) or given.endswith(_ENDINGS)):  # noqa: PTH113 (any text)
                raise _not_a_region(given, number)
            found = _from_file(Path(given), number)
        yield from found
    elif isinstance(given, os.PathLike):
        yield from _from_file(Path(given), number)
    else:
        for item in given:
            if (one := one_text(item)) is None:
                raise TypeError(_NOT_A_TEXT.format(item))
            if (found := _parse(one, number)) is None:
                raise _not_a_region(one, number)
            yield from found


def _parse(text: str, number: dict[str, int]) -> list[Interval] | None:
    """The region, or None where its contig is not known or it is none."""
    contig = _contig(text, number)  # first as a whole: a name may hold colons
    if contig is not None:
        return [Interval(contig, _FIRST, _LAST)]
    name, colon, span = text.rpartition(":")
    contig = _contig(name, number)
    match = _SPAN.fullmatch(span)
    if not colon or match is None or contig is None:
        return None
    start = int(match[1].replace(",", ""))
    stop = start
    if match[2]:
        stop = int(match[3].replace(",", "")) if match[3] else _LAST
    return [_interval(contig, start, stop, text)]


def _contig(name: str, number: dict[str, int]) -> int | None:
    """As in htslib, braces hold a whole name."""
    if name not in number and name.startswith("{") and name.endswith("}"):
        name = name[1:-1]
    return number.get(name)


def _interval(contig: int, start: int, stop: int, text: str) -> Interval:
    if start > stop and stop != _LAST:
        msg = f"the region {text!r} ends before it begins"
        raise ValueError(msg)
    return Interval(contig, min(start, _LAST), min(stop, _LAST))


def _not_a_region(text: str, number: dict[str, int]) -> Exception:
    name, colon, span = text.rpartition(":")
    if colon and _contig(name, number) is not None:
        msg = f"{span!r} of the region {text!r} is not pos, from- or from-to"
        return ValueError(msg)
    return UnknownIdError.of("contig", name if colon and _SPAN.fullmatch(span) else text, number)


def _from_file(path: Path, number: dict[str, int]) -> Iterator[Interval]:
    """One interval of each line. As in bcftools the name tells what the columns are."""
    import gzip

    name = path.name.lower()
    is_zipped = name.endswith((".gz", ".bgz"))
    kind = Path(name.rpartition(".")[0] if is_zipped else name).suffix
    with gzip.open(path, "rt") if is_zipped else path.open() as lines:
        for i, line in enumerate(lines, 1):
            text = line.rstrip("\r\n")
            if not text.strip() or text.startswith(("#", "track ", "browser ")):
                continue
            columns = text.split("\t") if "\t" in text else text.split()
            if columns[0] not in number:
                error = UnknownIdError.of("contig", columns[0], number)
                raise error
            try:
                interval = _from_columns(number[columns[0]], columns[1:], kind)
            except ValueError as err:
                msg = f"line {i} of {os.fspath(path)!r}: {err}"
                raise ValueError(msg) from None
            if interval is not None:
                yield interval


def _from_columns(contig: int, columns: list[str], kind: str) -> Interval | None:
    """None for an interval of BED without a base."""
    text = "\t".join(columns[:2])
    if not columns:
        return Interval(contig, _FIRST, _LAST)
    start = int(columns[0])
    if kind == ".bed":
        stop = int(columns[1]) if len(columns) > 1 else _LAST
        return None if start == stop else _interval(contig, start + 1, stop, text)
    if len(columns) == 1 or kind == ".vcf":
        return _interval(contig, start, start, text)
    return _interval(contig, start, int(columns[1]), text)


def _merged(intervals: Iterable[Interval]) -> dict[int, tuple[_Ints, _Ints]]:
    """For each contig the starts and stops of intervals that ascend and do not touch."""
    spans: dict[int, list[list[int]]] = {}
    for contig, start, stop in sorted(intervals):
        mine = spans.setdefault(contig, [])
        if mine and start <= mine[-1][1] + 1:
            mine[-1][1] = max(mine[-1][1], stop)
        else:
            mine.append([start, stop])
    return {
        contig: (np.array([s[0] for s in mine]), np.array([s[1] for s in mine]))
        for contig, mine in spans.items()
    }


def _is_in(spans: tuple[_Ints, _Ints], start: _Ints, stop: _Ints) -> _Mask:
    """Which of start..stop overlap a span: the first span that does not end before must do."""
    starts, stops = spans
    i = np.searchsorted(stops, start)
    return np.asarray(np.append(starts, _LAST + 1)[i] <= stop)


def _is_within(spans: tuple[_Ints, _Ints], start: _Ints, stop: _Ints) -> _Mask:
    """Which of start..stop lie in one span as a whole."""
    starts, stops = spans
    i = np.searchsorted(stops, start)
    is_begun = np.append(starts, _LAST + 1)[i] <= start
    return np.asarray(is_begun & (stop <= np.append(stops, _LAST)[i]))


# ---- What is stored


class _Columns:
    """Contig, position and end of the records of a VCZ."""

    def __init__(self, root: Group) -> None:
        self.root = root
        self.position = array_of(root, "variant_position")
        self.contig = self._same_length("variant_contig")
        self.nrows = len(self.position)
        self._length = self._optional("variant_length")
        self._allele = self._optional("variant_allele") if self._length is None else None
        self._end = self._optional("variant_END") if self._length is None else None

    def _same_length(self, name: str) -> Array:
        array = array_of(self.root, name)
        if array.ndim == 0 or len(array) != len(self.position):
            msg = f"{array.name!r} has the shape {array.shape}: no row for each variant_position"
            raise MetadataError(msg)
        return array

    def _optional(self, name: str) -> Array | None:
        return self._same_length(name) if name in self.root else None

    def read(self, start: int, stop: int, with_ends: bool) -> tuple[_Ints, _Ints, _Ints]:
        contig = self.contig[start:stop].astype(np.int64)
        position = self.position[start:stop].astype(np.int64)
        return contig, position, self._ends(start, stop, position) if with_ends else position

    def _ends(self, start: int, stop: int, position: _Ints) -> _Ints:
        """Without `variant_length` from REF and INFO/END, as htslib works it out."""
        ends = position
        if self._length is not None:
            ends = position + np.maximum(self._length[start:stop].astype(np.int64), 1) - 1
        elif self._allele is not None:
            ends = position + np.maximum(_ref_lengths(self._allele, start, stop), 1) - 1
        if self._end is not None:
            ends = np.maximum(ends, self._end[start:stop].astype(np.int64))
        return ends


def _ref_lengths(allele: Array, start: int, stop: int) -> _Ints:
    if allele.ndim == 2 and allele._is_text:  # the lengths alone, without the text
        offsets = allele._box_strings((start, 0), (stop, 1), (1, 1)).offsets
        lengths: _Ints = np.diff(offsets)
        return lengths
    ref = allele[start:stop] if allele.ndim == 1 else allele[start:stop, 0]
    return np.array([len(x) for x in ref.tolist()], np.int64)


class _Summary(NamedTuple):
    """Of each `nrows_each` rows: the contigs from-to, the least position, the greatest end."""

    nrows_each: int
    first_contig: _Ints
    last_contig: _Ints
    position: _Ints
    end: _Ints


_summaries: WeakKeyDictionary[Group, _Summary] = WeakKeyDictionary()


def _summary(columns: _Columns) -> _Summary:
    """Made once for each open group. Ends are part of it, since they are wanted most often."""
    known = _summaries.get(columns.root)
    if known is not None:
        return known
    each = min(max(columns.position.chunks[0], _MIN_ENTRY), _MAX_ENTRY)
    parts = []
    for start, stop in _pieces(0, columns.nrows, max(1, _MAX_ROWS // each) * each):
        contig, position, end = columns.read(start, stop, with_ends=True)
        at = np.arange(0, stop - start, each)
        parts.append(
            (
                np.minimum.reduceat(contig, at),
                np.maximum.reduceat(contig, at),
                np.minimum.reduceat(position, at),
                np.maximum.reduceat(end, at),
            )
        )
    joined = [np.concatenate(x) for x in zip(*parts, strict=True)] or [np.empty(0, np.int64)] * 4
    made = _summaries[columns.root] = _Summary(each, *joined)
    return made


def _find(
    columns: _Columns, wanted: dict[int, tuple[_Ints, _Ints]], with_ends: bool
) -> list[slice]:
    """The rows as ranges that ascend and do not touch."""
    summary = _summary(columns)
    candidate = np.zeros(len(summary.position), np.bool_)
    certain = candidate.copy()
    for contig, spans in wanted.items():
        is_there = (summary.first_contig <= contig) & (contig <= summary.last_contig)
        is_alone = is_there & (summary.first_contig == summary.last_contig)
        candidate |= is_there & _is_in(spans, summary.position, summary.end)
        certain |= is_alone & _is_within(spans, summary.position, summary.end)
    each = summary.nrows_each
    found: list[slice] = []
    for mask, is_read in ((certain, False), (candidate & ~certain, True)):
        for first, last in _runs(mask):
            start, stop = first * each, min(last * each, columns.nrows)
            found += (
                _look(columns, wanted, with_ends, start, stop) if is_read else [slice(start, stop)]
            )
    return _joined(found)


def _look(
    columns: _Columns,
    wanted: dict[int, tuple[_Ints, _Ints]],
    with_ends: bool,
    first: int,
    last: int,
) -> Iterator[slice]:
    """Of the rows `first` to `last` those that overlap."""
    for start, stop in _pieces(first, last, _MAX_ROWS):
        contigs, positions, ends = columns.read(start, stop, with_ends)
        overlaps = np.zeros(stop - start, np.bool_)
        for contig, spans in wanted.items():
            overlaps |= (contigs == contig) & _is_in(spans, positions, ends)
        for a, b in _runs(overlaps):
            yield slice(start + a, start + b)


def _joined(ranges: list[slice]) -> list[slice]:
    """In order, and as one where one ends at the next."""
    joined: list[slice] = []
    for r in sorted(ranges, key=lambda r: r.start):
        if joined and joined[-1].stop == r.start:
            joined[-1] = slice(joined[-1].start, r.stop)
        else:
            joined.append(r)
    return joined


def _pieces(start: int, stop: int, length: int) -> Iterator[tuple[int, int]]:
    for a in range(start, stop, length):
        yield a, min(a + length, stop)


def _runs(mask: _Mask) -> list[tuple[int, int]]:
    """From-to of each run of True."""
    edges = np.flatnonzero(np.diff(mask.astype(np.int8), prepend=0, append=0)).tolist()
    return list(zip(edges[::2], edges[1::2], strict=True))
