/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Data types by name. What is a type of NumPy or of a known extension but not read here is refused by that name; what
 * is no type at all is invalid metadata. */
#include "dtype.h"

#include <stdio.h>
#include <string.h>

#include "ceilings.h"
#include "status.h"
#include "vczc.h"

/* Names in messages are cut to this. */
#define EXCERPT_NBYTES 96

static const struct {
    int kind;
    int item_nbytes; /* 0 where the document says it, or where there is no fixed one */
    char letter;     /* of format 2 */
    const char *v3_name;
    const char *name;
} types[] = {
    {VCZC_BOOL, 1, 'b', "bool", "bool"},
    {VCZC_INT8, 1, 'i', "int8", "int8"},
    {VCZC_INT16, 2, 'i', "int16", "int16"},
    {VCZC_INT32, 4, 'i', "int32", "int32"},
    {VCZC_INT64, 8, 'i', "int64", "int64"},
    {VCZC_UINT8, 1, 'u', "uint8", "uint8"},
    {VCZC_UINT16, 2, 'u', "uint16", "uint16"},
    {VCZC_UINT32, 4, 'u', "uint32", "uint32"},
    {VCZC_UINT64, 8, 'u', "uint64", "uint64"},
    {VCZC_FLOAT16, 2, 'f', "float16", "float16"},
    {VCZC_FLOAT32, 4, 'f', "float32", "float32"},
    {VCZC_FLOAT64, 8, 'f', "float64", "float64"},
    {VCZC_FIXED_BYTES, 0, 'S', "null_terminated_bytes", "bytes of fixed length"},
    {VCZC_FIXED_UTF32, 0, 'U', "fixed_length_utf32", "text of fixed length"},
    {VCZC_VLEN_UTF8, 0, 'O', "string", "text of variable length"},
    {VCZC_VLEN_BYTES, 0, '\0', "variable_length_bytes", "bytes of variable length"},
};

#define NTYPES (sizeof(types) / sizeof(types[0]))

static int fail_value(int code, const vczi_json_t *value, const char *why) {
    char text[EXCERPT_NBYTES];
    vczi_json_excerpt(value, text, sizeof(text));
    return vczi_fail(code, "data type %s %s", text, why);
}

/* The text units of a type of fixed length, `unit_nbytes` each, as an item. */
static int set_fixed(const vczi_json_t *value, vczi_dtype_t *dtype, int kind, int64_t nunits, int unit_nbytes) {
    if (nunits < 1) {
        return fail_value(VCZC_ERR_METADATA, value, "has items of no bytes");
    }
    if (nunits > VCZI_MAX_ITEM_NBYTES / unit_nbytes) {
        return fail_value(VCZC_ERR_METADATA, value, "has items that are too large");
    }
    dtype->kind = kind;
    dtype->item_nbytes = nunits * unit_nbytes;
    dtype->unit_nbytes = unit_nbytes;
    return 0;
}

/* Digits to the end of the text; VCZI_MAX_ITEM_NBYTES + 1 stands for all that is larger. */
static bool parse_count(vczi_span_t digits, int64_t *count) {
    int64_t n = 0;
    for (size_t i = 0; i < digits.nbytes; i++) {
        if (digits.data[i] < '0' || digits.data[i] > '9') {
            return false;
        }
        n = n * 10 + (digits.data[i] - '0');
        n = n > VCZI_MAX_ITEM_NBYTES ? VCZI_MAX_ITEM_NBYTES + 1 : n;
    }
    *count = n;
    return digits.nbytes != 0;
}

static bool parse_number(char letter, int64_t count, vczi_dtype_t *dtype) {
    for (size_t i = 0; i < NTYPES; i++) {
        if (types[i].letter == letter && types[i].item_nbytes != 0 && types[i].item_nbytes == count) {
            dtype->kind = types[i].kind;
            dtype->item_nbytes = count;
            dtype->unit_nbytes = types[i].item_nbytes;
            return true;
        }
    }
    return false;
}

/* A letter of NumPy's that stands for a type which is not read: complex, times, void; and floats of 10 to 16 bytes. */
static bool is_known_elsewhere(char letter, int64_t count) {
    return strchr("cmMVta", letter) != NULL || (letter == 'f' && count > 8);
}

