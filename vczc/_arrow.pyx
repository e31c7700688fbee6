# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""The Arrow C data interface: columns as capsules that pyarrow, polars, duckdb and others take.

https://arrow.apache.org/docs/format/CDataInterface.html and the PyCapsule interface beside it.
Nothing is copied: the capsules hold the arrays until the consumer releases them.
"""

from cpython.object cimport PyObject
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free

cimport numpy as cnp

from vczc._arrow_abi cimport ARROW_FLAG_NULLABLE, ArrowArray, ArrowSchema

cnp.import_array()


cdef class Column:
    """One column: its Arrow format, its buffers (ndarrays, or None), its children."""

    cdef bytes c_format, c_name
    cdef readonly int64_t length
    cdef readonly tuple buffers, children

    def __cinit__(
        self, str format not None, int64_t length, tuple buffers, *, str name="", tuple children=(),
    ):
        cdef Column child
        for buffer in buffers:
            if buffer is not None and not cnp.PyArray_IS_C_CONTIGUOUS(<cnp.ndarray?> buffer):
                raise ValueError("a buffer of a column is not contiguous")
        for child in children:
            if child is None:
                raise TypeError("a child of a column is a Column")
        self.c_format = format.encode()
        self.c_name = name.encode()
        self.length = length
        self.buffers = buffers
        self.children = children

    @property
    def format(self):
        return self.c_format.decode()

    @property
    def name(self):
        return self.c_name.decode()


def export_schema(Column column not None):
    """A capsule "arrow_schema"."""
    cdef ArrowSchema *schema = <ArrowSchema *> calloc(1, sizeof(ArrowSchema))
    if schema == NULL:
        raise MemoryError
    try:
        fill_schema(column, schema)
        return PyCapsule_New(schema, "arrow_schema", end_schema_capsule)
    except BaseException:
        end_schema(schema)
        raise


def export_array(Column column not None):
    """A capsule "arrow_array"."""
    cdef ArrowArray *array = <ArrowArray *> calloc(1, sizeof(ArrowArray))
    if array == NULL:
        raise MemoryError
    try:
        fill_array(column, array)
        return PyCapsule_New(array, "arrow_array", end_array_capsule)
    except BaseException:
        end_array(array)
        raise


# A struct that fails half-way is released like any other: `n_children` counts what is there.

cdef int fill_schema(Column column, ArrowSchema *schema) except -1:
    cdef Py_ssize_t i, n = len(column.children)
    schema.release = release_schema
    schema.private_data = <PyObject *> column
    Py_INCREF(column)
    schema.format = column.c_format
    schema.name = column.c_name
    schema.flags = ARROW_FLAG_NULLABLE
    schema.children = <ArrowSchema **> calloc(n + 1, sizeof(ArrowSchema *))
    if schema.children == NULL:
        raise MemoryError
    for i in range(n):
        schema.children[i] = <ArrowSchema *> calloc(1, sizeof(ArrowSchema))
        if schema.children[i] == NULL:
            raise MemoryError
        schema.n_children = i + 1
        fill_schema(column.children[i], schema.children[i])
    return 0


cdef int fill_array(Column column, ArrowArray *array) except -1:
    cdef Py_ssize_t i, n = len(column.children), nbuffers = len(column.buffers)
    array.release = release_array
    array.private_data = <PyObject *> column
    Py_INCREF(column)
    array.length = column.length
    array.buffers = <const void **> calloc(nbuffers + 1, sizeof(void *))
    array.children = <ArrowArray **> calloc(n + 1, sizeof(ArrowArray *))
    if array.buffers == NULL or array.children == NULL:
        raise MemoryError
    array.n_buffers = nbuffers
    for i in range(nbuffers):
        if column.buffers[i] is not None:
            array.buffers[i] = cnp.PyArray_DATA(column.buffers[i])
    for i in range(n):
        array.children[i] = <ArrowArray *> calloc(1, sizeof(ArrowArray))
        if array.children[i] == NULL:
            raise MemoryError
        array.n_children = i + 1
        fill_array(column.children[i], array.children[i])
    return 0


cdef void release_schema(ArrowSchema *schema) noexcept with gil:
    cdef int64_t i
    for i in range(schema.n_children):
        end_schema(schema.children[i])
    free(schema.children)
    schema.release = NULL
    Py_DECREF(<object> schema.private_data)


cdef void release_array(ArrowArray *array) noexcept with gil:
    cdef int64_t i
    for i in range(array.n_children):
        end_array(array.children[i])
    free(array.children)
    free(array.buffers)
    array.release = NULL
    Py_DECREF(<object> array.private_data)


cdef void end_schema(ArrowSchema *schema) noexcept:
    if schema.release != NULL:
        schema.release(schema)
    free(schema)


cdef void end_array(ArrowArray *array) noexcept:
    if array.release != NULL:
        array.release(array)
    free(array)


cdef void end_schema_capsule(object capsule) noexcept:
    end_schema(<ArrowSchema *> PyCapsule_GetPointer(capsule, "arrow_schema"))


cdef void end_array_capsule(object capsule) noexcept:
    end_array(<ArrowArray *> PyCapsule_GetPointer(capsule, "arrow_array"))
