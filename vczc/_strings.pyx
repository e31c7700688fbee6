# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""What text becomes: offsets and bytes of libvczc as StringDType, Python str, bytes, or S.

Each result has a StringDType of its own: NumPy does not protect an allocator that two arrays
share. Nothing that needs the GIL is called while an allocator is held.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

cimport numpy as cnp

from vczc._core cimport Strings
from vczc.libvczc cimport vczc_strings_t

import numpy as np

cnp.import_array()


cdef extern from "numpy/arrayobject.h" nogil:
    # numpy's own declarations lack `nogil`.
    ctypedef struct npy_string_allocator:
        pass
    ctypedef struct npy_packed_static_string:
        pass
    ctypedef struct PyArray_StringDTypeObject:
        pass
    npy_string_allocator *NpyString_acquire_allocator(const PyArray_StringDTypeObject *descr)
    void NpyString_release_allocator(npy_string_allocator *allocator)
    int NpyString_pack(
        npy_string_allocator *allocator, npy_packed_static_string *packed, const char *text,
        size_t nbytes,
    )


def to_numpy(Strings strings not None, tuple shape not None, str mode not None):
    """A new array of `shape`. `mode` is "numpy", "object" (str) or "bytes" (S, as wide as needed)
    for text; "raw" (bytes in an object array) is for either and the only one for bytes."""
    if mode == "numpy":
        out = np.empty(shape, np.dtypes.StringDType())
        pack_into(strings, out)
        return out
    if mode == "bytes":
        out = np.empty(shape, f"S{max(1, strings.raw.max_item_nbytes)}")
        require_nitems(strings, out)
        copy_padded(&strings.raw, <char *> cnp.PyArray_DATA(out), out.dtype.itemsize)
        return out
    out = np.empty(shape, object)
    require_nitems(strings, out)
    fill_objects(&strings.raw, out.reshape(-1), mode == "object")
    return out


def pack_into(Strings strings not None, cnp.ndarray out not None):
    """Write the text into a C-contiguous array of StringDType of as many items."""
    cdef const PyArray_StringDTypeObject *descr
    cdef char *data = <char *> cnp.PyArray_DATA(out)
    cdef Py_ssize_t itemsize = cnp.PyArray_ITEMSIZE(out)
    cdef int ret
    if not isinstance(out.dtype, np.dtypes.StringDType) or not cnp.PyArray_IS_C_CONTIGUOUS(out):
        raise TypeError("a C-contiguous array of StringDType is needed")
    require_nitems(strings, out)
    descr = <const PyArray_StringDTypeObject *> cnp.PyArray_DESCR(out)
    with nogil:
        ret = pack_all(&strings.raw, descr, data, itemsize)
    if ret != 0:
        raise MemoryError("no memory for text")


cdef int require_nitems(Strings strings, cnp.ndarray out) except -1:
    if cnp.PyArray_SIZE(out) != strings.raw.nitems:
        raise ValueError(f"{strings.raw.nitems} texts for {cnp.PyArray_SIZE(out)} items")
    return 0


cdef int pack_all(
    const vczc_strings_t *strings, const PyArray_StringDTypeObject *descr, char *data,
    Py_ssize_t itemsize,
) noexcept nogil:
    cdef npy_string_allocator *allocator = NpyString_acquire_allocator(descr)
    cdef int64_t i, start, stop = 0
    cdef int ret = 0
    for i in range(strings.nitems):
        start = stop
        stop = strings.offsets[i + 1]
        ret = NpyString_pack(
            allocator, <npy_packed_static_string *> (data + i * itemsize), strings.data + start,
            <size_t> (stop - start),
        )
        if ret != 0:
            break
    NpyString_release_allocator(allocator)
    return ret


cdef void copy_padded(const vczc_strings_t *strings, char *data, Py_ssize_t width) noexcept nogil:
    cdef int64_t i, start, stop = 0
    cdef size_t nbytes
    for i in range(strings.nitems):
        start = stop
        stop = strings.offsets[i + 1]
        nbytes = <size_t> (stop - start)
        if nbytes != 0:
            memcpy(data, strings.data + start, nbytes)
        memset(data + nbytes, 0, <size_t> width - nbytes)
        data += width


cdef int fill_objects(const vczc_strings_t *strings, object[::1] out, bint is_text) except -1:
    cdef int64_t i, start, stop = 0
    for i in range(strings.nitems):
        start = stop
        stop = strings.offsets[i + 1]
        if is_text:
            out[i] = PyUnicode_DecodeUTF8(strings.data + start, stop - start, NULL)
        else:
            out[i] = PyBytes_FromStringAndSize(strings.data + start, stop - start)
    return 0
