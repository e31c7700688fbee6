/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The records at the end of a zip archive (APPNOTE 4.3.14 to 4.3.16). A comment may hold anything, also what looks like
 * an end record, so each candidate must fit the archive before it is believed. */
#include "zip_end.h"

#include <stdbool.h>

#include "checked.h"
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
    size_t limit; /* where the directory ends at the latest */
    bool is_encrypted;
} end_t;

static bool has_signature(vczi_span_t archive, size_t place, uint32_t signature) {
    return place <= archive.nbytes && archive.nbytes - place >= 4 && vczi_load_u32le(archive.data + place) == signature;
}

/* Where the zip64 record lies before the locator: where that says, or, as bytes before the archive shift it, right
 * before. */
static bool find_end64(vczi_span_t archive, size_t locator, uint64_t claimed, size_t *place) {
    if (locator < END64_NBYTES) {
        return false;
    }
    const size_t latest = locator - END64_NBYTES;
    if (claimed <= latest && has_signature(archive, (size_t) claimed, END64_SIGNATURE)) {
        const uint64_t nbytes = vczi_load_u64le(archive.data + (size_t) claimed + 4);
        if (nbytes == locator - claimed - END64_UNCOUNTED_NBYTES) {
            *place = (size_t) claimed;
            return true;
        }
    }
    *place = latest;
    return has_signature(archive, latest, END64_SIGNATURE);
}

/* Replace the fields of `end` that are all ones by those of the zip64 record. False where it is needed and not there.
 */
static bool read_end64(vczi_span_t archive, size_t place, end_t *end) {
    const bool is_needed = end->disk == UINT16_MAX || end->directory_disk == UINT16_MAX ||
                           end->directory_nbytes == UINT32_MAX || end->directory_offset == UINT32_MAX;
    size_t record = 0;
    if (place < LOCATOR_NBYTES || !has_signature(archive, place - LOCATOR_NBYTES, LOCATOR_SIGNATURE)) {
        return true; /* the fields mean what they say, all ones or not */
    }
    const size_t locator = place - LOCATOR_NBYTES;
    if (!find_end64(archive, locator, vczi_load_u64le(archive.data + locator + 8), &record)) {
        return !is_needed;
    }
    vczi_cursor_t cursor = vczi_cursor(vczi_span(archive.data + record, locator - record));
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
static bool can_begin(vczi_span_t archive, size_t start, size_t nbytes) {
    return nbytes == 0 || (nbytes >= VCZI_ZIP_CENTRAL_NBYTES && has_signature(archive, start, VCZI_ZIP_CENTRAL_HEADER));
}

/* The directory ends right before the end record; so bytes before the archive show as a difference to its claimed
 * offset. Where something else lies between them, it is where it is said to be. */
static end_kind_t place_directory(vczi_span_t archive, const end_t *end, vczi_zip_directory_t *directory) {
    if (end->directory_nbytes > end->limit || (end->directory_nbytes == 0 && end->nentries != 0)) {
        return END_IS_NONE;
    }
    directory->nbytes = (size_t) end->directory_nbytes;
    directory->nentries = end->nentries;
    directory->start = end->limit - directory->nbytes;
    if (has_signature(archive, directory->start, VCZI_ZIP_ARCHIVE_EXTRA)) {
        return END_IS_ENCRYPTED;
    }
    if (end->directory_offset <= directory->start && can_begin(archive, directory->start, directory->nbytes)) {
        directory->shift = directory->start - end->directory_offset;
        return END_IS_GOOD;
    }
    if (end->directory_offset > end->limit - directory->nbytes) {
        return END_IS_NONE;
    }
    directory->start = (size_t) end->directory_offset;
    directory->shift = 0;
    return can_begin(archive, directory->start, directory->nbytes) ? END_IS_GOOD : END_IS_NONE;
}

/* Judge the candidate at `place`, which has room for an end record. */
static end_kind_t read_end(vczi_span_t archive, size_t place, vczi_zip_directory_t *directory) {
    vczi_cursor_t cursor = vczi_cursor(vczi_span(archive.data + place, archive.nbytes - place));
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
    if (cursor.failed || comment_nbytes > cursor.left || !read_end64(archive, place, &end)) {
        return END_IS_NONE;
    }
    if (end.disk != 0 || end.directory_disk != 0) {
        return comment_nbytes == cursor.left ? END_IS_SPLIT : END_IS_NONE;
    }
    return end.is_encrypted ? END_IS_ENCRYPTED : place_directory(archive, &end, directory);
}

/* Nothing at the end makes this an archive: say what it looks like. */
static int fail_without_end(vczi_span_t archive, bool has_candidate) {
    if (has_candidate) {
        return vczi_fail(VCZC_ERR_STORE, "the end record of the zip archive does not fit the file: it is damaged, or "
                                         "part of it is missing");
    }
    if (has_signature(archive, 0, VCZI_ZIP_LOCAL_HEADER)) {
        return vczi_fail(VCZC_ERR_STORE, "the zip archive is truncated: it begins as one, but has no end record");
    }
    return vczi_fail(VCZC_ERR_STORE, "neither a folder nor a zip archive");
}

int vczi_zip_find_directory(vczi_span_t archive, vczi_zip_directory_t *directory) {
    bool has_candidate = false;
    bool has_split = false;
    if (archive.nbytes < END_NBYTES) {
        return fail_without_end(archive, false);
    }
    const size_t last = archive.nbytes - END_NBYTES;
    const size_t first = last > MAX_COMMENT_NBYTES ? last - MAX_COMMENT_NBYTES : 0;
    for (size_t place = last + 1; place-- > first;) {
        if (archive.data[place] != 'P' || !has_signature(archive, place, END_SIGNATURE)) {
            continue;
        }
        has_candidate = true;
        switch (read_end(archive, place, directory)) {
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
    return fail_without_end(archive, has_candidate);
}
