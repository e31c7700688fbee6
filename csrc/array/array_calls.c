/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The rows that are wanted are cut into jobs that lie in one row of chunks each; the columns into groups that lie in
 * one chunk each. What cannot be read block by block is decoded first, a chunk or some megabytes at a time. */
#include "array_calls.h"

#include <inttypes.h>
#include <string.h>

#include "array_fetch.h"
#include "array_read.h"
#include "ceilings.h"
#include "checked.h"
#include "items.h"
#include "mem.h"
#include "pages.h"
#include "pool.h"
#include "status.h"
#include "thread.h"

/* Less is not worth another thread: 100 µs of decoding. */
#define JOB_NBYTES ((int64_t) 1 << 20)

/* Jobs for each thread, so that the last round is a small share. */
#define JOBS_PER_THREAD 4
/* Jobs of one call: chunks of 1,000 variants, of all variants that there could be, are fewer. */
#define MAX_NJOBS ((int64_t) 1 << 26)

/* What is decoded at a time where it need not be a whole chunk; and where blocks are read as bytes. */
#define SLAB_NBYTES ((int64_t) 8 << 20)
#define PIECE_NBYTES ((size_t) 256 << 10)

/* Columns that lie in one chunk, in the order in which they are wanted. */
typedef struct {
    int64_t place; /* of the first, in the result */
    int64_t count;
    int64_t low, high; /* the columns lie in [low, high) */
    int64_t chunk;     /* -1 where they lie in several */
    bool is_range;     /* low, low + 1, … */
} group_t;

typedef struct {
    const vczc_array_t *array;
    const vczc_calls_t *calls;
    const vczi_calls_sink_t *sink;
    int64_t *cuts; /* rows of job j: [cuts[j], cuts[j + 1]), counted in the result */
    int64_t njobs;
    group_t *groups;
    int64_t ngroups;
    bool has_blocks;
    vczi_mutex_t mutex; /* of what all jobs add to */
} read_t;

/* ---- What is wanted ---- */

static int64_t row_at(const read_t *read, int64_t i) {
    return read->calls == NULL || read->calls->variants == NULL ? i : read->calls->variants[i];
}

static int check_numbers(const vczc_array_t *array, int axis, const int64_t *numbers, int64_t n, int64_t *count) {
    static const char *const names[2] = {"variant", "sample"};
    const int64_t length = array->doc->grid.shape[axis];
    *count = length;
    if (numbers == NULL) return 0;
    if (n < 0) return vczi_fail(VCZC_ERR_ARGUMENT, "the number of %ss is negative", names[axis]);
    *count = n;
    for (int64_t i = 0; i < n; i++) {
        if (numbers[i] < 0 || numbers[i] >= length) {
            return vczi_fail(VCZC_ERR_INDEX, "%s %" PRId64 " is not among the %" PRId64 " of '%s'", names[axis],
                             numbers[i], length, array->path);
        }
    }
    return 0;
}

int vczi_array_calls_shape(const vczc_array_t *array, const vczc_calls_t *calls, vczi_calls_sink_t *sink) {
    const vczi_grid_t *grid = &array->doc->grid;
    if (grid->ndim != 3 || vczi_items_allele_nbytes(array->info.dtype) == 0) {
        return vczi_fail(VCZC_ERR_ARGUMENT, "'%s' holds no genotypes: integers with axes of variants, samples, ploidy",
                         array->path);
    }
    sink->ploidy = grid->shape[2];
    int ret = check_numbers(array, 0, calls == NULL ? NULL : calls->variants, calls == NULL ? 0 : calls->nvariants,
                            &sink->nvariants);
    if (ret == 0) {
        ret = check_numbers(array, 1, calls == NULL ? NULL : calls->samples, calls == NULL ? 0 : calls->nsamples,
                            &sink->nsamples);
    }
    return ret;
}

