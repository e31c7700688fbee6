/* SPDX-License-Identifier: MIT */
/* Copyright (c) The vczc developers */
/* Zip archives in their flavours. */
#include "open_zip.h"

static void test_entries(void) {
    make_usual();
    zip_finish("");
    REQUIRE(open_zip() == 0);
    expect_usual();
    expect("X/0", VCZC_ERR_NOT_FOUND, NULL);
    expect(".ZGROUP", VCZC_ERR_NOT_FOUND, NULL);
    expect("", VCZC_ERR_NOT_FOUND, NULL);
    expect("/x/0", VCZC_ERR_NOT_FOUND, NULL);
    expect("x//0", VCZC_ERR_NOT_FOUND, NULL);
    expect("y/../x/0", VCZC_ERR_NOT_FOUND, NULL);
    CHECK_EQ(vczi_store_kind(store), VCZC_STORE_ZIP);
    CHECK_STR(vczi_store_prefix(store), "");
    CHECK_STR(list(""), ".zgroup x/.zarray x/0 x/1 empty x/none ");
    CHECK_STR(list("x/"), "x/.zarray x/0 x/1 x/none ");
    CHECK_STR(list("y/"), "");
    CHECK_STR(list_folder(""), ".zgroup empty x ");
    CHECK_STR(list_folder("x/"), ".zarray 0 1 none ");
    CHECK_STR(list_folder("x/0/"), "");
    close_zip();
}

static void test_stored_entries_are_views(void) {
    vczi_bytes_t bytes;
    make_usual();
    zip_finish("");
    REQUIRE(open_zip() == 0);
    CHECK_EQ(vczi_store_get(store, "x/0", NULL, &bytes), 0);
    CHECK(in_file != NULL || (bytes.span.data > archive && bytes.span.data < archive + zip.nbytes));
    CHECK(bytes.release == NULL);
    vczi_store_will_need(store, "x/0");
    vczi_store_will_need(store, "nothing");
    close_zip();
}

static void test_sizes_and_ranges(void) {
    static const struct {
        const char *key;
        uint64_t total;
    } entries[] = {{"x/0", 4}, {"x/1", sizeof(long_text) - 1}, {"empty", 0}};
    make_usual();
    zip_finish("");
    REQUIRE(open_zip() == 0);
    for (size_t i = 0; i < 3; i++) {
        const char *key = entries[i].key;
        const uint64_t total = entries[i].total;
        uint64_t nbytes = 77;
        vczi_bytes_t bytes;
        CHECK_EQ(vczi_store_size(store, key, &nbytes), 0);
        CHECK_EQ(nbytes, total);
        CHECK_EQ(vczi_store_get_range(store, key, total, 0, scratch, &bytes), 0);
        CHECK_EQ(bytes.span.nbytes, 0);
        CHECK_EQ(vczi_store_get_range(store, key, total / 2, (size_t) (total - total / 2), scratch, &bytes), 0);
        CHECK_EQ(bytes.span.nbytes, total - total / 2);
        CHECK_EQ(vczi_store_get_range(store, key, total, 1, scratch, &bytes), VCZC_ERR_CORRUPT);
        CHECK_EQ(vczi_store_get_range(store, key, total + 1, 0, scratch, &bytes), VCZC_ERR_CORRUPT);
        CHECK_EQ(vczi_store_get_range(store, key, UINT64_MAX, 2, scratch, &bytes), VCZC_ERR_CORRUPT);
        CHECK_EQ(vczi_store_get_range(store, key, 0, SIZE_MAX - 1, scratch, &bytes), VCZC_ERR_CORRUPT);
    }
    vczi_bytes_t bytes;
    CHECK_EQ(vczi_store_get_range(store, "x/0", 1, 2, scratch, &bytes), 0);
    CHECK_MEM(bytes.span.data, "er", 2);
    uint64_t nbytes = 77;
    CHECK_EQ(vczi_store_size(store, "x/2", &nbytes), VCZC_ERR_NOT_FOUND);
    close_zip();
}

static void test_comments(void) {
    static char comment[65536];
    memset(comment, 'c', sizeof(comment) - 1);
    const char *const comments[] = {"a comment", "PK\5\6 and more, long enough to be a record", comment};
    for (int i = 0; i < 3; i++) {
        make_usual();
        zip_finish(comments[i]);
        if (CHECK_EQ(open_zip(), 0)) expect_usual();
        close_zip();
    }
}

