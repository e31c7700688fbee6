# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""The C tests on machines that are not this one: cross-compiled, and run under an emulator.

All tools are packages of Debian. A target whose tools are not here is named and left out, by
`./dev check`, and is a failure where it was asked for.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from building import COMMON, FAULTS, TESTS_C, Config, Failure, every, programs, run_program


@dataclass(frozen=True)
class Target:
    """One machine: how to compile for it, and what runs its programs."""

    config: Config
    emulator: tuple[str, ...]  # before the program; none where this machine runs it
    packages: str
    needs_emulator: bool = True  # else building and linking is worth something alone
    left_out: tuple[str, ...] = ()  # tests of what the emulator does not do
    slow: tuple[str, ...] = ()  # those that `./dev check` leaves out, to stay under two minutes

    @property
    def compiler(self) -> str:
        return self.config.compiler[0]


def _config(name: str, compiler: str, *link_flags: str) -> Config:
    return Config(
        name, ("-O2", *COMMON), (*FAULTS, "-Wall", "-Wextra", "-Werror"), link_flags, (compiler,)
    )


# qemu-user itself fails where a program that has threads forks.
FORKING = ("test_pool", "test_trim")

WINE = ("wine64", "wine", "/usr/lib/wine/wine64")

TARGETS = {
    "arm64": Target(
        _config("arm64", "aarch64-linux-gnu-gcc", "-static"),
        ("qemu-aarch64",),
        "gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user",
        left_out=FORKING,
        slow=("test_unblosc",),
    ),
    "s390x": Target(
        _config("s390x", "s390x-linux-gnu-gcc", "-static"),
        ("qemu-s390x",),
        "gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user",
        left_out=FORKING,
        slow=("test_unblosc",),
    ),
    "musl": Target(
        _config("musl", "musl-gcc", "-static"), (), "musl-tools", slow=("test_unblosc",)
    ),
    "windows": Target(
        _config("windows", "x86_64-w64-mingw32-gcc", "-static"),
        (next(filter(shutil.which, WINE), WINE[0]),),
        "gcc-mingw-w64-x86-64 wine64",
        needs_emulator=False,
        left_out=("test_store",),  # sockets and links of POSIX
    ),
}


def missing(target: Target) -> list[str]:
    """The tools of a target that are not here."""
    needed = [target.compiler, *(target.emulator[:1] if target.needs_emulator else [])]
    return [tool for tool in needed if shutil.which(tool) is None]


def port(name: str, tests: Sequence[str] = (), *, quick: bool = False) -> None:
    """Compile the C tests, or those named, for one target, and run them where that can be done."""
    target = TARGETS[name]
    lacking = missing(target)
    if lacking:
        raise Failure(f"{name}: {', '.join(lacking)} not here: Debian's {target.packages}")
    sources = [TESTS_C / f"test_{test}.c" for test in tests] or sorted(TESTS_C.glob("test_*.c"))
    left_out = (*target.left_out, *(target.slow if quick else ()))
    sources = [source for source in sources if source.stem not in left_out]
    made = programs(target.config, sources)
    if target.emulator and shutil.which(target.emulator[0]) is None:
        print(f"{name}: {len(made)} programs built; no {target.emulator[0]} here to run them")
        return
    every(partial(run_program, [*target.emulator, _program(program)]) for program in made)


def _program(path: Path) -> Path:
    return path if path.exists() else path.with_suffix(".exe")


def port_all() -> None:
    """Each target whose tools are here, without the slow tests."""
    here = [name for name, target in TARGETS.items() if not missing(target)]
    for name in TARGETS.keys() - set(here):
        print(f"{name}: left out, {', '.join(missing(TARGETS[name]))} not here", flush=True)
    every(partial(port, name, quick=True) for name in here)
