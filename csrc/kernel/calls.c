/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Calls of two alleles become codes of two bits (genotype_kernels.h), a tile at a time, and codes become results;
 * calls of other ploidies become numbers. */
#include "calls.h"

#include <inttypes.h>
#include <string.h>

#include "checked.h"
#include "genotype.h"
#include "items.h"
#include "status.h"
#include "unshuffle.h"

/* Calls at a time: their codes, numbers and planes stay in the first cache. A multiple of what fills a byte. */
#define TILE_NCALLS ((size_t) 8192)
#define TILE_NGROUPS (TILE_NCALLS / 4) /* of eight alleles in pairs */

/* Results from this size on are written past the caches: they would not be found in there, or not much else. */
#define LARGE_NBYTES ((int64_t) 8 << 20)

enum { CODE_MISSING = 3 };

/* ---- What can be had ---- */

static bool is_signed(int dtype) {
    return (dtype >= VCZC_INT8 && dtype <= VCZC_INT64) || dtype == VCZC_FLOAT32 || dtype == VCZC_FLOAT64;
}

static int check_dosage(vczi_calls_sink_t *sink) {
    const int64_t max = sink->dtype == VCZC_INT8 ? INT8_MAX : sink->dtype == VCZC_INT16 ? INT16_MAX : INT32_MAX;
    if (!is_signed(sink->dtype)) {
        return vczi_fail(VCZC_ERR_ARGUMENT, "dosages are int8 to int64, float32 or float64");
    }
    if (sink->ploidy > max) {
        return vczi_fail(VCZC_ERR_ARGUMENT, "dosages of ploidy %" PRId64 " do not fit the type that is asked for",
                         sink->ploidy);
    }
    const bool is_bytes = sink->dtype == VCZC_INT8 && sink->strides[1] == 1;
    sink->is_packed = is_bytes && sink->strides[0] == sink->nsamples;
    sink->is_large = is_bytes && sink->nsamples != 0 && sink->nvariants >= LARGE_NBYTES / sink->nsamples;
    return 0;
}

static int check_alleles(const vczi_calls_sink_t *sink) {
    int64_t nbytes = 0;
    if (sink->nalleles < 1 || !vczi_mul_i64(sink->nalleles, (int64_t) sizeof(*sink->counts), &nbytes) ||
        !vczi_mul_i64(nbytes, sink->nvariants, &nbytes)) {
        return vczi_fail(VCZC_ERR_ARGUMENT, "nalleles is %" PRId64 ", not a number of alleles", sink->nalleles);
    }
    if (sink->ploidy > 0 && sink->nsamples > INT32_MAX / sink->ploidy) {
        return vczi_fail(VCZC_ERR_ARGUMENT,
                         "the alleles of %" PRId64 " samples of ploidy %" PRId64 " may be more than an int32 counts",
                         sink->nsamples, sink->ploidy);
    }
    return 0;
}

int vczi_calls_check(vczi_calls_sink_t *sink) {
    switch (sink->kind) {
        case VCZI_CALLS_DOSAGE:
            return check_dosage(sink);
        case VCZI_CALLS_ALLELES:
            return check_alleles(sink);
        case VCZI_CALLS_BED:
            if (sink->ploidy > 2) {
                return vczi_fail(VCZC_ERR_ARGUMENT, ".bed holds calls of one or two alleles, not of ploidy %" PRId64,
                                 sink->ploidy);
            }
            sink->bed_row_nbytes = sink->nsamples / 4 + (sink->nsamples % 4 != 0);
            return 0;
        default:
            return 0;
    }
}

void vczi_calls_begin(const vczi_calls_sink_t *sink, int64_t first, int64_t end) {
    const size_t nrows = (size_t) (end - first);
    if (sink->kind == VCZI_CALLS_ALLELES) {
        memset(sink->counts + first * sink->nalleles, 0, nrows * (size_t) sink->nalleles * sizeof(int32_t));
    } else if (sink->kind == VCZI_CALLS_BED && nrows * (size_t) sink->bed_row_nbytes != 0) {
        memset(sink->bed + first * sink->bed_row_nbytes, 0, nrows * (size_t) sink->bed_row_nbytes);
    } else if (sink->kind == VCZI_CALLS_MISSING && sink->of_variants != NULL) {
        memset(sink->of_variants + first, 0, nrows * sizeof(int64_t));
    }
}

