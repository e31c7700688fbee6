/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Status and detail, checked arithmetic, the cursor, memory, and the text map. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "check.h"
#include "checked.h"
#include "mem.h"
#include "status.h"
#include "strmap.h"

static void test_every_code_has_its_own_text(void) {
    for (int code = VCZC_ERR_LAST; code <= 0; code++) {
        CHECK(strcmp(vczi_strerror(code), "unknown error") != 0);
        for (int other = code + 1; other <= 0; other++) {
            CHECK(strcmp(vczi_strerror(code), vczi_strerror(other)) != 0);
        }
    }
    CHECK_STR(vczi_strerror(1), "unknown error");
    CHECK_STR(vczi_strerror(VCZC_ERR_LAST - 1), "unknown error");
}

static void test_detail_before_any_failure(void) {
    const vczi_detail_t *detail = vczi_detail_view();
    CHECK_EQ(detail->code, 0);
    CHECK_EQ(detail->ndim, -1);
    CHECK_STR(detail->text, "");
}

static void test_fail_gives_code_and_reason(void) {
    CHECK_EQ(vczi_fail(VCZC_ERR_CORRUPT, "%d of %s", 3, "them"), VCZC_ERR_CORRUPT);
    const vczi_detail_t *detail = vczi_detail_view();
    CHECK_EQ(detail->code, VCZC_ERR_CORRUPT);
    CHECK_EQ(detail->ndim, -1);
    CHECK_STR(detail->reason, "3 of them");
    CHECK_STR(detail->text, "3 of them");
}

static void test_fail_where_composes_the_line(void) {
    const int64_t coords[] = {3, 0};
    (void) vczi_fail(VCZC_ERR_CORRUPT, "bad");
    CHECK_EQ(vczi_fail_where(VCZC_ERR_CORRUPT, "x", "x/3.0", coords, 2), VCZC_ERR_CORRUPT);
    const vczi_detail_t *detail = vczi_detail_view();
    CHECK_STR(detail->text, "bad (array 'x', chunk (3, 0), key 'x/3.0')");
    CHECK_STR(detail->reason, "bad");
    CHECK_STR(detail->array, "x");
    CHECK_STR(detail->key, "x/3.0");
    CHECK_EQ(detail->ndim, 2);
    CHECK_EQ(detail->coords[0], 3);

    (void) vczi_fail_where(VCZC_ERR_CORRUPT, "x", NULL, NULL, 2);
    CHECK_STR(vczi_detail_view()->text, "bad (array 'x')");
    CHECK_EQ(vczi_detail_view()->ndim, -1);
    (void) vczi_fail_where(VCZC_ERR_CORRUPT, NULL, NULL, coords, 0);
    CHECK_STR(vczi_detail_view()->text, "bad (chunk ())");

    (void) vczi_fail(VCZC_ERR_STORE, "next"); /* nothing of the place stays */
    CHECK_STR(vczi_detail_view()->text, "next");
}

static void test_fail_errno_and_prefix(void) {
    char expected[256];
    (void) snprintf(expected, sizeof(expected), "cannot open 'x': %s", strerror(EACCES));
    CHECK_EQ(vczi_fail_errno(VCZC_ERR_STORE, EACCES, "cannot open '%s'", "x"), VCZC_ERR_STORE);
    CHECK_STR(vczi_detail_view()->text, expected);
    (void) vczi_fail(VCZC_ERR_CORRUPT, "bad");
    CHECK_EQ(vczi_fail_prefix(VCZC_ERR_CORRUPT, "frame %d", 7), VCZC_ERR_CORRUPT);
    CHECK_STR(vczi_detail_view()->reason, "frame 7: bad");
    /* The thread's own text may be an argument. */
    (void) vczi_fail(VCZC_ERR_METADATA, "again: %s", vczi_detail_view()->reason);
    CHECK_STR(vczi_detail_view()->text, "again: frame 7: bad");
    (void) vczi_fail_errno(VCZC_ERR_STORE, 123456, "odd");
    CHECK(strncmp(vczi_detail_view()->text, "odd: ", 5) == 0);
    CHECK(strlen(vczi_detail_view()->text) > 5);
}

