/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* What all kinds of store have in common: the location that errors name, the folder that holds the root, and the count
 * of those who hold the store. */
#include "store.h"

#include "atomic.h"
#include "callbacks.h"
#include "ceilings.h"
#include "checked.h"
#include "directory.h"
#include "file.h"
#include "mem.h"
#include "memory.h"
#include "names.h"
#include "status.h"
#include "zip.h"

#define ALL_FLAGS ((uint32_t) VCZC_OPEN_VERIFY)

struct vczc_store {
    const vczi_store_ops_t *ops;
    void *self;
    vczi_atomic_t nholders;
    char *location;
    char *prefix; /* "" or "name/" */
    size_t prefix_nbytes;
    bool prefers_consolidated;
    vczi_atomic_t nkeepers; /* who wanted to keep something; the first one does */
    vczi_atomic_t kept;     /* its address, once it is whole */
    void (*drop_kept)(void *value);
};

/* A full key, composed where there is a prefix. */
typedef struct {
    const char *text;
    char room[VCZI_MAX_KEY_NBYTES + 1];
} full_key_t;

static bool compose(const vczc_store_t *store, const char *key, full_key_t *full) {
    if (store->prefix_nbytes == 0) {
        full->text = key;
        return true;
    }
    const size_t nbytes = strlen(key);
    if (nbytes > VCZI_MAX_KEY_NBYTES - store->prefix_nbytes) { /* the prefix is shorter: choose_prefix */
        return false;
    }
    memcpy(full->room, store->prefix, store->prefix_nbytes);
    memcpy(full->room + store->prefix_nbytes, key, nbytes + 1);
    full->text = full->room;
    return true;
}

/* The full key of `key`. What no store can hold is not there. */
static int find_key(const vczc_store_t *store, const char *key, full_key_t *full) {
    if (!vczi_key_is_safe(key) || !compose(store, key, full)) {
        return vczi_fail(VCZC_ERR_NOT_FOUND, "no store can hold the key '%s'", key);
    }
    return 0;
}

static int fail_at(const vczc_store_t *store, int code) {
    return vczi_fail_prefix(code, "%s", store->location);
}

/* ---- Reading ---- */

void vczi_bytes_release(vczi_bytes_t *bytes) {
    const vczi_bytes_t none = {0};
    if (bytes->release != NULL) {
        bytes->release(bytes->owner, bytes->pin);
    }
    *bytes = none;
}

/* What a kind's get left: on failure what it pinned is released, and the store is named. */
static int end_get(const vczc_store_t *store, int ret, vczi_bytes_t *bytes) {
    if (ret == 0) {
        return 0;
    }
    vczi_bytes_release(bytes);
    return fail_at(store, ret);
}

int vczi_store_get_range(vczc_store_t *store, const char *key, uint64_t offset, size_t nbytes, vczi_scratch_t *scratch,
                         vczi_bytes_t *bytes) {
    const vczi_bytes_t none = {0};
    full_key_t full;
    *bytes = none;
    int ret = find_key(store, key, &full);
    if (ret == 0) {
        ret = store->ops->get(store->self, full.text, offset, nbytes, scratch, bytes);
    }
    return end_get(store, ret, bytes);
}

int vczi_store_get_wanted(vczc_store_t *store, const char *key, const vczi_want_t *want, vczi_scratch_t *scratch,
                          vczi_bytes_t *bytes) {
    const vczi_bytes_t none = {0};
    full_key_t full;
    *bytes = none;
    int ret = find_key(store, key, &full);
    if (ret == 0 && store->ops->get_wanted != NULL) {
        ret = store->ops->get_wanted(store->self, full.text, want, scratch, bytes);
    } else if (ret == 0) {
        ret = store->ops->get(store->self, full.text, 0, SIZE_MAX, scratch, bytes);
    }
    return end_get(store, ret, bytes);
}

int vczi_store_get(vczc_store_t *store, const char *key, vczi_scratch_t *scratch, vczi_bytes_t *bytes) {
    return vczi_store_get_range(store, key, 0, SIZE_MAX, scratch, bytes);
}

