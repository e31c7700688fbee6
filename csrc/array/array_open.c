/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "array_open.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ceilings.h"
#include "mem.h"
#include "status.h"

static void set_info(vczc_array_t *self) {
    const vczi_document_t *doc = self->doc;
    vczc_array_info_t *info = &self->info;
    info->ndim = doc->grid.ndim;
    info->dtype = doc->dtype.kind;
    info->itemsize = doc->dtype.item_nbytes;
    info->shape = doc->grid.shape;
    info->chunks = doc->grid.stated;
    info->shards = doc->is_sharded ? doc->shards.stated : NULL;
    info->grid = doc->grid.counts;
    info->nchunks = doc->grid.nchunks;
    info->chunk_nbytes = (int64_t) self->chain.chunk_nbytes;
    info->fill = doc->fill;
    info->fill_nbytes = doc->fill_nbytes;
    info->fill_is_null = doc->fill_is_null;
    info->order = doc->order;
    info->stored_byte_order = self->chain.unit_nbytes <= 1                         ? '|'
                              : self->chain.must_swap != vczi_host_is_big_endian() ? '>'
                                                                                   : '<';
    info->zarr_format = doc->zarr_format;
    info->path = self->path;
    info->dims = (const char *const *) doc->dims;
    info->time_unit = doc->dtype.time_unit;
    info->time_scale = doc->dtype.time_scale;
}

/* The chain of the array's chunks, inside shards or not; for stored bytes alone no more than where they lie. */
static int open_chain(vczc_array_t *self, uint32_t flags, int64_t max_chunk_nbytes) {
    const vczi_document_t *doc = self->doc;
    const vczi_grid_t *outer = doc->is_sharded ? &doc->shards : &doc->grid;
    const vczi_chain_spec_t spec = {
        .ndim = outer->ndim,
        .chunks = outer->chunks,
        .chunk_nitems = outer->chunk_nitems,
        .dtype = &doc->dtype,
        .big_endian = doc->big_endian,
        .fill = doc->fill,
        .fill_nbytes = doc->fill_nbytes,
        .codecs = doc->codecs,
        .ncodecs = doc->ncodecs,
        .max_chunk_nbytes = max_chunk_nbytes == 0 ? VCZI_MAX_CHUNK_NBYTES : max_chunk_nbytes,
    };
    const bool stored_only = (flags & VCZC_STORED_ONLY) != 0;
    if (!doc->is_sharded) {
        return stored_only ? 0 : vczi_chain_init(&self->chain, &spec);
    }
    self->sharding = vczi_alloc_zeroed(1, sizeof(*self->sharding));
    if (self->sharding == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    return vczi_sharding_init(self->sharding, stored_only ? NULL : &self->chain, &doc->codecs[0], &spec);
}

/* What the array owns but its node. */
static void free_array(vczc_array_t *self) {
    vczi_array_kept_close(self->kept);
    vczi_chain_clear(&self->chain);
    vczi_free(self->sharding);
    vczi_free(self);
}

int vczi_array_open(vczc_array_t **array, vczc_store_t *store, const char *path, uint32_t flags,
                    int64_t max_chunk_nbytes) {
    vczc_node_t *node = NULL;
    vczc_array_t *self = NULL;
    *array = NULL;
    int ret = vczi_node_open(&node, store, path);
    if (ret != 0) {
        goto out;
    }
    if (vczi_node_info(node)->kind != VCZC_NODE_ARRAY) {
        ret = vczi_fail(VCZC_ERR_NO_NODE, "'%s' is a group, not an array", path);
        goto out;
    }
    self = vczi_alloc_zeroed(1, sizeof(*self));
    if (self == NULL) {
        ret = VCZC_ERR_NO_MEMORY;
        goto out;
    }
    self->kept = vczi_array_kept_open();
    if (self->kept == NULL) {
        ret = VCZC_ERR_NO_MEMORY;
        goto out;
    }
    self->doc = vczi_node_document(node);
    ret = open_chain(self, flags, max_chunk_nbytes);
    if (ret != 0) {
        ret = vczi_fail_prefix(ret, "array '%s'", path);
        goto out;
    }
    self->store = vczi_node_store(node);
    self->path = vczi_node_info(node)->path;
    self->path_nbytes = strlen(self->path);
    self->flags = flags;
    self->node = node;
    node = NULL; /* self owns it now */
    set_info(self);
    *array = self;
    self = NULL;
out:
    if (self != NULL) {
        free_array(self);
    }
    vczi_node_close(node);
    return ret;
}

void vczi_array_close(vczc_array_t *array) {
    if (array != NULL) {
        vczc_node_t *node = array->node;
        free_array(array);
        vczi_node_close(node);
    }
}

int vczi_array_key(const vczc_array_t *array, const int64_t *coords, char *key, size_t key_nbytes) {
    const vczi_document_t *doc = array->doc;
    int64_t shard[VCZC_MAX_NDIM];
    if (doc->is_sharded) {
        for (int i = 0; i < doc->grid.ndim; i++) {
            shard[i] = coords[i] / (doc->shards.chunks[i] / doc->grid.chunks[i]);
        }
        coords = shard;
    }
    if (vczi_chunk_key_write(&doc->keys, array->path, array->path_nbytes, doc->grid.ndim, coords, key, key_nbytes) ==
        0) {
        return vczi_fail(VCZC_ERR_STORE, "the key of the chunk is longer than %zu bytes", key_nbytes - 1);
    }
    return 0;
}

int vczi_array_check_there(const vczc_array_t *array) {
    char key[VCZI_MAX_KEY_NBYTES];
    const char *between = array->path_nbytes == 0 ? "" : "/";
    const int n = snprintf(key, sizeof(key), "%s%s%s", array->path, between, array->doc->name);
    return n > 0 && (size_t) n < sizeof(key) ? vczi_store_check_there(array->store, key) : 0;
}

int vczi_array_check_decodes(const vczc_array_t *array) {
    if ((array->flags & VCZC_STORED_ONLY) == 0) {
        return 0;
    }
    return vczi_fail(VCZC_ERR_UNSUPPORTED, "'%s' is open for its stored bytes alone", array->path);
}

int vczi_array_check_coords(const vczc_array_t *array, const int64_t *coords) {
    const vczi_grid_t *grid = &array->doc->grid;
    if (vczi_grid_holds(grid, coords)) {
        return 0;
    }
    int ret = vczi_fail(VCZC_ERR_INDEX, "there is no such chunk in the grid");
    for (int i = 0; i < grid->ndim; i++) {
        if (coords[i] < 0 || coords[i] >= grid->counts[i]) {
            ret = vczi_fail(VCZC_ERR_INDEX, "chunk %" PRId64 " of axis %d is not in the grid of %" PRId64, coords[i], i,
                            grid->counts[i]);
            break;
        }
    }
    return vczi_fail_where(ret, array->path, "", coords, grid->ndim);
}

int vczi_array_fail_chunk(const vczc_array_t *array, int code, const char *key, const int64_t *coords) {
    (void) vczi_fail_prefix(code, "%s", vczi_store_location(array->store));
    return vczi_fail_where(code, array->path, key, coords, array->doc->grid.ndim);
}
