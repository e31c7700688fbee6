/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Deflate (RFC 1951) bare, and in the wrappings of zlib (RFC 1950) and gzip (RFC 1952), by zlib. */
#include "inflate.h"

#include <stdbool.h>

#ifndef ZLIB_CONST
#define ZLIB_CONST /* or zlib's input is not const */
#endif
#include <zlib.h>

#include "mem.h"
#include "status.h"

/* zlib counts in `unsigned`, so larger inputs and outputs go in pieces. Tests make it small. */
#ifndef INFLATE_PIECE_NBYTES
#define INFLATE_PIECE_NBYTES (~0u)
#endif

/* What an output of unknown size begins with, beside a multiple of its input. */
#define FIRST_OUT_NBYTES ((size_t) 64 << 10)
#define FIRST_OUT_RATIO 4

/* Where the output is of unknown size: the scratch buffer that grows. */
typedef struct {
    vczi_scratch_t *scratch;
    int which;
    size_t nbytes; /* of the buffer by now */
    size_t max_nbytes;
} inflate_growth_t;

/* What is left of the input and the output. */
typedef struct {
    vczi_span_t in;
    uint8_t *out;
    size_t out_nbytes;
    inflate_growth_t *growth; /* NULL: the output has its size */
} inflate_left_t;

static void *zlib_alloc(void *opaque, unsigned nitems, unsigned item_nbytes) {
    (void) opaque;
    return vczi_alloc_array(nitems, item_nbytes);
}

static void zlib_free(void *opaque, void *memory) {
    (void) opaque;
    vczi_free(memory);
}

static void *stream_make(void) {
    z_stream *stream = vczi_alloc_zeroed(1, sizeof(*stream));
    if (stream == NULL) {
        return NULL;
    }
    stream->zalloc = zlib_alloc;
    stream->zfree = zlib_free;
    const int ret = inflateInit2(stream, -MAX_WBITS);
    if (ret != Z_OK) {
        if (ret != Z_MEM_ERROR) { /* which zlib_alloc has reported */
            (void) vczi_fail(VCZC_ERR_INTERNAL, "zlib %s is not the one that vczc was built with", zlibVersion());
        }
        vczi_free(stream);
        return NULL;
    }
    return stream;
}

static void stream_drop(void *stream) {
    (void) inflateEnd(stream);
    vczi_free(stream);
}

static int window_bits(int format) {
    switch (format) {
        case VCZI_INFLATE_ZLIB:
            return MAX_WBITS;
        case VCZI_INFLATE_GZIP:
            return MAX_WBITS + 16;
        default:
            return -MAX_WBITS;
    }
}

static unsigned piece(size_t nbytes) {
    return nbytes < INFLATE_PIECE_NBYTES ? (unsigned) nbytes : INFLATE_PIECE_NBYTES;
}

/* One call of zlib: takes from `left` what it used. Returns zlib's code; *is_stuck where it did nothing at all. */
static int inflate_piece(z_stream *stream, inflate_left_t *left, bool *is_stuck) {
    uint8_t none = 0; /* zlib wants an address, also where there is no room or no input */
    const unsigned nin = piece(left->in.nbytes);
    const unsigned nout = piece(left->out_nbytes);
    const bool is_last = nin == left->in.nbytes && nout == left->out_nbytes;
    stream->next_in = nin == 0 ? &none : left->in.data;
    stream->avail_in = nin;
    stream->next_out = nout == 0 ? &none : left->out;
    stream->avail_out = nout;
    const int ret = inflate(stream, is_last ? Z_FINISH : Z_NO_FLUSH); /* the former needs no window */
    const unsigned nread = nin - stream->avail_in;
    const unsigned nwritten = nout - stream->avail_out;
    if (nread != 0) {
        left->in.data += nread;
        left->in.nbytes -= nread;
    }
    if (nwritten != 0) {
        left->out += nwritten;
        left->out_nbytes -= nwritten;
    }
    *is_stuck = is_last || (nread == 0 && nwritten == 0);
    return ret;
}

