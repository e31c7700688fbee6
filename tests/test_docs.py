# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""The documentation: every example does what it says, and every link leads somewhere."""

import doctest
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

TOP = pathlib.Path(__file__).resolve().parent.parent
PAGES = [TOP / "README.md", *sorted((TOP / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL


def blocks(page, language):
    """The code of one language, with the number of the line where each block begins."""
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        if match[1] == language:
            yield text.count("\n", 0, match.start(2)) + 1, match[2]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the sample, under both names that the pages use."""
    (tmp_path / "examples").mkdir()
    for place in ("sample.vcz.zip", "examples/sample.vcz.zip"):
        shutil.copy(TOP / "examples" / "sample.vcz.zip", tmp_path / place)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_python(page, folder):
    """The blocks of a page, one after another with the same names."""
    names = {}
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for line, code in blocks(page, "python"):
        if ">>>" not in code:
            exec(compile(code, f"{page.name}:{line}", "exec"), names)
            continue
        test = doctest.DocTestParser().get_doctest(code, names, page.name, str(page), line - 1)
        report = []
        runner.run(test, out=report.append, clear_globs=False)
        names = test.globs
        assert not report, "".join(report)


def commands(code):
    """Each `$ command` of a console block, with the output that the page shows."""
    for part in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


@pytest.mark.skipif(os.name == "nt", reason="the pages show commands of a POSIX shell")
@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_commands(page, folder):
    """Those that run vczc print what the page shows; `...` stands for anything."""
    bin = folder / "bin"
    bin.mkdir()
    (bin / "vczc").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m vczc.cli "$@"\n')
    (bin / "vczc").chmod(0o755)
    env = {**os.environ, "PATH": f"{bin}{os.pathsep}{os.environ['PATH']}"}
    checker = doctest.OutputChecker()
    for line, code in blocks(page, "console"):
        for command, shown in commands(code):
            if not command.startswith("vczc"):
                continue
            got = subprocess.run(
                ["bash", "-c", command], capture_output=True, text=True, env=env, timeout=60
            )
            assert got.stderr == "", f"{page.name}:{line}: {command}"
            same = checker.check_output(shown, got.stdout, doctest.ELLIPSIS)
            assert same, f"{page.name}:{line}: {command}\n{got.stdout}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links(page):
    for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_each_command_has_a_section():
    from vczc.cli.__main__ import COMMANDS

    text = (TOP / "docs" / "cli.md").read_text(encoding="utf-8")
    assert re.findall(r"^## vczc ([\w-]+)", text, re.MULTILINE) == list(COMMANDS)
