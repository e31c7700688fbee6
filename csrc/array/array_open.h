/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* An open array: a node, its grid and its chain bound together, with a reference on the store. */
#ifndef VCZI_ARRAY_OPEN_H
#define VCZI_ARRAY_OPEN_H

#include "array_kept.h"
#include "chain.h"
#include "document.h"
#include "node.h"
#include "sharding_codec.h"
#include "vczc.h"

struct vczc_array {
    vczc_node_t *node;
    vczc_store_t *store;        /* the node's */
    const vczi_document_t *doc; /* the node's */
    const char *path;           /* the node's */
    size_t path_nbytes;
    uint32_t flags;
    vczi_chain_t chain;        /* of a chunk; of a sharded array, of a chunk inside a shard */
    vczi_sharding_t *sharding; /* how shards are laid out; NULL where each chunk has a key of its own */
    vczi_array_kept_t *kept;   /* the only part that changes once the array is open */
    vczc_array_info_t info;
};

/* As vczc_array_open_flags says. */
int vczi_array_open(vczc_array_t **array, vczc_store_t *store, const char *path, uint32_t flags,
                    int64_t max_chunk_nbytes);
void vczi_array_close(vczc_array_t *array);

/* Write the key of the chunk, or of the shard that holds it. VCZC_ERR_STORE where it is too long for any store. */
int vczi_array_key(const vczc_array_t *array, const int64_t *coords, char *key, size_t key_nbytes);

/* Chunks were not there: are they absent? VCZC_ERR_STORE where the array itself is gone, or its store. */
int vczi_array_check_there(const vczc_array_t *array);

/* A failure to decode what is stored of a chunk: add the store, and where the chunk is. Returns `code`. */
int vczi_array_fail_chunk(const vczc_array_t *array, int code, const char *key, const int64_t *coords);

/* VCZC_ERR_UNSUPPORTED where the array was opened for its stored bytes alone: what decodes asks first. */
int vczi_array_check_decodes(const vczc_array_t *array);

/* VCZC_ERR_INDEX, with the place, where the coordinates are not in the grid. */
int vczi_array_check_coords(const vczc_array_t *array, const int64_t *coords);

#endif
