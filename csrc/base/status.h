/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Status codes, and the thread's account of its last error. The code and the reason are born together,
 * where the fault is found; callers pass the code on untouched. */
#ifndef VCZI_STATUS_H
#define VCZI_STATUS_H

#include "ceilings.h"
#include "compiler.h"
#include "vczc.h"

/* The parts of one error. `where` is filled by array/array_read only. */
typedef struct {
    int code;
    int ndim; /* of coords; -1 where no chunk is named */
    int64_t coords[VCZC_MAX_NDIM];
    char reason[VCZI_DETAIL_NBYTES];
    char array[VCZI_DETAIL_NBYTES];
    char key[VCZI_DETAIL_NBYTES];
    char text[VCZI_DETAIL_NBYTES]; /* reason and where as one line */
} vczi_detail_t;

/* What `code` means, in a few words; "unknown error" for what is no code. Static text. */
const char *vczi_strerror(int code);

/* Remember the reason of a failure in this thread and return `code`. The one breakpoint for all errors. */
int vczi_fail(int code, const char *format, ...) VCZI_PRINTF(2, 3);

/* As vczi_fail, with the text of the system's error number `error` (an errno) behind the reason. */
int vczi_fail_errno(int code, int error, const char *format, ...) VCZI_PRINTF(3, 4);

/* VCZC_ERR_NO_MEMORY, saying how many bytes could not be had. */
int vczi_fail_memory(size_t nbytes);

/* Say where the thread's last error happened; returns `code`. coords may be NULL (ndim is then -1). */
int vczi_fail_where(int code, const char *array, const char *key, const int64_t *coords, int ndim);

/* Put `prefix: ` before the thread's last reason; returns `code`. */
int vczi_fail_prefix(int code, const char *format, ...) VCZI_PRINTF(2, 3);

/* The thread's own detail: valid until the thread's next failure. */
const vczi_detail_t *vczi_detail_view(void);

/* Copy the thread's detail out, and a kept one in: a pool's job carries its detail to the thread that waits. */
void vczi_detail_save(vczi_detail_t *detail);
void vczi_detail_restore(const vczi_detail_t *detail);

#endif
