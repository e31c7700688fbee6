/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "batch.h"

#include <stdbool.h>

#include "array_read.h"
#include "atomic.h"
#include "pool.h"
#include "status.h"
#include "thread.h"

typedef struct {
    vczc_block_read_t *reads;
    int64_t nreads;
    const vczc_batch_options_t *options;
    const vczi_detail_t *caller; /* the calling thread's own: it alone tells of progress */
    vczi_atomic_t ndone;
    vczi_atomic_t is_cancelled;
    vczi_mutex_t mutex;
    /* Under the mutex: */
    int64_t failed; /* the lowest read that failed */
    vczi_detail_t detail;
} batch_t;

static void keep_failure(batch_t *batch, int64_t number) {
    vczi_mutex_lock(&batch->mutex);
    if (number < batch->failed) {
        batch->failed = number;
        vczi_detail_save(&batch->detail);
    }
    vczi_mutex_unlock(&batch->mutex);
}

static void tell_progress(batch_t *batch, int64_t ndone) {
    const vczc_batch_options_t *options = batch->options;
    if (options->progress != NULL && options->progress(options->user, ndone, batch->nreads) != 0) {
        vczi_atomic_store(&batch->is_cancelled, 1);
    }
}

/* A failure is kept with its read, and the others go on. */
static int read_one(void *user, int64_t number) {
    batch_t *batch = user;
    vczc_block_read_t *read = &batch->reads[number];
    if (vczi_atomic_load(&batch->is_cancelled) != 0) {
        read->status = VCZC_ERR_CANCELLED;
        return 0;
    }
    read->status = vczi_array_read_block(read->array, read->coords, read->out, read->out_size);
    if (read->status != 0) {
        keep_failure(batch, number);
    }
    const int64_t ndone = vczi_atomic_add(&batch->ndone, 1) + 1;
    if (vczi_detail_view() == batch->caller && ndone < batch->nreads) {
        tell_progress(batch, ndone);
    }
    return 0;
}

int vczi_batch_read(vczc_block_read_t *reads, size_t nreads, const vczc_batch_options_t *options) {
    batch_t batch = {.reads = reads, .nreads = (int64_t) nreads, .options = options};
    batch.caller = vczi_detail_view();
    batch.failed = INT64_MAX;
    vczi_mutex_init(&batch.mutex);
    const int ret = vczi_pool_run(batch.nreads, options->nthreads, read_one, &batch);
    vczi_mutex_destroy(&batch.mutex);
    if (ret != 0) { /* of the pool itself */
        return ret;
    }
    const int64_t ndone = vczi_atomic_load(&batch.ndone);
    if (ndone < batch.nreads) {
        return vczi_fail(VCZC_ERR_CANCELLED, "%lld of %lld blocks were read", (long long) ndone,
                         (long long) batch.nreads);
    }
    if (batch.nreads != 0) {
        tell_progress(&batch, ndone); /* nothing is left to cancel */
    }
    if (batch.failed != INT64_MAX) {
        vczi_detail_restore(&batch.detail);
        return reads[batch.failed].status;
    }
    return 0;
}
