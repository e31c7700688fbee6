/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Blosc frames that c-blosc makes, beside what it was given and what it makes of damaged ones. */
#include "unblosc.h"

#include <stdlib.h>

#include <blosc.h>

#include "check.h"
#include "mem.h"
#include "status.h"
#include "unblosclz.h"
#include "unzstd.h"

#define MAX_NBYTES ((size_t) 3 << 20)
#define CANARY 0xC5

static uint8_t raw[MAX_NBYTES];
static uint8_t packed[2 * MAX_NBYTES];
static vczi_scratch_t *scratch;

static uint32_t state = 1;

static uint32_t next_random(void) {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static size_t random_below(size_t bound) {
    return bound == 0 ? 0 : next_random() % bound;
}

enum { DATA_GENOTYPES, DATA_MISSING, DATA_COUNTS, DATA_NOISE, DATA_ZEROS, DATA_ONES, DATA_ALL_MISSING, DATA_KINDS };

static void fill_raw(int kind, size_t nbytes, size_t item_nbytes) {
    for (size_t i = 0; i < nbytes; i++) {
        const uint32_t random = next_random();
        switch (kind) {
            case DATA_GENOTYPES:
                raw[i] = random % 11 == 0;
                break;
            case DATA_MISSING:
                raw[i] = (uint8_t) (random % 7 == 0 ? 0xFF : random / 7 % 3);
                break;
            case DATA_COUNTS:
                raw[i] = (uint8_t) (i % item_nbytes == 0 ? random % 60 : 0);
                break;
            case DATA_NOISE:
                raw[i] = (uint8_t) (random >> 4);
                break;
            default:
                raw[i] = (uint8_t) (kind == DATA_ZEROS ? 0 : kind == DATA_ONES ? 1 : 0xFF);
        }
    }
}

/* As numcodecs sets it. */
static void split_as_usual(void) {
    blosc_set_splitmode(BLOSC_FORWARD_COMPAT_SPLIT);
}

static size_t pack(const char *codec, int level, int filter, size_t item_nbytes, size_t nbytes, size_t block_nbytes) {
    const int made =
        blosc_compress_ctx(level, filter, item_nbytes, nbytes, raw, packed, sizeof(packed), codec, block_nbytes, 1);
    if (made <= 0) abort();
    return (size_t) made;
}

/* Bytes [start, stop) of the frame, into memory that ends there, and again through the block that is kept. */
static bool check_range(const vczi_frame_t *frame, vczi_kept_block_t *kept, size_t start, size_t stop) {
    uint8_t *out = malloc(32 + (stop - start));
    if (out == NULL) abort();
    memset(out, CANARY, 32 + (stop - start));
    bool is_right = CHECK_EQ(vczi_frame_decode(frame, start, stop, out + 32, scratch), 0);
    is_right = is_right && CHECK_MEM(out + 32, raw + start, stop - start);
    memset(out + 32, CANARY, stop - start);
    is_right = is_right && CHECK_EQ(vczi_frame_decode_kept(frame, start, stop, out + 32, kept, scratch), 0);
    is_right = is_right && CHECK_MEM(out + 32, raw + start, stop - start);
    for (int i = 0; i < 32; i++)
        is_right = is_right && CHECK_EQ(out[i], CANARY);
    if (!is_right) fprintf(stderr, "    bytes [%zu, %zu) of %zu\n", start, stop, frame->raw_nbytes);
    free(out);
    return is_right;
}

/* A frame in memory that ends with it, whole and in parts. */
static bool check_frame(size_t packed_nbytes, size_t nbytes) {
    vczi_frame_t frame;
    vczi_kept_block_t kept = {0};
    uint8_t *stored = malloc(packed_nbytes);
    if (stored == NULL) abort();
    memcpy(stored, packed, packed_nbytes);
    bool is_right = CHECK_EQ(vczi_frame_init(&frame, vczi_span(stored, packed_nbytes), nbytes), 0);
    is_right = is_right && check_range(&frame, &kept, 0, nbytes);
    for (int turn = 0; turn < 12 && is_right; turn++) {
        const size_t start = random_below(nbytes + 1);
        const size_t left = nbytes - start;
        const size_t wanted = random_below(turn % 3 == 0 ? left + 1 : turn % 3 == 1 ? 40 : 2000);
        is_right = check_range(&frame, &kept, start, start + (wanted < left ? wanted : left));
    }
    if (is_right && frame.is_copy) {
        const vczi_span_t view = vczi_frame_copy_view(&frame);
        is_right = CHECK_EQ(view.nbytes, nbytes) && CHECK_MEM(view.data, raw, nbytes);
    } else if (is_right) {
        is_right = CHECK_EQ(vczi_frame_copy_view(&frame).nbytes, 0);
    }
    if (!is_right) fprintf(stderr, "    %s\n", vczi_detail_view()->reason);
    vczi_kept_block_clear(&kept);
    free(stored);
    return is_right;
}

static const char *const codecs[] = {"blosclz", "lz4", "lz4hc", "zlib", "zstd"};
static const int filters[] = {BLOSC_NOSHUFFLE, BLOSC_SHUFFLE, BLOSC_BITSHUFFLE};

static bool check_settings(const char *codec, int filter, size_t item_nbytes, size_t nbytes) {
    static const int levels[] = {0, 1, 5, 7, 9};
    static const size_t blocks[] = {0, 0, 128, 1000, 4096, 20000};
    const int kind = (int) random_below(DATA_KINDS);
    const int level = levels[random_below(5)];
    const size_t block_nbytes = blocks[random_below(6)];
    fill_raw(kind, nbytes, item_nbytes);
    /* Not BLOSC_ALWAYS_SPLIT: c-blosc then splits what its decoder does not take to be split. */
    blosc_set_splitmode((int) (BLOSC_NEVER_SPLIT + random_below(3)));
    const size_t n = pack(codec, level, filter, item_nbytes, nbytes, block_nbytes);
    const bool is_right = check_frame(n, nbytes);
    if (!is_right) {
        fprintf(stderr, "    %s level %d, filter %d, %zu bytes of items of %zu in blocks of %zu, data %d\n", codec,
                level, filter, nbytes, item_nbytes, block_nbytes, kind);
    }
    return is_right;
}

static void test_all_settings(void) {
    static const size_t items[] = {1, 1, 2, 3, 4, 5, 8, 12, 15, 16, 17, 24, 40, 255};
    for (size_t c = 0; c < 5; c++) {
        for (size_t f = 0; f < 3; f++) {
            for (size_t i = 0; i < sizeof(items) / sizeof(*items); i++) {
                for (int turn = 0; turn < 8; turn++) {
                    const size_t nbytes = 1 + random_below(turn < 2 ? 300 : turn < 6 ? 20000 : 150000);
                    if (!check_settings(codecs[c], filters[f], items[i], nbytes)) return;
                }
            }
        }
    }
}

/* Blocks about as long as the shortest that are split. */
static void test_shortest_split_blocks(void) {
    for (size_t item_nbytes = 1; item_nbytes <= 17; item_nbytes++) {
        for (size_t nitems = 126; nitems <= 130; nitems++) {
            for (size_t c = 0; c < 5; c++) {
                fill_raw(DATA_COUNTS, 1200 * item_nbytes, item_nbytes);
                split_as_usual();
                const size_t nbytes = (1000 + random_below(100)) * item_nbytes;
                const size_t n = pack(codecs[c], 5, BLOSC_SHUFFLE, item_nbytes, nbytes, nitems * item_nbytes);
                if (!check_frame(n, nbytes)) {
                    fprintf(stderr, "    %s, %zu items of %zu in a block\n", codecs[c], nitems, item_nbytes);
                    return;
                }
            }
        }
    }
}

/* Frames as large as those of a store: planes whose zeros zstd writes as blocks of their own, which are not decoded. */
static void test_large_bit_shuffled(void) {
    for (int kind = 0; kind < DATA_KINDS; kind++) {
        for (size_t item_nbytes = 1; item_nbytes <= 4; item_nbytes++) {
            const size_t nbytes = MAX_NBYTES - random_below(40000) / 64 * 64;
            fill_raw(kind, nbytes, item_nbytes);
            const size_t n = pack("zstd", 7, BLOSC_BITSHUFFLE, item_nbytes, nbytes, 0);
            if (!check_frame(n, nbytes)) {
                fprintf(stderr, "    data %d, items of %zu\n", kind, item_nbytes);
                return;
            }
        }
    }
}

/* A last block with a byte behind its last item: it is in no plane, and zstd counts it among the zeros. Two planes of
 * more than 64 KB are all that zstd's first block of 128 KB needs, so that the others are left out. */
static void test_zeros_behind_the_planes(void) {
    const size_t block_nbytes = 1060000;
    const size_t nbytes = 2 * block_nbytes - 1600 + 1;
    fill_raw(DATA_NOISE, block_nbytes, 2); /* what is left in scratch is not zero */
    memset(raw + block_nbytes, 0, nbytes - block_nbytes);
    for (size_t i = block_nbytes; i < nbytes - 1; i += 14) {
        raw[i] = 1;
    }
    split_as_usual();
    check_frame(pack("zstd", 7, BLOSC_BITSHUFFLE, 2, nbytes, block_nbytes), nbytes);
}

/* The trimmed decoder says true things: what it leaves out is zero, and for genotypes it is most of the block. */
static void test_trimmed_zstd(void) {
    const size_t nbytes = (size_t) 512 << 10;
    static uint8_t whole[512 << 10];
    static uint8_t trimmed[512 << 10];
    split_as_usual();
    fill_raw(DATA_GENOTYPES, nbytes, 1);
    const size_t n = pack("zstd", 7, BLOSC_BITSHUFFLE, 1, nbytes, nbytes);
    REQUIRE(packed[2] == (4 << 5 | 1 << 4 | 4)); /* zstd, not split, bit-shuffled */
    const size_t offset = vczi_load_u32le(packed + 16);
    const vczi_span_t stream = vczi_span(packed + offset + 4, vczi_load_u32le(packed + offset));
    REQUIRE(offset + 4 + stream.nbytes == n);
    size_t nwritten = 0;
    memset(trimmed, CANARY, nbytes);
    CHECK_EQ(vczi_unzstd(stream, whole, nbytes, scratch), 0);
    CHECK_EQ(vczi_unzstd_trimmed(stream, trimmed, nbytes, &nwritten, scratch), 0);
    CHECK_EQ(nwritten, 128 << 10);
    CHECK_MEM(trimmed, whole, nwritten);
    for (size_t i = nwritten; i < nbytes; i++) {
        if (!CHECK_EQ(whole[i], 0)) return;
    }
    /* Any other size, or bytes behind, are refused as by the whole decoder. */
    CHECK_EQ(vczi_unzstd_trimmed(stream, trimmed, nbytes - 1, &nwritten, scratch), VCZC_ERR_CORRUPT);
    memset(packed + n, 0, 8);
    CHECK_EQ(vczi_unzstd_trimmed(vczi_span(stream.data, stream.nbytes + 8), trimmed, nbytes, &nwritten, scratch),
             VCZC_ERR_CORRUPT);
    for (size_t cut = 1; cut < 40; cut++) {
        const vczi_span_t shorter = vczi_span(stream.data, stream.nbytes - cut);
        CHECK_EQ(vczi_unzstd_trimmed(shorter, trimmed, nbytes, &nwritten, scratch), VCZC_ERR_CORRUPT);
    }
}

/* Frames by hand: a raw block of two bytes, and zeros that are too many, too few, all, or as many as it says. */
static void test_zstd_zeros_by_hand(void) {
    uint8_t frame[] = {0x28,     0xB5, 0x2F, 0xFD, 0xA0, 0, 0, 0, 0, 2 << 3, 0, 0, 7, 8, 1 | 1 << 1 | (100 & 31) << 3,
                       100 >> 5, 0,    0};
    const vczi_span_t stream = vczi_span(frame, sizeof(frame));
    static uint8_t out[200];
    for (size_t nbytes = 0; nbytes < 200; nbytes++) {
        size_t nwritten = 0;
        frame[5] = (uint8_t) nbytes;
        memset(out, CANARY, sizeof(out));
        const int ret = vczi_unzstd_trimmed(stream, out, nbytes, &nwritten, scratch);
        CHECK_EQ(ret, nbytes == 102 ? 0 : VCZC_ERR_CORRUPT);
        if (ret == 0) CHECK(nwritten == 2 && out[0] == 7 && out[1] == 8);
        for (size_t i = nbytes; i < sizeof(out); i++) {
            if (!CHECK_EQ(out[i], CANARY)) return;
        }
    }
}

static int init_with(size_t packed_nbytes, size_t nbytes, size_t at, uint32_t value, int width) {
    vczi_frame_t frame;
    uint8_t *stored = malloc(packed_nbytes);
    if (stored == NULL) abort();
    memcpy(stored, packed, packed_nbytes);
    for (int i = 0; i < width; i++)
        stored[at + (size_t) i] = (uint8_t) (value >> 8 * i);
    int ret = vczi_frame_init(&frame, vczi_span(stored, packed_nbytes), nbytes);
    if (ret == 0) {
        uint8_t *out = malloc(nbytes);
        if (out == NULL) abort();
        ret = vczi_frame_decode(&frame, 0, nbytes, out, scratch);
        free(out);
    }
    free(stored);
    return ret;
}

static void test_headers_that_lie(void) {
    static const struct {
        size_t at;
        int width;
        uint32_t value;
    } lies[] = {
        {0, 1, 0},           {0, 1, 1},           {0, 1, 3},           {0, 1, 255},        {1, 1, 0},   {1, 1, 2},
        {2, 1, 0xF1},        {2, 1, 0xB1},        {2, 1, 0x99},        {2, 1, 0x93},       {3, 1, 0},   {4, 4, 0},
        {4, 4, 19996},       {4, 4, 20004},       {4, 4, 0x7FFFFFFF},  {4, 4, 0xFFFFFFFF}, {8, 4, 0},   {8, 4, 1},
        {8, 4, 0x7FFFFFFF},  {8, 4, 0xFFFFFFFC},  {8, 4, 20004},       {12, 4, 0},         {12, 4, 15}, {12, 4, 16},
        {12, 4, 56},         {12, 4, 100},        {12, 4, 0xFFFFFFFF}, {16, 4, 0},         {16, 4, 16}, {16, 4, 55},
        {16, 4, 0x7FFFFFFF}, {16, 4, 0xFFFFFFF8},
    };
    for (size_t i = 0; i < 20000; i += 4)
        raw[i] = (uint8_t) (i / 4), raw[i + 1] = (uint8_t) (i / 1024), raw[i + 2] = raw[i + 3] = 0;
    split_as_usual();
    const size_t n = pack("zstd", 5, BLOSC_SHUFFLE, 4, 20000, 2048);
    REQUIRE(packed[2] == 0x91);
    CHECK_EQ(init_with(n, 20000, 0, 2, 1), 0); /* true */
    for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
        if (!CHECK_EQ(init_with(n, 20000, lies[i].at, lies[i].value, lies[i].width), VCZC_ERR_CORRUPT)) {
            fprintf(stderr, "    0x%x at byte %zu\n", (unsigned) lies[i].value, lies[i].at);
        }
    }
    CHECK_EQ(init_with(n, 20000, 12, (uint32_t) n + 1, 4), VCZC_ERR_CORRUPT);
    CHECK_EQ(init_with(n, 20000, 12, (uint32_t) n - 1, 4), VCZC_ERR_CORRUPT);
    CHECK_EQ(init_with(n, 20000, 16, (uint32_t) n - 3, 4), VCZC_ERR_CORRUPT);
    CHECK_EQ(init_with(n, 20000, 2, 0x51, 1), VCZC_ERR_UNSUPPORTED); /* snappy */
    CHECK_EQ(init_with(n, 19999, 0, 2, 1), VCZC_ERR_CORRUPT);
}

