/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* vlen-utf8 and vlen-bytes (numcodecs): u32 count, then for each item u32 length and its bytes, little-endian. */
#ifndef VCZI_UNVLEN_H
#define VCZI_UNVLEN_H

#include <stdbool.h>
#include <stdint.h>

#include "bytes.h"

/* Read the items of a chunk that must hold exactly `nitems` and nothing behind them. items[i] points into `in`; it has
 * room for `nitems`. Where `is_utf8`, each is valid UTF-8. VCZC_ERR_CORRUPT else. */
int vczi_unvlen(vczi_span_t in, size_t nitems, bool is_utf8, vczi_span_t *items);

/* Bytes behind the last text that vczi_unvlen_pack may write to. */
#define VCZI_UNVLEN_SLACK_NBYTES 32

/* The same chunk as offsets and bytes: the first `nwanted` of its `nitems` items, one after another in `data`, item i
 * from offsets[i] to offsets[i + 1]. `data` has room for in.nbytes and VCZI_UNVLEN_SLACK_NBYTES more, `offsets` for
 * nwanted + 1. *max_nbytes is the length of the longest. The items that are not wanted are checked as well. */
int vczi_unvlen_pack(vczi_span_t in, size_t nitems, size_t nwanted, bool is_utf8, int64_t *offsets, uint8_t *data,
                     int64_t *max_nbytes);

/* The smallest stored size of `nitems` items: checked before anything is allocated for them. */
int vczi_unvlen_check(vczi_span_t in, size_t nitems);

/* True where no byte is above 127. */
bool vczi_utf8_is_ascii(vczi_span_t text);

/* True for valid UTF-8 (Unicode 3.9, table 3-7: no surrogates, no overlong forms). */
bool vczi_utf8_is_valid(vczi_span_t text);

#endif
