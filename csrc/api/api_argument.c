/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "api_argument.h"

#include "status.h"

int vczi_null_argument(const char *name) {
    return vczi_fail(VCZC_ERR_ARGUMENT, "%s is NULL", name);
}
