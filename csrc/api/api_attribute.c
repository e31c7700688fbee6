/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Public functions of attributes. */
#include "api_argument.h"
#include "array_open.h"
#include "attribute.h"
#include "mem.h"
#include "node.h"
#include "vczc.h"

static int check(const vczc_node_t *node, const char *key, const void *out, const char *name_of_out) {
    if (node == NULL || key == NULL || out == NULL) {
        return vczi_null_argument(node == NULL ? "node" : key == NULL ? "key" : name_of_out);
    }
    return 0;
}

const vczc_node_t *vczc_array_node(const vczc_array_t *array) {
    return array == NULL ? NULL : array->node;
}

int vczc_node_attr_type(const vczc_node_t *node, const char *key, int *type) {
    const int ret = check(node, key, type, "type");
    return ret != 0 ? ret : vczi_attribute_type(vczi_node_info(node), key, type);
}

int vczc_node_attr_int(const vczc_node_t *node, const char *key, int64_t *value) {
    const int ret = check(node, key, value, "value");
    return ret != 0 ? ret : vczi_attribute_int(vczi_node_info(node), key, value);
}

int vczc_node_attr_double(const vczc_node_t *node, const char *key, double *value) {
    const int ret = check(node, key, value, "value");
    return ret != 0 ? ret : vczi_attribute_double(vczi_node_info(node), key, value);
}

typedef int (*text_fn)(const vczc_node_info_t *node, const char *key, char **text, size_t *nbytes);

static int get_text(const vczc_node_t *node, const char *key, char **text, size_t *nbytes, text_fn get) {
    size_t length = 0;
    if (text != NULL) {
        *text = NULL;
    }
    int ret = check(node, key, text, "text");
    if (ret != 0) {
        return ret;
    }
    ret = get(vczi_node_info(node), key, text, &length);
    if (ret == 0 && nbytes != NULL) {
        *nbytes = length;
    }
    return ret;
}

int vczc_node_attr_text(const vczc_node_t *node, const char *key, char **text, size_t *nbytes) {
    return get_text(node, key, text, nbytes, vczi_attribute_text);
}

int vczc_node_attr_json(const vczc_node_t *node, const char *key, char **text, size_t *nbytes) {
    return get_text(node, key, text, nbytes, vczi_attribute_json);
}

int vczc_node_attr_keys(const vczc_node_t *node, vczc_list_fn tell, void *user) {
    if (node == NULL || tell == NULL) {
        return vczi_null_argument(node == NULL ? "node" : "tell");
    }
    return vczi_attribute_keys(vczi_node_info(node), tell, user);
}

void vczc_text_free(char *text) {
    vczi_free(text);
}
