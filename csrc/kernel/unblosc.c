/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Blosc frames, format version 2 (c-blosc's README_CHUNK_FORMAT.rst; where that is silent, c-blosc 1.21's blosc_d).
 * A frame is a header of 16 bytes, the offset of each block, and the blocks; a block is one stream, or one for each
 * byte of the item; a filtered block is decoded into scratch, then unshuffled into the destination. */
#include "unblosc.h"

#include <inttypes.h>
#include <string.h>

#include "inflate.h"
#include "pieces.h"
#include "status.h"
#include "unblosclz.h"
#include "unlz4.h"
#include "unshuffle.h"
#include "unzstd.h"

#define FLAGS_AT 2
#define RAW_NBYTES_AT 4
#define BLOCK_NBYTES_AT 8
#define HEADER_NBYTES ((size_t) 16)
#define TABLE_ENTRY_NBYTES ((size_t) 4)
#define STREAM_HEAD_NBYTES ((size_t) 4)
#define FORMAT_VERSION 2
#define CODEC_VERSION 1 /* of every codec that there is */

/* c-blosc's MAX_SPLITS and MIN_BUFFERSIZE: when a block may be split into a stream for each byte of the item. */
#define SPLIT_MAX_ITEM_NBYTES 16u
#define SPLIT_MIN_NITEMS 128u

/* c-blosc keeps sizes in an int32_t, with room for its header. */
#define MAX_RAW_NBYTES ((uint32_t) INT32_MAX - (uint32_t) HEADER_NBYTES)

enum {
    FLAG_BYTE_SHUFFLE = 1 << 0,
    FLAG_COPY = 1 << 1,
    FLAG_BIT_SHUFFLE = 1 << 2,
    FLAG_FUTURE = 1 << 3,
    FLAG_WHOLE_BLOCKS = 1 << 4
};

enum { CODEC_BLOSCLZ = 0, CODEC_LZ4 = 1, CODEC_SNAPPY = 2, CODEC_ZLIB = 3, CODEC_ZSTD = 4 };

/* One block, ready to be read. */
typedef struct {
    vczi_cursor_t streams;
    size_t raw_nbytes;
    size_t nstreams;
    size_t stream_nbytes; /* raw; nstreams times this is raw_nbytes */
    vczi_filter_t filter;
    size_t item_nbytes;
    size_t nlive; /* bit planes that are decoded; the rest is zero (VCZI_UNSHUFFLE_MAX_NLIVE) */
} block_t;

static int check_codec(uint8_t codec, uint8_t codec_version) {
    if (codec == CODEC_SNAPPY) {
        return vczi_fail(VCZC_ERR_UNSUPPORTED, "Blosc with snappy");
    }
    if (codec > CODEC_ZSTD) {
        return vczi_fail(VCZC_ERR_CORRUPT, "a Blosc frame of unknown codec %d", codec);
    }
    if (codec_version != CODEC_VERSION) {
        return vczi_fail(VCZC_ERR_CORRUPT, "a Blosc frame whose codec %d has version %d", codec, codec_version);
    }
    return 0;
}

/* Every block begins behind the table, and its first stream has room for a head. */
static int check_table(const vczi_frame_t *frame) {
    const size_t room = frame->stored.nbytes - HEADER_NBYTES;
    if (frame->nblocks > room / (TABLE_ENTRY_NBYTES + STREAM_HEAD_NBYTES)) {
        return vczi_fail(VCZC_ERR_CORRUPT, "a Blosc frame of %zu bytes has no room for %zu blocks",
                         frame->stored.nbytes, frame->nblocks);
    }
    const size_t first = HEADER_NBYTES + frame->nblocks * TABLE_ENTRY_NBYTES;
    const size_t last = frame->stored.nbytes - STREAM_HEAD_NBYTES;
    for (size_t i = 0; i < frame->nblocks; i++) {
        const size_t offset = vczi_load_u32le(frame->stored.data + HEADER_NBYTES + i * TABLE_ENTRY_NBYTES);
        if (offset < first || offset > last) {
            return vczi_fail(VCZC_ERR_CORRUPT, "block %zu of a Blosc frame begins at byte %zu, outside [%zu, %zu]", i,
                             offset, first, last);
        }
    }
    return 0;
}

