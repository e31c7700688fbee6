/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The kernels of filters and checksums, held against item-by-item versions of themselves, and the codecs' settings.
 * What NumPy makes of the same bytes is a test in Python. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "cast.h"
#include "check.h"
#include "checksum.h"
#include "crc32c.h"
#include "filter_codec.h"
#include "inflate.h"
#include "status.h"
#include "swap.h"
#include "unfilter.h"

static uint32_t random_state = 2463534242u;

static uint32_t random_u32(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state;
}

static void fill_random(uint8_t *bytes, size_t nbytes) {
    for (size_t i = 0; i < nbytes; i++)
        bytes[i] = (uint8_t) random_u32();
}

static const size_t nbytes_of_kind[VCZC_FLOAT64 + 1] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8};

static vczi_items_t items_of(int kind, bool is_swapped) {
    vczi_items_t items = vczi_native_items(kind, nbytes_of_kind[kind]);
    items.is_swapped = is_swapped && items.nbytes > 1;
    return items;
}

/* ---- float16 ---- */

static void test_halves_go_there_and_back(void) {
    for (uint32_t half = 0; half < 65536; half++) {
        const double value = vczi_half_to_double((uint16_t) half);
        if (!CHECK_EQ(vczi_half_of_double(value), half)) return;
    }
    CHECK(vczi_half_to_double(0x3C00) == 1.0);
    CHECK(vczi_half_to_double(0xC000) == -2.0);
    CHECK(vczi_half_to_double(0x7BFF) == 65504.0);
    CHECK(vczi_half_to_double(0x0001) == 0x1p-24);
}

/* Halves lie in the order of their bits: the nearest one is a neighbour of any that is near. */
static void test_halves_are_the_nearest(void) {
    for (int i = 0; i < 200000; i++) {
        const double value = ldexp((double) random_u32() / 4294967296.0, (int) (random_u32() % 44) - 27);
        const uint16_t half = vczi_half_of_double(value);
        if (value >= 65520.0) {
            if (!CHECK_EQ(half, 0x7C00)) return;
            continue;
        }
        const double distance = fabs(vczi_half_to_double(half) - value);
        for (int step = -1; step <= 1; step += 2) {
            const int near = (int) half + step;
            if (near < 0 || near >= 0x7C00) continue;
            const double other = fabs(vczi_half_to_double((uint16_t) near) - value);
            if (!CHECK(distance < other || (distance == other && half % 2 == 0))) return;
        }
    }
}

/* ---- Casts ---- */

/* A whole number of at most 8 bits may be any type's. */
static void store_small(uint8_t *place, const vczi_items_t *items, int value) {
    const int64_t whole = value;
    const double real = value;
    const float single = (float) value;
    const uint16_t half = vczi_half_of_double(value);
    uint8_t bytes[8];
    if (items->kind == VCZC_FLOAT64) {
        memcpy(bytes, &real, 8);
    } else if (items->kind == VCZC_FLOAT32) {
        memcpy(bytes, &single, 4);
    } else if (items->kind == VCZC_FLOAT16) {
        memcpy(bytes, &half, 2);
    } else {
        const uint64_t bits = (uint64_t) whole;
        const uint32_t bits32 = (uint32_t) bits;
        const uint16_t bits16 = (uint16_t) bits;
        const uint8_t bits8 = (uint8_t) (items->kind == VCZC_BOOL ? value != 0 : bits);
        memcpy(bytes,
               items->nbytes == 8   ? (const void *) &bits
               : items->nbytes == 4 ? (const void *) &bits32
               : items->nbytes == 2 ? (const void *) &bits16
                                    : (const void *) &bits8,
               items->nbytes);
    }
    if (items->is_swapped) vczi_swap(bytes, 1, items->nbytes);
    memcpy(place, bytes, items->nbytes);
}

enum { CAST_NITEMS = 2500 };

