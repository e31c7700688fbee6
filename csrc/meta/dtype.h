/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Data types: type strings of format 2 and names of format 3, as kind, item size and byte order. */
#ifndef VCZI_DTYPE_H
#define VCZI_DTYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "bytes.h"
#include "json.h"

typedef struct {
    int kind;            /* VCZC_BOOL … VCZC_TIMEDELTA64 */
    int64_t item_nbytes; /* in memory; 0 for variable length */
    int unit_nbytes;     /* what byte order turns: item_nbytes of numbers, half of it of complex ones, 4 of U, else 1 */
    const char *time_unit; /* of times: NumPy's name, "generic" where there is none; static text. NULL of all else */
    int time_scale;        /* how many of those one step is; 0 where there is no unit */
} vczi_dtype_t;

/* A type string of format 2 ("<i4", "|b1", ">U7", "<c8", "|V3", "<M8[ns]", "|O"), one-byte types with any order sign.
 * `big_endian` is what is stored. "|O" gives VCZC_VLEN_UTF8 for now: its filters decide (meta/v2). A list (a structured
 * type) and what NumPy has beyond that are VCZC_ERR_UNSUPPORTED by name. */
int vczi_dtype_parse_v2(const vczi_json_t *value, vczi_dtype_t *dtype, bool *big_endian);

/* A data_type of format 3: "int8" …, "complex64", "string", "bytes"/"variable_length_bytes", "r<bits>"; the same as an
 * object {"name": …}; and objects with a configuration: {"length_bytes": n} of "fixed_length_utf32",
 * "null_terminated_bytes" and "raw_bytes", {"unit": …, "scale_factor": n} of "numpy.datetime64", "numpy.timedelta64".
 */
int vczi_dtype_parse_v3(const vczi_json_t *value, vczi_dtype_t *dtype);

bool vczi_dtype_is_vlen(const vczi_dtype_t *dtype);
/* "int8", "text of variable length", … for messages. */
const char *vczi_dtype_name(const vczi_dtype_t *dtype);

#endif
