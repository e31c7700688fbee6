/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Genotype calls of an array, and of memory, to what is made of them: on the pool, without the genotypes in between
 * where a Blosc block's bit planes serve as they are. */
#ifndef VCZI_ARRAY_CALLS_H
#define VCZI_ARRAY_CALLS_H

#include "array_open.h"
#include "calls.h"

/* How many variants and samples `calls` (NULL: all) names, and the ploidy, into the sink. VCZC_ERR_ARGUMENT where the
 * array holds no genotypes, VCZC_ERR_INDEX for a number that is not in it. */
int vczi_array_calls_shape(const vczc_array_t *array, const vczc_calls_t *calls, vczi_calls_sink_t *sink);

/* Read the calls into the sink, which has been checked. */
int vczi_array_read_calls(const vczc_array_t *array, const vczc_calls_t *calls, const vczi_calls_sink_t *sink);

/* The same of calls in memory. */
int vczi_read_calls(const vczc_genotypes_t *genotypes, int nthreads, const vczi_calls_sink_t *sink);

#endif
