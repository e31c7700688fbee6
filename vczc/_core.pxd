# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""The extension types that hold libvczc's handles. No NumPy: a user of `Array` needs none."""

from libc.stdint cimport int64_t

from vczc.libvczc cimport (
    vczc_array_info_t,
    vczc_array_t,
    vczc_bytes_t,
    vczc_callbacks_t,
    vczc_node_info_t,
    vczc_node_t,
    vczc_store_t,
    vczc_strings_t,
)


# The only bridge from a status to an exception: call it in the thread that got `ret`, before any
# other function of libvczc.
cdef int check(int ret) except -1

# For `_callbacks`, which does not link libvczc.
cdef Store open_callbacks(
    const vczc_callbacks_t *callbacks, void *user, object source, bytes name
)
cdef int set_error(int code, const char *reason) noexcept nogil


cdef class Store:
    cdef vczc_store_t *handle
    cdef Py_ssize_t nusers
    cdef bint is_closed
    cdef object source  # what its callbacks ask, held where the garbage collector sees it
    cdef object __weakref__

    cdef vczc_store_t *enter(self) except NULL
    cdef void leave(self) noexcept


cdef class Bytes:
    cdef vczc_bytes_t raw
    cdef object source


cdef class Node:
    cdef vczc_node_t *handle
    cdef object source
    cdef const vczc_node_info_t *info


cdef class Strings:
    cdef vczc_strings_t raw
    cdef readonly bint is_text  # else bytes


cdef class Array:
    cdef vczc_array_t *handle
    cdef object source
    cdef const vczc_array_info_t *info
    cdef readonly str _text_as
    cdef readonly tuple shape, chunks, cdata_shape
    cdef readonly object _item_dtype  # None where items are of variable length
    cdef readonly int ndim

    # Decode one chunk into memory of at least its size: 0, or a VCZC_ERR_… of vczc.h.
    cdef int read_block(self, const int64_t *coords, void *out, size_t size) noexcept nogil
    cdef int one_block(self, object index, int64_t *coords) except -1
    cdef object new_block(self, const int64_t *coords)
    cdef object block_into(self, const int64_t *coords, object out)
    cdef int fill_coords(self, tuple coords, int64_t *into) except -1


cdef class Blocks:
    cdef readonly Array array
