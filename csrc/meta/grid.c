/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The arithmetic of the chunk grid. Sums of a place and a length are avoided: a chunk may be longer than the array, and
 * a step as long as int64 holds. */
#include "grid.h"

#include <inttypes.h>
#include <string.h>

#include "checked.h"
#include "status.h"

static int64_t min_i64(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t max_i64(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Items [*first, *end) of the axis lie in chunk `coord`. */
static void chunk_extent(const vczi_grid_t *grid, int axis, int64_t coord, int64_t *first, int64_t *end) {
    *first = coord * grid->chunks[axis]; /* no more than the shape: coord is in the grid */
    *end = *first + min_i64(grid->chunks[axis], grid->shape[axis] - *first);
}

int vczi_grid_init(vczi_grid_t *grid, int ndim, const int64_t *shape, const int64_t *chunks) {
    int64_t nitems = 1; /* an empty axis counts as 1: NumPy refuses by the other axes too */
    bool is_empty = false;
    if (ndim < 0 || ndim > VCZC_MAX_NDIM) {
        return vczi_fail(VCZC_ERR_METADATA, "%d dimensions are more than %d", ndim, VCZC_MAX_NDIM);
    }
    memset(grid, 0, sizeof(*grid));
    grid->ndim = ndim;
    grid->nchunks = 1;
    grid->chunk_nitems = 1;
    for (int i = 0; i < ndim; i++) {
        if (shape[i] < 0) {
            return vczi_fail(VCZC_ERR_METADATA, "axis %d has a length of %" PRId64, i, shape[i]);
        }
        if (chunks[i] < 1 && (chunks[i] < 0 || shape[i] != 0)) {
            return vczi_fail(VCZC_ERR_METADATA, "axis %d has chunks of length %" PRId64, i, chunks[i]);
        }
        grid->shape[i] = shape[i];
        grid->stated[i] = chunks[i];
        grid->chunks[i] = max_i64(chunks[i], 1);
        grid->counts[i] = shape[i] / grid->chunks[i] + (shape[i] % grid->chunks[i] != 0);
        is_empty = is_empty || shape[i] == 0;
        if (!vczi_mul_i64(nitems, max_i64(shape[i], 1), &nitems) ||
            !vczi_mul_i64(grid->nchunks, max_i64(grid->counts[i], 1), &grid->nchunks)) {
            return vczi_fail(VCZC_ERR_METADATA, "the shape has more items than 64 bits can count");
        }
        if (!vczi_mul_i64(grid->chunk_nitems, grid->chunks[i], &grid->chunk_nitems)) {
            return vczi_fail(VCZC_ERR_METADATA, "a chunk has more items than 64 bits can count");
        }
    }
    if (is_empty) {
        grid->nchunks = 0;
    }
    return 0;
}

int vczi_grid_init_inner(vczi_grid_t *grid, const vczi_grid_t *outer, int ndim, const int64_t *chunks) {
    if (ndim != outer->ndim) {
        return vczi_fail(VCZC_ERR_METADATA, "the chunks in a shard have %d axes, the array %d", ndim, outer->ndim);
    }
    for (int i = 0; i < ndim; i++) {
        if (chunks[i] < 1 || outer->chunks[i] % chunks[i] != 0) {
            return vczi_fail(VCZC_ERR_METADATA,
                             "axis %d of a shard has a length of %" PRId64 ", no multiple of its chunks' %" PRId64, i,
                             outer->chunks[i], chunks[i]);
        }
    }
    return vczi_grid_init(grid, ndim, outer->shape, chunks);
}

bool vczi_grid_holds(const vczi_grid_t *grid, const int64_t *coords) {
    for (int i = 0; i < grid->ndim; i++) {
        if (coords[i] < 0 || coords[i] >= grid->counts[i]) {
            return false;
        }
    }
    return true;
}

void vczi_grid_block_shape(const vczi_grid_t *grid, const int64_t *coords, int64_t *shape) {
    for (int i = 0; i < grid->ndim; i++) {
        int64_t first, end;
        chunk_extent(grid, i, coords[i], &first, &end);
        shape[i] = end - first;
    }
}

vczi_cut_t vczi_grid_cut(const vczi_grid_t *grid, int axis, int64_t coord, int64_t start, int64_t stop, int64_t step) {
    vczi_cut_t cut = {0, 0, 0};
    int64_t first, end;
    chunk_extent(grid, axis, coord, &first, &end);
    end = min_i64(end, stop);
    int64_t item = max_i64(first, start);
    if (item >= end) {
        return cut;
    }
    const int64_t over = (item - start) % step; /* past the last item that was selected before */
    cut.place = (item - start) / step + (over != 0);
    if (over != 0) {
        if (step - over >= end - item) {
            cut.place = 0;
            return cut;
        }
        item += step - over;
    }
    cut.first = item - first;
    cut.count = (end - 1 - item) / step + 1;
    return cut;
}

void vczi_grid_range(const vczi_grid_t *grid, int axis, int64_t start, int64_t stop, int64_t *first, int64_t *last) {
    *first = start / grid->chunks[axis];
    *last = start < stop ? (stop - 1) / grid->chunks[axis] + 1 : *first;
}
