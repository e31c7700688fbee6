/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The table of codes, and the thread's account of its last error: fixed memory, so that reporting cannot fail. */
#if !defined(_WIN32) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L /* strerror_r */
#endif

#ifdef __MINGW32__
#define __USE_MINGW_ANSI_STDIO 1 /* else vsnprintf there knows no %zu */
#endif

#include "status.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A system's error text is some 30 bytes; the longest of glibc 50. */
#define ERRNO_NBYTES 128

/* The place is cut to half a line, so that a long path cannot push the reason out, nor the reason the place. */
#define PLACE_NBYTES (VCZI_DETAIL_NBYTES / 2)

static VCZI_THREAD_LOCAL vczi_detail_t detail_last;

const char *vczi_strerror(int code) {
    switch (code) {
        case 0:
            return "success";
        case VCZC_ERR_NO_MEMORY:
            return "out of memory";
        case VCZC_ERR_ARGUMENT:
            return "invalid argument";
        case VCZC_ERR_INDEX:
            return "index out of range";
        case VCZC_ERR_BUFFER:
            return "buffer too small";
        case VCZC_ERR_NOT_FOUND:
            return "not found";
        case VCZC_ERR_STORE:
            return "store cannot be read";
        case VCZC_ERR_NO_NODE:
            return "no such node";
        case VCZC_ERR_METADATA:
            return "invalid metadata";
        case VCZC_ERR_UNSUPPORTED:
            return "not supported";
        case VCZC_ERR_CORRUPT:
            return "corrupt data";
        case VCZC_ERR_MISSING_CHUNK:
            return "missing chunk";
        case VCZC_ERR_INTERNAL:
            return "internal error";
        case VCZC_ERR_CANCELLED:
            return "cancelled";
        default:
            return "unknown error";
    }
}

/* Cut `text` where a cut at its end has split a UTF-8 sequence, and make it one line: names in reasons are a
 * store's own and may hold anything. `cut` says that the text did not fit. */
static void tidy(char *text, bool cut) {
    size_t nbytes = 0;
    for (; text[nbytes] != '\0'; nbytes++) {
        const unsigned char byte = (unsigned char) text[nbytes];
        if (byte < 0x20 || byte == 0x7f) {
            text[nbytes] = '?';
        }
    }
    if (!cut) {
        return;
    }
    size_t ntail = 0; /* continuation bytes at the end */
    while (ntail < 3 && ntail < nbytes && ((unsigned char) text[nbytes - 1 - ntail] & 0xc0) == 0x80) {
        ntail++;
    }
    if (ntail < nbytes) {
        const unsigned char lead = (unsigned char) text[nbytes - 1 - ntail];
        const size_t nwanted = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
        if (nwanted > ntail) {
            text[nbytes - 1 - ntail] = '\0';
        }
    }
}

/* Copy `text` (NULL: "") into `out` of `size` bytes, cut to fit. */
static void copy_text(char *out, size_t size, const char *text) {
    const size_t nbytes = text == NULL ? 0 : strlen(text);
    const size_t nkept = nbytes < size ? nbytes : size - 1;
    if (nkept != 0) {
        memcpy(out, text, nkept);
    }
    out[nkept] = '\0';
    tidy(out, nkept < nbytes);
}

/* Put `parts`, one behind the other, into the thread's reason. They may lie in the reason itself. */
static void set_reason(const char *const *parts, size_t nparts) {
    char reason[VCZI_DETAIL_NBYTES];
    size_t nbytes = 0;
    bool cut = false;
    for (size_t i = 0; i < nparts; i++) {
        const size_t npart = strlen(parts[i]);
        const size_t left = sizeof(reason) - 1 - nbytes;
        const size_t nkept = npart < left ? npart : left;
        memcpy(reason + nbytes, parts[i], nkept);
        nbytes += nkept;
        cut = cut || nkept < npart;
    }
    reason[nbytes] = '\0';
    tidy(reason, cut);
    memcpy(detail_last.reason, reason, nbytes + 1);
}

/* A new failure: nothing of the one before it stays. */
static int set_failure(int code, const char *const *parts, size_t nparts) {
    set_reason(parts, nparts);
    detail_last.code = code;
    detail_last.ndim = -1;
    detail_last.array[0] = '\0';
    detail_last.key[0] = '\0';
    return code;
}

/* Arguments of a format may lie in the thread's own detail, so it is written to `out` first. */
static void format_text(char *out, size_t size, const char *format, va_list arguments) VCZI_PRINTF(3, 0);
static void format_text(char *out, size_t size, const char *format, va_list arguments) {
    const int nbytes = vsnprintf(out, size, format, arguments);
    if (nbytes < 0) {
        out[0] = '\0';
        return;
    }
    tidy(out, (size_t) nbytes >= size);
}

