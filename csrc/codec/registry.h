/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Codec names of both formats, and what stands behind each. */
#ifndef VCZI_REGISTRY_H
#define VCZI_REGISTRY_H

#include "codec.h"

/* A name that is read. `set_layout` belongs to the first two stages, `set_codec` to the third; each checks the codec's
 * settings. What needs both has `set_filter`: numcodecs' filters, which take arrays in format 3 and bytes in format 2;
 * it leaves the codec without ops where there is nothing to undo. */
typedef struct {
    const char *name;
    vczi_stage_t stage;
    int formats; /* VCZI_IN_… */
    int variant;
    int (*set_layout)(const vczi_codec_spec_t *spec, vczi_layout_t *layout);
    int (*set_codec)(const vczi_codec_spec_t *spec, int variant, vczi_codec_t *codec);
    int (*set_filter)(const vczi_codec_spec_t *spec, int variant, vczi_layout_t *layout, vczi_codec_t *codec);
} vczi_registered_t;

/* Where the name is one: in format 2, in format 3, and there with "numcodecs." before it. */
enum { VCZI_IN_V2 = 1, VCZI_IN_V3 = 2, VCZI_IN_NUMCODECS = 4 };

/* VCZC_ERR_UNSUPPORTED, with the codec's name, where it is not read. */
int vczi_registry_find(const vczi_codec_spec_t *spec, const vczi_registered_t **found);

#endif
