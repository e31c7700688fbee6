/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* What is lent, what is kept, and what goes when a thread ends. */
#include "scratch.h"

#include <stdlib.h>

#include "check.h"
#include "mem.h"
#include "status.h"
#include "thread.h"

#define HUGE_NBYTES ((size_t) 64 << 20)

static int nmade;
static int ndropped;

static void *make_context(void) {
    nmade++;
    return malloc(1);
}

static void drop_context(void *context) {
    ndropped++;
    free(context);
}

static void *make_nothing(void) {
    return NULL;
}

static void test_the_same_one_comes_again(void) {
    vczi_scratch_t *first = vczi_scratch_borrow();
    REQUIRE(first != NULL);
    vczi_scratch_t *inner = vczi_scratch_borrow();
    REQUIRE(inner != NULL);
    CHECK(inner != first);
    vczi_scratch_return(inner);
    vczi_scratch_return(first); /* no place for it: freed */
    vczi_scratch_t *again = vczi_scratch_borrow();
    CHECK(again == inner);
    vczi_scratch_return(again);
    vczi_scratch_return(NULL);
}

static void test_buffers(void) {
    vczi_scratch_t *scratch = vczi_scratch_borrow();
    REQUIRE(scratch != NULL);
    for (int which = 0; which < VCZI_SCRATCH_NBUFFERS; which++) {
        for (size_t nbytes = 0; nbytes <= 5000; nbytes = 3 * nbytes + 1) {
            uint8_t *buffer = vczi_scratch_buffer(scratch, which, nbytes);
            REQUIRE(buffer != NULL);
            CHECK_EQ((uintptr_t) buffer % 64, 0);
            memset(buffer, 0xEE, nbytes + 64); /* with its slack */
            CHECK(vczi_scratch_buffer(scratch, which, nbytes / 2) == buffer);
        }
    }
    CHECK(vczi_scratch_buffer(scratch, 0, 100) != vczi_scratch_buffer(scratch, 1, 100));
    vczi_scratch_return(scratch);
}

static void test_growing_keeps_what_is_asked(void) {
    static const uint8_t text[] = "what was written before";
    vczi_scratch_t *scratch = vczi_scratch_borrow();
    REQUIRE(scratch != NULL);
    uint8_t *buffer = vczi_scratch_buffer(scratch, VCZI_SCRATCH_CHUNK, sizeof(text));
    REQUIRE(buffer != NULL);
    memcpy(buffer, text, sizeof(text));
    for (size_t nbytes = 100; nbytes < 1000000; nbytes *= 10) {
        buffer = vczi_scratch_grow(scratch, VCZI_SCRATCH_CHUNK, nbytes, sizeof(text));
        REQUIRE(buffer != NULL);
        CHECK_MEM(buffer, text, sizeof(text));
        memset(buffer + sizeof(text), 1, nbytes - sizeof(text));
    }
    vczi_scratch_return(scratch);
}

static void test_what_cannot_be_had(void) {
    vczi_scratch_t *scratch = vczi_scratch_borrow();
    REQUIRE(scratch != NULL);
    CHECK(vczi_scratch_buffer(scratch, 0, SIZE_MAX) == NULL);
    CHECK_EQ(vczi_detail_view()->code, VCZC_ERR_NO_MEMORY);
    CHECK(vczi_scratch_buffer(scratch, 0, SIZE_MAX - 64) == NULL);
    uint8_t *after = vczi_scratch_buffer(scratch, 0, 1000);
    REQUIRE(after != NULL);
    memset(after, 1, 1000);
    vczi_scratch_return(scratch);
}

/* Contexts live in the scratch, over loans and over buffers that are let go. */
static void use_contexts(void *user) {
    (void) user;
    for (int turn = 0; turn < 3; turn++) {
        vczi_scratch_t *scratch = vczi_scratch_borrow();
        if (scratch == NULL) return;
        CHECK(vczi_scratch_context(scratch, VCZI_CONTEXT_ZSTD, make_context, drop_context) != NULL);
        CHECK(vczi_scratch_context(scratch, VCZI_CONTEXT_ZSTD, make_context, drop_context) != NULL);
        CHECK(vczi_scratch_context(scratch, VCZI_CONTEXT_INFLATE, make_nothing, drop_context) == NULL);
        CHECK_EQ(vczi_detail_view()->code, VCZC_ERR_NO_MEMORY);
        CHECK(vczi_scratch_buffer(scratch, VCZI_SCRATCH_BLOCK, HUGE_NBYTES) != NULL);
        vczi_scratch_return(scratch);
    }
}

static void test_contexts_go_with_the_thread(void) {
    vczi_thread_t thread;
    nmade = ndropped = 0;
    REQUIRE(vczi_thread_start(&thread, use_contexts, NULL) == 0);
    vczi_thread_join(&thread);
    CHECK_EQ(nmade, 1);
    CHECK_EQ(ndropped, 1);
}

static void test_trimming_frees_what_is_kept(void) {
    nmade = ndropped = 0;
    vczi_scratch_t *lent = vczi_scratch_borrow();
    REQUIRE(lent != NULL);
    CHECK(vczi_scratch_context(lent, VCZI_CONTEXT_ZSTD, make_context, drop_context) != NULL);
    vczi_scratch_trim();
    CHECK_EQ(ndropped, 0); /* what is lent stays */
    CHECK(vczi_scratch_context(lent, VCZI_CONTEXT_ZSTD, make_context, drop_context) != NULL);
    vczi_scratch_return(lent);
    CHECK_EQ(ndropped, 1); /* and goes when it comes back */
    use_contexts(NULL);
    CHECK_EQ(nmade, 2);
    CHECK_EQ(ndropped, 1);
    vczi_scratch_trim();
    CHECK_EQ(ndropped, 2);
    test_contexts_go_with_the_thread(); /* as before */
}

#ifdef VCZI_TEST_FAULTS
static void test_failing_allocations(void) {
    vczi_scratch_t *kept = vczi_scratch_borrow(); /* so that the next one must be made */
    REQUIRE(kept != NULL);
    vczi_test_fail_allocation(1);
    CHECK(vczi_scratch_borrow() == NULL);
    CHECK_EQ(vczi_detail_view()->code, VCZC_ERR_NO_MEMORY);
    vczi_test_fail_allocation(0);

    uint8_t *buffer = vczi_scratch_buffer(kept, VCZI_SCRATCH_FILE, 100);
    REQUIRE(buffer != NULL);
    vczi_test_fail_allocation(1);
    CHECK(vczi_scratch_buffer(kept, VCZI_SCRATCH_FILE, 100000) == NULL);
    vczi_test_fail_allocation(1);
    CHECK(vczi_scratch_grow(kept, VCZI_SCRATCH_FILE, 100000, 50) == NULL);
    vczi_test_fail_allocation(0);
    CHECK(vczi_scratch_buffer(kept, VCZI_SCRATCH_FILE, 100) != NULL);
    vczi_scratch_return(kept);
}
#endif

int main(void) {
    RUN(test_the_same_one_comes_again);
    RUN(test_buffers);
    RUN(test_growing_keeps_what_is_asked);
    RUN(test_what_cannot_be_had);
    RUN(test_contexts_go_with_the_thread);
    RUN(test_trimming_frees_what_is_kept);
#ifdef VCZI_TEST_FAULTS
    RUN(test_failing_allocations);
#endif
    return check_result();
}
