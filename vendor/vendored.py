# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Third-party C sources: where they come from, and how each of them is compiled.

`obtain` puts them into this folder; `decoders` describes to whoever compiles (native.py) what the
library needs of them, as SOURCES lists it, and `groups` what the C tests need.
Standard library only, as the build of a wheel runs it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

HERE = Path(__file__).resolve().parent
REQUIREMENTS = HERE / "requirements.txt"

MAX_FILE_NBYTES = 4 << 20  # the largest that is needed, yyjson.c, has 0.4 MB


@dataclass(frozen=True)
class Tree:
    """What is unpacked out of one pinned source distribution, and where to."""

    project: str
    root: str  # folder inside the distribution, below its top one
    folder: str  # folder here
    needed: tuple[str, ...]  # patterns, relative to `root`; a `*` does not cross a slash


COMPLIBS = "internal-complibs"
LZ4, ZLIB, ZSTD = f"{COMPLIBS}/lz4-1.10.0", f"{COMPLIBS}/zlib-1.3.1", f"{COMPLIBS}/zstd-1.5.6"

TREES = (
    Tree(
        project="blosc",
        root="blosc/c-blosc",
        folder="c-blosc",
        needed=(
            "LICENSE.txt",
            "LICENSES/*.txt",
            "blosc/*.[ch]",
            "blosc/win32/*.[ch]",
            f"{LZ4}/*.[ch]",
            f"{ZLIB}/*.[ch]",
            f"{ZSTD}/*.h",
            f"{ZSTD}/common/*.[ch]",
            f"{ZSTD}/compress/*.[ch]",
            f"{ZSTD}/decompress/*.[chS]",
        ),
    ),
    Tree(project="yyjson", root="yyjson", folder="yyjson", needed=("yyjson.[ch]",)),
)


@dataclass(frozen=True)
class Group:
    """Sources that are compiled with the same settings."""

    name: str
    sources: tuple[Path, ...]
    include_dirs: tuple[Path, ...] = ()
    system_dirs: tuple[Path, ...] = ()  # include folders whose headers give no warnings
    defines: tuple[tuple[str, str], ...] = ()
    gcc_flags: tuple[str, ...] = ()  # gcc and clang
    msvc_flags: tuple[str, ...] = ()


class VendorError(RuntimeError):
    """The pinned sources could not be obtained, or are not what was pinned."""


def pins() -> dict[str, tuple[str, str]]:
    """Project -> (version, sha256), as requirements.txt has them."""
    line = re.compile(r"^(\w+)==(\S+) --hash=sha256:([0-9a-f]{64})$", re.MULTILINE)
    return {name: (version, sha) for name, version, sha in line.findall(REQUIREMENTS.read_text())}


def obtain() -> None:
    """Make sure that every tree stands unpacked in this folder, as pinned."""
    given = os.environ.get("VCZC_VENDOR_DIR")
    wanted = [tree for tree in TREES if not _is_there(tree, accept_unchecked=bool(given))]
    if not wanted:
        return
    if given:
        _unpack_all(wanted, Path(given))
        return
    with tempfile.TemporaryDirectory(prefix="vczc-vendor-") as downloads:
        _download(Path(downloads))
        _unpack_all(wanted, Path(downloads))


def _is_there(tree: Tree, *, accept_unchecked: bool) -> bool:
    """Whether the PIN file, written last, names the hash that is wanted now."""
    sha = pins()[tree.project][1]
    try:
        found = (HERE / tree.folder / "PIN").read_text().strip()
    except OSError:
        return False
    return found == sha or (accept_unchecked and found == f"{sha} unchecked")