static int check_blocks(vczi_frame_t *frame, uint32_t raw_nbytes, uint32_t block_nbytes) {
    if (block_nbytes == 0 || block_nbytes > raw_nbytes) {
        return vczi_fail(VCZC_ERR_CORRUPT, "a Blosc frame of %" PRIu32 " raw bytes in blocks of %" PRIu32, raw_nbytes,
                         block_nbytes);
    }
    frame->block_nbytes = block_nbytes;
    frame->nblocks = (raw_nbytes - 1) / block_nbytes + 1;
    frame->last_nbytes = raw_nbytes - (frame->nblocks - 1) * block_nbytes;
    return 0;
}

static bool block_is_split(const vczi_frame_t *frame, size_t raw_nbytes) {
    return (frame->flags & FLAG_WHOLE_BLOCKS) == 0 && frame->item_nbytes <= SPLIT_MAX_ITEM_NBYTES &&
           raw_nbytes / frame->item_nbytes >= SPLIT_MIN_NITEMS && raw_nbytes == frame->block_nbytes;
}

int vczi_frame_init(vczi_frame_t *frame, vczi_span_t stored, size_t raw_nbytes) {
    memset(frame, 0, sizeof(*frame));
    vczi_cursor_t header = vczi_cursor(stored);
    const uint8_t version = vczi_cursor_u8(&header);
    const uint8_t codec_version = vczi_cursor_u8(&header);
    const uint8_t flags = vczi_cursor_u8(&header);
    const uint8_t item_nbytes = vczi_cursor_u8(&header);
    const uint32_t claimed_nbytes = vczi_cursor_u32le(&header);
    const uint32_t block_nbytes = vczi_cursor_u32le(&header);
    const uint32_t stored_nbytes = vczi_cursor_u32le(&header);
    if (header.failed) {
        return vczi_fail(VCZC_ERR_CORRUPT, "%zu bytes are no Blosc frame", stored.nbytes);
    }
    if (version != FORMAT_VERSION || (flags & FLAG_FUTURE) != 0 || item_nbytes == 0) {
        return vczi_fail(VCZC_ERR_CORRUPT, "no Blosc frame of version 2 (version %d, flags 0x%02x, item size %d)",
                         version, (unsigned) flags, item_nbytes);
    }
    if (claimed_nbytes != raw_nbytes || claimed_nbytes > MAX_RAW_NBYTES) {
        return vczi_fail(VCZC_ERR_CORRUPT, "a Blosc frame of %" PRIu32 " raw bytes, %zu expected", claimed_nbytes,
                         raw_nbytes);
    }
    /* c-blosc reads no further than the header says, whatever follows; so do we. */
    if (stored_nbytes < HEADER_NBYTES || stored_nbytes > stored.nbytes) {
        return vczi_fail(VCZC_ERR_CORRUPT, "a Blosc frame of %" PRIu32 " bytes, %zu are stored", stored_nbytes,
                         stored.nbytes);
    }
    frame->stored = vczi_span(stored.data, stored_nbytes);
    frame->raw_nbytes = raw_nbytes;
    frame->item_nbytes = item_nbytes;
    frame->flags = flags;
    frame->codec = flags >> 5;
    frame->is_copy = (flags & FLAG_COPY) != 0;
    if (raw_nbytes == 0) {
        return 0;
    }
    int ret = check_blocks(frame, claimed_nbytes, block_nbytes);
    if (ret != 0) {
        return ret;
    }
    if (frame->is_copy) {
        if (stored_nbytes - HEADER_NBYTES != raw_nbytes) {
            return vczi_fail(VCZC_ERR_CORRUPT, "a Blosc frame of %" PRIu32 " bytes is no copy of %zu", stored_nbytes,
                             raw_nbytes);
        }
        return 0;
    }
    ret = check_codec(frame->codec, codec_version);
    if (ret != 0) {
        return ret;
    }
    if (block_is_split(frame, block_nbytes) && block_nbytes % item_nbytes != 0) {
        return vczi_fail(VCZC_ERR_CORRUPT, "a Blosc frame splits blocks of %" PRIu32 " bytes by items of %d",
                         block_nbytes, item_nbytes);
    }
    return check_table(frame);
}

int vczi_frame_need_head(vczi_span_t stored, vczi_scratch_t *scratch) {
    const vczi_span_t header = vczi_span(stored.data, stored.nbytes < HEADER_NBYTES ? stored.nbytes : HEADER_NBYTES);
    int ret = vczi_pieces_need(scratch, header);
    if (ret != 0 || header.nbytes < HEADER_NBYTES || (stored.data[FLAGS_AT] & FLAG_COPY) != 0) {
        return ret;
    }
    const size_t raw_nbytes = vczi_load_u32le(stored.data + RAW_NBYTES_AT);
    const size_t block_nbytes = vczi_load_u32le(stored.data + BLOCK_NBYTES_AT);
    const size_t nblocks = block_nbytes == 0 ? 0 : raw_nbytes / block_nbytes + 1;
    const size_t room = stored.nbytes - HEADER_NBYTES;
    const size_t table_nbytes = nblocks < room / TABLE_ENTRY_NBYTES ? nblocks * TABLE_ENTRY_NBYTES : room;
    return vczi_pieces_need(scratch, vczi_span(stored.data + HEADER_NBYTES, table_nbytes));
}

