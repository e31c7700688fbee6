/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Blocks and regions: absent chunks become the fill value, stored ones are decoded to their place, and an error is told
 * where it happened. */
#ifndef VCZI_ARRAY_READ_H
#define VCZI_ARRAY_READ_H

#include "array_open.h"

/* As vczc_array_read_block says. */
int vczi_array_read_block(const vczc_array_t *array, const int64_t *coords, void *out, size_t out_nbytes);

/* As vczc_array_read_selection says; `selection` may be NULL: all of the array. */
int vczi_array_read(const vczc_array_t *array, const vczc_selection_t *selection, void *out,
                    const int64_t *out_strides);

/* The stored bytes of a chunk; VCZC_ERR_NOT_FOUND where it is absent (VCZC_ERR_MISSING_CHUNK where that is an error).
 * `key` has VCZI_MAX_KEY_NBYTES bytes and is written; `is_sparse` where a small part will be looked at. Other failures
 * are told with their place. */
int vczi_array_fetch(const vczc_array_t *array, const int64_t *coords, bool is_sparse, char *key,
                     vczi_scratch_t *scratch, vczi_bytes_t *bytes);

#endif
