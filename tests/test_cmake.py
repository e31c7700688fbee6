# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""libvczc built by CMake, without Python: what it installs, and who can link it."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from compiling import ROOT, STRICT, block_c, check_block, run, shown_names, tool

import vczc

pytestmark = pytest.mark.skipif(
    sys.platform not in ("linux", "darwin"), reason="the commands are those of gcc and clang"
)

HEADER = (ROOT / "csrc" / "include" / "vczc.h").read_text(encoding="utf-8")
PUBLIC = set(re.findall(r"^VCZC_API[^;]*?\b(vczc_\w+)\(", HEADER, re.MULTILINE | re.DOTALL))
PINS = dict(
    re.findall(r"^(\w+)==(\S+)", (ROOT / "vendor" / "requirements.txt").read_text(), re.MULTILINE)
)


def configure(source, build, *options, env=None):
    command = [*tool("cmake"), "-S", source, "-B", build, *options]
    command += ["-GNinja"] if shutil.which("ninja") else []
    words = [str(word) for word in command]
    return subprocess.run(words, capture_output=True, text=True, timeout=300, env=env)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The prefix of an installation, which has been moved since."""
    tool("ninja", "make")
    build = tmp_path_factory.mktemp("build")
    prefix = tmp_path_factory.mktemp("installed") / "vczc"
    done = configure(
        ROOT / "csrc", build, "-DCMAKE_BUILD_TYPE=MinSizeRel", "-DCMAKE_INSTALL_LIBDIR=lib"
    )
    assert done.returncode == 0, done.stderr
    run("cmake", "--build", build, "--parallel", "4")
    run("cmake", "--install", build, "--prefix", prefix.with_name("first"))
    prefix.with_name("first").rename(prefix)
    return prefix


def pkg_config(prefix, *options):
    env = {**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    return run(*tool("pkg-config", "pkgconf"), *options, "vczc", env=env).split()


def test_what_is_installed(installed):
    names = {path.relative_to(installed).as_posix() for path in installed.rglob("*")}
    shared = {"libvczc.dylib"} if sys.platform == "darwin" else {"libvczc.so", "libvczc.so.0"}
    wanted = {f"lib/{name}" for name in {"libvczc.a", "pkgconfig/vczc.pc", *shared}}
    assert wanted | {"include/vczc.h", "lib/cmake/vczc/vczcConfig.cmake"} <= names
    assert pkg_config(installed, "--modversion") == [vczc.__version__]


def test_names(installed):
    shared = installed / "lib" / ("libvczc.dylib" if sys.platform == "darwin" else "libvczc.so")
    assert shown_names(shared, *([] if sys.platform == "darwin" else ["-D"])) == PUBLIC
    assert shown_names(installed / "lib" / "libvczc.a") == PUBLIC


@pytest.mark.skipif(sys.platform == "darwin", reason="otool has other words for it")
def test_the_name_to_look_for_has_the_version(installed):
    said = run(*tool("readelf"), "-d", installed / "lib" / "libvczc.so")
    major = vczc.__version__.partition(".")[0]
    assert f"Library soname: [libvczc.so.{major}]" in said
    assert "NODELETE" in said  # its threads would go on in code that dlclose took away
    needed = re.findall(r"NEEDED.*\[(.*?)\]", said)
    system = ("libc.", "libm.", "libpthread.", "ld-")
    assert [name for name in needed if not name.startswith(system)] == []


@pytest.mark.parametrize("way", ["shared", "static"])
def test_a_program_by_pkg_config(installed, tmp_path, way):
    program = tmp_path / "block"
    flags = pkg_config(installed, "--cflags", "--libs", *(["--static"] if way == "static" else []))
    if way == "static":
        flags[flags.index("-lvczc")] = str(installed / "lib" / "libvczc.a")
    else:
        flags.append(f"-Wl,-rpath,{installed / 'lib'}")
    run(*tool(os.environ.get("CC"), "cc"), *STRICT, block_c(tmp_path), *flags, "-o", program)
    check_block(program)


@pytest.mark.parametrize("way", ["shared", "static"])
def test_a_program_by_cmake(installed, tmp_path, way):
    text = f"""
        cmake_minimum_required(VERSION 3.15)
        project(embedding C)
        find_package(vczc {vczc.__version__} CONFIG REQUIRED)
        add_executable(block {block_c(tmp_path)})
        target_link_libraries(block PRIVATE vczc::{way})
    """
    (tmp_path / "CMakeLists.txt").write_text(text)
    done = configure(tmp_path, tmp_path / "build", f"-DCMAKE_PREFIX_PATH={installed}")
    assert done.returncode == 0, done.stderr
    run("cmake", "--build", tmp_path / "build")
    check_block(tmp_path / "build" / "block")


OWN_CODECS = r"""
#include <stdio.h>
#include <string.h>
#include <zlib.h>
static int check(void) {
    const char text[] = "the zlib of the program, and the zlib of the library";
    unsigned char packed[200], back[200];
    uLongf npacked = sizeof(packed), nback = sizeof(back);
    if (compress(packed, &npacked, (const unsigned char *) text, sizeof(text)) != Z_OK) return 1;
    if (uncompress(back, &nback, packed, npacked) != Z_OK) return 2;
    return memcmp(back, text, sizeof(text)) != 0 || strcmp(zlibVersion(), ZLIB_VERSION) != 0;
}
"""


@pytest.mark.parametrize("order", ["before", "after"])
@pytest.mark.parametrize("way", ["shared", "static"])
def test_a_program_with_a_zlib_of_its_own(installed, tmp_path, way, order):
    """All of the system's static zlib is linked: each name of it would clash."""
    compiler = tool(os.environ.get("CC"), "cc")
    archive = run(*compiler, "-print-file-name=libz.a").strip()
    if not Path(archive).is_absolute():
        pytest.skip("no static zlib here")
    source = block_c(tmp_path)
    text = source.read_text(encoding="utf-8")
    begin = "int main(int argc, char **argv) {"
    assert begin in text
    source.write_text(
        OWN_CODECS + text.replace(begin, f"{begin}\n    if (check() != 0) return 3;"),
        encoding="utf-8",
    )
    library = installed / "lib" / ("libvczc.a" if way == "static" else "libvczc.so")
    own = ["-Wl,--whole-archive", archive, "-Wl,--no-whole-archive"]
    libraries = [*own, library] if order == "before" else [library, *own]
    command = [*compiler, "-rdynamic", f"-I{installed / 'include'}", source, *libraries]
    run(*command, f"-Wl,-rpath,{installed / 'lib'}", "-pthread", "-lm", "-o", tmp_path / "block")
    check_block(tmp_path / "block")


