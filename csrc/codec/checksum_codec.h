/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The codec `crc32c`: a checksum of four bytes, little-endian, behind the bytes that it is of. */
#ifndef VCZI_CHECKSUM_CODEC_H
#define VCZI_CHECKSUM_CODEC_H

#include "codec.h"

int vczi_crc32c_set_codec(const vczi_codec_spec_t *spec, int variant, vczi_codec_t *codec);

#endif