static void check_cast(const vczi_items_t *from, const vczi_items_t *to, size_t nitems) {
    /* Memory of the exact size, one byte off its alignment: a sanitizer sees what passes it. */
    uint8_t *in = malloc(nitems * from->nbytes + 1), *out = malloc(nitems * to->nbytes + 1);
    uint8_t *expected = malloc(nitems * to->nbytes + 1);
    if (in == NULL || out == NULL || expected == NULL) abort();
    for (size_t i = 0; i < nitems; i++) {
        int value = (int) (random_u32() % 128);
        if (from->kind == VCZC_BOOL) value %= 2;
        store_small(in + 1 + i * from->nbytes, from, value);
        store_small(expected + 1 + i * to->nbytes, to, value);
    }
    vczi_cast(from, in + 1, to, out + 1, nitems);
    CHECK_MEM(out + 1, expected + 1, nitems * to->nbytes);
    free(in);
    free(out);
    free(expected);
}

static void test_every_cast(void) {
    for (int from = VCZC_BOOL; from <= VCZC_FLOAT64; from++) {
        for (int to = VCZC_BOOL; to <= VCZC_FLOAT64; to++) {
            for (int swaps = 0; swaps < 4; swaps++) {
                const vczi_items_t a = items_of(from, swaps & 1), b = items_of(to, swaps & 2);
                check_cast(&a, &b, 0);
                check_cast(&a, &b, 1 + random_u32() % 40);
                check_cast(&a, &b, CAST_NITEMS);
            }
        }
    }
}

static void test_floats_that_fit_no_integer(void) {
    const double values[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300, 9223372036854775808.0, 18446744073709549568.0};
    const uint64_t expected[] = {1ull << 63, 0, 1ull << 63, 0, 1ull << 63, 1ull << 63, 18446744073709549568ull};
    const vczi_items_t from = items_of(VCZC_FLOAT64, false), to = items_of(VCZC_UINT64, false);
    uint64_t got[7];
    vczi_cast(&from, (const uint8_t *) values, &to, (uint8_t *) got, 7);
    CHECK_MEM(got, expected, sizeof(expected));
}

/* ---- Running sums ---- */

static void check_sums_of_whole_numbers(int kind, bool is_swapped, size_t nitems) {
    const vczi_items_t items = items_of(kind, is_swapped);
    const size_t nbytes = nitems * items.nbytes;
    uint8_t *in = malloc(nbytes + 3), *out = malloc(nbytes + 1);
    if (in == NULL || out == NULL) abort();
    fill_random(in, nbytes + 3);
    vczi_undelta(&items, in + 3, &items, out + 1, nitems);
    uint64_t sum = 0;
    for (size_t i = 0; i < nitems; i++) {
        uint8_t item[8] = {0}, got[8] = {0};
        uint64_t value = 0, value_got = 0;
        memcpy(item, in + 3 + i * items.nbytes, items.nbytes);
        memcpy(got, out + 1 + i * items.nbytes, items.nbytes);
        for (size_t k = 0; k < items.nbytes; k++) {
            const size_t place = items.is_swapped != vczi_host_is_big_endian() ? items.nbytes - 1 - k : k;
            value |= (uint64_t) item[k] << 8 * place;
            value_got |= (uint64_t) got[k] << 8 * place;
        }
        sum += value;
        const uint64_t mask = items.nbytes == 8 ? UINT64_MAX : ((uint64_t) 1 << 8 * items.nbytes) - 1;
        if (!CHECK((sum & mask) == value_got)) break;
    }
    free(in);
    free(out);
}

static void test_sums_of_whole_numbers(void) {
    for (int kind = VCZC_INT8; kind <= VCZC_UINT64; kind++) {
        for (size_t nitems = 0; nitems < 70; nitems++) {
            check_sums_of_whole_numbers(kind, nitems % 2 == 1, nitems);
        }
        check_sums_of_whole_numbers(kind, false, 4097);
        check_sums_of_whole_numbers(kind, true, 6000);
    }
}

