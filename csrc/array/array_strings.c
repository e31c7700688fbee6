/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Two passes, since an item's place is known when all lengths before it are: each chunk leaves its items packed and
 * their lengths at their places; then the packed items go where the sums of the lengths say. One chunk needs no second
 * pass. */
#include "array_strings.h"

#include <inttypes.h>
#include <string.h>

#include "array_fetch.h"
#include "array_plan.h"
#include "checked.h"
#include "mem.h"
#include "pool.h"
#include "status.h"
#include "unvlen.h"

/* The items of one job, packed in the order in which its box is walked. */
typedef struct {
    char *data;
    size_t nbytes;
} piece_t;

/* What the jobs of one call share. */
typedef struct {
    const vczi_plan_t *plan;
    int64_t *lengths; /* of every item of the result, at its place */
    piece_t *pieces;  /* one for each job */
    char *data;       /* of the result, in the second pass */
    bool is_packed;   /* the only job left the result as it is to be: `lengths` are offsets */
    int64_t max_nbytes;
} read_t;

/* A walk over a job's box in C order: a place in the result, and an item of the chunk. */
typedef struct {
    const vczi_job_t *job;
    const int64_t *strides; /* of the chunk, in items */
    int64_t index[VCZC_MAX_NDIM];
    int64_t place;
    int64_t item;
} walk_t;

static walk_t walk_begin(const vczi_plan_t *plan, const vczi_job_t *job) {
    walk_t walk = {.job = job, .strides = plan->array->chain.strides, .place = job->place};
    for (int i = 0; i < job->request.out.ndim; i++) {
        walk.item += job->request.first[i] * walk.strides[i];
    }
    return walk;
}

static bool walk_next(walk_t *walk) {
    const vczi_request_t *request = &walk->job->request;
    for (int i = request->out.ndim - 1; i >= 0; i--) {
        const int64_t item_step = request->step[i] * walk->strides[i];
        walk->index[i]++;
        walk->place += request->out.strides[i];
        walk->item += item_step;
        if (walk->index[i] < request->out.shape[i]) {
            return true;
        }
        walk->place -= request->out.strides[i] * request->out.shape[i];
        walk->item -= item_step * request->out.shape[i];
        walk->index[i] = 0;
    }
    return false;
}

/* Lengths to their places, and their sum. `items` is NULL for an absent chunk: all items are then `fill`. */
static int measure(const read_t *read, const vczi_job_t *job, const vczi_span_t *items, vczi_span_t fill,
                   size_t *nbytes) {
    walk_t walk = walk_begin(read->plan, job);
    size_t total = 0;
    do {
        const size_t length = items == NULL ? fill.nbytes : items[walk.item].nbytes;
        read->lengths[walk.place] = (int64_t) length;
        if (!vczi_add_size(total, length, &total)) {
            return vczi_fail(VCZC_ERR_NO_MEMORY, "the texts do not fit the memory");
        }
    } while (walk_next(&walk));
    *nbytes = total;
    return 0;
}

static void pack(const read_t *read, const vczi_job_t *job, const vczi_span_t *items, vczi_span_t fill, char *data) {
    walk_t walk = walk_begin(read->plan, job);
    do {
        const vczi_span_t item = items == NULL ? fill : items[walk.item];
        if (item.nbytes != 0) {
            memcpy(data, item.data, item.nbytes);
            data += item.nbytes;
        }
    } while (walk_next(&walk));
}

