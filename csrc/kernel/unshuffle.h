/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The inverse of Blosc's byte- and bit-shuffle for a range of a block's items. */
#ifndef VCZI_UNSHUFFLE_H
#define VCZI_UNSHUFFLE_H

#include <stddef.h>
#include <stdint.h>

/* Both write items [begin, end) of a block of `nitems` items of `item_nbytes` (1 to 255) to `out`, not a byte more. The
 * block is the nitems * item_nbytes bytes at `planes`. */

/* Byte planes: byte j of item i is planes[j * nitems + i]. */
void vczi_unshuffle_bytes(const uint8_t *planes, size_t nitems, size_t item_nbytes, size_t begin, size_t end,
                          uint8_t *out);

/* Bit planes, `nitems` a multiple of 8: bit k of byte j of item i is bit i % 8 of
 * planes[(8 * j + k) * (nitems / 8) + i / 8]. Planes from `nlive` on are taken to be zero and are not read: `nlive` is
 * 0 to VCZI_UNSHUFFLE_MAX_NLIVE, or 8 * item_nbytes where all are to be read. */
#define VCZI_UNSHUFFLE_MAX_NLIVE 2
void vczi_unshuffle_bits(const uint8_t *planes, size_t nitems, size_t item_nbytes, size_t nlive, size_t begin,
                         size_t end, uint8_t *out);

#endif
