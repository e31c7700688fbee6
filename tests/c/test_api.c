/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* What vczc.h says of all functions: NULL for a handle, and for strides. */
#include <math.h>

#include "check.h"
#include "vczc.h"

#define ARRAY_OF(shape, chunks, dtype)                                                                                 \
    "{\"zarr_format\": 2, \"shape\": " shape ", \"chunks\": " chunks ", \"dtype\": \"" dtype                           \
    "\", \"compressor\": null, \"filters\": null, \"fill_value\": 1, \"order\": \"C\"}"

/* An array at the root of a store; its chunks are absent, but for the first one where `chunk` is given. */
static vczc_array_t *open_alone(const char *document, const char *key, const void *chunk, size_t chunk_nbytes) {
    const vczc_entry_t entries[] = {{".zarray", document, strlen(document)}, {key, chunk, chunk_nbytes}};
    vczc_store_t *store = NULL;
    vczc_array_t *array = NULL;
    CHECK_EQ(vczc_store_open_memory(&store, entries, chunk == NULL ? 1 : 2), 0);
    CHECK_EQ(vczc_array_open(&array, store, ""), 0);
    vczc_store_close(store);
    return array;
}

static void what_looks_at_a_handle_takes_null(void) {
    CHECK_EQ(vczc_store_kind(NULL), 0);
    CHECK(vczc_store_location(NULL) == NULL);
    CHECK(vczc_store_prefix(NULL) == NULL);
    CHECK(vczc_node_info(NULL) == NULL);
    CHECK(vczc_array_info(NULL) == NULL);
    CHECK(vczc_array_node(NULL) == NULL);
    CHECK(vczc_array_node_info(NULL) == NULL);
    CHECK_EQ(vczc_samples_count(NULL), 0);
    CHECK(vczc_samples_id(NULL, 0) == NULL);
    CHECK_EQ(vczc_regions_ncontigs(NULL), 0);
    CHECK(vczc_regions_contig(NULL, 0) == NULL);
    vczc_error_last(NULL);
}

static void what_ends_something_takes_null(void) {
    vczc_bytes_t bytes = {NULL, 0, NULL, NULL};
    vczc_strings_t strings = {0, NULL, NULL, 0, 0};
    vczc_store_close(NULL);
    vczc_node_close(NULL);
    vczc_array_close(NULL);
    vczc_samples_close(NULL);
    vczc_regions_close(NULL);
    vczc_text_free(NULL);
    vczc_rows_free(NULL);
    vczc_buffer_free(NULL, 5);
    vczc_bytes_release(NULL);
    vczc_bytes_release(&bytes);
    vczc_strings_clear(NULL);
    vczc_strings_clear(&strings);
}

static int tell_key(void *user, const char *key, size_t key_nbytes) {
    (void) user;
    (void) key;
    (void) key_nbytes;
    return 0;
}

static int tell_child(void *user, const char *name, size_t name_nbytes, int kind) {
    (void) kind;
    return tell_key(user, name, name_nbytes);
}

/* Refused, and told why. */
#define CHECK_REFUSED(call)                                                                                            \
    do {                                                                                                               \
        vczc_error_set(VCZC_ERR_INTERNAL, "");                                                                         \
        CHECK_EQ(call, VCZC_ERR_ARGUMENT);                                                                             \
        CHECK(strstr(vczc_error_detail(), "NULL") != NULL);                                                            \
        /* It is called by its name in vczc.h. */                                                                      \
        CHECK(strstr(vczc_error_detail(), "an argument") == NULL && strstr(vczc_error_detail(), "the ") == NULL);      \
    } while (0)

