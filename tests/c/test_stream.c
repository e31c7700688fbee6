/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Attributes, several blocks at once, samples and regions, through the public API, of stores made in memory. */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "mem.h"
#include "vczc.h"

#define NCHUNKS 64
#define CHUNK 5
#define BAD_CHUNK 17

static vczc_entry_t entry(const char *key, const char *text) {
    return (vczc_entry_t){key, text, strlen(text)};
}

/* ---- Attributes ---- */

static const char *const ATTRIBUTES =
    "{\"version\": \"0.4\", \"n\": 42, \"real\": -2.5, \"flag\": true, \"none\": null, \"large\": 18446744073709551615,"
    " \"nan\": NaN, \"list\": [1, \"two\"], \"object\": {\"a\": {}}, \"Zo\\u00eb\": \"a\\u0000b\"}";

static vczc_store_t *open_group(const char *attributes) {
    const vczc_entry_t entries[] = {entry(".zgroup", "{\"zarr_format\": 2}"), entry(".zattrs", attributes)};
    vczc_store_t *store = NULL;
    CHECK_EQ(vczc_store_open_memory(&store, entries, 2), 0);
    return store;
}

static void check_attributes(const vczc_node_t *node) {
    int64_t number = -7;
    double real = -7;
    char *text = NULL;
    size_t nbytes = 0;
    static const struct {
        const char *key;
        int type;
    } types[] = {{"version", VCZC_JSON_TEXT}, {"n", VCZC_JSON_INTEGER},     {"real", VCZC_JSON_REAL},
                 {"flag", VCZC_JSON_BOOL},    {"none", VCZC_JSON_NULL},     {"list", VCZC_JSON_ARRAY},
                 {"nan", VCZC_JSON_REAL},     {"object", VCZC_JSON_OBJECT}, {"other", VCZC_JSON_ABSENT}};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        int type = -1;
        CHECK_EQ(vczc_node_attr_type(node, types[i].key, &type), 0);
        CHECK_EQ(type, types[i].type);
    }
    CHECK_EQ(vczc_node_attr_int(node, "n", &number), 0);
    CHECK_EQ(number, 42);
    CHECK_EQ(vczc_node_attr_int(node, "flag", &number), 0);
    CHECK_EQ(number, 1);
    CHECK_EQ(vczc_node_attr_int(node, "large", &number), VCZC_ERR_METADATA);
    CHECK_EQ(vczc_node_attr_int(node, "real", &number), VCZC_ERR_METADATA);
    CHECK_EQ(number, 1);
    CHECK(strstr(vczc_error_detail(), "'real'") != NULL);
    CHECK_EQ(vczc_node_attr_int(node, "other", &number), VCZC_ERR_NOT_FOUND);
    CHECK_EQ(vczc_node_attr_double(node, "real", &real), 0);
    CHECK(real == -2.5);
    CHECK_EQ(vczc_node_attr_double(node, "n", &real), 0);
    CHECK(real == 42);
    CHECK_EQ(vczc_node_attr_double(node, "nan", &real), 0);
    CHECK(isnan(real));
    CHECK_EQ(vczc_node_attr_text(node, "version", &text, NULL), 0);
    CHECK_STR(text, "0.4");
    vczc_text_free(text);
    CHECK_EQ(vczc_node_attr_text(node, "Zo\xc3\xab", &text, &nbytes), 0);
    CHECK_EQ(nbytes, 3);
    CHECK_MEM(text, "a\0b", 4);
    vczc_text_free(text);
    CHECK_EQ(vczc_node_attr_text(node, "n", &text, &nbytes), VCZC_ERR_METADATA);
    CHECK(text == NULL);
    CHECK_EQ(vczc_node_attr_json(node, "list", &text, &nbytes), 0);
    CHECK_STR(text, "[1,\"two\"]");
    CHECK_EQ(nbytes, strlen(text));
    vczc_text_free(text);
    vczc_text_free(NULL);
}

static int count_keys(void *user, const char *key, size_t key_nbytes) {
    int *count = user;
    (void) key;
    (void) key_nbytes;
    return ++*count == 3 ? 77 : 0;
}

