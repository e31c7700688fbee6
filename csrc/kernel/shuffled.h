/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* A block as its decompressor left it, and any range of its bytes as they were before the shuffle. */
#ifndef VCZI_SHUFFLED_H
#define VCZI_SHUFFLED_H

#include <stddef.h>
#include <stdint.h>

typedef enum { VCZI_FILTER_NONE = 0, VCZI_FILTER_BYTES, VCZI_FILTER_BITS } vczi_filter_t;

/* Borrowed. */
typedef struct {
    const uint8_t *planes;
    size_t raw_nbytes;
    size_t item_nbytes; /* 1 to 255 */
    size_t nlive;       /* bit planes that are decoded; the rest is zero (VCZI_UNSHUFFLE_MAX_NLIVE) */
    vczi_filter_t filter;
} vczi_shuffled_t;

/* Raw bytes [begin, end) of the block into `out`, not a byte more. */
void vczi_shuffled_read(const vczi_shuffled_t *block, size_t begin, size_t end, uint8_t *out);

#endif
