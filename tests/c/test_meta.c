/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Data types, fill values, the grid, keys, and the documents of both formats. */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "chunk_key.h"
#include "document.h"
#include "dtype.h"
#include "fill.h"
#include "grid.h"
#include "json.h"
#include "mem.h"
#include "status.h"

static vczi_json_doc_t *parse(const char *text) {
    vczi_json_doc_t *doc = NULL;
    if (vczi_json_parse(&doc, vczi_span(text, strlen(text)), "test") != 0) {
        fprintf(stderr, "not JSON: %s: %s\n", text, vczi_detail_view()->reason);
        abort();
    }
    return doc;
}

static bool reason_has(const char *text) {
    const bool has = strstr(vczi_detail_view()->reason, text) != NULL;
    if (!has) {
        fprintf(stderr, "    \"%s\" is not in: %s\n", text, vczi_detail_view()->reason);
    }
    return has;
}

/* ---- Data types ---- */

static int dtype_of(const char *text, bool is_v3, vczi_dtype_t *dtype, bool *big_endian) {
    vczi_json_doc_t *doc = parse(text);
    memset(dtype, 0, sizeof(*dtype));
    *big_endian = false;
    const int ret = is_v3 ? vczi_dtype_parse_v3(vczi_json_root(doc), dtype)
                          : vczi_dtype_parse_v2(vczi_json_root(doc), dtype, big_endian);
    vczi_json_close(doc);
    return ret;
}

static const char *const v2_unsupported[] = {
    "\"<M8[s/3]\"", "\"<m8[fortnight]\"", "\"<c32\"", "\"|t3\"", "\"<f16\"", "[[\"a\", \"<i4\"], [\"b\", \"<f4\"]]"};
static const char *const v2_invalid[] = {"\"\"",
                                         "\"<\"",
                                         "\"<i\"",
                                         "\"<i3\"",
                                         "\"i4\"",
                                         "\"|i4\"",
                                         "\"=i4\"",
                                         "\"<i4 \"",
                                         "\"|b2\"",
                                         "\"|S0\"",
                                         "\"<U0\"",
                                         "\"|U4\"",
                                         "\"|S-1\"",
                                         "\"|O8\"",
                                         "\"|V0\"",
                                         "\"V\"",
                                         "\"<c4\"",
                                         "\"|c8\"",
                                         "\"M8[s]\"",
                                         "\"<M4[s]\"",
                                         "\"<M\"",
                                         "\"<M8[\"",
                                         "\"<M8[s\"",
                                         "\"<M8s]\"",
                                         "\"<M8[0s]\"",
                                         "\"<M8[2147483648s]\"",
                                         "\"<m8[99999999999999999999999s]\"",
                                         "\"x\"",
                                         "5",
                                         "null",
                                         "{}",
                                         "\"<i4\\u0000\"",
                                         "\"|S2147483648\"",
                                         "\"<U536870912\"",
                                         "\"|S99999999999999999999999\""};

static const char *const v2_too_large[] = {"\"|S16777217\"", "\"<U4194305\"", "\"|V16777217\"", "\"|S2147483647\""};

