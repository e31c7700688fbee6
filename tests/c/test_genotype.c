/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Every genotype kernel that this processor has, beside the definition, at each length up to 300; and what is made of
 * pieces of calls, as planes and as items, beside what the definition makes of each call. */
#include "genotype.h"

#include <math.h>

#include "calls.h"
#include "check.h"
#include "cpu.h"
#include "items.h"
#include "mem.h"
#include "status.h"

enum { PLACE_IN, PLACE_OUT, NPLACES };
#include "guarded.h"

#define MAX_N 300

static const vczi_genotype_kernels_t *kernels[3];
static int nkernels;

static void find_kernels(void) {
    const uint32_t features = vczi_cpu_features();
    (void) features;
    kernels[nkernels++] = &vczi_genotype_generic;
#if VCZI_ARCH_X86
    if ((features & VCZI_CPU_AVX2) != 0) kernels[nkernels++] = &vczi_genotype_avx2;
    if ((features & VCZI_CPU_AVX512) != 0) kernels[nkernels++] = &vczi_genotype_avx512;
#endif
}

static uint32_t next_random(void) {
    static uint32_t state = 1;
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

/* What alleles are drawn from: 0 and 1, up to 3, with missing and fill, with greater ones, anything. */
enum { DRAW_ONE, DRAW_FEW, DRAW_MISSING, DRAW_GREAT, DRAW_ANY, NDRAWS };

static int8_t draw(int kind) {
    static const int8_t alleles[4][8] = {{0, 1, 0, 0, 1, 0, 0, 0},
                                         {0, 1, 2, 3, 0, 0, 1, 0},
                                         {0, 1, -1, -2, -2, 0, 1, 2},
                                         {0, 1, 4, 127, -1, -2, 64, -128}};
    const uint32_t random = next_random();
    return kind == DRAW_ANY ? (int8_t) (random & 0xFF) : alleles[kind][random % 8];
}

static void fill(int8_t *alleles, size_t n, int kind) {
    for (size_t i = 0; i < n; i++)
        alleles[i] = draw(kind);
}

/* -1 where the call is missing. */
static int dosage_of(const int8_t *call, size_t ploidy) {
    int number = 0;
    bool is_missing = false, is_fill = true;
    for (size_t k = 0; k < ploidy; k++) {
        number += call[k] > 0;
        is_missing |= call[k] < 0 && call[k] != -2;
        is_fill &= call[k] == -2;
    }
    return is_missing || is_fill ? -1 : number;
}

static unsigned code_of(const int8_t *call, size_t ploidy, bool doubled) {
    const int number = dosage_of(call, ploidy);
    const bool is_single = ploidy == 1 || (ploidy == 2 && (call[0] == -2 || call[1] == -2));
    return number < 0 ? 3u : (unsigned) number << (doubled && is_single);
}

static unsigned code_at(const uint8_t *codes, size_t i) {
    return (unsigned) codes[i / 4] >> i % 4 * 2 & 3u;
}

/* The bits of `nitems` bytes, `nlive` planes of `stride` bytes. */
static void shuffle(const int8_t *alleles, size_t nitems, size_t nlive, size_t stride, uint8_t *planes) {
    memset(planes, 0, nlive * stride);
    for (size_t i = 0; i < nitems; i++) {
        for (size_t k = 0; k < nlive; k++)
            planes[k * stride + i / 8] |= (uint8_t) (((unsigned) (uint8_t) alleles[i] >> k & 1u) << i % 8);
    }
}

static size_t nlive_of(int kind) {
    return kind == DRAW_ONE ? 1 : kind == DRAW_FEW ? 2 : 8;
}

/* ---- Kernels ---- */

static bool check_bytes(const vczi_genotype_kernels_t *set, int kind, size_t n, size_t shift, bool doubled) {
    const block_t in = block_at(PLACE_IN, 2 * n, shift);
    const block_t out = block_at(PLACE_OUT, (n + 3) / 4, shift);
    const int8_t *alleles = (const int8_t *) in.data;
    fill((int8_t *) in.data, 2 * n, kind);
    set->codes_of_bytes(in.data, doubled, n, out.data);
    bool is_right = CHECK(block_is_sound(&in)) && CHECK(block_is_sound(&out));
    for (size_t i = 0; i < 4 * ((n + 3) / 4) && is_right; i++)
        is_right = CHECK_EQ(code_at(out.data, i), i < n ? code_of(alleles + 2 * i, 2, doubled) : 0);
    return is_right;
}

static bool check_planes(const vczi_genotype_kernels_t *set, int kind, size_t ngroups, size_t shift, bool doubled) {
    static int8_t alleles[8 * MAX_N];
    const size_t stride = ngroups + shift, nlive = nlive_of(kind);
    const block_t in = block_at(PLACE_IN, (nlive - 1) * stride + ngroups, shift);
    const block_t out = block_at(PLACE_OUT, ngroups, shift);
    static uint8_t planes[8 * (MAX_N + 8)];
    fill(alleles, 8 * ngroups, kind);
    shuffle(alleles, 8 * ngroups, nlive, stride, planes);
    memcpy(in.data, planes, in.nbytes);
    set->codes_of_planes(in.data, stride, nlive, doubled, ngroups, out.data);
    bool is_right = CHECK(block_is_sound(&in)) && CHECK(block_is_sound(&out));
    for (size_t i = 0; i < 4 * ngroups && is_right; i++)
        is_right = CHECK_EQ(code_at(out.data, i), code_of(alleles + 2 * i, 2, doubled));
    return is_right;
}

static void test_codes(void) {
    for (int k = 0; k < nkernels; k++) {
        for (int kind = 0; kind < NDRAWS; kind++) {
            for (size_t n = 0; n <= MAX_N; n++) {
                const bool doubled = n % 2 != 0;
                if (!check_bytes(kernels[k], kind, n, n % 3, doubled)) return;
                if (!check_bytes(kernels[k], kind, n, n % 5, !doubled)) return;
                if (!check_planes(kernels[k], kind, n, n % 3, doubled)) return;
                if (!check_planes(kernels[k], kind, n, n % 5, !doubled)) return;
            }
        }
    }
}

static bool check_expand(const vczi_genotype_kernels_t *set, size_t n, size_t shift, bool past) {
    const block_t in = block_at(PLACE_IN, (n + 3) / 4, shift);
    const block_t out = block_at(PLACE_OUT, n, shift);
    size_t nmissing = 0;
    for (size_t i = 0; i < in.nbytes; i++)
        in.data[i] = (uint8_t) (next_random() & 0xFF);
    (past ? set->expand_past : set->expand)(in.data, n, (int8_t *) out.data);
    set->settle();
    bool is_right = CHECK(block_is_sound(&in)) && CHECK(block_is_sound(&out));
    for (size_t i = 0; i < n && is_right; i++) {
        const unsigned code = code_at(in.data, i);
        is_right = CHECK_EQ((int8_t) out.data[i], code == 3 ? -1 : (int) code);
    }
    for (size_t i = 0; i < 4 * in.nbytes; i++)
        nmissing += code_at(in.data, i) == 3;
    return is_right && CHECK_EQ(set->count_missing(in.data, in.nbytes), nmissing);
}

static void test_expand(void) {
    for (int k = 0; k < nkernels; k++) {
        for (size_t n = 0; n <= 3 * MAX_N; n++) {
            for (size_t shift = 0; shift < 5; shift++) {
                if (!check_expand(kernels[k], n, shift, false) || !check_expand(kernels[k], n, 16 * shift, true))
                    return;
                if (!check_expand(kernels[k], n, shift, true)) return;
            }
        }
    }
}

static bool check_counts(const vczi_allele_counts_t *got, bool is_counted, const int8_t *alleles, size_t n) {
    uint64_t counts[4] = {0, 0, 0, 0}, negative = 0;
    bool is_low = true;
    for (size_t i = 0; i < n; i++) {
        negative += alleles[i] < 0;
        is_low = is_low && alleles[i] < 4;
        if (alleles[i] >= 0 && alleles[i] < 4) counts[alleles[i]]++;
    }
    if (!CHECK_EQ(is_counted, is_low)) return false;
    return !is_low || (CHECK_EQ(got->one, counts[1]) && CHECK_EQ(got->two, counts[2]) &&
                       CHECK_EQ(got->three, counts[3]) && CHECK_EQ(got->negative, negative));
}

static bool check_count(const vczi_genotype_kernels_t *set, int kind, size_t n) {
    static uint8_t planes[8 * (MAX_N + 8)];
    vczi_allele_counts_t counts = {0, 0, 0, 0};
    const block_t bytes = block_at(PLACE_IN, n, n % 3);
    const int8_t *alleles = (const int8_t *) bytes.data;
    fill((int8_t *) bytes.data, n, kind);
    if (n != 0 && kind == DRAW_GREAT) bytes.data[n - 1] = 4; /* one, where a tail might overlook it */
    bool is_counted = set->count_bytes(bytes.data, n, &counts);
    if (!CHECK(block_is_sound(&bytes)) || !check_counts(&counts, is_counted, alleles, n)) return false;
    const size_t stride = (n + 7) / 8, nlive = nlive_of(kind);
    const block_t in = block_at(PLACE_OUT, nlive * stride, n % 5);
    shuffle(alleles, n, nlive, stride, planes);
    memcpy(in.data, planes, in.nbytes);
    for (size_t k = 0; k < nlive && n % 8 != 0; k++) /* bits that follow */
        in.data[k * stride + n / 8] |= (uint8_t) (0xFFu << n % 8);
    memset(&counts, 0, sizeof(counts));
    is_counted = set->count_planes(in.data, stride, nlive, n, &counts);
    return CHECK(block_is_sound(&in)) && check_counts(&counts, is_counted, alleles, n);
}

static void test_counts(void) {
    for (int k = 0; k < nkernels; k++) {
        for (int kind = 0; kind < NDRAWS; kind++) {
            for (size_t n = 0; n <= MAX_N; n++) {
                if (!check_count(kernels[k], kind, n)) return;
            }
        }
    }
}

static void test_copy_bits(void) {
    for (size_t first = 0; first < 20; first++) {
        for (size_t n = 0; n <= MAX_N; n++) {
            const block_t in = block_at(PLACE_IN, (first + n + 7) / 8, n % 3);
            const block_t out = block_at(PLACE_OUT, (n + 7) / 8, n % 5);
            for (size_t i = 0; i < in.nbytes; i++)
                in.data[i] = (uint8_t) (next_random() & 0xFF);
            vczi_copy_bits(in.data, first, n, out.data);
            bool is_right = CHECK(block_is_sound(&in)) && CHECK(block_is_sound(&out));
            for (size_t i = 0; i < n && is_right; i++) {
                const size_t from = first + i;
                is_right = CHECK_EQ(out.data[i / 8] >> i % 8 & 1, in.data[from / 8] >> from % 8 & 1);
            }
            if (!is_right) return;
        }
    }
}

/* ---- Pieces ---- */

#define NCALLS 500
#define MAX_PLOIDY 4
#define NALLELES 128
#define ITEM_NBYTES 8

static int8_t alleles[NCALLS * MAX_PLOIDY + 8];

/* A sink of one variant and NCALLS samples. */
typedef struct {
    vczi_calls_sink_t sink;
    char dosages[NCALLS * 2 * ITEM_NBYTES];
    int32_t counts[NALLELES];
    int64_t of_variants[1];
    int64_t of_samples[NCALLS];
    uint8_t bed[(NCALLS + 3) / 4 + 1];
} result_t;

static bool begin(result_t *result, vczi_calls_kind_t kind, int64_t ploidy, int dtype, int64_t stride) {
    memset(result, 0xC5, sizeof(*result));
    memset(result->of_samples, 0, sizeof(result->of_samples));
    vczi_calls_sink_t sink = {.kind = kind, .nvariants = 1, .nsamples = NCALLS, .ploidy = ploidy, .dtype = dtype};
    sink.out = result->dosages;
    sink.strides[0] = NCALLS * stride;
    sink.strides[1] = stride;
    sink.nalleles = NALLELES;
    sink.counts = result->counts;
    sink.of_variants = result->of_variants;
    sink.of_samples = result->of_samples;
    sink.bed = result->bed;
    result->sink = sink;
    if (!CHECK_EQ(vczi_calls_check(&result->sink), 0)) return false;
    vczi_calls_begin(&result->sink, 0, 1);
    return true;
}

static double dosage_at(const result_t *result, size_t i) {
    const char *place = result->dosages + (int64_t) i * result->sink.strides[1];
    int64_t whole = 0;
    float single;
    double number;
    switch (result->sink.dtype) {
        case VCZC_INT8:
            whole = *(const int8_t *) place;
            break;
        case VCZC_INT16: {
            int16_t item;
            memcpy(&item, place, sizeof(item));
            whole = item;
            break;
        }
        case VCZC_INT32: {
            int32_t item;
            memcpy(&item, place, sizeof(item));
            whole = item;
            break;
        }
        case VCZC_INT64:
            memcpy(&whole, place, sizeof(whole));
            break;
        case VCZC_FLOAT32:
            memcpy(&single, place, sizeof(single));
            return isnan(single) ? -1 : (double) single;
        default:
            memcpy(&number, place, sizeof(number));
            return isnan(number) ? -1 : number;
    }
    return (double) whole;
}

/* Calls [first, end) of the sink are those of `alleles`, and it has no others. */
static bool check_result_of(const result_t *result, size_t first, size_t end) {
    static const unsigned bed_of_code[4] = {3, 2, 0, 1};
    const size_t ploidy = (size_t) result->sink.ploidy;
    int64_t nmissing = 0, counts[NALLELES] = {0};
    for (size_t i = 0; i < NCALLS; i++) {
        const int8_t *call = alleles + i * ploidy;
        const bool is_in = i >= first && i < end;
        const int number = dosage_of(call, ploidy);
        nmissing += is_in && number < 0;
        for (size_t k = 0; k < ploidy && is_in; k++) {
            if (call[k] >= 0) counts[call[k]]++;
        }
        if (result->sink.kind == VCZI_CALLS_DOSAGE && is_in && !CHECK(dosage_at(result, i) == number)) return false;
        if (result->sink.kind == VCZI_CALLS_MISSING && !CHECK_EQ(result->of_samples[i], is_in && number < 0))
            return false;
        if (result->sink.kind == VCZI_CALLS_BED &&
            !CHECK_EQ(code_at(result->bed, i), is_in ? bed_of_code[code_of(call, ploidy, true)] : 0)) {
            return false;
        }
    }
    if (result->sink.kind == VCZI_CALLS_MISSING) return CHECK_EQ(result->of_variants[0], nmissing);
    if (result->sink.kind == VCZI_CALLS_BED) return CHECK_EQ(result->bed[(NCALLS + 3) / 4], 0xC5);
    for (int a = 0; a < NALLELES && result->sink.kind == VCZI_CALLS_ALLELES; a++) {
        if (!CHECK_EQ(result->counts[a], counts[a])) return false;
    }
    return true;
}

/* Two pieces that meet anywhere, out of a block in which they begin anywhere. */
static bool check_pieces_of_planes(vczi_calls_kind_t kind, int alleles_kind, int64_t ploidy, size_t first,
                                   size_t middle, size_t end, size_t offset) {
    static int8_t items[NCALLS * MAX_PLOIDY + 64];
    static result_t result;
    const size_t nitems = (offset + (end - first) * (size_t) ploidy + 7) / 8 * 8, nlive = nlive_of(alleles_kind);
    const block_t planes = block_at(PLACE_IN, nlive * (nitems / 8), first % 3);
    const vczi_shuffled_t block = {planes.data, nitems, 1, nlive, VCZI_FILTER_BITS};
    fill(alleles, NCALLS * (size_t) ploidy, alleles_kind);
    fill(items, nitems, alleles_kind);
    memcpy(items + offset, alleles + first * (size_t) ploidy, (end - first) * (size_t) ploidy);
    shuffle(items, nitems, nlive, nitems / 8, planes.data);
    if (!begin(&result, kind, ploidy, VCZC_INT8, 1)) return false;
    const vczi_calls_piece_t one = {0, (int64_t) first, (int64_t) (middle - first)};
    const vczi_calls_piece_t two = {0, (int64_t) middle, (int64_t) (end - middle)};
    return CHECK_EQ(vczi_calls_take_planes(&result.sink, one, &block, offset), 0) &&
           CHECK_EQ(vczi_calls_take_planes(&result.sink, two, &block, offset + (middle - first) * (size_t) ploidy),
                    0) &&
           CHECK(block_is_sound(&planes)) && check_result_of(&result, first, end);
}

static void test_pieces_of_planes(void) {
    for (int kind = VCZI_CALLS_DOSAGE; kind <= VCZI_CALLS_BED; kind++) {
        for (int round = 0; round < 3000; round++) {
            const size_t first = next_random() % 40, middle = first + next_random() % 100;
            const size_t end = middle + next_random() % (round % 2 == 0 ? 30 : 360);
            const int64_t ploidy = kind == VCZI_CALLS_ALLELES ? 1 + round % 4 : 2;
            const size_t offset = next_random() % 9 * 2; /* pairs lie at even places */
            if (!check_pieces_of_planes((vczi_calls_kind_t) kind, round % NDRAWS, ploidy, first, middle, end, offset)) {
                return;
            }
        }
    }
}

static void store_item(int dtype, int8_t allele, char *place) {
    int64_t number = allele;
    if (dtype >= VCZC_UINT8 && allele < 0) number = allele & 0x7F; /* there are no others */
#define STORE(type)                                                                                                    \
    do {                                                                                                               \
        const type item = (type) number;                                                                               \
        memcpy(place, &item, sizeof(item));                                                                            \
    } while (0)
    switch (vczi_items_allele_nbytes(dtype)) {
        case 1:
            STORE(int8_t);
            break;
        case 2:
            STORE(int16_t);
            break;
        case 4:
            STORE(int32_t);
            break;
        default:
            STORE(int64_t);
    }
}

static bool check_items(vczi_calls_kind_t kind, int dtype, int out_dtype, int64_t ploidy, bool is_listed,
                        vczi_scratch_t *scratch) {
    static char memory[NCALLS * MAX_PLOIDY * 3 * ITEM_NBYTES];
    static int64_t columns[NCALLS];
    static result_t result;
    const size_t p = (size_t) ploidy, nbytes = vczi_items_allele_nbytes(dtype);
    const size_t allele_step = nbytes * (1 + next_random() % 2), call_step = allele_step * p + next_random() % 3;
    const vczi_calls_piece_t piece = {0, 3, NCALLS - 5};
    const vczc_genotypes_t genotypes = {
        memory, dtype, {1, NCALLS, ploidy}, {0, (int64_t) call_step, (int64_t) allele_step}};
    fill(alleles, NCALLS * p, DRAW_GREAT);
    for (size_t i = 0; i < NCALLS * p; i++) {
        if (dtype >= VCZC_UINT8 && alleles[i] < 0) alleles[i] &= 0x7F;
    }
    for (size_t i = 0; i < NCALLS; i++) {
        columns[i] = is_listed ? (int64_t) ((i * 7 + 3) % NCALLS) : (int64_t) i;
        for (size_t k = 0; k < p; k++)
            store_item(dtype, alleles[i * p + k], memory + (size_t) columns[i] * call_step + k * allele_step);
    }
    if (!begin(&result, kind, ploidy, out_dtype, ITEM_NBYTES * 2)) return false;
    for (size_t i = 0; i < NCALLS; i++)
        columns[i] += 1000; /* numbers that are taken less 1000 */
    return CHECK_EQ(vczi_calls_take_items(&result.sink, piece, &genotypes, 0, is_listed ? columns + 3 : NULL,
                                          is_listed ? 1000 : 3, scratch),
                    0) &&
           check_result_of(&result, 3, NCALLS - 2);
}

static void test_items(void) {
    static const int out_dtypes[] = {VCZC_INT8, VCZC_INT16, VCZC_INT32, VCZC_INT64, VCZC_FLOAT32, VCZC_FLOAT64};
    vczi_scratch_t *scratch = vczi_scratch_borrow();
    REQUIRE(scratch != NULL);
    for (int kind = VCZI_CALLS_DOSAGE; kind <= VCZI_CALLS_BED; kind++) {
        for (int dtype = VCZC_INT8; dtype <= VCZC_UINT64; dtype++) {
            for (int64_t ploidy = 1; ploidy <= (kind == VCZI_CALLS_BED ? 2 : MAX_PLOIDY); ploidy++) {
                for (size_t t = 0; t < sizeof(out_dtypes) / sizeof(*out_dtypes); t++) {
                    const bool is_listed = (t + (size_t) ploidy) % 2 == 0;
                    if (!check_items((vczi_calls_kind_t) kind, dtype, out_dtypes[t], ploidy, is_listed, scratch))
                        return;
                }
            }
        }
    }
    vczi_scratch_return(scratch);
}

static void test_what_cannot_be_had(void) {
    static result_t result;
    vczi_calls_sink_t sink = {.kind = VCZI_CALLS_DOSAGE, .nvariants = 1, .nsamples = 1, .ploidy = 2};
    sink.dtype = VCZC_UINT8;
    CHECK_EQ(vczi_calls_check(&sink), VCZC_ERR_ARGUMENT);
    sink.dtype = VCZC_INT8;
    sink.ploidy = 128;
    CHECK_EQ(vczi_calls_check(&sink), VCZC_ERR_ARGUMENT);
    sink.dtype = VCZC_INT16;
    CHECK_EQ(vczi_calls_check(&sink), 0);
    sink.kind = VCZI_CALLS_BED;
    sink.ploidy = 3;
    CHECK_EQ(vczi_calls_check(&sink), VCZC_ERR_ARGUMENT);
    sink.kind = VCZI_CALLS_ALLELES;
    CHECK_EQ(vczi_calls_check(&sink), VCZC_ERR_ARGUMENT); /* of no alleles */
    sink.nvariants = 4;
    sink.nsamples = 1;
    static const int64_t many[] = {INT64_MAX, (int64_t) 1 << 62, ((int64_t) 1 << 61) + 1, ((int64_t) 1 << 59) + 1};
    for (size_t i = 0; i < sizeof(many) / sizeof(many[0]); i++) {
        sink.nalleles = many[i];
        CHECK_EQ(vczi_calls_check(&sink), VCZC_ERR_ARGUMENT); /* more than memory has addresses */
    }
    sink.nalleles = 1;
    CHECK_EQ(vczi_calls_check(&sink), 0);
    sink.nsamples = INT32_MAX / 3 + 1;
    CHECK_EQ(vczi_calls_check(&sink), VCZC_ERR_ARGUMENT);
    REQUIRE(begin(&result, VCZI_CALLS_ALLELES, 2, 0, 1));
    result.sink.nalleles = 2;
    const vczi_calls_piece_t piece = {0, 0, 1};
    CHECK_EQ(vczi_calls_take_bytes(&result.sink, piece, (const uint8_t *) "\0\2"), VCZC_ERR_ARGUMENT);
    CHECK_EQ(vczi_calls_take_bytes(&result.sink, piece, (const uint8_t *) "\0\77"), VCZC_ERR_ARGUMENT);
    CHECK_EQ(vczi_calls_take_bytes(&result.sink, piece, (const uint8_t *) "\1\377"), 0);
}

static void test_public_functions(void) {
    static const int8_t memory[6] = {0, 1, -1, 0, 2, 1};
    vczc_genotypes_t genotypes = {memory, VCZC_INT8, {1, 3, 2}, {6, 2, 1}};
    const int64_t strides[2] = {12, 4};
    int32_t numbers[3], counts[3];
    int64_t of_variants[1], of_samples[3];
    uint8_t bed[1];
    CHECK_EQ(vczc_genotype_dosage(&genotypes, VCZC_INT32, numbers, strides), 0);
    CHECK(numbers[0] == 1 && numbers[1] == -1 && numbers[2] == 2);
    CHECK_EQ(vczc_genotype_allele_counts(&genotypes, 3, counts), 0);
    CHECK(counts[0] == 2 && counts[1] == 2 && counts[2] == 1);
    CHECK_EQ(vczc_genotype_missing(&genotypes, of_variants, of_samples), 0);
    CHECK(of_variants[0] == 1 && of_samples[0] == 0 && of_samples[1] == 1 && of_samples[2] == 0);
    CHECK_EQ(vczc_genotype_missing(&genotypes, NULL, NULL), 0);
    CHECK_EQ(vczc_genotype_bed(&genotypes, bed), 0);
    CHECK_EQ(bed[0], 2 | 1 << 2 | 0 << 4);
    CHECK_EQ(vczc_genotype_dosage(NULL, VCZC_INT8, numbers, strides), VCZC_ERR_ARGUMENT);
    CHECK_EQ(vczc_genotype_dosage(&genotypes, VCZC_INT8, NULL, strides), VCZC_ERR_ARGUMENT);
    CHECK_EQ(vczc_genotype_allele_counts(&genotypes, 2, counts), VCZC_ERR_ARGUMENT);
    CHECK_STR(vczc_error_detail(), "variant 0 of the result has allele 2, and nalleles is 2");
    CHECK_EQ(vczc_genotype_allele_counts(&genotypes, 3, NULL), VCZC_ERR_ARGUMENT);
    CHECK_EQ(vczc_genotype_bed(&genotypes, NULL), VCZC_ERR_ARGUMENT);
    CHECK_EQ(vczc_array_read_dosage(NULL, NULL, VCZC_INT8, numbers, strides), VCZC_ERR_ARGUMENT);
    CHECK_EQ(vczc_array_read_allele_counts(NULL, NULL, 2, counts), VCZC_ERR_ARGUMENT);
    CHECK_EQ(vczc_array_read_missing(NULL, NULL, of_variants, of_samples), VCZC_ERR_ARGUMENT);
    CHECK_EQ(vczc_array_read_bed(NULL, NULL, bed), VCZC_ERR_ARGUMENT);
    genotypes.dtype = VCZC_FLOAT32;
    CHECK_EQ(vczc_genotype_bed(&genotypes, bed), VCZC_ERR_ARGUMENT);
    genotypes.dtype = VCZC_INT8;
    genotypes.shape[1] = -1;
    CHECK_EQ(vczc_genotype_bed(&genotypes, bed), VCZC_ERR_ARGUMENT);
    genotypes.shape[1] = 3;
    genotypes.data = NULL;
    CHECK_EQ(vczc_genotype_bed(&genotypes, bed), VCZC_ERR_ARGUMENT);
}

/* Wherever memory runs out, it is said, and nothing is kept. */
static void test_no_memory(void) {
#ifdef VCZI_TEST_FAULTS
    static const char document[] =
        "{\"zarr_format\": 2, \"shape\": [9, 5, 2], \"chunks\": [4, 3, 2], \"dtype\": \"|i1\","
        "\"compressor\": null, \"filters\": null, \"fill_value\": -1, \"order\": \"C\"}";
    static const vczc_entry_t entries[] = {{".zarray", document, sizeof(document) - 1}};
    static const int64_t samples[] = {4, 0, 4};
    const vczc_calls_t calls = {.samples = samples, .nsamples = 3, .nthreads = 1};
    vczc_store_t *store = NULL;
    vczc_array_t *array = NULL;
    int64_t of_variants[9], of_samples[3];
    REQUIRE(vczc_store_open_memory(&store, entries, 1) == 0 && vczc_array_open(&array, store, "") == 0);
    int ret = VCZC_ERR_NO_MEMORY;
    for (long n = 1; n < 100 && ret == VCZC_ERR_NO_MEMORY; n++) {
        vczi_test_fail_allocation(n);
        ret = vczc_array_read_missing(array, &calls, of_variants, of_samples);
    }
    vczi_test_fail_allocation(0);
    CHECK_EQ(ret, 0);
    CHECK(of_variants[8] == 3 && of_samples[2] == 9);
    vczc_array_close(array);
    vczc_store_close(store);
#endif
}

int main(void) {
    find_kernels();
    make_places();
    RUN(test_codes);
    RUN(test_expand);
    RUN(test_counts);
    RUN(test_copy_bits);
    RUN(test_pieces_of_planes);
    RUN(test_items);
    RUN(test_what_cannot_be_had);
    RUN(test_public_functions);
    RUN(test_no_memory);
    return check_result();
}
