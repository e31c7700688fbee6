/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* The byte kernels that need no decoder: strided copies, byte order, checksums, items of variable length. */
#include <stdlib.h>

#include "check.h"
#include "crc32c.h"
#include "ndcopy.h"
#include "status.h"
#include "swap.h"
#include "unvlen.h"

static uint32_t random_state = 12345;

static uint32_t random_below(uint32_t limit) {
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % limit;
}

/* ---- ndcopy ---- */

#define MAX_NDIM 4
#define MAX_LENGTH 41

/* A box in memory of its exact size: axes in a random order, some stepped, some backwards. */
typedef struct {
    uint8_t *memory;
    uint8_t *first; /* the item at index 0 */
    size_t nbytes;
    int64_t strides[MAX_NDIM];
} place_t;

static place_t random_place(int ndim, const int64_t *shape, size_t item_nbytes) {
    place_t place = {0};
    int axes[MAX_NDIM] = {0, 1, 2, 3};
    int64_t stride = (int64_t) item_nbytes, begin = 0;
    for (int i = ndim - 1; i > 0; i--) {
        const int j = (int) random_below((uint32_t) i + 1);
        const int axis = axes[i];
        axes[i] = axes[j];
        axes[j] = axis;
    }
    for (int i = ndim - 1; i >= 0; i--) {
        const int axis = axes[i];
        stride *= random_below(4) == 0 ? 2 : 1;
        place.strides[axis] = stride;
        if (random_below(5) == 0) {
            place.strides[axis] = -stride;
            begin += stride * (shape[axis] - 1);
        }
        stride *= shape[axis];
    }
    place.nbytes = (size_t) stride;
    place.memory = malloc(place.nbytes == 0 ? 1 : place.nbytes);
    if (place.memory != NULL) {
        memset(place.memory, 0xEE, place.nbytes);
    }
    place.first = place.memory + begin;
    return place;
}

static int64_t offset_of(int ndim, const int64_t *shape, const int64_t *strides, int64_t item) {
    int64_t offset = 0;
    for (int i = ndim - 1; i >= 0; i--) {
        offset += item % shape[i] * strides[i];
        item /= shape[i];
    }
    return offset;
}

/* One copy, beside one that goes item by item; bytes between the items must stay. */
static bool copy_is_right(int ndim, const int64_t *shape, size_t item_nbytes) {
    int64_t nitems = 1;
    bool is_right = true;
    vczi_box_t box = {.ndim = ndim, .item_nbytes = item_nbytes};
    for (int i = 0; i < ndim; i++) {
        nitems *= shape[i];
        box.shape[i] = shape[i];
    }
    place_t in = random_place(ndim, shape, item_nbytes), out = random_place(ndim, shape, item_nbytes);
    uint8_t *expected = malloc(out.nbytes == 0 ? 1 : out.nbytes);
    if (in.memory == NULL || out.memory == NULL || expected == NULL) {
        is_right = false;
    } else {
        memcpy(box.strides, out.strides, sizeof(out.strides));
        for (size_t i = 0; i < in.nbytes; i++) {
            in.memory[i] = (uint8_t) random_below(256);
        }
        memset(expected, 0xEE, out.nbytes);
        for (int64_t i = 0; i < nitems; i++) {
            memcpy(expected + (out.first - out.memory) + offset_of(ndim, shape, out.strides, i),
                   in.first + offset_of(ndim, shape, in.strides, i), item_nbytes);
        }
        vczi_ndcopy(out.first, &box, in.first, in.strides);
        is_right = CHECK_MEM(out.memory, expected, out.nbytes);
    }
    free(in.memory);
    free(out.memory);
    free(expected);
    return is_right;
}

static void test_ndcopy_equals_item_by_item(void) {
    for (int round = 0; round < 3000; round++) {
        const int ndim = (int) random_below(MAX_NDIM + 1);
        int64_t shape[MAX_NDIM];
        for (int i = 0; i < ndim; i++) {
            shape[i] = random_below(20) == 0 ? 0 : 1 + random_below(ndim > 2 ? 9 : MAX_LENGTH);
        }
        if (!copy_is_right(ndim, shape, 1 + random_below(17))) {
            fprintf(stderr, "    round %d\n", round);
            return;
        }
    }
}

