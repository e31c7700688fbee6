/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "unvlen.h"

#include <inttypes.h>

#include "compiler.h"
#include "status.h"

/* Each item has its own u32 length. */
#define ITEM_HEADER_NBYTES 4

int vczi_unvlen_check(vczi_span_t in, size_t nitems) {
    vczi_cursor_t cursor = vczi_cursor(in);
    const uint32_t count = vczi_cursor_u32le(&cursor);
    if (cursor.failed) {
        return vczi_fail(VCZC_ERR_CORRUPT, "%zu bytes are too few for the count of a text chunk", in.nbytes);
    }
    if (count != nitems) {
        return vczi_fail(VCZC_ERR_CORRUPT, "the chunk holds %" PRIu32 " texts, not %zu", count, nitems);
    }
    if (nitems > cursor.left / ITEM_HEADER_NBYTES) {
        return vczi_fail(VCZC_ERR_CORRUPT, "%zu bytes are too few for %zu texts", in.nbytes, nitems);
    }
    return 0;
}

static int fail_overrun(size_t item, size_t nbytes) {
    return vczi_fail(VCZC_ERR_CORRUPT, "text %zu, of %zu bytes, passes the end of the chunk", item, nbytes);
}

static int fail_utf8(size_t item) {
    return vczi_fail(VCZC_ERR_CORRUPT, "text %zu is not valid UTF-8", item);
}

/* Items [first, nitems) as spans, and nothing behind them. */
static int read_spans(vczi_cursor_t *cursor, size_t first, size_t nitems, bool is_utf8, vczi_span_t *items) {
    for (size_t i = first; i < nitems; i++) {
        const uint32_t nbytes = vczi_cursor_u32le(cursor);
        const vczi_span_t item = vczi_cursor_take(cursor, nbytes);
        if (cursor->failed) {
            return fail_overrun(i, nbytes);
        }
        if (is_utf8 && !vczi_utf8_is_valid(item)) {
            return fail_utf8(i);
        }
        if (items != NULL) {
            items[i] = item;
        }
    }
    if (cursor->left != 0) {
        return vczi_fail(VCZC_ERR_CORRUPT, "%zu bytes follow the last text of the chunk", cursor->left);
    }
    return 0;
}

int vczi_unvlen(vczi_span_t in, size_t nitems, bool is_utf8, vczi_span_t *items) {
    vczi_cursor_t cursor = vczi_cursor(in);
    int ret = vczi_unvlen_check(in, nitems);
    if (ret != 0) {
        return ret;
    }
    (void) vczi_cursor_u32le(&cursor);
    return read_spans(&cursor, 0, nitems, is_utf8, items);
}

/* Whole vectors where both sides have room, so that a short text costs no call and no branch on its length. */
static VCZI_ALWAYS_INLINE void copy_text(uint8_t *out, const uint8_t *in, size_t nbytes, size_t in_left) {
    if (nbytes <= VCZI_UNVLEN_SLACK_NBYTES && in_left >= VCZI_UNVLEN_SLACK_NBYTES) {
        memcpy(out, in, VCZI_UNVLEN_SLACK_NBYTES);
    } else if (nbytes != 0) {
        memcpy(out, in, nbytes);
    }
}

static int check_packed(const int64_t *offsets, const uint8_t *data, size_t nitems) {
    if (vczi_utf8_is_ascii(vczi_span(data, (size_t) offsets[nitems]))) {
        return 0;
    }
    for (size_t i = 0; i < nitems; i++) {
        if (!vczi_utf8_is_valid(vczi_span(data + offsets[i], (size_t) (offsets[i + 1] - offsets[i])))) {
            return fail_utf8(i);
        }
    }
    return 0;
}