/* The end of the job that begins with row `first` of the result: where the row of chunks, or its share, ends. */
static int64_t job_end(const read_t *read, int64_t first, int64_t max_rows) {
    const int64_t chunk = read->array->doc->grid.chunks[0];
    const int64_t left = read->sink->nvariants - first;
    const int64_t low = row_at(read, first) / chunk * chunk; /* of the array: no overflow */
    const int64_t limit = first + (left < max_rows ? left : max_rows);
    int64_t end = first + 1;
    if (read->calls == NULL || read->calls->variants == NULL) {
        return limit - low < chunk ? limit : low + chunk;
    }
    while (end < limit && read->calls->variants[end] >= low && read->calls->variants[end] - low < chunk)
        end++;
    return end;
}

/* Rows of no calls, of which there may be any number: what is counted is zero, and nothing else is written. */
static int take_no_calls(const vczi_calls_sink_t *sink) {
    vczi_calls_begin(sink, 0, sink->nvariants);
    return 0;
}

/* A description may claim any number of rows without storing one: what is worked off has a limit. */
static int check_rows(const read_t *read, int64_t max_rows) {
    const int64_t chunk = read->array->doc->grid.chunks[0];
    const bool is_all = read->calls == NULL || read->calls->variants == NULL;
    if (!is_all || read->sink->nvariants / (chunk < max_rows ? chunk : max_rows) < MAX_NJOBS) return 0;
    return vczi_fail(VCZC_ERR_UNSUPPORTED, "%" PRId64 " variants in chunks of %" PRId64 " are more than can be read",
                     read->sink->nvariants, chunk);
}

static int cut_rows(read_t *read, int nthreads) {
    const int64_t nrows = read->sink->nvariants;
    int64_t max_rows = INT64_MAX;
    size_t ncuts = 1;
    if (nthreads > 1 && read->has_blocks) {
        const int64_t row_nbytes = read->array->doc->grid.chunks[1] * read->sink->ploidy; /* of a chunk: no overflow */
        const int64_t share = nrows / ((int64_t) nthreads * JOBS_PER_THREAD) + 1;
        max_rows = row_nbytes < JOB_NBYTES ? JOB_NBYTES / (row_nbytes == 0 ? 1 : row_nbytes) : 1;
        max_rows = max_rows > share ? max_rows : share;
    }
    const int ret = check_rows(read, max_rows);
    if (ret != 0) return ret;
    for (int64_t i = 0; i < nrows; i = job_end(read, i, max_rows))
        ncuts++;
    read->cuts = vczi_alloc_array(ncuts, sizeof(*read->cuts));
    if (read->cuts == NULL) return VCZC_ERR_NO_MEMORY;
    read->cuts[0] = 0;
    for (int64_t i = 0; i < nrows; i = read->cuts[read->njobs])
        read->cuts[++read->njobs] = job_end(read, i, max_rows);
    return 0;
}

static void add_column(group_t *group, int64_t column) {
    group->is_range = group->is_range && column == group->low + group->count;
    group->low = column < group->low ? column : group->low;
    group->high = column >= group->high ? column + 1 : group->high;
    group->count++;
}

/* All columns: a group for each chunk. */
static void group_all(read_t *read) {
    const vczi_grid_t *grid = &read->array->doc->grid;
    for (int64_t c = 0; c < grid->counts[1]; c++) {
        const int64_t low = c * grid->chunks[1];
        const int64_t count = vczi_grid_cut(grid, 1, c, 0, grid->shape[1], 1).count;
        const group_t group = {low, count, low, low + count, c, true};
        read->groups[read->ngroups++] = group;
    }
}

