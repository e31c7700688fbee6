/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "array_read.h"

#include <inttypes.h>

#include "array_plan.h"
#include "ceilings.h"
#include "checked.h"
#include "pool.h"
#include "status.h"

/* A block below so many bytes is decoded by the calling thread alone, without asking how many there are. */
#define ALONE_NBYTES ((int64_t) 1 << 20)

int vczi_array_fetch(const vczc_array_t *array, const int64_t *coords, bool is_sparse, char *key,
                     vczi_scratch_t *scratch, vczi_bytes_t *bytes) {
    int ret = vczi_array_key(array, coords, key, VCZI_MAX_KEY_NBYTES);
    if (ret != 0) {
        key[0] = 0;
    } else if (is_sparse) {
        ret = vczi_store_get_sparse(array->store, key, scratch, bytes);
    } else {
        ret = vczi_store_get(array->store, key, scratch, bytes);
    }
    if (ret == VCZC_ERR_NOT_FOUND) {
        if (!(array->flags & VCZC_MISSING_IS_ERROR)) {
            return ret;
        }
        ret = vczi_fail(VCZC_ERR_MISSING_CHUNK, "%s: the chunk is not stored", vczi_store_location(array->store));
    }
    return ret == 0 ? 0 : vczi_fail_where(ret, array->path, key, coords, array->doc->grid.ndim);
}

/* The box of one chunk, fetched and decoded or filled. */
static int decode_chunk(const vczc_array_t *array, const int64_t *coords, const vczi_request_t *request, void *out,
                        vczi_kept_block_t *kept, vczi_scratch_t *scratch) {
    char key[VCZI_MAX_KEY_NBYTES];
    vczi_bytes_t bytes = {0};
    int ret = vczi_array_fetch(array, coords, kept != NULL, key, scratch, &bytes);
    if (ret == VCZC_ERR_NOT_FOUND) {
        vczi_ndfill(out, &request->out, array->doc->fill); /* zeros where the document says null */
        return 0;
    }
    if (ret == 0) {
        ret = vczi_chain_decode(&array->chain, bytes.span, request, out, kept, scratch);
        vczi_bytes_release(&bytes);
        if (ret != 0) {
            ret = vczi_array_fail_chunk(array, ret, key, coords);
        }
    }
    return ret;
}

static int64_t chunk_number(const vczi_grid_t *grid, const int64_t *coords) {
    int64_t number = 0;
    for (int i = 0; i < grid->ndim; i++) {
        number = number * grid->counts[i] + coords[i];
    }
    return number;
}

/* A small part of a chunk: out of what is kept of it, or decoded and kept. */
static int read_part(const vczc_array_t *array, const int64_t *coords, const vczi_request_t *request, void *out,
                     vczi_scratch_t *scratch) {
    bool is_read = false;
    vczi_kept_block_t *kept = vczi_array_kept_borrow(array->kept, chunk_number(&array->doc->grid, coords));
    if (kept == NULL) {
        return decode_chunk(array, coords, request, out, NULL, scratch);
    }
    int ret = vczi_chain_read_kept(&array->chain, kept, request, out, &is_read, scratch);
    if (ret == 0 && is_read) {
        ret = vczi_store_check(array->store);
    }
    if (ret == 0 && !is_read) {
        ret = decode_chunk(array, coords, request, out, kept, scratch);
    }
    vczi_array_kept_return(array->kept);
    return ret;
}

static int read_chunk(const vczc_array_t *array, const int64_t *coords, const vczi_request_t *request, void *out) {
    vczi_scratch_t *scratch = vczi_scratch_borrow();
    if (scratch == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    int ret = vczi_chain_should_keep(&array->chain, request) ? read_part(array, coords, request, out, scratch)
                                                             : decode_chunk(array, coords, request, out, NULL, scratch);
    vczi_scratch_return(scratch);
    return ret;
}

static int check_fixed(const vczc_array_t *array) {
    if (!vczi_dtype_is_vlen(&array->doc->dtype)) {
        return 0;
    }
    return vczi_fail(VCZC_ERR_ARGUMENT, "'%s' holds %s: read it as strings", array->path,
                     vczi_dtype_name(&array->doc->dtype));
}

/* What the jobs of one call share. */
typedef struct {
    const vczi_plan_t *plan;
    char *out;
} read_t;

static int read_job(void *user, int64_t number) {
    const read_t *read = user;
    vczi_job_t job;
    if (!vczi_plan_job(read->plan, number, &job)) {
        return 0;
    }
    job.request.out.item_nbytes = read->plan->array->chain.item_nbytes;
    return read_chunk(read->plan->array, job.coords, &job.request, read->out + job.place);
}

static int read_plan(vczi_plan_t *plan, int nthreads, void *out) {
    read_t read = {plan, out};
    nthreads = nthreads > 0 ? nthreads : vczi_pool_threads();
    vczi_plan_split(plan, nthreads);
    return vczi_pool_run(plan->njobs, nthreads, read_job, &read);
}

int vczi_array_read(const vczc_array_t *array, const vczc_selection_t *selection, void *out,
                    const int64_t *out_strides) {
    vczi_plan_t plan;
    int ret = check_fixed(array);
    if (ret == 0) {
        ret = vczi_plan_init(&plan, array, selection, out_strides);
    }
    if (ret != 0 || plan.njobs == 0) {
        return ret;
    }
    if (out == NULL) {
        return vczi_fail(VCZC_ERR_ARGUMENT, "out is NULL");
    }
    const int64_t item_nbytes = (int64_t) array->chain.item_nbytes;
    const bool is_small = plan.nitems < ALONE_NBYTES / (item_nbytes > 0 ? item_nbytes : 1);
    return read_plan(&plan, is_small && plan.njobs == 1 ? 1 : selection == NULL ? 0 : selection->nthreads, out);
}

int vczi_array_read_block(const vczc_array_t *array, const int64_t *coords, void *out, size_t out_nbytes) {
    vczi_plan_t plan;
    vczi_job_t job;
    const size_t item_nbytes = array->chain.item_nbytes;
    int ret = check_fixed(array);
    if (ret == 0) {
        ret = vczi_array_check_coords(array, coords);
    }
    if (ret != 0) {
        return ret;
    }
    vczi_plan_init_block(&plan, array, coords);
    const size_t nbytes = (size_t) plan.nitems * item_nbytes; /* at most chunk_nbytes */
    if (out_nbytes < nbytes) {
        ret = vczi_fail(VCZC_ERR_BUFFER, "the block has %zu bytes, the buffer %zu", nbytes, out_nbytes);
        return vczi_fail_where(ret, array->path, "", coords, array->doc->grid.ndim);
    }
    for (int i = 0; i < array->doc->grid.ndim; i++) {
        plan.out_strides[i] *= (int64_t) item_nbytes;
    }
    if ((int64_t) nbytes >= ALONE_NBYTES) {
        return read_plan(&plan, 0, out);
    }
    if (!vczi_plan_job(&plan, 0, &job)) {
        return 0;
    }
    job.request.out.item_nbytes = item_nbytes;
    return read_chunk(array, coords, &job.request, out);
}