static void attributes_by_key(void) {
    vczc_store_t *store = open_group(ATTRIBUTES);
    vczc_node_t *node = NULL;
    int count = 0;
    CHECK_EQ(vczc_node_open(&node, store, ""), 0);
    vczc_store_close(store);
    REQUIRE(node != NULL);
    check_attributes(node);
    CHECK_EQ(vczc_node_attr_keys(node, count_keys, &count), 77);
    CHECK_EQ(count, 3);
    count = 10;
    CHECK_EQ(vczc_node_attr_keys(node, count_keys, &count), 0);
    CHECK_EQ(count, 20);
    CHECK_EQ(vczc_node_attr_int(node, NULL, NULL), VCZC_ERR_ARGUMENT);
    vczc_node_close(node);
}

/* ---- Several blocks at once ---- */

static const char *const NUMBERS = "{\"zarr_format\": 2, \"shape\": [320], \"chunks\": [5], \"dtype\": \"|u1\", "
                                   "\"compressor\": null, \"filters\": null, \"fill_value\": 9, \"order\": \"C\"}";

/* 64 chunks, of which one is absent and one too short. */
static vczc_array_t *open_numbers(void) {
    static char keys[NCHUNKS][8];
    static uint8_t chunks[NCHUNKS][CHUNK];
    vczc_entry_t entries[NCHUNKS + 2];
    size_t n = 0;
    entries[n++] = entry(".zgroup", "{\"zarr_format\": 2}");
    entries[n++] = entry("x/.zarray", NUMBERS);
    for (int c = 1; c < NCHUNKS; c++) {
        snprintf(keys[c], sizeof(keys[c]), "x/%d", c);
        memset(chunks[c], c, CHUNK);
        entries[n++] = (vczc_entry_t){keys[c], chunks[c], c == BAD_CHUNK ? CHUNK - 1 : CHUNK};
    }
    vczc_store_t *store = NULL;
    vczc_array_t *array = NULL;
    CHECK_EQ(vczc_store_open_memory(&store, entries, n), 0);
    CHECK_EQ(vczc_array_open(&array, store, "x"), 0);
    vczc_store_close(store);
    return array;
}

typedef struct {
    int64_t last, ncalls, stop_at;
} progress_t;

static int tell(void *user, int64_t ndone, int64_t nblocks) {
    progress_t *progress = user;
    CHECK(ndone > progress->last && ndone <= nblocks);
    progress->last = ndone;
    progress->ncalls++;
    return progress->stop_at != 0 && ndone >= progress->stop_at;
}

typedef struct {
    vczc_block_read_t reads[NCHUNKS];
    int64_t coords[NCHUNKS];
    uint8_t out[NCHUNKS][CHUNK];
} batch_t;

static void prepare(batch_t *batch, const vczc_array_t *array) {
    memset(batch, 0, sizeof(*batch));
    for (int c = 0; c < NCHUNKS; c++) {
        batch->coords[c] = c;
        batch->reads[c] = (vczc_block_read_t){array, &batch->coords[c], batch->out[c], CHUNK, 1};
    }
}

static void blocks_at_once(void) {
    vczc_array_t *array = open_numbers();
    REQUIRE(array != NULL);
    for (int nthreads = 0; nthreads < 5; nthreads++) {
        static batch_t batch;
        progress_t progress = {0, 0, 0};
        vczc_batch_options_t options = {sizeof(options), tell, &progress, nthreads};
        vczc_error_t error;
        prepare(&batch, array);
        batch.reads[40].out_size = CHUNK - 1;
        CHECK_EQ(vczc_read_blocks(batch.reads, NCHUNKS, &options), VCZC_ERR_CORRUPT);
        vczc_error_last(&error);
        CHECK_EQ(error.code, VCZC_ERR_CORRUPT);
        CHECK_STR(error.key, "x/17");
        CHECK_EQ(progress.last, NCHUNKS);
        for (int c = 0; c < NCHUNKS; c++) {
            uint8_t expected[CHUNK];
            memset(expected, c == 0 ? 9 : c, CHUNK);
            CHECK_EQ(batch.reads[c].status, c == BAD_CHUNK ? VCZC_ERR_CORRUPT : c == 40 ? VCZC_ERR_BUFFER : 0);
            if (batch.reads[c].status == 0) CHECK_MEM(batch.out[c], expected, CHUNK);
        }
        CHECK_EQ(vczc_read_blocks(batch.reads, BAD_CHUNK, NULL), 0);
    }
    vczc_array_close(array);
}

