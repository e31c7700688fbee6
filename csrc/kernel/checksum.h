/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Checksums of 32 bits that need no library: Fletcher's as HDF5 and numcodecs have it, and Jenkins' lookup3. */
#ifndef VCZI_CHECKSUM_H
#define VCZI_CHECKSUM_H

#include "bytes.h"

/* Of 16-bit big-endian words; a last odd byte has a zero behind it. */
uint32_t vczi_fletcher32(vczi_span_t in);

/* Bob Jenkins' hashlittle (lookup3, 2006), bytes taken little-endian. */
uint32_t vczi_lookup3(vczi_span_t in, uint32_t seed);

#endif