static uint8_t *frame_head(uint8_t flags, uint8_t item_nbytes, uint32_t raw_nbytes, uint32_t block_nbytes,
                           uint32_t stored_nbytes) {
    static uint8_t frame[64];
    const uint32_t sizes[] = {raw_nbytes, block_nbytes, stored_nbytes, 20, 16};
    memset(frame, 0, sizeof(frame));
    memcpy(frame, (const uint8_t[]){2, 1, flags, item_nbytes}, 4);
    for (int i = 0; i < 20; i++)
        frame[4 + i] = (uint8_t) (sizes[i / 4] >> 8 * (i % 4));
    return frame;
}

static void test_blocks_that_cannot_be(void) {
    vczi_frame_t frame;
    uint8_t out[16];
    /* One block of 16 bytes, stored as it is: fine behind the table, and not in it (c-blosc would take that). */
    uint8_t *bytes = frame_head(0x30, 1, 16, 16, 40);
    CHECK_EQ(vczi_frame_init(&frame, vczi_span(bytes, 40), 16), 0);
    CHECK_EQ(vczi_frame_decode(&frame, 0, 16, out, scratch), 0);
    CHECK_EQ(vczi_frame_decode(&frame, 1, 17, out, scratch), VCZC_ERR_INTERNAL);
    CHECK_EQ(vczi_frame_decode(&frame, 2, 1, out, scratch), VCZC_ERR_INTERNAL);
    bytes[16] = 16;
    CHECK_EQ(vczi_frame_init(&frame, vczi_span(bytes, 40), 16), VCZC_ERR_CORRUPT);
    bytes[16] = 36;
    CHECK_EQ(vczi_frame_init(&frame, vczi_span(bytes, 40), 16), 0);
    CHECK_EQ(vczi_frame_decode(&frame, 0, 16, out, scratch), VCZC_ERR_CORRUPT);
    bytes[16] = 37;
    CHECK_EQ(vczi_frame_init(&frame, vczi_span(bytes, 40), 16), VCZC_ERR_CORRUPT);
    /* Split blocks that are not whole items: c-blosc leaves bytes as they were. */
    CHECK_EQ(vczi_frame_init(&frame, vczi_span(frame_head(0x20, 4, 514, 514, 40), 40), 514), VCZC_ERR_CORRUPT);
    CHECK_EQ(vczi_frame_init(&frame, vczi_span(frame_head(0x30, 4, 514, 514, 40), 40), 514), 0);
    CHECK_EQ(vczi_frame_init(&frame, vczi_span(frame_head(0x20, 4, 512, 512, 40), 40), 512), 0);
    /* No raw bytes, and less stored than a header. */
    CHECK_EQ(vczi_frame_init(&frame, vczi_span(frame_head(0x20, 4, 0, 1, 15), 40), 0), VCZC_ERR_CORRUPT);
    CHECK_EQ(vczi_frame_init(&frame, vczi_span(frame_head(0x20, 4, 0, 1, 16), 40), 0), 0);
}

