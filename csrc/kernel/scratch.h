/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Decoder contexts and growing buffers: lent to a call, returned, kept for the next one. */
#ifndef VCZI_SCRATCH_H
#define VCZI_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

/* Which buffer: each decoding step that needs memory has one of its own. */
enum {
    VCZI_SCRATCH_FILE = 0,    /* stored bytes that had to be read */
    VCZI_SCRATCH_INFLATE = 1, /* an entry that a zip archive has deflated */
    VCZI_SCRATCH_CHUNK = 2,   /* a decoded chunk, or the part of it that is wanted */
    VCZI_SCRATCH_CODEC_A = 3, /* between codecs of a chain, in turn with B */
    VCZI_SCRATCH_CODEC_B = 4,
    VCZI_SCRATCH_BLOCK = 5,  /* one Blosc block, shuffled */
    VCZI_SCRATCH_BLOCK2 = 6, /* a zstd frame without the zeros at its end */
    VCZI_SCRATCH_PIECES = 7, /* which pieces of the FILE buffer are there */
    VCZI_SCRATCH_NBUFFERS = 8
};

typedef struct vczi_scratch vczi_scratch_t;
typedef struct vczi_pieces vczi_pieces_t;

/* Lend one: the calling thread's last where it is free, else a new one. NULL (and a failure) where there is no
 * memory. Give it back with vczi_scratch_return. No lock on the usual way. */
vczi_scratch_t *vczi_scratch_borrow(void);
void vczi_scratch_return(vczi_scratch_t *scratch);

/* Free what is kept for all threads, and have nothing called any more when they end; what is lent is freed when it is
 * returned. Threads that borrow later keep theirs again. */
void vczi_scratch_trim(void);

/* Buffer `which` with at least `nbytes` bytes on a 64-byte border, 64 readable and writable bytes more behind them;
 * its content is lost when it grows. NULL (and a failure) where there is no memory. Large buffers are let go when the
 * scratch is returned, so that one huge chunk does not stay for ever. */
uint8_t *vczi_scratch_buffer(vczi_scratch_t *scratch, int which, size_t nbytes);

/* As vczi_scratch_buffer, and the first `keep_nbytes` bytes of what the buffer holds stay. */
uint8_t *vczi_scratch_grow(vczi_scratch_t *scratch, int which, size_t nbytes, size_t keep_nbytes);

/* What is read in pieces into the FILE buffer (pieces.h). */
vczi_pieces_t *vczi_scratch_pieces(vczi_scratch_t *scratch);

/* A decoder's context that lives as long as the scratch: made by `make` at first use, freed by `drop`. */
enum { VCZI_CONTEXT_ZSTD = 0, VCZI_CONTEXT_INFLATE = 1, VCZI_CONTEXT_KEPT = 2, VCZI_NCONTEXTS = 3 };
void *vczi_scratch_context(vczi_scratch_t *scratch, int which, void *(*make)(void), void (*drop)(void *));

#endif
