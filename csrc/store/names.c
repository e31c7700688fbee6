/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Names of a folder. They are few beside the keys that they were found in, so each is looked up before it is kept. */
#include "names.h"

#include <stdlib.h>

#include "checked.h"
#include "mem.h"
#include "status.h"

#define MIN_ITEMS 64
#define MIN_TEXT_NBYTES 1024

struct vczi_name {
    size_t start, nbytes;
    const char *text; /* set for sorting only: `text` moves when it grows */
};

static vczi_span_t name_text(const void *user, uint32_t index) {
    return vczi_names_view(user, index);
}

vczi_span_t vczi_names_view(const vczi_names_t *self, size_t i) {
    return vczi_span(self->text + self->items[i].start, self->items[i].nbytes);
}

/* Room for one more item. The map has no room to grow, so a larger one is made. */
static int grow_items(vczi_names_t *self) {
    size_t size = MIN_ITEMS;
    vczi_strmap_t map = {0};
    uint32_t previous;
    if (self->nitems < self->items_size) {
        return 0;
    }
    if (self->items_size != 0 && !vczi_mul_size(self->items_size, 2, &size)) {
        return vczi_fail_memory(SIZE_MAX);
    }
    struct vczi_name *items = vczi_realloc(self->items, size, sizeof(*items));
    if (items == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    self->items = items;
    const int ret = vczi_strmap_init(&map, size);
    if (ret != 0) {
        return ret;
    }
    for (uint32_t i = 0; i < self->nitems; i++) {
        vczi_strmap_put(&map, vczi_names_view(self, i), i, name_text, self, &previous);
    }
    vczi_strmap_clear(&self->map);
    self->map = map;
    self->items_size = size;
    return 0;
}

static int grow_text(vczi_names_t *self, size_t nbytes) {
    size_t wanted = 0;
    size_t size = self->text_size < MIN_TEXT_NBYTES ? MIN_TEXT_NBYTES : self->text_size;
    if (!vczi_add_size(self->text_nbytes, nbytes, &wanted)) {
        return vczi_fail_memory(SIZE_MAX);
    }
    while (size < wanted) {
        if (!vczi_mul_size(size, 2, &size)) {
            return vczi_fail_memory(SIZE_MAX);
        }
    }
    if (size == self->text_size) {
        return 0;
    }
    char *text = vczi_realloc(self->text, size, 1);
    if (text == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    self->text = text;
    self->text_size = size;
    return 0;
}

int vczi_names_add(vczi_names_t *self, vczi_span_t name) {
    uint32_t previous;
    if (self->nitems != 0 && vczi_strmap_get(&self->map, name, name_text, self) != VCZI_STRMAP_NONE) {
        return 0;
    }
    int ret = grow_items(self);
    if (ret == 0) {
        ret = grow_text(self, name.nbytes);
    }
    if (ret != 0) {
        return ret;
    }
    struct vczi_name *item = &self->items[self->nitems];
    item->start = self->text_nbytes;
    item->nbytes = name.nbytes;
    if (name.nbytes != 0) {
        memcpy(self->text + self->text_nbytes, name.data, name.nbytes);
    }
    self->text_nbytes += name.nbytes;
    vczi_strmap_put(&self->map, vczi_names_view(self, self->nitems), (uint32_t) self->nitems, name_text, self,
                    &previous);
    self->nitems++;
    return 0;
}

static int compare_names(const void *left, const void *right) {
    const struct vczi_name *a = left;
    const struct vczi_name *b = right;
    const int order = memcmp(a->text, b->text, a->nbytes < b->nbytes ? a->nbytes : b->nbytes);
    return order != 0 ? order : (a->nbytes > b->nbytes) - (a->nbytes < b->nbytes);
}

void vczi_names_sort(vczi_names_t *self) {
    if (self->nitems == 0) {
        return;
    }
    for (size_t i = 0; i < self->nitems; i++) {
        self->items[i].text = self->text + self->items[i].start;
    }
    qsort(self->items, self->nitems, sizeof(*self->items), compare_names);
}

void vczi_names_clear(vczi_names_t *self) {
    const vczi_names_t none = {0};
    vczi_free(self->text);
    vczi_free(self->items);
    vczi_strmap_clear(&self->map);
    *self = none;
}
