# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Where a C or Cython program finds vczc.h and the library."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def get_include() -> str:
    """The folder that holds vczc.h."""
    return str(_PACKAGE / "include")


def get_library_dir() -> str:
    """The folder that holds libvczc, pkgconfig/vczc.pc, and cmake/vczc/."""
    return str(_PACKAGE / "lib")
