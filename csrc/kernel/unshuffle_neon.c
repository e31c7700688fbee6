/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Byte- and bit-unshuffle with NEON, whose interleaving stores do the last steps. */
#include "unshuffle_kernels.h"

#if VCZI_ARCH_ARM64
#include <arm_neon.h>

/* Of two rows the bytes side by side, in the first and the last half of the items; the same of pairs of bytes. */
#define PAIRS_LOW(a, b) vreinterpretq_u16_u8(vzip1q_u8(a, b))
#define PAIRS_HIGH(a, b) vreinterpretq_u16_u8(vzip2q_u8(a, b))
#define QUADS_LOW(a, b) vreinterpretq_u32_u16(vzip1q_u16(a, b))
#define QUADS_HIGH(a, b) vreinterpretq_u32_u16(vzip2q_u16(a, b))

static void bytes2(const uint8_t *planes, size_t stride, size_t nitems, uint8_t *out) {
    size_t i = 0;
    for (; i + 16 <= nitems; i += 16) {
        const uint8x16x2_t rows = {{vld1q_u8(planes + i), vld1q_u8(planes + stride + i)}};
        vst2q_u8(out + 2 * i, rows);
    }
    vczi_unshuffle_generic.bytes2(planes + i, stride, nitems - i, out + 2 * i);
}

static void bytes4(const uint8_t *planes, size_t stride, size_t nitems, uint8_t *out) {
    size_t i = 0;
    for (; i + 16 <= nitems; i += 16) {
        const uint8x16x4_t rows = {{vld1q_u8(planes + i), vld1q_u8(planes + stride + i),
                                    vld1q_u8(planes + 2 * stride + i), vld1q_u8(planes + 3 * stride + i)}};
        vst4q_u8(out + 4 * i, rows);
    }
    vczi_unshuffle_generic.bytes4(planes + i, stride, nitems - i, out + 4 * i);
}

static VCZI_ALWAYS_INLINE void load_rows(uint8x16_t rows[8], const uint8_t *planes, size_t stride) {
    rows[0] = vld1q_u8(planes);
    rows[1] = vld1q_u8(planes + stride);
    rows[2] = vld1q_u8(planes + 2 * stride);
    rows[3] = vld1q_u8(planes + 3 * stride);
    rows[4] = vld1q_u8(planes + 4 * stride);
    rows[5] = vld1q_u8(planes + 5 * stride);
    rows[6] = vld1q_u8(planes + 6 * stride);
    rows[7] = vld1q_u8(planes + 7 * stride);
}

/* Store byte i of all eight rows as group i: sixteen groups, one behind the other. */
static VCZI_ALWAYS_INLINE void store_groups(uint8_t *out, const uint8x16_t rows[8]) {
    const uint16x8x4_t low = {{PAIRS_LOW(rows[0], rows[1]), PAIRS_LOW(rows[2], rows[3]), PAIRS_LOW(rows[4], rows[5]),
                               PAIRS_LOW(rows[6], rows[7])}};
    const uint16x8x4_t high = {{PAIRS_HIGH(rows[0], rows[1]), PAIRS_HIGH(rows[2], rows[3]),
                                PAIRS_HIGH(rows[4], rows[5]), PAIRS_HIGH(rows[6], rows[7])}};
    vst4q_u16((uint16_t *) (void *) out, low);
    vst4q_u16((uint16_t *) (void *) (out + 64), high);
}

static void bytes8(const uint8_t *planes, size_t stride, size_t nitems, uint8_t *out) {
    size_t i = 0;
    for (; i + 16 <= nitems; i += 16) {
        uint8x16_t rows[8];
        load_rows(rows, planes + i, stride);
        store_groups(out + 8 * i, rows);
    }
    vczi_unshuffle_generic.bytes8(planes + i, stride, nitems - i, out + 8 * i);
}

/* Bytes i of four rows side by side: four rows of four items each. */
static VCZI_ALWAYS_INLINE uint32x4x4_t load_quads(const uint8_t *planes, size_t stride) {
    const uint8x16_t a = vld1q_u8(planes);
    const uint8x16_t b = vld1q_u8(planes + stride);
    const uint8x16_t c = vld1q_u8(planes + 2 * stride);
    const uint8x16_t d = vld1q_u8(planes + 3 * stride);
    const uint32x4x4_t quads = {
        {QUADS_LOW(PAIRS_LOW(a, b), PAIRS_LOW(c, d)), QUADS_HIGH(PAIRS_LOW(a, b), PAIRS_LOW(c, d)),
         QUADS_LOW(PAIRS_HIGH(a, b), PAIRS_HIGH(c, d)), QUADS_HIGH(PAIRS_HIGH(a, b), PAIRS_HIGH(c, d))}};
    return quads;
}

static void bytes16(const uint8_t *planes, size_t stride, size_t nitems, uint8_t *out) {
    size_t i = 0;
    for (; i + 16 <= nitems; i += 16) {
        const uint32x4x4_t first = load_quads(planes + i, stride);
        const uint32x4x4_t second = load_quads(planes + 4 * stride + i, stride);
        const uint32x4x4_t third = load_quads(planes + 8 * stride + i, stride);
        const uint32x4x4_t fourth = load_quads(planes + 12 * stride + i, stride);
        for (int k = 0; k < 4; k++) {
            const uint32x4x4_t items = {{first.val[k], second.val[k], third.val[k], fourth.val[k]}};
            vst4q_u32((uint32_t *) (void *) (out + 16 * i + 64 * (size_t) k), items);
        }
    }
    vczi_unshuffle_generic.bytes16(planes + i, stride, nitems - i, out + 16 * i);
}

