/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "kept_block.h"

#include <string.h>

#include "ceilings.h"
#include "mem.h"
#include "vczc.h"

int vczi_kept_block_room(vczi_kept_block_t *kept, size_t nbytes) {
    kept->is_held = false;
    if (kept->memory != NULL && nbytes <= kept->memory_nbytes) {
        return 0;
    }
    vczi_kept_block_clear(kept);
    kept->memory = vczi_alloc_aligned(nbytes);
    if (kept->memory == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    kept->memory_nbytes = nbytes;
    return 0;
}

void vczi_kept_block_hold_raw(vczi_kept_block_t *kept, size_t raw_nbytes) {
    const vczi_shuffled_t block = {kept->memory, raw_nbytes, 1, 0, VCZI_FILTER_NONE};
    kept->block = block;
    kept->start = 0;
    kept->is_held = true;
}

bool vczi_kept_block_holds(const vczi_kept_block_t *kept, size_t start, size_t stop) {
    return kept->is_held && start >= kept->start && stop - kept->start <= kept->block.raw_nbytes;
}

bool vczi_kept_block_read(const vczi_kept_block_t *kept, size_t start, size_t stop, uint8_t *out) {
    if (!vczi_kept_block_holds(kept, start, stop)) {
        return false;
    }
    vczi_shuffled_read(&kept->block, start - kept->start, stop - kept->start, out);
    return true;
}

void vczi_kept_block_clear(vczi_kept_block_t *kept) {
    vczi_free_aligned(kept->memory);
    memset(kept, 0, sizeof(*kept));
}

static void *make_kept(void) {
    return vczi_alloc_zeroed(1, sizeof(vczi_kept_block_t));
}

static void drop_kept(void *kept) {
    vczi_kept_block_clear(kept);
    vczi_free(kept);
}

vczi_kept_block_t *vczi_kept_block_of_scratch(vczi_scratch_t *scratch) {
    vczi_kept_block_t *kept = vczi_scratch_context(scratch, VCZI_CONTEXT_KEPT, make_kept, drop_kept);
    if (kept != NULL) {
        kept->is_held = false;
        if (kept->memory_nbytes > VCZI_MAX_KEPT_NBYTES) {
            vczi_kept_block_clear(kept); /* one huge block does not stay for ever */
        }
    }
    return kept;
}
