/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Public functions of several blocks at once, samples and regions. */
#include <string.h>

#include "api_argument.h"
#include "array_open.h"
#include "batch.h"
#include "ids.h"
#include "mem.h"
#include "region_text.h"
#include "regions.h"
#include "status.h"
#include "vczc.h"

/* ---- Several blocks at once ---- */

int vczc_read_blocks(vczc_block_read_t *reads, size_t nreads, const vczc_batch_options_t *options) {
    vczc_batch_options_t used = {.struct_nbytes = sizeof(used)};
    if (reads == NULL && nreads != 0) {
        return vczi_null_argument("reads");
    }
    if (options != NULL) {
        if (options->struct_nbytes < sizeof(options->struct_nbytes)) {
            return vczi_fail(VCZC_ERR_ARGUMENT, "struct_nbytes of the options is %zu; it must be their size",
                             options->struct_nbytes);
        }
        memcpy(&used, options, options->struct_nbytes < sizeof(used) ? options->struct_nbytes : sizeof(used));
    }
    const int ret = vczi_check_nthreads(used.nthreads);
    if (ret != 0) {
        return ret;
    }
    for (size_t i = 0; i < nreads; i++) {
        const vczc_block_read_t *read = &reads[i];
        if (read->array == NULL || (read->coords == NULL && read->array->info.ndim != 0) ||
            (read->out == NULL && read->out_size != 0)) {
            return vczi_fail(VCZC_ERR_ARGUMENT, "read %zu has no array, coords or out", i);
        }
    }
    return vczi_batch_read(reads, nreads, &used);
}

/* ---- Samples ---- */

struct vczc_samples {
    vczi_ids_t ids;
};

int vczc_samples_open(vczc_samples_t **samples, vczc_store_t *store, const char *path) {
    if (samples == NULL) {
        return vczi_null_argument("samples");
    }
    *samples = NULL;
    if (store == NULL || path == NULL) {
        return vczi_null_argument(store == NULL ? "store" : "path");
    }
    vczc_samples_t *made = vczi_alloc_zeroed(1, sizeof(*made));
    const int ret = made == NULL ? VCZC_ERR_NO_MEMORY : vczi_ids_init(&made->ids, store, path, "sample_id");
    if (ret != 0) {
        vczi_free(made);
        return ret;
    }
    *samples = made;
    return 0;
}

void vczc_samples_close(vczc_samples_t *samples) {
    if (samples != NULL) {
        vczi_ids_clear(&samples->ids);
        vczi_free(samples);
    }
}

int64_t vczc_samples_count(const vczc_samples_t *samples) {
    return samples == NULL ? 0 : samples->ids.nids;
}

const char *vczc_samples_id(const vczc_samples_t *samples, int64_t index) {
    return index < 0 || index >= vczc_samples_count(samples) ? NULL : vczi_ids_view(&samples->ids, index);
}

int vczc_samples_find(const vczc_samples_t *samples, const char *id, int64_t *index) {
    if (index == NULL) {
        return vczi_null_argument("index");
    }
    *index = -1;
    if (samples == NULL || id == NULL) {
        return vczi_null_argument(samples == NULL ? "samples" : "id");
    }
    const int64_t found = id[0] == '\0' ? -1 : vczi_ids_find(&samples->ids, vczi_span(id, strlen(id)));
    if (found < 0) {
        return vczi_fail(VCZC_ERR_NOT_FOUND, "there is no sample '%s'", id);
    }
    if (samples->ids.twice[found] != 0) {
        return vczi_fail(VCZC_ERR_METADATA, "the store has two samples '%s': choose them by index", id);
    }
    *index = found;
    return 0;
}

/* ---- Regions ---- */

int vczc_regions_open(vczc_regions_t **regions, vczc_store_t *store, const char *path) {
    if (regions == NULL) {
        return vczi_null_argument("regions");
    }
    *regions = NULL;
    if (store == NULL || path == NULL) {
        return vczi_null_argument(store == NULL ? "store" : "path");
    }
    return vczi_regions_open(regions, store, path);
}

void vczc_regions_close(vczc_regions_t *regions) {
    vczi_regions_close(regions);
}

int64_t vczc_regions_ncontigs(const vczc_regions_t *regions) {
    return regions == NULL ? 0 : regions->contigs.nids;
}

const char *vczc_regions_contig(const vczc_regions_t *regions, int64_t contig) {
    return contig < 0 || contig >= vczc_regions_ncontigs(regions) ? NULL : vczi_ids_view(&regions->contigs, contig);
}

int vczc_regions_parse(const vczc_regions_t *regions, const char *text, vczc_interval_t *interval) {
    if (interval == NULL) {
        return vczi_null_argument("interval");
    }
    *interval = (vczc_interval_t){0, 0, 0};
    if (regions == NULL || text == NULL) {
        return vczi_null_argument(regions == NULL ? "regions" : "text");
    }
    return vczi_region_parse(&regions->contigs, vczi_span(text, strlen(text)), interval);
}

static int check_interval(const vczc_regions_t *regions, const vczc_interval_t *interval) {
    if (interval->contig < 0 || interval->contig >= regions->contigs.nids) {
        return vczi_fail(VCZC_ERR_INDEX, "there is no contig %lld", (long long) interval->contig);
    }
    if (interval->start > interval->stop || interval->start < 0 || interval->stop > VCZC_CONTIG_END) {
        return vczi_fail(VCZC_ERR_ARGUMENT, "positions from %lld to %lld are no interval", (long long) interval->start,
                         (long long) interval->stop);
    }
    return 0;
}

int vczc_regions_find_intervals(const vczc_regions_t *regions, const vczc_interval_t *intervals, size_t nintervals,
                                int overlap, vczc_rows_t **ranges, size_t *nranges) {
    if (ranges == NULL || nranges == NULL) {
        return vczi_null_argument("ranges or nranges");
    }
    *ranges = NULL;
    *nranges = 0;
    if (regions == NULL || (intervals == NULL && nintervals != 0)) {
        return vczi_null_argument(regions == NULL ? "regions" : "intervals");
    }
    if (overlap != VCZC_OVERLAP_RECORD && overlap != VCZC_OVERLAP_POS) {
        return vczi_fail(VCZC_ERR_ARGUMENT, "unknown overlap %d", overlap);
    }
    int ret = 0;
    for (size_t i = 0; ret == 0 && i < nintervals; i++) {
        ret = check_interval(regions, &intervals[i]);
    }
    return ret != 0 ? ret : vczi_regions_find(regions, intervals, nintervals, overlap, ranges, nranges);
}

int vczc_regions_find(const vczc_regions_t *regions, const char *text, int overlap, vczc_rows_t **ranges,
                      size_t *nranges) {
    vczc_interval_t *intervals = NULL;
    size_t nintervals = 0;
    if (ranges == NULL || nranges == NULL) {
        return vczi_null_argument("ranges or nranges");
    }
    *ranges = NULL;
    *nranges = 0;
    if (regions == NULL || text == NULL) {
        return vczi_null_argument(regions == NULL ? "regions" : "text");
    }
    int ret = vczi_region_parse_all(&regions->contigs, text, &intervals, &nintervals);
    if (ret == 0) {
        ret = vczc_regions_find_intervals(regions, intervals, nintervals, overlap, ranges, nranges);
    }
    vczi_free(intervals);
    return ret;
}

void vczc_rows_free(vczc_rows_t *ranges) {
    vczi_free(ranges);
}
