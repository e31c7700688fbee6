/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Arrays through the public API: blocks, selections, text, stored bytes and errors, of stores made in memory. */
#include <stdlib.h>

#include <blosc.h>

#include "check.h"
#include "vczc.h"

#define MAX_ENTRIES 64

/* A store that is being made. */
typedef struct {
    vczc_entry_t entries[MAX_ENTRIES];
    char keys[MAX_ENTRIES][32];
    size_t nentries;
} maker_t;

static void add(maker_t *maker, const char *key, const void *data, size_t nbytes) {
    void *copy = malloc(nbytes == 0 ? 1 : nbytes);
    if (copy == NULL || maker->nentries == MAX_ENTRIES) abort();
    if (nbytes != 0) memcpy(copy, data, nbytes);
    snprintf(maker->keys[maker->nentries], sizeof(maker->keys[0]), "%s", key);
    maker->entries[maker->nentries] = (vczc_entry_t){maker->keys[maker->nentries], copy, nbytes};
    maker->nentries++;
}

static void add_text(maker_t *maker, const char *key, const char *text) {
    add(maker, key, text, strlen(text));
}

static vczc_store_t *finish(maker_t *maker) {
    vczc_store_t *store = NULL;
    CHECK_EQ(vczc_store_open_memory(&store, maker->entries, maker->nentries), 0);
    for (size_t i = 0; i < maker->nentries; i++) {
        free((void *) (uintptr_t) maker->entries[i].data);
    }
    return store;
}

/* What every value is: its place in the array. */
static int32_t value_at(int64_t i, int64_t j) {
    return (int32_t) (i * 1000 + j);
}

static int32_t swapped(int32_t value) {
    const uint32_t v = (uint32_t) value;
    return (int32_t) (v >> 24 | (v >> 8 & 0xFF00u) | (v << 8 & 0xFF0000u) | v << 24);
}

static bool host_is_big_endian(void) {
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 0;
}

enum { ROWS = 11, COLUMNS = 7, CHUNK_ROWS = 4, CHUNK_COLUMNS = 3, GRID_ROWS = 3, GRID_COLUMNS = 3, FILL = -9 };

typedef struct {
    char order;
    bool is_big_endian;
    bool is_blosc;
    int absent; /* number of the chunk that is left out, or -1 */
} form_t;

/* An int32 array "x" of ROWS x COLUMNS in one of its forms. */
static vczc_store_t *make_store(form_t form) {
    maker_t maker = {.nentries = 0};
    char text[400], key[32];
    add_text(&maker, ".zgroup", "{\"zarr_format\": 2}");
    snprintf(text, sizeof(text),
             "{\"zarr_format\": 2, \"shape\": [%d, %d], \"chunks\": [%d, %d], \"dtype\": \"%ci4\", \"order\": \"%c\","
             " \"compressor\": %s, \"filters\": null, \"fill_value\": %d}",
             ROWS, COLUMNS, CHUNK_ROWS, CHUNK_COLUMNS, form.is_big_endian ? '>' : '<', form.order,
             form.is_blosc ? "{\"id\": \"blosc\"}" : "null", FILL);
    add_text(&maker, "x/.zarray", text);
    add_text(&maker, "x/.zattrs", "{\"_ARRAY_DIMENSIONS\": [\"variants\", \"samples\"]}");
    for (int c = 0; c < GRID_ROWS * GRID_COLUMNS; c++) {
        int32_t chunk[CHUNK_ROWS * CHUNK_COLUMNS];
        uint8_t stored[sizeof(chunk) + BLOSC_MAX_OVERHEAD];
        for (int k = 0; k < CHUNK_ROWS * CHUNK_COLUMNS; k++) {
            const int i = form.order == 'C' ? k / CHUNK_COLUMNS : k % CHUNK_ROWS;
            const int j = form.order == 'C' ? k % CHUNK_COLUMNS : k / CHUNK_ROWS;
            chunk[k] = value_at(c / GRID_COLUMNS * CHUNK_ROWS + i, c % GRID_COLUMNS * CHUNK_COLUMNS + j);
            chunk[k] = form.is_big_endian != host_is_big_endian() ? swapped(chunk[k]) : chunk[k];
        }
        if (c == form.absent) continue;
        snprintf(key, sizeof(key), "x/%d.%d", c / GRID_COLUMNS, c % GRID_COLUMNS);
        if (form.is_blosc) {
            const int nbytes = blosc_compress_ctx(5, 1, 4, sizeof(chunk), chunk, stored, sizeof(stored), "zstd", 0, 1);
            add(&maker, key, stored, (size_t) nbytes);
        } else {
            add(&maker, key, chunk, sizeof(chunk));
        }
    }
    return finish(&maker);
}

