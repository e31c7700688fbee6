/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* BloscLZ streams, as c-blosc 1.x writes them. */
#ifndef VCZI_UNBLOSCLZ_H
#define VCZI_UNBLOSCLZ_H

#include "bytes.h"

/* Decode one stream into exactly `out_nbytes` bytes; VCZC_ERR_CORRUPT else. */
int vczi_unblosclz(vczi_span_t in, uint8_t *out, size_t out_nbytes);

#endif