static void test_bytes_before_and_after(void) {
    make_usual();
    zip_finish("");
    zip_prepend("#!/bin/sh\nexit 1\n");
    if (CHECK_EQ(open_zip(), 0)) expect_usual();
    close_zip();

    make_usual(); /* the same with offsets that count them, as `zip -A` leaves it */
    zip_begin();
    zip_put("#!/bin/sh\n", 10);
    zip_add("x", "here", 0);
    zip_finish("");
    if (CHECK_EQ(open_zip(), 0)) expect("x", 0, "here");
    close_zip();

    make_usual();
    zip_finish("");
    zip_put("trailing", 8);
    if (CHECK_EQ(open_zip(), 0)) expect_usual();
    close_zip();
}

static void test_space_before_the_end_record(void) {
    make_usual();
    zip_put_directory();
    zip_put("PK\5\5\4\0sign", 10); /* a digital signature, outside the directory's size */
    zip_put_end((uint64_t) zip.nentries, zip.directory_nbytes, zip.directory, "");
    if (CHECK_EQ(open_zip(), 0)) expect_usual();
    close_zip();

    make_usual();
    zip_put_directory();
    zip_put("PK\5\5\4\0sign", 10); /* inside it */
    zip_put_end((uint64_t) zip.nentries, zip.directory_nbytes + 10, zip.directory, "");
    if (CHECK_EQ(open_zip(), 0)) expect_usual();
    close_zip();
}

static void test_counts_are_not_believed(void) {
    static const uint64_t counts[] = {0, 1, 65535, 1000};
    for (int i = 0; i < 4; i++) {
        make_usual();
        zip_put_directory();
        zip_put_end(counts[i], zip.directory_nbytes, zip.directory, "");
        if (CHECK_EQ(open_zip(), 0)) expect_usual();
        close_zip();
    }
}

static void test_zip64_end(void) {
    for (int i = 0; i < 4; i++) {
        const bool is_all_ones = i % 2 == 0;
        make_usual();
        zip_put_directory();
        zip_put_end64((uint64_t) zip.nentries, zip.directory_nbytes, zip.directory);
        zip_put_end(is_all_ones ? UINT16_MAX : (uint64_t) zip.nentries, is_all_ones ? UINT32_MAX : zip.directory_nbytes,
                    is_all_ones ? UINT32_MAX : zip.directory, "comment");
        if (i >= 2) zip_prepend("some bytes before");
        if (CHECK_EQ(open_zip(), 0)) expect_usual();
        close_zip();
    }
    make_usual();
    zip_put_directory();
    zip_put_end64((uint64_t) zip.nentries, zip.directory_nbytes, UINT64_MAX - 5);
    zip_put_end(UINT16_MAX, UINT32_MAX, UINT32_MAX, "");
    CHECK_EQ(try_open(), VCZC_ERR_STORE);
    make_usual();
    zip_put_directory();
    zip_put_end64((uint64_t) zip.nentries, UINT64_MAX - 5, zip.directory);
    zip_put_end(UINT16_MAX, UINT32_MAX, UINT32_MAX, "");
    CHECK_EQ(try_open(), VCZC_ERR_STORE);
}

static void test_zip64_entries(void) {
    uint8_t numbers[28] = {0};
    zip_begin();
    zip_add("pad", "0123456789", 0);
    made_entry_t *entry = zip_add("x", "wide", 0);
    numbers[0] = numbers[8] = 4;
    numbers[16] = (uint8_t) entry->header;
    entry->raw_nbytes = entry->stored_nbytes = entry->header = UINT32_MAX;
    entry->disk = UINT16_MAX;
    zip_add_extra(entry, 0x5455, "abc", 3);
    zip_add_extra(entry, 1, numbers, sizeof(numbers));
    entry = zip_add("y", "one wide number", 0);
    numbers[0] = (uint8_t) entry->header;
    entry->header = UINT32_MAX;
    zip_add_extra(entry, 1, numbers, 8);
    entry = zip_add("short", "short", 0);
    entry->header = entry->raw_nbytes = UINT32_MAX;
    zip_add_extra(entry, 1, numbers, 8);
    entry = zip_add("far", "far", 0);
    memset(numbers, 0xff, 8);
    entry->header = UINT32_MAX;
    zip_add_extra(entry, 1, numbers, 8);
    entry = zip_add("literal", "literal", 0); /* no such field: 4 GiB is what it means */
    entry->raw_nbytes = UINT32_MAX;
    entry = zip_add("torn", "torn", 0);
    zip_add_extra(entry, 1, numbers, 8);
    entry->extra[2] = 200; /* passes the end of the extra field */
    entry->header = UINT32_MAX;
    zip_finish("");
    REQUIRE(open_zip() == 0);
    expect("x", 0, "wide");
    expect("y", 0, "one wide number");
    expect("short", VCZC_ERR_CORRUPT, NULL);
    expect("far", VCZC_ERR_CORRUPT, NULL);
    expect("literal", VCZC_ERR_CORRUPT, NULL);
    expect("torn", VCZC_ERR_CORRUPT, NULL);
    close_zip();
}

