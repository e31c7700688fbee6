/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* A shard in files is read in pieces, of which it stays open; where each request brings bytes, or what is given is
 * handed on, its index and then the one chunk are asked for. */
#include "array_fetch.h"

#include <string.h>

#include "atomic.h"
#include "mem.h"
#include "pieces.h"
#include "pool.h"
#include "status.h"

/* Who asks for fewer of a shard's chunks than this part reads little at once. */
#define MOST_PART 2

/* A shard that a zip archive has deflated is inflated as a whole: up to this size. */
#define SHARD_WHOLE_NBYTES ((uint64_t) 1 << 30)

void vczi_fetch_begin(vczi_fetch_t *fetch, const vczc_array_t *array, int64_t nchunks, vczi_scratch_t *scratch) {
    fetch->array = array;
    fetch->wants_few = array->sharding != NULL && nchunks < array->sharding->grid.nchunks / MOST_PART;
    fetch->scratch = scratch;
    fetch->key[0] = '\0';
    fetch->bytes = (vczi_bytes_t){0};
    fetch->shard = (vczi_bytes_t){0};
    fetch->has_shard = false;
    fetch->has_absent = false;
    fetch->is_too_large = false;
}

void vczi_fetch_end(vczi_fetch_t *fetch) {
    vczi_bytes_release(&fetch->bytes);
    vczi_bytes_release(&fetch->shard);
    fetch->has_shard = false;
}

int vczi_fetch_check(const vczi_fetch_t *fetch) {
    return fetch->has_absent ? vczi_array_check_there(fetch->array) : 0;
}

/* ---- Shards ---- */

static bool reads_ranges(const vczi_fetch_t *fetch) {
    return fetch->scratch == NULL || fetch->is_too_large ||
           vczi_store_kind(fetch->array->store) == VCZC_STORE_CALLBACKS;
}

static void free_index(void *owner, void *pin) {
    (void) owner;
    vczi_free(pin);
}

