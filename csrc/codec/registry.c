/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "registry.h"

#include <string.h>

#include "bytes_codec.h"
#include "checksum_codec.h"
#include "compress_codec.h"
#include "filter_codec.h"
#include "sharding_codec.h"
#include "status.h"
#include "transpose_codec.h"
#include "vlen_codec.h"

#define V2 VCZI_IN_V2
#define V3 VCZI_IN_V3
#define NC VCZI_IN_NUMCODECS

static const vczi_registered_t registered[] = {
    {"transpose", VCZI_STAGE_ARRAY, V2 | V3, 0, vczi_transpose_set_layout, NULL, NULL},
    {"bytes", VCZI_STAGE_SERIALIZE, V2 | V3, 0, vczi_bytes_set_layout, NULL, NULL},
    {"vlen-utf8", VCZI_STAGE_SERIALIZE, V2 | V3, 0, vczi_vlen_set_layout, NULL, NULL},
    {"vlen-bytes", VCZI_STAGE_SERIALIZE, V2 | V3, 0, vczi_vlen_set_layout, NULL, NULL},
    {"sharding_indexed", VCZI_STAGE_SERIALIZE, V3, 0, vczi_sharding_set_layout, NULL, NULL},
    {"blosc", VCZI_STAGE_BYTES, V2 | V3 | NC, 0, NULL, vczi_blosc_set_codec, NULL},
    {"zstd", VCZI_STAGE_BYTES, V2 | V3 | NC, 0, NULL, vczi_zstd_set_codec, NULL},
    {"gzip", VCZI_STAGE_BYTES, V2 | V3 | NC, VCZI_INFLATE_GZIP, NULL, vczi_inflate_set_codec, NULL},
    {"zlib", VCZI_STAGE_BYTES, V2 | NC, VCZI_INFLATE_ZLIB, NULL, vczi_inflate_set_codec, NULL},
    {"lz4", VCZI_STAGE_BYTES, V2 | NC, 0, NULL, vczi_lz4_set_codec, NULL},
    {"crc32c", VCZI_STAGE_BYTES, V2 | V3 | NC, VCZI_CHECKSUM_CRC32C, NULL, vczi_checksum_set_codec, NULL},
    {"crc32", VCZI_STAGE_BYTES, V2 | NC, VCZI_CHECKSUM_CRC32, NULL, vczi_checksum_set_codec, NULL},
    {"adler32", VCZI_STAGE_BYTES, V2 | NC, VCZI_CHECKSUM_ADLER32, NULL, vczi_checksum_set_codec, NULL},
    {"fletcher32", VCZI_STAGE_BYTES, V2 | NC, VCZI_CHECKSUM_FLETCHER32, NULL, vczi_checksum_set_codec, NULL},
    {"jenkins_lookup3", VCZI_STAGE_BYTES, V2 | NC, VCZI_CHECKSUM_LOOKUP3, NULL, vczi_checksum_set_codec, NULL},
    {"shuffle", VCZI_STAGE_BYTES, V2 | NC, VCZI_FILTER_SHUFFLE, NULL, NULL, vczi_filter_set},
    {"packbits", VCZI_STAGE_ARRAY, V2 | NC, VCZI_FILTER_PACKBITS, NULL, NULL, vczi_filter_set},
    {"delta", VCZI_STAGE_ARRAY, V2 | NC, VCZI_FILTER_DELTA, NULL, NULL, vczi_filter_set},
    {"fixedscaleoffset", VCZI_STAGE_ARRAY, V2 | NC, VCZI_FILTER_SCALE, NULL, NULL, vczi_filter_set},
    {"quantize", VCZI_STAGE_ARRAY, V2 | NC, VCZI_FILTER_QUANTIZE, NULL, NULL, vczi_filter_set},
    {"bitround", VCZI_STAGE_ARRAY, V2 | NC, VCZI_FILTER_BITROUND, NULL, NULL, vczi_filter_set},
    {"astype", VCZI_STAGE_ARRAY, V2 | NC, VCZI_FILTER_ASTYPE, NULL, NULL, vczi_filter_set},
};

/* zarr-python's names in format 3 for what is numcodecs' alone. */
#define PREFIX "numcodecs."
#define PREFIX_NBYTES (sizeof(PREFIX) - 1)

/* Those of numcodecs that make arbitrary objects, of which a chunk could run code. */
static bool makes_objects(const char *name) {
    static const char *const names[] = {"pickle", "json2", "json", "msgpack2", "msgpack", "vlen-array"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

int vczi_registry_find(const vczi_codec_spec_t *spec, const vczi_registered_t **found) {
    const bool has_prefix = !spec->from_v2 && strncmp(spec->name, PREFIX, PREFIX_NBYTES) == 0;
    const char *name = has_prefix ? spec->name + PREFIX_NBYTES : spec->name;
    const int format = spec->from_v2 ? VCZI_IN_V2 : has_prefix ? VCZI_IN_NUMCODECS : VCZI_IN_V3;
    for (size_t i = 0; i < sizeof(registered) / sizeof(registered[0]); i++) {
        const vczi_registered_t *entry = &registered[i];
        if (strcmp(entry->name, name) == 0 && (entry->formats & format) != 0) {
            *found = entry;
            return 0;
        }
    }
    if (spec->from_v2 && makes_objects(name)) {
        return vczi_fail(VCZC_ERR_UNSUPPORTED, "object codec '%s' is not read: it may hold anything", spec->name);
    }
    return vczi_fail(VCZC_ERR_UNSUPPORTED, "the codec '%s' is not read", spec->name);
}
