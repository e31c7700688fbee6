/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* What a key may look like, and which names are no part of a store. */
#ifndef VCZI_KEY_H
#define VCZI_KEY_H

#include <stdbool.h>

#include "bytes.h"

/* A key that a store may be asked for: relative, no empty, "." or ".." part, no backslash or zero byte, not too long.
 */
bool vczi_key_is_safe(const char *key);

/* The same of a key that is not zero-terminated. */
bool vczi_key_span_is_safe(vczi_span_t key);

/* What macOS leaves in archives and on foreign disks: `__MACOSX/` at the top, and any part that begins with "._". */
bool vczi_key_is_stray(vczi_span_t key);

/* True where `key` begins with `prefix`. */
bool vczi_key_begins_with(vczi_span_t key, vczi_span_t prefix);

/* What stands directly under the folder `folder` ("" or "a/b/") on the way to `key`, which begins with it. */
vczi_span_t vczi_key_child(vczi_span_t key, vczi_span_t folder);

#endif