static int gather(const read_t *read, const vczi_job_t *job, const vczi_span_t *items, vczi_span_t fill,
                  piece_t *piece) {
    int ret = measure(read, job, items, fill, &piece->nbytes);
    if (ret != 0) {
        return ret;
    }
    piece->data = vczi_alloc(piece->nbytes);
    if (piece->data == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    pack(read, job, items, fill, piece->data);
    return 0;
}

/* True where the job wants the first items of its chunk, all in the order in which they are stored, as the whole of the
 * result: what a block is, unless its inner axes are trimmed. */
static bool is_head_of_chunk(const vczi_plan_t *plan, const vczi_job_t *job) {
    const vczi_chain_t *chain = &plan->array->chain;
    int64_t stride = 1;
    if (plan->njobs != 1) {
        return false;
    }
    for (int i = job->request.out.ndim - 1; i >= 0; i--) {
        if (job->request.first[i] != 0 || job->request.step[i] != 1 || chain->strides[i] != stride ||
            (i > 0 && job->request.out.shape[i] != plan->array->doc->grid.chunks[i])) {
            return false;
        }
        stride *= job->request.out.shape[i];
    }
    return true;
}

/* Straight from the stored items to the result: one walk, no spans. */
static int pack_head(read_t *read, vczi_span_t raw, piece_t *piece) {
    const vczi_chain_t *chain = &read->plan->array->chain;
    size_t room = 0;
    if (!vczi_add_size(raw.nbytes, VCZI_UNVLEN_SLACK_NBYTES, &room)) {
        return vczi_fail_memory(SIZE_MAX);
    }
    piece->data = vczi_alloc(room);
    if (piece->data == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    read->is_packed = true;
    return vczi_unvlen_pack(raw, (size_t) chain->chunk_nitems, (size_t) read->plan->nitems, chain->is_utf8,
                            read->lengths, (uint8_t *) piece->data, &read->max_nbytes);
}

/* What is wanted of a stored chunk: lengths (or offsets) and a piece. */
static int decode_texts(read_t *read, const vczi_job_t *job, vczi_span_t stored, piece_t *piece,
                        vczi_scratch_t *scratch) {
    const vczi_chain_t *chain = &read->plan->array->chain;
    const vczi_span_t *items = NULL;
    vczi_span_t raw = {NULL, 0};
    int ret = vczi_chain_decode_vlen(chain, stored, &raw, scratch);
    if (ret != 0) {
        return ret;
    }
    if (is_head_of_chunk(read->plan, job)) {
        return pack_head(read, raw, piece);
    }
    ret = vczi_chain_read_items(chain, raw, &items, scratch);
    if (ret == 0) {
        ret = gather(read, job, items, vczi_span(NULL, 0), piece);
    }
    return ret;
}

/* First pass, of one job: decode its chunk, leave lengths and a piece. */
static int decode_job(void *user, int64_t number, vczi_fetch_t *fetch) {
    read_t *read = user;
    const vczc_array_t *array = read->plan->array;
    vczi_span_t stored = {NULL, 0};
    vczi_job_t job;
    if (!vczi_plan_job(read->plan, number, &job)) {
        return 0;
    }
    int ret = vczi_fetch_chunk(fetch, job.coords, VCZI_FETCH_BYTES, &stored);
    if (ret == VCZC_ERR_NOT_FOUND) {
        const vczi_span_t fill = vczi_span(array->doc->fill, array->doc->fill_nbytes);
        return gather(read, &job, NULL, fill, &read->pieces[number]);
    }
    if (ret == 0) {
        ret = decode_texts(read, &job, stored, &read->pieces[number], fetch->scratch);
        if (ret != 0) {
            ret = vczi_array_fail_chunk(array, ret, fetch->key, job.coords);
        }
    }
    return ret;
}

/* Second pass: the packed items to where the offsets say. `lengths` are offsets by now. */
static int place_job(void *user, int64_t number) {
    const read_t *read = user;
    const char *from = read->pieces[number].data;
    vczi_job_t job;
    if (from == NULL || !vczi_plan_job(read->plan, number, &job)) {
        return 0;
    }
    walk_t walk = walk_begin(read->plan, &job);
    do {
        const int64_t begin = read->lengths[walk.place];
        const size_t nbytes = (size_t) (read->lengths[walk.place + 1] - begin);
        memcpy(read->data + begin, from, nbytes);
        from += nbytes;
    } while (walk_next(&walk));
    vczi_free(read->pieces[number].data);
    read->pieces[number].data = NULL;
    return 0;
}

/* Lengths become offsets; their sum and the longest are kept. */
static int sum_lengths(vczc_strings_t *strings) {
    int64_t sum = 0;
    for (int64_t i = 0; i < strings->nitems; i++) {
        const int64_t length = strings->offsets[i];
        strings->offsets[i] = sum;
        strings->max_item_nbytes = length > strings->max_item_nbytes ? length : strings->max_item_nbytes;
        if (!vczi_add_i64(sum, length, &sum)) {
            return vczi_fail(VCZC_ERR_NO_MEMORY, "the texts do not fit the memory");
        }
    }
    strings->offsets[strings->nitems] = sum;
    strings->data_nbytes = sum;
    return 0;
}

/* The only job has left offsets where lengths would be. */
static void keep_offsets(const read_t *read, vczc_strings_t *strings) {
    strings->data_nbytes = strings->offsets[strings->nitems];
    strings->max_item_nbytes = read->max_nbytes;
}

/* All pieces in one block of memory. A single piece is it already. */
static int join(read_t *read, int nthreads, vczc_strings_t *strings) {
    size_t nbytes = 0;
    if (read->plan->njobs == 1) {
        strings->data = read->pieces[0].data;
        read->pieces[0].data = NULL;
        return 0;
    }
    if (!vczi_i64_to_size(strings->data_nbytes, &nbytes)) {
        return vczi_fail(VCZC_ERR_NO_MEMORY, "the texts do not fit the memory");
    }
    strings->data = vczi_alloc(nbytes);
    if (strings->data == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    read->data = strings->data;
    return vczi_pool_run(read->plan->njobs, nthreads, place_job, read);
}

static int read_plan(vczi_plan_t *plan, int nthreads, vczc_strings_t *strings) {
    read_t read = {.plan = plan};
    size_t nitems = 0, njobs = 0;
    int ret = 0;
    nthreads = nthreads > 0 ? nthreads : vczi_pool_threads();
    memset(strings, 0, sizeof(*strings));
    if (!vczi_i64_to_size(plan->nitems, &nitems) || !vczi_add_size(nitems, 1, &nitems) ||
        !vczi_i64_to_size(plan->njobs, &njobs)) {
        return vczi_fail(VCZC_ERR_NO_MEMORY, "%" PRId64 " texts do not fit the memory", plan->nitems);
    }
    strings->nitems = plan->nitems;
    strings->offsets = vczi_alloc_zeroed(nitems, sizeof(*strings->offsets));
    read.pieces = vczi_alloc_zeroed(njobs, sizeof(*read.pieces));
    read.lengths = strings->offsets;
    if (strings->offsets == NULL || read.pieces == NULL) {
        ret = VCZC_ERR_NO_MEMORY;
        goto out;
    }
    ret = vczi_fetch_plan(plan, nthreads, decode_job, &read);
    if (ret == 0 && read.is_packed) {
        keep_offsets(&read, strings);
    } else if (ret == 0) {
        ret = sum_lengths(strings);
    }
    if (ret == 0 && plan->njobs != 0) {
        ret = join(&read, nthreads, strings);
    }
out:
    for (size_t i = 0; read.pieces != NULL && i < njobs; i++) {
        vczi_free(read.pieces[i].data);
    }
    vczi_free(read.pieces);
    if (ret != 0) {
        vczi_strings_clear(strings);
    }
    return ret;
}

static int check_variable(const vczc_array_t *array) {
    if (vczi_dtype_is_vlen(&array->doc->dtype)) {
        return vczi_array_check_decodes(array);
    }
    return vczi_fail(VCZC_ERR_ARGUMENT, "'%s' holds %s, not text of variable length", array->path,
                     vczi_dtype_name(&array->doc->dtype));
}

int vczi_array_read_strings_block(const vczc_array_t *array, const int64_t *coords, vczc_strings_t *strings) {
    vczi_plan_t plan;
    memset(strings, 0, sizeof(*strings));
    int ret = check_variable(array);
    if (ret == 0) {
        ret = vczi_array_check_coords(array, coords);
    }
    if (ret != 0) {
        return ret;
    }
    vczi_plan_init_block(&plan, array, coords);
    return read_plan(&plan, 1, strings);
}

int vczi_array_read_strings(const vczc_array_t *array, const vczc_selection_t *selection, vczc_strings_t *strings) {
    vczi_plan_t plan;
    memset(strings, 0, sizeof(*strings));
    int ret = check_variable(array);
    if (ret == 0) {
        ret = vczi_plan_init(&plan, array, selection, NULL);
    }
    if (ret != 0) {
        return ret;
    }
    return read_plan(&plan, selection == NULL ? 0 : selection->nthreads, strings);
}

void vczi_strings_clear(vczc_strings_t *strings) {
    vczi_free(strings->offsets);
    vczi_free(strings->data);
    memset(strings, 0, sizeof(*strings));
}
