/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* What the system gives and takes: the only part that differs between systems. */
#ifndef VCZI_PAGES_SYSTEM_H
#define VCZI_PAGES_SYSTEM_H

#include <stddef.h>

/* The size of a huge page, or where there are none what regions are rounded to. */
#define VCZI_PAGES_STEP_NBYTES ((size_t) 2 << 20)

/* Bytes of memory that the machine has; 0 where it does not say. */
size_t vczi_pages_system_memory(void);

/* A region of `nbytes`, a multiple of the step, on a border of the step where huge pages want it. NULL where there is
 * none. */
void *vczi_pages_system_map(size_t nbytes);
void vczi_pages_system_unmap(void *pages, size_t nbytes);

/* The content is not needed any more; the region stays. */
void vczi_pages_system_discard(void *pages, size_t nbytes);

#endif
