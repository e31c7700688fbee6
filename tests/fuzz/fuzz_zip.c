/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* A zip archive from hostile bytes: opened with and without checksums, listed, and its entries read. Two reads of one
 * entry give the same bytes, and as many as the store says. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ceilings.h"
#include "scratch.h"
#include "store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes);

/* Entries may share their data, so few bytes can make a lot of work. */
#define MAX_READ 32
#define MAX_ENTRY_NBYTES ((uint64_t) 1 << 20)

typedef struct {
    vczc_store_t *store;
    vczi_scratch_t *scratch;
    int nread;
} reader_t;

static void require(int condition) {
    if (!condition) abort();
}

static void read_entry(reader_t *reader, const char *key) {
    vczi_bytes_t first, second, part;
    uint64_t nbytes = 0;
    require(vczi_store_size(reader->store, key, &nbytes) == 0);
    if (nbytes > MAX_ENTRY_NBYTES || vczi_store_get(reader->store, key, NULL, &first) != 0) {
        return;
    }
    require(first.span.nbytes == nbytes);
    require(vczi_store_get(reader->store, key, reader->scratch, &second) == 0);
    require(second.span.nbytes == nbytes && memcmp(first.span.data, second.span.data, (size_t) nbytes) == 0);
    vczi_bytes_release(&second);
    const size_t start = (size_t) nbytes / 3;
    require(vczi_store_get_range(reader->store, key, start, start, reader->scratch, &part) == 0);
    require(part.span.nbytes == start && memcmp(first.span.data + start, part.span.data, start) == 0);
    vczi_bytes_release(&part);
    vczi_bytes_release(&first);
}

static int read_key(void *user, const char *key, size_t key_nbytes) {
    reader_t *reader = user;
    char text[VCZI_MAX_KEY_NBYTES + 1];
    require(key_nbytes <= VCZI_MAX_KEY_NBYTES);
    memcpy(text, key, key_nbytes);
    text[key_nbytes] = '\0';
    read_entry(reader, text);
    return ++reader->nread == MAX_READ;
}

static int list_again(void *user, const char *name, size_t name_nbytes) {
    reader_t *reader = user;
    char folder[VCZI_MAX_KEY_NBYTES + 2];
    require(name_nbytes <= VCZI_MAX_KEY_NBYTES);
    memcpy(folder, name, name_nbytes);
    memcpy(folder + name_nbytes, "/", 2);
    reader->nread = 0;
    (void) vczi_store_list(reader->store, folder, read_key, reader);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes) {
    static const uint32_t flags[] = {0, VCZC_OPEN_VERIFY};
    reader_t reader = {NULL, vczi_scratch_borrow(), 0};
    require(reader.scratch != NULL);
    for (int i = 0; i < 2; i++) {
        if (vczi_store_open_zip_memory(&reader.store, vczi_span(data, nbytes), flags[i]) == 0) {
            reader.nread = 0;
            (void) vczi_store_list(reader.store, "", read_key, &reader);
            require(vczi_store_list_folder(reader.store, "", list_again, &reader) == 0);
        }
        vczi_store_release(reader.store);
    }
    vczi_scratch_return(reader.scratch);
    return 0;
}
