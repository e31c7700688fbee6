/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The inverse of numcodecs' filters, bit for bit. Input and output do not overlap; any alignment. */
#ifndef VCZI_UNFILTER_H
#define VCZI_UNFILTER_H

#include <stddef.h>
#include <stdint.h>

#include "cast.h"

/* Running sums of the `nitems` of `in`, in the type that both `from` and `to` promote to: whole numbers wrap, bools are
 * or-ed. */
void vczi_undelta(const vczi_items_t *from, const uint8_t *in, const vczi_items_t *to, uint8_t *out, size_t nitems);

/* item / scale + offset, in float16 or float32 where the items are that, else in double. */
void vczi_unscale(const vczi_items_t *from, const uint8_t *in, double scale, double offset, const vczi_items_t *to,
                  uint8_t *out, size_t nitems);

/* `nbits` bits, the most significant of each byte first, as bytes 0 and 1. */
void vczi_unpack_bits(const uint8_t *in, uint8_t *out, size_t nbits);

#endif
