# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""`from vczc cimport Array` gives the extension type, `from vczc cimport libvczc` the C API."""

from vczc._core cimport Array
