/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Foreign functions: what they return is checked before it is believed, and no lock is held while they run. */
#include "callbacks.h"

#include <stddef.h>

#include "checked.h"
#include "key.h"
#include "mem.h"
#include "range.h"
#include "status.h"

typedef struct {
    vczc_callbacks_t functions;
    void *user;
} callbacks_t;

/* The thread's account of its last error, put aside so that it shows whether a callback gave a reason. Nearly always
 * there is nothing to put aside. */
typedef struct {
    vczi_detail_t kept;
    bool is_kept;
} aside_t;

static void aside_begin(aside_t *aside) {
    static const vczi_detail_t none = {.ndim = -1};
    aside->is_kept = vczi_detail_view()->code != 0;
    if (aside->is_kept) {
        vczi_detail_save(&aside->kept);
        vczi_detail_restore(&none);
    }
}

/* Nothing has failed, or no reason was given: the account is as it was. */
static void aside_restore(const aside_t *aside) {
    if (aside->is_kept && vczi_detail_view()->code == 0) {
        vczi_detail_restore(&aside->kept);
    }
}

/* What the result of callback `name` means: 0, or a failure with a reason. */
static int aside_end(const aside_t *aside, int ret, const char *name, const char *key) {
    if (ret == 0) {
        if (aside->is_kept) {
            vczi_detail_restore(&aside->kept);
        }
        return 0;
    }
    if (ret > 0 || ret < VCZC_ERR_LAST) {
        return vczi_fail(VCZC_ERR_STORE, "the store's %s('%s') returned %d, which is no code", name, key, ret);
    }
    if (vczi_detail_view()->code != 0) {
        return vczi_fail_prefix(ret, "'%s'", key);
    }
    return ret == VCZC_ERR_NOT_FOUND ? vczi_fail(ret, "no entry '%s'", key)
                                     : vczi_fail(ret, "the store's %s('%s') failed, and gave no reason", name, key);
}

static void release_pin(void *owner, void *pin) {
    const callbacks_t *self = owner;
    self->functions.release(self->user, pin);
}

/* What was pinned must be what was asked for. */
static int check_bytes(const vczi_bytes_t *bytes, const char *key, size_t nbytes) {
    if (bytes->span.data == NULL && bytes->span.nbytes != 0) {
        return vczi_fail(VCZC_ERR_STORE, "the store's get('%s') gave %zu bytes without an address", key,
                         bytes->span.nbytes);
    }
    if (nbytes != SIZE_MAX && bytes->span.nbytes > nbytes) {
        return vczi_fail(VCZC_ERR_STORE, "the store's get('%s') gave %zu bytes where %zu were asked for", key,
                         bytes->span.nbytes, nbytes);
    }
    if (nbytes != SIZE_MAX && bytes->span.nbytes < nbytes) {
        return vczi_fail(VCZC_ERR_CORRUPT, "'%s' ends %zu bytes before what is asked for", key,
                         nbytes - bytes->span.nbytes);
    }
    return 0;
}

static int call_get(callbacks_t *self, const char *key, uint64_t offset, size_t nbytes, vczi_bytes_t *bytes) {
    const void *data = NULL;
    size_t data_nbytes = 0;
    void *pin = NULL;
    aside_t aside;
    aside_begin(&aside);
    int ret = self->functions.get(self->user, key, offset, nbytes, &data, &data_nbytes, &pin);
    ret = aside_end(&aside, ret, "get", key);
    if (ret != 0) {
        return ret;
    }
    bytes->span = vczi_span(data, data_nbytes);
    bytes->pin = pin;
    bytes->owner = self;
    bytes->release = self->functions.release == NULL ? NULL : release_pin;
    return check_bytes(bytes, key, nbytes);
}

/* The callback gives all bytes or a range of known size; the rest from an offset on is cut out of all. */
static int callbacks_get(void *self, const char *key, uint64_t offset, size_t nbytes, vczi_scratch_t *scratch,
                         vczi_bytes_t *bytes) {
    vczi_range_t range;
    (void) scratch;
    if (nbytes != SIZE_MAX || offset == 0) {
        return call_get(self, key, offset, nbytes, bytes);
    }
    int ret = call_get(self, key, 0, SIZE_MAX, bytes);
    if (ret == 0) {
        ret = vczi_range_init(&range, bytes->span.nbytes, offset, SIZE_MAX);
    }
    if (ret == 0) {
        bytes->span = vczi_range_of(&range, bytes->span);
    }
    return ret;
}

static int callbacks_size(void *self, const char *key, uint64_t *nbytes) {
    callbacks_t *callbacks = self;
    if (callbacks->functions.size != NULL) {
        aside_t aside;
        aside_begin(&aside);
        const int ret = callbacks->functions.size(callbacks->user, key, nbytes);
        return aside_end(&aside, ret, "size", key);
    }
    vczi_bytes_t bytes = {0};
    const int ret = call_get(callbacks, key, 0, SIZE_MAX, &bytes);
    *nbytes = bytes.span.nbytes;
    if (bytes.release != NULL) {
        bytes.release(bytes.owner, bytes.pin);
    }
    return ret;
}

/* All bytes of a value that is too large to be given unasked, as many as are there: no more than are wanted. */
static int get_large(callbacks_t *self, const char *key, const vczi_want_t *want, vczi_bytes_t *bytes) {
    uint64_t total = 0;
    size_t nbytes = 0;
    int ret = callbacks_size(self, key, &total);
    if (ret == 0) {
        ret = vczi_check_wanted(want, total);
    }
    if (ret == 0 && !vczi_u64_to_size(total, &nbytes)) {
        ret = vczi_fail_memory(SIZE_MAX);
    }
    return ret == 0 ? call_get(self, key, 0, nbytes, bytes) : ret;
}

