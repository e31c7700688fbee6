/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The genotype kernels of one instruction set, as genotype.c chooses among them. Seen by genotype*.c and their test.
 *
 * An allele is one byte: 0 the reference, above it another, -2 (fill) none, any other negative number missing.
 * The code of a call of two alleles is two bits, four calls to a byte, the first in the lowest bits: how many alleles
 * are not the reference, or 3 where one is missing or both are fill. */
#ifndef VCZI_GENOTYPE_KERNELS_H
#define VCZI_GENOTYPE_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler.h"

/* How often alleles occur. Zeroed by the caller: kernels add. */
typedef struct {
    uint64_t one, two, three, negative;
} vczi_allele_counts_t;

/* Kernels take any number and any alignment, and read and write nothing outside of what they are told. */
typedef struct {
    /* Codes of 4 * ngroups calls, whose alleles are the bits of planes that lie `stride` bytes apart: the lowest
     * `nlive` planes (1, 2 or 8), others are zero. With `doubled` a call with one allele and one fill counts its
     * allele twice. */
    void (*codes_of_planes)(const uint8_t *planes, size_t stride, size_t nlive, bool doubled, size_t ngroups,
                            uint8_t *codes);

    /* Codes of `ncalls` pairs of bytes. Bits of the last byte that are of no call are zero. */
    void (*codes_of_bytes)(const uint8_t *alleles, bool doubled, size_t ncalls, uint8_t *codes);

    /* A number for each code; -1 for missing. */
    void (*expand)(const uint8_t *codes, size_t ncalls, int8_t *out);

    /* The same past the caches, for results that would drive everything else out of them. Other threads may look at
     * them after `settle`. */
    void (*expand_past)(const uint8_t *codes, size_t ncalls, int8_t *out);
    void (*settle)(void);

    /* How many of the codes in `nbytes` bytes are 3. */
    uint64_t (*count_missing)(const uint8_t *codes, size_t nbytes);

    /* Count the alleles of `nitems` bits of each plane, or bytes. False, and nothing that counts, where one is above
     * three. */
    bool (*count_planes)(const uint8_t *planes, size_t stride, size_t nlive, size_t nitems,
                         vczi_allele_counts_t *counts);
    bool (*count_bytes)(const uint8_t *alleles, size_t nitems, vczi_allele_counts_t *counts);
} vczi_genotype_kernels_t;

extern const vczi_genotype_kernels_t vczi_genotype_generic;

#if VCZI_ARCH_X86
extern const vczi_genotype_kernels_t vczi_genotype_avx2;
extern const vczi_genotype_kernels_t vczi_genotype_avx512;
#endif

/* ---- What all of them do with words of bits, one for each allele; pairs lie at even places ---- */

#define VCZI_EVEN_BITS UINT64_C(0x5555555555555555)

static VCZI_ALWAYS_INLINE uint64_t vczi_codes_of_bits(uint64_t nonref, uint64_t missing, uint64_t fill, bool doubled) {
    if (doubled) nonref |= fill & ((nonref >> 1 & VCZI_EVEN_BITS) | (nonref & VCZI_EVEN_BITS) << 1);
    const uint64_t none = (missing | missing >> 1 | (fill & fill >> 1)) & VCZI_EVEN_BITS;
    return ((nonref & VCZI_EVEN_BITS) + (nonref >> 1 & VCZI_EVEN_BITS)) | none | none << 1;
}

#endif
