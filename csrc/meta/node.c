/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Nodes. At a path zarr.json comes before .zarray, and that before .zgroup, as in zarr-python. Only "not there" makes a
 * document absent. Consolidated metadata is asked first where requests are dear, and for children where a store cannot
 * be listed; what it lacks is looked up in the store, as it may be older than the store. It is parsed once for an open
 * store. */
#include "node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "status.h"

#define ZARR_JSON "zarr.json"
#define ZARRAY ".zarray"
#define ZGROUP ".zgroup"
#define ZATTRS ".zattrs"
#define ZMETADATA ".zmetadata"

struct vczc_node {
    vczc_store_t *store;
    char *path;
    char *text;       /* of the document */
    char *attributes; /* as text */
    vczi_document_t document;
    vczc_node_info_t info;
};

/* The texts of one node's documents; all NULL where there is no node. */
typedef struct {
    const char *name; /* ZARR_JSON, ZARRAY or ZGROUP */
    char *text;
    size_t text_nbytes;
    char *attributes; /* of format 2; NULL where there are none */
    size_t attributes_nbytes;
    const char *consolidated; /* the document that they were found in, or NULL */
} documents_t;

/* One consolidated document of the root; metadata is NULL where the store has none. */
typedef struct {
    vczi_json_doc_t *tree;
    const vczi_json_t *metadata; /* path or key -> document */
    bool is_v3;
} consolidated_t;

static void documents_clear(documents_t *documents) {
    vczi_free(documents->text);
    vczi_free(documents->attributes);
    memset(documents, 0, sizeof(*documents));
}

static void consolidated_close(void *consolidated) {
    if (consolidated != NULL) {
        vczi_json_close(((consolidated_t *) consolidated)->tree);
        vczi_free(consolidated);
    }
}

/* `path`/`name`, or `name` at the root. False where it is longer than a key may be: no such key can be there. */
static bool make_key(char key[VCZI_MAX_KEY_NBYTES], const char *path, const char *name) {
    const int n = snprintf(key, VCZI_MAX_KEY_NBYTES, "%s%s%s", path, path[0] == '\0' ? "" : "/", name);
    return n > 0 && n < VCZI_MAX_KEY_NBYTES;
}

/* ---- Documents in the store ---- */

/* A copy of a document's text. *text is NULL where it is not there. */
static int fetch(vczc_store_t *store, const char *path, const char *name, char **text, size_t *nbytes) {
    const vczi_want_t want = {.max_nbytes = VCZI_MAX_DOCUMENT_NBYTES, .too_large = VCZC_ERR_METADATA};
    char key[VCZI_MAX_KEY_NBYTES];
    vczi_bytes_t bytes = {{NULL, 0}, NULL, NULL, NULL};
    *text = NULL;
    *nbytes = 0;
    if (!make_key(key, path, name)) {
        return 0;
    }
    vczi_scratch_t *scratch = vczi_scratch_borrow();
    if (scratch == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    int ret = vczi_store_get_wanted(store, key, &want, scratch, &bytes);
    if (ret == 0) {
        const vczi_span_t span = vczi_json_without_bom(bytes.span);
        *nbytes = span.nbytes;
        *text = vczi_copy_text((const char *) span.data, span.nbytes);
        ret = *text == NULL ? VCZC_ERR_NO_MEMORY : 0;
        vczi_bytes_release(&bytes);
    }
    vczi_scratch_return(scratch);
    return ret == VCZC_ERR_NOT_FOUND ? 0 : ret;
}

static int exists(vczc_store_t *store, const char *path, const char *name, bool *is_there) {
    char key[VCZI_MAX_KEY_NBYTES];
    uint64_t nbytes;
    *is_there = false;
    if (!make_key(key, path, name)) {
        return 0;
    }
    const int ret = vczi_store_size(store, key, &nbytes);
    *is_there = ret == 0;
    return ret == VCZC_ERR_NOT_FOUND ? 0 : ret;
}

static int find_in_store(vczc_store_t *store, const char *path, documents_t *documents) {
    static const char *const names[] = {ZARR_JSON, ZARRAY, ZGROUP};
    int ret = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && ret == 0 && documents->text == NULL; i++) {
        documents->name = names[i];
        ret = fetch(store, path, names[i], &documents->text, &documents->text_nbytes);
    }
    if (ret == 0 && documents->text != NULL && strcmp(documents->name, ZARR_JSON) != 0) {
        ret = fetch(store, path, ZATTRS, &documents->attributes, &documents->attributes_nbytes);
    }
    return ret;
}

