/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Chunks that are read in pieces, out of an archive in a file: every box of them is right, also of a frame that is a
 * copy, of one whose streams are split, and of a chunk without codec. */
#include <blosc.h>

#include "bytes.h"
#include "check.h"
#include "make_zip.h"
#include "vczc.h"

enum { ROWS = 500, COLUMNS = 200, NITEMS = ROWS * COLUMNS };

static int32_t items[NITEMS];

/* Items of `nbits` random bits: the fewer, the smaller a chunk of them. */
static void make_items(int nbits) {
    uint32_t state = 1;
    for (int i = 0; i < NITEMS; i++) {
        state = state * 1664525u + 1013904223u;
        items[i] = (int32_t) (state >> (32 - nbits));
    }
}

/* The array "x" of one chunk; `shuffle` is -1 for a chunk without codec. */
static void write_archive(const char *path, int level, int shuffle, const char *codec, size_t block_nbytes) {
    static uint8_t stored[sizeof(items) + BLOSC_MAX_OVERHEAD];
    char document[300];
    (void) snprintf(document, sizeof(document),
                    "{\"zarr_format\": 2, \"shape\": [%d, %d], \"chunks\": [%d, %d], \"dtype\": \"%ci4\", \"order\": "
                    "\"C\", \"compressor\": %s, \"filters\": null, \"fill_value\": 0}",
                    ROWS, COLUMNS, ROWS, COLUMNS, vczi_host_is_big_endian() ? '>' : '<',
                    shuffle < 0 ? "null" : "{\"id\": \"blosc\"}");
    zip_begin();
    zip_add(".zgroup", "{\"zarr_format\": 2}", 0);
    zip_add("x/.zarray", document, 0);
    if (shuffle < 0) {
        zip_add_named("x/0.0", 5, items, sizeof(items), 0);
    } else {
        const int nbytes =
            blosc_compress_ctx(level, shuffle, 4, sizeof(items), items, stored, sizeof(stored), codec, block_nbytes, 1);
        REQUIRE(nbytes > (64 << 10)); /* smaller ones are read whole */
        zip_add_named("x/0.0", 5, stored, (size_t) nbytes, 0);
    }
    zip_finish("");
    (void) remove(path);
    FILE *file = fopen(path, "wb");
    REQUIRE(file != NULL);
    CHECK_EQ(fwrite(zip.bytes, 1, zip.nbytes, file), zip.nbytes);
    CHECK_EQ(fclose(file), 0);
}

static void check_box(const vczc_array_t *array, const int64_t *start, const int64_t *stop, const int64_t *step,
                      int nthreads) {
    static int32_t out[NITEMS];
    const int64_t shape[2] = {(stop[0] - start[0] - 1) / step[0] + 1, (stop[1] - start[1] - 1) / step[1] + 1};
    const int64_t strides[2] = {shape[1] * 4, 4};
    const vczc_selection_t selection = {.start = start, .stop = stop, .step = step, .nthreads = nthreads};
    bool is_right = true;
    if (!CHECK_EQ(vczc_array_read_selection(array, &selection, out, strides), 0)) {
        fprintf(stderr, "    %s\n", vczc_error_detail());
        return;
    }
    for (int64_t i = 0; i < shape[0]; i++) {
        for (int64_t j = 0; j < shape[1]; j++) {
            const int64_t at = (start[0] + i * step[0]) * COLUMNS + start[1] + j * step[1];
            is_right = is_right && out[i * shape[1] + j] == items[at];
        }
    }
    CHECK(is_right);
}

static void check_all_boxes(const char *path) {
    static int32_t out[NITEMS];
    static const int64_t boxes[][6] = {
        {0, ROWS, 0, COLUMNS, 1, 1},
        {0, 1, 0, COLUMNS, 1, 1},
        {499, 500, 0, COLUMNS, 1, 1},
        {123, 140, 7, 8, 1, 1},
        {0, ROWS, 0, COLUMNS, 3, 7},
        {1, ROWS, 100, 101, 50, 1},
        {0, 300, 0, COLUMNS, 1, 1},
        {250, 251, 3, 150, 1, 2},
        /* Steps that no axis is as long as: each gives the first item. */
        {7, ROWS, 3, COLUMNS, INT64_MAX, 1},
        {7, ROWS, 3, COLUMNS, 1, INT64_MAX - 1},
        {499, ROWS, 0, COLUMNS, (int64_t) 1 << 60, 2},
        {0, ROWS, 0, COLUMNS, (int64_t) 1 << 31, ROWS},
    };
    const int64_t coords[2] = {0, 0};
    vczc_store_t *store = NULL;
    vczc_array_t *array = NULL;
    REQUIRE(vczc_store_open(&store, path, 0) == 0);
    for (size_t k = 0; k < sizeof(boxes) / sizeof(boxes[0]); k++) {
        const int64_t *box = boxes[k];
        const int64_t start[2] = {box[0], box[2]}, stop[2] = {box[1], box[3]}, step[2] = {box[4], box[5]};
        REQUIRE(vczc_array_open(&array, store, "x") == 0); /* anew: nothing is kept of the last box */
        check_box(array, start, stop, step, 1);
        check_box(array, start, stop, step, 2);
        vczc_array_close(array);
    }
    REQUIRE(vczc_array_open(&array, store, "x") == 0);
    CHECK_EQ(vczc_array_read_block(array, coords, out, sizeof(out)), 0);
    CHECK_MEM(out, items, sizeof(items));
    vczc_array_close(array);
    vczc_store_close(store);
}

static const char *path;

static void test_without_codec(void) {
    make_items(32);
    write_archive(path, 0, -1, "", 0);
    check_all_boxes(path);
}

static void test_copies(void) {
    make_items(32);
    write_archive(path, 0, 1, "zstd", 0);
    check_all_boxes(path);
}

static void test_blocks(void) {
    static const char *const codecs[] = {"zstd", "lz4", "blosclz", "zlib"};
    for (int i = 0; i < 4; i++) {
        for (int shuffle = 0; shuffle <= 2; shuffle++) {
            make_items(12 + 4 * (i % 2));
            write_archive(path, 3, shuffle, codecs[i], shuffle == 1 ? 4096 : 40000);
            check_all_boxes(path);
        }
    }
}

int main(void) {
    char name[64];
    (void) snprintf(name, sizeof(name), "vczc_test_large_%llx.zip", (unsigned long long) (uintptr_t) &name);
    path = name;
    RUN(test_without_codec);
    RUN(test_copies);
    RUN(test_blocks);
    (void) remove(name);
    return check_result();
}
