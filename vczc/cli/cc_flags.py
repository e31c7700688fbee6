# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""`vczc cc-flags`: what a C compiler needs to be told."""

from __future__ import annotations

import sys

import click

import vczc


@click.command(name="cc-flags")
@click.option("--cflags", "part", flag_value="cflags", help="Only those for compiling.")
@click.option("--libs", "part", flag_value="libs", help="Only those for linking.")
def command(part: str | None) -> None:
    """Print the flags that compile and link a C program with libvczc.

    cc program.c $(vczc cc-flags) -o program
    """
    library = vczc.get_library_dir()
    flags = [] if part == "libs" else [f"-I{vczc.get_include()}"]
    if part != "cflags":
        flags += [f"-L{library}", "-lvczc"]
        if sys.platform != "win32":  # the library is found again when the program runs
            flags.append(f"-Wl,-rpath,{library}")
    click.echo(" ".join(flags))
