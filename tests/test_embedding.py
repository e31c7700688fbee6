# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""What the package brings for programs in C, C++ and Cython: each is compiled, linked and run."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from compiling import (
    EXAMPLES,
    ROOT,
    SAMPLE,
    STRICT,
    block_c,
    cc_flags,
    check_block,
    run,
    shown_names,
    tool,
)

import vczc

LIBRARIES = Path(vczc.get_library_dir())
STATIC = LIBRARIES / "libvczc.a"
SHARED = LIBRARIES / ("libvczc.dylib" if sys.platform == "darwin" else "libvczc.so")

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the commands are those of gcc and clang")

HEADER = (Path(vczc.get_include()) / "vczc.h").read_text(encoding="utf-8")
PUBLIC = set(re.findall(r"^VCZC_API[^;]*?\b(vczc_\w+)\(", HEADER, re.MULTILINE | re.DOTALL))


def needs_static():
    if not STATIC.is_file():
        pytest.skip("this build had no objcopy")


def compile_c(source, program, *flags):
    run(*tool(os.environ.get("CC"), "cc"), "-std=c99", *STRICT, source, *flags, "-o", program)
    return program


def linked_libraries(program):
    """The names of the shared libraries that a program asks for."""
    if sys.platform == "darwin":
        return run(*tool("otool"), "-L", program)
    return run(*tool("readelf"), "-d", program)


# ---- C


@pytest.mark.parametrize("way", ["shared", "static"])
def test_c_by_cc_flags(tmp_path, way):
    if way == "static":
        needs_static()
    options = ["--static"] if way == "static" else []
    program = compile_c(block_c(tmp_path), tmp_path / "block", *cc_flags(*options))
    check_block(program, cwd=tmp_path)
    assert ("libvczc" in linked_libraries(program)) == (way == "shared")


