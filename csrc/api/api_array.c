/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Public functions of arrays. */
#include <string.h>

#include "api_argument.h"
#include "api_bytes.h"
#include "array_open.h"
#include "array_read.h"
#include "array_stored.h"
#include "array_strings.h"
#include "status.h"
#include "vczc.h"

/* Coordinates of a 0-d array may be NULL. */
static int check_handle(const vczc_array_t *array, const int64_t *coords) {
    if (array == NULL) {
        return vczi_null_argument("array");
    }
    if (coords == NULL && array->info.ndim != 0) {
        return vczi_null_argument("coords");
    }
    return 0;
}

int vczc_array_open(vczc_array_t **array, vczc_store_t *store, const char *path) {
    return vczc_array_open_flags(array, store, path, 0, 0);
}

int vczc_array_open_flags(vczc_array_t **array, vczc_store_t *store, const char *path, uint32_t flags,
                          int64_t max_chunk_nbytes) {
    if (array == NULL) {
        return vczi_null_argument("array");
    }
    *array = NULL;
    if (store == NULL || path == NULL) {
        return vczi_null_argument(store == NULL ? "store" : "path");
    }
    if ((flags & ~(uint32_t) (VCZC_MISSING_IS_ERROR | VCZC_STORED_ONLY | VCZC_STORED_COPY)) != 0) {
        return vczi_fail(VCZC_ERR_ARGUMENT, "unknown flags 0x%x", (unsigned) flags);
    }
    if (max_chunk_nbytes < 0) {
        return vczi_fail(VCZC_ERR_ARGUMENT, "max_chunk_nbytes is negative");
    }
    return vczi_array_open(array, store, path, flags, max_chunk_nbytes);
}

void vczc_array_close(vczc_array_t *array) {
    vczi_array_close(array);
}

const vczc_array_info_t *vczc_array_info(const vczc_array_t *array) {
    return array == NULL ? NULL : &array->info;
}

const vczc_node_info_t *vczc_array_node_info(const vczc_array_t *array) {
    return array == NULL ? NULL : vczi_node_info(array->node);
}

int vczc_array_block_shape(const vczc_array_t *array, const int64_t *coords, int64_t *shape) {
    int ret = check_handle(array, coords);
    if (ret == 0 && shape == NULL && array->info.ndim != 0) {
        ret = vczi_null_argument("shape");
    }
    if (ret == 0) {
        ret = vczi_array_check_coords(array, coords);
    }
    if (ret == 0) {
        vczi_grid_block_shape(&array->doc->grid, coords, shape);
    }
    return ret;
}

int vczc_array_read_block(const vczc_array_t *array, const int64_t *coords, void *out, size_t out_size) {
    int ret = check_handle(array, coords);
    if (ret == 0 && out == NULL && out_size != 0) {
        ret = vczi_null_argument("out");
    }
    return ret != 0 ? ret : vczi_array_read_block(array, coords, out, out_size);
}

int vczc_array_read_region(const vczc_array_t *array, const int64_t *start, const int64_t *stop, void *out,
                           const int64_t *out_strides) {
    const vczc_selection_t selection = {.start = start, .stop = stop};
    return vczc_array_read_selection(array, &selection, out, out_strides);
}

static int check_selection(const vczc_array_t *array, const vczc_selection_t *selection) {
    if (array == NULL || selection == NULL) {
        return vczi_null_argument(array == NULL ? "array" : "selection");
    }
    if (array->info.ndim != 0 && (selection->start == NULL || selection->stop == NULL)) {
        return vczi_null_argument("start or stop");
    }
    return vczi_check_nthreads(selection->nthreads);
}

int vczc_array_read_selection(const vczc_array_t *array, const vczc_selection_t *selection, void *out,
                              const int64_t *out_strides) {
    const int ret = check_selection(array, selection);
    return ret != 0 ? ret : vczi_array_read(array, selection, out, out_strides);
}

int vczc_array_read_strings(const vczc_array_t *array, const int64_t *coords, vczc_strings_t *strings) {
    if (strings == NULL) {
        return vczi_null_argument("strings");
    }
    memset(strings, 0, sizeof(*strings));
    int ret = check_handle(array, coords);
    return ret != 0 ? ret : vczi_array_read_strings_block(array, coords, strings);
}

int vczc_array_read_strings_selection(const vczc_array_t *array, const vczc_selection_t *selection,
                                      vczc_strings_t *strings) {
    if (strings == NULL) {
        return vczi_null_argument("strings");
    }
    memset(strings, 0, sizeof(*strings));
    int ret = check_selection(array, selection);
    return ret != 0 ? ret : vczi_array_read_strings(array, selection, strings);
}

void vczc_strings_clear(vczc_strings_t *strings) {
    if (strings != NULL) {
        vczi_strings_clear(strings);
    }
}

int vczc_array_stored(const vczc_array_t *array, const int64_t *coords, vczc_bytes_t *bytes) {
    if (bytes == NULL) {
        return vczi_null_argument("bytes");
    }
    *bytes = (vczc_bytes_t){0};
    vczi_bytes_t stored = {0};
    int ret = check_handle(array, coords);
    if (ret == 0) {
        ret = vczi_array_stored(array, coords, &stored);
    }
    return ret != 0 ? ret : vczi_bytes_export(array->store, &stored, bytes);
}

int vczc_array_chunk_key(const vczc_array_t *array, const int64_t *coords, char *key, size_t key_size) {
    int ret = check_handle(array, coords);
    if (ret == 0 && key == NULL) {
        ret = vczi_null_argument("key");
    }
    if (ret == 0) {
        ret = vczi_array_check_coords(array, coords);
    }
    if (ret == 0 && vczi_array_key(array, coords, key, key_size) != 0) {
        ret = vczi_fail(VCZC_ERR_BUFFER, "the key does not fit %zu bytes", key_size);
    }
    return ret;
}

int vczc_array_count_stored(const vczc_array_t *array, int64_t *nchunks, int64_t *nbytes) {
    if (array == NULL) {
        return vczi_null_argument("array");
    }
    return vczi_array_count_stored(array, nchunks, nbytes);
}

int vczc_prefetch_block(const vczc_array_t *array, const int64_t *coords) {
    int ret = check_handle(array, coords);
    return ret != 0 ? ret : vczi_array_will_need(array, coords);
}