static void a_store_that_is_null_is_refused(void) {
    static uint8_t place[1];
    vczc_store_t *store = NULL, *const other = (vczc_store_t *) place; /* never looked at */
    vczc_node_t *node = NULL;
    vczc_array_t *array = NULL;
    vczc_samples_t *samples = NULL;
    vczc_regions_t *regions = NULL;
    vczc_bytes_t bytes;
    uint64_t nbytes = 0;
    CHECK_REFUSED(vczc_store_open(NULL, "x", 0));
    CHECK_REFUSED(vczc_store_open(&store, NULL, 0));
    CHECK_REFUSED(vczc_store_open_memory(NULL, NULL, 0));
    CHECK_REFUSED(vczc_store_open_memory(&store, NULL, 1));
    CHECK_REFUSED(vczc_store_open_zip_memory(NULL, "", 0, 0));
    CHECK_REFUSED(vczc_store_open_zip_memory(&store, NULL, 1, 0));
    CHECK_REFUSED(vczc_store_open_callbacks(&store, NULL, NULL, "x"));
    CHECK_REFUSED(vczc_store_get(NULL, "x", &bytes));
    CHECK(bytes.data == NULL && bytes.store == NULL);
    CHECK_REFUSED(vczc_store_get(other, NULL, &bytes));
    CHECK_REFUSED(vczc_store_get(other, "x", NULL));
    CHECK_REFUSED(vczc_store_size(NULL, "x", &nbytes));
    CHECK_REFUSED(vczc_store_list(NULL, "", tell_key, NULL));
    CHECK_REFUSED(vczc_node_open(&node, NULL, ""));
    CHECK_REFUSED(vczc_node_open(NULL, other, ""));
    CHECK_REFUSED(vczc_array_open(&array, NULL, ""));
    CHECK_REFUSED(vczc_array_open(&array, other, NULL));
    CHECK_REFUSED(vczc_samples_open(&samples, NULL, ""));
    CHECK_REFUSED(vczc_regions_open(&regions, NULL, ""));
    CHECK_REFUSED(vczc_set_allocator(NULL));
}

static void another_handle_that_is_null_is_refused(void) {
    const int64_t coords[1] = {0};
    const vczc_selection_t selection = {coords, coords, NULL, 0};
    const vczc_interval_t one = {0, 1, 2};
    vczc_interval_t interval = {7, 8, 9};
    vczc_rows_t rows[1], *ranges = rows;
    vczc_strings_t strings;
    vczc_bytes_t bytes;
    size_t nranges = 7;
    int64_t number = 0;
    double real = 0;
    char key[9], *text = key;
    int type = 0;
    memset(&strings, 1, sizeof(strings)); /* outputs that hold anything, as those on a stack do */
    memset(&bytes, 1, sizeof(bytes));
    CHECK_REFUSED(vczc_node_children(NULL, tell_child, NULL));
    CHECK_REFUSED(vczc_node_attr_type(NULL, "x", &type));
    CHECK_REFUSED(vczc_node_attr_int(NULL, "x", &number));
    CHECK_REFUSED(vczc_node_attr_double(NULL, "x", &real));
    CHECK_REFUSED(vczc_node_attr_text(NULL, "x", &text, NULL));
    CHECK(text == NULL);
    text = key;
    CHECK_REFUSED(vczc_node_attr_json(NULL, "x", &text, NULL));
    CHECK(text == NULL);
    CHECK_REFUSED(vczc_node_attr_keys(NULL, tell_key, NULL));
    CHECK_REFUSED(vczc_array_block_shape(NULL, coords, &number));
    CHECK_REFUSED(vczc_array_read_block(NULL, coords, key, sizeof(key)));
    CHECK_REFUSED(vczc_array_read_region(NULL, coords, coords, key, coords));
    CHECK_REFUSED(vczc_array_read_selection(NULL, &selection, key, NULL));
    CHECK_REFUSED(vczc_array_read_strings(NULL, coords, &strings));
    CHECK(strings.data == NULL && strings.offsets == NULL && strings.nitems == 0);
    memset(&strings, 1, sizeof(strings));
    CHECK_REFUSED(vczc_array_read_strings_selection(NULL, &selection, &strings));
    CHECK(strings.data == NULL && strings.offsets == NULL && strings.nitems == 0);
    CHECK_REFUSED(vczc_array_stored(NULL, coords, &bytes));
    CHECK(bytes.data == NULL && bytes.pin == NULL && bytes.store == NULL);
    CHECK_REFUSED(vczc_array_chunk_key(NULL, coords, key, sizeof(key)));
    CHECK_REFUSED(vczc_array_count_stored(NULL, &number, NULL));
    CHECK_REFUSED(vczc_prefetch_block(NULL, coords));
    CHECK_REFUSED(vczc_samples_find(NULL, "x", &number));
    CHECK_EQ(number, -1);
    CHECK_REFUSED(vczc_samples_find(NULL, "x", NULL));
    CHECK_REFUSED(vczc_regions_parse(NULL, "x", &interval));
    CHECK(interval.contig == 0 && interval.start == 0 && interval.stop == 0);
    CHECK_REFUSED(vczc_regions_parse(NULL, "x", NULL));
    CHECK_REFUSED(vczc_regions_find(NULL, "x", 0, &ranges, &nranges));
    CHECK(ranges == NULL && nranges == 0);
    ranges = rows;
    CHECK_REFUSED(vczc_regions_find_intervals(NULL, &one, 1, 0, &ranges, &nranges));
    CHECK(ranges == NULL && nranges == 0);
}

