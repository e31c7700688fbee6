/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* What the documents of both formats share: lists of lengths, names of dimensions, the list of codecs. */
#include "document.h"

#include <inttypes.h>
#include <string.h>

#include "checked.h"
#include "mem.h"
#include "status.h"

static void free_dims(char **dims, int ndim) {
    for (int i = 0; dims != NULL && i < ndim; i++) {
        vczi_free(dims[i]);
    }
    vczi_free(dims);
}

void vczi_document_clear(vczi_document_t *doc) {
    free_dims(doc->dims, doc->grid.ndim);
    vczi_free(doc->fill);
    vczi_json_close(doc->tree);
    memset(doc, 0, sizeof(*doc));
}

int vczi_document_read_lengths(const vczi_json_t *object, const char *key, const char *what, int *ndim,
                               int64_t lengths[VCZC_MAX_NDIM]) {
    const vczi_json_t *list = NULL;
    const int ret = vczi_json_need_array(object, key, what, &list);
    if (ret != 0) {
        return ret;
    }
    const size_t n = vczi_json_count(list);
    if (n > VCZC_MAX_NDIM) {
        return vczi_fail(VCZC_ERR_METADATA, "%s: '%s' has %zu items, more than %d", what, key, n, VCZC_MAX_NDIM);
    }
    for (size_t i = 0; i < n; i++) {
        const vczi_json_t *item = vczi_json_item(list, i);
        if (!vczi_json_get_i64(item, &lengths[i])) {
            return vczi_fail(VCZC_ERR_METADATA, "%s: '%s' must be an array of integers of 64 bits, not of %s", what,
                             key, vczi_json_type_name(item));
        }
        if (lengths[i] < 0) {
            return vczi_fail(VCZC_ERR_METADATA, "%s: '%s' has a negative length, %" PRId64, what, key, lengths[i]);
        }
    }
    *ndim = (int) n;
    return 0;
}

static int set_codec(vczi_codec_spec_t *spec, vczi_span_t name, const vczi_json_t *config, bool from_v2,
                     const char *what) {
    if (name.nbytes == 0 || memchr(name.data, '\0', name.nbytes) != NULL) {
        return vczi_fail(VCZC_ERR_METADATA, "%s: a codec has no proper name", what);
    }
    if (name.nbytes >= sizeof(spec->name)) {
        const int shown = (int) sizeof(spec->name);
        return vczi_fail(VCZC_ERR_UNSUPPORTED, "%s: codec '%.*s…' is not read", what, shown, (const char *) name.data);
    }
    memset(spec, 0, sizeof(*spec));
    memcpy(spec->name, name.data, name.nbytes);
    spec->config = config;
    spec->from_v2 = from_v2;
    return 0;
}

static int fail_many_codecs(const char *what) {
    return vczi_fail(VCZC_ERR_UNSUPPORTED, "%s: more than %d codecs", what, VCZI_MAX_CODECS);
}

int vczi_document_add_codec(vczi_document_t *doc, vczi_span_t name, const vczi_json_t *config, bool from_v2,
                            const char *what) {
    if (doc->ncodecs == VCZI_MAX_CODECS) {
        return fail_many_codecs(what);
    }
    const int ret = set_codec(&doc->codecs[doc->ncodecs], name, config, from_v2, what);
    doc->ncodecs += ret == 0;
    return ret;
}

int vczi_document_read_codecs(const vczi_json_t *object, const char *key, const char *what, vczi_codec_spec_t *codecs,
                              int *ncodecs) {
    const vczi_json_t *list = NULL;
    int ret = vczi_json_need_array(object, key, what, &list);
    const size_t n = vczi_json_count(list);
    if (ret == 0 && n == 0) {
        return vczi_fail(VCZC_ERR_METADATA, "%s: '%s' is empty: one must make bytes of an array", what, key);
    }
    if (ret == 0 && n > VCZI_MAX_CODECS) {
        return fail_many_codecs(what);
    }
    for (size_t i = 0; i < n && ret == 0; i++) {
        const vczi_json_t *codec = vczi_json_item(list, i);
        vczi_span_t name = {NULL, 0};
        ret = vczi_document_need_name(codec, key, what, &name);
        if (ret == 0) {
            ret = set_codec(&codecs[i], name, vczi_json_member(codec, "configuration"), false, what);
            codecs[i].may_be_ignored = vczi_document_may_be_ignored(codec);
        }
    }
    *ncodecs = (int) n;
    return ret;
}

bool vczi_document_may_be_ignored(const vczi_json_t *value) {
    bool must_understand = true;
    return vczi_json_get_bool(vczi_json_member(value, "must_understand"), &must_understand) && !must_understand;
}

int vczi_document_need_name(const vczi_json_t *value, const char *key, const char *what, vczi_span_t *name) {
    if (value == NULL) {
        return vczi_fail(VCZC_ERR_METADATA, "%s: '%s' is missing", what, key);
    }
    if (vczi_json_get_text(value, name) || vczi_json_get_text(vczi_json_member(value, "name"), name)) {
        return 0;
    }
    return vczi_fail(VCZC_ERR_METADATA, "%s: '%s' must be an object with a name, not %s", what, key,
                     vczi_json_type_name(value));
}

/* A copy of a dimension's name; *is_good is false where it is no text, or one that C cannot hold. */
static char *copy_dim(const vczi_json_t *name, bool *is_good) {
    vczi_span_t text = {NULL, 0};
    if (!vczi_json_get_text(name, &text) || (text.nbytes != 0 && memchr(text.data, '\0', text.nbytes) != NULL)) {
        *is_good = vczi_json_type(name) == VCZI_JSON_NULL;
        return NULL;
    }
    *is_good = true;
    return vczi_copy_text((const char *) text.data, text.nbytes);
}

int vczi_document_read_dims(vczi_document_t *doc, const vczi_json_t *names, bool *is_good) {
    const int ndim = doc->grid.ndim;
    char **dims = NULL;
    int ret = 0;
    *is_good = vczi_json_type(names) == VCZI_JSON_ARRAY && vczi_json_count(names) == (size_t) ndim;
    if (!*is_good) {
        return 0;
    }
    dims = vczi_alloc_zeroed((size_t) ndim, sizeof(*dims));
    if (dims == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    for (int i = 0; i < ndim && *is_good && ret == 0; i++) {
        const vczi_json_t *name = vczi_json_item(names, (size_t) i);
        dims[i] = copy_dim(name, is_good);
        if (dims[i] == NULL && *is_good && vczi_json_type(name) != VCZI_JSON_NULL) {
            ret = VCZC_ERR_NO_MEMORY;
        }
    }
    if (ret == 0 && *is_good) {
        doc->dims = dims;
        return 0;
    }
    free_dims(dims, ndim);
    return ret;
}

int vczi_document_check_chunk(const vczi_document_t *doc, const char *what) {
    int64_t nbytes = 0;
    if (!vczi_mul_i64(doc->grid.chunk_nitems, doc->dtype.item_nbytes, &nbytes)) {
        return vczi_fail(VCZC_ERR_METADATA, "%s: a chunk has more bytes than 64 bits can count", what);
    }
    return 0;
}