int vczi_store_size(vczc_store_t *store, const char *key, uint64_t *nbytes) {
    full_key_t full;
    *nbytes = 0;
    int ret = find_key(store, key, &full);
    if (ret == 0) {
        ret = store->ops->size(store->self, full.text, nbytes);
    }
    return ret == 0 ? 0 : fail_at(store, ret);
}

int vczi_store_check(vczc_store_t *store) {
    const int ret = store->ops->check == NULL ? 0 : store->ops->check(store->self);
    return ret == 0 ? 0 : fail_at(store, ret);
}

int vczi_store_check_there(vczc_store_t *store, const char *key) {
    full_key_t full = {NULL, {0}};
    if (store->ops->check_there == NULL || (key != NULL && !compose(store, key, &full))) {
        return 0;
    }
    const int ret = store->ops->check_there(store->self, full.text);
    return ret == 0 ? 0 : fail_at(store, ret);
}

void vczi_store_will_need(vczc_store_t *store, const char *key) {
    full_key_t full;
    if (store->ops->will_need != NULL && vczi_key_is_safe(key) && compose(store, key, &full)) {
        store->ops->will_need(store->self, full.text);
    }
}

/* ---- Listing ---- */

/* What a kind of store tells, on its way to the caller. */
typedef struct {
    size_t cut_nbytes; /* of each key: the store's prefix */
    vczc_list_fn tell;
    void *user;
    int stopped; /* what `tell` ended the listing with */
} listing_t;

static int list_key(void *user, const char *key, size_t key_nbytes) {
    listing_t *listing = user;
    const vczi_span_t all = vczi_span(key, key_nbytes);
    if (listing->stopped == 0 && vczi_key_span_is_safe(all) && !vczi_key_is_stray(all)) {
        listing->stopped = listing->tell(listing->user, key + listing->cut_nbytes, key_nbytes - listing->cut_nbytes);
    }
    return listing->stopped;
}

/* True where `prefix` can be the beginning of a key: its folders are safe. */
static bool prefix_is_safe(const char *prefix) {
    const char *slash = strrchr(prefix, '/');
    return slash == NULL || vczi_key_span_is_safe(vczi_span(prefix, (size_t) (slash - prefix)));
}

int vczi_store_list(vczc_store_t *store, const char *prefix, vczc_list_fn tell, void *user) {
    listing_t listing = {store->prefix_nbytes, tell, user, 0};
    full_key_t full;
    if (!prefix_is_safe(prefix) || !compose(store, prefix, &full)) {
        return 0; /* no key begins so */
    }
    const int ret = store->ops->list(store->self, full.text, list_key, &listing);
    if (listing.stopped != 0) {
        return listing.stopped;
    }
    return ret == 0 ? 0 : fail_at(store, ret);
}

static int add_name(void *user, const char *name, size_t name_nbytes) {
    const vczi_span_t all = vczi_span(name, name_nbytes);
    const bool is_name = vczi_key_span_is_safe(all) && !vczi_key_is_stray(all);
    return is_name ? vczi_names_add(user, all) : 0;
}

int vczi_store_list_folder(vczc_store_t *store, const char *folder, vczc_list_fn tell, void *user) {
    vczi_names_t names = {0};
    full_key_t full;
    VCZI_ASSERT(folder[0] == '\0' || folder[strlen(folder) - 1] == '/');
    if (!prefix_is_safe(folder) || !compose(store, folder, &full)) {
        return 0;
    }
    int ret = store->ops->list_folder(store->self, full.text, add_name, &names);
    if (ret != 0) {
        ret = fail_at(store, ret);
    }
    vczi_names_sort(&names);
    for (size_t i = 0; i < names.nitems && ret == 0; i++) {
        const vczi_span_t name = vczi_names_view(&names, i);
        ret = tell(user, (const char *) name.data, name.nbytes);
    }
    vczi_names_clear(&names);
    return ret;
}

/* ---- The sole folder at the top ---- */

#define LISTING_ENDED 1

typedef struct {
    char name[VCZI_MAX_KEY_NBYTES + 1]; /* with "/" behind it */
    size_t nbytes;                      /* 0 where no name has been seen */
    bool has_others;
} sole_t;

