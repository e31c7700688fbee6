# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Part of `_core`: what is made of genotype calls, of arrays and of memory."""

NUMBER_OF_DTYPE = {dtype: number for number, dtype in PLAIN_DTYPES.items()}


def new_array(tuple shape not None, cnp.dtype dtype not None):
    """An array of any content, in memory that is recycled where it is large."""
    cdef cnp.npy_intp dims[VCZC_MAX_NDIM]
    cdef int axis
    if len(shape) > VCZC_MAX_NDIM:
        raise ValueError(f"{len(shape)} dimensions")
    for axis in range(len(shape)):
        dims[axis] = shape[axis]
    return new_result(dtype, len(shape), dims)


cdef cnp.ndarray numbers_of(object numbers):
    """Row or column numbers as libvczc takes them."""
    return np.ascontiguousarray(numbers, dtype=np.int64).reshape(-1)


@cython.final
cdef class Calls:
    """Genotype calls to make something of: those of an array, or of its rows and columns; or of
    an ndarray of integers in native byte order."""
    cdef Array array
    cdef cnp.ndarray genotypes, variants, samples
    cdef vczc_genotypes_t in_memory
    cdef vczc_calls_t wanted
    cdef readonly int64_t nvariants, nsamples, ploidy

    def __cinit__(self, source, variants=None, samples=None, int nthreads=0):
        if isinstance(source, Array):
            self.of_array(source, variants, samples, nthreads)
        else:
            self.of_memory(source)

    cdef int of_array(self, Array array, object variants, object samples, int nthreads) except -1:
        if array.ndim != 3 or array._item_dtype is None or array._item_dtype.kind not in "iu":
            raise ValueError(
                f"'{array.path}' holds no genotypes: integers with axes of variants, samples and "
                f"ploidy are needed, not {array._item_dtype or 'text'} of shape {array.shape}"
            )
        self.array = array
        self.nvariants, self.nsamples, self.ploidy = array.shape
        self.wanted.nthreads = nthreads
        if variants is not None:
            self.variants = numbers_of(variants)
            self.nvariants = self.wanted.nvariants = self.variants.shape[0]
            self.wanted.variants = <const int64_t *> cnp.PyArray_DATA(self.variants)
        if samples is not None:
            self.samples = numbers_of(samples)
            self.nsamples = self.wanted.nsamples = self.samples.shape[0]
            self.wanted.samples = <const int64_t *> cnp.PyArray_DATA(self.samples)
        return 0

    cdef int of_memory(self, cnp.ndarray genotypes) except -1:
        cdef int axis
        if genotypes.ndim != 3 or genotypes.dtype.kind not in "iu":
            raise ValueError(
                "genotypes are integers with axes of variants, samples and ploidy, not "
                f"{genotypes.dtype} of shape {np.shape(genotypes)}"
            )
        if not genotypes.dtype.isnative:
            genotypes = genotypes.astype(genotypes.dtype.newbyteorder("="))
        self.genotypes = genotypes
        self.nvariants, self.nsamples, self.ploidy = np.shape(genotypes)
        self.in_memory.data = cnp.PyArray_DATA(genotypes)
        self.in_memory.dtype = NUMBER_OF_DTYPE[genotypes.dtype]
        for axis in range(3):
            self.in_memory.shape[axis] = genotypes.shape[axis]
            self.in_memory.strides[axis] = genotypes.strides[axis]
        return 0

    def dosage(self, cnp.ndarray out not None):
        """Into `out`, of one of the types that dosages may have."""
        cdef int64_t strides[2]
        cdef int dtype = NUMBER_OF_DTYPE[out.dtype], axis, ret
        cdef void *data = cnp.PyArray_DATA(out)
        require_writable(out)
        if out.ndim != 2 or out.shape[0] != self.nvariants or out.shape[1] != self.nsamples:
            raise wrong_shape(out)
        strides[0] = out.strides[0]
        strides[1] = out.strides[1]
        for axis in range(2):
            if strides[axis] == 0 and out.shape[axis] > 1 and cnp.PyArray_SIZE(out) != 0:
                raise errors.BufferError("out repeats the same memory along an axis")
        with nogil:
            if self.array is not None:
                ret = vczc_array_read_dosage(
                    self.array.handle, &self.wanted, dtype, data, strides
                )
            else:
                ret = vczc_genotype_dosage(&self.in_memory, dtype, data, strides)
        check(ret)

    def allele_counts(self, int64_t nalleles):
        """variants x nalleles, int32."""
        cdef cnp.ndarray out = np.empty((self.nvariants, max(nalleles, 0)), np.int32)
        cdef int32_t *data = <int32_t *> cnp.PyArray_DATA(out)
        cdef int ret
        with nogil:
            if self.array is not None:
                ret = vczc_array_read_allele_counts(
                    self.array.handle, &self.wanted, nalleles, data
                )
            else:
                ret = vczc_genotype_allele_counts(&self.in_memory, nalleles, data)
        check(ret)
        return out

    def missing(self, bint of_samples):
        """How many calls are missing of each sample, or else at each variant: int64."""
        cdef cnp.ndarray out = np.empty(self.nsamples if of_samples else self.nvariants, np.int64)
        cdef int64_t *data = <int64_t *> cnp.PyArray_DATA(out)
        cdef int64_t *variants = NULL if of_samples else data
        cdef int64_t *samples = data if of_samples else NULL
        cdef int ret
        with nogil:
            if self.array is not None:
                ret = vczc_array_read_missing(self.array.handle, &self.wanted, variants, samples)
            else:
                ret = vczc_genotype_missing(&self.in_memory, variants, samples)
        check(ret)
        return out

    def bed(self, cnp.ndarray out not None):
        """Into `out`: uint8, C-contiguous, a row for each variant."""
        cdef uint8_t *data = <uint8_t *> cnp.PyArray_DATA(out)
        cdef int ret
        require_writable(out)
        if np.shape(out) != (self.nvariants, (self.nsamples + 3) // 4):
            raise wrong_shape(out)
        if out.dtype != np.uint8 or not cnp.PyArray_IS_C_CONTIGUOUS(out):
            raise errors.BufferError("out is not C-contiguous, of uint8")
        with nogil:
            if self.array is not None:
                ret = vczc_array_read_bed(self.array.handle, &self.wanted, data)
            else:
                ret = vczc_genotype_bed(&self.in_memory, data)
        check(ret)
