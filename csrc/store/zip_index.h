/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The central directory of a zip archive as an index: key to entry. Nothing of the archive is needed afterwards. */
#ifndef VCZI_ZIP_INDEX_H
#define VCZI_ZIP_INDEX_H

#include <stdbool.h>

#include "bytes.h"
#include "strmap.h"
#include "zip_source.h"

/* Flags of an entry. */
enum {
    VCZI_ZIP_ENCRYPTED = 1,
    VCZI_ZIP_REPLACED = 2,  /* a later entry has the same name */
    VCZI_ZIP_ELSEWHERE = 4, /* on another part of a split archive */
    VCZI_ZIP_BROKEN = 8     /* its zip64 field does not hold what it must */
};

/* Methods of compression. */
enum { VCZI_ZIP_STORED = 0, VCZI_ZIP_DEFLATED = 8 };

/* One entry, as the central directory has it; nothing of it has been compared with the archive's size. */
typedef struct {
    uint64_t header; /* place of the local header in the archive */
    uint64_t stored_nbytes;
    uint64_t raw_nbytes;
    uint32_t name; /* place of the name among the names */
    uint16_t name_nbytes;
    uint8_t method; /* 255 where it is more */
    uint8_t flags;
} vczi_zip_entry_t;

typedef struct {
    uint64_t directory_start;  /* its place in the archive */
    vczi_zip_entry_t *entries; /* in the directory's order */
    uint32_t *checksums;       /* CRC-32 of each, or NULL */
    size_t nentries, entries_size;
    uint8_t *names; /* as keys */
    size_t names_nbytes, names_size;
    vczi_strmap_t map;
} vczi_zip_index_t;

/* Read the directory of an archive. Entries whose names cannot be keys (folders, unsafe
 * ones) are left out. VCZC_ERR_STORE where it is no zip archive or damaged, VCZC_ERR_UNSUPPORTED where it is split or
 * its directory encrypted, VCZC_ERR_NO_MEMORY. */
int vczi_zip_index_init(vczi_zip_index_t *self, const vczi_zip_source_t *source, bool with_checksums);

/* The entry of `key`, or NULL. */
const vczi_zip_entry_t *vczi_zip_index_find(const vczi_zip_index_t *self, vczi_span_t key);

/* The key of an entry. */
vczi_span_t vczi_zip_index_name(const vczi_zip_index_t *self, const vczi_zip_entry_t *entry);

/* Frees; an initialised or zeroed one. */
void vczi_zip_index_clear(vczi_zip_index_t *self);

#endif