static void types_of_format_2(void) {
    static const struct {
        const char *text;
        int kind, item_nbytes, unit_nbytes;
        bool big_endian;
    } good[] = {
        {"\"|b1\"", VCZC_BOOL, 1, 1, false},          {"\"<b1\"", VCZC_BOOL, 1, 1, false},
        {"\"|i1\"", VCZC_INT8, 1, 1, false},          {"\">i1\"", VCZC_INT8, 1, 1, false},
        {"\"i1\"", VCZC_INT8, 1, 1, false},           {"\"<u1\"", VCZC_UINT8, 1, 1, false},
        {"\"<i2\"", VCZC_INT16, 2, 2, false},         {"\">i2\"", VCZC_INT16, 2, 2, true},
        {"\"<u2\"", VCZC_UINT16, 2, 2, false},        {"\">i4\"", VCZC_INT32, 4, 4, true},
        {"\"<u4\"", VCZC_UINT32, 4, 4, false},        {"\"<i8\"", VCZC_INT64, 8, 8, false},
        {"\">u8\"", VCZC_UINT64, 8, 8, true},         {"\"<f2\"", VCZC_FLOAT16, 2, 2, false},
        {"\">f4\"", VCZC_FLOAT32, 4, 4, true},        {"\"<f8\"", VCZC_FLOAT64, 8, 8, false},
        {"\"|S5\"", VCZC_FIXED_BYTES, 5, 1, false},   {"\">S5\"", VCZC_FIXED_BYTES, 5, 1, false},
        {"\"<U7\"", VCZC_FIXED_UTF32, 28, 4, false},  {"\">U12\"", VCZC_FIXED_UTF32, 48, 4, true},
        {"\"|O\"", VCZC_VLEN_UTF8, 0, 1, false},      {"\"|V3\"", VCZC_RAW, 3, 1, false},
        {"\"<c8\"", VCZC_COMPLEX64, 8, 4, false},     {"\">c16\"", VCZC_COMPLEX128, 16, 8, true},
        {"\"<M8[s]\"", VCZC_DATETIME64, 8, 8, false}, {"\">m8\"", VCZC_TIMEDELTA64, 8, 8, true},
    };
    vczi_dtype_t dtype;
    bool big_endian;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        CHECK_EQ(dtype_of(good[i].text, false, &dtype, &big_endian), 0);
        if (!CHECK(dtype.kind == good[i].kind && dtype.item_nbytes == good[i].item_nbytes &&
                   dtype.unit_nbytes == good[i].unit_nbytes && big_endian == good[i].big_endian)) {
            fprintf(stderr, "    %s\n", good[i].text);
        }
    }
    for (size_t i = 0; i < sizeof(v2_unsupported) / sizeof(v2_unsupported[0]); i++) {
        CHECK_EQ(dtype_of(v2_unsupported[i], false, &dtype, &big_endian), VCZC_ERR_UNSUPPORTED);
        CHECK(reason_has(i < 5 ? v2_unsupported[i] : "structured"));
    }
    for (size_t i = 0; i < sizeof(v2_invalid) / sizeof(v2_invalid[0]); i++) {
        if (!CHECK_EQ(dtype_of(v2_invalid[i], false, &dtype, &big_endian), VCZC_ERR_METADATA)) {
            fprintf(stderr, "    %s\n", v2_invalid[i]);
        }
    }
    for (size_t i = 0; i < sizeof(v2_too_large) / sizeof(v2_too_large[0]); i++) {
        CHECK_EQ(dtype_of(v2_too_large[i], false, &dtype, &big_endian), VCZC_ERR_UNSUPPORTED);
        CHECK(reason_has("more than 16 MiB"));
    }
    CHECK_EQ(dtype_of("\"|S16777216\"", false, &dtype, &big_endian), 0);
    CHECK_EQ(vczi_dtype_parse_v2(NULL, &dtype, &big_endian), VCZC_ERR_METADATA);
}

