/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Deflate, zlib and gzip; data is made with zlib's own encoder. */
#include <stdlib.h>
#define ZLIB_CONST /* as inflate.c has it */
#include <zlib.h>

#include "check.h"
#include "inflate.h"
#include "mem.h"
#include "status.h"

/* The same code once more, going through its input and output in pieces of seven bytes. */
#define INFLATE_PIECE_NBYTES 7u
#define vczi_inflate inflate_in_pieces
#define vczi_inflate_unsized inflate_unsized_in_pieces
#define vczi_crc32 crc32_in_pieces
#define vczi_adler32 adler32_in_pieces
#define vczi_inflate_check inflate_check_in_pieces
int inflate_unsized_in_pieces(vczi_span_t in, int format, size_t max_nbytes, int which, vczi_scratch_t *scratch,
                              vczi_span_t *out);
int inflate_in_pieces(vczi_span_t in, int format, uint8_t *out, size_t out_nbytes, vczi_scratch_t *scratch);
uint32_t crc32_in_pieces(vczi_span_t in);
uint32_t adler32_in_pieces(vczi_span_t in);
int inflate_check_in_pieces(vczi_span_t in, size_t out_nbytes);
#include "inflate.c"
#undef vczi_inflate
#undef vczi_inflate_unsized
#undef vczi_crc32
#undef vczi_adler32
#undef vczi_inflate_check

typedef int (*inflate_fn)(vczi_span_t in, int format, uint8_t *out, size_t out_nbytes, vczi_scratch_t *scratch);

static const inflate_fn both[] = {vczi_inflate, inflate_in_pieces};
static const int formats[] = {VCZI_INFLATE_RAW, VCZI_INFLATE_ZLIB, VCZI_INFLATE_GZIP};

#define MAX_NBYTES 100000
#define POISON 0xa5
static uint8_t raw[MAX_NBYTES];
static uint8_t packed[2 * MAX_NBYTES];
static uint8_t out[MAX_NBYTES + 64];

static void fill_raw(void) {
    uint32_t state = 1;
    for (size_t i = 0; i < MAX_NBYTES; i++) {
        state = state * 1664525u + 1013904223u;
        raw[i] = (uint8_t) (i % 3000 < 1500 ? state >> 24 : (state >> 30) + 'a'); /* hard parts and easy ones */
    }
}

static size_t pack(int format, const uint8_t *data, size_t nbytes, uint8_t *into, size_t size) {
    static const int bits[] = {-15, 15, 31};
    z_stream stream = {0};
    if (deflateInit2(&stream, 6, Z_DEFLATED, bits[format], 8, Z_DEFAULT_STRATEGY) != Z_OK) abort();
    stream.next_in = data;
    stream.avail_in = (unsigned) nbytes;
    stream.next_out = into;
    stream.avail_out = (unsigned) size;
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END) abort();
    const size_t made = stream.total_out;
    deflateEnd(&stream);
    return made;
}

/* Inflates a copy of exact size, so that a sanitizer sees each step past its ends. */
static int unpack(inflate_fn function, const uint8_t *in, size_t in_nbytes, int format, size_t nbytes) {
    vczi_scratch_t *scratch = vczi_scratch_borrow();
    uint8_t *copy = malloc(in_nbytes == 0 ? 1 : in_nbytes);
    uint8_t *exact = malloc(nbytes == 0 ? 1 : nbytes);
    if (in_nbytes != 0) memcpy(copy, in, in_nbytes);
    memset(out, POISON, sizeof(out));
    const int ret = function(vczi_span(copy, in_nbytes), format, exact, nbytes, scratch);
    memcpy(out, exact, nbytes);
    free(copy);
    free(exact);
    vczi_scratch_return(scratch);
    return ret;
}

static void test_round_trips(void) {
    static const size_t sizes[] = {0, 1, 2, 257, 258, 4096, 65535, 65536, MAX_NBYTES};
    for (size_t f = 0; f < 2; f++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
            for (int format = 0; format < 3; format++) {
                const size_t n = pack(format, raw, sizes[i], packed, sizeof(packed));
                CHECK_EQ(unpack(both[f], packed, n, formats[format], sizes[i]), 0);
                CHECK_MEM(out, raw, sizes[i]);
            }
        }
    }
}

static void test_every_truncation_is_corrupt(void) {
    for (int format = 0; format < 3; format++) {
        const size_t n = pack(format, raw, 3000, packed, sizeof(packed));
        for (size_t f = 0; f < 2; f++) {
            for (size_t cut = 0; cut < n; cut++) {
                if (!CHECK_EQ(unpack(both[f], packed, cut, formats[format], 3000), VCZC_ERR_CORRUPT)) return;
            }
        }
    }
}