/* One group for each chunk where the columns come chunk by chunk, else one for all. */
static void group_listed(read_t *read) {
    const int64_t chunk = read->array->doc->grid.chunks[1];
    const int64_t *columns = read->calls->samples;
    group_t all = {0, 0, columns[0], 0, -1, true};
    bool is_grouped = true;
    for (int64_t i = 0; i < read->sink->nsamples; i++) {
        const int64_t c = columns[i] / chunk;
        const int64_t last = read->ngroups == 0 ? -1 : read->groups[read->ngroups - 1].chunk;
        add_column(&all, columns[i]);
        is_grouped = is_grouped && c >= last;
        if (is_grouped && c > last) {
            const group_t group = {i, 0, columns[i], columns[i], c, true};
            read->groups[read->ngroups++] = group;
        }
        if (is_grouped) add_column(&read->groups[read->ngroups - 1], columns[i]);
    }
    if (!is_grouped) {
        read->groups[0] = all;
        read->ngroups = 1;
    }
}

static int group_columns(read_t *read) {
    const int64_t nchunks = read->array->doc->grid.counts[1], n = read->sink->nsamples;
    if (n == 0) return 0;
    read->groups = vczi_alloc_array((size_t) (nchunks < n ? nchunks : n), sizeof(*read->groups));
    if (read->groups == NULL) return VCZC_ERR_NO_MEMORY;
    if (read->calls == NULL || read->calls->samples == NULL) {
        group_all(read);
    } else {
        group_listed(read);
    }
    return 0;
}

/* ---- Block by block ---- */

/* A chunk whose blocks are looked at. */
typedef struct {
    const read_t *read;
    const vczi_calls_sink_t *sink; /* of the job */
    vczi_span_t stored;
    vczi_kept_block_t *kept;
    vczi_scratch_t *scratch;
    bool is_corrupt; /* the failure is the chunk's, not the request's */
} chunk_t;

/* How many of `nbytes` bytes from `at` on lie in the block that is held, in whole calls. */
static size_t held_nbytes(const chunk_t *chunk, size_t at, size_t nbytes) {
    const vczi_kept_block_t *kept = chunk->kept;
    if (!vczi_kept_block_holds(kept, at, at + 1)) return 0;
    const size_t left = kept->start + kept->block.raw_nbytes - at;
    const size_t held = nbytes < left ? nbytes : left;
    return held - held % (size_t) chunk->sink->ploidy;
}

/* The calls of as many of the bytes from `at` on as can be had at once; *ndone are then done with. */
static int take_some(chunk_t *chunk, vczi_calls_piece_t piece, size_t at, size_t nbytes, size_t *ndone) {
    const size_t ploidy = (size_t) chunk->sink->ploidy;
    const vczi_chain_t *chain = &chunk->read->array->chain;
    const vczi_shuffled_t *block = &chunk->kept->block;
    int ret = vczi_chain_hold_block(chain, chunk->stored, at, chunk->kept, chunk->scratch);
    chunk->is_corrupt = ret != 0;
    if (ret != 0) return ret;
    const size_t nheld = held_nbytes(chunk, at, nbytes);
    const size_t first = at - chunk->kept->start;
    piece.ncalls = (int64_t) (nheld / ploidy);
    *ndone = nheld;
    if (nheld != 0 && block->filter == VCZI_FILTER_NONE) {
        return vczi_calls_take_bytes(chunk->sink, piece, block->planes + first);
    }
    if (nheld != 0 && block->filter == VCZI_FILTER_BITS && block->item_nbytes == 1 &&
        vczi_calls_takes_planes(chunk->sink)) {
        return vczi_calls_take_planes(chunk->sink, piece, block, first);
    }
    const size_t max_nbytes = ploidy < PIECE_NBYTES ? PIECE_NBYTES - PIECE_NBYTES % ploidy : ploidy;
    *ndone = nbytes < max_nbytes ? nbytes : max_nbytes;
    uint8_t *buffer = vczi_scratch_buffer(chunk->scratch, VCZI_SCRATCH_CHUNK, *ndone);
    if (buffer == NULL) return VCZC_ERR_NO_MEMORY;
    ret = vczi_chain_read_bytes(chain, chunk->stored, at, at + *ndone, buffer, chunk->kept, chunk->scratch);
    chunk->is_corrupt = ret != 0;
    piece.ncalls = (int64_t) (*ndone / ploidy);
    return ret != 0 ? ret : vczi_calls_take_bytes(chunk->sink, piece, buffer);
}

