/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "pieces.h"

#include "compiler.h"
#include "status.h"

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif
#ifdef HAS_ASAN
#include <sanitizer/asan_interface.h>
#define FORBID(start, nbytes) __asan_poison_memory_region(start, nbytes)
#define ALLOW(start, nbytes) __asan_unpoison_memory_region(start, nbytes)
#else
#define FORBID(start, nbytes) ((void) 0)
#define ALLOW(start, nbytes) ((void) 0)
#endif

/* A page: what the system reads at least. */
#define PIECE_NBYTES ((size_t) 4 << 10)

int vczi_pieces_begin(vczi_scratch_t *scratch, const vczi_pieces_source_t *source, size_t nbytes, vczi_span_t *span) {
    vczi_pieces_t *self = vczi_scratch_pieces(scratch);
    const size_t nflags = nbytes / PIECE_NBYTES / 8 + 1;
    uint8_t *data = vczi_scratch_buffer(scratch, VCZI_SCRATCH_FILE, nbytes);
    uint8_t *is_read = data == NULL ? NULL : vczi_scratch_buffer(scratch, VCZI_SCRATCH_PIECES, nflags);
    if (is_read == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    memset(is_read, 0, nflags);
    *self = (vczi_pieces_t){data, nbytes, is_read, *source};
    FORBID(data, nbytes);
    *span = vczi_span(data, nbytes);
    return 0;
}

void vczi_pieces_begin_copying(vczi_scratch_t *scratch, const vczi_pieces_source_t *source, size_t nbytes,
                               vczi_span_t *span) {
    *vczi_scratch_pieces(scratch) = (vczi_pieces_t){NULL, nbytes, NULL, *source};
    *span = vczi_span(NULL, nbytes);
}

void vczi_pieces_end(vczi_scratch_t *scratch) {
    vczi_pieces_t *self = vczi_scratch_pieces(scratch);
    if (self->data != NULL) {
        ALLOW(self->data, self->nbytes);
    }
    *self = (vczi_pieces_t){0};
}

bool vczi_pieces_are_read(vczi_scratch_t *scratch) {
    return vczi_scratch_pieces(scratch)->source.read != NULL;
}

bool vczi_pieces_are_copied(vczi_scratch_t *scratch) {
    return vczi_pieces_are_read(scratch) && vczi_scratch_pieces(scratch)->data == NULL;
}

int vczi_pieces_copy(vczi_scratch_t *scratch, size_t start, size_t nbytes, void *out) {
    const vczi_pieces_t *self = vczi_scratch_pieces(scratch);
    VCZI_ASSERT(start <= self->nbytes && nbytes <= self->nbytes - start);
    return self->source.read(self->source.user, self->source.offset + start, out, nbytes);
}

static bool is_missing(const vczi_pieces_t *self, size_t piece) {
    return (self->is_read[piece / 8] >> piece % 8 & 1) == 0;
}

/* Read pieces [first, stop), none of which has been. */
static int read_pieces(const vczi_pieces_t *self, size_t first, size_t stop) {
    const size_t start = first * PIECE_NBYTES;
    const size_t left = self->nbytes - start;
    const size_t nbytes = (stop - first) * PIECE_NBYTES < left ? (stop - first) * PIECE_NBYTES : left;
    ALLOW(self->data + start, nbytes);
    const int ret = self->source.read(self->source.user, self->source.offset + start, self->data + start, nbytes);
    if (ret != 0) {
        return ret;
    }
    for (size_t i = first; i < stop; i++) {
        self->is_read[i / 8] |= (uint8_t) (1 << i % 8);
    }
    return 0;
}

int vczi_pieces_need(vczi_scratch_t *scratch, vczi_span_t part) {
    const vczi_pieces_t *self = vczi_scratch_pieces(scratch);
    const uintptr_t start = (uintptr_t) self->data;
    const uintptr_t wanted = (uintptr_t) part.data;
    if (VCZI_LIKELY(self->data == NULL) || part.nbytes == 0 || wanted < start || wanted - start >= self->nbytes) {
        return 0;
    }
    const size_t at_once = self->source.at_once_nbytes / PIECE_NBYTES;
    const size_t last = (self->nbytes - 1) / PIECE_NBYTES;
    const size_t from = (size_t) (wanted - start);
    VCZI_ASSERT(part.nbytes <= self->nbytes - from);
    const size_t end = (from + part.nbytes - 1) / PIECE_NBYTES;
    for (size_t i = from / PIECE_NBYTES; i <= end; i++) {
        size_t stop = i;
        while (stop <= last && (stop <= end || stop < i + at_once) && is_missing(self, stop)) {
            stop++;
        }
        const int ret = stop == i ? 0 : read_pieces(self, i, stop);
        if (ret != 0) {
            return ret;
        }
        i = stop > i ? stop - 1 : i;
    }
    return 0;
}
