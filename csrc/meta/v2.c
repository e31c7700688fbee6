/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Documents of Zarr format 2. Order F, byte order, filters and compressor become codecs in the order of writing:
 * transpose, filters that take arrays, bytes or vlen, filters that take bytes, compressor. */
#include <inttypes.h>
#include <string.h>

#include "document.h"
#include "fill.h"
#include "status.h"

static int check_format(const vczi_json_t *root, const char *what) {
    int64_t format = 0;
    if (vczi_json_type(root) != VCZI_JSON_OBJECT) {
        return vczi_fail(VCZC_ERR_METADATA, "%s must be an object, not %s", what, vczi_json_type_name(root));
    }
    const int ret = vczi_json_need_i64(root, "zarr_format", what, &format);
    if (ret == 0 && format != 2) {
        return vczi_fail(VCZC_ERR_METADATA, "%s: 'zarr_format' must be 2, not %" PRId64, what, format);
    }
    return ret;
}

static int read_grid(vczi_document_t *doc, const vczi_json_t *root, const char *what) {
    int64_t shape[VCZC_MAX_NDIM];
    int64_t chunks[VCZC_MAX_NDIM];
    int ndim = 0;
    int nchunks = 0;
    int ret = vczi_document_read_lengths(root, "shape", what, &ndim, shape);
    if (ret == 0) {
        ret = vczi_document_read_lengths(root, "chunks", what, &nchunks, chunks);
    }
    if (ret != 0) {
        return ret;
    }
    if (ndim != nchunks) {
        return vczi_fail(VCZC_ERR_METADATA, "%s: 'shape' has %d axes, 'chunks' %d", what, ndim, nchunks);
    }
    ret = vczi_grid_init(&doc->grid, ndim, shape, chunks);
    return ret == 0 ? 0 : vczi_fail_prefix(ret, "%s", what);
}

static int read_order(vczi_document_t *doc, const vczi_json_t *root, const char *what) {
    const vczi_json_t *value = vczi_json_member(root, "order");
    if (!vczi_json_text_equals(value, "C") && !vczi_json_text_equals(value, "F")) {
        return vczi_fail(VCZC_ERR_METADATA, "%s: 'order' must be \"C\" or \"F\"", what);
    }
    doc->order = vczi_json_text_equals(value, "F") ? 'F' : 'C';
    return 0;
}

static int read_separator(vczi_document_t *doc, const vczi_json_t *root, const char *what) {
    const vczi_json_t *value = vczi_json_member(root, "dimension_separator");
    if (value != NULL && !vczi_json_text_equals(value, ".") && !vczi_json_text_equals(value, "/")) {
        return vczi_fail(VCZC_ERR_METADATA, "%s: 'dimension_separator' must be \".\" or \"/\"", what);
    }
    doc->keys.has_c_prefix = false;
    doc->keys.separator = vczi_json_text_equals(value, "/") ? '/' : '.';
    return 0;
}

static bool is_absent(const vczi_json_t *value) {
    return value == NULL || vczi_json_type(value) == VCZI_JSON_NULL;
}

static bool is_vlen_filter(const vczi_json_t *filter) {
    const vczi_json_t *id = vczi_json_member(filter, "id");
    return vczi_json_text_equals(id, "vlen-utf8") || vczi_json_text_equals(id, "vlen-bytes");
}

/* Texts as numbers: which is not read here either, but what it gives is known. */
static bool is_categorize(const vczi_json_t *filter) {
    return vczi_json_text_equals(vczi_json_member(filter, "id"), "categorize");
}

/* Codecs of numcodecs whose items may be any objects: of no type that an array here can have. */
static bool is_other_object_filter(const vczi_json_t *filter) {
    static const char *const ids[] = {"vlen-array", "pickle", "json2", "json", "msgpack2", "msgpack"};
    const vczi_json_t *id = vczi_json_member(filter, "id");
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        if (vczi_json_text_equals(id, ids[i])) {
            return true;
        }
    }
    return false;
}

