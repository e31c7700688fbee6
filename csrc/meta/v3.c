/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Documents of Zarr format 3 (zarr.json). What the specification lets others extend is refused by its name where it is
 * not known and must be understood. Names of codecs are left to the codecs. */
#include <inttypes.h>
#include <string.h>

#include "document.h"
#include "fill.h"
#include "status.h"

/* Cut names in messages to this. */
#define SHOWN_NBYTES 64

static int shown(vczi_span_t text) {
    return text.nbytes < SHOWN_NBYTES ? (int) text.nbytes : SHOWN_NBYTES;
}

static int fail_unsupported(const char *what, const char *role, vczi_span_t name) {
    return vczi_fail(VCZC_ERR_UNSUPPORTED, "%s: %s '%.*s' is not read", what, role, shown(name),
                     (const char *) name.data);
}

/* ---- Members ---- */

typedef struct {
    const char *const *known; /* ended by NULL */
    const char *what;
} members_t;

/* A member that is not known may stand there only if it says that it need not be understood. */
static int check_member(void *user, vczi_span_t key, const vczi_json_t *value) {
    const members_t *members = user;
    for (size_t i = 0; members->known[i] != NULL; i++) {
        if (vczi_span_equals(key, members->known[i])) {
            return 0;
        }
    }
    return vczi_document_may_be_ignored(value) ? 0 : fail_unsupported(members->what, "extension", key);
}

static int check_members(const vczi_json_t *root, int kind, const char *what) {
    static const char *const of_group[] = {"zarr_format", "node_type", "attributes", "consolidated_metadata", NULL};
    static const char *const of_array[] = {"zarr_format", "node_type",       "attributes",           "shape",
                                           "data_type",   "chunk_grid",      "chunk_key_encoding",   "fill_value",
                                           "codecs",      "dimension_names", "storage_transformers", NULL};
    members_t members = {kind == VCZC_NODE_ARRAY ? of_array : of_group, what};
    return vczi_json_each_member(root, check_member, &members);
}

static int check_format(const vczi_json_t *root, const char *what) {
    int64_t format = 0;
    if (vczi_json_type(root) != VCZI_JSON_OBJECT) {
        return vczi_fail(VCZC_ERR_METADATA, "%s must be an object, not %s", what, vczi_json_type_name(root));
    }
    const int ret = vczi_json_need_i64(root, "zarr_format", what, &format);
    if (ret == 0 && format != 3) {
        return vczi_fail(VCZC_ERR_METADATA, "%s: 'zarr_format' must be 3, not %" PRId64, what, format);
    }
    return ret;
}

static int read_kind(const vczi_json_t *root, const char *what, int *kind) {
    vczi_span_t type = {NULL, 0};
    const int ret = vczi_json_need_text(root, "node_type", what, &type);
    if (ret != 0) {
        return ret;
    }
    if (!vczi_span_equals(type, "array") && !vczi_span_equals(type, "group")) {
        return vczi_fail(VCZC_ERR_METADATA, "%s: 'node_type' must be \"array\" or \"group\", not \"%.*s\"", what,
                         shown(type), (const char *) type.data);
    }
    *kind = vczi_span_equals(type, "array") ? VCZC_NODE_ARRAY : VCZC_NODE_GROUP;
    return 0;
}

static int check_attributes(const vczi_json_t *root, const char *what) {
    const vczi_json_t *attributes = vczi_json_member(root, "attributes");
    const vczi_json_type_t type = vczi_json_type(attributes);
    if (type == VCZI_JSON_OBJECT || type == VCZI_JSON_NULL || type == VCZI_JSON_ABSENT) {
        return 0;
    }
    return vczi_fail(VCZC_ERR_METADATA, "%s: 'attributes' must be an object, not %s", what,
                     vczi_json_type_name(attributes));
}

/* ---- Arrays ---- */

