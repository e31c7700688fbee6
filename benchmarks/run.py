#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Time vczc beside the other readers that are installed.

    python benchmarks/run.py [STORE] [--out DIR]

STORE is a VCF Zarr directory or a stored archive of one; without it one is simulated, once, and
kept in the folder of --cache. All readers first show that they return the same values; then they
take turns. DIR gets results.json, tables.md and, where matplotlib is installed, plot.png and .svg.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime as dt
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import opening
import report
import simulate
from tasks import GENOTYPES

import vczc
from vczc.cli.bench import processor

HERE = Path(__file__).resolve().parent


def log(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main() -> int:
    options = parsed()
    options.out.mkdir(parents=True, exist_ok=True)
    options.cache.mkdir(parents=True, exist_ok=True)
    size = dataclasses.replace(simulate.SIZES[options.size], unphased=options.unphased)
    stores = stores_of(options, size)
    document: dict[str, Any] = {
        "date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "store": options.store.name if options.store else f"simulated, {options.size}",
        "unphased": options.unphased,
        "runs": [run_in_process(p, n, options) for p in stores for n in options.threads],
        "opening": [],
    }
    if not options.tasks or "open" in options.tasks:
        document["opening"] = openings(stores, size, options)
    (options.out / "results.json").write_text(json.dumps(document, indent=1), encoding="utf-8")
    report.print_tables(document)
    (options.out / "tables.md").write_text(report.markdown(document), encoding="utf-8")
    draw(document, options.out)
    return 1 if any(task["wrong"] for task in report.all_tasks(document)) else 0


def parsed() -> argparse.Namespace:
    made = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("store", nargs="?", type=Path)
    made.add_argument("--out", type=Path, default=Path("build/benchmarks/results"))
    made.add_argument("--cache", type=Path, default=Path("build/benchmarks/stores"))
    made.add_argument("--size", choices=simulate.SIZES, default="wide", help="of the simulation")
    made.add_argument("--unphased", action="store_true", help="with wrong and missing calls")
    made.add_argument("--kinds", default="directory,zip", help="the forms of the store to read")
    made.add_argument("--threads", default="1,2", help="each number is a run of its own")
    made.add_argument("--turns", type=int, default=7)
    made.add_argument("--seconds", type=float, default=15.0, help="for a task, about")
    made.add_argument("--megabytes", type=int, default=128, help="that a turn of blocks decodes")
    made.add_argument("--tasks", default="", help="beginnings of names, such as blocks/call,open")
    options = made.parse_args()
    options.threads = [int(n) for n in options.threads.split(",")]
    options.tasks = [name for name in options.tasks.split(",") if name]
    options.kinds = options.kinds.split(",")
    if unknown := set(options.kinds) - {"directory", "zip"}:
        made.error(f"no kind of store: {', '.join(sorted(unknown))}")
    if options.store and not options.store.exists():
        made.error(f"{options.store} is not there")
    return options


def stores_of(options: argparse.Namespace, size: simulate.Size) -> list[Path]:
    """The directory and its archive, or only what there is; both are made where they are not."""
    path = options.store
    if path is None:
        name = options.size + "-unphased" * options.unphased
        path = made_once(options.cache / f"{name}.vcz", lambda p: simulate.make_store(p, size, log))
    if not path.is_dir():
        return [path]
    found = [path] if "directory" in options.kinds else []
    if "zip" in options.kinds:
        target = options.cache / f"{path.name}.zip"
        found.append(made_once(target, lambda p: simulate.make_zip(path, p)))
    return found


def made_once(target: Path, make: Any) -> Path:
    """Under another name until it is complete."""
    if not target.exists():
        log(f"making {target}")
        part = target.with_name(f"part-{os.getpid()}-{target.name}")
        make(part)
        part.rename(target)
    return target


def run_in_process(path: Path, threads: int, options: argparse.Namespace) -> dict[str, Any]:
    request = {
        "path": str(path),
        "threads": threads,
        "turns": options.turns,
        "seconds": options.seconds,
        "nbytes": options.megabytes * 10**6,
        "names": options.tasks,
    }
    # What the readers offer no other way to bound.
    env = {**os.environ, "RAYON_NUM_THREADS": str(threads)}
    command = [sys.executable, str(HERE / "timing.py"), json.dumps(request)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=env)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def openings(
    stores: list[Path], size: simulate.Size, options: argparse.Namespace
) -> list[dict[str, Any]]:
    name = f"chunks-{size.entries}.zip"
    many = made_once(options.cache / name, lambda p: simulate.make_archive_of_many(p, size.entries))
    log("opening")
    turns = min(options.turns, 5)
    opened = [(p, "open a directory" if p.is_dir() else "open a zip", GENOTYPES) for p in stores]
    opened = [of for of in opened if GENOTYPES in vczc.open_group(of[0])]
    opened.append((many, f"open a zip of {size.entries:,} chunks", "a"))
    return [opening.run_opening(*of, turns) for of in opened]


def machine() -> dict[str, Any]:
    return {
        "processor": processor(),
        "processors": os.cpu_count(),
        "system": f"{platform.system()} {platform.release().partition('-')[0]}",
        "python": platform.python_version(),
    }


def draw(document: dict[str, Any], out: Path) -> None:
    try:
        import plot
    except ModuleNotFoundError as err:
        log(f"no plot: {err.name} is not installed")
        return
    plot.draw(document, out)


if __name__ == "__main__":
    sys.exit(main())
