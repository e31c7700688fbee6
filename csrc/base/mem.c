/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Memory of the C library, with its products checked and its failures reported. */
#if !defined(_WIN32) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L /* posix_memalign */
#endif

#include "mem.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "atomic.h"
#include "checked.h"
#include "status.h"

#ifdef _WIN32
#include <malloc.h>
#endif

/* A cache line, and the widest vector register. */
#define ALIGNMENT_NBYTES 64

#ifdef VCZI_TEST_FAULTS
#include <stdatomic.h>

static atomic_long fault_countdown;

void vczi_test_fail_allocation(long countdown) {
    atomic_store(&fault_countdown, countdown);
}

static bool fault_is_due(void) {
    long left = atomic_load(&fault_countdown);
    while (left > 0 && !atomic_compare_exchange_weak(&fault_countdown, &left, left - 1)) {
    }
    return left == 1;
}
#else
static bool fault_is_due(void) {
    return false;
}
#endif

/* The embedder's, from before the first use on; its functions are NULL where it is the C library's. */
static vczc_allocator_t mem_allocator;
static vczi_atomic_t mem_is_used;

static void note_use(void) {
    if (vczi_atomic_peek(&mem_is_used) == 0) {
        vczi_atomic_store(&mem_is_used, 1);
    }
}

bool vczi_mem_set_allocator(const vczc_allocator_t *allocator) {
    if (vczi_atomic_add(&mem_is_used, 1) != 0) {
        vczi_atomic_store(&mem_is_used, 1);
        return false;
    }
    mem_allocator = *allocator;
    return true;
}

static void *take(size_t nbytes) {
    note_use();
    return mem_allocator.alloc == NULL ? malloc(nbytes) : mem_allocator.alloc(mem_allocator.user, nbytes);
}

static void *take_again(void *memory, size_t nbytes) {
    if (memory == NULL) {
        return take(nbytes);
    }
    return mem_allocator.resize == NULL ? realloc(memory, nbytes)
                                        : mem_allocator.resize(mem_allocator.user, memory, nbytes);
}

/* More than PTRDIFF_MAX bytes are never to be had, and pointers into them could not be subtracted. */
static bool is_refused(size_t nbytes) {
    return nbytes > (size_t) PTRDIFF_MAX || fault_is_due();
}

static size_t at_least_one(size_t nbytes) {
    return nbytes == 0 ? 1 : nbytes;
}

void *vczi_alloc(size_t nbytes) {
    void *memory = is_refused(nbytes) ? NULL : take(at_least_one(nbytes));
    if (memory == NULL) {
        (void) vczi_fail_memory(nbytes);
    }
    return memory;
}

void *vczi_alloc_array(size_t nitems, size_t item_nbytes) {
    size_t nbytes = SIZE_MAX;
    if (!vczi_mul_size(nitems, item_nbytes, &nbytes)) {
        (void) vczi_fail_memory(SIZE_MAX);
        return NULL;
    }
    return vczi_alloc(nbytes);
}

void *vczi_alloc_zeroed(size_t nitems, size_t item_nbytes) {
    size_t nbytes = SIZE_MAX;
    void *memory = NULL;
    if (vczi_mul_size(nitems, item_nbytes, &nbytes) && !is_refused(nbytes)) {
        note_use();
        if (mem_allocator.alloc == NULL) {
            memory = calloc(at_least_one(nbytes), 1);
        } else {
            memory = take(at_least_one(nbytes));
            if (memory != NULL) {
                memset(memory, 0, at_least_one(nbytes));
            }
        }
    }
    if (memory == NULL) {
        (void) vczi_fail_memory(nbytes);
    }
    return memory;
}

void *vczi_realloc(void *memory, size_t nitems, size_t item_nbytes) {
    size_t nbytes = SIZE_MAX;
    void *moved = NULL;
    if (vczi_mul_size(nitems, item_nbytes, &nbytes) && !is_refused(nbytes)) {
        moved = take_again(memory, at_least_one(nbytes));
    }
    if (moved == NULL) {
        (void) vczi_fail_memory(nbytes);
    }
    return moved;
}

char *vczi_copy_text(const char *text, size_t nbytes) {
    size_t size = 0;
    if (!vczi_add_size(nbytes, 1, &size)) {
        (void) vczi_fail_memory(nbytes);
        return NULL;
    }
    char *copy = vczi_alloc(size);
    if (copy == NULL) {
        return NULL;
    }
    if (nbytes != 0) {
        memcpy(copy, text, nbytes);
    }
    copy[nbytes] = '\0';
    return copy;
}

void vczi_free(void *memory) {
    if (mem_allocator.release == NULL) {
        free(memory);
    } else if (memory != NULL) {
        mem_allocator.release(mem_allocator.user, memory);
    }
}

/* Of the embedder's memory: where it lies stands before what is aligned in it. */
static void *take_aligned(size_t nbytes) {
    size_t size;
    if (!vczi_add_size(nbytes, ALIGNMENT_NBYTES + sizeof(void *), &size)) {
        return NULL;
    }
    char *memory = take(size);
    if (memory == NULL) {
        return NULL;
    }
    const uintptr_t place = (uintptr_t) memory + sizeof(void *);
    char *aligned = memory + sizeof(void *) + (ALIGNMENT_NBYTES - place % ALIGNMENT_NBYTES) % ALIGNMENT_NBYTES;
    memcpy(aligned - sizeof(memory), &memory, sizeof(memory));
    return aligned;
}

void *vczi_alloc_aligned(size_t nbytes) {
    void *memory = NULL;
    const bool is_given = !is_refused(nbytes);
    note_use();
    if (is_given && mem_allocator.alloc != NULL) {
        memory = take_aligned(at_least_one(nbytes));
    } else if (is_given) {
#ifdef _WIN32
        memory = _aligned_malloc(at_least_one(nbytes), ALIGNMENT_NBYTES);
#else
        if (posix_memalign(&memory, ALIGNMENT_NBYTES, at_least_one(nbytes)) != 0) {
            memory = NULL;
        }
#endif
    }
    if (memory == NULL) {
        (void) vczi_fail_memory(nbytes);
    }
    return memory;
}

void vczi_free_aligned(void *memory) {
    if (mem_allocator.release != NULL) {
        if (memory != NULL) {
            void *taken;
            memcpy(&taken, (char *) memory - sizeof(taken), sizeof(taken));
            vczi_free(taken);
        }
        return;
    }
#ifdef _WIN32
    _aligned_free(memory);
#else
    free(memory);
#endif
}