static int32_t expected_at(form_t form, int64_t i, int64_t j) {
    const int64_t chunk = i / CHUNK_ROWS * GRID_COLUMNS + j / CHUNK_COLUMNS;
    return chunk == form.absent ? FILL : value_at(i, j);
}

/* Every block, into memory of its exact size. */
static void check_blocks(const vczc_array_t *array, form_t form) {
    for (int64_t a = 0; a < GRID_ROWS; a++) {
        for (int64_t b = 0; b < GRID_COLUMNS; b++) {
            int64_t coords[2] = {a, b}, shape[2] = {0, 0};
            CHECK_EQ(vczc_array_block_shape(array, coords, shape), 0);
            const size_t nitems = (size_t) (shape[0] * shape[1]);
            int32_t *out = malloc(nitems * 4);
            REQUIRE(out != NULL);
            CHECK_EQ(vczc_array_read_block(array, coords, out, nitems * 4), 0);
            for (size_t k = 0; k < nitems; k++) {
                const int64_t i = a * CHUNK_ROWS + (int64_t) k / shape[1];
                const int64_t j = b * CHUNK_COLUMNS + (int64_t) k % shape[1];
                if (!CHECK_EQ(out[k], expected_at(form, i, j))) break;
            }
            CHECK_EQ(vczc_array_read_block(array, coords, out, nitems * 4 - 1), VCZC_ERR_BUFFER);
            free(out);
        }
    }
}

/* Every box with every step up to 5, written backwards along the first axis, with threads. */
static void check_selections(const vczc_array_t *array, form_t form) {
    int32_t out[ROWS * COLUMNS];
    for (int64_t i0 = 0; i0 <= ROWS; i0++) {
        for (int64_t i1 = i0; i1 <= ROWS; i1++) {
            const int64_t j0 = i0 % COLUMNS, j1 = j0 + (COLUMNS - j0) * (i1 % 3) / 2;
            const int64_t start[2] = {i0, j0}, stop[2] = {i1, j1}, step[2] = {1 + i0 % 5, 1 + i1 % 4};
            const int64_t n0 = (i1 - i0 + step[0] - 1) / step[0], n1 = (j1 - j0 + step[1] - 1) / step[1];
            const int64_t strides[2] = {-4 * n1, 4};
            const vczc_selection_t selection = {start, stop, step, 1 + (int) (i0 % 3)};
            if (n0 * n1 == 0) {
                CHECK_EQ(vczc_array_read_selection(array, &selection, out, strides), 0);
                continue;
            }
            memset(out, 0x55, sizeof(out));
            int ret = vczc_array_read_selection(array, &selection, out + (n0 - 1) * n1, strides);
            if (!CHECK_EQ(ret, 0)) return;
            for (int64_t k = 0; k < n0 * n1; k++) {
                const int64_t i = i0 + (n0 - 1 - k / n1) * step[0], j = j0 + k % n1 * step[1];
                if (!CHECK_EQ(out[k], expected_at(form, i, j))) return;
            }
            if (n0 * n1 < ROWS * COLUMNS && !CHECK_EQ(out[n0 * n1], 0x55555555)) return;
        }
    }
}