void vczi_calls_end(const vczi_calls_sink_t *sink) {
    if (sink->is_large) vczi_genotype_kernels()->settle();
}

bool vczi_calls_takes_planes(const vczi_calls_sink_t *sink) {
    return sink->ploidy == 2 || (sink->kind == VCZI_CALLS_ALLELES && sink->ploidy > 0);
}

/* ---- Codes to results ---- */

static char *dosage_place(const vczi_calls_sink_t *sink, vczi_calls_piece_t piece) {
    return sink->out + piece.variant * sink->strides[0] + piece.sample * sink->strides[1];
}

static void put_dosages_of_codes(const vczi_calls_sink_t *sink, vczi_calls_piece_t piece, const uint8_t *codes) {
    const vczi_genotype_kernels_t *kernels = vczi_genotype_kernels();
    char *place = dosage_place(sink, piece);
    if (sink->is_large) {
        kernels->expand_past(codes, (size_t) piece.ncalls, (int8_t *) place);
        return;
    }
    if (sink->dtype == VCZC_INT8 && sink->strides[1] == 1) {
        kernels->expand(codes, (size_t) piece.ncalls, (int8_t *) place);
        return;
    }
    int8_t numbers[TILE_NCALLS];
    kernels->expand(codes, (size_t) piece.ncalls, numbers);
    vczi_items_put_i8(numbers, (size_t) piece.ncalls, sink->dtype, place, sink->strides[1]);
}

static void add_missing_of_codes(const vczi_calls_sink_t *sink, vczi_calls_piece_t piece, const uint8_t *codes) {
    const size_t nbytes = (size_t) (piece.ncalls + 3) / 4;
    const uint64_t count = vczi_genotype_kernels()->count_missing(codes, nbytes);
    if (count == 0) return;
    if (sink->of_variants != NULL) sink->of_variants[piece.variant] += (int64_t) count;
    if (sink->of_samples != NULL) {
        int64_t *counts = sink->of_samples + piece.sample;
        int8_t numbers[TILE_NCALLS];
        vczi_genotype_kernels()->expand(codes, (size_t) piece.ncalls, numbers);
        for (int64_t i = 0; i < piece.ncalls; i++)
            counts[i] += numbers[i] < 0;
    }
}

/* .bed has 3 for two of the reference, 2 for one, 0 for none, and 1 for missing. */
static void recode(const uint8_t *codes, size_t ncalls, uint8_t *packed) {
    const size_t nbytes = (ncalls + 3) / 4;
    for (size_t i = 0; i < nbytes; i++)
        packed[i] = (uint8_t) ~(codes[i] ^ (codes[i] >> 1 & 0x55));
    if (ncalls % 4 != 0) packed[nbytes - 1] &= (uint8_t) ((1u << ncalls % 4 * 2) - 1);
}

/* A piece may begin and end inside a byte, which it then shares. */
static void add_bed_of_codes(const vczi_calls_sink_t *sink, vczi_calls_piece_t piece, const uint8_t *codes) {
    const size_t ncalls = (size_t) piece.ncalls;
    const size_t nbytes = (ncalls + 3) / 4;
    const size_t skip = (size_t) (piece.sample % 4);
    uint8_t *out = sink->bed + piece.variant * sink->bed_row_nbytes + piece.sample / 4;
    uint8_t packed[TILE_NGROUPS];
    if (skip == 0 && ncalls % 4 == 0) {
        recode(codes, ncalls, out);
        return;
    }
    recode(codes, ncalls, packed);
    for (size_t i = 0; i < nbytes; i++)
        out[i] |= (uint8_t) (packed[i] << 2 * skip);
    if (skip == 0) return;
    for (size_t i = 0; 4 * (i + 1) < skip + ncalls; i++)
        out[i + 1] |= (uint8_t) (packed[i] >> (8 - 2 * skip));
}

/* At most a tile; bits behind the last call are zero. */
static void take_codes(const vczi_calls_sink_t *sink, vczi_calls_piece_t piece, uint8_t *codes) {
    if (piece.ncalls % 4 != 0) codes[piece.ncalls / 4] &= (uint8_t) ((1u << piece.ncalls % 4 * 2) - 1);
    if (sink->kind == VCZI_CALLS_DOSAGE) {
        put_dosages_of_codes(sink, piece, codes);
    } else if (sink->kind == VCZI_CALLS_MISSING) {
        add_missing_of_codes(sink, piece, codes);
    } else {
        add_bed_of_codes(sink, piece, codes);
    }
}

