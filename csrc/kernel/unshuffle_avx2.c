/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Byte- and bit-unshuffle with AVX2. Its unpacking works on each half of a register by itself: the halves are put in
 * order at the end. */
#include "unshuffle_kernels.h"

#if VCZI_ARCH_X86
#include <immintrin.h>

#define TARGET VCZI_TARGET("avx2")

#define MERGE(unit, low, high, a, b)                                                                                   \
    const __m256i low = _mm256_unpacklo_##unit(a, b);                                                                  \
    const __m256i high = _mm256_unpackhi_##unit(a, b)

TARGET static VCZI_ALWAYS_INLINE __m256i load(const uint8_t *p) {
    return _mm256_loadu_si256((const __m256i *) (const void *) p);
}

TARGET static VCZI_ALWAYS_INLINE void store(uint8_t *p, __m256i v) {
    _mm256_storeu_si256((__m256i *) (void *) p, v);
}

/* The low halves of a and b to `p`, the high halves to `p` + `high`. */
TARGET static VCZI_ALWAYS_INLINE void store_halves(uint8_t *p, size_t high, __m256i a, __m256i b) {
    store(p, _mm256_permute2x128_si256(a, b, 0x20));
    store(p + high, _mm256_permute2x128_si256(a, b, 0x31));
}

TARGET static VCZI_ALWAYS_INLINE void load_rows(__m256i rows[8], const uint8_t *planes, size_t stride) {
    rows[0] = load(planes);
    rows[1] = load(planes + stride);
    rows[2] = load(planes + 2 * stride);
    rows[3] = load(planes + 3 * stride);
    rows[4] = load(planes + 4 * stride);
    rows[5] = load(planes + 5 * stride);
    rows[6] = load(planes + 6 * stride);
    rows[7] = load(planes + 7 * stride);
}

/* Eight rows of 32 bytes become 32 groups of eight: row k has groups 2 * k, 2 * k + 1, and 16 behind them. */
TARGET static VCZI_ALWAYS_INLINE void transpose_bytes(__m256i rows[8]) {
    MERGE(epi8, a0, a1, rows[0], rows[1]);
    MERGE(epi8, b0, b1, rows[2], rows[3]);
    MERGE(epi8, c0, c1, rows[4], rows[5]);
    MERGE(epi8, d0, d1, rows[6], rows[7]);
    MERGE(epi16, ab0, ab1, a0, b0);
    MERGE(epi16, ab2, ab3, a1, b1);
    MERGE(epi16, cd0, cd1, c0, d0);
    MERGE(epi16, cd2, cd3, c1, d1);
    rows[0] = _mm256_unpacklo_epi32(ab0, cd0);
    rows[1] = _mm256_unpackhi_epi32(ab0, cd0);
    rows[2] = _mm256_unpacklo_epi32(ab1, cd1);
    rows[3] = _mm256_unpackhi_epi32(ab1, cd1);
    rows[4] = _mm256_unpacklo_epi32(ab2, cd2);
    rows[5] = _mm256_unpackhi_epi32(ab2, cd2);
    rows[6] = _mm256_unpacklo_epi32(ab3, cd3);
    rows[7] = _mm256_unpackhi_epi32(ab3, cd3);
}

TARGET static VCZI_ALWAYS_INLINE void store_groups(uint8_t *out, const __m256i rows[8]) {
    store_halves(out, 128, rows[0], rows[1]);
    store_halves(out + 32, 128, rows[2], rows[3]);
    store_halves(out + 64, 128, rows[4], rows[5]);
    store_halves(out + 96, 128, rows[6], rows[7]);
}

TARGET void vczi_unshuffle_bytes2_avx2(const uint8_t *planes, size_t stride, size_t nitems, uint8_t *out) {
    size_t i = 0;
    for (; i + 32 <= nitems; i += 32) {
        MERGE(epi8, low, high, load(planes + i), load(planes + stride + i));
        store_halves(out + 2 * i, 32, low, high);
    }
    vczi_unshuffle_sse2.bytes2(planes + i, stride, nitems - i, out + 2 * i);
}

TARGET void vczi_unshuffle_bytes4_avx2(const uint8_t *planes, size_t stride, size_t nitems, uint8_t *out) {
    size_t i = 0;
    for (; i + 32 <= nitems; i += 32) {
        MERGE(epi8, a0, a1, load(planes + i), load(planes + stride + i));
        MERGE(epi8, b0, b1, load(planes + 2 * stride + i), load(planes + 3 * stride + i));
        MERGE(epi16, ab0, ab1, a0, b0);
        MERGE(epi16, ab2, ab3, a1, b1);
        store_halves(out + 4 * i, 64, ab0, ab1);
        store_halves(out + 4 * i + 32, 64, ab2, ab3);
    }
    vczi_unshuffle_sse2.bytes4(planes + i, stride, nitems - i, out + 4 * i);
}

TARGET void vczi_unshuffle_bytes8_avx2(const uint8_t *planes, size_t stride, size_t nitems, uint8_t *out) {
    size_t i = 0;
    for (; i + 32 <= nitems; i += 32) {
        __m256i rows[8];
        load_rows(rows, planes + i, stride);
        transpose_bytes(rows);
        store_groups(out + 8 * i, rows);
    }
    vczi_unshuffle_sse2.bytes8(planes + i, stride, nitems - i, out + 8 * i);
}

