/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Coordinates to keys, all encodings, and back. */
#ifndef VCZI_CHUNK_KEY_H
#define VCZI_CHUNK_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    bool has_c_prefix; /* format 3's "default": c/0/1, and "c" of a 0-d array; else 0.1, and "0" */
    char separator;    /* '.' or '/' */
} vczi_key_encoding_t;

/* Write `path`/key and a zero byte into `out`. The length without it, or 0 where it does not fit. `path` may be "". */
size_t vczi_chunk_key_write(const vczi_key_encoding_t *encoding, const char *path, size_t path_nbytes, int ndim,
                            const int64_t *coords, char *out, size_t out_nbytes);

/* Read the coordinates out of a key relative to the array ("c/0/1", "0.1"). False where it is no chunk's key in exactly
 * the form that is written (no sign, no leading zeros). */
bool vczi_chunk_key_read(const vczi_key_encoding_t *encoding, const char *key, size_t key_nbytes, int ndim,
                         int64_t *coords);

#endif