/* Calls of the next tile: of what goes past the caches the first is shorter, so that the others begin on a border. */
static size_t tile_ncalls(const vczi_calls_sink_t *sink, vczi_calls_piece_t piece) {
    if (!sink->is_large) return TILE_NCALLS;
    const size_t skip = (size_t) ((uintptr_t) dosage_place(sink, piece) % 64);
    return skip % 4 == 0 ? TILE_NCALLS - skip : TILE_NCALLS;
}

/* The next tile of a piece, which is then the shorter by it. */
static vczi_calls_piece_t next_tile(vczi_calls_piece_t *piece, size_t ncalls) {
    vczi_calls_piece_t tile = *piece;
    if (tile.ncalls > (int64_t) ncalls) tile.ncalls = (int64_t) ncalls;
    piece->sample += tile.ncalls;
    piece->ncalls -= tile.ncalls;
    return tile;
}

/* ---- Alleles to counts ---- */

static int fail_allele(const vczi_calls_sink_t *sink, int64_t variant, int64_t allele) {
    return vczi_fail(VCZC_ERR_ARGUMENT,
                     "variant %" PRId64 " of the result has allele %" PRId64 ", and nalleles is %" PRId64, variant,
                     allele, sink->nalleles);
}

static int add_count(const vczi_calls_sink_t *sink, int64_t variant, int64_t allele, uint64_t count) {
    if (count == 0) return 0;
    if (allele >= sink->nalleles) return fail_allele(sink, variant, allele);
    sink->counts[variant * sink->nalleles + allele] += (int32_t) count;
    return 0;
}

static int add_counts(const vczi_calls_sink_t *sink, int64_t variant, const vczi_allele_counts_t *counts,
                      size_t nitems) {
    const uint64_t others = counts->one + counts->two + counts->three + counts->negative;
    int ret = add_count(sink, variant, 0, nitems - others);
    if (ret == 0) ret = add_count(sink, variant, 1, counts->one);
    if (ret == 0) ret = add_count(sink, variant, 2, counts->two);
    if (ret == 0) ret = add_count(sink, variant, 3, counts->three);
    return ret;
}

static int count_bytes(const vczi_calls_sink_t *sink, int64_t variant, const uint8_t *alleles, size_t nitems) {
    vczi_allele_counts_t counts = {0, 0, 0, 0};
    uint32_t all[256] = {0};
    int ret = 0;
    if (vczi_genotype_kernels()->count_bytes(alleles, nitems, &counts)) {
        return add_counts(sink, variant, &counts, nitems);
    }
    for (size_t i = 0; i < nitems; i++)
        all[alleles[i]]++;
    for (int64_t allele = 0; allele <= INT8_MAX && ret == 0; allele++)
        ret = add_count(sink, variant, allele, all[allele]);
    return ret;
}

static int count_items(const vczi_calls_sink_t *sink, int64_t variant, const int64_t *alleles, size_t nitems) {
    for (size_t i = 0; i < nitems; i++) {
        if (alleles[i] >= sink->nalleles) return fail_allele(sink, variant, alleles[i]);
        if (alleles[i] >= 0) sink->counts[variant * sink->nalleles + alleles[i]]++;
    }
    return 0;
}

/* ---- Planes ---- */

/* Bits of the first `nbits` items from `first` on, of each plane that is read. */
typedef struct {
    const uint8_t *data;
    size_t stride;
} planes_t;

static planes_t align_planes(const vczi_shuffled_t *block, size_t first, size_t nbits, uint8_t *buffer) {
    const size_t stride = block->raw_nbytes / 8;
    planes_t planes = {block->planes + first / 8, stride};
    if (first % 8 != 0) {
        for (size_t k = 0; k < block->nlive; k++)
            vczi_copy_bits(block->planes + k * stride, first, nbits, buffer + k * TILE_NGROUPS);
        planes.data = buffer;
        planes.stride = TILE_NGROUPS;
    }
    return planes;
}

