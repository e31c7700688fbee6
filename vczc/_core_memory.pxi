# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Part of `_core`: memory that libvczc gives, and memory of the caller that it may write to."""


cdef class Strings:
    """Text or bytes of variable length as libvczc gives them: `offsets` into `data`, in C order."""

    def __dealloc__(self):
        vczc_strings_clear(&self.raw)

    def __len__(self):
        return self.raw.nitems

    @property
    def offsets(self):
        """int64, one more than there are items."""
        if self.raw.offsets == NULL:
            return np.zeros(1, np.int64)
        return view_of(self, np.dtype(np.int64), self.raw.nitems + 1, self.raw.offsets)

    @property
    def data(self):
        """uint8."""
        if self.raw.data == NULL or self.raw.data_nbytes == 0:
            return np.zeros(0, np.uint8)
        return view_of(self, np.dtype(np.uint8), self.raw.data_nbytes, self.raw.data)


cdef object view_of(Strings owner, object descr, int64_t n, void *data):
    cdef cnp.npy_intp length = n
    Py_INCREF(descr)
    cdef cnp.ndarray view = PyArray_NewFromDescr(
        &PyArray_Type, <cnp.PyArray_Descr *> descr, 1, &length, NULL, data, 0, NULL
    )
    cnp.set_array_base(view, owner)
    cnp.PyArray_UpdateFlags(view, NPY_ARRAY_UPDATE_ALL)
    return view


# From so many bytes on a result lies in recycled huge pages: NumPy's own memory is new 4 KB pages
# by then (6 to 11 ms for 20 MB, which are decoded in 2). What is rounded up is at most a fifth.
cdef size_t RESULT_PAGES_NBYTES = 8 << 20


@cython.final
cdef class _Pages:
    """Memory of vczc_buffer_alloc that lives as long as the arrays on it."""
    cdef void *memory
    cdef size_t nbytes

    def __dealloc__(self):
        vczc_buffer_free(self.memory, self.nbytes)


cdef cnp.ndarray new_result(cnp.dtype descr, int ndim, cnp.npy_intp *dims):
    """An array of any content, C-contiguous."""
    cdef size_t nbytes = descr.itemsize
    cdef int axis
    cdef _Pages pages = None
    cdef void *memory = NULL
    for axis in range(ndim):
        if nbytes != 0 and <size_t> dims[axis] > (<size_t> -1) // nbytes:
            nbytes = 0  # NumPy has the words for it
            break
        nbytes *= <size_t> dims[axis]
    if nbytes >= RESULT_PAGES_NBYTES:
        pages = _Pages.__new__(_Pages)
        memory = vczc_buffer_alloc(nbytes)
        if memory == NULL:
            raise MemoryError(f"no memory for a result of {nbytes} bytes")
        pages.memory = memory
        pages.nbytes = nbytes
    Py_INCREF(descr)
    cdef cnp.ndarray out = PyArray_NewFromDescr(
        &PyArray_Type, <cnp.PyArray_Descr *> descr, ndim, dims, NULL, memory,
        0 if memory == NULL else cnp.NPY_ARRAY_CARRAY, NULL,
    )
    if pages is not None:
        cnp.set_array_base(out, pages)
    return out


@cython.final
cdef class _Box:
    """A selection of libvczc and the memory that it points to."""
    cdef vczc_selection_t raw
    cdef int64_t start[VCZC_MAX_NDIM]
    cdef int64_t stop[VCZC_MAX_NDIM]
    cdef int64_t step[VCZC_MAX_NDIM]
    cdef int64_t counts[VCZC_MAX_NDIM]

    def __cinit__(self, Array array, tuple start, tuple stop, tuple step, int nthreads):
        cdef int axis
        if not len(start) == len(stop) == len(step) == array.ndim:
            raise ValueError(f"a box of an array of {array.ndim} dimensions is needed")
        for axis in range(array.ndim):
            self.start[axis] = start[axis]
            self.stop[axis] = stop[axis]
            self.step[axis] = step[axis]
            if not (0 <= self.start[axis] <= self.stop[axis] <= array.info.shape[axis]):
                raise IndexError(f"the box leaves axis {axis}")
            if self.step[axis] < 1:
                raise ValueError(f"a step of {self.step[axis]}")
            self.counts[axis] = self.stop[axis] - self.start[axis]
            if self.counts[axis] != 0:
                self.counts[axis] = (self.counts[axis] - 1) // self.step[axis] + 1
        self.raw.start = self.start
        self.raw.stop = self.stop
        self.raw.step = self.step
        self.raw.nthreads = nthreads


cdef int require_writable(cnp.ndarray out) except -1:
    if not cnp.PyArray_ISWRITEABLE(out):
        raise errors.BufferError("out is read-only")
    return 0


cdef int require_item_type(Array array, cnp.ndarray out, bint raw_bytes) except -1:
    """Items of the array's own kind and size, or bytes where they are no more than memory."""
    cdef object mine = array._item_dtype
    cdef object theirs = out.dtype
    if theirs is mine:
        return 0
    if mine is not None and mine.kind in "VMm":  # structs may hold objects, times have units
        if theirs == mine:
            return 0
    elif mine is not None:
        if theirs.kind == mine.kind and theirs.itemsize == mine.itemsize and theirs.isnative:
            return 0
    if mine is not None and raw_bytes and theirs.itemsize == 1 and theirs.kind in "uiS":
        return 0
    raise errors.BufferError(f"out holds {theirs}, the array {'text' if mine is None else mine}")


cdef object wrong_shape(object out):
    return errors.BufferError(f"out has the shape {out.shape}, not that of the selection")


cdef cnp.ndarray packed_view(Array array, const int64_t *shape, object out, int ndim=-1):
    """`out` as an array of `shape` that begins where it begins; nothing but the view is allocated.

    What is no ndarray is held by a memoryview, so that its memory cannot go away under the view.
    """
    cdef cnp.npy_intp dims[VCZC_MAX_NDIM]
    cdef cnp.ndarray memory
    cdef bint is_array = isinstance(out, cnp.ndarray)
    cdef int axis
    if ndim < 0:
        ndim = array.ndim
    if is_array:
        memory = out
    else:
        try:
            memory = np.asarray(memoryview(out))
        except (TypeError, ValueError, BufferError) as err:
            raise errors.BufferError(f"out is no buffer that can be written to: {err}") from None
    require_writable(memory)
    # An ndarray of bytes is plain memory, but not for the other types of one byte: it may be meant.
    require_item_type(array, memory, not is_array or array._item_dtype.itemsize > 1)
    if not cnp.PyArray_IS_C_CONTIGUOUS(memory):
        raise errors.BufferError("out is not C-contiguous")
    needed = array._item_dtype.itemsize
    for axis in range(ndim):
        dims[axis] = shape[axis]
        needed *= shape[axis]
    if cnp.PyArray_NBYTES(memory) < needed:
        raise errors.BufferError(
            f"out has {cnp.PyArray_NBYTES(memory)} bytes, and {needed} are needed"
        )
    Py_INCREF(array._item_dtype)
    cdef cnp.ndarray view = PyArray_NewFromDescr(
        &PyArray_Type, <cnp.PyArray_Descr *> array._item_dtype, ndim, dims, NULL,
        cnp.PyArray_DATA(memory), cnp.NPY_ARRAY_WRITEABLE, NULL,
    )
    cnp.set_array_base(view, memory)
    cnp.PyArray_UpdateFlags(view, NPY_ARRAY_UPDATE_ALL)
    return view
