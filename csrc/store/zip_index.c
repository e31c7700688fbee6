/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The central directory (APPNOTE 4.3.12): hundreds of thousands of entries are usual, so what an entry
 * costs here is most of what opening an archive costs. */
#include "zip_index.h"

#include <inttypes.h>

#include "ceilings.h"
#include "checked.h"
#include "key.h"
#include "mem.h"
#include "status.h"
#include "zip_end.h"
#include "zip_name.h"

#define MIN_ENTRIES 16
#define MIN_NAMES_NBYTES 4096
/* Of a directory in a file: the longest header fits, and it stays in a cache. */
#define WINDOW_NBYTES ((size_t) 256 << 10)
#define EXTRA_ZIP64 1
#define FLAG_ENCRYPTED 0x0001
#define FLAG_UTF8 0x0800
#define FLAG_MASKED 0x2000 /* the directory is encrypted */

/* The variable parts of one header. */
typedef struct {
    const uint8_t *fixed; /* VCZI_ZIP_CENTRAL_NBYTES bytes */
    vczi_span_t name, extra;
} header_t;

/* A directory on its way through a window. */
typedef struct {
    const vczi_zip_source_t *source;
    vczi_cursor_t cursor; /* over what is in the window */
    uint64_t next;        /* in the archive: what follows the window */
    uint64_t left;        /* of the directory: behind the window */
    uint8_t *window;      /* NULL for an archive in memory */
} reader_t;

static vczi_span_t entry_name(const void *user, uint32_t index) {
    const vczi_zip_index_t *self = user;
    return vczi_zip_index_name(self, &self->entries[index]);
}

