/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "array_plan.h"

#include <inttypes.h>
#include <string.h>

#include "checked.h"
#include "status.h"

/* Below so many bytes a second thread costs more than it saves: waking one takes 5 to 50 µs, in which the slowest codec
 * (zstd, 1.3 GB/s) decodes 64 KB. */
#define SPLIT_NBYTES ((int64_t) 512 << 10)

/* Chunks for each thread from which on they are work enough as they are: the last round is then a small share. */
#define CHUNKS_PER_THREAD 4

/* Chunks of shards that one thread decodes in a row: the look at the shard (some 5 µs) is then a small part. */
#define MAX_RUN_NJOBS 64
#define RUNS_PER_THREAD 4

static int check_axis(const vczc_array_t *array, int axis, int64_t start, int64_t stop, int64_t step) {
    const int64_t length = array->doc->grid.shape[axis];
    if (step < 1) {
        return vczi_fail(VCZC_ERR_ARGUMENT, "a step of %" PRId64 " along axis %d", step, axis);
    }
    if (start < 0 || stop < start || stop > length) {
        int ret = vczi_fail(VCZC_ERR_INDEX, "[%" PRId64 ", %" PRId64 ") is not in axis %d of length %" PRId64, start,
                            stop, axis, length);
        return vczi_fail_where(ret, array->path, "", NULL, -1);
    }
    return 0;
}

/* A step as long as a chunk or longer: no chunk holds two of the items, and many hold none. */
static bool is_sparse(const vczi_plan_t *plan, int axis) {
    return plan->step[axis] >= plan->array->doc->grid.chunks[axis];
}

/* Coordinate of the chunk `number` of those that are touched. */
static int64_t chunk_at(const vczi_plan_t *plan, int axis, int64_t number) {
    if (is_sparse(plan, axis)) { /* the item is in the array: no product overflows */
        return (plan->start[axis] + number * plan->step[axis]) / plan->array->doc->grid.chunks[axis];
    }
    return plan->first_chunk[axis] + number;
}

/* Whether no place of an item overflows: the caller's strides may be anything. */
static bool strides_fit(const vczi_plan_t *plan, const int64_t *strides) {
    int64_t reach = 0;
    for (int i = 0; i < plan->array->doc->grid.ndim; i++) {
        int64_t length = 0;
        if (plan->counts[i] < 2) {
            continue;
        }
        if (strides[i] == INT64_MIN ||
            !vczi_mul_i64(strides[i] < 0 ? -strides[i] : strides[i], plan->counts[i] - 1, &length) ||
            !vczi_add_i64(reach, length, &reach)) {
            return false;
        }
    }
    return true;
}

/* Counts, strides and chunks of a plan whose start, stop and step are set. */
static int plan_count(vczi_plan_t *plan, const int64_t *out_strides) {
    const vczi_grid_t *grid = &plan->array->doc->grid;
    plan->nitems = 1;
    plan->njobs = 1;
    plan->run_njobs = 1;
    plan->nparts = 1;
    for (int i = 0; i < grid->ndim; i++) {
        const int64_t length = plan->stop[i] - plan->start[i];
        int64_t first = 0, last = 0;
        plan->counts[i] = length == 0 ? 0 : (length - 1) / plan->step[i] + 1;
        vczi_grid_range(grid, i, plan->start[i], plan->stop[i], &first, &last);
        plan->first_chunk[i] = first;
        plan->nchunks[i] = is_sparse(plan, i) ? plan->counts[i] : last - first;
        if (!vczi_mul_i64(plan->nitems, plan->counts[i], &plan->nitems) ||
            !vczi_mul_i64(plan->njobs, plan->nchunks[i], &plan->njobs)) {
            return vczi_fail(VCZC_ERR_INDEX, "the selection has more items than can be counted");
        }
    }
    if (plan->nitems == 0) {
        plan->njobs = 0;
    }
    if (out_strides != NULL) {
        if (plan->nitems != 0 && !strides_fit(plan, out_strides)) {
            return vczi_fail(VCZC_ERR_ARGUMENT, "out_strides lead further than any memory reaches");
        }
        memcpy(plan->out_strides, out_strides, (size_t) grid->ndim * sizeof(*out_strides));
    } else if (plan->nitems != 0) {
        vczi_strides_c(grid->ndim, plan->counts, 1, plan->out_strides);
    }
    return 0;
}

int vczi_plan_init(vczi_plan_t *plan, const vczc_array_t *array, const vczc_selection_t *selection,
                   const int64_t *out_strides) {
    const vczi_grid_t *grid = &array->doc->grid;
    plan->array = array;
    for (int i = 0; i < grid->ndim; i++) {
        plan->start[i] = selection == NULL ? 0 : selection->start[i];
        plan->stop[i] = selection == NULL ? grid->shape[i] : selection->stop[i];
        plan->step[i] = selection == NULL || selection->step == NULL ? 1 : selection->step[i];
        int ret = check_axis(array, i, plan->start[i], plan->stop[i], plan->step[i]);
        if (ret != 0) {
            return ret;
        }
        if (plan->step[i] > plan->stop[i] - plan->start[i]) { /* one item at most: any such step is the same */
            plan->step[i] = plan->stop[i] == plan->start[i] ? 1 : plan->stop[i] - plan->start[i];
        }
    }
    return plan_count(plan, out_strides);
}

