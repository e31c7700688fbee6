/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The codec `transpose`: a permutation of the axes. It costs nothing by itself: the copy out of the chunk follows it.
 */
#ifndef VCZI_TRANSPOSE_CODEC_H
#define VCZI_TRANSPOSE_CODEC_H

#include "codec.h"

/* Applies the permutation on top of those before it. */
int vczi_transpose_set_layout(const vczi_codec_spec_t *spec, vczi_layout_t *layout);

#endif
