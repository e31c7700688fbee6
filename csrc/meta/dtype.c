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

/* An item's size is an int there. */
#define NUMPY_MAX_ITEM_NBYTES ((int64_t) INT32_MAX)

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
    {VCZC_COMPLEX64, 8, 'c', "complex64", "complex64"},
    {VCZC_COMPLEX128, 16, 'c', "complex128", "complex128"},
    {VCZC_DATETIME64, 8, 'M', "numpy.datetime64", "datetime64"},
    {VCZC_TIMEDELTA64, 8, 'm', "numpy.timedelta64", "timedelta64"},
    {VCZC_FIXED_BYTES, 0, 'S', "null_terminated_bytes", "bytes of fixed length"},
    {VCZC_FIXED_UTF32, 0, 'U', "fixed_length_utf32", "text of fixed length"},
    {VCZC_RAW, 0, 'V', "raw_bytes", "raw bytes"},
    {VCZC_VLEN_UTF8, 0, 'O', "string", "text of variable length"},
    {VCZC_VLEN_BYTES, 0, '\0', "variable_length_bytes", "bytes of variable length"},
};

#define NTYPES (sizeof(types) / sizeof(types[0]))

/* NumPy's units of time; the last spelling of microseconds is taken as zarr-python takes it. */
static const struct {
    const char *name;
    const char *unit;
} time_units[] = {
    {"Y", "Y"},   {"M", "M"},   {"W", "W"},   {"D", "D"},   {"h", "h"},   {"m", "m"},   {"s", "s"},
    {"ms", "ms"}, {"us", "us"}, {"ns", "ns"}, {"ps", "ps"}, {"fs", "fs"}, {"as", "as"}, {"\xce\xbcs", "us"},
};

#define NO_TIME_UNIT "generic"

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
    if (nunits > NUMPY_MAX_ITEM_NBYTES / unit_nbytes) {
        return fail_value(VCZC_ERR_METADATA, value, "has items that are too large");
    }
    if (nunits > VCZI_MAX_ITEM_NBYTES / unit_nbytes) {
        return fail_value(VCZC_ERR_UNSUPPORTED, value, "has items of more than 16 MiB");
    }
    dtype->kind = kind;
    dtype->item_nbytes = nunits * unit_nbytes;
    dtype->unit_nbytes = unit_nbytes;
    return 0;
}

/* Digits to the end of the text; `max` + 1 stands for all that is larger. */
static bool parse_count(vczi_span_t digits, int64_t max, int64_t *count) {
    int64_t n = 0;
    for (size_t i = 0; i < digits.nbytes; i++) {
        if (digits.data[i] < '0' || digits.data[i] > '9') {
            return false;
        }
        n = n * 10 + (digits.data[i] - '0');
        n = n > max ? max + 1 : n;
    }
    *count = n;
    return digits.nbytes != 0;
}

/* The type of row `i`, whose items have a size of their own or none. */
static void set_row(size_t i, vczi_dtype_t *dtype) {
    const int item_nbytes = types[i].item_nbytes;
    const bool is_pair = types[i].kind == VCZC_COMPLEX64 || types[i].kind == VCZC_COMPLEX128;
    dtype->kind = types[i].kind;
    dtype->item_nbytes = item_nbytes;
    dtype->unit_nbytes = item_nbytes == 0 ? 1 : is_pair ? item_nbytes / 2 : item_nbytes;
}

static bool parse_number(char letter, int64_t count, vczi_dtype_t *dtype) {
    for (size_t i = 0; i < NTYPES; i++) {
        if (types[i].letter == letter && types[i].item_nbytes != 0 && types[i].item_nbytes == count) {
            set_row(i, dtype);
            return true;
        }
    }
    return false;
}

/* ---- Times ---- */

static bool is_time(int kind) {
    return kind == VCZC_DATETIME64 || kind == VCZC_TIMEDELTA64;
}