/* Both filters flagged: the byte-shuffle counts, but for items of one byte. */
static void test_both_filters(void) {
    for (size_t item_nbytes = 1; item_nbytes <= 4; item_nbytes++) {
        fill_raw(DATA_COUNTS, 4096 * item_nbytes, item_nbytes);
        const size_t n = pack("zstd", 5, item_nbytes == 1 ? BLOSC_BITSHUFFLE : BLOSC_SHUFFLE, item_nbytes,
                              4096 * item_nbytes, 1024 * item_nbytes);
        packed[2] |= 5;
        if (!check_frame(n, 4096 * item_nbytes)) return;
    }
}

/* As c-blosc reads them: it looks no further than the header says. */
static void test_bytes_behind_the_frame(void) {
    vczi_frame_t frame;
    fill_raw(DATA_COUNTS, 5000, 4);
    const size_t n = pack("lz4", 5, BLOSC_SHUFFLE, 4, 5000, 1000);
    memset(packed + n, 0xAB, 1000);
    CHECK_EQ(vczi_frame_init(&frame, vczi_span(packed, n + 1000), 5000), 0);
    CHECK_EQ(frame.stored.nbytes, n);
    check_frame(n + 1000, 5000);
}

static void test_no_bytes(void) {
    vczi_frame_t frame;
    size_t claimed = 1;
    const size_t n = pack("zstd", 5, BLOSC_SHUFFLE, 4, 0, 0);
    CHECK_EQ(vczi_frame_init(&frame, vczi_span(packed, n), 0), 0);
    CHECK_EQ(vczi_frame_decode(&frame, 0, 0, NULL, scratch), 0);
    CHECK_EQ(vczi_frame_raw_nbytes(vczi_span(packed, n), &claimed), 0);
    CHECK_EQ(claimed, 0);
    for (size_t i = 0; i < 16; i++) {
        CHECK_EQ(vczi_frame_init(&frame, vczi_span(packed, i), 0), VCZC_ERR_CORRUPT);
        CHECK_EQ(vczi_frame_raw_nbytes(vczi_span(packed, i), &claimed), VCZC_ERR_CORRUPT);
    }
}

