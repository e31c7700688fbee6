/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* CRC-32C by the crc32 instruction of SSE4.2. */
#include "crc32c_kernels.h"

#if VCZI_BUILD_CRC32C_X86
#include <nmmintrin.h>
#include <string.h>

VCZI_TARGET("sse4.2")
uint32_t vczi_crc32c_x86(uint32_t crc, const uint8_t *data, size_t nbytes) {
    uint64_t wide = crc;
    for (; nbytes >= 8; nbytes -= 8, data += 8) {
        uint64_t word;
        memcpy(&word, data, 8);
        wide = _mm_crc32_u64(wide, word);
    }
    crc = (uint32_t) wide;
    for (; nbytes > 0; nbytes--, data++) {
        crc = _mm_crc32_u8(crc, *data);
    }
    return crc;
}
#else
typedef int vczi_crc32c_x86_is_empty;
#endif
