/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Spans, endian loads, and the cursor: the only way by which numbers leave untrusted bytes. */
#ifndef VCZI_BYTES_H
#define VCZI_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "compiler.h"

/* Borrowed bytes. */
typedef struct {
    const uint8_t *data;
    size_t nbytes;
} vczi_span_t;

static inline vczi_span_t vczi_span(const void *data, size_t nbytes) {
    vczi_span_t span = {(const uint8_t *) data, nbytes};
    return span;
}

/* True where the span is that text, byte for byte. */
static inline bool vczi_span_equals(vczi_span_t span, const char *text) {
    const size_t nbytes = strlen(text);
    return span.nbytes == nbytes && (nbytes == 0 || memcmp(span.data, text, nbytes) == 0);
}

static inline uint16_t vczi_load_u16le(const uint8_t *p) {
    return (uint16_t) ((uint32_t) p[0] | (uint32_t) p[1] << 8);
}

static inline uint32_t vczi_load_u32le(const uint8_t *p) {
    return (uint32_t) p[0] | (uint32_t) p[1] << 8 | (uint32_t) p[2] << 16 | (uint32_t) p[3] << 24;
}

static inline uint64_t vczi_load_u64le(const uint8_t *p) {
    return (uint64_t) vczi_load_u32le(p) | (uint64_t) vczi_load_u32le(p + 4) << 32;
}

static inline void vczi_store_u32le(uint8_t *p, uint32_t value) {
    p[0] = (uint8_t) value;
    p[1] = (uint8_t) (value >> 8);
    p[2] = (uint8_t) (value >> 16);
    p[3] = (uint8_t) (value >> 24);
}

/* True where this processor keeps the most significant byte first. */
static inline bool vczi_host_is_big_endian(void) {
    const uint16_t probe = 1;
    uint8_t first;
    memcpy(&first, &probe, 1);
    return first == 0;
}

/* A position in a span that cannot pass its end: a read beyond it gives zeros, sets `failed`, and every later
 * read fails too, so one test closes a sequence of reads. */
typedef struct {
    const uint8_t *next;
    size_t left;
    bool failed;
} vczi_cursor_t;

static inline vczi_cursor_t vczi_cursor(vczi_span_t span) {
    vczi_cursor_t cursor = {span.data, span.nbytes, false};
    return cursor;
}

/* The next `nbytes` bytes, or an empty span. */
static inline vczi_span_t vczi_cursor_take(vczi_cursor_t *cursor, size_t nbytes) {
    vczi_span_t taken = {cursor->next, nbytes};
    if (cursor->failed || nbytes > cursor->left) {
        cursor->failed = true;
        taken.nbytes = 0;
        return taken;
    }
    if (nbytes != 0) {
        cursor->next += nbytes;
    }
    cursor->left -= nbytes;
    return taken;
}

static inline uint8_t vczi_cursor_u8(vczi_cursor_t *cursor) {
    const vczi_span_t taken = vczi_cursor_take(cursor, 1);
    return cursor->failed ? 0 : taken.data[0];
}

static inline uint16_t vczi_cursor_u16le(vczi_cursor_t *cursor) {
    const vczi_span_t taken = vczi_cursor_take(cursor, 2);
    return cursor->failed ? 0 : vczi_load_u16le(taken.data);
}

static inline uint32_t vczi_cursor_u32le(vczi_cursor_t *cursor) {
    const vczi_span_t taken = vczi_cursor_take(cursor, 4);
    return cursor->failed ? 0 : vczi_load_u32le(taken.data);
}

static inline uint64_t vczi_cursor_u64le(vczi_cursor_t *cursor) {
    const vczi_span_t taken = vczi_cursor_take(cursor, 8);
    return cursor->failed ? 0 : vczi_load_u64le(taken.data);
}

#endif
