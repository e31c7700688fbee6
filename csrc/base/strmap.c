/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Text to index. The hash is SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012) with a key
 * made from the map's seed: unlike cheaper hashes it is not known to have collisions that hold for every seed. */
#include "strmap.h"

#include <stdbool.h>
#include <time.h>

#include "mem.h"
#include "status.h"

/* At most 5 of 8 slots are taken: linear probing then looks at some 4 tags, which share a cache line, for a miss. */
#define LOAD_TAKEN 5
#define LOAD_OF 8
#define MIN_SLOTS 8

/* Texts whose places are fetched from memory together. */
#define BATCH 32

typedef struct {
    uint64_t v[4];
} sip_t;

static uint64_t rotate_left(uint64_t value, int nbits) {
    return value << nbits | value >> (64 - nbits);
}

static inline void sip_round(sip_t *s) {
    s->v[0] += s->v[1];
    s->v[2] += s->v[3];
    s->v[1] = rotate_left(s->v[1], 13) ^ s->v[0];
    s->v[3] = rotate_left(s->v[3], 16) ^ s->v[2];
    s->v[0] = rotate_left(s->v[0], 32);
    s->v[2] += s->v[1];
    s->v[0] += s->v[3];
    s->v[1] = rotate_left(s->v[1], 17) ^ s->v[2];
    s->v[3] = rotate_left(s->v[3], 21) ^ s->v[0];
    s->v[2] = rotate_left(s->v[2], 32);
}

static inline void sip_word(sip_t *s, uint64_t word) {
    s->v[3] ^= word;
    sip_round(s);
    s->v[0] ^= word;
}

/* splitmix64's finaliser: spreads a seed of few random bits over all. */
static uint64_t spread(uint64_t value) {
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

/* The last `left` (0 to 7) bytes of `key`, from `next`; with the eight before its end in reach, in one load. */
static inline uint64_t load_tail(vczi_span_t key, const uint8_t *next, size_t left) {
    uint64_t word = 0;
    if (left != 0 && key.nbytes >= 8) {
        return vczi_load_u64le(next + left - 8) >> (8 * (8 - left));
    }
    for (size_t i = 0; i < left; i++) {
        word |= (uint64_t) next[i] << (8 * i);
    }
    return word;
}

static uint64_t hash_key(uint64_t seed, vczi_span_t key) {
    const uint64_t k0 = seed;
    const uint64_t k1 = spread(seed ^ UINT64_C(0x9e3779b97f4a7c15));
    sip_t s = {{k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d), k0 ^ UINT64_C(0x6c7967656e657261),
                k1 ^ UINT64_C(0x7465646279746573)}};
    const uint8_t *next = key.data;
    size_t left = key.nbytes;
    for (; left >= 8; left -= 8, next += 8) {
        sip_word(&s, vczi_load_u64le(next));
    }
    sip_word(&s, (uint64_t) key.nbytes << 56 | load_tail(key, next, left));
    s.v[2] ^= 0xff;
    sip_round(&s);
    sip_round(&s);
    sip_round(&s);
    return s.v[0] ^ s.v[1] ^ s.v[2] ^ s.v[3];
}

/* Never 0, which marks a free slot. The position uses the low bits, the tag the high ones. */
static uint32_t tag_of(uint64_t hash) {
    return (uint32_t) (hash >> 32) | 1;
}

/* The slot that holds `key`, or the free one where it would go. Ends because some slot is always free. */
static size_t find_slot(const vczi_strmap_t *self, vczi_span_t key, uint64_t hash, vczi_strmap_text_fn text,
                        const void *user) {
    const uint32_t tag = tag_of(hash);
    const size_t mask = self->nslots - 1;
    for (size_t i = (size_t) hash & mask;; i = (i + 1) & mask) {
        if (self->tags[i] == 0) {
            return i;
        }
        if (self->tags[i] == tag) {
            const vczi_span_t have = text(user, self->slots[i] - 1);
            if (have.nbytes == key.nbytes && (key.nbytes == 0 || memcmp(have.data, key.data, key.nbytes) == 0)) {
                return i;
            }
        }
    }
}