static void test_every_form(void) {
    for (int n = 0; n < 16; n++) {
        const form_t form = {n & 1 ? 'F' : 'C', (n & 2) != 0, (n & 4) != 0, n & 8 ? 4 : -1};
        vczc_store_t *store = make_store(form);
        vczc_array_t *array = NULL;
        REQUIRE(store != NULL);
        REQUIRE(CHECK_EQ(vczc_array_open(&array, store, "x"), 0));
        vczc_store_close(store); /* the array holds it */
        check_blocks(array, form);
        check_selections(array, form);
        vczc_array_close(array);
    }
}

/* Two chunks of very many, which a long step finds without a look at those that it passes. */
static void test_long_steps(void) {
    maker_t maker = {.nentries = 0};
    vczc_array_t *array = NULL;
    int8_t out[4] = {0};
    add_text(&maker, ".zgroup", "{\"zarr_format\": 2}");
    add_text(&maker, "x/.zarray",
             "{\"zarr_format\": 2, \"shape\": [1000000000003], \"chunks\": [1], \"dtype\": \"|i1\", \"order\": \"C\","
             " \"compressor\": null, \"filters\": null, \"fill_value\": 7}");
    add(&maker, "x/2", "\x01", 1);
    add(&maker, "x/1000000000002", "\x02", 1);
    vczc_store_t *store = finish(&maker);
    REQUIRE(store != NULL);
    REQUIRE(CHECK_EQ(vczc_array_open(&array, store, "x"), 0));
    const int64_t start = 2, stop = 1000000000003, step = 500000000000, stride = 1;
    for (int nthreads = 1; nthreads <= 2; nthreads++) {
        const vczc_selection_t selection = {&start, &stop, &step, nthreads};
        CHECK_EQ(vczc_array_read_selection(array, &selection, out, &stride), 0);
        CHECK_MEM(out, "\x01\x07\x02\x00", 4);
    }
    vczc_array_close(array);
    vczc_store_close(store);
}

static void test_info(void) {
    vczc_store_t *store = make_store((form_t){'F', true, false, -1});
    vczc_array_t *array = NULL;
    REQUIRE(CHECK_EQ(vczc_array_open(&array, store, "/x/"), 0));
    const vczc_array_info_t *info = vczc_array_info(array);
    CHECK_EQ(info->ndim, 2);
    CHECK_EQ(info->dtype, VCZC_INT32);
    CHECK_EQ(info->itemsize, 4);
    CHECK_EQ(info->shape[0], ROWS);
    CHECK_EQ(info->chunks[1], CHUNK_COLUMNS);
    CHECK_EQ(info->grid[0], GRID_ROWS);
    CHECK_EQ(info->nchunks, GRID_ROWS * GRID_COLUMNS);
    CHECK_EQ(info->chunk_nbytes, CHUNK_ROWS * CHUNK_COLUMNS * 4);
    CHECK_EQ(info->order, 'F');
    CHECK_EQ(info->stored_byte_order, '>');
    CHECK_EQ(info->zarr_format, 2);
    CHECK_STR(info->path, "x");
    CHECK_EQ(info->fill_nbytes, 4);
    const int32_t fill = FILL;
    CHECK_MEM(info->fill, &fill, 4);
    REQUIRE(info->dims != NULL);
    CHECK_STR(info->dims[0], "variants");
    CHECK_STR(info->dims[1], "samples");
    CHECK_STR(vczc_array_node_info(array)->attributes, "{\"_ARRAY_DIMENSIONS\": [\"variants\", \"samples\"]}");
    vczc_array_close(array);
    vczc_store_close(store);
}