/* ---- Consolidated metadata ---- */

static int parse_root(vczc_store_t *store, const char *name, vczi_json_doc_t **tree) {
    char *text = NULL;
    size_t nbytes = 0;
    int ret = fetch(store, "", name, &text, &nbytes);
    *tree = NULL;
    if (ret == 0 && text != NULL) {
        ret = vczi_json_parse(tree, vczi_span(text, nbytes), name);
        vczi_free(text);
        if (ret != 0) {
            return vczi_fail_prefix(ret, "%s", vczi_store_location(store));
        }
    }
    return ret;
}

/* Format 3 keeps it in the root's own document; where that is there, a .zmetadata belongs to nobody. */
static int consolidated_fill(vczc_store_t *store, consolidated_t *consolidated) {
    int ret = parse_root(store, ZARR_JSON, &consolidated->tree);
    if (ret == 0 && consolidated->tree != NULL) {
        const vczi_json_t *inlined = vczi_json_member(vczi_json_root(consolidated->tree), "consolidated_metadata");
        const vczi_json_t *metadata = vczi_json_member(inlined, "metadata");
        consolidated->metadata = vczi_json_type(metadata) == VCZI_JSON_OBJECT ? metadata : NULL;
        consolidated->is_v3 = true;
        return 0;
    }
    if (ret == 0) {
        ret = parse_root(store, ZMETADATA, &consolidated->tree);
    }
    if (ret == 0 && consolidated->tree != NULL) {
        const vczi_json_t *root = vczi_json_root(consolidated->tree);
        int64_t format = 0;
        ret = vczi_json_need_i64(root, "zarr_consolidated_format", ZMETADATA, &format);
        if (ret == 0 && format == 1) {
            ret = vczi_json_need_object(root, "metadata", ZMETADATA, &consolidated->metadata);
        }
    }
    return ret;
}

/* Parsed once for a store, which keeps it. *own is NULL, or what the caller has to close: where another thread's is
 * about to be kept. */
static int consolidated_open(vczc_store_t *store, const consolidated_t **consolidated, consolidated_t **own) {
    *own = NULL;
    *consolidated = vczi_store_kept(store);
    if (*consolidated != NULL) {
        return 0;
    }
    consolidated_t *made = vczi_alloc_zeroed(1, sizeof(*made));
    const int ret = made == NULL ? VCZC_ERR_NO_MEMORY : consolidated_fill(store, made);
    if (ret != 0) {
        consolidated_close(made);
        return ret;
    }
    *consolidated = made;
    *own = vczi_store_keep(store, made, consolidated_close) ? NULL : made;
    return 0;
}

/* The document of that name as text; NULL where it is not there. */
static int write_consolidated(const consolidated_t *consolidated, const char *path, const char *name, char **text,
                              size_t *nbytes) {
    char key[VCZI_MAX_KEY_NBYTES];
    if (!consolidated->is_v3 && !make_key(key, path, name)) {
        return 0;
    }
    const vczi_json_t *value = vczi_json_member(consolidated->metadata, consolidated->is_v3 ? path : key);
    return value == NULL ? 0 : vczi_json_write(value, text, nbytes);
}

