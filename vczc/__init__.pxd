# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""`from vczc cimport Array` gives the extension type, `from vczc cimport libvczc` the C API.

`check` raises what a status means: call it with the GIL, in the thread that got the status.
"""

from vczc._core cimport Array, check
