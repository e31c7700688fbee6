/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Keys of chunks, by hand: one is written for each chunk that is read. */
#include "chunk_key.h"

#include <string.h>

#include "ceilings.h"

/* Append bytes where they and a zero byte fit; *nbytes is the length so far. */
static bool append(char *out, size_t out_nbytes, size_t *nbytes, const char *text, size_t text_nbytes) {
    if (out_nbytes - *nbytes <= text_nbytes) {
        return false;
    }
    if (text_nbytes != 0) {
        memcpy(out + *nbytes, text, text_nbytes);
    }
    *nbytes += text_nbytes;
    return true;
}

/* The digits of a coordinate, at the end of `digits`. */
static size_t write_digits(int64_t coord, char digits[VCZI_MAX_COORD_NBYTES]) {
    size_t n = 0;
    do {
        digits[VCZI_MAX_COORD_NBYTES - ++n] = (char) ('0' + coord % 10);
        coord /= 10;
    } while (coord != 0);
    return n;
}

size_t vczi_chunk_key_write(const vczi_key_encoding_t *encoding, const char *path, size_t path_nbytes, int ndim,
                            const int64_t *coords, char *out, size_t out_nbytes) {
    char digits[VCZI_MAX_COORD_NBYTES];
    size_t nbytes = 0;
    bool fits = append(out, out_nbytes, &nbytes, path, path_nbytes);
    if (path_nbytes != 0) {
        fits = fits && append(out, out_nbytes, &nbytes, "/", 1);
    }
    if (encoding->has_c_prefix) {
        fits = fits && append(out, out_nbytes, &nbytes, "c", 1);
    } else if (ndim == 0) {
        fits = fits && append(out, out_nbytes, &nbytes, "0", 1);
    }
    for (int i = 0; i < ndim; i++) {
        if (i > 0 || encoding->has_c_prefix) {
            fits = fits && append(out, out_nbytes, &nbytes, &encoding->separator, 1);
        }
        const size_t ndigits = write_digits(coords[i], digits);
        fits = fits && append(out, out_nbytes, &nbytes, digits + VCZI_MAX_COORD_NBYTES - ndigits, ndigits);
    }
    if (!fits) {
        return 0;
    }
    out[nbytes] = '\0';
    return nbytes;
}

/* A number at the front of the key, which is then moved past it. */
static bool read_coord(const char **key, size_t *left, int64_t *coord) {
    int64_t value = 0;
    size_t n = 0;
    while (n < *left && (*key)[n] >= '0' && (*key)[n] <= '9') {
        const int64_t digit = (*key)[n] - '0';
        if (value > (INT64_MAX - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
        n++;
    }
    if (n == 0 || (n > 1 && (*key)[0] == '0')) {
        return false;
    }
    *key += n;
    *left -= n;
    *coord = value;
    return true;
}

static bool read_char(const char **key, size_t *left, char wanted) {
    if (*left == 0 || **key != wanted) {
        return false;
    }
    (*key)++;
    (*left)--;
    return true;
}

bool vczi_chunk_key_read(const vczi_key_encoding_t *encoding, const char *key, size_t key_nbytes, int ndim,
                         int64_t *coords) {
    if (encoding->has_c_prefix && !read_char(&key, &key_nbytes, 'c')) {
        return false;
    }
    if (ndim == 0 && !encoding->has_c_prefix && !read_char(&key, &key_nbytes, '0')) {
        return false;
    }
    for (int i = 0; i < ndim; i++) {
        if ((i > 0 || encoding->has_c_prefix) && !read_char(&key, &key_nbytes, encoding->separator)) {
            return false;
        }
        if (!read_coord(&key, &key_nbytes, &coords[i])) {
            return false;
        }
    }
    return key_nbytes == 0;
}
