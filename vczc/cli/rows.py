# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Rows of an array as lines: tab-separated values for programs, text for people."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Cells that are text at one time: they take some 60 bytes each.
CELLS_AT_ONCE = 1 << 17

# In text a tab or a line break would end a cell or a row.
ESCAPES = str.maketrans({"\t": "\\t", "\n": "\\n", "\r": "\\r"})


def tsv_lines(rows: np.ndarray[Any, Any]) -> Iterator[bytes]:
    """One line for each item of the first axis, its values in C order with tabs between them."""
    return lines(rows, lambda cells: "\t".join(cells), shown=raw_text)


def text_lines(rows: np.ndarray[Any, Any]) -> Iterator[bytes]:
    """One line for each item of the first axis; brackets hold the axes below the second."""
    inner = rows.shape[2:]
    return lines(rows, lambda cells: " ".join(bracketed(cells, inner)), shown=quoted_text)


def lines(
    rows: np.ndarray[Any, Any],
    join: Callable[[list[str]], str],
    shown: Callable[[str], str],
) -> Iterator[bytes]:
    """The lines, many in one piece."""
    width = math.prod(rows.shape[1:])
    flat = rows.reshape(len(rows), width)
    step = max(1, CELLS_AT_ONCE // max(1, width))
    for begin in range(0, len(flat), step):
        part = flat[begin : begin + step]
        cells = cells_of(part.reshape(-1), shown)
        if width == 1:
            text = "\n".join(cells)
        else:
            text = "\n".join(join(cells[i * width : (i + 1) * width]) for i in range(len(part)))
        yield (text + "\n").encode("utf-8", "surrogateescape")


def cells_of(values: np.ndarray[Any, Any], shown: Callable[[str], str]) -> list[str]:
    """Each value as its shortest text; booleans as 1 and 0, which numpy.loadtxt reads."""
    kind = values.dtype.kind
    if kind == "b":
        return ["1" if v else "0" for v in values.tolist()]
    if kind in "iu" or values.dtype == np.float64:
        return list(map(repr, values.tolist()))
    if kind == "f":
        return [str(v) for v in values.astype(str).tolist()]
    if kind == "c":
        return [str(v) for v in values]  # not tolist, which makes doubles of complex64
    if kind in "mM":
        return time_cells(values)
    if kind == "S":
        return [shown(v.decode("utf-8", "backslashreplace")) for v in values.tolist()]
    return [shown(v.hex() if isinstance(v, bytes) else str(v)) for v in values.tolist()]


def time_cells(values: np.ndarray[Any, Any]) -> list[str]:
    """Dates as ISO 8601 has them; spans, and what has no unit, as the number of steps."""
    if values.dtype.kind == "M" and np.datetime_data(values.dtype)[0] != "generic":
        return [str(v) for v in np.datetime_as_string(values).tolist()]
    steps = values.view(np.int64).tolist()
    return ["NaT" if nat else str(n) for n, nat in zip(steps, np.isnat(values), strict=True)]


def raw_text(text: str) -> str:
    """As it is, but on one line and in one cell."""
    return text.translate(ESCAPES)


def quoted_text(text: str) -> str:
    """As it is, or in quotes where one could not see where it begins and ends."""
    if text and not any(c.isspace() or c in '"[]' for c in text):
        return text
    return '"' + text.replace('"', '\\"').translate(ESCAPES) + '"'


def bracketed(cells: list[str], shape: tuple[int, ...]) -> list[str]:
    """The cells in groups of `shape`: `[0 1] [1 1]`."""
    for length in reversed(shape):
        cells = [
            "[" + " ".join(cells[i : i + length]) + "]" for i in range(0, len(cells), length or 1)
        ]
    return cells