static void test_long_texts_are_cut_between_characters(void) {
    static char text[3 * VCZI_DETAIL_NBYTES];
    const int64_t coords[] = {INT64_MIN, INT64_MAX};
    for (size_t shift = 0; shift < 4; shift++) { /* characters of 4 bytes, cut at each of their bytes */
        memset(text, 'a', sizeof(text));
        for (size_t i = shift; i + 4 < sizeof(text); i += 4) {
            memcpy(text + i, "\xf0\x9f\xa7\xac", 4);
        }
        text[sizeof(text) - 1] = '\0';
        (void) vczi_fail(VCZC_ERR_STORE, "%s", text);
        size_t nbytes = strlen(vczi_detail_view()->reason);
        CHECK(nbytes <= VCZI_DETAIL_NBYTES - 1 && nbytes > VCZI_DETAIL_NBYTES - 5);
        CHECK_EQ((nbytes - shift) % 4, 0);

        (void) vczi_fail_where(VCZC_ERR_STORE, text, text, coords, 2);
        const vczi_detail_t *detail = vczi_detail_view();
        CHECK(strlen(detail->array) < VCZI_DETAIL_NBYTES);
        CHECK_EQ((strlen(detail->key) - shift) % 4, 0);
        CHECK(strlen(detail->text) < VCZI_DETAIL_NBYTES);
        CHECK(strstr(detail->text, " (array 'a") != NULL || shift == 0);
    }
    (void) vczi_fail(VCZC_ERR_STORE, "%s", text);
    (void) vczi_fail_where(VCZC_ERR_STORE, "x", "x/0", coords, 1);
    CHECK(strstr(vczi_detail_view()->text, " (array 'x', chunk (-9223372036854775808), key 'x/0')") != NULL);
    (void) vczi_fail_prefix(VCZC_ERR_STORE, "%s", text);
    CHECK(strlen(vczi_detail_view()->reason) < VCZI_DETAIL_NBYTES);
}

static void test_reason_is_one_line(void) {
    (void) vczi_fail(VCZC_ERR_METADATA, "name '%s'", "a\nb\x1b[31m\x7f");
    CHECK_STR(vczi_detail_view()->text, "name 'a?b?[31m?'");
}

static void test_detail_is_carried(void) {
    static vczi_detail_t kept;
    const int64_t coords[] = {5};
    (void) vczi_fail(VCZC_ERR_CORRUPT, "first");
    (void) vczi_fail_where(VCZC_ERR_CORRUPT, "x", "x/5", coords, 1);
    vczi_detail_save(&kept);
    (void) vczi_fail(VCZC_ERR_STORE, "second");
    vczi_detail_restore(&kept);
    CHECK_EQ(vczi_detail_view()->code, VCZC_ERR_CORRUPT);
    CHECK_STR(vczi_detail_view()->text, "first (array 'x', chunk (5), key 'x/5')");
    CHECK_STR(kept.text, "first (array 'x', chunk (5), key 'x/5')");
}

static void test_checked_arithmetic(void) {
    size_t size = 7;
    int64_t value = 7;
    uint64_t wide = 7;
    uint32_t narrow = 7;
    int number = 7;
    CHECK(!vczi_add_size(SIZE_MAX, 1, &size) && size == 7);
    CHECK(vczi_add_size(SIZE_MAX - 1, 1, &size) && size == SIZE_MAX);
    CHECK(!vczi_mul_size(SIZE_MAX / 2 + 1, 2, &size) && size == SIZE_MAX);
    CHECK(vczi_mul_size(SIZE_MAX, 1, &size) && vczi_mul_size(SIZE_MAX, 0, &size) && size == 0);
    CHECK(!vczi_add_u64(UINT64_MAX, 1, &wide) && wide == 7);
    CHECK(!vczi_mul_i64(-1, 1, &value) && !vczi_mul_i64(1, -1, &value) && value == 7);
    CHECK(!vczi_mul_i64(INT64_MAX / 2 + 1, 2, &value) && vczi_mul_i64(INT64_MAX, 1, &value) && value == INT64_MAX);
    CHECK(!vczi_add_i64(INT64_MAX, 1, &value) && !vczi_add_i64(-1, 1, &value));
    CHECK(!vczi_i64_to_size(-1, &size) && size == 0);
    CHECK(vczi_i64_to_size(5, &size) && size == 5);
    CHECK(!vczi_size_to_i64(SIZE_MAX, &value) || SIZE_MAX < UINT64_MAX);
    CHECK(vczi_size_to_u32(UINT32_MAX, &narrow) && narrow == UINT32_MAX);
    CHECK(!vczi_size_to_int((size_t) INT32_MAX + 1, &number) && number == 7);
}