static void a_batch_is_cancelled(void) {
    vczc_array_t *array = open_numbers();
    REQUIRE(array != NULL);
    for (int nthreads = 1; nthreads < 4; nthreads++) {
        static batch_t batch;
        progress_t progress = {0, 0, 3};
        const vczc_batch_options_t options = {sizeof(options), tell, &progress, nthreads};
        prepare(&batch, array);
        const int ret = vczc_read_blocks(batch.reads, BAD_CHUNK, &options);
        int ncancelled = 0;
        for (int c = 0; c < BAD_CHUNK; c++) {
            ncancelled += batch.reads[c].status == VCZC_ERR_CANCELLED;
        }
        CHECK_EQ(ret, ncancelled == 0 ? 0 : VCZC_ERR_CANCELLED);
        if (nthreads == 1) CHECK_EQ(ncancelled, BAD_CHUNK - 3);
    }
    /* Where all have begun there is nothing left to cancel. */
    static batch_t batch;
    progress_t progress = {0, 0, BAD_CHUNK};
    const vczc_batch_options_t options = {sizeof(options), tell, &progress, 0};
    prepare(&batch, array);
    CHECK_EQ(vczc_read_blocks(batch.reads, BAD_CHUNK, &options), 0);
    CHECK_EQ(progress.last, BAD_CHUNK);
    for (int c = 0; c < BAD_CHUNK; c++) {
        CHECK_EQ(batch.reads[c].status, 0);
    }
    vczc_array_close(array);
}

static void what_a_batch_refuses(void) {
    vczc_array_t *array = open_numbers();
    static batch_t batch;
    REQUIRE(array != NULL);
    prepare(&batch, array);
    vczc_batch_options_t options = {0, NULL, NULL, 0};
    CHECK_EQ(vczc_read_blocks(batch.reads, 1, &options), VCZC_ERR_ARGUMENT);
    options.struct_nbytes = sizeof(size_t); /* of a header that had no more */
    options.nthreads = -1;
    CHECK_EQ(vczc_read_blocks(batch.reads, 1, &options), 0);
    options.struct_nbytes = sizeof(options);
    CHECK_EQ(vczc_read_blocks(batch.reads, 1, &options), VCZC_ERR_ARGUMENT);
    CHECK_EQ(vczc_read_blocks(NULL, 1, NULL), VCZC_ERR_ARGUMENT);
    CHECK_EQ(vczc_read_blocks(NULL, 0, NULL), 0);
    batch.reads[1].array = NULL;
    batch.reads[0].status = batch.reads[1].status = 77;
    CHECK_EQ(vczc_read_blocks(batch.reads, 2, NULL), VCZC_ERR_ARGUMENT);
    CHECK(batch.reads[0].status == 77 && batch.reads[1].status == 77);
    vczc_array_close(array);
}

/* ---- Samples and regions ---- */

#define ARRAY_OF(shape, dtype)                                                                                         \
    "{\"zarr_format\": 2, \"shape\": " shape ", \"chunks\": " shape ", \"dtype\": \"" dtype                            \
    "\", \"compressor\": null, \"filters\": null, \"fill_value\": null, \"order\": \"C\"}"

static const int8_t CONTIGS[] = {0, 0, 0, 1, 1, 2};
static const uint8_t POSITIONS[] = {10, 20, 30, 5, 15, 0};
static const uint8_t LENGTHS[] = {5, 1, 0, 20, 1, 1};
static const char SAMPLES[] = "ann\0\0bob\0\0\0\0\0\0\0Zo\xc3\xab\0bob\0"; /* of 5 bytes; the third was removed */
static const char NAMES[] = "20\0\0\0\0X:5\0\0\0{a,b}\0";                  /* of 6 bytes */

