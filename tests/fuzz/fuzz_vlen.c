/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* A chunk of items of variable length. The first byte says how many items are expected, the second whether they are
 * text. */
#include <stdlib.h>

#include "status.h"
#include "unvlen.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes) {
    vczi_span_t items[256];
    size_t total = 0;
    if (nbytes < 2) {
        return 0;
    }
    const vczi_span_t chunk = vczi_span(data + 2, nbytes - 2);
    const size_t nitems = data[0];
    if (vczi_unvlen(chunk, nitems, (data[1] & 1) != 0, items) != 0) {
        return 0;
    }
    for (size_t i = 0; i < nitems; i++) {
        if (items[i].nbytes != 0 &&
            (items[i].data < chunk.data || items[i].data + items[i].nbytes > chunk.data + chunk.nbytes)) {
            abort();
        }
        if ((data[1] & 1) != 0 && !vczi_utf8_is_valid(items[i])) {
            abort();
        }
        total += items[i].nbytes;
    }
    if (total + 4 * (nitems + 1) != chunk.nbytes) {
        abort(); /* something was passed over */
    }
    return 0;
}
