/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The codecs `crc32c`, `crc32`, `adler32`, `fletcher32` and `jenkins_lookup3`: a checksum of four bytes, little-endian,
 * behind the bytes that it is of, or before them. */
#ifndef VCZI_CHECKSUM_CODEC_H
#define VCZI_CHECKSUM_CODEC_H

#include "codec.h"

enum {
    VCZI_CHECKSUM_CRC32C = 0,
    VCZI_CHECKSUM_CRC32 = 1,
    VCZI_CHECKSUM_ADLER32 = 2,
    VCZI_CHECKSUM_FLETCHER32 = 3,
    VCZI_CHECKSUM_LOOKUP3 = 4
};

/* `variant` is VCZI_CHECKSUM_…. */
int vczi_checksum_set_codec(const vczi_codec_spec_t *spec, int variant, vczi_codec_t *codec);

#endif