static void types_of_format_3(void) {
    static const struct {
        const char *text;
        int kind, item_nbytes, unit_nbytes;
    } good[] = {
        {"\"bool\"", VCZC_BOOL, 1, 1},
        {"\"int8\"", VCZC_INT8, 1, 1},
        {"\"uint64\"", VCZC_UINT64, 8, 8},
        {"\"float16\"", VCZC_FLOAT16, 2, 2},
        {"\"string\"", VCZC_VLEN_UTF8, 0, 1},
        {"\"bytes\"", VCZC_VLEN_BYTES, 0, 1},
        {"\"variable_length_bytes\"", VCZC_VLEN_BYTES, 0, 1},
        {"{\"name\": \"int16\"}", VCZC_INT16, 2, 2},
        {"{\"name\": \"fixed_length_utf32\", \"configuration\": {\"length_bytes\": 12}}", VCZC_FIXED_UTF32, 12, 4},
        {"{\"name\": \"null_terminated_bytes\", \"configuration\": {\"length_bytes\": 3}}", VCZC_FIXED_BYTES, 3, 1},
        {"{\"name\": \"raw_bytes\", \"configuration\": {\"length_bytes\": 5}}", VCZC_RAW, 5, 1},
        {"\"r8\"", VCZC_RAW, 1, 1},
        {"{\"name\": \"r24\"}", VCZC_RAW, 3, 1},
        {"\"complex64\"", VCZC_COMPLEX64, 8, 4},
        {"\"complex128\"", VCZC_COMPLEX128, 16, 8},
        {"{\"name\": \"numpy.datetime64\", \"configuration\": {\"unit\": \"ns\", \"scale_factor\": 1}}",
         VCZC_DATETIME64, 8, 8},
        {"{\"name\": \"numpy.timedelta64\", \"configuration\": {\"unit\": \"generic\", \"scale_factor\": 1}}",
         VCZC_TIMEDELTA64, 8, 8},
    };
    static const char *const unsupported[] = {
        "\"float8_e4m3\"",
        "\"complex_bfloat16\"",
        "\"r\"",
        "\"r8x\"",
        "\"<i4\"",
        "{\"name\":\"structured\"}",
        "{\"name\":\"numpy.datetime64\",\"configuration\":{\"unit\":\"eon\",\"scale_factor\":1}}"};
    static const char *const invalid[] = {
        "5",
        "null",
        "{}",
        "{\"name\": 5}",
        "[\"int8\"]",
        "\"fixed_length_utf32\"",
        "\"r0\"",
        "\"r12\"",
        "\"r99999999999999999999999\"",
        "\"raw_bytes\"",
        "{\"name\":\"numpy.datetime64\"}",
        "{\"name\": \"numpy.datetime64\", \"configuration\": {\"unit\": \"s\", \"scale_factor\": 0}}",
        "{\"name\": \"numpy.datetime64\", \"configuration\": {\"unit\": \"s\", \"scale_factor\": 2147483648}}",
        "{\"name\": \"numpy.datetime64\", \"configuration\": {\"unit\": 5, \"scale_factor\": 1}}",
        "{\"name\": \"fixed_length_utf32\", \"configuration\": {\"length_bytes\": 13}}",
        "{\"name\": \"fixed_length_utf32\", \"configuration\": {\"length_bytes\": 0}}",
        "{\"name\": \"null_terminated_bytes\", \"configuration\": {\"length_bytes\": -1}}",
        "{\"name\": \"null_terminated_bytes\", \"configuration\": {\"length_bytes\": 9223372036854775807}}"};
    vczi_dtype_t dtype;
    bool big_endian;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        CHECK_EQ(dtype_of(good[i].text, true, &dtype, &big_endian), 0);
        CHECK(dtype.kind == good[i].kind && dtype.item_nbytes == good[i].item_nbytes &&
              dtype.unit_nbytes == good[i].unit_nbytes);
    }
    for (size_t i = 0; i < sizeof(unsupported) / sizeof(unsupported[0]); i++) {
        CHECK_EQ(dtype_of(unsupported[i], true, &dtype, &big_endian), VCZC_ERR_UNSUPPORTED);
        CHECK(reason_has(unsupported[i]));
    }
    for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++) {
        CHECK_EQ(dtype_of(invalid[i], true, &dtype, &big_endian), VCZC_ERR_METADATA);
    }
    CHECK_EQ(vczi_dtype_parse_v3(NULL, &dtype), VCZC_ERR_METADATA);
}

static void units_of_time(void) {
    static const struct {
        const char *text, *unit;
        int scale;
    } good[] = {
        {"\"<M8[ns]\"", "ns", 1},  {"\"<M8[10s]\"", "s", 10},          {"\"<m8[2147483647Y]\"", "Y", 2147483647},
        {"\"<M8\"", "generic", 0}, {"\"<M8[generic]\"", "generic", 0}, {"\"<M8[\xce\xbcs]\"", "us", 1},
        {"\"<i8\"", NULL, 0}};
    vczi_dtype_t dtype;
    bool big_endian;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        CHECK_EQ(dtype_of(good[i].text, false, &dtype, &big_endian), 0);
        CHECK_EQ(dtype.time_scale, good[i].scale);
        CHECK(good[i].unit == NULL ? dtype.time_unit == NULL : strcmp(dtype.time_unit, good[i].unit) == 0);
    }
    CHECK_EQ(dtype_of("\"<M8[10generic]\"", false, &dtype, &big_endian), VCZC_ERR_UNSUPPORTED);
}

/* ---- Fill values ---- */

/* The fill as lower-case hexadecimal digits of its bytes from the last to the first: of a number its value as read. */
/* Bytes that lie the other way round than in a number that is written out: of a big-endian host all of a number's. */
static size_t native_unit(const vczi_dtype_t *dtype) {
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 1 || dtype->unit_nbytes == 0 ? 1 : (size_t) dtype->unit_nbytes;
}

