/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The central directory (APPNOTE 4.3.12): hundreds of thousands of entries are usual, so what an entry
 * costs here is most of what opening an archive costs. */
#include "zip_index.h"

#include "checked.h"
#include "key.h"
#include "mem.h"
#include "status.h"
#include "zip_end.h"
#include "zip_name.h"

#define MIN_ENTRIES 16
#define MIN_NAMES_NBYTES 4096
#define EXTRA_ZIP64 1
#define FLAG_ENCRYPTED 0x0001
#define FLAG_UTF8 0x0800
#define FLAG_MASKED 0x2000 /* the directory is encrypted */

/* The variable parts of one header. */
typedef struct {
    const uint8_t *fixed; /* VCZI_ZIP_CENTRAL_NBYTES bytes */
    vczi_span_t name, extra;
} header_t;

static vczi_span_t entry_name(const void *user, uint32_t index) {
    const vczi_zip_index_t *self = user;
    return vczi_zip_index_name(self, &self->entries[index]);
}

vczi_span_t vczi_zip_index_name(const vczi_zip_index_t *self, const vczi_zip_entry_t *entry) {
    const uint8_t *names = (entry->flags & VCZI_ZIP_CONVERTED) != 0 ? self->names : self->directory.data;
    return vczi_span(names + entry->name, entry->name_nbytes);
}

const vczi_zip_entry_t *vczi_zip_index_find(const vczi_zip_index_t *self, vczi_span_t key) {
    const uint32_t index = vczi_strmap_get(&self->map, key, entry_name, self);
    return index == VCZI_STRMAP_NONE ? NULL : &self->entries[index];
}

