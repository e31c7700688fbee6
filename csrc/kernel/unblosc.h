/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Blosc frames, format version 2 (c-blosc's README_CHUNK_FORMAT.rst): whole, or the part that a byte range needs. */
#ifndef VCZI_UNBLOSC_H
#define VCZI_UNBLOSC_H

#include <stdbool.h>

#include "bytes.h"
#include "kept_block.h"
#include "scratch.h"

/* A frame whose header and block table have been checked against the stored bytes and the size that the metadata
 * says. Borrowed: points into the stored bytes. */
typedef struct {
    vczi_span_t stored; /* the whole frame, cut to the size that its header says */
    size_t raw_nbytes;
    size_t block_nbytes; /* raw bytes of each block but the last */
    size_t nblocks;
    size_t last_nbytes; /* raw bytes of the last block */
    uint32_t item_nbytes;
    uint8_t flags;
    uint8_t codec;
    bool is_copy; /* stored as it is: the raw bytes begin behind the header */
} vczi_frame_t;

/* Have header and block table of a frame there, where it is read in pieces (pieces.h): before vczi_frame_init. The
 * decoders ask for the rest themselves. */
int vczi_frame_need_head(vczi_span_t stored, vczi_scratch_t *scratch);

/* Check a frame that must hold exactly `raw_nbytes`. VCZC_ERR_CORRUPT where header, table and bytes do not agree,
 * VCZC_ERR_UNSUPPORTED for a codec that is not built in (snappy). */
int vczi_frame_init(vczi_frame_t *frame, vczi_span_t stored, size_t raw_nbytes);

/* The raw size that a frame's header says, before anything else of it is believed; VCZC_ERR_CORRUPT where the bytes are
 * too few for a header. */
int vczi_frame_raw_nbytes(vczi_span_t stored, size_t *raw_nbytes);

/* Decode raw bytes [start, stop) into `out`, which has room for stop - start bytes and not one more is written. Only
 * the blocks that hold the range are decoded. */
int vczi_frame_decode(const vczi_frame_t *frame, size_t start, size_t stop, uint8_t *out, vczi_scratch_t *scratch);

/* vczi_frame_decode, through `kept`: a block is decompressed only where it is not the one that is held; the last one is
 * held afterwards. It is the caller's to clear `is_held` where the frame is another one. */
int vczi_frame_decode_kept(const vczi_frame_t *frame, size_t start, size_t stop, uint8_t *out, vczi_kept_block_t *kept,
                           vczi_scratch_t *scratch);

/* Raw bytes [0, raw_nbytes) as they lie in the stored bytes where the frame is a copy, else an empty span. */
vczi_span_t vczi_frame_copy_view(const vczi_frame_t *frame);

#endif
