/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The one normalised description of an array or a group. Immutable once made; nothing above asks which format it was,
 * except to report it. Format 2's order F is a transpose codec, its byte order a bytes codec, its compressor and
 * filters are codecs. */
#ifndef VCZI_DOCUMENT_H
#define VCZI_DOCUMENT_H

#include <stdbool.h>

#include "ceilings.h"
#include "chunk_key.h"
#include "dtype.h"
#include "grid.h"
#include "json.h"
#include "vczc.h"

/* One codec as named: array to array first, then one array to bytes, then bytes to bytes (the order of writing). */
typedef struct {
    char name[64];             /* format 3's name: transpose, bytes, vlen-utf8, vlen-bytes, blosc, zstd, gzip, … */
    const vczi_json_t *config; /* its configuration, borrowed from the document's tree; NULL where none */
    bool from_v2;              /* config is numcodecs's object, with "id" */
    bool may_be_ignored;       /* of format 3: "must_understand" is false, so that an unknown name is passed over */
} vczi_codec_spec_t;

typedef struct {
    int kind; /* VCZC_NODE_… */
    int zarr_format;
    const char *name; /* of the document itself: zarr.json, .zarray or .zgroup */
    /* Of arrays: */
    vczi_dtype_t dtype;
    bool big_endian;
    char order;         /* 'C' or 'F', to report */
    vczi_grid_t grid;   /* of a sharded array: of the chunks inside the shards */
    bool is_sharded;    /* the only codec is sharding_indexed, so that a key holds a shard */
    vczi_grid_t shards; /* then: the grid of the shards; a shard is a whole number of chunks along each axis */
    void *fill;
    size_t fill_nbytes;
    bool fill_is_null;
    vczi_key_encoding_t keys;
    int ncodecs;
    vczi_codec_spec_t codecs[VCZI_MAX_CODECS];
    char **dims; /* ndim names, or NULL; an item may be NULL */
    /* The tree that `codecs` borrows from. */
    vczi_json_doc_t *tree;
} vczi_document_t;

/* The codecs that member `key` of `object` lists, as format 3 has them: of an array, or inside its shards. Borrows from
 * the tree; `what` names the object. VCZC_ERR_METADATA, or _UNSUPPORTED beyond VCZI_MAX_CODECS. */
int vczi_document_read_codecs(const vczi_json_t *object, const char *key, const char *what, vczi_codec_spec_t *codecs,
                              int *ncodecs);

/* A document of that format → description. `tree` is taken over on success. `attributes` may be NULL (format 2: where
 * _ARRAY_DIMENSIONS are). `what` names the document in errors. */
int vczi_document_parse_v2_array(vczi_document_t *doc, vczi_json_doc_t *tree, const vczi_json_t *root,
                                 const vczi_json_t *attributes, const char *what);
int vczi_document_parse_v2_group(vczi_document_t *doc, vczi_json_doc_t *tree, const vczi_json_t *root,
                                 const char *what);
int vczi_document_parse_v3(vczi_document_t *doc, vczi_json_doc_t *tree, const vczi_json_t *root, const char *what);

/* Frees what the document owns, and zeroes it; an initialised or zeroed one. */
void vczi_document_clear(vczi_document_t *doc);

/* ---- For v2.c and v3.c ---- */

/* Member `key` of `object`, a list of lengths: their number and values. Integers that are not negative, or
 * VCZC_ERR_METADATA; `what` names the object. */
int vczi_document_read_lengths(const vczi_json_t *object, const char *key, const char *what, int *ndim,
                               int64_t lengths[VCZC_MAX_NDIM]);

/* True of an extension of format 3 that says that it need not be understood. */
bool vczi_document_may_be_ignored(const vczi_json_t *value);

/* The name of one of format 3's extension points: {"name": …, "configuration": …}, or the name alone. `key` is what it
 * stands for in `what`. */
int vczi_document_need_name(const vczi_json_t *value, const char *key, const char *what, vczi_span_t *name);

/* Append a codec; `name` is copied, `config` is borrowed. */
int vczi_document_add_codec(vczi_document_t *doc, vczi_span_t name, const vczi_json_t *config, bool from_v2,
                            const char *what);

/* doc->dims of a list of texts (and nulls), one for each axis. *is_good is false, and the dims stay NULL, where it is
 * another thing. @return 0 or VCZC_ERR_NO_MEMORY. */
int vczi_document_read_dims(vczi_document_t *doc, const vczi_json_t *names, bool *is_good);

/* VCZC_ERR_METADATA where the bytes of a chunk are more than 64 bits can count. */
int vczi_document_check_chunk(const vczi_document_t *doc, const char *what);

#endif