/* `scale` steps of the unit of that name; without a unit there is nothing to scale. */
static int set_time(const vczi_json_t *value, vczi_span_t name, int64_t scale, vczi_dtype_t *dtype) {
    if (scale < 1 || scale > INT32_MAX) {
        return fail_value(VCZC_ERR_METADATA, value, "has a scale that is not from 1 to 2147483647");
    }
    if (vczi_span_equals(name, NO_TIME_UNIT) && scale == 1) {
        dtype->time_unit = NO_TIME_UNIT;
        return 0;
    }
    for (size_t i = 0; i < sizeof(time_units) / sizeof(time_units[0]); i++) {
        if (vczi_span_equals(name, time_units[i].name)) {
            dtype->time_unit = time_units[i].unit;
            dtype->time_scale = (int) scale;
            return 0;
        }
    }
    return fail_value(VCZC_ERR_UNSUPPORTED, value, "has a unit of time that is not read");
}

/* What stands behind "M8" or "m8": nothing, or "[ns]", "[10s]". */
static int parse_time_v2(const vczi_json_t *value, vczi_span_t text, vczi_dtype_t *dtype) {
    int64_t scale = 1;
    size_t ndigits = 0;
    if (text.nbytes == 0) {
        return set_time(value, vczi_span(NO_TIME_UNIT, strlen(NO_TIME_UNIT)), 1, dtype);
    }
    if (text.data[0] != '[' || text.data[text.nbytes - 1] != ']' || text.nbytes == 1) {
        return fail_value(VCZC_ERR_METADATA, value, "is unknown");
    }
    text = vczi_span(text.data + 1, text.nbytes - 2);
    while (ndigits < text.nbytes && text.data[ndigits] >= '0' && text.data[ndigits] <= '9') {
        ndigits++;
    }
    if (ndigits != 0) {
        (void) parse_count(vczi_span(text.data, ndigits), INT32_MAX, &scale);
    }
    return set_time(value, vczi_span(text.data + ndigits, text.nbytes - ndigits), scale, dtype);
}

static int parse_time_v3(const vczi_json_t *value, vczi_dtype_t *dtype) {
    const vczi_json_t *config = vczi_json_member(value, "configuration");
    vczi_span_t unit;
    int64_t scale = 0;
    if (!vczi_json_get_text(vczi_json_member(config, "unit"), &unit) ||
        !vczi_json_get_i64(vczi_json_member(config, "scale_factor"), &scale)) {
        return fail_value(VCZC_ERR_METADATA, value, "does not say its unit and scale_factor as it should");
    }
    return set_time(value, unit, scale, dtype);
}

/* ---- Format 2 ---- */

/* A type of NumPy that is not read: floats and complex numbers of other sizes, bit fields, old spellings of bytes. */
static bool is_known_elsewhere(char letter, int64_t count) {
    return strchr("ta", letter) != NULL || (letter == 'f' && count > 8) || (letter == 'c' && count > 16);
}

/* The letter and what stands behind it. */
static int parse_v2_letter(const vczi_json_t *value, char letter, vczi_span_t rest, vczi_dtype_t *dtype) {
    int64_t count = 0;
    const bool has_count = parse_count(rest, NUMPY_MAX_ITEM_NBYTES, &count);
    if (letter == 'O' && rest.nbytes == 0) {
        dtype->kind = VCZC_VLEN_UTF8;
        dtype->item_nbytes = 0;
        dtype->unit_nbytes = 1;
        return 0;
    }
    if (has_count && letter == 'S') {
        return set_fixed(value, dtype, VCZC_FIXED_BYTES, count, 1);
    }
    if (has_count && letter == 'U') {
        return set_fixed(value, dtype, VCZC_FIXED_UTF32, count, 4);
    }
    if (has_count && letter == 'V') {
        return set_fixed(value, dtype, VCZC_RAW, count, 1);
    }
    if ((letter == 'M' || letter == 'm') && rest.nbytes != 0 && rest.data[0] == '8') {
        (void) parse_number(letter, 8, dtype);
        return parse_time_v2(value, vczi_span(rest.data + 1, rest.nbytes - 1), dtype);
    }
    if (has_count && parse_number(letter, count, dtype)) {
        return 0;
    }
    return is_known_elsewhere(letter, count) ? fail_value(VCZC_ERR_UNSUPPORTED, value, "is not read")
                                             : fail_value(VCZC_ERR_METADATA, value, "is unknown");
}

