/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* What an array keeps between calls: of some chunks the part that it decompressed last for a small request, so that
 * walking rows decompresses each part once, also where a row goes through several chunks. It takes VCZI_MAX_KEPT_NBYTES
 * at most for each array, and goes with it. */
#ifndef VCZI_ARRAY_KEPT_H
#define VCZI_ARRAY_KEPT_H

#include <stdint.h>

#include "kept_block.h"

typedef struct vczi_array_kept vczi_array_kept_t;

/* NULL (and a failure) where there is no memory. */
vczi_array_kept_t *vczi_array_kept_open(void);
void vczi_array_kept_close(vczi_array_kept_t *self);

/* Lend the place of chunk number `chunk` of the grid for one request: it holds a part of that chunk, or nothing. NULL
 * where another thread has it: nobody waits, the request goes without. Give it back with vczi_array_kept_return. */
vczi_kept_block_t *vczi_array_kept_borrow(vczi_array_kept_t *self, int64_t chunk);
void vczi_array_kept_return(vczi_array_kept_t *self, int64_t chunk);

#endif
