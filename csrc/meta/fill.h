/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Fill values of either format: JSON to the bytes of one item in native byte order. */
#ifndef VCZI_FILL_H
#define VCZI_FILL_H

#include <stdbool.h>
#include <stddef.h>

#include "dtype.h"
#include "json.h"

/* On success *fill has dtype->item_nbytes bytes (of variable length: fill_nbytes of text), vczi_free; *is_null where
 * the document says null. What is not exact for the type is VCZC_ERR_METADATA. */
int vczi_fill_parse_v2(const vczi_json_t *value, const vczi_dtype_t *dtype, void **fill, size_t *fill_nbytes,
                       bool *is_null);
/* null and absent are VCZC_ERR_METADATA; floats may be "0x7fc00000", "NaN", "Infinity". */
int vczi_fill_parse_v3(const vczi_json_t *value, const vczi_dtype_t *dtype, void **fill, size_t *fill_nbytes);

#endif
