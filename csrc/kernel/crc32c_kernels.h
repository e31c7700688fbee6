/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The variants of the CRC-32C kernel: each takes the running value (not inverted) and gives the next one. */
#ifndef VCZI_CRC32C_KERNELS_H
#define VCZI_CRC32C_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "compiler.h"

#if VCZI_ARCH_X86 && (defined(__x86_64__) || defined(_M_X64))
#define VCZI_BUILD_CRC32C_X86 1
#else
#define VCZI_BUILD_CRC32C_X86 0
#endif
#if VCZI_ARCH_ARM64 && (defined(__GNUC__) || defined(__clang__))
#define VCZI_BUILD_CRC32C_ARM 1
#else
#define VCZI_BUILD_CRC32C_ARM 0
#endif

#if VCZI_BUILD_CRC32C_X86
uint32_t vczi_crc32c_x86(uint32_t crc, const uint8_t *data, size_t nbytes);
#endif
#if VCZI_BUILD_CRC32C_ARM
uint32_t vczi_crc32c_arm(uint32_t crc, const uint8_t *data, size_t nbytes);
#endif

#endif