/* What an outsider who wrote the store cannot know: where memory lies, and when this is. */
static uint64_t make_seed(const void *memory) {
    const uint64_t place = (uint64_t) (uintptr_t) memory;
    const uint64_t moment = (uint64_t) time(NULL) ^ (uint64_t) clock() << 32;
    return spread(spread(place) ^ moment);
}

int vczi_strmap_init(vczi_strmap_t *self, size_t nitems) {
    const vczi_strmap_t none = {0};
    size_t nslots = MIN_SLOTS;
    *self = none;
    if ((uint64_t) nitems >= UINT32_MAX) {
        return vczi_fail(VCZC_ERR_NO_MEMORY, "a map of %zu texts is not supported", nitems);
    }
    while (nslots / LOAD_OF * LOAD_TAKEN < nitems) {
        if (nslots > SIZE_MAX / 2) {
            return vczi_fail_memory(SIZE_MAX);
        }
        nslots *= 2;
    }
    self->slots = vczi_alloc_array(nslots, sizeof(*self->slots)); /* read only where the tag is set */
    self->tags = self->slots == NULL ? NULL : vczi_alloc_zeroed(nslots, sizeof(*self->tags));
    if (self->tags == NULL) {
        vczi_strmap_clear(self);
        return VCZC_ERR_NO_MEMORY;
    }
    self->nslots = nslots;
    self->seed = make_seed(self->slots);
    return 0;
}

/* Have the memory at `place` on its way; a hint, measured: 300,000 names take 14 instead of 18 ms. */
static inline void fetch(const uint32_t *place) {
#if defined(__GNUC__)
    __builtin_prefetch(place, 1);
#else
    (void) place;
#endif
}

static void put(vczi_strmap_t *self, vczi_span_t key, uint64_t hash, uint32_t index, vczi_strmap_text_fn text,
                const void *user, uint32_t *previous) {
    const size_t i = find_slot(self, key, hash, text, user);
    const bool is_new = self->tags[i] == 0;
    VCZI_ASSERT(index != VCZI_STRMAP_NONE);
    VCZI_ASSERT(!is_new || self->nitems < self->nslots / LOAD_OF * LOAD_TAKEN);
    *previous = is_new ? VCZI_STRMAP_NONE : self->slots[i] - 1;
    self->nitems += is_new;
    self->slots[i] = index + 1;
    self->tags[i] = tag_of(hash);
}

void vczi_strmap_put(vczi_strmap_t *self, vczi_span_t key, uint32_t index, vczi_strmap_text_fn text, const void *user,
                     uint32_t *previous) {
    put(self, key, hash_key(self->seed, key), index, text, user, previous);
}

void vczi_strmap_put_all(vczi_strmap_t *self, size_t nitems, vczi_strmap_text_fn text, const void *user,
                         void (*replaced)(void *owner, uint32_t index), void *owner) {
    for (size_t start = 0; start < nitems; start += BATCH) {
        uint64_t hashes[BATCH];
        const size_t nbatch = nitems - start < BATCH ? nitems - start : BATCH;
        for (size_t i = 0; i < nbatch; i++) {
            hashes[i] = hash_key(self->seed, text(user, (uint32_t) (start + i)));
            fetch(&self->tags[(size_t) hashes[i] & (self->nslots - 1)]);
            fetch(&self->slots[(size_t) hashes[i] & (self->nslots - 1)]);
        }
        for (size_t i = 0; i < nbatch; i++) {
            uint32_t previous = VCZI_STRMAP_NONE;
            const uint32_t index = (uint32_t) (start + i);
            put(self, text(user, index), hashes[i], index, text, user, &previous);
            if (previous != VCZI_STRMAP_NONE) {
                replaced(owner, previous);
            }
        }
    }
}

uint32_t vczi_strmap_get(const vczi_strmap_t *self, vczi_span_t key, vczi_strmap_text_fn text, const void *user) {
    if (self->nitems == 0) {
        return VCZI_STRMAP_NONE;
    }
    const size_t i = find_slot(self, key, hash_key(self->seed, key), text, user);
    return self->tags[i] == 0 ? VCZI_STRMAP_NONE : self->slots[i] - 1;
}

void vczi_strmap_clear(vczi_strmap_t *self) {
    const vczi_strmap_t none = {0};
    vczi_free(self->slots);
    vczi_free(self->tags);
    *self = none;
}
