/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* LZ4 blocks, by LZ4_decompress_safe: it neither reads outside `in` nor writes outside `out`, whatever they hold. */
#include "unlz4.h"

#include <lz4.h>

#include "checked.h"
#include "status.h"

#define LZ4_SIZE_NBYTES 4 /* before the block of an LZ4 chunk */

/* Each byte of a match's length says 255 more. */
#define LZ4_MAX_RATIO 255

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

int vczi_unlz4_sized_check(vczi_span_t in, size_t out_nbytes) {
    vczi_cursor_t cursor = vczi_cursor(in);
    const uint32_t raw_nbytes = vczi_cursor_u32le(&cursor);
    if (cursor.failed || raw_nbytes != out_nbytes) {
        return vczi_fail(VCZC_ERR_CORRUPT, "an LZ4 chunk says that it holds %lu bytes, %zu expected",
                         (unsigned long) raw_nbytes, out_nbytes);
    }
    if (out_nbytes / LZ4_MAX_RATIO > cursor.left) {
        return vczi_fail(VCZC_ERR_CORRUPT, "%zu bytes of LZ4 cannot hold %zu", cursor.left, out_nbytes);
    }
    return 0;
}

int vczi_unlz4_sized(vczi_span_t in, uint8_t *out, size_t out_nbytes) {
    const int ret = vczi_unlz4_sized_check(in, out_nbytes);
    return ret != 0 ? ret
                    : vczi_unlz4(vczi_span(in.data + LZ4_SIZE_NBYTES, in.nbytes - LZ4_SIZE_NBYTES), out, out_nbytes);
}
