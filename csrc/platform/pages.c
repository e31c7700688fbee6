/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "pages.h"

#include <stdbool.h>
#include <string.h>

#include "checked.h"
#include "pages_system.h"
#include "status.h"
#include "thread.h"

/* Regions kept at once. A reader drops a block before it asks for the next, or holds the blocks of some fields. */
#define MAX_KEPT 32

/* Kept at most, unless the process says otherwise: this part of the machine's memory, and no more than a gigabyte,
 * which holds a whole array of genotypes (33,000 x 10,000 x 2). */
#define KEPT_PART 16
#define MAX_KEPT_NBYTES ((size_t) 1 << 30)

typedef struct {
    void *pages;
    size_t nbytes;
} region_t;

static struct {
    vczi_mutex_t mutex;
    region_t kept[MAX_KEPT]; /* the oldest first */
    int nkept;
    size_t kept_nbytes;
    size_t max_nbytes;
} pages_pool = {.mutex = VCZI_MUTEX_INIT};

static vczi_once_t pages_once = VCZI_ONCE_INIT;

static void lock_pool(void) {
    vczi_mutex_lock(&pages_pool.mutex);
}

static void unlock_pool(void) {
    vczi_mutex_unlock(&pages_pool.mutex);
}

/* Once, at first use. A child that is forked while another thread is in here would find the lock held for ever. */
static void start_pool(void) {
    const size_t part = vczi_pages_system_memory() / KEPT_PART;
    pages_pool.max_nbytes = part < MAX_KEPT_NBYTES ? part : MAX_KEPT_NBYTES;
    vczi_thread_at_fork(lock_pool, unlock_pool, unlock_pool);
}

static region_t take_kept(int index) {
    const region_t region = pages_pool.kept[index];
    pages_pool.nkept--;
    pages_pool.kept_nbytes -= region.nbytes;
    memmove(&pages_pool.kept[index], &pages_pool.kept[index + 1],
            (size_t) (pages_pool.nkept - index) * sizeof(region_t));
    return region;
}

/* Only a region of the very size: a smaller result in a larger one would hide what it costs. */
static void *find_kept(size_t nbytes) {
    void *pages = NULL;
    lock_pool();
    for (int i = pages_pool.nkept - 1; i >= 0 && pages == NULL; i--) { /* the latest is the warmest */
        if (pages_pool.kept[i].nbytes == nbytes) {
            pages = take_kept(i).pages;
        }
    }
    unlock_pool();
    return pages;
}

/* Let go of the oldest until `more` bytes and one region find room. Unmapping is done outside the lock. */
static void make_room(size_t more) {
    for (;;) {
        region_t region = {NULL, 0};
        lock_pool();
        if (pages_pool.nkept > 0 && (pages_pool.nkept == MAX_KEPT || more > pages_pool.max_nbytes ||
                                     pages_pool.kept_nbytes > pages_pool.max_nbytes - more)) {
            region = take_kept(0);
        }
        unlock_pool();
        if (region.pages == NULL) {
            return;
        }
        vczi_pages_system_unmap(region.pages, region.nbytes);
    }
}

static bool round_up(size_t nbytes, size_t *rounded) {
    if (!vczi_add_size(nbytes, VCZI_PAGES_STEP_NBYTES - 1, rounded)) {
        return false;
    }
    *rounded -= *rounded % VCZI_PAGES_STEP_NBYTES;
    *rounded = *rounded == 0 ? VCZI_PAGES_STEP_NBYTES : *rounded;
    return true;
}

void *vczi_pages_alloc(size_t nbytes) {
    size_t rounded = 0;
    void *pages = NULL;
    vczi_once(&pages_once, start_pool);
    if (round_up(nbytes, &rounded)) {
        pages = find_kept(rounded);
        pages = pages != NULL ? pages : vczi_pages_system_map(rounded);
    }
    if (pages == NULL && rounded != 0) { /* what is kept may be in the way */
        make_room(SIZE_MAX);
        pages = vczi_pages_system_map(rounded);
    }
    if (pages == NULL) {
        (void) vczi_fail_memory(nbytes);
    }
    return pages;
}

/* False where the bound, or another thread that was faster, leaves no room. */
static bool keep(void *pages, size_t nbytes) {
    lock_pool();
    const bool has_room = pages_pool.nkept < MAX_KEPT && nbytes <= pages_pool.max_nbytes &&
                          pages_pool.kept_nbytes <= pages_pool.max_nbytes - nbytes;
    if (has_room) {
        pages_pool.kept[pages_pool.nkept++] = (region_t){pages, nbytes};
        pages_pool.kept_nbytes += nbytes;
    }
    unlock_pool();
    return has_room;
}

static bool may_keep(size_t nbytes) {
    lock_pool();
    const bool may = nbytes <= pages_pool.max_nbytes;
    unlock_pool();
    return may;
}

void vczi_pages_free(void *pages, size_t nbytes) {
    size_t rounded = 0;
    if (pages == NULL || !round_up(nbytes, &rounded)) {
        return;
    }
    if (may_keep(rounded)) {
        make_room(rounded); /* which lets go of all where more than the bound is asked for */
        vczi_pages_system_discard(pages, rounded);
        if (keep(pages, rounded)) {
            return;
        }
    }
    vczi_pages_system_unmap(pages, rounded);
}

void vczi_pages_set_kept(size_t nbytes) {
    vczi_once(&pages_once, start_pool);
    lock_pool();
    pages_pool.max_nbytes = nbytes;
    unlock_pool();
    make_room(0);
}

void vczi_pages_trim(void) {
    vczi_once(&pages_once, start_pool);
    make_room(SIZE_MAX);
}

size_t vczi_pages_kept(void) {
    lock_pool();
    const size_t nbytes = pages_pool.kept_nbytes;
    unlock_pool();
    return nbytes;
}