static int count_planes(const vczi_calls_sink_t *sink, int64_t variant, const vczi_shuffled_t *block, size_t first,
                        size_t nitems) {
    uint8_t buffer[8 * TILE_NGROUPS];
    vczi_allele_counts_t counts = {0, 0, 0, 0};
    if (block->nlive == 0) return add_counts(sink, variant, &counts, nitems);
    const planes_t planes = align_planes(block, first, nitems, buffer);
    if (vczi_genotype_kernels()->count_planes(planes.data, planes.stride, block->nlive, nitems, &counts)) {
        return add_counts(sink, variant, &counts, nitems);
    }
    vczi_unshuffle_bits(block->planes, block->raw_nbytes, 1, block->nlive, first, first + nitems, buffer);
    return count_bytes(sink, variant, buffer, nitems);
}

static void take_planes_tile(const vczi_calls_sink_t *sink, vczi_calls_piece_t tile, const vczi_shuffled_t *block,
                             size_t first) {
    uint8_t buffer[8 * TILE_NGROUPS];
    uint8_t codes[TILE_NGROUPS];
    const size_t nitems = 2 * (size_t) tile.ncalls;
    const size_t ngroups = (nitems + 7) / 8;
    if (block->nlive == 0) {
        memset(codes, 0, ngroups);
    } else {
        const planes_t planes = align_planes(block, first, nitems, buffer);
        vczi_genotype_kernels()->codes_of_planes(planes.data, planes.stride, block->nlive, sink->kind == VCZI_CALLS_BED,
                                                 ngroups, codes);
    }
    take_codes(sink, tile, codes);
}

int vczi_calls_take_planes(const vczi_calls_sink_t *sink, vczi_calls_piece_t piece, const vczi_shuffled_t *block,
                           size_t first) {
    int ret = 0;
    if (sink->kind == VCZI_CALLS_ALLELES) {
        size_t left = (size_t) piece.ncalls * (size_t) sink->ploidy;
        while (left != 0 && ret == 0) {
            const size_t nitems = left < 8 * TILE_NGROUPS ? left : 8 * TILE_NGROUPS;
            ret = count_planes(sink, piece.variant, block, first, nitems);
            first += nitems;
            left -= nitems;
        }
        return ret;
    }
    while (piece.ncalls != 0) {
        const vczi_calls_piece_t tile = next_tile(&piece, tile_ncalls(sink, piece));
        take_planes_tile(sink, tile, block, first);
        first += 2 * (size_t) tile.ncalls;
    }
    return ret;
}

/* ---- Bytes ---- */

/* One allele a call, or none. */
static void codes_of_single(const uint8_t *alleles, int64_t ploidy, bool doubled, size_t ncalls, uint8_t *codes) {
    memset(codes, 0, (ncalls + 3) / 4);
    for (size_t i = 0; i < ncalls; i++) {
        unsigned code = CODE_MISSING;
        if (ploidy != 0 && alleles[i] < 0x80) code = alleles[i] == 0 ? 0 : doubled ? 2 : 1;
        codes[i / 4] |= (uint8_t) (code << i % 4 * 2);
    }
}

static void numbers_of_calls(const uint8_t *alleles, size_t ploidy, size_t ncalls, int32_t *numbers) {
    for (size_t i = 0; i < ncalls; i++) {
        const uint8_t *call = alleles + i * ploidy;
        int32_t number = 0;
        bool is_missing = false, is_fill = true;
        for (size_t k = 0; k < ploidy; k++) {
            number += call[k] > 0 && call[k] < 0x80;
            is_missing |= call[k] >= 0x80 && call[k] != 0xFE;
            is_fill &= call[k] == 0xFE;
        }
        numbers[i] = is_missing || is_fill ? -1 : number;
    }
}

/* Calls of more than two alleles, at most a tile. */
static void take_numbers(const vczi_calls_sink_t *sink, vczi_calls_piece_t tile, const uint8_t *alleles) {
    int32_t numbers[TILE_NCALLS];
    const size_t ncalls = (size_t) tile.ncalls;
    numbers_of_calls(alleles, (size_t) sink->ploidy, ncalls, numbers);
    if (sink->kind == VCZI_CALLS_DOSAGE) {
        vczi_items_put_i32(numbers, ncalls, sink->dtype, dosage_place(sink, tile), sink->strides[1]);
        return;
    }
    for (size_t i = 0; i < ncalls; i++) {
        if (numbers[i] >= 0) continue;
        if (sink->of_variants != NULL) sink->of_variants[tile.variant]++;
        if (sink->of_samples != NULL) sink->of_samples[tile.sample + (int64_t) i]++;
    }
}

