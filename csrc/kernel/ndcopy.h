/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Copies between strided n-dimensional boxes, and one item repeated. Items of any size, strides of any sign. */
#ifndef VCZI_NDCOPY_H
#define VCZI_NDCOPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vczc.h"

/* A box of items in memory. */
typedef struct {
    int ndim;
    size_t item_nbytes;
    int64_t shape[VCZC_MAX_NDIM];
    int64_t strides[VCZC_MAX_NDIM]; /* bytes */
} vczi_box_t;

/* Strides of a C-order (or F-order) array of `shape`. The product has been checked by the caller. */
void vczi_strides_c(int ndim, const int64_t *shape, size_t item_nbytes, int64_t *strides);
void vczi_strides_f(int ndim, const int64_t *shape, size_t item_nbytes, int64_t *strides);

/* True where the box's items lie one after another in C order. */
bool vczi_box_is_contiguous(const vczi_box_t *box);

/* Copy the box that lies at `in` with `in_strides` into `out`. Memory does not overlap. Runs that lie one after another
 * on both sides are copied at once; transposes go in tiles. */
void vczi_ndcopy(void *out, const vczi_box_t *out_box, const void *in, const int64_t *in_strides);

/* A copy with as few axes as it can have: `ndim` loops around runs of `run_nbytes` bytes that lie one after another on
 * both sides. */
typedef struct {
    int ndim;
    size_t run_nbytes;
    int64_t shape[VCZC_MAX_NDIM];
    int64_t out_strides[VCZC_MAX_NDIM];
    int64_t in_strides[VCZC_MAX_NDIM];
} vczi_runs_t;

/* False where there is nothing to copy. */
bool vczi_runs_init(vczi_runs_t *runs, const vczi_box_t *box, const int64_t *in_strides);

/* Step the first `naxes` counters (`index`, zeroed at first) and the places of both sides, in bytes; false after the
 * last. */
bool vczi_runs_next(const vczi_runs_t *runs, int naxes, int64_t *index, int64_t *out, int64_t *in);

/* Write `item` (item_nbytes bytes) to every place of the box. */
void vczi_ndfill(void *out, const vczi_box_t *out_box, const void *item);

#endif
