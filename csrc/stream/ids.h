/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The texts of an array as ids, and from an id to its place: samples, contigs. */
#ifndef VCZI_IDS_H
#define VCZI_IDS_H

#include <stdbool.h>

#include "strmap.h"
#include "vczc.h"

typedef struct {
    int64_t nids;
    size_t *offsets; /* nids + 1 */
    char *text;      /* each id with a zero byte behind it */
    uint8_t *twice;  /* of each id, whether another has the same text */
    vczi_strmap_t places;
} vczi_ids_t;

/* Read all of array `name` of the group at `path`: its texts in C order, whatever their data type is. VCZC_ERR_METADATA
 * where it holds no texts. On failure `ids` is zeroed. */
int vczi_ids_init(vczi_ids_t *ids, vczc_store_t *store, const char *path, const char *name);
void vczi_ids_clear(vczi_ids_t *ids);

/* Id `place`, zero-terminated. */
const char *vczi_ids_view(const vczi_ids_t *ids, int64_t place);

/* The first place of `id`, or -1. */
int64_t vczi_ids_find(const vczi_ids_t *ids, vczi_span_t id);

/* The path of array `name` in the group at `path`; free with vczi_free, NULL without memory. */
char *vczi_ids_path(const char *path, const char *name);

#endif