static int find_in_consolidated(vczc_store_t *store, const char *path, documents_t *documents) {
    static const char *const of_v3[] = {ZARR_JSON, NULL};
    static const char *const of_v2[] = {ZARRAY, ZGROUP, NULL};
    const consolidated_t *consolidated = NULL;
    consolidated_t *own = NULL;
    int ret = consolidated_open(store, &consolidated, &own);
    if (ret != 0) {
        return ret;
    }
    const char *const *names = consolidated->is_v3 ? of_v3 : of_v2;
    for (size_t i = 0; names[i] != NULL && ret == 0 && documents->text == NULL; i++) {
        documents->name = names[i];
        ret = write_consolidated(consolidated, path, names[i], &documents->text, &documents->text_nbytes);
    }
    if (ret == 0 && documents->text != NULL) {
        documents->consolidated = consolidated->is_v3 ? ZARR_JSON : ZMETADATA;
        if (!consolidated->is_v3) {
            ret = write_consolidated(consolidated, path, ZATTRS, &documents->attributes, &documents->attributes_nbytes);
        }
    }
    consolidated_close(own);
    return ret;
}

static int find(vczc_store_t *store, const char *path, documents_t *documents) {
    int ret = 0;
    if (path[0] != '\0' && vczi_store_prefers_consolidated(store)) { /* the root's own document is as near */
        ret = find_in_consolidated(store, path, documents);
    }
    if (ret == 0 && documents->text == NULL) {
        ret = find_in_store(store, path, documents);
    }
    if (ret == 0 && documents->text == NULL) {
        ret = vczi_store_check_there(store, NULL);
        if (ret != 0) return ret;
        return path[0] == '\0'
                   ? vczi_fail(VCZC_ERR_NO_NODE, "no Zarr group or array at the top of %s", vczi_store_location(store))
                   : vczi_fail(VCZC_ERR_NO_NODE, "no group or array '%s' in %s", path, vczi_store_location(store));
    }
    return ret;
}

/* ---- A node ---- */

/* What errors call a document. */
static void name_document(char *what, size_t nbytes, const char *path, const char *name, const char *consolidated) {
    (void) snprintf(what, nbytes, "%s%s%s%s%s", path, path[0] == '\0' ? "" : "/", name,
                    consolidated == NULL ? "" : " in ", consolidated == NULL ? "" : consolidated);
}

static int parse_attributes(vczi_json_doc_t **tree, const documents_t *documents, const char *path) {
    char what[VCZI_DETAIL_NBYTES];
    name_document(what, sizeof(what), path, ZATTRS, documents->consolidated);
    const int ret = vczi_json_parse(tree, vczi_span(documents->attributes, documents->attributes_nbytes), what);
    if (ret == 0 && vczi_json_type(vczi_json_root(*tree)) != VCZI_JSON_OBJECT) {
        return vczi_fail(VCZC_ERR_METADATA, "%s must be an object, not %s", what,
                         vczi_json_type_name(vczi_json_root(*tree)));
    }
    return ret;
}

static int parse_document(vczi_document_t *document, const documents_t *documents, const char *path) {
    char what[VCZI_DETAIL_NBYTES];
    vczi_json_doc_t *tree = NULL;
    vczi_json_doc_t *attributes = NULL;
    name_document(what, sizeof(what), path, documents->name, documents->consolidated);
    int ret = vczi_json_parse(&tree, vczi_span(documents->text, documents->text_nbytes), what);
    if (ret == 0 && documents->attributes != NULL) {
        ret = parse_attributes(&attributes, documents, path);
    }
    if (ret != 0) goto out;
    const vczi_json_t *root = vczi_json_root(tree);
    if (strcmp(documents->name, ZARR_JSON) == 0) {
        ret = vczi_document_parse_v3(document, tree, root, what);
    } else if (strcmp(documents->name, ZARRAY) == 0) {
        const vczi_json_t *members = attributes == NULL ? NULL : vczi_json_root(attributes);
        ret = vczi_document_parse_v2_array(document, tree, root, members, what);
    } else {
        ret = vczi_document_parse_v2_group(document, tree, root, what);
    }
    if (ret == 0) {
        tree = NULL; /* the document owns it now */
    }
out:
    vczi_json_close(attributes);
    vczi_json_close(tree);
    return ret;
}

