/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Genotype kernels with AVX2 and POPCNT. Bytes become words of bits by their sign, 64 alleles at a time. */
#include "genotype_kernels.h"

#if VCZI_ARCH_X86
#include <immintrin.h>
#include <string.h>

#define TARGET VCZI_TARGET("avx2,popcnt")

TARGET static VCZI_ALWAYS_INLINE __m256i load(const uint8_t *p) {
    return _mm256_loadu_si256((const __m256i *) (const void *) p);
}

TARGET static VCZI_ALWAYS_INLINE void store(void *p, __m256i v) {
    _mm256_storeu_si256((__m256i *) p, v);
}

TARGET static VCZI_ALWAYS_INLINE uint64_t load_word(const uint8_t *p) {
    uint64_t word;
    memcpy(&word, p, sizeof(word));
    return word;
}

TARGET static VCZI_ALWAYS_INLINE uint64_t count_bits(uint64_t word) {
#if defined(__GNUC__)
    return (uint64_t) __builtin_popcountll(word);
#else
    return (uint64_t) _mm_popcnt_u32((uint32_t) word) + (uint64_t) _mm_popcnt_u32((uint32_t) (word >> 32));
#endif
}

#define AND(a, b) _mm256_and_si256(a, b)
#define OR(a, b) _mm256_or_si256(a, b)
#define ANDNOT(no, yes) _mm256_andnot_si256(no, yes)
#define DOWN(a, n) _mm256_srli_epi64(a, n)

/* ---- Planes ---- */

/* Pairs of bits that count to two at most: the sum stays in its pair. */
TARGET static VCZI_ALWAYS_INLINE __m256i add_pairs(__m256i bits, __m256i even) {
    return _mm256_add_epi8(AND(bits, even), AND(DOWN(bits, 1), even));
}

TARGET static VCZI_ALWAYS_INLINE __m256i codes_of_rows(const __m256i rows[8], __m256i doubled) {
    const __m256i even = _mm256_set1_epi8(0x55);
    const __m256i any = OR(OR(OR(rows[0], rows[1]), OR(rows[2], rows[3])), OR(OR(rows[4], rows[5]), rows[6]));
    const __m256i all = AND(AND(AND(rows[1], rows[2]), AND(rows[3], rows[4])), AND(AND(rows[5], rows[6]), rows[7]));
    const __m256i fill = ANDNOT(rows[0], all);
    const __m256i missing = ANDNOT(fill, rows[7]);
    const __m256i nonref = ANDNOT(rows[7], any);
    const __m256i other = OR(AND(DOWN(nonref, 1), even), _mm256_slli_epi64(AND(nonref, even), 1));
    const __m256i alleles = OR(nonref, AND(AND(fill, doubled), other));
    const __m256i none = AND(OR(OR(missing, DOWN(missing, 1)), AND(fill, DOWN(fill, 1))), even);
    return OR(add_pairs(alleles, even), OR(none, _mm256_slli_epi64(none, 1)));
}

TARGET static void codes_of_planes(const uint8_t *planes, size_t stride, size_t nlive, bool doubled, size_t ngroups,
                                   uint8_t *codes) {
    const __m256i even = _mm256_set1_epi8(0x55);
    const __m256i doubling = _mm256_set1_epi8(doubled ? -1 : 0);
    size_t g = 0;
    if (nlive == 1) {
        for (; g + 32 <= ngroups; g += 32)
            store(codes + g, add_pairs(load(planes + g), even));
    } else if (nlive == 2) {
        for (; g + 32 <= ngroups; g += 32)
            store(codes + g, add_pairs(OR(load(planes + g), load(planes + stride + g)), even));
    } else {
        for (; g + 32 <= ngroups; g += 32) {
            const uint8_t *p = planes + g;
            const __m256i rows[8] = {load(p),
                                     load(p + stride),
                                     load(p + 2 * stride),
                                     load(p + 3 * stride),
                                     load(p + 4 * stride),
                                     load(p + 5 * stride),
                                     load(p + 6 * stride),
                                     load(p + 7 * stride)};
            store(codes + g, codes_of_rows(rows, doubling));
        }
    }
    vczi_genotype_generic.codes_of_planes(planes + g, stride, nlive, doubled, ngroups - g, codes + g);
}

