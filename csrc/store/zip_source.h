/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Where the bytes of an archive come from: memory, or a file, which is read and never looked at through a map: who
 * cuts the file would end the process by a signal. */
#ifndef VCZI_ZIP_SOURCE_H
#define VCZI_ZIP_SOURCE_H

#include "bytes.h"
#include "file.h"

typedef struct {
    const vczi_file_t *file; /* NULL for an archive in memory */
    vczi_span_t memory;      /* then */
    uint64_t nbytes;         /* of the archive */
} vczi_zip_source_t;

static inline vczi_zip_source_t vczi_zip_source_of_file(const vczi_file_t *file) {
    const vczi_zip_source_t source = {file, {NULL, 0}, file->nbytes};
    return source;
}

static inline vczi_zip_source_t vczi_zip_source_of_memory(vczi_span_t memory) {
    const vczi_zip_source_t source = {NULL, memory, memory.nbytes};
    return source;
}

/* Copy [place, place + nbytes), which lies inside the archive as it was opened. VCZC_ERR_STORE where it is no longer
 * so. */
int vczi_zip_source_read(const vczi_zip_source_t *source, uint64_t place, void *out, size_t nbytes);

#endif
