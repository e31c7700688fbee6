/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The records at the end of a zip archive (APPNOTE 4.3.14 to 4.3.16). A comment may hold anything, also what looks like
 * an end record, so each candidate must fit the archive before it is believed. */
#include "zip_end.h"

#include <stdbool.h>

#include "checked.h"
#include "mem.h"
#include "status.h"

#define END_SIGNATURE UINT32_C(0x06054b50)
#define END_NBYTES 22
#define END64_SIGNATURE UINT32_C(0x06064b50)
#define END64_NBYTES 56
#define END64_UNCOUNTED_NBYTES 12 /* signature and size, which the record's own size leaves out */
#define END64_V2_NBYTES 84        /* version 2 of the record says how the directory is encrypted */
#define END64_V2_NEEDED 62        /* the version of the format that brought it */
#define LOCATOR_SIGNATURE UINT32_C(0x07064b50)
#define LOCATOR_NBYTES 20
#define MAX_COMMENT_NBYTES 65535

/* What a candidate turned out to be. */
typedef enum { END_IS_NONE = 0, END_IS_GOOD, END_IS_SPLIT, END_IS_ENCRYPTED } end_kind_t;

/* The fields of an end record; those of 16 and 32 bits may be all ones. */
typedef struct {
    uint32_t disk, directory_disk;
    uint64_t nentries, directory_nbytes, directory_offset;
    uint64_t limit; /* where the directory ends at the latest */
    bool is_encrypted;
} end_t;

/* The archive, and what of its end is there. */
typedef struct {
    const vczi_zip_source_t *source;
    vczi_span_t window; /* its last bytes: all that can hold an end record */
    uint64_t window_start;
    int error; /* of a look that failed: what was made of it does not count */
} tail_t;

/* The `nbytes` bytes at `place`, read into `room` where they are not there; NULL where the archive has none, or by an
 * error. */
static const uint8_t *look(tail_t *tail, uint64_t place, size_t nbytes, uint8_t *room) {
    const uint64_t total = tail->source->nbytes;
    if (place > total || nbytes > total - place) {
        return NULL;
    }
    if (place >= tail->window_start) {
        return tail->window.data + (size_t) (place - tail->window_start);
    }
    const int ret = vczi_zip_source_read(tail->source, place, room, nbytes);
    tail->error = tail->error == 0 ? ret : tail->error;
    return ret == 0 ? room : NULL;
}

static bool has_signature(tail_t *tail, uint64_t place, uint32_t signature) {
    uint8_t room[4];
    const uint8_t *found = look(tail, place, sizeof(room), room);
    return found != NULL && vczi_load_u32le(found) == signature;
}

/* Where the zip64 record lies before the locator: where that says, or, as bytes before the archive shift it, right
 * before. */
static bool find_end64(tail_t *tail, uint64_t locator, uint64_t claimed, uint64_t *place) {
    uint8_t room[8];
    if (locator < END64_NBYTES) {
        return false;
    }
    const uint64_t latest = locator - END64_NBYTES;
    if (claimed <= latest && has_signature(tail, claimed, END64_SIGNATURE)) {
        const uint8_t *nbytes = look(tail, claimed + 4, sizeof(room), room);
        if (nbytes != NULL && vczi_load_u64le(nbytes) == locator - claimed - END64_UNCOUNTED_NBYTES) {
            *place = claimed;
            return true;
        }
    }
    *place = latest;
    return has_signature(tail, latest, END64_SIGNATURE);
}

/* Replace the fields of `end` that are all ones by those of the zip64 record. False where it is needed and not there.
 */