static void test_cursor_cannot_pass_its_end(void) {
    const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    vczi_cursor_t cursor = vczi_cursor(vczi_span(bytes, sizeof(bytes)));
    CHECK_EQ(vczi_cursor_u8(&cursor), 1);
    CHECK_EQ(vczi_cursor_u16le(&cursor), 0x0302);
    CHECK_EQ(vczi_cursor_u32le(&cursor), 0x07060504);
    CHECK(vczi_cursor_u64le(&cursor) == UINT64_C(0x0f0e0d0c0b0a0908));
    CHECK(!cursor.failed && cursor.left == 0);
    CHECK_EQ(vczi_cursor_take(&cursor, 0).nbytes, 0);
    CHECK(!cursor.failed);

    cursor = vczi_cursor(vczi_span(bytes, 3));
    CHECK_EQ(vczi_cursor_u32le(&cursor), 0);
    CHECK(cursor.failed);
    CHECK_EQ(vczi_cursor_u8(&cursor), 0); /* stays failed, though a byte is left */
    cursor = vczi_cursor(vczi_span(NULL, 0));
    CHECK_EQ(vczi_cursor_take(&cursor, SIZE_MAX).nbytes, 0);
    CHECK(cursor.failed);
}

static void test_memory(void) {
    unsigned char *memory = vczi_alloc(0);
    CHECK(memory != NULL);
    vczi_free(memory);
    vczi_free(NULL);
    vczi_free_aligned(NULL);
    CHECK(vczi_alloc_array(SIZE_MAX / 2, 4) == NULL);
    CHECK_EQ(vczi_detail_view()->code, VCZC_ERR_NO_MEMORY);
    (void) vczi_fail(VCZC_ERR_STORE, "other");
    CHECK(vczi_alloc_zeroed(SIZE_MAX / 2, 4) == NULL);
    CHECK_EQ(vczi_detail_view()->code, VCZC_ERR_NO_MEMORY);
    CHECK(vczi_alloc(SIZE_MAX) == NULL);
    CHECK(vczi_alloc_aligned(SIZE_MAX) == NULL);
    CHECK(vczi_copy_text("", SIZE_MAX) == NULL);

    memory = vczi_alloc_zeroed(100, 3);
    CHECK(memory != NULL);
    for (int i = 0; i < 300; i++) {
        CHECK_EQ(memory[i], 0);
    }
    memory[99] = 5;
    CHECK(vczi_realloc(memory, SIZE_MAX, 2) == NULL); /* and `memory` is as it was */
    unsigned char *moved = vczi_realloc(memory, 1000, 1);
    CHECK(moved != NULL);
    CHECK_EQ(moved[99], 5);
    vczi_free(moved);

    for (size_t nbytes = 0; nbytes < 300; nbytes += 13) {
        unsigned char *aligned = vczi_alloc_aligned(nbytes);
        CHECK(aligned != NULL);
        CHECK_EQ((uintptr_t) aligned % 64, 0);
        memset(aligned, 1, nbytes);
        vczi_free_aligned(aligned);
    }
    char *copy = vczi_copy_text("abcdef", 3);
    CHECK_STR(copy, "abc");
    vczi_free(copy);
    copy = vczi_copy_text(NULL, 0);
    CHECK_STR(copy, "");
    vczi_free(copy);
}

#ifdef VCZI_TEST_FAULTS
static void test_allocation_faults(void) {
    vczi_test_fail_allocation(2);
    void *first = vczi_alloc(1);
    void *second = vczi_alloc(1);
    void *third = vczi_alloc(1);
    CHECK(first != NULL && second == NULL && third != NULL);
    vczi_free(first);
    vczi_free(third);
    for (long n = 1; n <= 2; n++) {
        vczi_strmap_t map;
        vczi_test_fail_allocation(n);
        CHECK_EQ(vczi_strmap_init(&map, 10), VCZC_ERR_NO_MEMORY);
        CHECK(map.slots == NULL && map.tags == NULL);
    }
    vczi_test_fail_allocation(1);
    vczi_test_fail_allocation(0);
    void *memory = vczi_alloc_aligned(1);
    CHECK(memory != NULL);
    vczi_free_aligned(memory);
}
#endif

/* Keys as a zip archive has them. */
enum { NTEXTS = 300000, TEXT_NBYTES = 32 };
static char (*texts)[TEXT_NBYTES];

static vczi_span_t text_of(const void *user, uint32_t index) {
    const char *one = (const char *) user + (size_t) index * TEXT_NBYTES;
    return vczi_span(one, strlen(one));
}