int vczi_fail(int code, const char *format, ...) {
    char text[VCZI_DETAIL_NBYTES];
    va_list arguments;
    va_start(arguments, format);
    format_text(text, sizeof(text), format, arguments);
    va_end(arguments);
    const char *const parts[] = {text};
    return set_failure(code, parts, 1);
}

/* strerror is not safe in threads; its safe forms are three. */
static void errno_text(int error, char *out, size_t size) {
    out[0] = '\0';
#if defined(_WIN32)
    if (strerror_s(out, size, error) != 0) {
        out[0] = '\0';
    }
#elif defined(__GLIBC__) && defined(_GNU_SOURCE)
    const char *text = strerror_r(error, out, size); /* `out`, or static text */
    if (text != out) {
        copy_text(out, size, text);
    }
#else
    if (strerror_r(error, out, size) != 0) {
        out[0] = '\0';
    }
#endif
    if (out[0] == '\0') {
        (void) snprintf(out, size, "system error %d", error);
    }
}

int vczi_fail_errno(int code, int error, const char *format, ...) {
    char text[VCZI_DETAIL_NBYTES];
    char system[ERRNO_NBYTES];
    va_list arguments;
    va_start(arguments, format);
    format_text(text, sizeof(text), format, arguments);
    va_end(arguments);
    errno_text(error, system, sizeof(system));
    const char *const parts[] = {text, ": ", system};
    return set_failure(code, parts, 3);
}

int vczi_fail_memory(size_t nbytes) {
    return vczi_fail(VCZC_ERR_NO_MEMORY, "%zu bytes of memory could not be had", nbytes);
}

int vczi_fail_where(int code, const char *array, const char *key, const int64_t *coords, int ndim) {
    char text[VCZI_DETAIL_NBYTES];
    copy_text(text, sizeof(text), array);
    memcpy(detail_last.array, text, sizeof(text));
    copy_text(text, sizeof(text), key);
    memcpy(detail_last.key, text, sizeof(text));
    detail_last.code = code;
    detail_last.ndim = -1;
    if (coords != NULL && ndim >= 0 && ndim <= VCZC_MAX_NDIM) {
        detail_last.ndim = ndim;
        memcpy(detail_last.coords, coords, (size_t) ndim * sizeof(*coords));
    }
    return code;
}

int vczi_fail_prefix(int code, const char *format, ...) {
    char text[VCZI_DETAIL_NBYTES];
    va_list arguments;
    va_start(arguments, format);
    format_text(text, sizeof(text), format, arguments);
    va_end(arguments);
    const char *const parts[] = {text, ": ", detail_last.reason};
    set_reason(parts, 3);
    detail_last.code = code;
    return code;
}

/* `out` holds `nbytes` of `size` bytes of text; put more behind it, cut to fit. Returns the new length. */
static size_t append(char *out, size_t size, size_t nbytes, const char *format, ...) VCZI_PRINTF(4, 5);
static size_t append(char *out, size_t size, size_t nbytes, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    format_text(out + nbytes, size - nbytes, format, arguments);
    va_end(arguments);
    return nbytes + strlen(out + nbytes);
}

/* ` (array 'x', chunk (3, 0), key 'x/3.0')`, or "" where no place is known. */
static void compose_place(const vczi_detail_t *detail, char *out, size_t size) {
    const char *separator = " (";
    const size_t end = size - 1; /* room for the bracket that closes it */
    size_t nbytes = 0;
    out[0] = '\0';
    if (detail->array[0] != '\0') {
        nbytes = append(out, end, nbytes, "%sarray '%s'", separator, detail->array);
        separator = ", ";
    }
    if (detail->ndim >= 0) {
        nbytes = append(out, end, nbytes, "%schunk (", separator);
        for (int i = 0; i < detail->ndim; i++) {
            nbytes = append(out, end, nbytes, "%s%" PRId64, i == 0 ? "" : ", ", detail->coords[i]);
        }
        nbytes = append(out, end, nbytes, ")");
        separator = ", ";
    }
    if (detail->key[0] != '\0') {
        nbytes = append(out, end, nbytes, "%skey '%s'", separator, detail->key);
    }
    if (nbytes != 0) {
        (void) append(out, size, nbytes, ")");
    }
}

/* Text is made when it is asked for: most failures ("not found") are dealt with and never shown. */
static void compose(vczi_detail_t *detail) {
    char place[PLACE_NBYTES];
    if (detail->code == 0) {
        detail->ndim = -1; /* nothing has failed yet: zeroed memory */
        return;
    }
    compose_place(detail, place, sizeof(place));
    copy_text(detail->text, sizeof(detail->text) - strlen(place), detail->reason);
    (void) append(detail->text, sizeof(detail->text), strlen(detail->text), "%s", place);
}

const vczi_detail_t *vczi_detail_view(void) {
    compose(&detail_last);
    return &detail_last;
}

void vczi_detail_save(vczi_detail_t *detail) {
    compose(&detail_last);
    *detail = detail_last;
}

void vczi_detail_restore(const vczi_detail_t *detail) {
    detail_last = *detail;
}
