/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "columns.h"

#include <inttypes.h>
#include <string.h>

#include "array_open.h"
#include "array_read.h"
#include "array_strings.h"
#include "ids.h"
#include "mem.h"
#include "status.h"

static bool is_integer(int dtype) {
    return dtype >= VCZC_INT8 && dtype <= VCZC_UINT64;
}

static bool holds_text(int dtype) {
    return dtype >= VCZC_FIXED_BYTES && dtype <= VCZC_VLEN_BYTES;
}

static int open_column(vczc_array_t **column, vczc_store_t *store, const char *path, const char *name,
                       bool is_optional) {
    vczi_detail_t before;
    vczi_detail_save(&before);
    char *where = vczi_ids_path(path, name);
    int ret = where == NULL ? VCZC_ERR_NO_MEMORY : vczi_array_open(column, store, where, 0, 0);
    if (ret == VCZC_ERR_NO_NODE && is_optional) {
        vczi_detail_restore(&before);
        ret = 0;
    }
    vczi_free(where);
    return ret;
}

/* `first` is an array whose rows must be as many, or NULL; texts are wanted in `allele` alone. */
static int check_column(const vczc_array_t *column, const vczc_array_t *first, bool is_text) {
    if (column == NULL) {
        return 0;
    }
    const vczc_array_info_t *info = &column->info;
    if (info->ndim == 0 || (first != NULL && info->shape[0] != first->info.shape[0])) {
        return vczi_fail(VCZC_ERR_METADATA, "'%s' has no row for each variant_position", info->path);
    }
    if (is_text ? !holds_text(info->dtype) || info->ndim > 2 : !is_integer(info->dtype) || info->ndim != 1) {
        return vczi_fail(VCZC_ERR_METADATA, "'%s' holds no %s", info->path, is_text ? "alleles" : "list of integers");
    }
    return 0;
}

int vczi_columns_init(vczi_columns_t *columns, vczc_store_t *store, const char *path) {
    memset(columns, 0, sizeof(*columns));
    int ret = open_column(&columns->position, store, path, "variant_position", false);
    if (ret == 0) {
        ret = open_column(&columns->contig, store, path, "variant_contig", false);
    }
    if (ret == 0) {
        ret = open_column(&columns->length, store, path, "variant_length", true);
    }
    if (ret == 0 && columns->length == NULL) {
        ret = open_column(&columns->allele, store, path, "variant_allele", true);
        if (ret == 0) {
            ret = open_column(&columns->end, store, path, "variant_END", true);
        }
    }
    vczc_array_t *const integers[] = {columns->position, columns->contig, columns->length, columns->end};
    for (size_t i = 0; ret == 0 && i < sizeof(integers) / sizeof(integers[0]); i++) {
        ret = check_column(integers[i], columns->position, false);
    }
    if (ret == 0) {
        ret = check_column(columns->allele, columns->position, true);
    }
    if (ret != 0) {
        vczi_columns_clear(columns);
        return ret;
    }
    columns->nrows = columns->position->info.shape[0];
    return 0;
}

void vczi_columns_clear(vczi_columns_t *columns) {
    vczi_array_close(columns->contig);
    vczi_array_close(columns->position);
    vczi_array_close(columns->length);
    vczi_array_close(columns->allele);
    vczi_array_close(columns->end);
    memset(columns, 0, sizeof(*columns));
}

/* ---- Integers ---- */

static int64_t load(const char *item, int dtype) {
    union {
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
    } value;
    static const uint8_t nbytes[] = {1, 2, 4, 8, 1, 2, 4, 8}; /* from VCZC_INT8 on */
    memcpy(&value, item, nbytes[dtype - VCZC_INT8]);
    switch (dtype) {
        case VCZC_INT8:
            return value.i8;
        case VCZC_INT16:
            return value.i16;
        case VCZC_INT32:
            return value.i32;
        case VCZC_UINT8:
            return value.u8;
        case VCZC_UINT16:
            return value.u16;
        case VCZC_UINT32:
            return value.u32;
        case VCZC_UINT64:
            return value.u64 > (uint64_t) INT64_MAX ? INT64_MAX : (int64_t) value.u64;
        default:
            return value.i64;
    }
}

/* Read into the end of `out`, where the narrow items have room, and widen them from the front: an item is read before
 * the wide ones reach it. */