int vczi_frame_raw_nbytes(vczi_span_t stored, size_t *raw_nbytes) {
    if (stored.nbytes < HEADER_NBYTES) {
        return vczi_fail(VCZC_ERR_CORRUPT, "%zu bytes are no Blosc frame", stored.nbytes);
    }
    *raw_nbytes = vczi_load_u32le(stored.data + RAW_NBYTES_AT);
    return 0;
}

vczi_span_t vczi_frame_copy_view(const vczi_frame_t *frame) {
    if (!frame->is_copy) {
        return vczi_span(NULL, 0);
    }
    return vczi_span(frame->stored.data + HEADER_NBYTES, frame->raw_nbytes);
}

/* What c-blosc does with a block of `raw_nbytes`: byte-shuffle goes before bit-shuffle where both are flagged; blocks
 * shorter than an item, and bit-shuffled blocks whose items are no whole groups of eight, are left as they were. */
static vczi_filter_t block_filter(const vczi_frame_t *frame, size_t raw_nbytes) {
    const size_t nitems = raw_nbytes / frame->item_nbytes;
    if (nitems == 0) {
        return VCZI_FILTER_NONE;
    }
    if ((frame->flags & FLAG_BYTE_SHUFFLE) != 0 && frame->item_nbytes > 1) {
        return VCZI_FILTER_BYTES;
    }
    if ((frame->flags & FLAG_BIT_SHUFFLE) != 0 && nitems % 8 == 0) {
        return VCZI_FILTER_BITS;
    }
    return VCZI_FILTER_NONE;
}

/* The table was checked; it is read again here, by a cursor that cannot leave the frame, since a file that is mapped
 * can change under us. */
static block_t block_open(const vczi_frame_t *frame, size_t index) {
    block_t block;
    const size_t offset = vczi_load_u32le(frame->stored.data + HEADER_NBYTES + index * TABLE_ENTRY_NBYTES);
    block.streams = vczi_cursor(frame->stored);
    (void) vczi_cursor_take(&block.streams, offset);
    block.raw_nbytes = index == frame->nblocks - 1 ? frame->last_nbytes : frame->block_nbytes;
    block.nstreams = block_is_split(frame, block.raw_nbytes) ? frame->item_nbytes : 1;
    block.stream_nbytes = block.raw_nbytes / block.nstreams;
    block.filter = block_filter(frame, block.raw_nbytes);
    block.item_nbytes = frame->item_nbytes;
    block.nlive = 8 * block.item_nbytes;
    return block;
}

static int next_stream(block_t *block, vczi_span_t *stream, vczi_scratch_t *scratch) {
    vczi_cursor_t head = block->streams;
    int ret = vczi_pieces_need(scratch, vczi_cursor_take(&head, STREAM_HEAD_NBYTES));
    if (ret != 0) {
        return ret;
    }
    const uint32_t nbytes = vczi_cursor_u32le(&block->streams);
    *stream = vczi_cursor_take(&block->streams, nbytes);
    if (block->streams.failed) {
        return vczi_fail(VCZC_ERR_CORRUPT, "a stream of %" PRIu32 " bytes passes the end of its Blosc frame", nbytes);
    }
    return vczi_pieces_need(scratch, *stream);
}

static bool stream_is_copy(const block_t *block, vczi_span_t stream) {
    return stream.nbytes == block->stream_nbytes;
}

static int decode_stream(const vczi_frame_t *frame, const block_t *block, vczi_span_t stream, uint8_t *out,
                         vczi_scratch_t *scratch) {
    const size_t nbytes = block->stream_nbytes;
    if (stream_is_copy(block, stream)) {
        memcpy(out, stream.data, nbytes);
        return 0;
    }
    switch (frame->codec) {
        case CODEC_ZSTD:
            return vczi_unzstd(stream, out, nbytes, scratch);
        case CODEC_LZ4:
            return vczi_unlz4(stream, out, nbytes);
        case CODEC_ZLIB:
            return vczi_inflate(stream, VCZI_INFLATE_ZLIB, out, nbytes, scratch);
        case CODEC_BLOSCLZ:
            return vczi_unblosclz(stream, out, nbytes);
        default:
            return vczi_fail(VCZC_ERR_INTERNAL, "a Blosc frame of codec %d was let through", frame->codec);
    }
}

