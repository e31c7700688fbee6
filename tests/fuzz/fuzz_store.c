/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* A whole store from bytes: a zip archive that is opened, walked and read, every chunk, every text. */
#include <stdlib.h>

#include "vczc.h"

/* An input of some KB may describe an array of any size; so much of each is read. */
#define MAX_BLOCKS 64
#define MAX_CHUNK_NBYTES (1 << 20)

static void read_blocks(const vczc_array_t *array) {
    const vczc_array_info_t *info = vczc_array_info(array);
    int64_t coords[VCZC_MAX_NDIM] = {0};
    for (int n = 0; n < MAX_BLOCKS && n < info->nchunks; n++) {
        if (info->itemsize == 0) {
            vczc_strings_t strings;
            if (vczc_array_read_strings(array, coords, &strings) == 0) {
                vczc_strings_clear(&strings);
            }
        } else {
            void *out = malloc((size_t) info->chunk_nbytes);
            (void) vczc_array_read_block(array, coords, out, (size_t) info->chunk_nbytes);
            free(out);
        }
        for (int i = info->ndim - 1; i >= 0 && ++coords[i] == info->grid[i]; i--) {
            coords[i] = 0;
        }
    }
}

typedef struct {
    vczc_store_t *store;
    int narrays;
} walk_t;

static int read_child(void *user, const char *name, size_t name_nbytes, int kind) {
    walk_t *walk = user;
    vczc_array_t *array = NULL;
    char path[256];
    if (kind != VCZC_NODE_ARRAY || name_nbytes >= sizeof(path) || walk->narrays++ > MAX_BLOCKS) {
        return 0;
    }
    for (size_t i = 0; i < name_nbytes; i++) {
        path[i] = name[i];
    }
    path[name_nbytes] = 0;
    if (vczc_array_open_flags(&array, walk->store, path, 0, MAX_CHUNK_NBYTES) == 0) {
        int64_t nchunks = 0, nbytes = 0;
        (void) vczc_array_count_stored(array, &nchunks, &nbytes);
        read_blocks(array);
        vczc_array_close(array);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes) {
    walk_t walk = {NULL, 0};
    vczc_node_t *root = NULL;
    if (vczc_store_open_zip_memory(&walk.store, data, nbytes, VCZC_OPEN_VERIFY) != 0) {
        return 0;
    }
    if (vczc_node_open(&root, walk.store, "") == 0) {
        (void) vczc_node_children(root, read_child, &walk);
        if (vczc_node_info(root)->kind == VCZC_NODE_ARRAY) {
            (void) read_child(&walk, "", 0, VCZC_NODE_ARRAY);
        }
        vczc_node_close(root);
    }
    vczc_store_close(walk.store);
    return 0;
}
