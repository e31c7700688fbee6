/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Frequencies of the alternate alleles in a region of a VCZ, with all processors. README.md says how to build it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <vczc.h>

/* Alternate alleles and alleles that were called, of one variant. */
typedef struct {
    int64_t nalternate, ncalled;
} count_t;

static void count_variant(const int8_t *alleles, int64_t n, count_t *count) {
    for (int64_t i = 0; i < n; i++) {
        count->nalternate += alleles[i] > 0;
        count->ncalled += alleles[i] >= 0;
    }
}

/* Count variants [start, stop) of all samples: as many rows at once as a chunk has, decoded by several threads. */
static int count_rows(const vczc_array_t *gt, int64_t start, int64_t stop, int8_t *alleles, count_t *counts) {
    const vczc_array_info_t *info = vczc_array_info(gt);
    const int64_t each = info->chunks[0], ploidy = info->shape[2], row = info->shape[1] * ploidy;
    for (int64_t at = start; at < stop; at += each) {
        const int64_t end = stop - at < each ? stop : at + each;
        const int64_t from[3] = {at, 0, 0}, to[3] = {end, info->shape[1], ploidy};
        const int ret = vczc_array_read_region(gt, from, to, alleles, NULL);
        if (ret != 0) return ret;
        for (int64_t i = at; i < end; i++)
            count_variant(alleles + (i - at) * row, row, counts++);
    }
    return 0;
}

static int print_rows(const vczc_array_t *gt, const vczc_array_t *position, vczc_rows_t rows) {
    const vczc_array_info_t *info = vczc_array_info(gt);
    const size_t n = (size_t) (rows.stop - rows.start);
    count_t *counts = calloc(n, sizeof(*counts));
    int32_t *positions = malloc(n * sizeof(*positions));
    int8_t *alleles = malloc((size_t) (info->chunks[0] * info->shape[1] * info->shape[2]) + 1);
    int ret = VCZC_ERR_NO_MEMORY;
    if (counts != NULL && positions != NULL && alleles != NULL) {
        ret = vczc_array_read_region(position, &rows.start, &rows.stop, positions, NULL);
        if (ret == 0) ret = count_rows(gt, rows.start, rows.stop, alleles, counts);
    }
    for (size_t i = 0; ret == 0 && i < n; i++) {
        printf("%" PRId32 "\t%.6f\n", positions[i],
               counts[i].ncalled == 0 ? 0.0 : (double) counts[i].nalternate / (double) counts[i].ncalled);
    }
    free(counts);
    free(positions);
    free(alleles);
    return ret;
}

int main(int argc, char **argv) {
    vczc_store_t *store = NULL;
    vczc_array_t *gt = NULL, *position = NULL;
    vczc_regions_t *regions = NULL;
    vczc_rows_t *ranges = NULL;
    size_t nranges = 0;
    if (argc != 3) {
        fprintf(stderr, "usage: %s STORE REGION\n", argv[0]);
        return 2;
    }
    int ret = vczc_store_open(&store, argv[1], 0);
    if (ret == 0) ret = vczc_array_open(&gt, store, "call_genotype");
    if (ret == 0) ret = vczc_array_open(&position, store, "variant_position");
    if (ret == 0 && (vczc_array_info(gt)->dtype != VCZC_INT8 || vczc_array_info(gt)->ndim != 3 ||
                     vczc_array_info(position)->dtype != VCZC_INT32)) {
        ret = vczc_error_set(VCZC_ERR_UNSUPPORTED, "int8 genotypes and int32 positions are wanted");
    }
    if (ret == 0) ret = vczc_regions_open(&regions, store, "");
    if (ret == 0) ret = vczc_regions_find(regions, argv[2], VCZC_OVERLAP_RECORD, &ranges, &nranges);
    for (size_t i = 0; ret == 0 && i < nranges; i++)
        ret = print_rows(gt, position, ranges[i]);
    if (ret != 0) fprintf(stderr, "%s: %s\n", vczc_strerror(ret), vczc_error_detail());
    vczc_rows_free(ranges);
    vczc_regions_close(regions);
    vczc_array_close(position);
    vczc_array_close(gt);
    vczc_store_close(store); /* in any order: an array holds its store */
    vczc_trim();             /* leak checkers find nothing */
    return ret == 0 ? 0 : 1;
}