/* Calls that lie one behind the other from byte `at` on. */
static int take_run(chunk_t *chunk, vczi_calls_piece_t piece, size_t at) {
    size_t nbytes = (size_t) piece.ncalls * (size_t) chunk->sink->ploidy; /* of a chunk: no overflow */
    int ret = 0;
    while (nbytes != 0 && ret == 0) {
        size_t ndone = 0;
        ret = take_some(chunk, piece, at, nbytes, &ndone);
        piece.sample += (int64_t) (ndone / (size_t) chunk->sink->ploidy);
        at += ndone;
        nbytes -= ndone;
    }
    return ret;
}

/* Columns in any order: the bytes between the outermost, and out of these the calls. */
static int take_columns(chunk_t *chunk, vczi_calls_piece_t piece, const group_t *group, size_t at) {
    const vczi_calls_sink_t *sink = chunk->sink;
    const size_t nbytes = (size_t) (group->high - group->low) * (size_t) sink->ploidy;
    uint8_t *buffer = vczi_scratch_buffer(chunk->scratch, VCZI_SCRATCH_CHUNK, nbytes);
    if (buffer == NULL) return VCZC_ERR_NO_MEMORY;
    const int ret = vczi_chain_read_bytes(&chunk->read->array->chain, chunk->stored, at, at + nbytes, buffer,
                                          chunk->kept, chunk->scratch);
    chunk->is_corrupt = ret != 0;
    if (ret != 0) return ret;
    const vczc_genotypes_t row = {buffer, VCZC_INT8, {1, group->high - group->low, sink->ploidy}, {0, sink->ploidy, 1}};
    return vczi_calls_take_items(sink, piece, &row, 0, chunk->read->calls->samples + group->place, group->low,
                                 chunk->scratch);
}

/* How many rows from `i` on follow one another in the chunk and in the result, and so are one run of calls. */
static int64_t count_joined(const read_t *read, const vczi_calls_sink_t *sink, const group_t *group, int64_t i,
                            int64_t end) {
    int64_t n = 1;
    if (!sink->is_packed || !group->is_range || group->count != read->array->doc->grid.chunks[1] ||
        group->count != sink->nsamples) {
        return 1;
    }
    while (i + n < end && row_at(read, i + n) == row_at(read, i) + n)
        n++;
    return n;
}

static int take_rows(chunk_t *chunk, const group_t *group, int64_t first, int64_t end) {
    const vczi_grid_t *grid = &chunk->read->array->doc->grid;
    const size_t row_nbytes = (size_t) grid->chunks[1] * (size_t) chunk->sink->ploidy;
    const size_t offset = (size_t) (group->low % grid->chunks[1]) * (size_t) chunk->sink->ploidy;
    int ret = 0;
    for (int64_t i = first; i < end && ret == 0;) {
        const int64_t n = count_joined(chunk->read, chunk->sink, group, i, end);
        const size_t at = (size_t) (row_at(chunk->read, i) % grid->chunks[0]) * row_nbytes + offset;
        const vczi_calls_piece_t piece = {i, group->place, n * group->count};
        ret = group->is_range ? take_run(chunk, piece, at) : take_columns(chunk, piece, group, at);
        i += n;
    }
    return ret;
}

