# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""libvczc's handles as extension types: convert, call without the GIL, convert back.

The only extension that links libvczc, so that a process has one pool of threads and one account
of errors. Everything that is not a handle is written in Python above it.
"""

cimport cython
from cpython.buffer cimport PyBuffer_FillInfo
from cpython.long cimport PyLong_CheckExact
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_CheckExact
from libc.stdint cimport INT64_MAX, int32_t, int64_t, uint8_t, uint32_t

cimport numpy as cnp

from vczc.libvczc cimport *

import os
from time import monotonic

import numpy as np

from vczc import errors

cnp.import_array()


cdef extern from "Python.h":
    bint PySlice_Check(object key)
    int PySlice_Unpack(
        object key, Py_ssize_t *start, Py_ssize_t *stop, Py_ssize_t *step
    ) except -1
    Py_ssize_t PySlice_AdjustIndices(
        Py_ssize_t length, Py_ssize_t *start, Py_ssize_t *stop, Py_ssize_t step
    )
    long long PyLong_AsLongLongAndOverflow(object number, int *overflow) except? -1


cdef extern from "numpy/arrayobject.h":
    # numpy's .pxd has no NULL for the last argument, and none for a stolen reference.
    PyTypeObject PyArray_Type
    object PyArray_NewFromDescr(
        PyTypeObject *subtype, cnp.PyArray_Descr *stolen_descr, int nd, cnp.npy_intp *dims,
        cnp.npy_intp *strides, void *data, int flags, PyObject *obj,
    )
    int NPY_ARRAY_UPDATE_ALL


PLAIN_DTYPES = {
    VCZC_BOOL: np.dtype(np.bool_),
    VCZC_INT8: np.dtype(np.int8),
    VCZC_INT16: np.dtype(np.int16),
    VCZC_INT32: np.dtype(np.int32),
    VCZC_INT64: np.dtype(np.int64),
    VCZC_UINT8: np.dtype(np.uint8),
    VCZC_UINT16: np.dtype(np.uint16),
    VCZC_UINT32: np.dtype(np.uint32),
    VCZC_UINT64: np.dtype(np.uint64),
    VCZC_FLOAT16: np.dtype(np.float16),
    VCZC_FLOAT32: np.dtype(np.float32),
    VCZC_FLOAT64: np.dtype(np.float64),
    VCZC_COMPLEX64: np.dtype(np.complex64),
    VCZC_COMPLEX128: np.dtype(np.complex128),
}

MAX_NDIM = VCZC_MAX_NDIM
ERR_LAST = VCZC_ERR_LAST
STORE_DIRECTORY = VCZC_STORE_DIRECTORY
STORE_ZIP = VCZC_STORE_ZIP
NODE_ARRAY = VCZC_NODE_ARRAY
NODE_GROUP = VCZC_NODE_GROUP


# ---- Errors ----

cdef int check(int ret) except -1:
    if ret != 0:
        raise last_error(ret)
    return 0


cdef object last_error(int code):
    cdef vczc_error_t error
    vczc_error_last(&error)
    if error.code != code:  # nothing was said about this one
        return errors.from_code(code, text_of(vczc_strerror(code)), "", None, None, None)
    message = text_of(vczc_error_detail())
    reason = text_of(error.reason)
    array = text_of(error.array)
    key = text_of(error.key)
    coords = None
    if error.ndim >= 0:
        coords = tuple_of(error.coords, error.ndim)
    named = coords is not None or array or key
    return errors.from_code(
        code, message, reason, array if named else None, coords, key if named else None
    )


cdef int set_error(int code, const char *reason) noexcept nogil:
    return vczc_error_set(code, reason)


def strerror(int code):
    """What a status code means, in a few words."""
    return text_of(vczc_strerror(code))


def set_buffer_pool(size_t nbytes):
    """How many bytes of freed results are kept for the next ones."""
    vczc_set_buffer_pool(nbytes)


def check_code(int code):
    """Raise what a function of libvczc that returned `code` would raise."""
    check(code)


# ---- Text in and out ----

cdef str text_of(const char *text):
    return (<bytes> text).decode("utf-8", "replace")


cdef bytes key_of(str text):
    """As libvczc takes it. Names on disk need not be UTF-8: listings give surrogates for those."""
    cdef bytes key = text.encode("utf-8", "surrogateescape")
    if b"\0" in key:
        raise ValueError(f"a name may not hold a zero byte: {text!r}")
    return key


cdef tuple tuple_of(const int64_t *values, int n):
    cdef list items = []
    cdef int axis
    for axis in range(n):
        items.append(values[axis])
    return tuple(items)


cdef int tell_name(void *user, const char *name, size_t nbytes) noexcept with gil:
    try:
        (<list> user).append(name[:nbytes].decode("utf-8", "surrogateescape"))
    except MemoryError:
        return vczc_error_set(VCZC_ERR_NO_MEMORY, "no memory for the names of a listing")
    return 0


cdef int tell_child(void *user, const char *name, size_t nbytes, int kind) noexcept with gil:
    try:
        (<list> user).append((name[:nbytes].decode("utf-8", "surrogateescape"), kind))
    except MemoryError:
        return vczc_error_set(VCZC_ERR_NO_MEMORY, "no memory for the names of a group")
    return 0


# ---- Library ----

def version():
    """The version of libvczc."""
    return text_of(vczc_version())


def set_threads(int n):
    """How many threads one call may decode with; 0 restores the default."""
    cdef int ret
    with nogil:  # threads that end may still want the GIL
        ret = vczc_set_threads(n)
    check(ret)


def get_threads():
    """How many threads one call decodes with."""
    return vczc_get_threads()


include "_core_stores.pxi"
include "_core_memory.pxi"
include "_core_batches.pxi"


# ---- Arrays ----

cdef object item_dtype_of(const vczc_array_info_t *info):
    if info.dtype == VCZC_FIXED_BYTES:
        return np.dtype(f"S{info.itemsize}")
    if info.dtype == VCZC_FIXED_UTF32:
        return np.dtype(f"U{info.itemsize // 4}")
    if info.dtype == VCZC_RAW:
        return np.dtype(f"V{info.itemsize}")
    if info.dtype == VCZC_DATETIME64 or info.dtype == VCZC_TIMEDELTA64:
        letter = "M" if info.dtype == VCZC_DATETIME64 else "m"
        scaled = f"[{info.time_scale}{text_of(info.time_unit)}]" if info.time_scale else ""
        return np.dtype(f"{letter}8{scaled}")
    return PLAIN_DTYPES.get(info.dtype)


cdef class Array:
    """An open array of libvczc; `vczc.Array` is a subclass of it."""

    def __cinit__(
        self, Store store not None, str path not None, *,
        bint missing_is_error=False, int64_t max_chunk_nbytes=0, str text_as="numpy",
        bint stored_only=False, bint stored_copy=False,
    ):
        cdef bytes name = key_of(path)
        cdef const char *text = name
        cdef uint32_t flags = VCZC_MISSING_IS_ERROR if missing_is_error else 0
        if stored_only:
            flags |= VCZC_STORED_ONLY
        if stored_copy:
            flags |= VCZC_STORED_COPY
        cdef vczc_store_t *handle = store.enter()
        cdef int ret
        with nogil:
            ret = vczc_array_open_flags(&self.handle, handle, text, flags, max_chunk_nbytes)
        self.source = store.source
        try:
            check(ret)
        finally:
            store.leave()
        self.info = vczc_array_info(self.handle)
        self.ndim = self.info.ndim
        self.shape = tuple_of(self.info.shape, self.ndim)
        self.chunks = tuple_of(self.info.chunks, self.ndim)
        self.cdata_shape = tuple_of(self.info.grid, self.ndim)
        self._item_dtype = item_dtype_of(self.info)
        self._text_as = text_as

    def __dealloc__(self):
        vczc_array_close(self.handle)

    # What it is

    @property
    def path(self):
        """Inside the store, without a slash at its ends."""
        return (<bytes> self.info.path).decode("utf-8", "surrogateescape")

    @property
    def zarr_format(self):
        """2 or 3."""
        return self.info.zarr_format

    @property
    def shards(self):
        """The shape of a shard, or None where chunks are not in shards."""
        return None if self.info.shards == NULL else tuple_of(self.info.shards, self.ndim)

    @property
    def nchunks(self):
        """How many chunks the grid has, stored or not."""
        return self.info.nchunks

    @property
    def order(self):
        """The layout inside a stored chunk, "C" or "F". Results are always in C order."""
        return chr(self.info.order)

    @property
    def dims(self):
        """The names of the axes, each of which may be None; None where there are no names."""
        cdef list names = []
        cdef int axis
        if self.info.dims == NULL:
            return None
        for axis in range(self.ndim):
            names.append(None if self.info.dims[axis] == NULL else text_of(self.info.dims[axis]))
        return tuple(names)

    @property
    def _is_text(self):
        """Text of variable length."""
        return self.info.dtype == VCZC_VLEN_UTF8

    @property
    def _fill(self):
        """The bytes of one item in native byte order; None where the document has null."""
        if self.info.fill_is_null:
            return None
        return (<const char *> self.info.fill)[:self.info.fill_nbytes]

    @property
    def _document(self):
        cdef const vczc_node_info_t *node = vczc_array_node_info(self.handle)
        return node.document[:node.document_nbytes]

    @property
    def _attributes(self):
        cdef const vczc_node_info_t *node = vczc_array_node_info(self.handle)
        return node.attributes[:node.attributes_nbytes]

    # One chunk

    cdef int read_block(self, const int64_t *coords, void *out, size_t size) noexcept nogil:
        return vczc_array_read_block(self.handle, coords, out, size)

    cdef int one_block(self, object index, int64_t *coords) except -1:
        """True, and where, if `index` is plain ints that name one chunk of items of fixed size."""
        cdef Py_ssize_t nitems = 1, axis
        cdef int overflow = 0
        cdef int64_t coord
        cdef bint is_tuple = PyTuple_CheckExact(index)
        if self._item_dtype is None:
            return False
        if is_tuple:
            nitems = len(<tuple> index)
        if nitems > self.ndim:
            return False
        for axis in range(nitems):
            item = (<tuple> index)[axis] if is_tuple else index
            if not PyLong_CheckExact(item):
                return False
            coord = PyLong_AsLongLongAndOverflow(item, &overflow)
            if coord < 0:
                coord += self.info.grid[axis]
            if overflow or coord < 0 or coord >= self.info.grid[axis]:
                raise IndexError(
                    f"block {item} is outside axis {axis}, which has {self.info.grid[axis]} blocks"
                )
            coords[axis] = coord
        for axis in range(nitems, self.ndim):
            if self.info.grid[axis] != 1:
                return False
            coords[axis] = 0
        return True

    cdef object new_block(self, const int64_t *coords):
        cdef int64_t shape[VCZC_MAX_NDIM]
        cdef cnp.npy_intp dims[VCZC_MAX_NDIM]
        cdef int axis, ret
        cdef void *data
        cdef size_t size
        check(vczc_array_block_shape(self.handle, coords, shape))
        for axis in range(self.ndim):
            dims[axis] = shape[axis]
        cdef cnp.ndarray out = new_result(self._item_dtype, self.ndim, dims)
        data = cnp.PyArray_DATA(out)
        size = cnp.PyArray_NBYTES(out)
        with nogil:
            ret = vczc_array_read_block(self.handle, coords, data, size)
        check(ret)
        return out

    cdef object block_into(self, const int64_t *coords, object out):
        cdef int64_t shape[VCZC_MAX_NDIM]
        cdef int ret
        check(vczc_array_block_shape(self.handle, coords, shape))
        cdef cnp.ndarray view = packed_view(self, shape, out)
        cdef void *data = cnp.PyArray_DATA(view)
        cdef size_t size = cnp.PyArray_NBYTES(view)
        with nogil:
            ret = vczc_array_read_block(self.handle, coords, data, size)
        check(ret)
        return view

    cdef int fill_coords(self, tuple coords, int64_t *into) except -1:
        cdef int axis
        if len(coords) != self.ndim:
            raise IndexError(f"{len(coords)} coordinates for an array of {self.ndim} dimensions")
        for axis in range(self.ndim):
            into[axis] = coords[axis]
        return 0

    def _stored(self, tuple coords not None):
        """The stored bytes of a chunk as a read-only memoryview that pins them; None if absent."""
        cdef int64_t c_coords[VCZC_MAX_NDIM]
        cdef Bytes pinned = Bytes.__new__(Bytes)
        cdef int ret
        self.fill_coords(coords, c_coords)
        pinned.source = self.source
        with nogil:
            ret = vczc_array_stored(self.handle, c_coords, &pinned.raw)
        if ret == VCZC_ERR_NOT_FOUND:
            return None
        check(ret)
        return memoryview(pinned)

    def _prefetch(self, tuple coords not None):
        cdef int64_t c_coords[VCZC_MAX_NDIM]
        cdef int ret
        self.fill_coords(coords, c_coords)
        with nogil:
            ret = vczc_prefetch_block(self.handle, c_coords)
        check(ret)

    def _block_strings(self, tuple coords not None):
        """The text of one chunk."""
        cdef int64_t c_coords[VCZC_MAX_NDIM]
        cdef Strings strings = Strings.__new__(Strings)
        cdef int ret
        self.fill_coords(coords, c_coords)
        with nogil:
            ret = vczc_array_read_strings(self.handle, c_coords, &strings.raw)
        check(ret)
        strings.is_text = self.info.dtype == VCZC_VLEN_UTF8
        return strings

    # Any box

    def _plain_rows(self, key):
        """`self[i]` and `self[i:j]` of items of fixed size, without a detour; None for all else."""
        cdef int64_t start[VCZC_MAX_NDIM]
        cdef int64_t stop[VCZC_MAX_NDIM]
        cdef int64_t strides[VCZC_MAX_NDIM]
        cdef cnp.npy_intp dims[VCZC_MAX_NDIM]
        cdef vczc_selection_t selection
        cdef Py_ssize_t first, last, step
        cdef int overflow = 0, axis
        cdef bint is_one = PyLong_CheckExact(key)
        if self.ndim == 0 or self._item_dtype is None:
            return None
        if is_one:
            first = PyLong_AsLongLongAndOverflow(key, &overflow)
            if first < 0:
                first += self.info.shape[0]
            if overflow or first < 0 or first >= self.info.shape[0]:
                return None  # the words for it are elsewhere
            last = first + 1
        elif PySlice_Check(key):
            PySlice_Unpack(key, &first, &last, &step)
            if step != 1:
                return None
            last = first + PySlice_AdjustIndices(self.info.shape[0], &first, &last, step)
        else:
            return None
        start[0] = first
        stop[0] = last
        dims[0] = last - first
        for axis in range(1, self.ndim):
            start[axis] = 0
            stop[axis] = dims[axis] = self.info.shape[axis]
        cdef cnp.ndarray out = new_result(self._item_dtype, self.ndim - is_one, dims + is_one)
        strides[0] = 0
        for axis in range(is_one, self.ndim):
            strides[axis] = out.strides[axis - is_one]
        selection.start = start
        selection.stop = stop
        selection.step = NULL
        selection.nthreads = 0
        read_selection(self, &selection, cnp.PyArray_DATA(out), strides)
        return out

    def _new_result(self, tuple shape not None):
        """An array for `shape` items of fixed size, of any content."""
        cdef cnp.npy_intp dims[VCZC_MAX_NDIM]
        cdef int axis
        if len(shape) > VCZC_MAX_NDIM:
            raise ValueError(f"{len(shape)} dimensions")
        for axis in range(len(shape)):
            dims[axis] = shape[axis]
        return new_result(self._item_dtype, len(shape), dims)

    def _read_box(
        self, tuple start not None, tuple stop not None, tuple step not None, tuple kept not None,
        cnp.ndarray out not None, int nthreads=0,
    ):
        """Decode a box with steps into `out`, which has the axes that `kept` says."""
        cdef _Box box = _Box(self, start, stop, step, nthreads)
        cdef int64_t strides[VCZC_MAX_NDIM]
        cdef int axis, k = 0
        cdef void *data = cnp.PyArray_DATA(out)
        require_item_type(self, out, False)
        require_writable(out)
        if len(kept) != self.ndim:
            raise ValueError(f"{len(kept)} axes of {self.ndim} are kept or not")
        for axis in range(self.ndim):
            strides[axis] = 0
            if not kept[axis]:
                if box.counts[axis] != 1:
                    raise ValueError(f"axis {axis} has {box.counts[axis]} items: it is not dropped")
                continue
            if k >= out.ndim or out.shape[k] != box.counts[axis]:
                raise wrong_shape(out)
            strides[axis] = out.strides[k]
            if strides[axis] == 0 and box.counts[axis] > 1 and cnp.PyArray_SIZE(out) != 0:
                raise errors.BufferError("out repeats the same memory along an axis")
            k += 1
        if k != out.ndim:
            raise wrong_shape(out)
        read_selection(self, &box.raw, data, strides)

    def _box_strings(
        self, tuple start not None, tuple stop not None, tuple step not None, int nthreads=0
    ):
        """The text of a box with steps."""
        cdef _Box box = _Box(self, start, stop, step, nthreads)
        cdef Strings strings = Strings.__new__(Strings)
        cdef int ret
        with nogil:
            ret = vczc_array_read_strings_selection(self.handle, &box.raw, &strings.raw)
        check(ret)
        strings.is_text = self.info.dtype == VCZC_VLEN_UTF8
        return strings

    def _view_into(self, tuple shape not None, out):
        """`out` as an array of `shape`, packed at its start; it must be C-contiguous."""
        cdef int64_t c_shape[VCZC_MAX_NDIM]
        cdef int axis
        if len(shape) > VCZC_MAX_NDIM:
            raise ValueError(f"{len(shape)} dimensions")
        for axis in range(len(shape)):
            c_shape[axis] = shape[axis]
        return packed_view(self, c_shape, out, len(shape))

    def _count_stored(self):
        """(chunks, bytes) that are stored, from the store's index."""
        cdef int64_t nchunks = 0, nbytes = 0
        cdef int ret
        with nogil:
            ret = vczc_array_count_stored(self.handle, &nchunks, &nbytes)
        check(ret)
        return nchunks, nbytes


# ---- The chunk grid ----

cdef class Blocks:
    """The chunks of an array by their place in the grid; `vczc.blocks.Blocks` is the whole of it.

    One chunk named by plain ints is read here; all else goes to `select`.
    """

    def __cinit__(self, Array array not None):
        self.array = array

    def __len__(self):
        if self.array.ndim == 0:
            raise TypeError("the blocks of a 0-d array have no length")
        return self.array.info.grid[0]

    @property
    def shape(self):
        """How many chunks there are along each axis."""
        return self.array.cdata_shape

    def __getitem__(self, index):
        cdef int64_t coords[VCZC_MAX_NDIM]
        if self.array.one_block(index, coords):
            return self.array.new_block(coords)
        return self.select(index, None, None)

    def read(self, index, out=None, threads=None):
        """The blocks at `index`, in `out` where it is given; the result is then a view of it."""
        cdef int64_t coords[VCZC_MAX_NDIM]
        if threads is None and self.array.one_block(index, coords):
            if out is None:
                return self.array.new_block(coords)
            return self.array.block_into(coords, out)
        return self.select(index, out, threads)


include "_core_genotypes.pxi"
