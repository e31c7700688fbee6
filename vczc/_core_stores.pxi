# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Part of `_core`: stores, the bytes that they pin, and the documents of their nodes."""


cdef class Store:
    """A store of libvczc. It is closed after the calls that other threads are in.

    `nusers`, `is_closed` and `handle` change in critical sections, as there may be no GIL. Between
    `enter` and `leave` the handle and `source` stay as they are.
    """

    def __dealloc__(self):
        vczc_store_close(self.handle)

    cdef vczc_store_t *enter(self) except NULL:
        cdef vczc_store_t *handle = NULL
        with cython.critical_section(self):
            if not self.is_closed and self.handle != NULL:
                self.nusers += 1
                handle = self.handle
        if handle == NULL:
            raise errors.StoreError("the store is closed")
        return handle

    cdef void leave(self) noexcept:
        cdef vczc_store_t *last = NULL
        source = None
        with cython.critical_section(self):
            self.nusers -= 1
            if self.is_closed and self.nusers == 0:
                last = self.handle
                self.handle = NULL
                source = self.source
                self.source = None
        vczc_store_close(last)  # which may run code of the caller's, as the end of `source` may

    def close(self):
        with cython.critical_section(self):
            self.nusers += 1
            self.is_closed = True
        self.leave()

    @property
    def closed(self):
        cdef bint is_closed
        with cython.critical_section(self):
            is_closed = self.is_closed
        return is_closed

    @property
    def kind(self):
        kind = vczc_store_kind(self.enter())
        self.leave()
        return kind

    @property
    def location(self):
        location = <bytes> vczc_store_location(self.enter())
        self.leave()
        return os.fsdecode(location)

    @property
    def prefix(self):
        prefix = <bytes> vczc_store_prefix(self.enter())
        self.leave()
        return os.fsdecode(prefix)

    def get(self, str key not None):
        """The stored bytes of `key` as a read-only memoryview, which pins them; None if absent."""
        cdef bytes name = key_of(key)
        cdef const char *text = name
        cdef Bytes pinned = Bytes.__new__(Bytes)
        cdef vczc_store_t *handle = self.enter()
        cdef int ret
        pinned.source = self.source
        with nogil:
            ret = vczc_store_get(handle, text, &pinned.raw)
        try:
            if ret == VCZC_ERR_NOT_FOUND:
                return None
            check(ret)
        finally:
            self.leave()
        return memoryview(pinned)

    def keys(self, str prefix=""):
        """Every key that begins with `prefix`, in order."""
        cdef bytes name = key_of(prefix)
        cdef const char *text = name
        cdef list found = []
        cdef vczc_store_t *handle = self.enter()
        cdef int ret
        with nogil:
            ret = vczc_store_list(handle, text, tell_name, <void *> found)
        try:
            check(ret)
        finally:
            self.leave()
        found.sort()
        return found


def open_path(bytes path not None, *, bint verify=False):
    """The store at a path: a directory or a zip archive."""
    cdef Store store = Store.__new__(Store)
    cdef const char *text = path
    cdef uint32_t flags = VCZC_OPEN_VERIFY if verify else 0
    cdef int ret
    if b"\0" in path:
        raise ValueError(f"a path may not hold a zero byte: {path!r}")
    with nogil:
        ret = vczc_store_open(&store.handle, text, flags)
    check(ret)
    return store


cdef Store open_callbacks(
    const vczc_callbacks_t *callbacks, void *user, object source, bytes name
):
    """A store whose callbacks ask `source`, which lives as long as the store and what it opened."""
    cdef Store store = Store.__new__(Store)
    cdef const char *text = name
    cdef int ret
    with nogil:
        ret = vczc_store_open_callbacks(&store.handle, callbacks, user, text)
    store.source = source
    check(ret)
    return store


cdef class Bytes:
    """Stored bytes, pinned as long as a view of them lives."""

    def __dealloc__(self):
        vczc_bytes_release(&self.raw)

    def __getbuffer__(self, Py_buffer *view, int flags):
        cdef const void *data = self.raw.data if self.raw.nbytes != 0 else <const void *> b""
        PyBuffer_FillInfo(view, self, <void *> data, <Py_ssize_t> self.raw.nbytes, True, flags)


# ---- Nodes ----

cdef class Node:
    """The documents of a group or array."""

    def __cinit__(self, Store store not None, str path not None):
        cdef bytes name = key_of(path)
        cdef const char *text = name
        cdef vczc_store_t *handle = store.enter()
        cdef int ret
        with nogil:
            ret = vczc_node_open(&self.handle, handle, text)
        self.source = store.source
        try:
            check(ret)
        finally:
            store.leave()
        self.info = vczc_node_info(self.handle)

    def __dealloc__(self):
        vczc_node_close(self.handle)

    @property
    def kind(self):
        return self.info.kind

    @property
    def zarr_format(self):
        return self.info.zarr_format

    @property
    def document(self):
        """.zgroup, .zarray or zarr.json, as stored."""
        return self.info.document[:self.info.document_nbytes]

    @property
    def attributes(self):
        """As JSON text."""
        return self.info.attributes[:self.info.attributes_nbytes]

    def children(self):
        """(name, kind) of each child, by name."""
        cdef list found = []
        cdef int ret
        with nogil:
            ret = vczc_node_children(self.handle, tell_child, <void *> found)
        check(ret)
        return found