TARGET static bool count_planes(const uint8_t *planes, size_t stride, size_t nlive, size_t nitems,
                                vczi_allele_counts_t *counts) {
    const size_t ngroups = nitems / 8;
    uint64_t one = 0, two = 0, three = 0, negative = 0, high = 0;
    size_t g = 0;
    if (nlive == 1) {
        for (; g + 8 <= ngroups; g += 8)
            one += count_bits(load_word(planes + g));
    } else if (nlive == 2) {
        for (; g + 8 <= ngroups; g += 8) {
            const uint64_t a = load_word(planes + g), b = load_word(planes + stride + g);
            one += count_bits(a & ~b);
            two += count_bits(b & ~a);
            three += count_bits(a & b);
        }
    } else {
        for (; g + 8 <= ngroups; g += 8) {
            const uint8_t *p = planes + g;
            const uint64_t sign = load_word(p + 7 * stride);
            const uint64_t a = load_word(p) & ~sign, b = load_word(p + stride) & ~sign;
            one += count_bits(a & ~b);
            two += count_bits(b & ~a);
            three += count_bits(a & b);
            negative += count_bits(sign);
            high |= ~sign & (load_word(p + 2 * stride) | load_word(p + 3 * stride) | load_word(p + 4 * stride) |
                             load_word(p + 5 * stride) | load_word(p + 6 * stride));
        }
    }
    counts->one += one;
    counts->two += two;
    counts->three += three;
    counts->negative += negative;
    return vczi_genotype_generic.count_planes(planes + g, stride, nlive, nitems - 8 * g, counts) && high == 0;
}

/* ---- Bytes ---- */

/* The sign of 64 bytes, as bits. */
TARGET static VCZI_ALWAYS_INLINE uint64_t signs(__m256i low, __m256i high) {
    return (uint32_t) _mm256_movemask_epi8(low) | (uint64_t) (uint32_t) _mm256_movemask_epi8(high) << 32;
}

TARGET static void codes_of_bytes(const uint8_t *alleles, bool doubled, size_t ncalls, uint8_t *codes) {
    const __m256i zero = _mm256_setzero_si256();
    const __m256i fills = _mm256_set1_epi8(-2);
    size_t i = 0;
    for (; i + 32 <= ncalls; i += 32) {
        const __m256i low = load(alleles + 2 * i), high = load(alleles + 2 * i + 32);
        const uint64_t nonref = signs(_mm256_cmpgt_epi8(low, zero), _mm256_cmpgt_epi8(high, zero));
        const uint64_t negative = signs(low, high);
        uint64_t fill = 0;
        if (negative != 0) fill = signs(_mm256_cmpeq_epi8(low, fills), _mm256_cmpeq_epi8(high, fills));
        const uint64_t word = vczi_codes_of_bits(nonref, negative & ~fill, fill, doubled);
        memcpy(codes + i / 4, &word, sizeof(word));
    }
    vczi_genotype_generic.codes_of_bytes(alleles + 2 * i, doubled, ncalls - i, codes + i / 4);
}

TARGET static bool count_bytes(const uint8_t *alleles, size_t nitems, vczi_allele_counts_t *counts) {
    const __m256i three = _mm256_set1_epi8(3);
    uint64_t ones = 0, twos = 0, threes = 0, negative = 0, above = 0;
    size_t i = 0;
    for (; i + 64 <= nitems; i += 64) {
        const __m256i low = load(alleles + i), high = load(alleles + i + 32);
        const uint64_t sign = signs(low, high);
        const uint64_t a = signs(_mm256_slli_epi64(low, 7), _mm256_slli_epi64(high, 7)) & ~sign;
        const uint64_t b = signs(_mm256_slli_epi64(low, 6), _mm256_slli_epi64(high, 6)) & ~sign;
        above |= signs(_mm256_cmpgt_epi8(low, three), _mm256_cmpgt_epi8(high, three));
        ones += count_bits(a & ~b);
        twos += count_bits(b & ~a);
        threes += count_bits(a & b);
        negative += count_bits(sign);
    }
    counts->one += ones;
    counts->two += twos;
    counts->three += threes;
    counts->negative += negative;
    return above == 0 && vczi_genotype_generic.count_bytes(alleles + i, nitems - i, counts);
}

