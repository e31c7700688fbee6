# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""How ./dev compiles: libvczc and programs of the C tests, in several configurations.

What is made goes to build/<configuration>/, and is made anew only where something changed.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import native
from native import vendored

ROOT = native.ROOT
BUILD = ROOT / "build"
TESTS_C = ROOT / "tests" / "c"

WARNINGS = (
    *("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wundef", "-Wvla"),
    *("-Wstrict-prototypes", "-Wmissing-prototypes", "-Wold-style-definition", "-Wnested-externs"),
    *("-Wpointer-arith", "-Wcast-align", "-Wcast-qual", "-Wwrite-strings", "-Wformat=2"),
    "-Werror",
)
COMMON = ("-g", "-pthread", "-fvisibility=hidden", "-ffunction-sections", "-fdata-sections")
FAULTS = ("-DVCZI_TEST_FAULTS=1",)  # lets a test make the n-th allocation fail
UBSAN = ("-fsanitize=undefined", "-fno-sanitize-recover=all")


class Failure(Exception):  # noqa: N818  (an outcome, not an error)
    """A step found something; what it is has been said."""


# ---- Compiling ----


@dataclass(frozen=True)
class Config:
    """One way to compile: a folder in build/."""

    name: str
    flags: tuple[str, ...]  # for all
    own_flags: tuple[str, ...] = ()  # for csrc/ and tests/, not for third-party sources
    link_flags: tuple[str, ...] = ()
    compiler: tuple[str, ...] = tuple(shlex.split(os.environ.get("CC", "cc")))

    @property
    def is_x86(self) -> bool | None:
        """Of a cross compiler, by its name; None of this machine."""
        name = self.compiler[0]
        return name.startswith("x86_64") if "-linux-gnu-" in name or "-w64-" in name else None

    @property
    def folder(self) -> Path:
        return BUILD / self.name


# As users build it, with every warning an error; never linked, as `symbols` only looks at it.
STRICT = Config("strict", ("-O2", "-DNDEBUG", *COMMON), WARNINGS)
# Warnings are judged here and in STRICT alone: what sanitizers add makes compilers warn in vain.
DEBUG = Config("debug", ("-O1", *COMMON), (*FAULTS, "-Wall", "-Wextra", "-Werror"))
# Third-party code reads unaligned on purpose: it gets the address sanitizer alone.
ASAN = Config(
    "asan",
    ("-O1", "-fno-omit-frame-pointer", "-fsanitize=address", *COMMON),
    (*UBSAN, *FAULTS),
    UBSAN,
)
TSAN = Config("tsan", ("-O1", "-fsanitize=thread", *COMMON), FAULTS)
# vczc.c, whose inner names the tests are to see.
ONE_FILE = Config(
    "amalgamated",
    ("-O1", *COMMON),
    (*FAULTS, "-Wall", "-Wextra", "-Werror", "-DVCZI_PRIVATE=", "-DVCZI_PRIVATE_DATA=extern"),
)
LIBFUZZER = Config(
    "libfuzzer",
    ("-O1", "-fno-omit-frame-pointer", "-fsanitize=address,fuzzer-no-link", *COMMON),
    UBSAN,
    (*UBSAN, "-fsanitize=fuzzer"),
    ("clang",),
)


def run(command: Sequence[str | Path], **options: object) -> None:
    """Run a command that says itself what is wrong."""
    if subprocess.run([str(word) for word in command], cwd=ROOT, check=False, **options).returncode:
        raise Failure(Path(command[0]).name)


def compile_groups(config: Config, groups: Sequence[vendored.Group]) -> list[Path]:
    def command(group: vendored.Group) -> list[str]:
        words = [*config.compiler, *config.flags, *group.gcc_flags]
        words += config.own_flags if group.name in ("vczc", "tests") else ("-w", "-g0")
        words += [f"-I{path.relative_to(ROOT)}" for path in group.include_dirs]
        words += [f"-isystem{path.relative_to(ROOT)}" for path in group.system_dirs]
        return words + [f"-D{name}={value}" for name, value in group.defines]

    def compile_one(group: vendored.Group, source: Path, obj: Path) -> None:
        run([*command(group), "-MMD", "-c", source.relative_to(ROOT), "-o", obj])

    settings = repr((config.compiler, config.flags, config.own_flags))
    return native.compile_groups(groups, config.folder, compile_one, suffix=".o", settings=settings)


def library(config: Config, name: str, groups: Sequence[vendored.Group]) -> Path:
    objects = compile_groups(config, groups)
    path = config.folder / f"lib{name}.a"
    return native.combine(path, objects, lambda: run(["ar", "rcs", path, *objects]))


def libraries(config: Config) -> list[Path]:
    """libvczc, and the third-party libraries behind it."""
    vendored.obtain()
    third_party = DEBUG if config in (TSAN, ONE_FILE) else config  # not ours to judge
    own = native.own_group()
    if config is ONE_FILE:
        own = replace(own, sources=(BUILD / "amalgamation" / "bundled" / "vczc.c",))
    return [
        library(config, "vczc", [own]),
        library(third_party, "vendored", vendored.groups(x86=config.is_x86)),
    ]


def programs(config: Config, sources: Sequence[Path], *shared: Path) -> list[Path]:
    """One program for each source, linked with the shared sources and the libraries."""
    if not sources:
        return []
    archives = libraries(config)
    own = native.own_group()
    tests = vendored.Group(
        "tests",
        (*sources, *shared),
        (*own.include_dirs, TESTS_C),
        own.system_dirs,
        gcc_flags=own.gcc_flags,
    )
    objects = compile_groups(config, [tests])
    made = []
    for source, obj in zip(sources, objects, strict=False):
        program = config.folder / source.stem
        parts = [obj, *objects[len(sources) :], *archives]
        if not program.is_file() or any(newer(part, program) for part in parts):
            flags = [*config.flags, *config.link_flags]
            run([*config.compiler, *flags, "-o", program, *parts, "-lm"])
        made.append(program)
    return made


def newer(path: Path, than: Path) -> bool:
    return path.stat().st_mtime > than.stat().st_mtime


def run_program(command: Sequence[str | Path], **environment: str) -> None:
    """Run a test program; show all that it says if it fails, else its last line."""
    start = time.perf_counter()
    done = subprocess.run(
        [str(word) for word in command],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    seconds = time.perf_counter() - start
    name = " ".join(f"{key}={value}" for key, value in environment.items() if key == "VCZC_CPU")
    name = " ".join(filter(None, (name, *(Path(word).name for word in command))))
    if done.returncode != 0:
        print(done.stdout[-20_000:])
        print(f"FAILED {name} (status {done.returncode})", flush=True)
        raise Failure(name)
    last = done.stdout.strip().rpartition("\n")[2]
    print(f"{name}: {last} ({seconds:.1f} s)", flush=True)


def every(calls: Iterable[Callable[[], None]]) -> None:
    """Make all calls, and fail at the end if one did."""
    failed = []
    for call in calls:
        try:
            call()
        except Failure as failure:
            failed.append(str(failure))
    if failed:
        raise Failure(f"{len(failed)} failed: {', '.join(failed)}")
