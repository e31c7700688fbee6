/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* What a codec is to the chain of an array: sizes are settled when the array is opened, decoding gets no more than
 * bytes. Array-to-array and array-to-bytes codecs are folded into the chain's layout; those between bytes have ops. */
#ifndef VCZI_CODEC_H
#define VCZI_CODEC_H

#include <stdbool.h>

#include "bytes.h"
#include "cast.h"
#include "document.h"
#include "kept_block.h"
#include "scratch.h"

typedef struct vczi_codec vczi_codec_t;

/* A codec between bytes. All write nothing beyond what they are told and read nothing beyond `in`. */
typedef struct {
    /* Decode raw bytes [start, stop) of the `raw_nbytes` that `in` must hold into `out`. What can decode only as a
     * whole has NULL here. */
    int (*decode_range)(const vczi_codec_t *self, vczi_span_t in, size_t raw_nbytes, size_t start, size_t stop,
                        uint8_t *out, vczi_scratch_t *scratch);
    /* The same through what is kept of the chunk, and keep what had to be decoded. NULL as above. */
    int (*decode_kept)(const vczi_codec_t *self, vczi_span_t in, size_t raw_nbytes, size_t start, size_t stop,
                       uint8_t *out, vczi_kept_block_t *kept, vczi_scratch_t *scratch);
    /* Decode all of the `out_nbytes` that `in` must hold. */
    int (*decode)(const vczi_codec_t *self, vczi_span_t in, uint8_t *out, size_t out_nbytes, vczi_scratch_t *scratch);
    /* Decode all that `in` holds, `max_nbytes` at most, into buffer `which` of the scratch. */
    int (*decode_unsized)(const vczi_codec_t *self, vczi_span_t in, size_t max_nbytes, int which,
                          vczi_scratch_t *scratch, vczi_span_t *out);
    /* The raw bytes where they lie in `in` unchanged (checked to be `raw_nbytes`), else an empty span; NULL where that
     * cannot be. */
    int (*view)(const vczi_codec_t *self, vczi_span_t in, size_t raw_nbytes, vczi_span_t *raw);
} vczi_codec_ops_t;

/* What is known, before anything is decoded, of the bytes that a codec has made of raw ones. */
typedef enum {
    VCZI_SIZE_UNKNOWN = 0,
    VCZI_SIZE_SAME,
    VCZI_SIZE_ITEMS,   /* as many items `from` as raw ones `to` */
    VCZI_SIZE_BITS,    /* a byte, then a bit for each raw byte */
    VCZI_SIZE_CHECKSUM /* four bytes more */
} vczi_size_rule_t;

/* What filters and checksums are set to. */
typedef struct {
    vczi_items_t from, to; /* stored items, and those that they become */
    double scale, offset;
    size_t element_nbytes; /* of shuffle */
    uint32_t seed;         /* of the checksum */
    bool is_at_start;      /* the checksum */
} vczi_settings_t;

struct vczi_codec {
    const vczi_codec_ops_t *ops; /* NULL: what is stored is what is wanted */
    int variant;                 /* which of several formats one set of ops reads */
    vczi_size_rule_t size_rule;
    /* True where all ops but `view` ask for the parts of `in` that they look at (kernel/pieces). */
    bool asks_for_parts;
    vczi_settings_t settings;
    /* VCZC_ERR_CORRUPT where `in` cannot hold `raw_nbytes` bytes: a cheap look, before memory for them is reserved.
     * NULL where there is none. */
    int (*check)(const vczi_codec_t *self, vczi_span_t in, size_t raw_nbytes);
};

/* Where a codec stands in a chain. */
typedef enum { VCZI_STAGE_ARRAY = 0, VCZI_STAGE_SERIALIZE = 1, VCZI_STAGE_BYTES = 2 } vczi_stage_t;

/* What the array-to-array and array-to-bytes codecs make of a chunk. */
typedef struct {
    int ndim;
    int axes[VCZC_MAX_NDIM]; /* axis k of what is stored is axis axes[k] of the array */
    const vczi_dtype_t *dtype;
    bool big_endian;
    const vczi_codec_spec_t *sharding; /* the codec that makes the bytes, where that is sharding_indexed */
    bool is_in_order;      /* a codec has taken the items one after another: no axis can be moved any more */
    vczi_dtype_t filtered; /* what `dtype` points to, once a filter has changed it */
} vczi_layout_t;

#endif
