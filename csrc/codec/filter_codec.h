/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* numcodecs' filters: `packbits`, `delta`, `fixedscaleoffset`, `quantize`, `bitround`, `astype`, `shuffle`. In format 2
 * each takes bytes for items of the type and byte order that it names. In format 3 (as `numcodecs.…`) all but shuffle
 * take arrays, and the codec `bytes` behind them says the order. */
#ifndef VCZI_FILTER_CODEC_H
#define VCZI_FILTER_CODEC_H

#include "codec.h"

enum {
    VCZI_FILTER_PACKBITS = 0,
    VCZI_FILTER_DELTA = 1,
    VCZI_FILTER_SCALE = 2,
    VCZI_FILTER_QUANTIZE = 3,
    VCZI_FILTER_BITROUND = 4,
    VCZI_FILTER_ASTYPE = 5,
    VCZI_FILTER_SHUFFLE = 6
};

/* `variant` is VCZI_FILTER_…. In format 3 `layout` becomes what the filter makes of it. `codec` has no ops where the
 * stored items are the wanted ones. VCZC_ERR_METADATA for settings that contradict one another or the array,
 * VCZC_ERR_UNSUPPORTED for a type of items that is not read. */
int vczi_filter_set(const vczi_codec_spec_t *spec, int variant, vczi_layout_t *layout, vczi_codec_t *codec);

/* What `codec` has made of `raw_nbytes` bytes; false where that is not known. VCZC_ERR_METADATA is the caller's to say
 * where *encoded_nbytes is 0: no whole number of items. */
bool vczi_filter_encoded_nbytes(const vczi_codec_t *codec, size_t raw_nbytes, size_t *encoded_nbytes);

#endif