static void test_sums_of_floats_keep_the_first_item(void) {
    const double in[] = {-0.0, -0.0, 1.5, -0.25};
    const double expected[] = {-0.0, -0.0, 1.5, 1.25};
    const vczi_items_t items = items_of(VCZC_FLOAT64, false);
    double out[4];
    vczi_undelta(&items, (const uint8_t *) in, &items, (uint8_t *) out, 4);
    CHECK_MEM(out, expected, sizeof(expected));
}

static void test_sums_are_made_in_the_wider_type(void) {
    const double in[] = {0.5, 0.5, 0.5, 0.5};
    const int8_t expected[] = {0, 1, 1, 2};
    const vczi_items_t from = items_of(VCZC_FLOAT64, false), to = items_of(VCZC_INT8, false);
    int8_t out[4];
    vczi_undelta(&from, (const uint8_t *) in, &to, (uint8_t *) out, 4);
    CHECK_MEM(out, expected, sizeof(expected));
}

/* ---- Scale and offset ---- */

static void test_scale(void) {
    enum { N = 5000 };
    static int16_t in[N];
    static float out[N];
    const vczi_items_t from = items_of(VCZC_INT16, false), to = items_of(VCZC_FLOAT32, false);
    fill_random((uint8_t *) in, sizeof(in));
    vczi_unscale(&from, (const uint8_t *) in, 10.0, -3.0, &to, (uint8_t *) out, N);
    for (size_t i = 0; i < N; i++) {
        const float expected = (float) (in[i] / 10.0 + -3.0);
        if (!CHECK(memcmp(&out[i], &expected, sizeof(expected)) == 0)) return;
    }
}

/* ---- Bits ---- */

static void test_unpack_bits(void) {
    uint8_t in[40], out[320];
    fill_random(in, sizeof(in));
    for (size_t nbits = 0; nbits <= 320; nbits++) {
        uint8_t *packed = malloc(nbits / 8 + 1), *bytes = malloc(nbits + 1);
        if (packed == NULL || bytes == NULL) abort();
        memcpy(packed, in, (nbits + 7) / 8);
        vczi_unpack_bits(packed, bytes, nbits);
        for (size_t i = 0; i < nbits; i++)
            out[i] = in[i / 8] >> (7 - i % 8) & 1;
        CHECK_MEM(bytes, out, nbits);
        free(packed);
        free(bytes);
    }
}

/* ---- Checksums ---- */

static void test_known_checksums(void) {
    const vczi_span_t digits = vczi_span("123456789", 9);
    const vczi_span_t score = vczi_span("Four score and seven years ago", 30);
    CHECK_EQ(vczi_crc32(digits), 0xCBF43926u);
    CHECK_EQ(vczi_crc32c(digits), 0xE3069283u);
    CHECK_EQ(vczi_adler32(vczi_span("Wikipedia", 9)), 0x11E60398u);
    CHECK_EQ(vczi_adler32(vczi_span(NULL, 0)), 1);
    /* Those of the test of Jenkins' own lookup3.c. */
    CHECK_EQ(vczi_lookup3(vczi_span("", 0), 0), 0xDEADBEEFu);
    CHECK_EQ(vczi_lookup3(vczi_span("", 0), 0xDEADBEEFu), 0xBD5B7DDEu);
    CHECK_EQ(vczi_lookup3(score, 0), 0x17770551u);
    CHECK_EQ(vczi_lookup3(score, 1), 0xCD628161u);
    CHECK_EQ(vczi_fletcher32(vczi_span("\1\2\3\4", 4)), 0x05080406u);
    CHECK_EQ(vczi_fletcher32(vczi_span("\1\2\3", 3)), 0x05040402u);
    CHECK_EQ(vczi_fletcher32(vczi_span("", 0)), 0);
}