static int parse_v2_text(const vczi_json_t *value, vczi_span_t text, vczi_dtype_t *dtype, bool *big_endian) {
    char order = '\0';
    if (text.nbytes != 0 && memchr("<>|=", text.data[0], 4) != NULL) {
        order = (char) text.data[0];
        text = vczi_span(text.data + 1, text.nbytes - 1);
    }
    if (text.nbytes == 0 || text.data[0] == '\0') {
        return fail_value(VCZC_ERR_METADATA, value, "is unknown");
    }
    const int ret = parse_v2_letter(value, (char) text.data[0], vczi_span(text.data + 1, text.nbytes - 1), dtype);
    if (ret == 0 && dtype->unit_nbytes > 1 && order != '<' && order != '>') {
        return fail_value(VCZC_ERR_METADATA, value, "does not say its byte order");
    }
    *big_endian = dtype->unit_nbytes > 1 && order == '>'; /* one-byte types carry any sign: netcdf-c writes "<u1" */
    return ret;
}

int vczi_dtype_parse_v2(const vczi_json_t *value, vczi_dtype_t *dtype, bool *big_endian) {
    vczi_span_t text;
    memset(dtype, 0, sizeof(*dtype));
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

/* ---- Format 3 ---- */

/* The row of a name of format 3, or NTYPES. */
static size_t find_v3(const vczi_json_t *name) {
    size_t i = 0;
    if (vczi_json_text_equals(name, "bytes")) {
        return NTYPES - 1; /* an older name of the last row */
    }
    while (i < NTYPES && !vczi_json_text_equals(name, types[i].v3_name)) {
        i++;
    }
    return i;
}

static int parse_length_v3(const vczi_json_t *value, int kind, vczi_dtype_t *dtype) {
    const vczi_json_t *config = vczi_json_member(value, "configuration");
    const int unit_nbytes = kind == VCZC_FIXED_UTF32 ? 4 : 1;
    int64_t nbytes = 0;
    if (!vczi_json_get_i64(vczi_json_member(config, "length_bytes"), &nbytes) || nbytes % unit_nbytes != 0) {
        return fail_value(VCZC_ERR_METADATA, value, "does not say its length_bytes as it should");
    }
    return set_fixed(value, dtype, kind, nbytes / unit_nbytes, unit_nbytes);
}

/* The raw bits of the core specification: "r" and their number. */
static bool is_raw_bits(const vczi_json_t *name, int64_t *nbits) {
    vczi_span_t text;
    return vczi_json_get_text(name, &text) && text.nbytes > 1 && text.data[0] == 'r' &&
           parse_count(vczi_span(text.data + 1, text.nbytes - 1), NUMPY_MAX_ITEM_NBYTES * 8, nbits);
}

static int parse_v3(const vczi_json_t *value, const vczi_json_t *name, vczi_dtype_t *dtype) {
    const size_t i = find_v3(name);
    int64_t nbits = 0;
    if (i == NTYPES && is_raw_bits(name, &nbits)) {
        return nbits % 8 == 0 ? set_fixed(value, dtype, VCZC_RAW, nbits / 8, 1)
                              : fail_value(VCZC_ERR_METADATA, value, "has items of no whole number of bytes");
    }
    if (i == NTYPES) {
        return fail_value(VCZC_ERR_UNSUPPORTED, value, "is not read");
    }
    if (types[i].kind == VCZC_FIXED_BYTES || types[i].kind == VCZC_FIXED_UTF32 || types[i].kind == VCZC_RAW) {
        return parse_length_v3(value, types[i].kind, dtype);
    }
    set_row(i, dtype);
    return is_time(types[i].kind) ? parse_time_v3(value, dtype) : 0;
}

int vczi_dtype_parse_v3(const vczi_json_t *value, vczi_dtype_t *dtype) {
    const bool is_object = vczi_json_type(value) == VCZI_JSON_OBJECT;
    const vczi_json_t *name = is_object ? vczi_json_member(value, "name") : value;
    memset(dtype, 0, sizeof(*dtype));
    if (value == NULL) {
        return vczi_fail(VCZC_ERR_METADATA, "is missing");
    }
    if (vczi_json_type(name) != VCZI_JSON_TEXT) {
        return vczi_fail(VCZC_ERR_METADATA, "must be a text or an object with a name, not %s",
                         vczi_json_type_name(value));
    }
    return parse_v3(value, name, dtype);
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