void vczi_plan_init_block(vczi_plan_t *plan, const vczc_array_t *array, const int64_t *coords) {
    const vczi_grid_t *grid = &array->doc->grid;
    int64_t shape[VCZC_MAX_NDIM];
    plan->array = array;
    plan->nitems = 1;
    plan->nparts = 1;
    plan->njobs = 1;
    plan->run_njobs = 1;
    vczi_grid_block_shape(grid, coords, shape);
    for (int i = 0; i < grid->ndim; i++) {
        plan->start[i] = coords[i] * grid->chunks[i];
        plan->stop[i] = plan->start[i] + shape[i];
        plan->step[i] = 1;
        plan->counts[i] = shape[i];
        plan->first_chunk[i] = coords[i];
        plan->nchunks[i] = 1;
        plan->nitems *= shape[i]; /* at most a chunk's, which has been checked */
    }
    vczi_strides_c(grid->ndim, plan->counts, 1, plan->out_strides);
}

void vczi_plan_split(vczi_plan_t *plan, int nthreads) {
    const int64_t item_nbytes = (int64_t) plan->array->chain.item_nbytes;
    int64_t nbytes = 0;
    if (nthreads < 2 || plan->njobs == 0 || plan->njobs >= (int64_t) nthreads * CHUNKS_PER_THREAD ||
        plan->array->doc->grid.ndim == 0 || !vczi_chain_can_decode_part(&plan->array->chain) ||
        !vczi_mul_i64(plan->nitems, item_nbytes, &nbytes)) {
        return;
    }
    const int64_t rows = plan->counts[0] / plan->nchunks[0];
    int64_t nparts = nbytes / plan->njobs / SPLIT_NBYTES;
    nparts = nparts > nthreads ? nthreads : nparts;
    nparts = nparts > rows ? rows : nparts;
    if (nparts > 1) {
        plan->nparts = nparts;
        plan->njobs *= nparts;
    }
}

int64_t vczi_plan_runs(vczi_plan_t *plan, int nthreads) {
    if (plan->array->sharding != NULL) {
        const int64_t share = plan->njobs / ((int64_t) nthreads * RUNS_PER_THREAD);
        plan->run_njobs = nthreads < 2 || share > MAX_RUN_NJOBS ? MAX_RUN_NJOBS : share < 1 ? 1 : share;
    }
    return plan->njobs == 0 ? 0 : (plan->njobs - 1) / plan->run_njobs + 1;
}

vczi_run_t vczi_plan_run(const vczi_plan_t *plan, int64_t number) {
    const int64_t first = number * plan->run_njobs;
    const int64_t left = plan->njobs - first;
    return (vczi_run_t){first, first + (left < plan->run_njobs ? left : plan->run_njobs)};
}

/* Keep part `part` of the box's rows. */
static bool cut_part(const vczi_plan_t *plan, int64_t part, vczi_cut_t *cut) {
    const int64_t rows = (cut->count - 1) / plan->nparts + 1;
    const int64_t skip = part * rows;
    if (skip >= cut->count) {
        return false;
    }
    cut->first += skip * plan->step[0];
    cut->place += skip;
    cut->count = cut->count - skip < rows ? cut->count - skip : rows;
    return true;
}

bool vczi_plan_job(const vczi_plan_t *plan, int64_t number, vczi_job_t *job) {
    const vczi_grid_t *grid = &plan->array->doc->grid;
    const int64_t part = number % plan->nparts;
    int64_t left = number / plan->nparts;
    job->place = 0;
    job->request.out.ndim = grid->ndim;
    for (int i = grid->ndim - 1; i >= 0; i--) {
        job->coords[i] = chunk_at(plan, i, left % plan->nchunks[i]);
        left /= plan->nchunks[i];
        vczi_cut_t cut = vczi_grid_cut(grid, i, job->coords[i], plan->start[i], plan->stop[i], plan->step[i]);
        if (cut.count == 0 || (i == 0 && plan->nparts > 1 && !cut_part(plan, part, &cut))) {
            return false;
        }
        job->request.first[i] = cut.first;
        job->request.step[i] = cut.count == 1 ? 1 : plan->step[i]; /* else it is shorter than the chunk */
        job->request.out.shape[i] = cut.count;
        job->request.out.strides[i] = plan->out_strides[i];
        job->place += cut.place * plan->out_strides[i];
    }
    return true;
}
