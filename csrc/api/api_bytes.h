/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Stored bytes on their way out of the library. */
#ifndef VCZI_API_BYTES_H
#define VCZI_API_BYTES_H

#include "store.h"
#include "vczc.h"

/* Hand pinned bytes to the caller: `stored` is moved (and released on failure), the store is held. `bytes` is zeroed.
 */
int vczi_bytes_export(vczc_store_t *store, vczi_bytes_t *stored, vczc_bytes_t *bytes);

#endif
