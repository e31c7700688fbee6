# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Count the alternate alleles of genotypes, chunk by chunk, without the GIL.

    python setup.py build_ext --inplace
    python -c "import alleles, vczc; print(alleles.count(vczc.open('…')['call_genotype']))"
"""

from libc.stdint cimport int8_t, int64_t
from libc.string cimport memset

from vczc cimport Array, check

import numpy as np


def count(Array array):
    """How many items of a two-dimensional grid of int8 chunks are above 0."""
    if array.ndim != 3 or array.dtype != np.int8:
        raise TypeError("not an int8 array of variants, samples and ploidy")
    cdef int8_t[::1] chunk = np.empty(np.prod(array.chunks), np.int8)
    cdef int64_t nvariants = array.cdata_shape[0]
    cdef int64_t nsamples = array.cdata_shape[1]
    cdef int64_t total = 0
    cdef int64_t i
    cdef int64_t j
    cdef int ret = 0
    with nogil:
        for i in range(nvariants):
            for j in range(nsamples):
                ret = count_chunk(array, i, j, chunk, &total)
                if ret != 0:
                    break
            if ret != 0:
                break
    check(ret)  # raises what Python would have raised
    return total


cdef int count_chunk(
    Array array, int64_t i, int64_t j, int8_t[::1] chunk, int64_t *total
) noexcept nogil:
    cdef int64_t[3] coords = [i, j, 0]
    cdef size_t n = chunk.shape[0]
    cdef size_t k
    memset(&chunk[0], 0, n)  # a chunk at the edge of the array fills less of it
    cdef int ret = array.read_block(coords, &chunk[0], n)
    if ret == 0:
        for k in range(n):
            total[0] += chunk[k] > 0
    return ret
