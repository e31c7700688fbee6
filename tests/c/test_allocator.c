/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* An allocator of the embedder's: all memory comes from it and goes back to it. A program of its own, for it is set
 * before anything else. */
#include <blosc.h>

#include "account.h"
#include "check.h"
#include "mem.h"
#include "scratch.h"
#include "vczc.h"

static void it_is_set_once(void) {
    vczc_allocator_t allocator = account_allocator;
    allocator.resize = NULL;
    CHECK_EQ(vczc_set_allocator(NULL), VCZC_ERR_ARGUMENT);
    CHECK_EQ(vczc_set_allocator(&allocator), VCZC_ERR_ARGUMENT);
    allocator.resize = account_resize;
    allocator.struct_nbytes = 8;
    CHECK_EQ(vczc_set_allocator(&allocator), VCZC_ERR_ARGUMENT);
    allocator.struct_nbytes = sizeof(allocator);
    CHECK_EQ(vczc_set_allocator(&allocator), 0);
    CHECK_EQ(vczc_set_allocator(&allocator), VCZC_ERR_ARGUMENT);
}

static void memory_goes_back(void) {
    enum { NITEMS = 5000 };
    static uint8_t values[NITEMS], stored[NITEMS + BLOSC_MAX_OVERHEAD], out[NITEMS];
    for (int i = 0; i < NITEMS; i++)
        values[i] = (uint8_t) (i % 7);
    const int nbytes = blosc_compress_ctx(5, BLOSC_BITSHUFFLE, 1, NITEMS, values, stored, sizeof(stored), "zstd", 0, 1);
    REQUIRE(nbytes > 0);
    const char *text =
        "{\"zarr_format\": 2, \"shape\": [5000], \"chunks\": [5000], \"dtype\": \"|u1\", \"compressor\": "
        "{\"id\": \"blosc\"}, \"filters\": null, \"fill_value\": 0, \"order\": \"C\"}";
    const vczc_entry_t entries[] = {
        {".zgroup", "{\"zarr_format\": 2}", 18}, {"x/.zarray", text, strlen(text)}, {"x/0", stored, (size_t) nbytes}};
    const long before = atomic_load(&account.ntaken);
    vczc_store_t *store = NULL;
    vczc_array_t *array = NULL;
    const int64_t coords = 0;
    CHECK_EQ(vczc_store_open_memory(&store, entries, 3), 0);
    CHECK_EQ(vczc_array_open(&array, store, "x"), 0);
    REQUIRE(array != NULL);
    CHECK_EQ(vczc_array_read_block(array, &coords, out, NITEMS), 0);
    CHECK_MEM(out, values, NITEMS);
    vczc_array_close(array);
    vczc_store_close(store);
    CHECK(atomic_load(&account.ntaken) - before > 10);
}

static void memory_is_aligned(void) {
    for (size_t nbytes = 0; nbytes < 300; nbytes += 7) {
        char *memory = vczi_alloc_aligned(nbytes);
        REQUIRE(memory != NULL);
        CHECK_EQ((uintptr_t) memory % 64, 0);
        memset(memory, 1, nbytes);
        vczi_free_aligned(memory);
        uint8_t *zeros = vczi_alloc_zeroed(nbytes, 1);
        REQUIRE(zeros != NULL);
        for (size_t i = 0; i < nbytes; i++)
            CHECK_EQ(zeros[i], 0);
        vczi_free(zeros);
    }
    vczi_free_aligned(NULL);
    vczi_free(NULL);
}

int main(void) {
    RUN(it_is_set_once);
    const long kept = atomic_load(&account.nblocks);
    RUN(memory_is_aligned);
    CHECK_EQ(atomic_load(&account.nblocks), kept);
    RUN(memory_goes_back);
    const long after_one = atomic_load(&account.nblocks); /* the thread's own scratch memory stays */
    RUN(memory_goes_back);
    CHECK_EQ(atomic_load(&account.nblocks), after_one);
    vczc_trim();
    CHECK_EQ(atomic_load(&account.nblocks), 0);
    return check_result();
}
