/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "chain.h"

#include <inttypes.h>
#include <string.h>

#include "ceilings.h"
#include "checked.h"
#include "filter_codec.h"
#include "pieces.h"
#include "registry.h"
#include "sharding_codec.h"
#include "status.h"
#include "swap.h"
#include "unvlen.h"

/* A request of at most this part of a chunk keeps what it had to decompress: the next is likely to lie beside it. */
#define KEPT_PART 4

/* A request of at most this part of a chunk reads what it needs of the stored bytes. */
#define READ_PART 2

/* What is stored of a chunk may be larger than the chunk: codecs add a few percent, filters store items of one byte in
 * eight or sixteen. */
#define STORED_GROWTH 16
#define STORED_MORE_NBYTES ((uint64_t) 1 << 20)

/* Runs of items that lie at least so far apart are unshuffled one by one (some 40 ns each), closer ones together. */
#define RUN_SPAN_NBYTES 512

/* Half of the usual second-level cache, less than the usual Blosc block of 512 KB. */
#define SLAB_NBYTES ((int64_t) 256 << 10)

/* ---- Preparing ---- */

/* Strides, in items, of the array's axes in a chunk as stored: C order over the permuted axes. */
static void set_strides(vczi_chain_t *chain, const vczi_layout_t *layout, const int64_t *chunks) {
    int64_t stride = 1;
    for (int i = layout->ndim - 1; i >= 0; i--) {
        chain->strides[layout->axes[i]] = stride;
        stride *= chunks[layout->axes[i]];
    }
}

static int set_sizes(vczi_chain_t *chain, const vczi_chain_spec_t *spec) {
    int64_t nbytes = 0;
    chain->ndim = spec->ndim;
    chain->chunk_nitems = spec->chunk_nitems;
    chain->is_utf8 = spec->dtype->kind == VCZC_VLEN_UTF8;
    if (!vczi_i64_to_size(spec->max_chunk_nbytes, &chain->max_nbytes)) {
        chain->max_nbytes = SIZE_MAX / 2;
    }
    if (vczi_dtype_is_vlen(spec->dtype)) {
        return 0; /* how many there may be is known once a chunk is seen */
    }
    if (!vczi_mul_i64(spec->chunk_nitems, spec->dtype->item_nbytes, &nbytes) || nbytes > spec->max_chunk_nbytes ||
        !vczi_i64_to_size(nbytes, &chain->chunk_nbytes)) {
        return vczi_fail(VCZC_ERR_METADATA,
                         "a chunk of %" PRId64 " items of %" PRId64 " bytes is larger than the %" PRId64
                         " bytes that are allowed",
                         spec->chunk_nitems, spec->dtype->item_nbytes, spec->max_chunk_nbytes);
    }
    chain->item_nbytes = (size_t) spec->dtype->item_nbytes;
    return 0;
}

/* What each codec between bytes decodes to, as far as it follows from the size of a chunk. */
static int set_raw_sizes(vczi_chain_t *chain, bool is_shard) {
    size_t nbytes = chain->item_nbytes == 0 || is_shard ? SIZE_MAX : chain->chunk_nbytes;
    for (int i = 0; i < chain->nbytes_codecs; i++) {
        chain->raw_nbytes[i] = nbytes;
        if (nbytes != SIZE_MAX && !vczi_filter_encoded_nbytes(&chain->bytes_codecs[i], nbytes, &nbytes)) {
            nbytes = SIZE_MAX;
        }
        if (nbytes == 0) {
            return vczi_fail(VCZC_ERR_METADATA, "a filter's items of %zu bytes do not fit a chunk of %zu",
                             chain->bytes_codecs[i].settings.to.nbytes, chain->raw_nbytes[i]);
        }
    }
    return 0;
}

/* Filters of format 3 have to know the byte order that the codec `bytes`, which stands behind them, has said; they give
 * this processor's. */
static void set_filter_order(vczi_chain_t *chain, int nfilters, vczi_layout_t *layout) {
    if (nfilters > 0) {
        vczi_items_t *stored = &chain->bytes_codecs[nfilters - 1].settings.from;
        stored->is_swapped = stored->nbytes > 1 && layout->big_endian != vczi_host_is_big_endian();
        layout->big_endian = vczi_host_is_big_endian();
    }
}

