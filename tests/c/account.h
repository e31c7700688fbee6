/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* An allocator of the embedder's that counts: how many blocks are out, and how many were ever taken. */
#ifndef ACCOUNT_H
#define ACCOUNT_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "vczc.h"

#define ACCOUNT_HEAD_NBYTES 16
#define ACCOUNT_MAGIC 0x5ca1ab1eu

typedef struct {
    atomic_long nblocks, ntaken;
} account_t;

static inline void *account_alloc(void *user, size_t nbytes) {
    account_t *account = user;
    char *memory = nbytes == 0 ? NULL : malloc(nbytes + ACCOUNT_HEAD_NBYTES);
    if (memory == NULL) return NULL;
    const uint32_t magic = ACCOUNT_MAGIC;
    memcpy(memory, &magic, sizeof(magic));
    atomic_fetch_add(&account->nblocks, 1);
    atomic_fetch_add(&account->ntaken, 1);
    return memory + ACCOUNT_HEAD_NBYTES;
}

/* What was not taken here is not given back here. */
static inline char *account_whole(void *memory) {
    uint32_t magic;
    char *start = (char *) memory - ACCOUNT_HEAD_NBYTES;
    memcpy(&magic, start, sizeof(magic));
    if (magic != ACCOUNT_MAGIC) abort();
    return start;
}

static inline void *account_resize(void *user, void *memory, size_t nbytes) {
    (void) user;
    char *moved = realloc(account_whole(memory), nbytes + ACCOUNT_HEAD_NBYTES);
    return moved == NULL ? NULL : moved + ACCOUNT_HEAD_NBYTES;
}

static inline void account_release(void *user, void *memory) {
    account_t *account = user;
    atomic_fetch_add(&account->nblocks, -1);
    free(account_whole(memory));
}

static account_t account;

static const vczc_allocator_t account_allocator = {sizeof(account_allocator), account_alloc, account_resize,
                                                   account_release, &account};

#endif