static vczc_store_t *open_variants(void) {
    const vczc_entry_t entries[] = {
        entry("sample_id/.zarray", ARRAY_OF("[5]", "|S5")),        {"sample_id/0", SAMPLES, 25},
        entry("contig_id/.zarray", ARRAY_OF("[3]", "|S6")),        {"contig_id/0", NAMES, 18},
        entry("variant_contig/.zarray", ARRAY_OF("[6]", "|i1")),   {"variant_contig/0", CONTIGS, 6},
        entry("variant_position/.zarray", ARRAY_OF("[6]", "|u1")), {"variant_position/0", POSITIONS, 6},
        entry("variant_length/.zarray", ARRAY_OF("[6]", "|u1")),   {"variant_length/0", LENGTHS, 6},
    };
    vczc_store_t *store = NULL;
    CHECK_EQ(vczc_store_open_memory(&store, entries, sizeof(entries) / sizeof(entries[0])), 0);
    return store;
}

static void samples_by_id(void) {
    vczc_store_t *store = open_variants();
    vczc_samples_t *samples = NULL;
    int64_t index = 7;
    CHECK_EQ(vczc_samples_open(&samples, store, ""), 0);
    vczc_store_close(store);
    REQUIRE(samples != NULL);
    CHECK_EQ(vczc_samples_count(samples), 5);
    CHECK_STR(vczc_samples_id(samples, 3), "Zo\xc3\xab");
    CHECK_STR(vczc_samples_id(samples, 2), "");
    CHECK(vczc_samples_id(samples, 5) == NULL && vczc_samples_id(samples, -1) == NULL);
    CHECK_EQ(vczc_samples_find(samples, "Zo\xc3\xab", &index), 0);
    CHECK_EQ(index, 3);
    CHECK_EQ(vczc_samples_find(samples, "bob", &index), VCZC_ERR_METADATA);
    CHECK_EQ(index, -1);
    CHECK_EQ(vczc_samples_find(samples, "", &index), VCZC_ERR_NOT_FOUND);
    CHECK_EQ(vczc_samples_find(samples, "an", &index), VCZC_ERR_NOT_FOUND);
    vczc_samples_close(samples);
    vczc_samples_close(NULL);
}

/* The rows of a region as "0-2 4-5", or the name of the failure. */
static const char *rows_of(const vczc_regions_t *regions, const char *text, int overlap) {
    static char said[200];
    vczc_rows_t *ranges = NULL;
    size_t nranges = 7, at = 0;
    const int ret = vczc_regions_find(regions, text, overlap, &ranges, &nranges);
    if (ret != 0) {
        CHECK(ranges == NULL && nranges == 0);
        return vczc_strerror(ret);
    }
    said[0] = '\0';
    for (size_t i = 0; i < nranges; i++) {
        at += (size_t) snprintf(said + at, sizeof(said) - at, "%s%d-%d", i == 0 ? "" : " ", (int) ranges[i].start,
                                (int) ranges[i].stop);
    }
    vczc_rows_free(ranges);
    return said;
}

