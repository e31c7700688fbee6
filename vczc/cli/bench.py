# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""`vczc bench`: vczc beside the other readers that are installed, on the user's own store."""

from __future__ import annotations

import itertools
import math
import os
import platform
import random
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.utils import format_filename

import vczc
from vczc.cli.readers import Reader, installed, same
from vczc.cli.sources import MAX_THREADS, Walk, path_argument
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
    from collections.abc import Callable

    from vczc.cli.readers import Box

# A turn decodes at most about as much.
TURN_NBYTES = 256 << 20
TURN_READS = 1000

ROWS, SAMPLES = 20, 10


@dataclass
class Task:
    """The same boxes of one array, read by each reader in turn."""

    name: str
    array: str
    boxes: list[Box]
    nbytes: int
    seconds: dict[str, list[float]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)

    def median(self, reader: str) -> float:
        return statistics.median(self.seconds[reader])


@click.command(name="bench")
@path_argument
@click.option("--array", "names", multiple=True, help="An array to read; may be given again.")
@click.option("--threads", type=click.IntRange(1, MAX_THREADS), default=1, show_default=True)
@click.option("--rounds", type=click.IntRange(1), default=7, show_default=True, help="Turns each.")
@click.option(
    "--seconds",
    type=click.FloatRange(0),
    default=10.0,
    show_default=True,
    help="For a task: after this many only three turns are waited for.",
)
@json_option
def command(
    path: str, names: tuple[str, ...], threads: int, rounds: int, seconds: float, as_json: bool
) -> None:
    """Time vczc beside the other readers that are installed.

    All readers first show that they return the same values. Then they take turns, and the median
    of each is compared with that of vczc.
    """
    root = vczc.open_group(path)
    arrays = {name: a for name, a in Walk().nodes(root) if isinstance(a, vczc.Array)}
    unknown = [n for n in names if n not in arrays]
    if unknown:
        msg = f"no array {', '.join(unknown)} in {path}"
        raise click.UsageError(msg)
    chosen = {n: arrays[n] for n in names or default_names(arrays)}
    tasks = [task for name, array in chosen.items() for task in tasks_of(name, array)]
    readers, left_out, versions = installed(Path(path), threads, root.zarr_format)
    try:
        with progress("timing", len(tasks) * rounds) as advance:
            for task in tasks:
                run_task(task, readers, rounds, seconds, advance)
    finally:
        vczc.set_threads(0)
    document = {
        "source": path,
        "machine": {"processor": processor(), "processors": os.cpu_count()},
        "threads": threads,
        "versions": versions,
        "left_out": left_out,
        "tasks": [as_document(t) for t in tasks],
    }
    print_json(document) if as_json else print_report(document)


def default_names(arrays: dict[str, vczc.Array]) -> list[str]:
    """The genotypes, the largest other array of numbers and the largest of text."""
    names = [n for n in ("call_genotype",) if n in arrays]
    numbers = {n: a for n, a in arrays.items() if a.dtype.kind not in "TOSU" and n not in names}
    texts = {n: a for n, a in arrays.items() if a.dtype.kind in "TO"}
    names += [max(g, key=lambda n: g[n].nbytes_stored()) for g in (numbers, texts) if g]
    return names


