# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Build of vczc: libvczc from C sources into `vczc._core`, the extensions that stand beside it, and
libvczc itself for programs in C.

pyproject.toml holds everything that is not a command. `VCZC_DEBUG=1` builds without optimisation,
with asserts, and with every check that Cython knows.
"""

import os
import shutil
import sys
from pathlib import Path

import numpy as np
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))
import embedding  # noqa: E402  (a build does not run with this folder on the path)
import native  # noqa: E402
from native import vendored  # noqa: E402

DEBUG = os.environ.get("VCZC_DEBUG", "0") not in ("", "0")

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "wraparound": False,
    "initializedcheck": DEBUG,
    "nonecheck": DEBUG,
    "overflowcheck": DEBUG,
    "cdivision": True,
    "cdivision_warnings": DEBUG,
    "embedsignature": False,
    "binding": True,
    "freethreading_compatible": True,
}

NUMPY_DEFINES = [
    ("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION"),
    ("NPY_TARGET_VERSION", "NPY_2_0_API_VERSION"),  # NpyString came with 2.0
]


def optimisation(compiler_type: str) -> list[str]:
    """Flags of our own C, Cython's and the vendored one: never those of one processor.

    Nor link-time optimisation, if the environment asks for it: embedders have any compiler.
    """
    if compiler_type == "msvc":
        return ["/Od", "/Zi", "/UNDEBUG"] if DEBUG else ["/O2", "/DNDEBUG"]
    flags = ["-O0", "-g", "-UNDEBUG"] if DEBUG else ["-O3", "-g0", "-DNDEBUG"]
    flags += ["-fvisibility=hidden", "-ffunction-sections", "-fdata-sections"]
    return [*flags, "-fno-lto", "-pthread"]


def link_flags(name: str, compiler_type: str, build_dir: Path) -> list[str]:
    """Leave out what nothing refers to, and show nothing but the module and the C API."""
    if compiler_type == "msvc":
        return []
    if sys.platform == "darwin":
        return ["-Wl,-dead_strip"]
    shown = f"PyInit_{name.rpartition('.')[2]};"
    shown += " vczc_*;" if name == "vczc._core" else ""
    text = f"{{ global: {shown} local: *; }};\n"
    script = native.write_if_changed(build_dir / f"{name}.map", text)
    # A program that embeds Python may bring another libvczc: keep to the one in here.
    own = "-Wl,-Bsymbolic-functions"
    return ["-pthread", "-lm", "-Wl,--gc-sections", own, f"-Wl,--version-script={script}"]


def extensions() -> list[Extension]:
    """One for each .pyx of the package; `_core` alone links libvczc."""
    names = sorted(path.stem for path in (ROOT / "vczc").glob("*.pyx"))
    return [
        Extension(
            f"vczc.{name}",
            [f"vczc/{name}.pyx"],
            include_dirs=[np.get_include(), "csrc/include"],
            define_macros=NUMPY_DEFINES,
        )
        for name in names
    ]


class BuildExt(build_ext):
    """Compile libvczc first; then let Cython and setuptools do what they do."""

    def build_extensions(self) -> None:
        kind = self.compiler.compiler_type
        build_dir = Path(self.build_temp)
        mode = "debug" if DEBUG else "release"
        flags = optimisation(kind)
        made = cythonize(
            self.extensions,
            compiler_directives=DIRECTIVES,
            build_dir=f"build/cython-{mode}",
            nthreads=0,
        )
        changed = native.write_if_changed(build_dir / "mode", f"{mode} {flags}\n")
        for extension, cythonized in zip(self.extensions, made, strict=True):
            extension.sources = cythonized.sources
            extension.depends = [*cythonized.depends, str(changed)]
            extension.extra_compile_args += flags
            extension.extra_link_args += link_flags(extension.name, kind, build_dir)
            if extension.name == "vczc._core":
                library = str(self.build_libvczc(build_dir / f"libvczc-{mode}", flags))
                extension.extra_objects.append(library)
                extension.depends.append(library)
        self.place_libvczc(Path(self.build_lib))
        self.parallel = self.parallel or native.processors()
        super().build_extensions()

    def copy_extensions_to_source(self) -> None:
        super().copy_extensions_to_source()
        copy_header(ROOT)  # as in a wheel
        self.place_libvczc(ROOT)

    def place_libvczc(self, root: Path) -> None:
        embedding.place(self.brought, self.brought_from, root / "vczc" / "lib")

    def build_libvczc(self, folder: Path, flags: list[str]) -> Path:
        """The static library of all sources; what the package brings is made beside it."""
        vendored.obtain()
        compiler = self.compiler
        msvc = compiler.compiler_type == "msvc"
        if msvc and not compiler.initialized:
            compiler.initialize()  # not from several threads at once
        elif not msvc:
            compiler.src_extensions = [*compiler.src_extensions, ".S"]

        def compile_one(group: native.Group, source: Path, obj: Path) -> None:
            args = [*flags, *(group.msvc_flags if msvc else group.gcc_flags)]
            if group.name != "vczc":
                args.append("/w" if msvc else "-w")
            if not msvc:
                args.append("-MMD")  # headers, for native.compile_groups
            made = compiler.compile(
                [str(source.relative_to(ROOT))],
                output_dir=str(folder),
                macros=list(group.defines),
                include_dirs=[str(path) for path in (*group.include_dirs, *group.system_dirs)],
                extra_postargs=args,
            )
            assert Path(made[0]) == obj, (made, obj)

        objects = native.compile_groups(
            [*vendored.decoders(), native.own_group()],
            folder,
            compile_one,
            suffix=compiler.obj_extension,
            settings=repr((getattr(compiler, "compiler_so", "msvc"), flags)),
        )
        library = native.combine(
            folder / compiler.library_filename("vczc"),
            objects,
            lambda: compiler.create_static_lib(list(map(str, objects)), "vczc", str(folder)),
        )
        self.brought_from = folder / "lib"
        self.brought = embedding.make(compiler, objects, library, self.brought_from)
        return library


class BuildPy(build_py):
    """The package, and vczc.h in it for those who compile against the wheel."""

    def run(self) -> None:
        super().run()
        copy_header(ROOT if self.editable_mode else Path(self.build_lib))


class Sdist(sdist):
    """A source distribution holds the third-party sources, so that it builds without a network."""

    def run(self) -> None:
        vendored.obtain()
        super().run()


def copy_header(root: Path) -> None:
    target = root / "vczc" / "include" / "vczc.h"
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(ROOT / "csrc" / "include" / "vczc.h", target)


setup(
    ext_modules=extensions(),
    cmdclass={"build_ext": BuildExt, "build_py": BuildPy, "sdist": Sdist},
)
