/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The compressors: blosc, zstd, gzip and zlib, lz4. Their settings concern the writer; the reader needs none. */
#ifndef VCZI_COMPRESS_CODEC_H
#define VCZI_COMPRESS_CODEC_H

#include "codec.h"
#include "inflate.h"

int vczi_blosc_set_codec(const vczi_codec_spec_t *spec, int variant, vczi_codec_t *codec);
int vczi_zstd_set_codec(const vczi_codec_spec_t *spec, int variant, vczi_codec_t *codec);
/* `variant` is VCZI_INFLATE_…. */
int vczi_inflate_set_codec(const vczi_codec_spec_t *spec, int variant, vczi_codec_t *codec);
int vczi_lz4_set_codec(const vczi_codec_spec_t *spec, int variant, vczi_codec_t *codec);

#endif
