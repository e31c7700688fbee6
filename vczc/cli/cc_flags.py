# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""`vczc cc-flags`: what a C compiler needs to be told."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import click

import vczc


@click.command(name="cc-flags", short_help="Print what a C compiler needs to use libvczc.")
@click.option("--cflags", "part", flag_value="cflags", help="Only those for compiling.")
@click.option("--libs", "part", flag_value="libs", help="Only those for linking.")
@click.option("--static", is_flag=True, help="Link the library into the program itself.")
def command(part: str | None, static: bool) -> None:
    """Print the flags that compile and link a C program with libvczc.

    cc program.c $(vczc cc-flags) -o program
    """
    flags = [] if part == "libs" else [f"-I{vczc.get_include()}"]
    if part != "cflags":
        folder = Path(vczc.get_library_dir())
        flags += static_libs(folder) if static else shared_libs(folder)
    click.echo(subprocess.list2cmdline(flags) if sys.platform == "win32" else shlex.join(flags))


def shared_libs(folder: Path) -> list[str]:
    if sys.platform == "win32":
        return [str(folder / "vczc.lib")]
    # The library is found again when the program runs.
    return [f"-L{folder}", "-lvczc", f"-Wl,-rpath,{folder}"]


def static_libs(folder: Path) -> list[str]:
    windows = sys.platform == "win32"
    library = folder / ("vczc_static.lib" if windows else "libvczc.a")
    if not library.is_file():
        why = f"this build of vczc has no {library.name}"
        raise click.ClickException(why)
    return [str(library)] if windows else [str(library), "-pthread", "-lm"]
