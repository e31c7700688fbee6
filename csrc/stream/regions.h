/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The rows of a region: a summary of contigs, positions and ends, made once, says which rows to look at. */
#ifndef VCZI_REGIONS_H
#define VCZI_REGIONS_H

#include "columns.h"
#include "ids.h"

/* Of each `each` rows: contigs from-to, the least position, the greatest end. */
typedef struct {
    int64_t first_contig, last_contig;
    int64_t position, end;
} vczi_rows_summary_t;

struct vczc_regions {
    vczi_ids_t contigs;
    vczi_columns_t columns;
    vczi_rows_summary_t *summaries;
    int64_t nsummaries;
    int64_t each;
};

/* As vczc_regions_open, _close and _find_intervals say. */
int vczi_regions_open(vczc_regions_t **regions, vczc_store_t *store, const char *path);
void vczi_regions_close(vczc_regions_t *regions);
int vczi_regions_find(const vczc_regions_t *regions, const vczc_interval_t *intervals, size_t nintervals, int overlap,
                      vczc_rows_t **ranges, size_t *nranges);

#endif
