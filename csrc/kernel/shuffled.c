/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "shuffled.h"

#include <string.h>

#include "unshuffle.h"

/* Items [begin, end) of a filtered block. */
static void unshuffle_items(const vczi_shuffled_t *block, size_t begin, size_t end, uint8_t *out) {
    const size_t nitems = block->raw_nbytes / block->item_nbytes;
    if (block->filter == VCZI_FILTER_BYTES) {
        vczi_unshuffle_bytes(block->planes, nitems, block->item_nbytes, begin, end, out);
    } else {
        vczi_unshuffle_bits(block->planes, nitems, block->item_nbytes, block->nlive, begin, end, out);
    }
}

/* Bytes [begin, end) inside one item. */
static void unshuffle_within_item(const vczi_shuffled_t *block, size_t begin, size_t end, uint8_t *out) {
    uint8_t item[UINT8_MAX];
    const size_t index = begin / block->item_nbytes;
    unshuffle_items(block, index, index + 1, item);
    memcpy(out, item + begin % block->item_nbytes, end - begin);
}

/* Of a filtered block: parts of items at both ends, whole items between them, and what follows the
 * last whole item of the block, which no filter touches. */
void vczi_shuffled_read(const vczi_shuffled_t *block, size_t begin, size_t end, uint8_t *out) {
    if (block->filter == VCZI_FILTER_NONE) {
        memcpy(out, block->planes + begin, end - begin);
        return;
    }
    const size_t item_nbytes = block->item_nbytes;
    const size_t shuffled_nbytes = block->raw_nbytes - block->raw_nbytes % item_nbytes;
    if (end > shuffled_nbytes) {
        const size_t from = begin > shuffled_nbytes ? begin : shuffled_nbytes;
        memcpy(out + (from - begin), block->planes + from, end - from);
        end = from;
    }
    if (begin >= end) {
        return;
    }
    size_t first = begin / item_nbytes;
    const size_t last = end / item_nbytes;
    if (begin % item_nbytes != 0) {
        const size_t to = first == last ? end : (first + 1) * item_nbytes;
        unshuffle_within_item(block, begin, to, out);
        first += 1;
    }
    if (first < last) {
        unshuffle_items(block, first, last, out + (first * item_nbytes - begin));
    }
    if (end % item_nbytes != 0 && first <= last) {
        unshuffle_within_item(block, last * item_nbytes, end, out + (last * item_nbytes - begin));
    }
}