/* 8 MB of 255 make the length of a BloscLZ match negative where it is kept in an int. */
static void test_endless_blosclz_match(void) {
    const size_t nbytes = (size_t) 12 << 20;
    uint8_t *stored = calloc(1, nbytes);
    uint8_t *out = malloc(nbytes);
    vczi_frame_t frame;
    REQUIRE(stored != NULL && out != NULL);
    memset(stored, 0xFF, nbytes);
    static const uint8_t head[] = {2, 1, 0x10, 1, 0, 0, 0xC0, 0, 0, 0, 0xC0, 0, 0, 0, 0xC0, 0, 20, 0, 0, 0};
    memcpy(stored, head, sizeof(head));
    const uint32_t stream_nbytes = (uint32_t) nbytes - 24;
    for (int i = 0; i < 4; i++)
        stored[20 + i] = (uint8_t) (stream_nbytes >> 8 * i);
    stored[24] = 0; /* one literal */
    CHECK_EQ(vczi_frame_init(&frame, vczi_span(stored, nbytes), nbytes), 0);
    CHECK_EQ(vczi_frame_decode(&frame, 0, nbytes, out, scratch), VCZC_ERR_CORRUPT);
    free(stored);
    free(out);
}

/* A literal, and a match that makes the rest of it, is no stream; with a literal behind the match it is one. */
static void test_blosclz_ends_with_literals(void) {
    static const uint8_t match[] = {0, 'a', 6 << 5, 0}, both[] = {0, 'a', 5 << 5, 0, 0, 'b'};
    uint8_t out[9];
    CHECK_EQ(vczi_unblosclz(vczi_span(match, sizeof(match)), out, 9), VCZC_ERR_CORRUPT);
    CHECK_EQ(vczi_unblosclz(vczi_span(both, sizeof(both)), out, 9), 0);
    CHECK_MEM(out, "aaaaaaaab", 9);
}

