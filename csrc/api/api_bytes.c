/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "api_bytes.h"

#include "mem.h"

int vczi_bytes_export(vczc_store_t *store, vczi_bytes_t *stored, vczc_bytes_t *bytes) {
    vczi_bytes_t *pin = vczi_alloc(sizeof(*pin));
    if (pin == NULL) {
        vczi_bytes_release(stored);
        return VCZC_ERR_NO_MEMORY;
    }
    *pin = *stored;
    *stored = (vczi_bytes_t){0};
    bytes->data = pin->span.data;
    bytes->nbytes = pin->span.nbytes;
    bytes->pin = pin;
    bytes->store = vczi_store_retain(store);
    return 0;
}

void vczc_bytes_release(vczc_bytes_t *bytes) {
    if (bytes == NULL) {
        return;
    }
    if (bytes->pin != NULL) {
        vczi_bytes_release(bytes->pin);
        vczi_free(bytes->pin);
    }
    vczi_store_release(bytes->store);
    *bytes = (vczc_bytes_t){0};
}
