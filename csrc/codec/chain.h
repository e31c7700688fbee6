/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The prepared chain of an array: its codecs with all sizes settled, decoding a chunk or the box of one that is asked
 * for. Sizes between codecs are decided here, once for each array. */
#ifndef VCZI_CHAIN_H
#define VCZI_CHAIN_H

#include <stdbool.h>

#include "codec.h"
#include "ndcopy.h"

struct vczi_shard;

/* What a chain is made for. Borrowed while it is made; `fill` as long as the chain. */
typedef struct {
    int ndim;
    const int64_t *chunks; /* shape of a chunk */
    int64_t chunk_nitems;
    const vczi_dtype_t *dtype;
    bool big_endian; /* as format 2's type string says */
    const void *fill;
    size_t fill_nbytes;
    const vczi_codec_spec_t *codecs;
    int ncodecs;
    int64_t max_chunk_nbytes;
    int depth; /* shards around it */
} vczi_chain_spec_t;

typedef struct {
    int ndim;
    int64_t chunk_nitems;
    size_t item_nbytes;  /* 0 of variable length */
    size_t chunk_nbytes; /* decoded; 0 of variable length */
    size_t max_nbytes;   /* a chunk of variable length, decoded */
    bool is_utf8;        /* of variable length: text, not bytes */
    bool must_swap;
    size_t unit_nbytes;             /* what is swapped */
    int64_t strides[VCZC_MAX_NDIM]; /* of the array's axes in what is stored, in items */
    int nbytes_codecs;              /* codecs between bytes, in the order of writing */
    vczi_codec_t bytes_codecs[VCZI_MAX_CODECS];
    size_t raw_nbytes[VCZI_MAX_CODECS]; /* what each of them decodes to; SIZE_MAX where only the stored bytes know */
    struct vczi_shard *shard;           /* what their bytes are, where they are no plain items; else NULL */
} vczi_chain_t;

/* The box of a chunk that is wanted: items first, first + step, … of each axis, and the place of each in memory. */
typedef struct {
    int64_t first[VCZC_MAX_NDIM];
    int64_t step[VCZC_MAX_NDIM];
    vczi_box_t out; /* shape, strides and item size of what is written */
} vczi_request_t;

/* VCZC_ERR_UNSUPPORTED, with its name, for a codec that is not read; VCZC_ERR_METADATA for a chain that makes no sense
 * or a chunk of more than `max_chunk_nbytes`. Zeroed on failure. */
int vczi_chain_init(vczi_chain_t *chain, const vczi_chain_spec_t *spec);

/* Free what the chain owns, and zero it. */
void vczi_chain_clear(vczi_chain_t *chain);

/* True where what is stored has the same length for every chunk: no codec compresses. *nbytes is that length. */
bool vczi_chain_has_fixed_size(const vczi_chain_t *chain, size_t *nbytes);

/* Of such a chain: the chunk's bytes where they lie in `stored`. */
int vczi_chain_view(const vczi_chain_t *chain, vczi_span_t stored, vczi_span_t *raw, vczi_scratch_t *scratch);

/* True where a part of a chunk costs less than the whole. */
bool vczi_chain_can_decode_part(const vczi_chain_t *chain);

/* True where the parts of the stored bytes that are looked at are asked for, or copied (kernel/pieces). */
bool vczi_chain_asks_for_parts(const vczi_chain_t *chain);
bool vczi_chain_copies_parts(const vczi_chain_t *chain);

/* True where the request is so small a part of a chunk that the rest of its bytes need not be read. */
bool vczi_chain_is_part(const vczi_chain_t *chain, const vczi_request_t *request);

/* Stored bytes of a chunk beyond which no writer's can be. */
uint64_t vczi_chain_max_stored_nbytes(const vczi_chain_t *chain);

/* Decode what `request` wants of the chunk in `stored` into `out`, of items of fixed size. `kept` is NULL, or what is
 * kept of this chunk (or nothing): it serves where it can, and keeps what had to be decoded for a small part. */
int vczi_chain_decode(const vczi_chain_t *chain, vczi_span_t stored, const vczi_request_t *request, void *out,
                      vczi_kept_block_t *kept, vczi_scratch_t *scratch);

/* The same out of what is kept of the chunk alone, without its stored bytes; *is_read is false where that is not
 * enough. */
int vczi_chain_read_kept(const vczi_chain_t *chain, vczi_kept_block_t *kept, const vczi_request_t *request, void *out,
                         bool *is_read, vczi_scratch_t *scratch);

/* True where keeping pays: the request is a small part of a chunk that has to be decompressed. */
bool vczi_chain_should_keep(const vczi_chain_t *chain, const vczi_request_t *request);

/* True where a chunk's blocks can be looked at as their decompressor leaves them: items of one byte in C order, and one
 * codec that decodes parts. */
bool vczi_chain_has_blocks(const vczi_chain_t *chain);

/* Of such a chain: let `kept`, which is of this chunk or holds nothing, hold the block of raw byte `at`. It holds none
 * where the chunk is stored as it is. */
int vczi_chain_hold_block(const vczi_chain_t *chain, vczi_span_t stored, size_t at, vczi_kept_block_t *kept,
                          vczi_scratch_t *scratch);

/* And raw bytes [start, stop) into `out`, through `kept`. */
int vczi_chain_read_bytes(const vczi_chain_t *chain, vczi_span_t stored, size_t start, size_t stop, uint8_t *out,
                          vczi_kept_block_t *kept, vczi_scratch_t *scratch);

/* Decode a chunk of items of variable length down to its stored items (kernel/unvlen); valid until the scratch is used
 * again. That there are as many as the chunk holds has been checked. */
int vczi_chain_decode_vlen(const vczi_chain_t *chain, vczi_span_t stored, vczi_span_t *raw, vczi_scratch_t *scratch);

/* The items of such a chunk: chunk_nitems spans in the order in which they are stored, in the scratch. */
int vczi_chain_read_items(const vczi_chain_t *chain, vczi_span_t raw, const vczi_span_t **items,
                          vczi_scratch_t *scratch);

#endif