def tasks_of(name: str, array: vczc.Array) -> list[Task]:
    """Whole blocks; single rows; and where there are samples, ten of them for all variants."""
    if not array.size:
        return []
    grid = itertools.product(*(range(n) for n in array.blocks.shape))
    chunk_nbytes = max(1, array.itemsize * math.prod(array.chunks))
    count = min(TURN_READS, max(1, TURN_NBYTES // chunk_nbytes))
    boxes = [block_box(array, place) for place in itertools.islice(grid, count)]
    tasks = [Task("blocks", name, boxes, nbytes_of(array, boxes))]
    if not array.shape:
        return tasks
    inner = tuple(slice(0, n) for n in array.shape[1:])
    draw = random.Random(1)
    places = [draw.randrange(array.shape[0]) for _ in range(ROWS)]
    boxes = [(slice(i, i + 1), *inner) for i in places]
    tasks.append(Task("single rows", name, boxes, nbytes_of(array, boxes)))
    if array.dims and array.dims[1:2] == ("samples",) and array.nbytes <= 16 * TURN_NBYTES:
        few = slice(0, min(SAMPLES, array.shape[1]))
        boxes = [(slice(0, array.shape[0]), few, *inner[1:])]
        tasks.append(Task(plural(few.stop, "sample"), name, boxes, nbytes_of(array, boxes)))
    return tasks


def block_box(array: vczc.Array, place: tuple[int, ...]) -> Box:
    sides = zip(place, array.chunks, array.shape, strict=True)
    return tuple(slice(i * c, min((i + 1) * c, n)) for i, c, n in sides)


def nbytes_of(array: vczc.Array, boxes: list[Box]) -> int:
    """What the boxes decode to; of text nothing: its items are handles of one size."""
    if array.dtype.kind in "TO":
        return 0
    nitems: int = sum(math.prod(s.stop - s.start for s in box) for box in boxes)
    return nitems * array.itemsize


def run_task(
    task: Task,
    readers: list[Reader],
    rounds: int,
    seconds: float,
    advance: Callable[[int], None],
) -> None:
    """Compare the results, then time the readers that returned what vczc returns."""
    fit = [r for r in readers if agrees(task, r, readers[0])]
    end = time.monotonic() + seconds
    for turn in range(rounds):
        advance(1)
        if turn >= 3 and time.monotonic() > end:
            continue  # the bar goes on to its end
        for reader in fit:
            reader.before_turn()
            begin = time.perf_counter()
            for box in task.boxes:
                reader.read(task.array, box)
            task.seconds.setdefault(reader.name, []).append(time.perf_counter() - begin)


def agrees(task: Task, reader: Reader, first: Reader) -> bool:
    """Whether the reader returns what the first one does; why not is kept with the task."""
    try:
        reader.before_turn()
        for box in task.boxes:
            got = reader.read(task.array, box)
            if reader is not first and not same(got, first.read(task.array, box)):
                task.left_out[reader.name] = "returns other values"
                return False
    except vczc.Error:
        raise
    except Exception as err:  # whatever another package raises, the others go on
        task.left_out[reader.name] = f"{type(err).__name__}: {one_line(err)}"
        return False
    return True


def as_document(task: Task) -> dict[str, Any]:
    base = task.median("vczc")
    results = [
        {
            "reader": reader,
            "median_seconds": task.median(reader),
            "least_seconds": min(seconds),
            "bytes_per_second": task.nbytes / task.median(reader),
            "ratio": task.median(reader) / base,
            "rounds": len(seconds),
        }
        for reader, seconds in task.seconds.items()
    ]
    return {
        "task": task.name,
        "array": task.array,
        "reads": len(task.boxes),
        "nbytes": task.nbytes,
        "results": results,
        "left_out": task.left_out,
    }


def processor() -> str:
    """The processor's name, where the system tells it."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def print_report(document: dict[str, Any]) -> None:
    out = console()
    versions = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    out.print(styled((format_filename(document["source"], shorten=True), "bold")))
    out.print(
        styled((f"{versions}; {plural(document['threads'], 'thread')}", "dim")), soft_wrap=True
    )
    for task in document["tasks"]:
        is_text = not any(r["bytes_per_second"] for r in task["results"])
        out.print()
        title = f"{task['array']}, {task['task']}"
        out.print(styled((title, "bold cyan"), f"  ({plural(task['reads'], 'read')})"))
        columns = ("reader", "median", "per read", "per second", "time")
        made = table(*columns, right=columns[1:])
        for result in sorted(task["results"], key=lambda r: r["median_seconds"]):
            style = "bold green" if result["reader"] == "vczc" else ""
            made.add_row(
                styled((result["reader"], style)),
                duration(result["median_seconds"]),
                duration(result["median_seconds"] / task["reads"]),
                "" if is_text else size(result["bytes_per_second"]),
                f"{result['ratio']:.2f} ×",
            )
        print_table(out, made)
        for reader, reason in task["left_out"].items():
            out.print(styled((f"{reader}: {reason:.150}", "yellow")), soft_wrap=True)
    if document["left_out"]:
        out.print()
        for reader, reason in document["left_out"].items():
            out.print(styled((f"{reader}: {reason}", "dim")), soft_wrap=True)