/* A filter's or compressor's id; `config` must be an object that has one. */
static int need_id(const vczi_json_t *config, const char *role, const char *what, vczi_span_t *id) {
    if (vczi_json_type(config) != VCZI_JSON_OBJECT) {
        return vczi_fail(VCZC_ERR_METADATA, "%s: a %s must be an object, not %s", what, role,
                         vczi_json_type_name(config));
    }
    if (!vczi_json_get_text(vczi_json_member(config, "id"), id)) {
        return vczi_fail(VCZC_ERR_METADATA, "%s: a %s has no 'id'", what, role);
    }
    /* Names of format 3, which stand in the list of codecs for what format 2 says otherwise. */
    const vczi_json_t *name = vczi_json_member(config, "id");
    if (vczi_json_text_equals(name, "transpose") || vczi_json_text_equals(name, "bytes")) {
        return vczi_fail(VCZC_ERR_UNSUPPORTED, "%s: the %s '%.*s' is not read", what, role, (int) id->nbytes,
                         (const char *) id->data);
    }
    return 0;
}

/* The one filter that makes bytes of an object array; it says what its items are. */
static int find_object_filter(vczi_document_t *doc, const vczi_json_t *filters, size_t *place, const char *what) {
    const size_t n = vczi_json_count(filters);
    size_t nfound = 0;
    for (size_t i = 0; i < n; i++) {
        const vczi_json_t *filter = vczi_json_item(filters, i);
        vczi_span_t id;
        if (is_other_object_filter(filter) && vczi_json_get_text(vczi_json_member(filter, "id"), &id)) {
            return vczi_fail(VCZC_ERR_UNSUPPORTED, "%s: object codec '%.*s' is not read", what, (int) id.nbytes,
                             (const char *) id.data);
        }
        if (is_vlen_filter(filter) || is_categorize(filter)) {
            *place = i;
            nfound++;
        }
    }
    if (nfound != 1) {
        return vczi_fail(VCZC_ERR_METADATA, "%s: data type |O needs one filter vlen-utf8 or vlen-bytes, not %zu", what,
                         nfound);
    }
    const vczi_json_t *id = vczi_json_member(vczi_json_item(filters, *place), "id");
    doc->dtype.kind = vczi_json_text_equals(id, "vlen-bytes") ? VCZC_VLEN_BYTES : VCZC_VLEN_UTF8;
    return 0;
}

static int add_filters(vczi_document_t *doc, const vczi_json_t *filters, size_t first, size_t end, const char *what) {
    int ret = 0;
    for (size_t i = first; i < end && ret == 0; i++) {
        const vczi_json_t *filter = vczi_json_item(filters, i);
        vczi_span_t id;
        ret = need_id(filter, "filter", what, &id);
        if (ret == 0 && is_vlen_filter(filter) && !vczi_dtype_is_vlen(&doc->dtype)) {
            ret = vczi_fail(VCZC_ERR_METADATA, "%s: filter '%.*s' is for data type |O, not %s", what, (int) id.nbytes,
                            (const char *) id.data, vczi_dtype_name(&doc->dtype));
        }
        if (ret == 0) {
            ret = vczi_document_add_codec(doc, id, filter, true, what);
        }
    }
    return ret;
}

