/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Keys: a store is never asked for what could lead out of it. */
#include "key.h"

#include "ceilings.h"

static bool part_is_safe(const uint8_t *part, size_t nbytes) {
    return nbytes > 2 || (nbytes == 2 && (part[0] != '.' || part[1] != '.')) || (nbytes == 1 && part[0] != '.');
}

bool vczi_key_span_is_safe(vczi_span_t key) {
    size_t start = 0;
    if (key.nbytes == 0 || key.nbytes > VCZI_MAX_KEY_NBYTES) {
        return false;
    }
    for (size_t i = 0; i < key.nbytes; i++) {
        const uint8_t byte = key.data[i];
        if (byte == '\0' || byte == '\\') {
            return false;
        }
        if (byte == '/') {
            if (!part_is_safe(key.data + start, i - start)) {
                return false;
            }
            start = i + 1;
        }
    }
    return part_is_safe(key.data + start, key.nbytes - start);
}

bool vczi_key_is_safe(const char *key) {
    return vczi_key_span_is_safe(vczi_span(key, strlen(key)));
}

bool vczi_key_is_stray(vczi_span_t key) {
    const vczi_span_t resources = vczi_span("__MACOSX/", 9);
    if (vczi_key_begins_with(key, resources) || (key.nbytes == 8 && memcmp(key.data, "__MACOSX", 8) == 0)) {
        return true;
    }
    for (size_t i = 0; i + 1 < key.nbytes; i++) {
        if (key.data[i] == '.' && key.data[i + 1] == '_' && (i == 0 || key.data[i - 1] == '/')) {
            return true;
        }
    }
    return false;
}

bool vczi_key_begins_with(vczi_span_t key, vczi_span_t prefix) {
    return prefix.nbytes <= key.nbytes && (prefix.nbytes == 0 || memcmp(key.data, prefix.data, prefix.nbytes) == 0);
}

vczi_span_t vczi_key_child(vczi_span_t key, vczi_span_t folder) {
    const vczi_span_t rest = vczi_span(key.data + folder.nbytes, key.nbytes - folder.nbytes);
    const uint8_t *slash = rest.nbytes == 0 ? NULL : memchr(rest.data, '/', rest.nbytes);
    return vczi_span(rest.data, slash == NULL ? rest.nbytes : (size_t) (slash - rest.data));
}
