# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""How many threads decode."""

from __future__ import annotations

from vczc import _core


def set_threads(n: int | None) -> None:
    """Let one call decode with `n` threads, the calling one included.

    None or 0 restores the default: `VCZC_NUM_THREADS` where it is set, else the processors that
    the process may run on.
    """
    _core.set_threads(0 if n is None else n)
