/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* CRC-32C by the crc32c instructions of ARMv8. */
#include "crc32c_kernels.h"

#if VCZI_BUILD_CRC32C_ARM
#include <arm_acle.h>
#include <string.h>

#ifdef __clang__
VCZI_TARGET("crc")
#else
VCZI_TARGET("+crc")
#endif
uint32_t vczi_crc32c_arm(uint32_t crc, const uint8_t *data, size_t nbytes) {
    for (; nbytes >= 8; nbytes -= 8, data += 8) {
        uint64_t word;
        memcpy(&word, data, 8);
        crc = __crc32cd(crc, word);
    }
    for (; nbytes > 0; nbytes--, data++) {
        crc = __crc32cb(crc, *data);
    }
    return crc;
}
#else
typedef int vczi_crc32c_arm_is_empty;
#endif
