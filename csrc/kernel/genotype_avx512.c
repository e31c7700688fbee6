/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Genotype kernels with AVX-512 (F, BW), where they are faster than AVX2's: a comparison of 64 bytes is a word of bits,
 * and three operands meet in one instruction. */
#include "genotype_kernels.h"

#if VCZI_ARCH_X86
#include <immintrin.h>
#include <string.h>

#define TARGET VCZI_TARGET("avx512f,avx512bw")

TARGET static VCZI_ALWAYS_INLINE __m512i load(const uint8_t *p) {
    return _mm512_loadu_si512((const void *) p);
}

TARGET static VCZI_ALWAYS_INLINE void store(void *p, __m512i v) {
    _mm512_storeu_si512(p, v);
}

#define AND(a, b) _mm512_and_si512(a, b)
#define OR(a, b) _mm512_or_si512(a, b)
#define AND3(a, b, c) _mm512_ternarylogic_epi64(a, b, c, 0x80)
#define OR3(a, b, c) _mm512_ternarylogic_epi64(a, b, c, 0xFE)
#define DOWN(a, n) _mm512_srli_epi64(a, n)

TARGET static VCZI_ALWAYS_INLINE __m512i add_pairs(__m512i bits, __m512i even) {
    return _mm512_add_epi8(AND(bits, even), AND(DOWN(bits, 1), even));
}

TARGET static VCZI_ALWAYS_INLINE __m512i codes_of_rows(const __m512i rows[8], __m512i doubled) {
    const __m512i even = _mm512_set1_epi8(0x55);
    const __m512i any = OR3(OR3(rows[0], rows[1], rows[2]), OR3(rows[3], rows[4], rows[5]), rows[6]);
    const __m512i all = AND3(AND3(rows[1], rows[2], rows[3]), AND3(rows[4], rows[5], rows[6]), rows[7]);
    const __m512i fill = _mm512_andnot_si512(rows[0], all);
    const __m512i missing = _mm512_andnot_si512(fill, rows[7]);
    const __m512i nonref = _mm512_andnot_si512(rows[7], any);
    const __m512i other = OR(AND(DOWN(nonref, 1), even), _mm512_slli_epi64(AND(nonref, even), 1));
    const __m512i alleles = OR(nonref, AND3(fill, doubled, other));
    const __m512i none = AND(OR3(missing, DOWN(missing, 1), AND(fill, DOWN(fill, 1))), even);
    return OR3(add_pairs(alleles, even), none, _mm512_slli_epi64(none, 1));
}