static VCZI_ALWAYS_INLINE void store_pair(uint8_t *out, size_t step, uint32x4_t pair) {
    vst1_u8(out, vreinterpret_u8_u32(vget_low_u32(pair)));
    vst1_u8(out + step, vreinterpret_u8_u32(vget_high_u32(pair)));
}

/* Eight columns at a time, each group of eight bytes stored by itself; where the item is no multiple of eight, the last
 * columns overlap those before them. */
static void bytes_any(const uint8_t *planes, size_t stride, size_t item_nbytes, size_t nitems, uint8_t *out) {
    size_t i = 0;
    for (; item_nbytes >= 8 && i + 16 <= nitems; i += 16) {
        for (size_t j = 0; j < item_nbytes; j += 8) {
            const size_t column = j + 8 <= item_nbytes ? j : item_nbytes - 8;
            const uint32x4x4_t first = load_quads(planes + column * stride + i, stride);
            const uint32x4x4_t second = load_quads(planes + (column + 4) * stride + i, stride);
            uint8_t *place = out + i * item_nbytes + column;
            for (int k = 0; k < 4; k++) {
                store_pair(place, item_nbytes, vzip1q_u32(first.val[k], second.val[k]));
                store_pair(place + 2 * item_nbytes, item_nbytes, vzip2q_u32(first.val[k], second.val[k]));
                place += 4 * item_nbytes;
            }
        }
    }
    vczi_unshuffle_generic.bytes_any(planes + i, stride, item_nbytes, nitems - i, out + i * item_nbytes);
}

/* Exchange the bits `mask << shift` of low with the bits `mask` of high. */
#define EXCHANGE(low, high, shift, mask)                                                                               \
    do {                                                                                                               \
        const uint8x16_t down = vshrq_n_u8(low, shift);                                                                \
        low = vbslq_u8(mask, low, vshlq_n_u8(high, shift));                                                            \
        high = vbslq_u8(mask, down, high);                                                                             \
    } while (0)

/* In each column of bytes: bit j of rows[i] becomes bit i of rows[j]. */
static VCZI_ALWAYS_INLINE void transpose_bits(uint8x16_t rows[8]) {
    const uint8x16_t four = vdupq_n_u8(0x0F);
    const uint8x16_t two = vdupq_n_u8(0x33);
    const uint8x16_t one = vdupq_n_u8(0x55);
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

static void bits(const uint8_t *planes, size_t stride, size_t ngroups, uint8_t *out) {
    size_t g = 0;
    for (; g + 16 <= ngroups; g += 16) {
        uint8x16_t rows[8];
        load_rows(rows, planes + g, stride);
        transpose_bits(rows); /* byte g of rows[i]: item 8 * g + i */
        store_groups(out + 8 * g, rows);
    }
    vczi_unshuffle_generic.bits(planes + g, stride, ngroups - g, out + 8 * g);
}

/* The numbers of two bits that lie at bit `shift` of each byte. */
#define NUMBERS(pairs, shift) vandq_u8(vshrq_n_u8(pairs, shift), vdupq_n_u8(3))

/* `high` is NULL where the numbers have one bit only. */
static VCZI_ALWAYS_INLINE size_t bits_few(const uint8_t *low, const uint8_t *high, size_t ngroups, uint8_t *out) {
    const uint8x16_t evens = vdupq_n_u8(0x55);
    size_t g = 0;
    for (; g + 16 <= ngroups; g += 16) {
        const uint8x16_t a = vld1q_u8(low + g);
        const uint8x16_t b = high != NULL ? vld1q_u8(high + g) : vdupq_n_u8(0);
        const uint8x16_t even = vbslq_u8(evens, a, vshlq_n_u8(b, 1)); /* items 0, 2, 4, 6 of each group */
        const uint8x16_t odd = vbslq_u8(evens, vshrq_n_u8(a, 1), b);  /* items 1, 3, 5, 7 */
        const uint8x16_t rows[8] = {vandq_u8(even, vdupq_n_u8(3)),
                                    vandq_u8(odd, vdupq_n_u8(3)),
                                    NUMBERS(even, 2),
                                    NUMBERS(odd, 2),
                                    NUMBERS(even, 4),
                                    NUMBERS(odd, 4),
                                    NUMBERS(even, 6),
                                    NUMBERS(odd, 6)};
        store_groups(out + 8 * g, rows);
    }
    return g;
}

static void bits_one(const uint8_t *planes, size_t stride, size_t ngroups, uint8_t *out) {
    const size_t g = bits_few(planes, NULL, ngroups, out);
    vczi_unshuffle_generic.bits_one(planes + g, stride, ngroups - g, out + 8 * g);
}

static void bits_two(const uint8_t *planes, size_t stride, size_t ngroups, uint8_t *out) {
    const size_t g = bits_few(planes, planes + stride, ngroups, out);
    vczi_unshuffle_generic.bits_two(planes + g, stride, ngroups - g, out + 8 * g);
}

const vczi_unshuffle_kernels_t vczi_unshuffle_neon = {
    bytes2, bytes4, bytes8, bytes16, bytes_any, bits, bits_one, bits_two,
};
#endif
