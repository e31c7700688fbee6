/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#ifndef _WIN32
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* MAP_ANONYMOUS, madvise */
#endif
#include "pages_system.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "checked.h"

size_t vczi_pages_system_memory(void) {
    const long npages = sysconf(_SC_PHYS_PAGES), page_nbytes = sysconf(_SC_PAGESIZE);
    size_t nbytes = 0;
    if (npages <= 0 || page_nbytes <= 0 || !vczi_mul_size((size_t) npages, (size_t) page_nbytes, &nbytes)) {
        return 0;
    }
    return nbytes;
}

/* One step more than asked for, of which the ends beyond the borders are given back. */
void *vczi_pages_system_map(size_t nbytes) {
    size_t with_ends = 0;
    if (!vczi_add_size(nbytes, VCZI_PAGES_STEP_NBYTES, &with_ends)) {
        return NULL;
    }
    uint8_t *mapped = mmap(NULL, with_ends, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) {
        return NULL;
    }
    const size_t past = (size_t) ((uintptr_t) mapped % VCZI_PAGES_STEP_NBYTES);
    const size_t before = past == 0 ? 0 : VCZI_PAGES_STEP_NBYTES - past;
    const size_t behind = VCZI_PAGES_STEP_NBYTES - before;
    if (before != 0) {
        (void) munmap(mapped, before);
    }
    if (behind != 0) {
        (void) munmap(mapped + before + nbytes, behind);
    }
#ifdef MADV_HUGEPAGE
    (void) madvise(mapped + before, nbytes, MADV_HUGEPAGE);
#endif
    return mapped + before;
}

void vczi_pages_system_unmap(void *pages, size_t nbytes) {
    (void) munmap(pages, nbytes);
}

/* Lazily: the pages stay until the system needs them, so that using them again costs nothing (12 µs for 20 MB). */
void vczi_pages_system_discard(void *pages, size_t nbytes) {
#ifdef MADV_FREE
    (void) madvise(pages, nbytes, MADV_FREE);
#else
    (void) pages;
    (void) nbytes;
#endif
}
#else
typedef int vczi_pages_posix_is_empty;
#endif