def _download(folder: Path) -> None:
    """Let pip fetch the source distributions; it refuses any whose hash is not the pinned one."""
    projects = ",".join(tree.project for tree in TREES)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", f"--no-binary={projects}", "--require-hashes"]
    command += ["--requirement", str(REQUIREMENTS), "--dest", str(folder)]
    # pip asks each distribution for its metadata, and installs that one's build requirements to
    # do so: these settings of the user would reach them, where they do not belong.
    leaking = ("PIP_REQUIRE_HASHES", "PIP_NO_BINARY", "PIP_ONLY_BINARY")
    environment = {name: value for name, value in os.environ.items() if name not in leaking}
    print("vczc: fetching the pinned third-party sources with pip", file=sys.stderr, flush=True)
    if subprocess.run(command, env=environment, check=False).returncode != 0:
        raise VendorError(
            "pip could not fetch the third-party sources that vendor/requirements.txt pins. "
            "Without a network, set VCZC_VENDOR_DIR to a folder that holds their archives, "
            "or build from a source distribution of vczc, which contains them."
        )


def _unpack_all(trees: list[Tree], folder: Path) -> None:
    for tree in trees:
        version, sha = pins()[tree.project]
        archive = folder / f"{tree.project}-{version}.tar.gz"
        unpacked = folder / f"{tree.project}-{version}"
        if archive.is_file():
            _check_hash(archive, sha)
            _place(tree, _archive_files(archive), stamp=sha)
        elif unpacked.is_dir():
            _place(tree, _folder_files(unpacked), stamp=f"{sha} unchecked")
        else:
            raise VendorError(f"neither {archive.name} nor {unpacked.name}/ is in {folder}")


def _check_hash(archive: Path, sha: str) -> None:
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != sha:
        raise VendorError(f"{archive}: SHA-256 is {found}, and {sha} is pinned")


