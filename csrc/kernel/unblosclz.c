/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* BloscLZ streams: a control byte, then literals or a match.
 *   000lllll                       l + 1 literals follow
 *   lllddddd [more l] d [D D]      l + 2 bytes from d + 1 bytes back; l = 7 goes on in bytes until one is not 255;
 *                                  d = 8191 goes on in two bytes, most significant first
 * The last are literals: as c-blosc does, we refuse a stream that ends with a match.
 * A decoder of our own: the one in c-blosc adds up lengths in an int, which 8 MB of 255 make negative. */
#include "unblosclz.h"

#include <string.h>

#include "status.h"

/* The farthest match that the short form of a distance can name. */
#define NEAR_DISTANCE ((size_t) 8191)

typedef struct {
    size_t nbytes;
    size_t distance;
} match_t;

static match_t read_match(vczi_cursor_t *in, uint8_t control) {
    match_t match = {(size_t) (control >> 5) + 2, (size_t) (control & 31) << 8};
    if (control >> 5 == 7) {
        uint8_t more;
        do {
            more = vczi_cursor_u8(in); /* 0 beyond the end, which ends this loop */
            match.nbytes += more;
        } while (more == 255);
    }
    match.distance += vczi_cursor_u8(in);
    if (match.distance == NEAR_DISTANCE) {
        const uint8_t high = vczi_cursor_u8(in);
        const uint8_t low = vczi_cursor_u8(in);
        match.distance += (size_t) high << 8 | low;
    }
    match.distance += 1;
    return match;
}

/* Repeat the bytes that lie `distance` back. The source may run into what is being written. */
static void copy_match(uint8_t *out, match_t match) {
    const uint8_t *from = out - match.distance;
    size_t left = match.nbytes;
    if (match.distance == 1) {
        memset(out, *from, left);
        return;
    }
    /* What has been written repeats with the same distance, so each copy can be as long as all before it. */
    size_t ready = match.distance;
    while (left > ready) {
        memcpy(out, from, ready);
        out += ready;
        left -= ready;
        ready *= 2;
    }
    memcpy(out, from, left);
}

static int fail_damaged(size_t out_nbytes) {
    return vczi_fail(VCZC_ERR_CORRUPT, "a BloscLZ stream of %zu raw bytes is damaged", out_nbytes);
}

int vczi_unblosclz(vczi_span_t in, uint8_t *out, size_t out_nbytes) {
    vczi_cursor_t cursor = vczi_cursor(in);
    size_t done = 0;
    uint8_t control = vczi_cursor_u8(&cursor) & 31; /* the first three bits mark the format */
    while (!cursor.failed) {
        if (control < 32) {
            const vczi_span_t literals = vczi_cursor_take(&cursor, (size_t) control + 1);
            if (cursor.failed || literals.nbytes > out_nbytes - done) {
                break;
            }
            memcpy(out + done, literals.data, literals.nbytes);
            done += literals.nbytes;
            if (cursor.left == 0) {
                return done == out_nbytes ? 0 : fail_damaged(out_nbytes);
            }
        } else {
            const match_t match = read_match(&cursor, control);
            if (cursor.left == 0 || match.nbytes > out_nbytes - done || match.distance > done) {
                break;
            }
            copy_match(out + done, match);
            done += match.nbytes;
        }
        control = vczi_cursor_u8(&cursor);
    }
    return fail_damaged(out_nbytes);
}
