/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "ids.h"

#include <inttypes.h>
#include <string.h>

#include "array_open.h"
#include "array_read.h"
#include "array_strings.h"
#include "checked.h"
#include "mem.h"
#include "status.h"

#define UTF8_NBYTES 4 /* of a code point, at most */

char *vczi_ids_path(const char *path, const char *name) {
    const size_t path_nbytes = strlen(path), name_nbytes = strlen(name);
    const size_t slash = path_nbytes == 0 ? 0 : 1;
    char *joined = vczi_alloc(path_nbytes + slash + name_nbytes + 1);
    if (joined == NULL) {
        return NULL;
    }
    memcpy(joined, path, path_nbytes);
    if (slash != 0) {
        joined[path_nbytes] = '/';
    }
    memcpy(joined + path_nbytes + slash, name, name_nbytes + 1);
    return joined;
}

/* Write one code point; what is none becomes U+FFFD. Returns the bytes written. */
static size_t put_code_point(uint32_t point, char *out) {
    unsigned char *bytes = (unsigned char *) out;
    if (point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) {
        point = 0xFFFD;
    }
    if (point < 0x80) {
        bytes[0] = (unsigned char) point;
        return 1;
    }
    if (point < 0x800) {
        bytes[0] = (unsigned char) (0xC0 | point >> 6);
        bytes[1] = (unsigned char) (0x80 | (point & 0x3F));
        return 2;
    }
    if (point < 0x10000) {
        bytes[0] = (unsigned char) (0xE0 | point >> 12);
        bytes[1] = (unsigned char) (0x80 | (point >> 6 & 0x3F));
        bytes[2] = (unsigned char) (0x80 | (point & 0x3F));
        return 3;
    }
    bytes[0] = (unsigned char) (0xF0 | point >> 18);
    bytes[1] = (unsigned char) (0x80 | (point >> 12 & 0x3F));
    bytes[2] = (unsigned char) (0x80 | (point >> 6 & 0x3F));
    bytes[3] = (unsigned char) (0x80 | (point & 0x3F));
    return UTF8_NBYTES;
}

static int make_room(vczi_ids_t *ids, int64_t nids, size_t text_nbytes) {
    size_t n = 0, nbytes = 0;
    if (!vczi_i64_to_size(nids, &n) || n >= VCZI_STRMAP_NONE || !vczi_add_size(text_nbytes, n, &nbytes)) {
        return vczi_fail(VCZC_ERR_UNSUPPORTED, "%" PRId64 " ids", nids);
    }
    ids->nids = nids;
    ids->offsets = vczi_alloc_array(n + 1, sizeof(*ids->offsets));
    ids->twice = vczi_alloc_zeroed(n, 1);
    ids->text = vczi_alloc(nbytes);
    return ids->offsets == NULL || ids->twice == NULL || ids->text == NULL ? VCZC_ERR_NO_MEMORY : 0;
}

static int read_variable(vczi_ids_t *ids, const vczc_array_t *array) {
    vczc_strings_t strings = {0};
    int ret = vczi_array_read_strings(array, NULL, &strings);
    if (ret == 0) {
        ret = make_room(ids, strings.nitems, (size_t) strings.data_nbytes);
    }
    size_t at = 0;
    for (int64_t i = 0; ret == 0 && i < strings.nitems; i++) {
        const size_t nbytes = (size_t) (strings.offsets[i + 1] - strings.offsets[i]);
        ids->offsets[i] = at;
        if (nbytes != 0) {
            memcpy(ids->text + at, strings.data + strings.offsets[i], nbytes);
        }
        at += nbytes;
        ids->text[at++] = '\0';
        ids->offsets[i + 1] = at;
    }
    vczi_strings_clear(&strings);
    return ret;
}

/* The text of one item of fixed width, without the zeros at its end; returns its bytes. */
static size_t put_fixed(const char *item, size_t item_nbytes, bool is_utf32, char *out) {
    const size_t width = is_utf32 ? sizeof(uint32_t) : 1;
    size_t n = item_nbytes / width, nwritten = 0;
    static const char zeros[sizeof(uint32_t)] = {0};
    while (n > 0 && memcmp(item + (n - 1) * width, zeros, width) == 0) {
        n--;
    }
    if (!is_utf32) {
        if (n != 0) {
            memcpy(out, item, n);
        }
        return n;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t point;
        memcpy(&point, item + i * width, width);
        nwritten += put_code_point(point, out + nwritten);
    }
    return nwritten;
}