/* More room, where the output may grow. */
static int inflate_grow(inflate_left_t *left) {
    inflate_growth_t *growth = left->growth;
    if (growth == NULL) {
        return vczi_fail(VCZC_ERR_CORRUPT, "deflated data holds more bytes than it should");
    }
    if (growth->nbytes >= growth->max_nbytes) {
        return vczi_fail(VCZC_ERR_CORRUPT, "deflated data holds more than the %zu bytes that are allowed",
                         growth->max_nbytes);
    }
    const size_t done = growth->nbytes;
    const size_t nbytes = done > growth->max_nbytes / 2 ? growth->max_nbytes : done * 2;
    uint8_t *grown = vczi_scratch_grow(growth->scratch, growth->which, nbytes, done);
    if (grown == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    growth->nbytes = nbytes;
    left->out = grown + done;
    left->out_nbytes = nbytes - done;
    return 0;
}

/* zlib's code of a failure as ours. */
static int inflate_failed(const z_stream *stream, int code) {
    switch (code) {
        case Z_NEED_DICT:
            return vczi_fail(VCZC_ERR_CORRUPT, "deflated data asks for a dictionary");
        case Z_DATA_ERROR:
            return vczi_fail(VCZC_ERR_CORRUPT, "deflated data is damaged: %s",
                             stream->msg == NULL ? "no reason given" : stream->msg);
        case Z_MEM_ERROR: /* zlib_alloc has reported it */
            return VCZC_ERR_NO_MEMORY;
        default:
            return vczi_fail(VCZC_ERR_INTERNAL, "zlib failed with %d", code);
    }
}

/* One stream, to its end. */
static int inflate_stream(z_stream *stream, inflate_left_t *left) {
    for (;;) {
        bool is_stuck = false;
        const int code = inflate_piece(stream, left, &is_stuck);
        if (code == Z_STREAM_END) {
            return 0;
        }
        if (code != Z_OK && code != Z_BUF_ERROR) {
            return inflate_failed(stream, code);
        }
        if (!is_stuck) {
            continue;
        }
        if (left->in.nbytes == 0 && left->out_nbytes != 0) {
            return vczi_fail(VCZC_ERR_CORRUPT, "deflated data ends too early: room for %zu bytes is left",
                             left->out_nbytes);
        }
        const int ret = inflate_grow(left);
        if (ret != 0) {
            return ret;
        }
    }
}

/* Zeros may fill up a gzip file (`gzip` and Python take them so). */
static bool is_padding(vczi_span_t in) {
    for (size_t i = 0; i < in.nbytes; i++) {
        if (in.data[i] != 0) {
            return false;
        }
    }
    return true;
}

/* All streams of the input: one, or of gzip as many members as there are. */
static int inflate_all(int format, inflate_left_t *left, vczi_scratch_t *scratch) {
    z_stream *stream = vczi_scratch_context(scratch, VCZI_CONTEXT_INFLATE, stream_make, stream_drop);
    if (stream == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    do {
        if (inflateReset2(stream, window_bits(format)) != Z_OK) {
            return vczi_fail(VCZC_ERR_INTERNAL, "zlib's state is damaged");
        }
        const int ret = inflate_stream(stream, left);
        if (ret != 0) {
            return ret;
        }
    } while (format == VCZI_INFLATE_GZIP && !is_padding(left->in));
    if (format != VCZI_INFLATE_GZIP && left->in.nbytes != 0) {
        return vczi_fail(VCZC_ERR_CORRUPT, "%zu bytes follow the deflated data", left->in.nbytes);
    }
    return 0;
}

int vczi_inflate(vczi_span_t in, int format, uint8_t *out, size_t out_nbytes, vczi_scratch_t *scratch) {
    inflate_left_t left = {in, out, out_nbytes, NULL};
    int ret = inflate_all(format, &left, scratch);
    if (ret == 0 && left.out_nbytes != 0) {
        ret = vczi_fail(VCZC_ERR_CORRUPT, "deflated data holds %zu bytes, and not %zu", out_nbytes - left.out_nbytes,
                        out_nbytes);
    }
    return ret;
}

int vczi_inflate_unsized(vczi_span_t in, int format, size_t max_nbytes, int which, vczi_scratch_t *scratch,
                         vczi_span_t *out) {
    inflate_growth_t growth = {scratch, which, FIRST_OUT_NBYTES, max_nbytes};
    if (in.nbytes < (SIZE_MAX - FIRST_OUT_NBYTES) / FIRST_OUT_RATIO) {
        growth.nbytes += in.nbytes * FIRST_OUT_RATIO;
    }
    growth.nbytes = growth.nbytes < max_nbytes ? growth.nbytes : max_nbytes;
    uint8_t *buffer = vczi_scratch_buffer(scratch, which, growth.nbytes);
    if (buffer == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    inflate_left_t left = {in, buffer, growth.nbytes, &growth};
    int ret = inflate_all(format, &left, scratch);
    if (ret == 0) {
        *out = vczi_span(left.out - (growth.nbytes - left.out_nbytes), growth.nbytes - left.out_nbytes);
    }
    return ret;
}

int vczi_inflate_check(vczi_span_t in, size_t out_nbytes) {
    if (out_nbytes / VCZI_MAX_DEFLATE_RATIO > in.nbytes) {
        return vczi_fail(VCZC_ERR_CORRUPT, "%zu bytes of deflated data cannot hold %zu", in.nbytes, out_nbytes);
    }
    return 0;
}

uint32_t vczi_crc32(vczi_span_t in) {
    return in.nbytes == 0 ? 0 : (uint32_t) crc32_z(0, in.data, in.nbytes);
}

uint32_t vczi_adler32(vczi_span_t in) {
    return in.nbytes == 0 ? 1 : (uint32_t) adler32_z(1, in.data, in.nbytes);
}
