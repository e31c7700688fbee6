#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Time what `vczc.genotypes` makes of a store, beside NumPy and PLINK's own reader.

That is pgenlib, where it is installed, on the same genotypes in a .pgen file.

    python benchmarks/genotypes.py STORE [--turns N] [--threads N] [--cache DIR]

All show first that they give the same, then take turns; times are processor time of one thread
(or wall time of several), the median and the least of the turns.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import vczc

if TYPE_CHECKING:
    from collections.abc import Callable

GENOTYPES = "call_genotype"
NUMPY_BLOCKS = 3  # NumPy is slow: as many, scaled to the whole


def main() -> int:
    options = parsed()
    vczc.set_threads(options.threads)
    array = vczc.open(options.store)[GENOTYPES]
    makers = dosages(array, options.cache) | others(array)
    times = take_turns(makers, options.turns, options.threads)
    nalleles = array.size
    print(f"{array.shape} genotypes, {options.threads} thread(s), {options.turns} turns")
    print(f"{'':40}{'median ms':>10}{'least ms':>10}{'ns/allele':>11}{'GB/s':>8}")
    for name, taken in times.items():
        median = statistics.median(taken)
        row = f"{1e3 * median:10.1f}{1e3 * min(taken):10.1f}{1e9 * median / nalleles:11.4f}"
        print(f"{name:40}{row}{nalleles / median / 1e9:8.1f}")
    return 0


def parsed() -> argparse.Namespace:
    made = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("store", type=Path)
    made.add_argument("--turns", type=int, default=9)
    made.add_argument("--threads", type=int, default=1)
    made.add_argument("--cache", type=Path, default=Path("build/benchmarks/stores"))
    return made.parse_args()


def dosages(array: Any, cache: Path) -> dict[str, Callable[[], float | None]]:
    """Dosages of the whole array, into memory that is there and has been written to."""
    shape, length = array.shape[:2], array.chunks[0]
    out = np.ones(shape, np.int8)
    genotypes = np.ones(array.chunk_size, array.dtype)

    def of_whole() -> None:
        vczc.genotypes.dosage(array, out=out)

    def of_chunks() -> None:
        for start in range(0, shape[0], length):
            rows = slice(start, min(start + length, shape[0]))
            vczc.genotypes.dosage(array, out=out[: rows.stop - start], variants=rows)

    def of_decoded() -> None:
        for i, start in enumerate(range(0, shape[0], length)):
            block = array.blocks.read(i, out=genotypes)
            vczc.genotypes.dosage(block, out=out[start : start + length])

    def by_numpy() -> float:
        begin = time.process_time()
        for i in range(min(NUMPY_BLOCKS, array.cdata_shape[0])):
            block = array.blocks.read(i, out=genotypes)
            counts = (block > 0).sum(axis=2, dtype=np.int8)
            counts[(block < 0).any(axis=2)] = -1
            out[: len(block)] = counts
        return (time.process_time() - begin) * array.cdata_shape[0] / NUMPY_BLOCKS

    made: dict[str, Callable[[], float | None]] = {
        "dosage, whole array": of_whole,
        "dosage, chunk by chunk into one buffer": of_chunks,
        "dosage of decoded blocks": of_decoded,
        "dosage by NumPy of decoded blocks": by_numpy,
    }
    if importlib.util.find_spec("pgenlib") is not None:
        made |= by_pgenlib(array, cache, out)
    else:
        print("pgenlib is not installed: left out", file=sys.stderr)
    return made


def others(array: Any) -> dict[str, Callable[[], float | None]]:
    nalleles = 1 + max(0, int(array.blocks[0].max()), 3)
    return {
        "allele_counts": lambda: ignore(vczc.genotypes.allele_counts(array, nalleles)),
        "missing_rate": lambda: ignore(vczc.genotypes.missing_rate(array)),
        "missing_rate per sample": lambda: ignore(vczc.genotypes.missing_rate(array, "sample")),
        "pack_bed": lambda: ignore(vczc.genotypes.pack_bed(array)),
    }


def ignore(_: Any) -> None:
    return None


def by_pgenlib(array: Any, cache: Path, out: Any) -> dict[str, Callable[[], float | None]]:
    import pgenlib

    nvariants, nsamples = array.shape[:2]
    path = cache / f"{Path(array.store.location).name}-{nvariants}x{nsamples}.pgen"
    if not path.exists():
        cache.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"part-{os.getpid()}.pgen")
        writer = pgenlib.PgenWriter(
            os.fsencode(part), nsamples, variant_ct=nvariants, nonref_flags=False
        )
        for block in array.blocks:
            for row in np.where(block < 0, -9, np.minimum(block, 1)).astype("i4"):
                writer.append_alleles(row.reshape(-1))
        writer.close()
        part.rename(path)
    reader = pgenlib.PgenReader(os.fsencode(path), raw_sample_ct=nsamples, variant_ct=nvariants)
    theirs = np.ones(out.shape, np.int8)
    reader.read_range(0, nvariants, theirs)
    vczc.genotypes.dosage(array, out=out)
    theirs[theirs == -9] = -1
    np.testing.assert_array_equal(theirs, out)

    def of_chunks() -> None:
        for start in range(0, nvariants, array.chunks[0]):
            end = min(start + array.chunks[0], nvariants)
            reader.read_range(start, end, theirs[: end - start])

    return {
        "pgenlib read_range, whole": lambda: reader.read_range(0, nvariants, theirs),
        "pgenlib read_range, chunk by chunk": of_chunks,
    }


def take_turns(
    makers: dict[str, Callable[[], float | None]], turns: int, threads: int
) -> dict[str, list[float]]:
    """A maker that returns a time has measured itself."""
    clock = time.process_time if threads == 1 else time.perf_counter
    times: dict[str, list[float]] = {name: [] for name in makers}
    for turn in range(turns + 1):
        for name, make in makers.items():
            begin = clock()
            own = make()
            taken = clock() - begin
            if turn != 0:  # the first is not counted
                times[name].append(taken if own is None else own)
    return times


if __name__ == "__main__":
    sys.exit(main())