/* ---- Codes ---- */

TARGET static VCZI_ALWAYS_INLINE void put(int8_t *p, bool past, __m256i v) {
    if (past) {
        _mm256_stream_si256((__m256i *) (void *) p, v);
    } else {
        store(p, v);
    }
}

TARGET static VCZI_ALWAYS_INLINE size_t expand_vectors(const uint8_t *codes, size_t ncalls, int8_t *out, bool past) {
    /* Of a number of four bits: what its lower, and its upper, two bits stand for. */
    const __m256i lower = _mm256_setr_epi8(0, 1, 2, -1, 0, 1, 2, -1, 0, 1, 2, -1, 0, 1, 2, -1, 0, 1, 2, -1, 0, 1, 2, -1,
                                           0, 1, 2, -1, 0, 1, 2, -1);
    const __m256i upper = _mm256_setr_epi8(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, -1, -1, -1, -1, 0, 0, 0, 0, 1, 1, 1, 1,
                                           2, 2, 2, 2, -1, -1, -1, -1);
    const __m256i nibble = _mm256_set1_epi8(0x0F);
    size_t i = 0;
    for (; i + 128 <= ncalls; i += 128) {
        const __m256i word = load(codes + i / 4);
        const __m256i low = AND(word, nibble), high = AND(DOWN(word, 4), nibble);
        const __m256i a = _mm256_shuffle_epi8(lower, low), b = _mm256_shuffle_epi8(upper, low);
        const __m256i c = _mm256_shuffle_epi8(lower, high), d = _mm256_shuffle_epi8(upper, high);
        const __m256i ab0 = _mm256_unpacklo_epi8(a, b), ab1 = _mm256_unpackhi_epi8(a, b);
        const __m256i cd0 = _mm256_unpacklo_epi8(c, d), cd1 = _mm256_unpackhi_epi8(c, d);
        const __m256i q0 = _mm256_unpacklo_epi16(ab0, cd0), q1 = _mm256_unpackhi_epi16(ab0, cd0);
        const __m256i q2 = _mm256_unpacklo_epi16(ab1, cd1), q3 = _mm256_unpackhi_epi16(ab1, cd1);
        put(out + i, past, _mm256_permute2x128_si256(q0, q1, 0x20));
        put(out + i + 32, past, _mm256_permute2x128_si256(q2, q3, 0x20));
        put(out + i + 64, past, _mm256_permute2x128_si256(q0, q1, 0x31));
        put(out + i + 96, past, _mm256_permute2x128_si256(q2, q3, 0x31));
    }
    return i;
}

TARGET static void expand(const uint8_t *codes, size_t ncalls, int8_t *out) {
    const size_t i = expand_vectors(codes, ncalls, out, false);
    vczi_genotype_generic.expand(codes + i / 4, ncalls - i, out + i);
}

TARGET static void expand_past(const uint8_t *codes, size_t ncalls, int8_t *out) {
    const size_t first = (size_t) (0 - (uintptr_t) out) % 32; /* calls up to where whole vectors may go */
    if (first % 4 != 0 || first > ncalls) {
        expand(codes, ncalls, out);
        return;
    }
    vczi_genotype_generic.expand(codes, first, out);
    const size_t end = first + expand_vectors(codes + first / 4, ncalls - first, out + first, true);
    expand(codes + end / 4, ncalls - end, out + end);
}

TARGET static uint64_t count_missing(const uint8_t *codes, size_t nbytes) {
    uint64_t count = 0;
    size_t i = 0;
    for (; i + 8 <= nbytes; i += 8) {
        const uint64_t word = load_word(codes + i);
        count += count_bits(word & word >> 1 & VCZI_EVEN_BITS);
    }
    return count + vczi_genotype_generic.count_missing(codes + i, nbytes - i);
}

static void settle(void) {
    _mm_sfence(); /* stores past the caches are in no order with others */
}

const vczi_genotype_kernels_t vczi_genotype_avx2 = {
    codes_of_planes, codes_of_bytes, expand, expand_past, settle, count_missing, count_planes, count_bytes,
};
#endif