static void test_stored(void) {
    vczc_store_t *store = make_store((form_t){'C', false, false, 4});
    vczc_array_t *array = NULL;
    vczc_bytes_t bytes;
    int64_t nchunks = 0, nbytes = 0;
    const int64_t there[2] = {0, 1}, absent[2] = {1, 1}, outside[2] = {0, 3};
    char key[8];
    REQUIRE(CHECK_EQ(vczc_array_open(&array, store, "x"), 0));
    CHECK_EQ(vczc_array_stored(array, there, &bytes), 0);
    CHECK_EQ(bytes.nbytes, CHUNK_ROWS * CHUNK_COLUMNS * 4);
    vczc_bytes_release(&bytes);
    CHECK(bytes.data == NULL);
    CHECK_EQ(vczc_array_stored(array, absent, &bytes), VCZC_ERR_NOT_FOUND);
    CHECK_EQ(vczc_array_stored(array, outside, &bytes), VCZC_ERR_INDEX);
    CHECK_EQ(vczc_array_count_stored(array, &nchunks, &nbytes), 0);
    CHECK_EQ(nchunks, GRID_ROWS * GRID_COLUMNS - 1);
    CHECK_EQ(nbytes, (GRID_ROWS * GRID_COLUMNS - 1) * CHUNK_ROWS * CHUNK_COLUMNS * 4);
    CHECK_EQ(vczc_array_chunk_key(array, there, key, sizeof(key)), 0);
    CHECK_STR(key, "x/0.1");
    CHECK_EQ(vczc_array_chunk_key(array, there, key, 5), VCZC_ERR_BUFFER);
    CHECK_EQ(vczc_prefetch_block(array, there), 0);
    CHECK_EQ(vczc_prefetch_block(array, outside), VCZC_ERR_INDEX);
    vczc_array_close(array);
    vczc_store_close(store);
}

static void test_missing_is_error(void) {
    vczc_store_t *store = make_store((form_t){'C', false, true, 4});
    vczc_array_t *array = NULL;
    vczc_error_t error;
    int32_t out[CHUNK_ROWS * CHUNK_COLUMNS];
    const int64_t there[2] = {0, 1}, absent[2] = {1, 1};
    CHECK_EQ(vczc_array_open_flags(&array, store, "x", 1u << 20, 0), VCZC_ERR_ARGUMENT);
    REQUIRE(CHECK_EQ(vczc_array_open_flags(&array, store, "x", VCZC_MISSING_IS_ERROR, 0), 0));
    CHECK_EQ(vczc_array_read_block(array, there, out, sizeof(out)), 0);
    CHECK_EQ(vczc_array_read_block(array, absent, out, sizeof(out)), VCZC_ERR_MISSING_CHUNK);
    vczc_error_last(&error);
    CHECK_EQ(error.code, VCZC_ERR_MISSING_CHUNK);
    CHECK_STR(error.array, "x");
    CHECK_STR(error.key, "x/1.1");
    REQUIRE(CHECK_EQ(error.ndim, 2));
    CHECK_EQ(error.coords[0], 1);
    CHECK_EQ(error.coords[1], 1);
    CHECK(strlen(vczc_error_detail()) > strlen(error.reason));
    vczc_array_close(array);
    vczc_store_close(store);
}

/* The error is that of the first bad chunk, whichever thread found which. */
static void test_first_error_counts(void) {
    for (int round = 0; round < 50; round++) {
        maker_t maker = {.nentries = 0};
        add_text(&maker, ".zarray",
                 "{\"zarr_format\": 2, \"shape\": [32], \"chunks\": [1], \"dtype\": \"|u1\", \"order\": \"C\","
                 " \"compressor\": null, \"filters\": null, \"fill_value\": 0}");
        for (int i = 0; i < 32; i++) {
            char key[8];
            snprintf(key, sizeof(key), "%d", i);
            add(&maker, key, "ab", i == 9 || i == 20 || i == 31 ? 2 : 1);
        }
        vczc_store_t *store = finish(&maker);
        vczc_array_t *array = NULL;
        vczc_error_t error;
        uint8_t out[32];
        const int64_t start[1] = {0}, stop[1] = {32}, strides[1] = {1};
        const vczc_selection_t selection = {start, stop, NULL, 4};
        REQUIRE(CHECK_EQ(vczc_array_open(&array, store, ""), 0));
        CHECK_EQ(vczc_array_read_selection(array, &selection, out, strides), VCZC_ERR_CORRUPT);
        vczc_error_last(&error);
        REQUIRE(CHECK_EQ(error.ndim, 1));
        CHECK_EQ(error.coords[0], 9);
        CHECK_STR(error.key, "9");
        vczc_array_close(array);
        vczc_store_close(store);
    }
}

