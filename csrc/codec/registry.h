/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Codec names of both formats, and what stands behind each. */
#ifndef VCZI_REGISTRY_H
#define VCZI_REGISTRY_H

#include "codec.h"

/* A name that is read. `set_layout` belongs to the first two stages, `set_codec` to the third; each checks the codec's
 * settings (`what` names the codec in errors). */
typedef struct {
    const char *name;
    vczi_stage_t stage;
    bool in_v2, in_v3;
    int variant;
    int (*set_layout)(const vczi_codec_spec_t *spec, vczi_layout_t *layout);
    int (*set_codec)(const vczi_codec_spec_t *spec, int variant, vczi_codec_t *codec);
} vczi_registered_t;

/* VCZC_ERR_UNSUPPORTED, with the codec's name, where it is not read. */
int vczi_registry_find(const vczi_codec_spec_t *spec, const vczi_registered_t **found);

#endif
