/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "compress_codec.h"

#include "checked.h"
#include "status.h"
#include "unblosc.h"
#include "unlz4.h"
#include "unzstd.h"

static int set_ops(const vczi_codec_ops_t *ops, int variant, vczi_codec_t *codec) {
    codec->ops = ops;
    codec->variant = variant;
    return 0;
}

/* Room for `nbytes` that a stored header claims, in buffer `which`. */
static int claim(size_t nbytes, size_t max_nbytes, int which, vczi_scratch_t *scratch, uint8_t **buffer) {
    if (nbytes > max_nbytes) {
        return vczi_fail(VCZC_ERR_CORRUPT, "it claims to hold %zu bytes, more than the %zu that are allowed", nbytes,
                         max_nbytes);
    }
    *buffer = vczi_scratch_buffer(scratch, which, nbytes);
    return *buffer == NULL ? VCZC_ERR_NO_MEMORY : 0;
}

/* ---- blosc ---- */

static int open_frame(vczi_frame_t *frame, vczi_span_t in, size_t raw_nbytes, vczi_scratch_t *scratch) {
    const int ret = vczi_frame_need_head(in, scratch);
    return ret == 0 ? vczi_frame_init(frame, in, raw_nbytes) : ret;
}

static int blosc_decode_range(const vczi_codec_t *self, vczi_span_t in, size_t raw_nbytes, size_t start, size_t stop,
                              uint8_t *out, vczi_scratch_t *scratch) {
    vczi_frame_t frame;
    (void) self;
    int ret = open_frame(&frame, in, raw_nbytes, scratch);
    if (ret == 0) {
        ret = vczi_frame_decode(&frame, start, stop, out, scratch);
    }
    return ret;
}

static int blosc_decode_kept(const vczi_codec_t *self, vczi_span_t in, size_t raw_nbytes, size_t start, size_t stop,
                             uint8_t *out, vczi_kept_block_t *kept, vczi_scratch_t *scratch) {
    vczi_frame_t frame;
    (void) self;
    int ret = open_frame(&frame, in, raw_nbytes, scratch);
    if (ret == 0) {
        ret = vczi_frame_decode_kept(&frame, start, stop, out, kept, scratch);
    }
    return ret;
}

static int blosc_decode(const vczi_codec_t *self, vczi_span_t in, uint8_t *out, size_t out_nbytes,
                        vczi_scratch_t *scratch) {
    return blosc_decode_range(self, in, out_nbytes, 0, out_nbytes, out, scratch);
}

static int blosc_decode_unsized(const vczi_codec_t *self, vczi_span_t in, size_t max_nbytes, int which,
                                vczi_scratch_t *scratch, vczi_span_t *out) {
    vczi_frame_t frame;
    uint8_t *buffer = NULL;
    size_t nbytes = 0;
    (void) self;
    int ret = vczi_frame_need_head(in, scratch);
    if (ret == 0) {
        ret = vczi_frame_raw_nbytes(in, &nbytes);
    }
    if (ret == 0) {
        ret = vczi_frame_init(&frame, in, nbytes);
    }
    if (ret == 0) {
        ret = claim(nbytes, max_nbytes, which, scratch, &buffer);
    }
    if (ret == 0) {
        ret = vczi_frame_decode(&frame, 0, nbytes, buffer, scratch);
    }
    *out = vczi_span(buffer, nbytes);
    return ret;
}

static int blosc_view(const vczi_codec_t *self, vczi_span_t in, size_t raw_nbytes, vczi_span_t *raw) {
    vczi_frame_t frame;
    (void) self;
    *raw = vczi_span(NULL, 0);
    int ret = vczi_frame_init(&frame, in, raw_nbytes);
    if (ret == 0) {
        *raw = vczi_frame_copy_view(&frame);
    }
    return ret;
}

static const vczi_codec_ops_t blosc_ops = {blosc_decode_range, blosc_decode_kept, blosc_decode, blosc_decode_unsized,
                                           blosc_view};

