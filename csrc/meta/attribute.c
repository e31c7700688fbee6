/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Parsed anew in each call, which takes microseconds: an open node does not change. */
#include "attribute.h"

#include "json.h"
#include "mem.h"
#include "status.h"

VCZI_STATIC_ASSERT((int) VCZC_JSON_ABSENT == (int) VCZI_JSON_ABSENT && (int) VCZC_JSON_OBJECT == (int) VCZI_JSON_OBJECT,
                   "the public types of JSON are the inner ones");

static const char *shown_path(const vczc_node_info_t *node) {
    return node->path[0] == '\0' ? "/" : node->path;
}

static int parse(const vczc_node_info_t *node, vczi_json_doc_t **doc) {
    return vczi_json_parse(doc, vczi_span(node->attributes, node->attributes_nbytes), shown_path(node));
}

/* The value of `key`, or VCZC_ERR_NOT_FOUND; close *doc. */
static int find(const vczc_node_info_t *node, const char *key, vczi_json_doc_t **doc, const vczi_json_t **value) {
    const int ret = parse(node, doc);
    if (ret != 0) {
        return ret;
    }
    *value = vczi_json_member(vczi_json_root(*doc), key);
    if (*value == NULL) {
        return vczi_fail(VCZC_ERR_NOT_FOUND, "'%s' has no attribute '%s'", shown_path(node), key);
    }
    return 0;
}

static int fail_type(const vczc_node_info_t *node, const char *key, const vczi_json_t *value, const char *wanted) {
    return vczi_fail(VCZC_ERR_METADATA, "the attribute '%s' of '%s' is %s, not %s", key, shown_path(node),
                     vczi_json_type_name(value), wanted);
}

int vczi_attribute_type(const vczc_node_info_t *node, const char *key, int *type) {
    vczi_json_doc_t *doc = NULL;
    const int ret = parse(node, &doc);
    if (ret == 0) {
        *type = (int) vczi_json_type(vczi_json_member(vczi_json_root(doc), key));
    }
    vczi_json_close(doc);
    return ret;
}

int vczi_attribute_int(const vczc_node_info_t *node, const char *key, int64_t *value) {
    vczi_json_doc_t *doc = NULL;
    const vczi_json_t *found;
    bool is_true = false;
    int ret = find(node, key, &doc, &found);
    if (ret == 0 && vczi_json_get_bool(found, &is_true)) {
        *value = is_true ? 1 : 0;
    } else if (ret == 0 && !vczi_json_get_i64(found, value)) {
        ret = fail_type(node, key, found, "an integer of 64 bits");
    }
    vczi_json_close(doc);
    return ret;
}

int vczi_attribute_double(const vczc_node_info_t *node, const char *key, double *value) {
    vczi_json_doc_t *doc = NULL;
    const vczi_json_t *found;
    int ret = find(node, key, &doc, &found);
    if (ret == 0 && !vczi_json_get_double(found, value)) {
        ret = fail_type(node, key, found, "a number");
    }
    vczi_json_close(doc);
    return ret;
}

int vczi_attribute_text(const vczc_node_info_t *node, const char *key, char **text, size_t *nbytes) {
    vczi_json_doc_t *doc = NULL;
    const vczi_json_t *found;
    vczi_span_t span = {NULL, 0};
    int ret = find(node, key, &doc, &found);
    if (ret == 0 && !vczi_json_get_text(found, &span)) {
        ret = fail_type(node, key, found, "a text");
    }
    if (ret == 0) {
        *text = vczi_copy_text((const char *) span.data, span.nbytes);
        *nbytes = span.nbytes;
        ret = *text == NULL ? VCZC_ERR_NO_MEMORY : 0;
    }
    vczi_json_close(doc);
    return ret;
}

int vczi_attribute_json(const vczc_node_info_t *node, const char *key, char **text, size_t *nbytes) {
    vczi_json_doc_t *doc = NULL;
    const vczi_json_t *found;
    int ret = find(node, key, &doc, &found);
    if (ret == 0) {
        ret = vczi_json_write(found, text, nbytes);
    }
    vczi_json_close(doc);
    return ret;
}

typedef struct {
    vczc_list_fn tell;
    void *user;
} keys_t;

static int tell_key(void *user, vczi_span_t key, const vczi_json_t *value) {
    const keys_t *keys = user;
    (void) value;
    return keys->tell(keys->user, (const char *) key.data, key.nbytes);
}

int vczi_attribute_keys(const vczc_node_info_t *node, vczc_list_fn tell, void *user) {
    vczi_json_doc_t *doc = NULL;
    keys_t keys = {tell, user};
    int ret = parse(node, &doc);
    if (ret == 0) {
        ret = vczi_json_each_member(vczi_json_root(doc), tell_key, &keys);
    }
    vczi_json_close(doc);
    return ret;
}