static void test_ndfill_equals_item_by_item(void) {
    for (int round = 0; round < 1000; round++) {
        const int ndim = (int) random_below(MAX_NDIM + 1);
        int64_t shape[MAX_NDIM], nitems = 1;
        uint8_t item[17];
        vczi_box_t box = {.ndim = ndim, .item_nbytes = 1 + random_below(17)};
        for (int i = 0; i < ndim; i++) {
            shape[i] = random_below(20) == 0 ? 0 : 1 + random_below(9);
            box.shape[i] = shape[i];
            nitems *= shape[i];
        }
        for (size_t i = 0; i < sizeof(item); i++) {
            item[i] = (uint8_t) (round % 3 == 0 ? 7 : random_below(256));
        }
        place_t out = random_place(ndim, shape, box.item_nbytes);
        uint8_t *expected = malloc(out.nbytes == 0 ? 1 : out.nbytes);
        REQUIRE(out.memory != NULL && expected != NULL);
        memcpy(box.strides, out.strides, sizeof(out.strides));
        memset(expected, 0xEE, out.nbytes);
        for (int64_t i = 0; i < nitems; i++) {
            memcpy(expected + (out.first - out.memory) + offset_of(ndim, shape, out.strides, i), item, box.item_nbytes);
        }
        vczi_ndfill(out.first, &box, item);
        const bool is_right = CHECK_MEM(out.memory, expected, out.nbytes);
        free(out.memory);
        free(expected);
        if (!is_right) return;
    }
}

static void test_contiguous(void) {
    vczi_box_t box = {.ndim = 3, .item_nbytes = 4, .shape = {2, 3, 5}};
    vczi_strides_c(3, box.shape, 4, box.strides);
    CHECK(vczi_box_is_contiguous(&box));
    CHECK_EQ(box.strides[0], 60);
    vczi_strides_f(3, box.shape, 4, box.strides);
    CHECK(!vczi_box_is_contiguous(&box));
    CHECK_EQ(box.strides[2], 24);
    box.shape[0] = box.shape[1] = 1; /* the strides of an axis of length 1 say nothing */
    box.strides[2] = 4;
    CHECK(vczi_box_is_contiguous(&box));
}

/* ---- swap ---- */

static void test_swap(void) {
    for (size_t item_nbytes = 1; item_nbytes <= 16; item_nbytes++) {
        for (size_t nitems = 0; nitems < 20; nitems++) {
            uint8_t items[16 * 20 + 1], expected[16 * 20 + 1];
            const bool is_swapped = item_nbytes == 2 || item_nbytes == 4 || item_nbytes == 8;
            for (size_t i = 0; i < sizeof(items); i++) {
                items[i] = expected[i] = (uint8_t) random_below(256);
            }
            for (size_t i = 0; is_swapped && i < nitems; i++) {
                for (size_t k = 0; k < item_nbytes; k++) {
                    expected[1 + i * item_nbytes + k] = items[1 + i * item_nbytes + item_nbytes - 1 - k];
                }
            }
            vczi_swap(items + 1, nitems, item_nbytes); /* at an odd address */
            if (!CHECK_MEM(items, expected, sizeof(items))) return;
        }
    }
}

/* ---- crc32c ---- */

/* RFC 3720, appendix B.4, and the usual check value. */
static void test_crc32c_known_values(void) {
    uint8_t bytes[32];
    CHECK_EQ(vczi_crc32c(vczi_span("123456789", 9)), 0xE3069283u);
    CHECK_EQ(vczi_crc32c(vczi_span(bytes, 0)), 0);
    memset(bytes, 0, sizeof(bytes));
    CHECK_EQ(vczi_crc32c(vczi_span(bytes, 32)), 0x8A9136AAu);
    memset(bytes, 0xFF, sizeof(bytes));
    CHECK_EQ(vczi_crc32c(vczi_span(bytes, 32)), 0x62A8AB43u);
    for (int i = 0; i < 32; i++) {
        bytes[i] = (uint8_t) i;
    }
    CHECK_EQ(vczi_crc32c(vczi_span(bytes, 32)), 0x46DD794Eu);
}

