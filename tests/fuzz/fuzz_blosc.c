/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* A Blosc frame, held against the raw size that it claims. What our decoder takes must be what c-blosc makes of it, and
 * each part must be that part of the whole. */
#include <stdlib.h>
#include <string.h>

#include <blosc.h>

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
    }
    free(ours);
    vczi_scratch_return(scratch);
    return 0;
}
