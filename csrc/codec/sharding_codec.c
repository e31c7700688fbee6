/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The index is an array of its own, of shape (chunks along each axis …, 2) and type uint64, whose codecs may not change
 * its length: so its place is known before it is read. It is looked into where it lies; nothing is made of it. */
#include "sharding_codec.h"

#include <inttypes.h>
#include <string.h>

#include "checked.h"
#include "mem.h"
#include "status.h"
#include "swap.h"
#include "unvlen.h"

/* Offset and length of a chunk that is not there. */
#define ABSENT UINT64_MAX

#define NUMBER_NBYTES 8

/* ---- Layout ---- */

int vczi_sharding_set_layout(const vczi_codec_spec_t *spec, vczi_layout_t *layout) {
    layout->sharding = spec;
    return 0;
}

static int read_place(vczi_sharding_t *self, const vczi_json_t *config) {
    const vczi_json_t *place = vczi_json_member(config, "index_location");
    if (place == NULL || vczi_json_text_equals(place, "end")) {
        self->index_is_first = false;
    } else if (vczi_json_text_equals(place, "start")) {
        self->index_is_first = true;
    } else {
        return vczi_fail(VCZC_ERR_METADATA, "the 'index_location' of the codec 'sharding_indexed' must be \"start\" or "
                                            "\"end\"");
    }
    return 0;
}

/* The chain of the index: pairs of numbers in C order of the shard's chunks. */
static int init_index(vczi_sharding_t *self, const vczi_json_t *config) {
    static const vczi_dtype_t uint64 = {
        .kind = VCZC_UINT64, .item_nbytes = NUMBER_NBYTES, .unit_nbytes = NUMBER_NBYTES};
    vczi_codec_spec_t codecs[VCZI_MAX_CODECS];
    int64_t shape[VCZC_MAX_NDIM];
    const int ndim = self->grid.ndim;
    vczi_chain_spec_t spec = {.ndim = ndim + 1, .chunks = shape, .dtype = &uint64, .codecs = codecs};
    if (ndim == VCZC_MAX_NDIM || !vczi_mul_i64(self->grid.nchunks, 2, &spec.chunk_nitems)) {
        return vczi_fail(VCZC_ERR_UNSUPPORTED, "a shard of %d axes and %" PRId64 " chunks is not read", ndim,
                         self->grid.nchunks);
    }
    memcpy(shape, self->grid.counts, (size_t) ndim * sizeof(shape[0]));
    shape[ndim] = 2;
    spec.max_chunk_nbytes = INT64_MAX; /* it is read where it lies: what is stored bounds it */
    spec.depth = VCZI_MAX_SHARD_DEPTH; /* no shards in here */
    int ret = vczi_document_read_codecs(config, "index_codecs", "the codec 'sharding_indexed'", codecs, &spec.ncodecs);
    if (ret == 0) {
        ret = vczi_chain_init(&self->index, &spec);
    }
    if (ret == 0 && !vczi_chain_has_fixed_size(&self->index, &self->index_nbytes)) {
        ret = vczi_fail(VCZC_ERR_UNSUPPORTED,
                        "an index whose codecs change its length is not read: its last one is "
                        "'%s'",
                        codecs[spec.ncodecs - 1].name);
    }
    return ret == 0 ? 0 : vczi_fail_prefix(ret, "the index of the shards");
}

/* The chunks of a shard. */
static int init_inner(const vczi_sharding_t *self, vczi_chain_t *inner, const vczi_json_t *config,
                      const vczi_chain_spec_t *outer) {
    vczi_codec_spec_t codecs[VCZI_MAX_CODECS];
    vczi_chain_spec_t spec = *outer;
    spec.chunks = self->grid.chunks;
    spec.chunk_nitems = self->grid.chunk_nitems;
    spec.codecs = codecs;
    spec.depth = outer->depth + 1;
    const int ret = vczi_document_read_codecs(config, "codecs", "the codec 'sharding_indexed'", codecs, &spec.ncodecs);
    return ret == 0 ? vczi_chain_init(inner, &spec) : ret;
}

