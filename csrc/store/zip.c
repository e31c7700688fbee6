/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Entries of a zip archive (APPNOTE 4.3.7, 4.4). The central directory says how large an entry is and how it was
 * compressed; of the local header only its lengths are read, to find where the data begins. An archive in a file is
 * read; its map serves only those who are handed stored bytes to look at themselves. */
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
#include "zip_source.h"

/* What deflating may add at most: zlib's deflateBound is an eighth; writers that flush all the time get near this. */
#define MAX_DEFLATE_GROWTH 2
#define MAX_DEFLATE_MORE_NBYTES ((uint64_t) 64 << 10)

/* For a range of a deflated entry all of it is inflated, each time anew. */
#define MAX_INFLATED_FOR_RANGE_NBYTES ((uint64_t) 1 << 30)

#define BITS_OF_WORD 64

/* Entries up to this size are read together with their local headers. */
#define TOGETHER_NBYTES ((size_t) 64 << 10)

/* An extra field in a local header of at most so many bytes is expected there: Info-ZIP writes 28, zip64 takes 20. */
#define EXTRA_NBYTES 64

typedef struct {
    vczi_zip_source_t source;
    vczi_file_t file; /* closed for an archive in memory */
    vczi_map_t map;   /* closed there too, and where a file cannot be mapped */
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

/* After each read: what was read of a file that was written to in the meantime does not count. */
static int check_unchanged(const zip_t *zip) {
    return zip->path == NULL ? 0 : vczi_file_check_unchanged(&zip->file, zip->path);
}

static int end_read(const zip_t *zip, int ret) {
    const int changed = check_unchanged(zip);
    return changed != 0 ? changed : ret;
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
    const uint64_t stored = entry->stored_nbytes, raw = entry->raw_nbytes;
    const bool is_possible =
        entry->method == VCZI_ZIP_STORED
            ? stored == raw
            : raw / VCZI_MAX_DEFLATE_RATIO <= stored &&
                  (stored <= MAX_DEFLATE_MORE_NBYTES || (stored - MAX_DEFLATE_MORE_NBYTES) / MAX_DEFLATE_GROWTH <= raw);
    if (!is_possible) {
        return vczi_fail(VCZC_ERR_CORRUPT, "entry '%s' claims that %" PRIu64 " stored bytes hold %" PRIu64, key, stored,
                         raw);
    }
    return 0;
}

/* The bytes from the local header of an entry, which must lie before the directory, to the end of the archive. */
static int find_header(const zip_t *zip, const vczi_zip_entry_t *entry, const char *key, uint64_t *left) {
    const uint64_t limit = zip->index.directory_start;
    if (limit < VCZI_ZIP_LOCAL_NBYTES || entry->header > limit - VCZI_ZIP_LOCAL_NBYTES) {
        return vczi_fail(VCZC_ERR_CORRUPT, "entry '%s' is said to lie at byte %" PRIu64 ", outside the archive", key,
                         entry->header);
    }
    *left = zip->source.nbytes - entry->header;
    if (entry->stored_nbytes > *left - VCZI_ZIP_LOCAL_NBYTES) {
        return vczi_fail(VCZC_ERR_CORRUPT, "entry '%s' passes the end of the archive", key);
    }
    return 0;
}

/* What lies between the beginning of the local header and the data: name and extra field have lengths of their own. */
static int read_header(const vczi_zip_entry_t *entry, const char *key, const uint8_t *header, uint64_t left,
                       size_t *skip) {
    if (vczi_load_u32le(header) != VCZI_ZIP_LOCAL_HEADER) {
        return vczi_fail(VCZC_ERR_CORRUPT, "entry '%s' has no header at byte %" PRIu64, key, entry->header);
    }
    *skip = VCZI_ZIP_LOCAL_NBYTES + (size_t) vczi_load_u16le(header + 26) + vczi_load_u16le(header + 28);
    if (*skip > left || entry->stored_nbytes > left - *skip) {
        return vczi_fail(VCZC_ERR_CORRUPT, "entry '%s' passes the end of the archive", key);
    }
    return 0;
}

/* Where the data of an entry lies in the archive. */
static int locate_data(const zip_t *zip, const vczi_zip_entry_t *entry, const char *key, uint64_t *place) {
    uint8_t header[VCZI_ZIP_LOCAL_NBYTES];
    uint64_t left = 0;
    size_t skip = 0;
    int ret = find_header(zip, entry, key, &left);
    if (ret == 0) {
        ret = vczi_zip_source_read(&zip->source, entry->header, header, sizeof(header));
    }
    if (ret == 0) {
        ret = read_header(entry, key, header, left, &skip);
        *place = entry->header + skip;
    }
    return ret;
}

/* A small range of an entry's data together with the local header. *is_there is false where that was longer than
 * expected. */
static int read_together(const zip_t *zip, const vczi_zip_entry_t *entry, const char *key, const vczi_range_t *range,
                         vczi_scratch_t *scratch, vczi_bytes_t *bytes, bool *is_there) {
    const size_t end = range->start + range->nbytes;
    const size_t expected = VCZI_ZIP_LOCAL_NBYTES + (size_t) entry->name_nbytes + EXTRA_NBYTES + end;
    uint64_t left = 0;
    size_t skip = 0;
    *is_there = false;
    int ret = find_header(zip, entry, key, &left);
    if (ret != 0) {
        return ret;
    }
    const size_t nbytes = left < expected ? (size_t) left : expected;
    uint8_t *room = vczi_bytes_room(bytes, scratch, VCZI_SCRATCH_FILE, nbytes);
    ret = room == NULL ? VCZC_ERR_NO_MEMORY : vczi_zip_source_read(&zip->source, entry->header, room, nbytes);
    if (ret == 0) {
        ret = read_header(entry, key, room, left, &skip);
    }
    if (ret == 0 && skip <= nbytes && end <= nbytes - skip) {
        bytes->span = vczi_span(room + skip + range->start, range->nbytes);
        *is_there = true;
    }
    return ret;
}

/* A range of an entry's data: in memory where it lies there, else read. */
static int read_data(const zip_t *zip, const vczi_zip_entry_t *entry, const char *key, const vczi_range_t *range,
                     vczi_scratch_t *scratch, vczi_bytes_t *bytes) {
    uint64_t place = 0;
    int ret = 0;
    if (zip->file.handle != 0 && range->nbytes <= TOGETHER_NBYTES && range->start <= TOGETHER_NBYTES - range->nbytes) {
        bool is_there = false;
        ret = read_together(zip, entry, key, range, scratch, bytes, &is_there);
        if (ret != 0 || is_there) {
            return ret;
        }
        vczi_bytes_release(bytes);
    }
    ret = locate_data(zip, entry, key, &place);
    if (ret != 0) {
        return ret;
    }
    if (zip->file.handle == 0) {
        bytes->span = vczi_span(zip->source.memory.data + (size_t) place + range->start, range->nbytes);
        return 0;
    }
    uint8_t *room = vczi_bytes_room(bytes, scratch, VCZI_SCRATCH_FILE, range->nbytes);
    return room == NULL ? VCZC_ERR_NO_MEMORY
                        : vczi_zip_source_read(&zip->source, place + range->start, room, range->nbytes);
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

static bool must_verify(const zip_t *zip, const vczi_zip_entry_t *entry) {
    return zip->verified != NULL && !is_verified(zip, (size_t) (entry - zip->index.entries));
}

/* Compare the raw bytes of an entry with its checksum, the first time that it is read. */
static int verify(const zip_t *zip, const vczi_zip_entry_t *entry, const char *key, vczi_span_t raw) {
    const size_t i = (size_t) (entry - zip->index.entries);
    if (!must_verify(zip, entry)) {
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

/* All raw bytes of a deflated entry: of `decoder` its FILE buffer and its context are used. */
static int inflate_with(const zip_t *zip, const vczi_zip_entry_t *entry, const char *key, vczi_scratch_t *decoder,
                        vczi_scratch_t *scratch, vczi_bytes_t *bytes) {
    vczi_bytes_t deflated = {0};
    vczi_range_t all;
    size_t nbytes = 0;
    if (!vczi_u64_to_size(entry->raw_nbytes, &nbytes)) {
        return vczi_fail_memory(SIZE_MAX);
    }
    int ret = vczi_range_init(&all, entry->stored_nbytes, 0, SIZE_MAX);
    if (ret == 0) {
        ret = read_data(zip, entry, key, &all, decoder, &deflated);
    }
    if (ret != 0) {
        return ret;
    }
    uint8_t *raw = vczi_bytes_room(bytes, scratch, VCZI_SCRATCH_INFLATE, nbytes);
    if (raw == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    ret = vczi_inflate(deflated.span, VCZI_INFLATE_RAW, raw, nbytes, decoder);
    return ret == 0 ? 0 : vczi_fail_prefix(ret, "entry '%s'", key);
}

static int inflate_entry(const zip_t *zip, const vczi_zip_entry_t *entry, const char *key, vczi_scratch_t *scratch,
                         vczi_bytes_t *bytes) {
    vczi_scratch_t *decoder = scratch != NULL ? scratch : vczi_scratch_borrow();
    if (decoder == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    const int ret = inflate_with(zip, entry, key, decoder, scratch, bytes);
    if (decoder != scratch) {
        vczi_scratch_return(decoder);
    }
    return ret;
}

/* A range of the raw bytes of an entry; all of them where its checksum is still to be checked. */
static int read_entry(const zip_t *zip, const vczi_zip_entry_t *entry, const char *key, const vczi_range_t *range,
                      vczi_scratch_t *scratch, vczi_bytes_t *bytes) {
    vczi_range_t all = {0, 0};
    int ret = vczi_range_init(&all, entry->raw_nbytes, 0, SIZE_MAX);
    if (ret == 0 && entry->method == VCZI_ZIP_STORED && !must_verify(zip, entry)) {
        return read_data(zip, entry, key, range, scratch, bytes);
    }
    if (ret == 0) {
        ret = entry->method == VCZI_ZIP_STORED ? read_data(zip, entry, key, &all, scratch, bytes)
                                               : inflate_entry(zip, entry, key, scratch, bytes);
    }
    if (ret == 0) {
        ret = verify(zip, entry, key, bytes->span);
    }
    if (ret == 0) {
        bytes->span = vczi_range_of(range, bytes->span);
    }
    return ret;
}

/* A range of a stored entry where it lies in the map, for those who look at it themselves. */
static int view_entry(const zip_t *zip, const vczi_zip_entry_t *entry, const char *key, const vczi_range_t *range,
                      vczi_bytes_t *bytes) {
    uint64_t place = 0;
    int ret = 0;
    if (must_verify(zip, entry)) {
        const vczi_range_t none = {0, 0};
        vczi_bytes_t looked_at = {0};
        ret = read_entry(zip, entry, key, &none, NULL, &looked_at);
        vczi_bytes_release(&looked_at);
    }
    if (ret == 0) {
        ret = locate_data(zip, entry, key, &place);
    }
    if (ret == 0) {
        bytes->span = vczi_span(zip->map.span.data + (size_t) place + range->start, range->nbytes);
    }
    return ret;
}

static int find_readable(const zip_t *zip, const char *key, const vczi_zip_entry_t **entry) {
    int ret = find_entry(zip, key, entry);
    if (ret == 0) {
        ret = check_readable(*entry, key);
    }
    return ret == 0 ? check_sizes(*entry, key) : ret;
}

static int zip_get(void *self, const char *key, uint64_t offset, size_t nbytes, vczi_scratch_t *scratch,
                   vczi_bytes_t *bytes) {
    const zip_t *zip = self;
    const vczi_zip_entry_t *entry = NULL;
    vczi_range_t range;
    int ret = find_readable(zip, key, &entry);
    if (ret == 0) {
        ret = vczi_range_init(&range, entry->raw_nbytes, offset, nbytes);
    }
    if (ret == 0 && scratch == NULL && entry->method == VCZI_ZIP_STORED && zip->map.map != NULL) {
        ret = view_entry(zip, entry, key, &range, bytes);
    } else if (ret == 0 && entry->method == VCZI_ZIP_DEFLATED && range.nbytes < entry->raw_nbytes &&
               entry->raw_nbytes > MAX_INFLATED_FOR_RANGE_NBYTES) {
        ret = vczi_fail(VCZC_ERR_UNSUPPORTED,
                        "entry '%s' is deflated, and with %" PRIu64 " bytes too large to be read in parts", key,
                        entry->raw_nbytes);
    } else if (ret == 0) {
        ret = read_entry(zip, entry, key, &range, scratch, bytes);
    }
    return end_read(zip, ret);
}

static int read_piece(void *user, uint64_t offset, void *out, size_t nbytes) {
    const zip_t *zip = user;
    return end_read(zip, vczi_zip_source_read(&zip->source, offset, out, nbytes));
}

static void release_pieces(void *owner, void *pin) {
    (void) owner;
    vczi_pieces_end(pin);
}

static int begin_pieces(zip_t *zip, const vczi_zip_entry_t *entry, const char *key, const vczi_want_t *want,
                        vczi_scratch_t *scratch, vczi_bytes_t *bytes) {
    uint64_t place = 0;
    size_t nbytes = 0;
    if (!vczi_u64_to_size(entry->raw_nbytes, &nbytes)) {
        return vczi_fail_memory(SIZE_MAX);
    }
    const int ret = locate_data(zip, entry, key, &place);
    if (ret != 0) {
        return ret;
    }
    bytes->pin = scratch;
    bytes->release = release_pieces;
    return vczi_begin_pieces(want, scratch, read_piece, zip, place, nbytes, bytes);
}

static int zip_get_wanted(void *self, const char *key, const vczi_want_t *want, vczi_scratch_t *scratch,
                          vczi_bytes_t *bytes) {
    zip_t *zip = self;
    const vczi_zip_entry_t *entry = NULL;
    vczi_range_t all = {0, 0};
    int ret = find_readable(zip, key, &entry);
    if (ret == 0 && entry->method == VCZI_ZIP_STORED && zip->file.handle != 0 && !must_verify(zip, entry) &&
        vczi_wants_pieces(want, entry->raw_nbytes)) {
        return end_read(zip, begin_pieces(zip, entry, key, want, scratch, bytes));
    }
    if (ret == 0) {
        ret = vczi_check_wanted(want, entry->raw_nbytes);
    }
    if (ret == 0) {
        ret = vczi_range_init(&all, entry->raw_nbytes, 0, SIZE_MAX);
    }
    if (ret == 0) {
        ret = read_entry(zip, entry, key, &all, scratch, bytes);
    }
    return end_read(zip, ret);
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
    uint64_t place = 0;
    if (zip->map.map != NULL && find_readable(zip, key, &entry) == 0 && locate_data(zip, entry, key, &place) == 0) {
        vczi_map_will_need(&zip->map, (size_t) place,
                           (size_t) entry->stored_nbytes); /* in the map, so below a size_t */
    }
}

const vczi_store_ops_t vczi_zip_ops = {
    .kind = VCZC_STORE_ZIP,
    .get = zip_get,
    .get_wanted = zip_get_wanted,
    .check = zip_check,
    .size = zip_size,
    .list = zip_list,
    .list_folder = zip_list_folder,
    .will_need = zip_will_need,
    .close = zip_close,
};

/* Index what zip->source holds. */
static int read_archive(zip_t *zip, uint32_t flags) {
    const bool verifies = (flags & VCZC_OPEN_VERIFY) != 0;
    int ret = vczi_zip_index_init(&zip->index, &zip->source, verifies);
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
    ret = zip->path == NULL ? VCZC_ERR_NO_MEMORY : 0;
    if (ret != 0) goto out;
    (void) vczi_file_map(&zip->file, &zip->map); /* without it stored bytes are handed out as copies */
    zip->source = vczi_zip_source_of_file(&zip->file);
    ret = end_read(zip, read_archive(zip, flags));
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
    zip->source = vczi_zip_source_of_memory(archive);
    const int ret = read_archive(zip, flags);
    if (ret != 0) {
        zip_close(zip);
        return ret;
    }
    *self = zip;
    return 0;
}
