/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The codec `bytes`: items one after another, in one byte order. */
#ifndef VCZI_BYTES_CODEC_H
#define VCZI_BYTES_CODEC_H

#include "codec.h"

int vczi_bytes_set_layout(const vczi_codec_spec_t *spec, vczi_layout_t *layout);

#endif
