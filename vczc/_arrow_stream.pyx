# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""The Arrow C stream interface: record batches, made when the consumer asks for the next one.

https://arrow.apache.org/docs/format/CStreamInterface.html. Any thread of the consumer may ask.
"""

from cpython.object cimport PyObject
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.errno cimport EIO, ENOMEM
from libc.stdlib cimport calloc, free

from vczc._arrow_abi cimport ArrowArray, ArrowArrayStream, ArrowSchema

from vczc import _arrow


cdef class _Source:
    """What a stream holds: an empty column for the schema, and an iterator of columns."""
    cdef object schema, columns
    cdef bytes error  # of the last call, where it failed

    cdef int fail(self, object err) noexcept:
        self.error = None
        try:
            self.error = f"{type(err).__module__}.{type(err).__qualname__}: {err}".encode()
        except Exception:
            pass
        return ENOMEM if isinstance(err, MemoryError) else EIO


def export_stream(schema not None, columns not None):
    """A capsule "arrow_array_stream"; `columns` are like `schema`, a struct for each batch."""
    cdef ArrowArrayStream *stream = <ArrowArrayStream *> calloc(1, sizeof(ArrowArrayStream))
    cdef _Source source
    if stream == NULL:
        raise MemoryError
    try:
        source = _Source.__new__(_Source)
        source.schema = schema
        source.columns = iter(columns)
        stream.get_schema = get_schema
        stream.get_next = get_next
        stream.get_last_error = get_last_error
        stream.private_data = <PyObject *> source
        Py_INCREF(source)
        stream.release = release_stream
        return PyCapsule_New(stream, "arrow_array_stream", end_stream_capsule)
    except BaseException:
        end_stream(stream)
        raise


# A struct is moved out of its capsule, which then has nothing left to release.

cdef int get_schema(ArrowArrayStream *stream, ArrowSchema *out) noexcept with gil:
    cdef _Source source = <_Source> stream.private_data
    cdef ArrowSchema *made
    try:
        capsule = _arrow.export_schema(source.schema)
        made = <ArrowSchema *> PyCapsule_GetPointer(capsule, "arrow_schema")
        out[0] = made[0]
        made.release = NULL
    except BaseException as err:
        return source.fail(err)
    return 0


cdef int get_next(ArrowArrayStream *stream, ArrowArray *out) noexcept with gil:
    cdef _Source source = <_Source> stream.private_data
    cdef ArrowArray *made
    try:
        column = next(source.columns, None)
        if column is None:
            out.release = NULL  # the end
            return 0
        capsule = _arrow.export_array(column)
        made = <ArrowArray *> PyCapsule_GetPointer(capsule, "arrow_array")
        out[0] = made[0]
        made.release = NULL
    except BaseException as err:
        return source.fail(err)
    return 0


cdef const char *get_last_error(ArrowArrayStream *stream) noexcept with gil:
    cdef _Source source = <_Source> stream.private_data
    if source.error is None:
        return NULL
    return source.error


cdef void release_stream(ArrowArrayStream *stream) noexcept with gil:
    stream.release = NULL
    Py_DECREF(<object> stream.private_data)


cdef void end_stream(ArrowArrayStream *stream) noexcept:
    if stream.release != NULL:
        stream.release(stream)
    free(stream)


cdef void end_stream_capsule(object capsule) noexcept:
    end_stream(<ArrowArrayStream *> PyCapsule_GetPointer(capsule, "arrow_array_stream"))
