# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""`python -m vczc` is the command `vczc`."""

from vczc.cli.__main__ import main

if __name__ == "__main__":
    main()
