/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Byte- and bit-unshuffle with SSE2. */
#include "unshuffle_kernels.h"

#if VCZI_ARCH_X86
#include <emmintrin.h>

#define TARGET VCZI_TARGET("sse2")

/* Rows of bytes are merged pairwise: byte i of all rows end up side by side after log2(rows) of these. */
#define MERGE(unit, low, high, a, b)                                                                                   \
    const __m128i low = _mm_unpacklo_##unit(a, b);                                                                     \
    const __m128i high = _mm_unpackhi_##unit(a, b)

TARGET static VCZI_ALWAYS_INLINE __m128i load(const uint8_t *p) {
    return _mm_loadu_si128((const __m128i *) (const void *) p);
}

TARGET static VCZI_ALWAYS_INLINE void store(uint8_t *p, __m128i v) {
    _mm_storeu_si128((__m128i *) (void *) p, v);
}

/* Items [i, nitems), for the tails. */
static void remaining_items(const uint8_t *planes, size_t stride, size_t item_nbytes, size_t i, size_t nitems,
                            uint8_t *out) {
    for (; i < nitems; i++) {
        for (size_t j = 0; j < item_nbytes; j++) {
            out[i * item_nbytes + j] = planes[j * stride + i];
        }
    }
}

TARGET static void bytes2(const uint8_t *planes, size_t stride, size_t nitems, uint8_t *out) {
    size_t i = 0;
    for (; i + 16 <= nitems; i += 16) {
        const __m128i a = load(planes + i);
        const __m128i b = load(planes + stride + i);
        store(out + 2 * i, _mm_unpacklo_epi8(a, b));
        store(out + 2 * i + 16, _mm_unpackhi_epi8(a, b));
    }
    remaining_items(planes, stride, 2, i, nitems, out);
}

/* Eight rows of 16 bytes become 16 groups of eight bytes, two in each row. */
TARGET static VCZI_ALWAYS_INLINE void transpose_bytes(__m128i rows[8]) {
    MERGE(epi8, a0, a1, rows[0], rows[1]);
    MERGE(epi8, b0, b1, rows[2], rows[3]);
    MERGE(epi8, c0, c1, rows[4], rows[5]);
    MERGE(epi8, d0, d1, rows[6], rows[7]);
    MERGE(epi16, ab0, ab1, a0, b0);
    MERGE(epi16, ab2, ab3, a1, b1);
    MERGE(epi16, cd0, cd1, c0, d0);
    MERGE(epi16, cd2, cd3, c1, d1);
    rows[0] = _mm_unpacklo_epi32(ab0, cd0);
    rows[1] = _mm_unpackhi_epi32(ab0, cd0);
    rows[2] = _mm_unpacklo_epi32(ab1, cd1);
    rows[3] = _mm_unpackhi_epi32(ab1, cd1);
    rows[4] = _mm_unpacklo_epi32(ab2, cd2);
    rows[5] = _mm_unpackhi_epi32(ab2, cd2);
    rows[6] = _mm_unpacklo_epi32(ab3, cd3);
    rows[7] = _mm_unpackhi_epi32(ab3, cd3);
}

TARGET static void bytes4(const uint8_t *planes, size_t stride, size_t nitems, uint8_t *out) {
    size_t i = 0;
    for (; i + 16 <= nitems; i += 16) {
        MERGE(epi8, a0, a1, load(planes + i), load(planes + stride + i));
        MERGE(epi8, b0, b1, load(planes + 2 * stride + i), load(planes + 3 * stride + i));
        store(out + 4 * i, _mm_unpacklo_epi16(a0, b0));
        store(out + 4 * i + 16, _mm_unpackhi_epi16(a0, b0));
        store(out + 4 * i + 32, _mm_unpacklo_epi16(a1, b1));
        store(out + 4 * i + 48, _mm_unpackhi_epi16(a1, b1));
    }
    remaining_items(planes, stride, 4, i, nitems, out);
}

TARGET static VCZI_ALWAYS_INLINE void load_rows(__m128i rows[8], const uint8_t *planes, size_t stride) {
    rows[0] = load(planes);
    rows[1] = load(planes + stride);
    rows[2] = load(planes + 2 * stride);
    rows[3] = load(planes + 3 * stride);
    rows[4] = load(planes + 4 * stride);
    rows[5] = load(planes + 5 * stride);
    rows[6] = load(planes + 6 * stride);
    rows[7] = load(planes + 7 * stride);
}

