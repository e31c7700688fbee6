/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "ndcopy.h"

#include <string.h>

#include "compiler.h"

/* A copy with as few axes as it can have: `ndim` loops around runs of `run_nbytes` bytes that lie one after another on
 * both sides. */
typedef struct {
    int ndim;
    size_t run_nbytes;
    int64_t shape[VCZC_MAX_NDIM];
    int64_t out_strides[VCZC_MAX_NDIM];
    int64_t in_strides[VCZC_MAX_NDIM];
} plan_t;

/* Bytes of one side of a tile of a transpose: both sides of it stay in the first-level cache. */
#define TILE_NITEMS 32

void vczi_strides_c(int ndim, const int64_t *shape, size_t item_nbytes, int64_t *strides) {
    int64_t stride = (int64_t) item_nbytes;
    for (int i = ndim - 1; i >= 0; i--) {
        strides[i] = stride;
        stride *= shape[i];
    }
}

void vczi_strides_f(int ndim, const int64_t *shape, size_t item_nbytes, int64_t *strides) {
    int64_t stride = (int64_t) item_nbytes;
    for (int i = 0; i < ndim; i++) {
        strides[i] = stride;
        stride *= shape[i];
    }
}

bool vczi_box_is_contiguous(const vczi_box_t *box) {
    int64_t stride = (int64_t) box->item_nbytes;
    for (int i = box->ndim - 1; i >= 0; i--) {
        if (box->shape[i] != 1 && box->strides[i] != stride) {
            return false;
        }
        stride *= box->shape[i];
    }
    return true;
}

/* Axes of length 1 go, neighbours that continue one another on both sides become one, and the innermost axis becomes
 * the run where it is dense. False where there is nothing to copy. */
static bool plan_init(plan_t *plan, const vczi_box_t *box, const int64_t *in_strides) {
    int ndim = 0;
    for (int i = 0; i < box->ndim; i++) {
        if (box->shape[i] == 0) {
            return false;
        }
        if (box->shape[i] == 1) {
            continue;
        }
        const int last = ndim - 1;
        if (ndim > 0 && plan->out_strides[last] == box->strides[i] * box->shape[i] &&
            plan->in_strides[last] == in_strides[i] * box->shape[i]) {
            plan->shape[last] *= box->shape[i];
            plan->out_strides[last] = box->strides[i];
            plan->in_strides[last] = in_strides[i];
            continue;
        }
        plan->shape[ndim] = box->shape[i];
        plan->out_strides[ndim] = box->strides[i];
        plan->in_strides[ndim] = in_strides[i];
        ndim++;
    }
    plan->run_nbytes = box->item_nbytes;
    const int64_t item = (int64_t) box->item_nbytes;
    if (ndim > 0 && plan->out_strides[ndim - 1] == item && plan->in_strides[ndim - 1] == item) {
        ndim--;
        plan->run_nbytes = box->item_nbytes * (size_t) plan->shape[ndim];
    }
    plan->ndim = ndim;
    return true;
}

#define COPY_ITEMS(nbytes)                                                                                             \
    for (int64_t i = 0; i < count; i++) {                                                                              \
        memcpy(out + i * out_stride, in + i * in_stride, nbytes);                                                      \
    }

/* `count` runs along one axis. Sizes that the compiler knows become single moves. */
static VCZI_ALWAYS_INLINE void copy_axis(char *out, int64_t out_stride, const char *in, int64_t in_stride,
                                         int64_t count, size_t nbytes) {
    switch (nbytes) {
        case 1:
            COPY_ITEMS(1)
            break;
        case 2:
            COPY_ITEMS(2)
            break;
        case 4:
            COPY_ITEMS(4)
            break;
        case 8:
            COPY_ITEMS(8)
            break;
        case 16:
            COPY_ITEMS(16)
            break;
        default:
            COPY_ITEMS(nbytes)
            break;
    }
}