static int read_fixed(vczi_ids_t *ids, const vczc_array_t *array) {
    int64_t nitems = 1, strides[VCZC_MAX_NDIM], nbytes = array->info.itemsize;
    bool fits = true;
    for (int i = array->info.ndim - 1; i >= 0; i--) {
        strides[i] = nbytes;
        fits = fits && vczi_mul_i64(nitems, array->info.shape[i], &nitems) &&
               vczi_mul_i64(nbytes, array->info.shape[i], &nbytes);
    }
    size_t size = 0;
    if (!fits || !vczi_i64_to_size(nbytes, &size)) {
        return vczi_fail_memory(SIZE_MAX);
    }
    char *items = vczi_alloc(size);
    int ret = items == NULL ? VCZC_ERR_NO_MEMORY : vczi_array_read(array, NULL, items, strides);
    if (ret == 0) { /* a code point of 4 bytes has at most 4 in UTF-8 */
        ret = make_room(ids, nitems, size);
    }
    size_t at = 0;
    const size_t item_nbytes = (size_t) array->info.itemsize;
    for (int64_t i = 0; ret == 0 && i < nitems; i++) {
        ids->offsets[i] = at;
        at += put_fixed(items + (size_t) i * item_nbytes, item_nbytes, array->info.dtype == VCZC_FIXED_UTF32,
                        ids->text + at);
        ids->text[at++] = '\0';
        ids->offsets[i + 1] = at;
    }
    vczi_free(items);
    return ret;
}

static vczi_span_t id_text(const void *user, uint32_t index) {
    const vczi_ids_t *ids = user;
    return vczi_span(ids->text + ids->offsets[index], ids->offsets[index + 1] - ids->offsets[index] - 1);
}

/* The first of equal ids is the one that is found. */
static int index_ids(vczi_ids_t *ids) {
    int ret = vczi_strmap_init(&ids->places, (size_t) ids->nids);
    for (uint32_t i = 0; ret == 0 && i < (uint32_t) ids->nids; i++) {
        uint32_t previous, same;
        vczi_strmap_put(&ids->places, id_text(ids, i), i, id_text, ids, &previous);
        if (previous != VCZI_STRMAP_NONE) {
            vczi_strmap_put(&ids->places, id_text(ids, previous), previous, id_text, ids, &same);
            ids->twice[previous] = 1;
        }
    }
    return ret;
}

int vczi_ids_init(vczi_ids_t *ids, vczc_store_t *store, const char *path, const char *name) {
    vczc_array_t *array = NULL;
    memset(ids, 0, sizeof(*ids));
    char *where = vczi_ids_path(path, name);
    int ret = where == NULL ? VCZC_ERR_NO_MEMORY : vczi_array_open(&array, store, where, 0, 0);
    if (ret == 0) {
        switch (array->info.dtype) {
            case VCZC_VLEN_UTF8:
            case VCZC_VLEN_BYTES:
                ret = read_variable(ids, array);
                break;
            case VCZC_FIXED_BYTES:
            case VCZC_FIXED_UTF32:
                ret = read_fixed(ids, array);
                break;
            default:
                ret = vczi_fail(VCZC_ERR_METADATA, "'%s' holds no texts", where);
                break;
        }
    }
    if (ret == 0) {
        ret = index_ids(ids);
    }
    vczi_array_close(array);
    vczi_free(where);
    if (ret != 0) {
        vczi_ids_clear(ids);
    }
    return ret;
}

void vczi_ids_clear(vczi_ids_t *ids) {
    vczi_strmap_clear(&ids->places);
    vczi_free(ids->offsets);
    vczi_free(ids->text);
    vczi_free(ids->twice);
    memset(ids, 0, sizeof(*ids));
}

const char *vczi_ids_view(const vczi_ids_t *ids, int64_t place) {
    return ids->text + ids->offsets[place];
}

int64_t vczi_ids_find(const vczi_ids_t *ids, vczi_span_t id) {
    const uint32_t place = vczi_strmap_get(&ids->places, id, id_text, ids);
    return place == VCZI_STRMAP_NONE ? -1 : (int64_t) place;
}