TARGET static void codes_of_planes(const uint8_t *planes, size_t stride, size_t nlive, bool doubled, size_t ngroups,
                                   uint8_t *codes) {
    const __m512i even = _mm512_set1_epi8(0x55);
    const __m512i doubling = _mm512_set1_epi8(doubled ? -1 : 0);
    size_t g = 0;
    if (nlive == 1) {
        for (; g + 64 <= ngroups; g += 64)
            store(codes + g, add_pairs(load(planes + g), even));
    } else if (nlive == 2) {
        for (; g + 64 <= ngroups; g += 64)
            store(codes + g, add_pairs(OR(load(planes + g), load(planes + stride + g)), even));
    } else {
        for (; g + 64 <= ngroups; g += 64) {
            const uint8_t *p = planes + g;
            const __m512i rows[8] = {load(p),
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
    vczi_genotype_avx2.codes_of_planes(planes + g, stride, nlive, doubled, ngroups - g, codes + g);
}

TARGET static void codes_of_bytes(const uint8_t *alleles, bool doubled, size_t ncalls, uint8_t *codes) {
    const __m512i zero = _mm512_setzero_si512();
    const __m512i fills = _mm512_set1_epi8(-2);
    size_t i = 0;
    for (; i + 32 <= ncalls; i += 32) {
        const __m512i bytes = load(alleles + 2 * i);
        const uint64_t nonref = _mm512_cmpgt_epi8_mask(bytes, zero);
        const uint64_t negative = _mm512_movepi8_mask(bytes);
        const uint64_t fill = _mm512_cmpeq_epi8_mask(bytes, fills);
        const uint64_t word = vczi_codes_of_bits(nonref, negative & ~fill, fill, doubled);
        memcpy(codes + i / 4, &word, sizeof(word));
    }
    vczi_genotype_generic.codes_of_bytes(alleles + 2 * i, doubled, ncalls - i, codes + i / 4);
}

TARGET static VCZI_ALWAYS_INLINE void put(int8_t *p, bool past, __m512i v) {
    if (past) {
        _mm512_stream_si512((void *) p, v);
    } else {
        store(p, v);
    }
}

TARGET static VCZI_ALWAYS_INLINE size_t expand_vectors(const uint8_t *codes, size_t ncalls, int8_t *out, bool past) {
    /* Words of four codes are dealt to the quarters of a register, so that what is unpacked ends up in order. */
    static const uint32_t words[16] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
    const __m512i order = _mm512_loadu_si512((const void *) words);
    const __m512i lower = _mm512_set1_epi32((int) 0xFF020100u);
    const __m512i upper = _mm512_set4_epi32(-1, 0x02020202, 0x01010101, 0);
    const __m512i nibble = _mm512_set1_epi8(0x0F);
    size_t i = 0;
    for (; i + 256 <= ncalls; i += 256) {
        const __m512i word = _mm512_permutexvar_epi32(order, load(codes + i / 4));
        const __m512i low = AND(word, nibble), high = AND(DOWN(word, 4), nibble);
        const __m512i a = _mm512_shuffle_epi8(lower, low), b = _mm512_shuffle_epi8(upper, low);
        const __m512i c = _mm512_shuffle_epi8(lower, high), d = _mm512_shuffle_epi8(upper, high);
        const __m512i ab0 = _mm512_unpacklo_epi8(a, b), ab1 = _mm512_unpackhi_epi8(a, b);
        const __m512i cd0 = _mm512_unpacklo_epi8(c, d), cd1 = _mm512_unpackhi_epi8(c, d);
        put(out + i, past, _mm512_unpacklo_epi16(ab0, cd0));
        put(out + i + 64, past, _mm512_unpackhi_epi16(ab0, cd0));
        put(out + i + 128, past, _mm512_unpacklo_epi16(ab1, cd1));
        put(out + i + 192, past, _mm512_unpackhi_epi16(ab1, cd1));
    }
    return i;
}

TARGET static void expand(const uint8_t *codes, size_t ncalls, int8_t *out) {
    const size_t i = expand_vectors(codes, ncalls, out, false);
    vczi_genotype_avx2.expand(codes + i / 4, ncalls - i, out + i);
}

TARGET static void expand_past(const uint8_t *codes, size_t ncalls, int8_t *out) {
    const size_t first = (size_t) (0 - (uintptr_t) out) % 64; /* calls up to where whole vectors may go */
    if (first % 4 != 0 || first > ncalls) {
        expand(codes, ncalls, out);
        return;
    }
    vczi_genotype_generic.expand(codes, first, out);
    const size_t end = first + expand_vectors(codes + first / 4, ncalls - first, out + first, true);
    expand(codes + end / 4, ncalls - end, out + end);
}

/* Sums wait for POPCNT, which both have. */
static uint64_t count_missing(const uint8_t *codes, size_t nbytes) {
    return vczi_genotype_avx2.count_missing(codes, nbytes);
}

static bool count_planes(const uint8_t *planes, size_t stride, size_t nlive, size_t nitems,
                         vczi_allele_counts_t *counts) {
    return vczi_genotype_avx2.count_planes(planes, stride, nlive, nitems, counts);
}

static bool count_bytes(const uint8_t *alleles, size_t nitems, vczi_allele_counts_t *counts) {
    return vczi_genotype_avx2.count_bytes(alleles, nitems, counts);
}

static void settle(void) {
    _mm_sfence(); /* stores past the caches are in no order with others */
}

const vczi_genotype_kernels_t vczi_genotype_avx512 = {
    codes_of_planes, codes_of_bytes, expand, expand_past, settle, count_missing, count_planes, count_bytes,
};
#endif
