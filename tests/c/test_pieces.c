/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* What is read piece by piece: each byte that is asked for is there, is read once, and nothing is read beyond the end.
 */
#include "pieces.h"

#include <stdlib.h>

#include "check.h"
#include "status.h"

#define OFFSET 1000
#define NBYTES ((size_t) 1000003)

/* Bytes that say where they lie, and how many were read by how many calls. */
typedef struct {
    size_t nbytes_read, ncalls;
    uint64_t fails_at; /* a read that reaches it fails */
} origin_t;

static uint8_t byte_at(uint64_t place) {
    return (uint8_t) (place * 2654435761u >> 13);
}

static int read_origin(void *user, uint64_t offset, void *out, size_t nbytes) {
    origin_t *origin = user;
    uint8_t *bytes = out;
    CHECK(offset >= OFFSET && offset + nbytes <= OFFSET + NBYTES);
    if (offset + nbytes > origin->fails_at) {
        return vczi_fail(VCZC_ERR_STORE, "it ends at %d", (int) origin->fails_at);
    }
    for (size_t i = 0; i < nbytes; i++) {
        bytes[i] = byte_at(offset + i);
    }
    origin->nbytes_read += nbytes;
    origin->ncalls++;
    return 0;
}

static bool is_there(vczi_span_t all, size_t start, size_t nbytes) {
    for (size_t i = start; i < start + nbytes; i++) {
        if (all.data[i] != byte_at(OFFSET + i)) {
            return false;
        }
    }
    return true;
}

static void test_parts_in_any_order(void) {
    static const size_t at_once[] = {0, 1, 4096, 16384, 131072};
    vczi_scratch_t *scratch = vczi_scratch_borrow();
    REQUIRE(scratch != NULL);
    for (size_t k = 0; k < sizeof(at_once) / sizeof(at_once[0]); k++) {
        origin_t origin = {0, 0, UINT64_MAX};
        const vczi_pieces_source_t source = {read_origin, &origin, OFFSET, at_once[k]};
        vczi_span_t all = {NULL, 0};
        uint32_t state = 1;
        REQUIRE(vczi_pieces_begin(scratch, &source, NBYTES, &all) == 0);
        CHECK_EQ(all.nbytes, NBYTES);
        CHECK(vczi_pieces_are_read(scratch) && !vczi_pieces_are_copied(scratch));
        for (int round = 0; round < 400; round++) {
            state = state * 1664525u + 1013904223u;
            const size_t start = state % NBYTES;
            const size_t most = NBYTES - start < 60000 ? NBYTES - start : 60000;
            const size_t nbytes = (state >> 7) % (most + 1);
            CHECK_EQ(vczi_pieces_need(scratch, vczi_span(all.data + start, nbytes)), 0);
            CHECK(is_there(all, start, nbytes));
        }
        CHECK_EQ(vczi_pieces_need(scratch, all), 0);
        CHECK(is_there(all, 0, NBYTES));
        CHECK_EQ(origin.nbytes_read, NBYTES); /* nothing twice */
        const size_t ncalls = origin.ncalls;
        CHECK_EQ(vczi_pieces_need(scratch, all), 0);
        CHECK_EQ(origin.ncalls, ncalls);
        vczi_pieces_end(scratch);
    }
    vczi_scratch_return(scratch);
}

static void test_little_is_read_for_little(void) {
    origin_t origin = {0, 0, UINT64_MAX};
    const vczi_pieces_source_t source = {read_origin, &origin, OFFSET, VCZI_PIECES_OF_PART_NBYTES};
    vczi_span_t all = {NULL, 0};
    vczi_scratch_t *scratch = vczi_scratch_borrow();
    REQUIRE(scratch != NULL);
    REQUIRE(vczi_pieces_begin(scratch, &source, NBYTES, &all) == 0);
    CHECK_EQ(vczi_pieces_need(scratch, vczi_span(all.data + 500000, 1)), 0);
    CHECK_EQ(origin.nbytes_read, VCZI_PIECES_OF_PART_NBYTES);
    CHECK_EQ(vczi_pieces_need(scratch, vczi_span(all.data + 500000, 0)), 0);
    CHECK_EQ(vczi_pieces_need(scratch, vczi_span(all.data + NBYTES - 1, 1)), 0);
    CHECK(is_there(all, NBYTES - 1, 1));
    CHECK(origin.nbytes_read < 2 * VCZI_PIECES_OF_PART_NBYTES);
    CHECK_EQ(origin.ncalls, 2);
    vczi_pieces_end(scratch);
    vczi_scratch_return(scratch);
}