vczi_span_t vczi_zip_index_name(const vczi_zip_index_t *self, const vczi_zip_entry_t *entry) {
    return vczi_span(self->names + entry->name, entry->name_nbytes);
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

/* Room for `nbytes` bytes behind the names. */
static int reserve_name(vczi_zip_index_t *self, size_t nbytes) {
    size_t size = self->names_size < MIN_NAMES_NBYTES ? MIN_NAMES_NBYTES : self->names_size;
    while (size - self->names_nbytes < nbytes) {
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
    return 0;
}

/* Put the name, as a key, behind the others. It does not count yet. */
static int write_name(vczi_zip_index_t *self, const header_t *header, vczi_zip_entry_t *entry, bool *is_key) {
    const vczi_span_t name = header->name;
    const bool is_plain = name.nbytes <= VCZI_MAX_KEY_NBYTES && vczi_zip_name_is_plain(name);
    int ret = reserve_name(self, is_plain ? name.nbytes : vczi_zip_name_max_nbytes(name, header->extra));
    if (ret != 0) {
        return ret;
    }
    uint8_t *place = self->names + self->names_nbytes;
    size_t nbytes = name.nbytes;
    *is_key = true;
    if (is_plain) {
        memcpy(place, name.data, nbytes);
    } else {
        const bool is_utf8 = (vczi_load_u16le(header->fixed + 8) & FLAG_UTF8) != 0;
        nbytes = vczi_zip_name_convert(name, is_utf8, header->extra, place);
        *is_key = vczi_key_span_is_safe(vczi_span(place, nbytes)); /* and so at most VCZI_MAX_KEY_NBYTES */
    }
    if (*is_key && !vczi_size_to_u32(self->names_nbytes, &entry->name)) {
        return vczi_fail(VCZC_ERR_UNSUPPORTED, "the names in the zip archive take more than 4 GiB");
    }
    entry->name_nbytes = *is_key ? (uint16_t) nbytes : 0;
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
    ret = write_name(self, header, entry, &is_key);
    if (ret != 0 || !is_key) {
        return ret;
    }
    if (self->checksums != NULL) {
        self->checksums[self->nentries] = vczi_load_u32le(header->fixed + 16);
    }
    self->names_nbytes += entry->name_nbytes;
    self->nentries++;
    return 0;
}

/* ---- The directory ---- */

static int reader_init(reader_t *reader, const vczi_zip_source_t *source, const vczi_zip_directory_t *directory) {
    *reader = (reader_t){.source = source, .next = directory->start, .left = directory->nbytes};
    if (source->file == NULL) {
        const size_t nbytes = (size_t) directory->nbytes; /* it lies in memory */
        reader->cursor = vczi_cursor(vczi_span(source->memory.data + (size_t) directory->start, nbytes));
        reader->next += nbytes;
        reader->left = 0;
        return 0;
    }
    reader->window = vczi_alloc(WINDOW_NBYTES);
    reader->cursor = vczi_cursor(vczi_span(reader->window, 0));
    return reader->window == NULL ? VCZC_ERR_NO_MEMORY : 0;
}

static bool has_header(const vczi_cursor_t *cursor) {
    const uint8_t *fixed = cursor->next;
    return cursor->left >= VCZI_ZIP_CENTRAL_NBYTES &&
           cursor->left - VCZI_ZIP_CENTRAL_NBYTES >=
               (size_t) vczi_load_u16le(fixed + 28) + vczi_load_u16le(fixed + 30) + vczi_load_u16le(fixed + 32);
}

/* Have the next header in the window, however long it is, or all that is left. */
static int reader_fill(reader_t *reader) {
    const size_t have = reader->cursor.left;
    if (reader->left == 0 || has_header(&reader->cursor)) {
        return 0;
    }
    const size_t room = WINDOW_NBYTES - have;
    const size_t nbytes = reader->left < room ? (size_t) reader->left : room;
    memmove(reader->window, reader->cursor.next, have);
    reader->cursor = vczi_cursor(vczi_span(reader->window, have + nbytes));
    const int ret = vczi_zip_source_read(reader->source, reader->next, reader->window + have, nbytes);
    reader->next += nbytes;
    reader->left -= nbytes;
    return ret;
}

/* The next header; *is_end where a signature of the directory, or nothing, follows the last one. */
static int read_header(vczi_cursor_t *cursor, uint64_t place, header_t *header, bool *is_end) {
    *is_end = cursor->left == 0 || (cursor->left >= 4 && vczi_load_u32le(cursor->next) == VCZI_ZIP_DIGITAL_SIGNATURE);
    if (*is_end) {
        return 0;
    }
    const vczi_span_t fixed = vczi_cursor_take(cursor, VCZI_ZIP_CENTRAL_NBYTES);
    if (cursor->failed || vczi_load_u32le(fixed.data) != VCZI_ZIP_CENTRAL_HEADER) {
        return vczi_fail(VCZC_ERR_STORE, "the directory of the zip archive is damaged at byte %" PRIu64, place);
    }
    header->fixed = fixed.data;
    header->name = vczi_cursor_take(cursor, vczi_load_u16le(fixed.data + 28));
    header->extra = vczi_cursor_take(cursor, vczi_load_u16le(fixed.data + 30));
    (void) vczi_cursor_take(cursor, vczi_load_u16le(fixed.data + 32)); /* comment */
    if (cursor->failed) {
        return vczi_fail(VCZC_ERR_STORE,
                         "a header in the directory of the zip archive passes its end (byte %" PRIu64 ")", place);
    }
    if ((vczi_load_u16le(fixed.data + 8) & FLAG_MASKED) != 0) {
        return vczi_fail(VCZC_ERR_UNSUPPORTED, "a zip archive whose directory is encrypted is not read");
    }
    return 0;
}

static int read_directory(vczi_zip_index_t *self, reader_t *reader, uint64_t shift) {
    for (;;) {
        header_t header = {0};
        bool is_end = false;
        int ret = reader_fill(reader);
        if (ret == 0) {
            ret = read_header(&reader->cursor, reader->next - reader->cursor.left, &header, &is_end);
        }
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
    const uint64_t most = directory->nbytes / VCZI_ZIP_CENTRAL_NBYTES; /* below 2^32 */
    const size_t claimed = (size_t) (directory->nentries < most ? directory->nentries : most);
    return claimed < MIN_ENTRIES ? MIN_ENTRIES : claimed;
}

int vczi_zip_index_init(vczi_zip_index_t *self, const vczi_zip_source_t *source, bool with_checksums) {
    const vczi_zip_index_t none = {0};
    vczi_zip_directory_t directory = {0};
    reader_t reader = {0};
    *self = none;
    int ret = vczi_zip_find_directory(source, &directory);
    if (ret != 0) {
        return ret;
    }
    if (directory.nbytes > UINT32_MAX) {
        return vczi_fail(VCZC_ERR_UNSUPPORTED, "the directory of the zip archive takes more than 4 GiB");
    }
    self->directory_start = directory.start;
    ret = set_room(self, first_room(&directory), with_checksums);
    if (ret == 0) {
        ret = reader_init(&reader, source, &directory);
    }
    if (ret == 0) {
        ret = read_directory(self, &reader, directory.shift);
    }
    if (ret == 0) {
        ret = bind_names(self);
    }
    vczi_free(reader.window);
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
