/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Features of this processor, read once per process; VCZC_CPU can only take features away. */
#ifndef VCZI_CPU_H
#define VCZI_CPU_H

#include <stdint.h>

enum {
    VCZI_CPU_SSE2 = 1u << 0,
    VCZI_CPU_SSSE3 = 1u << 1,
    VCZI_CPU_SSE42 = 1u << 2,
    VCZI_CPU_AVX2 = 1u << 3, /* and POPCNT; with the system's support for the registers, as all below */
    VCZI_CPU_BMI2 = 1u << 4,
    VCZI_CPU_AVX512 = 1u << 5, /* F, BW, DQ and VL */
    VCZI_CPU_VBMI = 1u << 6,
    VCZI_CPU_GFNI = 1u << 7,
    VCZI_CPU_NEON = 1u << 8,
    VCZI_CPU_CRC32 = 1u << 9 /* ARM's crc32c instructions */
};

/* The features that may be used. VCZC_CPU = generic | sse2 | ssse3 | avx2 | avx512 | neon is a level: what lies above
 * it is taken away. An unknown word changes nothing. */
uint32_t vczi_cpu_features(void);

/* The level that is in force, as VCZC_CPU spells it. */
const char *vczi_cpu_level(void);

#endif
