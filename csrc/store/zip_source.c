/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "zip_source.h"

#include "compiler.h"

int vczi_zip_source_read(const vczi_zip_source_t *source, uint64_t place, void *out, size_t nbytes) {
    if (source->file != NULL) {
        return vczi_file_read(source->file, place, out, nbytes);
    }
    VCZI_ASSERT(place <= source->nbytes && nbytes <= source->nbytes - place);
    if (nbytes != 0) {
        memcpy(out, source->memory.data + (size_t) place, nbytes);
    }
    return 0;
}
