# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""What the process shares: how many threads decode, and how much memory is kept for results."""

from __future__ import annotations

import sys

from vczc import _core
from vczc.counts import count_of


def set_threads(n: int | None) -> None:
    """Let one call decode with `n` threads, the calling one included.

    None or 0 restores the default: `VCZC_NUM_THREADS` where it is set, else the processors that
    the process may run on.
    """
    count = 0 if n is None else count_of(n, 0, 1 << 31, "threads", "a number of threads")
    _core.set_threads(count)


def set_buffer_pool(nbytes: int) -> None:
    """Let the process keep `nbytes` of freed results for the next ones; 0 keeps none.

    At first it is a sixteenth of the machine's memory, 1 GiB at most. Results of 8 MiB and more
    lie in huge pages that are used again once their array is gone; new pages cost more than
    decoding into them. The system may reclaim them where memory is short.
    """
    _core.set_buffer_pool(count_of(nbytes, 0, sys.maxsize + 1, "nbytes", "a number of bytes"))