static int init_grid(vczi_sharding_t *self, const vczi_json_t *config, const vczi_chain_spec_t *outer) {
    int64_t chunks[VCZC_MAX_NDIM];
    vczi_grid_t one;
    int ndim = 0;
    int ret = vczi_document_read_lengths(config, "chunk_shape", "the codec 'sharding_indexed'", &ndim, chunks);
    if (ret == 0) {
        ret = vczi_grid_init(&one, outer->ndim, outer->chunks, outer->chunks);
    }
    return ret == 0 ? vczi_grid_init_inner(&self->grid, &one, ndim, chunks) : ret;
}

int vczi_sharding_init(vczi_sharding_t *self, vczi_chain_t *inner, const vczi_codec_spec_t *spec,
                       const vczi_chain_spec_t *outer) {
    memset(self, 0, sizeof(*self));
    if (inner != NULL) {
        memset(inner, 0, sizeof(*inner));
    }
    if (outer->depth >= VCZI_MAX_SHARD_DEPTH) {
        return vczi_fail(VCZC_ERR_UNSUPPORTED, "shards in shards more than %d deep, or in an index, are not read",
                         VCZI_MAX_SHARD_DEPTH);
    }
    int ret = init_grid(self, spec->config, outer);
    if (ret == 0) ret = read_place(self, spec->config);
    if (ret == 0) ret = init_index(self, spec->config);
    if (ret == 0 && inner != NULL) ret = init_inner(self, inner, spec->config, outer);
    if (ret != 0) {
        memset(self, 0, sizeof(*self)); /* the index's chain owns nothing */
    }
    return ret;
}

/* ---- The index ---- */

int vczi_sharding_place_index(const vczi_sharding_t *self, uint64_t shard_nbytes, uint64_t *offset) {
    if (shard_nbytes < self->index_nbytes) {
        return vczi_fail(VCZC_ERR_CORRUPT, "a shard of %" PRIu64 " bytes is too small for its index of %zu",
                         shard_nbytes, self->index_nbytes);
    }
    *offset = self->index_is_first ? 0 : shard_nbytes - self->index_nbytes;
    return 0;
}

int vczi_sharding_view_index(const vczi_sharding_t *self, vczi_span_t stored, vczi_span_t *numbers,
                             vczi_scratch_t *scratch) {
    const int ret = vczi_chain_view(&self->index, stored, numbers, scratch);
    return ret == 0 ? 0 : vczi_fail_prefix(ret, "the index of the shard");
}

static uint64_t load_number(const vczi_sharding_t *self, const uint8_t *at) {
    uint64_t number;
    memcpy(&number, at, sizeof(number));
    if (self->index.must_swap) {
        vczi_swap(&number, 1, sizeof(number));
    }
    return number;
}

int vczi_sharding_find(const vczi_sharding_t *self, vczi_span_t numbers, uint64_t shard_nbytes, const int64_t *coords,
                       uint64_t *offset, size_t *nbytes) {
    const int ndim = self->grid.ndim;
    int64_t place = 0;
    for (int i = 0; i < ndim; i++) {
        place += coords[i] * self->index.strides[i];
    }
    const uint8_t *pair = numbers.data + place * NUMBER_NBYTES; /* the view has been checked to hold every pair */
    const uint64_t length = load_number(self, pair + self->index.strides[ndim] * NUMBER_NBYTES);
    *offset = load_number(self, pair);
    if (*offset == ABSENT && length == ABSENT) {
        return VCZC_ERR_NOT_FOUND;
    }
    if (*offset > shard_nbytes || length > shard_nbytes - *offset || length > SIZE_MAX) {
        return vczi_fail(VCZC_ERR_CORRUPT,
                         "the index says that the chunk has %" PRIu64 " bytes at %" PRIu64
                         ", and the shard has %" PRIu64,
                         length, *offset, shard_nbytes);
    }
    *nbytes = (size_t) length;
    return 0;
}

/* ---- A shard in a chain ---- */