static uint32_t crc32c_by_bits(const uint8_t *data, size_t nbytes) {
    uint32_t crc = 0xFFFFFFFFu;
    for (size_t i = 0; i < nbytes; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78u : 0);
        }
    }
    return ~crc;
}

static void test_crc32c_of_every_length(void) {
    uint8_t bytes[300];
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (uint8_t) random_below(256);
    }
    for (size_t begin = 0; begin < 8; begin++) {
        for (size_t nbytes = 0; begin + nbytes <= sizeof(bytes); nbytes++) {
            const uint32_t got = vczi_crc32c(vczi_span(bytes + begin, nbytes));
            if (!CHECK_EQ(got, crc32c_by_bits(bytes + begin, nbytes))) return;
        }
    }
}

/* ---- vlen ---- */

/* "ab", "", "c" */
static const uint8_t three[] = {3, 0, 0, 0, 2, 0, 0, 0, 'a', 'b', 0, 0, 0, 0, 1, 0, 0, 0, 'c'};

static void test_unvlen(void) {
    vczi_span_t items[3];
    CHECK_EQ(vczi_unvlen(vczi_span(three, sizeof(three)), 3, true, items), 0);
    CHECK_EQ(items[0].nbytes, 2);
    CHECK_MEM(items[0].data, "ab", 2);
    CHECK_EQ(items[1].nbytes, 0);
    CHECK_EQ(items[2].nbytes, 1);
    CHECK_EQ(items[2].data[0], 'c');
    CHECK_EQ(vczi_unvlen(vczi_span(three, sizeof(three)), 2, true, items), VCZC_ERR_CORRUPT);
    CHECK_EQ(vczi_unvlen_check(vczi_span(three, 4), 3), VCZC_ERR_CORRUPT);
}

/* Every truncation, in a block of its exact size. */
static void test_unvlen_truncated(void) {
    for (size_t nbytes = 0; nbytes < sizeof(three); nbytes++) {
        vczi_span_t items[3];
        uint8_t *cut = malloc(nbytes == 0 ? 1 : nbytes);
        REQUIRE(cut != NULL);
        memcpy(cut, three, nbytes);
        CHECK_EQ(vczi_unvlen(vczi_span(cut, nbytes), 3, true, items), VCZC_ERR_CORRUPT);
        free(cut);
    }
}

static void test_unvlen_trailing_byte(void) {
    uint8_t longer[sizeof(three) + 1] = {0};
    vczi_span_t items[3];
    memcpy(longer, three, sizeof(three));
    CHECK_EQ(vczi_unvlen(vczi_span(longer, sizeof(longer)), 3, true, items), VCZC_ERR_CORRUPT);
}

static void test_unvlen_lies(void) {
    vczi_span_t items[3];
    for (size_t at = 0; at < 8; at++) {
        uint8_t lie[sizeof(three)];
        memcpy(lie, three, sizeof(three));
        lie[at] = 0xFF;
        CHECK_EQ(vczi_unvlen(vczi_span(lie, sizeof(lie)), 3, true, items), VCZC_ERR_CORRUPT);
    }
}

