/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Contig, position and end of the records of a VCZ, as int64_t whatever they are stored as. */
#ifndef VCZI_COLUMNS_H
#define VCZI_COLUMNS_H

#include <stdbool.h>

#include "vczc.h"

typedef struct {
    vczc_array_t *contig;
    vczc_array_t *position;
    /* Where the records end: the first of these that is there. Else each has one base. */
    vczc_array_t *length;
    vczc_array_t *allele; /* whose first is the reference */
    vczc_array_t *end;    /* INFO/END; counts beside the allele where it is further on */
    int64_t nrows;
} vczi_columns_t;

/* Open the arrays of the group at `path`. VCZC_ERR_METADATA where they have no row for each variant_position. On
 * failure `columns` is zeroed. */
int vczi_columns_init(vczi_columns_t *columns, vczc_store_t *store, const char *path);
void vczi_columns_clear(vczi_columns_t *columns);

/* Rows [start, stop): each output has room for them; `ends` may be NULL. */
int vczi_columns_read(const vczi_columns_t *columns, int64_t start, int64_t stop, int64_t *contigs, int64_t *positions,
                      int64_t *ends);

#endif
