/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Entries of a zip archive (APPNOTE 4.3.7, 4.4). The central directory says how large an entry is and how it was
 * compressed; of the local header only its lengths are read, to find where the data begins. */
#include "zip.h"

#include <inttypes.h>

#include "atomic.h"
#include "checked.h"
#include "file.h"
#include "inflate.h"
#include "key.h"
#include "mem.h"
#include "range.h"
#include "status.h"
#include "zip_end.h"
#include "zip_index.h"

/* Deflate's most: a match of 258 bytes in two bits. */
#define MAX_DEFLATE_RATIO 1032

#define BITS_OF_WORD 64

typedef struct {
    vczi_span_t archive;
    vczi_file_t file; /* closed for an archive in memory, as is the map */
    vczi_map_t map;
    char *path;
    vczi_zip_index_t index;
    vczi_atomic_t *verified; /* a bit for each entry; NULL where checksums are not checked */
} zip_t;

static void zip_close(void *self) {
    zip_t *zip = self;
    vczi_zip_index_clear(&zip->index);
    vczi_map_close(&zip->map);
    vczi_file_close(&zip->file);
    vczi_free(zip->path);
    vczi_free(zip->verified);
    vczi_free(zip);
}

/* Before each look at the map: what was cut off a file must not be touched. */
static int check_unchanged(const zip_t *zip) {
    return zip->path == NULL ? 0 : vczi_file_check_unchanged(&zip->file, zip->path);
}

static int zip_check(void *self) {
    return check_unchanged(self);
}

static int find_entry(const zip_t *zip, const char *key, const vczi_zip_entry_t **entry) {
    *entry = vczi_zip_index_find(&zip->index, vczi_span(key, strlen(key)));
    return *entry == NULL ? vczi_fail(VCZC_ERR_NOT_FOUND, "no entry '%s'", key) : 0;
}

static const char *method_name(uint8_t method) {
    switch (method) {
        case 9:
            return "deflate64";
        case 12:
            return "bzip2";
        case 14:
            return "LZMA";
        case 20:
        case 93:
            return "zstd";
        case 95:
            return "xz";
        case 99:
            return "AES encryption";
        default:
            return "unknown to vczc";
    }
}

/* Refuse what cannot be read, whatever its bytes are. */
static int check_readable(const vczi_zip_entry_t *entry, const char *key) {
    if ((entry->flags & VCZI_ZIP_ENCRYPTED) != 0) {
        return vczi_fail(VCZC_ERR_UNSUPPORTED, "entry '%s' is encrypted", key);
    }
    if ((entry->flags & VCZI_ZIP_ELSEWHERE) != 0) {
        return vczi_fail(VCZC_ERR_UNSUPPORTED, "entry '%s' lies in another file of a split archive", key);
    }
    if (entry->method != VCZI_ZIP_STORED && entry->method != VCZI_ZIP_DEFLATED) {
        return vczi_fail(VCZC_ERR_UNSUPPORTED,
                         "entry '%s' is compressed by zip method %u (%s); stored and deflated ones "
                         "are read",
                         key, (unsigned) entry->method, method_name(entry->method));
    }
    if ((entry->flags & VCZI_ZIP_BROKEN) != 0) {
        return vczi_fail(VCZC_ERR_CORRUPT, "entry '%s' has a damaged zip64 field", key);
    }
    return 0;
}

/* The sizes that the directory claims must be possible. */
static int check_sizes(const vczi_zip_entry_t *entry, const char *key) {
    const bool is_possible = entry->method == VCZI_ZIP_STORED
                                 ? entry->stored_nbytes == entry->raw_nbytes
                                 : entry->raw_nbytes / MAX_DEFLATE_RATIO <= entry->stored_nbytes;
    if (!is_possible) {
        return vczi_fail(VCZC_ERR_CORRUPT, "entry '%s' claims that %" PRIu64 " stored bytes hold %" PRIu64, key,
                         entry->stored_nbytes, entry->raw_nbytes);
    }
    return 0;
}

/* Where the bytes of an entry lie in the archive: behind its local header, whose name and extra field have lengths of
 * their own. */
