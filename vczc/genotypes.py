# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""What is made of genotypes: dosages, allele counts, missing rates, PLINK's packed calls.

Each function takes genotypes that are in memory, an array of variants x samples x ploidy or a part
of a stream, or reads them: from the root of a VCZ, or from an `Array`. What is read goes from the
stored bytes to the result without the genotypes in between where the store's layout allows, and a
chunk at a time where not, in threads and without the GIL.

Alleles are 0 for the reference, above 0 for others, -1 for missing and -2 for fill (a call of fewer
alleles than the array has room for). A call is missing if one of its alleles is, or if it has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from vczc import _core, selection
from vczc.array import Array
from vczc.counts import count_of
from vczc.errors import BufferError
from vczc.group import Group
from vczc.ids import array_of, sample_places
from vczc.reading import nthreads_of
from vczc.regions import region as find_rows

if TYPE_CHECKING:
    import numpy.typing as npt

    from vczc.regions import Overlap, Regions
    from vczc.selection import Index

__all__ = ["BED_MAGIC", "allele_counts", "dosage", "missing_rate", "pack_bed"]

Ndarray: TypeAlias = "np.ndarray[Any, Any]"
Source: TypeAlias = "Group | Array | Mapping[str, Ndarray] | Ndarray"

# What a .bed file begins with, before the rows of `pack_bed`.
BED_MAGIC: Final = b"\x6c\x1b\x01"

_DOSAGE_DTYPES = ("int8", "int16", "int32", "int64", "float32", "float64")


def __dir__() -> list[str]:
    return list(__all__)


def dosage(
    source: Source,
    dtype: npt.DTypeLike | None = None,
    out: Ndarray | None = None,
    *,
    field: str = "call_genotype",
    region: Regions | None = None,
    overlap: Overlap = "record",
    variants: Any = None,
    samples: Any = None,
    threads: int | None = None,
) -> Ndarray:
    """How many alleles of each call are not the reference: variants x samples.

    `dtype` is a signed integer, where a missing call is -1, or float32 or float64, where it is NaN;
    by default that of `out`, or int8. `out` may have any strides. Which allele it is does not
    matter, and fill does not count: a haploid call in a diploid array is 0 or 1.

    `field`, `region`, `overlap`, `variants` and `samples` select what is read from the root of a
    VCZ, as in `vczc.stream`; of an `Array`, `variants` and `samples` do, by number, slice or mask.
    """
    if dtype is not None:
        wanted = np.dtype(dtype)
    elif out is None:
        wanted = np.dtype(np.int8)
    else:
        wanted = _array(out).dtype
    if wanted.name not in _DOSAGE_DTYPES or not wanted.isnative:
        msg = f"dosages are {', '.join(_DOSAGE_DTYPES)}, in native byte order, not {wanted}"
        raise ValueError(msg)
    calls = _calls(source, field, region, overlap, variants, samples, threads)
    into = _result((calls.nvariants, calls.nsamples), wanted, out)
    return _written(source, calls.dosage, into)


def allele_counts(
    source: Source,
    nalleles: int | None = None,
    *,
    field: str = "call_genotype",
    region: Regions | None = None,
    overlap: Overlap = "record",
    variants: Any = None,
    samples: Any = None,
    threads: int | None = None,
) -> np.ndarray[Any, np.dtype[np.int32]]:
    """How often each allele occurs at each variant: variants x nalleles, int32.

    Missing and fill are not counted; the other allele of a call that is missing in part is. An
    allele that is not below `nalleles` is an error. By default there are as many as
    `variant_allele` of the root has room for, or as the genotypes in memory need; an `Array` knows
    of no others, and needs the number. The selection is as for `dosage`.
    """
    if nalleles is None:
        nalleles = _count_alleles(source, field)
    calls = _calls(source, field, region, overlap, variants, samples, threads)
    most = 1 << 31  # as the largest that an allele can be, by the types that calls have
    n = count_of(nalleles, 1, most, "nalleles", "a number of alleles")
    return calls.allele_counts(n)