static const char *fill_of(const char *type, const char *text, bool is_v3) {
    static char hex[256];
    vczi_json_doc_t *doc = parse(text);
    char quoted[64];
    vczi_dtype_t dtype;
    bool big_endian;
    bool is_null = false;
    void *fill = (void *) 1;
    size_t nbytes = 77;
    snprintf(quoted, sizeof(quoted), "\"%s\"", type);
    CHECK_EQ(dtype_of(quoted, false, &dtype, &big_endian), 0);
    if (strcmp(type, "O") == 0) {
        dtype.kind = VCZC_VLEN_BYTES;
    }
    const vczi_json_t *value = vczi_json_root(doc);
    const int ret = is_v3 ? vczi_fill_parse_v3(value, &dtype, &fill, &nbytes)
                          : vczi_fill_parse_v2(value, &dtype, &fill, &nbytes, &is_null);
    CHECK(ret == 0 || (fill == NULL && nbytes == 0));
    CHECK_EQ(is_null, !is_v3 && vczi_json_type(value) == VCZI_JSON_NULL);
    vczi_json_close(doc);
    if (ret != 0) {
        CHECK_EQ(ret, VCZC_ERR_METADATA);
        return "refused";
    }
    CHECK(dtype.item_nbytes == 0 || (int64_t) nbytes == dtype.item_nbytes);
    for (size_t i = 0; i < nbytes && i < 100; i++) {
        const size_t at = nbytes - 1 - i, unit = native_unit(&dtype);
        snprintf(hex + 2 * i, 3, "%02x", ((const uint8_t *) fill)[at / unit * unit + (unit - 1 - at % unit)]);
    }
    hex[2 * nbytes] = '\0';
    vczi_free(fill);
    return hex;
}

static void fill_of_whole_numbers(void) {
    CHECK_STR(fill_of("<i4", "7", false), "00000007");
    CHECK_STR(fill_of(">i4", "-1", false), "ffffffff"); /* native, whatever is stored */
    CHECK_STR(fill_of("<i4", "0.0", false), "00000000");
    CHECK_STR(fill_of("<i4", "-3.0", false), "fffffffd");
    CHECK_STR(fill_of("<i4", "1.5", false), "refused");
    CHECK(reason_has("1.5") && reason_has("int32"));
    CHECK_STR(fill_of("|i1", "127", false), "7f");
    CHECK_STR(fill_of("|i1", "128", false), "refused");
    CHECK_STR(fill_of("|i1", "-128", false), "80");
    CHECK_STR(fill_of("|i1", "-129", false), "refused");
    CHECK_STR(fill_of("|u1", "255", false), "ff");
    CHECK_STR(fill_of("|u1", "256", false), "refused");
    CHECK_STR(fill_of("|u1", "-1", false), "refused");
    CHECK_STR(fill_of("|u1", "-0.0", false), "00");
    CHECK_STR(fill_of("<u8", "9223372036854775813", false), "8000000000000005"); /* 2**63 + 5 */
    CHECK_STR(fill_of("<u8", "18446744073709551615", false), "ffffffffffffffff");
    CHECK_STR(fill_of("<u8", "18446744073709551616", false), "refused");
    CHECK_STR(fill_of("<u8", "1.8446744073709551616e19", false), "refused");
    CHECK_STR(fill_of("<i8", "-9223372036854775808", false), "8000000000000000");
    CHECK_STR(fill_of("<i8", "9223372036854775808", false), "refused");
    CHECK_STR(fill_of("<i8", "-9.3e18", false), "refused");
    CHECK_STR(fill_of("<i8", "-9223372036854775809", false), "refused"); /* a double would be -2**63 */
    CHECK_STR(fill_of("<i8", "1e3", false), "00000000000003e8");
    CHECK_STR(fill_of("<i4", "NaN", false), "refused");
    CHECK_STR(fill_of("<i4", "\"NaN\"", false), "refused");
    CHECK_STR(fill_of("<i4", "\"42\"", false), "0000002a");
    CHECK_STR(fill_of("<i4", "\"\"", false), "refused");
    CHECK_STR(fill_of("<i4", "\"1e3\"", false), "refused");
    CHECK_STR(fill_of("<i4", "true", false), "00000001");
    CHECK_STR(fill_of("<i4", "null", false), "00000000");
    CHECK_STR(fill_of("<i4", "null", true), "refused");
    CHECK_STR(fill_of("<i4", "[1]", false), "refused");
    CHECK_STR(fill_of("|b1", "true", false), "01");
    CHECK_STR(fill_of("|b1", "false", true), "00");
    CHECK_STR(fill_of("|b1", "1", false), "01");
    CHECK_STR(fill_of("|b1", "2", false), "refused");
    CHECK_STR(fill_of("|b1", "-1", false), "refused");
    CHECK_STR(fill_of("|b1", "\"true\"", false), "refused");
}

