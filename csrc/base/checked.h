/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Size arithmetic and narrowing that cannot wrap: each returns false, with *out unchanged, where the result
 * does not fit. Values change their type only here. */
#ifndef VCZI_CHECKED_H
#define VCZI_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler.h"

VCZI_NODISCARD static inline bool vczi_add_size(size_t a, size_t b, size_t *out) {
    if (a > SIZE_MAX - b) {
        return false;
    }
    *out = a + b;
    return true;
}

VCZI_NODISCARD static inline bool vczi_mul_size(size_t a, size_t b, size_t *out) {
    if (b != 0 && a > SIZE_MAX / b) {
        return false;
    }
    *out = a * b;
    return true;
}

VCZI_NODISCARD static inline bool vczi_add_u64(uint64_t a, uint64_t b, uint64_t *out) {
    if (a > UINT64_MAX - b) {
        return false;
    }
    *out = a + b;
    return true;
}

/* Of numbers that are not negative. */
VCZI_NODISCARD static inline bool vczi_mul_i64(int64_t a, int64_t b, int64_t *out) {
    if (a < 0 || b < 0 || (b != 0 && a > INT64_MAX / b)) {
        return false;
    }
    *out = a * b;
    return true;
}

VCZI_NODISCARD static inline bool vczi_add_i64(int64_t a, int64_t b, int64_t *out) {
    if (a < 0 || b < 0 || a > INT64_MAX - b) {
        return false;
    }
    *out = a + b;
    return true;
}

VCZI_NODISCARD static inline bool vczi_u64_to_size(uint64_t value, size_t *out) {
#if UINT64_MAX > SIZE_MAX
    if (value > SIZE_MAX) {
        return false;
    }
#endif
    *out = (size_t) value;
    return true;
}

VCZI_NODISCARD static inline bool vczi_i64_to_size(int64_t value, size_t *out) {
    return value >= 0 && vczi_u64_to_size((uint64_t) value, out);
}

VCZI_NODISCARD static inline bool vczi_size_to_i64(size_t value, int64_t *out) {
    if ((uint64_t) value > (uint64_t) INT64_MAX) {
        return false;
    }
    *out = (int64_t) value;
    return true;
}

VCZI_NODISCARD static inline bool vczi_size_to_u32(size_t value, uint32_t *out) {
    if ((uint64_t) value > UINT32_MAX) {
        return false;
    }
    *out = (uint32_t) value;
    return true;
}

VCZI_NODISCARD static inline bool vczi_size_to_int(size_t value, int *out) {
    if (value > (size_t) INT32_MAX) {
        return false;
    }
    *out = (int) value;
    return true;
}

#endif
