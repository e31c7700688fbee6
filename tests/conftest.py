# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""What holds for all tests."""

import os

# Tests start Pythons of their own. Those must find the vczc that is tested, not the folder `vczc`
# of the checkout that they happen to be started in, which holds no compiled extension.
os.environ["PYTHONSAFEPATH"] = "1"

import sys

import pytest
from hypothesis import settings

# A check of a change draws the same examples each time. Who looks for more draws others. None is
# timed: machines are busy.
IS_SAME = "VCZC_TEST_EXAMPLES" not in os.environ
settings.register_profile("check", derandomize=IS_SAME, deadline=None)
settings.load_profile("check")


@pytest.fixture
def without_numcodecs(monkeypatch):
    """As if numcodecs were not installed, for what is imported from now on."""
    monkeypatch.setitem(sys.modules, "numcodecs", None)
