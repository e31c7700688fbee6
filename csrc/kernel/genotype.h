/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Genotype calls by the bit: the kernels of this processor. What is made of calls is in calls.c. */
#ifndef VCZI_GENOTYPE_H
#define VCZI_GENOTYPE_H

#include "genotype_kernels.h"

/* The best table that the processor's features allow. */
const vczi_genotype_kernels_t *vczi_genotype_kernels(void);

/* Bits [first, first + nbits) of `from`, from the first bit of `to` on; the last byte of `to` may end with bits that
 * follow them. */
void vczi_copy_bits(const uint8_t *from, size_t first, size_t nbits, uint8_t *to);

#endif
