/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* zlib's formats. The only user of zlib. */
#ifndef VCZI_INFLATE_H
#define VCZI_INFLATE_H

#include <stdint.h>

#include "bytes.h"
#include "scratch.h"

enum { VCZI_INFLATE_RAW = 0, VCZI_INFLATE_ZLIB = 1, VCZI_INFLATE_GZIP = 2 };

/* Inflate `in` into exactly `out_nbytes` bytes. VCZC_ERR_CORRUPT where it is damaged, or holds more or fewer bytes, or
 * something follows it. GZIP may hold several members, one after another. */
int vczi_inflate(vczi_span_t in, int format, uint8_t *out, size_t out_nbytes, vczi_scratch_t *scratch);

/* Inflate all that `in` holds, `max_nbytes` at most (VCZC_ERR_CORRUPT where it is more), into buffer `which` of the
 * scratch. */
int vczi_inflate_unsized(vczi_span_t in, int format, size_t max_nbytes, int which, vczi_scratch_t *scratch,
                         vczi_span_t *out);

/* Deflate's most: a match of 258 bytes in two bits. */
#define VCZI_MAX_DEFLATE_RATIO 1032

/* VCZC_ERR_CORRUPT where `in` is too short to hold `out_nbytes` bytes. */
int vczi_inflate_check(vczi_span_t in, size_t out_nbytes);

/* CRC-32 as zip and gzip have it. */
uint32_t vczi_crc32(vczi_span_t in);

/* Adler-32 as zlib has it. */
uint32_t vczi_adler32(vczi_span_t in);

#endif
