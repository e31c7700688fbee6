/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* A zip entry's name as a key: UTF-8, parts separated by "/". */
#ifndef VCZI_ZIP_NAME_H
#define VCZI_ZIP_NAME_H

#include <stdbool.h>

#include "bytes.h"

/* True where the name is a safe key as it stands, by a look that is cheap and errs to false: ASCII, no backslash, no
 * zero byte, and no part that is empty or begins with a dot. */
bool vczi_zip_name_is_plain(vczi_span_t name);

/* The most bytes that a name of `nbytes` bytes, or the Unicode path in `extra`, can take when it is converted. */
static inline size_t vczi_zip_name_max_nbytes(vczi_span_t name, vczi_span_t extra) {
    return 3 * name.nbytes + extra.nbytes; /* each is below 2^16 */
}

/* Convert code page 437 (or UTF-8 where `is_utf8`) into `out`; the Unicode path in the extra field counts instead where
 * there is one. Returns the bytes written. */
size_t vczi_zip_name_convert(vczi_span_t name, bool is_utf8, vczi_span_t extra, uint8_t *out);

#endif