static int parse_v2_text(const vczi_json_t *value, vczi_span_t text, vczi_dtype_t *dtype, bool *big_endian) {
    char order = '\0';
    int64_t count = 0;
    if (text.nbytes != 0 && memchr("<>|=", text.data[0], 4) != NULL) {
        order = (char) text.data[0];
        text = vczi_span(text.data + 1, text.nbytes - 1);
    }
    if (text.nbytes == 0 || text.data[0] == '\0') {
        return fail_value(VCZC_ERR_METADATA, value, "is unknown");
    }
    const char letter = (char) text.data[0];
    const bool has_count = parse_count(vczi_span(text.data + 1, text.nbytes - 1), &count);
    int ret = 0;
    if (letter == 'O' && text.nbytes == 1) {
        dtype->kind = VCZC_VLEN_UTF8;
        dtype->item_nbytes = 0;
        dtype->unit_nbytes = 1;
    } else if (has_count && letter == 'S') {
        ret = set_fixed(value, dtype, VCZC_FIXED_BYTES, count, 1);
    } else if (has_count && letter == 'U') {
        ret = set_fixed(value, dtype, VCZC_FIXED_UTF32, count, 4);
    } else if (!has_count || !parse_number(letter, count, dtype)) {
        return is_known_elsewhere(letter, count) ? fail_value(VCZC_ERR_UNSUPPORTED, value, "is not read")
                                                 : fail_value(VCZC_ERR_METADATA, value, "is unknown");
    }
    if (ret == 0 && dtype->unit_nbytes > 1 && order != '<' && order != '>') {
        return fail_value(VCZC_ERR_METADATA, value, "does not say its byte order");
    }
    *big_endian = dtype->unit_nbytes > 1 && order == '>'; /* one-byte types carry any sign: netcdf-c writes "<u1" */
    return ret;
}

int vczi_dtype_parse_v2(const vczi_json_t *value, vczi_dtype_t *dtype, bool *big_endian) {
    vczi_span_t text;
    if (vczi_json_get_text(value, &text)) {
        return parse_v2_text(value, text, dtype, big_endian);
    }
    if (vczi_json_type(value) == VCZI_JSON_ARRAY) {
        return fail_value(VCZC_ERR_UNSUPPORTED, value, "is not read: it is structured");
    }
    if (value == NULL) {
        return vczi_fail(VCZC_ERR_METADATA, "is missing");
    }
    return vczi_fail(VCZC_ERR_METADATA, "must be a text, not %s", vczi_json_type_name(value));
}

/* The row of a name of format 3, or NTYPES. */
static size_t find_v3(const vczi_json_t *name) {
    size_t i = 0;
    if (vczi_json_text_equals(name, "bytes")) {
        name = NULL; /* an older name of the last row */
        i = NTYPES - 1;
    }
    while (name != NULL && i < NTYPES && !vczi_json_text_equals(name, types[i].v3_name)) {
        i++;
    }
    return i;
}

int vczi_dtype_parse_v3(const vczi_json_t *value, vczi_dtype_t *dtype) {
    const bool is_object = vczi_json_type(value) == VCZI_JSON_OBJECT;
    const vczi_json_t *name = is_object ? vczi_json_member(value, "name") : value;
    if (value == NULL) {
        return vczi_fail(VCZC_ERR_METADATA, "is missing");
    }
    if (vczi_json_type(name) != VCZI_JSON_TEXT) {
        return vczi_fail(VCZC_ERR_METADATA, "must be a text or an object with a name, not %s",
                         vczi_json_type_name(value));
    }
    const size_t i = find_v3(name);
    if (i == NTYPES) {
        return fail_value(VCZC_ERR_UNSUPPORTED, value, "is not read");
    }
    if (types[i].kind == VCZC_FIXED_BYTES || types[i].kind == VCZC_FIXED_UTF32) {
        const int unit_nbytes = types[i].kind == VCZC_FIXED_BYTES ? 1 : 4;
        int64_t nbytes = 0;
        if (!vczi_json_get_i64(vczi_json_member(vczi_json_member(value, "configuration"), "length_bytes"), &nbytes) ||
            nbytes % unit_nbytes != 0) {
            return fail_value(VCZC_ERR_METADATA, value, "does not say its length_bytes as it should");
        }
        return set_fixed(value, dtype, types[i].kind, nbytes / unit_nbytes, unit_nbytes);
    }
    dtype->kind = types[i].kind;
    dtype->item_nbytes = types[i].item_nbytes;
    dtype->unit_nbytes = types[i].item_nbytes == 0 ? 1 : types[i].item_nbytes;
    return 0;
}

bool vczi_dtype_is_vlen(const vczi_dtype_t *dtype) {
    return dtype->kind == VCZC_VLEN_UTF8 || dtype->kind == VCZC_VLEN_BYTES;
}

const char *vczi_dtype_name(const vczi_dtype_t *dtype) {
    for (size_t i = 0; i < NTYPES; i++) {
        if (types[i].kind == dtype->kind) {
            return types[i].name;
        }
    }
    return "unknown";
}