/* Every truncation, and many flipped bits: an error, or what c-blosc makes of it too. */
static bool check_damaged(const uint8_t *stored, size_t stored_nbytes, size_t nbytes) {
    vczi_frame_t frame;
    uint8_t *exact = malloc(stored_nbytes + 1);
    uint8_t *out = malloc(nbytes);
    bool is_right = true;
    if (exact == NULL || out == NULL) abort();
    memcpy(exact, stored, stored_nbytes);
    int ret = vczi_frame_init(&frame, vczi_span(exact, stored_nbytes), nbytes);
    if (ret == 0) ret = vczi_frame_decode(&frame, 0, nbytes, out, scratch);
    if (ret == 0) {
        uint8_t *theirs = malloc(nbytes);
        if (theirs == NULL) abort();
        is_right = CHECK_EQ(blosc_decompress_ctx(exact, theirs, nbytes, 1), nbytes) && CHECK_MEM(out, theirs, nbytes);
        free(theirs);
    } else {
        is_right = CHECK(ret == VCZC_ERR_CORRUPT || ret == VCZC_ERR_UNSUPPORTED);
    }
    free(exact);
    free(out);
    return is_right;
}

static void test_damaged_frames(void) {
    for (size_t c = 0; c < 5; c++) {
        for (size_t f = 0; f < 3; f++) {
            const size_t nbytes = 3000 + 4 * random_below(1000);
            fill_raw(DATA_COUNTS, nbytes, 4);
            blosc_set_splitmode((int) (BLOSC_NEVER_SPLIT + random_below(3)));
            const size_t n = pack(codecs[c], 5, filters[f], 4, nbytes, 1024);
            for (size_t cut = 0; cut < n; cut++) {
                if (!check_damaged(packed, cut, nbytes)) return;
            }
            for (int turn = 0; turn < 1000; turn++) {
                const size_t at = turn % 4 == 0 ? random_below(60) : random_below(n);
                const uint8_t before = packed[at];
                packed[at] ^= (uint8_t) (1u << random_below(8));
                const bool is_right = check_damaged(packed, n, nbytes);
                packed[at] = before;
                if (!is_right) {
                    fprintf(stderr, "    %s, filter %d, byte %zu\n", codecs[c], filters[f], at);
                    return;
                }
            }
        }
    }
}

