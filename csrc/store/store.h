/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* What a store is: a folder, a zip archive, memory, or callbacks behind get, size, list, close; with a reference count
 * and a prefix (the sole folder at the top, where the root lies in one). */
#ifndef VCZI_STORE_H
#define VCZI_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "bytes.h"
#include "key.h"
#include "scratch.h"
#include "vczc.h"

/* Stored bytes, pinned. Zeroed holds nothing. */
typedef struct {
    vczi_span_t span;
    void *pin; /* the implementation's, given back to its release */
    void (*release)(void *owner, void *pin);
    void *owner;
} vczi_bytes_t;

/* How a value is wanted by who looks at it and hands it to nobody. */
typedef struct {
    bool is_part;        /* only a part of it will be looked at */
    bool asks_for_parts; /* by vczi_pieces_need, before any look at it */
    bool copies_parts;   /* by vczi_pieces_copy, where vczi_pieces_are_copied says so */
    uint64_t max_nbytes; /* of a value that has to be read whole; above it is the failure `too_large` */
    int too_large;
} vczi_want_t;

/* One kind of store. Keys are full (prefix included), zero-terminated and safe (key.h): store.c has checked them. Every
 * function may be called by several threads at once. What is told by a listing is checked by store.c, not by the kind.
 */
typedef struct {
    int kind; /* VCZC_STORE_… */
    /* The bytes [offset, offset + nbytes) of `key`, or all where nbytes is SIZE_MAX; VCZC_ERR_NOT_FOUND only where it
     * is not there. Where `scratch` is given, the bytes may lie in its FILE or INFLATE buffer and are valid until that
     * is used again; where it is NULL they are pinned by `bytes` and the store. A range beyond the end is
     * VCZC_ERR_CORRUPT. On failure `bytes` may hold a pin, which store.c releases. */
    int (*get)(void *self, const char *key, uint64_t offset, size_t nbytes, vczi_scratch_t *scratch,
               vczi_bytes_t *bytes);
    /* All bytes of `key` as they are wanted, in the scratch where they are not in memory anyway: never in a map, which
     * could be cut. NULL where `get` does that. */
    int (*get_wanted)(void *self, const char *key, const vczi_want_t *want, vczi_scratch_t *scratch,
                      vczi_bytes_t *bytes);
    int (*size)(void *self, const char *key, uint64_t *nbytes);
    /* Told each key that begins with `prefix`. What `tell` returns ends the listing and is returned. */
    int (*list)(void *self, const char *prefix, vczc_list_fn tell, void *user);
    /* Told the names directly under `folder` ("" or "a/b/"), files and folders, each at least once. */
    int (*list_folder)(void *self, const char *folder, vczc_list_fn tell, void *user);
    void (*will_need)(void *self, const char *key); /* a hint; may be NULL */
    /* VCZC_ERR_STORE where the store is no longer the one that was opened; NULL where each key is found out by itself.
     */
    int (*check)(void *self);
    /* VCZC_ERR_STORE where the store is gone, or `key` (NULL: none), which was there when the store was opened. NULL
     * where `check` or the keys themselves tell. */
    int (*check_there)(void *self, const char *key);
    void (*close)(void *self);
} vczi_store_ops_t;

/* Open as vczc_store_open and its relatives say. */
int vczi_store_open_path(vczc_store_t **store, const char *path, uint32_t flags);
int vczi_store_open_memory(vczc_store_t **store, const vczc_entry_t *entries, size_t nentries);
int vczi_store_open_zip_memory(vczc_store_t **store, vczi_span_t archive, uint32_t flags);
int vczi_store_open_callbacks(vczc_store_t **store, const vczc_callbacks_t *callbacks, void *user, const char *name);

vczc_store_t *vczi_store_retain(vczc_store_t *store);
void vczi_store_release(vczc_store_t *store); /* NULL is nothing */

/* `key` is relative to the prefix; one that is not safe is not found. Failures name the store. On failure `bytes` is
 * zeroed. */
int vczi_store_get(vczc_store_t *store, const char *key, vczi_scratch_t *scratch, vczi_bytes_t *bytes);
int vczi_store_get_range(vczc_store_t *store, const char *key, uint64_t offset, size_t nbytes, vczi_scratch_t *scratch,
                         vczi_bytes_t *bytes);
/* As vczi_store_get, for a look by the library itself; `bytes` must be released before the scratch is used again. */
int vczi_store_get_wanted(vczc_store_t *store, const char *key, const vczi_want_t *want, vczi_scratch_t *scratch,
                          vczi_bytes_t *bytes);
void vczi_bytes_release(vczi_bytes_t *bytes);
int vczi_store_size(vczc_store_t *store, const char *key, uint64_t *nbytes);
/* Every key that begins with `prefix` ("" or "a/b/"), relative to the store's own prefix; entries that are no part of a
 * store (__MACOSX/, names that begin with "._") are left out. */
int vczi_store_list(vczc_store_t *store, const char *prefix, vczc_list_fn tell, void *user);
/* The names directly under `folder` ("" or "a/b/", relative), in byte order, each once. */
int vczi_store_list_folder(vczc_store_t *store, const char *folder, vczc_list_fn tell, void *user);
void vczi_store_will_need(vczc_store_t *store, const char *key);
/* VCZC_ERR_STORE where an archive was changed since it was opened: for what is served without a look at it. */
int vczi_store_check(vczc_store_t *store);

/* Something is not there: is it absent from a store that is still there? VCZC_ERR_STORE where a folder was removed
 * since it was opened, or has no longer the `key` that it had (NULL: none). Nothing is asked of other kinds of store.
 */
int vczi_store_check_there(vczc_store_t *store, const char *key);

/* What the floors above made of the store's content, kept with it: NULL until something is. */
const void *vczi_store_kept(const vczc_store_t *store);
/* Keep `value`, which never changes again and is freed by `drop` when the store goes. False where something is kept
 * already, or is about to be: `value` then stays the caller's. */
bool vczi_store_keep(vczc_store_t *store, void *value, void (*drop)(void *value));

int vczi_store_kind(const vczc_store_t *store);
const char *vczi_store_location(const vczc_store_t *store);
const char *vczi_store_prefix(const vczc_store_t *store);
/* True where a request is dear, so that consolidated metadata serves. */
bool vczi_store_prefers_consolidated(const vczc_store_t *store);

#endif
