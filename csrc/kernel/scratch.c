/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Decoder contexts and buffers. Each thread keeps the one that it used last; it goes when the thread ends. */
#include "scratch.h"

#include <stdbool.h>
#include <string.h>

#include "checked.h"
#include "mem.h"
#include "pieces.h"
#include "status.h"
#include "thread.h"

/* Readable and writable bytes behind each buffer, so that decoders may copy in whole vectors. */
#define SCRATCH_SLACK_NBYTES ((size_t) 64)

/* A buffer above this size is let go on return. The usual chunk, 20 MB, is kept: getting it anew for each call costs
 * more in fresh pages (6 ms) than decoding it (2 ms). */
#define SCRATCH_KEPT_NBYTES ((size_t) 32 << 20)

typedef struct {
    uint8_t *data;
    size_t nbytes;
} scratch_buffer_t;

typedef struct {
    void *state;
    void (*drop)(void *);
} scratch_context_t;

struct vczi_scratch {
    scratch_buffer_t buffers[VCZI_SCRATCH_NBUFFERS];
    scratch_context_t contexts[VCZI_NCONTEXTS];
    vczi_pieces_t pieces;
};

/* The thread's kept scratch is the value of this slot; NULL while it is lent. */
static uintptr_t kept_slot;
static bool kept_slot_is_made;
static vczi_once_t kept_once = VCZI_ONCE_INIT;

static void scratch_free(void *memory) {
    vczi_scratch_t *scratch = memory;
    if (scratch == NULL) {
        return;
    }
    for (int i = 0; i < VCZI_SCRATCH_NBUFFERS; i++) {
        vczi_free_aligned(scratch->buffers[i].data);
    }
    for (int i = 0; i < VCZI_NCONTEXTS; i++) {
        if (scratch->contexts[i].state != NULL) {
            scratch->contexts[i].drop(scratch->contexts[i].state);
        }
    }
    vczi_free(scratch);
}

static void make_kept_slot(void) {
    kept_slot_is_made = vczi_thread_exit_slot(&kept_slot, scratch_free) == 0;
}

vczi_scratch_t *vczi_scratch_borrow(void) {
    vczi_once(&kept_once, make_kept_slot);
    if (kept_slot_is_made) {
        vczi_scratch_t *kept = vczi_thread_exit_get(kept_slot);
        if (kept != NULL) {
            vczi_thread_exit_set(kept_slot, NULL);
            return kept;
        }
    }
    return vczi_alloc_zeroed(1, sizeof(vczi_scratch_t));
}

void vczi_scratch_return(vczi_scratch_t *scratch) {
    if (scratch == NULL) {
        return;
    }
    for (int i = 0; i < VCZI_SCRATCH_NBUFFERS; i++) {
        scratch_buffer_t *buffer = &scratch->buffers[i];
        if (buffer->nbytes > SCRATCH_KEPT_NBYTES) {
            vczi_free_aligned(buffer->data);
            buffer->data = NULL;
            buffer->nbytes = 0;
        }
    }
    /* A second one of the same thread (a call inside a call) has no place to be kept in. */
    if (!kept_slot_is_made || vczi_thread_exit_get(kept_slot) != NULL) {
        scratch_free(scratch);
        return;
    }
    vczi_thread_exit_set(kept_slot, scratch);
}

uint8_t *vczi_scratch_buffer(vczi_scratch_t *scratch, int which, size_t nbytes) {
    scratch_buffer_t *buffer = &scratch->buffers[which];
    if (buffer->data != NULL && nbytes <= buffer->nbytes) {
        return buffer->data;
    }
    size_t with_slack;
    if (!vczi_add_size(nbytes, SCRATCH_SLACK_NBYTES, &with_slack)) {
        (void) vczi_fail_memory(nbytes);
        return NULL;
    }
    vczi_free_aligned(buffer->data);
    buffer->nbytes = 0;
    buffer->data = vczi_alloc_aligned(with_slack);
    if (buffer->data != NULL) {
        buffer->nbytes = nbytes;
    }
    return buffer->data;
}

uint8_t *vczi_scratch_grow(vczi_scratch_t *scratch, int which, size_t nbytes, size_t keep_nbytes) {
    scratch_buffer_t *buffer = &scratch->buffers[which];
    if (buffer->data != NULL && nbytes <= buffer->nbytes) {
        return buffer->data;
    }
    scratch_buffer_t old = *buffer;
    buffer->data = NULL;
    buffer->nbytes = 0;
    uint8_t *grown = vczi_scratch_buffer(scratch, which, nbytes);
    if (grown != NULL && keep_nbytes != 0) {
        memcpy(grown, old.data, keep_nbytes);
    }
    vczi_free_aligned(old.data);
    return grown;
}

vczi_pieces_t *vczi_scratch_pieces(vczi_scratch_t *scratch) {
    return &scratch->pieces;
}

void *vczi_scratch_context(vczi_scratch_t *scratch, int which, void *(*make)(void), void (*drop)(void *)) {
    scratch_context_t *context = &scratch->contexts[which];
    if (context->state == NULL) {
        context->state = make();
        context->drop = drop;
        if (context->state == NULL) {
            (void) vczi_fail(VCZC_ERR_NO_MEMORY, "no memory for a decoder's context");
        }
    }
    return context->state;
}
