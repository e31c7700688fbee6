/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "checksum_codec.h"

#include <inttypes.h>

#include "checksum.h"
#include "crc32c.h"
#include "inflate.h"
#include "status.h"

#define CHECKSUM_NBYTES 4

static const char *name_of(const vczi_codec_t *codec) {
    static const char *const names[] = {"CRC-32C", "CRC-32", "Adler-32", "Fletcher-32", "lookup3"};
    return names[codec->variant];
}

static uint32_t compute(const vczi_codec_t *codec, vczi_span_t raw) {
    switch (codec->variant) {
        case VCZI_CHECKSUM_CRC32:
            return vczi_crc32(raw);
        case VCZI_CHECKSUM_ADLER32:
            return vczi_adler32(raw);
        case VCZI_CHECKSUM_FLETCHER32:
            return vczi_fletcher32(raw);
        case VCZI_CHECKSUM_LOOKUP3:
            return vczi_lookup3(raw, codec->settings.seed);
        default:
            return vczi_crc32c(raw);
    }
}

/* The bytes beside the checksum, which has been compared. */
static int checked_view(const vczi_codec_t *self, vczi_span_t in, vczi_span_t *raw) {
    if (in.nbytes < CHECKSUM_NBYTES) {
        return vczi_fail(VCZC_ERR_CORRUPT, "%zu bytes are too few for a checksum", in.nbytes);
    }
    const bool is_at_start = self->settings.is_at_start;
    *raw = vczi_span(in.data + (is_at_start ? CHECKSUM_NBYTES : 0), in.nbytes - CHECKSUM_NBYTES);
    const uint32_t stored = vczi_load_u32le(is_at_start ? in.data : in.data + raw->nbytes);
    const uint32_t computed = compute(self, *raw);
    if (stored != computed) {
        return vczi_fail(VCZC_ERR_CORRUPT, "the %s is %08" PRIx32 ", not %08" PRIx32 " as stored", name_of(self),
                         computed, stored);
    }
    return 0;
}

static int checksum_view(const vczi_codec_t *self, vczi_span_t in, size_t raw_nbytes, vczi_span_t *raw) {
    int ret = checked_view(self, in, raw);
    if (ret == 0 && raw->nbytes != raw_nbytes) {
        ret = vczi_fail(VCZC_ERR_CORRUPT, "%zu bytes beside the checksum, not %zu", raw->nbytes, raw_nbytes);
    }
    return ret;
}

static int checksum_decode(const vczi_codec_t *self, vczi_span_t in, uint8_t *out, size_t out_nbytes,
                           vczi_scratch_t *scratch) {
    vczi_span_t raw = {NULL, 0};
    (void) scratch;
    int ret = checksum_view(self, in, out_nbytes, &raw);
    if (ret == 0 && out_nbytes != 0) {
        memcpy(out, raw.data, out_nbytes);
    }
    return ret;
}

static int checksum_decode_unsized(const vczi_codec_t *self, vczi_span_t in, size_t max_nbytes, int which,
                                   vczi_scratch_t *scratch, vczi_span_t *out) {
    (void) max_nbytes; /* nothing grows: the bytes are a part of the input */
    (void) which;
    (void) scratch;
    return checked_view(self, in, out);
}

static const vczi_codec_ops_t checksum_ops = {NULL, NULL, checksum_decode, checksum_decode_unsized, checksum_view};

/* numcodecs' own: crc32 and adler32 stand before the bytes unless it is said, crc32c behind. The others have no say. */
static int read_location(const vczi_codec_spec_t *spec, int variant, bool *is_at_start) {
    const vczi_json_t *location = vczi_json_member(spec->config, "location");
    *is_at_start = variant == VCZI_CHECKSUM_CRC32 || variant == VCZI_CHECKSUM_ADLER32;
    if (variant == VCZI_CHECKSUM_FLETCHER32 || variant == VCZI_CHECKSUM_LOOKUP3 ||
        vczi_json_type(location) <= VCZI_JSON_NULL) {
        return 0;
    }
    *is_at_start = vczi_json_text_equals(location, "start");
    if (!*is_at_start && !vczi_json_text_equals(location, "end")) {
        return vczi_fail(VCZC_ERR_METADATA, "the location of the codec '%s' must be \"start\" or \"end\"", spec->name);
    }
    return 0;
}

static int read_seed(const vczi_codec_spec_t *spec, uint32_t *seed) {
    const vczi_json_t *value = vczi_json_member(spec->config, "initval");
    uint64_t number = 0;
    if (vczi_json_type(vczi_json_member(spec->config, "prefix")) > VCZI_JSON_NULL) {
        return vczi_fail(VCZC_ERR_UNSUPPORTED, "the codec '%s' with a prefix is not read", spec->name);
    }
    if (vczi_json_type(value) > VCZI_JSON_NULL && (!vczi_json_get_u64(value, &number) || number > UINT32_MAX)) {
        return vczi_fail(VCZC_ERR_METADATA, "the initval of the codec '%s' must be a number of 32 bits", spec->name);
    }
    *seed = (uint32_t) number;
    return 0;
}

int vczi_checksum_set_codec(const vczi_codec_spec_t *spec, int variant, vczi_codec_t *codec) {
    codec->ops = &checksum_ops;
    codec->variant = variant;
    codec->size_rule = VCZI_SIZE_CHECKSUM;
    const int ret = read_location(spec, variant, &codec->settings.is_at_start);
    return ret == 0 && variant == VCZI_CHECKSUM_LOOKUP3 ? read_seed(spec, &codec->settings.seed) : ret;
}