/* Both ways of reading a chunk agree, whatever its bytes, whatever part is wanted. */
static void test_unvlen_pack_equals_spans(void) {
    for (int round = 0; round < 20000; round++) {
        uint8_t chunk[400];
        vczi_span_t items[20];
        int64_t offsets[21], longest = -1;
        size_t nbytes = 4;
        const size_t nitems = random_below(20);
        memset(chunk, 0, sizeof(chunk));
        chunk[0] = (uint8_t) nitems;
        for (size_t i = 0; i < nitems; i++) {
            const size_t length = random_below(4) == 0 ? 0 : random_below(random_below(8) == 0 ? 70 : 9);
            if (nbytes + 4 + length > sizeof(chunk)) break;
            chunk[nbytes] = (uint8_t) length;
            for (size_t k = 0; k < length; k++) {
                chunk[nbytes + 4 + k] = (uint8_t) ('a' + random_below(26));
            }
            nbytes += 4 + length;
        }
        if (round % 2 == 0) chunk[random_below((uint32_t) nbytes)] = (uint8_t) random_below(256);
        if (round % 8 == 0) nbytes = random_below((uint32_t) nbytes + 1);
        const size_t nwanted = random_below((uint32_t) nitems + 1);
        uint8_t *exact = malloc(nbytes == 0 ? 1 : nbytes), *data = malloc(nbytes + VCZI_UNVLEN_SLACK_NBYTES);
        REQUIRE(exact != NULL && data != NULL);
        memcpy(exact, chunk, nbytes);
        const vczi_span_t in = vczi_span(exact, nbytes);
        const int expected = vczi_unvlen(in, nitems, true, items);
        bool is_right = CHECK_EQ(vczi_unvlen_pack(in, nitems, nwanted, true, offsets, data, &longest), expected);
        for (size_t i = 0; expected == 0 && is_right && i < nwanted; i++) {
            is_right = CHECK_EQ(offsets[i + 1] - offsets[i], items[i].nbytes) &&
                       CHECK_MEM(data + offsets[i], items[i].data, items[i].nbytes) &&
                       CHECK(longest >= (int64_t) items[i].nbytes);
        }
        free(exact);
        free(data);
        if (!is_right) return;
    }
}

static bool utf8(const char *text) {
    return vczi_utf8_is_valid(vczi_span(text, strlen(text)));
}

static void test_utf8(void) {
    CHECK(utf8(""));
    CHECK(utf8("plain"));
    CHECK(utf8("\xC3\xA9 \xE2\x82\xAC \xF0\x9F\xA7\xAC"));
    CHECK(utf8("\xED\x9F\xBF\xEE\x80\x80\xF4\x8F\xBF\xBF"));
    CHECK(!utf8("\x80"));
    CHECK(!utf8("\xC0\x80"));         /* overlong */
    CHECK(!utf8("\xC1\xBF"));         /* overlong */
    CHECK(!utf8("\xE0\x9F\xBF"));     /* overlong */
    CHECK(!utf8("\xED\xA0\x80"));     /* surrogate */
    CHECK(!utf8("\xF0\x8F\xBF\xBF")); /* overlong */
    CHECK(!utf8("\xF4\x90\x80\x80")); /* above U+10FFFF */
    CHECK(!utf8("\xF5\x80\x80\x80"));
    CHECK(!utf8("\xC3"));
    CHECK(!utf8("\xE2\x82"));
    CHECK(!utf8("\xF0\x9F\xA7"));
    CHECK(!utf8("\xE2\x28\xA1"));
    CHECK(!utf8("a\xFF"));
}

static void test_ascii_of_every_length(void) {
    char text[100];
    memset(text, 'x', sizeof(text));
    for (size_t nbytes = 0; nbytes <= sizeof(text); nbytes++) {
        CHECK(vczi_utf8_is_ascii(vczi_span(text, nbytes)));
        for (size_t at = 0; at < nbytes; at++) {
            text[at] = (char) 0x80;
            const bool is_ascii = vczi_utf8_is_ascii(vczi_span(text, nbytes));
            text[at] = 'x';
            if (!CHECK(!is_ascii)) return;
        }
    }
}

int main(void) {
    RUN(test_ndcopy_equals_item_by_item);
    RUN(test_ndfill_equals_item_by_item);
    RUN(test_contiguous);
    RUN(test_swap);
    RUN(test_crc32c_known_values);
    RUN(test_crc32c_of_every_length);
    RUN(test_unvlen);
    RUN(test_unvlen_truncated);
    RUN(test_unvlen_trailing_byte);
    RUN(test_unvlen_lies);
    RUN(test_unvlen_pack_equals_spans);
    RUN(test_utf8);
    RUN(test_ascii_of_every_length);
    return check_result();
}
