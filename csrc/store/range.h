/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* What the kinds of store share: a range of an entry, and memory for bytes that are not there to be pointed at. */
#ifndef VCZI_RANGE_H
#define VCZI_RANGE_H

#include "pieces.h"
#include "store.h"

/* A part of an entry that lies inside it. */
typedef struct {
    size_t start, nbytes;
} vczi_range_t;

/* [offset, offset + nbytes) of `total` bytes, or all from `offset` where nbytes is SIZE_MAX. VCZC_ERR_CORRUPT where it
 * passes the end. */
int vczi_range_init(vczi_range_t *range, uint64_t total, uint64_t offset, size_t nbytes);

/* That part of the entry's bytes. */
vczi_span_t vczi_range_of(const vczi_range_t *range, vczi_span_t all);

/* True where a value of `nbytes` is to be read piece by piece, which it may be: a large one, or one of which more is
 * stored than can be meant (only the parts that count are then read). */
bool vczi_wants_pieces(const vczi_want_t *want, uint64_t nbytes);

/* Begin that: `nbytes` bytes that `read` gives of `user` from `offset` on. `bytes` holds what ends it already. */
int vczi_begin_pieces(const vczi_want_t *want, vczi_scratch_t *scratch, vczi_piece_fn read, void *user, uint64_t offset,
                      size_t nbytes, vczi_bytes_t *bytes);

/* The failure that `want` names where a value of `nbytes` is larger than it allows. */
int vczi_check_wanted(const vczi_want_t *want, uint64_t nbytes);

/* `nbytes` bytes to write to, which `bytes` then holds: buffer `which` of `scratch`, or, where that is NULL, memory
 * that is freed when `bytes` is released. NULL where there is none. */
uint8_t *vczi_bytes_room(vczi_bytes_t *bytes, vczi_scratch_t *scratch, int which, size_t nbytes);

#endif