TARGET static VCZI_ALWAYS_INLINE void store_rows(uint8_t *out, const __m128i rows[8]) {
    store(out, rows[0]);
    store(out + 16, rows[1]);
    store(out + 32, rows[2]);
    store(out + 48, rows[3]);
    store(out + 64, rows[4]);
    store(out + 80, rows[5]);
    store(out + 96, rows[6]);
    store(out + 112, rows[7]);
}

TARGET static void bytes8(const uint8_t *planes, size_t stride, size_t nitems, uint8_t *out) {
    size_t i = 0;
    for (; i + 16 <= nitems; i += 16) {
        __m128i rows[8];
        load_rows(rows, planes + i, stride);
        transpose_bytes(rows);
        store_rows(out + 8 * i, rows);
    }
    remaining_items(planes, stride, 8, i, nitems, out);
}

TARGET static VCZI_ALWAYS_INLINE void store_pair(uint8_t *out, size_t step, __m128i pair) {
    _mm_storel_epi64((__m128i *) (void *) out, pair);
    _mm_storeh_pi((__m64 *) (void *) (out + step), _mm_castsi128_ps(pair));
}

/* Store each of the sixteen groups of eight bytes, `step` bytes after the other. */
TARGET static VCZI_ALWAYS_INLINE void store_groups(uint8_t *out, size_t step, const __m128i rows[8]) {
    store_pair(out, step, rows[0]);
    store_pair(out + 2 * step, step, rows[1]);
    store_pair(out + 4 * step, step, rows[2]);
    store_pair(out + 6 * step, step, rows[3]);
    store_pair(out + 8 * step, step, rows[4]);
    store_pair(out + 10 * step, step, rows[5]);
    store_pair(out + 12 * step, step, rows[6]);
    store_pair(out + 14 * step, step, rows[7]);
}

TARGET static void bytes16(const uint8_t *planes, size_t stride, size_t nitems, uint8_t *out) {
    size_t i = 0;
    for (; i + 16 <= nitems; i += 16) {
        __m128i low[8];
        __m128i high[8];
        load_rows(low, planes + i, stride);
        transpose_bytes(low);
        load_rows(high, planes + 8 * stride + i, stride);
        transpose_bytes(high);
        for (size_t k = 0; k < 8; k++) {
            store(out + 16 * (i + 2 * k), _mm_unpacklo_epi64(low[k], high[k]));
            store(out + 16 * (i + 2 * k + 1), _mm_unpackhi_epi64(low[k], high[k]));
        }
    }
    remaining_items(planes, stride, 16, i, nitems, out);
}

/* Items of three to seven bytes are stored as eight; what is too much is overwritten by the items that follow. Hence
 * two of them must follow the last: three items have at least the nine bytes that it takes. */
TARGET static size_t short_items(const uint8_t *planes, size_t stride, size_t item_nbytes, size_t nitems,
                                 uint8_t *out) {
    const size_t at3 = stride * (item_nbytes > 3 ? 3 : 2); /* planes that are not there: any other */
    const size_t at4 = stride * (item_nbytes > 4 ? 4 : 2);
    const size_t at5 = stride * (item_nbytes > 5 ? 5 : 2);
    const size_t at6 = stride * (item_nbytes > 6 ? 6 : 2);
    size_t i = 0;
    for (; i + 16 + 2 <= nitems; i += 16) {
        __m128i rows[8];
        rows[0] = load(planes + i);
        rows[1] = load(planes + stride + i);
        rows[2] = load(planes + 2 * stride + i);
        rows[3] = load(planes + at3 + i);
        rows[4] = load(planes + at4 + i);
        rows[5] = load(planes + at5 + i);
        rows[6] = load(planes + at6 + i);
        rows[7] = rows[6];
        transpose_bytes(rows);
        store_groups(out + i * item_nbytes, item_nbytes, rows);
    }
    return i;
}

/* Eight columns at a time; the last eight overlap those before them. */
TARGET static size_t long_items(const uint8_t *planes, size_t stride, size_t item_nbytes, size_t nitems, uint8_t *out) {
    size_t i = 0;
    for (; i + 16 <= nitems; i += 16) {
        for (size_t j = 0; j < item_nbytes; j += 8) {
            const size_t column = j + 8 <= item_nbytes ? j : item_nbytes - 8;
            __m128i rows[8];
            load_rows(rows, planes + column * stride + i, stride);
            transpose_bytes(rows);
            store_groups(out + i * item_nbytes + column, item_nbytes, rows);
        }
    }
    return i;
}

