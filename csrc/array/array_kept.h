/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* What an array keeps between calls: the part of a chunk that it decompressed last for a small request, so that walking
 * rows decompresses each part once. One for each array, at most VCZI_MAX_KEPT_NBYTES; it goes with the array. */
#ifndef VCZI_ARRAY_KEPT_H
#define VCZI_ARRAY_KEPT_H

#include <stdint.h>

#include "kept_block.h"

typedef struct vczi_array_kept vczi_array_kept_t;

/* NULL (and a failure) where there is no memory. */
vczi_array_kept_t *vczi_array_kept_open(void);
void vczi_array_kept_close(vczi_array_kept_t *self);

/* Lend it for one request in chunk number `chunk` of the grid: it holds a part of that chunk, or nothing. NULL where
 * another thread has it: nobody waits, the request goes without. Give it back with vczi_array_kept_return. */
vczi_kept_block_t *vczi_array_kept_borrow(vczi_array_kept_t *self, int64_t chunk);
void vczi_array_kept_return(vczi_array_kept_t *self);

#endif
