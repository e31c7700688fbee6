/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Stored bytes that are read piece by piece: of a large chunk a small part may be wanted, and where it lies is known
 * only when some of the chunk has been looked at; and a piece that has just been read is in a cache. They have their
 * places in a buffer of the scratch; whoever looks at some asks for them first. Under the address sanitizer a look
 * without asking is an error. */
#ifndef VCZI_PIECES_H
#define VCZI_PIECES_H

#include <stdbool.h>
#include <stdint.h>

#include "bytes.h"
#include "scratch.h"

/* Read exactly [offset, offset + nbytes) of what `user` is into `out`; 0 or a status code. */
typedef int (*vczi_piece_fn)(void *user, uint64_t offset, void *out, size_t nbytes);

/* Where they come from. */
typedef struct {
    vczi_piece_fn read;
    void *user;            /* must live until the end */
    uint64_t offset;       /* where the bytes begin for `read` */
    size_t at_once_nbytes; /* to read at least, where the bytes that follow are missing too */
} vczi_pieces_source_t;

/* What is being read in pieces in a scratch. Zeroed: nothing is. */
struct vczi_pieces {
    uint8_t *data; /* NULL where all bytes are there, or none */
    size_t nbytes;
    uint8_t *is_read; /* a bit for each piece */
    vczi_pieces_source_t source;
};

/* What is read at once of a chunk that is wanted as a whole: the decoder then finds it in a cache, and the calls cost
 * little. Of a small part: a call costs as much as copying 8 KB, and a Blosc block of genotypes takes some 13 KB. */
#define VCZI_PIECES_OF_ALL_NBYTES ((size_t) 128 << 10)
#define VCZI_PIECES_OF_PART_NBYTES ((size_t) 16 << 10)

/* Begin: *span is where `nbytes` bytes will be, in the FILE buffer of `scratch`. VCZC_ERR_NO_MEMORY. */
int vczi_pieces_begin(vczi_scratch_t *scratch, const vczi_pieces_source_t *source, size_t nbytes, vczi_span_t *span);

/* Begin without a buffer: the bytes are wanted as they are, and vczi_pieces_copy brings them where they belong. *span
 * has no address. */
void vczi_pieces_begin_copying(vczi_scratch_t *scratch, const vczi_pieces_source_t *source, size_t nbytes,
                               vczi_span_t *span);

/* From here on the bytes in the FILE buffer are as they are. */
void vczi_pieces_end(vczi_scratch_t *scratch);

/* True between the two. */
bool vczi_pieces_are_read(vczi_scratch_t *scratch);

/* True where they were begun without a buffer; then bytes [start, start + nbytes), which must lie inside, go to `out`.
 * Fails as `read` does. */
bool vczi_pieces_are_copied(vczi_scratch_t *scratch);
int vczi_pieces_copy(vczi_scratch_t *scratch, size_t start, size_t nbytes, void *out);

/* Have `part` there, which lies in the span of vczi_pieces_begin; where nothing is read in pieces, or `part` lies
 * elsewhere, it is there. Fails as `read` does. */
int vczi_pieces_need(vczi_scratch_t *scratch, vczi_span_t part);

#endif
