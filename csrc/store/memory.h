/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Keys and bytes in memory as a store. */
#ifndef VCZI_MEMORY_H
#define VCZI_MEMORY_H

#include "store.h"

extern const vczi_store_ops_t vczi_memory_ops;

/* Copy the entries; keys that are not safe are left out. *self is for vczi_memory_ops. VCZC_ERR_ARGUMENT where a
 * pointer is missing, or VCZC_ERR_NO_MEMORY. */
int vczi_memory_open(void **self, const vczc_entry_t *entries, size_t nentries);

#endif
