/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* A map from text to a 32-bit index: open addressing, seeded, so that a hostile store cannot choose its
 * collisions. Keys are not copied: the caller's resolver gives the text of an index. */
#ifndef VCZI_STRMAP_H
#define VCZI_STRMAP_H

#include <stdint.h>

#include "bytes.h"

/* The text of entry `index`; `user` is the map owner's. */
typedef vczi_span_t (*vczi_strmap_text_fn)(const void *user, uint32_t index);

typedef struct {
    uint32_t *slots; /* index + 1, or 0 where free */
    uint32_t *tags;  /* upper hash bits beside each slot, so that most misses touch no text */
    size_t nslots;   /* a power of two */
    size_t nitems;
    uint64_t seed;
} vczi_strmap_t;

#define VCZI_STRMAP_NONE UINT32_MAX

/* An empty map with room for `nitems`. @return 0 or VCZC_ERR_NO_MEMORY. */
int vczi_strmap_init(vczi_strmap_t *self, size_t nitems);

/* Bind `key` to `index`, replacing what it was bound to; *previous is that, or VCZI_STRMAP_NONE. The caller has
 * given room for it. The text of `index` must already be what the resolver says. */
void vczi_strmap_put(vczi_strmap_t *self, vczi_span_t key, uint32_t index, vczi_strmap_text_fn text, const void *user,
                     uint32_t *previous);

/* vczi_strmap_put of the texts of indexes 0 … nitems - 1 in that order, several at once: in a large map each would wait
 * for memory. `replaced` is told each index whose text a later one took. */
void vczi_strmap_put_all(vczi_strmap_t *self, size_t nitems, vczi_strmap_text_fn text, const void *user,
                         void (*replaced)(void *owner, uint32_t index), void *owner);

/* The index of `key`, or VCZI_STRMAP_NONE. */
uint32_t vczi_strmap_get(const vczi_strmap_t *self, vczi_span_t key, vczi_strmap_text_fn text, const void *user);

/* Frees; an initialised or zeroed map. */
void vczi_strmap_clear(vczi_strmap_t *self);

#endif
