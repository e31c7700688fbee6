/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Fill values. Integers are taken exactly or not at all; reals are rounded to nearest as NumPy rounds them; the bits of
 * a NaN are NumPy's own, or those that a hexadecimal text of format 3 gives. */
#include "fill.h"

#include <math.h>
#include <string.h>

#include "ceilings.h"
#include "checked.h"
#include "mem.h"
#include "status.h"
#include "vczc.h"

/* Values in messages are cut to this. */
#define EXCERPT_NBYTES 96

static int fail_value(const vczi_json_t *value, const vczi_dtype_t *dtype) {
    char text[EXCERPT_NBYTES];
    vczi_json_excerpt(value, text, sizeof(text));
    return vczi_fail(VCZC_ERR_METADATA, "%s is no %s", text, vczi_dtype_name(dtype));
}

/* ---- Numbers ---- */

static void store_bits(void *item, uint64_t bits, size_t nbytes) {
    const uint8_t b1 = (uint8_t) bits;
    const uint16_t b2 = (uint16_t) bits;
    const uint32_t b4 = (uint32_t) bits;
    const void *from = nbytes == 1   ? (const void *) &b1
                       : nbytes == 2 ? (const void *) &b2
                       : nbytes == 4 ? (const void *) &b4
                                     : (const void *) &bits;
    memcpy(item, from, nbytes);
}

/* A whole number as sign and magnitude: JSON integers, reals without a fraction, true and false. */
static bool get_whole(const vczi_json_t *value, bool *is_negative, uint64_t *magnitude) {
    int64_t number;
    double real;
    bool truth;
    *is_negative = false;
    if (vczi_json_get_u64(value, magnitude)) {
        return true;
    }
    if (vczi_json_get_i64(value, &number)) {
        *is_negative = number < 0;
        *magnitude = number < 0 ? (uint64_t) 0 - (uint64_t) number : (uint64_t) number;
        return true;
    }
    if (vczi_json_get_bool(value, &truth)) {
        *magnitude = truth ? 1 : 0;
        return true;
    }
    if (vczi_json_get_double(value, &real)) {
        const double size = fabs(real);
        if (!(size < 18446744073709551616.0) || floor(size) != size) { /* NaN is not smaller than 2^64 either */
            return false;
        }
        if (real <= -9223372036854775808.0) {
            return false; /* it may be an integer below that, which the parser has rounded */
        }
        *is_negative = real < 0;
        *magnitude = (uint64_t) size;
        return true;
    }
    return false;
}

static bool is_time(const vczi_dtype_t *dtype) {
    return dtype->kind == VCZC_DATETIME64 || dtype->kind == VCZC_TIMEDELTA64;
}

static bool is_signed(const vczi_dtype_t *dtype) {
    return (dtype->kind >= VCZC_INT8 && dtype->kind <= VCZC_INT64) || is_time(dtype);
}

static bool parse_whole(const vczi_json_t *value, const vczi_dtype_t *dtype, void *item) {
    const unsigned nbits = (unsigned) dtype->item_nbytes * 8;
    const uint64_t max_unsigned = UINT64_MAX >> (64 - nbits);
    bool is_negative;
    uint64_t magnitude;
    if (!get_whole(value, &is_negative, &magnitude)) {
        return false;
    }
    uint64_t max = dtype->kind == VCZC_BOOL ? 1 : max_unsigned;
    if (is_signed(dtype)) {
        max = (max_unsigned >> 1) + (is_negative ? 1 : 0);
    } else if (is_negative && magnitude != 0) {
        return false;
    }
    if (magnitude > max) {
        return false;
    }
    store_bits(item, is_negative ? (uint64_t) 0 - magnitude : magnitude, (size_t) dtype->item_nbytes);
    return true;
}

/* The half-precision number nearest to a double, ties to even: straight from the double, as two roundings would err. */
static uint16_t half_from_double(double real) {
    uint64_t bits;
    memcpy(&bits, &real, sizeof(bits));
    const uint16_t sign = (uint16_t) (bits >> 48 & 0x8000);
    const int exponent = (int) (bits >> 52 & 0x7ff) - 1023;
    const uint64_t significand = (bits & 0xfffffffffffff) | (uint64_t) 1 << 52;
    if (exponent > 15) {
        return (uint16_t) (sign | 0x7c00);
    }
    if (exponent < -25) {
        return sign; /* less than half of the least subnormal, 2^-24 */
    }
    /* The last bit kept is worth 2^(exponent - 10), or 2^-24 of subnormals. */
    const int ndropped = exponent >= -14 ? 42 : 42 + (-14 - exponent);
    uint64_t kept = significand >> ndropped;
    const uint64_t dropped = significand & (((uint64_t) 1 << ndropped) - 1);
    const uint64_t tie = (uint64_t) 1 << (ndropped - 1);
    if (dropped > tie || (dropped == tie && (kept & 1) != 0)) {
        kept++;
    }
    /* A carry out of the significand makes the next exponent, also into infinity: the fields lie side by side. */
    const uint64_t biased = exponent >= -14 ? (uint64_t) (exponent + 14) << 10 : 0;
    return (uint16_t) (sign | (biased + kept));
}

