/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "array_read.h"

#include <inttypes.h>

#include "array_fetch.h"
#include "array_plan.h"
#include "ceilings.h"
#include "checked.h"
#include "pool.h"
#include "status.h"

/* A block below so many bytes is decoded by the calling thread alone, without asking how many there are. */
#define ALONE_NBYTES ((int64_t) 1 << 20)

/* The box of one chunk, fetched and decoded or filled. */
static int decode_chunk(vczi_fetch_t *fetch, const int64_t *coords, const vczi_request_t *request, void *out,
                        vczi_kept_block_t *kept) {
    const vczc_array_t *array = fetch->array;
    vczi_span_t stored = {NULL, 0};
    const vczi_fetch_use_t use = vczi_chain_is_part(&array->chain, request) ? VCZI_FETCH_PART : VCZI_FETCH_CHUNK;
    int ret = vczi_fetch_chunk(fetch, coords, use, &stored);
    if (ret == VCZC_ERR_NOT_FOUND) {
        vczi_ndfill(out, &request->out, array->doc->fill); /* zeros where the document says null */
        return 0;
    }
    if (ret == 0) {
        ret = vczi_chain_decode(&array->chain, stored, request, out, kept, fetch->scratch);
        if (ret != 0) {
            ret = vczi_array_fail_chunk(array, ret, fetch->key, coords);
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
static int read_part(vczi_fetch_t *fetch, const int64_t *coords, const vczi_request_t *request, void *out) {
    const vczc_array_t *array = fetch->array;
    const int64_t chunk = chunk_number(&array->doc->grid, coords);
    bool is_read = false;
    vczi_kept_block_t *kept = vczi_array_kept_borrow(array->kept, chunk);
    if (kept == NULL) {
        return decode_chunk(fetch, coords, request, out, NULL);
    }
    int ret = vczi_chain_read_kept(&array->chain, kept, request, out, &is_read, fetch->scratch);
    if (ret == 0 && is_read) {
        ret = vczi_store_check(array->store);
    }
    if (ret == 0 && !is_read) {
        ret = decode_chunk(fetch, coords, request, out, kept);
    }
    vczi_array_kept_return(array->kept, chunk);
    return ret;
}

static int read_chunk(vczi_fetch_t *fetch, const int64_t *coords, const vczi_request_t *request, void *out) {
    return vczi_chain_should_keep(&fetch->array->chain, request) ? read_part(fetch, coords, request, out)
                                                                 : decode_chunk(fetch, coords, request, out, NULL);
}

static int check_fixed(const vczc_array_t *array) {
    if (!vczi_dtype_is_vlen(&array->doc->dtype)) {
        return vczi_array_check_decodes(array);
    }
    return vczi_fail(VCZC_ERR_ARGUMENT, "'%s' holds %s: read it as strings", array->path,
                     vczi_dtype_name(&array->doc->dtype));
}

/* What the jobs of one call share. */
typedef struct {
    const vczi_plan_t *plan;
    char *out;
} read_t;

static int read_job(void *user, int64_t number, vczi_fetch_t *fetch) {
    const read_t *read = user;
    vczi_job_t job;
    if (!vczi_plan_job(read->plan, number, &job)) {
        return 0;
    }
    job.request.out.item_nbytes = read->plan->array->chain.item_nbytes;
    return read_chunk(fetch, job.coords, &job.request, read->out + job.place);
}

/* Strides of C order in bytes, where the caller gave none. */
static int pack(vczi_plan_t *plan) {
    const int64_t item_nbytes = (int64_t) plan->array->chain.item_nbytes;
    int64_t nbytes = 0;
    if (!vczi_mul_i64(plan->nitems, item_nbytes, &nbytes) || (uint64_t) nbytes > (uint64_t) PTRDIFF_MAX) {
        return vczi_fail(VCZC_ERR_INDEX, "the selection has more bytes than memory can hold");
    }
    for (int i = 0; i < plan->array->doc->grid.ndim; i++) {
        plan->out_strides[i] *= item_nbytes; /* none is larger than all items */
    }
    return 0;
}

static int read_plan(vczi_plan_t *plan, int nthreads, void *out) {
    read_t read = {plan, out};
    nthreads = nthreads > 0 ? nthreads : vczi_pool_threads();
    vczi_plan_split(plan, nthreads);
    return vczi_fetch_plan(plan, nthreads, read_job, &read);
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
    if (out_strides == NULL) {
        ret = pack(&plan);
        if (ret != 0) {
            return ret;
        }
    }
    const int64_t item_nbytes = (int64_t) array->chain.item_nbytes;
    const bool is_small = plan.nitems < ALONE_NBYTES / (item_nbytes > 0 ? item_nbytes : 1);
    return read_plan(&plan, is_small && plan.njobs == 1 ? 1 : selection == NULL ? 0 : selection->nthreads, out);
}

int vczi_array_read_block(const vczc_array_t *array, const int64_t *coords, void *out, size_t out_nbytes) {
    vczi_plan_t plan;
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
    if ((int64_t) nbytes < ALONE_NBYTES) {
        read_t read = {&plan, out};
        return vczi_fetch_plan(&plan, 1, read_job, &read);
    }
    return read_plan(&plan, 0, out);
}
