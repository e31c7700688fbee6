/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "registry.h"

#include <string.h>

#include "bytes_codec.h"
#include "checksum_codec.h"
#include "compress_codec.h"
#include "sharding_codec.h"
#include "status.h"
#include "transpose_codec.h"
#include "vlen_codec.h"

static const vczi_registered_t registered[] = {
    {"transpose", VCZI_STAGE_ARRAY, true, true, 0, vczi_transpose_set_layout, NULL},
    {"bytes", VCZI_STAGE_SERIALIZE, true, true, 0, vczi_bytes_set_layout, NULL},
    {"vlen-utf8", VCZI_STAGE_SERIALIZE, true, true, 0, vczi_vlen_set_layout, NULL},
    {"vlen-bytes", VCZI_STAGE_SERIALIZE, true, true, 0, vczi_vlen_set_layout, NULL},
    {"sharding_indexed", VCZI_STAGE_SERIALIZE, false, true, 0, vczi_sharding_set_layout, NULL},
    {"blosc", VCZI_STAGE_BYTES, true, true, 0, NULL, vczi_blosc_set_codec},
    {"zstd", VCZI_STAGE_BYTES, true, true, 0, NULL, vczi_zstd_set_codec},
    {"gzip", VCZI_STAGE_BYTES, true, true, VCZI_INFLATE_GZIP, NULL, vczi_inflate_set_codec},
    {"zlib", VCZI_STAGE_BYTES, true, false, VCZI_INFLATE_ZLIB, NULL, vczi_inflate_set_codec},
    {"lz4", VCZI_STAGE_BYTES, true, false, 0, NULL, vczi_lz4_set_codec},
    {"crc32c", VCZI_STAGE_BYTES, false, true, 0, NULL, vczi_crc32c_set_codec},
};

int vczi_registry_find(const vczi_codec_spec_t *spec, const vczi_registered_t **found) {
    for (size_t i = 0; i < sizeof(registered) / sizeof(registered[0]); i++) {
        const vczi_registered_t *entry = &registered[i];
        if (strcmp(entry->name, spec->name) == 0 && (spec->from_v2 ? entry->in_v2 : entry->in_v3)) {
            *found = entry;
            return 0;
        }
    }
    if (spec->from_v2) {
        return vczi_fail(VCZC_ERR_UNSUPPORTED,
                         "the codec '%s' is not read; zarr-python reads it where numcodecs has it", spec->name);
    }
    return vczi_fail(VCZC_ERR_UNSUPPORTED, "the codec '%s' is not read", spec->name);
}