/* A filter of numcodecs. */
static int add_filter(vczi_chain_t *chain, const vczi_registered_t *found, const vczi_codec_spec_t *spec,
                      vczi_layout_t *layout) {
    vczi_codec_t *codec = &chain->bytes_codecs[chain->nbytes_codecs];
    const int ret = found->set_filter(spec, found->variant, layout, codec);
    if (ret == 0 && codec->ops == NULL) {
        memset(codec, 0, sizeof(*codec)); /* nothing to undo */
    } else {
        chain->nbytes_codecs++;
    }
    return ret;
}

/* Codecs must come in the order of their stages, with one array-to-bytes codec. */
static int add_codec(vczi_chain_t *chain, const vczi_codec_spec_t *spec, vczi_layout_t *layout, vczi_stage_t *stage) {
    const vczi_registered_t *found = NULL;
    int ret = vczi_registry_find(spec, &found);
    if (ret != 0) {
        return spec->may_be_ignored ? 0 : ret;
    }
    /* Filters of format 2 take bytes. */
    const bool takes_bytes = found->stage == VCZI_STAGE_BYTES || (spec->from_v2 && found->set_filter != NULL);
    if (spec->from_v2 && !vczi_dtype_is_vlen(layout->dtype)) {
        /* A filter that gives bytes takes the items as they lie in memory: "bytes" has no place of its own. */
        if (takes_bytes) {
            *stage = VCZI_STAGE_SERIALIZE;
        } else if (found->stage == VCZI_STAGE_SERIALIZE && *stage == VCZI_STAGE_SERIALIZE) {
            return 0;
        }
    }
    if (takes_bytes ? *stage == VCZI_STAGE_ARRAY : *stage != VCZI_STAGE_ARRAY) {
        return vczi_fail(VCZC_ERR_METADATA, "the codec '%s' stands in the wrong place", spec->name);
    }
    if (found->set_filter != NULL) {
        return add_filter(chain, found, spec, layout);
    }
    if (takes_bytes) {
        ret = found->set_codec(spec, found->variant, &chain->bytes_codecs[chain->nbytes_codecs]);
        chain->nbytes_codecs++;
        return ret;
    }
    ret = found->set_layout(spec, layout);
    if (found->stage == VCZI_STAGE_SERIALIZE) {
        *stage = VCZI_STAGE_SERIALIZE;
        if (!spec->from_v2) {
            set_filter_order(chain, chain->nbytes_codecs, layout);
        }
        if (ret == 0 && layout->sharding != NULL && chain->nbytes_codecs != 0) {
            ret = vczi_fail(VCZC_ERR_UNSUPPORTED, "the codec '%s' is not read behind a filter: inside it they are",
                            spec->name);
        }
    }
    return ret;
}

static int init_codecs(vczi_chain_t *chain, const vczi_chain_spec_t *spec, vczi_layout_t *layout) {
    vczi_stage_t stage = VCZI_STAGE_ARRAY;
    for (int i = 0; i < layout->ndim; i++) {
        layout->axes[i] = i;
    }
    for (int i = 0; i < spec->ncodecs; i++) {
        const int ret = add_codec(chain, &spec->codecs[i], layout, &stage);
        if (ret != 0) {
            return ret;
        }
    }
    return stage == VCZI_STAGE_ARRAY ? vczi_fail(VCZC_ERR_METADATA, "no codec turns the array into bytes") : 0;
}

int vczi_chain_init(vczi_chain_t *chain, const vczi_chain_spec_t *spec) {
    vczi_layout_t layout = {.ndim = spec->ndim, .dtype = spec->dtype, .big_endian = spec->big_endian};
    memset(chain, 0, sizeof(*chain));
    int ret = init_codecs(chain, spec, &layout);
    if (ret == 0) {
        ret = set_sizes(chain, spec);
    }
    if (ret == 0) {
        ret = set_raw_sizes(chain, layout.sharding != NULL);
    }
    if (ret == 0) {
        set_strides(chain, &layout, spec->chunks);
        chain->unit_nbytes = (size_t) spec->dtype->unit_nbytes;
        chain->must_swap = chain->unit_nbytes > 1 && layout.big_endian != vczi_host_is_big_endian();
    }
    if (ret == 0 && layout.sharding != NULL) {
        chain->shard = vczi_shard_open(layout.sharding, spec, &layout, &ret);
        chain->must_swap = false; /* the chain of its chunks does */
    }
    if (ret != 0) {
        vczi_chain_clear(chain);
    }
    return ret;
}