static void fill_of_reals(void) {
    CHECK_STR(fill_of("<f4", "\"NaN\"", false), "7fc00000");
    CHECK_STR(fill_of("<f8", "NaN", false), "7ff8000000000000");
    CHECK_STR(fill_of("<f2", "\"NaN\"", true), "7e00");
    CHECK_STR(fill_of(">f4", "\"-Infinity\"", false), "ff800000");
    CHECK_STR(fill_of("<f8", "Infinity", false), "7ff0000000000000");
    CHECK_STR(fill_of("<f2", "\"Infinity\"", false), "7c00");
    CHECK_STR(fill_of("<f8", "0.1", false), "3fb999999999999a");
    CHECK_STR(fill_of("<f4", "0.1", false), "3dcccccd");
    CHECK_STR(fill_of("<f4", "-0.0", false), "80000000");
    CHECK_STR(fill_of("<f4", "16777217", false), "4b800000"); /* a tie, to even */
    CHECK_STR(fill_of("<f4", "1e39", false), "7f800000");
    CHECK_STR(fill_of("<f8", "1180591620717411303424", false), "4450000000000000"); /* 2**70 */
    CHECK_STR(fill_of("<f8", "1", false), "3ff0000000000000");
    CHECK_STR(fill_of("<f8", "\"0.5\"", false), "3fe0000000000000");
    CHECK_STR(fill_of("<f8", "\"half\"", false), "refused");
    CHECK_STR(fill_of("<f8", "\"true\"", false), "refused");
    CHECK_STR(fill_of("<f4", "\"0x7f800001\"", true), "7f800001"); /* VCF's missing value, a signalling NaN */
    CHECK_STR(fill_of("<f4", "\"0x7F800002\"", true), "7f800002");
    CHECK_STR(fill_of("<f8", "\"0x7ff0000000000001\"", true), "7ff0000000000001");
    CHECK_STR(fill_of("<f2", "\"0x7c01\"", true), "7c01");
    CHECK_STR(fill_of("<f4", "\"0x7fc0000\"", true), "refused");
    CHECK_STR(fill_of("<f4", "\"0x7fc000000\"", true), "refused");
    CHECK_STR(fill_of("<f4", "\"0x7fc0000g\"", true), "refused");
    CHECK_STR(fill_of("<f4", "\"0x7f800001\"", false), "refused");
}

/* What a half's bits mean, by the definition. */
static double half_value(unsigned bits) {
    const int exponent = (int) (bits >> 10 & 31);
    const double significand = (double) (bits & 1023) + (exponent != 0 ? 1024 : 0);
    return ldexp(significand, (exponent != 0 ? exponent : 1) - 25);
}

static unsigned half_of(double value) {
    char text[64];
    snprintf(text, sizeof(text), "%.17g", value);
    return (unsigned) strtoul(fill_of("<f2", text, false), NULL, 16);
}

static void halves_are_nearest_with_ties_to_even(void) {
    for (unsigned bits = 0; bits < 0x7c00; bits++) {
        const double value = half_value(bits);
        const double next = bits == 0x7bff ? 65536 : half_value(bits + 1);
        const double middle = value + (next - value) / 2; /* exact: a half has 11 bits, a double 53 */
        if (!CHECK_EQ(half_of(value), bits) || !CHECK_EQ(half_of(middle), bits + (bits & 1)) ||
            !CHECK_EQ(half_of(nextafter(middle, 0)), bits) || !CHECK_EQ(half_of(nextafter(middle, 1e9)), bits + 1)) {
            fprintf(stderr, "    at %04x\n", bits);
            return;
        }
    }
    CHECK_EQ(half_of(1e300), 0x7c00);
    CHECK_EQ(half_of(-1e300), 0xfc00);
    CHECK_EQ(half_of(-1.5), 0xbe00);
    CHECK_EQ(half_of(1e-300), 0);
    CHECK_STR(fill_of("<f2", "-0.0", false), "8000");
}

