# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""The command `vczc`. It sees only the public names of the package."""
