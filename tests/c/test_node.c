/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Nodes: which documents make one, their texts, children, consolidated metadata, and what is said where there is none.
 */
#include "node.h"

#include <stdlib.h>

#include "check.h"
#include "mem.h"
#include "status.h"
#include "store.h"

#define ARRAY_V2                                                                                                       \
    "{\"zarr_format\":2,\"shape\":[20],\"chunks\":[10],\"dtype\":\"<i4\",\"compressor\":null,\"fill_value\":NaN,"      \
    "\"order\":\"C\",\"filters\":null,\"fill_value\":0}"
#define OLD_ARRAY_V2                                                                                                   \
    "{\"zarr_format\":2,\"shape\":[10],\"chunks\":[10],\"dtype\":\"<i4\",\"compressor\":null,\"fill_value\":0,"        \
    "\"order\":\"C\",\"filters\":null}"
#define ARRAY_V3_REST                                                                                                  \
    "\"node_type\":\"array\",\"shape\":[20],\"data_type\":\"int32\",\"fill_value\":0,\"chunk_grid\":{\"name\":"        \
    "\"regular\",\"configuration\":{\"chunk_shape\":[10]}},\"chunk_key_encoding\":{\"name\":\"default\"},\"codecs\":[" \
    "{\"name\":\"bytes\"}]}"
#define ARRAY_V3 "{\"zarr_format\":3,\"attributes\":{\"a\": NaN},\"dimension_names\":[\"rows\"]," ARRAY_V3_REST
#define GROUP_V2 "{\"zarr_format\":2}"
#define GROUP_V3 "{\"zarr_format\":3,\"node_type\":\"group\"}"

typedef struct {
    const char *key;
    const char *text;
} entry_t;

/* A store of texts; as callbacks where it shall not be listed or prefer consolidated metadata. */
typedef struct {
    const entry_t *entries;
    size_t nentries;
    size_t ngets;
} texts_t;

static int texts_get(void *user, const char *key, uint64_t offset, size_t nbytes, const void **data,
                     size_t *data_nbytes, void **pin) {
    texts_t *texts = user;
    *pin = NULL;
    texts->ngets++;
    for (size_t i = 0; i < texts->nentries; i++) {
        if (strcmp(texts->entries[i].key, key) == 0) {
            const size_t n = strlen(texts->entries[i].text);
            if (strcmp(texts->entries[i].text, "broken") == 0) {
                return vczi_fail(VCZC_ERR_STORE, "link down");
            }
            const size_t first = offset < n ? (size_t) offset : n;
            *data = texts->entries[i].text + first;
            *data_nbytes = nbytes < n - first ? nbytes : n - first;
            return 0;
        }
    }
    return VCZC_ERR_NOT_FOUND;
}

static int texts_list(void *user, const char *prefix, vczc_list_fn tell, void *tell_user) {
    texts_t *texts = user;
    int ret = 0;
    for (size_t i = 0; i < texts->nentries && ret == 0; i++) {
        const char *key = texts->entries[i].key;
        ret = strncmp(key, prefix, strlen(prefix)) == 0 ? tell(tell_user, key, strlen(key)) : 0;
    }
    return ret;
}

static vczc_store_t *open_memory(const entry_t *entries, size_t nentries) {
    vczc_entry_t items[32];
    vczc_store_t *store = NULL;
    for (size_t i = 0; i < nentries; i++) {
        items[i].key = entries[i].key;
        items[i].data = entries[i].text;
        items[i].nbytes = strlen(entries[i].text);
    }
    CHECK_EQ(vczi_store_open_memory(&store, items, nentries), 0);
    return store;
}

static vczc_store_t *open_callbacks(texts_t *texts, bool can_list, bool prefers_consolidated) {
    vczc_callbacks_t callbacks;
    vczc_store_t *store = NULL;
    memset(&callbacks, 0, sizeof(callbacks));
    callbacks.struct_nbytes = sizeof(callbacks);
    callbacks.get = texts_get;
    callbacks.list = can_list ? texts_list : NULL;
    callbacks.prefer_consolidated = prefers_consolidated;
    CHECK_EQ(vczi_store_open_callbacks(&store, &callbacks, texts, "remote"), 0);
    return store;
}

/* Children as "name:kind name:kind", or the code of the failure. */
static const char *children_of(vczc_store_t *store, const char *path);

