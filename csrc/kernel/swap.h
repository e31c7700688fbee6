/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Byte order of items, and booleans as 0 or 1. In place; any alignment. */
#ifndef VCZI_SWAP_H
#define VCZI_SWAP_H

#include <stddef.h>
#include <stdint.h>

/* Reverse the bytes of each of `nitems` items of `item_nbytes` (2, 4, 8; others are left as they are). */
void vczi_swap(void *items, size_t nitems, size_t item_nbytes);

#endif