/* The attributes as text: of format 3 out of the document, "{}" where there are none. */
static int take_attributes(vczc_node_t *self, documents_t *documents) {
    const vczi_json_t *inlined = NULL;
    if (self->document.zarr_format == 3) {
        inlined = vczi_json_member(vczi_json_root(self->document.tree), "attributes");
    }
    if (vczi_json_type(inlined) == VCZI_JSON_OBJECT) {
        return vczi_json_write(inlined, &self->attributes, &self->info.attributes_nbytes);
    }
    if (documents->attributes != NULL) {
        self->attributes = documents->attributes;
        self->info.attributes_nbytes = documents->attributes_nbytes;
        documents->attributes = NULL;
        return 0;
    }
    self->attributes = vczi_copy_text("{}", 2);
    self->info.attributes_nbytes = 2;
    return self->attributes == NULL ? VCZC_ERR_NO_MEMORY : 0;
}

/* self->path is set. */
static int node_fill(vczc_node_t *self, vczc_store_t *store, documents_t *documents) {
    int ret = parse_document(&self->document, documents, self->path);
    if (ret != 0) {
        return vczi_fail_prefix(ret, "%s", vczi_store_location(store));
    }
    ret = take_attributes(self, documents);
    if (ret != 0) {
        return ret;
    }
    self->text = documents->text;
    documents->text = NULL;
    self->store = vczi_store_retain(store);
    self->document.name = documents->name;
    self->info.kind = self->document.kind;
    self->info.zarr_format = self->document.zarr_format;
    self->info.path = self->path;
    self->info.document = self->text;
    self->info.document_nbytes = documents->text_nbytes;
    self->info.attributes = self->attributes;
    return 0;
}

/* Without slashes at the ends. NULL, and the reason told, where no node can have that path. */
static char *normalise(const char *path, vczc_store_t *store, int *ret) {
    size_t nbytes = strlen(path);
    while (nbytes > 0 && path[0] == '/') {
        path++;
        nbytes--;
    }
    while (nbytes > 0 && path[nbytes - 1] == '/') {
        nbytes--;
    }
    char *copy = vczi_copy_text(path, nbytes);
    *ret = copy == NULL ? VCZC_ERR_NO_MEMORY : 0;
    if (copy != NULL && nbytes != 0 && !vczi_key_is_safe(copy)) {
        *ret = vczi_fail(VCZC_ERR_NO_NODE, "no group or array '%s' in %s: it is no path in a store", copy,
                         vczi_store_location(store));
        vczi_free(copy);
        copy = NULL;
    }
    return copy;
}

