# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Readers in turns. As a program: one process for one store and one number of threads.

The pools of some readers are made once in a process, from the environment: hence the process.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from peers import opened
from tasks import Task, tasks_of

import vczc
from vczc.cli.terminal import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray
    from peers import BlockReader

ORACLE = "zarr-python"
LEAST_TURNS = 3


class Load:
    """The share of all processors that other processes take, where the system tells it."""

    def __init__(self) -> None:
        self.begin = self.now()

    @staticmethod
    def now() -> tuple[float, float, float] | None:
        """Seconds: of the processors, busy; of this process and its children; of the clock."""
        try:
            with Path("/proc/stat").open(encoding="ascii") as lines:
                user, nice, system, _idle, _wait, *others = map(int, lines.readline().split()[1:9])
            busy = (user + nice + system + sum(others)) / os.sysconf("SC_CLK_TCK")
        except (OSError, ValueError):
            return None
        return busy, sum(os.times()[:4]), time.monotonic()

    def of_others(self) -> float | None:
        end = self.now()
        if self.begin is None or end is None:
            return None
        busy, own, wall = (b - a for a, b in zip(self.begin, end, strict=True))
        return min(1.0, max(0.0, busy - own) / (max(wall, 1e-3) * (os.cpu_count() or 1)))


def digest(pieces: Iterable[NDArray[Any]]) -> str:
    """Of the shapes, the types and the values. Text counts as text, however it is held."""
    total = hashlib.sha256()
    for piece in pieces:
        if piece.dtype.kind in "TOU":
            items = [str(x).encode() for x in piece.reshape(-1)]
            lengths = np.array([len(x) for x in items], "<i8").tobytes()
            total.update(f"text{piece.shape}".encode() + lengths + b"".join(items))
        else:
            total.update(f"{piece.dtype}{piece.shape}".encode())
            total.update(np.ascontiguousarray(piece).view(np.uint8).data)
    return total.hexdigest()


def checked(
    task: Task, readers: Sequence[BlockReader]
) -> tuple[list[BlockReader], str, list[str], dict[str, str]]:
    """Those that agree, with which reader, who does not, and who could not read it and why.

    The one that all others have to agree with is zarr-python, or else the first.
    """
    digests: dict[str, str] = {}
    left_out: dict[str, str] = {}
    for reader in readers:
        try:
            reader.before_turn()
            digests[reader.name] = digest(task.pieces(reader))
        except NotImplementedError as err:
            left_out[reader.name] = one_line(err) or "has no such thing"
        except Exception as err:  # whatever another package raises, the others go on
            left_out[reader.name] = f"{type(err).__name__}: {one_line(err):.200}"
    oracle = ORACLE if ORACLE in digests else next(iter(digests), "")
    wrong = [name for name, found in digests.items() if found != digests[oracle]]
    fit = [r for r in readers if r.name in digests and r.name not in wrong]
    return fit, oracle, wrong, left_out


def run_task(
    task: Task, readers: Sequence[BlockReader], turns: int, seconds: float
) -> dict[str, Any]:
    """After `seconds` only LEAST_TURNS turns are waited for. Each turn begins with another."""
    fit, oracle, wrong, left_out = checked(task, readers)
    times: dict[str, list[tuple[float, float]]] = {reader.name: [] for reader in fit}
    load = Load()
    end = time.monotonic() + seconds
    for turn in range(turns if fit else 0):
        if turn >= LEAST_TURNS and time.monotonic() > end:
            break
        first = turn % len(fit)
        for reader in fit[first:] + fit[:first]:
            reader.before_turn()
            times[reader.name].append(timed(task, reader))
    return {
        "task": task.name,
        "title": task.title,
        "array": task.array,
        "unit": task.unit,
        "nunits": task.nunits,
        "nbytes": task.nbytes,
        "reads": len(task.parts),
        "checked_against": oracle,
        "others": load.of_others(),
        "results": {name: summary(found) for name, found in times.items()},
        "wrong": wrong,
        "left_out": left_out,
    }


def timed(task: Task, reader: BlockReader) -> tuple[float, float]:
    """Seconds of the clock, and of the processor in all threads."""
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    for piece in task.pieces(reader):
        del piece  # before the next is made: a reader may use its memory again
    return time.perf_counter() - wall, time.process_time() - cpu


def summary(times: Sequence[tuple[float, ...]]) -> dict[str, Any]:
    walls, cpus = [t[0] for t in times], [t[1] for t in times]
    return {
        "turns": len(times),
        "wall": statistics.median(walls),
        "wall_least": min(walls),
        "cpu": statistics.median(cpus),
        "cpu_least": min(cpus),
    }


def run_store(
    path: Path, threads: int, turns: int, seconds: float, nbytes: int, names: Sequence[str]
) -> dict[str, Any]:
    """Times of all tasks, or of those whose names begin with one of `names`."""
    root = vczc.open_group(path)
    readers, left_out, versions = opened(path, threads, root.zarr_format)
    tasks = [t for t in tasks_of(root, nbytes) if not names or t.name.startswith(tuple(names))]
    results = []
    for task in tasks:
        print(f"{path.name}, {threads} t: {task.title}", file=sys.stderr, flush=True)
        results.append(run_task(task, readers, turns, seconds))
    return {
        "kind": "directory" if path.is_dir() else "zip",
        "threads": threads,
        "readers": {reader.name: reader.kind for reader in readers},
        "versions": versions,
        "left_out": left_out,
        "tasks": results,
    }


if __name__ == "__main__":
    options = json.loads(sys.argv[1])
    print(json.dumps(run_store(Path(options.pop("path")), **options)))