static int read_integers(const vczc_array_t *array, int64_t start, int64_t stop, int64_t *out) {
    const int64_t n = stop - start, item_nbytes = array->info.itemsize;
    const vczc_selection_t selection = {.start = &start, .stop = &stop};
    char *items = (char *) (out + n) - n * item_nbytes;
    const int ret = vczi_array_read(array, &selection, items, &item_nbytes);
    for (int64_t i = 0; ret == 0 && i < n; i++) {
        out[i] = load(items + i * item_nbytes, array->info.dtype);
    }
    return ret;
}

/* ---- Ends ---- */

/* a + b, or INT64_MAX. b is not negative. */
static int64_t add(int64_t a, int64_t b) {
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* The length of a text of fixed width, in letters. */
static int64_t fixed_length(const char *item, int64_t item_nbytes, int dtype) {
    const int64_t width = dtype == VCZC_FIXED_UTF32 ? 4 : 1;
    static const char zeros[4] = {0};
    int64_t n = item_nbytes / width;
    while (n > 0 && memcmp(item + (n - 1) * width, zeros, (size_t) width) == 0) {
        n--;
    }
    return n;
}

/* The lengths of the reference alleles of rows [start, stop). */
static int read_reference_lengths(const vczc_array_t *allele, int64_t start, int64_t stop, int64_t *lengths) {
    const int64_t starts[2] = {start, 0}, stops[2] = {stop, 1}, n = stop - start;
    const vczc_selection_t selection = {.start = starts, .stop = stops};
    if (allele->info.ndim == 2 && allele->info.shape[1] == 0) {
        memset(lengths, 0, (size_t) n * sizeof(*lengths));
        return 0;
    }
    if (allele->info.dtype == VCZC_VLEN_UTF8 || allele->info.dtype == VCZC_VLEN_BYTES) {
        vczc_strings_t strings = {0};
        const int ret = vczi_array_read_strings(allele, &selection, &strings);
        for (int64_t i = 0; ret == 0 && i < n; i++) {
            lengths[i] = strings.offsets[i + 1] - strings.offsets[i];
        }
        vczi_strings_clear(&strings);
        return ret;
    }
    const int64_t item_nbytes = allele->info.itemsize, strides[2] = {item_nbytes, item_nbytes};
    char *items = vczi_alloc_array((size_t) n, (size_t) item_nbytes);
    const int ret = items == NULL ? VCZC_ERR_NO_MEMORY : vczi_array_read(allele, &selection, items, strides);
    for (int64_t i = 0; ret == 0 && i < n; i++) {
        lengths[i] = fixed_length(items + i * item_nbytes, item_nbytes, allele->info.dtype);
    }
    vczi_free(items);
    return ret;
}

static int read_ends(const vczi_columns_t *columns, int64_t start, int64_t stop, const int64_t *positions,
                     int64_t *ends) {
    const int64_t n = stop - start;
    int ret = 0;
    if (columns->length != NULL) {
        ret = read_integers(columns->length, start, stop, ends);
    } else if (columns->allele != NULL) {
        ret = read_reference_lengths(columns->allele, start, stop, ends);
    } else {
        memset(ends, 0, (size_t) n * sizeof(*ends));
    }
    for (int64_t i = 0; ret == 0 && i < n; i++) {
        ends[i] = add(positions[i], (ends[i] > 1 ? ends[i] : 1) - 1);
    }
    if (ret != 0 || columns->end == NULL) {
        return ret;
    }
    int64_t *stated = vczi_alloc_array((size_t) n, sizeof(*stated));
    ret = stated == NULL ? VCZC_ERR_NO_MEMORY : read_integers(columns->end, start, stop, stated);
    for (int64_t i = 0; ret == 0 && i < n; i++) {
        ends[i] = ends[i] > stated[i] ? ends[i] : stated[i];
    }
    vczi_free(stated);
    return ret;
}

int vczi_columns_read(const vczi_columns_t *columns, int64_t start, int64_t stop, int64_t *contigs, int64_t *positions,
                      int64_t *ends) {
    int ret = read_integers(columns->contig, start, stop, contigs);
    if (ret == 0) {
        ret = read_integers(columns->position, start, stop, positions);
    }
    return ret != 0 || ends == NULL ? ret : read_ends(columns, start, stop, positions, ends);
}