vczi_shard_t *vczi_shard_open(const vczi_codec_spec_t *codec, const vczi_chain_spec_t *spec,
                              const vczi_layout_t *layout, int *ret) {
    int64_t chunks[VCZC_MAX_NDIM];
    vczi_chain_spec_t outer = *spec;
    vczi_shard_t *self = vczi_alloc_zeroed(1, sizeof(*self));
    if (self == NULL) {
        *ret = VCZC_ERR_NO_MEMORY;
        return NULL;
    }
    for (int i = 0; i < spec->ndim; i++) {
        self->axes[i] = layout->axes[i];
        chunks[i] = spec->chunks[layout->axes[i]];
    }
    outer.chunks = chunks;
    self->fill = spec->fill;
    self->fill_nbytes = spec->fill_nbytes;
    *ret = vczi_sharding_init(&self->sharding, &self->inner, codec, &outer);
    if (*ret != 0) {
        vczi_free(self);
        return NULL;
    }
    return self;
}

void vczi_shard_close(vczi_shard_t *shard) {
    if (shard != NULL) {
        vczi_chain_clear(&shard->inner);
        vczi_free(shard);
    }
}

/* The shard that is being decoded. Its chunks need a scratch of their own: the shard's bytes may lie in the caller's.
 */
typedef struct {
    const vczi_shard_t *shard;
    vczi_span_t bytes;
    vczi_span_t numbers; /* of the index */
    vczi_scratch_t *scratch;
} reading_t;

