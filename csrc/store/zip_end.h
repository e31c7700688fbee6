/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Where the central directory of a zip archive lies. */
#ifndef VCZI_ZIP_END_H
#define VCZI_ZIP_END_H

#include "zip_source.h"

/* Signatures, as the little-endian numbers that they are. */
#define VCZI_ZIP_LOCAL_HEADER UINT32_C(0x04034b50)
#define VCZI_ZIP_CENTRAL_HEADER UINT32_C(0x02014b50)
#define VCZI_ZIP_DIGITAL_SIGNATURE UINT32_C(0x05054b50)
#define VCZI_ZIP_ARCHIVE_EXTRA UINT32_C(0x08064b50)

/* Fixed parts of headers. */
#define VCZI_ZIP_LOCAL_NBYTES 30
#define VCZI_ZIP_CENTRAL_NBYTES 46

/* The directory lies inside the archive: start and nbytes have been checked. */
typedef struct {
    uint64_t start;
    uint64_t nbytes;
    uint64_t shift;    /* bytes before the first entry that the archive's offsets do not count */
    uint64_t nentries; /* as the end record says, which may be wrong */
} vczi_zip_directory_t;

/* Find the last end record whose fields agree with the archive. VCZC_ERR_STORE where there is none,
 * VCZC_ERR_UNSUPPORTED where the archive is split or its directory encrypted. */
int vczi_zip_find_directory(const vczi_zip_source_t *source, vczi_zip_directory_t *directory);

#endif