static int append_child(void *user, const char *name, size_t name_nbytes, int kind) {
    char *text = user;
    const size_t n = strlen(text);
    snprintf(text + n, 512 - n, "%s%.*s:%s", n == 0 ? "" : " ", (int) name_nbytes, name,
             kind == VCZC_NODE_ARRAY ? "array" : "group");
    return 0;
}

static const char *children_of(vczc_store_t *store, const char *path) {
    static char text[512];
    vczc_node_t *node = NULL;
    text[0] = '\0';
    int ret = vczi_node_open(&node, store, path);
    if (ret == 0) {
        ret = vczi_node_children(node, append_child, text);
    }
    if (ret != 0) {
        snprintf(text, sizeof(text), "%d", ret);
    }
    vczi_node_close(node);
    return text;
}

static void check_refused(vczc_store_t *store, const char *path, int code, const char *why) {
    vczc_node_t *node = (vczc_node_t *) 1;
    const int ret = vczi_node_open(&node, store, path);
    if (!CHECK_EQ(ret, code) || !CHECK(node == NULL) || !CHECK(strstr(vczi_detail_view()->reason, why) != NULL)) {
        fprintf(stderr, "    '%s' gives: %s\n", path, vczi_detail_view()->reason);
    }
}

static const entry_t tree_v2[] = {
    {".zgroup", GROUP_V2},
    {".zattrs", "\xef\xbb\xbf{\"v\": \"0.4\"}"},
    {"x/.zarray", ARRAY_V2},
    {"x/.zattrs", "{\"_ARRAY_DIMENSIONS\": [\"rows\"], \"n\": NaN}"},
    {"x/0", "junk"},
    {"x/1", "junk"},
    {"g/.zgroup", GROUP_V2},
    {"g/y/.zarray", ARRAY_V2},
    {"notes/todo.txt", "later"},
    {"README.md", "text"},
    {".DS_Store", "junk"},
    {"both/.zarray", "{}"},
    {"both/zarr.json", ARRAY_V3},
    {"implicit/z/.zarray", ARRAY_V2},
    {"bad/.zarray", "{"},
    {"bad3/zarr.json", "[]"},
    {"badattrs/.zarray", ARRAY_V2},
    {"badattrs/.zattrs", "[]"},
    {"group3/zarr.json", GROUP_V3},
    {"list/.zarray", "[]"},
};

static void nodes_of_format_2(void) {
    vczc_store_t *store = open_memory(tree_v2, sizeof(tree_v2) / sizeof(tree_v2[0]));
    vczc_node_t *node = NULL;
    REQUIRE(vczi_node_open(&node, store, "") == 0);
    const vczc_node_info_t *info = vczi_node_info(node);
    CHECK(info->kind == VCZC_NODE_GROUP && info->zarr_format == 2);
    CHECK_STR(info->path, "");
    CHECK_STR(info->document, GROUP_V2);
    CHECK_STR(info->attributes, "{\"v\": \"0.4\"}");
    CHECK_EQ(info->attributes_nbytes, strlen(info->attributes));
    vczi_node_close(node);
    REQUIRE(vczi_node_open(&node, store, "/x/") == 0);
    info = vczi_node_info(node);
    CHECK(info->kind == VCZC_NODE_ARRAY && info->zarr_format == 2);
    CHECK_STR(info->path, "x");
    CHECK_STR(info->document, ARRAY_V2);
    CHECK_EQ(info->document_nbytes, strlen(ARRAY_V2));
    CHECK_STR(info->attributes, "{\"_ARRAY_DIMENSIONS\": [\"rows\"], \"n\": NaN}");
    CHECK_STR(vczi_node_document(node)->dims[0], "rows");
    CHECK(vczi_node_store(node) == store);
    CHECK_EQ(vczi_node_children(node, append_child, NULL), VCZC_ERR_NO_NODE);
    vczi_store_release(store); /* the node holds it */
    CHECK(vczi_store_location(vczi_node_store(node)) != NULL);
    vczi_node_close(node);
    vczi_node_close(NULL);
}

static void children_are_told_in_order(void) {
    vczc_store_t *store = open_memory(tree_v2, sizeof(tree_v2) / sizeof(tree_v2[0]));
    CHECK_STR(children_of(store, ""), "bad:array bad3:array badattrs:array both:array g:group group3:group list:array "
                                      "x:array");
    CHECK_STR(children_of(store, "g"), "y:array");
    CHECK_STR(children_of(store, "group3"), "");
    vczi_store_release(store);
}

