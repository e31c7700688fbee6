/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* zstd frames (RFC 8878). The only user of zstd. */
#ifndef VCZI_UNZSTD_H
#define VCZI_UNZSTD_H

#include "bytes.h"
#include "scratch.h"

/* Decode the frames in `in`, one after another, into exactly `out_nbytes` bytes; VCZC_ERR_CORRUPT else. */
int vczi_unzstd(vczi_span_t in, uint8_t *out, size_t out_nbytes, vczi_scratch_t *scratch);

/* Decode all that the frames hold, `max_nbytes` at most (VCZC_ERR_CORRUPT where it is more), into buffer `which` of the
 * scratch. The size that a frame claims is not believed before there are bytes to show for it. */
int vczi_unzstd_unsized(vczi_span_t in, size_t max_nbytes, int which, vczi_scratch_t *scratch, vczi_span_t *out);

/* As vczi_unzstd of a single frame, without the zeros at the end where the frame's block headers tell of them: the
 * first *nwritten bytes are written, those behind them should be zero and are of any content. Saves writing, and
 * looking for, the upper bit planes of genotypes. */
int vczi_unzstd_trimmed(vczi_span_t in, uint8_t *out, size_t out_nbytes, size_t *nwritten, vczi_scratch_t *scratch);

/* VCZC_ERR_CORRUPT where `in` cannot hold exactly `out_nbytes` bytes: by the size that it states, or by its own. A
 * cheap look, before memory is reserved. */
int vczi_unzstd_check(vczi_span_t in, size_t out_nbytes);

#endif
