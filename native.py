# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""What libvczc is made of, and how its sources are compiled once and no more than needed.

setup.py (whatever compiler setuptools found) and ./dev (gcc or clang, in several configurations)
both stand on this. Standard library only.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent
CSRC = ROOT / "csrc"

sys.path.insert(0, str(ROOT / "vendor"))
import vendored  # noqa: E402  (a script's folder, not a package)
from vendored import Group  # noqa: E402

Compile = Callable[[Group, Path, Path], None]  # of which group, source, object


def include_dirs() -> tuple[Path, ...]:
    """Where `<vczc.h>` and each floor's own headers are found."""
    folders = {path.parent for path in CSRC.glob("*/*.[ch]")} | {CSRC / "include"}
    return tuple(sorted(folders))


def own_sources() -> list[Path]:
    """The files that csrc/SOURCES lists."""
    lines = (CSRC / "SOURCES").read_text(encoding="utf-8").splitlines()
    return [CSRC / line.strip() for line in lines if line.strip() and not line.startswith("#")]


def own_group() -> Group:
    """The sources of libvczc itself; those of another platform or processor compile to nothing."""
    return Group(
        "vczc",
        tuple(own_sources()),
        include_dirs(),
        vendored.public_include_dirs(),
        defines=(("VCZC_BUILD", "1"),),
        gcc_flags=("-std=gnu11",),
        msvc_flags=("/std:c11",),
    )


def version() -> str:
    """The version of the project: pyproject.toml has it, and nothing else."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return re.search(r'^version = "([^"]+)"$', text, re.MULTILINE).group(1)


def header_version() -> str:
    """The version that vczc.h states."""
    text = (CSRC / "include" / "vczc.h").read_text(encoding="utf-8")
    parts = re.findall(r"^#define VCZC_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", text, re.MULTILINE)
    return ".".join(parts)


def public_functions() -> list[str]:
    """The functions that vczc.h declares: all that the library shows."""
    text = (CSRC / "include" / "vczc.h").read_text(encoding="utf-8")
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return re.findall(r"^VCZC_API\b[^;]*?\b(vczc_\w+)\(", text, re.MULTILINE)


def processors() -> int:
    """How many compilers to run at once."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def compile_groups(
    groups: Iterable[Group], folder: Path, compile_one: Compile, *, suffix: str, settings: str
) -> list[Path]:
    """Compile into `folder` what is out of date there; the objects of all groups, in order.

    An object is up to date if it is younger than its source and the headers that it included, and
    was made with the same settings: `settings` is all that `compile_one` adds to the group's own.
    """
    jobs = []
    objects = []
    for group in groups:
        print_of = _fingerprint(group, settings)
        for source in group.sources:
            obj = (folder / source.relative_to(ROOT)).with_suffix(suffix)
            objects.append(obj)
            if not _is_fresh(group, source, obj, print_of):
                obj.parent.mkdir(parents=True, exist_ok=True)
                jobs.append((group, source, obj, print_of))

    def run(job: tuple[Group, Path, Path, str]) -> None:
        group, source, obj, print_of = job
        obj.unlink(missing_ok=True)
        compile_one(group, source, obj)
        _stamp(obj).write_text(print_of)

    jobs.sort(key=lambda job: -job[1].stat().st_size)  # the longest first
    with ThreadPoolExecutor(processors()) as pool:
        for _ in pool.map(run, jobs):
            pass
    return objects


def _fingerprint(group: Group, settings: str) -> str:
    parts = (group.include_dirs, group.system_dirs, group.defines, group.gcc_flags)
    return hashlib.sha256(repr((parts, group.msvc_flags, settings)).encode()).hexdigest()


def _stamp(obj: Path) -> Path:
    return obj.with_suffix(".stamp")


def _is_fresh(group: Group, source: Path, obj: Path, print_of: str) -> bool:
    try:
        if _stamp(obj).read_text() != print_of:
            return False
        made = obj.stat().st_mtime
        return all(path.stat().st_mtime <= made for path in (source, *_headers(group, obj)))
    except OSError:  # never made, or a header has gone since
        return False


def _headers(group: Group, obj: Path) -> list[Path]:
    """What the compiler wrote that the source includes; else any header that it could include."""
    try:
        rule = obj.with_suffix(".d").read_text()
    except OSError:
        return [path for folder in group.include_dirs for path in folder.glob("*.h")]
    names = re.sub(r"\\\n", " ", rule.partition(":")[2])
    return [ROOT / name.replace("\\ ", " ") for name in re.findall(r"(?:\\ |\S)+", names)]


def combine(target: Path, inputs: list[Path], make: Callable[[], object]) -> Path:
    """Let `make` put the inputs together into `target`, unless it holds just these already."""
    members = target.with_name(f"{target.name}.stamp")
    listed = "\n".join(map(str, inputs))
    try:
        made = target.stat().st_mtime
        fresh = members.read_text() == listed
        fresh = fresh and all(path.stat().st_mtime <= made for path in inputs)
    except OSError:
        fresh = False
    if not fresh:
        target.unlink(missing_ok=True)  # `ar` would keep the members of sources that are gone
        make()
        members.write_text(listed)
    return target


def write_if_changed(path: Path, text: str) -> Path:
    """Leave the file's time alone where its content is right already."""
    if not path.is_file() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return path