/* The largest words, many times: no sum may overflow between two foldings. */
static void test_fletcher32_of_the_largest_words(void) {
    static uint8_t bytes[10000];
    memset(bytes, 0xFF, sizeof(bytes));
    for (size_t nbytes = 2; nbytes <= sizeof(bytes); nbytes += 2) {
        if (!CHECK_EQ(vczi_fletcher32(vczi_span(bytes, nbytes)), 0xFFFFFFFFu)) return;
    }
    for (size_t nbytes = 1; nbytes < 3000; nbytes++) {
        uint64_t sum1 = 0, sum2 = 0;
        fill_random(bytes, nbytes);
        bytes[nbytes] = 0;
        for (size_t i = 0; i < nbytes; i += 2) {
            sum1 = (sum1 + (uint64_t) bytes[i] * 256 + bytes[i + 1]) % 65535;
            sum2 = (sum2 + sum1) % 65535;
        }
        const uint32_t got = vczi_fletcher32(vczi_span(bytes, nbytes));
        if (!CHECK((got & 0xFFFF) % 65535 == sum1 && (got >> 16) % 65535 == sum2)) return;
    }
}

/* ---- Settings ---- */

static int set_filter(const char *json, int variant, bool from_v2, int kind, vczi_layout_t *layout,
                      vczi_codec_t *codec) {
    vczi_json_doc_t *tree = NULL;
    vczi_dtype_t dtype = {.kind = kind, .item_nbytes = (int64_t) nbytes_of_kind[kind], .unit_nbytes = 1};
    if (vczi_json_parse(&tree, vczi_span(json, strlen(json)), "test") != 0) abort();
    vczi_codec_spec_t spec = {.name = "filter", .config = vczi_json_root(tree), .from_v2 = from_v2};
    memset(layout, 0, sizeof(*layout));
    memset(codec, 0, sizeof(*codec));
    layout->dtype = &dtype;
    const int ret = vczi_filter_set(&spec, variant, layout, codec);
    if (layout->dtype == &dtype) layout->dtype = NULL;
    vczi_json_close(tree);
    return ret;
}

static void test_names_of_types(void) {
    static const struct {
        const char *json;
        int kind;
    } names[] = {
        {"{\"dtype\": \"<i4\"}", VCZC_INT32},   {"{\"dtype\": \"int32\"}", VCZC_INT32},
        {"{\"dtype\": \"i4\"}", VCZC_INT32},    {"{\"dtype\": \"=i4\"}", VCZC_INT32},
        {"{\"dtype\": \"|u1\"}", VCZC_UINT8},   {"{\"dtype\": \"bool\"}", VCZC_BOOL},
        {"{\"dtype\": \">f8\"}", VCZC_FLOAT64}, {"{\"dtype\": \"float16\"}", VCZC_FLOAT16},
        {"{\"dtype\": \"d\"}", VCZC_FLOAT64},   {"{\"dtype\": \"?\"}", VCZC_BOOL},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        vczi_layout_t layout;
        vczi_codec_t codec;
        CHECK_EQ(set_filter(names[i].json, VCZI_FILTER_DELTA, true, VCZC_INT32, &layout, &codec), 0);
        CHECK_EQ(codec.settings.to.kind, names[i].kind);
        CHECK_EQ(codec.settings.from.kind, names[i].kind);
    }
}