/* A range of the shard in memory of its own: never a map, since the library looks at it. */
static int get_copy(vczi_fetch_t *fetch, uint64_t offset, size_t nbytes, vczi_bytes_t *copy) {
    vczi_bytes_t bytes = {0};
    vczi_scratch_t *scratch = vczi_scratch_borrow();
    if (scratch == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    int ret = vczi_store_get_range(fetch->array->store, fetch->key, offset, nbytes, scratch, &bytes);
    if (ret == 0) {
        copy->pin = vczi_copy_text((const char *) bytes.span.data, bytes.span.nbytes);
        copy->release = copy->pin == NULL ? NULL : free_index;
        copy->span = vczi_span(copy->pin, bytes.span.nbytes);
        ret = copy->pin == NULL ? VCZC_ERR_NO_MEMORY : 0;
        vczi_bytes_release(&bytes);
    }
    vczi_scratch_return(scratch);
    return ret;
}

static int place_index(const vczi_fetch_t *fetch, uint64_t *offset) {
    const int ret = vczi_sharding_place_index(fetch->array->sharding, fetch->shard_nbytes, offset);
    return ret == 0 ? 0 : vczi_fail_prefix(ret, "%s", vczi_store_location(fetch->array->store));
}

/* The index alone, pinned: the scratch is left to the chunks. */
static int get_index(vczi_fetch_t *fetch, vczi_span_t *index) {
    const vczi_sharding_t *sharding = fetch->array->sharding;
    uint64_t offset = 0;
    int ret = vczi_store_size(fetch->array->store, fetch->key, &fetch->shard_nbytes);
    if (ret == 0) {
        ret = place_index(fetch, &offset);
    }
    if (ret == 0) {
        ret = get_copy(fetch, offset, sharding->index_nbytes, &fetch->shard);
    }
    *index = fetch->shard.span;
    return ret;
}

/* What the index and the chunks of a shard may take: what is more than that in a shard that was deflated is a lie. */
static uint64_t max_shard_nbytes(const vczc_array_t *array) {
    const uint64_t chunk = vczi_chain_max_stored_nbytes(&array->chain), n = (uint64_t) array->sharding->grid.nchunks;
    const uint64_t limit = UINT64_MAX / 2;
    return chunk > limit / n ? limit : chunk * n + array->sharding->index_nbytes;
}

/* All of the shard, of which the index is a part. */
static int get_all(vczi_fetch_t *fetch, vczi_span_t *index) {
    const uint64_t most = max_shard_nbytes(fetch->array);
    const vczi_want_t want = {.is_part = fetch->wants_few,
                              .asks_for_parts = true,
                              .max_nbytes = most < SHARD_WHOLE_NBYTES ? most : SHARD_WHOLE_NBYTES,
                              .too_large = most < SHARD_WHOLE_NBYTES ? VCZC_ERR_CORRUPT : VCZC_ERR_NO_MEMORY};
    vczc_store_t *store = fetch->array->store;
    uint64_t offset = 0;
    int ret = vczi_store_get_wanted(store, fetch->key, &want, fetch->scratch, &fetch->shard);
    if (ret != 0) {
        return ret;
    }
    fetch->shard_nbytes = fetch->shard.span.nbytes;
    ret = place_index(fetch, &offset);
    if (ret == 0) {
        *index = vczi_span(fetch->shard.span.data + offset, fetch->array->sharding->index_nbytes);
        ret = vczi_pieces_need(fetch->scratch, *index);
    }
    return ret;
}

static int get_shard(vczi_fetch_t *fetch, vczi_span_t *index) {
    if (!reads_ranges(fetch)) {
        const int ret = get_all(fetch, index);
        if (ret != VCZC_ERR_NO_MEMORY) {
            return ret;
        }
        vczi_bytes_release(&fetch->shard);
        fetch->is_too_large = true; /* to have a place for all of it, or for all that a zip archive has deflated */
    }
    return get_index(fetch, index);
}

/* Hold the shard at `shard_coords`; one that is absent is held as such. */
static int hold_shard(vczi_fetch_t *fetch) {
    vczi_span_t index = {NULL, 0};
    vczi_bytes_release(&fetch->shard);
    int ret = get_shard(fetch, &index);
    fetch->is_absent = ret == VCZC_ERR_NOT_FOUND;
    if (ret == 0) {
        /* Checksums, which is all that an index may have, need no scratch. */
        ret = vczi_sharding_view_index(fetch->array->sharding, index, &fetch->numbers, NULL);
        if (ret != 0) {
            ret = vczi_fail_prefix(ret, "%s", vczi_store_location(fetch->array->store));
        }
    }
    fetch->has_shard = ret == 0 || fetch->is_absent;
    return fetch->is_absent ? 0 : ret;
}

/* The chunk at `inner` of the shard that is held. */
static int get_from_shard(vczi_fetch_t *fetch, const int64_t *inner, vczi_fetch_use_t use, vczi_span_t *stored) {
    uint64_t offset = 0;
    size_t nbytes = 0;
    if (fetch->is_absent) {
        return VCZC_ERR_NOT_FOUND;
    }
    int ret = vczi_sharding_find(fetch->array->sharding, fetch->numbers, fetch->shard_nbytes, inner, &offset, &nbytes);
    if (ret == VCZC_ERR_NOT_FOUND) {
        return ret;
    }
    if (ret != 0) {
        return vczi_fail_prefix(ret, "%s", vczi_store_location(fetch->array->store));
    }
    if (!reads_ranges(fetch)) {
        const bool asks = use != VCZI_FETCH_BYTES && vczi_chain_asks_for_parts(&fetch->array->chain);
        *stored = vczi_span(fetch->shard.span.data + offset, nbytes);
        return asks ? 0 : vczi_pieces_need(fetch->scratch, *stored);
    }
    ret = vczi_store_get_range(fetch->array->store, fetch->key, offset, nbytes, fetch->scratch, &fetch->bytes);
    *stored = fetch->bytes.span;
    if (ret == VCZC_ERR_NOT_FOUND) {
        return vczi_fail(VCZC_ERR_STORE, "%s: the shard went away while it was read",
                         vczi_store_location(fetch->array->store));
    }
    return ret;
}

static int fetch_from_shard(vczi_fetch_t *fetch, const int64_t *coords, vczi_fetch_use_t use, vczi_span_t *stored) {
    const vczi_document_t *doc = fetch->array->doc;
    int64_t inner[VCZC_MAX_NDIM];
    bool is_held = fetch->has_shard;
    for (int i = 0; i < doc->grid.ndim; i++) {
        const int64_t per_shard = doc->shards.chunks[i] / doc->grid.chunks[i];
        const int64_t shard = coords[i] / per_shard;
        inner[i] = coords[i] % per_shard;
        is_held = is_held && fetch->shard_coords[i] == shard;
        fetch->shard_coords[i] = shard;
    }
    fetch->has_shard = is_held;
    int ret = 0;
    if (!is_held) {
        ret = vczi_array_key(fetch->array, coords, fetch->key, sizeof(fetch->key));
        if (ret != 0) {
            fetch->key[0] = '\0';
            return ret;
        }
        ret = hold_shard(fetch);
    }
    return ret == 0 ? get_from_shard(fetch, inner, use, stored) : ret;
}

/* ---- Keys of their own ---- */

static int fetch_key(vczi_fetch_t *fetch, const int64_t *coords, vczi_fetch_use_t use, vczi_span_t *stored) {
    const vczc_array_t *array = fetch->array;
    const vczi_want_t want = {
        .is_part = use == VCZI_FETCH_PART,
        .asks_for_parts = use != VCZI_FETCH_BYTES && vczi_chain_asks_for_parts(&array->chain),
        .copies_parts = use != VCZI_FETCH_BYTES && vczi_chain_copies_parts(&array->chain),
        /* Without a chain nothing is known of how long a chunk becomes. */
        .max_nbytes = (array->flags & VCZC_STORED_ONLY) != 0 ? UINT64_MAX : vczi_chain_max_stored_nbytes(&array->chain),
        .too_large = VCZC_ERR_CORRUPT,
    };
    int ret = vczi_array_key(array, coords, fetch->key, sizeof(fetch->key));
    if (ret != 0) {
        fetch->key[0] = '\0';
    } else if (fetch->scratch == NULL) {
        ret = vczi_store_get(array->store, fetch->key, NULL, &fetch->bytes);
    } else {
        ret = vczi_store_get_wanted(array->store, fetch->key, &want, fetch->scratch, &fetch->bytes);
    }
    *stored = fetch->bytes.span;
    return ret;
}

int vczi_fetch_chunk(vczi_fetch_t *fetch, const int64_t *coords, vczi_fetch_use_t use, vczi_span_t *stored) {
    const vczc_array_t *array = fetch->array;
    vczi_bytes_release(&fetch->bytes);
    *stored = vczi_span(NULL, 0);
    int ret =
        array->sharding == NULL ? fetch_key(fetch, coords, use, stored) : fetch_from_shard(fetch, coords, use, stored);
    if (ret == VCZC_ERR_NOT_FOUND) {
        fetch->has_absent = true;
        if (!(array->flags & VCZC_MISSING_IS_ERROR)) {
            return ret;
        }
        ret = vczi_array_check_there(array);
        if (ret == 0) {
            ret = vczi_fail(VCZC_ERR_MISSING_CHUNK, "%s: the chunk is not stored", vczi_store_location(array->store));
        }
    }
    return ret == 0 ? 0 : vczi_fail_where(ret, array->path, fetch->key, coords, array->doc->grid.ndim);
}

/* ---- Plans ---- */

/* What the runs of a plan share. */
typedef struct {
    const vczi_plan_t *plan;
    vczi_fetching_job_fn function;
    void *user;
    vczi_atomic_t nabsent; /* runs with a chunk that was not there */
} fetching_t;

static int fetch_run(void *user, int64_t number) {
    fetching_t *fetching = user;
    const vczi_run_t run = vczi_plan_run(fetching->plan, number);
    vczi_fetch_t fetch;
    int ret = 0;
    vczi_scratch_t *scratch = vczi_scratch_borrow();
    if (scratch == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    vczi_fetch_begin(&fetch, fetching->plan->array, run.end - run.first, scratch);
    for (int64_t job = run.first; job < run.end && ret == 0; job++) {
        ret = fetching->function(fetching->user, job, &fetch);
    }
    vczi_fetch_end(&fetch);
    vczi_scratch_return(scratch);
    if (fetch.has_absent) {
        (void) vczi_atomic_add(&fetching->nabsent, 1);
    }
    return ret;
}

int vczi_fetch_plan(vczi_plan_t *plan, int nthreads, vczi_fetching_job_fn function, void *user) {
    fetching_t fetching = {.plan = plan, .function = function, .user = user};
    const int ret = vczi_pool_run(vczi_plan_runs(plan, nthreads), nthreads, fetch_run, &fetching);
    const bool has_absent = vczi_atomic_load(&fetching.nabsent) != 0;
    return ret == 0 && has_absent ? vczi_array_check_there(plan->array) : ret;
}

vczi_bytes_t vczi_fetch_take(vczi_fetch_t *fetch, vczi_span_t stored) {
    vczi_bytes_t *held =
        fetch->bytes.span.data == NULL && fetch->shard.span.data != NULL ? &fetch->shard : &fetch->bytes;
    vczi_bytes_t taken = *held;
    taken.span = stored;
    *held = (vczi_bytes_t){0};
    fetch->has_shard = false;
    return taken;
}
