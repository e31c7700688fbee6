/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Entries in memory: one block holds all keys and all bytes. */
#include "memory.h"

#include "checked.h"
#include "key.h"
#include "mem.h"
#include "range.h"
#include "status.h"
#include "strmap.h"

typedef struct {
    vczi_span_t key; /* empty where a later entry has the same */
    vczi_span_t data;
} item_t;

typedef struct {
    item_t *items;
    size_t nitems;
    uint8_t *block;
    vczi_strmap_t map;
} memory_t;

static vczi_span_t item_key(const void *user, uint32_t index) {
    const memory_t *memory = user;
    return memory->items[index].key;
}

static void memory_close(void *self) {
    memory_t *memory = self;
    vczi_free(memory->items);
    vczi_free(memory->block);
    vczi_strmap_clear(&memory->map);
    vczi_free(memory);
}

static int find_item(const memory_t *memory, const char *key, const item_t **item) {
    const uint32_t index = vczi_strmap_get(&memory->map, vczi_span(key, strlen(key)), item_key, memory);
    *item = index == VCZI_STRMAP_NONE ? NULL : &memory->items[index];
    return *item == NULL ? vczi_fail(VCZC_ERR_NOT_FOUND, "no entry '%s'", key) : 0;
}

static int memory_get(void *self, const char *key, uint64_t offset, size_t nbytes, vczi_scratch_t *scratch,
                      vczi_bytes_t *bytes) {
    const item_t *item = NULL;
    vczi_range_t range;
    (void) scratch;
    int ret = find_item(self, key, &item);
    if (ret == 0) {
        ret = vczi_range_init(&range, item->data.nbytes, offset, nbytes);
    }
    if (ret == 0) {
        bytes->span = vczi_range_of(&range, item->data);
    }
    return ret;
}

static int memory_size(void *self, const char *key, uint64_t *nbytes) {
    const item_t *item = NULL;
    const int ret = find_item(self, key, &item);
    if (ret == 0) {
        *nbytes = item->data.nbytes;
    }
    return ret;
}

static int memory_list(void *self, const char *prefix, vczc_list_fn tell, void *user) {
    const memory_t *memory = self;
    const vczi_span_t wanted = vczi_span(prefix, strlen(prefix));
    int ret = 0;
    for (size_t i = 0; i < memory->nitems && ret == 0; i++) {
        const vczi_span_t key = memory->items[i].key;
        if (key.nbytes != 0 && vczi_key_begins_with(key, wanted)) {
            ret = tell(user, (const char *) key.data, key.nbytes);
        }
    }
    return ret;
}

static int memory_list_folder(void *self, const char *folder, vczc_list_fn tell, void *user) {
    const memory_t *memory = self;
    const vczi_span_t wanted = vczi_span(folder, strlen(folder));
    int ret = 0;
    for (size_t i = 0; i < memory->nitems && ret == 0; i++) {
        const vczi_span_t key = memory->items[i].key;
        if (key.nbytes != 0 && vczi_key_begins_with(key, wanted)) {
            const vczi_span_t child = vczi_key_child(key, wanted);
            ret = tell(user, (const char *) child.data, child.nbytes);
        }
    }
    return ret;
}

const vczi_store_ops_t vczi_memory_ops = {
    .kind = VCZC_STORE_MEMORY,
    .get = memory_get,
    .size = memory_size,
    .list = memory_list,
    .list_folder = memory_list_folder,
    .will_need = NULL,
    .close = memory_close,
};

/* The bytes that copies of all keys and data take. */
static int count_bytes(const vczc_entry_t *entries, size_t nentries, size_t *nbytes) {
    *nbytes = 0;
    for (size_t i = 0; i < nentries; i++) {
        const vczc_entry_t *entry = &entries[i];
        if (entry->key == NULL || (entry->data == NULL && entry->nbytes != 0)) {
            return vczi_fail(VCZC_ERR_ARGUMENT, "entry %zu has no %s", i, entry->key == NULL ? "key" : "data");
        }
        if (!vczi_add_size(*nbytes, strlen(entry->key), nbytes) || !vczi_add_size(*nbytes, entry->nbytes, nbytes)) {
            return vczi_fail_memory(SIZE_MAX);
        }
    }
    return 0;
}

static vczi_span_t copy_span(uint8_t **next, const void *data, size_t nbytes) {
    const vczi_span_t copy = vczi_span(*next, nbytes);
    if (nbytes != 0) {
        memcpy(*next, data, nbytes);
    }
    *next += nbytes;
    return copy;
}

static void add_items(memory_t *memory, const vczc_entry_t *entries, size_t nentries) {
    uint8_t *next = memory->block;
    for (size_t i = 0; i < nentries; i++) {
        uint32_t previous = VCZI_STRMAP_NONE;
        item_t *item = &memory->items[memory->nitems];
        if (!vczi_key_is_safe(entries[i].key)) {
            continue;
        }
        item->key = copy_span(&next, entries[i].key, strlen(entries[i].key));
        item->data = copy_span(&next, entries[i].data, entries[i].nbytes);
        vczi_strmap_put(&memory->map, item->key, (uint32_t) memory->nitems, item_key, memory, &previous);
        if (previous != VCZI_STRMAP_NONE) {
            memory->items[previous].key.nbytes = 0;
        }
        memory->nitems++;
    }
}

int vczi_memory_open(void **self, const vczc_entry_t *entries, size_t nentries) {
    size_t nbytes = 0;
    memory_t *memory = NULL;
    *self = NULL;
    int ret = count_bytes(entries, nentries, &nbytes);
    if (ret != 0) goto out;
    memory = vczi_alloc_zeroed(1, sizeof(*memory));
    ret = memory == NULL ? VCZC_ERR_NO_MEMORY : vczi_strmap_init(&memory->map, nentries);
    if (ret != 0) goto out;
    memory->items = vczi_alloc_array(nentries, sizeof(*memory->items));
    memory->block = memory->items == NULL ? NULL : vczi_alloc(nbytes);
    if (memory->block == NULL) {
        ret = VCZC_ERR_NO_MEMORY;
        goto out;
    }
    add_items(memory, entries, nentries);
    *self = memory;
    memory = NULL; /* the caller owns it now */
out:
    if (memory != NULL) {
        memory_close(memory);
    }
    return ret;
}