void vczi_chain_clear(vczi_chain_t *chain) {
    vczi_shard_close(chain->shard);
    memset(chain, 0, sizeof(*chain));
}

bool vczi_chain_has_fixed_size(const vczi_chain_t *chain, size_t *nbytes) {
    *nbytes = chain->chunk_nbytes;
    for (int i = 0; i < chain->nbytes_codecs; i++) {
        const vczi_codec_t *codec = &chain->bytes_codecs[i];
        if (codec->size_rule != VCZI_SIZE_CHECKSUM || !vczi_filter_encoded_nbytes(codec, *nbytes, nbytes)) {
            return false;
        }
    }
    return chain->shard == NULL && chain->item_nbytes != 0;
}

bool vczi_chain_can_decode_part(const vczi_chain_t *chain) {
    if (chain->shard != NULL) {
        return false;
    }
    return chain->nbytes_codecs == 0 || (chain->nbytes_codecs == 1 && chain->bytes_codecs[0].ops->decode_range != NULL);
}

bool vczi_chain_asks_for_parts(const vczi_chain_t *chain) {
    return chain->nbytes_codecs == 1 && chain->bytes_codecs[0].asks_for_parts && chain->shard == NULL;
}

bool vczi_chain_copies_parts(const vczi_chain_t *chain) {
    return chain->nbytes_codecs == 0 && chain->shard == NULL;
}

static int64_t request_nitems(const vczi_chain_t *chain, const vczi_request_t *request) {
    int64_t nitems = 1;
    for (int i = 0; i < chain->ndim; i++) {
        nitems *= request->out.shape[i]; /* at most a chunk's */
    }
    return nitems;
}

bool vczi_chain_is_part(const vczi_chain_t *chain, const vczi_request_t *request) {
    return request_nitems(chain, request) <= chain->chunk_nitems / READ_PART;
}

uint64_t vczi_chain_max_stored_nbytes(const vczi_chain_t *chain) {
    const uint64_t raw = chain->item_nbytes == 0 ? chain->max_nbytes : chain->chunk_nbytes;
    return raw < (UINT64_MAX - STORED_MORE_NBYTES) / STORED_GROWTH ? raw * STORED_GROWTH + STORED_MORE_NBYTES
                                                                   : UINT64_MAX;
}

/* ---- Decoding ---- */

/* Refuse what cannot be, before memory is reserved for it. */
static int check_size(const vczi_codec_t *codec, vczi_span_t in, size_t nbytes) {
    return codec->check == NULL ? 0 : codec->check(codec, in, nbytes);
}

/* Undo one codec into buffer `which`, or find what it holds where that lies. */
static int decode_one(const vczi_chain_t *chain, int number, vczi_span_t in, int which, vczi_scratch_t *scratch,
                      vczi_span_t *out) {
    const vczi_codec_t *codec = &chain->bytes_codecs[number];
    const size_t nbytes = chain->raw_nbytes[number];
    if (nbytes == SIZE_MAX) {
        return codec->ops->decode_unsized(codec, in, chain->max_nbytes, which, scratch, out);
    }
    *out = vczi_span(NULL, 0);
    int ret = codec->ops->view == NULL ? 0 : codec->ops->view(codec, in, nbytes, out);
    if (ret == 0) {
        ret = check_size(codec, in, nbytes);
    }
    if (ret == 0 && out->data == NULL) {
        uint8_t *buffer = vczi_scratch_buffer(scratch, which, nbytes);
        ret = buffer == NULL ? VCZC_ERR_NO_MEMORY : codec->ops->decode(codec, in, buffer, nbytes, scratch);
        *out = vczi_span(buffer, nbytes);
    }
    return ret;
}

