/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The chunk grid: counts, a chunk's box and its valid part. The only place that computes a minimum with a shape. */
#ifndef VCZI_GRID_H
#define VCZI_GRID_H

#include <stdbool.h>
#include <stdint.h>

#include "vczc.h"

typedef struct {
    int ndim;
    int64_t shape[VCZC_MAX_NDIM];
    int64_t chunks[VCZC_MAX_NDIM]; /* at least 1 each */
    int64_t stated[VCZC_MAX_NDIM]; /* as the document has them: some writers give an empty axis chunks of 0 */
    int64_t counts[VCZC_MAX_NDIM]; /* chunks along each axis; 0 of an empty axis */
    int64_t nchunks;               /* product of counts */
    int64_t chunk_nitems;          /* product of chunks */
} vczi_grid_t;

/* VCZC_ERR_METADATA where a number is negative, a chunk is 0 long (but along an empty axis), or a product does not fit
 * int64. */
int vczi_grid_init(vczi_grid_t *grid, int ndim, const int64_t *shape, const int64_t *chunks);

/* The same shape in the chunks that lie inside the chunks of `outer` (shards): VCZC_ERR_METADATA where these are no
 * whole number of them. */
int vczi_grid_init_inner(vczi_grid_t *grid, const vczi_grid_t *outer, int ndim, const int64_t *chunks);

bool vczi_grid_holds(const vczi_grid_t *grid, const int64_t *coords);

/* The part of the chunk that lies in the array: its shape. Coordinates have been checked. */
void vczi_grid_block_shape(const vczi_grid_t *grid, const int64_t *coords, int64_t *shape);

/* What of a strided selection (start, stop, step of one axis, start <= stop) falls into chunk `coord` of that axis:
 * first item in the chunk, number of items, and the place of the first in the selection. count may be 0. */
typedef struct {
    int64_t first; /* in the chunk */
    int64_t count;
    int64_t place; /* in the selection */
} vczi_cut_t;
vczi_cut_t vczi_grid_cut(const vczi_grid_t *grid, int axis, int64_t coord, int64_t start, int64_t stop, int64_t step);

/* Chunks [first, last) along `axis` that [start, stop) touches. */
void vczi_grid_range(const vczi_grid_t *grid, int axis, int64_t start, int64_t stop, int64_t *first, int64_t *last);

#endif
