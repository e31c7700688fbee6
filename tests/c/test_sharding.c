/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Shards in a store whose requests are counted, and where memory runs out. Values: tests/test_property.py. */
#include <stdlib.h>

#include "check.h"
#include "mem.h"
#include "vczc.h"

#define BYTES "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}"
#define CODEC(codecs)                                                                                                  \
    "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[4],\"codecs\":[" codecs                        \
    "],\"index_codecs\":[" BYTES "]}}"

enum { CHUNKS = 16, CHUNK = 4, SHARD_NBYTES = CHUNKS * (CHUNK + 16), NSHARDS = 2, MAX_REQUESTS = 100 };

/* A store of callbacks with shards "c/0" and "c/1" of uint8 whose item i is i, and what was asked of it. */
typedef struct {
    char document[1000];
    uint8_t shards[NSHARDS][SHARD_NBYTES];
    int nrequests;
    struct {
        uint64_t offset;
        size_t nbytes;
    } requests[MAX_REQUESTS];
} world_t;

static void store_u64le(uint8_t *at, uint64_t number) {
    for (int i = 0; i < 8; i++) {
        at[i] = (uint8_t) (number >> (8 * i));
    }
}

static void make_world(world_t *world, const char *codec) {
    memset(world, 0, sizeof(*world));
    snprintf(
        world->document, sizeof(world->document),
        "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[%d],\"data_type\":\"uint8\",\"chunk_grid\":{\"name\":"
        "\"regular\",\"configuration\":{\"chunk_shape\":[%d]}},\"chunk_key_encoding\":{\"name\":\"default\"},"
        "\"fill_value\":0,\"codecs\":[%s]}",
        NSHARDS * CHUNKS * CHUNK, CHUNKS * CHUNK, codec);
    for (int s = 0; s < NSHARDS; s++) {
        uint8_t *index = world->shards[s] + CHUNKS * CHUNK;
        for (int i = 0; i < CHUNKS * CHUNK; i++) {
            world->shards[s][i] = (uint8_t) (s * CHUNKS * CHUNK + i);
        }
        for (int c = 0; c < CHUNKS; c++) {
            store_u64le(index + 16 * c, (uint64_t) (c * CHUNK));
            store_u64le(index + 16 * c + 8, CHUNK);
        }
    }
}

static int find(world_t *world, const char *key, const uint8_t **data, size_t *nbytes) {
    if (strcmp(key, "zarr.json") == 0) {
        *data = (const uint8_t *) world->document;
        *nbytes = strlen(world->document);
        return 0;
    }
    if (strcmp(key, "c/0") == 0 || strcmp(key, "c/1") == 0) {
        *data = world->shards[key[2] - '0'];
        *nbytes = SHARD_NBYTES;
        return 0;
    }
    return VCZC_ERR_NOT_FOUND;
}

static int get(void *user, const char *key, uint64_t offset, size_t nbytes, const void **data, size_t *data_nbytes,
               void **pin) {
    world_t *world = user;
    const uint8_t *all = NULL;
    size_t total = 0;
    const int ret = find(world, key, &all, &total);
    *pin = NULL;
    if (ret != 0) return ret;
    nbytes = nbytes == SIZE_MAX ? total - (size_t) offset : nbytes;
    if (offset > total || nbytes > total - offset) return vczc_error_set(VCZC_ERR_CORRUPT, "beyond the end");
    if (key[0] == 'c' && world->nrequests < MAX_REQUESTS) {
        world->requests[world->nrequests].offset = offset;
        world->requests[world->nrequests].nbytes = nbytes;
        world->nrequests++;
    }
    *data = all + offset;
    *data_nbytes = nbytes;
    return 0;
}

static int size(void *user, const char *key, uint64_t *nbytes) {
    const uint8_t *all = NULL;
    size_t total = 0;
    const int ret = find(user, key, &all, &total);
    *nbytes = total;
    return ret;
}

