/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Zip archives byte by byte, with whatever fields a test wants: begin, add entries, change what is to be odd about
 * them, finish, and change bytes of the result. */
#ifndef MAKE_ZIP_H
#define MAKE_ZIP_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "inflate.h"

#define ZLIB_CONST
#include <zlib.h>

#define MAX_ENTRIES 32
#define MAX_NBYTES (1 << 20)

/* What the central directory will say of an entry; a test may change it before `zip_finish`. */
typedef struct {
    char name[300];
    uint16_t name_nbytes, method, flags, disk;
    uint32_t checksum, stored_nbytes, raw_nbytes, header;
    uint8_t extra[128];
    uint16_t extra_nbytes;
} made_entry_t;

static struct {
    uint8_t bytes[MAX_NBYTES];
    size_t nbytes;
    made_entry_t entries[MAX_ENTRIES];
    int nentries;
    size_t central[MAX_ENTRIES]; /* places of the headers in the directory */
    size_t directory, directory_nbytes, end;
} zip;

static inline void zip_put(const void *data, size_t nbytes) {
    if (nbytes > sizeof(zip.bytes) - zip.nbytes) abort();
    if (nbytes != 0) memcpy(zip.bytes + zip.nbytes, data, nbytes);
    zip.nbytes += nbytes;
}

static inline void zip_patch(size_t place, uint64_t value, size_t nbytes) {
    for (size_t i = 0; i < nbytes; i++) {
        zip.bytes[place + i] = (uint8_t) (value >> (8 * i));
    }
}

static inline void zip_put_number(uint64_t value, size_t nbytes) {
    zip.nbytes += nbytes;
    if (zip.nbytes > sizeof(zip.bytes)) abort();
    zip_patch(zip.nbytes - nbytes, value, nbytes);
}

static inline void zip_begin(void) {
    zip.nbytes = 0;
    memset(zip.entries, 0, sizeof(zip.entries));
    zip.nentries = 0;
}

static inline void zip_add_extra(made_entry_t *entry, uint16_t kind, const void *data, uint16_t nbytes) {
    uint8_t *next = entry->extra + entry->extra_nbytes;
    const uint8_t head[] = {(uint8_t) kind, (uint8_t) (kind >> 8), (uint8_t) nbytes, (uint8_t) (nbytes >> 8)};
    memcpy(next, head, 4);
    if (nbytes != 0) memcpy(next + 4, data, nbytes);
    entry->extra_nbytes = (uint16_t) (entry->extra_nbytes + 4 + nbytes);
}

static inline size_t zip_deflate(const void *data, size_t nbytes, uint8_t *out, size_t size) {
    z_stream stream = {0};
    if (deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK) abort();
    stream.next_in = data;
    stream.avail_in = (unsigned) nbytes;
    stream.next_out = out;
    stream.avail_out = (unsigned) size;
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END) abort();
    const size_t made = stream.total_out;
    deflateEnd(&stream);
    return made;
}

/* The local header, with an extra field of its own that has another length than the central one, and the data. */
static inline made_entry_t *zip_add_named(const char *name, size_t name_nbytes, const void *data, size_t nbytes,
                                          uint16_t method) {
    static uint8_t packed[MAX_NBYTES];
    static const uint8_t local_extra[] = {0xfe, 0xca, 3, 0, 1, 2, 3};
    made_entry_t *entry = &zip.entries[zip.nentries++];
    const size_t npacked = method == 8 ? zip_deflate(data, nbytes, packed, sizeof(packed)) : nbytes;
    memcpy(entry->name, name, name_nbytes);
    entry->name_nbytes = (uint16_t) name_nbytes;
    entry->method = method;
    entry->checksum = vczi_crc32(vczi_span(data, nbytes));
    entry->stored_nbytes = (uint32_t) npacked;
    entry->raw_nbytes = (uint32_t) nbytes;
    entry->header = (uint32_t) zip.nbytes;
    zip_put("PK\3\4\x14\0\0\0", 8);
    zip_put_number(method, 2);
    zip_put_number(0, 4);
    zip_put_number(entry->checksum, 4);
    zip_put_number(npacked, 4);
    zip_put_number(nbytes, 4);
    zip_put_number(name_nbytes, 2);
    zip_put_number(sizeof(local_extra), 2);
    zip_put(name, name_nbytes);
    zip_put(local_extra, sizeof(local_extra));
    zip_put(method == 8 ? packed : data, npacked);
    return entry;
}

static inline made_entry_t *zip_add(const char *name, const char *text, uint16_t method) {
    return zip_add_named(name, strlen(name), text, strlen(text), method);
}

static inline void zip_put_central(const made_entry_t *entry) {
    zip_put("PK\1\2\x14\3\x14\0", 8);
    zip_put_number(entry->flags, 2);
    zip_put_number(entry->method, 2);
    zip_put_number(0, 4);
    zip_put_number(entry->checksum, 4);
    zip_put_number(entry->stored_nbytes, 4);
    zip_put_number(entry->raw_nbytes, 4);
    zip_put_number(entry->name_nbytes, 2);
    zip_put_number(entry->extra_nbytes, 2);
    zip_put_number(0, 2);
    zip_put_number(entry->disk, 2);
    zip_put_number(0, 6);
    zip_put_number(entry->header, 4);
    zip_put(entry->name, entry->name_nbytes);
    zip_put(entry->extra, entry->extra_nbytes);
}

static inline void zip_put_directory(void) {
    zip.directory = zip.nbytes;
    for (int i = 0; i < zip.nentries; i++) {
        zip.central[i] = zip.nbytes;
        zip_put_central(&zip.entries[i]);
    }
    zip.directory_nbytes = zip.nbytes - zip.directory;
}

static inline void zip_put_end(uint64_t count, uint64_t directory_nbytes, uint64_t directory, const char *comment) {
    zip.end = zip.nbytes;
    zip_put("PK\5\6\0\0\0\0", 8);
    zip_put_number(count, 2);
    zip_put_number(count, 2);
    zip_put_number(directory_nbytes, 4);
    zip_put_number(directory, 4);
    zip_put_number(strlen(comment), 2);
    zip_put(comment, strlen(comment));
}

static inline void zip_finish(const char *comment) {
    zip_put_directory();
    zip_put_end((uint64_t) zip.nentries, zip.directory_nbytes, zip.directory, comment);
}

/* The zip64 record and its locator; an end record of all ones may follow. */
static inline void zip_put_end64(uint64_t count, uint64_t directory_nbytes, uint64_t directory) {
    const size_t record = zip.nbytes;
    zip_put("PK\6\6", 4);
    zip_put_number(44, 8);
    zip_put_number(45, 2);
    zip_put_number(45, 2);
    zip_put_number(0, 8);
    zip_put_number(count, 8);
    zip_put_number(count, 8);
    zip_put_number(directory_nbytes, 8);
    zip_put_number(directory, 8);
    zip_put("PK\6\7\0\0\0\0", 8);
    zip_put_number(record, 8);
    zip_put_number(1, 4);
}

static inline void zip_prepend(const char *text) {
    const size_t nbytes = strlen(text);
    if (nbytes > sizeof(zip.bytes) - zip.nbytes) abort();
    memmove(zip.bytes + nbytes, zip.bytes, zip.nbytes);
    memcpy(zip.bytes, text, nbytes);
    zip.nbytes += nbytes;
}

#endif