/* All calls of an absent chunk are of the fill value. */
static int take_fill(const read_t *read, const vczi_calls_sink_t *sink, const group_t *group, int64_t first,
                     int64_t end, vczi_scratch_t *scratch) {
    const size_t nbytes = (size_t) group->count * (size_t) sink->ploidy;
    uint8_t *row = vczi_scratch_buffer(scratch, VCZI_SCRATCH_CHUNK, nbytes);
    int ret = row == NULL ? VCZC_ERR_NO_MEMORY : 0;
    if (ret == 0) memset(row, *(const uint8_t *) read->array->doc->fill, nbytes);
    for (int64_t i = first; i < end && ret == 0; i++) {
        const vczi_calls_piece_t piece = {i, group->place, group->count};
        ret = vczi_calls_take_bytes(sink, piece, row);
    }
    return ret;
}

static int read_blocks(const read_t *read, const vczi_calls_sink_t *sink, const group_t *group, int64_t first,
                       int64_t end, vczi_fetch_t *fetch) {
    const vczi_grid_t *grid = &read->array->doc->grid;
    const int64_t coords[3] = {row_at(read, first) / grid->chunks[0], group->chunk, 0};
    chunk_t chunk = {.read = read, .sink = sink, .scratch = fetch->scratch};
    int ret = vczi_fetch_chunk(fetch, coords, VCZI_FETCH_CHUNK, &chunk.stored);
    if (ret == VCZC_ERR_NOT_FOUND) return take_fill(read, sink, group, first, end, fetch->scratch);
    if (ret != 0) return ret;
    chunk.kept = vczi_kept_block_of_scratch(fetch->scratch);
    ret = chunk.kept == NULL ? VCZC_ERR_NO_MEMORY : take_rows(&chunk, group, first, end);
    return chunk.is_corrupt ? vczi_array_fail_chunk(read->array, ret, fetch->key, coords) : ret;
}

static int read_groups(const read_t *read, const vczi_calls_sink_t *sink, int64_t first, int64_t end) {
    vczi_fetch_t fetch;
    int ret = 0;
    vczi_scratch_t *scratch = vczi_scratch_borrow();
    if (scratch == NULL) return VCZC_ERR_NO_MEMORY;
    vczi_fetch_begin(&fetch, read->array, read->ngroups, scratch);
    for (int64_t g = 0; g < read->ngroups && ret == 0; g++)
        ret = read_blocks(read, sink, &read->groups[g], first, end, &fetch);
    if (ret == 0) ret = vczi_fetch_check(&fetch);
    vczi_fetch_end(&fetch);
    vczi_scratch_return(scratch);
    return ret;
}

/* ---- Slab by slab ---- */

/* Rows [low, high) of a group's columns, decoded, and of these the rows that are wanted. */
static int read_slab(const read_t *read, const vczi_calls_sink_t *sink, const group_t *group, int64_t first,
                     int64_t end, int64_t low, int64_t high) {
    const int64_t item_nbytes = (int64_t) vczi_items_allele_nbytes(read->array->info.dtype);
    const int64_t start[3] = {low, group->low, 0}, stop[3] = {high, group->high, sink->ploidy};
    const vczc_selection_t selection = {start, stop, NULL, 1};
    vczc_genotypes_t slab = {NULL, read->array->info.dtype, {high - low, group->high - group->low, sink->ploidy}, {0}};
    int64_t nitems = 0, nbytes = 0;
    size_t size = 0;
    if (!vczi_mul_i64(slab.shape[1], sink->ploidy, &nitems) || !vczi_mul_i64(nitems, item_nbytes, &slab.strides[0]) ||
        !vczi_mul_i64(slab.strides[0], slab.shape[0], &nbytes) || !vczi_i64_to_size(nbytes, &size)) {
        return vczi_fail_memory(SIZE_MAX);
    }
    slab.strides[1] = sink->ploidy * item_nbytes;
    slab.strides[2] = item_nbytes;
    void *memory = vczi_pages_alloc(size);
    if (memory == NULL) return VCZC_ERR_NO_MEMORY;
    slab.data = memory;
    int ret = vczi_array_read(read->array, &selection, memory, slab.strides);
    vczi_scratch_t *scratch = ret == 0 ? vczi_scratch_borrow() : NULL;
    if (ret == 0 && scratch == NULL) ret = VCZC_ERR_NO_MEMORY;
    for (int64_t i = first; i < end && ret == 0; i++) {
        const vczi_calls_piece_t piece = {i, group->place, group->count};
        const int64_t *columns = group->is_range ? NULL : read->calls->samples + group->place;
        ret = vczi_calls_take_items(sink, piece, &slab, row_at(read, i) - low, columns,
                                    columns == NULL ? 0 : group->low, scratch);
    }
    vczi_scratch_return(scratch);
    vczi_pages_free(memory, size);
    return ret;
}