void vczi_unshuffle_any_sse2(const uint8_t *planes, size_t stride, size_t item_nbytes, size_t nitems, uint8_t *out) {
    size_t i = 0;
    if (item_nbytes >= 8) {
        i = long_items(planes, stride, item_nbytes, nitems, out);
    } else if (item_nbytes > 2) {
        i = short_items(planes, stride, item_nbytes, nitems, out);
    }
    remaining_items(planes, stride, item_nbytes, i, nitems, out);
}

/* Exchange the bits `mask << shift` of *low with the bits `mask` of *high. */
#define EXCHANGE(low, high, shift, mask)                                                                               \
    do {                                                                                                               \
        const __m128i differ = _mm_and_si128(_mm_xor_si128(_mm_srli_epi64(low, shift), high), mask);                   \
        high = _mm_xor_si128(high, differ);                                                                            \
        low = _mm_xor_si128(low, _mm_slli_epi64(differ, shift));                                                       \
    } while (0)

/* In each column of bytes: bit j of rows[i] becomes bit i of rows[j]. */
TARGET static VCZI_ALWAYS_INLINE void transpose_bits(__m128i rows[8]) {
    const __m128i four = _mm_set1_epi8(0x0F);
    const __m128i two = _mm_set1_epi8(0x33);
    const __m128i one = _mm_set1_epi8(0x55);
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
    for (; g + 16 <= ngroups; g += 16) {
        __m128i rows[8];
        load_rows(rows, planes + g, stride);
        transpose_bits(rows); /* byte g of rows[i]: item 8 * g + i */
        transpose_bytes(rows);
        store_rows(out + 8 * g, rows);
    }
    vczi_unshuffle_generic.bits(planes + g, stride, ngroups - g, out + 8 * g);
}

/* The numbers of two bits that lie at bit `shift` of each byte. */
#define NUMBERS(pairs, shift) _mm_and_si128(_mm_srli_epi64(pairs, shift), _mm_set1_epi8(3))

/* `high` is NULL where the numbers have one bit only. */
TARGET static VCZI_ALWAYS_INLINE size_t bits_few(const uint8_t *low, const uint8_t *high, size_t ngroups,
                                                 uint8_t *out) {
    const __m128i evens = _mm_set1_epi8(0x55);
    size_t g = 0;
    for (; g + 16 <= ngroups; g += 16) {
        const __m128i a = load(low + g);
        const __m128i b = high != NULL ? load(high + g) : _mm_setzero_si128();
        const __m128i even =
            _mm_or_si128(_mm_and_si128(a, evens), _mm_slli_epi64(_mm_and_si128(b, evens), 1)); /* items 0, 2, 4, 6 */
        const __m128i odd =
            _mm_or_si128(_mm_and_si128(_mm_srli_epi64(a, 1), evens), _mm_andnot_si128(evens, b)); /* 1, 3, 5, 7 */
        __m128i rows[8] = {NUMBERS(even, 0), NUMBERS(odd, 0), NUMBERS(even, 2), NUMBERS(odd, 2),
                           NUMBERS(even, 4), NUMBERS(odd, 4), NUMBERS(even, 6), NUMBERS(odd, 6)};
        transpose_bytes(rows);
        store_rows(out + 8 * g, rows);
    }
    return g;
}

TARGET static void bits_one(const uint8_t *planes, size_t stride, size_t ngroups, uint8_t *out) {
    const size_t g = bits_few(planes, NULL, ngroups, out);
    vczi_unshuffle_generic.bits_one(planes + g, stride, ngroups - g, out + 8 * g);
}

TARGET static void bits_two(const uint8_t *planes, size_t stride, size_t ngroups, uint8_t *out) {
    const size_t g = bits_few(planes, planes + stride, ngroups, out);
    vczi_unshuffle_generic.bits_two(planes + g, stride, ngroups - g, out + 8 * g);
}

const vczi_unshuffle_kernels_t vczi_unshuffle_sse2 = {
    bytes2, bytes4, bytes8, bytes16, vczi_unshuffle_any_sse2, bits, bits_one, bits_two,
};
#endif
