# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""What the process shares: how many threads decode, and how much memory is kept for results."""

from __future__ import annotations

import operator
import sys

from vczc import _core


def set_threads(n: int | None) -> None:
    """Let one call decode with `n` threads, the calling one included.

    None or 0 restores the default: `VCZC_NUM_THREADS` where it is set, else the processors that
    the process may run on.
    """
    count = 0 if n is None else operator.index(n)
    _core.set_threads(max(-1, min(count, 1 << 30)))  # which the library refuses, whatever it was


def set_buffer_pool(nbytes: int) -> None:
    """Let the process keep `nbytes` of freed results for the next ones; 0 keeps none.

    At first it is a sixteenth of the machine's memory, 1 GiB at most. Results of 8 MiB and more
    lie in huge pages that are used again once their array is gone; new pages cost more than
    decoding into them. The system may reclaim them where memory is short.
    """
    nbytes = operator.index(nbytes)
    if not 0 <= nbytes <= sys.maxsize:
        msg = f"a pool of {nbytes} bytes"
        raise ValueError(msg)
    _core.set_buffer_pool(nbytes)
