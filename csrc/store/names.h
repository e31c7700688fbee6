/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* A set of names that grows, and its names in byte order: what a listing of a folder has found. */
#ifndef VCZI_NAMES_H
#define VCZI_NAMES_H

#include "bytes.h"
#include "strmap.h"

/* Zeroed it is empty. */
typedef struct {
    char *text; /* the names one behind the other */
    size_t text_nbytes, text_size;
    struct vczi_name *items;
    size_t nitems, items_size;
    vczi_strmap_t map;
} vczi_names_t;

/* Add a copy of `name` where it is not there yet. @return 0 or VCZC_ERR_NO_MEMORY; the set stays as it was. */
int vczi_names_add(vczi_names_t *self, vczi_span_t name);

/* Put them in byte order. Nothing may be added after it. */
void vczi_names_sort(vczi_names_t *self);

/* Name `i` of nitems. Valid until the next one is added. */
vczi_span_t vczi_names_view(const vczi_names_t *self, size_t i);

void vczi_names_clear(vczi_names_t *self);

#endif
