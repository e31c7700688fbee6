/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Genotype kernels for any processor, in words of 64 bits, and the choice. A word of codes needs no byte order: pairs
 * of bits never leave their byte. */
#include "genotype.h"

#include <string.h>

#include "bytes.h"
#include "cpu.h"

#define TOP_BITS UINT64_C(0x8080808080808080)

static VCZI_ALWAYS_INLINE uint64_t load(const uint8_t *p) {
    uint64_t word;
    memcpy(&word, p, sizeof(word));
    return word;
}

static VCZI_ALWAYS_INLINE void store(uint8_t *p, uint64_t word) {
    memcpy(p, &word, sizeof(word));
}

static VCZI_ALWAYS_INLINE uint64_t count_bits(uint64_t word) {
    word -= word >> 1 & VCZI_EVEN_BITS;
    word = (word & UINT64_C(0x3333333333333333)) + (word >> 2 & UINT64_C(0x3333333333333333));
    word = (word + (word >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    return word * UINT64_C(0x0101010101010101) >> 56;
}

/* ---- Planes ---- */

/* The bits of eight planes at one place. */
typedef struct {
    uint64_t nonref, missing, fill;
} bits_t;

static VCZI_ALWAYS_INLINE bits_t bits_of_planes(const uint64_t rows[8]) {
    const uint64_t negative = rows[7];
    const uint64_t all = rows[1] & rows[2] & rows[3] & rows[4] & rows[5] & rows[6] & rows[7];
    const uint64_t any = rows[0] | rows[1] | rows[2] | rows[3] | rows[4] | rows[5] | rows[6];
    const uint64_t fill = all & ~rows[0];
    const bits_t bits = {any & ~negative, negative & ~fill, fill};
    return bits;
}

static VCZI_ALWAYS_INLINE uint64_t codes_of_rows(const uint64_t rows[8], bool doubled) {
    const bits_t bits = bits_of_planes(rows);
    return vczi_codes_of_bits(bits.nonref, bits.missing, bits.fill, doubled);
}

static void codes_of_planes(const uint8_t *planes, size_t stride, size_t nlive, bool doubled, size_t ngroups,
                            uint8_t *codes) {
    uint64_t rows[8] = {0};
    size_t g = 0;
    if (nlive <= 2) {
        for (; g + 8 <= ngroups; g += 8) {
            const uint64_t nonref = load(planes + g) | load(planes + (nlive - 1) * stride + g);
            store(codes + g, vczi_codes_of_bits(nonref, 0, 0, false));
        }
    } else {
        for (; g + 8 <= ngroups; g += 8) {
            for (size_t k = 0; k < 8; k++)
                rows[k] = load(planes + k * stride + g);
            store(codes + g, codes_of_rows(rows, doubled));
        }
    }
    for (; g < ngroups; g++) {
        for (size_t k = 0; k < nlive; k++)
            rows[k] = planes[k * stride + g];
        codes[g] = (uint8_t) codes_of_rows(rows, doubled);
    }
}

/* False where an allele is above three. */
static VCZI_ALWAYS_INLINE bool count_rows(const uint64_t rows[8], vczi_allele_counts_t *counts) {
    const uint64_t high = rows[2] | rows[3] | rows[4] | rows[5] | rows[6];
    counts->one += count_bits(rows[0] & ~rows[1] & ~rows[7]);
    counts->two += count_bits(rows[1] & ~rows[0] & ~rows[7]);
    counts->three += count_bits(rows[0] & rows[1] & ~rows[7]);
    counts->negative += count_bits(rows[7]);
    return (high & ~rows[7]) == 0;
}

static bool count_planes(const uint8_t *planes, size_t stride, size_t nlive, size_t nitems,
                         vczi_allele_counts_t *counts) {
    const size_t ngroups = nitems / 8;
    uint64_t rows[8] = {0};
    bool is_low = true;
    size_t g = 0;
    if (nlive == 1) {
        for (; g + 8 <= ngroups; g += 8)
            counts->one += count_bits(load(planes + g));
    } else {
        for (; g + 8 <= ngroups; g += 8) {
            for (size_t k = 0; k < nlive; k++)
                rows[k] = load(planes + k * stride + g);
            is_low &= count_rows(rows, counts);
        }
    }
    for (; g * 8 < nitems; g++) {
        const unsigned mask = nitems - g * 8 < 8 ? (1u << (nitems - g * 8)) - 1 : 0xFF;
        for (size_t k = 0; k < nlive; k++)
            rows[k] = planes[k * stride + g] & mask;
        is_low &= count_rows(rows, counts);
    }
    return is_low;
}

/* ---- Bytes ---- */

/* The highest bits of eight bytes, as one byte: bit i of byte i. */
static VCZI_ALWAYS_INLINE uint64_t top_bits(uint64_t word) {
    return (word >> 7 & UINT64_C(0x0101010101010101)) * UINT64_C(0x0102040810204080) >> 56;
}

/* The highest bit of each byte that is not zero; others are of no meaning. */
static VCZI_ALWAYS_INLINE uint64_t is_nonzero(uint64_t word) {
    return ((word & ~TOP_BITS) + ~TOP_BITS) | word;
}

/* Add eight alleles to the bits of what came before, at bit `at`. */
static VCZI_ALWAYS_INLINE void add_bytes(uint64_t word, unsigned at, bits_t *bits) {
    const uint64_t negative = word & TOP_BITS;
    const uint64_t fill = ~is_nonzero(word ^ UINT64_C(0xFEFEFEFEFEFEFEFE)) & TOP_BITS;
    bits->nonref |= top_bits(is_nonzero(word) & ~negative) << at;
    bits->missing |= top_bits(negative & ~fill) << at;
    bits->fill |= top_bits(fill) << at;
}

static void codes_of_bytes(const uint8_t *alleles, bool doubled, size_t ncalls, uint8_t *codes) {
    size_t i = 0;
    for (; i + 4 <= ncalls; i += 4) {
        bits_t bits = {0, 0, 0};
        add_bytes(vczi_load_u64le(alleles + 2 * i), 0, &bits);
        codes[i / 4] = (uint8_t) vczi_codes_of_bits(bits.nonref, bits.missing, bits.fill, doubled);
    }
    if (i < ncalls) {
        uint8_t last[8] = {0};
        bits_t bits = {0, 0, 0};
        memcpy(last, alleles + 2 * i, 2 * (ncalls - i));
        add_bytes(vczi_load_u64le(last), 0, &bits);
        codes[i / 4] = (uint8_t) vczi_codes_of_bits(bits.nonref, bits.missing, bits.fill, doubled);
    }
}

static bool count_bytes(const uint8_t *alleles, size_t nitems, vczi_allele_counts_t *counts) {
    uint64_t low[4] = {0, 0, 0, 0}, negative = 0;
    for (size_t i = 0; i < nitems; i++) {
        if (alleles[i] < 4) {
            low[alleles[i]]++;
        } else if (alleles[i] >= 0x80) {
            negative++;
        } else {
            return false;
        }
    }
    counts->one += low[1];
    counts->two += low[2];
    counts->three += low[3];
    counts->negative += negative;
    return true;
}

/* ---- Codes ---- */

static void expand(const uint8_t *codes, size_t ncalls, int8_t *out) {
    uint8_t *bytes = (uint8_t *) out;
    size_t i = 0;
    for (; i + 4 <= ncalls; i += 4) {
        const uint32_t c = codes[i / 4];
        const uint32_t numbers = (c | c << 6 | c << 12 | c << 18) & 0x03030303u;
        const uint32_t missing = numbers & numbers >> 1 & 0x01010101u;
        const uint32_t four = numbers | missing * 0xFFu;
        bytes[i] = (uint8_t) four;
        bytes[i + 1] = (uint8_t) (four >> 8);
        bytes[i + 2] = (uint8_t) (four >> 16);
        bytes[i + 3] = (uint8_t) (four >> 24);
    }
    for (; i < ncalls; i++) {
        const unsigned code = (unsigned) codes[i / 4] >> i % 4 * 2 & 3u;
        bytes[i] = (uint8_t) (code == 3 ? 0xFF : code);
    }
}

static uint64_t count_missing(const uint8_t *codes, size_t nbytes) {
    uint64_t count = 0;
    size_t i = 0;
    for (; i + 8 <= nbytes; i += 8) {
        const uint64_t word = load(codes + i);
        count += count_bits(word & word >> 1 & VCZI_EVEN_BITS);
    }
    for (; i < nbytes; i++)
        count += count_bits(codes[i] & (uint64_t) codes[i] >> 1 & VCZI_EVEN_BITS);
    return count;
}

/* Nothing is written past the caches. */
static void settle(void) {}

void vczi_copy_bits(const uint8_t *from, size_t first, size_t nbits, uint8_t *to) {
    const uint8_t *p = from + first / 8;
    const unsigned shift = first % 8;
    const size_t nbytes = (nbits + 7) / 8;
    size_t i = 0;
    if (shift == 0) {
        memcpy(to, p, nbytes);
        return;
    }
    const size_t nread = (shift + nbits + 7) / 8;
    if (!vczi_host_is_big_endian()) {
        for (; i + 16 <= nread; i += 8)
            store(to + i, load(p + i) >> shift | load(p + i + 8) << (64 - shift));
    }
    for (; i < nbytes; i++) {
        const unsigned next = i + 1 < nread ? p[i + 1] : 0;
        to[i] = (uint8_t) ((unsigned) p[i] >> shift | next << (8 - shift));
    }
}

const vczi_genotype_kernels_t vczi_genotype_generic = {
    codes_of_planes, codes_of_bytes, expand, expand, settle, count_missing, count_planes, count_bytes,
};

const vczi_genotype_kernels_t *vczi_genotype_kernels(void) {
    const uint32_t features = vczi_cpu_features();
#if VCZI_ARCH_X86
    if ((features & VCZI_CPU_AVX512) != 0) return &vczi_genotype_avx512;
    if ((features & VCZI_CPU_AVX2) != 0) return &vczi_genotype_avx2;
#endif
    (void) features;
    return &vczi_genotype_generic;
}
