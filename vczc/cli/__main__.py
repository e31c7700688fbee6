# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""The command itself: its subcommands, and how a failure is told.

A command is imported when it is called, and rich when something is drawn: `vczc --version` and
`vczc cat` start without them. Exit status 0: fine; 1: damaged data or metadata was found; 2: wrong
usage, or something cannot be opened or read.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

import vczc
from vczc.cli.sources import CANNOT, DAMAGED
from vczc.cli.terminal import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = ("info", "tree", "cat", "check", "bench", "cc-flags", "conformance")

INTERRUPTED, PIPE_CLOSED = 130, 141


class Commands(click.Group):
    """The subcommands, one module each."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"vczc.cli.{cmd_name.replace('-', '_')}")
        return cast("click.Command", module.command)

    def invoke(self, ctx: click.Context) -> object:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except OSError as err:
            if not is_closed_pipe(err):
                raise
            discard_stdout()  # click would end with 1, which here means damaged data
            ctx.exit(PIPE_CLOSED)
        return result


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
)
@click.version_option(vczc.__version__, prog_name="vczc", message="%(prog)s %(version)s")
@click.pass_context
def commands(ctx: click.Context) -> None:
    """Read VCF Zarr: a directory or a zip archive."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
        ctx.exit(CANNOT)


def is_closed_pipe(err: OSError) -> bool:
    """Whether the reader of our output has gone, as in `vczc cat … | head`."""
    # Windows has no EPIPE: there a write to a closed pipe is an invalid argument.
    return err.errno == errno.EPIPE or (sys.platform == "win32" and err.errno == errno.EINVAL)


def discard_stdout() -> None:
    """Point standard output nowhere, or the interpreter complains when it flushes at its end."""
    with contextlib.suppress(OSError, ValueError):  # no descriptor behind it: nothing to do
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def settle_stdout() -> None:
    """What could not be written has been told: the interpreter is not to try once more."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        discard_stdout()


def tell(reason: object) -> None:
    click.echo(f"vczc: {one_line(reason)}", err=True)


def run(args: Sequence[str] | None) -> int:
    """Run a command; the exit status."""
    if sys.stderr is None:  # closed, as by `2>&-`: what would be told is told to nobody
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 (stays open)
    if sys.stdout is None:
        tell("standard output is closed")
        return CANNOT
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a letter
    try:
        status = commands.main(args, prog_name="vczc", standalone_mode=False)
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except click.ClickException as err:
        tell(err.format_message())
    except (vczc.CorruptChunkError, vczc.MetadataError) as err:
        tell(err)
        return DAMAGED
    except (vczc.Error, OSError) as err:
        tell(err)
        settle_stdout()
    except MemoryError:
        tell("out of memory")
    else:
        return status if isinstance(status, int) else 0
    return CANNOT


def main(args: Sequence[str] | None = None) -> None:
    sys.exit(run(args))


if __name__ == "__main__":
    main()