TARGET void vczi_unshuffle_bytes16_avx2(const uint8_t *planes, size_t stride, size_t nitems, uint8_t *out) {
    size_t i = 0;
    for (; i + 32 <= nitems; i += 32) {
        __m256i low[8];
        __m256i high[8];
        load_rows(low, planes + i, stride);
        transpose_bytes(low);
        load_rows(high, planes + 8 * stride + i, stride);
        transpose_bytes(high);
        for (size_t k = 0; k < 8; k++) {
            const __m256i first = _mm256_unpacklo_epi64(low[k], high[k]);
            const __m256i second = _mm256_unpackhi_epi64(low[k], high[k]);
            store_halves(out + 16 * (i + 2 * k), 256, first, second);
        }
    }
    vczi_unshuffle_sse2.bytes16(planes + i, stride, nitems - i, out + 16 * i);
}

/* Exchange the bits `mask << shift` of *low with the bits `mask` of *high. */
#define EXCHANGE(low, high, shift, mask)                                                                               \
    do {                                                                                                               \
        const __m256i differ = _mm256_and_si256(_mm256_xor_si256(_mm256_srli_epi64(low, shift), high), mask);          \
        high = _mm256_xor_si256(high, differ);                                                                         \
        low = _mm256_xor_si256(low, _mm256_slli_epi64(differ, shift));                                                 \
    } while (0)

/* In each column of bytes: bit j of rows[i] becomes bit i of rows[j]. */
TARGET static VCZI_ALWAYS_INLINE void transpose_bits(__m256i rows[8]) {
    const __m256i four = _mm256_set1_epi8(0x0F);
    const __m256i two = _mm256_set1_epi8(0x33);
    const __m256i one = _mm256_set1_epi8(0x55);
    EXCHANGE(rows[0], rows[4], 4, four);
    EXCHANGE(rows[1], rows[5], 4, four);
    EXCHANGE(rows[2], rows[6], 4, four);
    EXCHANGE(rows[3], rows[7], 4, four);
    EXCHANGE(rows[0], rows[2], 2, two);
    EXCHANGE(rows[1], rows[3], 2, two);
    EXCHANGE(rows[4], rows[6], 2, two);
    EXCHANGE(rows[5], rows[7], 2, two);
    EXCHANGE(rows[0], rows[1], 1, one);
    EXCHANGE(rows[2], rows[3], 1, one);
    EXCHANGE(rows[4], rows[5], 1, one);
    EXCHANGE(rows[6], rows[7], 1, one);
}

TARGET static void bits(const uint8_t *planes, size_t stride, size_t ngroups, uint8_t *out) {
    size_t g = 0;
    for (; g + 32 <= ngroups; g += 32) {
        __m256i rows[8];
        load_rows(rows, planes + g, stride);
        transpose_bits(rows); /* byte g of rows[i]: item 8 * g + i */
        transpose_bytes(rows);
        store_groups(out + 8 * g, rows);
    }
    vczi_unshuffle_sse2.bits(planes + g, stride, ngroups - g, out + 8 * g);
}

/* The numbers of two bits that lie at bit `shift` of each byte. */
#define NUMBERS(pairs, shift) _mm256_and_si256(_mm256_srli_epi64(pairs, shift), _mm256_set1_epi8(3))

/* `high` is NULL where the numbers have one bit only. */
TARGET static VCZI_ALWAYS_INLINE size_t bits_few(const uint8_t *low, const uint8_t *high, size_t ngroups,
                                                 uint8_t *out) {
    const __m256i evens = _mm256_set1_epi8(0x55);
    size_t g = 0;
    for (; g + 32 <= ngroups; g += 32) {
        const __m256i a = load(low + g);
        const __m256i b = high != NULL ? load(high + g) : _mm256_setzero_si256();
        const __m256i even = _mm256_or_si256(_mm256_and_si256(a, evens),
                                             _mm256_slli_epi64(_mm256_and_si256(b, evens), 1)); /* items 0, 2, 4, 6 */
        const __m256i odd = _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi64(a, 1), evens),
                                            _mm256_andnot_si256(evens, b)); /* 1, 3, 5, 7 */
        __m256i rows[8] = {NUMBERS(even, 0), NUMBERS(odd, 0), NUMBERS(even, 2), NUMBERS(odd, 2),
                           NUMBERS(even, 4), NUMBERS(odd, 4), NUMBERS(even, 6), NUMBERS(odd, 6)};
        transpose_bytes(rows);
        store_groups(out + 8 * g, rows);
    }
    return g;
}

TARGET static void bits_one(const uint8_t *planes, size_t stride, size_t ngroups, uint8_t *out) {
    const size_t g = bits_few(planes, NULL, ngroups, out);
    vczi_unshuffle_sse2.bits_one(planes + g, stride, ngroups - g, out + 8 * g);
}

TARGET static void bits_two(const uint8_t *planes, size_t stride, size_t ngroups, uint8_t *out) {
    const size_t g = bits_few(planes, planes + stride, ngroups, out);
    vczi_unshuffle_sse2.bits_two(planes + g, stride, ngroups - g, out + 8 * g);
}

const vczi_unshuffle_kernels_t vczi_unshuffle_avx2 = {
    vczi_unshuffle_bytes2_avx2,
    vczi_unshuffle_bytes4_avx2,
    vczi_unshuffle_bytes8_avx2,
    vczi_unshuffle_bytes16_avx2,
    vczi_unshuffle_any_sse2,
    bits,
    bits_one,
    bits_two,
};
#endif
