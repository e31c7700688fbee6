/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Of a shard in a store that gives views (a map, memory) all is asked for, which costs nothing; where each request
 * brings bytes, its index and then the one chunk. */
#include "array_fetch.h"

#include <string.h>

#include "status.h"

/* Who asks for fewer of a shard's chunks than this part is given a map, if the shard is large; else all is read. */
#define MOST_PART 2

void vczi_fetch_begin(vczi_fetch_t *fetch, const vczc_array_t *array, int64_t nchunks, vczi_scratch_t *scratch) {
    fetch->array = array;
    fetch->wants_few = array->sharding != NULL && nchunks < array->sharding->grid.nchunks / MOST_PART;
    fetch->scratch = scratch;
    fetch->key[0] = '\0';
    fetch->bytes = (vczi_bytes_t){0};
    fetch->shard = (vczi_bytes_t){0};
    fetch->has_shard = false;
}

void vczi_fetch_end(vczi_fetch_t *fetch) {
    vczi_bytes_release(&fetch->bytes);
    vczi_bytes_release(&fetch->shard);
    fetch->has_shard = false;
}

/* ---- Shards ---- */

static bool reads_ranges(const vczc_array_t *array) {
    return vczi_store_kind(array->store) == VCZC_STORE_CALLBACKS;
}

/* The index alone, pinned: the scratch is left to the chunks. */
static int get_index(vczi_fetch_t *fetch, vczi_span_t *index) {
    const vczi_sharding_t *sharding = fetch->array->sharding;
    uint64_t offset = 0;
    int ret = vczi_store_size(fetch->array->store, fetch->key, &fetch->shard_nbytes);
    if (ret == 0) {
        ret = vczi_sharding_place_index(sharding, fetch->shard_nbytes, &offset);
    }
    if (ret == 0) {
        ret =
            vczi_store_get_range(fetch->array->store, fetch->key, offset, sharding->index_nbytes, NULL, &fetch->shard);
    }
    *index = fetch->shard.span;
    return ret;
}

/* All of the shard, of which the index is a part. */
static int get_all(vczi_fetch_t *fetch, vczi_span_t *index) {
    vczc_store_t *store = fetch->array->store;
    uint64_t offset = 0;
    int ret = fetch->wants_few ? vczi_store_get_sparse(store, fetch->key, fetch->scratch, &fetch->shard)
                               : vczi_store_get(store, fetch->key, fetch->scratch, &fetch->shard);
    if (ret != 0) {
        return ret;
    }
    fetch->shard_nbytes = fetch->shard.span.nbytes;
    ret = vczi_sharding_place_index(fetch->array->sharding, fetch->shard_nbytes, &offset);
    if (ret == 0) {
        *index = vczi_span(fetch->shard.span.data + offset, fetch->array->sharding->index_nbytes);
    }
    return ret;
}

/* Hold the shard at `shard_coords`; one that is absent is held as such. */
static int hold_shard(vczi_fetch_t *fetch) {
    vczi_span_t index = {NULL, 0};
    vczi_bytes_release(&fetch->shard);
    int ret = reads_ranges(fetch->array) ? get_index(fetch, &index) : get_all(fetch, &index);
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
static int get_from_shard(vczi_fetch_t *fetch, const int64_t *inner, vczi_span_t *stored) {
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
    if (!reads_ranges(fetch->array)) {
        *stored = vczi_span(fetch->shard.span.data + offset, nbytes);
        return 0;
    }
    ret = vczi_store_get_range(fetch->array->store, fetch->key, offset, nbytes, fetch->scratch, &fetch->bytes);
    *stored = fetch->bytes.span;
    if (ret == VCZC_ERR_NOT_FOUND) {
        return vczi_fail(VCZC_ERR_STORE, "%s: the shard went away while it was read",
                         vczi_store_location(fetch->array->store));
    }
    return ret;
}

static int fetch_from_shard(vczi_fetch_t *fetch, const int64_t *coords, vczi_span_t *stored) {
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
    return ret == 0 ? get_from_shard(fetch, inner, stored) : ret;
}

/* ---- Keys of their own ---- */

static int fetch_key(vczi_fetch_t *fetch, const int64_t *coords, bool is_sparse, vczi_span_t *stored) {
    const vczc_array_t *array = fetch->array;
    int ret = vczi_array_key(array, coords, fetch->key, sizeof(fetch->key));
    if (ret != 0) {
        fetch->key[0] = '\0';
    } else if (is_sparse) {
        ret = vczi_store_get_sparse(array->store, fetch->key, fetch->scratch, &fetch->bytes);
    } else {
        ret = vczi_store_get(array->store, fetch->key, fetch->scratch, &fetch->bytes);
    }
    *stored = fetch->bytes.span;
    return ret;
}

int vczi_fetch_chunk(vczi_fetch_t *fetch, const int64_t *coords, bool is_sparse, vczi_span_t *stored) {
    const vczc_array_t *array = fetch->array;
    vczi_bytes_release(&fetch->bytes);
    *stored = vczi_span(NULL, 0);
    int ret =
        array->sharding == NULL ? fetch_key(fetch, coords, is_sparse, stored) : fetch_from_shard(fetch, coords, stored);
    if (ret == VCZC_ERR_NOT_FOUND) {
        if (!(array->flags & VCZC_MISSING_IS_ERROR)) {
            return ret;
        }
        ret = vczi_fail(VCZC_ERR_MISSING_CHUNK, "%s: the chunk is not stored", vczi_store_location(array->store));
    }
    return ret == 0 ? 0 : vczi_fail_where(ret, array->path, fetch->key, coords, array->doc->grid.ndim);
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
