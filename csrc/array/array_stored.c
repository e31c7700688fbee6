/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "array_stored.h"

#include <string.h>

#include "ceilings.h"
#include "checked.h"
#include "status.h"

/* A grid of more chunks is not probed chunk by chunk where the store cannot list its keys. */
#define MAX_PROBED_NCHUNKS ((int64_t) 1 << 20)

typedef struct {
    const vczc_array_t *array;
    int64_t nchunks;
    int64_t nbytes;
    bool wants_nbytes;
} count_t;

static int count_key(count_t *count, const char *key) {
    uint64_t nbytes = 0;
    int64_t more = 0;
    if (count->wants_nbytes) {
        int ret = vczi_store_size(count->array->store, key, &nbytes);
        if (ret != 0) {
            return ret;
        }
    }
    more = nbytes > (uint64_t) INT64_MAX ? INT64_MAX : (int64_t) nbytes;
    count->nchunks++;
    if (!vczi_add_i64(count->nbytes, more, &count->nbytes)) {
        count->nbytes = INT64_MAX;
    }
    return 0;
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
        !vczi_grid_holds(&array->doc->grid, coords)) {
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

/* For a store that cannot list its keys: ask for each chunk. */
static int count_probed(count_t *count) {
    const vczi_grid_t *grid = &count->array->doc->grid;
    int64_t coords[VCZC_MAX_NDIM] = {0};
    char key[VCZI_MAX_KEY_NBYTES];
    if (grid->nchunks > MAX_PROBED_NCHUNKS) {
        return vczi_fail(VCZC_ERR_UNSUPPORTED, "the store cannot list its keys, and the grid is too large to try them");
    }
    if (grid->nchunks == 0) {
        return 0;
    }
    do {
        uint64_t nbytes = 0;
        int ret = vczi_array_key(count->array, coords, key, sizeof(key));
        if (ret == 0) {
            ret = vczi_store_size(count->array->store, key, &nbytes);
        }
        if (ret == 0) {
            ret = count_key(count, key);
        }
        if (ret != 0 && ret != VCZC_ERR_NOT_FOUND) {
            return ret;
        }
    } while (next_coords(grid, coords));
    return 0;
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
    if (ret == VCZC_ERR_UNSUPPORTED) {
        ret = count_probed(&count);
    }
    if (ret == 0 && nchunks != NULL) {
        *nchunks = count.nchunks;
    }
    if (ret == 0 && nbytes != NULL) {
        *nbytes = count.nbytes;
    }
    return ret;
}

int vczi_array_stored(const vczc_array_t *array, const int64_t *coords, vczi_bytes_t *bytes) {
    char key[VCZI_MAX_KEY_NBYTES];
    int ret = vczi_array_check_coords(array, coords);
    if (ret == 0) {
        ret = vczi_array_key(array, coords, key, sizeof(key));
    }
    if (ret != 0) {
        return ret;
    }
    ret = vczi_store_get(array->store, key, NULL, bytes);
    if (ret == 0 || ret == VCZC_ERR_NOT_FOUND) {
        return ret;
    }
    return vczi_fail_where(ret, array->path, key, coords, array->doc->grid.ndim);
}

int vczi_array_will_need(const vczc_array_t *array, const int64_t *coords) {
    char key[VCZI_MAX_KEY_NBYTES];
    int ret = vczi_array_check_coords(array, coords);
    if (ret == 0 && vczi_array_key(array, coords, key, sizeof(key)) == 0) {
        vczi_store_will_need(array->store, key);
    }
    return ret;
}
