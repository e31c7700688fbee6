# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""The binary interface: what tests/abi.txt lists is there, unchanged (docs/stability.md)."""

import re
import struct
import sys

import abi
import pytest
from compiling import ROOT, run, tool

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the commands are those of gcc")


@pytest.mark.skipif(struct.calcsize("P") != 8, reason="the list is of machines of 64 bits")
def test_the_list_is_what_the_header_says():
    tool("cc", "gcc")
    listed = abi.LIST.read_text(encoding="utf-8").splitlines()[1:]
    now = abi.lines()
    taken_away = [line for line in listed if line not in now]
    assert taken_away == [], "changed or taken away: this breaks programs that are there"
    assert now == listed, "added: python tests/abi.py writes the list"


def test_every_struct_of_the_header_is_listed():
    text = abi.header_text()
    names = set(re.findall(r"^\} (vczc_\w+);", text, re.MULTILINE))
    assert names == set(abi.structs())
    assert all(len(members) > 1 for members in abi.structs().values())


def test_structs_that_callers_fill_say_their_size_first():
    """Those with functions or options in them may grow."""
    for name in ("vczc_callbacks_t", "vczc_batch_options_t", "vczc_allocator_t"):
        assert abi.structs()[name][0] == "struct_nbytes"


def test_every_function_has_a_comment_with_since():
    text = (ROOT / "csrc" / "include" / "vczc.h").read_text(encoding="utf-8")
    missing = []
    for match in re.finditer(r"^VCZC_API\b[^;]*?\b(vczc_\w+)\(", text, re.MULTILINE):
        comment = re.search(r"/\*\*(?:(?!\*/).)*\*/\s*\Z", text[: match.start()], re.DOTALL)
        if comment is None or "@since" not in comment[0]:
            missing.append(match[1])
    assert missing == []


@pytest.mark.parametrize(
    ("compiler", "language", "standard"),
    [
        ("cc", "c", "c99"),
        ("cc", "c", "c11"),
        ("cc", "c", "c17"),
        ("c++", "c++", "c++11"),
        ("c++", "c++", "c++17"),
        ("c++", "c++", "c++20"),
    ],
)
def test_the_header_alone(compiler, language, standard):
    options = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wstrict-prototypes", "-Wundef"]
    options += ["-Wold-style-cast"] if language == "c++" else []
    if language == "c++":
        options.remove("-Wstrict-prototypes")
    header = ROOT / "csrc" / "include" / "vczc.h"
    run(*tool(compiler), *options, f"-std={standard}", "-fsyntax-only", "-x", language, header)
