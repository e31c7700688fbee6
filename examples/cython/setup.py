# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Build a Cython module that reads through vczc: it needs the header, and no library to link."""

from Cython.Build import cythonize
from setuptools import Extension, setup

import vczc

module = Extension("alleles", ["alleles.pyx"], include_dirs=[vczc.get_include()])
setup(name="alleles", ext_modules=cythonize(module, language_level=3))
