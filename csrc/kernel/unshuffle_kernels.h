/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The kernels of one instruction set, as unshuffle.c chooses among them. Seen by unshuffle*.c and their test. */
#ifndef VCZI_UNSHUFFLE_KERNELS_H
#define VCZI_UNSHUFFLE_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "compiler.h"

/* Kernels take any number of items and any alignment, and read and write nothing outside of them. */
typedef void vczi_unshuffle_fn(const uint8_t *planes, size_t stride, size_t nitems, uint8_t *out);
typedef void vczi_unshuffle_any_fn(const uint8_t *planes, size_t stride, size_t item_nbytes, size_t nitems,
                                   uint8_t *out);
typedef struct {
    /* Items of so many bytes, from byte planes that lie `stride` bytes apart. */
    vczi_unshuffle_fn *bytes2;
    vczi_unshuffle_fn *bytes4;
    vczi_unshuffle_fn *bytes8;
    vczi_unshuffle_fn *bytes16;
    vczi_unshuffle_any_fn *bytes_any; /* 2 to 255 */

    /* nitems groups of eight bytes, from eight bit planes that lie `stride` bytes apart. */
    vczi_unshuffle_fn *bits;

    /* As `bits`, where all planes but the lowest, or the lowest two, are zero: they are not read. */
    vczi_unshuffle_fn *bits_one;
    vczi_unshuffle_fn *bits_two;
} vczi_unshuffle_kernels_t;

extern const vczi_unshuffle_kernels_t vczi_unshuffle_generic;

#if VCZI_ARCH_X86
extern const vczi_unshuffle_kernels_t vczi_unshuffle_sse2;
extern const vczi_unshuffle_kernels_t vczi_unshuffle_avx2;
extern const vczi_unshuffle_kernels_t vczi_unshuffle_avx512;

/* Those that the higher tables take over. */
vczi_unshuffle_any_fn vczi_unshuffle_any_sse2;
vczi_unshuffle_fn vczi_unshuffle_bytes2_avx2;
vczi_unshuffle_fn vczi_unshuffle_bytes4_avx2;
vczi_unshuffle_fn vczi_unshuffle_bytes8_avx2;
vczi_unshuffle_fn vczi_unshuffle_bytes16_avx2;
#endif

#if VCZI_ARCH_ARM64
extern const vczi_unshuffle_kernels_t vczi_unshuffle_neon;
#endif

#endif