static int read_grid(vczi_document_t *doc, const vczi_json_t *root, const char *what) {
    const vczi_json_t *grid = vczi_json_member(root, "chunk_grid");
    int64_t shape[VCZC_MAX_NDIM];
    int64_t chunks[VCZC_MAX_NDIM];
    int ndim = 0;
    int nchunks = 0;
    vczi_span_t name = {NULL, 0};
    int ret = vczi_document_read_lengths(root, "shape", what, &ndim, shape);
    if (ret == 0) {
        ret = vczi_document_need_name(grid, "chunk_grid", what, &name);
    }
    if (ret == 0 && !vczi_span_equals(name, "regular")) {
        ret = fail_unsupported(what, "chunk grid", name);
    }
    if (ret == 0) {
        ret =
            vczi_document_read_lengths(vczi_json_member(grid, "configuration"), "chunk_shape", what, &nchunks, chunks);
    }
    if (ret != 0) {
        return ret;
    }
    if (ndim != nchunks) {
        return vczi_fail(VCZC_ERR_METADATA, "%s: 'shape' has %d axes, 'chunk_shape' %d", what, ndim, nchunks);
    }
    ret = vczi_grid_init(&doc->grid, ndim, shape, chunks);
    return ret == 0 ? 0 : vczi_fail_prefix(ret, "%s", what);
}

static int read_keys(vczi_document_t *doc, const vczi_json_t *root, const char *what) {
    const vczi_json_t *encoding = vczi_json_member(root, "chunk_key_encoding");
    vczi_span_t name = {NULL, 0};
    const int ret = vczi_document_need_name(encoding, "chunk_key_encoding", what, &name);
    if (ret != 0) {
        return ret;
    }
    if (!vczi_span_equals(name, "default") && !vczi_span_equals(name, "v2")) {
        return fail_unsupported(what, "chunk key encoding", name);
    }
    doc->keys.has_c_prefix = vczi_span_equals(name, "default");
    doc->keys.separator = doc->keys.has_c_prefix ? '/' : '.';
    const vczi_json_t *separator = vczi_json_member(vczi_json_member(encoding, "configuration"), "separator");
    if (separator == NULL) {
        separator = vczi_json_member(encoding, "separator"); /* zarr-python takes the short form too */
    }
    if (separator != NULL) {
        if (!vczi_json_text_equals(separator, ".") && !vczi_json_text_equals(separator, "/")) {
            return vczi_fail(VCZC_ERR_METADATA, "%s: 'separator' must be \".\" or \"/\"", what);
        }
        doc->keys.separator = vczi_json_text_equals(separator, "/") ? '/' : '.';
    }
    return 0;
}

static int check_transformers(const vczi_json_t *root, const char *what) {
    const vczi_json_t *list = vczi_json_member(root, "storage_transformers");
    vczi_span_t name = {NULL, 0};
    if (list == NULL || vczi_json_type(list) == VCZI_JSON_NULL) {
        return 0;
    }
    if (vczi_json_type(list) != VCZI_JSON_ARRAY) {
        return vczi_fail(VCZC_ERR_METADATA, "%s: 'storage_transformers' must be an array, not %s", what,
                         vczi_json_type_name(list));
    }
    if (vczi_json_count(list) > VCZI_MAX_CODECS) {
        return vczi_fail(VCZC_ERR_UNSUPPORTED, "%s: more than %d storage transformers", what, VCZI_MAX_CODECS);
    }
    for (size_t i = 0; i < vczi_json_count(list); i++) {
        const vczi_json_t *transformer = vczi_json_item(list, i);
        const int ret = vczi_document_need_name(transformer, "storage_transformers", what, &name);
        if (ret != 0) {
            return ret;
        }
        if (!vczi_document_may_be_ignored(transformer)) {
            return fail_unsupported(what, "storage transformer", name);
        }
    }
    return 0;
}

