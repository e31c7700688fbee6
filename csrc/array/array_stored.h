/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* What is stored of an array, without decoding: the bytes of a chunk, how many chunks there are, and their size. */
#ifndef VCZI_ARRAY_STORED_H
#define VCZI_ARRAY_STORED_H

#include "array_open.h"
#include "store.h"

/* The stored bytes of a chunk, pinned; VCZC_ERR_NOT_FOUND where it is absent. */
int vczi_array_stored(const vczc_array_t *array, const int64_t *coords, vczi_bytes_t *bytes);

/* Chunks that are stored and their bytes; either output may be NULL. */
int vczi_array_count_stored(const vczc_array_t *array, int64_t *nchunks, int64_t *nbytes);

/* A hint that the chunk will be read. */
int vczi_array_will_need(const vczc_array_t *array, const int64_t *coords);

#endif
