# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""What is timed: which parts of which array are read, and in which way."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from peers import Block, shape_of

import vczc
from vczc.cli.bench import block_box

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from peers import BlockReader

    from vczc.cli.readers import Box

GENOTYPES = "call_genotype"
ROWS, RUNS_OF_ROWS, SAMPLES = 32, 16, 10
SMALL_READS = 96
WHOLE_NBYTES = 1 << 30  # larger arrays are read only as far

# Fields of numbers: what they stand for in the tables, and their unit.
NUMBERS = {
    GENOTYPES: "genotypes",
    "call_genotype_phased": "phased flags",
    "call_genotype_mask": "mask",
    "call_GQ": "GQ (int8)",
    "call_DP": "DP (int16)",
    "call_PL": "PL (int32)",
    "call_DS": "DS (float32)",
}
TEXTS = {"variant_allele": "alleles", "variant_id": "ids", "variant_CSQ": "long text"}
SMALL = "variant_position"


@dataclass(frozen=True)
class Task:
    """Reads of one array, of blocks or of boxes that are none."""

    name: str
    title: str
    array: str
    unit: str  # what a time is divided by
    nunits: int
    nbytes: int  # that come out; 0 for text
    parts: tuple[Block | Box, ...]
    buffer: tuple[tuple[int, ...], str] | None = None  # its shape and type, where there is one

    def pieces(self, reader: BlockReader) -> Iterator[NDArray[Any]]:
        """What is read, one after another; one in a buffer is gone when the next is asked for."""
        out = np.zeros(*self.buffer) if self.buffer else None
        for part in self.parts:
            if not isinstance(part, Block):
                yield reader.read(self.array, part)
            elif out is None:
                yield reader.block(part)
            else:
                yield reader.block_into(part, out)


def tasks_of(root: vczc.Group, nbytes: int) -> list[Task]:
    """All that the store has arrays for. A turn of blocks decodes about `nbytes`."""
    arrays = {name: a for name, a in root.items() if isinstance(a, vczc.Array) and a.size}
    tasks = []
    for into in (False, True):
        for name, title in NUMBERS.items():
            if name in arrays:
                tasks.append(blocks_task(arrays[name], title, nbytes, "value", into))
        if SMALL in arrays:
            tasks.append(blocks_task(arrays[SMALL], "small blocks", nbytes, "block", into))
    for name, title in TEXTS.items():
        if name in arrays:
            tasks.append(blocks_task(arrays[name], title, nbytes, "string", False))
    if GENOTYPES in arrays:
        tasks += selection_tasks(arrays[GENOTYPES])
    return [task for task in tasks if task is not None]


def blocks_task(array: vczc.Array, title: str, nbytes: int, unit: str, into: bool) -> Task | None:
    """Blocks that are stored; those of an array of few are read more than once."""
    chunk_nbytes = array.itemsize * math.prod(array.chunks)
    most = SMALL_READS if unit == "block" else max(2, nbytes // chunk_nbytes)
    grid = itertools.product(*(range(n) for n in array.blocks.shape))
    stored = (place for place in grid if array.blocks.stored(place) is not None)
    places = list(itertools.islice(stored, most))
    if not places:
        return None
    if unit == "block":
        places = list(itertools.islice(itertools.cycle(places), SMALL_READS))
    parts = tuple(Block(array.path, place, block_box(array, place)) for place in places)
    nitems = sum(math.prod(shape_of(part.box)) for part in parts)
    return Task(
        name=f"blocks/{array.path}" + "/into" * into,
        title=title + ", into a buffer" * into,
        array=array.path,
        unit=unit,
        nunits=len(places) if unit == "block" else nitems,
        nbytes=nitems * array.itemsize if unit == "value" else 0,
        parts=parts,
        buffer=(array.chunks, str(array.dtype)) if into else None,
    )


def selection_tasks(array: vczc.Array) -> list[Task]:
    draw = random.Random(5)
    nrows, nsamples = array.shape[:2]
    inner = tuple(slice(0, n) for n in array.shape[1:])
    row_nbytes = array.itemsize * math.prod(array.shape[1:])

    def rows(name: str, title: str, width: int, count: int) -> Task:
        starts = [draw.randrange(nrows - width + 1) for _ in range(count)]
        boxes = tuple((slice(i, i + width), *inner) for i in starts)
        return Task(name, title, array.path, "read", count, count * width * row_nbytes, boxes)

    first = nsamples // 3
    few = slice(first, min(first + SAMPLES, nsamples))
    some = ((slice(0, nrows), few, *inner[1:]),)
    some_nbytes = row_nbytes * nrows // nsamples * (few.stop - few.start)
    most = max(1, min(nrows, WHOLE_NBYTES // row_nbytes))
    whole = ((slice(0, most), *inner),)
    return [
        rows("row", "one variant", 1, ROWS),
        rows("rows", "100 variants", min(100, nrows), RUNS_OF_ROWS),
        Task("samples", "10 samples", array.path, "read", 1, some_nbytes, some),
        Task("whole", "all genotypes", array.path, "read", 1, most * row_nbytes, whole),
    ]