static void test_data_descriptors(void) {
    zip_begin();
    zip_add("x", "streamed", 8)->flags = 8;
    zip_patch(zip.entries[0].header + 6, 8, 2); /* local header: flags, and neither checksum nor sizes */
    zip_patch(zip.entries[0].header + 14, 0, 8);
    zip_patch(zip.entries[0].header + 22, 0, 4);
    zip_put("PK\7\b", 4);
    zip_put_number(zip.entries[0].checksum, 4);
    zip_put_number(zip.entries[0].stored_nbytes, 4);
    zip_put_number(zip.entries[0].raw_nbytes, 4);
    zip_add("y", "behind it", 0);
    zip_finish("");
    REQUIRE(open_zip() == 0);
    expect("x", 0, "streamed");
    expect("y", 0, "behind it");
    close_zip();
}

static void test_names(void) {
    static const uint8_t utf8[] = "gr\xc3\xbcn/0", cp437[] = "gr\x81n/1", bad_utf8[] = "gr\x81n/2";
    uint8_t path[] = "\1????gr\xc3\xbcn/3";
    zip_begin();
    zip_add_named((const char *) utf8, sizeof(utf8) - 1, "utf-8", 5, 0)->flags = 0x800;
    zip_add_named((const char *) cp437, sizeof(cp437) - 1, "cp437", 5, 0);
    zip_add_named((const char *) bad_utf8, sizeof(bad_utf8) - 1, "bad", 3, 0)->flags = 0x800;
    made_entry_t *entry = zip_add("gr\x81\x81/3", "path", 0);
    const uint32_t checksum = vczi_crc32(vczi_span(entry->name, entry->name_nbytes));
    for (int i = 0; i < 4; i++) {
        path[1 + i] = (uint8_t) (checksum >> (8 * i));
    }
    zip_add_extra(entry, 0x7075, path, sizeof(path) - 1);
    entry = zip_add("gr\x81\x81/4", "other checksum", 0); /* of another name: the field is out of date */
    zip_add_extra(entry, 0x7075, path, sizeof(path) - 1);
    zip_add("win\\sub\\5", "backslashes", 0);
    zip_add("win\\folder\\", "", 0);
    zip_add("\xe1\xfb\xb0\xff", "upper half", 0);
    zip_finish("");
    REQUIRE(open_zip() == 0);
    expect("gr\xc3\xbcn/0", 0, "utf-8");
    expect("gr\xc3\xbcn/1", 0, "cp437");
    expect("gr\xc3\xbcn/2", 0, "bad");
    expect("gr\xc3\xbcn/3", 0, "path");
    expect("gr\xc3\xbc\xc3\xbc/4", 0, "other checksum");
    expect("win/sub/5", 0, "backslashes");
    expect("\xc3\x9f\xe2\x88\x9a\xe2\x96\x91\xc2\xa0", 0, "upper half");
    expect("win\\sub\\5", VCZC_ERR_NOT_FOUND, NULL);
    CHECK_STR(list("win/"), "win/sub/5 ");
    CHECK_STR(list_folder("gr\xc3\xbcn/"), "0 1 2 3 ");
    close_zip();
}

static void test_unsafe_names_are_left_out(void) {
    static const char *const names[] = {"/etc/passwd", "../up", "a/../../up", "a/..",   "..",
                                        ".",           "./a",   "a/./b",      "a//b",   "//share",
                                        "C:\\..\\up",  "a/",    "\\\\share",  "folder/"};
    const size_t nnames = sizeof(names) / sizeof(*names);
    zip_begin();
    for (size_t i = 0; i < nnames; i++) {
        zip_add(names[i], "unsafe", 0);
    }
    zip_add_named("a\0b", 3, "zero", 4, 0);
    zip_add_named("", 0, "no name", 7, 0);
    zip_finish("");
    CHECK_EQ(try_open(), VCZC_ERR_STORE);
    CHECK(strstr(reason(), "no files") != NULL);

    zip_begin();
    for (size_t i = 0; i < nnames; i++) {
        zip_add(names[i], "unsafe", 0);
    }
    zip_add_named("a\0b", 3, "zero", 4, 0);
    zip_add("a/..b/.c/...", "odd but safe", 0);
    zip_add("top", "", 0);
    zip_finish("");
    REQUIRE(open_zip() == 0);
    CHECK_STR(list(""), "a/..b/.c/... top ");
    expect("a/..b/.c/...", 0, "odd but safe");
    for (size_t i = 0; i < nnames; i++) {
        expect(names[i], VCZC_ERR_NOT_FOUND, NULL);
    }
    close_zip();
}

