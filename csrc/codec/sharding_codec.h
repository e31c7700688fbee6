/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The codec sharding_indexed: a chunk (a shard) that holds chunks, and an index of where each lies in it. Source: the
 * Zarr specification, "Sharding codec", version 1.0. */
#ifndef VCZI_SHARDING_CODEC_H
#define VCZI_SHARDING_CODEC_H

#include "chain.h"
#include "grid.h"

/* How a shard is laid out. */
typedef struct {
    vczi_grid_t grid; /* of the chunks in one shard: its shape is the shard's */
    bool index_is_first;
    size_t index_nbytes; /* as stored */
    vczi_chain_t index;  /* of its numbers */
} vczi_sharding_t;

/* A shard that is one step of a chain: shards in shards, and those that other codecs stand beside. */
typedef struct vczi_shard {
    int axes[VCZC_MAX_NDIM]; /* axis k of the shard is axis axes[k] of the chain's chunk */
    vczi_sharding_t sharding;
    vczi_chain_t inner; /* of a chunk in it */
    const void *fill;   /* of a chunk that is absent; borrowed from the document */
    size_t fill_nbytes;
} vczi_shard_t;

/* For the registry: where the codec may stand. */
int vczi_sharding_set_layout(const vczi_codec_spec_t *spec, vczi_layout_t *layout);

/* The layout of a shard and the chain of its chunks, as `spec` says of chunks of `outer` (a shard). Both are zeroed
 * where that fails. The chain is the caller's to clear; NULL where only the
 * places of chunks are wanted, whatever their codecs are.
 * @return 0, or VCZC_ERR_METADATA, _UNSUPPORTED (a codec, or an index of no fixed size), _NO_MEMORY. */
int vczi_sharding_init(vczi_sharding_t *self, vczi_chain_t *inner, const vczi_codec_spec_t *spec,
                       const vczi_chain_spec_t *outer);

/* Where the index lies in a shard of so many bytes; VCZC_ERR_CORRUPT where it does not fit. */
int vczi_sharding_place_index(const vczi_sharding_t *self, uint64_t shard_nbytes, uint64_t *offset);

/* The index's numbers where they lie in its stored bytes, which have been checked against their checksum. */
int vczi_sharding_view_index(const vczi_sharding_t *self, vczi_span_t stored, vczi_span_t *numbers,
                             vczi_scratch_t *scratch);

/* Where the chunk at `coords` of the shard's grid lies in it. VCZC_ERR_NOT_FOUND (no failure is told) where it is
 * absent, VCZC_ERR_CORRUPT where that is beyond the shard. */
int vczi_sharding_find(const vczi_sharding_t *self, vczi_span_t numbers, uint64_t shard_nbytes, const int64_t *coords,
                       uint64_t *offset, size_t *nbytes);

/* Make the shard that is the last step of a chain of `spec`'s chunks. NULL, and *ret set, on failure. */
vczi_shard_t *vczi_shard_open(const vczi_codec_spec_t *codec, const vczi_chain_spec_t *spec,
                              const vczi_layout_t *layout, int *ret);
void vczi_shard_close(vczi_shard_t *shard);

/* As vczi_chain_decode, of the bytes of a shard. */
int vczi_shard_decode(const vczi_shard_t *shard, vczi_span_t bytes, const vczi_request_t *request, void *out);

/* As vczi_chain_decode_vlen: the shard's items, as one chunk would hold them, into buffer `which`. */
int vczi_shard_decode_vlen(const vczi_shard_t *shard, vczi_span_t bytes, size_t max_nbytes, int which,
                           vczi_scratch_t *scratch, vczi_span_t *raw);

#endif
