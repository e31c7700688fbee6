/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* What an array keeps between calls: places, the bound on all of them, threads that share them. */
#include "array_kept.h"
#include "ceilings.h"
#include "check.h"
#include "thread.h"

enum { SLOTS = 32, BLOCK_NBYTES = 4 << 20, FIT = (int) (VCZI_MAX_KEPT_NBYTES / BLOCK_NBYTES) };

/* Put a block that says which chunk it is of. */
static void keep(vczi_array_kept_t *kept, int64_t chunk, size_t nbytes) {
    vczi_kept_block_t *block = vczi_array_kept_borrow(kept, chunk);
    REQUIRE(block != NULL && vczi_kept_block_room(block, nbytes) == 0);
    memcpy(block->memory, &chunk, sizeof(chunk));
    vczi_kept_block_hold_raw(block, nbytes);
    vczi_array_kept_return(kept, chunk);
}

static bool holds(vczi_array_kept_t *kept, int64_t chunk) {
    vczi_kept_block_t *block = vczi_array_kept_borrow(kept, chunk);
    int64_t found = -1;
    const bool is_held = block != NULL && vczi_kept_block_read(block, 0, sizeof(found), (uint8_t *) &found);
    if (block != NULL) {
        vczi_array_kept_return(kept, chunk);
    }
    CHECK(!is_held || found == chunk);
    return is_held;
}

static void test_places(void) {
    vczi_array_kept_t *kept = vczi_array_kept_open();
    REQUIRE(kept != NULL);
    for (int64_t chunk = 0; chunk < SLOTS; chunk++) {
        CHECK(!holds(kept, chunk));
        keep(kept, chunk, 100);
    }
    for (int64_t chunk = 0; chunk < SLOTS; chunk++) {
        CHECK(holds(kept, chunk));
    }
    keep(kept, SLOTS + 3, 200); /* the place of chunk 3 */
    CHECK(holds(kept, 4));
    CHECK(holds(kept, SLOTS + 3));
    CHECK(!holds(kept, 3));
    CHECK(!holds(kept, SLOTS + 3)); /* to ask for chunk 3 took it */
    vczi_kept_block_t *block = vczi_array_kept_borrow(kept, 5);
    CHECK(vczi_array_kept_borrow(kept, 5) == NULL); /* lent */
    CHECK(block != NULL && holds(kept, 6));
    vczi_array_kept_return(kept, 5);
    CHECK(holds(kept, 5));
    vczi_array_kept_close(kept);
    vczi_array_kept_close(NULL);
}

static int count_held(vczi_array_kept_t *kept, int64_t first) {
    int n = 0;
    for (int64_t chunk = first; chunk < first + SLOTS; chunk++) {
        n += holds(kept, chunk);
    }
    return n;
}

static void test_bound(void) {
    vczi_array_kept_t *kept = vczi_array_kept_open();
    REQUIRE(kept != NULL);
    for (int64_t chunk = 0; chunk < SLOTS; chunk++) {
        keep(kept, chunk, BLOCK_NBYTES);
        CHECK(holds(kept, chunk));
    }
    CHECK_EQ(count_held(kept, 0), FIT);
    CHECK(!holds(kept, 0)); /* the oldest went first */
    keep(kept, SLOTS, VCZI_MAX_KEPT_NBYTES);
    CHECK_EQ(count_held(kept, 1), 1);
    keep(kept, SLOTS + 1, VCZI_MAX_KEPT_NBYTES + 1); /* too large for all of it */
    CHECK_EQ(count_held(kept, 2), 0);
    keep(kept, 2, BLOCK_NBYTES); /* and counted no more */
    CHECK(holds(kept, 2));
    vczi_array_kept_close(kept);
}

static void walk(void *user) {
    vczi_array_kept_t *kept = user;
    for (int64_t i = 0; i < 500; i++) {
        const int64_t chunk = i * 7 % 100;
        vczi_kept_block_t *block = vczi_array_kept_borrow(kept, chunk);
        int64_t found = chunk;
        if (block == NULL) {
            continue;
        }
        if (vczi_kept_block_read(block, 0, sizeof(found), (uint8_t *) &found)) {
            CHECK_EQ(found, chunk);
        } else if (vczi_kept_block_room(block, (size_t) (i % 5 + 1) << 20) == 0) {
            memcpy(block->memory, &chunk, sizeof(chunk));
            vczi_kept_block_hold_raw(block, sizeof(chunk));
        }
        vczi_array_kept_return(kept, chunk);
    }
}

static void test_threads(void) {
    vczi_thread_t threads[4];
    vczi_array_kept_t *kept = vczi_array_kept_open();
    REQUIRE(kept != NULL);
    for (int i = 0; i < 4; i++) {
        REQUIRE(vczi_thread_start(&threads[i], walk, kept) == 0);
    }
    for (int i = 0; i < 4; i++) {
        vczi_thread_join(&threads[i]);
    }
    vczi_array_kept_close(kept);
}

int main(void) {
    RUN(test_places);
    RUN(test_bound);
    RUN(test_threads);
    return check_result();
}