static int reading_begin(reading_t *reading, const vczi_shard_t *shard, vczi_span_t bytes) {
    const vczi_sharding_t *sharding = &shard->sharding;
    uint64_t offset = 0;
    *reading = (reading_t){.shard = shard, .bytes = bytes, .scratch = vczi_scratch_borrow()};
    if (reading->scratch == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    int ret = vczi_sharding_place_index(sharding, bytes.nbytes, &offset);
    if (ret == 0) {
        const vczi_span_t index = vczi_span(bytes.data + offset, sharding->index_nbytes);
        ret = vczi_sharding_view_index(sharding, index, &reading->numbers, reading->scratch);
    }
    return ret;
}

static void reading_end(reading_t *reading) {
    vczi_scratch_return(reading->scratch);
}

/* The stored bytes of one chunk. VCZC_ERR_NOT_FOUND where it is absent. */
static int find_chunk(const reading_t *reading, const int64_t *coords, vczi_span_t *stored) {
    uint64_t offset = 0;
    size_t nbytes = 0;
    const int ret = vczi_sharding_find(&reading->shard->sharding, reading->numbers, reading->bytes.nbytes, coords,
                                       &offset, &nbytes);
    if (ret == 0) {
        *stored = vczi_span(reading->bytes.data + offset, nbytes);
    }
    return ret;
}

/* The next of the chunks [first, last) along each axis. */
static bool next_coords(int ndim, const int64_t *first, const int64_t *last, int64_t *coords) {
    for (int i = ndim - 1; i >= 0; i--) {
        if (++coords[i] < last[i]) {
            return true;
        }
        coords[i] = first[i];
    }
    return false;
}

/* ---- Items of fixed size ---- */

/* A request in the shard's own axes, and the chunks that it touches. */
typedef struct {
    vczi_request_t request;
    int64_t stop[VCZC_MAX_NDIM];
    int64_t first_chunk[VCZC_MAX_NDIM], last_chunk[VCZC_MAX_NDIM];
} wanted_t;

static void find_wanted(const vczi_shard_t *shard, const vczi_request_t *request, wanted_t *wanted) {
    const vczi_grid_t *grid = &shard->sharding.grid;
    wanted->request.out.ndim = grid->ndim;
    wanted->request.out.item_nbytes = request->out.item_nbytes;
    for (int i = 0; i < grid->ndim; i++) {
        const int axis = shard->axes[i];
        const int64_t first = request->first[axis];
        wanted->request.first[i] = first;
        wanted->request.step[i] = request->step[axis];
        wanted->request.out.shape[i] = request->out.shape[axis];
        wanted->request.out.strides[i] = request->out.strides[axis];
        wanted->stop[i] = first + (request->out.shape[axis] - 1) * request->step[axis] + 1;
        vczi_grid_range(grid, i, first, wanted->stop[i], &wanted->first_chunk[i], &wanted->last_chunk[i]);
    }
}

/* What is wanted of one chunk; false where a long step passes it over. */
static bool cut_request(const vczi_grid_t *grid, const wanted_t *wanted, const int64_t *coords, vczi_request_t *cut,
                        int64_t *place) {
    cut->out.ndim = grid->ndim;
    cut->out.item_nbytes = wanted->request.out.item_nbytes;
    *place = 0;
    for (int i = 0; i < grid->ndim; i++) {
        const vczi_cut_t axis =
            vczi_grid_cut(grid, i, coords[i], wanted->request.first[i], wanted->stop[i], wanted->request.step[i]);
        if (axis.count == 0) {
            return false;
        }
        cut->first[i] = axis.first;
        cut->step[i] = axis.count == 1 ? 1 : wanted->request.step[i];
        cut->out.shape[i] = axis.count;
        cut->out.strides[i] = wanted->request.out.strides[i];
        *place += axis.place * wanted->request.out.strides[i];
    }
    return true;
}

static int decode_chunk(const reading_t *reading, const wanted_t *wanted, const int64_t *coords, char *out) {
    const vczi_shard_t *shard = reading->shard;
    vczi_span_t stored = {NULL, 0};
    vczi_request_t cut;
    int64_t place = 0;
    if (!cut_request(&shard->sharding.grid, wanted, coords, &cut, &place)) {
        return 0;
    }
    const int ret = find_chunk(reading, coords, &stored);
    if (ret == VCZC_ERR_NOT_FOUND) {
        vczi_ndfill(out + place, &cut.out, shard->fill);
        return 0;
    }
    return ret != 0 ? ret : vczi_chain_decode(&shard->inner, stored, &cut, out + place, NULL, reading->scratch);
}

int vczi_shard_decode(const vczi_shard_t *shard, vczi_span_t bytes, const vczi_request_t *request, void *out) {
    wanted_t wanted;
    reading_t reading;
    int64_t coords[VCZC_MAX_NDIM];
    find_wanted(shard, request, &wanted);
    memcpy(coords, wanted.first_chunk, sizeof(coords));
    int ret = reading_begin(&reading, shard, bytes);
    if (ret == 0) {
        do {
            ret = decode_chunk(&reading, &wanted, coords, out);
        } while (ret == 0 && next_coords(shard->sharding.grid.ndim, wanted.first_chunk, wanted.last_chunk, coords));
    }
    reading_end(&reading);
    return ret;
}

/* ---- Items of variable length ---- */

/* The items of all chunks, in the order in which one chunk of the shard's shape would hold them. */
typedef struct {
    uint64_t *places; /* of each item in `bytes` */
    uint32_t *lengths;
    uint8_t *bytes;
    size_t nbytes, room;
    size_t max_nbytes;
} texts_t;

static int texts_append(texts_t *texts, vczi_span_t item, size_t number) {
    if (item.nbytes > texts->max_nbytes - texts->nbytes || item.nbytes > UINT32_MAX) {
        return vczi_fail(VCZC_ERR_CORRUPT, "the texts of the shard have more than the %zu bytes that are allowed",
                         texts->max_nbytes);
    }
    if (item.nbytes > texts->room - texts->nbytes) {
        size_t room = 0;
        if (!vczi_mul_size(texts->nbytes, 2, &room) || !vczi_add_size(room, item.nbytes, &room)) {
            return vczi_fail_memory(SIZE_MAX);
        }
        uint8_t *bytes = vczi_realloc(texts->bytes, room, 1);
        if (bytes == NULL) {
            return VCZC_ERR_NO_MEMORY;
        }
        texts->bytes = bytes;
        texts->room = room;
    }
    texts->places[number] = texts->nbytes;
    texts->lengths[number] = (uint32_t) item.nbytes;
    if (item.nbytes != 0) {
        memcpy(texts->bytes + texts->nbytes, item.data, item.nbytes);
    }
    texts->nbytes += item.nbytes;
    return 0;
}

/* The items of one chunk, each to its number in the shard. `items` is NULL where all are the fill value. */
static int place_texts(const vczi_shard_t *shard, const int64_t *coords, const vczi_span_t *items, texts_t *texts) {
    const vczi_grid_t *grid = &shard->sharding.grid;
    const int64_t none[VCZC_MAX_NDIM] = {0};
    int64_t index[VCZC_MAX_NDIM] = {0};
    int ret = 0;
    do {
        int64_t item = 0, number = 0;
        for (int i = 0; i < grid->ndim; i++) {
            item += index[i] * shard->inner.strides[i];
            number = number * grid->shape[i] + coords[i] * grid->chunks[i] + index[i];
        }
        const vczi_span_t fill = vczi_span(shard->fill, shard->fill_nbytes);
        ret = texts_append(texts, items == NULL ? fill : items[item], (size_t) number);
    } while (ret == 0 && next_coords(grid->ndim, none, grid->chunks, index));
    return ret;
}

static int read_texts(const reading_t *reading, const int64_t *coords, texts_t *texts) {
    const vczi_chain_t *inner = &reading->shard->inner;
    const vczi_span_t *items = NULL;
    vczi_span_t stored = {NULL, 0}, raw = {NULL, 0};
    int ret = find_chunk(reading, coords, &stored);
    if (ret == VCZC_ERR_NOT_FOUND) {
        return place_texts(reading->shard, coords, NULL, texts);
    }
    if (ret == 0) ret = vczi_chain_decode_vlen(inner, stored, &raw, reading->scratch);
    if (ret == 0) ret = vczi_chain_read_items(inner, raw, &items, reading->scratch);
    return ret == 0 ? place_texts(reading->shard, coords, items, texts) : ret;
}

/* As numcodecs lays them out: the count, then each length and item. */
static int write_texts(const texts_t *texts, size_t nitems, int which, vczi_scratch_t *scratch, vczi_span_t *raw) {
    const size_t nbytes = 4 + 4 * nitems + texts->nbytes; /* no more than twice max_nbytes: texts_open */
    uint8_t *out = vczi_scratch_buffer(scratch, which, nbytes);
    if (out == NULL) {
        return VCZC_ERR_NO_MEMORY;
    }
    *raw = vczi_span(out, nbytes);
    vczi_store_u32le(out, (uint32_t) nitems);
    out += 4;
    for (size_t i = 0; i < nitems; i++) {
        vczi_store_u32le(out, texts->lengths[i]);
        if (texts->lengths[i] != 0) {
            memcpy(out + 4, texts->bytes + texts->places[i], texts->lengths[i]);
        }
        out += 4 + (size_t) texts->lengths[i];
    }
    return 0;
}

static int texts_open(texts_t *texts, int64_t nitems, size_t max_nbytes) {
    *texts = (texts_t){.max_nbytes = max_nbytes};
    if (nitems > UINT32_MAX || (uint64_t) nitems > (max_nbytes - 4) / 4 || max_nbytes > SIZE_MAX / 2) {
        return vczi_fail(VCZC_ERR_CORRUPT, "a shard of %" PRId64 " texts has more than the %zu bytes that are allowed",
                         nitems, max_nbytes);
    }
    texts->places = vczi_alloc_array((size_t) nitems, sizeof(*texts->places));
    texts->lengths = vczi_alloc_array((size_t) nitems, sizeof(*texts->lengths));
    return texts->places == NULL || texts->lengths == NULL ? VCZC_ERR_NO_MEMORY : 0;
}

static void texts_close(texts_t *texts) {
    vczi_free(texts->places);
    vczi_free(texts->lengths);
    vczi_free(texts->bytes);
}

int vczi_shard_decode_vlen(const vczi_shard_t *shard, vczi_span_t bytes, size_t max_nbytes, int which,
                           vczi_scratch_t *scratch, vczi_span_t *raw) {
    const vczi_grid_t *grid = &shard->sharding.grid;
    const int64_t none[VCZC_MAX_NDIM] = {0};
    int64_t coords[VCZC_MAX_NDIM] = {0}, nitems = 0;
    reading_t reading;
    texts_t texts = {0};
    int ret = reading_begin(&reading, shard, bytes);
    if (ret == 0 && !vczi_mul_i64(grid->nchunks, grid->chunk_nitems, &nitems)) {
        ret = vczi_fail_memory(SIZE_MAX);
    }
    if (ret == 0) {
        ret = texts_open(&texts, nitems, max_nbytes);
    }
    if (ret == 0) {
        do {
            ret = read_texts(&reading, coords, &texts);
        } while (ret == 0 && next_coords(grid->ndim, none, grid->counts, coords));
    }
    if (ret == 0) {
        ret = write_texts(&texts, (size_t) nitems, which, scratch, raw);
    }
    texts_close(&texts);
    reading_end(&reading);
    return ret;
}
