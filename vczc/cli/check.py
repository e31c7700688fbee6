# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""`vczc check`: decodes everything, and names what is damaged."""

from __future__ import annotations

import itertools
import math
import os
import re
import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

import click
import numpy as np

import vczc
from vczc.cli.sources import CANNOT, DAMAGED, MAX_THREADS, Walk, path_argument
from vczc.cli.terminal import (
    console,
    duration,
    json_option,
    one_line,
    plural,
    print_json,
    print_table,
    progress,
    size,
    styled,
    table,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Coords = tuple[int, ...]

# A batch decodes to about as much: small chunks are not worth a task each.
BATCH_NBYTES = 4 << 20
BATCH_NCHUNKS = 256

# A larger grid is not walked where few of its chunks are stored: the store is asked for its keys.
WALKED_NCHUNKS = 1 << 20

# The place of a chunk in its key, in any of the encodings of both formats: 0.1, 0/1, c/0/1.
CHUNK_KEY = re.compile(r"(?:c[/.])?([0-9]+(?:[/.][0-9]+)*)")


@dataclass(frozen=True)
class Damage:
    """One thing that cannot be read: a chunk, or with `coords` None a whole array or group."""

    array: str
    coords: Coords | None
    key: str | None
    reason: str

    @classmethod
    def of(cls, err: vczc.Error, array: str, coords: Coords | None = None) -> Damage:
        # The place, which the message ends with, stands in the other columns.
        reason = re.sub(r" \(array '.*\)$", "", one_line(err))
        return cls(array, coords, err.key, reason)


@dataclass
class Report:
    """What was found; `unsupported` is sound for all that is known, but was not decoded."""

    arrays: int = 0
    chunks: int = 0
    absent: int = 0
    nbytes: int = 0
    seconds: float = 0.0
    damaged: list[Damage] = field(default_factory=list)
    unsupported: list[Damage] = field(default_factory=list)


@click.command(name="check")
@path_argument
@click.option("--jobs", type=click.IntRange(1, MAX_THREADS), help="Chunks decoded at one time.")
@json_option
def command(path: str, jobs: int | None, as_json: bool) -> int:
    """Decode every chunk of PATH and check every checksum.

    Names each damaged chunk. Exit status 0: all is sound; 1: something is damaged; 2: PATH cannot
    be opened, or holds what vczc does not read.
    """
    root = vczc.open(path, verify=True)
    report = Report()
    begin = time.monotonic()
    arrays = dict(readable_arrays(root, report))
    report.arrays = len(arrays)
    total = sum(map(stored_count, arrays.values()))
    jobs = jobs or os.cpu_count() or 1
    vczc.set_threads(1 if jobs > 1 else 0)  # chunks side by side need no threads within one
    try:
        with progress("checking", total) as advance:
            check_arrays(arrays, jobs, report, advance)
    finally:
        vczc.set_threads(0)
    report.seconds = time.monotonic() - begin
    report.damaged.sort(key=lambda d: (d.array, d.coords or ()))
    print_json({"source": path, **asdict(report)}) if as_json else print_report(report)
    return DAMAGED if report.damaged else CANNOT if report.unsupported else 0


def readable_arrays(
    root: vczc.Group | vczc.Array, report: Report
) -> Iterator[tuple[str, vczc.Array]]:
    """The arrays of a node and of all below it; what does not even open goes into the report."""
    for name, found in Walk().nodes(root):
        try:
            if isinstance(found, vczc.Error):
                raise found
            dict(found.attrs)  # parses them, which opening does not
        except vczc.UnsupportedError as err:
            report.unsupported.append(Damage.of(err, name))
        except vczc.Error as err:
            report.damaged.append(Damage.of(err, name))
        else:
            if isinstance(found, vczc.Array):
                yield name, found


def stored_count(array: vczc.Array) -> int:
    """How many chunks are stored; 0 where that cannot be told."""
    try:
        return array.nchunks_initialized
    except vczc.Error:
        return 0


def check_arrays(
    arrays: dict[str, vczc.Array], jobs: int, report: Report, advance: Callable[[int], None]
) -> None:
    """Decode all chunks in `jobs` threads, a few batches ahead of the one that is waited for."""
    pending: deque[Future[Report]] = deque()
    with ThreadPoolExecutor(jobs, thread_name_prefix="vczc-check") as pool:
        try:
            for name, array in arrays.items():
                try:
                    for batch in batches(array):
                        pending.append(pool.submit(check_batch, name, array, batch))
                        if len(pending) > 2 * jobs:
                            add(report, pending.popleft().result(), advance)
                except vczc.Error as err:  # its keys cannot be listed
                    report.damaged.append(Damage.of(err, name))
            while pending:
                add(report, pending.popleft().result(), advance)
        finally:
            for future in pending:
                future.cancel()


def add(report: Report, part: Report, advance: Callable[[int], None]) -> None:
    report.chunks += part.chunks
    report.absent += part.absent
    report.nbytes += part.nbytes
    report.damaged += part.damaged
    known = {d.array for d in report.unsupported}
    report.unsupported += [d for d in part.unsupported if d.array not in known]
    advance(part.chunks)


def batches(array: vczc.Array) -> Iterator[list[Coords]]:
    """The places of the array's chunks, as many together as are worth a thread's while."""
    chunk_nbytes = max(1, array.itemsize * math.prod(array.chunks))
    size = min(BATCH_NCHUNKS, max(1, BATCH_NBYTES // chunk_nbytes))
    places = grid_places(array)
    while batch := list(itertools.islice(places, size)):
        yield batch


def grid_places(array: vczc.Array) -> Iterator[Coords]:
    """The places of all chunks, or of a sparse array only those that the store has keys for."""
    grid = array.blocks.shape
    if array.nchunks <= WALKED_NCHUNKS or array.nchunks <= 4 * stored_count(array):
        return places_of([range(count) for count in grid])
    return sparse_places(array, grid)


def places_of(sides: Sequence[range]) -> Iterator[Coords]:
    """As itertools.product, which would first make tuples of sides that may be of any length."""
    for n in range(math.prod(map(len, sides))):
        place = []
        for side in reversed(sides):
            n, i = divmod(n, len(side))
            place.append(side[i])
        yield tuple(reversed(place))


def sparse_places(array: vczc.Array, grid: Coords) -> Iterator[Coords]:
    prefix = f"{array.path.strip('/')}/".removeprefix("/")
    # Of a sharded array a key names a shard, which is a box of the grid.
    box = [s // c for s, c in zip(array.shards or array.chunks, array.chunks, strict=True)]
    for key in array.store:
        match = CHUNK_KEY.fullmatch(key, len(prefix)) if key.startswith(prefix) else None
        place = [int(n) for n in re.split("[/.]", match[1])] if match else []
        if len(place) == len(grid):
            sides = zip(place, box, grid, strict=True)
            yield from places_of([range(p * n, min((p + 1) * n, count)) for p, n, count in sides])


def check_batch(name: str, array: vczc.Array, batch: list[Coords]) -> Report:
    """Decode some chunks of one array."""
    part = Report()
    out = None
    if array.dtype.kind not in "TO":
        out = np.empty(array.chunk_size, array.dtype)
    for coords in batch:
        try:
            if array.blocks.stored(coords) is None:
                part.absent += 1
                continue
            block = array.blocks[coords] if out is None else array.blocks.read(coords, out=out)
            part.chunks += 1
            part.nbytes += block.nbytes
        except vczc.UnsupportedError as err:
            part.unsupported = [Damage.of(err, name)]
            break
        except vczc.Error as err:
            part.chunks += 1
            part.damaged.append(Damage.of(err, name, coords))
    return part


def print_report(report: Report) -> None:
    out = console()
    for found, style in ((report.damaged, "red"), (report.unsupported, "yellow")):
        if not found:
            continue
        made = table("array", "block", "key", "reason")
        made.columns[-1].no_wrap = False
        for one in found:
            block = "" if one.coords is None else ",".join(map(str, one.coords))
            made.add_row(styled((one.array, style)), block, one.key or "", styled(one.reason))
        print_table(out, made)
        out.print()
    verdict, style = "all sound", "bold green"
    if report.unsupported:
        verdict = f"{plural(len(report.unsupported), 'array')} not read by vczc"
        style = "bold yellow"
    if report.damaged:
        verdict, style = f"{len(report.damaged):,} damaged", "bold red"
    counts = f"{plural(report.chunks, 'chunk')} of {plural(report.arrays, 'array')}, "
    counts += f"{size(report.nbytes)} in {duration(report.seconds)}: "
    out.print(styled(counts, (verdict, style)), soft_wrap=True)
