/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Public functions of errors, threads, memory, stores and nodes. */
#include "api_argument.h"
#include "api_bytes.h"
#include "mem.h"
#include "node.h"
#include "pages.h"
#include "pool.h"
#include "scratch.h"
#include "status.h"
#include "store.h"
#include "vczc.h"

#define STRINGIFY(text) #text
#define VERSION_TEXT(major, minor, patch) STRINGIFY(major) "." STRINGIFY(minor) "." STRINGIFY(patch)

/* An int is the largest that a caller may ask for; more threads than this help nobody. */
#define MAX_NTHREADS 4096

const char *vczc_strerror(int code) {
    return vczi_strerror(code);
}

const char *vczc_error_detail(void) {
    return vczi_detail_view()->text;
}

void vczc_error_last(vczc_error_t *error) {
    const vczi_detail_t *detail = vczi_detail_view();
    if (error == NULL) {
        return;
    }
    error->code = detail->code;
    error->ndim = detail->code == 0 ? -1 : detail->ndim;
    error->coords = detail->coords;
    error->array = detail->array;
    error->key = detail->key;
    error->reason = detail->reason;
}

int vczc_error_set(int code, const char *reason) {
    return vczi_fail(code, "%s", reason == NULL ? "" : reason);
}

const char *vczc_version(void) {
    return VERSION_TEXT(VCZC_VERSION_MAJOR, VCZC_VERSION_MINOR, VCZC_VERSION_PATCH);
}

int vczc_set_threads(int nthreads) {
    if (nthreads < 0 || nthreads > MAX_NTHREADS) {
        return vczi_fail(VCZC_ERR_ARGUMENT, "%d threads: it must be 0 to %d", nthreads, MAX_NTHREADS);
    }
    vczi_pool_set_threads(nthreads);
    return 0;
}

int vczc_get_threads(void) {
    return vczi_pool_threads();
}

void *vczc_buffer_alloc(size_t nbytes) {
    return vczi_pages_alloc(nbytes);
}

void vczc_buffer_free(void *buffer, size_t nbytes) {
    vczi_pages_free(buffer, nbytes);
}

void vczc_set_buffer_pool(size_t nbytes) {
    vczi_pages_set_kept(nbytes);
}

void vczc_trim(void) {
    vczi_pool_trim(); /* first: its threads keep scratch memory too */
    vczi_scratch_trim();
    vczi_pages_trim();
}

int vczc_set_allocator(const vczc_allocator_t *allocator) {
    if (allocator == NULL) {
        return vczi_null_argument("allocator");
    }
    if (allocator->struct_nbytes < sizeof(*allocator)) {
        return vczi_fail(VCZC_ERR_ARGUMENT, "struct_nbytes of the allocator is %zu; it must be its size",
                         allocator->struct_nbytes);
    }
    if (allocator->alloc == NULL || allocator->resize == NULL || allocator->release == NULL) {
        return vczi_null_argument("a function of the allocator");
    }
    if (!vczi_mem_set_allocator(allocator)) {
        return vczi_fail(VCZC_ERR_ARGUMENT, "the allocator must be set once, before any memory is taken");
    }
    return 0;
}

static int check_flags(uint32_t flags) {
    if ((flags & ~(uint32_t) VCZC_OPEN_VERIFY) != 0) {
        return vczi_fail(VCZC_ERR_ARGUMENT, "unknown flags 0x%x", (unsigned) flags);
    }
    return 0;
}

int vczc_store_open(vczc_store_t **store, const char *path, uint32_t flags) {
    if (store == NULL) {
        return vczi_null_argument("store");
    }
    *store = NULL;
    if (path == NULL) {
        return vczi_null_argument("path");
    }
    int ret = check_flags(flags);
    return ret != 0 ? ret : vczi_store_open_path(store, path, flags);
}

