/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Hostile text as JSON, as .zarray with its .zattrs (behind a zero byte, which no JSON holds), as .zgroup and as
 * zarr.json. What is taken must hold together: written, it reads again; its grid and keys can be walked. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ceilings.h"
#include "document.h"
#include "mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes);

static void require(bool holds) {
    if (!holds) {
        abort();
    }
}

static void read_back(const vczi_json_doc_t *tree) {
    char *text = NULL;
    size_t nbytes = 0;
    vczi_json_doc_t *again = NULL;
    require(vczi_json_write(vczi_json_root(tree), &text, &nbytes) == 0 && text[nbytes] == '\0');
    require(vczi_json_parse(&again, vczi_span(text, nbytes), "fuzz") == 0);
    require(vczi_json_type(vczi_json_root(again)) == vczi_json_type(vczi_json_root(tree)));
    vczi_json_close(again);
    vczi_free(text);
}

static void walk_chunk(const vczi_document_t *doc, const int64_t *coords) {
    char key[VCZI_MAX_KEY_NBYTES];
    int64_t back[VCZC_MAX_NDIM];
    int64_t shape[VCZC_MAX_NDIM];
    const vczi_grid_t *grid = &doc->grid;
    require(vczi_grid_holds(grid, coords));
    vczi_grid_block_shape(grid, coords, shape);
    const size_t nbytes = vczi_chunk_key_write(&doc->keys, "", 0, grid->ndim, coords, key, sizeof(key));
    require(nbytes != 0 && vczi_chunk_key_read(&doc->keys, key, nbytes, grid->ndim, back));
    for (int i = 0; i < grid->ndim; i++) {
        require(back[i] == coords[i] && shape[i] >= 1 && shape[i] <= grid->chunks[i]);
        const vczi_cut_t cut = vczi_grid_cut(grid, i, coords[i], 0, grid->shape[i], 1);
        require(cut.first == 0 && cut.count == shape[i] && cut.place == coords[i] * grid->chunks[i]);
    }
}

static void walk_array(const vczi_document_t *doc) {
    int64_t first[VCZC_MAX_NDIM];
    int64_t last[VCZC_MAX_NDIM];
    require(doc->fill != NULL && doc->ncodecs >= 1 && doc->ncodecs <= VCZI_MAX_CODECS);
    require(vczi_dtype_is_vlen(&doc->dtype) || (int64_t) doc->fill_nbytes == doc->dtype.item_nbytes);
    for (int i = 0; i < doc->grid.ndim; i++) {
        first[i] = 0;
        last[i] = doc->grid.counts[i] - 1;
    }
    if (doc->grid.nchunks != 0) {
        walk_chunk(doc, first);
        walk_chunk(doc, last);
    }
}

typedef enum { AS_ARRAY, AS_GROUP, AS_V3 } as_t;

static void read_as(as_t as, vczi_span_t text, const vczi_json_doc_t *attributes) {
    vczi_json_doc_t *tree = NULL;
    vczi_document_t doc;
    if (vczi_json_parse(&tree, text, "fuzz") != 0) {
        return;
    }
    const vczi_json_t *root = vczi_json_root(tree);
    const vczi_json_t *members = attributes == NULL ? NULL : vczi_json_root(attributes);
    const int ret = as == AS_ARRAY   ? vczi_document_parse_v2_array(&doc, tree, root, members, "fuzz")
                    : as == AS_GROUP ? vczi_document_parse_v2_group(&doc, tree, root, "fuzz")
                                     : vczi_document_parse_v3(&doc, tree, root, "fuzz");
    if (ret != 0) {
        vczi_json_close(tree);
        return;
    }
    if (doc.kind == VCZC_NODE_ARRAY) {
        walk_array(&doc);
    }
    vczi_document_clear(&doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes) {
    const uint8_t *zero = nbytes == 0 ? NULL : memchr(data, '\0', nbytes);
    const vczi_span_t text = vczi_span(data, zero == NULL ? nbytes : (size_t) (zero - data));
    vczi_json_doc_t *tree = NULL;
    vczi_json_doc_t *attributes = NULL;
    if (zero != NULL) {
        (void) vczi_json_parse(&attributes, vczi_span(zero + 1, nbytes - text.nbytes - 1), "fuzz");
    }
    if (vczi_json_parse(&tree, text, "fuzz") == 0) {
        read_back(tree);
        vczi_json_close(tree);
    }
    read_as(AS_ARRAY, text, attributes);
    read_as(AS_GROUP, text, NULL);
    read_as(AS_V3, text, NULL);
    vczi_json_close(attributes);
    return 0;
}