static bool lies_in(vczi_span_t part, vczi_span_t whole) {
    const uintptr_t begin = (uintptr_t) whole.data, at = (uintptr_t) part.data;
    return at >= begin && at - begin < whole.nbytes;
}

/* Undo the codecs that were written last, down to (not with) codec `down_to`. */
static int decode_outer(const vczi_chain_t *chain, vczi_span_t *bytes, int down_to, vczi_scratch_t *scratch) {
    int which = VCZI_SCRATCH_CODEC_A;
    for (int i = chain->nbytes_codecs - 1; i >= down_to; i--) {
        vczi_span_t decoded = {NULL, 0};
        int ret = decode_one(chain, i, *bytes, which, scratch, &decoded);
        if (ret != 0) {
            return ret;
        }
        /* Else the buffer that holds `bytes` is still in use, and the other one free. */
        if (!lies_in(decoded, *bytes)) {
            which = which == VCZI_SCRATCH_CODEC_A ? VCZI_SCRATCH_CODEC_B : VCZI_SCRATCH_CODEC_A;
        }
        *bytes = decoded;
    }
    return 0;
}

/* The chunk's bytes where they lie as they are wanted; an empty span where they have to be decoded. */
static int find_view(const vczi_chain_t *chain, vczi_span_t bytes, vczi_span_t *view) {
    *view = vczi_span(NULL, 0);
    if (chain->nbytes_codecs == 0) {
        if (bytes.nbytes != chain->chunk_nbytes) {
            return vczi_fail(VCZC_ERR_CORRUPT, "%zu bytes are stored, not %zu", bytes.nbytes, chain->chunk_nbytes);
        }
        *view = bytes;
        return 0;
    }
    const vczi_codec_t *codec = &chain->bytes_codecs[0];
    return codec->ops->view == NULL ? 0 : codec->ops->view(codec, bytes, chain->chunk_nbytes, view);
}

int vczi_chain_view(const vczi_chain_t *chain, vczi_span_t stored, vczi_span_t *raw, vczi_scratch_t *scratch) {
    const int ret = decode_outer(chain, &stored, 1, scratch);
    return ret == 0 ? find_view(chain, stored, raw) : ret;
}

/* Bytes [start, stop) of the chunk, decoded by the innermost codec into `out`. What can decode only as a whole is asked
 * for the whole only (find_need), or keeps the whole. */
static int decode_range(const vczi_chain_t *chain, vczi_span_t bytes, size_t start, size_t stop, uint8_t *out,
                        vczi_kept_block_t *kept, vczi_scratch_t *scratch) {
    const vczi_codec_t *codec = &chain->bytes_codecs[0];
    if (kept != NULL && codec->ops->decode_kept != NULL) {
        return codec->ops->decode_kept(codec, bytes, chain->chunk_nbytes, start, stop, out, kept, scratch);
    }
    if (codec->ops->decode_range != NULL) {
        return codec->ops->decode_range(codec, bytes, chain->chunk_nbytes, start, stop, out, scratch);
    }
    if (kept == NULL) {
        return codec->ops->decode(codec, bytes, out, chain->chunk_nbytes, scratch);
    }
    int ret = vczi_kept_block_room(kept, chain->chunk_nbytes);
    if (ret == 0) {
        ret = codec->ops->decode(codec, bytes, kept->memory, chain->chunk_nbytes, scratch);
    }
    if (ret == 0) {
        vczi_kept_block_hold_raw(kept, chain->chunk_nbytes);
        (void) vczi_kept_block_read(kept, start, stop, out);
    }
    return ret;
}

/* What a request needs of a chunk's bytes. */
typedef struct {
    size_t start, stop;             /* the bytes to decode */
    size_t first;                   /* where, behind `start`, the first wanted item lies */
    int64_t strides[VCZC_MAX_NDIM]; /* of the wanted items in them */
    bool is_direct;                 /* all of [start, stop) is wanted, in the order in which it is written */
} need_t;

