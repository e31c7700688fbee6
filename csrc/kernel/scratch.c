/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Decoder contexts and buffers. Each thread keeps the one that it used last, in a place of its own; it goes when the
 * thread ends. Places are static and are emptied by exchange, so that vczi_scratch_trim reaches those of all threads.
 */
#include "scratch.h"

#include <stdbool.h>
#include <string.h>

#include "atomic.h"
#include "checked.h"
#include "compiler.h"
#include "mem.h"
#include "pieces.h"
#include "status.h"
#include "thread.h"

/* Readable and writable bytes behind each buffer, so that decoders may copy in whole vectors. */
#define SCRATCH_SLACK_NBYTES ((size_t) 64)

/* So many threads at once keep one; further ones make theirs anew for each call. */
#define NPLACES 256

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

/* A cache line for each, as their owners use them all the time. */
typedef union {
    vczi_atomic_t kept; /* a vczi_scratch_t *; 0 while it is lent */
    char line[64];
} place_t;

static place_t places[NPLACES];

/* Whose places they are. An owner of an older generation has none any more. */
static struct {
    vczi_mutex_t mutex;
    bool is_taken[NPLACES];
    bool has_exit_slot;
    uintptr_t exit_slot;
    vczi_atomic_t generation; /* changed under the mutex */
} owners = {.mutex = VCZI_MUTEX_INIT, .generation = {1}};

static vczi_once_t owners_once = VCZI_ONCE_INIT;

/* Of this thread. */
static VCZI_THREAD_LOCAL struct {
    int64_t generation; /* 0: it has not asked for a place */
    int place;          /* NPLACES: there was none left */
} own;

static void scratch_free(vczi_scratch_t *scratch) {
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

static vczi_scratch_t *take_kept(int place) {
    return (vczi_scratch_t *) (uintptr_t) vczi_atomic_exchange(&places[place].kept, 0);
}

static void lock_owners(void) {
    vczi_mutex_lock(&owners.mutex);
}

static void unlock_owners(void) {
    vczi_mutex_unlock(&owners.mutex);
}

static bool has_place(void) {
    return own.generation == vczi_atomic_peek(&owners.generation) && own.place < NPLACES;
}

/* Of the owners there is one left. What lies in the other places serves who gets them next. */
static void forget_other_owners(void) {
    memset(owners.is_taken, 0, sizeof(owners.is_taken));
    if (has_place()) {
        owners.is_taken[own.place] = true;
    }
    unlock_owners();
}

static void prepare_owners(void) {
    vczi_thread_at_fork(lock_owners, unlock_owners, forget_other_owners);
}

/* What a thread is known by at its end: its place, and the generation that this is of. Never 0. */
static uintptr_t owner_number(int place) {
    return (uintptr_t) vczi_atomic_peek(&owners.generation) * NPLACES + (uintptr_t) place;
}

/* The calling thread ends. */
static void give_up_place(void *value) {
    const int place = (int) ((uintptr_t) value % NPLACES);
    vczi_scratch_t *kept = NULL;
    lock_owners();
    if ((uintptr_t) value == owner_number(place)) {
        owners.is_taken[place] = false;
        own.generation = 0; /* what else is called at its end may decode */
        kept = take_kept(place);
    }
    unlock_owners();
    scratch_free(kept);
}

/* Once for each thread and generation. */
static void ask_for_place(void) {
    vczi_once(&owners_once, prepare_owners);
    lock_owners();
    own.generation = vczi_atomic_peek(&owners.generation);
    own.place = 0;
    while (own.place < NPLACES && owners.is_taken[own.place]) {
        own.place++;
    }
    if (!owners.has_exit_slot) {
        owners.has_exit_slot = vczi_thread_exit_open(&owners.exit_slot, give_up_place) == 0;
    }
    if (!owners.has_exit_slot) {
        own.place = NPLACES; /* what it kept would stay when it ends */
    }
    if (own.place < NPLACES) {
        owners.is_taken[own.place] = true;
        vczi_thread_exit_set(owners.exit_slot, (void *) owner_number(own.place));
    }
    unlock_owners();
}

vczi_scratch_t *vczi_scratch_borrow(void) {
    if (own.generation != vczi_atomic_peek(&owners.generation)) {
        ask_for_place();
    }
    vczi_scratch_t *kept = own.place < NPLACES ? take_kept(own.place) : NULL;
    return kept != NULL ? kept : vczi_alloc_zeroed(1, sizeof(vczi_scratch_t));
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
    /* A second one of the same thread (a call inside a call) has no place to be kept in, nor has one that was lent
     * before vczi_scratch_trim. */
    if (!has_place() || !vczi_atomic_fill(&places[own.place].kept, (int64_t) (uintptr_t) scratch)) {
        scratch_free(scratch);
    }
}

void vczi_scratch_trim(void) {
    vczi_once(&owners_once, prepare_owners);
    lock_owners();
    const bool is_open = owners.has_exit_slot;
    const uintptr_t exit_slot = owners.exit_slot;
    owners.has_exit_slot = false;
    memset(owners.is_taken, 0, sizeof(owners.is_taken));
    (void) vczi_atomic_add(&owners.generation, 1);
    unlock_owners();
    if (is_open) {
        vczi_thread_exit_close(exit_slot); /* outside the mutex: it may call give_up_place */
    }
    for (int place = 0; place < NPLACES; place++) {
        scratch_free(take_kept(place));
    }
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
