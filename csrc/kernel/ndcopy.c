/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
#include "ndcopy.h"

#include <string.h>

#include "compiler.h"

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
bool vczi_runs_init(vczi_runs_t *runs, const vczi_box_t *box, const int64_t *in_strides) {
    int ndim = 0;
    for (int i = 0; i < box->ndim; i++) {
        if (box->shape[i] == 0) {
            return false;
        }
        if (box->shape[i] == 1) {
            continue;
        }
        const int last = ndim - 1;
        if (ndim > 0 && runs->out_strides[last] == box->strides[i] * box->shape[i] &&
            runs->in_strides[last] == in_strides[i] * box->shape[i]) {
            runs->shape[last] *= box->shape[i];
            runs->out_strides[last] = box->strides[i];
            runs->in_strides[last] = in_strides[i];
            continue;
        }
        runs->shape[ndim] = box->shape[i];
        runs->out_strides[ndim] = box->strides[i];
        runs->in_strides[ndim] = in_strides[i];
        ndim++;
    }
    runs->run_nbytes = box->item_nbytes;
    const int64_t item = (int64_t) box->item_nbytes;
    if (ndim > 0 && runs->out_strides[ndim - 1] == item && runs->in_strides[ndim - 1] == item) {
        ndim--;
        runs->run_nbytes = box->item_nbytes * (size_t) runs->shape[ndim];
    }
    runs->ndim = ndim;
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
static void copy_tiles(const vczi_runs_t *runs, char *out, const char *in) {
    const int a = runs->ndim - 2, b = runs->ndim - 1;
    for (int64_t i = 0; i < runs->shape[a]; i += TILE_NITEMS) {
        const int64_t rows = runs->shape[a] - i < TILE_NITEMS ? runs->shape[a] - i : TILE_NITEMS;
        for (int64_t j = 0; j < runs->shape[b]; j += TILE_NITEMS) {
            const int64_t columns = runs->shape[b] - j < TILE_NITEMS ? runs->shape[b] - j : TILE_NITEMS;
            for (int64_t k = 0; k < rows; k++) {
                copy_axis(out + (i + k) * runs->out_strides[a] + j * runs->out_strides[b], runs->out_strides[b],
                          in + (i + k) * runs->in_strides[a] + j * runs->in_strides[b], runs->in_strides[b], columns,
                          runs->run_nbytes);
            }
        }
    }
}

/* Put the axis along which the input is densest beside the innermost one, where tiles use it. */
static void order_axes(vczi_runs_t *runs) {
    int densest = runs->ndim - 1;
    for (int i = 0; i < runs->ndim; i++) {
        const int64_t stride = runs->in_strides[i] < 0 ? -runs->in_strides[i] : runs->in_strides[i];
        const int64_t least = runs->in_strides[densest] < 0 ? -runs->in_strides[densest] : runs->in_strides[densest];
        if (stride < least) {
            densest = i;
        }
    }
    if (densest >= runs->ndim - 2) {
        return;
    }
    const int64_t shape = runs->shape[densest], out = runs->out_strides[densest], in = runs->in_strides[densest];
    for (int i = densest; i < runs->ndim - 2; i++) {
        runs->shape[i] = runs->shape[i + 1];
        runs->out_strides[i] = runs->out_strides[i + 1];
        runs->in_strides[i] = runs->in_strides[i + 1];
    }
    runs->shape[runs->ndim - 2] = shape;
    runs->out_strides[runs->ndim - 2] = out;
    runs->in_strides[runs->ndim - 2] = in;
}

bool vczi_runs_next(const vczi_runs_t *runs, int naxes, int64_t *index, int64_t *out, int64_t *in) {
    for (int i = naxes - 1; i >= 0; i--) {
        index[i]++;
        *out += runs->out_strides[i];
        *in += runs->in_strides[i];
        if (index[i] < runs->shape[i]) {
            return true;
        }
        *out -= runs->out_strides[i] * runs->shape[i];
        *in -= runs->in_strides[i] * runs->shape[i];
        index[i] = 0;
    }
    return false;
}

void vczi_ndcopy(void *out, const vczi_box_t *out_box, const void *in, const int64_t *in_strides) {
    vczi_runs_t runs;
    int64_t index[VCZC_MAX_NDIM] = {0};
    int64_t to = 0, from = 0;
    if (!vczi_runs_init(&runs, out_box, in_strides)) {
        return;
    }
    if (runs.ndim == 0) {
        memcpy(out, in, runs.run_nbytes);
        return;
    }
    if (runs.ndim == 1) {
        copy_axis(out, runs.out_strides[0], in, runs.in_strides[0], runs.shape[0], runs.run_nbytes);
        return;
    }
    order_axes(&runs);
    do {
        copy_tiles(&runs, (char *) out + to, (const char *) in + from);
    } while (vczi_runs_next(&runs, runs.ndim - 2, index, &to, &from));
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
    vczi_runs_t runs;
    int64_t index[VCZC_MAX_NDIM] = {0};
    int64_t to = 0, unused = 0;
    if (out_box->item_nbytes == 0 || !vczi_runs_init(&runs, out_box, out_box->strides)) {
        return;
    }
    const bool is_one_byte = item_is_one_byte(item, out_box->item_nbytes);
    do {
        if (is_one_byte) {
            memset((char *) out + to, *(const unsigned char *) item, runs.run_nbytes);
        } else {
            fill_run((char *) out + to, runs.run_nbytes, item, out_box->item_nbytes);
        }
    } while (vczi_runs_next(&runs, runs.ndim, index, &to, &unused));
}
