/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The embedder's functions as a store. */
#ifndef VCZI_CALLBACKS_H
#define VCZI_CALLBACKS_H

#include "store.h"

extern const vczi_store_ops_t vczi_callbacks_ops;

/* Copy the functions. *self is for vczi_callbacks_ops. VCZC_ERR_ARGUMENT or VCZC_ERR_NO_MEMORY. */
int vczi_callbacks_open(void **self, const vczc_callbacks_t *callbacks, void *user);

/* Forget it without calling the embedder's `close`: for an open that failed. */
void vczi_callbacks_abandon(void *self);

bool vczi_callbacks_prefer_consolidated(const void *self);

#endif