static void test_plain_and_careful_looks_agree(void) {
    static const char bytes[] = "a./\\\x80";
    char name[20];
    for (uint32_t seed = 0; seed < 40000; seed++) {
        uint32_t state = seed * 2654435761u;
        const size_t nbytes = 1 + seed % 18;
        for (size_t i = 0; i < nbytes; i++) {
            state = state * 1664525u + 1013904223u;
            name[i] = state >> 28 < 10 ? 'a' : bytes[(state >> 24) % 6]; /* the last is the zero byte */
        }
        const vczi_span_t span = vczi_span(name, nbytes);
        zip_begin();
        made_entry_t *entry = zip_add_named(name, nbytes, "", 0, 0);
        entry->flags = 0;
        zip_add("top", "", 0);
        zip_finish("");
        const bool is_expected = vczi_key_span_is_safe(span) && memchr(name, 0x80, nbytes) == NULL;
        if (!is_expected && (memchr(name, '\\', nbytes) != NULL || memchr(name, '\x80', nbytes) != NULL)) continue;
        REQUIRE(open_zip() == 0);
        list("");
        const bool is_there = strcmp(listed, "top ") != 0;
        const bool agrees = is_there == (is_expected && memcmp(name, "__MACOSX", 8) != 0);
        close_zip();
        if (!CHECK(agrees)) return;
    }
}

static void test_the_last_of_equal_names_counts(void) {
    zip_begin();
    zip_add("x", "first", 0);
    zip_add("y", "other", 0);
    zip_add("x", "second", 8);
    zip_add("x", "third", 0);
    zip_finish("");
    REQUIRE(open_zip() == 0);
    expect("x", 0, "third");
    CHECK_STR(list(""), "y x ");
    CHECK_STR(list_folder(""), "x y ");
    close_zip();
}

static void test_entries_may_share_a_header(void) {
    zip_begin();
    zip_add("x", "shared", 8);
    zip_add("y", "shared", 8)->header = zip.entries[0].header;
    zip_finish("");
    REQUIRE(open_zip() == 0);
    expect("x", 0, "shared");
    expect("y", 0, "shared");
    close_zip();
}

static void test_a_wrapping_folder(void) {
    zip_begin();
    zip_add("a.vcz/", "", 0);
    zip_add("a.vcz/.zgroup", "{}", 0);
    zip_add("a.vcz/x/0", "chunk", 8);
    zip_add("__MACOSX/a.vcz/._x", "fork", 0);
    zip_add("._a.vcz", "fork", 0);
    zip_add("a.vcz/x/._0", "fork", 0);
    zip_finish("");
    REQUIRE(open_zip() == 0);
    CHECK_STR(vczi_store_prefix(store), "a.vcz/");
    expect("x/0", 0, "chunk");
    expect(".zgroup", 0, "{}");
    expect("a.vcz/x/0", VCZC_ERR_NOT_FOUND, NULL);
    CHECK_STR(list(""), ".zgroup x/0 ");
    CHECK_STR(list("x/"), "x/0 ");
    CHECK_STR(list_folder(""), ".zgroup x ");
    CHECK_STR(list_folder("x/"), "0 ");
    close_zip();

    zip_begin(); /* a second name at the top */
    zip_add("a.vcz/.zgroup", "{}", 0);
    zip_add("b", "", 0);
    zip_finish("");
    REQUIRE(open_zip() == 0);
    CHECK_STR(vczi_store_prefix(store), "");
    close_zip();

    zip_begin(); /* a file */
    zip_add("zarr.json", "{}", 0);
    zip_finish("");
    REQUIRE(open_zip() == 0);
    CHECK_STR(vczi_store_prefix(store), "");
    expect("zarr.json", 0, "{}");
    close_zip();
}

static void run_tests(void) {
    RUN(test_entries);
    RUN(test_stored_entries_are_views);
    RUN(test_sizes_and_ranges);
    RUN(test_comments);
    RUN(test_bytes_before_and_after);
    RUN(test_space_before_the_end_record);
    RUN(test_counts_are_not_believed);
    RUN(test_zip64_end);
    RUN(test_zip64_entries);
    RUN(test_data_descriptors);
    RUN(test_names);
    RUN(test_unsafe_names_are_left_out);
    RUN(test_plain_and_careful_looks_agree);
    RUN(test_the_last_of_equal_names_counts);
    RUN(test_entries_may_share_a_header);
    RUN(test_a_wrapping_folder);
}

int main(void) {
    return run_both_ways(run_tests);
}
