/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* An archive in memory that is open as a store, and what is expected of it. */
#ifndef OPEN_ZIP_H
#define OPEN_ZIP_H

#include "check.h"
#include "make_zip.h"
#include "mem.h"
#include "scratch.h"
#include "status.h"
#include "store.h"

static vczc_store_t *store;
static uint8_t *archive; /* a copy of exact size, so that a sanitizer sees each step past its end */
static vczi_scratch_t *scratch;

static inline int open_bytes(const void *bytes, size_t nbytes, uint32_t flags) {
    archive = malloc(nbytes == 0 ? 1 : nbytes);
    if (nbytes != 0) memcpy(archive, bytes, nbytes);
    scratch = vczi_scratch_borrow();
    return vczi_store_open_zip_memory(&store, vczi_span(archive, nbytes), flags);
}

static inline int open_zip(void) {
    return open_bytes(zip.bytes, zip.nbytes, 0);
}

static inline void close_zip(void) {
    vczi_store_release(store);
    vczi_scratch_return(scratch);
    free(archive);
    store = NULL;
    archive = NULL;
}

/* What opening gives, without keeping it. */
static inline int try_open(void) {
    const int ret = open_zip();
    close_zip();
    return ret;
}

static inline const char *reason(void) {
    return vczi_detail_view()->reason;
}

/* Get a key with scratch and without, and compare; both must give `code`. */
static inline void expect(const char *key, int code, const char *text) {
    vczi_scratch_t *const scratches[] = {scratch, NULL};
    for (int i = 0; i < 2; i++) {
        vczi_bytes_t bytes;
        if (!CHECK_EQ(vczi_store_get(store, key, scratches[i], &bytes), code)) {
            fprintf(stderr, "    of '%s': %s\n", key, reason());
        } else if (code == 0 && CHECK_EQ(bytes.span.nbytes, strlen(text))) {
            CHECK_MEM(bytes.span.data, text, strlen(text));
        }
        vczi_bytes_release(&bytes);
    }
}

static char listed[4096];

static inline int append(void *user, const char *key, size_t key_nbytes) {
    (void) user;
    snprintf(listed + strlen(listed), sizeof(listed) - strlen(listed), "%.*s ", (int) key_nbytes, key);
    return 0;
}

static inline const char *list(const char *prefix) {
    listed[0] = '\0';
    CHECK_EQ(vczi_store_list(store, prefix, append, NULL), 0);
    return listed;
}

static inline const char *list_folder(const char *folder) {
    listed[0] = '\0';
    CHECK_EQ(vczi_store_list_folder(store, folder, append, NULL), 0);
    return listed;
}

static char long_text[20001];

static inline void make_usual(void) {
    memset(long_text, 'z', sizeof(long_text) - 1);
    zip_begin();
    zip_add(".zgroup", "{}", 0);
    zip_add("x/.zarray", "{\"zarr_format\": 2}", 8);
    zip_add("x/0", "zero", 0);
    zip_add("x/1", long_text, 8);
    zip_add("empty", "", 0);
    zip_add("x/none", "", 8);
    zip_add("dir/", "", 0);
}

static inline void expect_usual(void) {
    expect(".zgroup", 0, "{}");
    expect("x/.zarray", 0, "{\"zarr_format\": 2}");
    expect("x/0", 0, "zero");
    expect("x/1", 0, long_text);
    expect("empty", 0, "");
    expect("x/none", 0, "");
    expect("x/2", VCZC_ERR_NOT_FOUND, NULL);
    expect("x", VCZC_ERR_NOT_FOUND, NULL);
    expect("dir", VCZC_ERR_NOT_FOUND, NULL);
}

#endif