static void fill_of_text_and_bytes(void) {
    CHECK_STR(fill_of("|S3", "\"QUI=\"", false), "004241"); /* AB */
    CHECK_STR(fill_of("|S2", "\"QUI=\"", true), "4241");
    CHECK_STR(fill_of("|S1", "\"QUI=\"", false), "refused");
    CHECK_STR(fill_of("|S1", "\"QQAA\"", false), "41"); /* zeros behind are padding */
    CHECK_STR(fill_of("|S2", "\"\"", false), "0000");
    CHECK_STR(fill_of("|S2", "0", false), "0000");
    CHECK_STR(fill_of("|S2", "null", false), "0000");
    CHECK_STR(fill_of("|S2", "1", false), "refused");
    CHECK_STR(fill_of("|S3", "\"+/9z\"", false), "73fffb");
    CHECK_STR(fill_of("|S3", "\"QUI\"", false), "refused");
    CHECK_STR(fill_of("|S3", "\"Q===\"", false), "refused");
    CHECK_STR(fill_of("|S3", "\"QU-=\"", false), "refused");
    CHECK_STR(fill_of("|S3", "\"=QUI\"", false), "refused");
    CHECK_STR(fill_of("|S3", "[65, 66]", true), "004241");
    CHECK_STR(fill_of("|S3", "[65, 256]", true), "refused");
    CHECK_STR(fill_of("|S3", "[65, 66]", false), "refused");
    CHECK_STR(fill_of("<U1", "\"N\"", false), "0000004e");
    CHECK_STR(fill_of(">U2", "\"N\"", false), "000000000000004e");
    CHECK_STR(fill_of("<U4", "\"\xc3\xa9\xe6\x97\xa5\xf0\x9f\xa7\xac\"", false), "000000000001f9ec000065e5000000e9");
    CHECK_STR(fill_of("<U2", "\"abc\"", false), "refused");
    CHECK_STR(fill_of("<U1", "0", false), "00000000");
    CHECK_STR(fill_of("<U1", "0", true), "refused");
    CHECK_STR(fill_of("|O", "\"NA\"", false), "414e");
    CHECK_STR(fill_of("|O", "\"\"", false), "");
    CHECK_STR(fill_of("|O", "0", false), "");
    CHECK_STR(fill_of("|O", "null", false), "");
    CHECK_STR(fill_of("|O", "5", false), "refused");
    CHECK_STR(fill_of("|O", "\"x\"", true), "78");
    CHECK_STR(fill_of("O", "\"QUI=\"", false), "4241"); /* as bytes of variable length */
    CHECK_STR(fill_of("O", "[1, 2]", true), "0201");
}

static void fill_of_pairs_times_and_raw_bytes(void) {
    CHECK_STR(fill_of("<c8", "[1.5, -2]", false), "c00000003fc00000");
    CHECK_STR(fill_of(">c8", "[\"NaN\", \"-Infinity\"]", true), "ff8000007fc00000");
    CHECK_STR(fill_of("<c8", "[\"0x7f800001\", \"0x7f800002\"]", true), "7f8000027f800001");
    CHECK_STR(fill_of("<c8", "[\"0x7f800001\", 0]", false), "refused");
    CHECK_STR(fill_of("<c16", "[0, 1]", false), "3ff00000000000000000000000000000");
    CHECK_STR(fill_of("<c8", "null", false), "0000000000000000");
    CHECK_STR(fill_of("<c8", "null", true), "refused");
    CHECK_STR(fill_of("<c8", "[1]", false), "refused");
    CHECK_STR(fill_of("<c8", "[1, 2, 3]", true), "refused");
    CHECK_STR(fill_of("<c8", "0", false), "refused");
    CHECK_STR(fill_of("<c8", "[\"1\", \"2\"]", false), "refused");
    CHECK_STR(fill_of("<M8[s]", "-1", false), "ffffffffffffffff");
    CHECK_STR(fill_of("<m8[D]", "\"NaT\"", true), "8000000000000000");
    CHECK_STR(fill_of("<M8[s]", "null", false), "8000000000000000");
    CHECK_STR(fill_of("<M8[s]", "\"2020-01-01\"", false), "refused");
    CHECK_STR(fill_of("<M8[s]", "9223372036854775808", true), "refused");
    CHECK_STR(fill_of("|V3", "\"QUI=\"", false), "004241");
    CHECK_STR(fill_of("|V3", "[65, 66, 255]", true), "ff4241");
    CHECK_STR(fill_of("|V3", "[65, 66, 255, 1]", true), "refused");
    CHECK_STR(fill_of("|V3", "null", false), "000000");
}

/* ---- The grid ---- */

