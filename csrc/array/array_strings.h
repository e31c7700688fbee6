/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Text and bytes of variable length: a block or a selection as offsets and bytes. */
#ifndef VCZI_ARRAY_STRINGS_H
#define VCZI_ARRAY_STRINGS_H

#include "array_open.h"

/* As vczc_array_read_strings says. */
int vczi_array_read_strings_block(const vczc_array_t *array, const int64_t *coords, vczc_strings_t *strings);

/* As vczc_array_read_strings_selection says; `selection` may be NULL: all of the array. */
int vczi_array_read_strings(const vczc_array_t *array, const vczc_selection_t *selection, vczc_strings_t *strings);

void vczi_strings_clear(vczc_strings_t *strings);

#endif
