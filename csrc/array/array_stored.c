/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "array_stored.h"

#include <string.h>

#include "array_fetch.h"
#include "ceilings.h"
#include "checked.h"
#include "mem.h"
#include "status.h"

/* A grid of more chunks is not probed chunk by chunk where the store cannot list its keys. */
#define MAX_PROBED_NCHUNKS ((int64_t) 1 << 20)

typedef struct {
    const vczc_array_t *array;
    int64_t nchunks;
    int64_t nbytes;
    bool wants_nbytes;
} count_t;

static void count_chunk(count_t *count, uint64_t nbytes) {
    const int64_t more = nbytes > (uint64_t) INT64_MAX ? INT64_MAX : (int64_t) nbytes;
    count->nchunks++;
    if (!vczi_add_i64(count->nbytes, more, &count->nbytes)) {
        count->nbytes = INT64_MAX;
    }
}

/* Count the chunk of `key` if it is there: one that went away since it was listed is absent. */
static int count_key(count_t *count, const char *key) {
    uint64_t nbytes = 0;
    const int ret = vczi_store_size(count->array->store, key, &nbytes);
    if (ret == 0) {
        count_chunk(count, nbytes);
    }
    return ret == VCZC_ERR_NOT_FOUND ? 0 : ret;
}

/* The grid whose coordinates the keys have: of a sharded array, of the shards. */
static const vczi_grid_t *grid_of_keys(const vczc_array_t *array) {
    return array->doc->is_sharded ? &array->doc->shards : &array->doc->grid;
}

/* Keys that are no chunk of the grid are passed over. */
static int count_listed(void *user, const char *key, size_t key_nbytes) {
    count_t *count = user;
    const vczc_array_t *array = count->array;
    const size_t skip = array->path_nbytes == 0 ? 0 : array->path_nbytes + 1;
    int64_t coords[VCZC_MAX_NDIM];
    char whole[VCZI_MAX_KEY_NBYTES];
    if (key_nbytes < skip || key_nbytes >= sizeof(whole) ||
        !vczi_chunk_key_read(&array->doc->keys, key + skip, key_nbytes - skip, array->doc->grid.ndim, coords) ||
        !vczi_grid_holds(grid_of_keys(array), coords)) {
        return 0;
    }
    if (!count->wants_nbytes) {
        count_chunk(count, 0);
        return 0;
    }
    memcpy(whole, key, key_nbytes);
    whole[key_nbytes] = 0;
    return count_key(count, whole);
}

static bool next_coords(const vczi_grid_t *grid, int64_t *coords) {
    for (int i = grid->ndim - 1; i >= 0; i--) {
        if (++coords[i] < grid->counts[i]) {
            return true;
        }
        coords[i] = 0;
    }
    return false;
}

/* The key at coordinates of that grid. */
static int write_key(const vczc_array_t *array, const int64_t *coords, char *key, size_t key_nbytes) {
    const vczi_document_t *doc = array->doc;
    int64_t chunk[VCZC_MAX_NDIM];
    for (int i = 0; i < doc->grid.ndim; i++) {
        chunk[i] = doc->is_sharded ? coords[i] * (doc->shards.chunks[i] / doc->grid.chunks[i]) : coords[i];
    }
    return vczi_array_key(array, chunk, key, key_nbytes);
}

/* For a store that cannot list its keys: ask for each. */
static int count_probed(count_t *count) {
    const vczi_grid_t *grid = grid_of_keys(count->array);
    int64_t coords[VCZC_MAX_NDIM] = {0};
    char key[VCZI_MAX_KEY_NBYTES];
    if (grid->nchunks > MAX_PROBED_NCHUNKS) {
        return vczi_fail(VCZC_ERR_UNSUPPORTED, "the store cannot list its keys, and the grid is too large to try them");
    }
    if (grid->nchunks == 0) {
        return 0;
    }
    do {
        int ret = write_key(count->array, coords, key, sizeof(key));
        if (ret == 0) {
            ret = count_key(count, key);
        }
        if (ret != 0) {
            return ret;
        }
    } while (next_coords(grid, coords));
    return 0;
}

/* A shard counts for all chunks that it has room for, as in zarr-python. */
static int64_t chunks_per_key(const vczc_array_t *array) {
    const vczi_document_t *doc = array->doc;
    return doc->is_sharded ? doc->shards.chunk_nitems / doc->grid.chunk_nitems : 1;
}

