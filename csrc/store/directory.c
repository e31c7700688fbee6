/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Files below a folder that is held open, so that the store stays the one that was opened. A file that is not there is
 * an absent key; anything else that stands in the way is an error. */
#include "directory.h"

#include <inttypes.h>

#include "ceilings.h"
#include "checked.h"
#include "file.h"
#include "key.h"
#include "mem.h"
#include "range.h"
#include "status.h"

typedef struct {
    vczi_folder_t folder;
} directory_t;

static void directory_close(void *self) {
    directory_t *directory = self;
    vczi_folder_close(&directory->folder);
    vczi_free(directory);
}

static void unmap_pin(void *owner, void *pin) {
    vczi_map_t *map = pin;
    (void) owner;
    vczi_map_close(map);
    vczi_free(map);
}

static int map_range(const vczi_file_t *file, const vczi_range_t *range, vczi_bytes_t *bytes) {
    vczi_map_t *map = vczi_alloc_zeroed(1, sizeof(*map));
    if (map == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    const int ret = vczi_file_map(file, map);
    if (ret != 0) {
        vczi_free(map);
        return ret;
    }
    bytes->pin = map;
    bytes->release = unmap_pin;
    bytes->span = vczi_range_of(range, map->span);
    return 0;
}

static int read_range(const vczi_file_t *file, const vczi_range_t *range, vczi_scratch_t *scratch,
                      vczi_bytes_t *bytes) {
    uint8_t *room = vczi_bytes_room(bytes, scratch, VCZI_SCRATCH_FILE, range->nbytes);
    return room == NULL ? VCZC_ERR_NO_MEMORY : vczi_file_read(file, range->start, room, range->nbytes);
}

static int directory_get(void *self, const char *key, uint64_t offset, size_t nbytes, vczi_scratch_t *scratch,
                         vczi_bytes_t *bytes) {
    const directory_t *directory = self;
    vczi_file_t file;
    vczi_range_t range;
    int ret = vczi_folder_open_file(&directory->folder, key, &file);
    if (ret != 0) {
        return ret;
    }
    ret = vczi_range_init(&range, file.nbytes, offset, nbytes);
    if (ret == 0) {
        ret = scratch == NULL && range.nbytes >= VCZI_FILE_MAP_NBYTES ? map_range(&file, &range, bytes)
                                                                      : read_range(&file, &range, scratch, bytes);
    }
    vczi_file_close(&file); /* a map outlives it */
    return ret == 0 ? 0 : vczi_fail_prefix(ret, "'%s'", key);
}

/* A file that stays open while it is read in pieces. */
typedef struct {
    vczi_file_t file;
    vczi_scratch_t *scratch;
} open_pieces_t;

static int read_piece(void *user, uint64_t offset, void *out, size_t nbytes) {
    const open_pieces_t *pieces = user;
    return vczi_file_read(&pieces->file, offset, out, nbytes);
}

static void release_pieces(void *owner, void *pin) {
    open_pieces_t *pieces = pin;
    (void) owner;
    vczi_pieces_end(pieces->scratch);
    vczi_file_close(&pieces->file);
    vczi_free(pieces);
}

/* `file` is then closed by the release of `bytes`. */
static int begin_pieces(vczi_file_t *file, size_t nbytes, const vczi_want_t *want, vczi_scratch_t *scratch,
                        vczi_bytes_t *bytes) {
    const vczi_file_t closed = {0};
    open_pieces_t *pieces = vczi_alloc(sizeof(*pieces));
    if (pieces == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    pieces->file = *file;
    pieces->scratch = scratch;
    *file = closed;
    bytes->pin = pieces;
    bytes->release = release_pieces;
    return vczi_begin_pieces(want, scratch, read_piece, pieces, 0, nbytes, bytes);
}

static int directory_get_wanted(void *self, const char *key, const vczi_want_t *want, vczi_scratch_t *scratch,
                                vczi_bytes_t *bytes) {
    const directory_t *directory = self;
    vczi_file_t file;
    vczi_range_t range;
    int ret = vczi_folder_open_file(&directory->folder, key, &file);
    if (ret != 0) {
        return ret;
    }
    ret = vczi_range_init(&range, file.nbytes, 0, SIZE_MAX);
    if (ret == 0 && vczi_wants_pieces(want, range.nbytes)) {
        ret = begin_pieces(&file, range.nbytes, want, scratch, bytes);
    } else if (ret == 0) {
        ret = vczi_check_wanted(want, range.nbytes);
        if (ret == 0) {
            ret = read_range(&file, &range, scratch, bytes);
        }
    }
    vczi_file_close(&file);
    return ret == 0 ? 0 : vczi_fail_prefix(ret, "'%s'", key);
}

static int directory_size(void *self, const char *key, uint64_t *nbytes) {
    const directory_t *directory = self;
    return vczi_folder_file_size(&directory->folder, key, nbytes);
}

static int directory_check_there(void *self, const char *key) {
    const directory_t *directory = self;
    uint64_t nbytes = 0;
    int ret = key == NULL ? VCZC_ERR_NOT_FOUND : vczi_folder_file_size(&directory->folder, key, &nbytes);
    if (ret != VCZC_ERR_NOT_FOUND) {
        return ret;
    }
    ret = vczi_folder_check(&directory->folder);
    if (ret == 0 && key != NULL) {
        return vczi_fail(VCZC_ERR_STORE, "'%s' was removed while the store was open", key);
    }
    return ret;
}

/* How many links lead to a folder of a listing, as a character: more than two are as two. */
#define LINKS_NONE '0'
#define LINKS_TWO '2'

/* A listing, and the folders that it has still to look into: a stack of zero-terminated names, each with its links
 * before it. */
typedef struct {
    vczi_span_t prefix; /* of the keys that are wanted */
    vczc_list_fn tell;
    void *user;
    char *pending;
    size_t pending_nbytes, pending_size;
    char folder[VCZI_MAX_KEY_NBYTES + 2]; /* the one that is being listed, with "/" behind it, or "" */
    size_t folder_nbytes;
    char links;      /* that lead to it */
    int64_t nnested; /* links that were followed behind other links */
    char key[VCZI_MAX_KEY_NBYTES + 2];
} listing_t;

static int push_folder(listing_t *listing, vczi_span_t folder, bool is_link) {
    const size_t needed = folder.nbytes + 2;
    const char links = (char) (listing->links + (is_link && listing->links < LINKS_TWO ? 1 : 0));
    if (is_link && links == LINKS_TWO && ++listing->nnested > VCZI_MAX_NESTED_LINKS) {
        return vczi_fail(VCZC_ERR_STORE, "more than %" PRId64 " links in links lead to folders ('%.*s')",
                         VCZI_MAX_NESTED_LINKS, (int) folder.nbytes, (const char *) folder.data);
    }
    if (needed > listing->pending_size - listing->pending_nbytes) {
        size_t size = 0;
        if (!vczi_mul_size(listing->pending_size, 2, &size) || !vczi_add_size(size, sizeof(listing->key), &size)) {
            return vczi_fail_memory(SIZE_MAX);
        }
        char *pending = vczi_realloc(listing->pending, size, 1);
        if (pending == NULL) {
            return VCZC_ERR_NO_MEMORY;
        }
        listing->pending = pending;
        listing->pending_size = size;
    }
    char *place = listing->pending + listing->pending_nbytes;
    place[0] = links;
    memcpy(place + 1, folder.data, folder.nbytes);
    place[needed - 1] = '\0';
    listing->pending_nbytes += needed;
    return 0;
}

/* Make the folder that was found last the one that is listed. */
static void pop_folder(listing_t *listing) {
    size_t start = listing->pending_nbytes - 1;
    while (start != 0 && listing->pending[start - 1] != '\0') {
        start--;
    }
    listing->links = listing->pending[start];
    listing->folder_nbytes = listing->pending_nbytes - 2 - start;
    memcpy(listing->folder, listing->pending + start + 1, listing->folder_nbytes + 1);
    listing->pending_nbytes = start;
}

/* Compose folder and name into `key`. 0 where they are too long to be one. */
static size_t compose_key(listing_t *listing, const char *name) {
    const size_t name_nbytes = strlen(name);
    if (name_nbytes > VCZI_MAX_KEY_NBYTES - listing->folder_nbytes) {
        return 0;
    }
    memcpy(listing->key, listing->folder, listing->folder_nbytes);
    memcpy(listing->key + listing->folder_nbytes, name, name_nbytes);
    return listing->folder_nbytes + name_nbytes;
}

/* True where keys below the folder `key` can begin with the prefix. */
static bool may_hold(vczi_span_t key, vczi_span_t prefix) {
    return key.nbytes < prefix.nbytes ? memcmp(prefix.data, key.data, key.nbytes) == 0
                                      : vczi_key_begins_with(key, prefix);
}

static int list_entry(void *user, const char *name, int kind) {
    listing_t *listing = user;
    const size_t nbytes = compose_key(listing, name);
    const vczi_span_t key = vczi_span(listing->key, nbytes);
    if (nbytes == 0) {
        return 0; /* no key of a store is that long */
    }
    if (kind == VCZI_PATH_FOLDER || kind == VCZI_PATH_LINK) {
        listing->key[nbytes] = '/';
        const vczi_span_t folder = vczi_span(listing->key, nbytes + 1);
        const bool is_wanted = nbytes < VCZI_MAX_KEY_NBYTES && may_hold(folder, listing->prefix);
        return is_wanted ? push_folder(listing, folder, kind == VCZI_PATH_LINK) : 0;
    }
    if (kind == VCZI_PATH_FILE && vczi_key_begins_with(key, listing->prefix)) {
        return listing->tell(listing->user, listing->key, nbytes);
    }
    return 0;
}

/* The entries of one folder; one that went away while the listing ran holds none. */
static int list_one(const directory_t *directory, const char *folder, vczi_entry_fn tell, void *user) {
    const int ret = vczi_folder_list(&directory->folder, folder, tell, user);
    return ret == VCZC_ERR_NOT_FOUND ? 0 : ret;
}

/* The folder that was found last comes first: what waits is then small. Loops of links are none of the listing's: the
 * platform does not give them, or ends them by its error for a path that goes through too many. */
static int directory_list(void *self, const char *prefix, vczc_list_fn tell, void *user) {
    listing_t *listing = vczi_alloc_zeroed(1, sizeof(*listing)); /* too large for a stack that is not ours */
    if (listing == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    listing->prefix = vczi_span(prefix, strlen(prefix));
    listing->tell = tell;
    listing->user = user;
    listing->links = LINKS_NONE;
    int ret = list_one(self, "", list_entry, listing);
    while (ret == 0 && listing->pending_nbytes != 0) {
        pop_folder(listing);
        ret = list_one(self, listing->folder, list_entry, listing);
    }
    vczi_free(listing->pending);
    vczi_free(listing);
    return ret == 0 ? directory_check_there(self, NULL) : ret;
}

typedef struct {
    vczc_list_fn tell;
    void *user;
} folder_listing_t;

static int list_name(void *user, const char *name, int kind) {
    const folder_listing_t *listing = user;
    return kind == VCZI_PATH_OTHER ? 0 : listing->tell(listing->user, name, strlen(name));
}

static int directory_list_folder(void *self, const char *folder, vczc_list_fn tell, void *user) {
    folder_listing_t listing = {tell, user};
    const int ret = list_one(self, folder, list_name, &listing);
    return ret == 0 ? directory_check_there(self, NULL) : ret;
}

static void directory_will_need(void *self, const char *key) {
    const directory_t *directory = self;
    vczi_file_t file;
    vczi_map_t map;
    if (vczi_folder_open_file(&directory->folder, key, &file) != 0) {
        return;
    }
    if (vczi_file_map(&file, &map) == 0) {
        vczi_map_will_need(&map, 0, map.map_nbytes); /* the system goes on reading when the map is gone */
        vczi_map_close(&map);
    }
    vczi_file_close(&file);
}

const vczi_store_ops_t vczi_directory_ops = {
    .kind = VCZC_STORE_DIRECTORY,
    .get = directory_get,
    .get_wanted = directory_get_wanted,
    .size = directory_size,
    .list = directory_list,
    .list_folder = directory_list_folder,
    .will_need = directory_will_need,
    .check_there = directory_check_there,
    .close = directory_close,
};

int vczi_directory_open(void **self, const char *path) {
    directory_t *directory = vczi_alloc_zeroed(1, sizeof(*directory));
    *self = NULL;
    if (directory == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    const int ret = vczi_folder_open(&directory->folder, path);
    if (ret != 0) {
        vczi_free(directory);
        return ret;
    }
    *self = directory;
    return 0;
}
