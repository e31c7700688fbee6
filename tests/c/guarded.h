/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Memory that ends at a page that may not be touched: sanitizers do not see what vector instructions read and write.
 * A test program gives the number of its places, NPLACES, before it includes this. */
#ifndef GUARDED_H
#define GUARDED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef _WIN32
#include <sys/mman.h>
#endif

#define CANARY_NBYTES 32
#define PLACE_NBYTES ((size_t) 1 << 16) /* a multiple of any page */

static uint8_t *places[NPLACES];

static void make_places(void) {
    for (int i = 0; i < NPLACES; i++) {
#ifdef _WIN32
        places[i] = malloc(PLACE_NBYTES);
        if (places[i] == NULL) abort();
#else
        void *place = mmap(NULL, 2 * PLACE_NBYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (place == MAP_FAILED || mprotect((uint8_t *) place + PLACE_NBYTES, PLACE_NBYTES, PROT_NONE) != 0) abort();
        places[i] = place;
#endif
    }
}

/* `nbytes` bytes in a place, `shift` canaries between them and the guard page, and some before them. */
typedef struct {
    uint8_t *data;
    size_t nbytes;
    size_t shift;
} block_t;

static block_t block_at(int place, size_t nbytes, size_t shift) {
    block_t block;
    if (CANARY_NBYTES + nbytes + shift > PLACE_NBYTES) abort();
    block.data = places[place] + PLACE_NBYTES - shift - nbytes;
    block.nbytes = nbytes;
    block.shift = shift;
    memset(block.data - CANARY_NBYTES, 0xC5, CANARY_NBYTES + nbytes + shift);
    return block;
}

static bool block_is_sound(const block_t *block) {
    for (size_t i = 0; i < CANARY_NBYTES; i++) {
        if (block->data[i - CANARY_NBYTES] != 0xC5) return false;
    }
    for (size_t i = 0; i < block->shift; i++) {
        if (block->data[block->nbytes + i] != 0xC5) return false;
    }
    return true;
}

#endif
