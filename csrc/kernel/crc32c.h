/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* CRC-32C (Castagnoli), as Zarr's crc32c codec has it. */
#ifndef VCZI_CRC32C_H
#define VCZI_CRC32C_H

#include "bytes.h"

uint32_t vczi_crc32c(vczi_span_t in);

#endif
