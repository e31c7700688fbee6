/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/*
 * Count the alleles in one chunk of call_genotype:
 *
 *     cc read_block.c $(vczc cc-flags) -o read_block
 *     ./read_block sample.vcz.zip 3 2
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <vczc.h>

static void count(const int8_t *alleles, int64_t n) {
    int64_t nref = 0, nalt = 0, nmissing = 0;
    for (int64_t i = 0; i < n; i++) {
        if (alleles[i] == 0) {
            nref++;
        } else if (alleles[i] > 0) {
            nalt++;
        } else {
            nmissing++;
        }
    }
    printf("reference %" PRId64 ", alternate %" PRId64 ", missing %" PRId64 "\n", nref, nalt, nmissing);
}

static int read_block(const vczc_array_t *gt, int64_t variants, int64_t samples) {
    const vczc_array_info_t *info = vczc_array_info(gt);
    int64_t coords[3] = {variants, samples, 0}, shape[3];
    int8_t *alleles = NULL;
    int ret;

    if (info->dtype != VCZC_INT8 || info->ndim != 3) {
        return vczc_error_set(VCZC_ERR_UNSUPPORTED, "this example takes int8 genotypes alone");
    }
    ret = vczc_array_block_shape(gt, coords, shape);
    if (ret != 0) {
        return ret;
    }
    alleles = malloc((size_t) info->chunk_nbytes); /* a block at the edge is smaller */
    if (alleles == NULL) {
        return vczc_error_set(VCZC_ERR_NO_MEMORY, "no memory for a chunk");
    }
    ret = vczc_array_read_block(gt, coords, alleles, (size_t) info->chunk_nbytes);
    if (ret == 0) {
        count(alleles, shape[0] * shape[1] * shape[2]);
    }
    free(alleles);
    return ret;
}

int main(int argc, char **argv) {
    vczc_store_t *store = NULL;
    vczc_array_t *gt = NULL;
    int ret;

    if (argc != 4) {
        fprintf(stderr, "usage: %s STORE VARIANTS_CHUNK SAMPLES_CHUNK\n", argv[0]);
        return 2;
    }
    ret = vczc_store_open(&store, argv[1], 0);
    if (ret == 0) {
        ret = vczc_array_open(&gt, store, "call_genotype");
    }
    if (ret == 0) {
        ret = read_block(gt, strtoll(argv[2], NULL, 10), strtoll(argv[3], NULL, 10));
    }
    if (ret != 0) {
        fprintf(stderr, "%s: %s\n", vczc_strerror(ret), vczc_error_detail());
    }
    vczc_array_close(gt);
    vczc_store_close(store);
    return ret == 0 ? 0 : 1;
}
