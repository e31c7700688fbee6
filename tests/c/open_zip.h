/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* An archive in memory, or in a file, that is open as a store, and what is expected of it. */
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

static const char *in_file; /* where it is put to be opened; NULL: in memory */

static inline void put_archive(const void *bytes, size_t nbytes) {
    if (in_file != NULL) {
        (void) remove(in_file); /* file systems may wait for the disk where a file is cut to be written again */
        FILE *file = fopen(in_file, "wb");
        if (file == NULL || fwrite(bytes, 1, nbytes, file) != nbytes || fclose(file) != 0) abort();
        return;
    }
    archive = malloc(nbytes == 0 ? 1 : nbytes);
    if (nbytes != 0) memcpy(archive, bytes, nbytes);
}

static inline int open_archive(size_t nbytes, uint32_t flags) {
    return in_file != NULL ? vczi_store_open_path(&store, in_file, flags)
                           : vczi_store_open_zip_memory(&store, vczi_span(archive, nbytes), flags);
}

static inline int open_bytes(const void *bytes, size_t nbytes, uint32_t flags) {
    scratch = vczi_scratch_borrow();
    put_archive(bytes, nbytes);
    return open_archive(nbytes, flags);
}

/* Run all tests on archives in memory, then on the same ones in a file. */
static inline int run_both_ways(void (*run_tests)(void)) {
    char name[64];
    run_tests();
    (void) snprintf(name, sizeof(name), "vczc_test_%llx.zip", (unsigned long long) (uintptr_t) &in_file);
    in_file = name;
    run_tests();
    (void) remove(name);
    return check_result();
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
