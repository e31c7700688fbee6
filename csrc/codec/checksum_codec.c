/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "checksum_codec.h"

#include <inttypes.h>

#include "crc32c.h"
#include "status.h"

#define CHECKSUM_NBYTES 4

/* The bytes before the checksum, which has been compared. */
static int checked_view(vczi_span_t in, vczi_span_t *raw) {
    if (in.nbytes < CHECKSUM_NBYTES) {
        return vczi_fail(VCZC_ERR_CORRUPT, "%zu bytes are too few for a checksum", in.nbytes);
    }
    *raw = vczi_span(in.data, in.nbytes - CHECKSUM_NBYTES);
    const uint32_t stored = vczi_load_u32le(in.data + raw->nbytes);
    const uint32_t computed = vczi_crc32c(*raw);
    if (stored != computed) {
        return vczi_fail(VCZC_ERR_CORRUPT, "the CRC-32C is %08" PRIx32 ", not %08" PRIx32 " as stored", computed,
                         stored);
    }
    return 0;
}

static int crc32c_view(const vczi_codec_t *self, vczi_span_t in, size_t raw_nbytes, vczi_span_t *raw) {
    (void) self;
    int ret = checked_view(in, raw);
    if (ret == 0 && raw->nbytes != raw_nbytes) {
        ret = vczi_fail(VCZC_ERR_CORRUPT, "%zu bytes before the checksum, not %zu", raw->nbytes, raw_nbytes);
    }
    return ret;
}

static int crc32c_decode(const vczi_codec_t *self, vczi_span_t in, uint8_t *out, size_t out_nbytes,
                         vczi_scratch_t *scratch) {
    vczi_span_t raw = {NULL, 0};
    (void) scratch;
    int ret = crc32c_view(self, in, out_nbytes, &raw);
    if (ret == 0 && out_nbytes != 0) {
        memcpy(out, raw.data, out_nbytes);
    }
    return ret;
}

static int crc32c_decode_unsized(const vczi_codec_t *self, vczi_span_t in, size_t max_nbytes, int which,
                                 vczi_scratch_t *scratch, vczi_span_t *out) {
    (void) self;
    (void) max_nbytes; /* nothing grows: the bytes are a part of the input */
    (void) which;
    (void) scratch;
    return checked_view(in, out);
}

static const vczi_codec_ops_t crc32c_ops = {NULL, NULL, crc32c_decode, crc32c_decode_unsized, crc32c_view};

int vczi_crc32c_set_codec(const vczi_codec_spec_t *spec, int variant, vczi_codec_t *codec) {
    (void) spec;
    codec->ops = &crc32c_ops;
    codec->variant = variant;
    codec->checksum_nbytes = CHECKSUM_NBYTES;
    return 0;
}
