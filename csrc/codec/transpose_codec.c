/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "transpose_codec.h"

#include <string.h>

#include "status.h"

/* `order` as its settings have it: format 3 gives a permutation (or, as an early draft allowed, "C" or "F"); format 2's
 * order F has none and means the axes backwards. */
static int read_order(const vczi_codec_spec_t *spec, int ndim, int *order) {
    const vczi_json_t *value = vczi_json_member(spec->config, "order");
    const bool is_backwards = spec->from_v2 || vczi_json_text_equals(value, "F");
    if (is_backwards || vczi_json_text_equals(value, "C")) {
        for (int i = 0; i < ndim; i++) {
            order[i] = is_backwards ? ndim - 1 - i : i;
        }
        return 0;
    }
    bool seen[VCZC_MAX_NDIM] = {false};
    if (vczi_json_type(value) != VCZI_JSON_ARRAY || vczi_json_count(value) != (size_t) ndim) {
        return vczi_fail(VCZC_ERR_METADATA, "the codec 'transpose' must have an order of %d axes", ndim);
    }
    for (int i = 0; i < ndim; i++) {
        int64_t axis = -1;
        if (!vczi_json_get_i64(vczi_json_item(value, (size_t) i), &axis) || axis < 0 || axis >= ndim || seen[axis]) {
            return vczi_fail(VCZC_ERR_METADATA, "the order of the codec 'transpose' is no permutation of %d axes",
                             ndim);
        }
        seen[axis] = true;
        order[i] = (int) axis;
    }
    return 0;
}

int vczi_transpose_set_layout(const vczi_codec_spec_t *spec, vczi_layout_t *layout) {
    int order[VCZC_MAX_NDIM], before[VCZC_MAX_NDIM];
    int ret = read_order(spec, layout->ndim, order);
    if (ret != 0) {
        return ret;
    }
    if (layout->is_in_order) {
        return vczi_fail(VCZC_ERR_UNSUPPORTED,
                         "the codec 'transpose' is not read behind 'numcodecs.delta' or 'numcodecs.packbits'");
    }
    memcpy(before, layout->axes, sizeof(before));
    for (int i = 0; i < layout->ndim; i++) {
        layout->axes[i] = before[order[i]];
    }
    return 0;
}