static void test_arguments(void) {
    vczc_store_t *store = make_store((form_t){'C', false, false, -1});
    vczc_array_t *array = NULL;
    vczc_node_t *node = NULL;
    int32_t out[4];
    const int64_t start[2] = {0, 0}, stop[2] = {ROWS + 1, 1}, step[2] = {0, 1}, one[2] = {1, 1}, strides[2] = {4, 4};
    const vczc_selection_t outside = {start, stop, NULL, 0}, standing = {start, one, step, 0},
                           null = {NULL, one, one, 0};
    CHECK_EQ(vczc_array_open(&array, NULL, "x"), VCZC_ERR_ARGUMENT);
    CHECK_EQ(vczc_array_open(NULL, store, "x"), VCZC_ERR_ARGUMENT);
    CHECK_EQ(vczc_array_open(&array, store, "y"), VCZC_ERR_NO_NODE);
    CHECK(array == NULL);
    CHECK_EQ(vczc_array_open(&array, store, ""), VCZC_ERR_NO_NODE); /* a group */
    CHECK_EQ(vczc_node_open(&node, store, "x/0.0"), VCZC_ERR_NO_NODE);
    REQUIRE(CHECK_EQ(vczc_array_open(&array, store, "x"), 0));
    CHECK_EQ(vczc_array_read_selection(array, &outside, out, strides), VCZC_ERR_INDEX);
    CHECK_EQ(vczc_array_read_selection(array, &standing, out, strides), VCZC_ERR_ARGUMENT);
    CHECK_EQ(vczc_array_read_selection(array, &null, out, strides), VCZC_ERR_ARGUMENT);
    CHECK_EQ(vczc_array_read_region(array, start, one, NULL, strides), VCZC_ERR_ARGUMENT);
    CHECK_EQ(vczc_array_read_region(array, start, one, out, NULL), 0);
    CHECK_EQ(vczc_array_read_region(array, start, one, out, strides), 0);
    CHECK_EQ(vczc_array_read_block(array, NULL, out, sizeof(out)), VCZC_ERR_ARGUMENT);
    vczc_array_close(array);
    CHECK_EQ(vczc_array_open_flags(&array, store, "x", 0, -1), VCZC_ERR_ARGUMENT);
    vczc_array_close(NULL);
    vczc_store_close(NULL);
    vczc_store_close(store);
}

static void test_chunk_ceiling(void) {
    vczc_store_t *store = make_store((form_t){'C', false, false, -1});
    vczc_array_t *array = NULL;
    CHECK_EQ(vczc_array_open_flags(&array, store, "x", 0, CHUNK_ROWS * CHUNK_COLUMNS * 4 - 1), VCZC_ERR_METADATA);
    CHECK(array == NULL);
    CHECK_EQ(vczc_array_open_flags(&array, store, "x", 0, CHUNK_ROWS * CHUNK_COLUMNS * 4), 0);
    vczc_array_close(array);
    vczc_store_close(store);
}

/* ---- Parts of chunks of many Blosc blocks ---- */

enum { WIDE_ROWS = 70, WIDE_COLUMNS = 1100, WIDE_CHUNK_ROWS = 32, WIDE_CHUNK_COLUMNS = 500, WIDE_BLOCK_NBYTES = 4096 };

static uint16_t wide_at(int64_t i, int64_t j) {
    return (uint16_t) ((i * 131 + j * 7) % 251 + (j % 97 == 0 ? i << 8 : 0));
}