static void no_node_and_bad_documents_are_told_apart(void) {
    vczc_store_t *store = open_memory(tree_v2, sizeof(tree_v2) / sizeof(tree_v2[0]));
    static const char *const none[] = {"z",    "notes", "README.md", "implicit", "x/0", "x/.zarray",
                                       "a//b", "..",    "g/../x",    "./x",      "x\\y"};
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        check_refused(store, none[i], VCZC_ERR_NO_NODE, none[i]);
    }
    check_refused(store, "bad", VCZC_ERR_METADATA, "bad/.zarray");
    check_refused(store, "list", VCZC_ERR_METADATA, "list/.zarray must be an object");
    check_refused(store, "bad3", VCZC_ERR_METADATA, "bad3/zarr.json");
    check_refused(store, "badattrs", VCZC_ERR_METADATA, "badattrs/.zattrs");
    vczi_store_release(store);
    const entry_t headless[] = {{"x/.zarray", ARRAY_V2}, {"y/.zarray", ARRAY_V2}};
    store = open_memory(headless, 2);
    check_refused(store, "", VCZC_ERR_NO_NODE, "at the top of");
    vczi_store_release(store);
}

static void nodes_of_format_3(void) {
    const entry_t entries[] = {{"zarr.json", GROUP_V3}, {"x/zarr.json", ARRAY_V3}, {"x/c/0", "junk"}};
    vczc_store_t *store = open_memory(entries, 3);
    vczc_node_t *node = NULL;
    REQUIRE(vczi_node_open(&node, store, "x") == 0);
    const vczc_node_info_t *info = vczi_node_info(node);
    CHECK(info->kind == VCZC_NODE_ARRAY && info->zarr_format == 3);
    CHECK_STR(info->document, ARRAY_V3);
    CHECK_STR(info->attributes, "{\"a\":NaN}");
    CHECK_EQ(info->attributes_nbytes, 9);
    CHECK_STR(vczi_node_document(node)->dims[0], "rows");
    vczi_node_close(node);
    REQUIRE(vczi_node_open(&node, store, "") == 0);
    CHECK_STR(vczi_node_info(node)->attributes, "{}");
    vczi_node_close(node);
    CHECK_STR(children_of(store, ""), "x:array");
    vczi_store_release(store);
}

static const entry_t stale_v2[] = {
    {".zgroup", GROUP_V2},
    {".zmetadata",
     "{\"zarr_consolidated_format\":1,\"metadata\":{\".zgroup\":" GROUP_V2 ",\"pos/.zarray\":" OLD_ARRAY_V2
     ",\"pos/.zattrs\":{\"k\":1},\"g/.zgroup\":" GROUP_V2 ",\"g/in/.zarray\":" OLD_ARRAY_V2 ",\"../.zarray\":{}}}"},
    {"pos/.zarray", ARRAY_V2},
    {"added/.zarray", ARRAY_V2},
};

static const entry_t stale_v3[] = {
    {"zarr.json",
     "{\"zarr_format\":3,\"node_type\":\"group\",\"consolidated_metadata\":{\"kind\":\"inline\","
     "\"must_understand\":false,\"metadata\":{\"pos\":{\"zarr_format\":3,\"attributes\":{\"k\":1}," ARRAY_V3_REST
     ",\"g\":" GROUP_V3 ",\"g/in\":" ARRAY_V3 "}}}"},
    {"pos/zarr.json", ARRAY_V3},
    {"added/zarr.json", ARRAY_V3},
};

static int64_t rows_of(vczc_store_t *store, const char *path) {
    vczc_node_t *node = NULL;
    const int ret = vczi_node_open(&node, store, path);
    const int64_t rows = ret != 0 ? ret : vczi_node_document(node)->grid.shape[0];
    vczi_node_close(node);
    return rows;
}

