/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* zstd frames (RFC 8878), with a context that is kept: making one costs more than a small chunk. */
#include "unzstd.h"

#include <stdbool.h>
#include <string.h>
#ifndef ZSTD_STATIC_LINKING_ONLY
#define ZSTD_STATIC_LINKING_ONLY /* ZSTD_customMem */
#endif
#include <zstd.h>
#include <zstd_errors.h>

#include "mem.h"
#include "status.h"

/* What the output of a frame of unknown size begins with, beside a multiple of its input. */
#define FIRST_OUT_NBYTES ((size_t) 64 << 10)
#define FIRST_OUT_RATIO 4

/* The descriptor of a frame that is one segment, with a content size of four bytes and nothing else. */
#define LARGE_FRAME 0xA0

/* Of a block, raw (RFC 8878, section 3.1.1.2.4). */
#define MAX_BLOCK_NBYTES ((size_t) 128 << 10)

/* A block of that, one byte repeated, takes four: nothing packs closer (RFC 8878, section 3.1.1.2). */
#define ZSTD_MAX_RATIO (MAX_BLOCK_NBYTES / 4)

static void *zstd_alloc(void *user, size_t nbytes) {
    (void) user;
    return vczi_alloc(nbytes);
}

static void zstd_free(void *user, void *memory) {
    (void) user;
    vczi_free(memory);
}

static void *zstd_make(void) {
    const ZSTD_customMem memory = {zstd_alloc, zstd_free, NULL};
    return ZSTD_createDCtx_advanced(memory);
}

static void zstd_drop(void *context) {
    (void) ZSTD_freeDCtx(context);
}

static int zstd_code(size_t result) {
    return ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation ? VCZC_ERR_NO_MEMORY : VCZC_ERR_CORRUPT;
}

/* Exactly `out_nbytes` bytes. `room_nbytes` may be more: zstd is faster where it has place for its literals. */
static int zstd_decode(ZSTD_DCtx *context, vczi_span_t in, uint8_t *out, size_t out_nbytes, size_t room_nbytes) {
    const size_t result = ZSTD_decompressDCtx(context, out, room_nbytes, in.data, in.nbytes);
    if (ZSTD_isError(result)) {
        return vczi_fail(zstd_code(result), "a zstd frame of %zu bytes, %zu expected: %s", in.nbytes, out_nbytes,
                         ZSTD_getErrorName(result));
    }
    if (result != out_nbytes) {
        return vczi_fail(VCZC_ERR_CORRUPT, "a zstd frame holds %zu bytes, %zu expected", result, out_nbytes);
    }
    return 0;
}

