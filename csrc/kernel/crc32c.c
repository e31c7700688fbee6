/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The choice, and a kernel that every processor has. */
#include "crc32c.h"

#include "compiler.h"
#include "cpu.h"
#include "crc32c_kernels.h"

/* One step of four bits in the reflected Castagnoli polynomial 0x82F63B78 (RFC 3720, appendix B.4). */
static const uint32_t nibble_table[16] = {
    0x00000000u, 0x105EC76Fu, 0x20BD8EDEu, 0x30E349B1u, 0x417B1DBCu, 0x5125DAD3u, 0x61C69362u, 0x7198540Du,
    0x82F63B78u, 0x92A8FC17u, 0xA24BB5A6u, 0xB21572C9u, 0xC38D26C4u, 0xD3D3E1ABu, 0xE330A81Au, 0xF36E6F75u,
};

static uint32_t crc32c_generic(uint32_t crc, const uint8_t *data, size_t nbytes) {
    for (size_t i = 0; i < nbytes; i++) {
        crc ^= data[i];
        crc = crc >> 4 ^ nibble_table[crc & 15u];
        crc = crc >> 4 ^ nibble_table[crc & 15u];
    }
    return crc;
}

uint32_t vczi_crc32c(vczi_span_t in) {
    const uint32_t cpu = vczi_cpu_features();
    uint32_t crc = 0xFFFFFFFFu;
#if VCZI_BUILD_CRC32C_X86
    if (cpu & VCZI_CPU_SSE42) {
        return ~vczi_crc32c_x86(crc, in.data, in.nbytes);
    }
#elif VCZI_BUILD_CRC32C_ARM
    if (cpu & VCZI_CPU_CRC32) {
        return ~vczi_crc32c_arm(crc, in.data, in.nbytes);
    }
#endif
    (void) cpu;
    return ~crc32c_generic(crc, in.data, in.nbytes);
}
