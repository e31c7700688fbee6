# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""What it costs to begin: import, open, read one block, each time in a new process.

As a program it is that process. It imports vczc whatever the reader, since the readers' classes
do: the memory that NumPy and the benchmark take is measured too, to be compared with.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

BASE = "NumPy and the benchmark"


def peak_rss() -> int | None:
    """The most memory that this process has held at a time, in bytes.

    On Linux `ru_maxrss` remembers the parent's from before the exec; VmHWM does not.
    """
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    try:
        import resource
    except ModuleNotFoundError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def begin(
    path: str, zarr_format: int, reader: str, module: str, array: str, shape: list[int]
) -> dict[str, Any]:
    """`module` is imported before what imports vczc; `shape` is that of the first block."""
    import numpy as np

    start = time.perf_counter()
    if module:
        importlib.import_module(module)
    imported = time.perf_counter() - start

    from peers import PEERS, Block
    from timing import digest

    cls = next((c for c in PEERS if c.name == reader), None)
    if cls is None:
        return {"import": 0.0, "wall": 0.0, "cpu": 0.0, "peak_rss": peak_rss(), "digest": ""}
    first = Block(array, (0,) * len(shape), tuple(slice(0, n) for n in shape))
    wall, cpu = time.perf_counter(), time.process_time()
    block = cls(Path(path), 1, zarr_format).block(first)
    return {
        "import": imported,
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "peak_rss": peak_rss(),
        "digest": digest([np.asarray(block)]),
    }


def begun(options: dict[str, Any]) -> dict[str, Any]:
    """The same in a process of its own."""
    command = [sys.executable, __file__, json.dumps(options)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
        raise RuntimeError(last[:200])
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def run_opening(path: Path, title: str, array: str, turns: int) -> dict[str, Any]:
    """Of all readers, in turns; the result is like that of a task, with two figures more."""
    from peers import PEERS
    from timing import ORACLE, Load, summary

    import vczc

    node = vczc.open_array(path, path=array)
    shape = [min(c, n) for c, n in zip(node.chunks, node.shape, strict=True)]
    zarr_format = node.metadata.zarr_format
    common = {"path": str(path), "zarr_format": zarr_format, "array": array, "shape": shape}
    modules = {BASE: ""} | {c.name: c.module for c in PEERS if c.kind == "reader"}
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in modules}
    left_out: dict[str, str] = {}
    load = Load()
    warming = turns > 1  # a turn that only brings the files into memory
    for turn in range(turns + warming):
        for name, module in modules.items():
            if name in left_out:
                continue
            try:
                got = begun({**common, "reader": name, "module": module})
            except RuntimeError as err:
                left_out[name] = str(err)
                continue
            if turn or not warming:
                found[name].append(got)
    digests = {name: got[0]["digest"] for name, got in found.items() if got and name != BASE}
    oracle = ORACLE if ORACLE in digests else next(iter(digests), "")
    wrong = [name for name, value in digests.items() if value != digests[oracle]]
    results = {}
    for name, turned in found.items():
        if turned and name not in wrong:
            results[name] = summary([(t["wall"], t["cpu"]) for t in turned])
            results[name]["import"] = statistics.median(t["import"] for t in turned)
            results[name]["peak_rss"] = turned[-1]["peak_rss"]
    base = results.pop(BASE, {})
    return {
        "task": f"open/{path.name}",
        "title": title,
        "array": array,
        "unit": "open",
        "nunits": 1,
        "nbytes": 0,
        "reads": 1,
        "checked_against": oracle,
        "others": load.of_others(),
        "base_rss": base.get("peak_rss"),
        "results": results,
        "wrong": wrong,
        "left_out": left_out,
    }


if __name__ == "__main__":
    print(json.dumps(begin(**json.loads(sys.argv[1]))))