static void find_need(const vczi_chain_t *chain, const vczi_request_t *request, bool may_be_part, need_t *need) {
    int64_t first = 0, last = 0;
    vczi_box_t wanted = request->out;
    for (int i = 0; i < chain->ndim; i++) {
        wanted.strides[i] = chain->strides[i] * request->step[i] * (int64_t) chain->item_nbytes;
        first += request->first[i] * chain->strides[i];
        last += (request->first[i] + (request->out.shape[i] - 1) * request->step[i]) * chain->strides[i];
    }
    memcpy(need->strides, wanted.strides, sizeof(need->strides));
    need->start = (size_t) first * chain->item_nbytes;
    need->stop = (size_t) (last + 1) * chain->item_nbytes;
    need->first = 0;
    need->is_direct = vczi_box_is_contiguous(&wanted) && vczi_box_is_contiguous(&request->out);
    const bool is_whole = need->start == 0 && need->stop == chain->chunk_nbytes;
    if (!is_whole && !may_be_part && chain->bytes_codecs[0].ops->decode_range == NULL) {
        need->first = need->start;
        need->start = 0;
        need->stop = chain->chunk_nbytes;
        need->is_direct = false;
    }
}

static void swap_bytes(const vczi_chain_t *chain, void *bytes, size_t nbytes) {
    if (chain->must_swap) {
        vczi_swap(bytes, nbytes / chain->unit_nbytes, chain->unit_nbytes);
    }
}

/* Where a request's bytes come from: copied from where they are stored as they are; `view` where they lie so; else
 * decoded out of `stored`, through `kept` or without it, else (`stored` is empty) out of `kept` alone. */
typedef struct {
    vczi_span_t stored;
    bool is_copied;
    vczi_span_t view;
    vczi_kept_block_t *kept;
} source_t;

/* The way without a detour: the decoder writes where the caller wants it. */
static int decode_direct(const vczi_chain_t *chain, const source_t *source, const need_t *need, void *out,
                         vczi_scratch_t *scratch) {
    const size_t nbytes = need->stop - need->start;
    int ret = 0;
    if (source->is_copied) {
        ret = vczi_pieces_copy(scratch, need->start, nbytes, out);
    } else if (source->view.data != NULL) {
        memcpy(out, source->view.data + need->start, nbytes);
    } else if (source->kept == NULL || !vczi_kept_block_read(source->kept, need->start, need->stop, out)) {
        ret = decode_range(chain, source->stored, need->start, need->stop, out, source->kept, scratch);
    }
    if (ret == 0) {
        swap_bytes(chain, out, nbytes);
    }
    return ret;
}

