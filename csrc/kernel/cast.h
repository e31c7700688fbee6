/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Numbers of one type as numbers of another, as NumPy's astype gives them. */
#ifndef VCZI_CAST_H
#define VCZI_CAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Items that lie one after another, at any alignment. */
typedef struct {
    int kind;        /* VCZC_BOOL to VCZC_FLOAT64 */
    size_t nbytes;   /* of an item */
    bool is_swapped; /* they are not in this processor's byte order */
} vczi_items_t;

static inline vczi_items_t vczi_native_items(int kind, size_t nbytes) {
    const vczi_items_t items = {kind, nbytes, false};
    return items;
}

/* `nitems` items of `in` as items of `out`; the two do not overlap. Whole numbers wrap, floats are cut towards zero. A
 * float that no integer of the type holds gives what x86-64's conversion gives, on every processor. */
void vczi_cast(const vczi_items_t *from, const uint8_t *in, const vczi_items_t *to, uint8_t *out, size_t nitems);

/* ---- float16 (IEEE 754 binary16), rounding to nearest even; what a NaN carries stays ---- */

double vczi_half_to_double(uint16_t half);
uint16_t vczi_half_of_double(double value);

#endif