def _archive_files(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Regular files as (name below the top folder, content): no link is ever followed."""
    with tarfile.open(archive) as tar:
        for member in tar:
            if not member.isreg():
                continue
            if member.size > MAX_FILE_NBYTES:
                raise VendorError(f"{archive}: {member.name} has {member.size} bytes")
            content = tar.extractfile(member)
            assert content is not None  # it is a regular file
            yield member.name.partition("/")[2], content.read()


def _folder_files(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), path.read_bytes()


def _place(tree: Tree, files: Iterator[tuple[str, bytes]], stamp: str) -> None:
    """Write the needed files beside the target and rename: what is there is there as a whole."""
    target = HERE / tree.folder
    unfinished = Path(tempfile.mkdtemp(prefix=f".{tree.folder}-", dir=HERE))
    try:
        unfinished.chmod(0o755)
        met = set()
        for name, content in files:
            pattern = _needed_by(tree, name)
            if pattern is None:
                continue
            met.add(pattern)
            path = unfinished / PurePosixPath(name).relative_to(tree.root)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        missing = [pattern for pattern in tree.needed if pattern not in met]
        if missing:
            raise VendorError(f"{tree.project}: nothing matches {', '.join(missing)}")
        (unfinished / "PIN").write_text(f"{stamp}\n")
        shutil.rmtree(target, ignore_errors=True)
        unfinished.rename(target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _needed_by(tree: Tree, name: str) -> str | None:
    """The pattern that asks for a file; a name that could leave the target is nobody's."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name:
        return None
    if not path.is_relative_to(tree.root):
        return None
    inside = path.relative_to(tree.root)
    for pattern in tree.needed:
        want = PurePosixPath(pattern)
        if inside.parent == want.parent and fnmatch(inside.name, want.name):
            return pattern
    return None


def is_x86() -> bool:
    """Whether the target is x86 alone: a macOS "universal2" build takes the portable sources."""
    return sysconfig.get_platform().endswith(("x86_64", "amd64", "i686", "i386", "win32"))


@dataclass
class Library:
    """One library of the list SOURCES: its sources are what libvczc needs of it."""

    name: str
    folder: Path
    include_dirs: list[Path] = field(default_factory=list)
    defines: list[tuple[str, str]] = field(default_factory=list)
    portable: list[tuple[str, str]] = field(default_factory=list)  # where `assembly` is not for it
    sources: list[Path] = field(default_factory=list)
    assembly: list[Path] = field(default_factory=list)

    def group(self, *, assembly: bool) -> Group:
        sources = [*self.sources, *(self.assembly if assembly else [])]
        defines = [*self.defines, *([] if assembly else self.portable)]
        return Group(self.name, tuple(sources), tuple(self.include_dirs), defines=tuple(defines))


def listed() -> dict[str, Library]:
    """What SOURCES says, by the name of the library."""
    found: dict[str, Library] = {}
    for line in (HERE / "SOURCES").read_text(encoding="utf-8").splitlines():
        words = line.partition("#")[0].split()
        if not words:
            continue
        if words[0] == "library":
            library = found[words[1]] = Library(words[1], HERE / words[2])
        elif words[0] in ("define", "portable"):
            name, _, value = words[1].partition("=")
            defines = library.defines if words[0] == "define" else library.portable
            defines.append((name, value))
        else:
            lists = {"include": library.include_dirs, "source": library.sources}
            lists["assembly"] = library.assembly
            lists[words[0]].append(library.folder / words[1])
    return found


def has_assembly(x86: bool) -> bool:
    """Whether the assembly of the list is for the target, x86 or not."""
    return x86 and sys.maxsize > 1 << 32 and sys.platform in ("linux", "darwin")


def public_include_dirs() -> tuple[Path, ...]:
    """Folders of the headers that libvczc includes, and of blosc.h for the tests."""
    own = [path for library in listed().values() for path in library.include_dirs]
    return (HERE / "c-blosc" / "blosc", *own)


def decoders(*, x86: bool | None = None) -> list[Group]:
    """What libvczc is linked with, once `obtain` has run; for this machine, or as `x86` says."""
    assembly = has_assembly(is_x86() if x86 is None else x86)
    return [library.group(assembly=assembly) for library in listed().values()]


def groups(*, x86: bool | None = None) -> list[Group]:
    """The decoders, and c-blosc and the encoders, which the C tests make their data with."""
    x86 = is_x86() if x86 is None else x86
    made = {group.name: group for group in decoders(x86=x86)}
    for name, patterns in ENCODERS.items():
        group, root = made[name], listed()[name].folder
        more = {path for pattern in patterns for path in root.glob(pattern)} - set(group.sources)
        made[name] = replace(group, sources=(*group.sources, *sorted(more)))
    return [*_blosc_groups(x86), *made.values()]


# What c-blosc needs of a library beside its decoder.
ENCODERS = {
    "zstd": ("common/*.c", "compress/*.c"),
    "lz4": ("lz4hc.c",),
    "zlib": ("[cdtu]*.c",),
}


def _blosc_groups(x86: bool) -> list[Group]:
    root = HERE / "c-blosc"
    source = root / "blosc"
    codecs = tuple(root / folder for folder in (LZ4, ZLIB, ZSTD))
    simd = {"sse2": ("-msse2", None), "avx2": ("-mavx2", "/arch:AVX2")} if x86 else {}
    portable = {path for path in source.glob("*.c") if not path.stem.endswith(("-sse2", "-avx2"))}
    defines = [("HAVE_LZ4", "1"), ("HAVE_ZLIB", "1"), ("HAVE_ZSTD", "1")]
    defines += [(f"SHUFFLE_{name.upper()}_ENABLED", "1") for name in simd]
    made = [
        Group("c-blosc", tuple(sorted(portable)), (source, *codecs), defines=tuple(defines)),
    ]
    for name, (gcc_flag, msvc_flag) in simd.items():
        files = tuple(sorted(source.glob(f"*-{name}.c")))
        flags = (msvc_flag,) if msvc_flag else ()
        made.append(Group(f"c-blosc-{name}", files, (source,), (), (), (gcc_flag,), flags))
    return made


if __name__ == "__main__":
    try:
        obtain()
    except VendorError as error:
        sys.exit(str(error))
