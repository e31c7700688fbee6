/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Public functions of genotypes: of memory and of arrays, one pair for each thing that is made of calls. */
#include <inttypes.h>
#include <string.h>

#include "api_argument.h"
#include "array_calls.h"
#include "checked.h"
#include "items.h"
#include "status.h"
#include "vczc.h"

/* Where calls come from: memory, or else an array. */
typedef struct {
    const vczc_genotypes_t *genotypes;
    const vczc_array_t *array;
    const vczc_calls_t *calls;
} source_t;

static int check_genotypes(const vczc_genotypes_t *genotypes) {
    if (genotypes == NULL) {
        return vczi_null_argument("genotypes");
    }
    if (vczi_items_allele_nbytes(genotypes->dtype) == 0) {
        return vczi_fail(VCZC_ERR_ARGUMENT, "genotypes are integers of 1 to 8 bytes");
    }
    bool is_empty = false;
    for (int i = 0; i < 3; i++) {
        if (genotypes->shape[i] < 0) {
            return vczi_fail(VCZC_ERR_ARGUMENT, "axis %d of the genotypes has %" PRId64 " items", i,
                             genotypes->shape[i]);
        }
        is_empty = is_empty || genotypes->shape[i] == 0;
    }
    return genotypes->data == NULL && !is_empty ? vczi_null_argument("data") : 0;
}

/* The shape of what is read, into the sink. */
static int set_shape(const source_t *source, vczi_calls_sink_t *sink) {
    if (source->array != NULL) {
        const int ret = source->calls == NULL ? 0 : vczi_check_nthreads(source->calls->nthreads);
        return ret == 0 ? vczi_array_calls_shape(source->array, source->calls, sink) : ret;
    }
    const int ret = check_genotypes(source->genotypes);
    if (ret == 0) {
        sink->nvariants = source->genotypes->shape[0];
        sink->nsamples = source->genotypes->shape[1];
        sink->ploidy = source->genotypes->shape[2];
    }
    return ret;
}

/* Bytes of a dosage; 0 of a type that dosages do not have, which vczi_calls_check refuses. */
static int64_t dosage_nbytes(int dtype) {
    if (dtype >= VCZC_INT8 && dtype <= VCZC_INT64) {
        return INT64_C(1) << (dtype - VCZC_INT8);
    }
    return dtype == VCZC_FLOAT32 ? 4 : dtype == VCZC_FLOAT64 ? 8 : 0;
}

/* In C order where the caller gave no strides. */
static int place_dosages(vczi_calls_sink_t *sink, const int64_t *out_strides) {
    int64_t nbytes = 0;
    if (out_strides != NULL) {
        memcpy(sink->strides, out_strides, sizeof(sink->strides));
        return 0;
    }
    sink->strides[1] = dosage_nbytes(sink->dtype);
    if (!vczi_mul_i64(sink->nsamples, sink->strides[1], &sink->strides[0]) ||
        !vczi_mul_i64(sink->nvariants, sink->strides[0], &nbytes) || (uint64_t) nbytes > (uint64_t) PTRDIFF_MAX) {
        return vczi_fail(VCZC_ERR_INDEX, "the dosages have more bytes than memory can hold");
    }
    return 0;
}

/* `has_out` is false where the caller gave no memory: nothing may then have to be written. `out_strides` are those of
 * dosages. */
static int read_calls(const source_t *source, vczi_calls_sink_t *sink, bool has_out, const int64_t *out_strides) {
    int ret = set_shape(source, sink);
    if (ret == 0 && sink->kind == VCZI_CALLS_DOSAGE) {
        ret = place_dosages(sink, out_strides);
    }
    if (ret == 0) {
        ret = vczi_calls_check(sink);
    }
    if (ret == 0 && !has_out && sink->nvariants != 0 && (sink->nsamples != 0 || sink->kind != VCZI_CALLS_DOSAGE)) {
        ret = vczi_null_argument("out");
    }
    if (ret == 0 && sink->of_samples != NULL) {
        memset(sink->of_samples, 0, (size_t) sink->nsamples * sizeof(*sink->of_samples));
    }
    if (ret != 0) {
        return ret;
    }
    return source->array != NULL ? vczi_array_read_calls(source->array, source->calls, sink)
                                 : vczi_read_calls(source->genotypes, 0, sink);
}

static int read_dosage(const source_t *source, int dtype, void *out, const int64_t *out_strides) {
    vczi_calls_sink_t sink = {.kind = VCZI_CALLS_DOSAGE, .dtype = dtype, .out = out};
    return read_calls(source, &sink, out != NULL, out_strides);
}

static int read_allele_counts(const source_t *source, int64_t nalleles, int32_t *out) {
    vczi_calls_sink_t sink = {.kind = VCZI_CALLS_ALLELES, .nalleles = nalleles, .counts = out};
    return read_calls(source, &sink, out != NULL, NULL);
}

static int read_missing(const source_t *source, int64_t *of_variants, int64_t *of_samples) {
    vczi_calls_sink_t sink = {.kind = VCZI_CALLS_MISSING, .of_variants = of_variants, .of_samples = of_samples};
    return read_calls(source, &sink, true, NULL);
}

static int read_bed(const source_t *source, uint8_t *out) {
    vczi_calls_sink_t sink = {.kind = VCZI_CALLS_BED, .bed = out};
    return read_calls(source, &sink, out != NULL, NULL);
}

int vczc_genotype_dosage(const vczc_genotypes_t *genotypes, int dtype, void *out, const int64_t *out_strides) {
    const source_t source = {.genotypes = genotypes};
    return read_dosage(&source, dtype, out, out_strides);
}

int vczc_genotype_allele_counts(const vczc_genotypes_t *genotypes, int64_t nalleles, int32_t *out) {
    const source_t source = {.genotypes = genotypes};
    return read_allele_counts(&source, nalleles, out);
}

int vczc_genotype_missing(const vczc_genotypes_t *genotypes, int64_t *of_variants, int64_t *of_samples) {
    const source_t source = {.genotypes = genotypes};
    return read_missing(&source, of_variants, of_samples);
}

int vczc_genotype_bed(const vczc_genotypes_t *genotypes, uint8_t *out) {
    const source_t source = {.genotypes = genotypes};
    return read_bed(&source, out);
}

int vczc_array_read_dosage(const vczc_array_t *array, const vczc_calls_t *calls, int dtype, void *out,
                           const int64_t *out_strides) {
    const source_t source = {.array = array, .calls = calls};
    return array == NULL ? vczi_null_argument("array") : read_dosage(&source, dtype, out, out_strides);
}

int vczc_array_read_allele_counts(const vczc_array_t *array, const vczc_calls_t *calls, int64_t nalleles,
                                  int32_t *out) {
    const source_t source = {.array = array, .calls = calls};
    return array == NULL ? vczi_null_argument("array") : read_allele_counts(&source, nalleles, out);
}

int vczc_array_read_missing(const vczc_array_t *array, const vczc_calls_t *calls, int64_t *of_variants,
                            int64_t *of_samples) {
    const source_t source = {.array = array, .calls = calls};
    return array == NULL ? vczi_null_argument("array") : read_missing(&source, of_variants, of_samples);
}

int vczc_array_read_bed(const vczc_array_t *array, const vczc_calls_t *calls, uint8_t *out) {
    const source_t source = {.array = array, .calls = calls};
    return array == NULL ? vczi_null_argument("array") : read_bed(&source, out);
}
