/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Several blocks at once, each with a place and a status of its own. */
#ifndef VCZI_BATCH_H
#define VCZI_BATCH_H

#include "vczc.h"

/* As vczc_read_blocks says; what the reads hold has been checked, or their status is set. */
int vczi_batch_read(vczc_block_read_t *reads, size_t nreads, const vczc_batch_options_t *options);

#endif