int vczi_node_open(vczc_node_t **node, vczc_store_t *store, const char *path) {
    documents_t documents = {0};
    int ret = 0;
    *node = NULL;
    vczc_node_t *self = vczi_alloc_zeroed(1, sizeof(*self));
    if (self == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    self->path = normalise(path, store, &ret);
    if (ret == 0) ret = find(store, self->path, &documents);
    if (ret == 0) ret = node_fill(self, store, &documents);
    if (ret == 0) {
        *node = self;
        self = NULL;
    }
    documents_clear(&documents);
    vczi_node_close(self);
    return ret;
}

void vczi_node_close(vczc_node_t *node) {
    if (node == NULL) {
        return;
    }
    vczi_document_clear(&node->document);
    vczi_free(node->path);
    vczi_free(node->text);
    vczi_free(node->attributes);
    vczi_store_release(node->store);
    vczi_free(node);
}

const vczc_node_info_t *vczi_node_info(const vczc_node_t *node) {
    return &node->info;
}

const vczi_document_t *vczi_node_document(const vczc_node_t *node) {
    return &node->document;
}

vczc_store_t *vczi_node_store(const vczc_node_t *node) {
    return node->store;
}

/* ---- Children ---- */

typedef struct {
    char *name;
    size_t nbytes;
    int kind; /* 0 where it is not known yet, or where it is no node */
} child_t;

typedef struct {
    child_t *items;
    size_t nitems;
    size_t room;
    const char *folder; /* of consolidated keys: "" or "a/b/" */
    bool is_v3;
} children_t;

static void children_clear(children_t *children) {
    for (size_t i = 0; i < children->nitems; i++) {
        vczi_free(children->items[i].name);
    }
    vczi_free(children->items);
    memset(children, 0, sizeof(*children));
}

static int add_child(children_t *children, const char *name, size_t nbytes, int kind) {
    if (children->nitems == children->room) {
        const size_t room = children->room == 0 ? 32 : children->room * 2;
        child_t *items = vczi_realloc(children->items, room, sizeof(*items));
        if (items == NULL) {
            return VCZC_ERR_NO_MEMORY;
        }
        children->items = items;
        children->room = room;
    }
    child_t *child = &children->items[children->nitems];
    child->name = vczi_copy_text(name, nbytes);
    if (child->name == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    child->nbytes = nbytes;
    child->kind = kind;
    children->nitems++;
    return 0;
}

/* Of format 3; a document that cannot be read is told as an array, so that opening it gives the reason. */
static int kind_of_v3(const vczi_json_t *root) {
    return vczi_json_text_equals(vczi_json_member(root, "node_type"), "group") ? VCZC_NODE_GROUP : VCZC_NODE_ARRAY;
}

static int probe_v3(vczc_store_t *store, const char *path, int *kind) {
    char *text = NULL;
    size_t nbytes = 0;
    vczi_json_doc_t *tree = NULL;
    int ret = fetch(store, path, ZARR_JSON, &text, &nbytes);
    if (ret != 0 || text == NULL) {
        return ret;
    }
    ret = vczi_json_parse(&tree, vczi_span(text, nbytes), path);
    vczi_free(text);
    if (ret == VCZC_ERR_NO_MEMORY) {
        return ret;
    }
    *kind = tree == NULL ? VCZC_NODE_ARRAY : kind_of_v3(vczi_json_root(tree));
    vczi_json_close(tree);
    return 0;
}

/* Which documents stand at `folder``name`. *kind stays 0 where it is no node. */
static int probe(vczc_store_t *store, const char *folder, const char *name, int *kind) {
    char path[VCZI_MAX_KEY_NBYTES];
    bool is_there = false;
    const int n = snprintf(path, sizeof(path), "%s%s", folder, name);
    if (n < 0 || (size_t) n >= sizeof(path) || !vczi_key_is_safe(path)) {
        return 0;
    }
    int ret = probe_v3(store, path, kind);
    if (ret == 0 && *kind == 0) {
        ret = exists(store, path, ZARRAY, &is_there);
        *kind = is_there ? VCZC_NODE_ARRAY : 0;
    }
    if (ret == 0 && *kind == 0) {
        ret = exists(store, path, ZGROUP, &is_there);
        *kind = is_there ? VCZC_NODE_GROUP : 0;
    }
    return ret;
}

/* A group's own documents are no children; the rest is asked for documents when the listing is done. */
static int collect_name(void *user, const char *name, size_t nbytes) {
    static const char *const own[] = {ZARR_JSON, ZARRAY, ZGROUP, ZATTRS, ZMETADATA};
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        if (nbytes == strlen(own[i]) && memcmp(name, own[i], nbytes) == 0) {
            return 0;
        }
    }
    return memchr(name, '\0', nbytes) != NULL ? 0 : add_child(user, name, nbytes, 0);
}

static int collect_listed(vczc_store_t *store, children_t *children) {
    int ret = vczi_store_list_folder(store, children->folder, collect_name, children);
    for (size_t i = 0; i < children->nitems && ret == 0; i++) {
        ret = probe(store, children->folder, children->items[i].name, &children->items[i].kind);
    }
    return ret;
}

/* True where `text` ends with `tail`, which is then cut off. */
static bool cut_tail(vczi_span_t *text, const char *tail) {
    const size_t nbytes = strlen(tail);
    if (text->nbytes < nbytes || memcmp(text->data + text->nbytes - nbytes, tail, nbytes) != 0) {
        return false;
    }
    text->nbytes -= nbytes;
    return true;
}

static int collect_consolidated_key(void *user, vczi_span_t key, const vczi_json_t *value) {
    children_t *children = user;
    const size_t folder_nbytes = strlen(children->folder);
    int kind = 0;
    if (key.nbytes <= folder_nbytes || memcmp(key.data, children->folder, folder_nbytes) != 0) {
        return 0;
    }
    vczi_span_t name = vczi_span(key.data + folder_nbytes, key.nbytes - folder_nbytes);
    if (children->is_v3) {
        kind = kind_of_v3(value);
    } else if (cut_tail(&name, "/" ZARRAY)) {
        kind = VCZC_NODE_ARRAY;
    } else if (cut_tail(&name, "/" ZGROUP)) {
        kind = VCZC_NODE_GROUP;
    }
    if (kind == 0 || name.nbytes == 0 || memchr(name.data, '/', name.nbytes) != NULL ||
        memchr(name.data, '\0', name.nbytes) != NULL) {
        return 0;
    }
    return add_child(children, (const char *) name.data, name.nbytes, kind);
}

/* By name in byte order; an array before a group of the same name. */
static int compare_children(const void *a, const void *b) {
    const child_t *left = a;
    const child_t *right = b;
    const int order = strcmp(left->name, right->name);
    return order != 0 ? order : right->kind - left->kind;
}

static int collect_consolidated(vczc_store_t *store, children_t *children, bool *is_there) {
    const consolidated_t *consolidated = NULL;
    consolidated_t *own = NULL;
    int ret = consolidated_open(store, &consolidated, &own);
    if (ret != 0) {
        return ret;
    }
    *is_there = consolidated->metadata != NULL;
    children->is_v3 = consolidated->is_v3;
    ret = vczi_json_each_member(consolidated->metadata, collect_consolidated_key, children);
    consolidated_close(own);
    if (children->nitems > 1) {
        qsort(children->items, children->nitems, sizeof(children->items[0]), compare_children);
    }
    return ret;
}

static int collect(vczc_store_t *store, children_t *children) {
    bool is_there = false;
    int ret = 0;
    if (vczi_store_prefers_consolidated(store)) {
        ret = collect_consolidated(store, children, &is_there);
    }
    if (ret != 0 || is_there) {
        return ret;
    }
    ret = collect_listed(store, children);
    if (ret == VCZC_ERR_UNSUPPORTED && children->nitems == 0) {
        ret = collect_consolidated(store, children, &is_there);
        if (ret == 0 && !is_there) {
            ret = vczi_fail(VCZC_ERR_UNSUPPORTED, "%s cannot be listed, and has no consolidated metadata",
                            vczi_store_location(store));
        }
    }
    return ret;
}

static int tell_children(const children_t *children, vczc_child_fn tell, void *user) {
    const child_t *last = NULL;
    int ret = 0;
    for (size_t i = 0; i < children->nitems && ret == 0; i++) {
        const child_t *child = &children->items[i];
        const bool is_new = last == NULL || strcmp(last->name, child->name) != 0;
        if (child->kind != 0 && is_new && vczi_key_is_safe(child->name)) {
            ret = tell(user, child->name, child->nbytes, child->kind);
            last = child;
        }
    }
    return ret;
}

int vczi_node_children(const vczc_node_t *node, vczc_child_fn tell, void *user) {
    char folder[VCZI_MAX_KEY_NBYTES + 1];
    children_t children = {NULL, 0, 0, folder, false};
    if (node->info.kind != VCZC_NODE_GROUP) {
        return vczi_fail(VCZC_ERR_NO_NODE, "'%s' in %s is an array: it has no children", node->path,
                         vczi_store_location(node->store));
    }
    (void) snprintf(folder, sizeof(folder), "%s%s", node->path, node->path[0] == '\0' ? "" : "/");
    int ret = collect(node->store, &children);
    if (ret == 0) {
        ret = tell_children(&children, tell, user);
    }
    children_clear(&children);
    return ret;
}
