# SPDX-License-Identifier: MIT
# Copyright (c) The vczc developers
"""Part of `_core`: a long read as batches, so that Ctrl-C is noticed between them."""


cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1


# What is read in one call: results of so many bytes, out of so many chunks. A batch that took less
# than the first time (in seconds) is followed by one of twice as many, more than the second by half.
cdef int64_t BATCH_NBYTES = 64 << 20
cdef int64_t BATCH_NCHUNKS = 64
cdef double BATCH_SHORT = 0.1
cdef double BATCH_LONG = 0.4


cdef int read_selection(
    Array array, const vczc_selection_t *selection, void *data, const int64_t *strides
) except -1:
    """vczc_array_read_selection, cut along the axis of the most chunks where that is long."""
    cdef int64_t nchunks = 1, nitems = 1, most = 0, touched, count
    cdef int axis, longest = 0, ret
    for axis in range(array.ndim):
        touched = count_chunks(array, selection, axis)
        count = count_items(selection, axis)
        nchunks = multiply(nchunks, touched)
        nitems = multiply(nitems, count)
        if touched > most:
            most = touched
            longest = axis
    if most > 1 and (
        nchunks > BATCH_NCHUNKS or multiply(nitems, array.info.itemsize) > BATCH_NBYTES
    ):
        return read_batches(array, selection, data, strides, longest, nchunks // most, nitems)
    with nogil:
        ret = vczc_array_read_selection(array.handle, selection, data, strides)
    return check(ret)


cdef int read_batches(
    Array array, const vczc_selection_t *selection, void *data, const int64_t *strides,
    int axis, int64_t nchunks_across, int64_t nitems,
) except -1:
    cdef int64_t start[VCZC_MAX_NDIM]
    cdef int64_t stop[VCZC_MAX_NDIM]
    cdef vczc_selection_t batch = selection[0]
    cdef int64_t chunk = array.info.chunks[axis], step = step_of(selection, axis)
    cdef int64_t count = count_items(selection, axis), at = 0, place, limit, end
    cdef int64_t row_nbytes = multiply(nitems // count, array.info.itemsize)
    cdef int64_t slab_nbytes = multiply(row_nbytes, (chunk - 1) // step + 1)
    cdef int64_t nslabs = max(
        1, min(BATCH_NCHUNKS // nchunks_across, BATCH_NBYTES // max(1, slab_nbytes))
    )
    cdef int i, ret
    cdef double begin, took
    for i in range(array.ndim):
        start[i] = selection.start[i]
        stop[i] = selection.stop[i]
    batch.start = start
    batch.stop = stop
    while at < count:
        place = selection.start[axis] + at * step
        limit = multiply(place // chunk + nslabs, chunk)
        end = count
        if limit < selection.stop[axis]:
            end = (limit - 1 - selection.start[axis]) // step + 1
        start[axis] = place
        stop[axis] = min(limit, selection.stop[axis])
        begin = monotonic()
        with nogil:
            ret = vczc_array_read_selection(
                array.handle, &batch, <char *> data + at * strides[axis], strides
            )
        check(ret)
        PyErr_CheckSignals()
        took = monotonic() - begin
        if took < BATCH_SHORT:
            nslabs = multiply(nslabs, 2)
        elif took > BATCH_LONG and nslabs > 1:
            nslabs //= 2
        at = end
    return 0


cdef int64_t multiply(int64_t a, int64_t b) noexcept:
    """The product of two that are not negative, or as much as fits."""
    return INT64_MAX if b != 0 and a > INT64_MAX // b else a * b


cdef int64_t step_of(const vczc_selection_t *selection, int axis) noexcept:
    return 1 if selection.step == NULL else selection.step[axis]


cdef int64_t count_items(const vczc_selection_t *selection, int axis) noexcept:
    cdef int64_t length = selection.stop[axis] - selection.start[axis]
    return 0 if length <= 0 else (length - 1) // step_of(selection, axis) + 1


cdef int64_t count_chunks(Array array, const vczc_selection_t *selection, int axis) noexcept:
    """How many chunks of an axis hold an item."""
    cdef int64_t chunk = array.info.chunks[axis]
    cdef int64_t count = count_items(selection, axis)
    if count == 0:
        return 0
    return min(count, (selection.stop[axis] - 1) // chunk - selection.start[axis] // chunk + 1)
