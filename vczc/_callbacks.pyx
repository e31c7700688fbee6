# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""A Mapping from keys to bytes as a store of libvczc.

Each callback takes the GIL; libvczc holds no lock meanwhile. Values are pinned where they lie.
Only KeyError means "not there"; what else the mapping raises becomes the cause of a StoreError.

A mapping may hold the group that it is the store of. So that the garbage collector sees that
cycle, libvczc holds no reference: those who hold one of its handles hold the mapping too, in a
`_Source`, and libvczc holds a link that says whether it is still there.
"""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport SIZE_MAX, uint64_t
from libc.string cimport memset

from vczc._core cimport Store, open_callbacks, set_error
from vczc.libvczc cimport (
    VCZC_ERR_CORRUPT,
    VCZC_ERR_NO_MEMORY,
    VCZC_ERR_NOT_FOUND,
    VCZC_ERR_STORE,
    VCZC_ERR_UNSUPPORTED,
    vczc_callbacks_t,
    vczc_list_fn,
)

from vczc.errors import UndecodableError, UnsupportedError, remember_cause


@cython.final
cdef class _Link:
    """What libvczc holds, one reference for each store, and the source another."""
    cdef PyObject *source  # a _Source, not held; NULL when it is gone


@cython.final
cdef class _Source:
    """A mapping as long as it is needed. The collector may take it away before the rest."""
    cdef object mapping
    cdef PyObject *link  # a _Link, held; out of sight of the collector, which would clear it

    def __dealloc__(self):
        # No thread is in a callback now: it would have come by a handle that holds this.
        if self.link != NULL:
            (<_Link> self.link).source = NULL
            Py_DECREF(<_Link> self.link)


cdef object mapping_of(void *user):
    cdef _Link link = <_Link> user
    mapping = None if link.source == NULL else (<_Source> link.source).mapping
    if mapping is None:
        raise ReferenceError("the mapping is gone: it was collected together with its arrays")
    return mapping


cdef Store open_source(mapping, str name, vczc_callbacks_t *callbacks):
    cdef _Source source = _Source.__new__(_Source)
    cdef _Link link = _Link.__new__(_Link)
    cdef Store store
    link.source = <PyObject *> source
    Py_INCREF(link)
    source.link = <PyObject *> link
    source.mapping = mapping
    callbacks.struct_nbytes = sizeof(vczc_callbacks_t)
    callbacks.release = release
    callbacks.close = close
    Py_INCREF(link)
    try:
        store = open_callbacks(callbacks, <void *> link, source, name.encode("utf-8", "replace"))
    except BaseException:
        Py_DECREF(link)  # where it fails, `close` is not called
        raise
    return store


def open_mapping(mapping, str name not None, *, bint prefer_consolidated=False):
    """A store on `mapping`, which errors call `name`. The mapping is held, not copied."""
    cdef vczc_callbacks_t callbacks
    memset(&callbacks, 0, sizeof(callbacks))
    callbacks.get = get
    callbacks.list = list_keys
    callbacks.prefer_consolidated = prefer_consolidated
    return open_source(mapping, name, &callbacks)


cdef Py_buffer *pin_bytes(value) except NULL:
    """Where the bytes of a value lie; `release` lets go of them."""
    cdef Py_buffer *view = <Py_buffer *> PyMem_Malloc(sizeof(Py_buffer))
    if view == NULL:
        raise MemoryError
    try:
        PyObject_GetBuffer(value, view, PyBUF_SIMPLE)
    except BaseException:
        PyMem_Free(view)
        raise
    return view


cdef int get(
    void *user, const char *key, uint64_t offset, size_t nbytes,
    const void **data, size_t *data_nbytes, void **pin,
) noexcept with gil:
    cdef Py_buffer *view
    cdef size_t size
    try:
        text = (<bytes> key).decode("utf-8", "surrogateescape")
        mapping = mapping_of(user)
        try:
            value = mapping[text]
        except KeyError:
            return set_error(VCZC_ERR_NOT_FOUND, b"no such key")
        view = pin_bytes(value)
        size = <size_t> view.len
        if nbytes == SIZE_MAX:
            nbytes = size - <size_t> offset if offset <= size else 0
        if offset > size or nbytes > size - offset:
            release(user, view)
            reason = f"{text} has {size} bytes, and those from {offset} on were asked for"
            return set_error(VCZC_ERR_CORRUPT, reason.encode("utf-8", "replace"))
        data[0] = <const char *> view.buf + offset
        data_nbytes[0] = nbytes
        pin[0] = view
        return 0
    except BaseException as err:
        return failed(err)


def open_ranges(reader, str name not None):
    """A store on an object to which each request is dear (`remote.Reader`), which is held."""
    cdef vczc_callbacks_t callbacks
    memset(&callbacks, 0, sizeof(callbacks))
    callbacks.get = get_range
    callbacks.size = get_size
    callbacks.list = list_below
    callbacks.list_folder = list_names
    callbacks.prefer_consolidated = True
    return open_source(reader, name, &callbacks)


cdef int get_range(
    void *user, const char *key, uint64_t offset, size_t nbytes,
    const void **data, size_t *data_nbytes, void **pin,
) noexcept with gil:
    cdef Py_buffer *view
    try:
        text = (<bytes> key).decode("utf-8", "surrogateescape")
        try:
            wanted = None if nbytes == SIZE_MAX else nbytes
            value = mapping_of(user).fetch_range(text, offset, wanted)
        except KeyError:
            return set_error(VCZC_ERR_NOT_FOUND, b"no such key")
        view = pin_bytes(value)
        data[0] = view.buf
        data_nbytes[0] = <size_t> view.len
        pin[0] = view
        return 0
    except BaseException as err:
        return failed(err)


cdef int get_size(void *user, const char *key, uint64_t *nbytes) noexcept with gil:
    try:
        try:
            text = (<bytes> key).decode("utf-8", "surrogateescape")
            nbytes[0] = mapping_of(user).fetch_size(text)
        except KeyError:
            return set_error(VCZC_ERR_NOT_FOUND, b"no such key")
        return 0
    except BaseException as err:
        return failed(err)


cdef int tell_all(object names, vczc_list_fn tell, void *tell_user) except? -1:
    cdef bytes name
    cdef const char *text
    cdef size_t nbytes
    cdef int ret
    for key in names:
        name = key.encode("utf-8", "surrogateescape")
        text = name
        nbytes = len(name)
        with nogil:
            ret = tell(tell_user, text, nbytes)
        if ret != 0:
            return ret
    return 0


cdef int list_below(
    void *user, const char *prefix, vczc_list_fn tell, void *tell_user
) noexcept with gil:
    try:
        start = (<bytes> prefix).decode("utf-8", "surrogateescape")
        return tell_all(mapping_of(user).keys_below(start), tell, tell_user)
    except BaseException as err:
        return failed(err)


cdef int list_names(
    void *user, const char *folder, vczc_list_fn tell, void *tell_user
) noexcept with gil:
    try:
        start = (<bytes> folder).decode("utf-8", "surrogateescape")
        return tell_all(mapping_of(user).names_in(start), tell, tell_user)
    except BaseException as err:
        return failed(err)


cdef void release(void *user, void *pin) noexcept with gil:
    if pin != NULL:
        PyBuffer_Release(<Py_buffer *> pin)
        PyMem_Free(pin)


cdef int list_keys(
    void *user, const char *prefix, vczc_list_fn tell, void *tell_user
) noexcept with gil:
    try:
        start = (<bytes> prefix).decode("utf-8", "surrogateescape")
        keys = list(mapping_of(user))
        for key in keys:
            if not isinstance(key, str):
                raise TypeError(f"the keys of a store are str, not {type(key).__name__}")
        return tell_all([key for key in keys if key.startswith(start)], tell, tell_user)
    except BaseException as err:
        return failed(err)


cdef void close(void *user) noexcept with gil:
    Py_DECREF(<_Link> user)


cdef int failed(object error) noexcept:
    """The reason for libvczc, and the exception for whoever waits in Python."""
    cdef int code = VCZC_ERR_STORE
    cdef bytes reason
    try:
        if isinstance(error, MemoryError):
            code = VCZC_ERR_NO_MEMORY
        if isinstance(error, UndecodableError):  # told as what it is, and its cause with it
            reason = str(error).encode("utf-8", "replace")[:160]
            if error.__cause__ is not None:
                remember_cause(reason.decode("utf-8", "replace"), error.__cause__)
            return set_error(VCZC_ERR_CORRUPT, reason)
        if isinstance(error, UnsupportedError):
            return set_error(VCZC_ERR_UNSUPPORTED, str(error).encode("utf-8", "replace")[:160])
        # One line, short enough for libvczc to keep whole: the exception is found by it again.
        line = " ".join(f"{type(error).__name__}: {error}".split())
        reason = line.encode("utf-8", "replace")[:160]
        if code == VCZC_ERR_STORE:
            remember_cause(reason.decode("utf-8", "replace"), error)
        return set_error(code, reason)
    except BaseException:
        return set_error(code, b"the mapping failed, and so did the account of it")