static int callbacks_get_wanted(void *self, const char *key, const vczi_want_t *want, vczi_scratch_t *scratch,
                                vczi_bytes_t *bytes) {
    callbacks_t *callbacks = self;
    (void) scratch;
    const int ret = call_get(callbacks, key, 0, SIZE_MAX, bytes);
    if (ret == VCZC_ERR_NO_MEMORY && callbacks->functions.size != NULL) {
        return get_large(callbacks, key, want, bytes);
    }
    return ret == 0 ? vczi_check_wanted(want, bytes->span.nbytes) : ret;
}

/* A listing by the embedder; where `tell` ended it, its result is what counts, whatever the embedder makes of it. */
typedef struct {
    vczi_span_t folder; /* of a listing of names */
    bool names_only;
    vczc_list_fn tell;
    void *user;
    int stopped;
} telling_t;

static int tell_key(void *user, const char *key, size_t key_nbytes) {
    telling_t *telling = user;
    const vczi_span_t all = vczi_span(key, key_nbytes);
    if (telling->stopped != 0 || !vczi_key_begins_with(all, telling->folder)) {
        return telling->stopped;
    }
    const vczi_span_t told = telling->names_only ? vczi_key_child(all, telling->folder) : all;
    telling->stopped = telling->tell(telling->user, (const char *) told.data, told.nbytes);
    return telling->stopped;
}

/* The result of a listing by the embedder, which `tell` may have ended. */
static int end_list(const aside_t *aside, int ret, int stopped, const char *name, const char *prefix) {
    if (stopped != 0) { /* `tell` gave the reason, if it is a failure */
        aside_restore(aside);
        return stopped;
    }
    return aside_end(aside, ret == VCZC_ERR_NOT_FOUND ? 0 : ret, name, prefix);
}

static int call_list(const callbacks_t *self, const char *prefix, telling_t *telling) {
    aside_t aside;
    if (self->functions.list == NULL) {
        return vczi_fail(VCZC_ERR_UNSUPPORTED, "the store cannot be listed: it has no such function");
    }
    aside_begin(&aside);
    const int ret = self->functions.list(self->user, prefix, tell_key, telling);
    return end_list(&aside, ret, telling->stopped, "list", prefix);
}

static int tell_name(void *user, const char *name, size_t name_nbytes) {
    telling_t *telling = user;
    if (telling->stopped == 0) {
        telling->stopped = telling->tell(telling->user, name, name_nbytes);
    }
    return telling->stopped;
}

static int callbacks_list(void *self, const char *prefix, vczc_list_fn tell, void *user) {
    telling_t telling = {vczi_span(prefix, strlen(prefix)), false, tell, user, 0};
    return call_list(self, prefix, &telling);
}

static int callbacks_list_folder(void *self, const char *folder, vczc_list_fn tell, void *user) {
    const callbacks_t *callbacks = self;
    telling_t telling = {vczi_span(folder, strlen(folder)), true, tell, user, 0};
    aside_t aside;
    if (callbacks->functions.list_folder == NULL) {
        return call_list(callbacks, folder, &telling);
    }
    aside_begin(&aside);
    const int ret = callbacks->functions.list_folder(callbacks->user, folder, tell_name, &telling);
    return end_list(&aside, ret, telling.stopped, "list_folder", folder);
}

static void callbacks_close(void *self) {
    callbacks_t *callbacks = self;
    if (callbacks->functions.close != NULL) {
        callbacks->functions.close(callbacks->user);
    }
    vczi_free(callbacks);
}

void vczi_callbacks_abandon(void *self) {
    vczi_free(self);
}

bool vczi_callbacks_prefer_consolidated(const void *self) {
    const callbacks_t *callbacks = self;
    return callbacks->functions.prefer_consolidated != 0;
}

const vczi_store_ops_t vczi_callbacks_ops = {
    .kind = VCZC_STORE_CALLBACKS,
    .get = callbacks_get,
    .get_wanted = callbacks_get_wanted,
    .size = callbacks_size,
    .list = callbacks_list,
    .list_folder = callbacks_list_folder,
    .will_need = NULL,
    .close = callbacks_close,
};

/* An embedder's older header may lack the last members: they are NULL or 0. */
int vczi_callbacks_open(void **self, const vczc_callbacks_t *callbacks, void *user) {
    const size_t least = offsetof(vczc_callbacks_t, get) + sizeof(callbacks->get);
    *self = NULL;
    if (callbacks->struct_nbytes < least) {
        return vczi_fail(VCZC_ERR_ARGUMENT, "struct_nbytes of the callbacks is %zu; it must be their size",
                         callbacks->struct_nbytes);
    }
    callbacks_t *made = vczi_alloc_zeroed(1, sizeof(*made));
    if (made == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    const size_t nbytes = callbacks->struct_nbytes;
    memcpy(&made->functions, callbacks, nbytes < sizeof(*callbacks) ? nbytes : sizeof(*callbacks));
    made->user = user;
    if (made->functions.get == NULL) {
        vczi_free(made);
        return vczi_fail(VCZC_ERR_ARGUMENT, "the callbacks lack get");
    }
    *self = made;
    return 0;
}
