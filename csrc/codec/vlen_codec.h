/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The codecs `vlen-utf8` and `vlen-bytes`: items of variable length. */
#ifndef VCZI_VLEN_CODEC_H
#define VCZI_VLEN_CODEC_H

#include "codec.h"

int vczi_vlen_set_layout(const vczi_codec_spec_t *spec, vczi_layout_t *layout);

#endif