/* ---- Strides ---- */

static void strides_may_be_null(void) {
    enum { A = 4, B = 3, C = 5, NITEMS = A * B * C };
    int16_t stored[NITEMS], packed[NITEMS + 1], placed[NITEMS];
    for (int i = 0; i < NITEMS; i++)
        stored[i] = (int16_t) (i * 257);
    const uint16_t one = 1;
    const bool is_little = *(const uint8_t *) &one == 1;
    vczc_array_t *array =
        open_alone(is_little ? ARRAY_OF("[4, 3, 5]", "[4, 3, 5]", "<i2") : ARRAY_OF("[4, 3, 5]", "[4, 3, 5]", ">i2"),
                   "0.0.0", stored, sizeof(stored));
    REQUIRE(array != NULL);
    static const int64_t boxes[][3][3] = {{{0, 0, 0}, {A, B, C}, {1, 1, 1}},
                                          {{1, 0, 2}, {3, 3, 5}, {1, 1, 1}},
                                          {{0, 1, 0}, {4, 3, 5}, {3, 1, 2}},
                                          {{2, 2, 2}, {2, 3, 3}, {1, 1, 1}}};
    for (size_t i = 0; i < sizeof(boxes) / sizeof(boxes[0]); i++) {
        int64_t shape[3];
        for (int k = 0; k < 3; k++)
            shape[k] = (boxes[i][1][k] - boxes[i][0][k] + boxes[i][2][k] - 1) / boxes[i][2][k];
        const int64_t nitems = shape[0] * shape[1] * shape[2];
        const int64_t strides[3] = {shape[1] * shape[2] * 2, shape[2] * 2, 2};
        const vczc_selection_t selection = {boxes[i][0], boxes[i][1], boxes[i][2], 0};
        memset(packed, 0x77, sizeof(packed));
        CHECK_EQ(vczc_array_read_selection(array, &selection, placed, strides), 0);
        CHECK_EQ(vczc_array_read_selection(array, &selection, packed, NULL), 0);
        CHECK_MEM(packed, placed, (size_t) nitems * sizeof(*packed));
        CHECK_EQ(packed[nitems], 0x7777);
    }
    memset(packed, 0, sizeof(packed));
    CHECK_EQ(vczc_array_read_region(array, boxes[0][0], boxes[0][1], packed, NULL), 0);
    CHECK_MEM(packed, stored, sizeof(stored));
    CHECK_EQ(vczc_array_read_region(array, boxes[0][0], boxes[0][1], NULL, NULL), VCZC_ERR_ARGUMENT);
    vczc_array_close(array);
    array = open_alone(ARRAY_OF("[]", "[]", "|u1"), "0", "\7", 1);
    uint8_t item = 0;
    CHECK_EQ(vczc_array_read_region(array, NULL, NULL, &item, NULL), 0);
    CHECK_EQ(item, 7);
    vczc_array_close(array);
}

/* Nothing is written where the offsets of the items cannot be counted. */
static void strides_that_would_wrap_are_refused(void) {
    char out[8] = "as it is";
    const int64_t start[2] = {0, 0}, stop[2] = {INT64_C(1) << 31, INT64_C(1) << 30};
    vczc_array_t *array = open_alone(ARRAY_OF("[2147483648, 1073741824]", "[1, 1]", "<f8"), NULL, NULL, 0);
    REQUIRE(array != NULL);
    CHECK_EQ(vczc_array_read_region(array, start, stop, out, NULL), VCZC_ERR_INDEX);
    CHECK_MEM(out, "as it is", 8);
    vczc_array_close(array);
    array = open_alone(ARRAY_OF("[2147483648, 1073741824, 2]", "[1, 1, 2]", "|i1"), NULL, NULL, 0);
    REQUIRE(array != NULL);
    CHECK_EQ(vczc_array_read_dosage(array, NULL, VCZC_FLOAT64, out, NULL), VCZC_ERR_INDEX);
    CHECK_MEM(out, "as it is", 8);
    vczc_array_close(array);
}

