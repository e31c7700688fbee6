/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Memory. Every failure has been reported through vczi_fail_memory when NULL comes back. In test builds
 * (VCZI_TEST_FAULTS) the n-th allocation can be made to fail. */
#ifndef VCZI_MEM_H
#define VCZI_MEM_H

#include <stdbool.h>
#include <stddef.h>

#include "compiler.h"
#include "vczc.h"

/* `nbytes` bytes (1 where 0 is asked for), not zeroed; free with vczi_free. */
VCZI_NODISCARD void *vczi_alloc(size_t nbytes);

/* `nitems * item_nbytes` bytes, the product checked; not zeroed. */
VCZI_NODISCARD void *vczi_alloc_array(size_t nitems, size_t item_nbytes);

/* As vczi_alloc_array, zeroed. */
VCZI_NODISCARD void *vczi_alloc_zeroed(size_t nitems, size_t item_nbytes);

/* Grow or shrink what vczi_alloc gave; on failure NULL, and `memory` is as it was. */
VCZI_NODISCARD void *vczi_realloc(void *memory, size_t nitems, size_t item_nbytes);

/* A copy of `nbytes` bytes and a zero byte behind them. */
VCZI_NODISCARD char *vczi_copy_text(const char *text, size_t nbytes);

/* NULL is nothing. */
void vczi_free(void *memory);

/* Take memory from it from now on. False where any has been taken, or one was set already. */
bool vczi_mem_set_allocator(const vczc_allocator_t *allocator);

/* `nbytes` bytes on a 64-byte border; free with vczi_free_aligned. */
VCZI_NODISCARD void *vczi_alloc_aligned(size_t nbytes);
void vczi_free_aligned(void *memory);

#ifdef VCZI_TEST_FAULTS
/* The allocation that is `countdown` allocations ahead fails (1 is the next); 0 turns it off. */
void vczi_test_fail_allocation(long countdown);
#endif

#endif