static vczc_store_t *open_world(world_t *world) {
    const vczc_callbacks_t callbacks = {.struct_nbytes = sizeof(callbacks), .get = get, .size = size};
    vczc_store_t *store = NULL;
    return vczc_store_open_callbacks(&store, &callbacks, world, "world") == 0 ? store : NULL;
}

static bool asked(const world_t *world, int number, uint64_t offset, size_t nbytes) {
    return number < world->nrequests && world->requests[number].offset == offset &&
           world->requests[number].nbytes == nbytes;
}

static void test_what_is_asked_for(void) {
    world_t world;
    uint8_t out[NSHARDS * CHUNKS * CHUNK];
    vczc_array_t *array = NULL;
    make_world(&world, CODEC(BYTES));
    vczc_store_t *store = open_world(&world);
    REQUIRE(CHECK_EQ(vczc_array_open(&array, store, ""), 0));
    CHECK_EQ(vczc_array_info(array)->shards[0], CHUNKS * CHUNK);
    CHECK_EQ(vczc_array_info(array)->nchunks, NSHARDS * CHUNKS);
    /* One chunk: the index, and the chunk. */
    CHECK_EQ(vczc_array_read_block(array, &(int64_t){CHUNKS + 3}, out, CHUNK), 0);
    CHECK_EQ(out[1], CHUNKS * CHUNK + 3 * CHUNK + 1);
    CHECK_EQ(world.nrequests, 2);
    CHECK(asked(&world, 0, CHUNKS * CHUNK, (size_t) CHUNKS * 16) && asked(&world, 1, 3 * CHUNK, CHUNK));
    /* A part of the array with one thread: each index once, and the chunks in order. */
    const int64_t start = CHUNK + 1, stop = (CHUNKS + 1) * CHUNK, stride = 1;
    const vczc_selection_t selection = {&start, &stop, NULL, 1};
    world.nrequests = 0;
    CHECK_EQ(vczc_array_read_selection(array, &selection, out, &stride), 0);
    CHECK_EQ(out[0], start);
    CHECK_EQ(out[stop - start - 1], stop - 1);
    CHECK_EQ(world.nrequests, CHUNKS - 1 + 1 + 2);
    CHECK(asked(&world, 1, CHUNK, CHUNK) && asked(&world, CHUNKS + 1, 0, CHUNK));
    vczc_bytes_t stored;
    world.nrequests = 0;
    CHECK_EQ(vczc_array_stored(array, &(int64_t){2}, &stored), 0);
    CHECK_EQ(stored.nbytes, CHUNK);
    CHECK(memcmp(stored.data, world.shards[0] + 2 * CHUNK, CHUNK) == 0);
    CHECK_EQ(world.nrequests, 2);
    vczc_bytes_release(&stored);
    vczc_array_close(array);
    vczc_store_close(store);
}

#ifdef VCZI_TEST_FAULTS
/* Opening and reading, with each allocation failing in turn. */
static void check_no_memory(const char *codec) {
    world_t world;
    uint8_t out[CHUNKS * CHUNK];
    make_world(&world, codec);
    vczc_store_t *store = open_world(&world);
    int ret = VCZC_ERR_NO_MEMORY;
    for (long n = 1; n < 400 && ret != 0; n++) {
        vczc_array_t *array = NULL;
        vczi_test_fail_allocation(n);
        ret = vczc_array_open(&array, store, "");
        if (ret == 0) ret = vczc_array_read_block(array, &(int64_t){1}, out, sizeof(out));
        vczi_test_fail_allocation(0);
        CHECK(ret == 0 || ret == VCZC_ERR_NO_MEMORY);
        vczc_array_close(array);
    }
    CHECK_EQ(ret, 0);
    vczc_store_close(store);
}

static void test_no_memory(void) {
    check_no_memory(CODEC(BYTES));
    check_no_memory("{\"name\":\"transpose\",\"configuration\":{\"order\":[0]}}," CODEC(BYTES));
}
#endif

int main(void) {
    RUN(test_what_is_asked_for);
#ifdef VCZI_TEST_FAULTS
    RUN(test_no_memory);
#endif
    return check_result();
}