int vczi_blosc_set_codec(const vczi_codec_spec_t *spec, int variant, vczi_codec_t *codec) {
    (void) spec;
    codec->asks_for_parts = true;
    return set_ops(&blosc_ops, variant, codec);
}

/* ---- zstd ---- */

static int zstd_decode(const vczi_codec_t *self, vczi_span_t in, uint8_t *out, size_t out_nbytes,
                       vczi_scratch_t *scratch) {
    (void) self;
    return vczi_unzstd(in, out, out_nbytes, scratch);
}

static int zstd_decode_unsized(const vczi_codec_t *self, vczi_span_t in, size_t max_nbytes, int which,
                               vczi_scratch_t *scratch, vczi_span_t *out) {
    (void) self;
    return vczi_unzstd_unsized(in, max_nbytes, which, scratch, out);
}

static const vczi_codec_ops_t zstd_ops = {NULL, NULL, zstd_decode, zstd_decode_unsized, NULL};

static int zstd_check(const vczi_codec_t *self, vczi_span_t in, size_t raw_nbytes) {
    (void) self;
    return vczi_unzstd_check(in, raw_nbytes);
}

int vczi_zstd_set_codec(const vczi_codec_spec_t *spec, int variant, vczi_codec_t *codec) {
    (void) spec;
    codec->check = zstd_check;
    return set_ops(&zstd_ops, variant, codec);
}

/* ---- gzip, zlib ---- */

static int inflate_decode(const vczi_codec_t *self, vczi_span_t in, uint8_t *out, size_t out_nbytes,
                          vczi_scratch_t *scratch) {
    return vczi_inflate(in, self->variant, out, out_nbytes, scratch);
}

static int inflate_decode_unsized(const vczi_codec_t *self, vczi_span_t in, size_t max_nbytes, int which,
                                  vczi_scratch_t *scratch, vczi_span_t *out) {
    return vczi_inflate_unsized(in, self->variant, max_nbytes, which, scratch, out);
}

static const vczi_codec_ops_t inflate_ops = {NULL, NULL, inflate_decode, inflate_decode_unsized, NULL};

static int inflate_check(const vczi_codec_t *self, vczi_span_t in, size_t raw_nbytes) {
    (void) self;
    return vczi_inflate_check(in, raw_nbytes);
}

int vczi_inflate_set_codec(const vczi_codec_spec_t *spec, int variant, vczi_codec_t *codec) {
    (void) spec;
    codec->check = inflate_check;
    return set_ops(&inflate_ops, variant, codec);
}

/* ---- lz4 ---- */

static int lz4_decode(const vczi_codec_t *self, vczi_span_t in, uint8_t *out, size_t out_nbytes,
                      vczi_scratch_t *scratch) {
    (void) self;
    (void) scratch;
    return vczi_unlz4_sized(in, out, out_nbytes);
}

static int lz4_decode_unsized(const vczi_codec_t *self, vczi_span_t in, size_t max_nbytes, int which,
                              vczi_scratch_t *scratch, vczi_span_t *out) {
    uint8_t *buffer = NULL;
    vczi_cursor_t cursor = vczi_cursor(in);
    const size_t nbytes = vczi_cursor_u32le(&cursor);
    (void) self;
    if (cursor.failed) {
        return vczi_fail(VCZC_ERR_CORRUPT, "%zu bytes are too few for an lz4 chunk", in.nbytes);
    }
    int ret = claim(nbytes, max_nbytes, which, scratch, &buffer);
    if (ret == 0) {
        ret = vczi_unlz4_sized(in, buffer, nbytes);
    }
    *out = vczi_span(buffer, nbytes);
    return ret;
}

static const vczi_codec_ops_t lz4_ops = {NULL, NULL, lz4_decode, lz4_decode_unsized, NULL};

static int lz4_check(const vczi_codec_t *self, vczi_span_t in, size_t raw_nbytes) {
    (void) self;
    return vczi_unlz4_sized_check(in, raw_nbytes);
}

int vczi_lz4_set_codec(const vczi_codec_spec_t *spec, int variant, vczi_codec_t *codec) {
    (void) spec;
    codec->check = lz4_check;
    return set_ops(&lz4_ops, variant, codec);
}
