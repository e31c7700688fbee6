/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* A folder of files as a store. */
#ifndef VCZI_DIRECTORY_H
#define VCZI_DIRECTORY_H

#include "store.h"

extern const vczi_store_ops_t vczi_directory_ops;

/* Open the folder at `path`. *self is for vczi_directory_ops. VCZC_ERR_NOT_FOUND, _STORE or _NO_MEMORY. */
int vczi_directory_open(void **self, const char *path);

#endif