static void test_strmap_finds_what_was_put(void) {
    vczi_strmap_t map;
    uint32_t previous = 0;
    texts = malloc((size_t) NTEXTS * TEXT_NBYTES);
    CHECK(texts != NULL);
    for (uint32_t i = 0; i < NTEXTS; i++) {
        (void) snprintf(texts[i], TEXT_NBYTES, "call_genotype/%u.%u.0", i / 100, i % 100);
    }
    CHECK_EQ(vczi_strmap_init(&map, NTEXTS), 0);
    CHECK((map.nslots & (map.nslots - 1)) == 0 && map.nslots * 7 > (size_t) NTEXTS * 10);
    for (uint32_t i = 0; i < NTEXTS; i++) {
        vczi_strmap_put(&map, text_of(texts, i), i, text_of, texts, &previous);
        CHECK_EQ(previous, VCZI_STRMAP_NONE);
    }
    CHECK_EQ(map.nitems, NTEXTS);
    for (uint32_t i = 0; i < NTEXTS; i++) {
        char absent[TEXT_NBYTES];
        CHECK_EQ(vczi_strmap_get(&map, text_of(texts, i), text_of, texts), i);
        (void) snprintf(absent, sizeof(absent), "call_genotype/%u.%u.1", i / 100, i % 100);
        CHECK_EQ(vczi_strmap_get(&map, vczi_span(absent, strlen(absent)), text_of, texts), VCZI_STRMAP_NONE);
    }
    vczi_strmap_clear(&map);
    free(texts);
    CHECK_EQ(vczi_strmap_get(&map, vczi_span("x", 1), text_of, NULL), VCZI_STRMAP_NONE);
    vczi_strmap_clear(&map);
}

static void test_strmap_put_replaces(void) {
    static const char all[][TEXT_NBYTES] = {"a", "", "a", "a\0b", "ab"};
    vczi_strmap_t map;
    uint32_t previous = 0;
    CHECK_EQ(vczi_strmap_init(&map, 0), 0);
    CHECK_EQ(vczi_strmap_get(&map, vczi_span(NULL, 0), text_of, all), VCZI_STRMAP_NONE);
    vczi_strmap_clear(&map);
    CHECK_EQ(vczi_strmap_init(&map, 4), 0);
    for (uint32_t i = 0; i < 2; i++) {
        vczi_strmap_put(&map, text_of(all, i), i, text_of, all, &previous);
        CHECK_EQ(previous, VCZI_STRMAP_NONE);
    }
    vczi_strmap_put(&map, text_of(all, 2), 2, text_of, all, &previous);
    CHECK_EQ(previous, 0);
    CHECK_EQ(map.nitems, 2);
    CHECK_EQ(vczi_strmap_get(&map, vczi_span("a", 1), text_of, all), 2);
    CHECK_EQ(vczi_strmap_get(&map, vczi_span(NULL, 0), text_of, all), 1);
    CHECK_EQ(vczi_strmap_get(&map, vczi_span("a\0b", 3), text_of, all), VCZI_STRMAP_NONE);
    vczi_strmap_clear(&map);
}

static void test_strmap_seeds_differ(void) {
    vczi_strmap_t one, two;
    CHECK_EQ(vczi_strmap_init(&one, 4), 0);
    CHECK_EQ(vczi_strmap_init(&two, 4), 0);
    CHECK(one.seed != two.seed);
    vczi_strmap_clear(&one);
    vczi_strmap_clear(&two);
    CHECK(SIZE_MAX <= UINT32_MAX || vczi_strmap_init(&one, SIZE_MAX) == VCZC_ERR_NO_MEMORY);
}

int main(void) {
    RUN(test_detail_before_any_failure);
    RUN(test_every_code_has_its_own_text);
    RUN(test_fail_gives_code_and_reason);
    RUN(test_fail_where_composes_the_line);
    RUN(test_fail_errno_and_prefix);
    RUN(test_long_texts_are_cut_between_characters);
    RUN(test_reason_is_one_line);
    RUN(test_detail_is_carried);
    RUN(test_checked_arithmetic);
    RUN(test_cursor_cannot_pass_its_end);
    RUN(test_memory);
#ifdef VCZI_TEST_FAULTS
    RUN(test_allocation_faults);
#endif
    RUN(test_strmap_finds_what_was_put);
    RUN(test_strmap_put_replaces);
    RUN(test_strmap_seeds_differ);
    return check_result();
}