static int read_codecs(vczi_document_t *doc, const vczi_json_t *root, const char *what) {
    const vczi_json_t *filters = vczi_json_member(root, "filters");
    const vczi_json_t *compressor = vczi_json_member(root, "compressor");
    const size_t nfilters = vczi_json_count(filters);
    const bool is_vlen = vczi_dtype_is_vlen(&doc->dtype);
    size_t place = nfilters; /* of the filter that makes bytes; behind all where that is the plain bytes codec */
    vczi_span_t id;
    int ret = 0;
    if (!is_absent(filters) && vczi_json_type(filters) != VCZI_JSON_ARRAY) {
        return vczi_fail(VCZC_ERR_METADATA, "%s: 'filters' must be an array or null, not %s", what,
                         vczi_json_type_name(filters));
    }
    if (is_vlen) {
        ret = find_object_filter(doc, filters, &place, what);
    }
    if (ret == 0 && doc->order == 'F' && doc->grid.ndim > 1) {
        ret = vczi_document_add_codec(doc, vczi_span("transpose", 9), NULL, true, what);
    }
    if (ret == 0) {
        ret = add_filters(doc, filters, 0, place, what);
    }
    if (ret == 0 && !is_vlen) {
        ret = vczi_document_add_codec(doc, vczi_span("bytes", 5), NULL, true, what);
    }
    if (ret == 0) {
        ret = add_filters(doc, filters, place, nfilters, what);
    }
    if (ret == 0 && !is_absent(compressor)) {
        ret = need_id(compressor, "compressor", what, &id);
        if (ret == 0) {
            ret = vczi_document_add_codec(doc, id, compressor, true, what);
        }
    }
    return ret;
}

/* xarray's names of the dimensions. What does not fit is an attribute like any other: no error. */
static int read_dims(vczi_document_t *doc, const vczi_json_t *attributes) {
    const vczi_json_t *names = vczi_json_member(attributes, "_ARRAY_DIMENSIONS");
    bool is_good;
    for (size_t i = 0; i < vczi_json_count(names); i++) {
        if (vczi_json_type(vczi_json_item(names, i)) != VCZI_JSON_TEXT) {
            return 0;
        }
    }
    return vczi_document_read_dims(doc, names, &is_good);
}

static int read_array(vczi_document_t *doc, const vczi_json_t *root, const vczi_json_t *attributes, const char *what) {
    int ret = check_format(root, what);
    if (ret == 0) ret = read_grid(doc, root, what);
    if (ret == 0) {
        ret = vczi_dtype_parse_v2(vczi_json_member(root, "dtype"), &doc->dtype, &doc->big_endian);
        if (ret != 0) {
            return vczi_fail_prefix(ret, "%s: 'dtype'", what);
        }
    }
    if (ret == 0) ret = vczi_document_check_chunk(doc, what);
    if (ret == 0) ret = read_order(doc, root, what);
    if (ret == 0) ret = read_separator(doc, root, what);
    if (ret == 0) ret = read_codecs(doc, root, what); /* before the fill value: it tells text from bytes */
    if (ret == 0) {
        ret = vczi_fill_parse_v2(vczi_json_member(root, "fill_value"), &doc->dtype, &doc->fill, &doc->fill_nbytes,
                                 &doc->fill_is_null);
        if (ret != 0) {
            return vczi_fail_prefix(ret, "%s: 'fill_value'", what);
        }
    }
    if (ret == 0) ret = read_dims(doc, attributes);
    return ret;
}

int vczi_document_parse_v2_array(vczi_document_t *doc, vczi_json_doc_t *tree, const vczi_json_t *root,
                                 const vczi_json_t *attributes, const char *what) {
    memset(doc, 0, sizeof(*doc));
    doc->kind = VCZC_NODE_ARRAY;
    doc->zarr_format = 2;
    const int ret = read_array(doc, root, attributes, what);
    if (ret != 0) {
        vczi_document_clear(doc);
        return ret;
    }
    doc->tree = tree;
    return 0;
}

int vczi_document_parse_v2_group(vczi_document_t *doc, vczi_json_doc_t *tree, const vczi_json_t *root,
                                 const char *what) {
    memset(doc, 0, sizeof(*doc));
    const int ret = check_format(root, what);
    if (ret != 0) {
        return ret;
    }
    doc->kind = VCZC_NODE_GROUP;
    doc->zarr_format = 2;
    doc->tree = tree;
    return 0;
}