static double dosage_at(const void *out, int dtype, size_t i) {
    switch (dtype) {
        case VCZC_INT8:
            return ((const int8_t *) out)[i];
        case VCZC_INT16:
            return ((const int16_t *) out)[i];
        case VCZC_INT32:
            return ((const int32_t *) out)[i];
        case VCZC_INT64:
            return (double) ((const int64_t *) out)[i];
        case VCZC_FLOAT32:
            return (double) ((const float *) out)[i];
        default:
            return ((const double *) out)[i];
    }
}

/* Of any sign and size, so long as the places can be counted; one item has the one place, whatever they are. */
static void strides_that_lead_nowhere_are_refused(void) {
    static const int64_t wild[][2] = {
        {INT64_MAX, 1}, {INT64_MIN, 1}, {1, INT64_MIN}, {INT64_MAX / 2, INT64_MAX / 2}, {-INT64_MAX, -INT64_MAX},
    };
    vczc_array_t *array = open_alone(ARRAY_OF("[4, 3]", "[2, 2]", "|u1"), "", NULL, 0);
    REQUIRE(array != NULL);
    uint8_t out[12] = {0};
    const int64_t start[2] = {0, 0}, stop[2] = {4, 3}, one[2] = {1, 1};
    for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
        CHECK_EQ(vczc_array_read_region(array, start, stop, out, wild[i]), VCZC_ERR_ARGUMENT);
        CHECK_EQ(out[0], 0);
        CHECK_EQ(vczc_array_read_region(array, start, start, out, wild[i]), 0);
        CHECK_EQ(vczc_array_read_region(array, start, one, out, wild[i]), 0);
        CHECK_EQ(out[0], 1);
        out[0] = 0;
    }
    vczc_array_close(array);
}

static void strides_of_dosages_may_be_null(void) {
    static const int8_t calls[] = {0, 0, 0, 1, 1, 1, -1, 1, 2, 0, -1, -1};
    static const double expected[] = {0, 1, 2, -1, 1, -1};
    static const int dtypes[] = {VCZC_INT8, VCZC_INT16, VCZC_INT32, VCZC_INT64, VCZC_FLOAT32, VCZC_FLOAT64};
    const vczc_genotypes_t genotypes = {calls, VCZC_INT8, {2, 3, 2}, {6, 2, 1}};
    vczc_array_t *array = open_alone(ARRAY_OF("[2, 3, 2]", "[2, 3, 2]", "|i1"), "0.0.0", calls, sizeof(calls));
    REQUIRE(array != NULL);
    for (size_t t = 0; t < sizeof(dtypes) / sizeof(dtypes[0]); t++) {
        const bool is_real = dtypes[t] == VCZC_FLOAT32 || dtypes[t] == VCZC_FLOAT64;
        double room[7], room_of_array[7];
        memset(room, 0x55, sizeof(room));
        memset(room_of_array, 0x55, sizeof(room));
        CHECK_EQ(vczc_genotype_dosage(&genotypes, dtypes[t], room, NULL), 0);
        CHECK_EQ(vczc_array_read_dosage(array, NULL, dtypes[t], room_of_array, NULL), 0);
        CHECK_MEM(room_of_array, room, sizeof(room));
        for (size_t i = 0; i < 6; i++) {
            const double dosage = dosage_at(room, dtypes[t], i);
            CHECK(expected[i] < 0 && is_real ? isnan(dosage) : dosage == expected[i]);
        }
    }
    CHECK_EQ(vczc_genotype_dosage(&genotypes, VCZC_UINT8, NULL, NULL), VCZC_ERR_ARGUMENT);
    vczc_array_close(array);
}

static void numbers_of_the_header(void) {
    CHECK_EQ(VCZC_CONTIG_END, (int64_t) 1 << 62);
    CHECK_EQ(vczc_set_threads(4096), 0);
    CHECK_EQ(vczc_set_threads(4097), VCZC_ERR_ARGUMENT);
    CHECK_EQ(vczc_get_threads(), 4096);
    CHECK_EQ(vczc_set_threads(0), 0);
}

int main(void) {
    RUN(what_looks_at_a_handle_takes_null);
    RUN(what_ends_something_takes_null);
    RUN(a_store_that_is_null_is_refused);
    RUN(another_handle_that_is_null_is_refused);
    RUN(strides_may_be_null);
    RUN(strides_that_would_wrap_are_refused);
    RUN(strides_that_lead_nowhere_are_refused);
    RUN(strides_of_dosages_may_be_null);
    RUN(numbers_of_the_header);
    return check_result();
}
