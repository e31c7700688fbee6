/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* A zip archive as a store: entries are read, and inflated where they are deflated; stored bytes that are handed out
 * are views of a map. */
#ifndef VCZI_ZIP_H
#define VCZI_ZIP_H

#include "store.h"

extern const vczi_store_ops_t vczi_zip_ops;

/* Open the archive at `path`, which is absolute; flags are VCZC_OPEN_…. *self is for vczi_zip_ops. Codes as
 * vczc_store_open. */
int vczi_zip_open(void **self, const char *path, uint32_t flags);

/* Open one that lies in memory and outlives the store. */
int vczi_zip_open_memory(void **self, vczi_span_t archive, uint32_t flags);

#endif
