/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* LZ4 blocks. The only user of lz4. */
#ifndef VCZI_UNLZ4_H
#define VCZI_UNLZ4_H

#include "bytes.h"

/* Decode one block into exactly `out_nbytes` bytes; VCZC_ERR_CORRUPT else. */
int vczi_unlz4(vczi_span_t in, uint8_t *out, size_t out_nbytes);

/* numcodecs's form: a u32 little-endian raw size, then one block. */
int vczi_unlz4_sized(vczi_span_t in, uint8_t *out, size_t out_nbytes);

/* VCZC_ERR_CORRUPT where `in`, as vczi_unlz4_sized takes it, cannot hold exactly `out_nbytes` bytes. */
int vczi_unlz4_sized_check(vczi_span_t in, size_t out_nbytes);

#endif
