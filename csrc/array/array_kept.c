/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* A place for each chunk number modulo NSLOTS: the chunks of a row have numbers in sequence, and so places of their
 * own. */
#include "array_kept.h"

#include <stdbool.h>

#include "atomic.h"
#include "ceilings.h"
#include "mem.h"

/* As many chunks may a row go through: 320,000 samples in bio2zarr's chunks of 10,000. */
#define NSLOTS 32

typedef struct {
    vczi_atomic_t nusers; /* 1 while it is lent; more for a moment, while others find that out */
    int64_t chunk;        /* that `block` is of */
    int64_t nbytes;       /* of it in the sum of all */
    vczi_kept_block_t block;
} slot_t;

struct vczi_array_kept {
    vczi_atomic_t nbytes; /* that all slots hold */
    slot_t slots[NSLOTS];
};

vczi_array_kept_t *vczi_array_kept_open(void) {
    return vczi_alloc_zeroed(1, sizeof(vczi_array_kept_t));
}

void vczi_array_kept_close(vczi_array_kept_t *self) {
    for (int i = 0; self != NULL && i < NSLOTS; i++) {
        vczi_kept_block_clear(&self->slots[i].block);
    }
    vczi_free(self);
}

static bool borrow(slot_t *slot) {
    if (vczi_atomic_add(&slot->nusers, 1) == 0) {
        return true;
    }
    (void) vczi_atomic_add(&slot->nusers, -1);
    return false;
}

static void give_back(slot_t *slot) {
    (void) vczi_atomic_add(&slot->nusers, -1);
}

/* Add what a slot that is lent has grown by to the sum of all, which is given. */
static int64_t sum_up(vczi_array_kept_t *self, slot_t *slot) {
    const int64_t more = (int64_t) slot->block.memory_nbytes - slot->nbytes;
    slot->nbytes += more;
    return more == 0 ? vczi_atomic_peek(&self->nbytes) : vczi_atomic_add(&self->nbytes, more) + more;
}

/* Let go of what other slots hold, the next ones first (of a walk they are the oldest), then of what this one does. */
static void make_room(vczi_array_kept_t *self, int number) {
    for (int i = 1; i <= NSLOTS && vczi_atomic_peek(&self->nbytes) > (int64_t) VCZI_MAX_KEPT_NBYTES; i++) {
        slot_t *slot = &self->slots[(number + i) % NSLOTS];
        const bool is_own = i == NSLOTS;
        if (is_own || borrow(slot)) {
            vczi_kept_block_clear(&slot->block);
            (void) sum_up(self, slot);
            if (!is_own) {
                give_back(slot);
            }
        }
    }
}

vczi_kept_block_t *vczi_array_kept_borrow(vczi_array_kept_t *self, int64_t chunk) {
    slot_t *slot = &self->slots[chunk % NSLOTS];
    if (!borrow(slot)) {
        return NULL;
    }
    if (slot->chunk != chunk) {
        slot->chunk = chunk;
        slot->block.is_held = false;
    }
    return &slot->block;
}

void vczi_array_kept_return(vczi_array_kept_t *self, int64_t chunk) {
    const int number = (int) (chunk % NSLOTS);
    slot_t *slot = &self->slots[number];
    if (sum_up(self, slot) > (int64_t) VCZI_MAX_KEPT_NBYTES) {
        make_room(self, number);
    }
    give_back(slot);
}
