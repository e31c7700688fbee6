/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Which documents stand at a path, consolidated or not; children. The only file that knows .zarray, .zgroup, .zattrs,
 * .zmetadata and zarr.json. */
#ifndef VCZI_NODE_H
#define VCZI_NODE_H

#include "document.h"
#include "store.h"
#include "vczc.h"

/* As vczc_node_open and its relatives say; the node holds the store. */
int vczi_node_open(vczc_node_t **node, vczc_store_t *store, const char *path);
void vczi_node_close(vczc_node_t *node);
const vczc_node_info_t *vczi_node_info(const vczc_node_t *node);
const vczi_document_t *vczi_node_document(const vczc_node_t *node);
vczc_store_t *vczi_node_store(const vczc_node_t *node);
int vczi_node_children(const vczc_node_t *node, vczc_child_fn tell, void *user);

#endif
