# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""The header of vczc is all that the module needs; without OpenMP its loop runs on one thread."""

import sys

from Cython.Build import cythonize
from setuptools import Extension, setup

import vczc

OPENMP = {"linux": ["-fopenmp"], "win32": ["/openmp"]}.get(sys.platform, [])

module = Extension(
    "vczc_alleles",
    ["vczc_alleles.pyx"],
    include_dirs=[vczc.get_include()],
    extra_compile_args=OPENMP,
    extra_link_args=OPENMP if sys.platform == "linux" else [],
)
directives = {"language_level": 3, "freethreading_compatible": True}
setup(ext_modules=cythonize(module, compiler_directives=directives), py_modules=[])