static vczc_array_t *open_wide(int shuffle, const char *codec) {
    maker_t maker = {.nentries = 0};
    vczc_array_t *array = NULL;
    static uint16_t chunk[WIDE_CHUNK_ROWS * WIDE_CHUNK_COLUMNS];
    static uint8_t stored[sizeof(chunk) + BLOSC_MAX_OVERHEAD];
    char key[16];
    add_text(&maker, ".zarray",
             "{\"zarr_format\": 2, \"shape\": [70, 1100], \"chunks\": [32, 500], \"dtype\": \"<u2\", \"order\": \"C\","
             " \"compressor\": {\"id\": \"blosc\"}, \"filters\": null, \"fill_value\": 0}");
    for (int c = 0; c < 9; c++) {
        for (int k = 0; k < WIDE_CHUNK_ROWS * WIDE_CHUNK_COLUMNS; k++) {
            const uint16_t value = wide_at(c / 3 * WIDE_CHUNK_ROWS + k / WIDE_CHUNK_COLUMNS,
                                           c % 3 * WIDE_CHUNK_COLUMNS + k % WIDE_CHUNK_COLUMNS);
            const uint8_t little[2] = {(uint8_t) value, (uint8_t) (value >> 8)};
            memcpy(&chunk[k], little, 2);
        }
        const int nbytes = blosc_compress_ctx(5, shuffle, 2, sizeof(chunk), chunk, stored, sizeof(stored), codec,
                                              WIDE_BLOCK_NBYTES, 1);
        snprintf(key, sizeof(key), "%d.%d", c / 3, c % 3);
        add(&maker, key, stored, (size_t) nbytes);
    }
    vczc_store_t *store = finish(&maker);
    CHECK_EQ(vczc_array_open(&array, store, ""), 0);
    vczc_store_close(store);
    return array;
}

static uint32_t random_state = 7;

static int64_t random_below(int64_t limit) {
    random_state = random_state * 1664525u + 1013904223u;
    return (int64_t) (random_state >> 8) % limit;
}

/* One selection, in memory of its exact size. */
static bool selection_is_right(const vczc_array_t *array, const int64_t *start, const int64_t *stop,
                               const int64_t *step) {
    const int64_t n0 = (stop[0] - start[0] + step[0] - 1) / step[0], n1 = (stop[1] - start[1] + step[1] - 1) / step[1];
    const int64_t strides[2] = {2 * n1, 2};
    const vczc_selection_t selection = {start, stop, step, 1 + (int) random_below(2)};
    uint16_t *out = malloc((size_t) (n0 * n1) * 2);
    if (out == NULL) return false;
    bool is_right = CHECK_EQ(vczc_array_read_selection(array, &selection, out, strides), 0);
    for (int64_t k = 0; k < n0 * n1 && is_right; k++) {
        is_right = CHECK_EQ(out[k], wide_at(start[0] + k / n1 * step[0], start[1] + k % n1 * step[1]));
    }
    free(out);
    return is_right;
}

/* Rows in any order, narrow and wide boxes, short and long steps: what is kept never shows. */
static void test_parts_of_chunks(void) {
    static const char *const codecs[] = {"zstd", "lz4", "blosclz", "zlib"};
    for (int form = 0; form < 12; form++) {
        vczc_array_t *array = open_wide(form % 3, codecs[form / 3]);
        REQUIRE(array != NULL);
        for (int round = 0; round < 300; round++) {
            int64_t start[2], stop[2], step[2] = {1, 1};
            start[0] = random_below(WIDE_ROWS);
            start[1] = random_below(WIDE_COLUMNS);
            stop[0] = start[0] + 1 + (round % 3 == 0 ? 0 : random_below(WIDE_ROWS - start[0]));
            stop[1] = start[1] + 1 + random_below(WIDE_COLUMNS - start[1]);
            if (round % 4 == 0) {
                start[1] = 0;
                stop[1] = WIDE_COLUMNS;
            }
            if (round % 5 == 0) {
                step[0] = 1 + random_below(40);
                step[1] = 1 + random_below(600);
            }
            if (!selection_is_right(array, start, stop, step)) {
                fprintf(stderr, "    form %d, round %d\n", form, round);
                vczc_array_close(array);
                return;
            }
        }
        vczc_array_close(array);
    }
}

/* ---- Text ---- */

enum { TEXTS = 5, TEXT_CHUNK = 2 };
static const char *const texts[TEXTS] = {"alpha", "", "b", "\xC3\xA9t\xC3\xA9", "end"};

static void write_u32le(uint8_t *out, uint32_t value) {
    for (int i = 0; i < 4; i++) {
        out[i] = (uint8_t) (value >> 8 * i);
    }
}

