/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "api_argument.h"

#include "status.h"

int vczi_null_argument(const char *name) {
    return vczi_fail(VCZC_ERR_ARGUMENT, "%s is NULL", name);
}

int vczi_check_nthreads(int nthreads) {
    return nthreads < 0 ? vczi_fail(VCZC_ERR_ARGUMENT, "nthreads is %d; it must be 0 or more", nthreads) : 0;
}
