/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* A Blosc frame, held against the raw size that it claims. What our decoder takes must be what c-blosc makes of it,
 * each part must be that part of the whole, and what is made of genotype calls must be the same out of bit planes as
 * out of bytes. */
#include <stdlib.h>
#include <string.h>

#include <blosc.h>

#include "calls.h"
#include "status.h"
#include "unblosc.h"

#define MAX_RAW_NBYTES ((size_t) 4 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes);

static uint8_t *new_bytes(size_t nbytes) {
    uint8_t *bytes = malloc(nbytes == 0 ? 1 : nbytes);
    if (bytes == NULL) abort();
    return bytes;
}

static void check_part(const vczi_frame_t *frame, const uint8_t *whole, size_t start, size_t stop,
                       vczi_kept_block_t *kept, vczi_scratch_t *scratch) {
    uint8_t *part = new_bytes(stop - start);
    if (vczi_frame_decode(frame, start, stop, part, scratch) != 0) abort();
    if (memcmp(part, whole + start, stop - start) != 0) abort();
    memset(part, 0xA5, stop - start);
    if (vczi_frame_decode_kept(frame, start, stop, part, kept, scratch) != 0) abort();
    if (memcmp(part, whole + start, stop - start) != 0) abort();
    free(part);
}

/* Parts whose borders the input chooses, in its last bytes; each also through the block that is kept. */
static void check_parts(const vczi_frame_t *frame, const uint8_t *whole, vczi_span_t input, vczi_scratch_t *scratch) {
    vczi_kept_block_t kept = {0};
    for (size_t i = 1; i <= 4 && 4 * i <= input.nbytes; i++) {
        const uint32_t number = vczi_load_u32le(input.data + input.nbytes - 4 * i);
        const size_t start = (number >> 8) % (frame->raw_nbytes + 1);
        const size_t left = frame->raw_nbytes - start;
        const size_t wanted = number & 0xFF;
        check_part(frame, whole, start, wanted < left ? start + wanted : frame->raw_nbytes, &kept, scratch);
        check_part(frame, whole, start, frame->raw_nbytes, &kept, scratch);
    }
    vczi_kept_block_clear(&kept);
}

/* A result for `ncalls` calls of two alleles, which begins with where it goes. */
static uint8_t *new_result(vczi_calls_sink_t *sink, vczi_calls_kind_t kind, size_t ncalls) {
    uint8_t *out = new_bytes(2 * 1024 + 8 * ncalls);
    memset(out, 0, 2 * 1024 + 8 * ncalls);
    const vczi_calls_sink_t made = {.kind = kind,
                                    .nvariants = 1,
                                    .nsamples = (int64_t) ncalls,
                                    .ploidy = 2,
                                    .dtype = VCZC_INT8,
                                    .out = (char *) out,
                                    .strides = {(int64_t) ncalls, 1},
                                    .nalleles = 128,
                                    .counts = (int32_t *) (void *) out,
                                    .of_samples = (int64_t *) (void *) out,
                                    .bed = out};
    *sink = made;
    if (vczi_calls_check(sink) != 0) abort();
    vczi_calls_begin(sink, 0, 1);
    return out;
}

/* The calls of one block, beside those of the bytes that it holds; `skip` of them are left out. */
static void check_calls(const vczi_shuffled_t *block, const uint8_t *bytes, size_t skip) {
    const size_t ncalls = block->raw_nbytes / 2;
    for (int kind = VCZI_CALLS_DOSAGE; kind <= VCZI_CALLS_BED; kind++) {
        vczi_calls_sink_t by_planes, by_bytes;
        uint8_t *ours = new_result(&by_planes, (vczi_calls_kind_t) kind, ncalls);
        uint8_t *theirs = new_result(&by_bytes, (vczi_calls_kind_t) kind, ncalls);
        const vczi_calls_piece_t piece = {0, (int64_t) skip, (int64_t) (ncalls - skip)};
        if (vczi_calls_take_planes(&by_planes, piece, block, 2 * skip) != 0) abort();
        if (vczi_calls_take_bytes(&by_bytes, piece, bytes + 2 * skip) != 0) abort();
        if (memcmp(ours, theirs, 2 * 1024 + 8 * ncalls) != 0) abort();
        free(ours);
        free(theirs);
    }
}

static void check_blocks(const vczi_frame_t *frame, const uint8_t *whole, vczi_span_t input, vczi_scratch_t *scratch) {
    vczi_kept_block_t kept = {0};
    for (size_t at = 0; at < frame->raw_nbytes && !frame->is_copy; at += frame->block_nbytes) {
        uint8_t byte;
        if (vczi_frame_decode_kept(frame, at, at + 1, &byte, &kept, scratch) != 0) abort();
        if (kept.block.filter == VCZI_FILTER_BITS && kept.block.item_nbytes == 1) {
            check_calls(&kept.block, whole + at, input.data[input.nbytes - 1] % (kept.block.raw_nbytes / 2));
        }
    }
    vczi_kept_block_clear(&kept);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes) {
    const vczi_span_t input = vczi_span(data, nbytes);
    vczi_frame_t frame;
    size_t raw_nbytes = 0;
    if (vczi_frame_raw_nbytes(input, &raw_nbytes) != 0 || raw_nbytes > MAX_RAW_NBYTES ||
        vczi_frame_init(&frame, input, raw_nbytes) != 0) {
        return 0;
    }
    vczi_scratch_t *scratch = vczi_scratch_borrow();
    if (scratch == NULL) abort();
    uint8_t *ours = new_bytes(raw_nbytes);
    if (vczi_frame_decode(&frame, 0, raw_nbytes, ours, scratch) == 0) {
        uint8_t *theirs = new_bytes(raw_nbytes);
        const int got = blosc_decompress_ctx(data, theirs, raw_nbytes, 1);
        if (got < 0 || (size_t) got != raw_nbytes) abort();
        if (memcmp(ours, theirs, raw_nbytes) != 0) abort();
        free(theirs);
        check_parts(&frame, ours, input, scratch);
        check_blocks(&frame, ours, input, scratch);
    }
    free(ours);
    vczi_scratch_return(scratch);
    return 0;
}