static bool read_end64(tail_t *tail, uint64_t place, end_t *end) {
    uint8_t room[END64_NBYTES];
    const bool is_needed = end->disk == UINT16_MAX || end->directory_disk == UINT16_MAX ||
                           end->directory_nbytes == UINT32_MAX || end->directory_offset == UINT32_MAX;
    uint64_t record = 0;
    if (place < LOCATOR_NBYTES || !has_signature(tail, place - LOCATOR_NBYTES, LOCATOR_SIGNATURE)) {
        return true; /* the fields mean what they say, all ones or not */
    }
    const uint64_t locator = place - LOCATOR_NBYTES;
    const uint8_t *claimed = look(tail, locator + 8, 8, room);
    if (claimed == NULL || !find_end64(tail, locator, vczi_load_u64le(claimed), &record)) {
        return !is_needed;
    }
    const uint8_t *fixed = look(tail, record, END64_NBYTES, room); /* it ends at the locator at the latest */
    if (fixed == NULL) {
        return false;
    }
    vczi_cursor_t cursor = vczi_cursor(vczi_span(fixed, END64_NBYTES));
    (void) vczi_cursor_take(&cursor, 14); /* signature, size, version of the writer */
    const uint16_t version = vczi_cursor_u16le(&cursor);
    const uint32_t disk = vczi_cursor_u32le(&cursor);
    const uint32_t directory_disk = vczi_cursor_u32le(&cursor);
    (void) vczi_cursor_u64le(&cursor); /* entries on this disk */
    const uint64_t nentries = vczi_cursor_u64le(&cursor);
    const uint64_t nbytes = vczi_cursor_u64le(&cursor);
    const uint64_t offset = vczi_cursor_u64le(&cursor);
    end->limit = record;
    end->is_encrypted = (version & 0xff) >= END64_V2_NEEDED && locator - record >= END64_V2_NBYTES;
    end->disk = end->disk == UINT16_MAX ? disk : end->disk;
    end->directory_disk = end->directory_disk == UINT16_MAX ? directory_disk : end->directory_disk;
    end->nentries = end->nentries == UINT16_MAX ? nentries : end->nentries;
    end->directory_nbytes = end->directory_nbytes == UINT32_MAX ? nbytes : end->directory_nbytes;
    end->directory_offset = end->directory_offset == UINT32_MAX ? offset : end->directory_offset;
    return !cursor.failed;
}

/* A directory of `nbytes` bytes can begin at `start`; both have been checked against the archive. */
static bool can_begin(tail_t *tail, uint64_t start, uint64_t nbytes) {
    return nbytes == 0 || (nbytes >= VCZI_ZIP_CENTRAL_NBYTES && has_signature(tail, start, VCZI_ZIP_CENTRAL_HEADER));
}

/* The directory ends right before the end record; so bytes before the archive show as a difference to its claimed
 * offset. Where something else lies between them, it is where it is said to be. */
static end_kind_t place_directory(tail_t *tail, const end_t *end, vczi_zip_directory_t *directory) {
    if (end->directory_nbytes > end->limit || (end->directory_nbytes == 0 && end->nentries != 0)) {
        return END_IS_NONE;
    }
    directory->nbytes = end->directory_nbytes;
    directory->nentries = end->nentries;
    directory->start = end->limit - directory->nbytes;
    if (has_signature(tail, directory->start, VCZI_ZIP_ARCHIVE_EXTRA)) {
        return END_IS_ENCRYPTED;
    }
    if (end->directory_offset <= directory->start && can_begin(tail, directory->start, directory->nbytes)) {
        directory->shift = directory->start - end->directory_offset;
        return END_IS_GOOD;
    }
    if (end->directory_offset > end->limit - directory->nbytes) {
        return END_IS_NONE;
    }
    directory->start = end->directory_offset;
    directory->shift = 0;
    return can_begin(tail, directory->start, directory->nbytes) ? END_IS_GOOD : END_IS_NONE;
}