static void test_other_bytes_are_there(void) {
    const uint8_t other[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    origin_t origin = {0, 0, UINT64_MAX};
    const vczi_pieces_source_t source = {read_origin, &origin, OFFSET, 0};
    vczi_span_t all = {NULL, 0};
    vczi_scratch_t *scratch = vczi_scratch_borrow();
    REQUIRE(scratch != NULL);
    CHECK(!vczi_pieces_are_read(scratch));
    CHECK_EQ(vczi_pieces_need(scratch, vczi_span(other, sizeof(other))), 0);
    REQUIRE(vczi_pieces_begin(scratch, &source, NBYTES, &all) == 0);
    CHECK_EQ(vczi_pieces_need(scratch, vczi_span(other, sizeof(other))), 0);
    CHECK_EQ(vczi_pieces_need(scratch, vczi_span(NULL, 0)), 0);
    CHECK_EQ(origin.ncalls, 0);
    vczi_pieces_end(scratch);
    CHECK(!vczi_pieces_are_read(scratch));
    CHECK_EQ(vczi_pieces_need(scratch, all), 0); /* the buffer is as it is */
    CHECK_EQ(origin.ncalls, 0);
    vczi_scratch_return(scratch);
}

static void test_copies(void) {
    origin_t origin = {0, 0, UINT64_MAX};
    const vczi_pieces_source_t source = {read_origin, &origin, OFFSET, 0};
    vczi_span_t all = {NULL, 0};
    uint8_t out[100];
    vczi_scratch_t *scratch = vczi_scratch_borrow();
    REQUIRE(scratch != NULL);
    vczi_pieces_begin_copying(scratch, &source, NBYTES, &all);
    CHECK(all.data == NULL);
    CHECK_EQ(all.nbytes, NBYTES);
    CHECK(vczi_pieces_are_read(scratch) && vczi_pieces_are_copied(scratch));
    CHECK_EQ(vczi_pieces_copy(scratch, 12345, sizeof(out), out), 0);
    CHECK(out[0] == byte_at(OFFSET + 12345) && out[99] == byte_at(OFFSET + 12345 + 99));
    CHECK_EQ(origin.nbytes_read, sizeof(out));
    vczi_pieces_end(scratch);
    CHECK(!vczi_pieces_are_copied(scratch));
    vczi_scratch_return(scratch);
}

static void test_failures_are_passed_on(void) {
    origin_t origin = {0, 0, OFFSET + 20000};
    const vczi_pieces_source_t source = {read_origin, &origin, OFFSET, 0};
    vczi_span_t all = {NULL, 0};
    vczi_scratch_t *scratch = vczi_scratch_borrow();
    REQUIRE(scratch != NULL);
    REQUIRE(vczi_pieces_begin(scratch, &source, NBYTES, &all) == 0);
    CHECK_EQ(vczi_pieces_need(scratch, vczi_span(all.data, 10000)), 0);
    CHECK_EQ(vczi_pieces_need(scratch, vczi_span(all.data + 15000, 10000)), VCZC_ERR_STORE);
    origin.fails_at = UINT64_MAX; /* what failed is asked for again */
    CHECK_EQ(vczi_pieces_need(scratch, vczi_span(all.data + 15000, 10000)), 0);
    CHECK(is_there(all, 15000, 10000));
    vczi_pieces_end(scratch);
    vczi_scratch_return(scratch);
}

int main(void) {
    RUN(test_parts_in_any_order);
    RUN(test_little_is_read_for_little);
    RUN(test_other_bytes_are_there);
    RUN(test_copies);
    RUN(test_failures_are_passed_on);
    return check_result();
}
