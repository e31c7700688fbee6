# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""libvczc for programs in C: a static library, a shared one, and what pkg-config and CMake ask for.

Both are linked from the objects that `vczc._core` is linked from, and show the functions of vczc.h
alone, so that a program may bring a zstd, an lz4 or a zlib of its own. With MSVC, which has no
means for it, the static library shows all of its names.
"""

from __future__ import annotations

import os
import shlex
import shutil
import struct
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setuptools.errors import ExecError

import native

TEMPLATES = native.CSRC / "package"


@dataclass(frozen=True)
class Names:
    """What the files are called on one platform."""

    static: str
    shared: str
    soname: str  # what a program that was linked with `shared` looks for when it runs
    imports: str = ""  # what a program is linked with instead of `shared`


def names() -> Names:
    """A wheel holds no links: the one file of the shared library goes by its plain name."""
    if sys.platform == "win32":
        return Names("vczc_static.lib", "vczc.dll", "vczc.dll", "vczc.lib")
    if sys.platform == "darwin":
        return Names("libvczc.a", "libvczc.dylib", "@rpath/libvczc.dylib")
    return Names("libvczc.a", "libvczc.so", "libvczc.so")


def make(compiler: Any, objects: list[Path], archive: Path, folder: Path) -> list[Path]:
    """Make all in `folder`, as it is to lie in the package; `archive` holds the same objects.

    `compiler` is that of setuptools, ready to compile.
    """
    called = names()
    static, shared = folder / called.static, folder / called.shared
    folder.mkdir(parents=True, exist_ok=True)
    made = _write_descriptions(called, folder)
    inputs = [*objects, Path(__file__)]
    if compiler.compiler_type == "msvc":
        shutil.copy2(archive, static)
        native.combine(shared, inputs, lambda: _link_dll(compiler, objects, shared))
        return [*made, static, shared, folder / called.imports]
    command = [*compiler.compiler_so, "-fno-lto"]
    native.combine(shared, inputs, lambda: _link_shared(compiler, command, objects, shared))
    localise = _localiser(command)
    if localise is None:
        print(f"vczc: no objcopy here ($OBJCOPY), so no {static.name}", file=sys.stderr, flush=True)
        static.unlink(missing_ok=True)
        return [*made, shared]

    def make_static() -> None:
        whole = folder.with_name("vczc_whole.o")
        _link_whole(compiler, command, objects, whole)
        if localise:
            compiler.spawn([*localise, str(whole)])
        compiler.create_static_lib([str(whole)], "vczc", str(folder))

    native.combine(static, inputs, make_static)
    return [*made, static, shared]


def place(made: Sequence[Path], folder: Path, target: Path) -> None:
    """Copy what `make` made in `folder` to `target`."""
    for path in made:
        to = target / path.relative_to(folder)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.unlink(missing_ok=True)  # a running program may have it mapped
        shutil.copy(path, to)


# ---- Linking ----


def _link_whole(compiler: Any, command: list[str], objects: list[Path], whole: Path) -> None:
    """One object of all, with what vczc.h does not need left out."""
    link = [*command, "-r", "-nostdlib", *map(str, objects), "-o", str(whole)]
    if sys.platform == "darwin":  # hides the other names at once; unused ones go at the last link
        compiler.spawn([*link, "-Wl,-exported_symbol,_vczc_*"])
        return
    roots = [f"-Wl,-u,{name}" for name in native.public_functions()]
    try:
        compiler.spawn([*link, "-Wl,--gc-sections", *roots])
    except ExecError:  # LLD and gold refuse that here: it too is left to the last link
        compiler.spawn(link)


def _localiser(command: list[str]) -> list[str] | None:
    """The command that hides names of an object; [] where linking does it, None if not here."""
    if sys.platform == "darwin":
        return []
    objcopy = shlex.split(os.environ.get("OBJCOPY", ""))
    if not objcopy:  # the compiler knows the one that goes with it
        ask = [*command, "-print-prog-name=objcopy"]
        told = subprocess.run(ask, capture_output=True, text=True, check=False).stdout.strip()
        objcopy = [found for found in [shutil.which(told or "objcopy")] if found]
    return [*objcopy, "--wildcard", "--keep-global-symbol=vczc_*"] if objcopy else None


def _link_shared(compiler: Any, command: list[str], objects: list[Path], shared: Path) -> None:
    link = [*command, *map(str, objects), "-o", str(shared), "-pthread", "-lm"]
    link += shlex.split(os.environ.get("LDFLAGS", ""))
    if sys.platform == "darwin":
        link += ["-dynamiclib", f"-Wl,-install_name,{names().soname}"]
        link += ["-Wl,-exported_symbol,_vczc_*", "-Wl,-dead_strip"]
    else:
        major = native.version().partition(".")[0]
        text = f"VCZC_{major} {{ global: vczc_*; local: *; }};\n"
        script = native.write_if_changed(shared.parent.with_name("libvczc.map"), text)
        link += ["-shared", f"-Wl,-soname,{names().soname}", f"-Wl,--version-script={script}"]
        link += ["-Wl,-z,nodelete"]  # its threads would go on in code that `dlclose` took away
        link += ["-Wl,--gc-sections", "-Wl,-Bsymbolic-functions"]
    compiler.spawn(link)


def _link_dll(compiler: Any, objects: list[Path], shared: Path) -> None:
    text = "EXPORTS\n" + "".join(f"    {name}\n" for name in native.public_functions())
    exports = native.write_if_changed(shared.parent.with_name("vczc.def"), text)
    imports = shared.with_name(names().imports)
    link = [compiler.linker, "/NOLOGO", "/DLL", "/OPT:REF", f"/DEF:{exports}", f"/OUT:{shared}"]
    compiler.spawn([*link, f"/IMPLIB:{imports}", *map(str, objects)])


# ---- Descriptions ----


def _write_descriptions(called: Names, folder: Path) -> list[Path]:
    """vczc.pc and the CMake package: both find the rest from where they lie themselves."""
    version = native.version()
    maths = "" if sys.platform == "win32" else "-lm"
    values = {
        "VERSION": version,
        "MAJOR": version.partition(".")[0],
        "STATIC": f"lib/{called.static}",
        "SHARED": f"lib/{called.shared}",
        "IMPORT": f"lib/{called.imports}",
        "LIBDIR": "lib",
        "INCLUDEDIR": "include",
        "PC_UP": "../..",
        "CMAKE_UP": "../../..",
        "PRIVATE_LIBS": maths,
        "SYSTEM_LIBS": maths,
        "SONAME": called.soname,
        "RPATH": "" if sys.platform == "win32" else " -Wl,-rpath,${libdir}",
        "POINTER_NBYTES": str(struct.calcsize("P")),
    }
    made = []
    for template in sorted(TEMPLATES.glob("*.in")):
        text = template.read_text(encoding="utf-8")
        for key, value in values.items():
            text = text.replace(f"@{key}@", value)
        place = "pkgconfig" if template.stem.endswith(".pc") else "cmake/vczc"
        made.append(native.write_if_changed(folder / place / template.stem, text))
    return made