def missing_rate(
    source: Source,
    per: Literal["variant", "sample"] = "variant",
    *,
    field: str = "call_genotype",
    region: Regions | None = None,
    overlap: Overlap = "record",
    variants: Any = None,
    samples: Any = None,
    threads: int | None = None,
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Which share of the calls is missing, at each variant or of each sample: float64.

    NaN where there are no calls. The selection is as for `dosage`.
    """
    if per not in ("variant", "sample"):
        msg = f"per is 'variant' or 'sample', not {per!r}"
        raise ValueError(msg)
    calls = _calls(source, field, region, overlap, variants, samples, threads)
    ncalls = calls.nsamples if per == "variant" else calls.nvariants
    counts = calls.missing(per == "sample")
    return counts / np.float64(ncalls) if ncalls else np.full(counts.shape, np.nan)


def pack_bed(
    source: Source,
    out: Ndarray | None = None,
    *,
    field: str = "call_genotype",
    region: Regions | None = None,
    overlap: Overlap = "record",
    variants: Any = None,
    samples: Any = None,
    threads: int | None = None,
) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """The calls as rows of a PLINK 1 .bed file: variants x (samples / 4, rounded up), uint8.

    Two bits a call, the first sample in the lowest bits, zeros behind the last. A1 is every allele
    but the reference: 0 is two of these, 2 one, 3 none, and 1 a missing call. So where a variant
    has several alternate alleles they count as one; split such variants before if that is not what
    is wanted. A haploid call counts its allele twice; a call that is missing in part is missing. A
    ploidy above 2 is an error. `BED_MAGIC` and these rows are a .bed file. `out` is C-contiguous.
    The selection is as for `dosage`.
    """
    calls = _calls(source, field, region, overlap, variants, samples, threads)
    into = _result((calls.nvariants, -(-calls.nsamples // 4)), np.dtype(np.uint8), out)
    return _written(source, calls.bed, into)


# ---- Where calls come from


def _calls(
    source: Source,
    field: str,
    region: Regions | None,
    overlap: Overlap,
    variants: Any,
    samples: Any,
    threads: int | None,
) -> _core.Calls:
    if isinstance(source, Group):
        array = array_of(source, field)
        if samples is not None:
            samples = sample_places(source, samples)
    elif isinstance(source, Array):
        array = source
        if region is not None:
            msg = "an array knows nothing of regions: give the root of the VCZ"
            raise ValueError(msg)
        if not isinstance(samples, slice) and np.asarray(samples).dtype.kind in "UST":
            msg = "an array knows no sample by its id: give the root of the VCZ, or indexes"
            raise TypeError(msg)
    else:
        if any(x is not None for x in (region, variants, samples)):
            msg = "region, variants and samples select what is read: index what is in memory"
            raise ValueError(msg)
        nthreads_of(threads)
        return _core.Calls(_in_memory(source, field))
    nthreads = nthreads_of(threads)
    if array.ndim != 3:
        return _core.Calls(array)  # it has the words for it
    rows = _rows(source, array.shape[0], region, overlap, variants)
    return _core.Calls(array, rows, _places(samples, array.shape[1]), nthreads)


def _in_memory(source: object, field: str) -> Ndarray:
    if isinstance(source, Mapping):
        if field not in source:
            msg = f"there is no {field!r} among {', '.join(map(repr, source)) or 'no fields'}"
            raise ValueError(msg)
        source = source[field]
    if not isinstance(source, np.ndarray):
        msg = (
            "genotypes come from the root of a VCZ, an array of it, a part of a stream or an "
            f"ndarray, not from {type(source).__name__}"
        )
        raise TypeError(msg)
    return source


def _places(wanted: Any, n: int) -> Index | None:
    """Row or column numbers; None for all."""
    if wanted is None:
        return None
    if isinstance(wanted, tuple):
        wanted = list(wanted)
    places = selection.orthogonal(wanted, (n,)).places[0]
    if isinstance(places, range):
        if places == range(n):
            return None
        return np.arange(places.start, places.stop, places.step)
    return places


def _rows(
    root: Group | Array, nrows: int, region: Regions | None, overlap: Overlap, variants: Any
) -> Index | None:
    """The rows of both a region and a choice of variants, in the order of the choice."""
    rows = _places(variants, nrows)
    if region is None:
        return rows
    assert isinstance(root, Group)
    found = find_rows(root, region, overlap=overlap)
    if len(array_of(root, "variant_position")) != nrows:
        msg = f"'variant_position' has not the {nrows} variants that the genotypes have"
        raise ValueError(msg)
    if rows is None:
        return np.concatenate([np.arange(0), *[np.arange(s.start, s.stop) for s in found]])
    is_in = np.zeros(nrows, np.bool_)
    for s in found:
        is_in[s] = True
    return rows[is_in[rows]]


def _count_alleles(source: Source, field: str) -> int:
    if isinstance(source, Group):
        alleles = array_of(source, "variant_allele")
        if alleles.ndim == 2:
            return alleles.shape[1]
    if isinstance(source, Group | Array):
        msg = "how many alleles there are is not known here: give nalleles"
        raise ValueError(msg)
    genotypes = _in_memory(source, field)
    return 1 + max(0, int(genotypes.max())) if genotypes.size else 1


# ---- Where results go


def _array(out: object) -> Ndarray:
    if not isinstance(out, np.ndarray):
        msg = f"out is an ndarray, not {type(out).__name__}"
        raise BufferError(msg)
    return out


def _result(shape: tuple[int, int], dtype: np.dtype[Any], out: object) -> Ndarray:
    if out is None:
        return _core.new_array(shape, dtype)
    out = _array(out)
    if out.dtype != dtype:
        msg = f"out holds {out.dtype}, the result {dtype}"
        raise BufferError(msg)
    if out.shape != shape:
        msg = f"out has the shape {out.shape}, not {shape}"
        raise BufferError(msg)
    return out


def _written(source: Source, write: Any, into: Ndarray) -> Ndarray:
    """`into`, through other memory where it may be that which is read."""
    given = source.values() if isinstance(source, dict) else (source,)
    if any(isinstance(x, np.ndarray) and np.may_share_memory(x, into) for x in given):
        into_other = np.empty_like(into)
        write(into_other)
        into[...] = into_other
    else:
        write(into)
    return into