/* Judge the candidate at `at` in the window, which has room for an end record. */
static end_kind_t read_end(tail_t *tail, size_t at, vczi_zip_directory_t *directory) {
    const uint64_t place = tail->window_start + at;
    vczi_cursor_t cursor = vczi_cursor(vczi_span(tail->window.data + at, tail->window.nbytes - at));
    end_t end = {0};
    (void) vczi_cursor_u32le(&cursor);
    end.disk = vczi_cursor_u16le(&cursor);
    end.directory_disk = vczi_cursor_u16le(&cursor);
    (void) vczi_cursor_u16le(&cursor); /* entries on this disk */
    end.nentries = vczi_cursor_u16le(&cursor);
    end.directory_nbytes = vczi_cursor_u32le(&cursor);
    end.directory_offset = vczi_cursor_u32le(&cursor);
    end.limit = place;
    const size_t comment_nbytes = vczi_cursor_u16le(&cursor);
    if (cursor.failed || comment_nbytes > cursor.left || !read_end64(tail, place, &end)) {
        return END_IS_NONE;
    }
    if (end.disk != 0 || end.directory_disk != 0) {
        return comment_nbytes == cursor.left ? END_IS_SPLIT : END_IS_NONE;
    }
    return end.is_encrypted ? END_IS_ENCRYPTED : place_directory(tail, &end, directory);
}

/* Nothing at the end makes this an archive: say what it looks like. */
static int fail_without_end(tail_t *tail, bool has_candidate) {
    if (has_candidate) {
        return vczi_fail(VCZC_ERR_STORE, "the end record of the zip archive does not fit the file: it is damaged, or "
                                         "part of it is missing");
    }
    if (has_signature(tail, 0, VCZI_ZIP_LOCAL_HEADER)) {
        return vczi_fail(VCZC_ERR_STORE, "the zip archive is truncated: it begins as one, but has no end record");
    }
    return vczi_fail(VCZC_ERR_STORE, "neither a folder nor a zip archive");
}

static int find_in_tail(tail_t *tail, vczi_zip_directory_t *directory) {
    const vczi_span_t window = tail->window;
    bool has_candidate = false;
    bool has_split = false;
    for (size_t at = window.nbytes < END_NBYTES ? 0 : window.nbytes - END_NBYTES + 1; at-- > 0;) {
        if (window.data[at] != 'P' || vczi_load_u32le(window.data + at) != END_SIGNATURE) {
            continue;
        }
        has_candidate = true;
        const end_kind_t kind = read_end(tail, at, directory);
        if (tail->error != 0) {
            return tail->error;
        }
        switch (kind) {
            case END_IS_NONE:
                break;
            case END_IS_GOOD:
                return 0;
            case END_IS_SPLIT:
                has_split = true; /* unless it is part of a comment */
                break;
            case END_IS_ENCRYPTED:
                return vczi_fail(VCZC_ERR_UNSUPPORTED, "a zip archive whose directory is encrypted is not read");
        }
    }
    if (has_split) {
        return vczi_fail(VCZC_ERR_UNSUPPORTED, "a zip archive that is split into several files is not read");
    }
    return fail_without_end(tail, has_candidate);
}

int vczi_zip_find_directory(const vczi_zip_source_t *source, vczi_zip_directory_t *directory) {
    const uint64_t most = END_NBYTES + MAX_COMMENT_NBYTES;
    const size_t nbytes = (size_t) (source->nbytes < most ? source->nbytes : most);
    tail_t tail = {source, {NULL, 0}, source->nbytes - nbytes, 0};
    uint8_t *room = NULL;
    int ret = 0;
    if (source->file == NULL) {
        tail.window = vczi_span(nbytes == 0 ? NULL : source->memory.data + (size_t) tail.window_start, nbytes);
    } else {
        room = vczi_alloc(nbytes);
        tail.window = vczi_span(room, nbytes);
        ret = room == NULL ? VCZC_ERR_NO_MEMORY : vczi_zip_source_read(source, tail.window_start, room, nbytes);
    }
    if (ret == 0) {
        ret = find_in_tail(&tail, directory);
    }
    vczi_free(room);
    return ret;
}
