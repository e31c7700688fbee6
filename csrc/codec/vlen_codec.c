/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "vlen_codec.h"

#include <string.h>

#include "status.h"

int vczi_vlen_set_layout(const vczi_codec_spec_t *spec, vczi_layout_t *layout) {
    const int kind = strcmp(spec->name, "vlen-utf8") == 0 ? VCZC_VLEN_UTF8 : VCZC_VLEN_BYTES;
    if (layout->dtype->kind != kind) {
        return vczi_fail(VCZC_ERR_METADATA, "the codec '%s' cannot hold %s", spec->name,
                         vczi_dtype_name(layout->dtype));
    }
    return 0;
}