int vczi_array_count_stored(const vczc_array_t *array, int64_t *nchunks, int64_t *nbytes) {
    count_t count = {.array = array, .wants_nbytes = nbytes != NULL};
    char prefix[VCZI_MAX_KEY_NBYTES];
    if (array->path_nbytes + 2 > sizeof(prefix)) {
        return vczi_fail(VCZC_ERR_STORE, "the path of the array is too long");
    }
    memcpy(prefix, array->path, array->path_nbytes);
    prefix[array->path_nbytes] = array->path_nbytes == 0 ? 0 : '/';
    prefix[array->path_nbytes + 1] = 0;
    int ret = vczi_store_list(array->store, prefix, count_listed, &count);
    if (ret == VCZC_ERR_UNSUPPORTED && !vczi_store_prefers_consolidated(array->store)) { /* requests are not dear */
        ret = count_probed(&count);
    }
    if (ret == 0) {
        ret = vczi_array_check_there(array); /* chunks that went with the array were not left out */
    }
    if (ret == 0 && nchunks != NULL && !vczi_mul_i64(count.nchunks, chunks_per_key(array), nchunks)) {
        *nchunks = INT64_MAX;
    }
    if (ret == 0 && nbytes != NULL) {
        *nbytes = count.nbytes;
    }
    return ret;
}

static void free_copy(void *owner, void *pin) {
    (void) owner;
    vczi_free(pin);
}

/* What asking for the one chunk came to: one that went with its array is not absent. */
static int check_absent(const vczi_fetch_t *fetch, int ret) {
    const int gone = ret == VCZC_ERR_NOT_FOUND ? vczi_fetch_check(fetch) : 0;
    return gone != 0 ? gone : ret;
}

/* Read, not mapped: a map of a file that is cut meanwhile ends the process of who looks at it. */
static int copy_stored(const vczc_array_t *array, const int64_t *coords, vczi_bytes_t *bytes) {
    vczi_span_t stored = {NULL, 0};
    vczi_fetch_t fetch;
    vczi_scratch_t *scratch = vczi_scratch_borrow();
    if (scratch == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    vczi_fetch_begin(&fetch, array, 1, scratch);
    int ret = vczi_fetch_chunk(&fetch, coords, VCZI_FETCH_BYTES, &stored);
    if (ret == 0) {
        bytes->pin = vczi_copy_text((const char *) stored.data, stored.nbytes);
        bytes->release = bytes->pin == NULL ? NULL : free_copy;
        bytes->span = vczi_span(bytes->pin, stored.nbytes);
        ret = bytes->pin == NULL ? VCZC_ERR_NO_MEMORY : 0;
    }
    ret = check_absent(&fetch, ret);
    vczi_fetch_end(&fetch);
    vczi_scratch_return(scratch);
    return ret;
}

static int view_stored(const vczc_array_t *array, const int64_t *coords, vczi_bytes_t *bytes) {
    vczi_span_t stored = {NULL, 0};
    vczi_fetch_t fetch;
    vczi_fetch_begin(&fetch, array, 1, NULL);
    int ret = vczi_fetch_chunk(&fetch, coords, VCZI_FETCH_BYTES, &stored);
    if (ret == 0) {
        *bytes = vczi_fetch_take(&fetch, stored);
    }
    ret = check_absent(&fetch, ret);
    vczi_fetch_end(&fetch);
    return ret;
}

int vczi_array_stored(const vczc_array_t *array, const int64_t *coords, vczi_bytes_t *bytes) {
    int ret = vczi_array_check_coords(array, coords);
    if (ret == 0) {
        ret = (array->flags & VCZC_STORED_COPY) != 0 ? copy_stored(array, coords, bytes)
                                                     : view_stored(array, coords, bytes);
    }
    return ret == VCZC_ERR_MISSING_CHUNK ? VCZC_ERR_NOT_FOUND : ret;
}

int vczi_array_will_need(const vczc_array_t *array, const int64_t *coords) {
    char key[VCZI_MAX_KEY_NBYTES];
    int ret = vczi_array_check_coords(array, coords);
    if (ret == 0 && vczi_array_key(array, coords, key, sizeof(key)) == 0) {
        vczi_store_will_need(array->store, key);
    }
    return ret;
}