static void grid_counts(void) {
    vczi_grid_t grid;
    CHECK_EQ(vczi_grid_init(&grid, 3, (int64_t[]){10, 0, 7}, (int64_t[]){3, 5, 100}), 0);
    CHECK(grid.counts[0] == 4 && grid.counts[1] == 0 && grid.counts[2] == 1);
    CHECK_EQ(grid.nchunks, 0);
    CHECK_EQ(grid.chunk_nitems, 1500);
    CHECK(!vczi_grid_holds(&grid, (int64_t[]){0, 0, 0}));
    CHECK_EQ(vczi_grid_init(&grid, 0, NULL, NULL), 0);
    CHECK(grid.nchunks == 1 && grid.chunk_nitems == 1 && vczi_grid_holds(&grid, NULL));
    CHECK_EQ(vczi_grid_init(&grid, 1, (int64_t[]){INT64_MAX}, (int64_t[]){2}), 0);
    CHECK_EQ(grid.nchunks, INT64_MAX / 2 + 1);
    CHECK_EQ(vczi_grid_init(&grid, 1, (int64_t[]){-1}, (int64_t[]){2}), VCZC_ERR_METADATA);
    CHECK_EQ(vczi_grid_init(&grid, 1, (int64_t[]){3}, (int64_t[]){0}), VCZC_ERR_METADATA);
    CHECK_EQ(vczi_grid_init(&grid, 1, (int64_t[]){0}, (int64_t[]){-1}), VCZC_ERR_METADATA);
    CHECK_EQ(vczi_grid_init(&grid, 2, (int64_t[]){0, 6}, (int64_t[]){0, 6}), 0);
    CHECK(grid.counts[0] == 0 && grid.counts[1] == 1 && grid.nchunks == 0);
    CHECK(grid.chunks[0] == 1 && grid.stated[0] == 0 && grid.stated[1] == 6 && grid.chunk_nitems == 6);
    CHECK_EQ(vczi_grid_init(&grid, 2, (int64_t[]){1, 1}, (int64_t[]){INT64_MAX, 2}), VCZC_ERR_METADATA);
    CHECK_EQ(vczi_grid_init(&grid, 2, (int64_t[]){INT64_MAX, 2}, (int64_t[]){1, 1}), VCZC_ERR_METADATA);
    CHECK_EQ(vczi_grid_init(&grid, 3, (int64_t[]){0, INT64_MAX, 2}, (int64_t[]){1, 1, 1}), VCZC_ERR_METADATA);
    CHECK_EQ(vczi_grid_init(&grid, 3, (int64_t[]){0, INT64_MAX, 2}, (int64_t[]){1, INT64_MAX, 1}), VCZC_ERR_METADATA);
    CHECK_EQ(vczi_grid_init(&grid, VCZC_MAX_NDIM + 1, NULL, NULL), VCZC_ERR_METADATA);
}

static void grid_blocks(void) {
    vczi_grid_t grid;
    int64_t shape[2];
    CHECK_EQ(vczi_grid_init(&grid, 2, (int64_t[]){10, 7}, (int64_t[]){3, INT64_MAX / 4}), 0);
    vczi_grid_block_shape(&grid, (int64_t[]){0, 0}, shape);
    CHECK(shape[0] == 3 && shape[1] == 7);
    vczi_grid_block_shape(&grid, (int64_t[]){3, 0}, shape);
    CHECK(shape[0] == 1 && shape[1] == 7);
    CHECK(vczi_grid_holds(&grid, (int64_t[]){3, 0}));
    CHECK(!vczi_grid_holds(&grid, (int64_t[]){4, 0}) && !vczi_grid_holds(&grid, (int64_t[]){3, 1}) &&
          !vczi_grid_holds(&grid, (int64_t[]){-1, 0}));
}

/* Every selection of a small axis, against the definition. */
static void grid_cuts_as_defined(void) {
    vczi_grid_t grid;
    for (int64_t n = 1; n <= 9; n++) {
        for (int64_t chunk = 1; chunk <= 11; chunk++) {
            REQUIRE(vczi_grid_init(&grid, 1, &n, &chunk) == 0);
            for (int64_t start = 0; start <= n; start++) {
                for (int64_t stop = start; stop <= n; stop++) {
                    int64_t first, last;
                    vczi_grid_range(&grid, 0, start, stop, &first, &last);
                    for (int64_t step = 1; step <= 12; step++) {
                        int64_t place = 0; /* of the next item */
                        for (int64_t coord = 0; coord < grid.counts[0]; coord++) {
                            const vczi_cut_t cut = vczi_grid_cut(&grid, 0, coord, start, stop, step);
                            const int64_t before = place;
                            int64_t head = -1;
                            for (int64_t k = start + place * step; k < stop && k / chunk == coord; k += step) {
                                head = head < 0 ? k % chunk : head;
                                place++;
                            }
                            REQUIRE(cut.count == place - before);
                            REQUIRE(cut.count == 0 || (cut.first == head && cut.place == before));
                            REQUIRE(cut.count == 0 || (first <= coord && coord < last));
                        }
                    }
                    REQUIRE(start == stop ? first == last : first == start / chunk && last == (stop - 1) / chunk + 1);
                }
            }
        }
    }
    REQUIRE(vczi_grid_init(&grid, 1, (int64_t[]){INT64_MAX}, (int64_t[]){INT64_MAX - 1}) == 0);
    vczi_cut_t cut = vczi_grid_cut(&grid, 0, 1, 5, INT64_MAX, INT64_MAX);
    CHECK_EQ(cut.count, 0);
    cut = vczi_grid_cut(&grid, 0, 1, 0, INT64_MAX, INT64_MAX - 1);
    CHECK(cut.count == 1 && cut.first == 0 && cut.place == 1);
}