/* Where shards are all that the codecs make, the chunks inside them are the array's chunks, as in zarr-python. */
static int read_shards(vczi_document_t *doc, const char *what) {
    int64_t chunks[VCZC_MAX_NDIM];
    int ndim = 0;
    if (doc->ncodecs != 1 || strcmp(doc->codecs[0].name, "sharding_indexed") != 0) {
        return 0;
    }
    int ret = vczi_document_read_lengths(doc->codecs[0].config, "chunk_shape", what, &ndim, chunks);
    if (ret != 0) {
        return ret;
    }
    doc->shards = doc->grid;
    doc->is_sharded = true;
    ret = vczi_grid_init_inner(&doc->grid, &doc->shards, ndim, chunks);
    return ret == 0 ? 0 : vczi_fail_prefix(ret, "%s", what);
}

/* What the codec "bytes" says, to report it; where the array is sharded, the one of its inner codecs. */
static bool says_big_endian(const vczi_json_t *codecs, int depth) {
    const size_t n = vczi_json_count(codecs);
    for (size_t i = 0; i < n && i < VCZI_MAX_CODECS; i++) {
        const vczi_json_t *codec = vczi_json_item(codecs, i);
        const vczi_json_t *name = vczi_json_member(codec, "name");
        const vczi_json_t *config = vczi_json_member(codec, "configuration");
        if (vczi_json_text_equals(name, "bytes")) {
            return vczi_json_text_equals(vczi_json_member(config, "endian"), "big");
        }
        if (vczi_json_text_equals(name, "sharding_indexed") && depth < VCZI_MAX_SHARD_DEPTH) {
            return says_big_endian(vczi_json_member(config, "codecs"), depth + 1);
        }
    }
    return false;
}

static int read_dims(vczi_document_t *doc, const vczi_json_t *root, const char *what) {
    const vczi_json_t *names = vczi_json_member(root, "dimension_names");
    bool is_good = true;
    int ret = 0;
    if (names != NULL && vczi_json_type(names) != VCZI_JSON_NULL) {
        ret = vczi_document_read_dims(doc, names, &is_good);
    }
    if (ret == 0 && !is_good) {
        return vczi_fail(VCZC_ERR_METADATA, "%s: 'dimension_names' must be an array of %d texts or nulls", what,
                         doc->grid.ndim);
    }
    return ret;
}

static int read_array(vczi_document_t *doc, const vczi_json_t *root, const char *what) {
    int ret = read_grid(doc, root, what);
    if (ret == 0) {
        ret = vczi_dtype_parse_v3(vczi_json_member(root, "data_type"), &doc->dtype);
        if (ret != 0) {
            return vczi_fail_prefix(ret, "%s: 'data_type'", what);
        }
    }
    if (ret == 0) ret = vczi_document_check_chunk(doc, what);
    if (ret == 0) ret = read_keys(doc, root, what);
    if (ret == 0) {
        ret = vczi_fill_parse_v3(vczi_json_member(root, "fill_value"), &doc->dtype, &doc->fill, &doc->fill_nbytes);
        if (ret != 0) {
            return vczi_fail_prefix(ret, "%s: 'fill_value'", what);
        }
    }
    if (ret == 0) ret = check_transformers(root, what);
    if (ret == 0) ret = vczi_document_read_codecs(root, "codecs", what, doc->codecs, &doc->ncodecs);
    if (ret == 0) ret = read_shards(doc, what);
    if (ret == 0) ret = read_dims(doc, root, what);
    doc->order = 'C';
    doc->big_endian = doc->dtype.unit_nbytes > 1 && says_big_endian(vczi_json_member(root, "codecs"), 0);
    return ret;
}

int vczi_document_parse_v3(vczi_document_t *doc, vczi_json_doc_t *tree, const vczi_json_t *root, const char *what) {
    memset(doc, 0, sizeof(*doc));
    int ret = check_format(root, what);
    if (ret == 0) ret = read_kind(root, what, &doc->kind);
    if (ret == 0) ret = check_members(root, doc->kind, what);
    if (ret == 0) ret = check_attributes(root, what);
    if (ret == 0 && doc->kind == VCZC_NODE_ARRAY) {
        ret = read_array(doc, root, what);
    }
    if (ret != 0) {
        vczi_document_clear(doc);
        return ret;
    }
    doc->zarr_format = 3;
    doc->tree = tree;
    return 0;
}
