/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Bit-unshuffle with AVX-512 (F, BW). Byte kernels are AVX2's: they wait for memory, and wider ones are no faster. */
#include "unshuffle_kernels.h"

#if VCZI_ARCH_X86
#include <immintrin.h>
#include <string.h>

#define TARGET VCZI_TARGET("avx512f,avx512bw")

#define MERGE(unit, low, high, a, b)                                                                                   \
    const __m512i low = _mm512_unpacklo_##unit(a, b);                                                                  \
    const __m512i high = _mm512_unpackhi_##unit(a, b)

TARGET static VCZI_ALWAYS_INLINE __mmask64 load_mask(const uint8_t *p) {
    uint64_t mask;
    memcpy(&mask, p, sizeof(mask));
    return mask;
}

TARGET static VCZI_ALWAYS_INLINE void store(uint8_t *p, __m512i v) {
    _mm512_storeu_si512((void *) p, v);
}

/* The bits of `yes` where `mask` is set, else those of `no`. */
#define SELECT(mask, yes, no) _mm512_ternarylogic_epi64(no, yes, mask, 0xD8)

/* Exchange the bits `mask << shift` of low with the bits `mask` of high. */
#define EXCHANGE(low, high, shift, mask)                                                                               \
    do {                                                                                                               \
        const __m512i down = _mm512_srli_epi64(low, shift);                                                            \
        low = SELECT(mask, low, _mm512_slli_epi64(high, shift));                                                       \
        high = SELECT(mask, down, high);                                                                               \
    } while (0)

TARGET static VCZI_ALWAYS_INLINE void transpose_bits(__m512i rows[8]) {
    const __m512i four = _mm512_set1_epi8(0x0F);
    const __m512i two = _mm512_set1_epi8(0x33);
    const __m512i one = _mm512_set1_epi8(0x55);
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

TARGET static VCZI_ALWAYS_INLINE void transpose_bytes(__m512i rows[8]) {
    MERGE(epi8, a0, a1, rows[0], rows[1]);
    MERGE(epi8, b0, b1, rows[2], rows[3]);
    MERGE(epi8, c0, c1, rows[4], rows[5]);
    MERGE(epi8, d0, d1, rows[6], rows[7]);
    MERGE(epi16, ab0, ab1, a0, b0);
    MERGE(epi16, ab2, ab3, a1, b1);
    MERGE(epi16, cd0, cd1, c0, d0);
    MERGE(epi16, cd2, cd3, c1, d1);
    rows[0] = _mm512_unpacklo_epi32(ab0, cd0);
    rows[1] = _mm512_unpackhi_epi32(ab0, cd0);
    rows[2] = _mm512_unpacklo_epi32(ab1, cd1);
    rows[3] = _mm512_unpackhi_epi32(ab1, cd1);
    rows[4] = _mm512_unpacklo_epi32(ab2, cd2);
    rows[5] = _mm512_unpackhi_epi32(ab2, cd2);
    rows[6] = _mm512_unpacklo_epi32(ab3, cd3);
    rows[7] = _mm512_unpackhi_epi32(ab3, cd3);
}

TARGET static VCZI_ALWAYS_INLINE __m512i load_spread(const uint8_t *p, __m512i order) {
    return _mm512_permutexvar_epi16(order, _mm512_loadu_si512((const void *) p));
}

TARGET static void bits(const uint8_t *planes, size_t stride, size_t ngroups, uint8_t *out) {
    /* Unpacking works on each quarter of a register by itself. Pairs of groups are dealt to the quarters in turn, so
     * that each row ends up with eight groups in order. */
    static const uint16_t pairs[32] = {0, 4, 8,  12, 16, 20, 24, 28, 1, 5, 9,  13, 17, 21, 25, 29,
                                       2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31};
    const __m512i order = _mm512_loadu_si512((const void *) pairs);
    size_t g = 0;
    for (; g + 64 <= ngroups; g += 64) {
        __m512i rows[8];
        rows[0] = load_spread(planes + g, order);
        rows[1] = load_spread(planes + stride + g, order);
        rows[2] = load_spread(planes + 2 * stride + g, order);
        rows[3] = load_spread(planes + 3 * stride + g, order);
        rows[4] = load_spread(planes + 4 * stride + g, order);
        rows[5] = load_spread(planes + 5 * stride + g, order);
        rows[6] = load_spread(planes + 6 * stride + g, order);
        rows[7] = load_spread(planes + 7 * stride + g, order);
        transpose_bits(rows);
        transpose_bytes(rows);
        store(out + 8 * g, rows[0]);
        store(out + 8 * g + 64, rows[1]);
        store(out + 8 * g + 128, rows[2]);
        store(out + 8 * g + 192, rows[3]);
        store(out + 8 * g + 256, rows[4]);
        store(out + 8 * g + 320, rows[5]);
        store(out + 8 * g + 384, rows[6]);
        store(out + 8 * g + 448, rows[7]);
    }
    vczi_unshuffle_sse2.bits(planes + g, stride, ngroups - g, out + 8 * g);
}

/* A plane's bits are the mask of the items that have that bit. */
TARGET static void bits_one(const uint8_t *planes, size_t stride, size_t ngroups, uint8_t *out) {
    const __m512i one = _mm512_set1_epi8(1);
    size_t g = 0;
    for (; g + 8 <= ngroups; g += 8) {
        store(out + 8 * g, _mm512_maskz_mov_epi8(load_mask(planes + g), one));
    }
    vczi_unshuffle_generic.bits_one(planes + g, stride, ngroups - g, out + 8 * g);
}

TARGET static void bits_two(const uint8_t *planes, size_t stride, size_t ngroups, uint8_t *out) {
    const __m512i one = _mm512_set1_epi8(1);
    const __m512i two = _mm512_set1_epi8(2);
    size_t g = 0;
    for (; g + 8 <= ngroups; g += 8) {
        const __m512i low = _mm512_maskz_mov_epi8(load_mask(planes + g), one);
        store(out + 8 * g, _mm512_mask_add_epi8(low, load_mask(planes + stride + g), low, two));
    }
    vczi_unshuffle_generic.bits_two(planes + g, stride, ngroups - g, out + 8 * g);
}

const vczi_unshuffle_kernels_t vczi_unshuffle_avx512 = {
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