int vczc_store_open_memory(vczc_store_t **store, const vczc_entry_t *entries, size_t nentries) {
    if (store == NULL) {
        return vczi_null_argument("store");
    }
    *store = NULL;
    if (entries == NULL && nentries != 0) {
        return vczi_null_argument("entries");
    }
    for (size_t i = 0; i < nentries; i++) {
        if (entries[i].key == NULL || (entries[i].data == NULL && entries[i].nbytes != 0)) {
            return vczi_null_argument("a key or its data");
        }
    }
    return vczi_store_open_memory(store, entries, nentries);
}

int vczc_store_open_zip_memory(vczc_store_t **store, const void *data, size_t nbytes, uint32_t flags) {
    if (store == NULL) {
        return vczi_null_argument("store");
    }
    *store = NULL;
    if (data == NULL && nbytes != 0) {
        return vczi_null_argument("data");
    }
    int ret = check_flags(flags);
    return ret != 0 ? ret : vczi_store_open_zip_memory(store, vczi_span(data, nbytes), flags);
}

int vczc_store_open_callbacks(vczc_store_t **store, const vczc_callbacks_t *callbacks, void *user, const char *name) {
    if (store == NULL) {
        return vczi_null_argument("store");
    }
    *store = NULL;
    if (callbacks == NULL) {
        return vczi_null_argument("callbacks");
    }
    return vczi_store_open_callbacks(store, callbacks, user, name == NULL ? "callbacks" : name);
}

void vczc_store_close(vczc_store_t *store) {
    vczi_store_release(store);
}

int vczc_store_kind(const vczc_store_t *store) {
    return store == NULL ? 0 : vczi_store_kind(store);
}

const char *vczc_store_location(const vczc_store_t *store) {
    return store == NULL ? NULL : vczi_store_location(store);
}

const char *vczc_store_prefix(const vczc_store_t *store) {
    return store == NULL ? NULL : vczi_store_prefix(store);
}

int vczc_store_get(vczc_store_t *store, const char *key, vczc_bytes_t *bytes) {
    if (bytes == NULL) {
        return vczi_null_argument("bytes");
    }
    *bytes = (vczc_bytes_t){0};
    if (store == NULL || key == NULL) {
        return vczi_null_argument(store == NULL ? "store" : "key");
    }
    vczi_bytes_t stored = {0};
    int ret = vczi_store_get(store, key, NULL, &stored);
    return ret != 0 ? ret : vczi_bytes_export(store, &stored, bytes);
}

int vczc_store_size(vczc_store_t *store, const char *key, uint64_t *nbytes) {
    if (store == NULL || key == NULL || nbytes == NULL) {
        return vczi_null_argument(store == NULL ? "store" : key == NULL ? "key" : "nbytes");
    }
    return vczi_store_size(store, key, nbytes);
}

int vczc_store_list(vczc_store_t *store, const char *prefix, vczc_list_fn tell, void *user) {
    if (store == NULL || prefix == NULL || tell == NULL) {
        return vczi_null_argument(store == NULL ? "store" : prefix == NULL ? "prefix" : "tell");
    }
    return vczi_store_list(store, prefix, tell, user);
}

int vczc_node_open(vczc_node_t **node, vczc_store_t *store, const char *path) {
    if (node == NULL) {
        return vczi_null_argument("node");
    }
    *node = NULL;
    if (store == NULL || path == NULL) {
        return vczi_null_argument(store == NULL ? "store" : "path");
    }
    return vczi_node_open(node, store, path);
}

void vczc_node_close(vczc_node_t *node) {
    vczi_node_close(node);
}

const vczc_node_info_t *vczc_node_info(const vczc_node_t *node) {
    return node == NULL ? NULL : vczi_node_info(node);
}

int vczc_node_children(const vczc_node_t *node, vczc_child_fn tell, void *user) {
    if (node == NULL || tell == NULL) {
        return vczi_null_argument(node == NULL ? "node" : "tell");
    }
    return vczi_node_children(node, tell, user);
}