/* Make room for `size` entries in all. */
static int set_room(vczi_zip_index_t *self, size_t size, bool with_checksums) {
    vczi_zip_entry_t *entries = vczi_realloc(self->entries, size, sizeof(*entries));
    if (entries == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    self->entries = entries;
    if (with_checksums) {
        uint32_t *checksums = vczi_realloc(self->checksums, size, sizeof(*checksums));
        if (checksums == NULL) {
            return VCZC_ERR_NO_MEMORY;
        }
        self->checksums = checksums;
    }
    self->entries_size = size;
    return 0;
}

/* Room for one more: the end record's count was too small. */
static int grow(vczi_zip_index_t *self) {
    size_t size = 0;
    if (self->nentries < self->entries_size) {
        return 0;
    }
    if (!vczi_mul_size(self->entries_size, 2, &size)) {
        return vczi_fail_memory(SIZE_MAX);
    }
    return set_room(self, size, self->checksums != NULL);
}

static void was_replaced(void *owner, uint32_t index) {
    vczi_zip_index_t *self = owner;
    self->entries[index].flags |= VCZI_ZIP_REPLACED;
}

/* Names to entries; where two have the same, the later one counts. */
static int bind_names(vczi_zip_index_t *self) {
    const int ret = vczi_strmap_init(&self->map, self->nentries);
    if (ret == 0) {
        vczi_strmap_put_all(&self->map, self->nentries, entry_name, self, was_replaced, self);
    }
    return ret;
}

/* A 32-bit field that is all ones stands for the next number of the zip64 field. */
static uint64_t widen(uint32_t narrow, vczi_cursor_t *zip64) {
    return narrow == UINT32_MAX ? vczi_cursor_u64le(zip64) : narrow;
}

/* The numbers of the zip64 field, in the order of APPNOTE 4.5.3. Without such a field they mean what they say. */
static void read_zip64(vczi_zip_entry_t *entry, vczi_span_t extra, uint16_t disk) {
    vczi_cursor_t cursor = vczi_cursor(extra);
    while (!cursor.failed && cursor.left >= 4) {
        const uint16_t kind = vczi_cursor_u16le(&cursor);
        const size_t nbytes = vczi_cursor_u16le(&cursor);
        vczi_cursor_t field = vczi_cursor(vczi_cursor_take(&cursor, nbytes));
        if (kind != EXTRA_ZIP64 || cursor.failed) {
            continue;
        }
        entry->raw_nbytes = widen((uint32_t) entry->raw_nbytes, &field);
        entry->stored_nbytes = widen((uint32_t) entry->stored_nbytes, &field);
        entry->header = widen((uint32_t) entry->header, &field);
        if (disk == UINT16_MAX && field.left >= 4 && vczi_cursor_u32le(&field) == 0) {
            entry->flags &= (uint8_t) ~VCZI_ZIP_ELSEWHERE;
        }
        entry->flags |= field.failed ? VCZI_ZIP_BROKEN : 0;
        return;
    }
}

static void read_numbers(vczi_zip_entry_t *entry, const header_t *header, uint64_t shift) {
    const uint8_t *fixed = header->fixed;
    const uint16_t flags = vczi_load_u16le(fixed + 8);
    const uint16_t method = vczi_load_u16le(fixed + 10);
    const uint16_t disk = vczi_load_u16le(fixed + 34);
    entry->stored_nbytes = vczi_load_u32le(fixed + 20);
    entry->raw_nbytes = vczi_load_u32le(fixed + 24);
    entry->header = vczi_load_u32le(fixed + 42);
    entry->method = method < UINT8_MAX ? (uint8_t) method : UINT8_MAX;
    entry->flags = (flags & FLAG_ENCRYPTED) != 0 ? VCZI_ZIP_ENCRYPTED : 0;
    entry->flags |= disk != 0 ? VCZI_ZIP_ELSEWHERE : 0;
    if (entry->stored_nbytes == UINT32_MAX || entry->raw_nbytes == UINT32_MAX || entry->header == UINT32_MAX ||
        disk == UINT16_MAX) {
        read_zip64(entry, header->extra, disk);
    }
    if (!vczi_add_u64(entry->header, shift, &entry->header)) {
        entry->flags |= VCZI_ZIP_BROKEN;
    }
}

/* Put the converted name behind the others. It is kept only where it differs from what stands in the directory. */
static int convert_name(vczi_zip_index_t *self, const header_t *header, vczi_zip_entry_t *entry, bool *is_key) {
    const bool is_utf8 = (vczi_load_u16le(header->fixed + 8) & FLAG_UTF8) != 0;
    const size_t max_nbytes = vczi_zip_name_max_nbytes(header->name, header->extra);
    size_t size = self->names_size < MIN_NAMES_NBYTES ? MIN_NAMES_NBYTES : self->names_size;
    while (size - self->names_nbytes < max_nbytes) {
        if (!vczi_mul_size(size, 2, &size)) {
            return vczi_fail_memory(SIZE_MAX);
        }
    }
    if (size != self->names_size) {
        uint8_t *names = vczi_realloc(self->names, size, 1);
        if (names == NULL) {
            return VCZC_ERR_NO_MEMORY;
        }
        self->names = names;
        self->names_size = size;
    }
    uint8_t *converted = self->names + self->names_nbytes;
    const size_t nbytes = vczi_zip_name_convert(header->name, is_utf8, header->extra, converted);
    *is_key = vczi_key_span_is_safe(vczi_span(converted, nbytes)); /* and so at most VCZI_MAX_KEY_NBYTES */
    if (!*is_key || (nbytes == header->name.nbytes && memcmp(converted, header->name.data, nbytes) == 0)) {
        return 0;
    }
    if (!vczi_size_to_u32(self->names_nbytes, &entry->name)) {
        return vczi_fail(VCZC_ERR_UNSUPPORTED, "the names in the zip archive take more than 4 GiB");
    }
    entry->name_nbytes = (uint16_t) nbytes;
    entry->flags |= VCZI_ZIP_CONVERTED;
    self->names_nbytes += nbytes;
    return 0;
}

static int add_entry(vczi_zip_index_t *self, const header_t *header, uint64_t shift) {
    bool is_key = true;
    int ret = grow(self);
    if (ret != 0) {
        return ret;
    }
    vczi_zip_entry_t *entry = &self->entries[self->nentries];
    read_numbers(entry, header, shift);
    entry->name = (uint32_t) (header->name.data - self->directory.data); /* the directory is below 4 GiB */
    entry->name_nbytes = (uint16_t) header->name.nbytes;
    if (header->name.nbytes > VCZI_MAX_KEY_NBYTES || !vczi_zip_name_is_plain(header->name)) {
        ret = convert_name(self, header, entry, &is_key);
    }
    if (ret != 0 || !is_key) {
        return ret;
    }
    if (self->checksums != NULL) {
        self->checksums[self->nentries] = vczi_load_u32le(header->fixed + 16);
    }
    self->nentries++;
    return 0;
}

/* The next header; *is_end where a signature of the directory, or nothing, follows the last one. */
static int read_header(vczi_cursor_t *cursor, size_t place, header_t *header, bool *is_end) {
    *is_end = cursor->left == 0 || (cursor->left >= 4 && vczi_load_u32le(cursor->next) == VCZI_ZIP_DIGITAL_SIGNATURE);
    if (*is_end) {
        return 0;
    }
    const vczi_span_t fixed = vczi_cursor_take(cursor, VCZI_ZIP_CENTRAL_NBYTES);
    if (cursor->failed || vczi_load_u32le(fixed.data) != VCZI_ZIP_CENTRAL_HEADER) {
        return vczi_fail(VCZC_ERR_STORE, "the directory of the zip archive is damaged at byte %zu", place);
    }
    header->fixed = fixed.data;
    header->name = vczi_cursor_take(cursor, vczi_load_u16le(fixed.data + 28));
    header->extra = vczi_cursor_take(cursor, vczi_load_u16le(fixed.data + 30));
    (void) vczi_cursor_take(cursor, vczi_load_u16le(fixed.data + 32)); /* comment */
    if (cursor->failed) {
        return vczi_fail(VCZC_ERR_STORE, "a header in the directory of the zip archive passes its end (byte %zu)",
                         place);
    }
    if ((vczi_load_u16le(fixed.data + 8) & FLAG_MASKED) != 0) {
        return vczi_fail(VCZC_ERR_UNSUPPORTED, "a zip archive whose directory is encrypted is not read");
    }
    return 0;
}

static int read_directory(vczi_zip_index_t *self, uint64_t shift) {
    vczi_cursor_t cursor = vczi_cursor(self->directory);
    for (;;) {
        header_t header = {0};
        bool is_end = false;
        const size_t place = self->directory_start + (self->directory.nbytes - cursor.left);
        int ret = read_header(&cursor, place, &header, &is_end);
        if (ret == 0 && !is_end) {
            ret = add_entry(self, &header, shift);
        }
        if (ret != 0 || is_end) {
            return ret;
        }
    }
}

/* How many entries to make room for: as claimed, but no more than the directory's bytes can hold. */
static size_t first_room(const vczi_zip_directory_t *directory) {
    const size_t most = directory->nbytes / VCZI_ZIP_CENTRAL_NBYTES;
    const size_t claimed = directory->nentries < most ? (size_t) directory->nentries : most;
    return claimed < MIN_ENTRIES ? MIN_ENTRIES : claimed;
}

int vczi_zip_index_init(vczi_zip_index_t *self, vczi_span_t archive, bool with_checksums) {
    const vczi_zip_index_t none = {0};
    vczi_zip_directory_t directory = {0};
    *self = none;
    int ret = vczi_zip_find_directory(archive, &directory);
    if (ret != 0) {
        return ret;
    }
    if (directory.nbytes > UINT32_MAX) {
        return vczi_fail(VCZC_ERR_UNSUPPORTED, "the directory of the zip archive takes more than 4 GiB");
    }
    self->directory = vczi_span(archive.data + directory.start, directory.nbytes);
    self->directory_start = directory.start;
    ret = set_room(self, first_room(&directory), with_checksums);
    if (ret == 0) {
        ret = read_directory(self, directory.shift);
    }
    if (ret == 0) {
        ret = bind_names(self);
    }
    if (ret != 0) {
        vczi_zip_index_clear(self);
    }
    return ret;
}

void vczi_zip_index_clear(vczi_zip_index_t *self) {
    const vczi_zip_index_t none = {0};
    vczi_free(self->entries);
    vczi_free(self->checksums);
    vczi_free(self->names);
    vczi_strmap_clear(&self->map);
    *self = none;
}