static int locate_data(const zip_t *zip, const vczi_zip_entry_t *entry, const char *key, vczi_span_t *data) {
    const size_t limit = zip->index.directory_start;
    if (limit < VCZI_ZIP_LOCAL_NBYTES || entry->header > limit - VCZI_ZIP_LOCAL_NBYTES) {
        return vczi_fail(VCZC_ERR_CORRUPT, "entry '%s' is said to lie at byte %" PRIu64 ", outside the archive", key,
                         entry->header);
    }
    const size_t header = (size_t) entry->header; /* below a size_t, as just seen */
    vczi_cursor_t cursor = vczi_cursor(vczi_span(zip->archive.data + header, zip->archive.nbytes - header));
    const vczi_span_t fixed = vczi_cursor_take(&cursor, VCZI_ZIP_LOCAL_NBYTES);
    if (cursor.failed || vczi_load_u32le(fixed.data) != VCZI_ZIP_LOCAL_HEADER) {
        return vczi_fail(VCZC_ERR_CORRUPT, "entry '%s' has no header at byte %zu", key, header);
    }
    (void) vczi_cursor_take(&cursor, vczi_load_u16le(fixed.data + 26)); /* name */
    (void) vczi_cursor_take(&cursor, vczi_load_u16le(fixed.data + 28)); /* extra field */
    if (cursor.failed || entry->stored_nbytes > cursor.left) {
        return vczi_fail(VCZC_ERR_CORRUPT, "entry '%s' passes the end of the archive", key);
    }
    *data = vczi_cursor_take(&cursor, (size_t) entry->stored_nbytes);
    return 0;
}

static bool is_verified(const zip_t *zip, size_t entry) {
    const int64_t word = vczi_atomic_load(&zip->verified[entry / BITS_OF_WORD]);
    return ((uint64_t) word >> entry % BITS_OF_WORD & 1) != 0;
}

/* Threads that set bits of one word at once may lose one: that entry is then checked once more. */
static void set_verified(const zip_t *zip, size_t entry) {
    vczi_atomic_t *word = &zip->verified[entry / BITS_OF_WORD];
    const uint64_t bit = UINT64_C(1) << entry % BITS_OF_WORD;
    vczi_atomic_store(word, (int64_t) ((uint64_t) vczi_atomic_load(word) | bit));
}

/* Compare the raw bytes of an entry with its checksum, the first time that it is read. */
static int verify(const zip_t *zip, const vczi_zip_entry_t *entry, const char *key, vczi_span_t raw) {
    const size_t i = (size_t) (entry - zip->index.entries);
    if (zip->verified == NULL || is_verified(zip, i)) {
        return 0;
    }
    const uint32_t computed = vczi_crc32(raw);
    if (computed != zip->index.checksums[i]) {
        return vczi_fail(VCZC_ERR_CORRUPT, "entry '%s' has CRC-32 %08" PRIx32 ", and not %08" PRIx32, key, computed,
                         zip->index.checksums[i]);
    }
    set_verified(zip, i);
    return 0;
}