static void rows_of_regions(void) {
    static const struct {
        const char *text, *by_record, *by_position;
    } cases[] = {
        {"20", "0-3", "0-3"},
        {"20:14", "0-1", ""},
        {"20:10-", "0-3", "0-3"},
        {"20:15-", "1-3", "1-3"},
        {"20:14-20", "0-2", "1-2"},
        {"20:30-30", "2-3", "2-3"},
        {"20:31-4,000", "", ""},
        {"{20}:11-14,X:5:15", "0-1 3-5", "4-5"},
        {"X:5", "3-5", "3-5"},
        {"X:5:5", "3-4", "3-4"},
        {"{X:5}:24", "3-4", ""},
        {"{a,b}", "5-6", "5-6"},
        {"{a,b}:0", "5-6", "5-6"},
        {"20:1-12,20:11-25", "0-2", "0-2"},
        {"21", "not found", "not found"},
        {"20,21:5", "not found", "not found"},
        {"20:5-4", "invalid argument", "invalid argument"},
        {"20:1,00", "invalid argument", "invalid argument"},
        {"20:a", "invalid argument", "invalid argument"},
        {"20:-5", "invalid argument", "invalid argument"},
        {"", "not found", "not found"},
        {"20:1-99999999999999999999999", "0-3", "0-3"},
    };
    vczc_store_t *store = open_variants();
    vczc_regions_t *regions = NULL;
    CHECK_EQ(vczc_regions_open(&regions, store, ""), 0);
    vczc_store_close(store);
    REQUIRE(regions != NULL);
    CHECK_EQ(vczc_regions_ncontigs(regions), 3);
    CHECK_STR(vczc_regions_contig(regions, 1), "X:5");
    CHECK(vczc_regions_contig(regions, 3) == NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (!CHECK_STR(rows_of(regions, cases[i].text, VCZC_OVERLAP_RECORD), cases[i].by_record) ||
            !CHECK_STR(rows_of(regions, cases[i].text, VCZC_OVERLAP_POS), cases[i].by_position)) {
            fprintf(stderr, "    of '%s'\n", cases[i].text);
        }
    }
    CHECK_STR(rows_of(regions, "20", 2), vczc_strerror(VCZC_ERR_ARGUMENT));
    vczc_regions_close(regions);
    vczc_regions_close(NULL);
}

static void intervals(void) {
    vczc_store_t *store = open_variants();
    vczc_regions_t *regions = NULL;
    vczc_rows_t *ranges = NULL;
    size_t nranges = 0;
    vczc_interval_t two[2];
    CHECK_EQ(vczc_regions_open(&regions, store, ""), 0);
    REQUIRE(regions != NULL);
    static const char *const wrong[] = {"Y:1-2", "20:x", "20:5-4", "20:1-2-3", ""};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        two[0] = (vczc_interval_t){7, 7, 7};
        CHECK(vczc_regions_parse(regions, wrong[i], &two[0]) < 0);
        CHECK(two[0].contig == 0 && two[0].start == 0 && two[0].stop == 0);
    }
    static const struct {
        const char *text, *reason;
    } hinted[] = {
        {"chr20:1-5", "there is no contig 'chr20'; did you mean '20'?"},
        {"chrX:5:10-12", "there is no contig 'chrX:5'; did you mean 'X:5'?"},
        {"chr", "there is no contig 'chr'"},
        {"chr21", "there is no contig 'chr21'"},
    };
    for (size_t i = 0; i < sizeof(hinted) / sizeof(hinted[0]); i++) {
        CHECK_EQ(vczc_regions_parse(regions, hinted[i].text, &two[0]), VCZC_ERR_NOT_FOUND);
        CHECK_STR(vczc_error_detail(), hinted[i].reason);
    }
    const int64_t last = VCZC_CONTIG_END;
    CHECK_EQ(vczc_regions_parse(regions, "20:4611686018427387903-4611686018427387904", &two[0]), 0);
    CHECK(two[0].start == last - 1 && two[0].stop == last);
    CHECK_EQ(vczc_regions_parse(regions, "20:5-99999999999999999999", &two[0]), 0);
    CHECK(two[0].start == 5 && two[0].stop == last);
    CHECK_EQ(vczc_regions_parse(regions, "X:5:10-12", &two[0]), 0);
    CHECK_EQ(two[0].contig, 1);
    CHECK_EQ(two[0].start, 10);
    CHECK_EQ(two[0].stop, 12);
    two[1] = (vczc_interval_t){0, 20, 20};
    CHECK_EQ(vczc_regions_find_intervals(regions, two, 2, VCZC_OVERLAP_RECORD, &ranges, &nranges), 0);
    CHECK_EQ(nranges, 2);
    CHECK(ranges != NULL && ranges[0].start == 1 && ranges[1].stop == 4);
    vczc_rows_free(ranges);
    CHECK_EQ(vczc_regions_find_intervals(regions, NULL, 0, VCZC_OVERLAP_RECORD, &ranges, &nranges), 0);
    CHECK_EQ(nranges, 0);
    vczc_rows_free(ranges);
    two[1].contig = 3;
    CHECK_EQ(vczc_regions_find_intervals(regions, two, 2, VCZC_OVERLAP_RECORD, &ranges, &nranges), VCZC_ERR_INDEX);
    two[1] = (vczc_interval_t){0, 5, 4};
    CHECK_EQ(vczc_regions_find_intervals(regions, two, 2, VCZC_OVERLAP_RECORD, &ranges, &nranges), VCZC_ERR_ARGUMENT);
    vczc_regions_close(regions);
    vczc_store_close(store);
}

