/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* zstd frames of known and unknown size; data is made with zstd's own encoder. */
#include <stdlib.h>

#include <zstd.h>

#include "check.h"
#include "status.h"
#include "unzstd.h"

#define MAX_NBYTES ((size_t) 3000000)
static uint8_t raw[MAX_NBYTES];
static uint8_t packed[2 * MAX_NBYTES];

static void fill_raw(void) {
    uint32_t state = 1;
    for (size_t i = 0; i < MAX_NBYTES; i++) {
        state = state * 1664525u + 1013904223u;
        raw[i] = (uint8_t) (i % 3000 < 1500 ? state >> 24 : (state >> 30) + 'a');
    }
}

/* One frame; `is_streamed` leaves its size out of its header. */
static size_t pack(const uint8_t *data, size_t nbytes, bool is_streamed, uint8_t *into) {
    ZSTD_CCtx *context = ZSTD_createCCtx();
    size_t made;
    if (context == NULL) abort();
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, is_streamed ? 0 : 1);
    made = ZSTD_compress2(context, into, 2 * MAX_NBYTES, data, nbytes);
    if (ZSTD_isError(made)) abort();
    ZSTD_freeCCtx(context);
    return made;
}

static void test_sizes(void) {
    static const size_t sizes[] = {0, 1, 100, 65535, 65536, 65537, 131072, 131073, MAX_NBYTES};
    vczi_scratch_t *scratch = vczi_scratch_borrow();
    REQUIRE(scratch != NULL);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        for (int streamed = 0; streamed < 2; streamed++) {
            const size_t n = pack(raw, sizes[i], streamed != 0, packed);
            uint8_t *exact = malloc(sizes[i] == 0 ? 1 : sizes[i]);
            vczi_span_t got = {NULL, 0};
            REQUIRE(exact != NULL);
            CHECK_EQ(vczi_unzstd(vczi_span(packed, n), exact, sizes[i], scratch), 0);
            CHECK_MEM(exact, raw, sizes[i]);
            CHECK_EQ(vczi_unzstd_unsized(vczi_span(packed, n), sizes[i], 0, scratch, &got), 0);
            if (CHECK_EQ(got.nbytes, sizes[i])) CHECK_MEM(got.data, raw, sizes[i]);
            if (sizes[i] != 0) {
                CHECK_EQ(vczi_unzstd(vczi_span(packed, n), exact, sizes[i] - 1, scratch), VCZC_ERR_CORRUPT);
                CHECK_EQ(vczi_unzstd_unsized(vczi_span(packed, n), sizes[i] - 1, 0, scratch, &got), VCZC_ERR_CORRUPT);
            }
            CHECK_EQ(vczi_unzstd_unsized(vczi_span(packed, n - 1), SIZE_MAX, 0, scratch, &got), VCZC_ERR_CORRUPT);
            free(exact);
        }
    }
    vczi_scratch_return(scratch);
}

/* Two frames are one content; the failure of one leaves the scratch fit for the next. */
static void test_frames_in_a_row(void) {
    vczi_scratch_t *scratch = vczi_scratch_borrow();
    uint8_t out[3000];
    vczi_span_t got = {NULL, 0};
    REQUIRE(scratch != NULL);
    size_t n = pack(raw, 1000, false, packed);
    n += pack(raw + 1000, 2000, true, packed + n);
    CHECK_EQ(vczi_unzstd(vczi_span(packed, n), out, sizeof(out), scratch), 0);
    CHECK_MEM(out, raw, sizeof(out));
    CHECK_EQ(vczi_unzstd_unsized(vczi_span(packed, n - 5), SIZE_MAX, 0, scratch, &got), VCZC_ERR_CORRUPT);
    CHECK_EQ(vczi_unzstd_unsized(vczi_span(packed, n), SIZE_MAX, 0, scratch, &got), 0);
    if (CHECK_EQ(got.nbytes, sizeof(out))) CHECK_MEM(got.data, raw, sizeof(out));
    CHECK_EQ(vczi_unzstd_unsized(vczi_span("no frame at all", 15), SIZE_MAX, 0, scratch, &got), VCZC_ERR_CORRUPT);
    vczi_scratch_return(scratch);
}

/* A header may claim any size: no memory goes by the claim. */
static void test_a_claim_is_not_believed(void) {
    static const uint8_t claim[] = {0x28, 0xB5, 0x2F, 0xFD, 0xE0, 0, 0, 0, 0, 0, 0, 0, 0x40, 1, 0, 0};
    vczi_scratch_t *scratch = vczi_scratch_borrow();
    vczi_span_t got = {NULL, 0};
    REQUIRE(scratch != NULL);
    CHECK_EQ(vczi_unzstd_unsized(vczi_span(claim, sizeof(claim)), SIZE_MAX, 0, scratch, &got), VCZC_ERR_CORRUPT);
    vczi_scratch_return(scratch);
}

/* What cannot be is refused by a look; what can be is not: zeros pack as close as anything. */
static void test_a_look_before(void) {
    static const uint8_t unknown[] = {0x28, 0xB5, 0x2F, 0xFD, 0, 0x50, 1, 0, 0};
    memset(raw, 0, MAX_NBYTES);
    for (size_t nbytes = 0; nbytes <= MAX_NBYTES; nbytes = nbytes * 3 + 1) {
        for (int streamed = 0; streamed < 2; streamed++) {
            const vczi_span_t in = vczi_span(packed, pack(raw, nbytes, streamed != 0, packed));
            CHECK_EQ(vczi_unzstd_check(in, nbytes), 0);
            CHECK_EQ(vczi_unzstd_check(in, SIZE_MAX / 2), VCZC_ERR_CORRUPT);
            if (streamed == 0) {
                CHECK_EQ(vczi_unzstd_check(in, nbytes + 1), VCZC_ERR_CORRUPT);
                CHECK_EQ(vczi_unzstd_check(in, nbytes == 0 ? 9 : nbytes - 1), VCZC_ERR_CORRUPT);
            }
        }
    }
    size_t n = pack(raw, 1000, false, packed);
    n += pack(raw, 2000, false, packed + n);
    CHECK_EQ(vczi_unzstd_check(vczi_span(packed, n), 3000), 0);
    CHECK_EQ(vczi_unzstd_check(vczi_span(packed, n), 999), VCZC_ERR_CORRUPT);
    CHECK_EQ(vczi_unzstd_check(vczi_span(unknown, sizeof(unknown)), 100000), 0);
    CHECK_EQ(vczi_unzstd_check(vczi_span(unknown, sizeof(unknown)), 10 << 20), VCZC_ERR_CORRUPT);
    CHECK_EQ(vczi_unzstd_check(vczi_span(NULL, 0), 100), 0); /* the decoder has the words for it */
    fill_raw();
}

int main(void) {
    fill_raw();
    RUN(test_sizes);
    RUN(test_frames_in_a_row);
    RUN(test_a_claim_is_not_believed);
    RUN(test_a_look_before);
    return check_result();
}
