/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* What is made of genotype calls: dosages, counts, packed codes. Calls come in pieces of a row, as bit planes, as bytes
 * or as items of any strides, and go to their places in the caller's memory. */
#ifndef VCZI_CALLS_H
#define VCZI_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scratch.h"
#include "shuffled.h"
#include "vczc.h"

typedef enum { VCZI_CALLS_DOSAGE, VCZI_CALLS_ALLELES, VCZI_CALLS_MISSING, VCZI_CALLS_BED } vczi_calls_kind_t;

/* Where results go. Pieces of different rows may come from several threads at once, but for `of_samples`. */
typedef struct {
    vczi_calls_kind_t kind;
    int64_t nvariants, nsamples;
    int64_t ploidy;
    /* Dosages: the type of an item, and where that of (variant, sample) lies. */
    int dtype;
    char *out;
    int64_t strides[2];
    bool is_packed; /* int8 in C order: pieces may be longer than a row */
    bool is_large;  /* rows of int8, more than the caches should hold */
    /* Counts: of nalleles for each variant. */
    int64_t nalleles;
    int32_t *counts;
    /* Missing calls; either may be NULL. */
    int64_t *of_variants;
    int64_t *of_samples;
    /* Packed codes, as in PLINK's .bed. */
    uint8_t *bed;
    int64_t bed_row_nbytes;
} vczi_calls_sink_t;

/* Calls [sample, sample + ncalls) of a variant, both counted in the result. */
typedef struct {
    int64_t variant;
    int64_t sample;
    int64_t ncalls;
} vczi_calls_piece_t;

/* Refuse what cannot be had of so many calls of such a ploidy (VCZC_ERR_ARGUMENT), and set what follows from the rest.
 * Rows that are added to are zeroed by vczi_calls_begin. */
int vczi_calls_check(vczi_calls_sink_t *sink);

/* Zero rows [first, end) of what pieces add to. */
void vczi_calls_begin(const vczi_calls_sink_t *sink, int64_t first, int64_t end);

/* After its last piece a thread lets the others see what it wrote. */
void vczi_calls_end(const vczi_calls_sink_t *sink);

/* True where bit planes serve: pairs of alleles, or alleles that are only counted. */
bool vczi_calls_takes_planes(const vczi_calls_sink_t *sink);

/* Pieces whose alleles begin with item `first` of a bit-shuffled block of bytes; as bytes, one behind the other; and as
 * items of row `row` of what lies in memory: from column `first` on, or those whose numbers are columns[i] - first.
 * 0, or VCZC_ERR_ARGUMENT for an allele that is not counted, VCZC_ERR_NO_MEMORY. */
int vczi_calls_take_planes(const vczi_calls_sink_t *sink, vczi_calls_piece_t piece, const vczi_shuffled_t *block,
                           size_t first);
int vczi_calls_take_bytes(const vczi_calls_sink_t *sink, vczi_calls_piece_t piece, const uint8_t *alleles);
int vczi_calls_take_items(const vczi_calls_sink_t *sink, vczi_calls_piece_t piece, const vczc_genotypes_t *genotypes,
                          int64_t row, const int64_t *columns, int64_t first, vczi_scratch_t *scratch);

#endif