/* Through a buffer that holds the range, and from there to the places of the items. */
static int decode_scattered(const vczi_chain_t *chain, const source_t *source, const need_t *need,
                            const vczi_request_t *request, void *out, vczi_scratch_t *scratch) {
    if (source->view.data != NULL && !chain->must_swap) {
        vczi_ndcopy(out, &request->out, source->view.data + need->start, need->strides);
        return 0;
    }
    uint8_t *buffer = vczi_scratch_buffer(scratch, VCZI_SCRATCH_CHUNK, need->stop - need->start);
    if (buffer == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    int ret = decode_direct(chain, source, need, buffer, scratch);
    if (ret == 0) {
        vczi_ndcopy(out, &request->out, buffer + need->first, need->strides);
    }
    return ret;
}

/* The items of each run straight to their place: what is unshuffled is what is wanted. */
static int decode_runs(const vczi_chain_t *chain, const source_t *source, const need_t *need, const vczi_runs_t *runs,
                       void *out, vczi_scratch_t *scratch) {
    int64_t index[VCZC_MAX_NDIM] = {0}, to = 0, from = (int64_t) (need->start + need->first);
    int ret = 0;
    do {
        need_t run = {.start = (size_t) from, .stop = (size_t) from + runs->run_nbytes};
        ret = decode_direct(chain, source, &run, (char *) out + to, scratch);
    } while (ret == 0 && vczi_runs_next(runs, runs->ndim, index, &to, &from));
    return ret;
}

/* Some rows at a time through a buffer that stays in the cache. */
static int decode_slabs(const vczi_chain_t *chain, const source_t *source, const vczi_request_t *request, void *out,
                        vczi_scratch_t *scratch) {
    const int64_t row_nbytes = chain->strides[0] * request->step[0] * (int64_t) chain->item_nbytes;
    const int64_t nrows = row_nbytes < SLAB_NBYTES ? SLAB_NBYTES / row_nbytes : 1;
    const int64_t end = request->out.shape[0];
    vczi_request_t slab = *request;
    int ret = 0;
    for (int64_t row = 0; row < end && ret == 0; row += nrows) {
        need_t need;
        slab.first[0] = request->first[0] + row * request->step[0];
        slab.out.shape[0] = end - row < nrows ? end - row : nrows;
        find_need(chain, &slab, true, &need);
        ret = decode_scattered(chain, source, &need, &slab, (char *) out + row * request->out.strides[0], scratch);
    }
    return ret;
}

/* Items that do not lie together, of a chunk whose codec decodes parts: each block is decompressed once, and never all
 * of them at a time. The first axis is the slowest in what is stored. */
static int decode_in_parts(const vczi_chain_t *chain, const source_t *source, const need_t *need,
                           const vczi_request_t *request, void *out, vczi_scratch_t *scratch) {
    source_t parts = *source;
    vczi_runs_t runs;
    int64_t nruns = 1;
    if (parts.kept == NULL) {
        parts.kept = vczi_kept_block_of_scratch(scratch);
        if (parts.kept == NULL) {
            return VCZC_ERR_NO_MEMORY;
        }
    }
    if (!vczi_runs_init(&runs, &request->out, need->strides)) {
        return 0;
    }
    for (int i = 0; i < runs.ndim; i++) {
        nruns *= runs.shape[i]; /* at most a chunk's items */
    }
    if ((int64_t) (need->stop - need->start) / nruns >= RUN_SPAN_NBYTES) {
        return decode_runs(chain, &parts, need, &runs, out, scratch);
    }
    return decode_slabs(chain, &parts, request, out, scratch);
}

static bool is_c_order(const vczi_chain_t *chain) {
    for (int i = 1; i < chain->ndim; i++) {
        if (chain->strides[i] > chain->strides[i - 1]) {
            return false;
        }
    }
    return true;
}

/* True where the stored items lie in C order, and a part of them can be decoded or copied. */
static bool can_decode_in_parts(const vczi_chain_t *chain, const source_t *source) {
    return chain->ndim != 0 && source->view.data == NULL &&
           (source->is_copied || chain->bytes_codecs[0].ops->decode_kept != NULL) && is_c_order(chain);
}

static int decode_needed(const vczi_chain_t *chain, const source_t *source, const need_t *need,
                         const vczi_request_t *request, void *out, vczi_scratch_t *scratch) {
    if (need->is_direct) {
        return decode_direct(chain, source, need, out, scratch);
    }
    if (can_decode_in_parts(chain, source)) {
        return source->is_copied ? decode_slabs(chain, source, request, out, scratch)
                                 : decode_in_parts(chain, source, need, request, out, scratch);
    }
    return decode_scattered(chain, source, need, request, out, scratch);
}

int vczi_chain_decode(const vczi_chain_t *chain, vczi_span_t stored, const vczi_request_t *request, void *out,
                      vczi_kept_block_t *kept, vczi_scratch_t *scratch) {
    need_t need;
    source_t source = {stored, vczi_pieces_are_copied(scratch), {NULL, 0}, kept};
    int ret = decode_outer(chain, &source.stored, chain->shard == NULL ? 1 : 0, scratch);
    if (ret == 0 && chain->shard != NULL) {
        return vczi_shard_decode(chain->shard, source.stored, request, out);
    }
    if (ret == 0 && chain->nbytes_codecs != 0) {
        ret = check_size(&chain->bytes_codecs[0], source.stored, chain->chunk_nbytes);
    }
    if (ret != 0) {
        return ret;
    }
    const bool has_parts = chain->nbytes_codecs == 0 || chain->bytes_codecs[0].ops->decode_range != NULL;
    find_need(chain, request, has_parts || kept != NULL, &need);
    /* A view saves the way through a buffer; where that is none, it would have the codec look at its header twice. */
    if (chain->nbytes_codecs == 0 || !has_parts || !(need.is_direct || vczi_pieces_are_read(scratch))) {
        ret = find_view(chain, source.stored, &source.view);
    }
    if (ret == 0 && source.view.data != NULL && !has_parts) {
        find_need(chain, request, true, &need);
    }
    return ret == 0 ? decode_needed(chain, &source, &need, request, out, scratch) : ret;
}

int vczi_chain_read_kept(const vczi_chain_t *chain, vczi_kept_block_t *kept, const vczi_request_t *request, void *out,
                         bool *is_read, vczi_scratch_t *scratch) {
    need_t need;
    find_need(chain, request, true, &need);
    *is_read = vczi_kept_block_holds(kept, need.start, need.stop);
    if (!*is_read) {
        return 0;
    }
    const source_t source = {{NULL, 0}, false, {NULL, 0}, kept};
    return decode_needed(chain, &source, &need, request, out, scratch);
}

bool vczi_chain_should_keep(const vczi_chain_t *chain, const vczi_request_t *request) {
    /* Where an outer codec has to be undone first, all of the chunk is decoded for any part of it. */
    if (chain->nbytes_codecs == 0 || chain->shard != NULL ||
        (chain->bytes_codecs[0].ops->decode_kept == NULL && chain->chunk_nbytes > VCZI_MAX_KEPT_NBYTES)) {
        return false;
    }
    return request_nitems(chain, request) <= chain->chunk_nitems / KEPT_PART;
}

bool vczi_chain_has_blocks(const vczi_chain_t *chain) {
    return chain->item_nbytes == 1 && chain->nbytes_codecs == 1 && chain->shard == NULL &&
           chain->bytes_codecs[0].ops->decode_kept != NULL && is_c_order(chain);
}

int vczi_chain_hold_block(const vczi_chain_t *chain, vczi_span_t stored, size_t at, vczi_kept_block_t *kept,
                          vczi_scratch_t *scratch) {
    uint8_t byte; /* whoever reads one through `kept` leaves its block there */
    if (vczi_kept_block_holds(kept, at, at + 1)) {
        return 0;
    }
    return decode_range(chain, stored, at, at + 1, &byte, kept, scratch);
}

int vczi_chain_read_bytes(const vczi_chain_t *chain, vczi_span_t stored, size_t start, size_t stop, uint8_t *out,
                          vczi_kept_block_t *kept, vczi_scratch_t *scratch) {
    if (vczi_kept_block_read(kept, start, stop, out)) {
        return 0;
    }
    return decode_range(chain, stored, start, stop, out, kept, scratch);
}

int vczi_chain_decode_vlen(const vczi_chain_t *chain, vczi_span_t stored, vczi_span_t *raw, vczi_scratch_t *scratch) {
    size_t nitems = 0;
    int ret = decode_outer(chain, &stored, 0, scratch);
    if (ret == 0 && chain->shard != NULL) {
        return vczi_shard_decode_vlen(chain->shard, stored, chain->max_nbytes, VCZI_SCRATCH_BLOCK, scratch, raw);
    }
    if (ret == 0 && !vczi_i64_to_size(chain->chunk_nitems, &nitems)) {
        ret = vczi_fail(VCZC_ERR_CORRUPT, "%" PRId64 " texts do not fit the memory", chain->chunk_nitems);
    }
    if (ret == 0) {
        ret = vczi_unvlen_check(stored, nitems);
    }
    *raw = stored;
    return ret;
}

int vczi_chain_read_items(const vczi_chain_t *chain, vczi_span_t raw, const vczi_span_t **items,
                          vczi_scratch_t *scratch) {
    const size_t nitems = (size_t) chain->chunk_nitems; /* the stored bytes have room for as many */
    size_t nbytes = 0;
    if (!vczi_mul_size(nitems, sizeof(vczi_span_t), &nbytes)) {
        return vczi_fail_memory(SIZE_MAX);
    }
    vczi_span_t *spans = (void *) vczi_scratch_buffer(scratch, VCZI_SCRATCH_CHUNK, nbytes);
    if (spans == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    *items = spans;
    return vczi_unvlen(raw, nitems, chain->is_utf8, spans);
}
