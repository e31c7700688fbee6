/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Regions as bcftools writes them, and lists of them in order. */
#ifndef VCZI_REGION_TEXT_H
#define VCZI_REGION_TEXT_H

#include "ids.h"

/* `contig`, `contig:pos`, `contig:from-` or `contig:from-to`; the contig's whole name is looked up first, braces may
 * hold it. VCZC_ERR_NOT_FOUND where there is no such contig, VCZC_ERR_ARGUMENT where it is no region. */
int vczi_region_parse(const vczi_ids_t *contigs, vczi_span_t text, vczc_interval_t *interval);

/* One region, or several with commas between them; they are appended to *intervals (vczi_realloc), which had
 * *nintervals. */
int vczi_region_parse_all(const vczi_ids_t *contigs, const char *text, vczc_interval_t **intervals, size_t *nintervals);

/* Sort, and join what overlaps or touches; returns how many are left. */
size_t vczi_intervals_join(vczc_interval_t *intervals, size_t nintervals);

#endif