static int see_name(void *user, const char *name, size_t name_nbytes) {
    sole_t *sole = user;
    const vczi_span_t all = vczi_span(name, name_nbytes);
    if (!vczi_key_span_is_safe(all) || vczi_key_is_stray(all)) {
        return 0;
    }
    if (sole->nbytes != 0 && sole->nbytes - 1 == name_nbytes && memcmp(sole->name, name, name_nbytes) == 0) {
        return 0;
    }
    sole->has_others = sole->nbytes != 0 || name_nbytes >= VCZI_MAX_KEY_NBYTES - 1; /* too long to hold a key */
    if (sole->has_others) {
        return LISTING_ENDED;
    }
    memcpy(sole->name, name, name_nbytes);
    memcpy(sole->name + name_nbytes, "/", 2);
    sole->nbytes = name_nbytes + 1;
    return 0;
}

static int see_any(void *user, const char *name, size_t name_nbytes) {
    bool *has_any = user;
    (void) name;
    (void) name_nbytes;
    *has_any = true;
    return LISTING_ENDED;
}

/* A store that cannot be listed, or whose listing fails, may still be read: it is opened at its top. */
static int listing_result(int ret) {
    const bool is_no_matter =
        ret == LISTING_ENDED || ret == VCZC_ERR_NOT_FOUND || ret == VCZC_ERR_STORE || ret == VCZC_ERR_UNSUPPORTED;
    return is_no_matter ? 0 : ret;
}

