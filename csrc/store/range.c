/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Ranges come from shard indexes, which are as untrusted as the rest. */
#include "range.h"

#include <inttypes.h>

#include "checked.h"
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
