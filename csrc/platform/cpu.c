/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Features of this processor. x86: CPUID leaves 1 and 7 and XCR0 (Intel SDM volume 2A, CPUID; volume 1, 13.3). ARM64:
 * vector instructions are always there; the checksum's are asked of the system. */
#include "cpu.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "atomic.h"
#include "compiler.h"

#if VCZI_ARCH_X86
#ifdef _MSC_VER
#include <intrin.h>
#else
#include <cpuid.h>
#endif
#ifdef __APPLE__
#include <sys/sysctl.h>
#endif
#elif VCZI_ARCH_ARM64
#if defined(__linux__)
#include <sys/auxv.h>
#elif defined(_WIN32)
#include <windows.h>
#endif
#endif

/* Tells "read" from "not yet read" where there are no features. */
#define IS_READ (INT64_C(1) << 32)

static vczi_atomic_t cpu_features;

typedef struct {
    const char *word;
    uint32_t defining; /* the level is in force where this is there */
    uint32_t allowed;  /* what the level leaves */
} level_t;

enum {
    ALLOWED_SSE2 = VCZI_CPU_SSE2,
    ALLOWED_SSSE3 = ALLOWED_SSE2 | VCZI_CPU_SSSE3,
    ALLOWED_AVX2 = ALLOWED_SSSE3 | VCZI_CPU_SSE42 | VCZI_CPU_AVX2 | VCZI_CPU_BMI2,
    ALLOWED_AVX512 = ALLOWED_AVX2 | VCZI_CPU_AVX512 | VCZI_CPU_VBMI | VCZI_CPU_GFNI,
    ALLOWED_NEON = VCZI_CPU_NEON | VCZI_CPU_CRC32
};

/* Lowest first; those of the other processor family are no words here. */
static const level_t levels[] = {
    {"generic", 0, 0},
#if VCZI_ARCH_X86
    {"sse2", VCZI_CPU_SSE2, ALLOWED_SSE2},
    {"ssse3", VCZI_CPU_SSSE3, ALLOWED_SSSE3},
    {"avx2", VCZI_CPU_AVX2, ALLOWED_AVX2},
    {"avx512", VCZI_CPU_AVX512, ALLOWED_AVX512},
#elif VCZI_ARCH_ARM64
    {"neon", VCZI_CPU_NEON, ALLOWED_NEON},
#endif
};

enum { NLEVELS = sizeof(levels) / sizeof(levels[0]) };

#if VCZI_ARCH_X86
typedef struct {
    uint32_t eax, ebx, ecx, edx;
} leaf_t;

static leaf_t read_leaf(uint32_t number) {
    leaf_t leaf = {0, 0, 0, 0};
#ifdef _MSC_VER
    int words[4];
    __cpuidex(words, 0, 0);
    if ((uint32_t) words[0] >= number) {
        __cpuidex(words, (int) number, 0);
        leaf.eax = (uint32_t) words[0];
        leaf.ebx = (uint32_t) words[1];
        leaf.ecx = (uint32_t) words[2];
        leaf.edx = (uint32_t) words[3];
    }
#else
    if (__get_cpuid_count(number, 0, &leaf.eax, &leaf.ebx, &leaf.ecx, &leaf.edx) == 0) {
        const leaf_t none = {0, 0, 0, 0};
        return none;
    }
#endif
    return leaf;
}

/* Registers that the system saves when it switches threads. */
static uint64_t read_xcr0(void) {
#ifdef _MSC_VER
    return _xgetbv(0);
#else
    uint32_t low, high;
    /* xgetbv, as bytes: the intrinsic needs a flag for the whole file */
    __asm__ volatile(".byte 0x0f, 0x01, 0xd0" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t) high << 32 | low;
#endif
}

/* macOS turns the wide registers on at a thread's first use of them, and XCR0 does not show them before that. */
static bool system_saves_avx512(uint64_t xcr0) {
#ifdef __APPLE__
    int is_there = 0;
    size_t nbytes = sizeof(is_there);
    (void) xcr0;
    return sysctlbyname("hw.optional.avx512f", &is_there, &nbytes, NULL, 0) == 0 && is_there != 0;
#else
    return (xcr0 & 0xe6) == 0xe6; /* SSE, AVX, mask registers, both halves of the wide ones */
#endif
}

static bool has_bit(uint32_t word, int bit) {
    return (word >> bit & 1) != 0;
}

static uint32_t read_processor(void) {
    const leaf_t one = read_leaf(1);
    const leaf_t seven = read_leaf(7);
    uint32_t features = 0;
    features |= has_bit(one.edx, 26) ? VCZI_CPU_SSE2 : 0;
    features |= has_bit(one.ecx, 9) ? VCZI_CPU_SSSE3 : 0;
    features |= has_bit(one.ecx, 20) ? VCZI_CPU_SSE42 : 0;
    features |= has_bit(seven.ebx, 8) ? VCZI_CPU_BMI2 : 0;
    const uint64_t xcr0 = has_bit(one.ecx, 27) ? read_xcr0() : 0; /* OSXSAVE */
    if ((xcr0 & 0x6) == 0x6 && has_bit(one.ecx, 28)) {
        features |= has_bit(seven.ebx, 5) && has_bit(one.ecx, 23) ? VCZI_CPU_AVX2 : 0;
        features |= has_bit(seven.ecx, 8) ? VCZI_CPU_GFNI : 0;
        const bool has_avx512 =
            has_bit(seven.ebx, 16) && has_bit(seven.ebx, 17) && has_bit(seven.ebx, 30) && has_bit(seven.ebx, 31);
        if (has_avx512 && system_saves_avx512(xcr0)) {
            features |= VCZI_CPU_AVX512;
            features |= has_bit(seven.ecx, 1) ? VCZI_CPU_VBMI : 0;
        }
    }
    return features;
}
#elif VCZI_ARCH_ARM64
static bool has_crc32(void) {
#if defined(__ARM_FEATURE_CRC32) || defined(__APPLE__)
    return true; /* promised by the compiler's flags; every ARM64 processor of Apple's has it */
#elif defined(__linux__)
    return (getauxval(AT_HWCAP) & (1ul << 7)) != 0; /* HWCAP_CRC32 of asm/hwcap.h */
#elif defined(_WIN32)
    return IsProcessorFeaturePresent(PF_ARM_V8_CRC32_INSTRUCTIONS_AVAILABLE) != 0;
#else
    return false;
#endif
}

static uint32_t read_processor(void) {
    return VCZI_CPU_NEON | (has_crc32() ? VCZI_CPU_CRC32 : 0);
}
#else
static uint32_t read_processor(void) {
    return 0;
}
#endif

static uint32_t lower_by_variable(uint32_t features) {
    const char *word = getenv("VCZC_CPU");
    for (int i = 0; word != NULL && i < NLEVELS; i++) {
        if (strcmp(levels[i].word, word) == 0) {
            return features & levels[i].allowed;
        }
    }
    return features;
}

uint32_t vczi_cpu_features(void) {
    int64_t known = vczi_atomic_peek(&cpu_features);
    if (known == 0) { /* several threads may read at once; they agree */
        known = IS_READ | lower_by_variable(read_processor());
        vczi_atomic_store(&cpu_features, known);
    }
    return (uint32_t) (known & UINT32_MAX);
}

const char *vczi_cpu_level(void) {
    const uint32_t features = vczi_cpu_features();
    const char *word = levels[0].word;
    for (int i = 1; i < NLEVELS; i++) {
        if ((features & levels[i].defining) != 0) {
            word = levels[i].word;
        }
    }
    return word;
}