int vczi_calls_take_bytes(const vczi_calls_sink_t *sink, vczi_calls_piece_t piece, const uint8_t *alleles) {
    const size_t ploidy = (size_t) sink->ploidy;
    const bool doubled = sink->kind == VCZI_CALLS_BED;
    uint8_t codes[TILE_NGROUPS];
    if (sink->kind == VCZI_CALLS_ALLELES) {
        return count_bytes(sink, piece.variant, alleles, (size_t) piece.ncalls * ploidy);
    }
    while (piece.ncalls != 0) {
        const vczi_calls_piece_t tile = next_tile(&piece, tile_ncalls(sink, piece));
        if (ploidy > 2) {
            take_numbers(sink, tile, alleles);
        } else {
            if (ploidy == 2) {
                vczi_genotype_kernels()->codes_of_bytes(alleles, doubled, (size_t) tile.ncalls, codes);
            } else {
                codes_of_single(alleles, sink->ploidy, doubled, (size_t) tile.ncalls, codes);
            }
            take_codes(sink, tile, codes);
        }
        alleles += (size_t) tile.ncalls * ploidy;
    }
    return 0;
}

/* ---- Items ---- */

/* Column `first` + i of the row, or columns[i] - first. */
typedef struct {
    const char *row;
    const int64_t *columns;
    int64_t first;
} columns_t;

static int take_items_tile(const vczi_calls_sink_t *sink, vczi_calls_piece_t tile, const vczi_call_items_t *items,
                           columns_t from, void *buffer) {
    const bool is_wide = sink->kind == VCZI_CALLS_ALLELES && items->dtype != VCZC_INT8;
    const size_t nitems = (size_t) tile.ncalls * items->ploidy;
    const size_t run = from.columns == NULL ? (size_t) tile.ncalls : 1;
    for (size_t i = 0; i < (size_t) tile.ncalls; i += run) {
        const int64_t column = from.columns == NULL ? from.first : from.columns[i] - from.first;
        const char *place = from.row + column * items->call_stride;
        if (is_wide) {
            vczi_items_get_i64(items, place, run, (int64_t *) buffer + i * items->ploidy);
        } else {
            vczi_items_get_i8(items, place, run, (uint8_t *) buffer + i * items->ploidy);
        }
    }
    return is_wide ? count_items(sink, tile.variant, buffer, nitems) : vczi_calls_take_bytes(sink, tile, buffer);
}

int vczi_calls_take_items(const vczi_calls_sink_t *sink, vczi_calls_piece_t piece, const vczc_genotypes_t *genotypes,
                          int64_t row, const int64_t *columns, int64_t first, vczi_scratch_t *scratch) {
    const size_t ploidy = (size_t) sink->ploidy;
    const vczi_call_items_t items = {genotypes->dtype, genotypes->strides[1], genotypes->strides[2], ploidy};
    columns_t from = {(const char *) genotypes->data + row * genotypes->strides[0], columns, first};
    if (columns == NULL && items.dtype == VCZC_INT8 && items.call_stride == sink->ploidy &&
        (items.allele_stride == 1 || ploidy == 1)) {
        return vczi_calls_take_bytes(sink, piece, (const uint8_t *) from.row + first * items.call_stride);
    }
    const size_t ncalls = ploidy == 0 ? TILE_NCALLS : ploidy < TILE_NCALLS ? TILE_NCALLS / ploidy : 1;
    void *buffer = vczi_scratch_buffer(scratch, VCZI_SCRATCH_CODEC_A, ncalls * ploidy * sizeof(int64_t));
    int ret = buffer == NULL ? VCZC_ERR_NO_MEMORY : 0;
    while (piece.ncalls != 0 && ret == 0) {
        const vczi_calls_piece_t tile = next_tile(&piece, ncalls);
        ret = take_items_tile(sink, tile, &items, from, buffer);
        if (columns == NULL) {
            from.first += tile.ncalls;
        } else {
            from.columns += tile.ncalls;
        }
    }
    return ret;
}