/* Bytes [begin, end) of a block without filter: streams that lie inside go straight into `out`. */
static int decode_plain(const vczi_frame_t *frame, block_t *block, size_t begin, size_t end, uint8_t *out,
                        vczi_scratch_t *scratch) {
    const size_t nbytes = block->stream_nbytes;
    for (size_t i = 0; i < block->nstreams && i * nbytes < end; i++) {
        vczi_span_t stream;
        int ret = next_stream(block, &stream, scratch);
        if (ret != 0) {
            return ret;
        }
        const size_t stream_begin = i * nbytes;
        if (stream_begin + nbytes <= begin) {
            continue;
        }
        const size_t from = begin > stream_begin ? begin - stream_begin : 0;
        const size_t to = end - stream_begin < nbytes ? end - stream_begin : nbytes;
        uint8_t *place = out + (stream_begin + from - begin);
        if (stream_is_copy(block, stream)) {
            memcpy(place, stream.data + from, to - from);
            continue;
        }
        const bool is_whole = from == 0 && to == nbytes;
        uint8_t *target = is_whole ? place : vczi_scratch_buffer(scratch, VCZI_SCRATCH_BLOCK, nbytes);
        if (target == NULL) {
            return VCZC_ERR_NO_MEMORY;
        }
        ret = decode_stream(frame, block, stream, target, scratch);
        if (ret != 0) {
            return ret;
        }
        if (!is_whole) {
            memcpy(place, target + from, to - from);
        }
    }
    return 0;
}

/* Decode a whole block of bit planes by zstd, leaving out those at the end that it says are zero. What lies behind the
 * last whole item is in no plane: it is read where it is. */
static int decode_bit_planes(block_t *block, vczi_span_t stream, uint8_t *planes, vczi_scratch_t *scratch) {
    size_t nwritten;
    const int ret = vczi_unzstd_trimmed(stream, planes, block->raw_nbytes, &nwritten, scratch);
    if (ret != 0) {
        return ret;
    }
    const size_t plane_nbytes = block->raw_nbytes / block->item_nbytes / 8;
    const size_t all_nbytes = 8 * block->item_nbytes * plane_nbytes;
    const size_t nlive = (nwritten + plane_nbytes - 1) / plane_nbytes;
    if (nlive > VCZI_UNSHUFFLE_MAX_NLIVE) {
        memset(planes + nwritten, 0, block->raw_nbytes - nwritten);
        return 0;
    }
    block->nlive = nlive;
    memset(planes + nwritten, 0, nlive * plane_nbytes - nwritten);
    memset(planes + all_nbytes, 0, block->raw_nbytes - all_nbytes);
    return 0;
}

/* The planes of a block that is one stream: in `target`, or where they are stored. */
static int decode_one_stream(const vczi_frame_t *frame, block_t *block, uint8_t *target, const uint8_t **planes,
                             vczi_scratch_t *scratch) {
    vczi_span_t stream;
    const int ret = next_stream(block, &stream, scratch);
    if (ret != 0) {
        return ret;
    }
    if (stream_is_copy(block, stream)) {
        *planes = stream.data;
        return 0;
    }
    *planes = target;
    if (frame->codec == CODEC_ZSTD && block->filter == VCZI_FILTER_BITS) {
        return decode_bit_planes(block, stream, target, scratch);
    }
    return decode_stream(frame, block, stream, target, scratch);
}

/* The block's planes, one behind the other; `target` has room for raw_nbytes. */
static int decode_planes(const vczi_frame_t *frame, block_t *block, uint8_t *target, const uint8_t **planes,
                         vczi_scratch_t *scratch) {
    if (block->nstreams == 1) {
        return decode_one_stream(frame, block, target, planes, scratch);
    }
    *planes = target;
    for (size_t i = 0; i < block->nstreams; i++) {
        vczi_span_t stream;
        int ret = next_stream(block, &stream, scratch);
        if (ret == 0) {
            ret = decode_stream(frame, block, stream, target + i * block->stream_nbytes, scratch);
        }
        if (ret != 0) {
            return ret;
        }
    }
    return 0;
}

