/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* A part of a chunk, decompressed, that the next call may find still there: neighbouring rows lie in one Blosc block.
 * What is kept is what the decompressor gave; the unshuffle does as much as is asked for. */
#ifndef VCZI_KEPT_BLOCK_H
#define VCZI_KEPT_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scratch.h"
#include "shuffled.h"

/* Zeroed it holds nothing. Which chunk it is of is the owner's to know. */
typedef struct {
    uint8_t *memory;
    size_t memory_nbytes;
    bool is_held;
    size_t start;          /* of the block in the chunk's raw bytes */
    vczi_shuffled_t block; /* in `memory` */
} vczi_kept_block_t;

/* Room for `nbytes`; nothing is held afterwards. 0 or VCZC_ERR_NO_MEMORY. */
int vczi_kept_block_room(vczi_kept_block_t *kept, size_t nbytes);

/* Say that `memory` holds all of the chunk's raw bytes. */
void vczi_kept_block_hold_raw(vczi_kept_block_t *kept, size_t raw_nbytes);

/* True where raw bytes [start, stop) of the chunk lie in what is held. */
bool vczi_kept_block_holds(const vczi_kept_block_t *kept, size_t start, size_t stop);

/* Raw bytes [start, stop) of the chunk into `out`; false where they do not lie in what is held. */
bool vczi_kept_block_read(const vczi_kept_block_t *kept, size_t start, size_t stop, uint8_t *out);

/* One that lives in the scratch, for the length of a call: it holds nothing at first. NULL (and a failure) where there
 * is no memory. */
vczi_kept_block_t *vczi_kept_block_of_scratch(vczi_scratch_t *scratch);

/* Free and zero. */
void vczi_kept_block_clear(vczi_kept_block_t *kept);

#endif
