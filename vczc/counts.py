# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Numbers that a caller gives: of threads, bytes, alleles. Each is a whole one within bounds."""

from __future__ import annotations

import operator
from typing import Any


def count_of(value: Any, least: int, end: int, what: str, unit: str) -> int:
    """`value`, which is at least `least` and below `end`; a bool is no number here."""
    if isinstance(value, bool):
        msg = f"{what} is {value}, not {unit}"
        raise TypeError(msg)
    try:
        n = operator.index(value)
    except TypeError:
        msg = f"{what} is {unit}, not {_shown(value)}"
        raise TypeError(msg) from None
    if not least <= n < end:
        msg = f"{what} is {_shown(n)}, not {unit}"
        raise ValueError(msg)
    return n


def _shown(value: object) -> str:
    """A value in a message: not one of hundreds of digits, which Python may refuse to write."""
    if isinstance(value, int):
        return str(value) if abs(value) < 1 << 128 else f"a number of {value.bit_length()} bits"
    return f"{value!r}" if isinstance(value, float) else type(value).__name__
