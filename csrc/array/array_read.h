/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Blocks and regions: absent chunks become the fill value, stored ones are decoded to their place, and an error is told
 * where it happened. */
#ifndef VCZI_ARRAY_READ_H
#define VCZI_ARRAY_READ_H

#include "array_open.h"

/* As vczc_array_read_block says. */
int vczi_array_read_block(const vczc_array_t *array, const int64_t *coords, void *out, size_t out_nbytes);

/* As vczc_array_read_selection says; `selection` may be NULL: all of the array. */
int vczi_array_read(const vczc_array_t *array, const vczc_selection_t *selection, void *out,
                    const int64_t *out_strides);

#endif
