/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The store's region_index is not read: it may be stale, and nothing in it tells. What it would say is worked out from
 * the data, so that no row is ever lost. */
#include "regions.h"

#include <string.h>

#include "array_open.h"
#include "mem.h"
#include "region_text.h"
#include "status.h"

/* Rows that share a summary, and rows that are looked at in one piece. */
#define MIN_EACH 1024
#define MAX_EACH 16384
#define PIECE_NROWS ((int64_t) 1 << 18)

/* Memory for a piece of rows. */
typedef struct {
    int64_t *contigs, *positions, *ends;
} piece_t;

static int piece_init(piece_t *piece, int64_t nrows) {
    const size_t n = (size_t) (nrows < PIECE_NROWS ? nrows : PIECE_NROWS);
    piece->contigs = vczi_alloc_array(n, 3 * sizeof(int64_t));
    if (piece->contigs == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    piece->positions = piece->contigs + n;
    piece->ends = piece->positions + n;
    return 0;
}

/* ---- The summary ---- */

static vczi_rows_summary_t summarise(const piece_t *piece, int64_t start, int64_t stop) {
    vczi_rows_summary_t summary = {INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN};
    for (int64_t i = start; i < stop; i++) {
        const int64_t contig = piece->contigs[i];
        summary.first_contig = contig < summary.first_contig ? contig : summary.first_contig;
        summary.last_contig = contig > summary.last_contig ? contig : summary.last_contig;
        summary.position = piece->positions[i] < summary.position ? piece->positions[i] : summary.position;
        summary.end = piece->ends[i] > summary.end ? piece->ends[i] : summary.end;
    }
    return summary;
}

static int make_summaries(vczc_regions_t *regions, piece_t *piece) {
    const int64_t nrows = regions->columns.nrows, each = regions->each;
    const int64_t step = PIECE_NROWS / each * each;
    for (int64_t start = 0; start < nrows; start += step) {
        const int64_t stop = nrows - start < step ? nrows : start + step;
        const int ret =
            vczi_columns_read(&regions->columns, start, stop, piece->contigs, piece->positions, piece->ends);
        if (ret != 0) {
            return ret;
        }
        for (int64_t at = start; at < stop; at += each) {
            const int64_t end = stop - at < each ? stop : at + each;
            regions->summaries[at / each] = summarise(piece, at - start, end - start);
        }
    }
    return 0;
}

int vczi_regions_open(vczc_regions_t **regions, vczc_store_t *store, const char *path) {
    piece_t piece = {0};
    vczc_regions_t *made = vczi_alloc_zeroed(1, sizeof(*made));
    int ret = made == NULL ? VCZC_ERR_NO_MEMORY : vczi_ids_init(&made->contigs, store, path, "contig_id");
    if (ret == 0) {
        ret = vczi_columns_init(&made->columns, store, path);
    }
    if (ret == 0) {
        const int64_t nrows = made->columns.nrows, chunk = made->columns.position->info.chunks[0];
        made->each = chunk < MIN_EACH ? MIN_EACH : chunk > MAX_EACH ? MAX_EACH : chunk;
        made->nsummaries = nrows == 0 ? 0 : (nrows - 1) / made->each + 1;
        made->summaries = vczi_alloc_array((size_t) made->nsummaries, sizeof(*made->summaries));
        ret = made->summaries == NULL ? VCZC_ERR_NO_MEMORY : piece_init(&piece, nrows);
    }
    if (ret == 0) {
        ret = make_summaries(made, &piece);
    }
    vczi_free(piece.contigs);
    if (ret != 0) {
        vczi_regions_close(made);
        return ret;
    }
    *regions = made;
    return 0;
}

void vczi_regions_close(vczc_regions_t *regions) {
    if (regions == NULL) {
        return;
    }
    vczi_ids_clear(&regions->contigs);
    vczi_columns_clear(&regions->columns);
    vczi_free(regions->summaries);
    vczi_free(regions);
}

/* ---- Finding ---- */

typedef struct {
    const vczc_interval_t *intervals; /* ascending, none touching another */
    size_t nintervals;
    int overlap;
    vczc_rows_t *ranges;
    size_t nranges;
    size_t capacity;
} search_t;

/* The first interval of the contig that does not end before `position`, or NULL. */
static const vczc_interval_t *first_interval(const search_t *search, int64_t contig, int64_t position) {
    size_t low = 0, high = search->nintervals;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const vczc_interval_t *interval = &search->intervals[middle];
        if (interval->contig < contig || (interval->contig == contig && interval->stop < position)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == search->nintervals || search->intervals[low].contig != contig) {
        return NULL;
    }
    return &search->intervals[low];
}

enum { NO_ROWS, SOME_ROWS, ALL_ROWS };

/* Which of the rows behind a summary overlap. */
static int look_at(const search_t *search, const vczi_rows_summary_t *rows) {
    if (rows->first_contig != rows->last_contig) {
        const vczc_interval_t *interval = NULL;
        for (size_t i = 0; i < search->nintervals && interval == NULL; i++) {
            const int64_t contig = search->intervals[i].contig;
            interval = contig >= rows->first_contig && contig <= rows->last_contig ? &search->intervals[i] : NULL;
        }
        return interval == NULL ? NO_ROWS : SOME_ROWS;
    }
    const vczc_interval_t *interval = first_interval(search, rows->first_contig, rows->position);
    if (interval == NULL || interval->start > rows->end) {
        return NO_ROWS;
    }
    return interval->start <= rows->position && interval->stop >= rows->end ? ALL_ROWS : SOME_ROWS;
}

static int append(search_t *search, int64_t start, int64_t stop) {
    if (search->nranges != 0 && search->ranges[search->nranges - 1].stop == start) {
        search->ranges[search->nranges - 1].stop = stop;
        return 0;
    }
    if (search->nranges == search->capacity) {
        const size_t capacity = search->capacity == 0 ? 16 : 2 * search->capacity;
        vczc_rows_t *grown = vczi_realloc(search->ranges, capacity, sizeof(*grown));
        if (grown == NULL) {
            return VCZC_ERR_NO_MEMORY;
        }
        search->ranges = grown;
        search->capacity = capacity;
    }
    search->ranges[search->nranges++] = (vczc_rows_t){start, stop};
    return 0;
}

static int look_through(const vczi_columns_t *columns, search_t *search, const piece_t *piece, int64_t start,
                        int64_t stop) {
    int64_t *ends = search->overlap == VCZC_OVERLAP_RECORD ? piece->ends : NULL;
    int ret = vczi_columns_read(columns, start, stop, piece->contigs, piece->positions, ends);
    for (int64_t i = 0; ret == 0 && i < stop - start; i++) {
        const int64_t end = ends == NULL ? piece->positions[i] : ends[i];
        const vczc_interval_t *interval = first_interval(search, piece->contigs[i], piece->positions[i]);
        if (interval != NULL && interval->start <= end) {
            ret = append(search, start + i, start + i + 1);
        }
    }
    return ret;
}

static int look_everywhere(const vczc_regions_t *regions, search_t *search) {
    const int64_t nrows = regions->columns.nrows, each = regions->each;
    piece_t piece = {0};
    int ret = piece_init(&piece, nrows);
    for (int64_t i = 0; ret == 0 && i < regions->nsummaries;) {
        const int64_t start = i * each;
        const int found = look_at(search, &regions->summaries[i++]);
        while (i < regions->nsummaries && (i + 1) * each - start <= PIECE_NROWS &&
               look_at(search, &regions->summaries[i]) == found) {
            i++;
        }
        const int64_t stop = nrows / each < i ? nrows : i * each;
        if (found == ALL_ROWS) {
            ret = append(search, start, stop);
        } else if (found == SOME_ROWS) {
            ret = look_through(&regions->columns, search, &piece, start, stop);
        }
    }
    vczi_free(piece.contigs);
    return ret;
}

int vczi_regions_find(const vczc_regions_t *regions, const vczc_interval_t *intervals, size_t nintervals, int overlap,
                      vczc_rows_t **ranges, size_t *nranges) {
    search_t search = {.overlap = overlap};
    vczc_interval_t *joined = vczi_alloc_array(nintervals, sizeof(*joined));
    if (joined == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    if (nintervals != 0) {
        memcpy(joined, intervals, nintervals * sizeof(*joined));
    }
    search.intervals = joined;
    search.nintervals = vczi_intervals_join(joined, nintervals);
    const int ret = nintervals == 0 ? 0 : look_everywhere(regions, &search);
    vczi_free(joined);
    if (ret != 0) {
        vczi_free(search.ranges);
        return ret;
    }
    *ranges = search.ranges;
    *nranges = search.nranges;
    return 0;
}