/* How many rows may be decoded at a time: those of a chunk, where less costs as much. */
static int64_t slab_rows(const read_t *read, const group_t *group) {
    const int64_t item_nbytes = (int64_t) vczi_items_allele_nbytes(read->array->info.dtype);
    int64_t row_nbytes = 0;
    if (group->chunk >= 0 && !vczi_chain_can_decode_part(&read->array->chain)) return INT64_MAX;
    if (!vczi_mul_i64(group->high - group->low, read->sink->ploidy * item_nbytes, &row_nbytes)) return 1;
    return row_nbytes < SLAB_NBYTES ? SLAB_NBYTES / row_nbytes : 1;
}

static int read_slabs(const read_t *read, const vczi_calls_sink_t *sink, const group_t *group, int64_t first,
                      int64_t end) {
    const int64_t max_rows = slab_rows(read, group);
    int ret = 0;
    while (first < end && ret == 0) {
        int64_t low = row_at(read, first), high = low + 1, i = first + 1;
        for (; i < end; i++) {
            const int64_t row = row_at(read, i);
            const int64_t new_low = row < low ? row : low, new_high = row >= high ? row + 1 : high;
            if (new_high - new_low > max_rows) break;
            low = new_low;
            high = new_high;
        }
        ret = read_slab(read, sink, group, first, i, low, high);
        first = i;
    }
    return ret;
}

/* ---- Jobs ---- */

/* A sink for one job: it counts samples by itself. */
static int begin_job(const vczi_calls_sink_t *sink, vczi_calls_sink_t *own, int64_t first, int64_t end) {
    *own = *sink;
    vczi_calls_begin(sink, first, end);
    if (sink->of_samples != NULL) {
        own->of_samples = vczi_alloc_zeroed((size_t) sink->nsamples, sizeof(int64_t));
        return own->of_samples == NULL ? VCZC_ERR_NO_MEMORY : 0;
    }
    return 0;
}

/* Show what the job wrote, and add what it counted. */
static void end_job(const vczi_calls_sink_t *sink, vczi_calls_sink_t *own, vczi_mutex_t *mutex) {
    vczi_calls_end(own);
    if (own->of_samples != NULL) {
        vczi_mutex_lock(mutex);
        for (int64_t i = 0; i < sink->nsamples; i++)
            sink->of_samples[i] += own->of_samples[i];
        vczi_mutex_unlock(mutex);
        vczi_free(own->of_samples);
    }
}

/* Calls without alleles. */
static int take_nothing(const vczi_calls_sink_t *sink, int64_t first, int64_t end) {
    static const uint8_t nothing = 0;
    int ret = 0;
    for (int64_t i = first; i < end && ret == 0; i++) {
        const vczi_calls_piece_t piece = {i, 0, sink->nsamples};
        ret = vczi_calls_take_bytes(sink, piece, &nothing);
    }
    return ret;
}

static int read_job(void *user, int64_t job) {
    read_t *read = user;
    vczi_calls_sink_t sink;
    const int64_t first = read->cuts[job], end = read->cuts[job + 1];
    int ret = begin_job(read->sink, &sink, first, end);
    if (ret == 0 && sink.ploidy == 0) {
        ret = take_nothing(&sink, first, end);
    } else if (ret == 0 && read->has_blocks) {
        ret = read_groups(read, &sink, first, end);
    } else {
        for (int64_t g = 0; g < read->ngroups && ret == 0; g++)
            ret = read_slabs(read, &sink, &read->groups[g], first, end);
    }
    end_job(read->sink, &sink, &read->mutex);
    return ret;
}

