/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Memory for large results, straight from the system in huge pages, and recycled: 20 MB of new pages cost 0.9 ms where
 * they are huge and 6 to 11 ms where they are not, decoding into them 2 ms. */
#ifndef VCZI_PAGES_H
#define VCZI_PAGES_H

#include <stddef.h>

/* `nbytes` bytes, on a page border, of any content. NULL (and a failure) where there is no memory. */
void *vczi_pages_alloc(size_t nbytes);

/* Give them back; `nbytes` as asked for. NULL is nothing. They are kept for the next call within the bound, and the
 * system may take their content (not their place) where it needs memory. */
void vczi_pages_free(void *pages, size_t nbytes);

/* How many bytes may be kept (at first a sixteenth of the machine's memory, 1 GiB at most); 0 keeps none, and lets go
 * of what is kept. */
void vczi_pages_set_kept(size_t nbytes);

/* Let go of what is kept; the bound stays. */
void vczi_pages_trim(void);

/* Bytes that are kept now. */
size_t vczi_pages_kept(void);

#endif