/* The two innermost axes of a transpose, tile by tile, so that neither side leaves the cache between two visits. */
static void copy_tiles(const plan_t *plan, char *out, const char *in) {
    const int a = plan->ndim - 2, b = plan->ndim - 1;
    for (int64_t i = 0; i < plan->shape[a]; i += TILE_NITEMS) {
        const int64_t rows = plan->shape[a] - i < TILE_NITEMS ? plan->shape[a] - i : TILE_NITEMS;
        for (int64_t j = 0; j < plan->shape[b]; j += TILE_NITEMS) {
            const int64_t columns = plan->shape[b] - j < TILE_NITEMS ? plan->shape[b] - j : TILE_NITEMS;
            for (int64_t k = 0; k < rows; k++) {
                copy_axis(out + (i + k) * plan->out_strides[a] + j * plan->out_strides[b], plan->out_strides[b],
                          in + (i + k) * plan->in_strides[a] + j * plan->in_strides[b], plan->in_strides[b], columns,
                          plan->run_nbytes);
            }
        }
    }
}

/* Put the axis along which the input is densest beside the innermost one, where tiles use it. */
static void plan_order(plan_t *plan) {
    int densest = plan->ndim - 1;
    for (int i = 0; i < plan->ndim; i++) {
        const int64_t stride = plan->in_strides[i] < 0 ? -plan->in_strides[i] : plan->in_strides[i];
        const int64_t least = plan->in_strides[densest] < 0 ? -plan->in_strides[densest] : plan->in_strides[densest];
        if (stride < least) {
            densest = i;
        }
    }
    if (densest >= plan->ndim - 2) {
        return;
    }
    const int64_t shape = plan->shape[densest], out = plan->out_strides[densest], in = plan->in_strides[densest];
    for (int i = densest; i < plan->ndim - 2; i++) {
        plan->shape[i] = plan->shape[i + 1];
        plan->out_strides[i] = plan->out_strides[i + 1];
        plan->in_strides[i] = plan->in_strides[i + 1];
    }
    plan->shape[plan->ndim - 2] = shape;
    plan->out_strides[plan->ndim - 2] = out;
    plan->in_strides[plan->ndim - 2] = in;
}

/* Steps the outer `naxes` counters of the plan and the two places; false after the last. */
static bool plan_next(const plan_t *plan, int naxes, int64_t *index, char **out, const char **in) {
    for (int i = naxes - 1; i >= 0; i--) {
        index[i]++;
        *out += plan->out_strides[i];
        *in += plan->in_strides[i];
        if (index[i] < plan->shape[i]) {
            return true;
        }
        *out -= plan->out_strides[i] * plan->shape[i];
        *in -= plan->in_strides[i] * plan->shape[i];
        index[i] = 0;
    }
    return false;
}

void vczi_ndcopy(void *out, const vczi_box_t *out_box, const void *in, const int64_t *in_strides) {
    plan_t plan;
    int64_t index[VCZC_MAX_NDIM] = {0};
    char *to = out;
    const char *from = in;
    if (!plan_init(&plan, out_box, in_strides)) {
        return;
    }
    if (plan.ndim == 0) {
        memcpy(to, from, plan.run_nbytes);
        return;
    }
    if (plan.ndim == 1) {
        copy_axis(to, plan.out_strides[0], from, plan.in_strides[0], plan.shape[0], plan.run_nbytes);
        return;
    }
    plan_order(&plan);
    do {
        copy_tiles(&plan, to, from);
    } while (plan_next(&plan, plan.ndim - 2, index, &to, &from));
}

/* Fill `nbytes` (a multiple of the item) with the item, by doubling what is there. */
static void fill_run(char *out, size_t nbytes, const char *item, size_t item_nbytes) {
    size_t done = item_nbytes;
    memcpy(out, item, item_nbytes);
    while (done < nbytes) {
        const size_t more = nbytes - done < done ? nbytes - done : done;
        memcpy(out + done, out, more);
        done += more;
    }
}

static bool item_is_one_byte(const char *item, size_t nbytes) {
    for (size_t i = 1; i < nbytes; i++) {
        if (item[i] != item[0]) {
            return false;
        }
    }
    return true;
}

void vczi_ndfill(void *out, const vczi_box_t *out_box, const void *item) {
    plan_t plan;
    int64_t index[VCZC_MAX_NDIM] = {0};
    char *to = out;
    const char *unused = out;
    if (out_box->item_nbytes == 0 || !plan_init(&plan, out_box, out_box->strides)) {
        return;
    }
    const bool is_one_byte = item_is_one_byte(item, out_box->item_nbytes);
    do {
        if (is_one_byte) {
            memset(to, *(const unsigned char *) item, plan.run_nbytes);
        } else {
            fill_run(to, plan.run_nbytes, item, out_box->item_nbytes);
        }
    } while (plan_next(&plan, plan.ndim, index, &to, &unused));
}