int vczi_unvlen_pack(vczi_span_t in, size_t nitems, size_t nwanted, bool is_utf8, int64_t *offsets, uint8_t *data,
                     int64_t *max_nbytes) {
    int ret = vczi_unvlen_check(in, nitems);
    if (ret != 0) {
        return ret;
    }
    const uint8_t *next = in.data + ITEM_HEADER_NBYTES;
    size_t left = in.nbytes - ITEM_HEADER_NBYTES;
    size_t done = 0, longest = 0;
    for (size_t i = 0; i < nwanted; i++) {
        const size_t nbytes = left < ITEM_HEADER_NBYTES ? left : vczi_load_u32le(next);
        if (left < ITEM_HEADER_NBYTES || nbytes > left - ITEM_HEADER_NBYTES) {
            return fail_overrun(i, nbytes);
        }
        next += ITEM_HEADER_NBYTES;
        left -= ITEM_HEADER_NBYTES;
        offsets[i] = (int64_t) done;
        copy_text(data + done, next, nbytes, left); /* done <= bytes read so far, so within in.nbytes and the slack */
        done += nbytes;
        next += nbytes;
        left -= nbytes;
        longest = nbytes > longest ? nbytes : longest;
    }
    offsets[nwanted] = (int64_t) done;
    *max_nbytes = (int64_t) longest;
    if (is_utf8) {
        ret = check_packed(offsets, data, nwanted);
    }
    if (ret == 0) {
        vczi_cursor_t rest = vczi_cursor(vczi_span(next, left));
        ret = read_spans(&rest, nwanted, nitems, is_utf8, NULL);
    }
    return ret;
}

bool vczi_utf8_is_ascii(vczi_span_t text) {
    uint64_t seen = 0;
    size_t i = 0;
    for (; text.nbytes - i >= 32; i += 32) {
        uint64_t words[4];
        memcpy(words, text.data + i, 32);
        seen |= words[0] | words[1] | words[2] | words[3];
        if (seen & UINT64_C(0x8080808080808080)) {
            return false;
        }
    }
    for (; i < text.nbytes; i++) {
        seen |= text.data[i];
    }
    return (seen & UINT64_C(0x8080808080808080)) == 0;
}

/* The bytes that a sequence beginning with `first` has, and the range of its second byte; 0 where none begins so. */
static size_t utf8_sequence(uint8_t first, uint8_t *low, uint8_t *high) {
    *low = 0x80;
    *high = 0xBF;
    if (first < 0xC2) {
        return 0;
    }
    if (first < 0xE0) {
        return 2;
    }
    if (first < 0xF0) {
        *low = first == 0xE0 ? 0xA0 : 0x80;  /* no overlong form */
        *high = first == 0xED ? 0x9F : 0xBF; /* no surrogate */
        return 3;
    }
    if (first < 0xF5) {
        *low = first == 0xF0 ? 0x90 : 0x80;
        *high = first == 0xF4 ? 0x8F : 0xBF; /* nothing above U+10FFFF */
        return 4;
    }
    return 0;
}

/* Bytes below 128 from here on, at least the one that has been seen; whole words of them at once. */
static size_t ascii_run(const uint8_t *data, size_t nbytes) {
    size_t i = 1;
    for (; nbytes - i >= 8; i += 8) {
        uint64_t word;
        memcpy(&word, data + i, 8);
        if (word & UINT64_C(0x8080808080808080)) {
            break;
        }
    }
    return i;
}

bool vczi_utf8_is_valid(vczi_span_t text) {
    size_t i = 0;
    while (i < text.nbytes) {
        if (text.data[i] < 0x80) {
            i += ascii_run(text.data + i, text.nbytes - i);
            continue;
        }
        uint8_t low, high;
        const size_t nbytes = utf8_sequence(text.data[i], &low, &high);
        if (nbytes == 0 || nbytes > text.nbytes - i || text.data[i + 1] < low || text.data[i + 1] > high) {
            return false;
        }
        for (size_t k = 2; k < nbytes; k++) {
            if ((text.data[i + k] & 0xC0) != 0x80) {
                return false;
            }
        }
        i += nbytes;
    }
    return true;
}
