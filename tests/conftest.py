# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""What holds for all tests."""

import os

# Tests start Pythons of their own. Those must find the vczc that is tested, not the folder `vczc`
# of the checkout that they happen to be started in, which holds no compiled extension.
os.environ["PYTHONSAFEPATH"] = "1"

import sys

import pytest


@pytest.fixture
def without_numcodecs(monkeypatch):
    """As if numcodecs were not installed, for what is imported from now on."""
    monkeypatch.setitem(sys.modules, "numcodecs", None)
