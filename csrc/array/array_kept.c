/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "array_kept.h"

#include "atomic.h"
#include "ceilings.h"
#include "mem.h"

struct vczi_array_kept {
    vczi_atomic_t nusers; /* 1 while it is lent; more for a moment, while others find that out */
    int64_t chunk;        /* that `block` is of */
    vczi_kept_block_t block;
};

vczi_array_kept_t *vczi_array_kept_open(void) {
    return vczi_alloc_zeroed(1, sizeof(vczi_array_kept_t));
}

void vczi_array_kept_close(vczi_array_kept_t *self) {
    if (self != NULL) {
        vczi_kept_block_clear(&self->block);
        vczi_free(self);
    }
}

vczi_kept_block_t *vczi_array_kept_borrow(vczi_array_kept_t *self, int64_t chunk) {
    if (vczi_atomic_add(&self->nusers, 1) != 0) {
        (void) vczi_atomic_add(&self->nusers, -1);
        return NULL;
    }
    if (self->chunk != chunk) {
        self->chunk = chunk;
        self->block.is_held = false;
    }
    return &self->block;
}

void vczi_array_kept_return(vczi_array_kept_t *self) {
    if (self->block.memory_nbytes > VCZI_MAX_KEPT_NBYTES) {
        vczi_kept_block_clear(&self->block);
    }
    (void) vczi_atomic_add(&self->nusers, -1);
}