def test_a_failure_is_told(tmp_path):
    program = compile_c(block_c(tmp_path), tmp_path / "block", *cc_flags())
    done = subprocess.run([program, SAMPLE, "9", "0"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "call_genotype" in done.stderr


def test_c_by_pkg_config(tmp_path):
    found = tool("pkg-config", "pkgconf")
    env = {**os.environ, "PKG_CONFIG_PATH": str(LIBRARIES / "pkgconfig")}
    assert run(*found, "--modversion", "vczc", env=env).strip() == vczc.__version__
    flags = shlex.split(run(*found, "--cflags", "--libs", "vczc", env=env))
    check_block(compile_c(block_c(tmp_path), tmp_path / "block", *flags))


CMAKE = """
cmake_minimum_required(VERSION 3.15)
project(embedding {language})
find_package(vczc {version} CONFIG REQUIRED)
"""

PROGRAM = """
add_executable(block {source})
set_target_properties(block PROPERTIES C_STANDARD 99)
target_link_libraries(block PRIVATE vczc::vczc)
"""


def cmake(folder, *options):
    """Configure the project in `folder`."""
    command = [*tool("cmake"), "-S", folder, "-B", folder / "build", *options]
    command += [f"-DCMAKE_PREFIX_PATH={LIBRARIES.parent}"]
    command += [] if shutil.which("make") else ["-GNinja"]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("way", ["shared", "static"])
def test_c_by_cmake(tmp_path, way):
    tool("ninja", "make")
    if way == "static":
        needs_static()
    text = CMAKE.format(language="C", version=vczc.__version__)
    text += PROGRAM.format(source=block_c(tmp_path))
    (tmp_path / "CMakeLists.txt").write_text(text)
    options = ["-Dvczc_USE_STATIC_LIBS=ON"] if way == "static" else []
    done = cmake(tmp_path, *options)
    assert done.returncode == 0, done.stderr
    run("cmake", "--build", tmp_path / "build")
    program = tmp_path / "build" / "block"
    check_block(program)
    assert ("libvczc" in linked_libraries(program)) == (way == "shared")


@pytest.mark.parametrize("version", ["99.0", f"{vczc.__version__.partition('.')[0]}.99"])
def test_cmake_refuses_a_version_that_is_not_here(tmp_path, version):
    tool("ninja", "make")
    (tmp_path / "CMakeLists.txt").write_text(CMAKE.format(language="NONE", version=version))
    done = cmake(tmp_path)
    assert done.returncode != 0
    assert f"version: {vczc.__version__}" in done.stderr  # was considered, and refused


# ---- The examples


def frequencies(region):
    root = vczc.open(SAMPLE)
    lines = []
    for rows in vczc.region(root, region):
        positions, alleles = root["variant_position"][rows], root["call_genotype"][rows]
        for position, row in zip(positions, alleles, strict=True):
            lines.append(f"{position}\t{(row > 0).sum() / max((row >= 0).sum(), 1):.6f}\n")
    return "".join(lines)


@pytest.mark.parametrize("way", ["shared", "static"])
def test_example_in_c(tmp_path, way):
    if way == "static":
        needs_static()
    flags = cc_flags(*["--static"] if way == "static" else [])
    program = tmp_path / "frequencies"
    compile_c(EXAMPLES / "embed_c" / "frequencies.c", program, *flags)
    for region in ("20", "20:100000-150000", "20:100000-110000,20:140000-", "20:1"):
        assert run(program, SAMPLE, region) == frequencies(region)
    done = subprocess.run([program, SAMPLE, "elsewhere"], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "not found: there is no contig 'elsewhere'\n"


@pytest.mark.parametrize("standard", ["c++11", "c++17"])
def test_example_in_cpp(tmp_path, standard):
    compiler = tool(os.environ.get("CXX"), "c++", "g++")
    source, program = EXAMPLES / "embed_cpp" / "positions.cpp", tmp_path / "positions"
    run(*compiler, f"-std={standard}", *STRICT, source, *cc_flags(), "-o", program)
    said = [int(line) for line in run(program, SAMPLE).split()]
    assert said == vczc.open(SAMPLE)["variant_position"][:].tolist()
    done = subprocess.run([program, "nowhere"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "nowhere" in done.stderr


def test_example_in_cpp_by_cmake(tmp_path):
    tool("ninja", "make")
    shutil.copytree(EXAMPLES / "embed_cpp", tmp_path / "embed_cpp")
    done = cmake(tmp_path / "embed_cpp")
    assert done.returncode == 0, done.stderr
    run("cmake", "--build", tmp_path / "embed_cpp" / "build")
    said = run(tmp_path / "embed_cpp" / "build" / "positions", SAMPLE)
    assert len(said.split()) == len(vczc.open(SAMPLE)["variant_position"])


@pytest.mark.skipif(sys.platform != "linux", reason="valgrind is for Linux here")
@pytest.mark.parametrize("example", ["embed_c/frequencies.c", "embed_cpp/positions.cpp"])
def test_examples_under_valgrind(tmp_path, example):
    """No byte is read that was not written, and none is left, nor a thread."""
    valgrind = tool("valgrind")
    is_c = example.endswith(".c")
    compiler = tool(os.environ.get("CC"), "cc") if is_c else tool(os.environ.get("CXX"), "c++")
    run(*compiler, "-g", EXAMPLES / example, *cc_flags(), "-o", tmp_path / "program")
    command = [*valgrind, "-q", "--error-exitcode=9", "--leak-check=full"]
    command += ["--show-leak-kinds=all", "--errors-for-leak-kinds=all"]
    env = {**os.environ, "VCZC_CPU": "avx2", "VCZC_NUM_THREADS": "4"}  # valgrind knows no AVX-512
    run(*command, tmp_path / "program", SAMPLE, *(["20"] if is_c else []), env=env)


# ---- Names

TAKEN = (
    *("ZSTD_decompress", "ZSTD_decompressDCtx", "ZSTD_createDCtx", "ZSTD_freeDCtx", "ZSTD_isError"),
    *("LZ4_decompress_safe", "inflate", "inflateInit2_", "inflateEnd", "crc32"),
    *("blosc_decompress_ctx", "yyjson_read_opts", "vczi_fail", "vczi_store_get"),
)


@pytest.mark.parametrize("way", ["shared", "static"])
def test_a_program_may_bring_its_own_decoders(tmp_path, way):
    """Functions of those names neither clash with the library's own nor are called by it."""
    if way == "static":
        needs_static()
    own = tmp_path / "own.c"
    functions = [f"void {name}(void) {{ abort(); }}" for name in TAKEN]
    own.write_text("\n".join(["#include <stdlib.h>", *functions, ""]))
    compiler = tool(os.environ.get("CC"), "cc")
    flags = cc_flags(*["--static"] if way == "static" else [])
    # -rdynamic: a shared library could then take them for its own.
    command = [*compiler, "-w", "-fno-builtin", "-rdynamic", block_c(tmp_path), own]
    run(*command, *flags, "-o", tmp_path / "program")
    check_block(tmp_path / "program")


def test_names_of_the_shared_library():
    assert len(PUBLIC) > 30
    assert shown_names(SHARED, *([] if sys.platform == "darwin" else ["-D"])) == PUBLIC


def test_names_of_the_static_library():
    needs_static()
    assert shown_names(STATIC) == PUBLIC


@pytest.mark.skipif(sys.platform == "darwin", reason="otool has other words for it")
def test_the_shared_library_asks_for_libc_alone():
    said = run(*tool("readelf"), "-d", SHARED)
    assert "Library soname: [libvczc.so]" in said
    assert "NODELETE" in said  # its threads would go on in code that dlclose took away
    needed = re.findall(r"NEEDED.*\[(.*?)\]", said)
    system = ("libc.", "libm.", "libpthread.", "ld-")
    assert [name for name in needed if not name.startswith(system)] == []


# ---- Cython

ZARRAY = """{"zarr_format": 2, "shape": [4, 1, 2], "chunks": [2, 1, 2], "dtype": "|i1",
"compressor": null, "filters": null, "fill_value": 0, "order": "C"}"""


def test_cython_with_a_library_of_its_own(tmp_path):
    """The module that docs/embedding.md shows."""
    pytest.importorskip("Cython", reason="no Cython here")
    pytest.importorskip("setuptools", reason="no setuptools here")
    tool(os.environ.get("CC"), "cc")
    page = (ROOT / "docs" / "embedding.md").read_text(encoding="utf-8")
    for name in ("positions.pyx", "setup.py"):
        [code] = re.findall(rf"^```\w+\n# {name}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
        if sys.platform == "darwin":  # as the page says
            code = code.replace("$ORIGIN", "@loader_path")
        (tmp_path / name).write_text(code, encoding="utf-8")
    (tmp_path / "vczc").symlink_to(Path(vczc.__file__).parent)  # where both are side by side
    env = {**os.environ, "PYTHONPATH": str(tmp_path), "CFLAGS": "-O0"}
    run(sys.executable, "setup.py", "-q", "build_ext", "--inplace", cwd=tmp_path, env=env)
    code = (
        "import positions, sys\n"
        "print(positions.first_position(sys.argv[1]))\n"
        "try:\n"
        "    positions.first_position('nowhere.vcz')\n"
        "except OSError as error:\n"
        "    print(error)\n"
    )
    said = run(sys.executable, "-c", code, SAMPLE, cwd=tmp_path, env=env).splitlines()
    assert said[0] == str(vczc.open(SAMPLE)["variant_position"][0])
    assert "nowhere.vcz" in said[1]


def test_example_in_cython(tmp_path):
    """Built and installed as its README says, but for where."""
    pytest.importorskip("Cython", reason="no Cython here")
    pytest.importorskip("setuptools", reason="no setuptools here")
    tool(os.environ.get("CC"), "cc")
    shutil.copytree(EXAMPLES / "embed_cython", tmp_path / "source")
    package = str(Path(vczc.__file__).parent.parent)
    paths = os.pathsep.join([package, str(tmp_path)])
    env = {**os.environ, "PYTHONPATH": paths, "CFLAGS": "-O0"}
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-build-isolation", "--no-deps"]
    run(*command, "--target", tmp_path, tmp_path / "source", cwd=tmp_path, env=env)
    code = (
        "import vczc_alleles, vczc, sys\n"
        "gt = vczc.open(sys.argv[1])['call_genotype']\n"
        "print(vczc_alleles.count(gt), vczc_alleles.count(gt, 1), (gt[:] > 0).sum())\n"
        "bad = {'.zarray': sys.argv[2].encode(), '1.0.0': b'too short'}\n"
        "try:\n"
        "    vczc_alleles.count(vczc.open(bad))\n"
        "except vczc.CorruptChunkError as error:\n"
        "    print(*error.coords)\n"
    )
    said = run(sys.executable, "-c", code, SAMPLE, ZARRAY, cwd=tmp_path, env=env).splitlines()
    got, by_one_thread, expected = said[0].split()
    assert got == by_one_thread == expected
    assert said[1] == "1 0 0"