/* ---- Keys ---- */

static void keys_of_every_encoding(void) {
    static const struct {
        vczi_key_encoding_t encoding;
        const char *path;
        int ndim;
        int64_t coords[3];
        const char *key;
    } cases[] = {
        {{false, '.'}, "", 3, {0, 12, 345}, "0.12.345"},
        {{false, '/'}, "a/b", 2, {10, 0}, "a/b/10/0"},
        {{false, '.'}, "x", 0, {0}, "x/0"},
        {{true, '/'}, "x", 0, {0}, "x/c"},
        {{true, '/'}, "x", 2, {1, 2}, "x/c/1/2"},
        {{true, '.'}, "", 2, {1, INT64_MAX}, "c.1.9223372036854775807"},
    };
    char key[64];
    int64_t coords[3];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const size_t nbytes = strlen(cases[i].key);
        const size_t head = strlen(cases[i].path) + (cases[i].path[0] == '\0' ? 0 : 1);
        for (size_t room = 0; room <= nbytes; room++) {
            memset(key, 'Z', sizeof(key));
            CHECK_EQ(vczi_chunk_key_write(&cases[i].encoding, cases[i].path, strlen(cases[i].path), cases[i].ndim,
                                          cases[i].coords, key, room),
                     0);
            CHECK_EQ(key[room], 'Z');
        }
        CHECK_EQ(vczi_chunk_key_write(&cases[i].encoding, cases[i].path, strlen(cases[i].path), cases[i].ndim,
                                      cases[i].coords, key, nbytes + 1),
                 nbytes);
        CHECK_STR(key, cases[i].key);
        CHECK(vczi_chunk_key_read(&cases[i].encoding, key + head, nbytes - head, cases[i].ndim, coords));
        CHECK_MEM(coords, cases[i].coords, sizeof(int64_t) * (size_t) cases[i].ndim);
        for (size_t cut = 0; cut < nbytes - head; cut++) { /* a shorter one is another chunk's key, or none */
            const bool is_key = vczi_chunk_key_read(&cases[i].encoding, key + head, cut, cases[i].ndim, coords);
            CHECK(!is_key || memcmp(coords, cases[i].coords, sizeof(int64_t) * (size_t) cases[i].ndim) != 0);
        }
    }
}

static void keys_that_are_none(void) {
    static const char *const dotted[] = {"",
                                         "0",
                                         "0.",
                                         ".0",
                                         "00.1",
                                         "0.01",
                                         "+1.0",
                                         "-1.0",
                                         "1.0.0",
                                         "a.b",
                                         "0.0 ",
                                         " 0.0",
                                         "0,0",
                                         "0/0",
                                         "c.0.0",
                                         ".zarray",
                                         "1.9223372036854775808"};
    const vczi_key_encoding_t dot = {false, '.'};
    const vczi_key_encoding_t slash = {true, '/'};
    int64_t coords[2];
    for (size_t i = 0; i < sizeof(dotted) / sizeof(dotted[0]); i++) {
        if (!CHECK(!vczi_chunk_key_read(&dot, dotted[i], strlen(dotted[i]), 2, coords))) {
            fprintf(stderr, "    %s\n", dotted[i]);
        }
    }
    CHECK(vczi_chunk_key_read(&dot, "0.10", 4, 2, coords) && coords[1] == 10);
    CHECK(!vczi_chunk_key_read(&slash, "0/0", 3, 2, coords) && !vczi_chunk_key_read(&slash, "c0/0", 4, 2, coords));
    CHECK(!vczi_chunk_key_read(&slash, "c/0", 3, 0, coords) && !vczi_chunk_key_read(&dot, "1", 1, 0, coords));
}

int main(void) {
    RUN(types_of_format_2);
    RUN(types_of_format_3);
    RUN(units_of_time);
    RUN(fill_of_whole_numbers);
    RUN(fill_of_reals);
    RUN(halves_are_nearest_with_ties_to_even);
    RUN(fill_of_text_and_bytes);
    RUN(fill_of_pairs_times_and_raw_bytes);
    RUN(grid_counts);
    RUN(grid_blocks);
    RUN(grid_cuts_as_defined);
    RUN(keys_of_every_encoding);
    RUN(keys_that_are_none);
    return check_result();
}