#ifdef VCZI_TEST_FAULTS
static int use_all(vczc_store_t *store) {
    vczc_samples_t *samples = NULL;
    vczc_regions_t *regions = NULL;
    vczc_rows_t *ranges = NULL;
    vczc_node_t *node = NULL;
    char *text = NULL;
    size_t nranges;
    int ret = vczc_samples_open(&samples, store, "");
    if (ret == 0) ret = vczc_regions_open(&regions, store, "");
    if (ret == 0) ret = vczc_regions_find(regions, "20:1-15,X:5", VCZC_OVERLAP_RECORD, &ranges, &nranges);
    if (ret == 0) ret = vczc_node_open(&node, store, "sample_id");
    if (ret == 0) {
        ret = vczc_node_attr_json(node, "none", &text, NULL);
        ret = ret == VCZC_ERR_NOT_FOUND ? 0 : ret;
    }
    vczc_text_free(text);
    vczc_node_close(node);
    vczc_rows_free(ranges);
    vczc_regions_close(regions);
    vczc_samples_close(samples);
    return ret;
}

static void without_memory(void) {
    vczc_store_t *store = open_variants();
    int ret = VCZC_ERR_NO_MEMORY;
    long n = 0;
    while (ret != 0 && n < 10000) {
        vczi_test_fail_allocation(++n);
        ret = use_all(store);
        vczi_test_fail_allocation(0);
        if (ret != 0 && !CHECK_EQ(ret, VCZC_ERR_NO_MEMORY)) break;
    }
    CHECK(n > 20 && n < 10000);
    vczc_store_close(store);
}

/* What many regions cost grows with their number, not with its square, whichever allocator there is. */
static void many_regions(void) {
    enum { NREGIONS = 5000, NALLOCATIONS = 200 };
    static const char one[] = "20:1-15,";
    static char text[NREGIONS * (sizeof(one) - 1) + 1];
    vczc_store_t *store = open_variants();
    vczc_regions_t *regions = NULL;
    vczc_rows_t *ranges = NULL, *of_one = NULL;
    size_t nranges = 0, nof_one = 0;
    for (size_t i = 0; i < NREGIONS; i++)
        memcpy(text + i * (sizeof(one) - 1), one, sizeof(one) - 1);
    text[sizeof(text) - 2] = '\0'; /* the last comma */
    REQUIRE(vczc_regions_open(&regions, store, "") == 0);
    CHECK_EQ(vczc_regions_find(regions, "20:1-15", VCZC_OVERLAP_RECORD, &of_one, &nof_one), 0);
    vczi_test_fail_allocation(NALLOCATIONS);
    CHECK_EQ(vczc_regions_find(regions, text, VCZC_OVERLAP_RECORD, &ranges, &nranges), 0);
    vczi_test_fail_allocation(0);
    if (CHECK_EQ(nranges, nof_one)) CHECK_MEM(ranges, of_one, nranges * sizeof(*ranges));
    vczc_rows_free(of_one);
    vczc_rows_free(ranges);
    vczc_regions_close(regions);
    vczc_store_close(store);
}
#endif

int main(void) {
    RUN(attributes_by_key);
    RUN(blocks_at_once);
    RUN(a_batch_is_cancelled);
    RUN(what_a_batch_refuses);
    RUN(samples_by_id);
    RUN(rows_of_regions);
    RUN(intervals);
#ifdef VCZI_TEST_FAULTS
    RUN(without_memory);
    RUN(many_regions);
#endif
    return check_result();
}
