/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Names of zip entries (APPNOTE 4.4.17, appendix D; Info-ZIP's Unicode path 4.6.9) as keys. */
#include "zip_name.h"

#include "inflate.h"
#include "unvlen.h"

/* The upper half of code page 437. */
static const uint16_t cp437_upper[128] = {
    0x00c7, 0x00fc, 0x00e9, 0x00e2, 0x00e4, 0x00e0, 0x00e5, 0x00e7, 0x00ea, 0x00eb, 0x00e8, 0x00ef, 0x00ee,
    0x00ec, 0x00c4, 0x00c5, 0x00c9, 0x00e6, 0x00c6, 0x00f4, 0x00f6, 0x00f2, 0x00fb, 0x00f9, 0x00ff, 0x00d6,
    0x00dc, 0x00a2, 0x00a3, 0x00a5, 0x20a7, 0x0192, 0x00e1, 0x00ed, 0x00f3, 0x00fa, 0x00f1, 0x00d1, 0x00aa,
    0x00ba, 0x00bf, 0x2310, 0x00ac, 0x00bd, 0x00bc, 0x00a1, 0x00ab, 0x00bb, 0x2591, 0x2592, 0x2593, 0x2502,
    0x2524, 0x2561, 0x2562, 0x2556, 0x2555, 0x2563, 0x2551, 0x2557, 0x255d, 0x255c, 0x255b, 0x2510, 0x2514,
    0x2534, 0x252c, 0x251c, 0x2500, 0x253c, 0x255e, 0x255f, 0x255a, 0x2554, 0x2569, 0x2566, 0x2560, 0x2550,
    0x256c, 0x2567, 0x2568, 0x2564, 0x2565, 0x2559, 0x2558, 0x2552, 0x2553, 0x256b, 0x256a, 0x2518, 0x250c,
    0x2588, 0x2584, 0x258c, 0x2590, 0x2580, 0x03b1, 0x00df, 0x0393, 0x03c0, 0x03a3, 0x03c3, 0x00b5, 0x03c4,
    0x03a6, 0x0398, 0x03a9, 0x03b4, 0x221e, 0x03c6, 0x03b5, 0x2229, 0x2261, 0x00b1, 0x2265, 0x2264, 0x2320,
    0x2321, 0x00f7, 0x2248, 0x00b0, 0x2219, 0x00b7, 0x221a, 0x207f, 0x00b2, 0x25a0, 0x00a0,
};

#define EXTRA_UNICODE_PATH 0x7075

#define EACH(byte) ((byte) * UINT64_C(0x0101010101010101))

/* Eight bytes at once; *follows_slash is 0x80 where the byte before them is a slash, else 0. Bytes above 0x7f are
 * refused, and for the others: b - 1 sets the highest bit of a byte where b is 0 (and may set that of the bytes above
 * it, which is no matter); b + 0x7f sets it where b is not 0, and nothing is carried. */
static inline bool word_is_plain(uint64_t word, uint64_t *follows_slash) {
    const uint64_t highest = EACH(0x80);
    const uint64_t from_slash = word ^ EACH('/');
    const uint64_t slashes = ~(from_slash + EACH(0x7f)) & highest;
    const uint64_t slashes_and_dots = ~((from_slash & EACH(0xfe)) + EACH(0x7f)) & highest; /* '.' is '/' ^ 1 */
    const uint64_t refused = (word | (word - EACH(1)) | ((word ^ EACH('\\')) - EACH(1))) & highest;
    const uint64_t after_slash = slashes << 8 | *follows_slash;
    *follows_slash = slashes >> 56;
    return (refused | (after_slash & slashes_and_dots)) == 0;
}

bool vczi_zip_name_is_plain(vczi_span_t name) {
    uint64_t follows_slash = 0x80; /* the first byte begins a part */
    const uint8_t *next = name.data;
    size_t left = name.nbytes;
    if (left == 0 || name.data[left - 1] == '/') {
        return false;
    }
    for (; left >= 8; left -= 8, next += 8) {
        if (!word_is_plain(vczi_load_u64le(next), &follows_slash)) {
            return false;
        }
    }
    uint64_t last = EACH('x'); /* which stands for what is not there */
    for (size_t i = left; i-- > 0;) {
        last = last << 8 | next[i];
    }
    return word_is_plain(last, &follows_slash);
}

/* Info-ZIP's extra field: version 1, the CRC-32 of the name that it stands for, the name in UTF-8. */
static bool find_unicode_path(vczi_span_t extra, vczi_span_t name, vczi_span_t *path) {
    vczi_cursor_t cursor = vczi_cursor(extra);
    while (cursor.left >= 4) {
        const uint16_t kind = vczi_cursor_u16le(&cursor);
        const size_t nbytes = vczi_cursor_u16le(&cursor);
        vczi_cursor_t field = vczi_cursor(vczi_cursor_take(&cursor, nbytes));
        if (cursor.failed) {
            return false;
        }
        if (kind != EXTRA_UNICODE_PATH) {
            continue;
        }
        const uint8_t version = vczi_cursor_u8(&field);
        const uint32_t checksum = vczi_cursor_u32le(&field);
        const vczi_span_t found = vczi_cursor_take(&field, field.left);
        if (field.failed || version != 1 || checksum != vczi_crc32(name) || !vczi_utf8_is_valid(found)) {
            return false; /* the name was changed by a writer that did not know the field */
        }
        *path = found;
        return true;
    }
    return false;
}

static bool is_ascii(vczi_span_t name) {
    for (size_t i = 0; i < name.nbytes; i++) {
        if (name.data[i] >= 0x80) {
            return false;
        }
    }
    return true;
}

/* Write code point `point`, which is below 0x10000. Returns how many bytes it took. */
static size_t put_utf8(uint8_t *out, uint32_t point) {
    if (point < 0x80) {
        out[0] = (uint8_t) point;
        return 1;
    }
    if (point < 0x800) {
        out[0] = (uint8_t) (0xc0 | point >> 6);
        out[1] = (uint8_t) (0x80 | (point & 0x3f));
        return 2;
    }
    out[0] = (uint8_t) (0xe0 | point >> 12);
    out[1] = (uint8_t) (0x80 | (point >> 6 & 0x3f));
    out[2] = (uint8_t) (0x80 | (point & 0x3f));
    return 3;
}

size_t vczi_zip_name_convert(vczi_span_t name, bool is_utf8, vczi_span_t extra, uint8_t *out) {
    vczi_span_t text = name;
    size_t nbytes = 0;
    const bool is_text =
        is_ascii(name) || (is_utf8 && vczi_utf8_is_valid(name)) || (!is_utf8 && find_unicode_path(extra, name, &text));
    for (size_t i = 0; i < text.nbytes; i++) {
        const uint8_t byte = text.data[i];
        if (byte == '\\') {
            out[nbytes++] = '/';
        } else if (is_text || byte < 0x80) {
            out[nbytes++] = byte;
        } else {
            nbytes += put_utf8(out + nbytes, cp437_upper[byte - 0x80]);
        }
    }
    return nbytes;
}