static void test_settings_that_are_refused(void) {
    static const struct {
        const char *json;
        int variant, code;
    } refused[] = {
        {"{}", VCZI_FILTER_DELTA, VCZC_ERR_METADATA},
        {"{\"dtype\": \"<i3\"}", VCZI_FILTER_DELTA, VCZC_ERR_UNSUPPORTED},
        {"{\"dtype\": \"<\"}", VCZI_FILTER_DELTA, VCZC_ERR_UNSUPPORTED},
        {"{\"dtype\": \"\"}", VCZI_FILTER_DELTA, VCZC_ERR_UNSUPPORTED},
        {"{\"dtype\": \"<i4\", \"astype\": 3}", VCZI_FILTER_DELTA, VCZC_ERR_METADATA},
        {"{\"dtype\": \"<f4\", \"scale\": null, \"offset\": 1}", VCZI_FILTER_SCALE, VCZC_ERR_METADATA},
        {"{\"dtype\": \"<i4\"}", VCZI_FILTER_QUANTIZE, VCZC_ERR_METADATA},
        {"{\"keepbits\": 1.5}", VCZI_FILTER_BITROUND, VCZC_ERR_METADATA},
        {"{\"elementsize\": 256}", VCZI_FILTER_SHUFFLE, VCZC_ERR_UNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        vczi_layout_t layout;
        vczi_codec_t codec;
        CHECK_EQ(set_filter(refused[i].json, refused[i].variant, true, VCZC_INT32, &layout, &codec), refused[i].code);
    }
}

static void test_what_the_filter_makes_of_an_array(void) {
    vczi_layout_t layout;
    vczi_codec_t codec;
    const char *json = "{\"dtype\": \"int32\", \"astype\": \"int16\"}";
    CHECK_EQ(set_filter(json, VCZI_FILTER_DELTA, false, VCZC_INT32, &layout, &codec), 0);
    CHECK(layout.dtype == &layout.filtered && layout.is_in_order);
    CHECK_EQ(layout.filtered.kind, VCZC_INT16);
    CHECK_EQ(set_filter(json, VCZI_FILTER_DELTA, false, VCZC_FLOAT32, &layout, &codec), VCZC_ERR_METADATA);
    CHECK_EQ(set_filter("{}", VCZI_FILTER_PACKBITS, false, VCZC_BOOL, &layout, &codec), 0);
    CHECK_EQ(layout.filtered.kind, VCZC_UINT8);
    CHECK_EQ(set_filter("{\"digits\": 1}", VCZI_FILTER_QUANTIZE, false, VCZC_FLOAT32, &layout, &codec), 0);
    CHECK(codec.ops == NULL);
}

static void test_sizes(void) {
    vczi_codec_t codec = {.size_rule = VCZI_SIZE_ITEMS};
    size_t nbytes = 0;
    codec.settings.from = items_of(VCZC_INT16, false);
    codec.settings.to = items_of(VCZC_INT64, false);
    CHECK(vczi_filter_encoded_nbytes(&codec, 80, &nbytes) && nbytes == 20);
    CHECK(vczi_filter_encoded_nbytes(&codec, 81, &nbytes) && nbytes == 0);
    codec.size_rule = VCZI_SIZE_BITS;
    CHECK(vczi_filter_encoded_nbytes(&codec, 17, &nbytes) && nbytes == 4);
    codec.size_rule = VCZI_SIZE_CHECKSUM;
    CHECK(vczi_filter_encoded_nbytes(&codec, 17, &nbytes) && nbytes == 21);
    CHECK(!vczi_filter_encoded_nbytes(&codec, SIZE_MAX, &nbytes));
    codec.size_rule = VCZI_SIZE_UNKNOWN;
    CHECK(!vczi_filter_encoded_nbytes(&codec, 17, &nbytes));
}

int main(void) {
    RUN(test_halves_go_there_and_back);
    RUN(test_halves_are_the_nearest);
    RUN(test_every_cast);
    RUN(test_floats_that_fit_no_integer);
    RUN(test_sums_of_whole_numbers);
    RUN(test_sums_of_floats_keep_the_first_item);
    RUN(test_sums_are_made_in_the_wider_type);
    RUN(test_scale);
    RUN(test_unpack_bits);
    RUN(test_known_checksums);
    RUN(test_fletcher32_of_the_largest_words);
    RUN(test_names_of_types);
    RUN(test_settings_that_are_refused);
    RUN(test_what_the_filter_makes_of_an_array);
    RUN(test_sizes);
    return check_result();
}