int vczi_array_read_calls(const vczc_array_t *array, const vczc_calls_t *calls, const vczi_calls_sink_t *sink) {
    const vczi_grid_t *grid = &array->doc->grid;
    read_t read = {.array = array, .calls = calls, .sink = sink};
    int nthreads = calls == NULL ? 0 : calls->nthreads;
    nthreads = nthreads > 0 ? nthreads : vczi_pool_threads();
    if (sink->nvariants == 0) return 0;
    if (sink->nsamples == 0) return take_no_calls(sink);
    read.has_blocks =
        array->info.dtype == VCZC_INT8 && grid->chunks[2] == grid->shape[2] && vczi_chain_has_blocks(&array->chain);
    vczi_mutex_init(&read.mutex);
    int ret = cut_rows(&read, nthreads);
    if (ret == 0) ret = group_columns(&read);
    read.has_blocks = read.has_blocks && read.ngroups != 0 && read.groups[0].chunk >= 0;
    if (ret == 0) ret = vczi_pool_run(read.njobs, nthreads, read_job, &read);
    vczi_mutex_destroy(&read.mutex);
    vczi_free(read.groups);
    vczi_free(read.cuts);
    return ret;
}

/* ---- Memory ---- */

typedef struct {
    const vczc_genotypes_t *genotypes;
    const vczi_calls_sink_t *sink;
    int64_t job_nrows;
    vczi_mutex_t mutex;
} memory_t;

static int take_memory(const memory_t *memory, const vczi_calls_sink_t *sink, int64_t first, int64_t end,
                       vczi_scratch_t *scratch) {
    int ret = 0;
    for (int64_t i = first; i < end && ret == 0; i++) {
        const vczi_calls_piece_t piece = {i, 0, sink->nsamples};
        ret = vczi_calls_take_items(sink, piece, memory->genotypes, i, NULL, 0, scratch);
    }
    return ret;
}

static int memory_job(void *user, int64_t job) {
    memory_t *memory = user;
    vczi_calls_sink_t sink;
    const int64_t first = job * memory->job_nrows, left = memory->sink->nvariants - first;
    const int64_t end = first + (left < memory->job_nrows ? left : memory->job_nrows);
    vczi_scratch_t *scratch = vczi_scratch_borrow();
    if (scratch == NULL) return VCZC_ERR_NO_MEMORY;
    int ret = begin_job(memory->sink, &sink, first, end);
    if (ret == 0) {
        ret = sink.ploidy == 0 ? take_nothing(&sink, first, end) : take_memory(memory, &sink, first, end, scratch);
    }
    end_job(memory->sink, &sink, &memory->mutex);
    vczi_scratch_return(scratch);
    return ret;
}

int vczi_read_calls(const vczc_genotypes_t *genotypes, int nthreads, const vczi_calls_sink_t *sink) {
    memory_t memory = {.genotypes = genotypes, .sink = sink};
    int64_t row_nitems = 0;
    if (sink->nvariants == 0) return 0;
    if (sink->nsamples == 0) return take_no_calls(sink);
    if (!vczi_mul_i64(sink->nsamples, sink->ploidy, &row_nitems)) row_nitems = INT64_MAX;
    memory.job_nrows = row_nitems < JOB_NBYTES ? JOB_NBYTES / (row_nitems == 0 ? 1 : row_nitems) : 1;
    vczi_mutex_init(&memory.mutex);
    const int64_t njobs = (sink->nvariants - 1) / memory.job_nrows + 1;
    const int ret = vczi_pool_run(njobs, nthreads, memory_job, &memory);
    vczi_mutex_destroy(&memory.mutex);
    return ret;
}