static size_t write_vlen(uint8_t *out, const char *const *items, int count, int nitems) {
    size_t n = 0;
    write_u32le(out, (uint32_t) nitems);
    n += 4;
    for (int i = 0; i < nitems; i++) {
        const char *item = i < count ? items[i] : "";
        const uint32_t nbytes = (uint32_t) strlen(item);
        write_u32le(out + n, nbytes);
        memcpy(out + n + 4, item, nbytes);
        n += 4 + nbytes;
    }
    return n;
}

static vczc_array_t *open_texts(const uint8_t *chunk_1, size_t chunk_1_nbytes) {
    maker_t maker = {.nentries = 0};
    vczc_array_t *array = NULL;
    uint8_t chunk[100];
    add_text(&maker, ".zarray",
             "{\"zarr_format\": 2, \"shape\": [5], \"chunks\": [2], \"dtype\": \"|O\", \"order\": \"C\","
             " \"compressor\": null, \"filters\": [{\"id\": \"vlen-utf8\"}], \"fill_value\": \"NA\"}");
    add(&maker, "0", chunk, write_vlen(chunk, texts, 2, TEXT_CHUNK));
    if (chunk_1 != NULL) add(&maker, "1", chunk_1, chunk_1_nbytes);
    add(&maker, "2", chunk, write_vlen(chunk, texts + 4, 1, TEXT_CHUNK));
    vczc_store_t *store = finish(&maker);
    CHECK_EQ(vczc_array_open(&array, store, ""), 0);
    vczc_store_close(store);
    return array;
}

static bool text_is(const vczc_strings_t *strings, int64_t i, const char *expected) {
    const size_t nbytes = (size_t) (strings->offsets[i + 1] - strings->offsets[i]);
    return nbytes == strlen(expected) && memcmp(strings->data + strings->offsets[i], expected, nbytes) == 0;
}

static void test_strings(void) {
    uint8_t chunk[100];
    vczc_array_t *array = open_texts(chunk, write_vlen(chunk, texts + 2, 2, TEXT_CHUNK));
    vczc_strings_t strings;
    REQUIRE(array != NULL);
    CHECK_EQ(vczc_array_info(array)->dtype, VCZC_VLEN_UTF8);
    for (int64_t c = 0; c < 3; c++) {
        REQUIRE(CHECK_EQ(vczc_array_read_strings(array, &c, &strings), 0));
        CHECK_EQ(strings.nitems, c == 2 ? 1 : 2); /* trimmed */
        CHECK(text_is(&strings, 0, texts[c * 2]));
        CHECK_EQ(strings.offsets[0], 0);
        CHECK_EQ(strings.offsets[strings.nitems], strings.data_nbytes);
        vczc_strings_clear(&strings);
    }
    for (int64_t start = 0; start <= TEXTS; start++) {
        for (int64_t stop = start; stop <= TEXTS; stop++) {
            const int64_t step = 1 + (start + stop) % 3;
            const vczc_selection_t selection = {&start, &stop, &step, 2};
            REQUIRE(CHECK_EQ(vczc_array_read_strings_selection(array, &selection, &strings), 0));
            CHECK_EQ(strings.nitems, (stop - start + step - 1) / step);
            for (int64_t i = 0; i < strings.nitems; i++) {
                CHECK(text_is(&strings, i, texts[start + i * step]));
            }
            vczc_strings_clear(&strings);
        }
    }
    vczc_strings_clear(&strings); /* twice is nothing */
    vczc_array_close(array);
}

static void test_strings_absent_chunk(void) {
    vczc_array_t *array = open_texts(NULL, 0);
    vczc_strings_t strings;
    const int64_t c = 1;
    REQUIRE(array != NULL);
    REQUIRE(CHECK_EQ(vczc_array_read_strings(array, &c, &strings), 0));
    CHECK(text_is(&strings, 0, "NA"));
    CHECK(text_is(&strings, 1, "NA"));
    CHECK_EQ(strings.max_item_nbytes, 2);
    vczc_strings_clear(&strings);
    vczc_array_close(array);
}