/* Where one folder with something in it is all that stands at the top, the root lies in there. */
static int choose_prefix(vczc_store_t *store) {
    sole_t *sole = vczi_alloc_zeroed(1, sizeof(*sole));
    bool has_any = false;
    int ret = 0;
    if (sole == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    if (!store->prefers_consolidated) {
        ret = listing_result(store->ops->list_folder(store->self, "", see_name, sole));
    }
    if (ret == 0 && sole->nbytes != 0 && !sole->has_others) {
        ret = listing_result(store->ops->list_folder(store->self, sole->name, see_any, &has_any));
    }
    if (ret == 0) {
        store->prefix_nbytes = has_any ? sole->nbytes : 0;
        store->prefix = vczi_copy_text(sole->name, store->prefix_nbytes);
        ret = store->prefix == NULL ? VCZC_ERR_NO_MEMORY : 0;
    }
    vczi_free(sole);
    return ret;
}

/* ---- Opening and closing ---- */

static void free_handle(vczc_store_t *store) {
    void *kept = (void *) (intptr_t) vczi_atomic_load(&store->kept);
    if (kept != NULL) {
        store->drop_kept(kept);
    }
    vczi_free(store->location);
    vczi_free(store->prefix);
    vczi_free(store);
}

/* A handle on `self`, which it owns where this succeeds. `location` is not kept. */
static int make_store(vczc_store_t **store, const vczi_store_ops_t *ops, void *self, const char *location,
                      bool prefers_consolidated) {
    vczc_store_t *made = vczi_alloc_zeroed(1, sizeof(*made));
    if (made == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    made->ops = ops;
    made->self = self;
    made->prefers_consolidated = prefers_consolidated;
    vczi_atomic_store(&made->nholders, 1);
    made->location = vczi_copy_text(location, strlen(location));
    const int ret = made->location == NULL ? VCZC_ERR_NO_MEMORY : choose_prefix(made);
    if (ret != 0) {
        free_handle(made);
        return ret;
    }
    *store = made;
    return 0;
}

/* As make_store; `self` is closed where that fails. */
static int make_or_close(vczc_store_t **store, const vczi_store_ops_t *ops, void *self, const char *location) {
    const int ret = make_store(store, ops, self, location, false);
    if (ret != 0) {
        ops->close(self);
    }
    return ret;
}

/* Open what is at `path`, which is absolute, by its kind. */
static int open_there(vczc_store_t **store, const char *path, uint32_t flags) {
    void *self = NULL;
    int kind = VCZI_PATH_ABSENT;
    int ret = vczi_path_kind(path, &kind);
    if (ret != 0) {
        return ret;
    }
    switch (kind) {
        case VCZI_PATH_FOLDER:
            ret = vczi_directory_open(&self, path);
            return ret == 0 ? make_or_close(store, &vczi_directory_ops, self, path) : ret;
        case VCZI_PATH_FILE:
            ret = vczi_zip_open(&self, path, flags);
            return ret == 0 ? make_or_close(store, &vczi_zip_ops, self, path) : ret;
        case VCZI_PATH_ABSENT:
            return vczi_fail(VCZC_ERR_NOT_FOUND, "no such file or folder");
        default:
            return vczi_fail(VCZC_ERR_STORE, "neither a folder nor a regular file");
    }
}

/* Slashes at the end say nothing that is not found out anyway. */
static void cut_slashes(char *path) {
    size_t nbytes = strlen(path);
    while (nbytes > 1 && path[nbytes - 1] == '/') {
        path[--nbytes] = '\0';
    }
}

static int check_flags(uint32_t flags) {
    return (flags & ~ALL_FLAGS) == 0 ? 0 : vczi_fail(VCZC_ERR_ARGUMENT, "flags 0x%x are not known", (unsigned) flags);
}

int vczi_store_open_path(vczc_store_t **store, const char *path, uint32_t flags) {
    char *absolute = NULL;
    *store = NULL;
    int ret = check_flags(flags);
    if (ret == 0) {
        ret = vczi_path_absolute(path, &absolute);
    }
    if (ret != 0) {
        return ret;
    }
    cut_slashes(absolute);
    ret = open_there(store, absolute, flags);
    if (ret != 0) {
        ret = vczi_fail_prefix(ret, "%s", absolute);
    }
    vczi_free(absolute);
    return ret;
}

int vczi_store_open_memory(vczc_store_t **store, const vczc_entry_t *entries, size_t nentries) {
    void *self = NULL;
    *store = NULL;
    const int ret = vczi_memory_open(&self, entries, nentries);
    return ret == 0 ? make_or_close(store, &vczi_memory_ops, self, "store in memory") : ret;
}

int vczi_store_open_zip_memory(vczc_store_t **store, vczi_span_t archive, uint32_t flags) {
    const char *location = "zip archive in memory";
    void *self = NULL;
    *store = NULL;
    int ret = check_flags(flags);
    if (ret == 0) {
        ret = vczi_zip_open_memory(&self, archive, flags);
    }
    if (ret == 0) {
        return make_or_close(store, &vczi_zip_ops, self, location);
    }
    return vczi_fail_prefix(ret, "%s", location);
}

int vczi_store_open_callbacks(vczc_store_t **store, const vczc_callbacks_t *callbacks, void *user, const char *name) {
    void *self = NULL;
    *store = NULL;
    int ret = vczi_callbacks_open(&self, callbacks, user);
    if (ret != 0) {
        return ret;
    }
    ret = make_store(store, &vczi_callbacks_ops, self, name, vczi_callbacks_prefer_consolidated(self));
    if (ret != 0) {
        vczi_callbacks_abandon(self);
        return vczi_fail_prefix(ret, "%s", name);
    }
    return 0;
}

vczc_store_t *vczi_store_retain(vczc_store_t *store) {
    (void) vczi_atomic_add(&store->nholders, 1);
    return store;
}

void vczi_store_release(vczc_store_t *store) {
    if (store != NULL && vczi_atomic_add(&store->nholders, -1) == 1) {
        store->ops->close(store->self);
        free_handle(store);
    }
}

const void *vczi_store_kept(const vczc_store_t *store) {
    return (const void *) (intptr_t) vczi_atomic_load(&store->kept);
}

bool vczi_store_keep(vczc_store_t *store, void *value, void (*drop)(void *value)) {
    if (vczi_atomic_add(&store->nkeepers, 1) != 0) {
        return false;
    }
    store->drop_kept = drop;
    vczi_atomic_store(&store->kept, (int64_t) (intptr_t) value);
    return true;
}

int vczi_store_kind(const vczc_store_t *store) {
    return store->ops->kind;
}

const char *vczi_store_location(const vczc_store_t *store) {
    return store->location;
}

const char *vczi_store_prefix(const vczc_store_t *store) {
    return store->prefix;
}

bool vczi_store_prefers_consolidated(const vczc_store_t *store) {
    return store->prefers_consolidated;
}