static void test_other_sizes_are_corrupt(void) {
    for (int format = 0; format < 3; format++) {
        const size_t n = pack(format, raw, 3000, packed, sizeof(packed));
        for (size_t f = 0; f < 2; f++) {
            CHECK_EQ(unpack(both[f], packed, n, formats[format], 2999), VCZC_ERR_CORRUPT);
            CHECK_EQ(unpack(both[f], packed, n, formats[format], 3001), VCZC_ERR_CORRUPT);
            CHECK_EQ(unpack(both[f], packed, n, formats[format], 0), VCZC_ERR_CORRUPT);
        }
        const size_t n0 = pack(format, raw, 0, packed, sizeof(packed));
        CHECK_EQ(unpack(vczi_inflate, packed, n0, formats[format], 1), VCZC_ERR_CORRUPT);
    }
}

static void test_nothing_is_written_past_the_end(void) {
    vczi_scratch_t *scratch = vczi_scratch_borrow();
    const size_t n = pack(VCZI_INFLATE_RAW, raw, 3000, packed, sizeof(packed));
    for (size_t nbytes = 2000; nbytes < 3000; nbytes += 37) {
        memset(out, POISON, sizeof(out));
        CHECK_EQ(vczi_inflate(vczi_span(packed, n), VCZI_INFLATE_RAW, out, nbytes, scratch), VCZC_ERR_CORRUPT);
        for (size_t i = nbytes; i < nbytes + 64; i++) {
            if (!CHECK_EQ(out[i], POISON)) break;
        }
    }
    vczi_scratch_return(scratch);
}

static void test_what_follows(void) {
    for (int format = 0; format < 3; format++) {
        size_t n = pack(format, raw, 500, packed, sizeof(packed));
        packed[n++] = 'x';
        for (size_t f = 0; f < 2; f++) {
            CHECK_EQ(unpack(both[f], packed, n, formats[format], 500), VCZC_ERR_CORRUPT);
        }
    }
    size_t n = pack(VCZI_INFLATE_GZIP, raw, 500, packed, sizeof(packed));
    memset(packed + n, 0, 100);
    CHECK_EQ(unpack(vczi_inflate, packed, n + 100, VCZI_INFLATE_GZIP, 500), 0);
    CHECK_EQ(unpack(vczi_inflate, packed, n + 100, VCZI_INFLATE_GZIP, 501), VCZC_ERR_CORRUPT);
    n = pack(VCZI_INFLATE_ZLIB, raw, 500, packed, sizeof(packed));
    packed[n] = 0;
    CHECK_EQ(unpack(vczi_inflate, packed, n + 1, VCZI_INFLATE_ZLIB, 500), VCZC_ERR_CORRUPT);
}

typedef int (*unsized_fn)(vczi_span_t in, int format, size_t max_nbytes, int which, vczi_scratch_t *scratch,
                          vczi_span_t *out);

/* Outputs on both sides of the first room, within the ceiling, at it and above it. */
static void test_unsized(void) {
    static const unsized_fn functions[] = {vczi_inflate_unsized, inflate_unsized_in_pieces};
    static const size_t sizes[] = {0, 1, 65535, 65536, 65537, MAX_NBYTES};
    vczi_scratch_t *scratch = vczi_scratch_borrow();
    uint8_t *zeros = calloc(1, 100 * MAX_NBYTES);
    REQUIRE(scratch != NULL && zeros != NULL);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        for (int format = 0; format < 3; format++) {
            const size_t n = pack(format, raw, sizes[i], packed, sizeof(packed));
            for (size_t f = 0; f < 2; f++) {
                vczi_span_t got = {NULL, 0};
                CHECK_EQ(functions[f](vczi_span(packed, n), formats[format], sizes[i], 0, scratch, &got), 0);
                if (CHECK_EQ(got.nbytes, sizes[i])) CHECK_MEM(got.data, raw, sizes[i]);
                const int less = functions[f](vczi_span(packed, n), formats[format], sizes[i] - 1, 0, scratch, &got);
                if (sizes[i] != 0) CHECK_EQ(less, VCZC_ERR_CORRUPT);
                CHECK_EQ(functions[f](vczi_span(packed, n - 1), formats[format], SIZE_MAX, 0, scratch, &got),
                         VCZC_ERR_CORRUPT);
            }
        }
    }
    const size_t n = pack(1, zeros, 100 * MAX_NBYTES, packed, sizeof(packed)); /* a thousandth of its output */
    vczi_span_t got = {NULL, 0};
    CHECK_EQ(vczi_inflate_unsized(vczi_span(packed, n), formats[1], SIZE_MAX, 0, scratch, &got), 0);
    if (CHECK_EQ(got.nbytes, 100 * MAX_NBYTES)) CHECK_MEM(got.data, zeros, got.nbytes);
    free(zeros);
    vczi_scratch_return(scratch);
}

static void test_gzip_members(void) {
    size_t n = 0;
    for (size_t start = 0; start < 5000; start += 1000) {
        n += pack(VCZI_INFLATE_GZIP, raw + start, 1000, packed + n, sizeof(packed) - n);
    }
    n += pack(VCZI_INFLATE_GZIP, raw, 0, packed + n, sizeof(packed) - n);
    for (size_t f = 0; f < 2; f++) {
        CHECK_EQ(unpack(both[f], packed, n, VCZI_INFLATE_GZIP, 5000), 0);
        CHECK_MEM(out, raw, 5000);
        CHECK_EQ(unpack(both[f], packed, n, VCZI_INFLATE_GZIP, 4000), VCZC_ERR_CORRUPT);
    }
}