static vczi_shuffled_t block_shuffled(const block_t *block, const uint8_t *planes) {
    const vczi_shuffled_t shuffled = {planes, block->raw_nbytes, block->item_nbytes, block->nlive, block->filter};
    return shuffled;
}

/* Bytes [begin, end) of block `index`. */
static int decode_block(const vczi_frame_t *frame, size_t index, size_t begin, size_t end, uint8_t *out,
                        vczi_scratch_t *scratch) {
    block_t block = block_open(frame, index);
    if (block.filter == VCZI_FILTER_NONE) {
        return decode_plain(frame, &block, begin, end, out, scratch);
    }
    const uint8_t *planes = NULL;
    uint8_t *target = vczi_scratch_buffer(scratch, VCZI_SCRATCH_BLOCK, block.raw_nbytes);
    if (target == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    const int ret = decode_planes(frame, &block, target, &planes, scratch);
    if (ret == 0) {
        const vczi_shuffled_t shuffled = block_shuffled(&block, planes);
        vczi_shuffled_read(&shuffled, begin, end, out);
    }
    return ret;
}

/* Block `index`, decompressed, in `kept`. */
static int hold_block(const vczi_frame_t *frame, size_t index, vczi_kept_block_t *kept, vczi_scratch_t *scratch) {
    block_t block = block_open(frame, index);
    const uint8_t *planes = NULL;
    int ret = vczi_kept_block_room(kept, block.raw_nbytes);
    if (ret != 0) {
        return ret;
    }
    if (block.filter == VCZI_FILTER_NONE) {
        planes = kept->memory;
        ret = decode_plain(frame, &block, 0, block.raw_nbytes, kept->memory, scratch);
    } else {
        ret = decode_planes(frame, &block, kept->memory, &planes, scratch);
    }
    if (ret == 0 && planes != kept->memory) {
        memcpy(kept->memory, planes, block.raw_nbytes);
    }
    kept->start = index * frame->block_nbytes;
    kept->block = block_shuffled(&block, kept->memory);
    kept->is_held = ret == 0;
    return ret;
}

/* As decode_block, through what is kept. */
static int decode_block_kept(const vczi_frame_t *frame, size_t index, size_t begin, size_t end, uint8_t *out,
                             vczi_kept_block_t *kept, vczi_scratch_t *scratch) {
    const size_t first = index * frame->block_nbytes;
    if (vczi_kept_block_read(kept, first + begin, first + end, out)) {
        return 0;
    }
    const int ret = hold_block(frame, index, kept, scratch);
    if (ret == 0) {
        (void) vczi_kept_block_read(kept, first + begin, first + end, out);
    }
    return ret;
}

/* `kept` may be NULL. */
static int decode_blocks(const vczi_frame_t *frame, size_t start, size_t stop, uint8_t *out, vczi_kept_block_t *kept,
                         vczi_scratch_t *scratch) {
    if (start > stop || stop > frame->raw_nbytes) {
        return vczi_fail(VCZC_ERR_INTERNAL, "bytes [%zu, %zu) of a Blosc frame of %zu", start, stop, frame->raw_nbytes);
    }
    if (start == stop) {
        return 0;
    }
    if (frame->is_copy) {
        const vczi_span_t raw = vczi_span(frame->stored.data + HEADER_NBYTES + start, stop - start);
        const int ret = vczi_pieces_need(scratch, raw);
        if (ret == 0) {
            memcpy(out, raw.data, raw.nbytes);
        }
        return ret;
    }
    const size_t block_nbytes = frame->block_nbytes;
    size_t at = start;
    while (at < stop) {
        const size_t index = at / block_nbytes;
        const size_t first = index * block_nbytes;
        const size_t end = stop - first < block_nbytes ? stop - first : block_nbytes;
        uint8_t *place = out + (at - start);
        const int ret = kept == NULL ? decode_block(frame, index, at - first, end, place, scratch)
                                     : decode_block_kept(frame, index, at - first, end, place, kept, scratch);
        if (ret != 0) {
            return vczi_fail_prefix(ret, "block %zu", index);
        }
        at = first + end;
    }
    return 0;
}

int vczi_frame_decode(const vczi_frame_t *frame, size_t start, size_t stop, uint8_t *out, vczi_scratch_t *scratch) {
    return decode_blocks(frame, start, stop, out, NULL, scratch);
}

int vczi_frame_decode_kept(const vczi_frame_t *frame, size_t start, size_t stop, uint8_t *out, vczi_kept_block_t *kept,
                           vczi_scratch_t *scratch) {
    return decode_blocks(frame, start, stop, out, kept, scratch);
}
