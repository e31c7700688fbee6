/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* LZ4 blocks, by LZ4_decompress_safe: it neither reads outside `in` nor writes outside `out`, whatever they hold. */
#include "unlz4.h"

#include <lz4.h>

#include "checked.h"
#include "status.h"

int vczi_unlz4(vczi_span_t in, uint8_t *out, size_t out_nbytes) {
    int in_int;
    int out_int;
    if (!vczi_size_to_int(in.nbytes, &in_int) || !vczi_size_to_int(out_nbytes, &out_int)) {
        return vczi_fail(VCZC_ERR_CORRUPT, "an LZ4 block of %zu bytes, %zu raw, is more than LZ4 can hold", in.nbytes,
                         out_nbytes);
    }
    if (in_int == 0) {
        return vczi_fail(VCZC_ERR_CORRUPT, "an empty LZ4 block");
    }
    const int result = LZ4_decompress_safe((const char *) in.data, (char *) out, in_int, out_int);
    if (result < 0) {
        return vczi_fail(VCZC_ERR_CORRUPT, "an LZ4 block of %zu bytes is damaged, or holds more than %zu", in.nbytes,
                         out_nbytes);
    }
    if (result != out_int) {
        return vczi_fail(VCZC_ERR_CORRUPT, "an LZ4 block holds %d bytes, %zu expected", result, out_nbytes);
    }
    return 0;
}

int vczi_unlz4_sized(vczi_span_t in, uint8_t *out, size_t out_nbytes) {
    vczi_cursor_t cursor = vczi_cursor(in);
    const uint32_t raw_nbytes = vczi_cursor_u32le(&cursor);
    if (cursor.failed || raw_nbytes != out_nbytes) {
        return vczi_fail(VCZC_ERR_CORRUPT, "an LZ4 chunk says that it holds %lu bytes, %zu expected",
                         (unsigned long) raw_nbytes, out_nbytes);
    }
    return vczi_unlz4(vczi_span(cursor.next, cursor.left), out, out_nbytes);
}