/* All raw bytes of a deflated entry, in scratch memory or pinned. */
static int inflate_entry(const vczi_zip_entry_t *entry, const char *key, vczi_span_t data, vczi_scratch_t *scratch,
                         vczi_bytes_t *bytes) {
    size_t nbytes = 0;
    if (!vczi_u64_to_size(entry->raw_nbytes, &nbytes)) {
        return vczi_fail_memory(SIZE_MAX);
    }
    uint8_t *raw = vczi_bytes_room(bytes, scratch, VCZI_SCRATCH_INFLATE, nbytes);
    vczi_scratch_t *decoder = scratch != NULL || raw == NULL ? scratch : vczi_scratch_borrow();
    if (raw == NULL || decoder == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    const int ret = vczi_inflate(data, VCZI_INFLATE_RAW, raw, nbytes, decoder);
    if (decoder != scratch) {
        vczi_scratch_return(decoder);
    }
    return ret == 0 ? 0 : vczi_fail_prefix(ret, "entry '%s'", key);
}

/* All raw bytes of an entry. On failure `bytes` may hold memory. */
static int read_entry(const zip_t *zip, const vczi_zip_entry_t *entry, const char *key, vczi_scratch_t *scratch,
                      vczi_bytes_t *bytes) {
    vczi_span_t data;
    int ret = check_readable(entry, key);
    if (ret == 0) {
        ret = check_sizes(entry, key);
    }
    if (ret == 0) {
        ret = locate_data(zip, entry, key, &data);
    }
    if (ret != 0) {
        return ret;
    }
    if (entry->method == VCZI_ZIP_STORED) {
        bytes->span = data;
    } else {
        ret = inflate_entry(entry, key, data, scratch, bytes);
    }
    return ret == 0 ? verify(zip, entry, key, bytes->span) : ret;
}

static int zip_get(void *self, const char *key, uint64_t offset, size_t nbytes, vczi_scratch_t *scratch,
                   vczi_bytes_t *bytes) {
    const zip_t *zip = self;
    const vczi_zip_entry_t *entry = NULL;
    vczi_range_t range;
    int ret = check_unchanged(zip);
    if (ret == 0) {
        ret = find_entry(zip, key, &entry);
    }
    if (ret == 0) {
        ret = vczi_range_init(&range, entry->raw_nbytes, offset, nbytes);
    }
    if (ret == 0) {
        ret = read_entry(zip, entry, key, scratch, bytes);
    }
    if (ret == 0) {
        bytes->span = vczi_range_of(&range, bytes->span);
    }
    return ret;
}

static int zip_size(void *self, const char *key, uint64_t *nbytes) {
    const zip_t *zip = self;
    const vczi_zip_entry_t *entry = NULL;
    int ret = check_unchanged(zip);
    if (ret == 0) {
        ret = find_entry(zip, key, &entry);
    }
    if (ret == 0) {
        *nbytes = entry->raw_nbytes;
    }
    return ret;
}

static int zip_list(void *self, const char *prefix, vczc_list_fn tell, void *user) {
    const zip_t *zip = self;
    const vczi_span_t wanted = vczi_span(prefix, strlen(prefix));
    int ret = check_unchanged(zip);
    for (size_t i = 0; i < zip->index.nentries && ret == 0; i++) {
        const vczi_zip_entry_t *entry = &zip->index.entries[i];
        const vczi_span_t name = vczi_zip_index_name(&zip->index, entry);
        if ((entry->flags & VCZI_ZIP_REPLACED) == 0 && vczi_key_begins_with(name, wanted)) {
            ret = tell(user, (const char *) name.data, name.nbytes);
        }
    }
    return ret;
}

/* Names stand together as a rule, so one is told again only where another came between. */
static int zip_list_folder(void *self, const char *folder, vczc_list_fn tell, void *user) {
    const zip_t *zip = self;
    const vczi_span_t wanted = vczi_span(folder, strlen(folder));
    vczi_span_t last = {0};
    int ret = check_unchanged(zip);
    for (size_t i = 0; i < zip->index.nentries && ret == 0; i++) {
        const vczi_span_t name = vczi_zip_index_name(&zip->index, &zip->index.entries[i]);
        if (!vczi_key_begins_with(name, wanted)) {
            continue;
        }
        const vczi_span_t child = vczi_key_child(name, wanted);
        if (child.nbytes != last.nbytes || memcmp(child.data, last.data, child.nbytes) != 0) {
            last = child;
            ret = tell(user, (const char *) child.data, child.nbytes);
        }
    }
    return ret;
}

static void zip_will_need(void *self, const char *key) {
    const zip_t *zip = self;
    const vczi_zip_entry_t *entry = NULL;
    vczi_span_t data;
    if (zip->map.map != NULL && check_unchanged(zip) == 0 && find_entry(zip, key, &entry) == 0 &&
        locate_data(zip, entry, key, &data) == 0) {
        vczi_map_will_need(&zip->map, (size_t) (data.data - zip->archive.data), data.nbytes);
    }
}

const vczi_store_ops_t vczi_zip_ops = {
    .kind = VCZC_STORE_ZIP,
    .get = zip_get,
    .check = zip_check,
    .size = zip_size,
    .list = zip_list,
    .list_folder = zip_list_folder,
    .will_need = zip_will_need,
    .close = zip_close,
};

/* Index what zip->archive holds. */
static int read_archive(zip_t *zip, uint32_t flags) {
    const bool verifies = (flags & VCZC_OPEN_VERIFY) != 0;
    int ret = vczi_zip_index_init(&zip->index, zip->archive, verifies);
    if (ret == 0 && zip->index.nentries == 0) {
        ret = vczi_fail(VCZC_ERR_STORE, "the zip archive holds no files");
    }
    if (ret == 0 && verifies) {
        zip->verified = vczi_alloc_zeroed(zip->index.nentries / BITS_OF_WORD + 1, sizeof(*zip->verified));
        ret = zip->verified == NULL ? VCZC_ERR_NO_MEMORY : 0;
    }
    return ret;
}

int vczi_zip_open(void **self, const char *path, uint32_t flags) {
    zip_t *zip = vczi_alloc_zeroed(1, sizeof(*zip));
    *self = NULL;
    if (zip == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    int ret = vczi_file_open(&zip->file, path);
    if (ret != 0) goto out;
    zip->path = vczi_copy_text(path, strlen(path));
    ret = zip->path == NULL ? VCZC_ERR_NO_MEMORY : vczi_file_map(&zip->file, &zip->map);
    if (ret != 0) goto out;
    zip->archive = zip->map.span;
    ret = read_archive(zip, flags);
    if (ret != 0) goto out;
    *self = zip;
    zip = NULL; /* the caller owns it now */
out:
    if (zip != NULL) {
        zip_close(zip);
    }
    return ret;
}

int vczi_zip_open_memory(void **self, vczi_span_t archive, uint32_t flags) {
    zip_t *zip = vczi_alloc_zeroed(1, sizeof(*zip));
    *self = NULL;
    if (zip == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    zip->archive = archive;
    const int ret = read_archive(zip, flags);
    if (ret != 0) {
        zip_close(zip);
        return ret;
    }
    *self = zip;
    return 0;
}