static void store_real(double real, size_t nbytes, void *item) {
    if (isnan(real)) {
        store_bits(item, nbytes == 2 ? 0x7e00 : nbytes == 4 ? 0x7fc00000 : UINT64_C(0x7ff8000000000000), nbytes);
    } else if (nbytes == 2) {
        store_bits(item, half_from_double(real), nbytes);
    } else if (nbytes == 4) {
        const float single = (float) real;
        memcpy(item, &single, sizeof(single));
    } else {
        memcpy(item, &real, sizeof(real));
    }
}

static int hex_digit(uint8_t c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "0x" and the bits of the item, most significant first, every digit of them. */
static bool parse_hex(vczi_span_t text, size_t nbytes, void *item) {
    uint64_t bits = 0;
    if (text.nbytes != 2 + 2 * nbytes || text.data[0] != '0' || text.data[1] != 'x') {
        return false;
    }
    for (size_t i = 2; i < text.nbytes; i++) {
        const int digit = hex_digit(text.data[i]);
        if (digit < 0) {
            return false;
        }
        bits = bits << 4 | (uint64_t) digit;
    }
    store_bits(item, bits, nbytes);
    return true;
}

static bool parse_real(const vczi_json_t *value, size_t nbytes, bool is_v3, void *item) {
    vczi_span_t text;
    double real;
    bool truth;
    if (vczi_json_get_bool(value, &truth)) {
        real = truth ? 1 : 0;
    } else if (vczi_json_text_equals(value, "NaN")) {
        real = NAN;
    } else if (vczi_json_text_equals(value, "Infinity")) {
        real = INFINITY;
    } else if (vczi_json_text_equals(value, "-Infinity")) {
        real = -INFINITY;
    } else if (vczi_json_get_text(value, &text)) {
        return is_v3 && parse_hex(text, nbytes, item);
    } else if (!vczi_json_get_double(value, &real)) {
        return false;
    }
    store_real(real, nbytes, item);
    return true;
}

static bool is_real(const vczi_dtype_t *dtype) {
    return dtype->kind >= VCZC_FLOAT16 && dtype->kind <= VCZC_FLOAT64;
}

static bool parse_number(const vczi_json_t *value, const vczi_dtype_t *dtype, bool is_v3, void *item) {
    return is_real(dtype) ? parse_real(value, (size_t) dtype->item_nbytes, is_v3, item)
                          : parse_whole(value, dtype, item);
}

/* The real and the imaginary part. */
static bool parse_complex(const vczi_json_t *value, const vczi_dtype_t *dtype, bool is_v3, uint8_t *item) {
    const size_t nbytes = (size_t) dtype->unit_nbytes;
    return vczi_json_type(value) == VCZI_JSON_ARRAY && vczi_json_count(value) == 2 &&
           parse_real(vczi_json_item(value, 0), nbytes, is_v3, item) &&
           parse_real(vczi_json_item(value, 1), nbytes, is_v3, item + nbytes);
}

/* NumPy's "not a time", which is also what a time without a fill value is. */
static void store_nat(void *item) {
    store_bits(item, (uint64_t) INT64_MIN, sizeof(int64_t));
}

static bool parse_time(const vczi_json_t *value, const vczi_dtype_t *dtype, void *item) {
    if (vczi_json_text_equals(value, "NaT")) {
        store_nat(item);
        return true;
    }
    return parse_whole(value, dtype, item);
}

/* zarr-python takes a number that is written as a text: "42", "0.5". */
static int parse_number_text(const vczi_json_t *value, const vczi_dtype_t *dtype, void *item) {
    vczi_json_doc_t *number = NULL;
    vczi_span_t text;
    bool is_good = false;
    if (vczi_json_get_text(value, &text)) {
        const int ret = vczi_json_parse(&number, text, "a number");
        if (ret == VCZC_ERR_NO_MEMORY) {
            return ret;
        }
    }
    if (number != NULL) {
        const vczi_json_type_t type = vczi_json_type(vczi_json_root(number));
        is_good = (type == VCZI_JSON_INTEGER || (type == VCZI_JSON_REAL && is_real(dtype))) &&
                  parse_number(vczi_json_root(number), dtype, false, item);
        vczi_json_close(number);
    }
    return is_good ? 0 : fail_value(value, dtype);
}

/* ---- Text and bytes ---- */

/* The next code point of text that the JSON parser has found to be UTF-8. */
static uint32_t next_code_point(vczi_span_t text, size_t *i) {
    const uint8_t *p = text.data + *i;
    const uint32_t lead = p[0];
    if (lead < 0x80) {
        *i += 1;
        return lead;
    }
    const size_t nbytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    uint32_t code = lead & (0xffu >> (nbytes + 1));
    for (size_t k = 1; k < nbytes; k++) {
        code = code << 6 | (p[k] & 0x3fu);
    }
    *i += nbytes;
    return code;
}

static bool parse_utf32(vczi_span_t text, size_t item_nbytes, uint8_t *item) {
    size_t nbytes = 0;
    for (size_t i = 0; i < text.nbytes;) {
        const uint32_t code = next_code_point(text, &i);
        if (nbytes == item_nbytes) {
            return false;
        }
        memcpy(item + nbytes, &code, sizeof(code));
        nbytes += sizeof(code);
    }
    return true;
}

static int base64_digit(uint8_t c) {
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Decode base64 into `out`, which has room for 3 bytes of every 4 of the text. */
static bool decode_base64(vczi_span_t text, uint8_t *out, size_t *out_nbytes) {
    size_t ndigits = text.nbytes;
    uint32_t bits = 0;
    *out_nbytes = 0;
    if (text.nbytes % 4 != 0) {
        return false;
    }
    while (text.nbytes - ndigits < 2 && ndigits > 0 && text.data[ndigits - 1] == '=') {
        ndigits--;
    }
    for (size_t i = 0; i < ndigits; i++) {
        const int digit = base64_digit(text.data[i]);
        if (digit < 0) {
            return false;
        }
        bits = (bits << 6 | (uint32_t) digit) & 0xffffff;
        if (i % 4 != 0) { /* the second, third and fourth digit complete a byte */
            out[(*out_nbytes)++] = (uint8_t) (bits >> (6 - 2 * (i % 4)));
        }
    }
    return true;
}

/* The bytes that format 3 may also give as a list of numbers. */
static bool read_byte_list(const vczi_json_t *value, uint8_t *out) {
    const size_t n = vczi_json_count(value);
    for (size_t i = 0; i < n; i++) {
        int64_t byte = -1;
        if (!vczi_json_get_i64(vczi_json_item(value, i), &byte) || byte < 0 || byte > 255) {
            return false;
        }
        out[i] = (uint8_t) byte;
    }
    return true;
}

/* Bytes as base64 or, of format 3, as a list of numbers: an allocation as large as the text that says them. */
static int parse_bytes(const vczi_json_t *value, const vczi_dtype_t *dtype, bool is_v3, uint8_t **out,
                       size_t *out_nbytes) {
    vczi_span_t text = {NULL, 0};
    bool is_good = false;
    const bool is_list = is_v3 && vczi_json_type(value) == VCZI_JSON_ARRAY;
    *out = NULL;
    if (!is_list && !vczi_json_get_text(value, &text)) {
        return fail_value(value, dtype);
    }
    uint8_t *bytes = vczi_alloc(is_list ? vczi_json_count(value) : text.nbytes);
    if (bytes == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    if (is_list) {
        *out_nbytes = vczi_json_count(value);
        is_good = read_byte_list(value, bytes);
    } else {
        is_good = decode_base64(text, bytes, out_nbytes);
    }
    if (!is_good) {
        vczi_free(bytes);
        return fail_value(value, dtype);
    }
    *out = bytes;
    return 0;
}

/* Into an item of fixed length: zeros behind are padding, anything else that passes the end is refused. */
static int parse_fixed_bytes(const vczi_json_t *value, const vczi_dtype_t *dtype, bool is_v3, uint8_t *item) {
    const size_t item_nbytes = (size_t) dtype->item_nbytes;
    uint8_t *bytes = NULL;
    size_t nbytes = 0;
    int ret = parse_bytes(value, dtype, is_v3, &bytes, &nbytes);
    if (ret != 0) {
        return ret;
    }
    while (nbytes > item_nbytes && bytes[nbytes - 1] == 0) {
        nbytes--;
    }
    if (nbytes > item_nbytes) {
        ret = fail_value(value, dtype);
    } else if (nbytes != 0) {
        memcpy(item, bytes, nbytes);
    }
    vczi_free(bytes);
    return ret;
}

static int parse_vlen(const vczi_json_t *value, const vczi_dtype_t *dtype, bool is_v3, uint8_t **out,
                      size_t *out_nbytes) {
    vczi_span_t text;
    if (dtype->kind == VCZC_VLEN_BYTES) {
        return parse_bytes(value, dtype, is_v3, out, out_nbytes);
    }
    if (!vczi_json_get_text(value, &text)) {
        return fail_value(value, dtype);
    }
    *out = (uint8_t *) vczi_copy_text((const char *) text.data, text.nbytes);
    *out_nbytes = text.nbytes;
    return *out == NULL ? VCZC_ERR_NO_MEMORY : 0;
}

/* ---- Both ---- */

/* zarr-python 2 wrote the number 0 for text and bytes where it meant nothing at all. */
static bool is_zero(const vczi_json_t *value) {
    double number;
    return vczi_json_get_double(value, &number) && number == 0;
}

static int parse_item(const vczi_json_t *value, const vczi_dtype_t *dtype, bool is_v3, void *item) {
    vczi_span_t text;
    switch (dtype->kind) {
        case VCZC_COMPLEX64:
        case VCZC_COMPLEX128:
            return parse_complex(value, dtype, is_v3, item) ? 0 : fail_value(value, dtype);
        case VCZC_DATETIME64:
        case VCZC_TIMEDELTA64:
            return parse_time(value, dtype, item) ? 0 : fail_value(value, dtype);
        case VCZC_RAW:
        case VCZC_FIXED_BYTES:
            return parse_fixed_bytes(value, dtype, is_v3, item);
        case VCZC_FIXED_UTF32:
            return vczi_json_get_text(value, &text) && parse_utf32(text, (size_t) dtype->item_nbytes, item)
                       ? 0
                       : fail_value(value, dtype);
        default:
            return parse_number(value, dtype, is_v3, item) ? 0 : parse_number_text(value, dtype, item);
    }
}

static int parse(const vczi_json_t *value, const vczi_dtype_t *dtype, bool is_v3, void **fill, size_t *fill_nbytes) {
    const bool is_text = (dtype->kind >= VCZC_FIXED_BYTES && dtype->kind <= VCZC_VLEN_BYTES) || dtype->kind == VCZC_RAW;
    const bool is_empty =
        !is_v3 && (value == NULL || vczi_json_type(value) == VCZI_JSON_NULL || (is_text && is_zero(value)));
    uint8_t *item = NULL;
    size_t nbytes = 0;
    int ret = 0;
    *fill = NULL;
    *fill_nbytes = 0;
    if (vczi_dtype_is_vlen(dtype) && !is_empty) {
        ret = parse_vlen(value, dtype, is_v3, &item, &nbytes);
    } else if (!vczi_i64_to_size(dtype->item_nbytes, &nbytes) || (item = vczi_alloc_zeroed(nbytes, 1)) == NULL) {
        ret = VCZC_ERR_NO_MEMORY;
    } else if (!is_empty) {
        ret = parse_item(value, dtype, is_v3, item);
    } else if (is_time(dtype)) {
        store_nat(item);
    }
    if (ret != 0) {
        vczi_free(item);
        return ret;
    }
    *fill = item;
    *fill_nbytes = nbytes;
    return 0;
}

int vczi_fill_parse_v2(const vczi_json_t *value, const vczi_dtype_t *dtype, void **fill, size_t *fill_nbytes,
                       bool *is_null) {
    *is_null = value == NULL || vczi_json_type(value) == VCZI_JSON_NULL;
    return parse(value, dtype, false, fill, fill_nbytes);
}

int vczi_fill_parse_v3(const vczi_json_t *value, const vczi_dtype_t *dtype, void **fill, size_t *fill_nbytes) {
    *fill = NULL;
    *fill_nbytes = 0;
    if (value == NULL) {
        return vczi_fail(VCZC_ERR_METADATA, "is missing");
    }
    if (vczi_json_type(value) == VCZI_JSON_NULL) {
        return vczi_fail(VCZC_ERR_METADATA, "must not be null");
    }
    return parse(value, dtype, true, fill, fill_nbytes);
}
