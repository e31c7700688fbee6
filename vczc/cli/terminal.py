# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""What is drawn: tables, sizes, JSON, the progress bar. Only functions here import rich."""

from __future__ import annotations

import contextlib
import json
import math
import re
import sys
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from vczc.cli import plain as plain_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

# A bar that is up for less than this is only a flicker.
BAR_DELAY_SECONDS = 0.4

# A list of nothing but numbers, as json.dumps breaks it into lines.
NUMBERS = re.compile(r"(?<=\[)\n\s+-?[0-9][^\n]*(?:\n\s+-?[0-9][^\n]*)*\n\s+(?=\])")

json_option = click.option("--json", "as_json", is_flag=True, help="JSON instead of tables.")


def one_line(reason: object) -> str:
    """The text of an exception, or of anything else, on one line."""
    if isinstance(reason, KeyError) and reason.args:
        reason = reason.args[0]  # str() of a KeyError puts its message in quotes
    return " ".join(str(reason).split())


def console() -> Console | plain_text.Console:
    """Standard output: in colour and as wide as the terminal, or plain and unbroken in a pipe."""
    return drawing_console() if sys.stdout.isatty() else plain_text.Console()


def drawing_console() -> Console:
    """The same where what is drawn needs rich in a pipe too."""
    from rich.console import Console

    plain = not sys.stdout.isatty()
    return Console(
        file=sys.stdout,
        highlight=False,
        markup=False,  # names in a store may have brackets and colons, as `datetime64[ns]` has
        emoji=False,
        width=10_000 if plain else None,
    )


def styled(*parts: str | tuple[str, str]) -> Any:
    """Texts, each with its style or without one, as one; a pipe has no styles."""
    if not sys.stdout.isatty():
        return "".join(part if isinstance(part, str) else part[0] for part in parts)
    from rich.text import Text

    return Text.assemble(*parts)


def table(*columns: str, right: Iterable[str] = ()) -> Any:
    """An empty table without lines; the columns named in `right` hold numbers."""
    right = set(right)
    if not sys.stdout.isatty():
        return plain_text.Table(plain_text.Column(name, name in right) for name in columns)
    from rich.table import Table

    made = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", show_edge=False)
    for name in columns:
        made.add_column(name, justify="right" if name in right else "left", no_wrap=True)
    return made


def print_table(out: Console | plain_text.Console, made: Any) -> None:
    if isinstance(out, plain_text.Console):
        out.print_table(made)
    else:
        out.print(made, crop=False)


def size(nbytes: float) -> str:
    """As people write it: 67 B, 4.0 KB, 130 KB, 1.2 GB."""
    units = ["B", "KB", "MB", "GB", "TB"]
    while nbytes >= 999.5 and len(units) > 1:
        nbytes /= 1000
        units.pop(0)
    whole = units[0] == "B" or nbytes >= 99.95
    return f"{nbytes:.0f} {units[0]}" if whole else f"{nbytes:.1f} {units[0]}"


def duration(seconds: float) -> str:
    """As people write it: 1.25 s, 340 µs."""
    scaled = [(seconds, "s"), (seconds * 1e3, "ms"), (seconds * 1e6, "µs")]
    value, unit = next((v for v in scaled if v[0] >= 0.9995), scaled[-1])
    return f"{value:.0f} {unit}" if value >= 99.5 else f"{value:.3g} {unit}"


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def dimensions(shape: Iterable[int]) -> str:
    """360 × 13 × 2; a 0-d shape is `scalar`."""
    return " × ".join(f"{n:,}" for n in shape) or "scalar"


def type_name(dtype: np.dtype[Any]) -> str:
    if dtype.kind == "T":
        return "string"
    return dtype.str.lstrip("<>|=") if dtype.kind in "USV" else str(dtype)


def plain(value: Any) -> Any:
    """The same in types that JSON has; not-a-number and infinity become text, as in Zarr."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, (np.datetime64, np.timedelta64)):
        is_bare = np.datetime_data(value.dtype)[0] == "generic" and not np.isnat(value)
        return int(value.view(np.int64)) if is_bare else str(value)  # NumPy has no text for it
    if isinstance(value, (np.generic, np.ndarray)):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def print_json(value: Any) -> None:
    text = json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False)
    # Shapes on one line each. A text in JSON has no line break of its own: none is changed.
    click.echo(NUMBERS.sub(lambda found: " ".join(found[0].split()), text))


@contextlib.contextmanager
def progress(label: str, total: int, *, show: bool = True) -> Generator[Callable[[int], None]]:
    """A bar on standard error, where that is a terminal; gives what is called to advance it."""
    if not (show and sys.stderr.isatty()):
        yield lambda _n: None
        return
    begin = time.monotonic()
    done = 0
    bar: Progress | None = None

    def advance(n: int) -> None:
        nonlocal done, bar
        done += n
        if bar is None and time.monotonic() - begin > BAR_DELAY_SECONDS:
            bar = make_bar(label, total)
            bar.start()
        if bar is not None:
            bar.update(bar.task_ids[0], completed=done)

    try:
        yield advance
    finally:
        if bar is not None:
            bar.stop()


def make_bar(label: str, total: int) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    bar = Progress(
        "{task.description}",
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    bar.add_task(label, total=total)
    return bar
