/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* What a caller may not pass. */
#ifndef VCZI_API_ARGUMENT_H
#define VCZI_API_ARGUMENT_H

/* VCZC_ERR_ARGUMENT, saying that the argument `name` is NULL. */
int vczi_null_argument(const char *name);

/* VCZC_ERR_ARGUMENT where it is negative, else 0. */
int vczi_check_nthreads(int nthreads);

#endif
