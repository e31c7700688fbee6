/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* A request becomes jobs: which chunk, which box of it, and its place in the caller's memory. */
#ifndef VCZI_ARRAY_PLAN_H
#define VCZI_ARRAY_PLAN_H

#include <stdbool.h>

#include "array_open.h"
#include "chain.h"

/* A selection that has been checked, over the chunks that it touches. */
typedef struct {
    const vczc_array_t *array;
    int64_t start[VCZC_MAX_NDIM];
    int64_t stop[VCZC_MAX_NDIM];
    int64_t step[VCZC_MAX_NDIM];
    int64_t counts[VCZC_MAX_NDIM];      /* items selected along each axis */
    int64_t out_strides[VCZC_MAX_NDIM]; /* of the result, in bytes or items */
    int64_t first_chunk[VCZC_MAX_NDIM];
    int64_t nchunks[VCZC_MAX_NDIM]; /* chunks touched along each axis; of a step beyond the chunk, one for each item */
    int64_t nitems;                 /* selected */
    int64_t nparts;                 /* pieces along axis 0 that each chunk's box is cut into */
    int64_t njobs;                  /* chunks times parts; 0 of an empty selection */
    int64_t run_njobs;              /* jobs that one thread does one after another */
} vczi_plan_t;

/* One job: the box of one chunk. */
typedef struct {
    int64_t coords[VCZC_MAX_NDIM];
    vczi_request_t request; /* out.item_nbytes is left to the caller */
    int64_t place;          /* of the first item in the result, in the unit of out_strides */
} vczi_job_t;

/* VCZC_ERR_INDEX where the selection does not lie in the array; VCZC_ERR_ARGUMENT for a step below 1.
 * `selection` may be NULL: all of the array. `out_strides` may be NULL: C order, counted in items. */
int vczi_plan_init(vczi_plan_t *plan, const vczc_array_t *array, const vczc_selection_t *selection,
                   const int64_t *out_strides);

/* The box of one block, as a selection; coordinates have been checked. */
void vczi_plan_init_block(vczi_plan_t *plan, const vczc_array_t *array, const int64_t *coords);

/* Cut the chunks' boxes so that `nthreads` have work, where the boxes are large and can be decoded in part. */
void vczi_plan_split(vczi_plan_t *plan, int nthreads);

/* Gather the jobs in runs: of a sharded array so long that each shard is looked up seldom, and so short that
 * `nthreads` have work; else of one job. @return how many runs. */
int64_t vczi_plan_runs(vczi_plan_t *plan, int nthreads);

/* The jobs [first, end) of run `number`. */
typedef struct {
    int64_t first, end;
} vczi_run_t;
vczi_run_t vczi_plan_run(const vczi_plan_t *plan, int64_t number);

/* Job `number`, of njobs; false where nothing of the chunk is selected (a long step) or the part is empty. */
bool vczi_plan_job(const vczi_plan_t *plan, int64_t number, vczi_job_t *job);

#endif
