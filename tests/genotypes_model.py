# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""What is made of genotype calls, as NumPy says it, and genotypes to make it of."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import oracle

import vczc

SIGNED = ("i1", "i2", "i4", "i8")
DTYPES = (*SIGNED, "u1", "u2", "u4", "u8")
DOSAGE_DTYPES = (*SIGNED, "f4", "f8")
STYLES = {
    "phased": [0, 0, 0, 1],
    "few": [0, 1, 2, 3],
    "missing": [0, 1, 2, -1],
    "mixed": [0, 1, -1, -2, 2, 5],
    "fill": [-2, -2, 0, 1],
    "odd": [0, 1, 127, -1, -2, -3, -128, 64],
    "zero": [0],
}


def genotypes(shape: tuple[int, ...], style: str, dtype: str = "i1", seed: int = 0) -> np.ndarray:
    alleles = np.array(STYLES[style])
    if dtype[0] == "u":
        alleles = np.abs(alleles)
    return np.random.default_rng(seed).choice(alleles, shape).astype(dtype)


def is_missing(gt: np.ndarray) -> np.ndarray:
    is_fill = gt == gt.dtype.type(-2) if gt.dtype.kind == "i" else np.zeros(gt.shape, bool)
    return ((gt < 0) & ~is_fill).any(axis=2) | is_fill.all(axis=2)


def dosage(gt: np.ndarray, dtype: Any = np.int8) -> np.ndarray:
    counts = (gt > 0).sum(axis=2).astype(dtype)
    counts[is_missing(gt)] = np.nan if counts.dtype.kind == "f" else -1
    return counts


def allele_counts(gt: np.ndarray, nalleles: int) -> np.ndarray:
    cells = np.arange(len(gt))[:, None, None] * nalleles + gt.astype(np.int64)
    counts = np.bincount(cells[gt >= 0], minlength=len(gt) * nalleles)
    return counts.reshape(len(gt), nalleles).astype(np.int32)


def missing_rate(gt: np.ndarray, per: str = "variant") -> np.ndarray:
    axis = 1 if per == "variant" else 0
    missing = is_missing(gt)
    n = missing.shape[axis]
    return missing.sum(axis=axis) / n if n else np.full(missing.shape[1 - axis], np.nan)


def pack_bed(gt: np.ndarray) -> np.ndarray:
    n, nsamples, ploidy = gt.shape
    is_haploid = (ploidy == 1) | (gt.astype(np.int64) == -2).any(axis=2)
    counts = dosage(gt) * np.where(is_haploid & ~is_missing(gt), 2, 1)
    codes = np.zeros((n, -(-nsamples // 4) * 4), np.uint8)
    codes[:, :nsamples] = np.array([3, 2, 0, 1], np.uint8)[counts]  # -1 is the last
    quads = codes.reshape(n, codes.shape[1] // 4, 4)
    return quads[..., 0] | quads[..., 1] << 2 | quads[..., 2] << 4 | quads[..., 3] << 6


def check(source: Any, expected: np.ndarray, **selection: Any) -> None:
    """All that is made of `source` is what NumPy makes of `expected`."""
    functions = vczc.genotypes
    got = functions.dosage(source, **selection)
    assert got.dtype == np.int8
    np.testing.assert_array_equal(got, dosage(expected))
    nalleles = max(1, int(expected.max(initial=0)) + 1)
    got = functions.allele_counts(source, nalleles, **selection)
    assert got.dtype == np.int32
    np.testing.assert_array_equal(got, allele_counts(expected, nalleles))
    for per in ("variant", "sample"):
        got = functions.missing_rate(source, per, **selection)
        assert got.dtype == np.float64
        np.testing.assert_array_equal(got, missing_rate(expected, per))
    if expected.shape[2] <= 2:
        got = functions.pack_bed(source, **selection)
        assert got.dtype == np.uint8
        np.testing.assert_array_equal(got, pack_bed(expected))


def stored(gt: np.ndarray, chunks: tuple[int, ...], compressor: Any, absent: Any = ()) -> Any:
    """A store of format 2 in memory, of one array `x`; chunks with numbers in `absent` are not."""
    fill = -1 if gt.dtype.kind == "i" else 1
    encoded = {}
    grid = [range(-(-n // c)) for n, c in zip(gt.shape, chunks, strict=True)]
    for number, coords in enumerate(itertools.product(*grid)):
        box = tuple(slice(i * c, (i + 1) * c) for i, c in zip(coords, chunks, strict=True))
        if number in absent:
            gt[box] = fill
            continue
        chunk = np.full(chunks, 3, gt.dtype)  # what lies behind the edge is not to be seen
        part = gt[box]
        chunk[tuple(map(slice, part.shape))] = part
        key = ".".join(map(str, coords))
        encoded[key] = bytes(compressor.encode(chunk)) if compressor else chunk.tobytes()
    return oracle.by_hand(
        encoded,
        shape=gt.shape,
        chunks=chunks,
        dtype=gt.dtype.str,
        compressor=compressor.get_config() if compressor else None,
        fill_value=fill,
    )