static void test_strings_damaged(void) {
    uint8_t chunk[100];
    const size_t nbytes = write_vlen(chunk, texts + 2, 2, TEXT_CHUNK);
    for (size_t cut = 0; cut < nbytes; cut++) {
        vczc_array_t *array = open_texts(chunk, cut);
        vczc_strings_t strings;
        const int64_t c = 1;
        REQUIRE(array != NULL);
        CHECK_EQ(vczc_array_read_strings(array, &c, &strings), VCZC_ERR_CORRUPT);
        CHECK(strings.data == NULL && strings.offsets == NULL);
        CHECK_EQ(
            vczc_array_read_strings_selection(array, &(vczc_selection_t){.start = &c, .stop = &(int64_t){5}}, &strings),
            VCZC_ERR_CORRUPT);
        vczc_array_close(array);
    }
}

static void test_text_is_no_number(void) {
    vczc_array_t *array = open_texts(NULL, 0);
    vczc_store_t *store = make_store((form_t){'C', false, false, -1});
    vczc_array_t *numbers = NULL;
    vczc_strings_t strings;
    char out[16];
    const int64_t c[2] = {0, 0};
    REQUIRE(array != NULL);
    REQUIRE(CHECK_EQ(vczc_array_open(&numbers, store, "x"), 0));
    CHECK_EQ(vczc_array_read_block(array, c, out, sizeof(out)), VCZC_ERR_ARGUMENT);
    CHECK_EQ(vczc_array_read_strings(numbers, c, &strings), VCZC_ERR_ARGUMENT);
    vczc_array_close(array);
    vczc_array_close(numbers);
    vczc_store_close(store);
}

/* Whatever its codecs are: the bytes are there, and nothing else. */
static void test_stored_only(void) {
    maker_t maker = {0};
    add_text(&maker, ".zgroup", "{\"zarr_format\": 2}");
    add_text(
        &maker, "x/.zarray",
        "{\"zarr_format\": 2, \"shape\": [5], \"chunks\": [2], \"dtype\": \"|u1\", \"fill_value\": 0, \"order\": \"C\","
        " \"filters\": null, \"compressor\": {\"id\": \"frobnicate\"}}");
    add_text(&maker, "x/1", "abc");
    vczc_store_t *store = finish(&maker);
    vczc_array_t *array = NULL;
    vczc_bytes_t bytes;
    int64_t c = 1, nchunks = 0;
    char out[8];
    CHECK_EQ(vczc_array_open(&array, store, "x"), VCZC_ERR_UNSUPPORTED);
    CHECK_EQ(vczc_array_open_flags(&array, store, "x", 1u << 7, 0), VCZC_ERR_ARGUMENT);
    CHECK_EQ(vczc_array_open_flags(&array, store, "x", VCZC_STORED_ONLY, 0), 0);
    REQUIRE(array != NULL);
    CHECK_EQ(vczc_array_info(array)->nchunks, 3);
    REQUIRE(CHECK_EQ(vczc_array_stored(array, &c, &bytes), 0));
    CHECK(bytes.nbytes == 3 && memcmp(bytes.data, "abc", 3) == 0);
    vczc_bytes_release(&bytes);
    CHECK_EQ(vczc_array_count_stored(array, &nchunks, NULL), 0);
    CHECK_EQ(nchunks, 1);
    CHECK_EQ(vczc_array_read_block(array, &c, out, sizeof(out)), VCZC_ERR_UNSUPPORTED);
    CHECK_EQ(vczc_array_read_region(array, &c, &(int64_t){2}, out, &(int64_t){1}), VCZC_ERR_UNSUPPORTED);
    vczc_array_close(array);
    vczc_store_close(store);
}

int main(void) {
    RUN(test_stored_only);
    RUN(test_every_form);
    RUN(test_long_steps);
    RUN(test_info);
    RUN(test_stored);
    RUN(test_missing_is_error);
    RUN(test_first_error_counts);
    RUN(test_arguments);
    RUN(test_chunk_ceiling);
    RUN(test_parts_of_chunks);
    RUN(test_strings);
    RUN(test_strings_absent_chunk);
    RUN(test_strings_damaged);
    RUN(test_text_is_no_number);
    return check_result();
}
