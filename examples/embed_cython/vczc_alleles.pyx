# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Count the alternate alleles of genotypes: blocks are decoded and counted in parallel, no GIL."""

from cython.parallel cimport parallel, prange
from libc.stdint cimport int8_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from vczc cimport Array, check, libvczc

import os

import numpy as np


def count(Array array not None, int nthreads=0):
    """How many items of an int8 array of variants, samples and ploidy are above 0."""
    if array.ndim != 3 or array.dtype != np.int8:
        raise TypeError("not an int8 array of variants, samples and ploidy")
    cdef int64_t nsamples = array.cdata_shape[1]
    cdef int64_t nblocks = array.cdata_shape[0] * nsamples
    cdef int64_t nbytes = np.prod(array.chunks)
    cdef int64_t[::1] totals = np.zeros(nblocks, np.int64)  # of each block, or its status
    cdef int64_t i
    cdef int8_t *chunk
    if nthreads <= 0:
        nthreads = os.cpu_count() or 1
    with nogil, parallel(num_threads=nthreads):
        chunk = <int8_t *> malloc(nbytes + 1)
        for i in prange(nblocks, schedule="dynamic"):
            totals[i] = count_block(array, i // nsamples, i % nsamples, chunk, nbytes)
        free(chunk)
    for i in range(nblocks):
        if totals[i] == libvczc.VCZC_ERR_NO_MEMORY:
            raise MemoryError
        if totals[i] < 0:  # once more, in this thread, whose error `check` raises
            chunk = <int8_t *> malloc(nbytes + 1)
            totals[i] = count_block(array, i // nsamples, i % nsamples, chunk, nbytes)
            free(chunk)
            check(<int> min(totals[i], 0))
    return int(np.sum(totals))


cdef int64_t count_block(
    Array array, int64_t i, int64_t j, int8_t *chunk, int64_t nbytes
) noexcept nogil:
    """The alternate alleles of one block, or a status below 0."""
    cdef int64_t[3] coords = [i, j, 0]
    cdef int64_t total = 0
    cdef int64_t k
    if chunk == NULL:
        return libvczc.VCZC_ERR_NO_MEMORY
    memset(chunk, 0, nbytes)  # a block at the edge of the array fills less of it
    cdef int ret = array.read_block(coords, chunk, nbytes)
    if ret != 0:
        return ret
    for k in range(nbytes):
        total += chunk[k] > 0
    return total