int vczi_unzstd(vczi_span_t in, uint8_t *out, size_t out_nbytes, vczi_scratch_t *scratch) {
    ZSTD_DCtx *context = vczi_scratch_context(scratch, VCZI_CONTEXT_ZSTD, zstd_make, zstd_drop);
    if (context == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    if (in.nbytes == 0) {
        return vczi_fail(VCZC_ERR_CORRUPT, "an empty zstd frame");
    }
    return zstd_decode(context, in, out, out_nbytes, out_nbytes);
}

int vczi_unzstd_check(vczi_span_t in, size_t out_nbytes) {
    const unsigned long long stated = ZSTD_getFrameContentSize(in.data, in.nbytes);
    if (out_nbytes / ZSTD_MAX_RATIO > in.nbytes) {
        return vczi_fail(VCZC_ERR_CORRUPT, "%zu bytes of zstd cannot hold %zu", in.nbytes, out_nbytes);
    }
    if (stated == ZSTD_CONTENTSIZE_UNKNOWN || stated == ZSTD_CONTENTSIZE_ERROR || stated == out_nbytes) {
        return 0; /* what is wrong with it the decoder will say */
    }
    if (stated > out_nbytes || ZSTD_findFrameCompressedSize(in.data, in.nbytes) == in.nbytes) {
        return vczi_fail(VCZC_ERR_CORRUPT, "a zstd frame says that it holds %llu bytes, %zu expected", stated,
                         out_nbytes);
    }
    return 0; /* other frames follow */
}

/* What to begin with for `in_nbytes` bytes of input. */
static size_t first_nbytes(size_t in_nbytes, size_t max_nbytes) {
    size_t nbytes = FIRST_OUT_NBYTES;
    if (in_nbytes < (SIZE_MAX - FIRST_OUT_NBYTES) / FIRST_OUT_RATIO) {
        nbytes += in_nbytes * FIRST_OUT_RATIO;
    }
    return nbytes < max_nbytes ? nbytes : max_nbytes;
}

/* More room for what is full: twice as much, `max_nbytes` at most. */
static int zstd_grow(ZSTD_outBuffer *out, size_t max_nbytes, int which, vczi_scratch_t *scratch) {
    if (out->size >= max_nbytes) {
        return vczi_fail(VCZC_ERR_CORRUPT, "zstd frames hold more than the %zu bytes that are allowed", max_nbytes);
    }
    const size_t nbytes = out->size < max_nbytes / 2 ? 2 * out->size : max_nbytes;
    out->dst = vczi_scratch_grow(scratch, which, nbytes, out->pos);
    out->size = nbytes;
    return out->dst == NULL ? VCZC_ERR_NO_MEMORY : 0;
}

int vczi_unzstd_unsized(vczi_span_t in, size_t max_nbytes, int which, vczi_scratch_t *scratch, vczi_span_t *out) {
    ZSTD_DCtx *context = vczi_scratch_context(scratch, VCZI_CONTEXT_ZSTD, zstd_make, zstd_drop);
    ZSTD_inBuffer source = {in.data, in.nbytes, 0};
    ZSTD_outBuffer target = {NULL, first_nbytes(in.nbytes, max_nbytes), 0};
    target.dst = vczi_scratch_buffer(scratch, which, target.size);
    if (context == NULL || target.dst == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    (void) ZSTD_DCtx_reset(context, ZSTD_reset_session_only);
    size_t wanted = 1; /* 0 where a frame has ended and all of it is written */
    while (source.pos < source.size || wanted != 0) {
        const size_t in_before = source.pos;
        const size_t out_before = target.pos;
        wanted = ZSTD_decompressStream(context, &target, &source);
        if (ZSTD_isError(wanted)) {
            return vczi_fail(zstd_code(wanted), "zstd frames of %zu bytes: %s", in.nbytes, ZSTD_getErrorName(wanted));
        }
        if (wanted != 0 && source.pos == in_before && target.pos == out_before) {
            if (target.pos < target.size) {
                return vczi_fail(VCZC_ERR_CORRUPT, "a zstd frame ends too early, after %zu bytes", target.pos);
            }
            const int ret = zstd_grow(&target, max_nbytes, which, scratch);
            if (ret != 0) {
                return ret;
            }
        }
    }
    *out = vczi_span(target.dst, target.pos);
    return 0;
}

/* Where the zeros at the end of a frame begin. */
typedef struct {
    vczi_span_t blocks; /* the blocks before them */
    size_t last_header; /* where in `blocks` the header of the last of these lies */
    size_t raw_nbytes;  /* what they hold */
} zstd_trim_t;

/* Find them in a frame of `out_nbytes` bytes whose header is that of a large Blosc block: a single segment, a content
 * size of four bytes, neither dictionary nor checksum. False for any other, and for one that is damaged or does not end
 * in zeros. */
static bool zstd_find_trim(vczi_span_t in, size_t out_nbytes, zstd_trim_t *trim) {
    vczi_cursor_t cursor = vczi_cursor(in);
    const uint32_t magic = vczi_cursor_u32le(&cursor);
    const uint8_t descriptor = vczi_cursor_u8(&cursor);
    if (magic != ZSTD_MAGICNUMBER || descriptor != LARGE_FRAME || vczi_cursor_u32le(&cursor) != out_nbytes) {
        return false;
    }
    enum { BLOCK_RLE = 1, BLOCK_COMPRESSED = 2 };
    const uint8_t *first = cursor.next;
    size_t zeros_nbytes = 0;
    bool is_last = false;
    trim->blocks = vczi_span(first, 0);
    trim->last_header = 0;
    while (!is_last) {
        const size_t place = (size_t) (cursor.next - first);
        const uint32_t low = vczi_cursor_u16le(&cursor);
        const uint32_t header = low | (uint32_t) vczi_cursor_u8(&cursor) << 16;
        const uint32_t type = header >> 1 & 3;
        const size_t nbytes = header >> 3;
        const vczi_span_t content = vczi_cursor_take(&cursor, type == BLOCK_RLE ? 1 : nbytes);
        if (cursor.failed || type > BLOCK_COMPRESSED || nbytes > MAX_BLOCK_NBYTES) {
            return false;
        }
        if (type == BLOCK_RLE && content.data[0] == 0) {
            zeros_nbytes += nbytes;
        } else {
            zeros_nbytes = 0;
            trim->blocks.nbytes = (size_t) (cursor.next - first);
            trim->last_header = place;
        }
        is_last = (header & 1) != 0;
    }
    if (cursor.left != 0 || zeros_nbytes == 0 || zeros_nbytes > out_nbytes) {
        return false;
    }
    trim->raw_nbytes = out_nbytes - zeros_nbytes;
    return true;
}

/* Decode the blocks before the zeros as a frame of their own: a header that says what they hold, and the mark of the
 * last block. */
static int zstd_decode_trim(ZSTD_DCtx *context, const zstd_trim_t *trim, uint8_t *out, size_t out_nbytes,
                            vczi_scratch_t *scratch) {
    enum { HEADER_NBYTES = 9 };
    if (trim->blocks.nbytes == 0) {
        return trim->raw_nbytes == 0 ? 0 : vczi_fail(VCZC_ERR_CORRUPT, "a zstd frame holds less than it says");
    }
    const size_t nbytes = HEADER_NBYTES + trim->blocks.nbytes;
    uint8_t *frame = vczi_scratch_buffer(scratch, VCZI_SCRATCH_BLOCK2, nbytes);
    if (frame == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    vczi_store_u32le(frame, ZSTD_MAGICNUMBER);
    frame[4] = LARGE_FRAME;
    vczi_store_u32le(frame + 5, (uint32_t) trim->raw_nbytes); /* less than the frame's own, which has four bytes too */
    memcpy(frame + HEADER_NBYTES, trim->blocks.data, trim->blocks.nbytes);
    frame[HEADER_NBYTES + trim->last_header] |= 1;
    return zstd_decode(context, vczi_span(frame, nbytes), out, trim->raw_nbytes, out_nbytes);
}

int vczi_unzstd_trimmed(vczi_span_t in, uint8_t *out, size_t out_nbytes, size_t *nwritten, vczi_scratch_t *scratch) {
    zstd_trim_t trim;
    ZSTD_DCtx *context = vczi_scratch_context(scratch, VCZI_CONTEXT_ZSTD, zstd_make, zstd_drop);
    if (context != NULL && zstd_find_trim(in, out_nbytes, &trim) &&
        zstd_decode_trim(context, &trim, out, out_nbytes, scratch) == 0) {
        *nwritten = trim.raw_nbytes;
        return 0;
    }
    /* Also where the trimmed frame failed: the whole one tells why, or is fine after all. */
    *nwritten = out_nbytes;
    return vczi_unzstd(in, out, out_nbytes, scratch);
}
