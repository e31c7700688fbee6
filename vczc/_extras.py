# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Which extra brings what."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from vczc.errors import UnsupportedError

if TYPE_CHECKING:
    from types import ModuleType


def require(module: str, extra: str) -> ModuleType:
    """Import what an extra brings, or name the extra that would bring it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as err:
        if err.name != module.partition(".")[0]:
            raise  # it is installed; something that it needs is not, so say that
        msg = f"{module} is needed here: pip install 'vczc[{extra}]'"
        raise UnsupportedError(msg) from None