#ifdef VCZI_TEST_FAULTS
static void test_failing_allocations(void) {
    uint8_t out[5000];
    vczi_frame_t frame;
    fill_raw(DATA_COUNTS, sizeof(out), 4);
    split_as_usual();
    for (size_t c = 0; c < 5; c++) {
        for (size_t f = 0; f < 3; f++) {
            const size_t n = pack(codecs[c], 5, filters[f], 4, sizeof(out), 1000);
            CHECK_EQ(vczi_frame_init(&frame, vczi_span(packed, n), sizeof(out)), 0);
            for (long countdown = 1; countdown < 20; countdown++) {
                vczi_scratch_t *fresh = vczi_scratch_borrow(); /* the other is lent: a new one each time */
                REQUIRE(fresh != NULL);
                vczi_test_fail_allocation(countdown);
                const int ret = vczi_frame_decode(&frame, 1, sizeof(out) - 1, out, fresh);
                vczi_test_fail_allocation(0);
                vczi_scratch_return(fresh);
                if (ret == 0) break;
                CHECK_EQ(ret, VCZC_ERR_NO_MEMORY);
            }
            CHECK_MEM(out, raw + 1, sizeof(out) - 2);
        }
    }
}
#endif

int main(void) {
    scratch = vczi_scratch_borrow();
    if (scratch == NULL) return 1;
    RUN(test_all_settings);
    RUN(test_shortest_split_blocks);
    RUN(test_large_bit_shuffled);
    RUN(test_zeros_behind_the_planes);
    RUN(test_trimmed_zstd);
    RUN(test_zstd_zeros_by_hand);
    RUN(test_headers_that_lie);
    RUN(test_blocks_that_cannot_be);
    RUN(test_both_filters);
    RUN(test_bytes_behind_the_frame);
    RUN(test_no_bytes);
    RUN(test_endless_blosclz_match);
    RUN(test_blosclz_ends_with_literals);
    RUN(test_damaged_frames);
#ifdef VCZI_TEST_FAULTS
    RUN(test_failing_allocations);
#endif
    vczi_scratch_return(scratch);
    return check_result();
}
