/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "bytes_codec.h"

#include "status.h"

/* zarr-python leaves the byte order out where the array's own items have one byte, whatever a filter makes of them. */
static bool may_be_silent(const vczi_layout_t *layout) {
    return layout->dtype->unit_nbytes <= 1 || layout->dtype == &layout->filtered;
}

int vczi_bytes_set_layout(const vczi_codec_spec_t *spec, vczi_layout_t *layout) {
    if (vczi_dtype_is_vlen(layout->dtype)) {
        return vczi_fail(VCZC_ERR_METADATA, "the codec 'bytes' cannot hold %s", vczi_dtype_name(layout->dtype));
    }
    if (spec->from_v2) {
        return 0; /* the type string has said it */
    }
    const vczi_json_t *endian = vczi_json_member(spec->config, "endian");
    if (vczi_json_text_equals(endian, "big")) {
        layout->big_endian = true;
    } else if (vczi_json_text_equals(endian, "little") ||
               (may_be_silent(layout) && vczi_json_type(endian) <= VCZI_JSON_NULL)) {
        layout->big_endian = false;
    } else {
        return vczi_fail(VCZC_ERR_METADATA, "the codec 'bytes' must say 'little' or 'big' as its endian");
    }
    return 0;
}
