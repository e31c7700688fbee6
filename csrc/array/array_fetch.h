/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The stored bytes of chunks: of a key of their own, or of a part of a shard, which is held while chunks of the same
 * shard are asked for. */
#ifndef VCZI_ARRAY_FETCH_H
#define VCZI_ARRAY_FETCH_H

#include "array_open.h"
#include "array_plan.h"
#include "ceilings.h"
#include "store.h"

/* What the caller does with a chunk's stored bytes: look at any of them; decode the chunk with the functions of the
 * chain, which ask for the bytes that they look at where they can; or decode a small part of it so. */
typedef enum { VCZI_FETCH_BYTES = 0, VCZI_FETCH_CHUNK, VCZI_FETCH_PART } vczi_fetch_use_t;

/* One caller's: begun, asked for chunks, ended. */
typedef struct {
    const vczc_array_t *array;
    vczi_scratch_t *scratch;       /* NULL: what is given lives as long as it is pinned */
    bool wants_few;                /* of the chunks in a shard */
    bool has_absent;               /* one that was asked for was not there */
    char key[VCZI_MAX_KEY_NBYTES]; /* of the chunk, or of its shard, that was asked for last; "" at first */
    vczi_bytes_t bytes;            /* of that chunk; unused where the whole shard is held */
    /* Of the shard that is held: */
    bool has_shard;
    bool is_absent;
    bool is_too_large; /* it, or one before, to be held as a whole */
    int64_t shard_coords[VCZC_MAX_NDIM];
    uint64_t shard_nbytes;
    vczi_bytes_t shard;  /* all of it, or its index */
    vczi_span_t numbers; /* of the index */
} vczi_fetch_t;

/* Some `nchunks` chunks will be asked for. */
void vczi_fetch_begin(vczi_fetch_t *fetch, const vczc_array_t *array, int64_t nchunks, vczi_scratch_t *scratch);
void vczi_fetch_end(vczi_fetch_t *fetch);

/* When all was asked for: VCZC_ERR_STORE where chunks were not there because the array itself went away. */
int vczi_fetch_check(const vczi_fetch_t *fetch);

/* The stored bytes of the chunk at `coords`, valid until the next is asked for (and, of a scratch, until its FILE or
 * INFLATE buffer is used). VCZC_ERR_NOT_FOUND where it is absent (VCZC_ERR_MISSING_CHUNK where that is an error).
 * Other failures are told with their place. */
int vczi_fetch_chunk(vczi_fetch_t *fetch, const int64_t *coords, vczi_fetch_use_t use, vczi_span_t *stored);

/* Do the jobs of a plan in `nthreads`, those of one run one after another for the sake of the shard that they may have
 * in common, with what fetches their chunks. The first failure ends it and is returned. One look at the end says
 * whether the chunks that were not there are absent. */
typedef int (*vczi_fetching_job_fn)(void *user, int64_t job, vczi_fetch_t *fetch);
int vczi_fetch_plan(vczi_plan_t *plan, int nthreads, vczi_fetching_job_fn function, void *user);

/* Hand over the pin of what was given last. */
vczi_bytes_t vczi_fetch_take(vczi_fetch_t *fetch, vczi_span_t stored);

#endif