static void consolidated_metadata_serves_where_asked(void) {
    texts_t texts = {stale_v2, sizeof(stale_v2) / sizeof(stale_v2[0]), 0};
    vczc_store_t *store = open_callbacks(&texts, true, true);
    vczc_node_t *node = NULL;
    CHECK_EQ(rows_of(store, "pos"), 10);
    CHECK_EQ(rows_of(store, "added"), 20); /* what it lacks is looked up */
    CHECK_EQ(rows_of(store, "gone"), VCZC_ERR_NO_NODE);
    CHECK_STR(children_of(store, ""), "g:group pos:array");
    CHECK_STR(children_of(store, "g"), "in:array");
    REQUIRE(vczi_node_open(&node, store, "pos") == 0);
    CHECK_STR(vczi_node_info(node)->attributes, "{\"k\":1}");
    CHECK_STR(vczi_node_info(node)->document, OLD_ARRAY_V2);
    vczi_node_close(node);
    vczi_store_release(store);

    texts.entries = stale_v3;
    texts.nentries = sizeof(stale_v3) / sizeof(stale_v3[0]);
    store = open_callbacks(&texts, true, true);
    REQUIRE(vczi_node_open(&node, store, "pos") == 0);
    CHECK_STR(vczi_node_info(node)->attributes, "{\"k\":1}");
    vczi_node_close(node);
    CHECK_EQ(rows_of(store, "added"), 20);
    CHECK_STR(children_of(store, ""), "g:group pos:array");
    CHECK_STR(children_of(store, "g"), "in:array");
    vczi_store_release(store);
}

static void consolidated_metadata_is_not_asked_elsewhere(void) {
    texts_t texts = {stale_v2, sizeof(stale_v2) / sizeof(stale_v2[0]), 0};
    vczc_store_t *store = open_callbacks(&texts, true, false);
    CHECK_EQ(rows_of(store, "pos"), 20);
    CHECK_STR(children_of(store, ""), "added:array pos:array");
    vczi_store_release(store);
    /* Only where there is no list: then for the names alone. */
    store = open_callbacks(&texts, false, false);
    CHECK_EQ(rows_of(store, "pos"), 20);
    CHECK_STR(children_of(store, ""), "g:group pos:array");
    vczi_store_release(store);
    texts.nentries = 1;
    store = open_callbacks(&texts, false, false);
    CHECK_EQ(strtol(children_of(store, ""), NULL, 10), VCZC_ERR_UNSUPPORTED);
    CHECK(strstr(vczi_detail_view()->reason, "cannot be listed") != NULL);
    vczi_store_release(store);
}

static void only_not_found_is_absent(void) {
    const entry_t entries[] = {{".zgroup", GROUP_V2}, {"x/.zarray", ARRAY_V2}, {"x/.zattrs", "broken"}};
    const entry_t broken[] = {{"zarr.json", "broken"}, {".zgroup", GROUP_V2}};
    texts_t texts = {entries, 3, 0};
    vczc_store_t *store = open_callbacks(&texts, true, false);
    check_refused(store, "x", VCZC_ERR_STORE, "link down");
    vczi_store_release(store);
    texts.entries = broken;
    texts.nentries = 2;
    store = open_callbacks(&texts, true, false);
    check_refused(store, "", VCZC_ERR_STORE, "link down");
    vczi_store_release(store);
}

#ifdef VCZI_TEST_FAULTS
static void no_memory_is_said(void) {
    vczc_store_t *store = open_memory(tree_v2, sizeof(tree_v2) / sizeof(tree_v2[0]));
    char text[512];
    int ret = VCZC_ERR_NO_MEMORY;
    for (long n = 1; n < 400 && ret != 0; n++) {
        vczc_node_t *node = NULL;
        vczc_node_t *group = NULL;
        text[0] = '\0';
        vczi_test_fail_allocation(n);
        ret = vczi_node_open(&node, store, "x");
        if (ret == 0) ret = vczi_node_open(&group, store, "");
        if (ret == 0) ret = vczi_node_children(group, append_child, text);
        vczi_test_fail_allocation(0);
        CHECK(ret == 0 || ret == VCZC_ERR_NO_MEMORY);
        vczi_node_close(node);
        vczi_node_close(group);
    }
    CHECK_EQ(ret, 0);
    CHECK(strstr(text, "x:array") != NULL);
    vczi_store_release(store);
}
#endif

int main(void) {
    RUN(nodes_of_format_2);
    RUN(children_are_told_in_order);
    RUN(no_node_and_bad_documents_are_told_apart);
    RUN(nodes_of_format_3);
    RUN(consolidated_metadata_serves_where_asked);
    RUN(consolidated_metadata_is_not_asked_elsewhere);
    RUN(only_not_found_is_absent);
#ifdef VCZI_TEST_FAULTS
    RUN(no_memory_is_said);
#endif
    return check_result();
}