# ---- Where the third-party sources come from


@pytest.fixture
def bare(tmp_path):
    """A checkout without third-party sources."""
    shutil.copytree(ROOT / "csrc", tmp_path / "csrc")
    (tmp_path / "vendor").mkdir()
    for name in ("SOURCES", "requirements.txt"):
        shutil.copy(ROOT / "vendor" / name, tmp_path / "vendor")
    return tmp_path


def configure_bare(bare, *options):
    env = {name: value for name, value in os.environ.items() if name != "VCZC_VENDOR_DIR"}
    return configure(bare / "csrc", bare / "build", *options, env=env)


def test_without_sources_it_says_where_to_have_them(bare):
    done = configure_bare(bare)
    assert done.returncode != 0
    for way in ("VCZC_VENDOR_DIR", "VCZC_VENDOR_URL", "VCZC_SYSTEM_CODECS", "vendored.py"):
        assert way in done.stderr


def test_unpacked_trees(bare):
    for project, inside in (("blosc", "blosc/c-blosc"), ("yyjson", "yyjson")):
        tree = bare / "given" / f"{project}-{PINS[project]}" / inside
        tree.parent.mkdir(parents=True)
        tree.symlink_to(ROOT / "vendor" / inside.rpartition("/")[2])
    done = configure_bare(bare, f"-DVCZC_VENDOR_DIR={bare / 'given'}")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("way", ["DIR", "URL"])
def test_an_archive_that_is_not_the_pinned_one(bare, way):
    given = bare / "given"
    given.mkdir()
    for project in PINS:
        (given / f"{project}-{PINS[project]}.tar.gz").write_bytes(b"something else")
    place = str(given) if way == "DIR" else given.as_uri()
    done = configure_bare(bare, f"-DVCZC_VENDOR_{way}={place}")
    assert done.returncode != 0
    assert re.search(r"SHA-?256|hash", done.stderr)


def test_an_archive(bare):
    """Unpacked after its hash was compared: here that of an archive of what is needed."""
    given = bare / "given"
    given.mkdir()
    for project, inside in (("blosc", "blosc/c-blosc"), ("yyjson", "yyjson")):
        name = f"{project}-{PINS[project]}"
        tree = bare / "trees" / name / inside
        shutil.copytree(ROOT / "vendor" / inside.rpartition("/")[2], tree)
        archive = shutil.make_archive(str(given / name), "gztar", bare / "trees", name)
        sha256 = hashlib.sha256(Path(archive).read_bytes()).hexdigest()
        pins = bare / "vendor" / "requirements.txt"
        pattern = rf"(?m)^({project}==\S+ --hash=sha256:)\w+"
        pins.write_text(re.sub(pattern, rf"\g<1>{sha256}", pins.read_text()))
    done = configure_bare(bare, f"-DVCZC_VENDOR_DIR={given}")
    assert done.returncode == 0, done.stderr
