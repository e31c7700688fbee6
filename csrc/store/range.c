/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Ranges come from shard indexes, which are as untrusted as the rest. */
#include "range.h"

#include <inttypes.h>

#include "checked.h"
#include "file.h"
#include "mem.h"
#include "status.h"

int vczi_range_init(vczi_range_t *range, uint64_t total, uint64_t offset, size_t nbytes) {
    const vczi_range_t none = {0};
    *range = none;
    if (offset > total || (nbytes != SIZE_MAX && nbytes > total - offset)) {
        return vczi_fail(VCZC_ERR_CORRUPT, "%zu bytes at %" PRIu64 " are asked for where only %" PRIu64 " are stored",
                         nbytes, offset, total);
    }
    range->nbytes = nbytes;
    if (!vczi_u64_to_size(offset, &range->start) ||
        (nbytes == SIZE_MAX && !vczi_u64_to_size(total - offset, &range->nbytes))) {
        return vczi_fail_memory(SIZE_MAX);
    }
    return 0;
}

vczi_span_t vczi_range_of(const vczi_range_t *range, vczi_span_t all) {
    return range->nbytes == 0 ? vczi_span(all.data, 0) : vczi_span(all.data + range->start, range->nbytes);
}

bool vczi_wants_pieces(const vczi_want_t *want, uint64_t nbytes) {
    return (want->asks_for_parts || want->copies_parts) &&
           (nbytes >= VCZI_FILE_PIECES_NBYTES || nbytes > want->max_nbytes);
}

int vczi_begin_pieces(const vczi_want_t *want, vczi_scratch_t *scratch, vczi_piece_fn read, void *user, uint64_t offset,
                      size_t nbytes, vczi_bytes_t *bytes) {
    const size_t at_once = want->is_part ? VCZI_PIECES_OF_PART_NBYTES : VCZI_PIECES_OF_ALL_NBYTES;
    const vczi_pieces_source_t source = {read, user, offset, at_once};
    if (want->copies_parts) {
        vczi_pieces_begin_copying(scratch, &source, nbytes, &bytes->span);
        return 0;
    }
    return vczi_pieces_begin(scratch, &source, nbytes, &bytes->span);
}

int vczi_check_wanted(const vczi_want_t *want, uint64_t nbytes) {
    if (nbytes <= want->max_nbytes) {
        return 0;
    }
    return vczi_fail(want->too_large, "%" PRIu64 " bytes are stored, more than the %" PRIu64 " that can be meant",
                     nbytes, want->max_nbytes);
}

static void free_pin(void *owner, void *pin) {
    (void) owner;
    vczi_free(pin);
}

uint8_t *vczi_bytes_room(vczi_bytes_t *bytes, vczi_scratch_t *scratch, int which, size_t nbytes) {
    uint8_t *room = NULL;
    if (scratch != NULL) {
        room = vczi_scratch_buffer(scratch, which, nbytes);
    } else {
        room = vczi_alloc(nbytes);
        bytes->pin = room;
        bytes->release = room == NULL ? NULL : free_pin;
    }
    bytes->span = vczi_span(room, room == NULL ? 0 : nbytes);
    return room;
}
