# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Tables and lines for a pipe: what rich would print there, without the time to load it."""

from __future__ import annotations

import sys
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

GAP = "  "


class Column:
    """A column of a table; `style` is for terminals."""

    def __init__(self, name: str, is_right: bool) -> None:
        self.name = name
        self.is_right = is_right
        self.style = ""

    def padded(self, cell: str, width: int) -> str:
        blanks = " " * (width - cells(cell))
        return blanks + cell if self.is_right else cell + blanks


class Table:
    """Rows under the names of their columns."""

    def __init__(self, columns: Iterable[Column]) -> None:
        self.columns = list(columns)
        self._rows: list[tuple[str, ...]] = []

    def add_row(self, *row: str) -> None:
        """Cells that are left out at its end are empty."""
        self._rows.append(row + ("",) * (len(self.columns) - len(row)))

    def lines(self) -> Iterable[str]:
        rows = [tuple(c.name for c in self.columns), *self._rows]
        widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            places = zip(self.columns, row, widths, strict=True)
            yield GAP.join(column.padded(cell, width) for column, cell, width in places).rstrip()


class Console:
    """Standard output."""

    is_terminal = False

    def print(self, text: str = "", *, soft_wrap: bool = True) -> None:
        del soft_wrap  # a line in a pipe is never broken
        sys.stdout.write(f"{text}\n")

    def print_table(self, table: Table) -> None:
        for line in table.lines():
            self.print(line)


def cells(text: str) -> int:
    """How wide it is where each letter has one cell, or two."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) != 0 for c in text)