static void test_checksums_of_the_wrapping(void) {
    for (int format = 1; format < 3; format++) {
        const size_t n = pack(format, raw, 500, packed, sizeof(packed));
        packed[format == VCZI_INFLATE_GZIP ? n - 8 : n - 4] ^= 1;
        CHECK_EQ(unpack(vczi_inflate, packed, n, formats[format], 500), VCZC_ERR_CORRUPT);
    }
}

static void test_a_dictionary_is_refused(void) {
    z_stream stream = {0};
    REQUIRE(deflateInit(&stream, 6) == Z_OK);
    CHECK_EQ(deflateSetDictionary(&stream, raw, 100), Z_OK);
    stream.next_in = raw;
    stream.avail_in = 500;
    stream.next_out = packed;
    stream.avail_out = sizeof(packed);
    CHECK_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    CHECK_EQ(unpack(vczi_inflate, packed, stream.total_out, VCZI_INFLATE_ZLIB, 500), VCZC_ERR_CORRUPT);
    CHECK(strstr(vczi_detail_view()->reason, "dictionary") != NULL);
    deflateEnd(&stream);
}

/* A flip must not hang or crash, and what a CRC-32 covers (zlib has only Adler-32) must not come out wrong. */
static void test_flipped_bytes(void) {
    for (int format = 0; format < 3; format++) {
        const size_t n = pack(format, raw + 1400, 400, packed, sizeof(packed));
        for (size_t i = 0; i < 8 * n; i++) {
            packed[i / 8] ^= (uint8_t) (1u << i % 8);
            const int ret = unpack(vczi_inflate, packed, n, formats[format], 400);
            CHECK(ret == 0 || ret == VCZC_ERR_CORRUPT);
            if (ret == 0 && format == VCZI_INFLATE_GZIP && !CHECK_MEM(out, raw + 1400, 400)) return;
            packed[i / 8] ^= (uint8_t) (1u << i % 8);
        }
    }
}

static void test_one_scratch_serves_all_formats(void) {
    vczi_scratch_t *scratch = vczi_scratch_borrow();
    for (int round = 0; round < 9; round++) {
        const int format = round % 3;
        const size_t n = pack(format, raw, 2000, packed, sizeof(packed));
        CHECK_EQ(vczi_inflate(vczi_span(packed, n / 2), formats[format], out, 2000, scratch), VCZC_ERR_CORRUPT);
        CHECK_EQ(vczi_inflate(vczi_span(packed, n), formats[format], out, 2000, scratch), 0);
        CHECK_MEM(out, raw, 2000);
    }
    vczi_scratch_return(scratch);
}

static void test_crc32(void) {
    CHECK_EQ(vczi_crc32(vczi_span("123456789", 9)), 0xcbf43926);
    CHECK_EQ(vczi_crc32(vczi_span("", 0)), 0);
    CHECK_EQ(vczi_crc32(vczi_span(NULL, 0)), 0);
}

#ifdef VCZI_TEST_FAULTS
static void test_each_allocation_fails(void) {
    const size_t n = pack(VCZI_INFLATE_RAW, raw, 2000, packed, sizeof(packed));
    for (size_t f = 0; f < 2; f++) {
        bool has_failed = false;
        for (long count = 1;; count++) {
            vczi_scratch_t *kept = vczi_scratch_borrow(); /* so that the next one is new */
            vczi_scratch_t *scratch = vczi_scratch_borrow();
            REQUIRE(scratch != NULL && count < 10);
            vczi_test_fail_allocation(count);
            const int ret = both[f](vczi_span(packed, n), VCZI_INFLATE_RAW, out, 2000, scratch);
            vczi_test_fail_allocation(0);
            vczi_scratch_return(kept);
            vczi_scratch_return(scratch);
            if (ret == 0) break;
            has_failed = true;
            CHECK_EQ(ret, VCZC_ERR_NO_MEMORY);
        }
        CHECK(has_failed);
    }
}
#endif

int main(void) {
    fill_raw();
    RUN(test_round_trips);
    RUN(test_every_truncation_is_corrupt);
    RUN(test_other_sizes_are_corrupt);
    RUN(test_nothing_is_written_past_the_end);
    RUN(test_what_follows);
    RUN(test_unsized);
    RUN(test_gzip_members);
    RUN(test_checksums_of_the_wrapping);
    RUN(test_a_dictionary_is_refused);
    RUN(test_flipped_bytes);
    RUN(test_one_scratch_serves_all_formats);
    RUN(test_crc32);
#ifdef VCZI_TEST_FAULTS
    RUN(test_each_allocation_fails);
#endif
    return check_result();
}
