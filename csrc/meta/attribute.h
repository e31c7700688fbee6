/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The attributes of a node, by key. */
#ifndef VCZI_ATTRIBUTE_H
#define VCZI_ATTRIBUTE_H

#include "vczc.h"

/* As vczc_node_attr_… say. */
int vczi_attribute_type(const vczc_node_info_t *node, const char *key, int *type);
int vczi_attribute_int(const vczc_node_info_t *node, const char *key, int64_t *value);
int vczi_attribute_double(const vczc_node_info_t *node, const char *key, double *value);
int vczi_attribute_text(const vczc_node_info_t *node, const char *key, char **text, size_t *nbytes);
int vczi_attribute_json(const vczc_node_info_t *node, const char *key, char **text, size_t *nbytes);
int vczi_attribute_keys(const vczc_node_info_t *node, vczc_list_fn tell, void *user);

#endif
