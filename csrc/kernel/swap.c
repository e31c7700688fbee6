/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "swap.h"

#include <string.h>

static void swap_2(uint8_t *items, size_t nitems) {
    for (size_t i = 0; i < nitems; i++) {
        uint16_t value;
        memcpy(&value, items + 2 * i, 2);
        value = (uint16_t) (value >> 8 | value << 8);
        memcpy(items + 2 * i, &value, 2);
    }
}

static void swap_4(uint8_t *items, size_t nitems) {
    for (size_t i = 0; i < nitems; i++) {
        uint32_t value;
        memcpy(&value, items + 4 * i, 4);
        value = value >> 24 | (value >> 8 & 0xFF00u) | (value << 8 & 0xFF0000u) | value << 24;
        memcpy(items + 4 * i, &value, 4);
    }
}

static void swap_8(uint8_t *items, size_t nitems) {
    for (size_t i = 0; i < nitems; i++) {
        uint64_t value;
        memcpy(&value, items + 8 * i, 8);
        value = (value & 0x00000000FFFFFFFFu) << 32 | (value & 0xFFFFFFFF00000000u) >> 32;
        value = (value & 0x0000FFFF0000FFFFu) << 16 | (value & 0xFFFF0000FFFF0000u) >> 16;
        value = (value & 0x00FF00FF00FF00FFu) << 8 | (value & 0xFF00FF00FF00FF00u) >> 8;
        memcpy(items + 8 * i, &value, 8);
    }
}

void vczi_swap(void *items, size_t nitems, size_t item_nbytes) {
    switch (item_nbytes) {
        case 2:
            swap_2(items, nitems);
            break;
        case 4:
            swap_4(items, nitems);
            break;
        case 8:
            swap_8(items, nitems);
            break;
        default:
            break;
    }
}
