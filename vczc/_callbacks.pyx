# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""A Mapping from keys to bytes as a store of libvczc.

Each callback takes the GIL; libvczc holds no lock meanwhile. Values are pinned where they lie.
Only KeyError means "not there"; what else the mapping raises becomes the cause of a StoreError.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport SIZE_MAX, uint64_t
from libc.string cimport memset

from vczc._core cimport Store, open_callbacks, set_error
from vczc.libvczc cimport (
    VCZC_ERR_CORRUPT,
    VCZC_ERR_NO_MEMORY,
    VCZC_ERR_NOT_FOUND,
    VCZC_ERR_STORE,
    vczc_callbacks_t,
    vczc_list_fn,
)

from vczc.errors import UndecodableError, remember_cause


def open_mapping(mapping, str name not None, *, bint prefer_consolidated=False):
    """A store on `mapping`, which errors call `name`. The mapping is held, not copied."""
    cdef vczc_callbacks_t callbacks
    cdef Store store
    memset(&callbacks, 0, sizeof(callbacks))
    callbacks.struct_nbytes = sizeof(callbacks)
    callbacks.get = get
    callbacks.release = release
    callbacks.list = list_keys
    callbacks.close = close
    callbacks.prefer_consolidated = prefer_consolidated
    Py_INCREF(mapping)  # `close` lets go of it
    try:
        store = open_callbacks(&callbacks, <void *> mapping, name.encode("utf-8", "replace"))
    except BaseException:
        Py_DECREF(mapping)
        raise
    return store


cdef int get(
    void *user, const char *key, uint64_t offset, size_t nbytes,
    const void **data, size_t *data_nbytes, void **pin,
) noexcept with gil:
    cdef Py_buffer *view = NULL
    cdef bint is_held = False
    cdef size_t size
    try:
        text = (<bytes> key).decode("utf-8", "surrogateescape")
        try:
            value = (<object> user)[text]
        except KeyError:
            return set_error(VCZC_ERR_NOT_FOUND, b"no such key")
        view = <Py_buffer *> PyMem_Malloc(sizeof(Py_buffer))
        if view == NULL:
            raise MemoryError
        PyObject_GetBuffer(value, view, PyBUF_SIMPLE)
        is_held = True
        size = <size_t> view.len
        if nbytes == SIZE_MAX:
            nbytes = size - <size_t> offset if offset <= size else 0
        if offset > size or nbytes > size - offset:
            reason = f"{text} has {size} bytes, and those from {offset} on were asked for"
            return set_error(VCZC_ERR_CORRUPT, reason.encode("utf-8", "replace"))
        data[0] = <const char *> view.buf + offset
        data_nbytes[0] = nbytes
        pin[0] = view
        view = NULL
        return 0
    except BaseException as err:
        return failed(err)
    finally:
        if view != NULL:
            if is_held:
                PyBuffer_Release(view)
            PyMem_Free(view)


def open_ranges(reader, str name not None):
    """A store on an object to which each request is dear (`remote.Reader`), which is held."""
    cdef vczc_callbacks_t callbacks
    cdef Store store
    memset(&callbacks, 0, sizeof(callbacks))
    callbacks.struct_nbytes = sizeof(callbacks)
    callbacks.get = get_range
    callbacks.release = release
    callbacks.size = get_size
    callbacks.list = list_below
    callbacks.list_folder = list_names
    callbacks.close = close
    callbacks.prefer_consolidated = True
    Py_INCREF(reader)  # `close` lets go of it
    try:
        store = open_callbacks(&callbacks, <void *> reader, name.encode("utf-8", "replace"))
    except BaseException:
        Py_DECREF(reader)
        raise
    return store


cdef int get_range(
    void *user, const char *key, uint64_t offset, size_t nbytes,
    const void **data, size_t *data_nbytes, void **pin,
) noexcept with gil:
    cdef Py_buffer *view = NULL
    cdef bint is_held = False
    try:
        text = (<bytes> key).decode("utf-8", "surrogateescape")
        try:
            wanted = None if nbytes == SIZE_MAX else nbytes
            value = (<object> user).fetch_range(text, offset, wanted)
        except KeyError:
            return set_error(VCZC_ERR_NOT_FOUND, b"no such key")
        view = <Py_buffer *> PyMem_Malloc(sizeof(Py_buffer))
        if view == NULL:
            raise MemoryError
        PyObject_GetBuffer(value, view, PyBUF_SIMPLE)
        is_held = True
        data[0] = view.buf
        data_nbytes[0] = <size_t> view.len
        pin[0] = view
        view = NULL
        return 0
    except BaseException as err:
        return failed(err)
    finally:
        if view != NULL:
            if is_held:
                PyBuffer_Release(view)
            PyMem_Free(view)


cdef int get_size(void *user, const char *key, uint64_t *nbytes) noexcept with gil:
    try:
        try:
            nbytes[0] = (<object> user).fetch_size((<bytes> key).decode("utf-8", "surrogateescape"))
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
        return tell_all((<object> user).keys_below(start), tell, tell_user)
    except BaseException as err:
        return failed(err)


cdef int list_names(
    void *user, const char *folder, vczc_list_fn tell, void *tell_user
) noexcept with gil:
    try:
        start = (<bytes> folder).decode("utf-8", "surrogateescape")
        return tell_all((<object> user).names_in(start), tell, tell_user)
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
        keys = list(<object> user)
        for key in keys:
            if not isinstance(key, str):
                raise TypeError(f"the keys of a store are str, not {type(key).__name__}")
        return tell_all([key for key in keys if key.startswith(start)], tell, tell_user)
    except BaseException as err:
        return failed(err)


cdef void close(void *user) noexcept with gil:
    Py_DECREF(<object> user)


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
        # One line, short enough for libvczc to keep whole: the exception is found by it again.
        line = " ".join(f"{type(error).__name__}: {error}".split())
        reason = line.encode("utf-8", "replace")[:160]
        if code == VCZC_ERR_STORE:
            remember_cause(reason.decode("utf-8", "replace"), error)
        return set_error(code, reason)
    except BaseException:
        return set_error(code, b"the mapping failed, and so did the account of it")
