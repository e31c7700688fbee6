/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The bytes of a shard, of an array whose form the first byte chooses: each chunk alone, and the whole. What is read
 * in one way must be what is read in another. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vczc.h"

enum { ROWS = 7, COLUMNS = 5, NITEMS = ROWS * COLUMNS };

#define BYTES "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}"
#define CRC ",{\"name\":\"crc32c\"}"
#define SHARD(chunks, codecs, index, place)                                                                            \
    "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":" chunks ",\"codecs\":[" codecs                 \
    "],\"index_codecs\":[" BYTES index "],\"index_location\":\"" place "\"}}"

/* Data type, fill value and codecs. */
static const char *const forms[][3] = {
    {"int16", "7", SHARD("[2,3]", BYTES, "", "end")},
    {"int16", "7", SHARD("[2,3]", BYTES, CRC, "start")},
    {"int16", "7",
     SHARD("[2,3]", BYTES ",{\"name\":\"zstd\",\"configuration\":{\"level\":1,\"checksum\":false}}", "", "end")},
    {"int16", "7", SHARD("[4,3]", SHARD("[2,1]", BYTES, "", "start"), "", "end")},
    {"int16", "7", "{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}}," SHARD("[3,2]", BYTES, "", "end")},
    {"string", "\"x\"", SHARD("[2,3]", "{\"name\":\"vlen-utf8\"}", "", "end")},
    {"string", "\"x\"", SHARD("[4,3]", SHARD("[2,1]", "{\"name\":\"vlen-utf8\"}", "", "start"), "", "end")},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes);

static void check_numbers(const vczc_array_t *array) {
    const vczc_array_info_t *info = vczc_array_info(array);
    const int64_t start[2] = {0, 0}, stop[2] = {ROWS, COLUMNS}, strides[2] = {2 * COLUMNS, 2};
    int16_t whole[NITEMS], block[NITEMS];
    const int whole_ret = vczc_array_read_region(array, start, stop, whole, strides);
    int first_failure = 0;
    int64_t coords[2], shape[2];
    for (coords[0] = 0; coords[0] < info->grid[0]; coords[0]++) {
        for (coords[1] = 0; coords[1] < info->grid[1]; coords[1]++) {
            const int ret = vczc_array_read_block(array, coords, block, sizeof(block));
            first_failure = first_failure == 0 ? ret : first_failure;
            if (ret != 0 || whole_ret != 0) continue;
            if (vczc_array_block_shape(array, coords, shape) != 0) abort();
            for (int64_t i = 0; i < shape[0]; i++) {
                const int64_t at = (coords[0] * info->chunks[0] + i) * COLUMNS + coords[1] * info->chunks[1];
                if (memcmp(block + i * shape[1], whole + at, (size_t) shape[1] * 2) != 0) abort();
            }
        }
    }
    if ((first_failure == 0) != (whole_ret == 0)) abort();
}

static void check_texts(const vczc_array_t *array) {
    const int64_t start[2] = {0, 0}, stop[2] = {ROWS, COLUMNS};
    const vczc_selection_t selection = {.start = start, .stop = stop};
    vczc_strings_t strings;
    if (vczc_array_read_strings_selection(array, &selection, &strings) == 0) {
        if (strings.nitems != NITEMS || strings.offsets[NITEMS] != strings.data_nbytes) abort();
        vczc_strings_clear(&strings);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes) {
    char document[2000];
    if (nbytes == 0) {
        return 0;
    }
    const char *const *form = forms[data[0] % (sizeof(forms) / sizeof(forms[0]))];
    (void) snprintf(document, sizeof(document),
                    "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[%d,%d],\"data_type\":\"%s\",\"chunk_grid\":"
                    "{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[8,6]}},\"chunk_key_encoding\":"
                    "{\"name\":\"default\"},\"fill_value\":%s,\"codecs\":[%s]}",
                    ROWS, COLUMNS, form[0], form[1], form[2]);
    const vczc_entry_t entries[] = {{"zarr.json", document, strlen(document)}, {"c/0/0", data + 1, nbytes - 1}};
    vczc_store_t *store = NULL;
    vczc_array_t *array = NULL;
    if (vczc_store_open_memory(&store, entries, 2) != 0 || vczc_array_open(&array, store, "") != 0) abort();
    if (vczc_array_info(array)->itemsize == 0) {
        check_texts(array);
    } else {
        check_numbers(array);
    }
    vczc_array_close(array);
    vczc_store_close(store);
    return 0;
}
