# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""libvczc as one file: `./dev amalgamate` writes it, and one line compiles it."""

import os
import subprocess
import sys

import pytest
from compiling import ROOT, STRICT, block_c, check_block, run, shown_names, tool

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the commands are those of gcc and clang")

LIBRARIES = {"system": ["-lzstd", "-llz4", "-lz", "-lm"], "bundled": ["-lm"]}


@pytest.fixture(scope="module", params=LIBRARIES)
def amalgamated(request):
    """vczc.c, and the libraries that it needs."""
    options = ["--bundled"] if request.param == "bundled" else []
    # `dev` finds what lies beside it.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONSAFEPATH"}
    said = run(sys.executable, ROOT / "dev", "amalgamate", *options, cwd=ROOT, env=environment)
    folder = ROOT / "build" / "amalgamation" / ("bundled" if options else ".")
    assert f"{(folder / 'vczc.h').relative_to(ROOT)}: " in said
    return folder / "vczc.c", LIBRARIES[request.param]


def test_one_line(amalgamated, tmp_path):
    source, libraries = amalgamated
    compiler = tool(os.environ.get("CC"), "cc")
    if "-lzstd" in libraries:
        includes = "#include <zstd.h>\n#include <lz4.h>\n#include <zlib.h>\nint main(void) {}\n"
        (tmp_path / "probe.c").write_text(includes)
        probe = [*compiler, tmp_path / "probe.c", *libraries, "-o", tmp_path / "probe"]
        if subprocess.run(probe, capture_output=True).returncode != 0:
            pytest.skip("no zstd, lz4 and zlib of the system to compile with")
    include = f"-I{source.parent}"
    # The more a compiler looks through at once, the more it warns of.
    optimise = "-O3" if "-lzstd" in libraries else "-O1"
    command = [*compiler, *STRICT, optimise, include, block_c(tmp_path), source, *libraries]
    command.remove("-Wpedantic")  # of the third-party code
    run(*command, "-pthread", "-o", tmp_path / "block")
    check_block(tmp_path / "block")


def test_what_is_shown(amalgamated, tmp_path):
    """Nothing but the interface; of the libraries that are included, names that are ours."""
    source, libraries = amalgamated
    compiler = tool(os.environ.get("CC"), "cc")
    folders = ["zstd-1.5.6", "lz4-1.10.0", "zlib-1.3.1"]
    vendored = ROOT / "vendor" / "c-blosc" / "internal-complibs"
    includes = [f"-I{vendored / folder}" for folder in folders] if "-lzstd" in libraries else []
    run(*compiler, "-O0", "-fPIC", "-c", source, *includes, "-o", tmp_path / "vczc.o")
    shown = shown_names(tmp_path / "vczc.o")
    other = {name for name in shown if not name.startswith("vczc_")}
    theirs = (
        "vczi_ZSTD_",
        "vczi_HUF_",
        "vczi_FSE_",
        "vczi_ERR_",
        "vczi_LZ4_",
        "vczi_z_",
        "vczi_g_",
    )
    if "-lzstd" in libraries:
        assert other == set()
    assert [name for name in other if not name.startswith(theirs)] == []
    assert len(shown - other) > 40
    if "-lzstd" in libraries:
        return
    # A plug-in that holds the file shows nothing else: two of them, of two versions, do not mix.
    plugin = tmp_path / ("plugin.dylib" if sys.platform == "darwin" else "plugin.so")
    run(*compiler, "-shared", tmp_path / "vczc.o", "-lm", "-pthread", "-o", plugin)
    of_plugin = shown_names(plugin) if sys.platform == "darwin" else shown_names(plugin, "-D")
    assert {name for name in of_plugin if name.startswith("vczi_")} == set()
    assert of_plugin >= shown - other
